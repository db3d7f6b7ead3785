/* SPDX-License-Identifier: MIT
 *
 * ref/metrics.c: answers that must not pass for good ones, and the places and
 * values that a report quotes.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/metrics.h"
#include "check_assay.h"
#include "check_values.h"

static struct assay_problem rows_of(int64_t nq, int64_t dv)
{
    return (struct assay_problem){ 1, 1, 1, nq, 1, 1, dv, 0, 1 };
}

static struct assay_distance
compare_lse(const struct assay_problem *p, const float *a, const float *b,
            const double *lse_a, const double *lse_b, int64_t h0, int64_t h1)
{
    struct assay_row *rows =
        must_alloc((size_t)assay_problem_rows(p), sizeof *rows);
    struct assay_distance d;
    assay_rows_compare(p, a, b, rows);
    assay_distance(p, rows, lse_a, lse_b, h0, h1, &d);
    free(rows);
    return d;
}

static struct assay_distance compare(const struct assay_problem *p,
                                     const float *a, const float *b)
{
    return compare_lse(p, a, b, NULL, NULL, 0, p->hq);
}

/* One row of n channels. */
static struct assay_distance compare_row(int64_t n, const float *a,
                                         const float *b)
{
    const struct assay_problem p = rows_of(1, n);
    return compare(&p, a, b);
}

static bool at(struct assay_place x, int64_t b, int64_t h, int64_t i, int64_t c)
{
    return x.b == b && x.h == h && x.i == i && x.c == c;
}

static void expect_spoilt(const struct assay_distance *d)
{
    ck_assert(isnan(d->mae) && isnan(d->max_error) && isnan(d->cosine));
    ck_assert(isnan(d->rel_l2) && isnan(d->norm_ratio));
    ck_assert(isnan(d->worst_row_cosine));
}

/* ---- non-finite ---- */

/* NaN fails "error > tolerance". MIOpen #1400; RALFit #138; OpenFAST #1156.
 * As four rows of one channel and as one row of four. */
START_TEST(b46_nan_anywhere)
{
    static const struct {
        float out[4];
        int count, first;
    } cases[] = {
        { { 1, NAN, 3, 4 }, 1, 1 },
        { { NAN, 2, 3, 4 }, 1, 0 },
        { { 1, 2, 3, NAN }, 1, 3 },
        { { NAN, NAN, NAN, NAN }, 4, 0 },
    };
    const float ref[4] = { 1, 2, 3, 4 };
    for (int n = 0; n < 4; n++)
        for (int64_t width = 1; width <= 4; width += 3) {
            const struct assay_problem p = rows_of(4 / width, width);
            struct assay_distance d = compare(&p, cases[n].out, ref);
            expect_spoilt(&d);
            ck_assert_int_eq(d.nonfinite_a, cases[n].count);
            ck_assert_int_eq(d.nonfinite_b, 0);
            ck_assert_int_eq(d.mismatched, cases[n].count);
            int64_t first = cases[n].first;
            ck_assert(at(d.max_at, 0, 0, first / width, first % width));
            ck_assert(at(d.worst_row, 0, 0, first / width, -1));
            ck_assert(isnan(d.max_a) && d.max_b == ref[first]);
            /* the other way round: the reference has the NaN */
            d = compare(&p, ref, cases[n].out);
            expect_spoilt(&d);
            ck_assert_int_eq(d.nonfinite_b, cases[n].count);
        }
}
END_TEST

/* Equal infinities and two NaN are no difference; every other pair with a
 * non-finite member is one. */
START_TEST(classes)
{
    const float values[] = { NAN, INFINITY, -INFINITY, 1, 0 };
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            const float a[3] = { 2, values[i], 5 }, b[3] = { 2, values[j], 5 };
            struct assay_distance d = compare_row(3, a, b);
            bool both_finite = i >= 3 && j >= 3;
            ck_assert_int_eq(d.mismatched, i != j && !both_finite);
            ck_assert_int_eq(d.nonfinite_a, i < 3);
            ck_assert_int_eq(d.nonfinite_b, j < 3);
            if (i == j) {
                ck_assert(d.mae == 0 && d.max_error == 0 && d.cosine == 1);
                ck_assert(d.rel_l2 == 0 && d.norm_ratio == 1);
            } else if (!both_finite) {
                expect_spoilt(&d);
                ck_assert(at(d.max_at, 0, 0, 0, 1));
                ck_assert(same_float((float)d.max_a, a[1]));
                ck_assert(same_float((float)d.max_b, b[1]));
            }
        }
}
END_TEST

/* A mismatch in an early row is not forgotten by a later, larger error, nor
 * by a later mismatch. */
START_TEST(first_mismatch_wins)
{
    const struct assay_problem p = rows_of(4, 2);
    const float a[8] = { 1, 2, 3, INFINITY, 900, 6, NAN, 8 };
    const float b[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    struct assay_distance d = compare(&p, a, b);
    expect_spoilt(&d);
    ck_assert_int_eq(d.mismatched, 2);
    ck_assert(at(d.max_at, 0, 0, 1, 1) && at(d.worst_row, 0, 0, 1, -1));
    ck_assert(d.max_a == INFINITY && d.max_b == 4);
}
END_TEST

START_TEST(row_of_a_mismatch)
{
    const struct assay_problem p = rows_of(1, 4);
    const float a[4] = { 1, NAN, 3, INFINITY }, b[4] = { 1, 2, 5, 4 };
    struct assay_row row;
    assay_rows_compare(&p, a, b, &row);
    ck_assert_int_eq(row.mismatched, 2);
    ck_assert_int_eq(row.mismatched_c, 1);
    ck_assert_int_eq(row.nonfinite_a, 2);
    ck_assert_int_eq(row.nonfinite_b, 0);
    ck_assert(isnan(assay_row_cosine(&row)));
    /* sums hold what is finite */
    ck_assert(row.distance == 2 && row.sum_abs == 2 && row.max_abs == 2);
    ck_assert_int_eq(row.max_c, 2);
}
END_TEST

/* ---- zeros and dilution: KernelBench #165; aiter #5032 ---- */

START_TEST(b48_zeros_do_not_pass)
{
    enum { N = 393216 };
    float *ref = must_alloc(N, sizeof *ref), *out = must_alloc(N, sizeof *out);
    for (int i = 0; i < N; i++) {
        ref[i] = 1.0f / N;
        out[i] = 0;
    }
    const struct assay_problem p = rows_of(N / 128, 128);
    struct assay_distance d = compare(&p, out, ref);
    ck_assert_double_eq_tol(d.mae, 2.5431315104166665e-06, 1e-12);
    ck_assert_double_eq_tol(d.max_error, 2.5431315104166665e-06, 1e-12);
    ck_assert(d.rel_l2 == 1 && d.cosine == 0 && d.worst_row_cosine == 0);
    ck_assert(d.norm_ratio == 0);
    free(ref);
    free(out);
}
END_TEST

START_TEST(b48_dead_rows_are_seen)
{
    const struct assay_problem p = rows_of(64, 4);
    float ref[256], out[256];
    for (int i = 0; i < 256; i++)
        ref[i] = out[i] = 0.5f; /* unit rows */
    memset(out + 17 * 4, 0, 4 * sizeof *out);
    struct assay_distance d = compare(&p, out, ref);
    ck_assert_double_eq_tol(d.cosine, 0.99215674164922147, 1e-15);
    ck_assert(d.worst_row_cosine == 0 && at(d.worst_row, 0, 0, 17, -1));
    for (int row = 18; row < 28; row++)
        memset(out + row * 4, 0, 4 * sizeof *out);
    d = compare(&p, out, ref);
    ck_assert_double_eq_tol(d.cosine, 0.91001373616006478, 1e-15);
    ck_assert(d.worst_row_cosine == 0 && at(d.worst_row, 0, 0, 17, -1));
    ck_assert_double_eq_tol(d.rel_l2, sqrt(11.0 / 64), 1e-15);
    ck_assert_double_eq_tol(d.norm_ratio, sqrt(53.0 / 64), 1e-15);
}
END_TEST

/* ---- cosine: burn #5584; pytorch #51912; langchain #31496; apex #211 ---- */

START_TEST(b50_degenerate_cosines)
{
    const float none[2] = { 0, 0 }, one[2] = { 1, 1 };
    const float huge[2] = { 2.0775e38f, 3.0262e38f };
    const float tiny[2] = { 0x1p-80f, 0x1p-80f };
    const float least[2] = { 0x1p-149f, 0x1p-149f };
    const float x[2] = { float_of(0x3eb0f069), float_of(0x3f525591) };
    ck_assert(compare_row(2, none, none).cosine == 1);
    ck_assert(compare_row(2, none, one).cosine == 0);
    ck_assert(compare_row(2, one, none).cosine == 0);
    ck_assert(compare_row(2, one, none).rel_l2 == INFINITY);
    ck_assert(compare_row(2, one, none).norm_ratio == INFINITY);
    ck_assert(compare_row(2, none, none).norm_ratio == 1);
    /* the inputs are binary32, which moves the value by some 1e-9 */
    ck_assert_double_eq_tol(compare_row(2, huge, one).cosine,
                            0.98315863709466846, 1e-8);
    ck_assert_double_eq_tol(compare_row(2, huge, huge).cosine, 1, 4.5e-16);
    ck_assert_double_eq_tol(compare_row(2, tiny, tiny).cosine, 1, 4.5e-16);
    ck_assert_double_eq_tol(compare_row(2, least, least).cosine, 1, 4.5e-16);
    struct assay_distance d = compare_row(2, x, x);
    ck_assert_double_eq_tol(d.cosine, 1, 4.5e-16);
    ck_assert_double_le(d.cosine, 1);
    ck_assert_double_le(d.worst_row_cosine, 1);
    ck_assert(compare_row(2, one, (float[]){ -2, -2 }).cosine <= -1 + 1e-15);
}
END_TEST

START_TEST(cosine_stays_in_range)
{
    enum { N = 7 };
    for (uint64_t n = 0; n < 20000; n++) {
        float a[N], b[N];
        float by = values_normal(91, n);
        for (uint64_t c = 0; c < N; c++) {
            a[c] = values_normal(90, n * N + c);
            b[c] = n & 1 ? -a[c] * by : a[c] * by; /* nearly parallel */
        }
        struct assay_distance d = compare_row(N, a, b);
        if (!(fabs(d.cosine) <= 1) || !(fabs(d.worst_row_cosine) <= 1) ||
            !(fabs(d.cosine) > 0.999999))
            ck_abort_msg("cosine %.17g", d.cosine);
    }
}
END_TEST

/* ---- sums: numpy #22956, #8869 ---- */

START_TEST(b51_long_sums)
{
    enum { N = (1 << 24) + 1024, DV = 1024 };
    float *a = must_alloc(N, sizeof *a), *b = must_alloc(N, sizeof *b);
    for (int64_t i = 0; i < N; i++) {
        a[i] = 3;
        b[i] = 2;
    }
    const struct assay_problem by_rows = rows_of(N / DV, DV);
    const struct assay_problem one_row = rows_of(1, N);
    ck_assert(compare(&by_rows, a, b).mae == 1);
    ck_assert(compare(&one_row, a, b).mae == 1);
    ck_assert(compare(&one_row, a, b).rel_l2 == 0.5);
    ck_assert(compare(&by_rows, a, b).norm_ratio == 1.5);
    free(a);
    free(b);
}
END_TEST

/* ---- places and figures ---- */

/* b 2, hq 3, nq 4, dv 5: [b, i, h, c]. */
static const struct assay_problem shape = { 2, 3, 1, 4, 1, 1, 5, 0, 1 };
enum { ELEMS = 120, ROWS = 24 };

static int64_t index_of(int64_t b, int64_t h, int64_t i, int64_t c)
{
    return ((b * 4 + i) * 3 + h) * 5 + c;
}

START_TEST(worst_places)
{
    float a[ELEMS], b[ELEMS];
    values_fill(92, ELEMS, b);
    memcpy(a, b, sizeof a);
    struct assay_distance d = compare(&shape, a, b);
    ck_assert(d.mae == 0 && d.max_error == 0 && d.rel_l2 == 0);
    ck_assert(d.mismatched == 0 && at(d.worst_row, 0, 0, 0, -1));
    /* a small row turned round, and a large error in another row */
    for (int64_t c = 0; c < 5; c++) {
        b[index_of(0, 2, 3, c)] *= 0x1p-10f;
        a[index_of(0, 2, 3, c)] = -b[index_of(0, 2, 3, c)];
    }
    a[index_of(1, 1, 2, 4)] += 0.75f;
    double off =
        fabs((double)a[index_of(1, 1, 2, 4)] - b[index_of(1, 1, 2, 4)]);
    d = compare(&shape, a, b);
    ck_assert(at(d.worst_row, 0, 2, 3, -1));
    ck_assert_double_eq_tol(d.worst_row_cosine, -1, 1e-15);
    ck_assert(at(d.max_at, 1, 1, 2, 4) && d.max_error == off);
    ck_assert(d.max_a == a[index_of(1, 1, 2, 4)]);
    ck_assert(d.max_b == b[index_of(1, 1, 2, 4)]);
}
END_TEST

/* Figures of the definition, summed here in another order. */
START_TEST(figures)
{
    float a[ELEMS], b[ELEMS];
    values_fill(93, ELEMS, a);
    values_fill(94, ELEMS, b);
    for (int64_t h0 = 0; h0 < 3; h0++)
        for (int64_t h1 = h0 + 1; h1 <= 3; h1++) {
            double a2 = 0, b2 = 0, dot = 0, d2 = 0, sum = 0, worst = 0;
            for (int64_t h = h0; h < h1; h++)
                for (int64_t n = 0; n < 8; n++)
                    for (int64_t c = 0; c < 5; c++) {
                        int64_t x = index_of(n / 4, h, n % 4, c);
                        double off = (double)a[x] - b[x];
                        a2 += (double)a[x] * a[x];
                        b2 += (double)b[x] * b[x];
                        dot += (double)a[x] * b[x];
                        d2 += off * off;
                        sum += fabs(off);
                        worst = fabs(off) > worst ? fabs(off) : worst;
                    }
            struct assay_distance d =
                compare_lse(&shape, a, b, NULL, NULL, h0, h1);
            ck_assert_double_eq_tol(d.cosine, dot / sqrt(a2 * b2), 1e-14);
            ck_assert_double_eq_tol(d.rel_l2, sqrt(d2 / b2), 1e-14);
            ck_assert_double_eq_tol(d.norm_ratio, sqrt(a2 / b2), 1e-14);
            ck_assert_double_eq_tol(d.mae, sum / (double)(40 * (h1 - h0)),
                                    1e-14);
            ck_assert(d.max_error == worst);
            ck_assert(d.max_at.h >= h0 && d.max_at.h < h1);
        }
}
END_TEST

/* Damage outside of the heads asked for is not seen, nor counted. */
START_TEST(head_range)
{
    float a[ELEMS], b[ELEMS];
    double lse_a[ROWS] = { 0 }, lse_b[ROWS] = { 0 };
    values_fill(95, ELEMS, b);
    memcpy(a, b, sizeof a);
    a[index_of(1, 1, 0, 0)] = NAN;
    lse_a[(1 * 3 + 1) * 4 + 2] = 7;
    for (int64_t h = 0; h < 3; h++) {
        struct assay_distance d =
            compare_lse(&shape, a, b, lse_a, lse_b, h, h + 1);
        ck_assert_int_eq(d.mismatched, h == 1);
        ck_assert(d.lse_max == (h == 1 ? 7 : 0));
        ck_assert(isnan(d.mae) == (h == 1));
    }
    struct assay_distance d = compare_lse(&shape, a, b, lse_a, lse_b, 0, 3);
    ck_assert(at(d.max_at, 1, 1, 0, 0) && at(d.lse_at, 1, 1, 2, -1));
}
END_TEST

/* ---- LSE ---- */

START_TEST(lse_figures)
{
    const struct assay_problem p = rows_of(4, 1);
    const float x[4] = { 1, 1, 1, 1 };
    const double inf = INFINITY;
    double a[4] = { -inf, 1, 2, 3 }, b[4] = { -inf, 1.5, 2, 2 };
    struct assay_distance d = compare_lse(&p, x, x, a, b, 0, 1);
    ck_assert(d.lse_max == 1 && at(d.lse_at, 0, 0, 3, -1));
    ck_assert(d.lse_mean == 1.5 / 3 && d.lse_mismatched == 0);

    /* all dead, and equal: nothing off */
    for (int i = 0; i < 4; i++)
        a[i] = b[i] = -inf;
    d = compare_lse(&p, x, x, a, b, 0, 1);
    ck_assert(d.lse_max == 0 && d.lse_mean == 0 && d.lse_mismatched == 0);

    d = compare_lse(&p, x, x, NULL, b, 0, 1);
    ck_assert(isnan(d.lse_max) && isnan(d.lse_mean));
    d = compare_lse(&p, x, x, a, NULL, 0, 1);
    ck_assert(isnan(d.lse_max) && d.lse_mismatched == 0);
}
END_TEST

/* A row without keys given 0, NaN or +inf for its -inf. rten #1321. */
START_TEST(lse_classes)
{
    const struct assay_problem p = rows_of(3, 1);
    const float x[3] = { 1, 1, 1 };
    const double bad[] = { 0, NAN, INFINITY };
    for (int n = 0; n < 3; n++)
        for (int64_t i = 0; i < 3; i++) {
            double a[3] = { 1, 1, 1 }, b[3] = { 1, 1, 1 };
            a[(i + 1) % 3] = 100; /* larger than anything, but a number */
            b[i] = -INFINITY;
            a[i] = bad[n];
            struct assay_distance d = compare_lse(&p, x, x, a, b, 0, 1);
            ck_assert_int_eq(d.lse_mismatched, 1);
            ck_assert(isnan(d.lse_max) && isnan(d.lse_mean));
            ck_assert(at(d.lse_at, 0, 0, i, -1));
        }
}
END_TEST

START_TEST(no_rows)
{
    const struct assay_problem p = rows_of(0, 3);
    const float x[1] = { 0 };
    const double lse[1] = { 0 };
    struct assay_distance d = compare_lse(&p, x, x, lse, lse, 0, 1);
    ck_assert(d.mae == 0 && d.max_error == 0 && d.rel_l2 == 0);
    ck_assert(d.lse_max == 0 && d.lse_mean == 0 && d.cosine == 1);
    ck_assert(at(d.max_at, -1, -1, -1, -1));
    ck_assert(at(d.worst_row, -1, -1, -1, -1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *c = tcase_create("metrics");
    tcase_add_test(c, b46_nan_anywhere);
    tcase_add_test(c, classes);
    tcase_add_test(c, first_mismatch_wins);
    tcase_add_test(c, row_of_a_mismatch);
    tcase_add_test(c, b48_zeros_do_not_pass);
    tcase_add_test(c, b48_dead_rows_are_seen);
    tcase_add_test(c, b50_degenerate_cosines);
    tcase_add_test(c, cosine_stays_in_range);
    tcase_add_test(c, b51_long_sums);
    tcase_add_test(c, worst_places);
    tcase_add_test(c, figures);
    tcase_add_test(c, head_range);
    tcase_add_test(c, lse_figures);
    tcase_add_test(c, lse_classes);
    tcase_add_test(c, no_rows);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
