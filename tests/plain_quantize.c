/* SPDX-License-Identifier: MIT */
#include "plain_quantize.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_values.h"
#include "plain_blocks.h"

/* How amax becomes a scale and x a code, with binary32 scales. */
struct f32_spec {
    bool times; /* amax * fl(1 / max), or amax / max */
    float least;
    bool applies_times; /* x * (1 / scale), or x / scale */
};
static const struct f32_spec f32_specs[ASSAY_F32_RULES] = {
    [ASSAY_F32_RULE_DIVIDE] = { false, 0, false },
    [ASSAY_F32_RULE_DIVIDE_RECIP] = { false, 0, true },
    [ASSAY_F32_RULE_RECIP] = { true, 0, true },
    [ASSAY_F32_RULE_RECIP_DIVIDE] = { true, 1e-12f, false },
};

const struct max_spec max_specs[N_MAX] = {
    { ASSAY_E4M3FN, 448, 0x3b124925 }, { ASSAY_E4M3FNUZ, 240, 0x3b888889 },
    { ASSAY_INT8, 127, 0x3c010204 },   { ASSAY_E2M1, 6, 0x3e2aaaab },
    { ASSAY_E2M3, 7.5f, 0x3e088889 },  { ASSAY_E5M2, 57344, 0x37924925 },
};

static const struct max_spec *max_of(enum assay_format_id id)
{
    int i = 0;
    while (max_specs[i].id != id)
        i++;
    return &max_specs[i];
}

static struct expected expected_new(const struct assay_tensor *t,
                                    int64_t n_scales)
{
    const int64_t count = t->b * t->s * t->h * t->d;
    return (struct expected){
        .count = count,
        .n_scales = n_scales,
        .codes = must_alloc((size_t)count, 1),
        .e8m0 = must_alloc((size_t)n_scales, 1),
        .past = must_alloc((size_t)n_scales, 1),
        .scales = must_alloc((size_t)n_scales, sizeof(float)),
        .values = must_alloc((size_t)count, sizeof(float)),
    };
}

void expected_free(struct expected *e)
{
    free(e->codes);
    free(e->e8m0);
    free(e->past);
    free(e->scales);
    free(e->values);
}

/* Which scale element i of [b, s, h, d] has. */
static int64_t scale_at(enum assay_scale scale, const struct assay_tensor *t,
                        int64_t i)
{
    const int64_t c = i % t->d, h = i / t->d % t->h, s = i / t->d / t->h % t->s,
                  b = i / t->d / t->h / t->s;
    switch (scale) {
    case ASSAY_SCALE_HEAD: return b * t->h + h;
    case ASSAY_SCALE_TOKEN: return (b * t->s + s) * t->h + h;
    case ASSAY_SCALE_CHANNEL: return (b * t->h + h) * t->d + c;
    default: return 0;
    }
}

static int64_t scale_count(enum assay_scale scale, const struct assay_tensor *t)
{
    switch (scale) {
    case ASSAY_SCALE_HEAD: return t->b * t->h;
    case ASSAY_SCALE_TOKEN: return t->b * t->s * t->h;
    case ASSAY_SCALE_CHANNEL: return t->b * t->h * t->d;
    default: return 1;
    }
}

static struct expected expect_f32(const struct assay_quantizer *how,
                                  const struct assay_tensor *t, const float *x)
{
    const struct f32_spec *rule = &f32_specs[how->f32_rule];
    const struct max_spec *max = max_of(how->format);
    const struct assay_format *format = assay_format_get(how->format);
    struct expected e = expected_new(t, scale_count(how->scale, t));
    float limit = max->max, reciprocal = float_of(max->reciprocal);
    if (t->clip > 0) {
        limit = (float)((double)max->max / t->clip);
        reciprocal = 1 / limit;
    }
    memset(e.scales, 0, (size_t)e.n_scales * sizeof *e.scales);
    for (int64_t i = 0; i < e.count; i++) {
        float *amax = &e.scales[scale_at(how->scale, t, i)];
        if (fabsf(x[i]) > *amax)
            *amax = fabsf(x[i]);
    }
    for (int64_t i = 0; i < e.n_scales; i++) {
        float a = e.scales[i] < rule->least ? rule->least : e.scales[i];
        a = rule->times ? a * reciprocal : a / limit;
        e.scales[i] = a == 0 ? 1 : a;
    }
    for (int64_t i = 0; i < e.count; i++) {
        const float s = e.scales[scale_at(how->scale, t, i)], inverse = 1 / s;
        e.codes[i] = (uint8_t)assay_format_encode_one(
            format, ASSAY_NEAREST_EVEN, how->overflow,
            rule->applies_times ? x[i] * inverse : x[i] / s);
        e.values[i] = assay_format_decode_one(format, e.codes[i]) * s;
    }
    return e;
}

static struct assay_blocks blocks_of(const struct assay_quantizer *how)
{
    const struct assay_scale_rule *rule = assay_scale_rule_get(how->scale_rule);
    return (struct assay_blocks){ .format = assay_format_get(how->format),
                                  .rule = rule,
                                  .rounding = rule->rounding,
                                  .overflow = how->overflow };
}

static struct expected expect_block(const struct assay_quantizer *how,
                                    const struct assay_tensor *t,
                                    const float *x)
{
    const int64_t rows = t->b * t->s * t->h, per_row = (t->d + 31) / 32;
    const struct assay_blocks b = blocks_of(how);
    struct expected e = expected_new(t, rows * per_row);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < per_row; k++) {
            const int64_t at = r * t->d + k * 32, left = t->d - k * 32;
            plain_block(&b, left < 32 ? left : 32, 1, x + at, e.codes + at,
                        e.e8m0 + r * per_row + k, e.values + at);
        }
    return e;
}

/* The block of a head that token t is in: 32 tokens in a row, or those with
 * the same bit 2 in a frame of 64. */
static int64_t block_of_token(enum assay_token_order order, int64_t t)
{
    return t / 64 * 2 + (order == ASSAY_TOKENS_FP6P ? t / 4 % 2 : t / 32 % 2);
}

/* One block of one channel: the tokens that are in it, in any order. */
static void expect_tokens(const struct assay_quantizer *how,
                          const struct assay_tensor *t, int64_t block,
                          const float *x, uint8_t *codes, float *values,
                          uint8_t *scale, uint8_t *past)
{
    const struct assay_blocks b = blocks_of(how);
    const int64_t stride = t->h * t->d;
    int64_t n = 0, token[32];
    float in[32], out[32];
    uint8_t code[32];
    for (int64_t i = 0; i < (t->s + 127) / 128 * 128; i++)
        if (block_of_token(t->order, i) == block) {
            token[n] = i;
            in[n++] = i < t->s ? x[i * stride]
                      : how->tail == ASSAY_TAIL_REPEAT_LAST
                          ? x[(t->s - 1) * stride]
                          : 0;
        }
    ck_assert_int_eq(n, 32);
    plain_block(&b, 32, 1, in, code, scale, out);
    *past = 0;
    for (int i = 0; i < 32; i++)
        if (token[i] < t->s) {
            codes[token[i] * stride] = code[i];
            values[token[i] * stride] = out[i];
        } else {
            *past = code[i];
        }
}

static struct expected expect_block_tokens(const struct assay_quantizer *how,
                                           const struct assay_tensor *t,
                                           const float *x)
{
    const int64_t blocks = 4 * ((t->s + 127) / 128);
    struct expected e = expected_new(t, t->b * t->h * blocks * t->d);
    for (int64_t b = 0; b < t->b; b++)
        for (int64_t h = 0; h < t->h; h++)
            for (int64_t k = 0; k < blocks; k++)
                for (int64_t c = 0; c < t->d; c++) {
                    const int64_t at = (b * t->s * t->h + h) * t->d + c;
                    const int64_t s = ((b * t->h + h) * blocks + k) * t->d + c;
                    expect_tokens(how, t, k, x + at, e.codes + at,
                                  e.values + at, e.e8m0 + s, e.past + s);
                }
    return e;
}

struct expected plain_quantize(const struct assay_quantizer *how,
                               const struct assay_tensor *t, const float *x)
{
    switch (how->scale) {
    case ASSAY_SCALE_BLOCK: return expect_block(how, t, x);
    case ASSAY_SCALE_BLOCK_TOKENS: return expect_block_tokens(how, t, x);
    default: return expect_f32(how, t, x);
    }
}
