/* SPDX-License-Identifier: MIT
 *
 * ref/quantize.c and quantize_blocks.c: every quantizer against plain loops
 * over the tensor, with facts of the tables written again here, and cases with
 * literal words. check_quantize_vectors.c compares with upstream's bytes.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/attention.h"
#include "assay/quantize.h"
#include "check_assay.h"
#include "check_values.h"
#include "plain_blocks.h"
#include "plain_quantize.h"

enum { UNPREPARED = -1 };

static const struct spec {
    enum assay_quantizer_id id;
    const char *name, *operands;
    enum assay_format_id format;
    enum assay_scale scale;
    int rule; /* of binary32 or E8M0 scales, as the kind has it */
    int prepare;
    enum assay_overflow overflow;
    enum assay_tail tail;
} specs[] = {
#define F32(id) ASSAY_F32_RULE_##id
#define E8M0(id) ASSAY_SCALE_RULE_##id
#define ASSAY_ROTATION_UNPREPARED UNPREPARED
#define SPEC(id, name, operands, format, scale, rule, prepare, overflow, tail) \
    {                                                                          \
        ASSAY_QUANTIZER_##id, name, operands, ASSAY_##format,                  \
            ASSAY_SCALE_##scale, rule, ASSAY_ROTATION_##prepare,               \
            ASSAY_##overflow, ASSAY_TAIL_##tail                                \
    }
    SPEC(BF16, "bf16", "qkv", BF16, NONE, 0, UNPREPARED, SPECIAL, ZERO),
    SPEC(F16, "f16", "qkv", F16, NONE, 0, UNPREPARED, SPECIAL, ZERO),
    SPEC(FP8CAST, "fp8cast", "qkv", E4M3FN, NONE, 0, UNPREPARED, SATURATE,
         ZERO),
    SPEC(INT8, "int8", "qk", INT8, TENSOR, F32(DIVIDE), UNROTATED, SATURATE,
         ZERO),
    SPEC(FP8, "fp8", "qkv", E4M3FN, TENSOR, F32(DIVIDE_RECIP), UNPREPARED,
         SATURATE, ZERO),
    SPEC(FP8ROT, "fp8rot", "qk", E4M3FN, TENSOR, F32(RECIP), ONCE, SATURATE,
         ZERO),
    SPEC(FP8ROT_DIV, "fp8rot-div", "qk", E4M3FN, TENSOR, F32(DIVIDE_RECIP),
         ONCE, SATURATE, ZERO),
    SPEC(FP8_FNUZ, "fp8-fnuz", "qkv", E4M3FNUZ, TENSOR, F32(DIVIDE_RECIP),
         UNPREPARED, SATURATE, ZERO),
    SPEC(FP8ROT_FNUZ, "fp8rot-fnuz", "qk", E4M3FNUZ, TENSOR, F32(RECIP), ONCE,
         SATURATE, ZERO),
    SPEC(FP8CHAN, "fp8chan", "v", E4M3FN, CHANNEL, F32(RECIP_DIVIDE),
         UNPREPARED, SATURATE, ZERO),
    SPEC(MXFP8, "mxfp8", "qk", E4M3FN, BLOCK, E8M0(AITER_MXFP8), TWICE,
         SATURATE, ZERO),
    SPEC(MXFP6, "mxfp6", "qk", E2M3, BLOCK, E8M0(AITER_MXFP6), ONCE, SATURATE,
         ZERO),
    SPEC(MXFP4, "mxfp4", "qk", E2M1, BLOCK, E8M0(AITER_MXFP4), ONCE, SATURATE,
         ZERO),
    SPEC(MXFP6_V, "mxfp6-v", "v", E2M3, BLOCK_TOKENS, E8M0(AITER_MXFP6),
         UNPREPARED, SATURATE, REPEAT_LAST),
    SPEC(MXFP4_V, "mxfp4-v", "v", E2M1, BLOCK_TOKENS, E8M0(AITER_MXFP4_V),
         UNPREPARED, SATURATE, ZERO),
    SPEC(A2A_INT8_TENSOR, "a2a-int8-tensor", "qk", INT8, TENSOR, F32(DIVIDE),
         UNPREPARED, SYMMETRIC, ZERO),
    SPEC(A2A_E4M3, "a2a-e4m3", "qkv", E4M3FN, BLOCK, E8M0(A2A), UNPREPARED,
         SATURATE, ZERO),
    SPEC(A2A_MXFP6, "a2a-mxfp6", "qkv", E2M3, BLOCK, E8M0(A2A), UNPREPARED,
         SATURATE, ZERO),
    SPEC(A2A_MXFP4, "a2a-mxfp4", "qkv", E2M1, BLOCK, E8M0(A2A), UNPREPARED,
         SATURATE, ZERO),
    SPEC(A2A_INT8, "a2a-int8", "qkv", INT8, BLOCK, E8M0(A2A_INT8), UNPREPARED,
         SYMMETRIC, ZERO),
};
enum { N_SPECS = sizeof specs / sizeof *specs };

/* ---- comparison ---- */

static void same_bytes(const char *name, const char *what, int64_t n,
                       const void *got, const void *want)
{
    for (int64_t i = 0; i < n; i++)
        if (((const uint8_t *)got)[i] != ((const uint8_t *)want)[i])
            ck_abort_msg("%s: %s %lld is %02x, not %02x", name, what,
                         (long long)i, ((const uint8_t *)got)[i],
                         ((const uint8_t *)want)[i]);
}

static void same_floats(const char *name, const char *what, int64_t n,
                        const float *got, const float *want)
{
    for (int64_t i = 0; i < n; i++)
        if (!same_float(got[i], want[i]))
            ck_abort_msg("%s: %s %lld is %a, not %a", name, what, (long long)i,
                         got[i], want[i]);
}

static void check_tensor(const struct assay_quantizer *how,
                         const struct assay_tensor *t, const float *x)
{
    struct assay_payload p;
    const bool tokens = how->scale == ASSAY_SCALE_BLOCK_TOKENS;
    const bool e8m0 = how->scale == ASSAY_SCALE_BLOCK || tokens;
    struct expected e = plain_quantize(how, t, x);
    ck_assert_int_eq(assay_quantize(how, t, x, &p, NULL), ASSAY_OK);
    ck_assert_ptr_eq(p.format, assay_format_get(how->format));
    ck_assert_int_eq(p.scale, how->scale);
    ck_assert_mem_eq(&p.tensor, t, sizeof *t);
    ck_assert_int_eq(p.count, e.count);
    ck_assert_int_eq(p.n_scales, e.n_scales);
    ck_assert(!p.scales == e8m0 && !p.e8m0 == !e8m0 && !p.past == !tokens);
    same_bytes(how->name, "code", e.count, p.codes, e.codes);
    if (e8m0)
        same_bytes(how->name, "scale", e.n_scales, p.e8m0, e.e8m0);
    else
        same_floats(how->name, "scale", e.n_scales, p.scales, e.scales);
    if (tokens)
        same_bytes(how->name, "code past the end", e.n_scales, p.past, e.past);
    float *values = must_alloc((size_t)e.count, sizeof *values);
    assay_payload_values(&p, values);
    same_floats(how->name, "value", e.count, values, e.values);
    free(values);
    assay_payload_free(&p);
    ck_assert_ptr_null(p.codes);
    expected_free(&e);
}

static void check_mixed(const struct assay_quantizer *how,
                        const struct assay_tensor *t, uint64_t seed)
{
    const int64_t n = t->b * t->s * t->h * t->d;
    float *x = must_alloc((size_t)n, sizeof *x);
    for (int mix = 0; mix < MIXES; mix++) {
        mixed_values(seed * MIXES + (uint64_t)mix, (enum value_mix)mix, n, x);
        check_tensor(how, t, x);
    }
    free(x);
}

/* ---- tables ---- */

START_TEST(rows)
{
    ck_assert_int_eq(N_SPECS, ASSAY_QUANTIZERS);
    for (int i = 0; i < N_SPECS; i++) {
        const struct spec *s = &specs[i];
        const struct assay_quantizer *q = assay_quantizer_get(s->id);
        ck_assert_ptr_eq(assay_quantizer_find(s->name), q);
        ck_assert_int_eq(q->id, s->id);
        ck_assert_str_eq(q->operands, s->operands);
        ck_assert_msg(q->format == s->format && q->scale == s->scale, "%s",
                      s->name);
        if (s->scale == ASSAY_SCALE_BLOCK ||
            s->scale == ASSAY_SCALE_BLOCK_TOKENS)
            ck_assert_int_eq((int)q->scale_rule, s->rule);
        else
            ck_assert_int_eq((int)q->f32_rule, s->rule);
        ck_assert_msg(q->prepares == (s->prepare != UNPREPARED), "%s", s->name);
        if (q->prepares)
            ck_assert_int_eq((int)q->prepare, s->prepare);
        ck_assert_int_eq(q->overflow, s->overflow);
        ck_assert_int_eq(q->tail, s->tail);
    }
    ck_assert_ptr_null(assay_quantizer_find("FP8"));
}
END_TEST

START_TEST(names_and_numbers)
{
    static const char *const rules[ASSAY_F32_RULES] = { "divide",
                                                        "divide-recip", "recip",
                                                        "recip-divide" };
    static const struct {
        const char *name;
        int kernel;
    } scales[ASSAY_SCALES] = { { "none", 0 },        { "tensor", 1 },
                               { "head", 2 },        { "token", 3 },
                               { "channel", 4 },     { "block", 5 },
                               { "block-tokens", 5 } };
    for (int i = 0; i < ASSAY_F32_RULES; i++) {
        const struct assay_f32_rule *r =
            assay_f32_rule_get((enum assay_f32_rule_id)i);
        ck_assert_int_eq(r->id, i);
        ck_assert_str_eq(r->name, rules[i]);
    }
    for (int i = 0; i < ASSAY_SCALES; i++) {
        const struct assay_scale_kind *k = assay_scale_get((enum assay_scale)i);
        ck_assert_int_eq(k->id, i);
        ck_assert_str_eq(k->name, scales[i].name);
        ck_assert_int_eq(k->kernel_scale, scales[i].kernel);
    }
}
END_TEST

/* ---- against plain loops ---- */

/* Every kind of binary32 scale with every rule and a few formats, whether or
 * not a quantizer of the table has them. */
START_TEST(binary32_scales)
{
    static const int64_t sizes[][4] = {
        { 2, 5, 3, 40 }, { 1, 7, 1, 128 }, { 3, 1, 2, 1 }, { 1, 33, 4, 7 }
    };
    uint64_t seed = 100 * (uint64_t)_i;
    for (int scale = ASSAY_SCALE_TENSOR; scale <= ASSAY_SCALE_CHANNEL; scale++)
        for (int m = 0; m < N_MAX; m++)
            for (int i = 0; i < 4; i++) {
                const struct assay_quantizer how = {
                    .name = "a quantizer with binary32 scales",
                    .format = max_specs[m].id,
                    .scale = (enum assay_scale)scale,
                    .f32_rule = (enum assay_f32_rule_id)_i,
                    .overflow = i % 2 ? ASSAY_SYMMETRIC : ASSAY_SATURATE
                };
                const struct assay_tensor t = { .b = sizes[i][0],
                                                .s = sizes[i][1],
                                                .h = sizes[i][2],
                                                .d = sizes[i][3],
                                                .clip = i == 1 ? 0.9 : 0 };
                check_mixed(&how, &t, seed++);
            }
}
END_TEST

/* Rows of the table; ragged widths too. */
START_TEST(table_rows)
{
    static const int64_t widths[] = { 128, 40, 80, 100, 64, 1 };
    const struct spec *s = &specs[_i];
    for (int i = 0; i < 6 && s->scale != ASSAY_SCALE_NONE; i++) {
        const struct assay_tensor t = {
            .b = 2, .s = 3 + i, .h = 2, .d = widths[i]
        };
        check_mixed(assay_quantizer_get(s->id), &t, (uint64_t)(_i * 10 + i));
    }
}
END_TEST

START_TEST(blocks_of_tokens)
{
    static const int64_t lengths[] = { 1,  31, 32,  33,  40,  63,
                                       64, 65, 127, 128, 129, 260 };
    const enum assay_quantizer_id ids[] = { ASSAY_QUANTIZER_MXFP4_V,
                                            ASSAY_QUANTIZER_MXFP6_V };
    for (int i = 0; i < 12; i++)
        for (int order = 0; order < ASSAY_TOKEN_ORDERS; order++)
            for (int tail = 0; tail < ASSAY_TAILS; tail++) {
                struct assay_quantizer how = *assay_quantizer_get(ids[_i % 2]);
                how.tail = (enum assay_tail)tail;
                const struct assay_tensor t = {
                    .b = 1 + i % 2,
                    .s = lengths[i],
                    .h = 1 + order,
                    .d = _i / 2 ? 64 : 128,
                    .order = (enum assay_token_order)order
                };
                check_mixed(&how, &t, (uint64_t)(i * 4 + order * 2 + tail));
            }
}
END_TEST

START_TEST(bf16_has_no_scales)
{
    const struct assay_tensor t = { 1, 2, 1, 3, 0, 0 };
    const float x[6] = { 1, -0.0f, 0x1.01p0f, 0x1.03p0f, 3e38f, -INFINITY };
    const uint16_t want[6] = { 0x3f80, 0x8000, 0x3f80, 0x3f82, 0x7f62, 0xff80 };
    float values[6];
    struct assay_payload p;
    ck_assert_int_eq(
        assay_quantize(assay_quantizer_find("bf16"), &t, x, &p, NULL),
        ASSAY_OK);
    ck_assert(!p.scales && !p.e8m0 && !p.past);
    ck_assert_int_eq(p.n_scales, 0);
    ck_assert_mem_eq(p.codes, want, sizeof want);
    assay_payload_values(&p, values);
    for (int i = 0; i < 6; i++)
        ck_assert_uint_eq(bits_of(values[i]), (uint32_t)want[i] << 16);
    assay_payload_free(&p);
}
END_TEST

/* ---- literal words ---- */

/* One row of n values through a quantizer with one binary32 scale. */
static void check_words(const char *name, double clip, int n, const float *x,
                        uint32_t scale, const uint8_t *codes)
{
    const struct assay_tensor t = { 1, 1, 1, n, 0, clip };
    struct assay_payload p;
    ck_assert_int_eq(
        assay_quantize(assay_quantizer_find(name), &t, x, &p, NULL), ASSAY_OK);
    ck_assert_int_eq(p.n_scales, 1);
    ck_assert_msg(bits_of(p.scales[0]) == scale, "%s: scale %08x, not %08x",
                  name, bits_of(p.scales[0]), scale);
    same_bytes(name, "code", n, p.codes, codes);
    assay_payload_free(&p);
}
#define CODES(...) ((const uint8_t[]){ __VA_ARGS__ })
#define VALUES(...) ((const float[]){ __VA_ARGS__ })

/* A tensor of zeros has scale 1, or that of the least amax. */
START_TEST(zeros)
{
    const float x[3] = { 0.0f, -0.0f, 0.0f };
    const struct assay_tensor t = { 1, 1, 1, 3, 0, 0 };
    struct assay_payload p;
    for (int i = 0; i < N_SPECS; i++)
        if (specs[i].scale == ASSAY_SCALE_TENSOR)
            check_words(specs[i].name, 0, 3, x, 0x3f800000,
                        specs[i].format == ASSAY_E4M3FN ? CODES(0, 0x80, 0)
                                                        : CODES(0, 0, 0));
    ck_assert_int_eq(
        assay_quantize(assay_quantizer_find("fp8chan"), &t, x, &p, NULL),
        ASSAY_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(bits_of(p.scales[i]), 0x2720d7c5);
    ck_assert_mem_eq(p.codes, CODES(0, 0x80, 0), 3);
    assay_payload_free(&p);
    /* too small for amax / max: the scale is 1 as well */
    check_words("fp8", 0, 1, VALUES(0x1p-149f), 0x3f800000, CODES(0));
    check_words("fp8rot", 0, 1, VALUES(-0x1p-149f), 0x3f800000, CODES(0x80));
}
END_TEST

/* 1 / scale is infinite up to amax = 448 * 2^-128, so that x * (1 / scale)
 * saturates, or is NaN for 0 (of which sign is the processor's affair);
 * x / scale is not. */
START_TEST(subnormal_amax)
{
    const float last = 448 * 0x1p-128f, next = nextafterf(last, 1);
    const char *const names[] = { "fp8", "fp8rot", "fp8rot-div" };
    for (int i = 0; i < 3; i++) {
        const struct assay_tensor t = { 1, 1, 1, 3, 0, 0 };
        struct assay_payload p;
        ck_assert_int_eq(assay_quantize(assay_quantizer_find(names[i]), &t,
                                        VALUES(last, -last / 64, 0), &p, NULL),
                         ASSAY_OK);
        const uint8_t *codes = p.codes;
        ck_assert_uint_eq(bits_of(p.scales[0]), 0x00200000);
        ck_assert(codes[0] == 0x7e && codes[1] == 0xfe);
        ck_assert_int_eq(codes[2] & 0x7f, 0x7f);
        assay_payload_free(&p);
    }
    check_words("fp8", 0, 3, VALUES(448 * 0x1.00001p-128f, -next / 64, 0),
                0x00200002, CODES(0x7e, 0xce, 0));
    check_words("int8", 0, 3, VALUES(127 * 0x1p-128f, -0x1p-128f, 0),
                0x00200000, CODES(127, 255, 0));
}
END_TEST

/* Near 8.5 and 13.5 scales: by the reciprocal a tie and below one, by the
 * quotient above one and a tie. */
START_TEST(ties_of_reciprocal_and_quotient)
{
    const float x[3] = { 1, float_of(0x3c9b6db8), float_of(0x3cf6db6e) };
    const struct assay_tensor t = { 1, 3, 1, 1, 0, 0 };
    struct assay_payload p;
    check_words("fp8rot", 0, 3, x, 0x3b124925, CODES(0x7e, 0x50, 0x55));
    ck_assert_int_eq(
        assay_quantize(assay_quantizer_find("fp8chan"), &t, x, &p, NULL),
        ASSAY_OK);
    ck_assert_uint_eq(bits_of(p.scales[0]), 0x3b124925);
    ck_assert_mem_eq(p.codes, CODES(0x7e, 0x51, 0x56), 3);
    assay_payload_free(&p);
}
END_TEST

/* NaN is no amax and stays NaN; int8 has none. Infinity is one: x / inf. */
START_TEST(nan_and_infinity)
{
    const float nan = float_of(0x7fc00000);
    check_words("fp8", 0, 3, VALUES(nan, 448, -nan), 0x3f800000,
                CODES(0x7f, 0x7e, 0xff));
    check_words("int8", 0, 3, VALUES(nan, 127, -1), 0x3f800000,
                CODES(0, 127, 255));
    check_words("fp8", 0, 2, VALUES(nan, nan), 0x3f800000, CODES(0x7f, 0x7f));
    check_words("fp8rot", 0, 2, VALUES(1, -1), 0x3b124925, CODES(0x7e, 0xfe));
    check_words("int8", 0, 3, VALUES(INFINITY, 1, -1), 0x7f800000,
                CODES(0, 0, 0));
    const struct assay_tensor t = { 1, 1, 1, 2, 0, 0 };
    struct assay_payload p;
    ck_assert_int_eq(assay_quantize(assay_quantizer_find("fp8"), &t,
                                    VALUES(INFINITY, 1), &p, NULL),
                     ASSAY_OK);
    ck_assert_uint_eq(bits_of(p.scales[0]), 0x7f800000);
    ck_assert_int_eq(((uint8_t *)p.codes)[0] & 0x7f, 0x7f); /* inf * 0 */
    ck_assert_int_eq(((uint8_t *)p.codes)[1], 0);
    assay_payload_free(&p);
}
END_TEST

/* tt-metal #56525; onnxruntime #25045, #32452: scale 128 / 127 has ties, and
 * -128 is not met; with a clipped amax it is, but not in symmetric int8. */
START_TEST(int8_words)
{
    const float x[4] = { -128, 127, 64, 0.5f };
    check_words("int8", 0, 4, x, 0x3f810204, CODES(0x81, 126, 64, 0));
    check_words("a2a-int8-tensor", 0, 4, x, 0x3f810204,
                CODES(0x81, 126, 64, 0));
    check_words("int8", 1, 4, x, 0x3f810204, CODES(0x81, 126, 64, 0));
    /* amax is 141.1 scales */
    check_words("int8", 0.9, 4, VALUES(-12.7f, 12.7f, 1, -11.43f), 0x3db851eb,
                CODES(0x80, 127, 11, 0x81));
    check_words("a2a-int8-tensor", 0.9, 4, VALUES(-12.7f, 12.7f, 1, -11.43f),
                0x3db851eb, CODES(0x81, 127, 11, 0x81));
    /* 129.06 is clamped, not wrapped */
    check_words("int8", 0.984, 3, VALUES(1e-4f, -1e-4f, 0),
                bits_of(1e-4f / float_of(0x430110a7)), CODES(127, 0x80, 0));
    /* the divisor is 448 / 0.9 in binary64, then rounded; 0.9f gives another */
    check_words("fp8", 0.9, 3, VALUES(float_of(0x43f8e38e), -1, 0), 0x3f800000,
                CODES(0x7e, 0xb8, 0));
}
END_TEST

/* Two quantizers that are alike but for the rule, on every bf16 mantissa of
 * amax, with the bf16 values below it: for how many do scales or codes differ?
 * The counts are those of a program apart. */
static void count(enum assay_format_id format, enum assay_f32_rule_id rule_a,
                  enum assay_f32_rule_id rule_b, int scales, int codes)
{
    enum { N = 9 * 128 };
    const struct assay_tensor t = { 1, 1, 1, N, 0, 0 };
    struct assay_quantizer how = { .format = format,
                                   .scale = ASSAY_SCALE_TENSOR };
    int scales_differ = 0, codes_differ = 0;
    for (uint32_t m = 0; m < 128; m++) {
        float x[N];
        struct assay_payload a, b;
        for (uint32_t i = 0; i < N; i++)
            x[i] = float_of(0x3f800000 + ((m - i) << 16));
        how.f32_rule = rule_a;
        ck_assert_int_eq(assay_quantize(&how, &t, x, &a, NULL), ASSAY_OK);
        how.f32_rule = rule_b;
        ck_assert_int_eq(assay_quantize(&how, &t, x, &b, NULL), ASSAY_OK);
        scales_differ += a.scales[0] != b.scales[0];
        codes_differ += memcmp(a.codes, b.codes, N) != 0;
        assay_payload_free(&a);
        assay_payload_free(&b);
    }
    ck_assert_int_eq(scales_differ, scales);
    ck_assert_int_eq(codes_differ, codes);
}

START_TEST(rules_differ)
{
    count(ASSAY_E4M3FN, ASSAY_F32_RULE_DIVIDE, ASSAY_F32_RULE_DIVIDE_RECIP, 0,
          7);
    count(ASSAY_E4M3FN, ASSAY_F32_RULE_DIVIDE_RECIP, ASSAY_F32_RULE_RECIP, 71,
          9);
    count(ASSAY_INT8, ASSAY_F32_RULE_DIVIDE, ASSAY_F32_RULE_DIVIDE_RECIP, 0,
          24);
    count(ASSAY_INT8, ASSAY_F32_RULE_DIVIDE, ASSAY_F32_RULE_RECIP, 6, 25);
    count(ASSAY_INT8, ASSAY_F32_RULE_DIVIDE_RECIP, ASSAY_F32_RULE_RECIP_DIVIDE,
          6, 23);
}
END_TEST

/* ---- values ---- */

/* Scales are applied, once: flashinfer #4979. Codes 4 and 8 with scale 0.25,
 * 2 and 6 with 0.5. */
START_TEST(scales_are_applied)
{
    uint8_t codes[] = { 0x48, 0x50, 0x40, 0x4c };
    float scale[] = { 0.25f, 0.5f }, k[2], v[2], o;
    double lse;
    struct assay_payload p = { .format = assay_format_get(ASSAY_E4M3FN),
                               .scale = ASSAY_SCALE_TENSOR,
                               .tensor = { 1, 2, 1, 1, 0, 0 },
                               .count = 2,
                               .codes = codes,
                               .n_scales = 1,
                               .scales = scale };
    const struct assay_problem problem = { .b = 1,
                                           .hq = 1,
                                           .hk = 1,
                                           .nq = 1,
                                           .nk = 2,
                                           .dk = 1,
                                           .dv = 1,
                                           .softmax_scale = 1 };
    assay_payload_values(&p, k);
    p.codes = codes + 2, p.scales = scale + 1;
    assay_payload_values(&p, v);
    ck_assert(k[0] == 1 && k[1] == 2 && v[0] == 1 && v[1] == 3);
    ck_assert_int_eq(
        assay_attention_f32(&problem, VALUES(1), k, v, &o, &lse, NULL, NULL),
        ASSAY_OK);
    ck_assert_double_eq_tol((double)o, 2.4621171572600098, 1e-6);
    ck_assert_double_eq_tol(lse, 2.3132616875182228, 1e-6);
}
END_TEST

/* code * scale is one product in binary32: 2^-9 * 1.5 * 2^-140 is a tie, and
 * 448 * 2^120 infinite. */
START_TEST(values_are_products)
{
    uint8_t codes[] = { 0x7e, 0x01, 0x7f, 0x81 };
    float scale = 0x1.8p-140f, got[4];
    struct assay_payload p = { .format = assay_format_get(ASSAY_E4M3FN),
                               .scale = ASSAY_SCALE_TENSOR,
                               .tensor = { 1, 1, 1, 4, 0, 0 },
                               .count = 4,
                               .codes = codes,
                               .n_scales = 1,
                               .scales = &scale };
    assay_payload_values(&p, got);
    ck_assert(got[0] == 0x1.5p-131f && got[1] == 0x1p-148f && isnan(got[2]) &&
              got[3] == -0x1p-148f);
    scale = 0x1p120f;
    assay_payload_values(&p, got);
    ck_assert(isinf(got[0]) && got[1] == 0x1p111f && got[3] == -0x1p111f);
}
END_TEST

/* ---- sizes ---- */

START_TEST(no_tokens)
{
    for (int i = 0; i < N_SPECS; i++) {
        const struct assay_tensor t = { 2, 0, 3, 40, 0, 0 };
        const int64_t want[ASSAY_SCALES] = {
            [ASSAY_SCALE_TENSOR] = 1, [ASSAY_SCALE_CHANNEL] = 240
        };
        struct assay_payload p;
        ck_assert_int_eq(assay_quantize(assay_quantizer_get(specs[i].id), &t,
                                        NULL, &p, NULL),
                         ASSAY_OK);
        ck_assert_int_eq(p.count, 0);
        ck_assert_int_eq(p.n_scales, want[specs[i].scale]);
        if (specs[i].scale == ASSAY_SCALE_TENSOR)
            ck_assert(p.scales[0] == 1);
        assay_payload_values(&p, NULL);
        assay_payload_free(&p);
    }
}
END_TEST

static void refused(int64_t b, int64_t s, int64_t h, int64_t d,
                    const char *words)
{
    const struct assay_tensor t = { b, s, h, d, 0, 0 };
    for (int i = 0; i < N_SPECS; i++) {
        struct assay_payload p;
        struct assay_error err = { 0 };
        ck_assert_int_eq(assay_quantize(assay_quantizer_get(specs[i].id), &t,
                                        NULL, &p, &err),
                         ASSAY_SHAPE);
        ck_assert_msg(strstr(err.text, words), "\"%s\" lacks \"%s\"", err.text,
                      words);
        assay_payload_free(&p);
    }
}

START_TEST(refusals)
{
    const int64_t large = INT64_C(1) << 31;
    refused(-1, 2, 3, 4, "-1 x 2 x 3 x 4 is not possible");
    refused(1, -2, 3, 4, "1 x -2 x 3 x 4 is not possible");
    refused(1, 2, -3, 4, "1 x 2 x -3 x 4 is not possible");
    refused(1, 2, 3, -4, "1 x 2 x 3 x -4 is not possible");
    refused(0, 2, 3, 4, "0 x 2 x 3 x 4 is not possible");
    refused(1, 2, 0, 4, "1 x 2 x 0 x 4 is not possible");
    refused(1, 2, 3, 0, "1 x 2 x 3 x 0 is not possible");
    refused(large, large, 1, 1, "2147483648 x 2147483648 x 1 x 1 is too large");
    refused(large, 1, large, 4, "too large");
    refused(1, INT64_MAX - 100, 1, 1, "too large");
    refused(1, 1, 1, INT64_MAX / 2, "too large");
    refused(INT64_MAX, 1, 2, 1, "too large");
    refused(large, large / 64, 1, 32, "too large"); /* 2^61 floats */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantizers");
    TCase *c = tcase_create("plain loops");
    tcase_add_test(c, rows);
    tcase_add_test(c, names_and_numbers);
    tcase_add_loop_test(c, binary32_scales, 0, ASSAY_F32_RULES);
    tcase_add_loop_test(c, table_rows, 0, N_SPECS);
    tcase_add_loop_test(c, blocks_of_tokens, 0, 4);
    suite_add_tcase(suite, c);
    c = tcase_create("words");
    tcase_add_test(c, bf16_has_no_scales);
    tcase_add_test(c, zeros);
    tcase_add_test(c, subnormal_amax);
    tcase_add_test(c, ties_of_reciprocal_and_quotient);
    tcase_add_test(c, nan_and_infinity);
    tcase_add_test(c, int8_words);
    tcase_add_test(c, rules_differ);
    tcase_add_test(c, scales_are_applied);
    tcase_add_test(c, values_are_products);
    tcase_add_test(c, no_tokens);
    tcase_add_test(c, refusals);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
