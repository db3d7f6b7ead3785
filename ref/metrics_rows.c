/* SPDX-License-Identifier: MIT
 *
 * Rows of answers, one against another, in one walk over memory. The loops are
 * in metrics_rows.h; a row with something in it that is not finite is taken
 * again, value by value, in the same lanes.
 */
#include "assay/metrics.h"

#include <math.h>
#include <string.h>

#include "ref/bits.h"

enum { LANES = 8 };

/* What is summed of a row, each in lanes: of pairs, of answers. Two times
 * LANES, so that lanes fold without a rest. */
enum pair { CE, EX, CX, PAIRS };
enum sum {
    D2 = 0,
    C2 = D2 + PAIRS,
    E2,
    X2,
    REST2,
    ROUND2,
    DOT = LANES,
    ABS = DOT + PAIRS,
    SUMS = 2 * LANES
};

/* The largest distances of pairs, and the largest part of a bound. */
enum { PART = PAIRS, MAXIMA };

struct figures {
    double of[SUMS], max[MAXIMA], max_c[MAXIMA];
};

/* A row of each; bound may be NULL. */
struct answers {
    const float *c, *e, *x, *bound;
};

/* Where the figures of rows go, [b, hq, nq]. */
struct measured {
    struct assay_row *ce, *ex, *cx;
    struct assay_row_beyond *beyond;
};

/* `ulps` ulp of a format at x: ulps times x's power of two, which is what the
 * exponent's bits in binary64 are alone, or `least` near zero. */
struct rounding {
    const struct assay_format *out;
    int64_t exponent;
    double least, ulps[LANES]; /* none in a lane behind the row's end */
};

static struct rounding rounding_of(const struct assay_format *out)
{
    const bool even = out->top == ASSAY_TOP_INTEGER; /* steps of 1 anywhere */
    const double epsilon = even ? 1 : ldexp(1, -out->man_bits);
    struct rounding by = { out,
                           even ? 0 : 0x7ff0000000000000,
                           assay_format_ulp(out, 0) / epsilon,
                           { 0 } };
    for (int k = 0; k < LANES; k++)
        by.ulps[k] = ASSAY_OUTPUT_ULPS * epsilon;
    return by;
}

#define INLINE static inline __attribute__((always_inline))

/* Zeros behind a row change no sum, and are never the first largest. */
INLINE void pad(int64_t n, const float *x, float *y)
{
    for (int64_t i = 0; i < LANES; i++)
        y[i] = i < n ? x[i] : 0;
}

/* The end of a row that is no whole block. */
INLINE struct answers pad_all(const struct answers *of, int64_t from, int64_t n,
                              float to[4][LANES])
{
    pad(n - from, of->c + from, to[0]);
    pad(n - from, of->e + from, to[1]);
    pad(n - from, of->x + from, to[2]);
    if (of->bound)
        pad(n - from, of->bound + from, to[3]);
    return (struct answers){ to[0], to[1], to[2], of->bound ? to[3] : NULL };
}

INLINE struct rounding pad_rounding(const struct rounding *by, int64_t n)
{
    struct rounding rest = *by;
    for (int64_t k = n; k < LANES; k++)
        rest.ulps[k] = 0;
    return rest;
}

#define WIDE 4
#define NAMED(name) name##_4
#define TARGET ASSAY_CLONES
#include "ref/metrics_rows.h"
#undef WIDE
#undef NAMED
#undef TARGET

#ifdef ASSAY_V4
#define WIDE 8
#define NAMED(name) name##_8
#define TARGET ASSAY_V4
#include "ref/metrics_rows.h"

static bool has_v4(void)
{
    return __builtin_cpu_supports("x86-64-v4");
}
#else
#define sum_two_8 sum_two_4
#define sum_three_8 sum_three_4

static bool has_v4(void)
{
    return false;
}
#endif

/* ---- rows that are not finite ---- */

static double lanes_sum(const double *x)
{
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

/* Those at the first channel whose classes differ, or at the largest. */
static void tell_values(const float *a, const float *b, struct assay_row *row)
{
    const int64_t c = row->mismatched ? row->mismatched_c : row->max_c;
    row->max_a = c < 0 ? 0 : a[c];
    row->max_b = c < 0 ? 0 : b[c];
}

static void compare_plain(int64_t n, const float *a, const float *b,
                          struct assay_row *row)
{
    double d2[LANES] = { 0 }, a2[LANES] = { 0 }, b2[LANES] = { 0 },
           dot[LANES] = { 0 }, sum[LANES] = { 0 };
    *row = (struct assay_row){ .max_c = -1, .mismatched_c = -1 };
    for (int64_t c = 0; c < n; c++) {
        double x = a[c], y = b[c], d = fabs(x - y);
        if (isfinite(x) && isfinite(y)) {
            d2[c % LANES] += d * d;
            a2[c % LANES] += x * x;
            b2[c % LANES] += y * y;
            dot[c % LANES] += x * y;
            sum[c % LANES] += d;
            if (row->max_c < 0 || d > row->max_abs) {
                row->max_abs = d;
                row->max_c = c;
            }
            continue;
        }
        row->nonfinite_a += !isfinite(x);
        row->nonfinite_b += !isfinite(y);
        if (!assay_same_class(x, y) && row->mismatched++ == 0)
            row->mismatched_c = c;
    }
    tell_values(a, b, row);
    row->distance = sqrt(lanes_sum(d2));
    row->norm_a = sqrt(lanes_sum(a2));
    row->norm_b = sqrt(lanes_sum(b2));
    row->dot = lanes_sum(dot);
    row->sum_abs = lanes_sum(sum);
}

/* rest and bound of the same; in a pair that is not finite nothing is left. */
static void leave_plain(int64_t n, const struct answers *of,
                        const struct rounding *by, struct figures *f)
{
    double rest2[LANES] = { 0 }, round2[LANES] = { 0 };
    f->max[PART] = 0;
    f->max_c[PART] = -1;
    for (int64_t i = 0; i < n; i++) {
        const float c = of->c[i], e = of->e[i];
        const double top = fmax(fabs((double)c), fabs((double)e)),
                     d = fabs((double)c - e);
        if (!isfinite(c) || !isfinite(e))
            continue;
        const double allowed =
            ASSAY_OUTPUT_ULPS * assay_format_ulp(by->out, (float)top);
        const double rest = d > allowed ? d - allowed : 0;
        rest2[i % LANES] += rest * rest;
        round2[i % LANES] += allowed * allowed;
        if (!of->bound)
            continue;
        const double bound = of->bound[i] > 0 ? of->bound[i] : 0;
        const double part = rest > 0 ? rest / bound : 0;
        if (part > f->max[PART]) {
            f->max[PART] = part;
            f->max_c[PART] = (double)i;
        }
    }
    f->of[REST2] = lanes_sum(rest2);
    f->of[ROUND2] = lanes_sum(round2);
}

/* ---- rows ---- */

static int64_t channel(const struct figures *f, int which, double *max)
{
    const bool met = f->max[which] >= 0;
    *max = met ? f->max[which] : 0;
    return met ? (int64_t)f->max_c[which] : -1;
}

/* A square of binary32 fits binary64, so a norm is finite just where all of
 * its row is. */
static void settle(int64_t n, const float *a, const float *b,
                   const struct figures *f, enum pair pair, double norm_a,
                   double norm_b, struct assay_row *row)
{
    if (!isfinite(norm_a) || !isfinite(norm_b)) {
        compare_plain(n, a, b, row);
        return;
    }
    *row = (struct assay_row){ .distance = sqrt(f->of[D2 + pair]),
                               .norm_a = norm_a,
                               .norm_b = norm_b,
                               .dot = f->of[DOT + pair],
                               .sum_abs = f->of[ABS + pair],
                               .mismatched_c = -1 };
    row->max_c = channel(f, (int)pair, &row->max_abs);
    tell_values(a, b, row);
}

static void settle_all(int64_t n, const struct answers *of,
                       const struct rounding *by, struct figures *f, int64_t r,
                       const struct measured *to)
{
    struct assay_row_beyond *beyond = &to->beyond[r];
    const double c = sqrt(f->of[C2]), e = sqrt(f->of[E2]), x = sqrt(f->of[X2]);
    if (!isfinite(c) || !isfinite(e))
        leave_plain(n, of, by, f);
    settle(n, of->c, of->e, f, CE, c, e, &to->ce[r]);
    settle(n, of->e, of->x, f, EX, e, x, &to->ex[r]);
    settle(n, of->c, of->x, f, CX, c, x, &to->cx[r]);
    beyond->beyond = sqrt(f->of[REST2]);
    beyond->rounding = sqrt(f->of[ROUND2]);
    beyond->bound_part = f->max[PART];
    beyond->bound_c = (int64_t)f->max_c[PART];
}

void assay_rows_compare(const struct assay_problem *p, const float *a,
                        const float *b, struct assay_row *rows)
{
    const bool v4 = has_v4();
    struct figures f;
    for (int64_t n = 0; n < p->b; n++)
        for (int64_t i = 0; i < p->nq; i++)
            for (int64_t h = 0; h < p->hq; h++) {
                int64_t at = assay_row_offset(p->nq, p->hq, p->dv, n, i, h);
                (v4 ? sum_two_8 : sum_two_4)(p->dv, a + at, b + at, &f);
                settle(p->dv, a + at, b + at, &f, CE, sqrt(f.of[C2]),
                       sqrt(f.of[E2]), &rows[(n * p->hq + h) * p->nq + i]);
            }
}

void assay_rows_measure(const struct assay_problem *p,
                        const struct assay_format *out, const float *c,
                        const float *e, const float *x, const float *bound,
                        struct assay_row *ce, struct assay_row *ex,
                        struct assay_row *cx, struct assay_row_beyond *beyond)
{
    const struct measured to = { ce, ex, cx, beyond };
    const struct rounding by = rounding_of(out);
    const bool v4 = has_v4();
    struct figures f;
    for (int64_t n = 0; n < p->b; n++)
        for (int64_t i = 0; i < p->nq; i++)
            for (int64_t h = 0; h < p->hq; h++) {
                int64_t at = assay_row_offset(p->nq, p->hq, p->dv, n, i, h);
                const struct answers of = { c + at, e + at, x + at,
                                            bound ? bound + at : NULL };
                (v4 ? sum_three_8 : sum_three_4)(p->dv, &of, &by, &f);
                settle_all(p->dv, &of, &by, &f, (n * p->hq + h) * p->nq + i,
                           &to);
            }
}
