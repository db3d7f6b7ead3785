/* SPDX-License-Identifier: MIT
 *
 * Attention as it is written down, for tests and small cases.
 */
#include <math.h>

#include "assay/attention.h"
#include "assay/memory.h"

double assay_logsumexp(int64_t n, const double *x)
{
    int64_t top = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            return NAN;
        if (x[i] > x[top])
            top = i;
    }
    if (n <= 0)
        return -INFINITY;
    if (isinf(x[top]))
        return x[top];
    /* the largest is left out of the sum: log1p keeps what is next to it */
    double rest = 0;
    for (int64_t i = 0; i < n; i++)
        if (i != top)
            rest += exp(x[i] - x[top]);
    return x[top] + log1p(rest);
}

/* One row; `s` holds nk doubles. */
static double plain_row(const struct assay_problem *p, const float *q,
                        const float *k, const float *v, int64_t visible,
                        double *s, double *o)
{
    for (int64_t j = 0; j < visible; j++) {
        const float *kj = k + j * p->hk * p->dk;
        double dot = 0;
        for (int64_t c = 0; c < p->dk; c++)
            dot += (double)q[c] * kj[c];
        s[j] = p->softmax_scale * dot;
    }
    double lse = assay_logsumexp(visible, s);
    for (int64_t c = 0; c < p->dv; c++)
        o[c] = 0;
    if (lse == -INFINITY)
        return lse;
    for (int64_t j = 0; j < visible; j++) {
        const float *vj = v + j * p->hk * p->dv;
        double weight = exp(s[j] - lse);
        for (int64_t c = 0; c < p->dv; c++)
            o[c] += weight * vj[c];
    }
    return lse;
}

enum assay_status assay_attention_plain(const struct assay_problem *p,
                                        const float *q, const float *k,
                                        const float *v, double *o, double *lse,
                                        struct assay_error *err)
{
    double *s = NULL, *row = NULL;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK ||
        (st = assay_alloc("scores", p->nk, sizeof *s, &s, err)) != ASSAY_OK ||
        (st = assay_alloc("a row", p->dv, sizeof *row, &row, err)) != ASSAY_OK)
        goto out;
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < p->nq; i++) {
                int64_t kv = h / (p->hq / p->hk);
                double *to =
                    o ? o + assay_row_offset(p->nq, p->hq, p->dv, b, i, h)
                      : row;
                double l = plain_row(
                    p, q + assay_row_offset(p->nq, p->hq, p->dk, b, i, h),
                    k + assay_row_offset(p->nk, p->hk, p->dk, b, 0, kv),
                    v + assay_row_offset(p->nk, p->hk, p->dv, b, 0, kv),
                    assay_problem_visible(p, i), s, to);
                if (lse)
                    lse[(b * p->hq + h) * p->nq + i] = l;
            }
out:
    assay_free(s);
    assay_free(row);
    return st;
}
