/* SPDX-License-Identifier: MIT
 *
 * assay prove: what the gates reject, on a golden set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/temp_file.h"
#include "golden/verb.h"
#include "validate/prove.h"
#include "validate/report.h"

enum form { FORM_TABLE, FORM_MARKDOWN, FORM_CSV, FORM_JSON, FORM_HTML };

struct options {
    const char *file, *out;
    char *command;
    struct prove_options prove;
    struct limits limits;
    enum form form;
};

enum {
    KEY_RECIPE = 256,
    KEY_CASE,
    KEY_MUTATION,
    KEY_SWEEP,
    KEY_FORMAT,
    KEY_THREADS
};

static const struct argp_option keys[] = {
    { "recipe", KEY_RECIPE, "LIST", 0,
      "only these recipes of the set, names and globs", 0 },
    { "case", KEY_CASE, "LIST", 0, "only these cases, names and globs", 0 },
    { "mutation", KEY_MUTATION, "LIST", 0,
      "only these mutations and honest variants, names and globs; `assay list "
      "mutations` lists them",
      0 },
    { "sweep", KEY_SWEEP, NULL, 0,
      "find the smallest strength that each gate rejects, too", 0 },
    { "format", KEY_FORMAT, "table|markdown|csv|json|html", 0,
      "default table; csv and json have every case, recipe and mutation; html "
      "is a page of one file, with plots where gnuplot is installed",
      0 },
    { "output", 'o', "FILE", 0, "write the report there", 0 },
    { "threads", KEY_THREADS, "N", 0,
      "default one a core; the result does not depend on it", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = { "table", "markdown", "csv", "json",
                                         "html" };
    struct options *o = state->input;
    switch (key) {
    case KEY_RECIPE:
        o->prove.recipes = strcmp(arg, "all") == 0 ? "*" : arg;
        break;
    case KEY_CASE: o->prove.cases = arg; break;
    case KEY_MUTATION: o->prove.mutations = arg; break;
    case KEY_SWEEP: o->prove.sweep = true; break;
    case KEY_FORMAT:
        o->form = (enum form)verb_word(state, "--format", arg, forms, 5);
        break;
    case 'o': verb_output(state, arg, &o->out); break;
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->limits; break;
    case KEY_THREADS:
        o->prove.threads =
            (int)verb_integer(state, "--threads", arg, 1, VERB_MOST_THREADS);
        break;
    default: return verb_one_set(key, arg, state, &o->file);
    }
    return 0;
}

static const struct argp_child children[] = { { &limits_argp, 0, NULL, 0 },
                                              { 0 } };

static const struct argp argp = {
    keys,
    parse,
    "SET.h5",
    "Proves the gates of validate on a golden set, without a kernel: answers "
    "that are right are changed in every way a kernel goes wrong, and each "
    "change must be rejected; variants that an honest kernel may have must be "
    "accepted. Heads count one by one. A change that moves no row of a head by "
    "more than in honest kernels cannot be seen there, and is told. Limits are "
    "those of validate, and the report says who set them.\v"
    "Exit status 0: every change that can be seen is rejected, and no honest "
    "variant is; 1: one escaped, or an honest variant is rejected; 2: usage or "
    "a bad file.\n\n"
    "Example:\n"
    "  assay prove heads.h5\n"
    "  assay prove heads.h5 --recipe mxfp4 --mutation 'scale*' --sweep\n"
    "  assay prove heads.h5 --limit lse=0.5\n"
    "  assay prove heads.h5 --format json -o proof.json",
    children,
    NULL,
    NULL
};

struct proofs {
    const struct prove_run *run;
    const char *command;
    enum form form;
};

static bool print(const void *what, FILE *to)
{
    const struct proofs *x = what;
    switch (x->form) {
    case FORM_CSV: return prove_csv(x->run, to);
    case FORM_JSON: return prove_json(x->run, to);
    case FORM_HTML: return prove_html(x->run, x->command, to);
    default: return prove_table(x->run, x->form == FORM_MARKDOWN, to);
    }
}

static enum assay_status prove(struct options *o, struct prove_run *run,
                               struct assay_set **set, int *code,
                               struct assay_error *err)
{
    const char *const inputs[] = { o->file, o->limits.path };
    enum assay_status st = temp_file_check_inputs(o->out, inputs, 2, err);
    if (st == ASSAY_OK)
        st = temp_file_try(o->out, err);
    if (st == ASSAY_OK)
        st = assay_set_open(o->file, set, err);
    if (st == ASSAY_OK)
        st = limits_load(&o->limits, *set, err);
    if (st == ASSAY_OK)
        st = prove_set(*set, &o->prove, run, err);
    if (st != ASSAY_OK)
        return st;
    report_unused_kernels(&o->limits.file);
    for (size_t i = 0; i < run->count; i++)
        if (proof_bad(&run->proofs[i]) > 0)
            *code = EXIT_WRONG;
    st = temp_file_print(o->out, print,
                         &(struct proofs){ run, o->command, o->form }, err);
    if (st != ASSAY_OK && o->out)
        prove_table(run, false, stdout);
    return st;
}

int verb_prove(int argc, char **argv)
{
    struct options o = { .command = report_command("prove", argc, argv) };
    struct prove_run run = { 0 };
    struct assay_set *set = NULL;
    struct assay_error err;
    int code = 0;
    verb_parse(&argp, argc, argv, &o);
    o.prove.limits = &o.limits;
    enum assay_status st = prove(&o, &run, &set, &code, &err);
    code = st == ASSAY_OK ? verb_end("prove", code) : verb_fail("prove", &err);
    prove_free(&run);
    limits_free(&o.limits);
    assay_set_close(set);
    free(o.command);
    return code;
}
