/* SPDX-License-Identifier: MIT
 *
 * The functions behind the rows of kernels.def.
 */
#include "attention_run.h"

#define ATTENTION(id, Recipe)                                                 \
    extern "C" int assay_attention_##id##_supports(                           \
        const assay_kernel_job *job, char *reason, size_t reason_bytes)       \
    {                                                                         \
        return attention_supports<Recipe>(job, reason, reason_bytes);         \
    }                                                                         \
    extern "C" size_t assay_attention_##id##_workspace_bytes(                 \
        const assay_kernel_job *job)                                          \
    {                                                                         \
        return attention_workspace_bytes<Recipe>(job);                        \
    }                                                                         \
    extern "C" int assay_attention_##id##_launch(                             \
        const assay_kernel_job *job, char *reason, size_t reason_bytes)       \
    {                                                                         \
        return attention_launch<Recipe, NoFault>(job, job->softmax_scale,     \
                                                 reason, reason_bytes);       \
    }

ATTENTION(bf16, Bf16Recipe)
ATTENTION(e4m3, E4m3Recipe)
