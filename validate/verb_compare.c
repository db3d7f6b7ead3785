/* SPDX-License-Identifier: MIT
 *
 * assay compare: two run records side by side.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/temp_file.h"
#include "golden/verb.h"
#include "validate/compare.h"

struct options {
    const char *files[2], *out;
    char *command;
    struct compare_options compare;
    enum compare_form form;
    long worst;
};

enum { KEY_FORMAT = 256, KEY_IGNORE_KERNEL, KEY_FORCE, KEY_WORST };

static const struct argp_option keys[] = {
    { "ignore-kernel", KEY_IGNORE_KERNEL, NULL, 0,
      "match results whatever their kernels are called; where a run has "
      "several "
      "of a case, recipe and input, --kernel selects one",
      0 },
    { "force", KEY_FORCE, NULL, 0, "compare runs of different golden sets", 0 },
    { "worst", KEY_WORST, "N", 0,
      "tell the N largest changes and slowest results; default 5", 0 },
    { "format", KEY_FORMAT, "table|markdown|csv|json|html", 0,
      "default table; html is a page of one file, with plots where gnuplot is "
      "installed",
      0 },
    { "output", 'o', "FILE", 0, "write the comparison there", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = { "table", "markdown", "csv", "json",
                                         "html" };
    struct options *o = state->input;
    switch (key) {
    case KEY_IGNORE_KERNEL: o->compare.ignore_kernel = true; break;
    case KEY_FORCE: o->compare.force = true; break;
    case KEY_WORST:
        o->worst = verb_integer(state, "--worst", arg, 0, 1000000);
        break;
    case KEY_FORMAT:
        o->form =
            (enum compare_form)verb_word(state, "--format", arg, forms, 5);
        break;
    case 'o': verb_output(state, arg, &o->out); break;
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->compare.selection; break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "two run records at a time");
        else
            o->files[state->arg_num] = arg;
        break;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "two run records are compared, not %u",
                       state->arg_num);
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {
    { &record_selection_argp, 0, NULL, 0 },
    { 0 },
};

static const struct argp argp = {
    keys,
    parse,
    "A.h5 B.h5",
    "Sets two runs that `assay validate SET.h5 -o RUN.h5` recorded side by "
    "side: results that are bit-identical, that have the same cosine, MAE and "
    "largest LSE error of the build distance though other bits, and that "
    "changed; verdicts that changed; the largest relative changes; seconds. "
    "Verdicts of both are what their rows say by the limits of B's run, "
    "whatever A was judged by; a record that says something else than its own "
    "limits give is told.\v"
    "Exit status 0: nothing got worse; 1: a verdict got worse, what ran in A "
    "is missing in B, or what B alone has does not pass; 2: usage or a bad "
    "file.\n\n"
    "Example:\n"
    "  assay compare before.h5 after.h5\n"
    "  assay compare gcc.h5 clang.h5 --recipe e4m3 --format json",
    children,
    NULL,
    NULL
};

static enum assay_status compare(const struct options *o, int *code,
                                 struct assay_error *err)
{
    struct run_file *a = NULL, *b = NULL;
    struct comparison c = { 0 };
    const struct compare_report report = { &c, o->form, (size_t)o->worst,
                                           o->command };
    enum assay_status st;
    if ((st = temp_file_check_inputs(o->out, o->files, 2, err)) == ASSAY_OK &&
        (st = run_file_open(o->files[0], &a, err)) == ASSAY_OK &&
        (st = run_file_open(o->files[1], &b, err)) == ASSAY_OK &&
        (st = compare_runs(a, b, &o->compare, &c, err)) == ASSAY_OK) {
        record_say_unfinished("compare", a);
        record_say_unfinished("compare", b);
        compare_tell_recorded(&c);
        st = temp_file_print(o->out, compare_print, &report, err);
    }
    if (st == ASSAY_OK && !o->compare.ignore_kernel && compared_nothing(&c))
        fputs("no result of one run has its like in the other; "
              "--ignore-kernel compares kernels of other names\n",
              stderr);
    for (size_t i = 0; i < c.count; i++)
        if (compared_worse(&c.pairs[i]))
            *code = EXIT_WRONG;
    compare_free(&c);
    run_file_close(a);
    run_file_close(b);
    return st;
}

int verb_compare(int argc, char **argv)
{
    struct options o = { .worst = 5,
                         .command = report_command("compare", argc, argv) };
    struct assay_error err;
    int code = 0;
    verb_parse(&argp, argc, argv, &o);
    code = compare(&o, &code, &err) == ASSAY_OK ? verb_end("compare", code)
                                                : verb_fail("compare", &err);
    free(o.command);
    return code;
}
