/* SPDX-License-Identifier: MIT */
#include "golden/answers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "assay/memory.h"
#include "golden/term.h"

static enum assay_status exact_f64(const struct assay_problem *p,
                                   const struct assay_inputs *in,
                                   const struct assay_run *run,
                                   struct assay_exact *out,
                                   struct assay_error *err)
{
    int64_t n = assay_problem_o_elems(p);
    enum assay_status st =
        assay_alloc("exact output", n, sizeof *out->o64, &out->o64, err);
    if (st == ASSAY_OK)
        st = assay_attention_f64(p, in->q, in->k, in->v, out->o64, out->lse,
                                 run, err);
    for (int64_t i = 0; st == ASSAY_OK && i < n; i++)
        out->o[i] = (float)out->o64[i];
    return st;
}

enum assay_status answers_exact_only(const struct assay_problem *p,
                                     const struct assay_inputs *in, bool f64,
                                     const struct assay_run *run,
                                     struct assay_exact *out,
                                     struct assay_error *err)
{
    enum assay_status st;
    *out = (struct assay_exact){ 0 };
    if ((st = assay_alloc("exact output", assay_problem_o_elems(p),
                          sizeof *out->o, &out->o, err)) == ASSAY_OK &&
        (st = assay_alloc("LSE", assay_problem_rows(p), sizeof *out->lse,
                          &out->lse, err)) == ASSAY_OK)
        st = f64 ? exact_f64(p, in, run, out, err)
                 : assay_attention_f32(p, in->q, in->k, in->v, out->o, out->lse,
                                       run, err);
    if (st != ASSAY_OK)
        assay_exact_free(out);
    return st;
}

enum assay_status answers_exact(const struct assay_problem *p,
                                const struct assay_inputs *in, bool f64,
                                const struct assay_run *run,
                                struct assay_exact *out,
                                struct assay_error *err)
{
    const int64_t heads = p->b * p->hq;
    enum assay_status st = answers_exact_only(p, in, f64, run, out, err);
    if (st == ASSAY_OK &&
        (st = assay_alloc("error bars", heads, sizeof *out->bar_o, &out->bar_o,
                          err)) == ASSAY_OK &&
        (st = assay_alloc("error bars", heads, sizeof *out->bar_lse,
                          &out->bar_lse, err)) == ASSAY_OK)
        st = f64 ? assay_error_bar_f64(p, in->q, in->k, in->v, out->o64,
                                       out->lse, ANSWERS_BAR_ROWS, out->bar_o,
                                       out->bar_lse, run, err)
                 : assay_error_bar_f32(p, in->q, in->k, in->v, out->o, out->lse,
                                       out->bar_o, out->bar_lse, run, err);
    if (st != ASSAY_OK)
        assay_exact_free(out);
    return st;
}

/* Payloads, and room for the answer. */
static enum assay_status begin(const struct assay_recipe *recipe,
                               const struct assay_problem *p,
                               const struct assay_inputs *in,
                               struct assay_answer *out,
                               struct assay_error *err)
{
    enum assay_status st;
    *out = (struct assay_answer){ .recipe = recipe };
    if ((st = assay_recipe_quantize(recipe, p, in->format, NULL, in->q, in->k,
                                    in->v, &out->payloads, err)) == ASSAY_OK &&
        (st = assay_alloc("emulated output", assay_problem_o_elems(p),
                          sizeof *out->o, &out->o, err)) == ASSAY_OK)
        st = assay_alloc("emulated LSE", assay_problem_rows(p),
                         sizeof *out->lse, &out->lse, err);
    return st;
}

enum assay_status answers_emulated(const struct assay_recipe *recipe,
                                   const struct assay_problem *p,
                                   const struct assay_inputs *in,
                                   const struct assay_run *run,
                                   struct assay_answer *out,
                                   struct assay_error *err)
{
    enum assay_status st = begin(recipe, p, in, out, err);
    return st == ASSAY_OK
               ? assay_recipe_emulate(recipe, p, &out->payloads, out->o,
                                      out->lse, NULL, run, err)
               : st;
}

enum assay_status
answers_recipe(const struct assay_recipe *recipe, const struct assay_problem *p,
               const struct assay_inputs *in, const struct assay_run *run,
               struct assay_answer *out, struct assay_error *err)
{
    const int64_t rows = assay_problem_rows(p);
    struct assay_jitter *j = &out->jitter;
    enum assay_status st = begin(recipe, p, in, out, err);
    if (st == ASSAY_OK &&
        (st = assay_alloc("jitter", rows, sizeof *j->o, &j->o, err)) ==
            ASSAY_OK &&
        (st = assay_alloc("jitter", rows, sizeof *j->lse, &j->lse, err)) ==
            ASSAY_OK &&
        (st = assay_alloc("jitter", p->b * p->hq, sizeof *j->gain, &j->gain,
                          err)) == ASSAY_OK &&
        (st = assay_alloc("bounds", assay_problem_o_elems(p), sizeof *j->bound,
                          &j->bound, err)) == ASSAY_OK)
        st = assay_recipe_emulate(recipe, p, &out->payloads, out->o, out->lse,
                                  j, run, err);
    if (st != ASSAY_OK)
        assay_answer_free(out);
    return st;
}

/* How many values are no numbers; -inf is one where a row sees no key. */
static int64_t not_finite(const struct assay_problem *p, const float *o,
                          const double *lse)
{
    int64_t bad = 0;
    for (int64_t i = 0; i < assay_problem_o_elems(p); i++)
        bad += !isfinite(o[i]);
    for (int64_t r = 0; r < assay_problem_rows(p); r++)
        bad += assay_problem_visible(p, r % p->nq) > 0 && !isfinite(lse[r]);
    return bad;
}

void answers_warn(const char *verb, const struct assay_case *c,
                  const char *answer, const float *o, const double *lse,
                  const char *advice)
{
    const int64_t bad = not_finite(&c->problem, o, lse);
    if (bad > 0)
        term_printf(stderr,
                    "assay %s: %s: the %s answer has %" PRId64
                    " values of O and LSE that are not finite%s\n",
                    verb, c->name, answer, bad, advice);
}
