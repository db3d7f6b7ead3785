/* SPDX-License-Identifier: MIT
 *
 * Cases and answers in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/problem_line.h"
#include "assay/smooth.h"
#include "golden/set.h"

void assay_case_free(struct assay_case *c)
{
    free(c->name);
    free(c->source);
    assay_free(c->q);
    assay_free(c->k);
    assay_free(c->v);
    *c = (struct assay_case){ 0 };
}

char *assay_case_line(const struct assay_problem *p)
{
    const struct assay_problem_line line = { .problem = *p };
    char text[ASSAY_LINE_MAX];
    assay_problem_line(&line, text);
    return strdup(text);
}

static enum assay_status values_of(const struct assay_format *format, int64_t n,
                                   const void *words, float **out,
                                   struct assay_error *err)
{
    enum assay_status st =
        assay_alloc("input values", n, sizeof **out, out, err);
    if (st == ASSAY_OK)
        assay_format_decode(format, (size_t)n, words, *out);
    return st;
}

enum assay_status assay_case_values(const struct assay_case *c,
                                    struct assay_inputs *out,
                                    struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    enum assay_status st;
    *out = (struct assay_inputs){ .format = c->format };
    if ((st = values_of(c->format, assay_problem_q_elems(p), c->q, &out->q,
                        err)) == ASSAY_OK &&
        (st = values_of(c->format, assay_problem_k_elems(p), c->k, &out->k,
                        err)) == ASSAY_OK)
        st = values_of(c->format, assay_problem_v_elems(p), c->v, &out->v, err);
    if (st != ASSAY_OK)
        assay_inputs_free(out);
    return st;
}

void assay_inputs_free(struct assay_inputs *inputs)
{
    assay_free(inputs->q);
    assay_free(inputs->k);
    assay_free(inputs->v);
    *inputs = (struct assay_inputs){ 0 };
}

void assay_exact_free(struct assay_exact *e)
{
    assay_free(e->o);
    assay_free(e->o64);
    assay_free(e->lse);
    assay_free(e->bar_o);
    assay_free(e->bar_lse);
    *e = (struct assay_exact){ 0 };
}

void assay_answer_free(struct assay_answer *a)
{
    assay_payloads_free(&a->payloads);
    assay_free(a->o);
    assay_free(a->lse);
    assay_free(a->jitter.o);
    assay_free(a->jitter.lse);
    assay_free(a->jitter.gain);
    assay_free(a->jitter.bound);
    free(a->maker);
    *a = (struct assay_answer){ 0 };
}

enum assay_status assay_answer_lse_shift(const struct assay_case *c,
                                         struct assay_answer *a,
                                         struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    struct assay_payloads *x = &a->payloads;
    float *q = NULL;
    enum assay_status st;
    if (!x->k_mean || x->lse_shift)
        return ASSAY_OK;
    if ((st = values_of(c->format, assay_problem_q_elems(p), c->q, &q, err)) ==
            ASSAY_OK &&
        (st = assay_alloc("an LSE shift", assay_problem_rows(p),
                          sizeof *x->lse_shift, &x->lse_shift, err)) ==
            ASSAY_OK)
        st = assay_k_mean_lse_delta(p,
                                    assay_recipe_lse_word(a->recipe, c->format),
                                    q, x->k_mean, x->lse_shift, err);
    assay_free(q);
    return st;
}
