/* SPDX-License-Identifier: MIT
 *
 * Element conversions of the kernels: cases that other codes got wrong, and
 * every code.
 */
#include "check_assay.h"

#include "element.h"

#include <math.h>

struct row {
    uint32_t f32;
    uint32_t code;
};

static const struct row to_e4m3[] = {
    /* overflow: decided after rounding, saturating */
    {0x43e00000, 0x7e}, {0x43e80000, 0x7e}, {0x43e80001, 0x7e},
    {0x447a0000, 0x7e}, {0xc47a0000, 0xfe}, {0x44000000, 0x7e},
    {0x47600000, 0x7e}, {0x7f7fffff, 0x7e}, {0x7f800000, 0x7e},
    {0xff800000, 0xfe}, {0x7fc00000, 0x7f}, {0x7f800001, 0x7f},
    /* the top binade: 240 248 256 272 288 304 400 416 432 */
    {0x43700000, 0x77}, {0x43780000, 0x78}, {0x43800000, 0x78},
    {0x43880000, 0x78}, {0x43900000, 0x79}, {0x43980000, 0x7a},
    {0x43c80000, 0x7c}, {0x43d00000, 0x7d}, {0x43d80000, 0x7e},
    /* nearest and ties */
    {0x3fe815a5, 0x3f}, {0x40880000, 0x48}, {0x40980000, 0x4a},
    {0x3f880000, 0x38}, {0x3f980000, 0x3a}, {0x3a800000, 0x00},
    {0x3a800001, 0x01}, {0x3b400000, 0x02}, {0x3c700000, 0x08},
    /* no stop on the way */
    {0x3f880008, 0x39}, {0x3f97fff8, 0x39}, {0x41880020, 0x59},
    {0x3a800008, 0x01}, {0x00000000, 0x00}, {0x80000000, 0x80},
    {0x00000001, 0x00}, {0x80000001, 0x80},
};

static const struct row to_bf16[] = {
    {0x3e89ccd5, 0x3e8a}, {0x3f808000, 0x3f80}, {0x3f818000, 0x3f82},
    {0x3f808001, 0x3f81}, {0x7f7f7fff, 0x7f7f}, {0x7f7f8000, 0x7f80},
    {0x7f7fffff, 0x7f80}, {0x00008000, 0x0000}, {0x00008001, 0x0001},
    {0x00018000, 0x0002}, {0x80000000, 0x8000}, {0x7f800000, 0x7f80},
    {0xff800000, 0xff80},
};

static const uint32_t nans[] = {0x7f800001, 0x7f80ffff, 0xff800001,
                                0x7fffffff, 0xffffffff, 0x7fc00000};

#define N(rows) ((int)(sizeof(rows) / sizeof(rows)[0]))

START_TEST(e4m3_rounds)
{
    ck_assert_uint_eq(e4m3_from_f32(f32_from_bits(to_e4m3[_i].f32)),
                      to_e4m3[_i].code);
}
END_TEST

START_TEST(bf16_rounds)
{
    ck_assert_uint_eq(bf16_from_f32(f32_from_bits(to_bf16[_i].f32)),
                      to_bf16[_i].code);
}
END_TEST

START_TEST(bf16_keeps_nan)
{
    for (int i = 0; i < N(nans); i++)
        ck_assert(isnan(f32_from_bf16(bf16_from_f32(f32_from_bits(nans[i])))));
}
END_TEST

START_TEST(e4m3_decodes)
{
    for (int code = 0; code < 256; code++) {
        const float x = f32_from_e4m3((uint8_t)code);
        const int exponent = code >> 3 & 15, mantissa = code & 7;
        if ((code & 0x7f) == 0x7f) {
            ck_assert(isnan(x));
            continue;
        }
        const double magnitude = exponent ? ldexp(8 + mantissa, exponent - 10)
                                          : ldexp(mantissa, -9);
        ck_assert(fabsf(x) == magnitude && !signbit(x) == !(code & 0x80));
        ck_assert_int_eq(e4m3_from_f32(x), code);
    }
}
END_TEST

/* Between every two neighbours: below, at and above the midpoint. */
START_TEST(e4m3_is_nearest)
{
    for (int code = 0; code < 0x7e; code++) {
        const float low = f32_from_e4m3((uint8_t)code);
        const float middle = (low + f32_from_e4m3((uint8_t)(code + 1))) / 2;
        ck_assert_int_eq(e4m3_from_f32(nextafterf(middle, 0)), code);
        ck_assert_int_eq(e4m3_from_f32(middle), code + (code & 1));
        ck_assert_int_eq(e4m3_from_f32(nextafterf(middle, 999)), code + 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernel elements");
    TCase *tc = tcase_create("elements");
    tcase_add_loop_test(tc, e4m3_rounds, 0, N(to_e4m3));
    tcase_add_loop_test(tc, bf16_rounds, 0, N(to_bf16));
    tcase_add_test(tc, bf16_keeps_nan);
    tcase_add_test(tc, e4m3_decodes);
    tcase_add_test(tc, e4m3_is_nearest);
    suite_add_tcase(suite, tc);
    return assay_check_main(suite);
}
