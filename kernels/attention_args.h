/* SPDX-License-Identifier: MIT
 *
 * What an attention launch hands to the device.
 */
#ifndef ASSAY_KERNELS_ATTENTION_ARGS_H
#define ASSAY_KERNELS_ATTENTION_ARGS_H

#include "device.h"

#include <stdint.h>

/* [batch, token, head, channel], channel stride 1; strides in elements. */
struct TensorArgs {
    void *data;
    const float *scale; /* of the whole tensor; unused without a recipe's */
    int64_t batch_stride, token_stride, head_stride;

    __host__ __device__ int64_t offset(int64_t b, int64_t token,
                                       int64_t h) const
    {
        return b * batch_stride + token * token_stride + h * head_stride;
    }
};

struct AttentionArgs {
    TensorArgs q, k, v, o;
    float *lse; /* [batch, heads_q, seqlen_q] */
    int64_t batch, seqlen_q, seqlen_k, heads_q, heads_kv, head_dim;
    int64_t query_tiles; /* in a sequence */
    double scale_log2e;  /* softmax_scale / ln 2 */
    bool causal;
    bool o_is_f32; /* else bf16 */
};

/* One element of o. */
struct OutputPlace {
    int64_t b, i, h;
    int c;
};

#endif
