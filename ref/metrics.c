/* SPDX-License-Identifier: MIT */
#include "assay/metrics.h"

#include <math.h>

double assay_worst(double so_far, double x)
{
    return isnan(so_far) || x <= so_far ? so_far : x;
}

struct assay_place assay_row_place(const struct assay_problem *p, int64_t r)
{
    return (struct assay_place){ r / p->nq / p->hq, r / p->nq % p->hq,
                                 r % p->nq, -1 };
}

bool assay_same_class(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return true;
}

static void compare_row(int64_t n, const float *a, const float *b,
                        struct assay_row *row)
{
    double d2 = 0, a2 = 0, b2 = 0, dot = 0, sum = 0;
    *row = (struct assay_row){ .max_c = -1, .mismatched_c = -1 };
    for (int64_t c = 0; c < n; c++) {
        double x = a[c], y = b[c], d = fabs(x - y);
        if (isfinite(x) && isfinite(y)) {
            d2 += d * d;
            a2 += x * x;
            b2 += y * y;
            dot += x * y;
            sum += d;
            if (row->max_c < 0 || d > row->max_abs) {
                row->max_abs = d;
                row->max_c = c;
                if (!row->mismatched) {
                    row->max_a = x;
                    row->max_b = y;
                }
            }
            continue;
        }
        row->nonfinite_a += !isfinite(x);
        row->nonfinite_b += !isfinite(y);
        if (!assay_same_class(x, y) && row->mismatched++ == 0) {
            row->mismatched_c = c;
            row->max_a = x;
            row->max_b = y;
        }
    }
    row->distance = sqrt(d2);
    row->norm_a = sqrt(a2);
    row->norm_b = sqrt(b2);
    row->dot = dot;
    row->sum_abs = sum;
}

void assay_rows_compare(const struct assay_problem *p, const float *a,
                        const float *b, struct assay_row *rows)
{
    for (int64_t n = 0; n < p->b; n++)
        for (int64_t i = 0; i < p->nq; i++)
            for (int64_t h = 0; h < p->hq; h++) {
                int64_t at = assay_row_offset(p->nq, p->hq, p->dv, n, i, h);
                compare_row(p->dv, a + at, b + at,
                            &rows[(n * p->hq + h) * p->nq + i]);
            }
}

static double cosine(double dot, double norm_a, double norm_b)
{
    if (norm_a == 0 || norm_b == 0)
        return norm_a == norm_b ? 1 : 0;
    double c = dot / norm_a / norm_b;
    return c > 1 ? 1 : c < -1 ? -1 : c;
}

double assay_row_cosine(const struct assay_row *row)
{
    return row->mismatched ? NAN : cosine(row->dot, row->norm_a, row->norm_b);
}

static double ratio(double x, double y, double both_zero)
{
    return y != 0 ? x / y : x == 0 ? both_zero : INFINITY;
}

/* LSE over one head; the first mismatched class wins the place. */
static void add_lse(int64_t n, const double *a, const double *b,
                    struct assay_place head, struct assay_distance *out,
                    double *sum)
{
    for (int64_t i = 0; i < n; i++) {
        bool same = assay_same_class(a[i], b[i]);
        double d = !same || isfinite(a[i]) ? fabs(a[i] - b[i]) : 0;
        bool first_bad = !same && out->lse_mismatched++ == 0;
        if (first_bad || (out->lse_mismatched == 0 && !(d <= out->lse_max))) {
            out->lse_max = same ? d : NAN;
            out->lse_at = (struct assay_place){ head.b, head.h, i, -1 };
        }
        *sum += same ? d : NAN;
    }
}

static void spoil(struct assay_distance *out)
{
    out->cosine = out->worst_row_cosine = out->mae = out->max_error =
        out->rel_l2 = out->norm_ratio = NAN;
}

/* Sums over the rows; out's places and counts are filled on the way. */
struct sums {
    double d2, a2, b2, dot, abs;
};

static void add_row(const struct assay_row *row, struct assay_place at,
                    struct assay_distance *out, struct sums *s)
{
    double cos = assay_row_cosine(row);
    s->d2 += row->distance * row->distance;
    s->a2 += row->norm_a * row->norm_a;
    s->b2 += row->norm_b * row->norm_b;
    s->dot += row->dot;
    s->abs += row->sum_abs;
    out->nonfinite_a += row->nonfinite_a;
    out->nonfinite_b += row->nonfinite_b;
    bool first_bad = row->mismatched && out->mismatched == 0;
    out->mismatched += row->mismatched;
    if (first_bad) {
        at.c = row->mismatched_c;
        out->max_at = out->worst_row = at;
        out->max_a = row->max_a;
        out->max_b = row->max_b;
    }
    if (out->mismatched)
        return;
    if (out->worst_row.i < 0 || cos < out->worst_row_cosine) {
        out->worst_row_cosine = cos;
        out->worst_row = at;
    }
    at.c = row->max_c;
    if (at.c >= 0 && (out->max_at.i < 0 || row->max_abs > out->max_error)) {
        out->max_error = row->max_abs;
        out->max_a = row->max_a;
        out->max_b = row->max_b;
        out->max_at = at;
    }
}

void assay_distance(const struct assay_problem *p, const struct assay_row *rows,
                    const double *lse_a, const double *lse_b, int64_t h0,
                    int64_t h1, struct assay_distance *out)
{
    const struct assay_place nowhere = { -1, -1, -1, -1 };
    struct sums s = { 0 };
    double lse_sum = 0;
    const int64_t n = p->b * (h1 - h0) * p->nq;
    *out = (struct assay_distance){ .worst_row = nowhere,
                                    .max_at = nowhere,
                                    .lse_at = nowhere,
                                    .worst_row_cosine = 1 };
    for (int64_t t = 0; t < p->b; t++)
        for (int64_t h = h0; h < h1; h++) {
            int64_t row = (t * p->hq + h) * p->nq;
            struct assay_place at = { t, h, 0, -1 };
            for (; at.i < p->nq; at.i++)
                add_row(&rows[row + at.i], at, out, &s);
            if (lse_a && lse_b)
                add_lse(p->nq, lse_a + row, lse_b + row, at, out, &lse_sum);
        }
    out->cosine = cosine(s.dot, sqrt(s.a2), sqrt(s.b2));
    out->mae = n ? s.abs / (double)n / (double)p->dv : 0;
    out->rel_l2 = ratio(sqrt(s.d2), sqrt(s.b2), 0);
    out->norm_ratio = ratio(sqrt(s.a2), sqrt(s.b2), 1);
    out->lse_mean = n ? lse_sum / (double)n : 0;
    if (!lse_a || !lse_b)
        out->lse_max = out->lse_mean = NAN;
    if (out->mismatched)
        spoil(out);
}

static const double OUTPUT_ULPS = 1.5;

void assay_rows_measure(const struct assay_problem *p,
                        const struct assay_format *out, const float *c,
                        const float *e, const float *x, const float *bound,
                        struct assay_row *ce, struct assay_row *ex,
                        struct assay_row *cx, struct assay_row_beyond *beyond)
{
    assay_rows_compare(p, c, e, ce);
    assay_rows_compare(p, e, x, ex);
    assay_rows_compare(p, c, x, cx);
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        struct assay_place at = assay_row_place(p, r);
        int64_t o = assay_row_offset(p->nq, p->hq, p->dv, at.b, at.i, at.h);
        double s2 = 0, r2 = 0;
        beyond[r] = (struct assay_row_beyond){ .bound_c = -1 };
        for (int64_t i = o; i < o + p->dv; i++) {
            if (!isfinite(c[i]) || !isfinite(e[i]))
                continue;
            float large = fabsf(c[i]) > fabsf(e[i]) ? c[i] : e[i];
            double u = OUTPUT_ULPS * assay_format_ulp(out, large);
            double d = fabs((double)c[i] - e[i]) - u;
            d = d > 0 ? d : 0;
            s2 += d * d;
            r2 += u * u;
            double part = d == 0 || !bound ? 0 : d / bound[i];
            if (part > beyond[r].bound_part) {
                beyond[r].bound_part = part;
                beyond[r].bound_c = i - o;
            }
        }
        beyond[r].beyond = sqrt(s2);
        beyond[r].rounding = sqrt(r2);
    }
}
