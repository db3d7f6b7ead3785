/* SPDX-License-Identifier: MIT
 *
 * The host side of the attention kernels: which jobs a recipe takes, how much
 * workspace they need, and the launch.
 */
#ifndef ASSAY_KERNELS_ATTENTION_RUN_H
#define ASSAY_KERNELS_ATTENTION_RUN_H

#include "assay/kernel.h"
#include "attention.h"
#include "quantize.h"
#include "recipe.h"

#include <stdio.h>
#include <string.h>

static inline int refuse(int code, char *reason, size_t reason_bytes,
                         const char *text)
{
    if (reason && reason_bytes)
        snprintf(reason, reason_bytes, "%s", text);
    return code;
}

static inline AttentionArgs attention_args(const assay_kernel_job *job)
{
    auto tensor = [](const assay_kernel_tensor &t) {
        return TensorArgs{t.data, (const float *)t.scale, t.stride[0],
                          t.stride[1], t.stride[2]};
    };
    AttentionArgs a = {};
    a.q = tensor(job->q);
    a.k = tensor(job->k);
    a.v = tensor(job->v);
    a.o = tensor(job->o);
    a.lse = job->lse;
    a.batch = job->batch;
    a.seqlen_q = job->seqlen_q;
    a.seqlen_k = job->seqlen_k;
    a.heads_q = job->heads_q;
    a.heads_kv = job->heads_kv;
    a.head_dim = job->head_dim_qk;
    a.query_tiles = (job->seqlen_q + kQueries - 1) / kQueries;
    a.scale_log2e = job->softmax_scale * 1.4426950408889634;
    a.causal = job->mask == ASSAY_KERNEL_MASK_CAUSAL;
    a.o_is_f32 = job->o.format == ASSAY_KERNEL_F32;
    return a;
}

static inline bool tensor_is(const assay_kernel_tensor &t,
                             assay_kernel_format format, bool scaled)
{
    return t.format == format &&
           t.scale_mode == (scaled ? ASSAY_KERNEL_SCALE_F32_PER_TENSOR
                                           : ASSAY_KERNEL_SCALE_NONE);
}

/* NULL, or what is not supported whatever the recipe. */
static inline const char *shape_problem(const assay_kernel_job *job)
{
    if (job->size < sizeof *job)
        return "the job is of an older interface";
    if (job->workload != ASSAY_KERNEL_DENSE)
        return "only the dense workload";
    if (job->mask != ASSAY_KERNEL_MASK_NONE &&
        job->mask != ASSAY_KERNEL_MASK_CAUSAL)
        return "only no mask or the causal mask";
    if (job->head_dim_qk != job->head_dim_v ||
        (job->head_dim_qk != 64 && job->head_dim_qk != 128))
        return "head dimensions must be 64 or 128, equal for qk and v";
    if (job->batch < 0 || job->seqlen_q < 0 || job->seqlen_k < 0 ||
        job->heads_q < 1 || job->heads_kv < 1)
        return "a size is out of range";
    if (job->heads_q % job->heads_kv)
        return "heads_q is not a multiple of heads_kv";
    if (job->q.stride[3] != 1 || job->k.stride[3] != 1 ||
        job->v.stride[3] != 1 || job->o.stride[3] != 1)
        return "the channel stride must be 1";
    const AttentionArgs a = attention_args(job);
    if ((double)a.query_tiles * (double)a.heads_q * (double)a.batch >
        0x7fffffff)
        return "too many query tiles for one launch";
    return nullptr;
}

template <class Recipe>
const char *attention_problem(const assay_kernel_job *job)
{
    if (const char *problem = shape_problem(job))
        return problem;
    const int input = job->input;
    if (input != ASSAY_KERNEL_RAW && input != ASSAY_KERNEL_PACKED)
        return "unknown input kind";
    if (!(Recipe::kInputs & (unsigned)input))
        return "this recipe has no packed form";
    const bool packed = input == ASSAY_KERNEL_PACKED;
    const auto format = packed ? ASSAY_KERNEL_E4M3FN : ASSAY_KERNEL_BF16;
    if (!tensor_is(job->q, format, packed) ||
        !tensor_is(job->k, format, packed) ||
        !tensor_is(job->v, format, packed))
        return packed ? "packed q, k and v must be e4m3fn, a scale a tensor"
                      : "raw q, k and v must be bf16 without scales";
    if (!tensor_is(job->o, ASSAY_KERNEL_BF16, false) &&
        !tensor_is(job->o, ASSAY_KERNEL_F32, false))
        return "o must be bf16 or f32 without scales";
    return nullptr;
}

template <class Recipe>
int attention_supports(const assay_kernel_job *job, char *reason,
                       size_t reason_bytes)
{
    const char *problem = attention_problem<Recipe>(job);
    return problem ? refuse(1, reason, reason_bytes, problem) : 0;
}

template <class Recipe>
size_t attention_workspace_bytes(const assay_kernel_job *job)
{
    if (!Recipe::kQuantized || job->input != ASSAY_KERNEL_RAW)
        return 0;
    return assay_quantize_bytes(attention_args(job));
}

/* `softmax_scale` apart from the job, for the kernel that gets it wrong. */
template <class Recipe, class Fault>
int attention_launch(const assay_kernel_job *job, double softmax_scale,
                     char *reason, size_t reason_bytes)
{
    if (const char *problem = attention_problem<Recipe>(job))
        return refuse(1, reason, reason_bytes, problem);
    if (job->workspace_bytes < attention_workspace_bytes<Recipe>(job))
        return refuse(2, reason, reason_bytes, "the workspace is too small");

    const hipStream_t stream = (hipStream_t)job->stream;
    AttentionArgs a = attention_args(job);
    a.scale_log2e = softmax_scale * 1.4426950408889634;
    const int64_t blocks = a.query_tiles * a.heads_q * a.batch;
    if (blocks == 0)
        return 0;
    if (Recipe::kQuantized && job->input == ASSAY_KERNEL_RAW)
        assay_quantize(&a, job->workspace, stream);
    auto *kernel = attention_kernel<Recipe, 128, Fault>;
    if (job->head_dim_qk == 64)
        kernel = attention_kernel<Recipe, 64, Fault>;
    assay_launch(kernel, (unsigned)blocks, kThreads, stream, a);

    const hipError_t error = hipGetLastError();
    if (error != hipSuccess)
        return refuse(3, reason, reason_bytes, hipGetErrorString(error));
    return 0;
}

#endif
