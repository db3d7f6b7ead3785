/* SPDX-License-Identifier: MIT
 *
 * ref/format.c: every code of every narrow format, and rounding against a
 * search written here: a table of all values of the format, from the formula
 * of its definition, and the midpoints between them, which binary64 holds.
 * Reported faults of other encoders are cases of their own, with the words
 * that exact arithmetic gives.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/format.h"
#include "check_assay.h"
#include "check_values.h"

/* Written again on purpose: the table under test has these too. */
static const struct spec {
    enum assay_format_id id;
    const char *name;
    int bytes, man, bias;
    uint32_t max_code;
    bool infinity; /* or only NaN above max_code */
    double max, epsilon;
} specs[] = {
    { ASSAY_F16, "f16", 2, 10, 15, 0x7bff, true, 65504, 0x1p-10 },
    { ASSAY_BF16, "bf16", 2, 7, 127, 0x7f7f, true, 0x1.fep127, 0x1p-7 },
    { ASSAY_E4M3FN, "e4m3fn", 1, 3, 7, 0x7e, false, 448, 0x1p-3 },
};
enum { N_SPECS = sizeof specs / sizeof *specs };

static const struct assay_format *format_of(enum assay_format_id id)
{
    return assay_format_get(id);
}

/* The value of a code without its sign, up to one past the largest finite. */
static double value_of(const struct spec *s, uint32_t code)
{
    uint32_t e = code >> s->man, m = code & ((1u << s->man) - 1);
    return e == 0 ? ldexp(m, 1 - s->bias - s->man)
                  : ldexp(m + (1u << s->man), (int)e - s->bias - s->man);
}

static double midpoint_above(const struct spec *s, uint32_t code)
{
    return (value_of(s, code) + value_of(s, code + 1)) / 2;
}

static uint32_t sign_code(const struct spec *s, float x)
{
    return signbit(x) ? 0x80u << 8 * (s->bytes - 1) : 0;
}

/* Code without sign of |x|: the first code whose upper midpoint is not below
 * |x|, or the even one of two where it is on the midpoint. max_code + 1 is
 * what overflowed: the code after the largest takes part as if it were a
 * number, which is "overflow after rounding". */
static uint32_t search(const struct spec *s, double a)
{
    uint32_t low = 0, high = s->max_code + 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (midpoint_above(s, middle) < a)
            low = middle + 1;
        else
            high = middle;
    }
    if (low <= s->max_code && midpoint_above(s, low) == a)
        low += low & 1;
    return low;
}

/* The code that the definition asks for; NaN is any NaN code. */
static uint32_t right_code(const struct spec *s, enum assay_overflow policy,
                           float x)
{
    uint32_t code = search(s, fabs((double)x));
    if (code > s->max_code)
        code = policy == ASSAY_SATURATE ? s->max_code : s->max_code + 1;
    return sign_code(s, x) | code;
}

static bool is_nan_code(const struct spec *s, uint32_t code)
{
    uint32_t abs = code & ((0x80u << 8 * (s->bytes - 1)) - 1);
    return abs > s->max_code + s->infinity;
}

static uint32_t code_at(const struct spec *s, const void *codes, size_t i)
{
    return s->bytes == 1 ? ((const uint8_t *)codes)[i]
                         : ((const uint16_t *)codes)[i];
}

/* Encodes, decodes and rounds n values, and compares each. */
static void check_values(const struct spec *s, size_t n, const float *x)
{
    const struct assay_format *f = format_of(s->id);
    void *codes = must_alloc(n, 2);
    float *values = must_alloc(n, sizeof *values);
    float *rounded = must_alloc(n, sizeof *rounded);
    for (int policy = ASSAY_SATURATE; policy <= ASSAY_SPECIAL; policy++) {
        assay_format_encode(f, ASSAY_NEAREST_EVEN, policy, n, x, codes);
        assay_format_decode(f, n, codes, values);
        memcpy(rounded, x, n * sizeof *x);
        assay_format_round(f, ASSAY_NEAREST_EVEN, policy, n, rounded, rounded);
        for (size_t i = 0; i < n; i++) {
            uint32_t got = code_at(s, codes, i);
            bool right = isnan(x[i]) ? is_nan_code(s, got)
                                     : got == right_code(s, policy, x[i]);
            if (!right)
                ck_abort_msg("%s, policy %d: %a (%08x) gives %04x, not %04x",
                             s->name, policy, x[i], bits_of(x[i]), got,
                             right_code(s, policy, x[i]));
            if (!same_float(values[i], rounded[i]))
                ck_abort_msg("%s, policy %d: %a is encoded as %a, rounded to "
                             "%a",
                             s->name, policy, x[i], values[i], rounded[i]);
        }
    }
    free(codes);
    free(values);
    free(rounded);
}

/* ---- table ---- */

START_TEST(row_is_sane)
{
    const struct assay_format *f = format_of((enum assay_format_id)_i);
    printf("# row_is_sane: %s\n", f->name);
    ck_assert_int_eq(f->id, _i);
    ck_assert_ptr_eq(assay_format_find(f->name), f);
    for (int other = 0; other < _i; other++)
        ck_assert_str_ne(format_of((enum assay_format_id)other)->name, f->name);
    ck_assert_uint_eq(assay_format_bytes(f) * 8, f->bits);
    ck_assert_int_eq(f->bits, 1 + f->exp_bits + f->man_bits);
    ck_assert_int_ge(f->kernel_format, 0);
    ck_assert_ptr_nonnull(f->about);
    ck_assert_uint_lt(f->max_code, 1ull << (f->bits - 1));
    /* the largest value is its own code, and rounding leaves it alone */
    float max = assay_format_max(f), round = 0, back = 0;
    uint32_t word = 0;
    assay_format_encode(f, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 1, &max, &word);
    assay_format_decode(f, 1, &word, &back);
    assay_format_round(f, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 1, &max, &round);
    ck_assert_uint_eq(word, f->max_code);
    ck_assert(back == max && round == max);
}
END_TEST

START_TEST(constants)
{
    const struct spec *s = &specs[_i];
    const struct assay_format *f = format_of(s->id);
    printf("# constants: %s\n", s->name);
    ck_assert_ptr_eq(assay_format_find(s->name), f);
    ck_assert_uint_eq(assay_format_bytes(f), s->bytes);
    ck_assert(assay_format_max(f) == s->max);
    ck_assert(assay_format_epsilon(f) == s->epsilon);
}
END_TEST

START_TEST(constants_of_the_others)
{
    ck_assert(assay_format_max(format_of(ASSAY_INT8)) == 127);
    ck_assert(assay_format_epsilon(format_of(ASSAY_INT8)) == 1);
    ck_assert(assay_format_max(format_of(ASSAY_F32)) == 0x1.fffffep127f);
    ck_assert(assay_format_epsilon(format_of(ASSAY_F32)) == 0x1p-23);
    ck_assert_ptr_null(assay_format_find("e4m3"));
    ck_assert_ptr_null(assay_format_find(""));
}
END_TEST

/* ---- every code ---- */

START_TEST(codes_have_their_values)
{
    const struct spec *s = &specs[_i];
    uint32_t half = 0x80u << 8 * (s->bytes - 1);
    for (uint32_t code = 0; code < 2 * half; code++) {
        uint8_t byte = (uint8_t)code;
        uint16_t word = (uint16_t)code;
        uint32_t abs = code & (half - 1);
        double want = abs <= s->max_code                      ? value_of(s, abs)
                      : abs == s->max_code + 1 && s->infinity ? INFINITY
                                                              : NAN;
        float got;
        assay_format_decode(format_of(s->id), 1,
                            s->bytes == 1 ? (void *)&byte : &word, &got);
        if (!same_double(got, isnan(want) ? NAN : code & half ? -want : want))
            ck_abort_msg("%s %04x decodes to %a, not %a", s->name, code, got,
                         want);
    }
}
END_TEST

START_TEST(codes_come_back)
{
    const struct spec *s = &specs[_i];
    const struct assay_format *f = format_of(s->id);
    for (uint32_t code = 0; code < 1u << 8 * s->bytes; code++)
        for (int policy = ASSAY_SATURATE; policy <= ASSAY_SPECIAL; policy++) {
            uint16_t word[1] = { (uint16_t)code }, back[1] = { 0 };
            ((uint8_t *)word)[0] = (uint8_t)code;
            float x;
            assay_format_decode(f, 1, word, &x);
            assay_format_encode(f, ASSAY_NEAREST_EVEN,
                                (enum assay_overflow)policy, 1, &x, back);
            uint32_t got = code_at(s, back, 0);
            bool special = policy == ASSAY_SPECIAL || !isinf(x);
            if (isnan(x) ? !is_nan_code(s, got) : special && got != code)
                ck_abort_msg("%s %04x comes back as %04x", s->name, code, got);
        }
}
END_TEST

START_TEST(int8_codes_come_back)
{
    for (int code = -128; code <= 127; code++)
        for (int policy = ASSAY_SATURATE; policy <= ASSAY_SPECIAL; policy++) {
            int8_t word = (int8_t)code, back;
            float x;
            assay_format_decode(format_of(ASSAY_INT8), 1, &word, &x);
            ck_assert(x == (float)code);
            assay_format_encode(format_of(ASSAY_INT8), ASSAY_NEAREST_EVEN,
                                (enum assay_overflow)policy, 1, &x, &back);
            ck_assert_int_eq(back, code);
        }
}
END_TEST

/* ---- rounding against the search ---- */

START_TEST(bf16_inputs)
{
    float *x = must_alloc(0x10000, sizeof *x);
    for (uint32_t i = 0; i < 0x10000; i++)
        x[i] = float_of(i << 16);
    check_values(&specs[_i], 0x10000, x);
    free(x);
}
END_TEST

/* Values and midpoints of every code, both signs, two steps to either side. */
START_TEST(midpoints)
{
    const struct spec *s = &specs[_i];
    size_t n = 0;
    float *x = must_alloc(20 * ((size_t)s->max_code + 1), sizeof *x);
    for (uint32_t code = 0; code <= s->max_code; code++) {
        float at[2] = { (float)value_of(s, code),
                        (float)midpoint_above(s, code) };
        for (int i = 0; i < 2; i++)
            for (int step = -2; step <= 2; step++) {
                uint32_t b = bits_of(at[i]) + (uint32_t)step;
                if (bits_of(at[i]) < 2 && step < 0)
                    b = (uint32_t)-step; /* around zero: small ones */
                x[n++] = float_of(b);
                x[n++] = float_of(b | 0x80000000u);
            }
    }
    check_values(s, n, x);
    free(x);
}
END_TEST

START_TEST(random_patterns)
{
    enum { N = 400000 };
    float *x = must_alloc(N, sizeof *x);
    for (size_t i = 0; i < N; i++)
        x[i] = float_of(values_bits(11, i));
    check_values(&specs[_i], N, x);
    /* and near the format's own range, where random patterns are rare */
    for (size_t i = 0; i < N; i++)
        x[i] = ldexpf(values_normal(12, i), (int)(i % 24) - 12);
    check_values(&specs[_i], N, x);
    free(x);
}
END_TEST

START_TEST(special_values)
{
    const uint32_t patterns[] = {
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
        0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xff800001,
        0x7fbfffff, 0x7fc00000, 0x7fffffff, 0xffffffff,
    };
    float x[16];
    for (int i = 0; i < 16; i++)
        x[i] = float_of(patterns[i]);
    check_values(&specs[_i], 16, x);
}
END_TEST

/* n around the block that encode works in; nothing past the end is touched. */
START_TEST(lengths)
{
    const struct spec *s = &specs[_i];
    const size_t n[] = { 0, 1, 15, 16, 17, 511, 512, 513, 1025 };
    float x[1030];
    uint8_t codes[2 * 1030 + 2];
    values_fill(13, 1030, x);
    for (size_t t = 0; t < sizeof n / sizeof *n; t++) {
        size_t end = n[t] * (size_t)s->bytes;
        check_values(s, n[t], x);
        memset(codes, 0xa5, sizeof codes);
        assay_format_encode(format_of(s->id), ASSAY_NEAREST_EVEN, ASSAY_SPECIAL,
                            n[t], x, codes);
        ck_assert_uint_eq(codes[end], 0xa5);
        ck_assert_uint_eq(codes[end + 1], 0xa5);
    }
}
END_TEST

/* int8 against the nearest integer by comparison: halves go to even. */
static int right_int8(float x)
{
    int below = -129;
    if (isnan(x))
        return 0;
    while (below < 128 && below + 1 <= x)
        below++;
    double up = x - below; /* 0 to 1 inside the range */
    int y = up > 0.5 || (up == 0.5 && below % 2 != 0) ? below + 1 : below;
    return y > 127 ? 127 : y < -128 ? -128 : y;
}

static void check_int8(float x)
{
    for (int policy = ASSAY_SATURATE; policy <= ASSAY_SPECIAL; policy++) {
        int8_t code;
        float y = x;
        assay_format_encode(format_of(ASSAY_INT8), ASSAY_NEAREST_EVEN,
                            (enum assay_overflow)policy, 1, &x, &code);
        assay_format_round(format_of(ASSAY_INT8), ASSAY_NEAREST_EVEN,
                           (enum assay_overflow)policy, 1, &y, &y);
        if (code != right_int8(x) || y != code)
            ck_abort_msg("%a becomes %d and %a, not %d", x, code, y,
                         right_int8(x));
    }
}

START_TEST(int8_rounds)
{
    for (uint32_t i = 0; i < 0x10000; i++)
        check_int8(float_of(i << 16));
    for (int half = -262; half <= 262; half++)
        for (int step = -2; step <= 2; step++)
            check_int8(float_of(bits_of((float)half / 2) + (uint32_t)step));
    for (uint64_t i = 0; i < 50000; i++) {
        check_int8(float_of(values_bits(14, i)));
        check_int8(50 * values_normal(15, i));
    }
}
END_TEST

START_TEST(f32_is_left_alone)
{
    for (uint64_t i = 0; i < 100000; i++) {
        uint32_t word = values_bits(16, i), code;
        float x = float_of(word), y;
        bool inf = isinf(x);
        assay_format_encode(format_of(ASSAY_F32), ASSAY_NEAREST_EVEN,
                            ASSAY_SPECIAL, 1, &x, &code);
        assay_format_decode(format_of(ASSAY_F32), 1, &code, &y);
        if (code != word || !same_float(x, y))
            ck_abort_msg("%08x comes back as %08x", word, code);
        assay_format_round(format_of(ASSAY_F32), ASSAY_NEAREST_EVEN,
                           ASSAY_SATURATE, 1, &x, &y);
        if (!inf && !same_float(x, y))
            ck_abort_msg("%a is rounded to %a", x, y);
    }
    float ends[2] = { INFINITY, -INFINITY };
    assay_format_round(format_of(ASSAY_F32), ASSAY_NEAREST_EVEN, ASSAY_SATURATE,
                       2, ends, ends);
    ck_assert(ends[0] == 0x1.fffffep127f && ends[1] == -0x1.fffffep127f);
}
END_TEST

/* ---- ulp ---- */

START_TEST(ulp_is_the_step)
{
    const struct spec *s = &specs[_i];
    const struct assay_format *f = format_of(s->id);
    for (uint32_t code = 0; code < s->max_code; code++) {
        double step = value_of(s, code + 1) - value_of(s, code);
        float x = (float)value_of(s, code);
        float inside = (float)(value_of(s, code) + step / 4);
        if (assay_format_ulp(f, x) != step || assay_format_ulp(f, -x) != step ||
            assay_format_ulp(f, inside) != step)
            ck_abort_msg("%s: ulp of %a is %a, not %a", s->name, x,
                         assay_format_ulp(f, x), step);
    }
    ck_assert(assay_format_ulp(f, 0x1p-149f) == value_of(s, 1));
    ck_assert(isnan(assay_format_ulp(f, INFINITY)));
    ck_assert(isnan(assay_format_ulp(f, -INFINITY)));
    ck_assert(isnan(assay_format_ulp(f, NAN)));
}
END_TEST

START_TEST(ulp_of_the_others)
{
    ck_assert(assay_format_ulp(format_of(ASSAY_F32), 1) == 0x1p-23);
    ck_assert(assay_format_ulp(format_of(ASSAY_F32), 1.75f) == 0x1p-23);
    ck_assert(assay_format_ulp(format_of(ASSAY_F32), 0) == 0x1p-149);
    ck_assert(assay_format_ulp(format_of(ASSAY_F32), 0x1p-140f) == 0x1p-149);
    ck_assert(assay_format_ulp(format_of(ASSAY_INT8), 100) == 1);
    ck_assert(assay_format_ulp(format_of(ASSAY_INT8), 0) == 1);
    /* past the largest value the exponent goes on */
    ck_assert(assay_format_ulp(format_of(ASSAY_E4M3FN), 1000) == 64);
}
END_TEST

/* ---- faults that others shipped ---- */

/* binary32 words and the codes that saturating and special overflow give. */
struct word_case {
    uint32_t x;
    uint32_t saturate, special;
};

static void check_words(enum assay_format_id id, size_t n,
                        const struct word_case *c)
{
    const struct assay_format *f = format_of(id);
    for (size_t i = 0; i < n; i++) {
        float x = float_of(c[i].x);
        uint32_t a = 0, b = 0;
        assay_format_encode(f, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, 1, &x, &a);
        assay_format_encode(f, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 1, &x, &b);
        ck_assert_msg(a == c[i].saturate && b == c[i].special,
                      "%s %08x gives %04x and %04x, not %04x and %04x", f->name,
                      c[i].x, a, b, c[i].saturate, c[i].special);
    }
}
#define CHECK_WORDS(id, cases) \
    check_words(id, sizeof cases / sizeof *cases, cases)

/* Overflow threshold, and no clamp before rounding. ml_dtypes #400, #260;
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
    };
    CHECK_WORDS(ASSAY_E4M3FN, cases);
}
END_TEST

/* Exponent field 15 is finite. tilelang-metax #140; saturn-vectors #101. */
START_TEST(e4m3_top_binade)
{
    const float x[15] = { 240, 248, 256, 272, 288, 304, 320, 336,
                          352, 368, 384, 400, 416, 432, 448 };
    const uint8_t want[15] = { 0x77, 0x78, 0x78, 0x78, 0x79, 0x7a, 0x7a, 0x7a,
                               0x7b, 0x7c, 0x7c, 0x7c, 0x7d, 0x7e, 0x7e };
    uint8_t got[15];
    for (int policy = ASSAY_SATURATE; policy <= ASSAY_SPECIAL; policy++) {
        assay_format_encode(format_of(ASSAY_E4M3FN), ASSAY_NEAREST_EVEN,
                            (enum assay_overflow)policy, 15, x, got);
        ck_assert_mem_eq(got, want, sizeof want);
    }
}
END_TEST

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

/* Just off a midpoint: a step through f16 or bf16 would land on it. triton
 * #10846, #2583; oneDNN #2361. */
START_TEST(e4m3_rounds_once)
{
    static const struct word_case cases[] = {
        { 0x3f880008, 0x39, 0x39 },
        { 0x3f97fff8, 0x39, 0x39 },
        { 0x41880020, 0x59, 0x59 },
        { 0x3a800008, 0x01, 0x01 },
    };
    CHECK_WORDS(ASSAY_E4M3FN, cases);
}
END_TEST

/* Exponent field 0 and NaN. tilelang #2702. */
START_TEST(e4m3_decode)
{
    uint8_t codes[256];
    float x[256];
    for (int c = 0; c < 256; c++)
        codes[c] = (uint8_t)c;
    assay_format_decode(format_of(ASSAY_E4M3FN), 256, codes, x);
    ck_assert(x[0] == 0 && !signbit(x[0]) && x[0x80] == 0 && signbit(x[0x80]));
    for (int m = 1; m < 8; m++)
        ck_assert(x[m] == (float)m / 512 && x[0x80 + m] == -(float)m / 512);
    ck_assert(x[1] == 0.001953125f && x[7] == 0.013671875f);
    ck_assert(x[8] == 0.015625f && x[0x7e] == 448 && x[0xfe] == -448);
    ck_assert(isnan(x[0x7f]) && isnan(x[0xff]));
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
        { 0x80000000, 0x8000, 0x8000 },
    };
    const uint32_t nans[] = { 0x7f800001, 0x7f80ffff, 0xff800001, 0x7fffffff,
                              0xffffffff };
    CHECK_WORDS(ASSAY_BF16, cases);
    for (int i = 0; i < 5; i++)
        for (int policy = ASSAY_SATURATE; policy <= ASSAY_SPECIAL; policy++) {
            float x = float_of(nans[i]), y;
            uint16_t code;
            assay_format_encode(format_of(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                                (enum assay_overflow)policy, 1, &x, &code);
            assay_format_decode(format_of(ASSAY_BF16), 1, &code, &y);
            ck_assert_msg(isnan(y), "%08x gives %04x", nans[i], code);
        }
}
END_TEST

static void check_int8s(size_t n, const float *x, const int8_t *want)
{
    int8_t got[8];
    assay_format_encode(format_of(ASSAY_INT8), ASSAY_NEAREST_EVEN,
                        ASSAY_SATURATE, n, x, got);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i], "%g gives %d, not %d", x[i], got[i],
                      want[i]);
}

/* Ties, truncation, clamp. tt-metal #56525; onnxruntime #25045, #32452. */
START_TEST(int8_quotients)
{
    const float ties[8] = { -2.5f, -1.5f, -0.5f,  0.5f,
                            1.5f,  2.5f,  126.5f, -126.5f };
    const int8_t even[8] = { -2, -2, 0, 0, 2, 2, 126, -126 };
    check_int8s(8, ties, even);

    const uint16_t half[3] = { 0x2a67, 0x2e66, 0x000d };
    float f[3];
    assay_format_decode(format_of(ASSAY_F16), 3, half, f);
    ck_assert(f[0] == 0.050018310546875f && f[1] == 0.0999755859375f);
    check_int8s(1, (float[]){ f[0] / f[1] }, (int8_t[]){ 1 });

    const float scale = 128.0f / 127;
    const float symmetric[4] = { -128 / scale, 127 / scale, 64 / scale,
                                 0.5f / scale };
    check_int8s(4, symmetric, (int8_t[]){ -127, 126, 64, 0 });

    /* amax / (scale rounded to f16) is 129.06: clamp, do not wrap */
    float past = 1e-4f / f[2];
    ck_assert(past > 129 && past < 129.1f);
    check_int8s(4, (float[]){ past, -past, 1e9f, -INFINITY },
                (int8_t[]){ 127, -128, 127, -128 });
}
END_TEST

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
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x[3];
        uint16_t got[3];
        for (size_t j = 0; j < cases[i].n; j++)
            x[j] = float_of(cases[i].x[j]);
        assay_format_encode(format_of(cases[i].id), ASSAY_NEAREST_EVEN,
                            ASSAY_SPECIAL, cases[i].n, x, got);
        for (size_t j = 0; j < cases[i].n; j++)
            ck_assert_msg(got[j] == cases[i].want[j],
                          "array %zu, word %zu: %04x, not %04x", i, j, got[j],
                          cases[i].want[j]);
    }
    /* the binary64 arrays, which a caller makes binary32 first */
    float x[4] = { 0.9999f, 1.5249285751529568e-05f, 1.9999f,
                   -0.001953115234375f };
    uint16_t got[4];
    assay_format_encode(format_of(ASSAY_F16), ASSAY_NEAREST_EVEN, ASSAY_SPECIAL,
                        4, x, got);
    ck_assert(got[0] == 0x3c00 && got[1] == 0x0100 && got[2] == 0x4000 &&
              got[3] == 0x9800);
}
END_TEST

/* ---- vectors of an independent implementation ---- */

static void *read_whole(const char *name, size_t *bytes)
{
    const char *folder = assay_shared_dir();
    char path[4096];
    FILE *from;
    if (!folder)
        return NULL;
    snprintf(path, sizeof path, "%s/formats/%s", folder, name);
    if (!(from = fopen(path, "rb")))
        return NULL;
    ck_assert_int_eq(fseek(from, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(from);
    rewind(from);
    void *data = must_alloc(*bytes, 1);
    ck_assert_uint_eq(fread(data, 1, *bytes, from), *bytes);
    fclose(from);
    return data;
}

/* ml_dtypes does not saturate; the sign of a NaN is its own affair. */
START_TEST(ml_dtypes_e4m3)
{
    size_t n, n_codes, n_values;
    float *x = read_whole("e4m3fn.input.f32", &n);
    uint8_t *want = read_whole("e4m3fn.code.u8", &n_codes);
    float *values = read_whole("e4m3fn.decode.f32", &n_values);
    if (!x || !want || !values) {
        printf("# ml_dtypes_e4m3 skipped: no shared folder with formats/\n");
        free(x), free(want), free(values);
        return;
    }
    const struct assay_format *f = format_of(ASSAY_E4M3FN);
    n /= sizeof *x;
    ck_assert_uint_eq(n, n_codes);
    ck_assert_uint_gt(n, 1000);
    uint8_t *got = must_alloc(n, 1);
    assay_format_encode(f, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, n, x, got);
    for (size_t i = 0; i < n; i++)
        if (isnan(x[i]) ? (got[i] & 0x7f) != 0x7f : got[i] != want[i])
            ck_abort_msg("%a gives %02x, not %02x", x[i], got[i], want[i]);
    ck_assert_uint_eq(n_values, 256 * sizeof *values);
    for (int c = 0; c < 256; c++) {
        uint8_t code = (uint8_t)c;
        float y;
        assay_format_decode(f, 1, &code, &y);
        if (!same_float(y, values[c]))
            ck_abort_msg("%02x decodes to %a, not %a", c, y, values[c]);
    }
    printf("# ml_dtypes_e4m3: %zu inputs agree\n", n);
    free(got), free(x), free(want), free(values);
}
END_TEST

static void add_rounding(Suite *suite)
{
    TCase *c = tcase_create("rounding");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, bf16_inputs, 0, N_SPECS);
    tcase_add_loop_test(c, midpoints, 0, N_SPECS);
    tcase_add_loop_test(c, random_patterns, 0, N_SPECS);
    tcase_add_loop_test(c, special_values, 0, N_SPECS);
    tcase_add_loop_test(c, lengths, 0, N_SPECS);
    tcase_add_test(c, int8_rounds);
    tcase_add_test(c, f32_is_left_alone);
    tcase_add_loop_test(c, ulp_is_the_step, 0, N_SPECS);
    tcase_add_test(c, ulp_of_the_others);
    suite_add_tcase(suite, c);
}

static void add_reported(Suite *suite)
{
    TCase *c = tcase_create("reported");
    tcase_add_test(c, e4m3_overflow);
    tcase_add_test(c, e4m3_top_binade);
    tcase_add_test(c, e4m3_ties);
    tcase_add_test(c, e4m3_rounds_once);
    tcase_add_test(c, e4m3_decode);
    tcase_add_test(c, bf16_words);
    tcase_add_test(c, int8_quotients);
    tcase_add_test(c, arrays_hdf5_narrows_wrongly);
    tcase_add_test(c, ml_dtypes_e4m3);
    suite_add_tcase(suite, c);
}

int main(void)
{
    Suite *suite = suite_create("format");
    TCase *c = tcase_create("table");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, row_is_sane, 0, ASSAY_FORMATS);
    tcase_add_loop_test(c, constants, 0, N_SPECS);
    tcase_add_test(c, constants_of_the_others);
    tcase_add_loop_test(c, codes_have_their_values, 0, N_SPECS);
    tcase_add_loop_test(c, codes_come_back, 0, N_SPECS);
    tcase_add_test(c, int8_codes_come_back);
    suite_add_tcase(suite, c);
    add_rounding(suite);
    add_reported(suite);
    return assay_check_main(suite);
}
