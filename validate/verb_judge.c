/* SPDX-License-Identifier: MIT
 *
 * assay judge: a run record under other limits, without a kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/temp_file.h"
#include "golden/verb.h"
#include "validate/record.h"

struct options {
    const char *file, *out, *quarantine;
    struct record_selection selection;
    struct limits limits;
    const struct report_format *format;
    bool rows;
};

enum { KEY_FORMAT = 256, KEY_QUARANTINE, KEY_ROWS };

static const struct argp_option keys[] = {
    { "quarantine", KEY_QUARANTINE, "FILE", 0,
      "known failures with links to their trackers, JSON", 0 },
    { "format", KEY_FORMAT, &report_format_names[1], 0,
      "default table; `assay validate --help` tells of each", 0 },
    { "rows", KEY_ROWS, NULL, 0,
      "in JSON: the figures of all rows too, for programs that judge by rules "
      "of their own",
      0 },
    { "output", 'o', "FILE", 0, "write the report there", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_QUARANTINE: o->quarantine = arg; break;
    case KEY_FORMAT: o->format = report_format_parse(state, arg); break;
    case KEY_ROWS: o->rows = true; break;
    case 'o': verb_output(state, arg, &o->out); break;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->selection;
        state->child_inputs[1] = &o->limits;
        break;
    case ARGP_KEY_ARG:
        if (o->file)
            argp_error(state, "one run record at a time");
        o->file = arg;
        break;
    case ARGP_KEY_END:
        if (!o->file)
            argp_error(state, "no run record named");
        if (o->rows && !report_format_has_rows(o->format))
            argp_error(state, "--rows is for --format json and jsonl");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {
    { &record_selection_argp, 0, NULL, 0 },
    { &limits_argp, 0, NULL, 0 },
    { 0 },
};

static const struct argp argp = {
    keys,
    parse,
    "RUN.h5",
    "Judges a run that `assay validate SET.h5 -o RUN.h5` recorded again, from "
    "the figures of its rows: no kernel runs, no golden set is read. Without "
    "options the report is that of the run. A --limit goes before the limits "
    "of the run; --limits takes the place of the run's own --limits and "
    "--limit; those that the golden set brought along stay below. Known "
    "failures are those of the run, or of --quarantine in their place. The "
    "verdict of a kernel that "
    "crashed, hung or did not run stays.\v"
    "Exit status as of `assay validate`.\n\n"
    "Example:\n"
    "  assay judge run.h5 --limit lse=0.5\n"
    "  assay judge run.h5 --limits limits.json --recipe 'mxfp*' --format json",
    children,
    NULL,
    NULL
};

struct judging_run {
    struct options *o;
    char *command; /* until the report has it */
    struct run_file *run;
    struct quarantine quarantine;
    struct record_list list;
    struct result *results;
    size_t count;
    bool other_limits; /* than those of the run */
};

static enum assay_status judge_all(struct judging_run *j,
                                   struct assay_error *err)
{
    const enum record_keep keep = j->o->rows ? KEEP_ROWS
                                  : report_format_has_pictures(j->o->format)
                                      ? KEEP_PICTURE
                                      : KEEP_NOTHING;
    enum assay_status st = ASSAY_OK;
    j->results = calloc(j->list.count + 1, sizeof *j->results);
    if (!j->results)
        return assay_fail(err, ASSAY_MEMORY, "no memory for results");
    while (st == ASSAY_OK && j->count < j->list.count) {
        st = record_judge(j->run, j->list.at[j->count], &j->o->limits,
                          j->o->quarantine ? &j->quarantine : NULL, keep,
                          &j->results[j->count], err);
        j->count++;
    }
    return st;
}

/* Under other limits another verdict is what was asked for. */
static void tell_recorded(const struct judging_run *j)
{
    struct record_doubts doubts = { 0 };
    for (size_t i = 0; !j->other_limits && i < j->count; i++)
        record_doubt(&doubts, &j->list.results[i], j->results[i].verdict);
    record_say_doubts("judge", j->run, &doubts);
}

/* Formats that are written while kernels run are written here at the end. */
static enum assay_status write_results(const struct judging_run *j,
                                       const struct report *report,
                                       struct assay_error *err)
{
    struct report_file file = { .format = j->o->format, .path = j->o->out };
    enum assay_status st = report_file_begin(&file, report, err);
    for (size_t i = 0; st == ASSAY_OK && i < j->count; i++)
        report_file_one(&file, report, &j->results[i]);
    return st == ASSAY_OK ? report_file_end(&file, report, err) : st;
}

static enum assay_status write_report(struct judging_run *j, int *code,
                                      struct assay_error *err)
{
    struct report report;
    char counts[256];
    enum assay_status st =
        record_report(j->run, &j->o->limits, j->command, &report, err);
    j->command = NULL;
    report.verb = "judge";
    if (j->o->quarantine)
        report.quarantine_option = j->o->quarantine;
    report.results = j->results;
    report.count = j->count;
    if (st == ASSAY_OK) {
        *code = report_exit(&report);
        st = write_results(j, &report, err);
    }
    if (st == ASSAY_OK)
        report_unused(&report, &j->quarantine);
    if (st == ASSAY_OK && (j->o->out || j->o->format != report_format_get(0))) {
        report_counts(&report, counts, sizeof counts);
        fprintf(stderr, "%s\n", counts);
    }
    module_info_free((struct driver_info *)report.module);
    report_run_free(&report);
    return st;
}

static enum assay_status judge_run(struct judging_run *j, int *code,
                                   struct assay_error *err)
{
    struct options *o = j->o;
    struct record_list *const lists[] = { &j->list };
    const char *const inputs[] = { o->file, o->limits.path, o->quarantine };
    enum assay_status st;
    j->other_limits = limits_asked(&o->limits);
    if ((st = temp_file_check_inputs(o->out, inputs, 3, err)) != ASSAY_OK ||
        (st = run_file_open(o->file, &j->run, err)) != ASSAY_OK ||
        (st = limits_load_run(&o->limits, run_file_facts(j->run), o->file,
                              err)) != ASSAY_OK ||
        (o->quarantine && (st = quarantine_read(o->quarantine, &j->quarantine,
                                                err)) != ASSAY_OK) ||
        (st = record_list(j->run, &j->list, err)) != ASSAY_OK ||
        (st = record_select(&o->selection, lists, 1, err)) != ASSAY_OK ||
        (st = judge_all(j, err)) != ASSAY_OK)
        return st;
    record_say_unfinished("judge", j->run);
    tell_recorded(j);
    return write_report(j, code, err);
}

int verb_judge(int argc, char **argv)
{
    struct options o = { .format = report_format_get(0) };
    struct judging_run j = { .o = &o,
                             .command = report_command("judge", argc, argv) };
    struct assay_error err;
    int code = 0;
    verb_parse(&argp, argc, argv, &o);
    code = judge_run(&j, &code, &err) == ASSAY_OK ? verb_end("judge", code)
                                                  : verb_fail("judge", &err);
    for (size_t i = 0; i < j.count; i++)
        result_free(&j.results[i]);
    free(j.results);
    free(j.command);
    record_list_free(&j.list);
    limits_free(&o.limits);
    quarantine_free(&j.quarantine);
    run_file_close(j.run);
    return code;
}
