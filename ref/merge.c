/* SPDX-License-Identifier: MIT */
#include "assay/merge.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "assay/memory.h"

static bool same_name(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *shown(const char *name)
{
    return name ? name : "exact";
}

enum assay_status assay_merge_check(int64_t n,
                                    const struct assay_partial *parts,
                                    struct assay_error *err)
{
    for (int64_t k = 1; k < n; k++)
        if (!same_name(parts[k].recipe, parts[0].recipe) ||
            !same_name(parts[k].softmax, parts[0].softmax))
            return assay_fail(err, ASSAY_USAGE,
                              "part 0 is of recipe %.60s with softmax %.60s, "
                              "part %" PRId64
                              " of recipe %.60s with softmax %.60s: their LSE "
                              "do not compare",
                              shown(parts[0].recipe), shown(parts[0].softmax),
                              k, shown(parts[k].recipe),
                              shown(parts[k].softmax));
    return ASSAY_OK;
}

/* What the LSE of a row's parts come to: weights are exp(LSE_k - top) / sum.
 */
struct weights {
    double top, sum, lse;
};

static struct weights weigh(int64_t n, const struct assay_partial *parts,
                            int64_t row)
{
    struct weights w = { -INFINITY, 0, -INFINITY };
    int64_t top = 0;
    for (int64_t k = 0; k < n; k++) {
        const double lse = parts[k].lse[row];
        if (isnan(lse))
            return (struct weights){ NAN, NAN, NAN };
        if (lse > w.top) {
            w.top = lse;
            top = k;
        }
    }
    if (isinf(w.top))
        return (struct weights){ w.top, NAN, w.top };
    /* the largest is left out of the sum: log1p keeps what is next to it */
    for (int64_t k = 0; k < n; k++)
        if (k != top)
            w.sum += exp(parts[k].lse[row] - w.top);
    w.lse = w.sum > 0 ? w.top + log1p(w.sum) : w.top; /* -0 stays -0 */
    w.sum += 1;
    return w;
}

/* The first part that is not empty sets the sum, so that a zero keeps its
 * sign. */
static void add_up(int64_t n, const struct assay_partial *parts, int64_t row,
                   int64_t at, int64_t dv, const struct weights *w, double *sum)
{
    bool any = false;
    for (int64_t k = 0; k < n; k++) {
        const double lse = parts[k].lse[row], *o = parts[k].o + at;
        if (lse == -INFINITY)
            continue;
        const double weight = exp(lse - w->top) / w->sum;
        for (int64_t c = 0; c < dv; c++)
            sum[c] = any ? sum[c] + weight * o[c] : weight * o[c];
        any = true;
    }
}

static void merge_row(int64_t n, const struct assay_partial *parts, int64_t row,
                      int64_t at, int64_t dv, double *sum, double *o,
                      double *lse)
{
    const struct weights w = weigh(n, parts, row);
    const bool empty = w.lse == -INFINITY;
    for (int64_t c = 0; c < dv; c++)
        sum[c] = empty ? 0 : NAN;
    if (isfinite(w.lse))
        add_up(n, parts, row, at, dv, &w, sum);
    memcpy(o + at, sum, (size_t)dv * sizeof *o);
    lse[row] = w.lse;
}

enum assay_status assay_merge(const struct assay_problem *p, int64_t n,
                              const struct assay_partial *parts, bool mixed,
                              double *o, double *lse, struct assay_error *err)
{
    double *sum;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    if (n < 0)
        return assay_fail(err, ASSAY_USAGE,
                          "%" PRId64 " parts cannot be merged", n);
    if (!mixed && (st = assay_merge_check(n, parts, err)) != ASSAY_OK)
        return st;
    if ((st = assay_alloc("a row", p->dv, sizeof *sum, &sum, err)) != ASSAY_OK)
        return st;
    for (int64_t row = 0; row < assay_problem_rows(p); row++) {
        const int64_t i = row % p->nq, h = row / p->nq % p->hq,
                      b = row / p->nq / p->hq;
        merge_row(n, parts, row, assay_row_offset(p->nq, p->hq, p->dv, b, i, h),
                  p->dv, sum, o, lse);
    }
    assay_free(sum);
    return ASSAY_OK;
}
