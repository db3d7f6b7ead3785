/* SPDX-License-Identifier: MIT */
#include "validate/record.h"
#include "validate/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/select.h"
#include "golden/term.h"
#include "validate/judge.h"

/* ---- judging again ---- */

/* Verdicts of what was judged come last in their table. A kernel that was out
 * of bounds may have been ended by that, or not; an output that is missing may
 * be there in part. */
static bool can_be(enum verdict v, bool ran)
{
    return v == VERDICT_OUT_OF_BOUNDS || v == VERDICT_MISSING ||
           (v > VERDICT_OUT_OF_BOUNDS) == ran;
}

static enum assay_status check_known(const struct run_result *from,
                                     struct assay_error *err)
{
    struct assay_error why;
    if (!from->known.verdict ||
        quarantine_check_verdict(from->known.verdict, &why) == ASSAY_OK)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT,
                      "case %s, recipe %s: known_verdict: %s", from->case_name,
                      from->recipe->name, why.text);
}

enum assay_status record_verdict(const struct run_result *from,
                                 enum verdict *out, struct assay_error *err)
{
    for (int v = 0; v < VERDICTS; v++) {
        if (strcmp(verdict_get((enum verdict)v)->name, from->verdict) != 0)
            continue;
        *out = (enum verdict)v;
        if (can_be(*out, from->ran))
            return check_known(from, err);
        return assay_fail(err, ASSAY_FORMAT,
                          "case %s, recipe %s: the verdict is %s, but ran is "
                          "%d",
                          from->case_name, from->recipe->name, from->verdict,
                          from->ran);
    }
    return assay_fail(err, ASSAY_FORMAT,
                      "case %s, recipe %s: verdict \"%.40s\" is not known",
                      from->case_name, from->recipe->name, from->verdict);
}

static enum assay_status fill(const struct run_result *from, struct result *out,
                              struct assay_error *err)
{
    *out = (struct result){ .case_name = strdup(from->case_name),
                            .problem = from->problem,
                            .recipe = from->recipe,
                            .input = from->input,
                            .seconds = from->seconds };
    if (!out->case_name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a result");
    snprintf(out->kernel, sizeof out->kernel, "%s", from->kernel);
    snprintf(out->notes, sizeof out->notes, "%s", from->notes);
    if (!from->ran) /* else the judge says so */
        snprintf(out->reason, sizeof out->reason, "%s", from->reason);
    return record_verdict(from, &out->verdict, err);
}

static enum assay_status find_known(const struct run_result *from,
                                    const struct quarantine *quarantine,
                                    struct result *out, struct assay_error *err)
{
    if (quarantine)
        out->known = quarantine_find(quarantine, out);
    if (quarantine || !from->known.tracker)
        return ASSAY_OK;
    enum assay_status st =
        quarantine_recorded(&from->known, &out->recorded, err);
    if (st == ASSAY_OK && quarantine_fits(out->recorded, out))
        out->known = out->recorded;
    return st;
}

void record_say_unfinished(const char *verb, const struct run_file *run)
{
    const char *many = run_file_facts(run)->unfinished;
    if (many)
        term_printf(
            stderr,
            "assay %s: %s: its run did not end, these are the results so "
            "far; `assay validate ... --resume` goes on with it\n",
            verb, run_file_path(run));
}

void record_doubt(struct record_doubts *doubts, const struct run_result *from,
                  enum verdict judged)
{
    if (strcmp(verdict_get(judged)->name, from->verdict) == 0)
        return;
    if (doubts->n++ == 0) {
        doubts->first = from;
        doubts->judged = judged;
    }
}

void record_say_doubts(const char *verb, const struct run_file *run,
                       const struct record_doubts *doubts)
{
    const struct run_result *r = doubts->first;
    char names[400];
    if (doubts->n == 0)
        return;
    snprintf(names, sizeof names, "%.180s, %s, %s", r->case_name,
             r->recipe->name, r->kernel);
    term_plain(names);
    fprintf(stderr,
            "assay %s: %s: %zu of its verdicts %s not what its rows say by its "
            "own limits (edited, or judged by another assay); what the rows "
            "say is taken; the first is %s: recorded %s, judged %s\n",
            verb, run_file_path(run), doubts->n, doubts->n == 1 ? "is" : "are",
            names, r->verdict, verdict_get(doubts->judged)->name);
}

enum assay_status record_judge_read(const struct run_result *from,
                                    const struct limits *limits,
                                    const char *kernel, struct result *out,
                                    struct assay_error *err)
{
    struct limit own[GATES];
    enum assay_status st = fill(from, out, err);
    if (st != ASSAY_OK || !from->ran)
        return st;
    struct result named = *out;
    snprintf(named.kernel, sizeof named.kernel, "%s", kernel);
    limits_of(limits, &named, own);
    return judge_sketch(&from->sketch, own, out, err);
}

enum assay_status record_judge(const struct run_file *run, size_t i,
                               const struct limits *limits,
                               const struct quarantine *quarantine,
                               enum record_keep keep, struct result *out,
                               struct assay_error *err)
{
    struct run_result from;
    *out = (struct result){ 0 };
    enum assay_status st = run_file_read(run, i, &from, err);
    if (st != ASSAY_OK)
        return st;
    st = record_judge_read(&from, limits, from.kernel, out, err);
    if (st == ASSAY_OK && from.ran) {
        if (out->verdict != VERDICT_PASS) {
            out->why = from.why;
            from.why = NULL;
        }
        if (keep == KEEP_PICTURE)
            st = result_keep_picture(out, &from.sketch, err);
        if (st == ASSAY_OK && keep == KEEP_ROWS)
            st = result_keep_rows(out, &from.sketch, err);
    }
    if (st == ASSAY_OK)
        st = find_known(&from, quarantine, out, err);
    if (st != ASSAY_OK)
        st = assay_fail_in(err, st, "%s", run_file_path(run));
    run_result_free(&from);
    return st;
}

static enum assay_status find_driver(const char *name, enum driver_kind *out,
                                     struct assay_error *err)
{
    for (int i = 0; i < DRIVERS; i++)
        if (strcmp(driver_get((enum driver_kind)i)->name, name) == 0) {
            *out = (enum driver_kind)i;
            return ASSAY_OK;
        }
    return assay_fail(err, ASSAY_FORMAT, "driver \"%.40s\" is not known", name);
}

enum assay_status record_report(const struct run_file *run,
                                const struct limits *limits, char *command,
                                struct report *out, struct assay_error *err)
{
    const struct run_facts *facts = run_file_facts(run);
    struct driver_info *module = calloc(1, sizeof *module);
    *out = (struct report){ .set_path = facts->set,
                            .set_hash = facts->set_content_hash,
                            .driver_option = facts->driver_option,
                            .layout_option = facts->layout_option,
                            .device_option = facts->device_option,
                            .timeout_option = facts->timeout_option,
                            .quarantine_option = facts->quarantine_option,
                            .memory_limit_option = facts->memory_limit_option,
                            .limits = limits,
                            .runs = facts->repeat ? atol(facts->repeat) : 1,
                            .again = true,
                            .module = module };
    report_run_fill(out, NULL, command);
    if (facts->set_command)
        out->run.set_command = strdup(facts->set_command);
    if (!module)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a module");
    snprintf(module->path, sizeof module->path, "%s", facts->module);
    snprintf(module->name, sizeof module->name, "%s", facts->module_name);
    snprintf(module->build, sizeof module->build, "%s", facts->module_build);
    snprintf(module->where, sizeof module->where, "%s", facts->module_device);
    enum assay_status st = find_driver(facts->driver, &out->driver, err);
    return st == ASSAY_OK ? st
                          : assay_fail_in(err, st, "%s", run_file_path(run));
}

/* ---- selections ---- */

enum { KEY_CASE = 0x7200, KEY_RECIPE, KEY_KERNEL };

static const struct argp_option keys[] = {
    { "case", KEY_CASE, "LIST", 0, "only these cases, names and globs", 0 },
    { "recipe", KEY_RECIPE, "LIST", 0, "only these recipes, names and globs",
      0 },
    { "kernel", KEY_KERNEL, "LIST", 0, "only these kernels, names and globs",
      0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct record_selection *s = state->input;
    switch (key) {
    case KEY_CASE: s->cases = arg; return 0;
    case KEY_RECIPE: s->recipe = strcmp(arg, "all") == 0 ? "*" : arg; return 0;
    case KEY_KERNEL: s->kernel = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp record_selection_argp = { keys, parse, NULL, NULL,
                                            NULL, NULL,  NULL };

enum assay_status record_list(const struct run_file *run,
                              struct record_list *out, struct assay_error *err)
{
    const size_t n = run_file_count(run);
    *out = (struct record_list){ calloc(n + 1, sizeof *out->results),
                                 calloc(n + 1, sizeof *out->at), 0 };
    if (!out->results || !out->at)
        return assay_fail(err, ASSAY_MEMORY, "no memory for results");
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < n; i++) {
        st = run_file_describe(run, i, &out->results[i], err);
        out->at[i] = i;
        out->count += st == ASSAY_OK;
    }
    return st;
}

void record_list_free(struct record_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        run_result_free(&list->results[i]);
    free(list->results);
    free(list->at);
    *list = (struct record_list){ 0 };
}

static const char *case_of(const struct run_result *r)
{
    return r->case_name;
}

static const char *recipe_of(const struct run_result *r)
{
    return r->recipe->name;
}

static const char *kernel_of(const struct run_result *r)
{
    return r->kernel;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each name once, and the empty one not at all. */
static size_t unique(const char **names, size_t n)
{
    size_t kept = 0;
    if (n > 0)
        qsort(names, n, sizeof *names, by_text);
    for (size_t i = 0; i < n; i++)
        if (names[i][0] &&
            (kept == 0 || strcmp(names[kept - 1], names[i]) != 0))
            names[kept++] = names[i];
    return kept;
}

static enum assay_status
check_names(const char *list, const char *what,
            const char *(*of)(const struct run_result *),
            struct record_list *const *lists, size_t n, struct assay_error *err)
{
    size_t space = 0, count = 0;
    for (size_t l = 0; l < n; l++)
        space += lists[l]->count;
    const char **names = calloc(space + 1, sizeof *names);
    if (!names)
        return assay_fail(err, ASSAY_MEMORY, "no memory for names");
    for (size_t l = 0; l < n; l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            names[count++] = of(&lists[l]->results[i]);
    enum assay_status st =
        select_check(list, what, names, unique(names, count), err);
    free(names);
    return st;
}

static void keep_selected(const struct record_selection *s,
                          struct record_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct run_result *r = &list->results[i];
        if (select_has(s->cases, r->case_name) &&
            select_has(s->recipe, r->recipe->name) &&
            select_has(s->kernel, r->kernel)) {
            list->at[kept] = list->at[i];
            list->results[kept++] = *r;
        } else {
            run_result_free(r);
        }
    }
    list->count = kept;
}

enum assay_status record_select(const struct record_selection *selection,
                                struct record_list *const *lists, size_t n,
                                struct assay_error *err)
{
    const struct {
        const char *list, *what;
        const char *(*of)(const struct run_result *);
    } all[] = {
        { selection->cases, "case", case_of },
        { selection->recipe, "recipe", recipe_of },
        { selection->kernel, "kernel", kernel_of },
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof all / sizeof *all; i++)
        st = check_names(all[i].list, all[i].what, all[i].of, lists, n, err);
    for (size_t l = 0; st == ASSAY_OK && l < n; l++)
        keep_selected(selection, lists[l]);
    return st;
}
