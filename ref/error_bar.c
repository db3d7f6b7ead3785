/* SPDX-License-Identifier: MIT
 *
 * The golden's own error: all rows in binary64 for a binary32 answer, sampled
 * rows in binary128 for a binary64 one.
 */
#include <math.h>
#include <omp.h>

#include "assay/attention.h"
#include "assay/memory.h"
#include "assay/metrics.h"
#include "config.h"

/* binary128 where the compiler has it, else what long double is (on x86 11
 * more bits than binary64). */
#ifdef HAVE__FLOAT128
typedef _Float128 wide;
#define wide_exp expf128
#define wide_log logf128
#else
typedef long double wide;
#define wide_exp expl
#define wide_log logl
#endif

/* One row in binary128 against the answer; `s` holds nk, `sum` dv values. */
static void row_bar(const struct assay_problem *p, const float *q,
                    const float *k, const float *v, int64_t visible,
                    const double *o, double lse, wide *s, wide *sum,
                    double *bar_o, double *bar_lse)
{
    wide top = -(wide)INFINITY, l = 0;
    for (int64_t j = 0; j < visible; j++) {
        const float *kj = k + j * p->hk * p->dk;
        wide dot = 0;
        for (int64_t c = 0; c < p->dk; c++)
            dot += (double)q[c] * kj[c]; /* 24 x 24 bits: exact in double */
        s[j] = p->softmax_scale * dot;
        top = s[j] > top ? s[j] : top;
    }
    for (int64_t c = 0; c < p->dv; c++)
        sum[c] = 0;
    for (int64_t j = 0; j < visible && !isinf(top); j++) {
        const float *vj = v + j * p->hk * p->dv;
        wide weight = wide_exp(s[j] - top);
        l += weight;
        for (int64_t c = 0; c < p->dv; c++)
            sum[c] += weight * vj[c];
    }
    wide right = l == 0 ? -(wide)INFINITY : top + wide_log(l);
    double off = l == 0 && lse == -INFINITY ? 0 : fabs((double)(lse - right));
    *bar_lse = assay_worst(*bar_lse, off);
    for (int64_t c = 0; c < p->dv; c++) {
        off = fabs((double)(o[c] - (l == 0 ? 0 : sum[c] / l)));
        *bar_o = assay_worst(*bar_o, off);
    }
}

static double norm2(int64_t n, const float *x)
{
    double sum = 0;
    for (int64_t c = 0; c < n; c++)
        sum += (double)x[c] * x[c];
    return sum;
}

/* Fills `rows` with `count` of a head's rows: half spread evenly, first and
 * last among them, and half the longest queries, whose scores round worst. */
static void sample(const struct assay_problem *p, const float *q, int64_t count,
                   int64_t *rows)
{
    int64_t spread = (count + 1) / 2, n = spread;
    if (count == p->nq) { /* no sample at all */
        for (int64_t i = 0; i < count; i++)
            rows[i] = i;
        return;
    }
    for (int64_t s = 0; s < spread; s++)
        rows[s] = spread == 1 ? p->nq - 1 : s * (p->nq - 1) / (spread - 1);
    for (int64_t i = 0; i < p->nq && count > spread; i++) {
        double own = norm2(p->dk, q + i * p->hq * p->dk);
        int64_t at = n;
        for (; at > spread; at--) {
            if (norm2(p->dk, q + rows[at - 1] * p->hq * p->dk) >= own)
                break;
            if (at < count)
                rows[at] = rows[at - 1];
        }
        if (at < count) {
            rows[at] = i;
            n += n < count;
        }
    }
}

enum assay_status assay_error_bar_f64(const struct assay_problem *p,
                                      const float *q, const float *k,
                                      const float *v, const double *o,
                                      const double *lse, int64_t rows_per_head,
                                      double *bar_o, double *bar_lse,
                                      const struct assay_run *run,
                                      struct assay_error *err)
{
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    const int64_t count = rows_per_head < p->nq ? rows_per_head : p->nq;
    const int64_t heads = p->b * p->hq;
    const int threads =
        run && run->threads > 0 ? run->threads : omp_get_max_threads();
    wide *scratch = NULL;
    int64_t *all_rows = NULL;
    if ((st = assay_alloc("binary128 rows", threads * (p->nk + p->dv),
                          sizeof *scratch, &scratch, err)) != ASSAY_OK ||
        (st = assay_alloc("row numbers", threads * count, sizeof *all_rows,
                          &all_rows, err)) != ASSAY_OK)
        goto out;
    int64_t done = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t bh = 0; bh < heads; bh++) {
        int64_t b = bh / p->hq, h = bh % p->hq, kv = h / (p->hq / p->hk);
        wide *s = scratch + omp_get_thread_num() * (p->nk + p->dv);
        int64_t *rows = all_rows + omp_get_thread_num() * count;
        bar_o[bh] = bar_lse[bh] = 0;
        sample(p, q + assay_row_offset(p->nq, p->hq, p->dk, b, 0, h), count,
               rows);
        for (int64_t n = 0; n < count; n++) {
            int64_t i = rows[n];
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
out:
    assay_free(scratch);
    assay_free(all_rows);
    return st;
}

/* The largest differences of one head. */
static void head_bar(const struct assay_problem *p, int64_t bh, const float *o,
                     const double *lse, const double *right_o,
                     const double *right_lse, double *bar_o, double *bar_lse)
{
    *bar_o = *bar_lse = 0;
    for (int64_t i = 0; i < p->nq; i++) {
        int64_t row = bh * p->nq + i;
        int64_t at =
            assay_row_offset(p->nq, p->hq, p->dv, bh / p->hq, i, bh % p->hq);
        double off =
            lse[row] == right_lse[row] ? 0 : fabs(lse[row] - right_lse[row]);
        *bar_lse = assay_worst(*bar_lse, off);
        for (int64_t c = at; c < at + p->dv; c++) {
            off = fabs(o[c] - right_o[c]);
            *bar_o = assay_worst(*bar_o, off);
        }
    }
}

enum assay_status
assay_error_bar_f32(const struct assay_problem *p, const float *q,
                    const float *k, const float *v, const float *o,
                    const double *lse, double *bar_o, double *bar_lse,
                    const struct assay_run *run, struct assay_error *err)
{
    double *right_o = NULL, *right_lse = NULL;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK ||
        (st = assay_alloc("an output in binary64", assay_problem_o_elems(p),
                          sizeof *right_o, &right_o, err)) != ASSAY_OK ||
        (st = assay_alloc("an LSE", assay_problem_rows(p), sizeof *right_lse,
                          &right_lse, err)) != ASSAY_OK)
        goto out;
    st = assay_attention_f64(p, q, k, v, right_o, right_lse, run, err);
    for (int64_t bh = 0; st == ASSAY_OK && bh < p->b * p->hq; bh++)
        head_bar(p, bh, o, lse, right_o, right_lse, &bar_o[bh], &bar_lse[bh]);
out:
    assay_free(right_o);
    assay_free(right_lse);
    return st;
}
