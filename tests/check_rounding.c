/* SPDX-License-Identifier: MIT
 *
 * Encoding and rounding: every format, rounding and overflow policy against
 * the brute force of tests/format_oracle.c; arrays, single values, and
 * round == decode(encode) to the bit. `make check-exhaustive` does all 2^32
 * inputs; here is a dense part. binary16 has a second witness: _Float16.
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

static const struct assay_format *format_of(int id)
{
    return assay_format_get((enum assay_format_id)id);
}

static uint32_t code_at(const struct assay_format *f, const void *codes,
                        size_t i)
{
    return f->bits <= 8    ? ((const uint8_t *)codes)[i]
           : f->bits == 16 ? ((const uint16_t *)codes)[i]
                           : ((const uint32_t *)codes)[i];
}

struct way {
    const struct oracle *o;
    enum assay_rounding rounding;
    enum assay_overflow overflow;
};

static const char *way_name(const struct way *w)
{
    static char name[80];
    snprintf(name, sizeof name, "%s, %s, %s", w->o->name,
             assay_rounding_get(w->rounding)->name,
             assay_overflow_get(w->overflow)->name);
    return name;
}

/* All that the library says of n values; size[i] is the brute force's number
 * of |x[i]|. */
static void check_way(const struct way *w, size_t n, const float *x,
                      const uint32_t *size)
{
    const struct assay_format *f = format_of((int)w->o->id);
    void *codes = must_alloc(n, 4);
    float *values = must_alloc(n, sizeof *values);
    float *rounded = must_alloc(n, sizeof *rounded);
    assay_format_encode(f, w->rounding, w->overflow, n, x, codes);
    assay_format_decode(f, n, codes, values);
    assay_format_round(f, w->rounding, w->overflow, n, x, rounded);
    for (size_t i = 0; i < n; i++) {
        uint32_t want = oracle_code(w->o, w->overflow, x[i], size[i]);
        uint32_t got = code_at(f, codes, i);
        uint32_t one =
            assay_format_encode_one(f, w->rounding, w->overflow, x[i]);
        if (got != want || one != want)
            ck_abort_msg("%s: %a (%08x) gives %04x in an array and %04x "
                         "alone, not %04x",
                         way_name(w), x[i], bits_of(x[i]), got, one, want);
        if (bits_of(values[i]) != oracle_bits(w->o, want) ||
            bits_of(rounded[i]) != bits_of(values[i]))
            ck_abort_msg("%s: %a (%08x) is encoded as %a, rounded to %a",
                         way_name(w), x[i], bits_of(x[i]), values[i],
                         rounded[i]);
    }
    memcpy(rounded, x, n * sizeof *x); /* in place */
    assay_format_round(f, w->rounding, w->overflow, n, rounded, rounded);
    ck_assert(n == 0 || memcmp(rounded, values, n * sizeof *values) == 0);
    free(codes), free(values), free(rounded);
}

static void sizes(const struct way *w, size_t n, const float *x, uint32_t *size)
{
    float *t =
        w->o->id == ASSAY_F32 ? NULL : oracle_thresholds(w->o, w->rounding);
    for (size_t i = 0; i < n; i++)
        size[i] = !t            ? bits_of(fabsf(x[i]))
                  : isnan(x[i]) ? 0
                                : oracle_count(w->o, t, fabsf(x[i]));
    free(t);
}

static void check_values(int id, size_t n, const float *x)
{
    uint32_t *size = must_alloc(n, sizeof *size);
    for (int r = 0; r < ASSAY_ROUNDINGS; r++) {
        struct way w = { &oracles[id], (enum assay_rounding)r, 0 };
        sizes(&w, n, x, size);
        for (int v = 0; v < ASSAY_OVERFLOWS; v++) {
            w.overflow = (enum assay_overflow)v;
            check_way(&w, n, x, size);
        }
    }
    free(size);
}

/* ---- inputs ---- */

START_TEST(bf16_inputs)
{
    float *x = must_alloc(0x10000, sizeof *x);
    for (uint32_t i = 0; i < 0x10000; i++)
        x[i] = float_of(i << 16);
    check_values(_i, 0x10000, x);
    free(x);
}
END_TEST

/* x and its neighbours up to two steps away, both signs: ten values. */
static size_t around(float x, float *to)
{
    size_t n = 0;
    for (int64_t step = -2; step <= 2; step++) {
        int64_t b = (int64_t)bits_of(x) + step;
        uint32_t word = b < 0 ? (uint32_t)-b : (uint32_t)b;
        to[n++] = float_of(word);
        to[n++] = float_of(word | 0x80000000u);
    }
    return n;
}

/* Values and midpoints, also the one after the largest: overflow begins
 * there. */
START_TEST(midpoints)
{
    const struct oracle *o = &oracles[_i];
    if (o->bits > 16)
        return;
    size_t n = 0;
    float *x = must_alloc(20 * ((size_t)o->max + 2), sizeof *x);
    for (uint32_t k = 0; k <= o->max; k++) {
        n += around((float)oracle_size(o, k), x + n);
        n += around((float)((oracle_size(o, k) + oracle_size(o, k + 1)) / 2),
                    x + n);
    }
    double next = oracle_size(o, o->max + 1);
    n += around(next < 0x1p128 ? (float)next : 0x1.fffffep127f, x + n);
    check_values(_i, n, x);
    free(x);
}
END_TEST

/* A prime stride through all patterns of binary32. */
START_TEST(strided_patterns)
{
    enum { STRIDE = 10007, N = 429196 };
    float *x = must_alloc(N, sizeof *x);
    for (uint32_t i = 0; i < N; i++)
        x[i] = float_of(STRIDE * i);
    check_values(_i, N, x);
    free(x);
}
END_TEST

/* Each exponent with mantissas of one bit, of ones from the top or the bottom,
 * and of one short of these. */
START_TEST(exponents_and_mantissas)
{
    size_t n = 0;
    float *x = must_alloc(512 * 24 * 6, sizeof *x);
    for (uint32_t top = 0; top < 512; top++)
        for (int bit = 0; bit < 24; bit++) {
            uint32_t one = 1u << bit >> 1, low = one - (one > 0);
            uint32_t high = 0x7fffffu & ~low;
            const uint32_t man[] = {
                one, low, high, one | 1, high - (high > 0), 0x400000u | one
            };
            for (int i = 0; i < 6; i++)
                x[n++] = float_of(top << 23 | man[i]);
        }
    check_values(_i, n, x);
    free(x);
}
END_TEST

/* Random values near the format's own range, where patterns are rare. */
START_TEST(values_in_range)
{
    enum { N = 200000 };
    float *x = must_alloc(N, sizeof *x);
    for (size_t i = 0; i < N; i++)
        x[i] = ldexpf(values_normal(12, i), (int)(i % 24) - 12);
    check_values(_i, N, x);
    free(x);
}
END_TEST

/* Arrays of each length at each offset: vector code has heads and tails. Words
 * beside the array keep what they held. */
START_TEST(lengths_and_offsets)
{
    enum { MOST = 100, OFFSETS = 8, ALL = MOST + OFFSETS + 8 };
    const struct assay_format *f = format_of(_i);
    const size_t bytes = assay_format_bytes(f);
    float x[ALL], rounded[ALL];
    uint8_t codes[4 * ALL];
    uint32_t size[ALL];
    for (size_t i = 0; i < ALL; i++)
        x[i] = i % 13 == 5 ? float_of(values_bits(31, i))
                           : ldexpf(values_normal(32, i), (int)(i % 9) - 4);
    for (int way = 0; way < ASSAY_ROUNDINGS * ASSAY_OVERFLOWS; way++) {
        struct way w = { &oracles[_i], (enum assay_rounding)(way % 4),
                         (enum assay_overflow)(way / 4) };
        sizes(&w, ALL, x, size);
        for (size_t n = 0; n <= MOST; n++)
            for (size_t at = 0; at < OFFSETS; at++) {
                memset(codes, 0xa5, sizeof codes);
                memset(rounded, 0xa5, sizeof rounded);
                assay_format_encode(f, w.rounding, w.overflow, n, x + at,
                                    codes + at * bytes);
                assay_format_round(f, w.rounding, w.overflow, n, x + at,
                                   rounded + at);
                for (size_t i = 0; i < ALL; i++) {
                    bool in = i >= at && i < at + n;
                    uint32_t want =
                        in ? oracle_code(w.o, w.overflow, x[i], size[i])
                           : 0xa5a5a5a5u >> (32 - 8 * bytes);
                    if (code_at(f, codes, i) != want ||
                        bits_of(rounded[i]) !=
                            (in ? oracle_bits(w.o, want) : 0xa5a5a5a5u))
                        ck_abort_msg("%s: %zu values from %zu on: word %zu "
                                     "is %04x, not %04x",
                                     way_name(&w), n, at, i,
                                     code_at(f, codes, i), want);
                }
            }
    }
}
END_TEST

/* ---- properties ---- */

/* Rounding is monotonic and odd; |round - x| is at most half an ulp to
 * nearest, below one and not away from zero where it truncates. */
START_TEST(rounding_is_near)
{
    const struct assay_format *f = format_of(_i);
    const double max = assay_format_max(f), least = assay_format_min(f);
    if (f->id == ASSAY_E8M0)
        return;
    for (int r = 0; r < ASSAY_ROUNDINGS; r++)
        for (uint64_t i = 0; i < 100000; i++) {
            enum assay_rounding way = (enum assay_rounding)r;
            float x = (float)fmax(-max, fmin(max, least * exp2(0.0002 * i) *
                                                      values_normal(41, i)));
            float y, minus = -x, back;
            assay_format_round(f, way, ASSAY_SATURATE, 1, &x, &y);
            assay_format_round(f, way, ASSAY_SATURATE, 1, &minus, &back);
            double off = fabs((double)y - x), ulp = assay_format_ulp(f, x);
            bool near = r == ASSAY_TOWARD_ZERO
                            ? off < ulp && fabsf(y) <= fabsf(x)
                            : off <= ulp / 2;
            if (!near || y != -back)
                ck_abort_msg("%s, %s: %a is rounded to %a, %a to %a", f->name,
                             assay_rounding_get(way)->name, x, y, minus, back);
        }
}
END_TEST

#ifdef __FLT16_MAX__
static uint16_t word_of(_Float16 h)
{
    uint16_t word;
    memcpy(&word, &h, sizeof word);
    return word;
}

START_TEST(f16_as_the_compiler)
{
    const struct assay_format *f = format_of(ASSAY_F16);
    for (uint32_t i = 0; i < 0x10000; i++) {
        uint16_t word = (uint16_t)i;
        _Float16 h;
        memcpy(&h, &word, sizeof h);
        float x = assay_format_decode_one(f, i), y;
        assay_format_decode(f, 1, &word, &y);
        if (!same_float(x, (float)h) || !same_float(y, (float)h))
            ck_abort_msg("f16 %04x decodes to %a and %a, not %a", i, x, y,
                         (float)h);
    }
    for (uint64_t i = 0; i < 0x100000000u; i += 1009) {
        float x = float_of((uint32_t)i);
        uint16_t got;
        if (isnan(x))
            continue;
        assay_format_encode(f, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 1, &x, &got);
        if (got != word_of((_Float16)x))
            ck_abort_msg("f16: %a gives %04x, not %04x", x, got,
                         word_of((_Float16)x));
    }
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("rounding");
    TCase *c = tcase_create("brute force");
    tcase_add_loop_test(c, bf16_inputs, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, midpoints, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, strided_patterns, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, exponents_and_mantissas, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, values_in_range, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, lengths_and_offsets, 0, ASSAY_FORMATS);
    suite_add_tcase(suite, c);
    c = tcase_create("properties");
    tcase_add_loop_test(c, rounding_is_near, 0, ASSAY_FORMATS);
#ifdef __FLT16_MAX__
    tcase_add_test(c, f16_as_the_compiler);
#endif
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
