/* SPDX-License-Identifier: MIT
 *
 * ref/metrics_rows.c against plain loops over the definitions of metrics.h, to
 * the bit. Built twice: as the library is, and from its narrow loops alone.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/metrics.h"
#include "check_assay.h"
#include "check_values.h"

static const int64_t WIDTHS[] = { 1,  2,  3,  7,  8,   9,   15,  16,
                                  17, 31, 64, 65, 127, 128, 576, 1031 };
enum { N_WIDTHS = sizeof WIDTHS / sizeof *WIDTHS, WIDEST = 1031 };

/* ---- the definitions, one value after another ---- */

/* Element c is summed in lane c % 8; lanes meet 4, 2 and 1 apart. */
struct sum {
    double lane[8];
};

static void add(struct sum *s, int64_t c, double x)
{
    s->lane[c % 8] += x;
}

static double total(const struct sum *s)
{
    double four[4], two[2];
    for (int i = 0; i < 4; i++)
        four[i] = s->lane[i] + s->lane[i + 4];
    for (int i = 0; i < 2; i++)
        two[i] = four[i] + four[i + 2];
    return two[0] + two[1];
}

static struct assay_row plain_row(int64_t n, const float *a, const float *b)
{
    struct assay_row row = { .max_c = -1, .mismatched_c = -1 };
    struct sum d2 = { 0 }, a2 = { 0 }, b2 = { 0 }, dot = { 0 }, abs = { 0 };
    for (int64_t c = 0; c < n; c++) {
        const double x = a[c], y = b[c], d = fabs(x - y);
        row.nonfinite_a += !isfinite(x);
        row.nonfinite_b += !isfinite(y);
        if (!isfinite(x) || !isfinite(y)) {
            const bool same = (isnan(x) && isnan(y)) || x == y;
            if (!same && row.mismatched++ == 0) {
                row.mismatched_c = c;
                row.max_a = x;
                row.max_b = y;
            }
            continue;
        }
        add(&d2, c, d * d);
        add(&a2, c, x * x);
        add(&b2, c, y * y);
        add(&dot, c, x * y);
        add(&abs, c, d);
        if (row.max_c < 0 || d > row.max_abs) {
            row.max_abs = d;
            row.max_c = c;
            row.max_a = row.mismatched ? row.max_a : x;
            row.max_b = row.mismatched ? row.max_b : y;
        }
    }
    row.distance = sqrt(total(&d2));
    row.norm_a = sqrt(total(&a2));
    row.norm_b = sqrt(total(&b2));
    row.dot = total(&dot);
    row.sum_abs = total(&abs);
    return row;
}

static void plain_rest(int64_t n, const struct assay_format *out,
                       const float *c, const float *e, const float *bound,
                       struct assay_row_beyond *row)
{
    struct sum rest2 = { 0 }, round2 = { 0 };
    *row = (struct assay_row_beyond){ .bound_c = -1 };
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(c[i]) || !isfinite(e[i]))
            continue;
        const float top = fabsf(c[i]) > fabsf(e[i]) ? c[i] : e[i];
        const double rounding = 1.5 * assay_format_ulp(out, top);
        double rest = fabs((double)c[i] - e[i]) - rounding;
        rest = rest > 0 ? rest : 0;
        add(&round2, i, rounding * rounding);
        add(&rest2, i, rest * rest);
        if (!bound || rest == 0)
            continue;
        const double part = bound[i] > 0 ? rest / bound[i] : INFINITY;
        if (part > row->bound_part) {
            row->bound_part = part;
            row->bound_c = i;
        }
    }
    row->beyond = sqrt(total(&rest2));
    row->rounding = sqrt(total(&round2));
}

static void expect_row(const char *pair, int64_t n, const struct assay_row *x,
                       const struct assay_row *y)
{
    if (!same_double(x->distance, y->distance) ||
        !same_double(x->norm_a, y->norm_a) ||
        !same_double(x->norm_b, y->norm_b) || !same_double(x->dot, y->dot) ||
        !same_double(x->sum_abs, y->sum_abs) ||
        !same_double(x->max_abs, y->max_abs))
        ck_abort_msg("%s, width %lld: distance %.17g, should be %.17g; dot "
                     "%.17g, %.17g; sum %.17g, %.17g; largest %.17g, %.17g",
                     pair, (long long)n, x->distance, y->distance, x->dot,
                     y->dot, x->sum_abs, y->sum_abs, x->max_abs, y->max_abs);
    if (x->max_c != y->max_c || x->nonfinite_a != y->nonfinite_a ||
        x->nonfinite_b != y->nonfinite_b || x->mismatched != y->mismatched ||
        x->mismatched_c != y->mismatched_c)
        ck_abort_msg("%s, width %lld: largest at %lld, should be %lld; first "
                     "mismatch at %lld, should be %lld",
                     pair, (long long)n, (long long)x->max_c,
                     (long long)y->max_c, (long long)x->mismatched_c,
                     (long long)y->mismatched_c);
    if (!same_double(x->max_a, y->max_a) || !same_double(x->max_b, y->max_b))
        ck_abort_msg("%s, width %lld: values %.17g and %.17g, should be %.17g "
                     "and %.17g",
                     pair, (long long)n, x->max_a, x->max_b, y->max_a,
                     y->max_b);
}

/* Of a row's C and E, or of a bound. */
static void expect_beyond(const char *format, int64_t n,
                          const struct assay_row_beyond *x,
                          const struct assay_row_beyond *y)
{
    if (!same_double(x->beyond, y->beyond) ||
        !same_double(x->rounding, y->rounding))
        ck_abort_msg("%s, width %lld: beyond %.17g, should be %.17g; rounding "
                     "%.17g, should be %.17g",
                     format, (long long)n, x->beyond, y->beyond, x->rounding,
                     y->rounding);
    if (x->bound_part != y->bound_part || x->bound_c != y->bound_c)
        ck_abort_msg("%s, width %lld: part %.17g at %lld, should be %.17g at "
                     "%lld",
                     format, (long long)n, x->bound_part, (long long)x->bound_c,
                     y->bound_part, (long long)y->bound_c);
}

/* One row of three answers, in one walk and pair by pair. */
static void expect_plain(int64_t n, enum assay_format_id format, const float *c,
                         const float *e, const float *x, const float *bound)
{
    const struct assay_problem p = { 1, 1, 1, 1, 1, 1, n, 0, 1 };
    const struct assay_format *out = assay_format_get(format);
    const struct assay_row want_ce = plain_row(n, c, e),
                           want_ex = plain_row(n, e, x),
                           want_cx = plain_row(n, c, x);
    struct assay_row ce, ex, cx, two;
    struct assay_row_beyond beyond, want;
    plain_rest(n, out, c, e, bound, &want);
    assay_rows_measure(&p, out, c, e, x, bound, &ce, &ex, &cx, &beyond);
    expect_row("c, e", n, &ce, &want_ce);
    expect_row("e, x", n, &ex, &want_ex);
    expect_row("c, x", n, &cx, &want_cx);
    expect_beyond(out->name, n, &beyond, &want);
    assay_rows_compare(&p, c, e, &two);
    expect_row("two", n, &two, &want_ce);
}

/* ---- rows ---- */

struct answers {
    float c[WIDEST], e[WIDEST], x[WIDEST], bound[WIDEST];
};

/* Answers from subnormal to large, a few bf16 steps apart. */
static void fill(struct answers *a, uint64_t seed, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t k = (uint64_t)i;
        const int scale = (int)(values_bits(seed + 1, k) % 40) - 20;
        a->x[i] = ldexpf(values_normal(seed, k), scale < -18 ? -140 : scale);
        a->e[i] = a->x[i] * (1 + 0x1p-8f * values_normal(seed + 2, k));
        a->c[i] = a->e[i] * (1 + 0x1p-6f * values_normal(seed + 3, k));
        a->bound[i] = fabsf(a->x[i]) * 0x1p-9f;
    }
}

START_TEST(finite_rows)
{
    static const enum assay_format_id formats[] = { ASSAY_BF16, ASSAY_F16,
                                                    ASSAY_F32, ASSAY_E4M3FN,
                                                    ASSAY_INT8 };
    static struct answers a;
    for (int w = 0; w < N_WIDTHS; w++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            fill(&a, 100 + 10 * seed, WIDTHS[w]);
            expect_plain(WIDTHS[w], formats[seed % 5], a.c, a.e, a.x,
                         seed % 3 ? a.bound : NULL);
        }
}
END_TEST

/* Where all distances, or the largest, are equal, the first channel is told;
 * signs of zero are no difference. */
START_TEST(ties)
{
    static struct answers a;
    for (int w = 0; w < N_WIDTHS; w++) {
        const int64_t n = WIDTHS[w];
        for (int64_t i = 0; i < n; i++) {
            a.c[i] = i % 2 ? -0.0f : 0;
            a.e[i] = i % 3 ? -0.0f : 0;
            a.x[i] = 1;
            a.bound[i] = 0.25f;
        }
        expect_plain(n, ASSAY_BF16, a.c, a.e, a.x, a.bound);
        for (int64_t first = 0; first < n; first += 1 + n / 20) {
            a.c[first] = a.c[n - 1] = a.c[first + (n - first) / 2] = 4;
            expect_plain(n, ASSAY_BF16, a.c, a.e, a.x, a.bound);
            memset(a.c, 0, sizeof a.c);
        }
    }
}
END_TEST

/* Each in each of the answers, alone or in two at once, at the first and the
 * last channel and between. */
START_TEST(b46_not_finite_anywhere)
{
    static const float bad[] = { NAN, INFINITY, -INFINITY };
    static struct answers a, b;
    for (int w = 0; w < N_WIDTHS; w++) {
        const int64_t n = WIDTHS[w];
        const int64_t places[] = { 0, n - 1, n / 2, n > 8 ? 8 : 0 };
        fill(&a, 300, n);
        for (int what = 0; what < 27; what++)
            for (int at = 0; at < 4; at++) {
                b = a;
                if (what % 3)
                    b.c[places[at]] = bad[what % 3];
                if (what / 3 % 3)
                    b.e[places[at]] = bad[what / 3 % 3];
                if (what / 9)
                    b.x[places[(at + what % 2) % 4]] = bad[what / 9];
                if (what == 0)
                    b.c[places[at]] = b.e[places[(at + 1) % 4]] = bad[0];
                expect_plain(n, at % 2 ? ASSAY_BF16 : ASSAY_INT8, b.c, b.e, b.x,
                             at < 2 ? b.bound : NULL);
            }
    }
}
END_TEST

/* ---- figures by hand ---- */

/* bf16 has steps of 2^-7 from 1 on, of 2^-133 near zero. */
START_TEST(beyond_by_hand)
{
    const struct assay_problem p = { 1, 1, 1, 1, 1, 1, 3, 0, 1 };
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    const float e[3] = { 1, -1, 0 };
    const float c[3] = { 1 + 0x1p-6f, -1 + 0x1p-7f, 0x1p-132f };
    const float bound[3] = { 0x1p-9f, 0, 0x1p-149f };
    struct assay_row ce, ex, cx;
    struct assay_row_beyond row;
    assay_rows_measure(&p, bf16, c, e, e, bound, &ce, &ex, &cx, &row);
    /* 2 steps less 1.5 is half a step, 2^-8; 1 step and 2 steps of 2^-133 */
    ck_assert_double_eq_tol(row.beyond, 0x1p-8, 1e-18);
    /* 1.5 steps of 2^-7 twice */
    ck_assert_double_eq_tol(row.rounding, sqrt(2) * 0x1.8p-7, 1e-17);
    ck_assert(row.bound_part == 0x1p15 && row.bound_c == 2);
    ck_assert_int_eq(ce.max_c, 0);
    ck_assert(ce.max_a == c[0] && ce.max_b == 1 && ex.max_a == 1);
    assay_rows_measure(&p, bf16, c, e, e, NULL, &ce, &ex, &cx, &row);
    ck_assert(row.bound_part == 0 && row.bound_c == -1);
}
END_TEST

/* Nothing left of nothing allowed is 0; something is infinite, the first one;
 * a bound that is no number or below 0 allows nothing. */
START_TEST(bounds_of_nothing)
{
    const struct assay_problem p = { 1, 1, 1, 1, 1, 1, 9, 0, 1 };
    const struct assay_format *f32 = assay_format_get(ASSAY_F32);
    const float none[] = { 0, -0.0f, -1, NAN, -INFINITY };
    float c[9] = { 0 }, e[9] = { 0 }, bound[9] = { 0 };
    struct assay_row ce, ex, cx;
    struct assay_row_beyond row;
    assay_rows_measure(&p, f32, c, e, e, bound, &ce, &ex, &cx, &row);
    ck_assert(row.bound_part == 0 && row.bound_c == -1);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 5; k++) {
            memset(c, 0, sizeof c);
            c[i] = c[8] = 1;
            c[(i + 4) % 9] += 2;
            for (int j = 0; j < 9; j++)
                bound[j] = 1;
            bound[i] = none[k];
            assay_rows_measure(&p, f32, c, e, e, bound, &ce, &ex, &cx, &row);
            ck_assert(row.bound_part == INFINITY && row.bound_c == i);
        }
    bound[0] = INFINITY;
    assay_rows_measure(&p, f32, c, e, e, bound, &ce, &ex, &cx, &row);
    ck_assert(row.bound_part > 0 && row.bound_c != 0);
}
END_TEST

/* ---- layout ---- */

/* Rows go where [b, hq, nq] says, each in an array of its own, and nothing is
 * written behind them. */
START_TEST(rows_of_a_tensor)
{
    enum { B = 2, H = 3, N = 37, DV = 11, ROWS = B * H * N, ELEMS = ROWS * DV };
    const struct assay_problem p = { B, H, 1, N, 1, 1, DV, 0, 1 };
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    static float of[3][ELEMS], bound[ELEMS];
    static struct assay_row rows[3][ROWS + 1];
    static struct assay_row_beyond beyond[ROWS + 1];
    for (int k = 0; k < 3; k++) {
        values_fill(400 + (uint64_t)k, ELEMS, of[k]);
        rows[k][ROWS].norm_a = -7;
    }
    values_fill(403, ELEMS, bound);
    beyond[ROWS].beyond = -7;
    assay_rows_measure(&p, bf16, of[0], of[1], of[2], bound, rows[0], rows[1],
                       rows[2], beyond);
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t t = r / N / H, h = r / N % H, i = r % N;
        const int64_t at = ((t * N + i) * H + h) * DV;
        const float *c = of[0] + at, *e = of[1] + at, *x = of[2] + at;
        const struct assay_row ce = plain_row(DV, c, e),
                               ex = plain_row(DV, e, x),
                               cx = plain_row(DV, c, x);
        struct assay_row_beyond rest;
        plain_rest(DV, bf16, c, e, bound + at, &rest);
        expect_row("c, e", DV, &rows[0][r], &ce);
        expect_row("e, x", DV, &rows[1][r], &ex);
        expect_row("c, x", DV, &rows[2][r], &cx);
        expect_beyond("bf16", DV, &beyond[r], &rest);
    }
    for (int k = 0; k < 3; k++)
        ck_assert(rows[k][ROWS].norm_a == -7);
    ck_assert(beyond[ROWS].beyond == -7);
}
END_TEST

/* B51: a sum in binary32 of so many ones stalls at 2^24. */
START_TEST(b51_long_rows)
{
    enum { N = (1 << 24) + 1024 };
    const struct assay_problem p = { 1, 1, 1, 1, 1, 1, N, 0, 1 };
    float *c = must_alloc(N, sizeof *c), *e = must_alloc(N, sizeof *e);
    struct assay_row ce, ex, cx;
    struct assay_row_beyond row;
    struct assay_distance d;
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    for (int64_t i = 0; i < N; i++) {
        c[i] = 3;
        e[i] = 2;
    }
    assay_rows_measure(&p, bf16, c, e, c, NULL, &ce, &ex, &cx, &row);
    ck_assert(ce.sum_abs == N && ex.sum_abs == N);
    ck_assert(cx.sum_abs == 0 && cx.dot == 9.0 * N);
    assay_distance(&p, &ce, NULL, NULL, 0, 1, &d);
    ck_assert(d.mae == 1 && d.rel_l2 == 0.5);
    /* eight lanes put 2^24 off, but not what is below 1 */
    for (int64_t i = 0; i < N; i++)
        c[i] = 3 + 0x1p-10f;
    assay_rows_measure(&p, bf16, c, e, e, NULL, &ce, &ex, &cx, &row);
    ck_assert(ce.sum_abs == N * (1 + 0x1p-10) && cx.sum_abs == ce.sum_abs);
    c[N - 1] = 4; /* a channel beyond what binary32 counts */
    assay_rows_measure(&p, bf16, c, e, e, NULL, &ce, &ex, &cx, &row);
    ck_assert(ce.max_abs == 2 && cx.max_c == N - 1);
    ck_assert(cx.max_a == 4 && cx.max_b == 2);
    free(c);
    free(e);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics_rows");
    TCase *c = tcase_create("metrics_rows");
    tcase_add_test(c, finite_rows);
    tcase_add_test(c, ties);
    tcase_add_test(c, b46_not_finite_anywhere);
    tcase_add_test(c, beyond_by_hand);
    tcase_add_test(c, bounds_of_nothing);
    tcase_add_test(c, rows_of_a_tensor);
    tcase_add_test(c, b51_long_rows);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
