/* SPDX-License-Identifier: MIT
 *
 * The tables of recipes, and their quantizers.
 */
#include "assay/recipe.h"

#include <math.h>
#include <string.h>

#include "assay/memory.h"

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

static const struct assay_scale_kind scales[] = {
#define ASSAY_SCALE(id, name, kernel, about) \
    { ASSAY_SCALE_##id, name, kernel, about },
#include "assay/scale.def"
#undef ASSAY_SCALE
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

const struct assay_scale_kind *assay_scale_get(enum assay_scale id)
{
    return &scales[id];
}

/* A NaN is never the maximum; it stays a NaN code of its own. */
static float abs_max(int64_t n, const float *x)
{
    float top = 0;
    for (int64_t i = 0; i < n; i++)
        top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
    return top;
}

static enum assay_status quantize_tensor(const struct assay_format *format,
                                         int64_t n, const float *x,
                                         struct assay_payload *out,
                                         struct assay_error *err)
{
    float *scaled;
    enum assay_status st =
        assay_alloc("a scaled tensor", n, sizeof *scaled, &scaled, err);
    if (st != ASSAY_OK)
        return st;
    float scale = abs_max(n, x) / assay_format_max(format);
    scale = scale > 0 ? scale : 1;
    float reciprocal = 1 / scale;
    for (int64_t i = 0; i < n; i++)
        scaled[i] = x[i] * reciprocal;
    assay_format_encode(format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, (size_t)n,
                        scaled, out->codes);
    out->scales[0] = scale;
    assay_free(scaled);
    return ASSAY_OK;
}

static enum assay_status quantize(enum assay_format_id format,
                                  enum assay_scale scale, int64_t n,
                                  const float *x, struct assay_payload *out,
                                  struct assay_error *err)
{
    enum assay_status st;
    out->format = assay_format_get(format);
    out->scale = scale;
    out->count = n;
    st = assay_alloc("a payload", n, assay_format_bytes(out->format),
                     &out->codes, err);
    if (st != ASSAY_OK || scale == ASSAY_SCALE_NONE) {
        if (st == ASSAY_OK)
            assay_format_encode(out->format, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL,
                                (size_t)n, x, out->codes);
        return st;
    }
    out->n_scales = 1;
    st = assay_alloc("a scale", 1, sizeof *out->scales, &out->scales, err);
    return st == ASSAY_OK ? quantize_tensor(out->format, n, x, out, err) : st;
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
        (st = quantize(r->qk_format, r->q_scale, assay_problem_q_elems(p), q,
                       &out->q, err)) != ASSAY_OK ||
        (st = quantize(r->qk_format, r->k_scale, assay_problem_k_elems(p), k,
                       &out->k, err)) != ASSAY_OK)
        return st;
    return quantize(r->v_format, r->v_scale, assay_problem_v_elems(p), v,
                    &out->v, err);
}

static void payload_free(struct assay_payload *payload)
{
    assay_free(payload->codes);
    assay_free(payload->scales);
}

void assay_payloads_free(struct assay_payloads *payloads)
{
    payload_free(&payloads->q);
    payload_free(&payloads->k);
    payload_free(&payloads->v);
    *payloads = (struct assay_payloads){ 0 };
}

void assay_payload_values(const struct assay_payload *payload, float *values)
{
    assay_format_decode(payload->format, (size_t)payload->count, payload->codes,
                        values);
    if (payload->scale != ASSAY_SCALE_NONE)
        for (int64_t i = 0; i < payload->count; i++)
            values[i] *= payload->scales[0];
}
