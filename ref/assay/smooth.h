/* SPDX-License-Identifier: MIT
 *
 * K smoothing: a component that all keys of a head share shifts each query's
 * scores by one constant, which softmax does not see, but quantization does.
 * Its mean is taken off K before K is quantized, and put back into the LSE.
 * Source: ROCm/aiter aiter/ops/mha_v4.py; SageAttention, arXiv:2410.02367.
 */
#ifndef ASSAY_SMOOTH_H
#define ASSAY_SMOOTH_H

#include <stdbool.h>

#include "assay/format.h"
#include "assay/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* GATED: the mean is taken off only where it is a large part of the keys.
 * FORCED: always. To have it given, do not call, and use the given one. */
enum assay_smoothing { ASSAY_SMOOTHING_GATED, ASSAY_SMOOTHING_FORCED };

/* A sample has at least so many keys, or all, and less than twice as many; the
 * gate is open above this ratio. */
#define ASSAY_SMOOTH_ROWS 2048
#define ASSAY_SMOOTH_RATIO 0.7225 /* 0.85^2 */

/* The caller's arrays; ratio and gate may be NULL. */
struct assay_k_mean {
    float *mean;   /* [b, hk, dk]: what to take off */
    double *ratio; /* [b, hk]: |mean|^2 / mean of |k|^2; 0 if all keys are 0 */
    bool *gate;    /* [b, hk]: whether the gate is open, also where forced */
};

/* Mean of every stride-th key of k [b, nk, hk, dk] from key 0 on, stride =
 * max(1, nk / 2048), padding included; the gate is open iff
 * |mean|^2 > 0.85^2 * mean of |k|^2. A closed gate multiplies the mean by 0: a
 * mean that is not finite becomes NaN, as upstream, and spoils its head.
 * Without keys the mean is 0 and the gate closed.
 *
 * Upstream sums in binary32 in an order that is not told. Here sums run over
 * ascending keys in binary64 and a mean is rounded to binary32 once; the ratio
 * is that of the rounded mean. A GPU's mean may be off in the last bits, and
 * its gate where the ratio is within some 1e-6 of 0.7225. */
ASSAY_API enum assay_status assay_k_mean_compute(const struct assay_problem *p,
                                                 const float *k,
                                                 enum assay_smoothing smoothing,
                                                 const struct assay_k_mean *out,
                                                 struct assay_error *err);

/* What an LSE of scores against K - mean lacks, in nats: delta [b, hq, nq] =
 * word(q . word(mean)) * softmax_scale, of unrotated q [b, nq, hq, dk] and
 * mean [b, hk, dk]; `word` rounds to the format of the inputs (bf16, or f16),
 * q too. The dot product is summed in binary64 over ascending channels and
 * passes through binary32; another order may move it by one ulp of `word`. */
ASSAY_API enum assay_status assay_k_mean_lse_delta(
    const struct assay_problem *p, const struct assay_format *word,
    const float *q, const float *mean, float *delta, struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
