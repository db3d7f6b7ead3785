/* SPDX-License-Identifier: MIT
 *
 * LSE(x s) is convex in x (Boyd and Vandenberghe, Convex Optimization, 3.1.5):
 * in each row at most two x give what is there, one on either side of the
 * least. They are found by bisection, and that x is taken which leaves the
 * least in the middle row.
 */
#include "validate/doctor_scale.h"

#include <math.h>

#include "assay/attention.h"
#include "assay/metrics.h"

enum { STEPS = 48 };

struct fit {
    const struct doctor_scale_row *rows;
    int64_t n;
    int with_shift;
    double *work;
};

/* What is left of row r with x. */
static double left(const struct fit *f, int64_t r, double x)
{
    const struct doctor_scale_row *row = &f->rows[r];
    for (int64_t j = 0; j < row->keys; j++)
        f->work[j] = x * row->s[j];
    return assay_logsumexp(row->keys, f->work) +
           (f->with_shift ? (x - 1) * row->shift : 0) - row->c;
}

/* Where a convex function is least, by thirds. */
static double lowest(const struct fit *f, int64_t r)
{
    double a = DOCTOR_SCALE_LEAST, b = DOCTOR_SCALE_MOST;
    for (int i = 0; i < STEPS; i++) {
        const double x = a + (b - a) / 3, y = b - (b - a) / 3;
        if (left(f, r, x) < left(f, r, y))
            b = y;
        else
            a = x;
    }
    return (a + b) / 2;
}

/* Between `low`, where too little is there, and `high`. */
static double root(const struct fit *f, int64_t r, double low, double high)
{
    if (!(left(f, r, low) <= 0 && left(f, r, high) >= 0))
        return NAN;
    for (int i = 0; i < STEPS; i++) {
        const double x = (low + high) / 2;
        if (left(f, r, x) <= 0)
            low = x;
        else
            high = x;
    }
    return (low + high) / 2;
}

/* |left| of the middle row. */
static double middle(const struct fit *f, double x)
{
    double all[DOCTOR_SCALE_ROWS];
    for (int64_t r = 0; r < f->n; r++)
        all[r] = fabs(left(f, r, x));
    assay_sort(f->n, all);
    return all[f->n / 2];
}

double doctor_scale_find(const struct doctor_scale_row *rows, int64_t n,
                         int with_shift, double *work)
{
    const struct fit f = { rows, n, with_shift, work };
    double roots[2 * DOCTOR_SCALE_ROWS], best = INFINITY, found = NAN;
    int64_t n_roots = 0;
    for (int64_t r = 0; r < n; r++) {
        const double least = lowest(&f, r);
        roots[n_roots++] = root(&f, r, least, DOCTOR_SCALE_LEAST);
        roots[n_roots++] = root(&f, r, least, DOCTOR_SCALE_MOST);
    }
    for (int64_t i = 0; i < n_roots; i++) {
        const double m = isnan(roots[i]) ? INFINITY : middle(&f, roots[i]);
        if (m < best) {
            best = m;
            found = roots[i];
        }
    }
    return found;
}
