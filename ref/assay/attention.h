/* SPDX-License-Identifier: MIT
 *
 * Exact attention, twice: the definition in plain loops over double, and a
 * blocked form over BLAS for real sizes. With kv = h / (hq/hk):
 *   S[i,j] = softmax_scale * q[b,i,h,:] . k[b,j,kv,:]   over visible j
 *   O[b,i,h,:] = sum_j exp(S[i,j]) v[b,j,kv,:] / sum_j exp(S[i,j])
 *   LSE[b,h,i] = ln sum_j exp(S[i,j])                   nats, in double
 * A row with no visible key, or with scores of -inf only, has O = 0 and
 * LSE = -inf. A masked key is skipped, never multiplied by zero, so what it
 * holds does not matter. A NaN that a row sees gives NaN.
 *
 * Online softmax: Milakov and Gimelshein, arXiv:1805.02867; tiles: Dao,
 * arXiv:2307.08691.
 */
#ifndef ASSAY_ATTENTION_H
#define ASSAY_ATTENTION_H

#include "assay/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a long computation runs. Results do not depend on it. NULL stands for
 * all zero. */
struct assay_run {
    int threads; /* 0: as many as OpenMP would use */
    /* Called from one thread at a time as work units end; may be NULL. */
    void (*progress)(void *context, int64_t done, int64_t total);
    void *context;
};

/* The definition: O(nq nk (dk + dv)) scalar work, any NaN or infinity as IEEE
 * has it. o: [b, nq, hq, dv]; lse: [b, hq, nq]; either may be NULL. */
ASSAY_API enum assay_status
assay_attention_plain(const struct assay_problem *p, const float *q,
                      const float *k, const float *v, double *o, double *lse,
                      struct assay_error *err);

/* The same over BLAS tiles: memory O(tokens x width), the same bits for any
 * number of threads, bits that depend on the BLAS core. Scores, softmax and
 * sums of products in binary32 (f32) or binary64 (f64); row sums of exp and
 * LSE in binary64 in both. A score of +inf gives NaN. */
ASSAY_API enum assay_status
assay_attention_f32(const struct assay_problem *p, const float *q,
                    const float *k, const float *v, float *o, double *lse,
                    const struct assay_run *run, struct assay_error *err);
ASSAY_API enum assay_status
assay_attention_f64(const struct assay_problem *p, const float *q,
                    const float *k, const float *v, double *o, double *lse,
                    const struct assay_run *run, struct assay_error *err);

/* How far an answer is from the truth: the golden's own error bar, per
 * (b, hq): bar_o the largest absolute difference of an output element, bar_lse
 * of an LSE in nats; -inf against -inf counts as 0.
 *
 * f32: every row against binary64 sums, whose own error is nine orders
 * smaller. f64: up to rows_per_head rows a head against binary128, half of
 * them spread evenly, first and last among them, half with the longest
 * queries, whose scores round worst; other rows may be a few times worse. */
ASSAY_API enum assay_status
assay_error_bar_f32(const struct assay_problem *p, const float *q,
                    const float *k, const float *v, const float *o,
                    const double *lse, double *bar_o, double *bar_lse,
                    const struct assay_run *run, struct assay_error *err);
ASSAY_API enum assay_status
assay_error_bar_f64(const struct assay_problem *p, const float *q,
                    const float *k, const float *v, const double *o,
                    const double *lse, int64_t rows_per_head, double *bar_o,
                    double *bar_lse, const struct assay_run *run,
                    struct assay_error *err);

/* ln of the sum of exp(x[i]): -inf for n = 0, +inf if any is +inf, NaN if any
 * is NaN; accurate also where the sum is just above 1. */
ASSAY_API double assay_logsumexp(int64_t n, const double *x);

#ifdef __cplusplus
}
#endif
#endif
