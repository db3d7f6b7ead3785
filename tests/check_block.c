/* SPDX-License-Identifier: MIT
 *
 * ref/block.c: arrays of blocks against plain loops over the scalar
 * definitions, which check_scale_rule.c and check_format.c hold to account,
 * and blocks with literal bytes.
 */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/block.h"
#include "check_assay.h"
#include "check_values.h"
#include "plain_blocks.h"

static const enum assay_format_id formats[] = {
    ASSAY_E5M2, ASSAY_E4M3FN, ASSAY_E5M2FNUZ, ASSAY_E4M3FNUZ,
    ASSAY_E3M2, ASSAY_E2M3,   ASSAY_E2M1,     ASSAY_INT8,
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

/* ---- arrays with guards around them ---- */

/* Results start `skew` elements off the allocation and have GUARD bytes of a
 * pattern on both sides. */
enum { GUARD = 64, PATTERN = 0xa5 };

struct guarded {
    uint8_t *memory, *data;
    size_t bytes;
};

static struct guarded guarded_new(int64_t bytes, size_t skew)
{
    struct guarded g = { .bytes = (size_t)bytes };
    g.memory = must_alloc(g.bytes + 2 * GUARD + skew, 1);
    memset(g.memory, PATTERN, g.bytes + 2 * GUARD + skew);
    g.data = g.memory + GUARD + skew;
    return g;
}

static void guarded_free(struct guarded *g, const char *what)
{
    for (int i = 1; i <= GUARD; i++)
        if (g->data[-i] != PATTERN ||
            g->data[g->bytes + (size_t)i - 1] != PATTERN)
            ck_abort_msg("%s are written %d bytes outside", what, i);
    free(g->memory);
}

static void check_floats(const struct assay_blocks *b, const char *what,
                         int64_t n, const float *x, const float *got,
                         const float *want)
{
    for (int64_t i = 0; i < n; i++)
        if (bits_of(got[i]) != bits_of(want[i]))
            ck_abort_msg("%s of %s, %s, overflow %d, %lld x %lld x %lld in "
                         "blocks of %lld, %s: element %lld, %a, gives %a, not "
                         "%a",
                         b->rule->name, b->format->name,
                         assay_rounding_get(b->rounding)->name, b->overflow,
                         (long long)b->outer, (long long)b->length,
                         (long long)b->inner, (long long)b->block, what,
                         (long long)i, x[i], got[i], want[i]);
}

static void check_bytes(const struct assay_blocks *b, const char *what,
                        int64_t n, const uint8_t *got, const uint8_t *want)
{
    for (int64_t i = 0; i < n; i++)
        if (got[i] != want[i])
            ck_abort_msg("%s of %s, %s, overflow %d, %lld x %lld x %lld in "
                         "blocks of %lld: %s %lld is %02x, not %02x",
                         b->rule->name, b->format->name,
                         assay_rounding_get(b->rounding)->name, b->overflow,
                         (long long)b->outer, (long long)b->length,
                         (long long)b->inner, (long long)b->block, what,
                         (long long)i, got[i], want[i]);
}

/* Encode, decode, round, and round in place, of x. */
static void check_array(const struct assay_blocks *b, const float *x,
                        size_t skew)
{
    const int64_t n = assay_blocks_elems(b), m = assay_blocks_scales(b);
    uint8_t *want_codes = must_alloc((size_t)n, 1);
    uint8_t *want_scales = must_alloc((size_t)m, 1);
    float *want = must_alloc((size_t)n, sizeof *want);
    struct guarded codes = guarded_new(n, skew);
    struct guarded scales = guarded_new(m, skew);
    struct guarded values = guarded_new(n * 4, skew * 4);
    struct guarded round = guarded_new(n * 4, skew * 4);
    struct guarded place = guarded_new(n * 4, skew * 4);
    plain_blocks(b, x, want_codes, want_scales, want);
    assay_blocks_encode(b, x, codes.data, scales.data);
    check_bytes(b, "scale", m, scales.data, want_scales);
    check_bytes(b, "code", n, codes.data, want_codes);
    assay_blocks_decode(b, codes.data, scales.data, (float *)values.data);
    check_floats(b, "decoded", n, x, (float *)values.data, want);
    assay_blocks_round(b, x, (float *)round.data);
    check_floats(b, "rounded", n, x, (float *)round.data, want);
    memcpy(place.data, x, (size_t)n * 4);
    assay_blocks_round(b, (float *)place.data, (float *)place.data);
    check_floats(b, "rounded in place", n, x, (float *)place.data, want);
    guarded_free(&codes, "codes");
    guarded_free(&scales, "scales");
    guarded_free(&values, "values");
    guarded_free(&round, "rounded values");
    guarded_free(&place, "values rounded in place");
    free(want_codes);
    free(want_scales);
    free(want);
}

static struct assay_blocks blocks_of(const char *rule,
                                     enum assay_format_id format, int64_t block,
                                     int64_t outer, int64_t length,
                                     int64_t inner)
{
    return (struct assay_blocks){ .format = assay_format_get(format),
                                  .rule = assay_scale_rule_find(rule),
                                  .block = block,
                                  .outer = outer,
                                  .length = length,
                                  .inner = inner };
}

/* ---- everything against plain loops ---- */

static const int64_t shapes[][4] = {
    /* outer, length, inner, block */
    { 3, 100, 1, 32 },    { 70, 32, 1, 32 },  { 5, 64, 1, 32 },
    { 3, 31, 1, 32 },     { 1, 4200, 1, 32 }, { 1, 5000, 1, 2500 },
    { 2, 2049, 1, 2500 }, { 1, 33, 1, 33 },   { 2, 99, 1, 33 },
    { 1, 9, 1, 1 },       { 1, 3000, 1, 1 },  { 3, 50, 1, 16 },
    { 2, 200, 1, 20 },    { 2, 70, 5, 32 },   { 1, 33, 300, 16 },
    { 2, 40, 257, 33 },   { 1, 3, 513, 1 },   { 2, 5, 2, 2500 },
    { 2, 32, 64, 32 },    { 0, 64, 1, 32 },   { 4, 0, 3, 32 },
    { 4, 0, 1, 32 },      { 3, 40, 0, 32 },
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static void check_some(const struct assay_blocks *how, uint64_t seed)
{
    for (uint64_t k = 0; k < 4; k++) {
        const int64_t *s = shapes[values_bits(seed, k) % N_SHAPES];
        const enum value_mix mix = values_bits(seed, k) / N_SHAPES % MIXES;
        struct assay_blocks b = *how;
        b.outer = s[0], b.length = s[1], b.inner = s[2], b.block = s[3];
        ck_assert_int_eq(assay_blocks_check(&b, NULL), ASSAY_OK);
        const int64_t n = assay_blocks_elems(&b);
        ck_assert_int_eq(n, s[0] * s[1] * s[2]);
        const size_t skew = k;
        float *x = must_alloc((size_t)n + skew, sizeof *x);
        mixed_values(seed * 4 + k, mix, n, x + skew);
        check_array(&b, x + skew, skew);
        free(x);
    }
}

START_TEST(everything)
{
    uint64_t seed = 1000 * (uint64_t)_i;
    for (int r = 0; r < ASSAY_SCALE_RULES; r++)
        for (int rounding = 0; rounding < ASSAY_ROUNDINGS; rounding++)
            for (int overflow = 0; overflow < ASSAY_OVERFLOWS; overflow++) {
                struct assay_blocks b = {
                    .format = assay_format_get(formats[_i]),
                    .rule = assay_scale_rule_get((enum assay_scale_rule_id)r),
                    .rounding = (enum assay_rounding)rounding,
                    .overflow = (enum assay_overflow)overflow
                };
                check_some(&b, seed++);
            }
}
END_TEST

/* Every shape and mix, for formats and rules in turn. */
START_TEST(every_shape)
{
    for (int s = 0; s < N_SHAPES; s++)
        for (int m = 0; m < MIXES; m++) {
            struct assay_blocks b = {
                .format = assay_format_get(formats[(s + m) % N_FORMATS]),
                .rule = assay_scale_rule_get((enum assay_scale_rule_id)(
                    (s + 5 * m) % ASSAY_SCALE_RULES)),
                .outer = shapes[s][0],
                .length = shapes[s][1],
                .inner = shapes[s][2],
                .block = shapes[s][3]
            };
            const int64_t n = assay_blocks_elems(&b);
            float *x = must_alloc((size_t)n, sizeof *x);
            mixed_values((uint64_t)(s * MIXES + m), (enum value_mix)m, n, x);
            check_array(&b, x, (size_t)(s + m) % 5);
            free(x);
        }
}
END_TEST

START_TEST(every_length)
{
    float x[140 * 3];
    mixed_values(7, MIX_ANY, 140 * 3, x);
    for (int64_t length = 0; length < 140; length++)
        for (int64_t inner = 1; inner <= 3; inner += 2) {
            struct assay_blocks b =
                blocks_of("floor", ASSAY_E4M3FN, 32, 1, length, inner);
            check_array(&b, x, (size_t)length % 4);
        }
}
END_TEST

/* Subnormals beside an amax of every small exponent, so that every byte near
 * 0 meets them: rules that flush see zeros, others the bits. */
START_TEST(subnormals)
{
    float x[33];
    for (int i = 1; i < 33; i++) { /* the largest ones, and halves of those */
        uint32_t bits = (0x7fffffu >> (i - 1) / 2 % 8) + (i % 3 == 0);
        x[i] = float_of(bits | (uint32_t)i << 31);
    }
    for (uint32_t e = 0; e < 64; e++)
        for (int r = 0; r < ASSAY_SCALE_RULES; r++)
            for (int rounding = 0; rounding < ASSAY_ROUNDINGS; rounding++)
                for (int64_t inner = 1; inner <= 3; inner += 2) {
                    struct assay_blocks b = {
                        .format = assay_format_get(formats[_i]),
                        .rule =
                            assay_scale_rule_get((enum assay_scale_rule_id)r),
                        .rounding = (enum assay_rounding)rounding,
                        .block = 11,
                        .outer = 1,
                        .length = 11,
                        .inner = inner
                    };
                    for (int64_t c = 0; c < inner; c++)
                        x[c] = ldexpf(1, (int)e - 127);
                    check_array(&b, x, 0);
                }
}
END_TEST

/* One element of 64 blocks is infinite or NaN: its block alone is another. */
START_TEST(one_special_element)
{
    const float specials[] = { INFINITY, -INFINITY, NAN };
    for (int r = 0; r < ASSAY_SCALE_RULES; r++)
        for (int overflow = 0; overflow < ASSAY_OVERFLOWS; overflow++)
            for (int s = 0; s < 3; s++)
                for (int64_t inner = 1; inner <= 64; inner += 63) {
                    float x[2048];
                    struct assay_blocks b = {
                        .format = assay_format_get(formats[_i]),
                        .rule =
                            assay_scale_rule_get((enum assay_scale_rule_id)r),
                        .overflow = (enum assay_overflow)overflow,
                        .block = 32,
                        .outer = inner == 1 ? 64 : 1,
                        .length = 32,
                        .inner = inner
                    };
                    mixed_values((uint64_t)r, MIX_NORMAL, 2048, x);
                    x[1000] = specials[s];
                    check_array(&b, x, 0);
                }
}
END_TEST

/* ---- literal bytes ---- */

/* A block of E4M3 or other codes whose elements past the first n are 0. */
static void check_block(const struct assay_blocks *b, int n, const float *x,
                        const uint8_t *codes, uint8_t scale,
                        const float *values)
{
    float in[32] = { 0 }, out[32];
    uint8_t got[32], got_scale;
    memcpy(in, x, (size_t)n * sizeof *x);
    assay_blocks_encode(b, in, got, &got_scale);
    ck_assert_msg(got_scale == scale, "%s: scale %02x, not %02x", b->rule->name,
                  got_scale, scale);
    assay_blocks_decode(b, got, &got_scale, out);
    for (int i = 0; i < 32; i++) {
        const uint8_t code = i < n ? codes[i] : 0;
        const float value = i < n ? values[i] : 0;
        ck_assert_msg(got[i] == code && same_float(out[i], value),
                      "%s: element %d, %g, is code %02x, %g, not %02x, %g",
                      b->rule->name, i, in[i], got[i], out[i], code, value);
    }
    assay_blocks_round(b, in, in);
    ck_assert_mem_eq(in, out, sizeof in);
}
#define CHECK_BLOCK(rule, format, n, x, codes, scale, values)                  \
    check_block(&(struct assay_blocks){ assay_format_get(format),              \
                                        assay_scale_rule_find(rule),           \
                                        assay_scale_rule_find(rule)->rounding, \
                                        ASSAY_SATURATE, 32, 1, 32, 1 },        \
                n, (const float[]){ x }, (const uint8_t[]){ codes }, scale,    \
                (const float[]){ values })
#define LIST(...) __VA_ARGS__

/* All scale bytes: 0 is 2^-127, 255 is NaN, none is a number as it stands.
 * TransformerEngine #3262; llvm #214919; mlx #3762; omlx #2159. */
START_TEST(scale_bytes)
{
    static const uint8_t ones[] = {
        0x3c, 0x38, 0x40, 0x40, 0x0c, 0x08, 0x02, 1
    };
    for (int f = 0; f < N_FORMATS; f++) {
        struct assay_blocks b = blocks_of("floor", formats[f], 32, 256, 32, 1);
        uint8_t codes[256 * 32], scales[256];
        float x[256 * 32];
        memset(codes, ones[f], sizeof codes);
        for (int i = 0; i < 256; i++)
            scales[i] = (uint8_t)i;
        assay_blocks_decode(&b, codes, scales, x);
        for (int i = 0; i < 255 * 32; i++)
            ck_assert_msg(x[i] == (float)ldexp(1, i / 32 - 127),
                          "scale %02x of %s: %a", i / 32, b.format->name, x[i]);
        for (int i = 255 * 32; i < 256 * 32; i++)
            ck_assert_uint_eq(bits_of(x[i]), 0x7fc00000);
        ck_assert_uint_eq(bits_of(x[0]), 0x00400000);
        ck_assert_uint_eq(bits_of(x[32]), 0x00800000);
        ck_assert(x[0x7d * 32] == 0.25f && x[0x7e * 32] == 0.5f);
        ck_assert_uint_eq(bits_of(x[0xfe * 32]), 0x7f000000);
    }
}
END_TEST

/* A NaN scale among others, under codes that are NaN of the other sign. */
START_TEST(nan_scale_has_one_answer)
{
    for (int64_t inner = 1; inner <= 4; inner += 3) {
        struct assay_blocks b =
            blocks_of("floor", ASSAY_E4M3FN, 8, inner == 1 ? 4 : 1, 8, inner);
        const uint8_t scales[4] = { 127, 255, 127, 127 };
        uint8_t codes[32];
        float x[32];
        memset(codes, 0xff, sizeof codes);
        assay_blocks_decode(&b, codes, scales, x);
        for (int i = 0; i < 32; i++)
            ck_assert_uint_eq(bits_of(x[i]), (inner == 1 ? i / 8 : i % 4) == 1
                                                 ? 0x7fc00000
                                                 : 0xffc00000);
    }
}
END_TEST

START_TEST(amax_is_the_largest_value)
{
    CHECK_BLOCK("roundup", ASSAY_E4M3FN, 1, 448, 0x7e, 0x7f, 448);
    CHECK_BLOCK("floor", ASSAY_E4M3FN, 1, 448, 0x7e, 0x7f, 448);
    CHECK_BLOCK("ceil", ASSAY_E4M3FN, 1, 448, 0x76, 0x80, 448);
}
END_TEST

/* 957 is 896 or 960, each right under its rule. microxcaling #4. */
START_TEST(rule_decides_saturation)
{
    CHECK_BLOCK("floor", ASSAY_E4M3FN, 3, LIST(957, 960, -959.5f),
                LIST(0x7e, 0x7e, 0xfe), 0x80, LIST(896, 896, -896));
    CHECK_BLOCK("even", ASSAY_E4M3FN, 3, LIST(957, 960, -959.5f),
                LIST(0x7e, 0x7e, 0xfe), 0x80, LIST(896, 896, -896));
    CHECK_BLOCK("roundup", ASSAY_E4M3FN, 3, LIST(957, 960, -959.5f),
                LIST(0x77, 0x77, 0xf7), 0x81, LIST(960, 960, -960));
    CHECK_BLOCK("ceil", ASSAY_E4M3FN, 3, LIST(957, 960, -959.5f),
                LIST(0x77, 0x77, 0xf7), 0x81, LIST(960, 960, -960));
}
END_TEST

/* vLLM #53110. */
START_TEST(emax_is_taken_off)
{
    CHECK_BLOCK("floor", ASSAY_E4M3FN, 3, LIST(448, 1, 0.01f),
                LIST(0x7e, 0x38, 0x05), 0x7f, LIST(448, 1, 0.009765625f));
    CHECK_BLOCK("roundup", ASSAY_E4M3FN, 3, LIST(448, 1, 0.01f),
                LIST(0x7e, 0x38, 0x05), 0x7f, LIST(448, 1, 0.009765625f));
    CHECK_BLOCK("ceil", ASSAY_E4M3FN, 3, LIST(448, 1, 0.01f),
                LIST(0x76, 0x30, 0x03), 0x80, LIST(448, 1, 0.01171875f));
}
END_TEST

/* slime #2256; auto-round #1908. */
START_TEST(zero_and_tiny_blocks)
{
    static const struct {
        int power;
        uint8_t scale, code;
        float value;
    } cases[] = {
        { -149, 0x00, 0x00, 0 },         { -135, 0x00, 0x02, 0x1p-135f },
        { -130, 0x00, 0x20, 0x1p-130f }, { -119, 0x00, 0x78, 0x1p-119f },
        { -118, 0x01, 0x78, 0x1p-118f },
    };
    static const char *const rules[] = { "floor", "ceil", "even", "roundup" };
    for (int r = 0; r < 4; r++) {
        CHECK_BLOCK(rules[r], ASSAY_E4M3FN, 3, LIST(0.0f, -0.0f, 0.0f),
                    LIST(0x00, 0x80, 0x00), 0x00, LIST(0.0f, -0.0f, 0.0f));
        for (int i = 0; i < 5; i++)
            CHECK_BLOCK(rules[r], ASSAY_E4M3FN, 1, ldexpf(1, cases[i].power),
                        cases[i].code, cases[i].scale, cases[i].value);
    }
    CHECK_BLOCK("aiter-mxfp6", ASSAY_E2M3, 2, LIST(0.0f, -0.0f),
                LIST(0x00, 0x20), 127, LIST(0.0f, -0.0f));
    CHECK_BLOCK("aiter-mxfp4-v", ASSAY_E2M1, 2, LIST(0.0f, -0.0f),
                LIST(0x0, 0x8), 85, LIST(0.0f, -0.0f));
    CHECK_BLOCK("a2a-int8", ASSAY_INT8, 2, LIST(0.0f, -0.0f), LIST(0, 0), 28,
                LIST(0.0f, 0.0f));
}
END_TEST

/* A row ends its block. mase #321. */
START_TEST(block_stays_in_its_row)
{
    static const char *const rules[] = { "floor", "ceil", "even", "roundup" };
    static const uint8_t want[] = { 0x7d, 0x87, 0x77, 0x77 };
    for (int r = 0; r < 4; r++) {
        struct assay_blocks b = blocks_of(rules[r], ASSAY_E2M1, 32, 2, 40, 1);
        float x[80], back[80];
        uint8_t codes[80], scales[4];
        for (int i = 0; i < 80; i++)
            x[i] = i < 32 ? 1 : i < 40 ? 1024 : 1.0f / 64;
        ck_assert_int_eq(assay_blocks_scales(&b), 4);
        assay_blocks_encode(&b, x, codes, scales);
        assay_blocks_decode(&b, codes, scales, back);
        ck_assert_mem_eq(scales, want, sizeof want);
        ck_assert_mem_eq(back, x, sizeof x);
    }
}
END_TEST

/* MHA v4: 448 is reached by rounding alone in MXFP8, MXFP6 saturates, ties of
 * MXFP4 go to even for Q and K, toward zero for V. */
START_TEST(aiter_blocks)
{
    CHECK_BLOCK("aiter-mxfp8", ASSAY_E4M3FN, 1, 1.75f, 0x76, 120, 1.75f);
    CHECK_BLOCK("aiter-mxfp8", ASSAY_E4M3FN, 1, 0x1.bffffep0f, 0x7e, 119,
                1.75f);
    CHECK_BLOCK("aiter-mxfp8", ASSAY_E4M3FN, 1, 448, 0x76, 128, 448);
    CHECK_BLOCK("aiter-mxfp6", ASSAY_E2M3, 2, LIST(7.75f, -7.75f),
                LIST(0x1f, 0x3f), 127, LIST(7.5f, -7.5f));
    CHECK_BLOCK("aiter-mxfp6", ASSAY_E2M3, 1, 1.9375f, 0x1f, 125, 1.875f);
    CHECK_BLOCK("aiter-mxfp4", ASSAY_E2M1, 8,
                LIST(6, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, -3.5f, -5),
                LIST(7, 0, 2, 2, 4, 4, 14, 14), 127,
                LIST(6, 0, 1, 1, 2, 2, -4, -4));
    CHECK_BLOCK("aiter-mxfp4-v", ASSAY_E2M1, 8,
                LIST(6, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, -3.5f, -5),
                LIST(7, 0, 1, 2, 3, 4, 13, 14), 127,
                LIST(6, 0, 0.5f, 1, 1.5f, 2, -3, -4));
    CHECK_BLOCK("sage", ASSAY_E2M1, 8,
                LIST(6, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, -3.5f, -5),
                LIST(7, 1, 2, 3, 4, 5, 14, 15), 127,
                LIST(6, 0.5f, 1, 1.5f, 2, 3, -4, -6));
}
END_TEST

/* NaN poisons a block of the OCP rules, and is an element's own affair in the
 * AITER ones; infinity is an amax of 2^128, but for quotients and products. */
START_TEST(nan_and_infinity)
{
    const float nan = float_of(0x7fc00000);
    float x[32];
    uint8_t codes[32], scale;
    struct assay_blocks b = blocks_of("floor", ASSAY_E4M3FN, 32, 1, 32, 1);
    for (int i = 0; i < 32; i++)
        x[i] = -1;
    x[5] = float_of(0xff800001);
    assay_blocks_encode(&b, x, codes, &scale);
    ck_assert_int_eq(scale, 255);
    for (int i = 0; i < 32; i++)
        ck_assert_int_eq(codes[i], 0x7f);

    CHECK_BLOCK("aiter-mxfp8", ASSAY_E4M3FN, 2, LIST(nan, 448),
                LIST(0x7f, 0x76), 128, LIST(nan, 448));
    CHECK_BLOCK("aiter-mxfp6", ASSAY_E2M3, 2, LIST(-nan, 4), LIST(0x3f, 0x18),
                127, LIST(-7.5f, 4));
    CHECK_BLOCK("aiter-mxfp6", ASSAY_E2M3, 1, nan, 0x1f, 127, 7.5f);
    CHECK_BLOCK("a2a-int8", ASSAY_INT8, 2, LIST(nan, 127), LIST(0, 127), 127,
                LIST(0, 127));

    CHECK_BLOCK("floor", ASSAY_E4M3FN, 3, LIST(INFINITY, -INFINITY, 0x1p119f),
                LIST(0x7e, 0xfe, 0x30), 247,
                LIST(INFINITY, -INFINITY, 0x1p119f));
    CHECK_BLOCK("aiter-mxfp8", ASSAY_E4M3FN, 2, LIST(INFINITY, 0x1p127f),
                LIST(0x7e, 0x38), 254, LIST(INFINITY, 0x1p127f));
    b.overflow = ASSAY_SPECIAL;
    x[5] = -INFINITY;
    assay_blocks_encode(&b, x, codes, &scale);
    ck_assert_int_eq(scale, 247);
    ck_assert_int_eq(codes[5], 0xff);
    ck_assert_int_eq(codes[4], 0x80);
}
END_TEST

/* ---- refusals ---- */

static void refused(struct assay_blocks b, enum assay_status want,
                    const char *words)
{
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_blocks_check(&b, &err), want);
    ck_assert_msg(strstr(err.text, words), "\"%s\" lacks \"%s\"", err.text,
                  words);
    ck_assert_int_eq(assay_blocks_check(&b, NULL), want);
}

START_TEST(refusals)
{
    const int64_t large = INT64_C(1) << 32;
    refused(blocks_of("floor", ASSAY_E8M0, 32, 1, 32, 1), ASSAY_USAGE, "e8m0");
    refused(blocks_of("floor", ASSAY_BF16, 32, 1, 32, 1), ASSAY_USAGE, "bf16");
    refused(blocks_of("floor", ASSAY_F32, 32, 1, 32, 1), ASSAY_USAGE, "f32");
    refused(blocks_of("floor", ASSAY_E2M1, 0, 1, 32, 1), ASSAY_SHAPE,
            "block of 0");
    refused(blocks_of("floor", ASSAY_E2M1, -32, 1, 32, 1), ASSAY_SHAPE, "-32");
    refused(blocks_of("floor", ASSAY_E2M1, 32, -1, 32, 1), ASSAY_SHAPE,
            "-1 x 32 x 1 is not possible");
    refused(blocks_of("floor", ASSAY_E2M1, 32, 1, -2, 1), ASSAY_SHAPE,
            "1 x -2 x 1 is not possible");
    refused(blocks_of("floor", ASSAY_E2M1, 32, 1, 32, -3), ASSAY_SHAPE,
            "1 x 32 x -3 is not possible");
    refused(blocks_of("floor", ASSAY_E2M1, 32, large, 1, large), ASSAY_SHAPE,
            "4294967296 x 1 x 4294967296 is too large");
    refused(blocks_of("floor", ASSAY_E2M1, 32, large, large, 1), ASSAY_SHAPE,
            "too large");
    refused(blocks_of("floor", ASSAY_E2M1, 32, large / 2, large / 4, 1),
            ASSAY_SHAPE, "too large"); /* 2^61 floats */
    /* also where the product is 0, but not that of the others */
    refused(blocks_of("floor", ASSAY_E2M1, 32, large, large, 0), ASSAY_SHAPE,
            "too large");
    refused(blocks_of("floor", ASSAY_E2M1, 32, 0, large, large), ASSAY_SHAPE,
            "too large");
    refused(blocks_of("floor", ASSAY_E2M1, 32, large / 2, 0, large / 2),
            ASSAY_SHAPE, "too large");
    struct assay_blocks most =
        blocks_of("floor", ASSAY_INT8, INT64_MAX, large / 4, large / 4, 2);
    most.inner = 1;
    ck_assert_int_eq(assay_blocks_check(&most, NULL), ASSAY_OK);
    ck_assert_int_eq(assay_blocks_elems(&most), INT64_C(1) << 60);
    ck_assert_int_eq(assay_blocks_scales(&most), large / 4);
}
END_TEST

/* Nothing is read, written or walked over. */
START_TEST(no_elements)
{
    const int64_t large = INT64_C(1) << 60;
    static const int64_t sizes[][3] = { { 0, 1, 1 }, { 1, 0, 1 }, { 1, 1, 0 } };
    for (int i = 0; i < 9; i++) {
        const int64_t *s = sizes[i / 3];
        struct assay_blocks b = blocks_of(
            "floor", ASSAY_E2M1, 32, i % 3 == 0 ? s[0] * large : s[0],
            i % 3 == 1 ? s[1] * large : s[1], i % 3 == 2 ? s[2] * large : s[2]);
        ck_assert_int_eq(assay_blocks_check(&b, NULL), ASSAY_OK);
        ck_assert_int_eq(assay_blocks_elems(&b), 0);
        assay_blocks_encode(&b, NULL, NULL, NULL);
        assay_blocks_decode(&b, NULL, NULL, NULL);
        assay_blocks_round(&b, NULL, NULL);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blocks");
    TCase *c = tcase_create("blocks");
    tcase_add_loop_test(c, everything, 0, N_FORMATS);
    tcase_add_test(c, every_shape);
    tcase_add_test(c, every_length);
    tcase_add_loop_test(c, subnormals, 0, N_FORMATS);
    tcase_add_loop_test(c, one_special_element, 0, N_FORMATS);
    suite_add_tcase(suite, c);
    c = tcase_create("bytes");
    tcase_add_test(c, scale_bytes);
    tcase_add_test(c, nan_scale_has_one_answer);
    tcase_add_test(c, amax_is_the_largest_value);
    tcase_add_test(c, rule_decides_saturation);
    tcase_add_test(c, emax_is_taken_off);
    tcase_add_test(c, zero_and_tiny_blocks);
    tcase_add_test(c, block_stays_in_its_row);
    tcase_add_test(c, aiter_blocks);
    tcase_add_test(c, nan_and_infinity);
    tcase_add_test(c, refusals);
    tcase_add_test(c, no_elements);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
