/* SPDX-License-Identifier: MIT */
#include "recipe_run.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "check_values.h"

const char *const mha_recipes[N_MHA] = { "bf16",  "bf16fp8", "i8fp8", "fp8",
                                         "mxfp8", "f8f6",    "f6f8",  "mxfp6",
                                         "f6f4",  "mxfp4" };

const struct assay_recipe *recipe_numbered(int i)
{
    return assay_recipe_in_form(
        assay_recipe_get((enum assay_recipe_id)(i % ASSAY_RECIPES)),
        (enum assay_softmax)(i / ASSAY_RECIPES));
}

const char *form_name(const struct assay_recipe *r)
{
    return assay_softmax_get(r->softmax)->name;
}

struct assay_payloads payloads_of(const struct assay_recipe *r,
                                  const struct assay_problem *p, const float *q,
                                  const float *k, const float *v)
{
    struct assay_payloads x;
    struct assay_error err = { 0 };
    enum assay_status st =
        assay_recipe_quantize(r, p, NULL, NULL, q, k, v, &x, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
    return x;
}

struct assay_payloads random_payloads(const struct assay_recipe *r,
                                      const struct assay_problem *p,
                                      uint64_t seed)
{
    struct tensors t = tensors_new(p, seed);
    struct assay_payloads x = payloads_of(r, p, t.q, t.k, t.v);
    tensors_free(&t);
    return x;
}

static struct emulated emulated_new(const struct assay_problem *p)
{
    return (struct emulated){
        must_alloc((size_t)assay_problem_o_elems(p), sizeof(float)),
        must_alloc((size_t)assay_problem_rows(p), sizeof(double)),
    };
}

struct emulated emulate(const struct assay_recipe *r,
                        const struct assay_problem *p,
                        const struct assay_payloads *x, int64_t tile)
{
    struct emulated e = emulated_new(p);
    const struct assay_run run = { .threads = 1 };
    struct assay_error err = { 0 };
    enum assay_status st =
        tile ? assay_recipe_emulate_tile(r, p, x, tile, e.o, e.lse, &run, &err)
             : assay_recipe_emulate(r, p, x, e.o, e.lse, NULL, &run, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
    return e;
}

struct emulated emulate_jitter(const struct assay_recipe *r,
                               const struct assay_problem *p,
                               const struct assay_payloads *x, int threads,
                               struct assay_jitter *j)
{
    struct emulated e = emulated_new(p);
    const struct assay_run run = { .threads = threads };
    struct assay_error err = { 0 };
    enum assay_status st =
        assay_recipe_emulate(r, p, x, e.o, e.lse, j, &run, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
    return e;
}

void emulated_free(struct emulated *e)
{
    free(e->o);
    free(e->lse);
}

struct assay_jitter jitter_new(const struct assay_problem *p)
{
    size_t n = (size_t)assay_problem_rows(p);
    return (struct assay_jitter){
        must_alloc(n, sizeof(float)),
        must_alloc(n, sizeof(float)),
        must_alloc((size_t)(p->b * p->hq), sizeof(float)),
    };
}

void jitter_free(struct assay_jitter *j)
{
    free(j->o);
    free(j->lse);
    free(j->gain);
}

double norm_of(int64_t n, const float *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

double row_distance(const struct assay_problem *p, int64_t n, const float *a,
                    const float *b)
{
    int64_t at = assay_row_offset(p->nq, p->hq, p->dv, n / p->nq / p->hq,
                                  n % p->nq, n / p->nq % p->hq);
    double sum = 0;
    for (int64_t c = at; c < at + p->dv; c++)
        sum += ((double)a[c] - b[c]) * ((double)a[c] - b[c]);
    return sqrt(sum);
}

double part_of(double distance, double allowed)
{
    return distance == 0 ? 0 : distance / allowed;
}
