/* SPDX-License-Identifier: MIT
 *
 * The tables of recipes, and their quantizers.
 */
#include "assay/recipe.h"

#include <string.h>

enum { NO, YES };

static const struct assay_recipe recipes[] = {
#define ASSAY_RECIPE(id, name, qk, v, qs, ks, vs, rot, smooth, applied, p, \
                     out, form, promise, about)                            \
    { ASSAY_RECIPE_##id,                                                   \
      name,                                                                \
      ASSAY_##qk,                                                          \
      ASSAY_##v,                                                           \
      ASSAY_SCALE_##qs,                                                    \
      ASSAY_SCALE_##ks,                                                    \
      ASSAY_SCALE_##vs,                                                    \
      rot,                                                                 \
      smooth,                                                              \
      ASSAY_APPLIED_##applied,                                             \
      ASSAY_##p,                                                           \
      ASSAY_##out,                                                         \
      ASSAY_SOFTMAX_##form,                                                \
      ASSAY_PROMISE_##promise,                                             \
      about },
#include "assay/recipe.def"
#undef ASSAY_RECIPE
};

static const struct assay_softmax_form softmaxes[] = {
#define ASSAY_SOFTMAX(id, name, tile, about) \
    { ASSAY_SOFTMAX_##id, name, tile, about },
#include "assay/softmax.def"
#undef ASSAY_SOFTMAX
};

const struct assay_recipe *assay_recipe_get(enum assay_recipe_id id)
{
    return &recipes[id];
}

const struct assay_recipe *assay_recipe_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_RECIPES; i++)
        if (strcmp(recipes[i].name, name) == 0)
            return &recipes[i];
    return NULL;
}

const struct assay_softmax_form *assay_softmax_get(enum assay_softmax id)
{
    return &softmaxes[id];
}

/* The quantizer of plain per-tensor scales, or of none, for any format. */
static enum assay_status quantize(enum assay_format_id format,
                                  enum assay_scale scale, int64_t b, int64_t n,
                                  int64_t h, int64_t d, const float *x,
                                  struct assay_payload *out,
                                  struct assay_error *err)
{
    const struct assay_tensor tensor = { .b = b, .s = n, .h = h, .d = d };
    struct assay_quantizer how = *assay_quantizer_get(
        scale == ASSAY_SCALE_NONE ? ASSAY_QUANTIZER_BF16 : ASSAY_QUANTIZER_FP8);
    how.format = format;
    return assay_quantize(&how, &tensor, x, out, err);
}

enum assay_status assay_recipe_quantize(const struct assay_recipe *r,
                                        const struct assay_problem *p,
                                        const float *q, const float *k,
                                        const float *v,
                                        struct assay_payloads *out,
                                        struct assay_error *err)
{
    enum assay_status st = assay_problem_check(p, err);
    *out = (struct assay_payloads){ 0 };
    if (st != ASSAY_OK ||
        (st = quantize(r->qk_format, r->q_scale, p->b, p->nq, p->hq, p->dk, q,
                       &out->q, err)) != ASSAY_OK ||
        (st = quantize(r->qk_format, r->k_scale, p->b, p->nk, p->hk, p->dk, k,
                       &out->k, err)) != ASSAY_OK)
        return st;
    return quantize(r->v_format, r->v_scale, p->b, p->nk, p->hk, p->dv, v,
                    &out->v, err);
}

void assay_payloads_free(struct assay_payloads *payloads)
{
    assay_payload_free(&payloads->q);
    assay_payload_free(&payloads->k);
    assay_payload_free(&payloads->v);
}
