/* SPDX-License-Identifier: MIT
 *
 * ref/random.c: the known answers of Random123, moments, places of values.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "check_assay.h"
#include "check_values.h"

/* kat_vectors of Random123 1.14, philox4x32 10. */
static const struct {
    uint32_t counter[4], key[2], out[4];
} known[] = {
    { { 0, 0, 0, 0 },
      { 0, 0 },
      { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
      { 0xffffffff, 0xffffffff },
      { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
      { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

START_TEST(known_answers)
{
    uint32_t out[4];
    assay_philox(known[_i].counter, known[_i].key, out);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(out[i], known[_i].out[i]);
}
END_TEST

/* Seed 0, stream 0 is the first known answer; seed and stream are where the
 * header says. */
START_TEST(normal_of_words)
{
    const uint32_t *w = known[0].out;
    float x[4];
    assay_random_normal(0, 0, 0, 4, x);
    for (int i = 0; i < 4; i++) {
        const double r = sqrt(-2 * log((w[i / 2 * 2] + 0.5) / 4294967296.0));
        const double a = 2 * acos(-1) * w[i / 2 * 2 + 1] / 4294967296.0;
        ck_assert_double_eq_tol(x[i], r * (i % 2 ? sin(a) : cos(a)), 1e-6);
    }
    uint32_t counter[4] = { 1, 2, 77, 0 }, key[2] = { 0xabcdef01, 0x2345 },
             v[4];
    assay_philox(counter, key, v);
    ck_assert_double_eq(assay_random_uniform(0x2345abcdef01, 77, 0x200000001),
                        ((double)(v[0] >> 5) * 67108864.0 + (v[1] >> 6)) /
                            9007199254740992.0);
}
END_TEST

/* Bounds of five standard errors: mean 1/sqrt(n), variance sqrt(2/n), third
 * moment sqrt(15/n), fourth sqrt(96/n), neighbours 1/sqrt(n). */
START_TEST(moments)
{
    enum { N = 1 << 20 };
    float *x = must_alloc(N, sizeof *x);
    double m[5] = { 0 }, next = 0, most = 0;
    assay_random_normal(3, 5, 0, N, x);
    for (int i = 0; i < N; i++) {
        const double y = x[i];
        m[1] += y / N;
        m[2] += y * y / N;
        m[3] += y * y * y / N;
        m[4] += y * y * y * y / N;
        next += i ? y * x[i - 1] / N : 0;
        most = fmax(most, fabs(y));
    }
    ck_assert_double_eq_tol(m[1], 0, 5 / sqrt(N));
    ck_assert_double_eq_tol(m[2], 1, 5 * sqrt(2. / N));
    ck_assert_double_eq_tol(m[3], 0, 5 * sqrt(15. / N));
    ck_assert_double_eq_tol(m[4], 3, 5 * sqrt(96. / N));
    ck_assert_double_eq_tol(next, 0, 5 / sqrt(N));
    /* P(max of 2^20 < 4) = e^-66; > 6.77 cannot be. */
    ck_assert(most > 4 && most < 6.77);
    free(x);
}
END_TEST

START_TEST(parts_are_the_whole)
{
    enum { N = 203 };
    const int64_t far = ((int64_t)1 << 34) - 100; /* passes 2^32 blocks */
    float whole[N], part[N], other[N];
    assay_random_normal(9, 1, far, N, whole);
    for (int64_t step = 1; step < 12; step++) {
        for (int64_t at = 0; at < N; at += step)
            assay_random_normal(9, 1, far + at, N - at < step ? N - at : step,
                                part + at);
        ck_assert_mem_eq(whole, part, sizeof whole);
    }
    const struct {
        uint64_t seed;
        uint32_t stream;
        int64_t first;
    } others[] = { { 8, 1, far },
                   { 9 + ((uint64_t)1 << 32), 1, far },
                   { 9, 2, far },
                   { 9, 1, far - ((int64_t)1 << 34) } };
    for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
        int same = 0;
        assay_random_normal(others[o].seed, others[o].stream, others[o].first,
                            N, other);
        for (int i = 0; i < N; i++)
            same += other[i] == whole[i];
        ck_assert_int_le(same, 1);
    }
}
END_TEST

/* Each place is chosen as often as any other: 4000 choices of 3 of 10 give
 * 1200 each, deviation sqrt(4000 * 0.3 * 0.7) = 29. */
START_TEST(choices)
{
    int count[10] = { 0 };
    unsigned char chosen[10];
    for (uint64_t seed = 0; seed < 4000; seed++) {
        int n = 0;
        assay_random_choose(seed, 0, 10, 3, chosen);
        for (int i = 0; i < 10; i++) {
            n += chosen[i];
            count[i] += chosen[i];
        }
        ck_assert_int_eq(n, 3);
    }
    for (int i = 0; i < 10; i++)
        ck_assert_int_lt(abs(count[i] - 1200), 5 * 29);
    assay_random_choose(1, 0, 10, 10, chosen);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(chosen[i], 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("random");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, known_answers, 0,
                        (int)(sizeof known / sizeof *known));
    tcase_add_test(t, normal_of_words);
    tcase_add_test(t, moments);
    tcase_add_test(t, parts_are_the_whole);
    tcase_add_test(t, choices);
    suite_add_tcase(s, t);
    return assay_check_main(s);
}
