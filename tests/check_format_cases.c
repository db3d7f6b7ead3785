/* SPDX-License-Identifier: MIT
 *
 * Faults that other encoders shipped, as cases with the words that exact
 * arithmetic gives, each also in the formats beside the one it was reported
 * for. Decoding is in tests/check_decode.c.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "assay/format.h"
#include "check_assay.h"
#include "check_values.h"

static const struct assay_format *format_of(enum assay_format_id id)
{
    return assay_format_get(id);
}

/* Code of one value through the array encoder, which a test of its own holds
 * to the scalar one. */
static uint32_t encode(enum assay_format_id id, enum assay_rounding rounding,
                       enum assay_overflow overflow, float x)
{
    const struct assay_format *f = format_of(id);
    uint8_t byte = 0;
    uint16_t half = 0;
    bool narrow = f->bits <= 8;
    assay_format_encode(f, rounding, overflow, 1, &x,
                        narrow ? (void *)&byte : &half);
    return narrow ? byte : half;
}

/* binary32 words and the codes that saturating and special overflow give. */
struct word_case {
    uint32_t x;
    uint32_t saturate, special;
};

static void check_words(enum assay_format_id id, size_t n,
                        const struct word_case *c)
{
    for (size_t i = 0; i < n; i++) {
        float x = float_of(c[i].x);
        uint32_t a = encode(id, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, x);
        uint32_t b = encode(id, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, x);
        ck_assert_msg(a == c[i].saturate && b == c[i].special,
                      "%s: %08x gives %04x and %04x, not %04x and %04x",
                      format_of(id)->name, c[i].x, a, b, c[i].saturate,
                      c[i].special);
    }
}
#define CHECK_WORDS(id, cases) \
    check_words(id, sizeof cases / sizeof *cases, cases)

/* The same from numbers, of one code. */
static void check_codes(enum assay_format_id id, size_t n, const float *x,
                        const uint32_t *want)
{
    for (size_t i = 0; i < n; i++)
        for (int policy = 0; policy < ASSAY_OVERFLOWS; policy++) {
            uint32_t got = encode(id, ASSAY_NEAREST_EVEN,
                                  (enum assay_overflow)policy, x[i]);
            ck_assert_msg(got == want[i], "%s: %a gives %04x, not %04x",
                          format_of(id)->name, x[i], got, want[i]);
        }
}
#define CHECK_CODES(id, x, want) \
    check_codes(id, sizeof want / sizeof *want, x, want)

/* ---- overflow ---- */

/* Threshold, and no clamp before rounding. ml_dtypes #400, #260;
 * stillwater-sc/universal #1302. */
START_TEST(e4m3_overflow)
{
    static const struct word_case cases[] = {
        { 0x43e00000, 0x7e, 0x7e }, /* 448 */
        { 0x43e80000, 0x7e, 0x7e }, /* 464, tie with the missing 480 */
        { 0x43e80001, 0x7e, 0x7f }, { 0x43e88000, 0x7e, 0x7f },
        { 0x43fa0000, 0x7e, 0x7f }, { 0x447a0000, 0x7e, 0x7f },
        { 0xc47a0000, 0xfe, 0xff }, { 0x7f800000, 0x7e, 0x7f },
        { 0xff800000, 0xfe, 0xff }, { 0x44000000, 0x7e, 0x7f }, /* 512 */
        { 0x44280000, 0x7e, 0x7f }, { 0x47600000, 0x7e, 0x7f },
        { 0x48db0000, 0x7e, 0x7f }, /* 448512 */
        { 0x7fc00000, 0x7f, 0x7f }, { 0xffc00000, 0xff, 0xff },
    };
    CHECK_WORDS(ASSAY_E4M3FN, cases);
}
END_TEST

START_TEST(e5m2_overflow)
{
    static const struct word_case cases[] = {
        { 0x47600000, 0x7b, 0x7b }, /* 57344 */
        { 0x47629000, 0x7b, 0x7b }, /* 58000 */
        { 0x476fffff, 0x7b, 0x7b }, /* 61439.996 */
        { 0x47700000, 0x7b, 0x7c }, /* 61440, tie, 7c is even */
        { 0x477fe000, 0x7b, 0x7c }, /* 65504 */
        { 0x49742400, 0x7b, 0x7c }, /* 1e6 */
        { 0x7f800000, 0x7b, 0x7c }, { 0xff800000, 0xfb, 0xfc },
        { 0x7fc00000, 0x7e, 0x7e }, { 0xffc00000, 0xfe, 0xfe },
    };
    CHECK_WORDS(ASSAY_E5M2, cases);
}
END_TEST

/* The formats without infinity or NaN, and binary16. */
START_TEST(overflow_elsewhere)
{
    static const struct word_case e3m2[] = {
        { 0x41f00000, 0x1f, 0x1f }, /* 30, tie with 32 */
        { 0x41e00000, 0x1f, 0x1f }, { 0xff800000, 0x3f, 0x3f },
        { 0x7fc00000, 0x1f, 0x1f }, { 0xffc00000, 0x3f, 0x3f },
    };
    static const struct word_case e2m3[] = {
        { 0x40f80000, 0x1f, 0x1f }, /* 7.75, tie with 8 */
        { 0xc9742400, 0x3f, 0x3f }, { 0x7f800000, 0x1f, 0x1f },
        { 0x7fc00000, 0x1f, 0x1f }, { 0xffc00000, 0x3f, 0x3f },
    };
    static const struct word_case f16[] = {
        { 0x477fefff, 0x7bff, 0x7bff }, /* below 65520 */
        { 0x477ff000, 0x7bff, 0x7c00 }, /* 65520, tie */
        { 0xc77ff000, 0xfbff, 0xfc00 },
        { 0x7f800000, 0x7bff, 0x7c00 },
    };
    CHECK_WORDS(ASSAY_E3M2, e3m2);
    CHECK_WORDS(ASSAY_E2M3, e2m3);
    CHECK_WORDS(ASSAY_F16, f16);
}
END_TEST

/* Exponent field 15 is finite. tilelang-metax #140; saturn-vectors #101. */
START_TEST(e4m3_top_binade)
{
    const float x[] = { 240, 248, 256, 272, 288, 304, 320, 336,
                        352, 368, 384, 400, 416, 432, 448 };
    const uint32_t want[] = { 0x77, 0x78, 0x78, 0x78, 0x79, 0x7a, 0x7a, 0x7a,
                              0x7b, 0x7c, 0x7c, 0x7c, 0x7d, 0x7e, 0x7e };
    CHECK_CODES(ASSAY_E4M3FN, x, want);
    const float past[] = { 512, 672, 57344, 448512 };
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(
            encode(ASSAY_E4M3FN, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, past[i]),
            0x7e);
}
END_TEST

START_TEST(top_binades_elsewhere)
{
    const float fnuz[] = { 120, 124, 128, 136, 144, 152, 224, 232, 240 };
    const uint32_t e4m3[] = { 0x77, 0x78, 0x78, 0x78, 0x79,
                              0x7a, 0x7e, 0x7e, 0x7f };
    CHECK_CODES(ASSAY_E4M3FNUZ, fnuz, e4m3);
    const float wide[] = { 28672, 32768, 36864, 40960, 45056, 49152, 57344 };
    const uint32_t e5m2[] = { 0x7b, 0x7c, 0x7c, 0x7d, 0x7e, 0x7e, 0x7f };
    CHECK_CODES(ASSAY_E5M2FNUZ, wide, e5m2);
    const float six[] = { 14, 15, 16, 18, 20, 22, 24, 26, 28 };
    const uint32_t e3m2[] = { 0x1b, 0x1c, 0x1c, 0x1c, 0x1d,
                              0x1e, 0x1e, 0x1e, 0x1f };
    CHECK_CODES(ASSAY_E3M2, six, e3m2);
    const float top[] = {
        3.75f, 3.875f, 4, 4.25f, 4.5f, 4.75f, 7, 7.25f, 7.5f
    };
    const uint32_t e2m3[] = { 0x17, 0x18, 0x18, 0x18, 0x19,
                              0x1a, 0x1e, 0x1e, 0x1f };
    CHECK_CODES(ASSAY_E2M3, top, e2m3);
}
END_TEST

/* ---- ties ---- */

/* Nearest and ties. onnxruntime #16938; triton #5925; ml_dtypes #221. */
START_TEST(e4m3_ties)
{
    static const struct word_case cases[] = {
        { 0x3fe815a5, 0x3f, 0x3f }, { 0x40880000, 0x48, 0x48 },
        { 0x40980000, 0x4a, 0x4a }, { 0x3f880000, 0x38, 0x38 },
        { 0x3f980000, 0x3a, 0x3a }, { 0x3a800000, 0x00, 0x00 },
        { 0x3a800001, 0x01, 0x01 }, { 0x3b400000, 0x02, 0x02 },
        { 0x3c700000, 0x08, 0x08 }, /* subnormal carries to 2^-6 */
    };
    CHECK_WORDS(ASSAY_E4M3FN, cases);
}
END_TEST

START_TEST(ties_elsewhere)
{
    const uint16_t half[] = { 0x4880, 0x4980, 0x4a80, 0x4900 };
    const float nine[] = { 9, 11, 13, 10 };
    const uint32_t e5m2[] = { 0x48, 0x4a, 0x4a, 0x49 };
    float x[4];
    assay_format_decode(format_of(ASSAY_F16), 4, half, x);
    for (int i = 0; i < 4; i++)
        ck_assert(x[i] == nine[i]);
    CHECK_CODES(ASSAY_E5M2, x, e5m2);
    /* least tie, next, one and a half steps, carry to normal, in each */
    const float e5m2_low[] = { 0x1p-17f, 0x1.000002p-17f, 0x3p-17f, 0x7p-17f };
    const float e4m3_low[] = { 0x1p-11f, 0x1.000002p-11f, 0x3p-11f, 0xfp-11f };
    const float e3m2_low[] = { 0x1p-5f, 0x1.000002p-5f, 0x3p-5f, 0x7p-5f };
    const float e2m3_low[] = { 0x1p-4f, 0x1.000002p-4f, 0x3p-4f, 0xfp-4f };
    const float f16_low[] = { 0x1p-25f, 0x1.000002p-25f, 0x3p-25f, 0x7ffp-25f };
    CHECK_CODES(ASSAY_E5M2, e5m2_low, ((uint32_t[]){ 0, 1, 2, 4 }));
    CHECK_CODES(ASSAY_E4M3FNUZ, e4m3_low, ((uint32_t[]){ 0, 1, 2, 8 }));
    CHECK_CODES(ASSAY_E3M2, e3m2_low, ((uint32_t[]){ 0, 1, 2, 4 }));
    CHECK_CODES(ASSAY_E2M3, e2m3_low, ((uint32_t[]){ 0, 1, 2, 8 }));
    CHECK_CODES(ASSAY_F16, f16_low, ((uint32_t[]){ 0, 1, 2, 0x400 }));
}
END_TEST

/* E2M1 with its ties, a carry to the top exponent, and both ends.
 * tt-metal #51971; ROCm/aiter #3992; rocm-systems #6870. */
START_TEST(e2m1_ties)
{
    const float ties[] = { 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5 };
    CHECK_CODES(ASSAY_E2M1, ties, ((uint32_t[]){ 0, 2, 2, 4, 4, 6, 6 }));
    static const struct word_case cases[] = {
        { 0x3e800002, 1, 1 }, { 0x3e7fffff, 0, 0 },
        { 0x40a00001, 7, 7 }, { 0x40e00000, 7, 7 }, /* 7 */
        { 0x4e6e6b28, 7, 7 },                       /* 1e9 */
        { 0x80000000, 8, 8 }, { 0xbe800000, 8, 8 },
    };
    CHECK_WORDS(ASSAY_E2M1, cases);
}
END_TEST

/* The other ways of those ties, by hand. */
START_TEST(e2m1_other_roundings)
{
    const float x[] = { 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, 5.5f };
    static const uint8_t want[ASSAY_ROUNDINGS][8] = {
        [ASSAY_NEAREST_EVEN] = { 0, 2, 2, 4, 4, 6, 6, 7 },
        [ASSAY_TIES_TO_ZERO] = { 0, 1, 2, 3, 4, 5, 6, 7 },
        [ASSAY_TIES_AWAY] = { 1, 2, 3, 4, 5, 6, 7, 7 },
        [ASSAY_TOWARD_ZERO] = { 0, 1, 2, 3, 4, 5, 6, 6 },
    };
    for (int r = 0; r < ASSAY_ROUNDINGS; r++)
        for (int i = 0; i < 8; i++)
            for (int sign = 0; sign < 2; sign++)
                ck_assert_uint_eq(encode(ASSAY_E2M1, (enum assay_rounding)r,
                                         ASSAY_SATURATE, sign ? -x[i] : x[i]),
                                  want[r][i] | (sign ? 8u : 0));
}
END_TEST

/* Every finite code is its own encoding, and so many there are. */
START_TEST(finite_codes_come_back)
{
    static const struct {
        enum assay_format_id id;
        int finite;
    } cases[] = {
        { ASSAY_E2M1, 16 },      { ASSAY_E2M3, 64 },    { ASSAY_E3M2, 64 },
        { ASSAY_E4M3FN, 254 },   { ASSAY_E5M2, 248 },   { ASSAY_E4M3FNUZ, 255 },
        { ASSAY_E5M2FNUZ, 255 }, { ASSAY_INT8, 256 },   { ASSAY_E8M0, 255 },
        { ASSAY_F16, 63488 },    { ASSAY_BF16, 65280 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct assay_format *f = format_of(cases[i].id);
        int finite = 0;
        for (uint32_t code = 0; code < 1u << f->bits; code++) {
            float x = assay_format_decode_one(f, code);
            if (!isfinite(x))
                continue;
            finite++;
            ck_assert_uint_eq(
                encode(f->id, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, x), code);
        }
        ck_assert_msg(finite == cases[i].finite, "%s has %d finite codes",
                      f->name, finite);
    }
}
END_TEST

/* ---- rounding once ---- */

/* Just off a midpoint: a step through f16 or bf16 would land on it. triton
 * #10846, #2583; oneDNN #2361. */
START_TEST(rounds_once)
{
    static const struct word_case e4m3[] = {
        { 0x3f880008, 0x39, 0x39 },
        { 0x3f97fff8, 0x39, 0x39 },
        { 0x41880020, 0x59, 0x59 },
        { 0x3a800008, 0x01, 0x01 },
    };
    static const struct word_case e5m2[] = {
        { 0x3f900008, 0x3d, 0x3d },
        { 0x3faffff8, 0x3d, 0x3d },
    };
    static const struct word_case e2m1[] = {
        { 0x3fa00008, 3, 3 }, /* 1.25 + 2^-20 */
        { 0x3fdffff8, 3, 3 }, /* 1.75 - 2^-20 */
    };
    static const struct word_case e3m2[] = {
        { 0x3f900008, 0x0d, 0x0d }, /* as e5m2's */
        { 0x3faffff8, 0x0d, 0x0d },
    };
    static const struct word_case e2m3[] = {
        { 0x3f880008, 0x09, 0x09 },
        { 0x3f97fff8, 0x09, 0x09 },
    };
    CHECK_WORDS(ASSAY_E4M3FN, e4m3);
    CHECK_WORDS(ASSAY_E5M2, e5m2);
    CHECK_WORDS(ASSAY_E2M1, e2m1);
    CHECK_WORDS(ASSAY_E3M2, e3m2);
    CHECK_WORDS(ASSAY_E2M3, e2m3);
}
END_TEST

/* ... and that step, where somebody does it, gives the wrong code: the inputs
 * do tell the two apart. */
START_TEST(rounds_twice_on_purpose)
{
    static const struct {
        enum assay_format_id through, to;
        uint32_t x, code;
    } cases[] = {
        { ASSAY_F16, ASSAY_E4M3FN, 0x3f880008, 0x38 },
        { ASSAY_F16, ASSAY_E4M3FN, 0x3f97fff8, 0x3a },
        { ASSAY_F16, ASSAY_E4M3FN, 0x41880020, 0x58 },
        { ASSAY_F16, ASSAY_E4M3FN, 0x3a800008, 0x00 },
        { ASSAY_F16, ASSAY_E5M2, 0x3f900008, 0x3c },
        { ASSAY_F16, ASSAY_E5M2, 0x3faffff8, 0x3e },
        { ASSAY_BF16, ASSAY_E4M3FN, 0x3f880008, 0x38 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x = float_of(cases[i].x);
        assay_format_round(format_of(cases[i].through), ASSAY_NEAREST_EVEN,
                           ASSAY_SATURATE, 1, &x, &x);
        ck_assert_uint_eq(
            encode(cases[i].to, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, x),
            cases[i].code);
    }
}
END_TEST

/* ---- signs and NaN ---- */

/* No -0: 0x80 is the NaN. onnx #5764; triton #10745. */
START_TEST(fnuz_words)
{
    static const struct word_case e4m3[] = {
        { 0xb3d6bf95, 0x00, 0x00 },                             /* -1e-7 */
        { 0x80000000, 0x00, 0x00 }, { 0xba000000, 0x00, 0x00 }, /* -2^-11 */
        { 0xba000008, 0x81, 0x81 }, { 0x43700000, 0x7f, 0x7f }, /* 240 */
        { 0x4377e666, 0x7f, 0x7f },                             /* 247.9 */
        { 0x43780000, 0x7f, 0x80 }, { 0xc3780000, 0xff, 0x80 }, /* 248 */
        { 0x7f800000, 0x7f, 0x80 }, { 0xff800000, 0xff, 0x80 },
        { 0x7fc00000, 0x80, 0x80 }, { 0xffc00000, 0x80, 0x80 },
    };
    static const struct word_case e5m2[] = {
        { 0xb3d6bf95, 0x00, 0x00 }, { 0xb6800000, 0x00, 0x00 }, /* -2^-18 */
        { 0x80000000, 0x00, 0x00 }, { 0xb6800001, 0x81, 0x81 },
        { 0x47600000, 0x7f, 0x7f }, { 0x47700000, 0x7f, 0x80 }, /* 61440 */
        { 0xc7700000, 0xff, 0x80 }, { 0xffc00000, 0x80, 0x80 },
    };
    CHECK_WORDS(ASSAY_E4M3FNUZ, e4m3);
    CHECK_WORDS(ASSAY_E5M2FNUZ, e5m2);
}
END_TEST

/* Small negatives keep their sign in the formats with two zeros, and are 0 in
 * int8. */
START_TEST(small_negatives_elsewhere)
{
    static const struct {
        enum assay_format_id id;
        uint32_t zero;
    } cases[] = {
        { ASSAY_F16, 0x8000 },  { ASSAY_BF16, 0x8000 }, { ASSAY_E5M2, 0x80 },
        { ASSAY_E4M3FN, 0x80 }, { ASSAY_E3M2, 0x20 },   { ASSAY_E2M3, 0x20 },
        { ASSAY_E2M1, 0x8 },    { ASSAY_INT8, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int r = 0; r < ASSAY_ROUNDINGS; r++) {
            enum assay_rounding way = (enum assay_rounding)r;
            ck_assert_uint_eq(encode(cases[i].id, way, ASSAY_SATURATE, -0.0f),
                              cases[i].zero);
            ck_assert_uint_eq(
                encode(cases[i].id, way, ASSAY_SATURATE, -0x1p-140f),
                cases[i].zero);
        }
}
END_TEST

/* NaN with payload in the low half only, ties, carry to infinity. dotnet
 * #130583; universal #1133; intel/llvm #22114. */
START_TEST(bf16_words)
{
    static const struct word_case cases[] = {
        { 0x3e89ccd5, 0x3e8a, 0x3e8a }, { 0x3f808000, 0x3f80, 0x3f80 },
        { 0x3f818000, 0x3f82, 0x3f82 }, { 0x3f808001, 0x3f81, 0x3f81 },
        { 0x7f7f7fff, 0x7f7f, 0x7f7f }, { 0x7f7f8000, 0x7f7f, 0x7f80 },
        { 0x7f7fffff, 0x7f7f, 0x7f80 }, { 0x00008000, 0x0000, 0x0000 },
        { 0x00008001, 0x0001, 0x0001 }, { 0x00018000, 0x0002, 0x0002 },
        { 0x80000000, 0x8000, 0x8000 }, { 0x7f800001, 0x7fc0, 0x7fc0 },
        { 0x7f80ffff, 0x7fc0, 0x7fc0 }, { 0xff800001, 0xffc0, 0xffc0 },
        { 0x7fffffff, 0x7fc0, 0x7fc0 }, { 0xffffffff, 0xffc0, 0xffc0 },
    };
    CHECK_WORDS(ASSAY_BF16, cases);
}
END_TEST

/* Those NaNs in every format: the quiet one, or the largest value. */
START_TEST(nans_elsewhere)
{
    static const struct {
        enum assay_format_id id;
        uint32_t plus, minus;
    } cases[] = {
        { ASSAY_F16, 0x7e00, 0xfe00 },  { ASSAY_E5M2, 0x7e, 0xfe },
        { ASSAY_E4M3FN, 0x7f, 0xff },   { ASSAY_E5M2FNUZ, 0x80, 0x80 },
        { ASSAY_E4M3FNUZ, 0x80, 0x80 }, { ASSAY_E3M2, 0x1f, 0x3f },
        { ASSAY_E2M3, 0x1f, 0x3f },     { ASSAY_E2M1, 0x7, 0xf },
        { ASSAY_INT8, 0, 0 },           { ASSAY_E8M0, 0xff, 0xff },
    };
    const uint32_t nans[] = { 0x7f800001, 0x7f80ffff, 0x7fc00000, 0x7fffffff };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 0; n < 4; n++)
            for (int way = 0; way < 12; way++) {
                enum assay_rounding r = (enum assay_rounding)(way % 4);
                enum assay_overflow v = (enum assay_overflow)(way / 4);
                float plus = float_of(nans[n]);
                float minus = float_of(nans[n] | 0x80000000u);
                ck_assert_uint_eq(encode(cases[i].id, r, v, plus),
                                  cases[i].plus);
                ck_assert_uint_eq(encode(cases[i].id, r, v, minus),
                                  cases[i].minus);
            }
}
END_TEST

/* ---- int8 ---- */

static void check_int8s(enum assay_rounding rounding,
                        enum assay_overflow overflow, size_t n, const float *x,
                        const int8_t *want)
{
    int8_t got[8];
    assay_format_encode(format_of(ASSAY_INT8), rounding, overflow, n, x, got);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i], "%g gives %d, not %d", x[i], got[i],
                      want[i]);
}

/* tt-metal #56525; onnxruntime #25045, #32452. */
START_TEST(int8_ties)
{
    const float x[8] = {
        -2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 126.5f, -126.5f
    };
    static const int8_t want[ASSAY_ROUNDINGS][8] = {
        [ASSAY_NEAREST_EVEN] = { -2, -2, 0, 0, 2, 2, 126, -126 },
        [ASSAY_TIES_TO_ZERO] = { -2, -1, 0, 0, 1, 2, 126, -126 },
        [ASSAY_TIES_AWAY] = { -3, -2, -1, 1, 2, 3, 127, -127 },
        [ASSAY_TOWARD_ZERO] = { -2, -1, 0, 0, 1, 2, 126, -126 },
    };
    for (int way = 0; way < ASSAY_ROUNDINGS * ASSAY_OVERFLOWS; way++)
        check_int8s((enum assay_rounding)(way % 4),
                    (enum assay_overflow)(way / 4), 8, x, want[way % 4]);
}
END_TEST

START_TEST(int8_quotients)
{
    const uint16_t half[3] = { 0x2a67, 0x2e66, 0x000d };
    float f[3];
    assay_format_decode(format_of(ASSAY_F16), 3, half, f);
    ck_assert(f[0] == 0.050018310546875f && f[1] == 0.0999755859375f);
    ck_assert(f[2] == 7.748603820800781e-07f);
    float near = f[0] / f[1];
    check_int8s(ASSAY_NEAREST_EVEN, ASSAY_SATURATE, 1, &near, (int8_t[]){ 1 });
    check_int8s(ASSAY_TOWARD_ZERO, ASSAY_SATURATE, 1, &near, (int8_t[]){ 0 });

    const float scale = 128.0f / 127;
    const float symmetric[4] = { -128 / scale, 127 / scale, 64 / scale,
                                 0.5f / scale };
    check_int8s(ASSAY_NEAREST_EVEN, ASSAY_SYMMETRIC, 4, symmetric,
                (int8_t[]){ -127, 126, 64, 0 });

    /* amax / (scale rounded to f16) is 129.06: clamp, do not wrap */
    float past = 1e-4f / f[2];
    ck_assert(past > 129 && past < 129.1f);
    const float ends[4] = { past, -past, 1e9f, -INFINITY };
    for (int r = 0; r < ASSAY_ROUNDINGS; r++) {
        enum assay_rounding way = (enum assay_rounding)r;
        check_int8s(way, ASSAY_SATURATE, 4, ends,
                    (int8_t[]){ 127, -128, 127, -128 });
        check_int8s(way, ASSAY_SPECIAL, 4, ends,
                    (int8_t[]){ 127, -128, 127, -128 });
        check_int8s(way, ASSAY_SYMMETRIC, 4, ends,
                    (int8_t[]){ 127, -127, 127, -127 });
    }
}
END_TEST

/* ---- arrays ---- */

/* Arrays that libhdf5 1.10.8 narrows wrongly, since an element's word depends
 * on those before it. h5py #1221, #819. */
START_TEST(arrays_hdf5_narrows_wrongly)
{
    static const struct {
        enum assay_format_id id;
        size_t n;
        uint32_t x[3];
        uint16_t want[3];
    } cases[] = {
        { ASSAY_F16, 2, { 0x3f7fffff, 0x3ffff000 }, { 0x3c00, 0x4000 } },
        { ASSAY_F16, 2, { 0x387fc000, 0x3f7fffff }, { 0x03ff, 0x3c00 } },
        { ASSAY_F16,
          3,
          { 0x387fe044, 0x3f7fffff, 0x3ffff000 },
          { 0x0400, 0x3c00, 0x4000 } },
        { ASSAY_F16, 1, { 0x477ff800 }, { 0x7c00 } },
        { ASSAY_F16, 1, { 0x33c00000 }, { 0x0002 } },
        { ASSAY_F16, 1, { 0x3f801000 }, { 0x3c00 } },
        { ASSAY_F16, 1, { 0x34200000 }, { 0x0002 } },
        { ASSAY_BF16, 2, { 0x3fffffff, 0x41fff000 }, { 0x4000, 0x4200 } },
        { ASSAY_BF16,
          3,
          { 0x00008001, 0x3fffffff, 0x41fff000 },
          { 0x0001, 0x4000, 0x4200 } },
        { ASSAY_BF16, 1, { 0x007fffff }, { 0x0080 } },
        { ASSAY_BF16, 1, { 0x3f808000 }, { 0x3f80 } },
        { ASSAY_BF16, 1, { 0x7f7fffff }, { 0x7f80 } },
        /* the same carries in e5m2, whose words are f16's upper bytes */
        { ASSAY_E5M2,
          3,
          { 0x38600000, 0x3f7fffff, 0x3ff00000 },
          { 0x04, 0x3c, 0x40 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct assay_format *f = format_of(cases[i].id);
        float x[3];
        uint16_t halves[3];
        uint8_t bytes[3];
        for (size_t j = 0; j < cases[i].n; j++)
            x[j] = float_of(cases[i].x[j]);
        assay_format_encode(f, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, cases[i].n, x,
                            f->bits <= 8 ? (void *)bytes : halves);
        for (size_t j = 0; j < cases[i].n; j++)
            ck_assert_msg(
                (f->bits <= 8 ? bytes[j] : halves[j]) == cases[i].want[j],
                "array %zu, word %zu is not %04x", i, j, cases[i].want[j]);
    }
}
END_TEST

/* binary64 arrays of the same reports, which a caller makes binary32 first;
 * that step does not change their words. */
START_TEST(arrays_of_f64)
{
    static const double x[] = { 0.9999, 1.5249285751529568e-05, 1.9999,
                                -0.001953115234375 };
    static const uint16_t want[] = { 0x3c00, 0x0100, 0x4000, 0x9800 };
    float y[4];
    uint16_t got[4];
    for (int i = 0; i < 4; i++)
        y[i] = (float)x[i];
    assay_format_encode(format_of(ASSAY_F16), ASSAY_NEAREST_EVEN, ASSAY_SPECIAL,
                        4, y, got);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(got[i], want[i]);
}
END_TEST

static void add(Suite *suite, const char *name, size_t n,
                const TTest *const *tests)
{
    TCase *c = tcase_create(name);
    for (size_t i = 0; i < n; i++)
        tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
}
#define ADD(suite, name, ...)                                       \
    add(suite, name,                                                \
        sizeof((const TTest *[]){ __VA_ARGS__ }) / sizeof(TTest *), \
        (const TTest *[]){ __VA_ARGS__ })

int main(void)
{
    Suite *suite = suite_create("reported");
    ADD(suite, "overflow", e4m3_overflow, e5m2_overflow, overflow_elsewhere,
        e4m3_top_binade, top_binades_elsewhere);
    ADD(suite, "ties", e4m3_ties, ties_elsewhere, e2m1_ties,
        e2m1_other_roundings, finite_codes_come_back);
    ADD(suite, "once", rounds_once, rounds_twice_on_purpose);
    ADD(suite, "sign and NaN", fnuz_words, small_negatives_elsewhere,
        bf16_words, nans_elsewhere);
    ADD(suite, "int8", int8_ties, int8_quotients);
    ADD(suite, "arrays", arrays_hdf5_narrows_wrongly, arrays_of_f64);
    return assay_check_main(suite);
}
