/* SPDX-License-Identifier: MIT
 *
 * ref/format.c: the table, every code of every format, and what follows from
 * the list of a format's values: constants, ulp, steps. The values are those
 * of tests/format_oracle.c. Rounding is in tests/check_rounding.c.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/format.h"
#include "check_assay.h"
#include "check_values.h"
#include "format_oracle.h"

/* The constants as the standards print them. */
static const struct constants {
    enum assay_format_id id;
    size_t bytes;
    double max, min_normal, min, epsilon;
    int emax;
} constants[] = {
    { ASSAY_F32, 4, 0x1.fffffep127, 0x1p-126, 0x1p-149, 0x1p-23, 127 },
    { ASSAY_F16, 2, 65504, 0x1p-14, 0x1p-24, 0x1p-10, 15 },
    { ASSAY_BF16, 2, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7, 127 },
    { ASSAY_E5M2, 1, 57344, 0x1p-14, 0x1p-16, 0.25, 15 },
    { ASSAY_E4M3FN, 1, 448, 0x1p-6, 0x1p-9, 0.125, 8 },
    { ASSAY_E5M2FNUZ, 1, 57344, 0x1p-15, 0x1p-17, 0.25, 15 },
    { ASSAY_E4M3FNUZ, 1, 240, 0x1p-7, 0x1p-10, 0.125, 7 },
    { ASSAY_E3M2, 1, 28, 0.25, 0.0625, 0.25, 4 },
    { ASSAY_E2M3, 1, 7.5, 1, 0.125, 0.125, 2 },
    { ASSAY_E2M1, 1, 6, 1, 0.5, 0.5, 2 },
    { ASSAY_INT8, 1, 127, 1, 1, 1, 6 },
    { ASSAY_E8M0, 1, 0x1p127, 0x1p-127, 0x1p-127, 1, 127 },
};

static const struct assay_format *format_of(int id)
{
    return assay_format_get((enum assay_format_id)id);
}

static uint32_t codes_of(const struct oracle *o)
{
    return 1u << o->bits;
}

static float decode(const struct assay_format *f, uint32_t code)
{
    uint8_t byte = (uint8_t)code;
    uint16_t half = (uint16_t)code;
    float x;
    assay_format_decode(f, 1,
                        f->bits <= 8    ? (void *)&byte
                        : f->bits == 16 ? (void *)&half
                                        : (void *)&code,
                        &x);
    return x;
}

/* ---- table ---- */

START_TEST(row_is_sane)
{
    const struct assay_format *f = format_of(_i);
    const struct oracle *o = &oracles[_i];
    printf("# row_is_sane: %s\n", f->name);
    ck_assert_int_eq(f->id, _i);
    ck_assert_int_eq(o->id, _i);
    ck_assert_str_eq(f->name, o->name);
    ck_assert_ptr_eq(assay_format_find(f->name), f);
    ck_assert_int_eq(f->bits, o->bits);
    ck_assert_int_eq(f->bits, f->sign + f->exp_bits + f->man_bits);
    ck_assert_uint_eq(f->max_code, o->max);
    ck_assert_uint_eq(f->inf_code, o->inf);
    ck_assert_uint_eq(f->nan_code, o->nan);
    ck_assert(f->about && *f->about);
    for (int other = 0; other < _i; other++) {
        ck_assert_str_ne(format_of(other)->name, f->name);
        ck_assert_int_ne(format_of(other)->kernel_format, f->kernel_format);
    }
    ck_assert((f->kernel_format == -1) == (f->id == ASSAY_E8M0));
}
END_TEST

START_TEST(constants_of_the_standards)
{
    const struct constants *c = &constants[_i];
    const struct assay_format *f = format_of(c->id);
    printf("# constants_of_the_standards: %s\n", f->name);
    ck_assert_uint_eq(assay_format_bytes(f), c->bytes);
    ck_assert(assay_format_max(f) == c->max);
    ck_assert(assay_format_min_normal(f) == c->min_normal);
    ck_assert(assay_format_min(f) == c->min);
    ck_assert(assay_format_epsilon(f) == c->epsilon);
    ck_assert_int_eq(assay_format_emax(f), c->emax);
}
END_TEST

START_TEST(unknown_names)
{
    ck_assert_ptr_null(assay_format_find("e4m3"));
    ck_assert_ptr_null(assay_format_find("E4M3FN"));
    ck_assert_ptr_null(assay_format_find(""));
}
END_TEST

START_TEST(ways_have_names)
{
    static const char *const roundings[] = { "nearest-even", "ties-to-zero",
                                             "ties-away", "toward-zero" };
    static const char *const overflows[] = { "saturate", "special",
                                             "symmetric" };
    ck_assert_int_eq(ASSAY_ROUNDINGS, 4);
    ck_assert_int_eq(ASSAY_OVERFLOWS, 3);
    for (int i = 0; i < ASSAY_ROUNDINGS; i++)
        ck_assert_str_eq(assay_rounding_get((enum assay_rounding)i)->name,
                         roundings[i]);
    for (int i = 0; i < ASSAY_OVERFLOWS; i++)
        ck_assert_str_eq(assay_overflow_get((enum assay_overflow)i)->name,
                         overflows[i]);
}
END_TEST

/* ---- every code ---- */

/* One at a time and all in one array, bits above the format's set or not. */
START_TEST(codes_have_their_values)
{
    const struct oracle *o = &oracles[_i];
    const struct assay_format *f = format_of(_i);
    const uint32_t all = o->bits <= 8 ? 0x100 : 0x10000;
    if (o->bits > 16)
        return;
    uint8_t *bytes = must_alloc(all, 1);
    uint16_t *halves = must_alloc(all, 2);
    float *x = must_alloc(all, sizeof *x);
    for (uint32_t i = 0; i < all; i++)
        bytes[i] = (uint8_t)i, halves[i] = (uint16_t)i;
    assay_format_decode(f, all, o->bits <= 8 ? (void *)bytes : halves, x);
    for (uint32_t i = 0; i < all; i++) {
        uint32_t want = oracle_bits(o, i & (codes_of(o) - 1));
        float one = assay_format_decode_one(f, i);
        if (bits_of(x[i]) != want || bits_of(one) != want)
            ck_abort_msg("%s %04x decodes to %08x and %08x, not %08x", o->name,
                         i, bits_of(x[i]), bits_of(one), want);
    }
    free(bytes), free(halves), free(x);
}
END_TEST

/* What a code comes back as: itself but for the policy on infinity, and for
 * NaN codes beside the quiet one. */
static uint32_t code_back(const struct oracle *o, enum assay_overflow overflow,
                          uint32_t code)
{
    double v = oracle_value(o, code);
    uint32_t sign = o->one_zero ? 0 : code & (codes_of(o) >> 1);
    if (isnan(v))
        return o->nan | sign;
    if (isinf(v) && overflow != ASSAY_SPECIAL)
        return o->max | sign;
    if (o->id == ASSAY_INT8 && code == 0x80 && overflow == ASSAY_SYMMETRIC)
        return 0x81;
    return code;
}

START_TEST(codes_come_back)
{
    const struct oracle *o = &oracles[_i];
    const struct assay_format *f = format_of(_i);
    if (o->bits > 16)
        return;
    for (int way = 0; way < ASSAY_ROUNDINGS * ASSAY_OVERFLOWS; way++)
        for (uint32_t code = 0; code < codes_of(o); code++) {
            enum assay_rounding r = (enum assay_rounding)(way % 4);
            enum assay_overflow v = (enum assay_overflow)(way / 4);
            float x = decode(f, code), y;
            uint16_t word = 0;
            uint8_t byte = 0;
            void *to = o->bits <= 8 ? (void *)&byte : &word;
            assay_format_encode(f, r, v, 1, &x, to);
            uint32_t got = o->bits <= 8 ? byte : word;
            uint32_t one = assay_format_encode_one(f, r, v, x);
            uint32_t want = code_back(o, v, code);
            if (got != want || one != want)
                ck_abort_msg("%s %04x comes back as %04x and %04x, not %04x",
                             o->name, code, got, one, want);
            /* and rounding leaves it alone */
            assay_format_round(f, r, v, 1, &x, &y);
            if (bits_of(y) != oracle_bits(o, want))
                ck_abort_msg("%s %04x (%a) is rounded to %a", o->name, code, x,
                             y);
        }
}
END_TEST

/* ---- ulp ---- */

START_TEST(ulp_is_the_step)
{
    const struct oracle *o = &oracles[_i];
    const struct assay_format *f = format_of(_i);
    if (o->bits > 16)
        return;
    for (uint32_t k = 0; k < o->max; k++) {
        double low = oracle_size(o, k), step = oracle_size(o, k + 1) - low;
        float x = (float)low, inside = (float)(low + step / 4);
        if (assay_format_ulp(f, x) != step || assay_format_ulp(f, -x) != step ||
            assay_format_ulp(f, inside) != step)
            ck_abort_msg("%s: ulp of %a is %a, not %a", o->name, x,
                         assay_format_ulp(f, x), step);
    }
    double least = oracle_size(o, 1) - oracle_size(o, 0);
    ck_assert(assay_format_ulp(f, 0) == least);
    ck_assert(assay_format_ulp(f, 0x1p-149f) == least);
    ck_assert(isnan(assay_format_ulp(f, INFINITY)));
    ck_assert(isnan(assay_format_ulp(f, -INFINITY)));
    ck_assert(isnan(assay_format_ulp(f, NAN)));
}
END_TEST

START_TEST(ulp_beyond_the_list)
{
    ck_assert(assay_format_ulp(format_of(ASSAY_F32), 1) == 0x1p-23);
    ck_assert(assay_format_ulp(format_of(ASSAY_F32), 1.75f) == 0x1p-23);
    ck_assert(assay_format_ulp(format_of(ASSAY_F32), 0) == 0x1p-149);
    ck_assert(assay_format_ulp(format_of(ASSAY_F32), 0x1p-140f) == 0x1p-149);
    /* past the largest value the exponent goes on */
    ck_assert(assay_format_ulp(format_of(ASSAY_E4M3FN), 1000) == 64);
    ck_assert(assay_format_ulp(format_of(ASSAY_INT8), 1000) == 1);
}
END_TEST

/* ---- steps ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* place[code]: how many different values of the format lie below its own. */
static int32_t *places(const struct oracle *o)
{
    uint32_t n = 0, different = 0;
    double *v = must_alloc(codes_of(o), sizeof *v);
    int32_t *place = must_alloc(codes_of(o), sizeof *place);
    for (uint32_t code = 0; code < codes_of(o); code++)
        if (!isnan(oracle_value(o, code)))
            v[n++] = oracle_value(o, code);
    qsort(v, n, sizeof *v, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || v[i] != v[i - 1])
            v[different++] = v[i];
    for (uint32_t code = 0; code < codes_of(o); code++) {
        double x = oracle_value(o, code);
        double *at =
            isnan(x) ? NULL : bsearch(&x, v, different, sizeof *v, by_value);
        place[code] = at ? (int32_t)(at - v) : -1;
    }
    free(v);
    return place;
}

static void check_steps(const struct oracle *o, const int32_t *place,
                        uint32_t a, uint32_t b)
{
    const uint32_t mask = codes_of(o) - 1;
    int32_t from = place[a & mask], to = place[b & mask];
    int64_t want = from < 0 && to < 0   ? 0
                   : from < 0 || to < 0 ? ASSAY_STEPS_NAN
                                        : to - from;
    int64_t got = assay_format_steps(format_of((int)o->id), a, b);
    if (got != want)
        ck_abort_msg("%s: from %04x to %04x are %lld steps, not %lld", o->name,
                     a, b, (long long)got, (long long)want);
}

START_TEST(steps_are_counted)
{
    const struct oracle *o = &oracles[_i];
    if (o->bits > 16)
        return;
    int32_t *place = places(o);
    if (o->bits <= 8)
        for (uint32_t pair = 0; pair < 0x10000; pair++)
            check_steps(o, place, pair >> 8, pair & 0xff);
    else
        for (uint64_t i = 0; i < 1000000; i++)
            check_steps(o, place, values_bits(21, i) & 0xffff,
                        values_bits(22, i) & 0xffff);
    check_steps(o, place, 0xffff0000u, 0xffffffffu); /* bits above */
    free(place);
}
END_TEST

START_TEST(steps_of_f32)
{
    const struct assay_format *f = format_of(ASSAY_F32);
    static const struct {
        uint32_t a, b;
        int64_t want;
    } cases[] = {
        { 0x3f800000, 0x3f800001, 1 },
        { 0x3f800001, 0x3f800000, -1 },
        { 0x00000000, 0x80000000, 0 },
        { 0x80000001, 0x00000001, 2 },
        { 0xff800000, 0x7f800000, 2 * 0x7f800000ll },
        { 0x7f800000, 0x7f7fffff, -1 },
        { 0x7fc00000, 0xff800001, 0 },
        { 0x7fc00000, 0, ASSAY_STEPS_NAN },
        { 0, 0xffc00000, ASSAY_STEPS_NAN },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_int_eq(assay_format_steps(f, cases[i].a, cases[i].b),
                         cases[i].want);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format");
    TCase *c = tcase_create("table");
    tcase_add_loop_test(c, row_is_sane, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, constants_of_the_standards, 0, ASSAY_FORMATS);
    tcase_add_test(c, unknown_names);
    tcase_add_test(c, ways_have_names);
    suite_add_tcase(suite, c);
    c = tcase_create("codes");
    tcase_add_loop_test(c, codes_have_their_values, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, codes_come_back, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, ulp_is_the_step, 0, ASSAY_FORMATS);
    tcase_add_test(c, ulp_beyond_the_list);
    tcase_add_loop_test(c, steps_are_counted, 0, ASSAY_FORMATS);
    tcase_add_test(c, steps_of_f32);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
