/* SPDX-License-Identifier: MIT
 *
 * Lengths that no tile divides, and inputs against either end of their memory,
 * where the device can do that: right answers are made anew and outputs judged
 * by the limits of gate.def.
 */
#include <inttypes.h>
#include <stdio.h>

#include "golden/text.h"
#include "validate/judge.h"
#include "validate/probe.h"
#include "validate/probe_made.h"

struct cut {
    const struct assay_case *c;
    const struct assay_exact *exact;
    const struct assay_answer *answer;
};

static enum assay_status judge_cut(const struct cut *cut,
                                   const struct candidate *left, bool at_start,
                                   struct probe_finding *f,
                                   struct assay_error *err)
{
    const struct assay_problem *p = &cut->c->problem;
    const struct yardstick against = { p, cut->answer, cut->exact, cut->c };
    struct result r = { .problem = *p, .recipe = cut->answer->recipe };
    enum assay_status st = judge(&against, left, &r, err);
    if (st == ASSAY_OK && r.verdict != VERDICT_PASS) {
        f->outcome = PROBE_FOUND;
        text_print(f->text, sizeof f->text,
                   "%" PRId64 " queries, %" PRId64
                   " keys, inputs at the %s of their memory: %s, %.300s",
                   p->nq, p->nk, at_start ? "beginning" : "end",
                   verdict_get(r.verdict)->name, r.reason);
    }
    result_free(&r);
    return st;
}

/* A kernel need not take every length; `why` is of the first. */
struct refused {
    int count;
    char why[256];
};

static void take_refusal(struct probe_finding *f, struct refused *refused)
{
    if (f->outcome != PROBE_UNSUPPORTED)
        return;
    if (refused->count++ == 0)
        text_print(refused->why, sizeof refused->why, "%.250s", f->text);
    f->outcome = PROBE_CLEAN;
    f->text[0] = '\0';
}

/* At both ends, until something is found. */
static enum assay_status probe_cut(const struct probe_subject *s,
                                   const struct cut *cut,
                                   struct probe_finding *f,
                                   struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (int side = 0; st == ASSAY_OK && f->outcome == PROBE_CLEAN && side < 2;
         side++) {
        struct driver_run run = probe_plan(s);
        struct candidate left;
        bool ran;
        run.c = cut->c;
        run.answer = cut->answer;
        run.at_start = side == 1;
        st = probe_launch(s, &run, &ran, &left, f, err);
        if (st == ASSAY_OK && ran)
            st = judge_cut(cut, &left, run.at_start, f, err);
        candidate_free(&left);
    }
    return st;
}

static enum assay_status probe_length(const struct probe_subject *s,
                                      int64_t tokens, struct probe_finding *f,
                                      struct assay_error *err)
{
    const struct assay_recipe *recipe = s->kernels[s->own].answer->recipe;
    struct assay_case c;
    struct assay_exact exact = { 0 };
    struct assay_answer answer = { 0 };
    enum assay_status st = probe_made_cut(s->c, tokens, &c, err);
    if (st == ASSAY_OK)
        st = probe_made_answer(&c, recipe, &exact, &answer, err);
    if (st == ASSAY_OK)
        st = probe_cut(s, &(struct cut){ &c, &exact, &answer }, f, err);
    assay_answer_free(&answer);
    assay_exact_free(&exact);
    assay_case_free(&c);
    return st;
}

enum assay_status probe_bounds(const struct probe_subject *s,
                               struct probe_finding *f, struct assay_error *err)
{
    /* around the tiles that kernels have */
    static const int64_t lengths[] = { 1,  31,  32,  33,  63, 64,
                                       65, 127, 128, 129, 257 };
    const struct cut whole = { s->c, s->exact, s->kernels[s->own].answer };
    struct refused refused = { 0 };
    enum assay_status st = probe_cut(s, &whole, f, err);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (st == ASSAY_OK && f->outcome == PROBE_CLEAN &&
            lengths[i] < s->c->problem.nk) {
            st = probe_length(s, lengths[i], f, err);
            take_refusal(f, &refused);
        }
    if (refused.count > 0 && f->outcome == PROBE_CLEAN)
        text_print(f->text, sizeof f->text, "refuses %d of the lengths: %s",
                   refused.count, refused.why);
    return st;
}
