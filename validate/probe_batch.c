/* SPDX-License-Identifier: MIT
 *
 * A case alone, and behind other data of the same shape in one batch: the same
 * bits, or at least within the limits of gate.def.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "golden/text.h"
#include "validate/judge.h"
#include "validate/probe.h"
#include "validate/probe_made.h"

/* The second half of `joined` holds the bytes of `alone`. */
static bool ends_in(const void *joined, const void *alone, size_t bytes)
{
    return bytes == 0 ||
           memcmp((const char *)joined + bytes, alone, bytes) == 0;
}

/* Whether the quantizer makes of the case what it makes of it alone; one scale
 * of a tensor is that of all of it. */
static bool same_payload(const struct assay_payload *alone,
                         const struct assay_payload *joined)
{
    const size_t bytes =
        (size_t)alone->count * assay_format_bytes(alone->format);
    const void *scales =
        alone->scales ? (const void *)alone->scales : alone->e8m0;
    const void *both =
        joined->scales ? (const void *)joined->scales : joined->e8m0;
    const size_t n =
        (size_t)alone->n_scales * (alone->scales ? sizeof *alone->scales : 1);
    return ends_in(joined->codes, alone->codes, bytes) &&
           (joined->n_scales == alone->n_scales
                ? n == 0 || memcmp(both, scales, n) == 0
                : ends_in(both, scales, n));
}

static bool same_contract(const struct assay_payloads *alone,
                          const struct assay_payloads *joined)
{
    return same_payload(&alone->q, &joined->q) &&
           same_payload(&alone->k, &joined->k) &&
           same_payload(&alone->v, &joined->v);
}

/* What the batch left of the case, against what it left alone and, if it is
 * not that, against the answers. */
static enum assay_status compare(const struct probe_subject *s,
                                 const struct candidate *alone,
                                 const struct candidate *joined,
                                 struct probe_finding *f,
                                 struct assay_error *err)
{
    const struct assay_problem *p = &s->c->problem;
    const int64_t elems = assay_problem_o_elems(p),
                  rows = assay_problem_rows(p);
    const struct assay_answer *answer = s->kernels[s->own].answer;
    const struct yardstick against = { p, answer, s->exact, s->c };
    const struct candidate part = { .o = joined->o + elems,
                                    .lse = joined->lse + rows,
                                    .runs = 1,
                                    .guard_bytes = joined->guard_bytes,
                                    .guard_where = joined->guard_where };
    struct result r = { .problem = *p, .recipe = answer->recipe };
    const bool same =
        ends_in(joined->o, alone->o, (size_t)elems * sizeof *alone->o) &&
        ends_in(joined->lse, alone->lse, (size_t)rows * sizeof *alone->lse);
    f->outputs = same ? 1 : 2;
    if (same && joined->guard_bytes == 0)
        return ASSAY_OK;
    enum assay_status st = judge(&against, &part, &r, err);
    if (st == ASSAY_OK && r.verdict == VERDICT_PASS) {
        text_print(f->text, sizeof f->text,
                   "other bits in a batch of %" PRId64
                   " than alone, within the limits",
                   2 * p->b);
    } else if (st == ASSAY_OK) {
        f->outcome = PROBE_FOUND;
        text_print(f->text, sizeof f->text,
                   "as entry %" PRId64 " of a batch of %" PRId64
                   " on: %s, %.300s",
                   p->b, 2 * p->b, verdict_get(r.verdict)->name, r.reason);
    }
    result_free(&r);
    return st;
}

static enum assay_status launch_both(const struct probe_subject *s,
                                     const struct assay_case *joined,
                                     const struct assay_answer *answer,
                                     struct probe_finding *f,
                                     struct assay_error *err)
{
    struct driver_run run = probe_plan(s);
    struct candidate alone, both = { 0 };
    bool ran;
    enum assay_status st = probe_launch(s, &run, &ran, &alone, f, err);
    if (st == ASSAY_OK && ran) {
        run.c = joined;
        run.answer = answer;
        st = probe_launch(s, &run, &ran, &both, f, err);
        if (st == ASSAY_OK && ran)
            st = compare(s, &alone, &both, f, err);
    }
    candidate_free(&both);
    candidate_free(&alone);
    return st;
}

enum assay_status probe_batch(const struct probe_subject *s,
                              struct probe_finding *f, struct assay_error *err)
{
    const struct assay_answer *alone = s->kernels[s->own].answer;
    struct assay_case other, joined = { 0 };
    struct assay_answer answer = { 0 };
    enum assay_status st = probe_made_other(s->c, &other, err);
    if (st == ASSAY_OK)
        st = probe_made_joined(&other, s->c, &joined, err);
    if (st == ASSAY_OK)
        st = probe_made_payloads(&joined, alone->recipe, &answer, err);
    if (st == ASSAY_OK && same_contract(&alone->payloads, &answer.payloads)) {
        st = launch_both(s, &joined, &answer, f, err);
    } else if (st == ASSAY_OK) {
        f->outcome = PROBE_NOT_RUN;
        text_print(f->text, sizeof f->text,
                   "in a batch with other data %s quantizes the case otherwise",
                   alone->recipe->name);
    }
    assay_answer_free(&answer);
    assay_case_free(&joined);
    assay_case_free(&other);
    return st;
}
