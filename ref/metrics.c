/* SPDX-License-Identifier: MIT */
#include "assay/metrics.h"

#include <math.h>
#include <stdlib.h>

double assay_worst(double so_far, double x)
{
    return isnan(so_far) || x <= so_far ? so_far : x;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void assay_sort(int64_t n, double *x)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
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

/* Of the rows that a mean of LSE is over. */
struct lse_sum {
    int64_t rows;
    double sum;
};

/* LSE over one head; the first mismatched class wins the place. */
static void add_lse(int64_t n, const double *a, const double *b,
                    struct assay_place head, struct assay_distance *out,
                    struct lse_sum *sum)
{
    for (int64_t i = 0; i < n; i++) {
        if (a[i] == -INFINITY && b[i] == -INFINITY)
            continue;
        bool same = assay_same_class(a[i], b[i]);
        double d = !same || isfinite(a[i]) ? fabs(a[i] - b[i]) : 0;
        bool first_bad = !same && out->lse_mismatched++ == 0;
        if (first_bad || (out->lse_mismatched == 0 && !(d <= out->lse_max))) {
            out->lse_max = same ? d : NAN;
            out->lse_at = (struct assay_place){ head.b, head.h, i, -1 };
        }
        sum->sum += same ? d : NAN;
        sum->rows++;
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
        out->worst_row = at;
        at.c = row->mismatched_c;
        out->max_at = at;
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
    struct lse_sum lse = { 0, 0 };
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
                add_lse(p->nq, lse_a + row, lse_b + row, at, out, &lse);
        }
    out->cosine = cosine(s.dot, sqrt(s.a2), sqrt(s.b2));
    out->mae = n ? s.abs / (double)n / (double)p->dv : 0;
    out->rel_l2 = ratio(sqrt(s.d2), sqrt(s.b2), 0);
    out->norm_ratio = ratio(sqrt(s.a2), sqrt(s.b2), 1);
    out->lse_mean = lse.rows ? lse.sum / (double)lse.rows : 0;
    if (!lse_a || !lse_b)
        out->lse_max = out->lse_mean = NAN;
    if (out->mismatched)
        spoil(out);
}
