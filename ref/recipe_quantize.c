/* SPDX-License-Identifier: MIT
 *
 * Where a recipe is defined, and how it quantizes.
 */
#include <inttypes.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/recipe.h"
#include "assay/rotate.h"
#include "assay/smooth.h"

enum assay_status assay_recipe_check(const struct assay_recipe *recipe,
                                     const struct assay_problem *p,
                                     struct assay_error *err)
{
    const struct assay_quantizer *q = assay_quantizer_get(recipe->q);
    if (q->prepares && assay_rotation_order_get(q->prepare)->rotate &&
        ((p->dk & (p->dk - 1)) != 0 || p->dk > ASSAY_ROTATE_MAX))
        return assay_fail(err, ASSAY_SHAPE,
                          "%s rotates Q and K, for which a head width of "
                          "%" PRId64 " is no power of two",
                          recipe->name, p->dk);
    return assay_problem_check(p, err);
}

/* ---- quantize ---- */

struct quantizing {
    const struct assay_recipe *recipe;
    const struct assay_problem *p;
    const struct assay_format *word;
};

static enum assay_status prepare(const struct quantizing *z,
                                 const struct assay_quantizer *how,
                                 const struct assay_tensor *t, const float *x,
                                 const float *mean, float mult, float *y,
                                 struct assay_error *err)
{
    const struct assay_operand operand = {
        t->b, t->s, t->h, t->d, x, mean, mult
    };
    return assay_operand_prepare(assay_rotation_order_get(how->prepare),
                                 z->word, &operand, y, err);
}

/* One operand: what its quantizer sees, and that quantized. */
static enum assay_status
one_operand(const struct quantizing *z, enum assay_quantizer_id id,
            struct assay_tensor t, const float *x, const float *mean,
            float mult, struct assay_payload *out, struct assay_error *err)
{
    const struct assay_quantizer *how = assay_quantizer_get(id);
    float *y;
    if (!how->prepares)
        return assay_quantize(how, &t, x, out, err);
    enum assay_status st = assay_alloc("prepared values", t.b * t.s * t.h * t.d,
                                       sizeof *y, &y, err);
    if (st != ASSAY_OK)
        return st;
    st = prepare(z, how, &t, x, mean, mult, y, err);
    if (st == ASSAY_OK)
        st = assay_quantize(how, &t, y, out, err);
    assay_free(y);
    return st;
}

static enum assay_status take_mean(const struct quantizing *z,
                                   const float *k_mean, const float *q,
                                   const float *k, struct assay_payloads *out,
                                   struct assay_error *err)
{
    const struct assay_problem *p = z->p;
    const int64_t n = p->b * p->hk * p->dk;
    struct assay_k_mean to = { 0 };
    enum assay_status st;
    bool any = false;
    if ((st = assay_alloc("a K mean", n, sizeof *out->k_mean, &out->k_mean,
                          err)) != ASSAY_OK)
        return st;
    to.mean = out->k_mean;
    if (k_mean)
        memcpy(out->k_mean, k_mean, (size_t)n * sizeof *k_mean);
    else if ((st = assay_k_mean_compute(p, k, ASSAY_SMOOTHING_GATED, &to,
                                        err)) != ASSAY_OK)
        return st;
    for (int64_t i = 0; i < n; i++)
        any |= out->k_mean[i] != 0;
    if (!any)
        return ASSAY_OK;
    st = assay_alloc("an LSE shift", assay_problem_rows(p),
                     sizeof *out->lse_shift, &out->lse_shift, err);
    return st == ASSAY_OK ? assay_k_mean_lse_delta(
                                p, assay_recipe_lse_word(z->recipe, z->word), q,
                                out->k_mean, out->lse_shift, err)
                          : st;
}

enum assay_status assay_recipe_quantize(const struct assay_recipe *r,
                                        const struct assay_problem *p,
                                        const struct assay_format *word,
                                        const float *k_mean, const float *q,
                                        const float *k, const float *v,
                                        struct assay_payloads *out,
                                        struct assay_error *err)
{
    const struct quantizing z = { r, p,
                                  word ? word : assay_format_get(ASSAY_BF16) };
    const float mult = r->scale_applied == ASSAY_APPLIED_Q
                           ? assay_fold_multiplier(p->softmax_scale)
                           : 1;
    enum assay_status st = assay_recipe_check(r, p, err);
    *out = (struct assay_payloads){ 0 };
    if (st == ASSAY_OK && r->smooth)
        st = take_mean(&z, k_mean, q, k, out, err);
    if (st != ASSAY_OK ||
        (st = one_operand(
             &z, r->q,
             (struct assay_tensor){ p->b, p->nq, p->hq, p->dk, r->order, 0 }, q,
             NULL, mult, &out->q, err)) != ASSAY_OK ||
        (st = one_operand(
             &z, r->k,
             (struct assay_tensor){ p->b, p->nk, p->hk, p->dk, r->order, 0 }, k,
             out->k_mean, 1, &out->k, err)) != ASSAY_OK)
        return st;
    return one_operand(
        &z, r->v,
        (struct assay_tensor){ p->b, p->nk, p->hk, p->dv, r->order, 0 }, v,
        NULL, 1, &out->v, err);
}

void assay_payloads_free(struct assay_payloads *payloads)
{
    assay_payload_free(&payloads->q);
    assay_payload_free(&payloads->k);
    assay_payload_free(&payloads->v);
    assay_free(payloads->k_mean);
    assay_free(payloads->lse_shift);
    payloads->k_mean = payloads->lse_shift = NULL;
}
