/* SPDX-License-Identifier: MIT
 *
 * How many keys count in a row of attention: n_eff = 1 / sum p^2, the inverse
 * participation ratio of its softmax weights. n keys of equal weight give n;
 * exp of the entropy is another number, and larger.
 */
#ifndef ASSAY_N_EFF_H
#define ASSAY_N_EFF_H

#include "assay/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of queries 0, every, 2 every, ... of each head: n_eff [b, hq, rows] of
 * rows = ceil(nq / every), which is what assay_n_eff_rows gives. Scores of q
 * [b, nq, hq, dk] and k [b, nk, hk, dk], mask and softmax scale of p, all in
 * binary64. A row that sees no key has 0, one with a score that is NaN or +inf
 * NaN. The same bits for any number of threads; run->progress is not called.
 * ASSAY_USAGE unless every is at least 1. */
ASSAY_API int64_t assay_n_eff_rows(const struct assay_problem *p,
                                   int64_t every);
ASSAY_API enum assay_status assay_n_eff(const struct assay_problem *p,
                                        const float *q, const float *k,
                                        int64_t every, double *n_eff,
                                        const struct assay_run *run,
                                        struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
