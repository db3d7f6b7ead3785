/* SPDX-License-Identifier: MIT
 *
 * The golden's own error, from sampled rows in binary128.
 */
#include <math.h>
#include <omp.h>

#include "assay/attention.h"
#include "assay/memory.h"

/* One row in binary128 against the answer; `s` holds nk, `sum` dv values. */
static void row_bar(const struct assay_problem *p, const float *q,
                    const float *k, const float *v, int64_t visible,
                    const double *o, double lse, _Float128 *s, _Float128 *sum,
                    double *bar_o, double *bar_lse)
{
    _Float128 top = -(_Float128)INFINITY, l = 0;
    for (int64_t j = 0; j < visible; j++) {
        const float *kj = k + j * p->hk * p->dk;
        _Float128 dot = 0;
        for (int64_t c = 0; c < p->dk; c++)
            dot += (double)q[c] * kj[c]; /* 24 x 24 bits: exact in double */
        s[j] = p->softmax_scale * dot;
        top = s[j] > top ? s[j] : top;
    }
    for (int64_t c = 0; c < p->dv; c++)
        sum[c] = 0;
    for (int64_t j = 0; j < visible && !isinf(top); j++) {
        const float *vj = v + j * p->hk * p->dv;
        _Float128 weight = expf128(s[j] - top);
        l += weight;
        for (int64_t c = 0; c < p->dv; c++)
            sum[c] += weight * vj[c];
    }
    _Float128 right = l == 0 ? -(_Float128)INFINITY : top + logf128(l);
    double off = l == 0 && lse == -INFINITY ? 0 : fabs((double)(lse - right));
    if (!(off <= *bar_lse))
        *bar_lse = off;
    for (int64_t c = 0; c < p->dv; c++) {
        off = fabs((double)(o[c] - (l == 0 ? 0 : sum[c] / l)));
        if (!(off <= *bar_o))
            *bar_o = off;
    }
}

/* Row n of `count`: first and last, and evenly between. */
static int64_t sample(int64_t rows, int64_t count, int64_t n)
{
    return count == 1 ? rows - 1 : n * (rows - 1) / (count - 1);
}

enum assay_status assay_error_bar(const struct assay_problem *p, const float *q,
                                  const float *k, const float *v,
                                  const double *o, const double *lse,
                                  int64_t rows_per_head, double *bar_o,
                                  double *bar_lse, const struct assay_run *run,
                                  struct assay_error *err)
{
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    const int64_t count = rows_per_head < p->nq ? rows_per_head : p->nq;
    const int64_t heads = p->b * p->hq;
    const int threads =
        run && run->threads > 0 ? run->threads : omp_get_max_threads();
    _Float128 *scratch;
    st = assay_alloc("binary128 rows", threads * (p->nk + p->dv),
                     sizeof *scratch, &scratch, err);
    if (st != ASSAY_OK)
        return st;
    int64_t done = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t bh = 0; bh < heads; bh++) {
        int64_t b = bh / p->hq, h = bh % p->hq, kv = h / (p->hq / p->hk);
        _Float128 *s = scratch + omp_get_thread_num() * (p->nk + p->dv);
        bar_o[bh] = bar_lse[bh] = 0;
        for (int64_t n = 0; n < count; n++) {
            int64_t i = sample(p->nq, count, n);
            row_bar(p, q + assay_row_offset(p->nq, p->hq, p->dk, b, i, h),
                    k + assay_row_offset(p->nk, p->hk, p->dk, b, 0, kv),
                    v + assay_row_offset(p->nk, p->hk, p->dv, b, 0, kv),
                    assay_problem_visible(p, i),
                    o + assay_row_offset(p->nq, p->hq, p->dv, b, i, h),
                    lse[bh * p->nq + i], s, s + p->nk, &bar_o[bh],
                    &bar_lse[bh]);
        }
        if (run && run->progress) {
#pragma omp critical(assay_error_bar)
            run->progress(run->context, ++done, heads);
        }
    }
    assay_free(scratch);
    return ASSAY_OK;
}
