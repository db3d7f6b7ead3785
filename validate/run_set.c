/* SPDX-License-Identifier: MIT */
#include "validate/run_set.h"

#include <stdlib.h>
#include <string.h>

#include "golden/select.h"
#include "golden/text.h"
#include "validate/delivered.h"
#include "validate/explain.h"
#include "validate/judge.h"
#include "validate/picture.h"

static enum assay_status new_result(struct run_set *v,
                                    const struct assay_case *c,
                                    const struct assay_recipe *recipe,
                                    struct result **out,
                                    struct assay_error *err)
{
    if (v->count == v->space) {
        size_t space = v->space ? 2 * v->space : 64;
        struct result *grown = realloc(v->results, space * sizeof *grown);
        if (!grown)
            return assay_fail(err, ASSAY_MEMORY, "no memory for results");
        v->results = grown;
        v->space = space;
    }
    *out = &v->results[v->count];
    **out = (struct result){ .recipe = recipe,
                             .problem = c->problem,
                             .case_name = strdup(c->name) };
    if (!(*out)->case_name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a result");
    v->count++;
    return ASSAY_OK;
}

/* The result is whole; sketch NULL: there was nothing to judge. A record that
 * cannot be written ends the record and not the run. */
static void finish(struct run_set *v, struct result *r,
                   const struct sketch *sketch)
{
    r->known = quarantine_find(v->quarantine, r);
    if (v->record && record_add(v->record, (size_t)(r - v->results), r, sketch,
                                &v->no_record) != ASSAY_OK) {
        record_abandon(v->record);
        v->record = NULL;
    }
}

struct loaded {
    const struct assay_case *c;
    const struct assay_exact *exact;
    const struct assay_answer *answer;
};

/* All runs that were asked for. The first is judged; one that does not come to
 * an end is told as such. */
static enum assay_status run_repeatedly(struct run_set *v,
                                        struct driver_run *run, bool *ran,
                                        struct candidate *first,
                                        struct result *r,
                                        struct assay_error *err)
{
    /* of its place in the run, whoever runs it and when */
    run->number = (unsigned)((r - v->results) * v->o->runs);
    enum assay_status st = v->driver->run(v->driver, run, ran, first, r, err);
    first->runs = 1;
    while (st == ASSAY_OK && *ran && first->runs < v->o->runs) {
        struct candidate next;
        run->number++;
        run->at_start = first->runs % 2;
        st = v->driver->run(v->driver, run, ran, &next, r, err);
        if (st == ASSAY_OK && *ran)
            candidate_add_run(&run->c->problem, first, &next);
        candidate_free(&next);
    }
    return st;
}

/* A verdict stays what it is where there is no memory to say why. */
static void look_into(const struct loaded *l, const struct candidate *candidate,
                      const struct sketch *sketch, struct result *r)
{
    const struct explain_input in = { l->c,      l->answer, l->exact,
                                      candidate, sketch,    r };
    struct assay_error err;
    if (sketch->no_o) /* its bytes are the cause */
        return;
    if (r->verdict != VERDICT_PASS && explain(&in, &r->why, &err) != ASSAY_OK)
        text_append(r->notes, sizeof r->notes, "%snot looked into: %s",
                    r->notes[0] ? "; " : "", err.text);
}

static enum assay_status judge_one(struct run_set *v, const struct loaded *l,
                                   struct candidate *candidate,
                                   struct result *r, struct assay_error *err)
{
    const struct yardstick against = { &l->c->problem, l->answer, l->exact,
                                       l->c };
    struct limit limits[GATES];
    struct sketch sketch;
    enum assay_status st = delivered_answer(l->c, l->answer, candidate, err);
    if (st != ASSAY_OK ||
        (st = sketch_make(&against, candidate, &sketch, err)) != ASSAY_OK)
        return st;
    limits_of(&v->o->limits, r, limits);
    st = judge_sketch(&sketch, limits, r, err);
    if (st == ASSAY_OK)
        judge_tell_maker(l->answer->maker, r);
    if (st == ASSAY_OK)
        look_into(l, candidate, &sketch, r);
    if (st == ASSAY_OK)
        finish(v, r, &sketch);
    if (st == ASSAY_OK && v->o->rows)
        st = result_keep_rows(r, &sketch, err);
    else if (st == ASSAY_OK && report_format_has_pictures(v->o->format))
        st = result_keep_picture(r, &sketch, err);
    sketch_free(&sketch);
    return st;
}

/* One kernel on one case with one kind of input. */
static enum assay_status run_kernel(struct run_set *v, const struct loaded *l,
                                    size_t kernel, unsigned input,
                                    struct result *r, struct assay_error *err)
{
    struct candidate candidate;
    bool ran;
    struct driver_run run = { .kernel = kernel,
                              .input = input,
                              .c = l->c,
                              .answer = l->answer,
                              .timeout_s = v->o->timeout_s };
    enum assay_status st = run_repeatedly(v, &run, &ran, &candidate, r, err);
    if (st == ASSAY_OK && ran)
        st = judge_one(v, l, &candidate, r, err);
    else if (st == ASSAY_OK)
        finish(v, r, NULL);
    candidate_free(&candidate);
    return st;
}

/* The same, unless a worker or a run that did not end has done it. */
static enum assay_status take_or_run(struct run_set *v, const struct loaded *l,
                                     size_t kernel, unsigned input,
                                     struct result *r, struct assay_error *err)
{
    const size_t at = (size_t)(r - v->results);
    const enum record_keep keep = v->o->rows ? KEEP_ROWS
                                  : report_format_has_pictures(v->o->format)
                                      ? KEEP_PICTURE
                                      : KEEP_NOTHING;
    bool taken;
    jobs_wait(v->jobs, at);
    enum assay_status st = record_take(v->record, at, &v->o->limits,
                                       v->quarantine, keep, r, &taken, err);
    return st == ASSAY_OK && !taken ? run_kernel(v, l, kernel, input, r, err)
                                    : st;
}

/* A worker's share; what it keeps is in the record. */
static enum assay_status run_claimed(struct run_set *v, const struct loaded *l,
                                     size_t kernel, unsigned input,
                                     struct result *r, struct assay_error *err)
{
    const size_t at = (size_t)(r - v->results);
    if (record_has(v->record, at) || !jobs_claim(v->jobs, at))
        return ASSAY_OK;
    enum assay_status st = run_kernel(v, l, kernel, input, r, err);
    if (st == ASSAY_OK && v->record)
        jobs_done(v->jobs, at);
    return st;
}

/* What is not run is so whatever a worker made of it, now or in a run that did
 * not end; one that is at it must not write it afterwards. */
static void leave_out(struct run_set *v, struct result *r)
{
    const size_t at = (size_t)(r - v->results);
    if (v->is_worker)
        return;
    if (v->jobs && !jobs_claim(v->jobs, at))
        jobs_wait(v->jobs, at);
    finish(v, r, NULL);
}

/* A kernel that crashed or hung may do so on every case. */
static void note_crash(struct run_set *v, size_t kernel, const struct result *r)
{
    if (v->o->skip_crashed && !v->crashed[kernel] &&
        (r->verdict == VERDICT_CRASH || r->verdict == VERDICT_HANG))
        v->crashed[kernel] = assay_set_case_name(v->set, v->case_index);
}

/* Why a kernel is not even tried; or "". */
static void say_not_run(const struct run_set *v, const struct loaded *l,
                        size_t kernel, char *reason, size_t size)
{
    const struct driver_kernel *k = &v->driver->info->kernels[kernel];
    const char *form = assay_softmax_get(l->answer->recipe->softmax)->name;
    reason[0] = '\0';
    if (k->softmax_form[0] && strcmp(k->softmax_form, form) != 0)
        text_print(reason, size,
                   "the kernel's softmax form is %.31s, the set's answers are "
                   "for %s",
                   k->softmax_form, form);
    else if (v->crashed[kernel])
        text_print(reason, size, "it crashed or hung on case %.200s",
                   v->crashed[kernel]);
}

/* One kernel on one case with one kind of input. */
static enum assay_status run_one(struct run_set *v, const struct loaded *l,
                                 size_t kernel, unsigned input,
                                 struct assay_error *err)
{
    const int64_t total = v->cases * v->runs_per_case, at = (int64_t)v->count;
    struct result *r;
    enum assay_status st = new_result(v, l->c, l->answer->recipe, &r, err);
    if (st != ASSAY_OK)
        return st;
    memcpy(r->kernel, v->driver->info->kernels[kernel].name, sizeof r->kernel);
    r->input = driver_input_name(input);
    r->verdict = VERDICT_NOT_RUN;
    say_not_run(v, l, kernel, r->reason, sizeof r->reason);
    if (r->reason[0]) {
        leave_out(v, r);
        return ASSAY_OK;
    }
    if (!v->is_worker)
        progress_step(&v->progress, at < total ? at : total, total);
    st = v->is_worker ? run_claimed(v, l, kernel, input, r, err)
                      : take_or_run(v, l, kernel, input, r, err);
    note_crash(v, kernel, r);
    return st;
}

/* Results that no report knows yet. */
static void tell(struct run_set *v)
{
    v->report->results = v->results;
    v->report->count = v->count;
    while (!v->is_worker && v->told < v->count)
        report_file_one(v->file, v->report, &v->results[v->told++]);
}

/* What the driver has instead. */
static void say_no_kernel(const struct run_set *v, char *text, size_t size)
{
    int at = snprintf(text, size,
                      "%s %.40s has no such kernel (or --kernel and "
                      "--input leave it out); it has",
                      driver_get(v->driver->kind)->name, v->driver->info->name);
    for (size_t k = 0; k < v->driver->info->count; k++)
        if (at > 0 && (size_t)at < size)
            at += snprintf(text + at, size - (size_t)at, "%s %s for %s",
                           k ? "," : "", v->driver->info->kernels[k].name,
                           v->driver->info->kernels[k].recipe);
}

/* Every kernel for the answer's recipe. */
static enum assay_status run_recipe(struct run_set *v, const struct loaded *l,
                                    struct assay_error *err)
{
    static const unsigned kinds[] = { ASSAY_KERNEL_RAW, ASSAY_KERNEL_PACKED,
                                      DRIVER_INPUT_SAVED };
    const struct assay_recipe *recipe = l->answer->recipe;
    struct result *r;
    size_t before = v->count;
    enum assay_status st = ASSAY_OK;
    for (size_t k = 0; k < v->driver->info->count; k++) {
        const struct driver_kernel *kernel = &v->driver->info->kernels[k];
        if ((strcmp(kernel->recipe, "*") != 0 &&
             strcmp(kernel->recipe, recipe->name) != 0) ||
            !select_has(v->o->kernel, kernel->name))
            continue;
        for (int i = 0; st == ASSAY_OK && i < 3; i++)
            if (kernel->inputs & v->o->inputs & kinds[i])
                if ((st = run_one(v, l, k, kinds[i], err)) == ASSAY_OK)
                    tell(v);
    }
    if (st == ASSAY_OK && v->count == before &&
        (st = new_result(v, l->c, recipe, &r, err)) == ASSAY_OK) {
        r->verdict = VERDICT_UNSUPPORTED;
        say_no_kernel(v, r->reason, sizeof r->reason);
        if (!v->is_worker)
            finish(v, r, NULL);
        tell(v);
    }
    return st;
}

static enum assay_status run_answers(struct run_set *v, size_t i,
                                     const struct assay_case *c,
                                     const struct assay_exact *exact,
                                     struct assay_error *err)
{
    const struct assay_recipe **recipes;
    size_t n;
    enum assay_status st = assay_set_recipes(v->set, i, &recipes, &n, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
        struct assay_answer answer;
        if (!select_has_recipe(v->o->recipe, recipes[r]->name,
                               assay_softmax_get(recipes[r]->softmax)->name))
            continue;
        st = assay_set_read_answer(v->set, i, &c->problem, recipes[r], &answer,
                                   err);
        if (st == ASSAY_OK && (v->o->inputs & ASSAY_KERNEL_PACKED))
            st = assay_answer_lse_shift(c, &answer, err);
        if (st == ASSAY_OK)
            st = run_recipe(v, &(struct loaded){ c, exact, &answer }, err);
        assay_answer_free(&answer);
    }
    free(recipes);
    return st;
}

static enum assay_status run_case_of_set(struct run_set *v, size_t i,
                                         struct assay_error *err)
{
    struct assay_case c;
    struct assay_exact exact = { 0 };
    v->case_index = i;
    const bool has_exact = assay_set_has_exact(v->set, i);
    enum assay_status st = assay_set_read_case(v->set, i, &c, err);
    if (st != ASSAY_OK)
        return st;
    if (has_exact)
        st = assay_set_read_exact(v->set, i, &c.problem, &exact, err);
    if (st == ASSAY_OK)
        st = run_answers(v, i, &c, has_exact ? &exact : NULL, err);
    assay_exact_free(&exact);
    assay_case_free(&c);
    return st;
}

enum assay_status run_set_check(struct run_set *v, struct assay_error *err)
{
    size_t n = assay_set_count(v->set),
           most = n > v->driver->info->count ? n : v->driver->info->count;
    const char **names = calloc(most + 1, sizeof *names);
    if (!names)
        return assay_fail(err, ASSAY_MEMORY, "no memory for names");
    for (size_t i = 0; i < n; i++) {
        names[i] = assay_set_case_name(v->set, i);
        v->cases += select_has(v->o->cases, names[i]);
    }
    enum assay_status st = select_check(v->o->cases, "case", names, n, err);
    for (size_t i = 0; i < v->driver->info->count; i++)
        names[i] = v->driver->info->kernels[i].name;
    if (st == ASSAY_OK)
        st = select_check(v->o->kernel, "kernel", names, v->driver->info->count,
                          err);
    free(names);
    return st == ASSAY_OK ? select_check_set(v->o->recipe, v->set, err) : st;
}

/* For the progress line. */
static void count_runs(struct run_set *v)
{
    const struct driver_info *info = v->driver->info;
    for (size_t k = 0; k < info->count; k++)
        if (select_has_recipe(v->o->recipe, info->kernels[k].recipe,
                              info->kernels[k].softmax_form) &&
            select_has(v->o->kernel, info->kernels[k].name))
            v->runs_per_case +=
                __builtin_popcount(info->kernels[k].inputs & v->o->inputs);
}

static enum assay_status run_cases(struct run_set *v, struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < assay_set_count(v->set); i++)
        if (select_has(v->o->cases, assay_set_case_name(v->set, i)))
            st = run_case_of_set(v, i, err);
    return st;
}

/* What goes wrong here does so in the maker too, which tells. */
static void work(void *context)
{
    struct run_set *v = context;
    struct assay_error ignored;
    v->is_worker = true;
    run_cases(v, &ignored);
}

enum assay_status run_set(struct run_set *v, struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    count_runs(v);
    if (v->o->jobs > 1 && v->record)
        st = jobs_begin(v->o->jobs, work, v, &v->jobs, err);
    if (st != ASSAY_OK)
        return st;
    progress_begin(&v->progress, v->driver->info->name);
    st = run_cases(v, err);
    progress_end(&v->progress);
    jobs_end(v->jobs);
    v->jobs = NULL;
    record_tell_module(v->record, v->driver->info);
    return st;
}

void run_set_free(struct run_set *v)
{
    for (size_t i = 0; i < v->count; i++)
        result_free(&v->results[i]);
    free(v->results);
}
