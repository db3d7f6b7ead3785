/* SPDX-License-Identifier: MIT
 *
 * ref/scale_rule.c: every rule with every element format, against the rules'
 * own words in exact arithmetic: a binary32 and its products with a format's
 * largest value fit binary64, so every comparison below is exact. Both the
 * scalar definition and the arrays' formula (blocks of one) are held to it.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/block.h"
#include "check_assay.h"
#include "check_values.h"

/* Written again on purpose: the tables under test have these too. `man` are
 * the bits after the first of the largest value. */
static const struct element {
    enum assay_format_id id;
    const char *name;
    double max;
    int emax, man;
    uint32_t reciprocal; /* binary32 nearest 1 / max */
} elements[] = {
    { ASSAY_E5M2, "e5m2", 57344, 15, 2, 0x37924925 },
    { ASSAY_E4M3FN, "e4m3fn", 448, 8, 3, 0x3b124925 },
    { ASSAY_E5M2FNUZ, "e5m2fnuz", 57344, 15, 2, 0x37924925 },
    { ASSAY_E4M3FNUZ, "e4m3fnuz", 240, 7, 3, 0x3b888889 },
    { ASSAY_E3M2, "e3m2", 28, 4, 2, 0x3d124925 },
    { ASSAY_E2M3, "e2m3", 7.5, 2, 3, 0x3e088889 },
    { ASSAY_E2M1, "e2m1", 6, 2, 1, 0x3e2aaaab },
    { ASSAY_INT8, "int8", 127, 6, 6, 0x3c010204 },
};
enum { N_ELEMENTS = sizeof elements / sizeof *elements };

static const struct spec {
    enum assay_scale_rule_id id;
    const char *name;
    bool poison, flush;
    enum assay_rounding rounding;
} specs[] = {
#define SPEC(id, name, poison, flush, rounding)                      \
    {                                                                \
        ASSAY_SCALE_RULE_##id, name, poison, flush, ASSAY_##rounding \
    }
    SPEC(FLOOR, "floor", true, false, NEAREST_EVEN),
    SPEC(CEIL, "ceil", true, false, NEAREST_EVEN),
    SPEC(EVEN, "even", true, false, NEAREST_EVEN),
    SPEC(ROUNDUP, "roundup", true, false, NEAREST_EVEN),
    SPEC(AITER_MXFP8, "aiter-mxfp8", false, true, NEAREST_EVEN),
    SPEC(AITER_MXFP6, "aiter-mxfp6", false, true, NEAREST_EVEN),
    SPEC(AITER_MXFP4, "aiter-mxfp4", false, true, NEAREST_EVEN),
    SPEC(AITER_MXFP4_V, "aiter-mxfp4-v", false, true, TIES_TO_ZERO),
    SPEC(A2A, "a2a", false, true, NEAREST_EVEN),
    SPEC(A2A_INT8, "a2a-int8", false, true, NEAREST_EVEN),
    SPEC(SAGE, "sage", false, false, TIES_AWAY),
    SPEC(SAGE_RNE, "sage-rne", false, false, TIES_AWAY),
};
enum { N_SPECS = sizeof specs / sizeof *specs };

/* ---- the rules in exact arithmetic ---- */

static int floor_log2(double x)
{
    int e;
    frexp(x, &e);
    return e - 1;
}

static double mantissa(double x)
{
    return ldexp(x, -floor_log2(x));
}

static int byte_of(int exponent, int cap)
{
    int byte = exponent + 127;
    return byte < 0 ? 0 : byte < cap ? byte : cap;
}

/* Smallest k with 2^k >= x / max. */
static int power_not_below(double x, double max)
{
    int k = floor_log2(x) - floor_log2(max) - 1;
    while (ldexp(max, k) < x)
        k++;
    return k;
}

/* Does a go up to the next power of two when rounded to `man` bits? */
static bool rounds_to_two(double a, int man)
{
    return floor(ldexp(mantissa(a), man) + 0.5) == ldexp(1, man + 1);
}

/* Exponent field of the power of two not below the binary32 q = a / unit, as
 * adding 0x7fffff to the bits of q finds it: 1 for subnormals. q <= 2^k where
 * a / unit <= 2^k + 2^(k - 24), which is a tie that goes to the even 2^k. */
static int field_not_below(double a, double unit, bool flush)
{
    if (isinf(a))
        return 255;
    if (a <= ldexp(unit, -150)) /* rounds to 0 */
        return 0;
    if (flush && a < unit * (0x1p-126 - 0x1p-150))
        return 0;
    int k = floor_log2(a) - floor_log2(unit) - 1;
    if (k < -126)
        k = -126;
    while (a > ldexp(unit, k) * (1 + 0x1p-24))
        k++;
    return k + 127;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Rules that look at amax itself, which is not 0 here; 2^128 stands for
 * infinity. */
static int code_of_amax(enum assay_scale_rule_id rule, const struct element *f,
                        double a)
{
    const int e = floor_log2(a);
    const double m = mantissa(a);
    switch (rule) {
    case ASSAY_SCALE_RULE_FLOOR: return byte_of(e - f->emax, 254);
    case ASSAY_SCALE_RULE_CEIL:
        return byte_of(power_not_below(a, 1) - f->emax, 254);
    case ASSAY_SCALE_RULE_EVEN:
        return byte_of(e + rounds_to_two(a, f->man) - f->emax, 254);
    case ASSAY_SCALE_RULE_ROUNDUP:
        return byte_of(power_not_below(a, f->max), 254);
    case ASSAY_SCALE_RULE_AITER_MXFP8:
        return e + (m >= 1.75) == 128 ? 254
                                      : byte_of(e + (m >= 1.75) - f->emax, 254);
    case ASSAY_SCALE_RULE_AITER_MXFP6: return (e + 127 - f->emax) & 255;
    case ASSAY_SCALE_RULE_AITER_MXFP4_V:
        return byte_of(e + (m > 1.5) - f->emax, 255);
    default: /* SAGE_RNE: the tie goes to the even exponent field */
        return byte_of(e + (m > 1.5 || (m == 1.5 && e % 2 == 0)) - f->emax,
                       254);
    }
}

static int right_code(const struct spec *s, const struct element *f, float amax)
{
    double a = isnan(amax) ? 0 : (double)amax;
    int byte;
    if (isnan(amax) && s->poison)
        return 255;
    if (s->flush && a < 0x1p-126)
        a = 0;
    switch (s->id) {
    case ASSAY_SCALE_RULE_AITER_MXFP4: return field_not_below(a, f->max, true);
    case ASSAY_SCALE_RULE_A2A:
        return field_not_below(a * (double)float_of(f->reciprocal), 1, true);
    case ASSAY_SCALE_RULE_A2A_INT8: /* 28 is that of 1e-30, 1.27 * 2^-100 */
        byte = larger(field_not_below(a, f->max, true), 28);
        return byte < 254 ? byte : 254;
    case ASSAY_SCALE_RULE_SAGE:
        byte = field_not_below(a, f->max, false);
        return byte < 254 ? byte : 254;
    case ASSAY_SCALE_RULE_AITER_MXFP4_V:
        a = a > (double)1e-12f ? a : (double)1e-12f;
        break;
    case ASSAY_SCALE_RULE_AITER_MXFP6:
        if (a == 0)
            return 127;
        break;
    default: break;
    }
    return a == 0 ? 0 : code_of_amax(s->id, f, isinf(a) ? 0x1p128 : a);
}

/* ---- all of them ---- */

static const double fractions[] = { 1,     1.25,   1.5,      1.75,
                                    1.875, 1.9375, 1.984375, 1.9921875 };
enum {
    N_FRACTIONS = sizeof fractions / sizeof *fractions,
    N_BF16 = 0x8000,
    N_AMAX = N_BF16 + 255 * N_FRACTIONS * 5
};

/* Every bf16 that is not negative, NaN too; around the thresholds of every
 * binade up to two ulps, subnormals too. */
static float *all_amax(void)
{
    float *amax = must_alloc(N_AMAX, sizeof *amax);
    int n = 0;
    for (uint32_t i = 0; i < N_BF16; i++)
        amax[n++] = float_of(i << 16);
    for (uint32_t e = 0; e < 255; e++)
        for (int f = 0; f < N_FRACTIONS; f++)
            for (uint32_t ulps = 0; ulps < 5; ulps++) {
                uint32_t bits =
                    bits_of((float)fractions[f]) - 0x3f800000 + (e << 23);
                amax[n++] = float_of(bits + ulps < 2 ? 0 : bits + ulps - 2);
            }
    ck_assert_int_eq(n, N_AMAX);
    return amax;
}

static void check_rule(const struct spec *s, const struct element *f,
                       const float *amax, const float *x)
{
    const struct assay_scale_rule *rule = assay_scale_rule_get(s->id);
    const struct assay_blocks b = { .format = assay_format_get(f->id),
                                    .rule = rule,
                                    .block = 1,
                                    .outer = 1,
                                    .length = N_AMAX,
                                    .inner = 1 };
    static uint8_t codes[N_AMAX], scales[N_AMAX];
    assay_blocks_encode(&b, x, codes, scales);
    for (int i = 0; i < N_AMAX; i++) {
        int want = right_code(s, f, amax[i]);
        int got = assay_scale_rule_code(rule, b.format, amax[i]);
        if (got != want || scales[i] != want)
            ck_abort_msg("%s of %s: amax %a (%08x) gives %d, a block %d, not "
                         "%d",
                         s->name, f->name, amax[i], bits_of(amax[i]), got,
                         scales[i], want);
    }
}

START_TEST(every_amax)
{
    float *amax = all_amax(), *x = must_alloc(N_AMAX, sizeof *x);
    for (int i = 0; i < N_AMAX; i++)
        x[i] = i % 2 ? -amax[i] : amax[i];
    for (int s = 0; s < N_SPECS; s++)
        check_rule(&specs[s], &elements[_i], amax, x);
    free(amax);
    free(x);
}
END_TEST

START_TEST(rows)
{
    int elements_of_table = 0;
    for (int i = 0; i < ASSAY_FORMATS; i++) {
        const struct assay_format *f =
            assay_format_get((enum assay_format_id)i);
        elements_of_table += f->bits <= 8 && f->id != ASSAY_E8M0;
    }
    ck_assert_int_eq(N_ELEMENTS, elements_of_table);
    ck_assert_int_eq(N_SPECS, ASSAY_SCALE_RULES);
    for (int i = 0; i < N_SPECS; i++) {
        const struct assay_scale_rule *r = assay_scale_rule_get(specs[i].id);
        ck_assert_int_eq(r->id, specs[i].id);
        ck_assert_str_eq(r->name, specs[i].name);
        ck_assert_ptr_eq(assay_scale_rule_find(specs[i].name), r);
        ck_assert_int_eq(r->poison, specs[i].poison);
        ck_assert_int_eq(r->flush, specs[i].flush);
        ck_assert_int_eq(r->rounding, specs[i].rounding);
    }
    ck_assert_ptr_null(assay_scale_rule_find("Floor"));
    ck_assert_ptr_null(assay_scale_rule_find(""));
}
END_TEST

/* ---- literal bytes ---- */

static int code(const char *rule, enum assay_format_id format, float amax)
{
    return assay_scale_rule_code(assay_scale_rule_find(rule),
                                 assay_format_get(format), amax);
}

static void check_code(const char *rule, const struct element *f, float amax,
                       int want)
{
    int got = code(rule, f->id, amax);
    if (got != want)
        ck_abort_msg("%s of %s: amax %a gives %02x, not %02x", rule, f->name,
                     amax, got, want);
}

/* A byte for x itself, which is the rule's for amax = x * 2^emax or, where the
 * rule looks at the largest value, x * max. The rules clamp no byte at 254:
 * amax would be past binary32. onnx #7784; onnxruntime #32122, #28435. */
START_TEST(x_to_e8m0)
{
    static const struct {
        uint32_t x;
        int floor, up, to_even;
    } cases[] = {
        { 0x3f800000, 0x7f, 0x7f, 0x7f }, /* 1 */
        { 0x3f900000, 0x7f, 0x80, 0x7f }, /* 1.125 */
        { 0x3fc00000, 0x7f, 0x80, 0x80 }, /* 1.5: from an odd field, up */
        { 0x40400000, 0x80, 0x81, 0x80 }, /* 3: from an even one, down */
        { 0x40a00000, 0x81, 0x82, 0x81 }, /* 5 */
        { 0x3f000000, 0x7e, 0x7e, 0x7e }, /* 0.5 */
        { 0x00500000, 0x00, 0x01, 0x00 }, /* 1.25 * 2^-127 */
        { 0x00600000, 0x00, 0x01, 0x00 }, /* 1.5 * 2^-127: 0 is even */
        { 0x00200000, 0x00, 0x00, 0x00 }, /* 2^-128 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int e = 0; e < N_ELEMENTS; e++) {
            const struct element *f = &elements[e];
            const double x = (double)float_of(cases[i].x);
            const float power = (float)ldexp(x, f->emax);
            check_code("floor", f, power, cases[i].floor);
            check_code("roundup", f, (float)(x * f->max), cases[i].up);
            if (f->emax % 2 == 0)
                check_code("sage-rne", f, power, cases[i].to_even);
        }
}
END_TEST

/* ceil is of log2 amax, not of amax / max. */
START_TEST(the_two_ceilings)
{
    ck_assert_int_eq(code("roundup", ASSAY_E4M3FN, 448), 0x7f);
    ck_assert_int_eq(code("ceil", ASSAY_E4M3FN, 448), 0x80);
    ck_assert_int_eq(code("ceil", ASSAY_E4M3FN, 256), 0x7f);
    ck_assert_int_eq(code("roundup", ASSAY_E4M3FN, 449), 0x80);
    ck_assert_int_eq(code("roundup", ASSAY_E2M1, 0x1.800002p2f), 0x80);
}
END_TEST

START_TEST(zero_blocks)
{
    static const struct {
        const char *rule;
        enum assay_format_id format;
        int byte;
    } cases[] = {
        { "floor", ASSAY_E4M3FN, 0 },       { "ceil", ASSAY_E4M3FN, 0 },
        { "even", ASSAY_E4M3FN, 0 },        { "roundup", ASSAY_E4M3FN, 0 },
        { "aiter-mxfp8", ASSAY_E4M3FN, 0 }, { "aiter-mxfp6", ASSAY_E2M3, 127 },
        { "aiter-mxfp4", ASSAY_E2M1, 0 },   { "aiter-mxfp4-v", ASSAY_E2M1, 85 },
        { "a2a", ASSAY_E4M3FN, 0 },         { "a2a", ASSAY_E2M3, 0 },
        { "a2a", ASSAY_E2M1, 0 },           { "a2a-int8", ASSAY_INT8, 28 },
        { "sage", ASSAY_E2M1, 0 },          { "sage-rne", ASSAY_E2M1, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(code(cases[i].rule, cases[i].format, 0),
                         cases[i].byte);
        ck_assert_int_eq(code(cases[i].rule, cases[i].format, -0.0f),
                         cases[i].byte);
    }
}
END_TEST

/* What MHA v4 does with its own formats, at the thresholds. */
START_TEST(aiter_thresholds)
{
    static const struct {
        const char *rule;
        enum assay_format_id format;
        float amax;
        int byte;
    } cases[] = {
        { "aiter-mxfp8", ASSAY_E4M3FN, 1.75f, 120 },
        { "aiter-mxfp8", ASSAY_E4M3FN, 0x1.bffffep0f, 119 },
        { "aiter-mxfp8", ASSAY_E4M3FN, 448, 128 },
        { "aiter-mxfp8", ASSAY_E4M3FN, 0x1.cp127f, 254 },
        { "aiter-mxfp8", ASSAY_E4M3FN, 0x1.bffffep127f, 246 },
        { "aiter-mxfp6", ASSAY_E2M3, 7.75f, 127 },
        { "aiter-mxfp6", ASSAY_E2M3, 8, 128 },
        { "aiter-mxfp6", ASSAY_E2M3, 0x1p-125f, 0 },
        { "aiter-mxfp6", ASSAY_E2M3, 0x1p-126f, 255 },
        { "aiter-mxfp6", ASSAY_E2M3, 0x1.fffffcp-127f, 127 },
        { "aiter-mxfp4", ASSAY_E2M1, 6, 127 },
        { "aiter-mxfp4", ASSAY_E2M1, 0x1.800002p2f, 128 },
        { "aiter-mxfp4", ASSAY_E2M1, INFINITY, 255 },
        { "aiter-mxfp4-v", ASSAY_E2M1, 6, 127 },
        { "aiter-mxfp4-v", ASSAY_E2M1, 0x1.800002p2f, 128 },
        { "aiter-mxfp4-v", ASSAY_E2M1, 1.5f, 125 },
        { "aiter-mxfp4-v", ASSAY_E2M1, 0x1.800002p0f, 126 },
        { "a2a-int8", ASSAY_INT8, 127, 127 },
        { "a2a-int8", ASSAY_INT8, 0x1.fc0002p6f, 128 },
        { "a2a-int8", ASSAY_INT8, INFINITY, 254 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(
            code(cases[i].rule, cases[i].format, cases[i].amax) ==
                cases[i].byte,
            "%s: amax %a gives %d, not %d", cases[i].rule, cases[i].amax,
            code(cases[i].rule, cases[i].format, cases[i].amax), cases[i].byte);
}
END_TEST

/* amax * fl(1 / max) and amax / max part where 1 / max is rounded down, which
 * of these is int8's, and where only one of them is subnormal: those count as
 * zero. */
START_TEST(product_is_not_quotient)
{
    static const struct {
        enum assay_format_id format;
        float amax;
        int times, divided;
    } cases[] = {
        { ASSAY_INT8, 0x1.fc0002p6f, 127, 128 },
        { ASSAY_INT8, 127, 127, 127 },
        { ASSAY_E4M3FN, 0x1.bffffep-118f, 1, 0 },
        { ASSAY_E4M3FN, 0x1.bffffcp-118f, 0, 0 },
        { ASSAY_E2M3, 0x1.dffffep-124f, 1, 0 },
        { ASSAY_E2M3, 0x1.dffffcp-124f, 0, 0 },
        { ASSAY_E2M1, 0x1.7ffffep-124f, 1, 0 },
        { ASSAY_E2M1, 0x1.7ffffcp-124f, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(code("a2a", cases[i].format, cases[i].amax),
                         cases[i].times);
        ck_assert_int_eq(code("aiter-mxfp4", cases[i].format, cases[i].amax),
                         cases[i].divided);
    }
}
END_TEST

/* Mantissas of bf16, of 128, for which two rules give different bytes. */
START_TEST(rules_differ)
{
    static const char *const pairs[6][2] = {
        { "floor", "ceil" }, { "floor", "even" },   { "floor", "roundup" },
        { "ceil", "even" },  { "ceil", "roundup" }, { "even", "roundup" }
    };
    static const int want[N_ELEMENTS][6] = {
        { 127, 16, 31, 111, 96, 15 }, { 127, 8, 31, 119, 96, 23 },
        { 127, 16, 31, 111, 96, 15 }, { 127, 8, 15, 119, 112, 7 },
        { 127, 16, 31, 111, 96, 15 }, { 127, 8, 15, 119, 112, 7 },
        { 127, 32, 63, 95, 64, 31 },  { 127, 1, 1, 126, 126, 0 },
    };
    for (int f = 0; f < N_ELEMENTS; f++)
        for (int p = 0; p < 6; p++) {
            int n = 0;
            for (uint32_t m = 0; m < 128; m++) {
                float amax = float_of(0x3f800000 | m << 16);
                n += code(pairs[p][0], elements[f].id, amax) !=
                     code(pairs[p][1], elements[f].id, amax);
            }
            ck_assert_msg(n == want[f][p], "%s: %s and %s differ %d times",
                          elements[f].name, pairs[p][0], pairs[p][1], n);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scale rules");
    TCase *c = tcase_create("rules");
    tcase_add_loop_test(c, every_amax, 0, N_ELEMENTS);
    tcase_add_test(c, rows);
    tcase_add_test(c, x_to_e8m0);
    tcase_add_test(c, the_two_ceilings);
    tcase_add_test(c, zero_blocks);
    tcase_add_test(c, aiter_thresholds);
    tcase_add_test(c, product_is_not_quotient);
    tcase_add_test(c, rules_differ);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
