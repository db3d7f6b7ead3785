/* SPDX-License-Identifier: MIT
 *
 * The kernel ABI: all that a kernel author needs. A module is a shared object
 * that exports one function, assay_module(), which returns a table of
 * kernels. The validator owns all memory, poisons outputs, guards their edges
 * and waits for the launch to end; a kernel says what it supports and launches.
 * It has taken the device (hipSetDevice, cudaSetDevice) before it asks.
 *
 * Plain C, no other header of the project. A job grows only at its end and
 * starts with its size; kernel rows grow only at their end and the module says
 * their size; so an old module and a new validator, or the other way round, can
 * tell which fields both know. Tensors and modules do not grow. Numbers never
 * change; fields that hold them are int32_t, for a number may be newer than the
 * reader.
 */
#ifndef ASSAY_KERNEL_H
#define ASSAY_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_KERNEL_ABI 1

/* Where a module's pointers live. */
enum assay_kernel_device {
    ASSAY_KERNEL_HOST = 0,
    ASSAY_KERNEL_HIP = 1,
    ASSAY_KERNEL_CUDA = 2,
};

/* Element formats; the numbers are those of AITER's MHA v4. */
enum assay_kernel_format {
    ASSAY_KERNEL_F32 = 0,
    ASSAY_KERNEL_F16 = 1,
    ASSAY_KERNEL_BF16 = 2,
    ASSAY_KERNEL_E4M3FN = 3, /* OCP: no infinity, largest 448 */
    ASSAY_KERNEL_E4M3FNUZ = 4,
    ASSAY_KERNEL_E5M2 = 5,
    ASSAY_KERNEL_E5M2FNUZ = 6,
    /* 6- and 4-bit codes are a byte each, in its low bits */
    ASSAY_KERNEL_E2M3 = 7,
    ASSAY_KERNEL_E3M2 = 8,
    ASSAY_KERNEL_E2M1 = 9,
    ASSAY_KERNEL_INT8 = 10,
};

/* How a payload's scales are laid out; value = payload * scale. */
enum assay_kernel_scale {
    ASSAY_KERNEL_SCALE_NONE = 0,
    ASSAY_KERNEL_SCALE_F32_PER_TENSOR = 1, /* one float for all of a tensor */
    ASSAY_KERNEL_SCALE_F32_PER_HEAD = 2,    /* [b, h] */
    ASSAY_KERNEL_SCALE_F32_PER_TOKEN = 3,   /* [b, s, h] */
    ASSAY_KERNEL_SCALE_F32_PER_CHANNEL = 4, /* [b, h, d] */
    /* one byte, 2^(byte - 127), 255 is NaN. q and k, 32 channels of a token:
       [b, s, h, ceil(d / 32)]. v, 32 tokens of a channel: [b, h,
       4 * ceil(s / 128), d]; token t is in block t / 32, or, where P is in FP6
       (token order "fp6p" of the recipe), in 2 * (t / 64) + (t / 4) % 2 */
    ASSAY_KERNEL_SCALE_E8M0_PER_1X32 = 5,
};

enum assay_kernel_workload {
    ASSAY_KERNEL_DENSE = 0, /* every sequence of a batch has full length */
};

/* What q, k and v hold. Used as bits in assay_kernel.inputs. */
enum assay_kernel_input {
    /* captured words; the kernel quantizes, to the bit as the recipe says
       (README.md and HACKING.md, "Recipes") */
    ASSAY_KERNEL_RAW = 1,
    /* the recipe's payloads and scales, K without its mean where the recipe
       smooths: the LSE is that of the payloads, the validator puts back what
       the mean took off it. Where the recipe folds softmax_scale * log2(e)
       into q (scale_in_q of `assay list recipes`), S = ln 2 * q . k */
    ASSAY_KERNEL_PACKED = 2,
    /* no input: beside RAW it says that the kernel is a quantizer, which makes
       codes and scales of captured q, k and v, to the bit as the recipe says;
       o and lse are NULL then. Its softmax_form may be "": any */
    ASSAY_KERNEL_QUANTIZER = 256,
};

enum assay_kernel_mask {
    ASSAY_KERNEL_MASK_NONE = 0,
    /* bottom-right: query i sees key j iff j <= i + seqlen_k - seqlen_q */
    ASSAY_KERNEL_MASK_CAUSAL = 1,
};

/* A tensor [batch, token, head, channel]. Strides count elements; the channel
 * stride is always 1. Offsets may pass 2^31 elements. Pointers are aligned to
 * 16 bytes on the host, to 256 on a GPU. */
struct assay_kernel_tensor {
    void *data; /* inputs are read only, whatever C says */
    int32_t format;     /* enum assay_kernel_format */
    int32_t scale_mode; /* enum assay_kernel_scale */
    const void *scale; /* on the device; NULL with SCALE_NONE */
    int64_t stride[4];
};

/* In which order 32 tokens of v share a scale; see SCALE_E8M0_PER_1X32. */
enum assay_kernel_token_order {
    ASSAY_KERNEL_TOKENS_CANONICAL = 0, /* token t in block t / 32 */
    ASSAY_KERNEL_TOKENS_FP6P = 1,      /* 2 * (t / 64) + (t / 4) % 2 */
};

/* What a quantizer makes of one operand: codes [batch, token, head, channel]
 * and scales as scale_mode says, both contiguous. */
struct assay_kernel_payload {
    void *codes;
    void *scales;        /* NULL with SCALE_NONE */
    int32_t format;      /* enum assay_kernel_format */
    int32_t scale_mode;  /* enum assay_kernel_scale */
    int32_t token_order; /* enum assay_kernel_token_order, of v */
    int32_t reserved;
};

/* One attention problem. With kv = h / (heads_q / heads_kv):
 *   S[i,j] = softmax_scale * q[b,i,h,:] . k[b,j,kv,:]
 *   O[b,i,h,:] = sum over visible j of softmax_j(S[i,:]) * v[b,j,kv,:]
 *   LSE[b,h,i] = ln of the sum over visible j of exp(S[i,j])
 * A query that sees no key has O = 0 and LSE = -infinity. */
struct assay_kernel_job {
    size_t size; /* sizeof(struct assay_kernel_job) in the validator */
    int32_t workload; /* enum assay_kernel_workload */
    int32_t input;    /* enum assay_kernel_input */
    int32_t mask;     /* enum assay_kernel_mask */
    int64_t batch, seqlen_q, seqlen_k;
    int64_t heads_q, heads_kv; /* heads_q is a multiple of heads_kv */
    int64_t head_dim_qk, head_dim_v;
    double softmax_scale;
    struct assay_kernel_tensor q, k, v, o;
    float *lse; /* [batch, heads_q, seqlen_q], contiguous, natural log; never
                   NULL in the launch of an attention kernel */
    void *workspace; /* 256-byte aligned, contents undefined */
    size_t workspace_bytes;
    void *stream; /* hipStream_t or cudaStream_t; NULL on the host */

    /* Of a quantizer, all zero in other jobs; a job whose size ends before
     * them is of a validator that knows no quantizers. */
    struct assay_kernel_payload q_out, k_out, v_out;
    /* Where the recipe smooths: the mean that is taken off k, [batch,
     * heads_kv, head_dim_qk]; NULL: nothing is. */
    const float *k_mean;
};

/* One row of a module's table. All strings are static. */
struct assay_kernel {
    const char *name;
    const char *recipe;       /* as `assay generate --recipe` spells it */
    const char *softmax_form; /* "nominal", for example */
    const char *about;        /* one line for people */
    unsigned inputs;          /* bits of enum assay_kernel_input */

    /* 0: this job can be launched. Anything else: it cannot, and `reason`
     * says why in a few words. Called before memory exists: data, scale, lse
     * and workspace pointers are NULL. */
    int (*supports)(const struct assay_kernel_job *job, char *reason,
                    size_t reason_bytes);

    /* Bytes of workspace the job needs. NULL means none. */
    size_t (*workspace_bytes)(const struct assay_kernel_job *job);

    /* Queues the work on job->stream (on the host: does it) and returns 0,
     * or a non-zero code of the kernel's own with `reason` filled. */
    int (*launch)(const struct assay_kernel_job *job, char *reason,
                  size_t reason_bytes);
};

struct assay_kernel_module {
    uint32_t abi;    /* ASSAY_KERNEL_ABI */
    int32_t device;  /* enum assay_kernel_device */
    const char *name;
    const char *build; /* compiler and flags, for reports; may be NULL */
    size_t kernel_size; /* sizeof(struct assay_kernel) in the module */
    size_t kernel_count;
    const struct assay_kernel *kernels;
};

/* The symbol that a module exports. Called once after loading. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct assay_kernel_module *assay_module(void);

#ifdef __cplusplus
}
#endif
#endif
