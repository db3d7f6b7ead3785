/* SPDX-License-Identifier: MIT
 *
 * Codes that other decoders took wrongly, with their values, and E8M0 as a
 * number.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "assay/block.h"
#include "assay/format.h"
#include "check_assay.h"
#include "check_values.h"

static const struct assay_format *format_of(enum assay_format_id id)
{
    return assay_format_get(id);
}

static float decode(enum assay_format_id id, uint8_t code)
{
    float x;
    assay_format_decode(format_of(id), 1, &code, &x);
    return x;
}

/* Exponent field 0 and NaN. tilelang #2702. */
START_TEST(e4m3_decode)
{
    float zero = decode(ASSAY_E4M3FN, 0), minus = decode(ASSAY_E4M3FN, 0x80);
    ck_assert(zero == 0 && !signbit(zero) && minus == 0 && signbit(minus));
    for (uint8_t m = 1; m < 8; m++) {
        ck_assert(decode(ASSAY_E4M3FN, m) == (float)m / 512);
        ck_assert(decode(ASSAY_E4M3FN, 0x80 | m) == -(float)m / 512);
    }
    ck_assert(decode(ASSAY_E4M3FN, 1) == 0.001953125f);
    ck_assert(decode(ASSAY_E4M3FN, 7) == 0.013671875f);
    ck_assert(decode(ASSAY_E4M3FN, 8) == 0.015625f);
    ck_assert(decode(ASSAY_E4M3FN, 0x7e) == 448);
    ck_assert(decode(ASSAY_E4M3FN, 0xfe) == -448);
    ck_assert(isnan(decode(ASSAY_E4M3FN, 0x7f)));
    ck_assert(isnan(decode(ASSAY_E4M3FN, 0xff)));
}
END_TEST

/* Subnormals, the first normal, the last codes of the others. */
START_TEST(small_and_large_codes)
{
    static const struct {
        enum assay_format_id id;
        uint8_t code;
        float x;
    } cases[] = {
        { ASSAY_E5M2, 0x01, 0x1p-16f },     { ASSAY_E5M2, 0x03, 0x3p-16f },
        { ASSAY_E5M2, 0x04, 0x1p-14f },     { ASSAY_E5M2, 0x7b, 57344 },
        { ASSAY_E5M2, 0x7c, INFINITY },     { ASSAY_E5M2, 0xfc, -INFINITY },
        { ASSAY_E5M2, 0x7d, NAN },          { ASSAY_E5M2, 0x7f, NAN },
        { ASSAY_E4M3FNUZ, 0x01, 0x1p-10f }, { ASSAY_E4M3FNUZ, 0x07, 0x7p-10f },
        { ASSAY_E4M3FNUZ, 0x08, 0x1p-7f },  { ASSAY_E4M3FNUZ, 0x7f, 240 },
        { ASSAY_E4M3FNUZ, 0x80, NAN },      { ASSAY_E4M3FNUZ, 0x81, -0x1p-10f },
        { ASSAY_E5M2FNUZ, 0x01, 0x1p-17f }, { ASSAY_E5M2FNUZ, 0x04, 0x1p-15f },
        { ASSAY_E5M2FNUZ, 0x7f, 57344 },    { ASSAY_E5M2FNUZ, 0x80, NAN },
        { ASSAY_E3M2, 0x01, 0.0625f },      { ASSAY_E3M2, 0x04, 0.25f },
        { ASSAY_E3M2, 0x1f, 28 },           { ASSAY_E3M2, 0x20, -0.0f },
        { ASSAY_E2M3, 0x01, 0.125f },       { ASSAY_E2M3, 0x08, 1 },
        { ASSAY_E2M3, 0x1f, 7.5f },         { ASSAY_E2M3, 0x20, -0.0f },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(
            same_float(decode(cases[i].id, cases[i].code), cases[i].x),
            "%s %02x is not %a", format_of(cases[i].id)->name, cases[i].code,
            cases[i].x);
}
END_TEST

/* Four small codes of FP4. triton #5197; tilelang #2704. */
START_TEST(e2m1_decode)
{
    static const float want[16] = { 0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                    -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6 };
    for (uint8_t code = 0; code < 16; code++)
        ck_assert(same_float(decode(ASSAY_E2M1, code), want[code]));
}
END_TEST

/* Code 0 is no zero and 255 no infinity; the byte is not the number.
 * TransformerEngine #3262; llvm #214919; mlx #3762; omlx #2159. */
START_TEST(e8m0_decode)
{
    static const struct {
        uint8_t code;
        uint32_t word;
    } cases[] = {
        { 0x00, 0x00400000 }, { 0x01, 0x00800000 }, { 0x7e, 0x3f000000 },
        { 0x7f, 0x3f800000 }, { 0x80, 0x40000000 }, { 0xfe, 0x7f000000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_uint_eq(bits_of(decode(ASSAY_E8M0, cases[i].code)),
                          cases[i].word);
    ck_assert(isnan(decode(ASSAY_E8M0, 0xff)));
}
END_TEST

/* The same in blocks of ones. */
START_TEST(e8m0_blocks)
{
    static const struct {
        uint8_t scale;
        float x;
    } cases[] = {
        { 0x00, 0x1p-127f }, { 0x01, 0x1p-126f }, { 0x7d, 0.25f },
        { 0xfe, 0x1p127f },  { 0xff, NAN },
    };
    const struct assay_blocks b = {
        .format = format_of(ASSAY_E4M3FN),
        .rule = assay_scale_rule_get(ASSAY_SCALE_RULE_FLOOR),
        .block = 32,
        .outer = 1,
        .length = 32,
        .inner = 1,
    };
    uint8_t ones[32];
    memset(ones, 0x38, sizeof ones);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x[32];
        assay_blocks_decode(&b, ones, &cases[i].scale, x);
        for (int j = 0; j < 32; j++)
            ck_assert(same_float(x[j], cases[i].x));
    }
}
END_TEST

/* Nearest with ties up and truncation of the scale itself. onnx #7784;
 * onnxruntime #32122, #28435. */
START_TEST(e8m0_encode)
{
    static const struct {
        uint32_t x;
        uint8_t floor, nearest;
    } cases[] = {
        { 0x3f800000, 0x7f, 0x7f }, { 0x3f900000, 0x7f, 0x7f },
        { 0x3fc00000, 0x7f, 0x80 }, { 0x40a00000, 0x81, 0x81 },
        { 0x3f000000, 0x7e, 0x7e }, { 0x00500000, 0x00, 0x00 },
        { 0x00600000, 0x00, 0x01 }, { 0x00200000, 0x00, 0x00 },
        { 0x7f400000, 0xfe, 0xfe },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x = float_of(cases[i].x);
        uint8_t floor, nearest;
        assay_format_encode(format_of(ASSAY_E8M0), ASSAY_TOWARD_ZERO,
                            ASSAY_SATURATE, 1, &x, &floor);
        assay_format_encode(format_of(ASSAY_E8M0), ASSAY_NEAREST_EVEN,
                            ASSAY_SATURATE, 1, &x, &nearest);
        ck_assert_uint_eq(floor, cases[i].floor);
        ck_assert_uint_eq(nearest, cases[i].nearest);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decode");
    TCase *c = tcase_create("reported");
    tcase_add_test(c, e4m3_decode);
    tcase_add_test(c, small_and_large_codes);
    tcase_add_test(c, e2m1_decode);
    tcase_add_test(c, e8m0_decode);
    tcase_add_test(c, e8m0_blocks);
    tcase_add_test(c, e8m0_encode);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
