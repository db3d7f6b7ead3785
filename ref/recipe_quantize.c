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

/* ---- operands ---- */

const char *assay_input_name(enum assay_input input)
{
    static const char *const names[ASSAY_INPUTS] = { "q", "k", "v" };
    return names[input];
}

struct assay_payload *assay_payloads_at(struct assay_payloads *payloads,
                                        enum assay_input input)
{
    struct assay_payload *const all[ASSAY_INPUTS] = { &payloads->q,
                                                      &payloads->k,
                                                      &payloads->v };
    return all[input];
}

const struct assay_quantizer *
assay_recipe_quantizer(const struct assay_recipe *r, enum assay_input input)
{
    const enum assay_quantizer_id all[ASSAY_INPUTS] = { r->q, r->k, r->v };
    return assay_quantizer_get(all[input]);
}

struct assay_tensor assay_recipe_tensor(const struct assay_recipe *r,
                                        const struct assay_problem *p,
                                        enum assay_input input)
{
    const bool q = input == ASSAY_INPUT_Q, v = input == ASSAY_INPUT_V;
    return (struct assay_tensor){ .b = p->b,
                                  .s = q ? p->nq : p->nk,
                                  .h = q ? p->hq : p->hk,
                                  .d = v ? p->dv : p->dk,
                                  .order = r->order };
}

/* ---- quantize ---- */

struct quantizing {
    const struct assay_recipe *recipe;
    const struct assay_problem *p;
    const struct assay_format *word;
};

static enum assay_status prepare(const struct quantizing *z,
                                 enum assay_input input, const float *x,
                                 const float *k_mean, float *y,
                                 struct assay_error *err)
{
    const struct assay_quantizer *how =
        assay_recipe_quantizer(z->recipe, input);
    const struct assay_tensor t = assay_recipe_tensor(z->recipe, z->p, input);
    const bool folded =
        input == ASSAY_INPUT_Q && z->recipe->scale_applied == ASSAY_APPLIED_Q;
    const struct assay_operand operand = {
        .b = t.b,
        .tokens = t.s,
        .heads = t.h,
        .width = t.d,
        .x = x,
        .mean = input == ASSAY_INPUT_K ? k_mean : NULL,
        .mult = folded ? assay_fold_multiplier(z->p->softmax_scale) : 1,
    };
    return assay_operand_prepare(assay_rotation_order_get(how->prepare),
                                 z->word, &operand, y, err);
}

/* One operand: what its quantizer sees, and that quantized. */
static enum assay_status one_operand(const struct quantizing *z,
                                     enum assay_input input, const float *x,
                                     struct assay_payloads *out,
                                     struct assay_error *err)
{
    const struct assay_quantizer *how =
        assay_recipe_quantizer(z->recipe, input);
    const struct assay_tensor t = assay_recipe_tensor(z->recipe, z->p, input);
    struct assay_payload *payload = assay_payloads_at(out, input);
    float *y;
    if (!how->prepares)
        return assay_quantize(how, &t, x, payload, err);
    enum assay_status st = assay_alloc("prepared values", t.b * t.s * t.h * t.d,
                                       sizeof *y, &y, err);
    if (st != ASSAY_OK)
        return st;
    st = prepare(z, input, x, out->k_mean, y, err);
    if (st == ASSAY_OK)
        st = assay_quantize(how, &t, y, payload, err);
    assay_free(y);
    return st;
}

enum assay_status assay_recipe_prepare(const struct assay_recipe *recipe,
                                       const struct assay_problem *p,
                                       const struct assay_format *word,
                                       const float *k_mean,
                                       enum assay_input input, const float *x,
                                       float *y, struct assay_error *err)
{
    const struct quantizing z = { recipe, p,
                                  word ? word : assay_format_get(ASSAY_BF16) };
    const struct assay_tensor t = assay_recipe_tensor(recipe, p, input);
    enum assay_status st = assay_recipe_check(recipe, p, err);
    if (st != ASSAY_OK)
        return st;
    if (assay_recipe_quantizer(recipe, input)->prepares)
        return prepare(&z, input, x, k_mean, y, err);
    if (y != x && t.s > 0)
        memcpy(y, x, (size_t)(t.b * t.s * t.h * t.d) * sizeof *y);
    return ASSAY_OK;
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
    enum assay_status st = assay_recipe_check(r, p, err);
    *out = (struct assay_payloads){ 0 };
    if (st == ASSAY_OK && r->smooth)
        st = take_mean(&z, k_mean, q, k, out, err);
    if (st != ASSAY_OK ||
        (st = one_operand(&z, ASSAY_INPUT_Q, q, out, err)) != ASSAY_OK ||
        (st = one_operand(&z, ASSAY_INPUT_K, k, out, err)) != ASSAY_OK)
        return st;
    return one_operand(&z, ASSAY_INPUT_V, v, out, err);
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
