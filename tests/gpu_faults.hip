/* SPDX-License-Identifier: MIT
 *
 * Kernels that do a GPU harm, each in one way; tests/gpu_faults.test says what
 * each must come to.
 */
#include "device.h"

#include "assay/kernel.h"

#include <stdint.h>
#include <stdio.h>

#ifdef ASSAY_DEVICE_CUDA
#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#endif

struct Faulty {
    uint16_t *o;
    const uint16_t *q;
    int64_t count; /* of elements of o */
    float *lse;
    int64_t rows;
};

__global__ void writes_nowhere(Faulty f)
{
    f.o[(int64_t)1 << 40] = 1;
}

__global__ void traps(Faulty f)
{
    if (f.count > 0)
        __trap();
}

__global__ void hangs(Faulty f)
{
    volatile uint16_t *o = f.o;
    while (o[0] != 1)
        o[1] = 2;
}

__global__ void writes_past_end(Faulty f)
{
    f.o[f.count] = 1;
}

__global__ void writes_before(Faulty f)
{
    f.o[-1] = 1;
}

__global__ void changes_input(Faulty f)
{
    const_cast<uint16_t *>(f.q)[3] ^= 1;
}

__global__ void writes_nothing(Faulty)
{
}

static Faulty args(const assay_kernel_job *j)
{
    return { (uint16_t *)j->o.data, (const uint16_t *)j->q.data,
             j->batch * j->seqlen_q * j->heads_q * j->head_dim_v, j->lse,
             j->batch * j->seqlen_q * j->heads_q };
}

static int ended(char *why, size_t n)
{
    const hipError_t error = hipGetLastError();
    if (error != hipSuccess)
        snprintf(why, n, "%s", hipGetErrorString(error));
    return error == hipSuccess ? 0 : 3;
}

#define LAUNCH(kernel)                                                         \
    static int launch_##kernel(const assay_kernel_job *j, char *why, size_t n) \
    {                                                                          \
        assay_launch(kernel, 1, 1, (hipStream_t)j->stream, args(j));           \
        return ended(why, n);                                                  \
    }
LAUNCH(writes_nowhere)
LAUNCH(traps)
LAUNCH(hangs)
LAUNCH(writes_past_end)
LAUNCH(writes_before)
LAUNCH(changes_input)
LAUNCH(writes_nothing)

/* More threads a block than any device has, and nobody looks. */
static int launch_loses_launch(const assay_kernel_job *j, char *, size_t)
{
    assay_launch(writes_nothing, 1, 1 << 20, (hipStream_t)j->stream, args(j));
    return 0;
}

/* Memory of its own, more than any device has. */
static int launch_takes_memory(const assay_kernel_job *, char *why, size_t n)
{
    void *at;
    const hipError_t error = hipMalloc(&at, (size_t)1 << 50);
    snprintf(why, n, "%s", hipGetErrorString(error));
    return error == hipSuccess ? 0 : 5;
}

/* What graphs do to launches: O is one word, from where the kernel says. */
__global__ void writes_word(Faulty f, uint16_t word)
{
    for (int64_t i = 0; i < f.count; i++)
        f.o[i] = word;
    for (int64_t i = 0; i < f.rows; i++)
        f.lse[i] = 0;
}

__global__ void copies_q(Faulty f)
{
    for (int64_t i = 0; i < f.count; i++)
        f.o[i] = f.q[0];
    for (int64_t i = 0; i < f.rows; i++)
        f.lse[i] = 0;
}

LAUNCH(copies_q)

static int launch_default_stream(const assay_kernel_job *j, char *, size_t)
{
    assay_launch(copies_q, 1, 1, (hipStream_t)0, args(j));
    return 0;
}

static int launch_looks_at_q(const assay_kernel_job *j, char *why, size_t n)
{
    uint16_t word;
    const hipError_t error =
        hipMemcpy(&word, j->q.data, sizeof word, hipMemcpyDeviceToHost);
    if (error != hipSuccess)
        return snprintf(why, n, "%s", hipGetErrorString(error)), 4;
    assay_launch(writes_word, 1, 1, (hipStream_t)j->stream, args(j), word);
    return ended(why, n);
}

/* The host counts launches. */
static int launch_counts(const assay_kernel_job *j, char *why, size_t n)
{
    static uint16_t launches = 0x3f80;
    assay_launch(writes_word, 1, 1, (hipStream_t)j->stream, args(j),
                 launches++);
    return ended(why, n);
}

static size_t much_workspace(const assay_kernel_job *)
{
    return (size_t)1 << 50;
}

static int supports(const assay_kernel_job *, char *, size_t)
{
    return 0;
}

#define ROW(name, workspace)                                               \
    {                                                                      \
#name ".bf16", "bf16", "nominal", "harms a GPU", ASSAY_KERNEL_RAW, \
            supports, workspace, launch_##name                             \
    }

static const assay_kernel kernels[] = {
    ROW(writes_nowhere, nullptr),
    ROW(traps, nullptr),
    ROW(hangs, nullptr),
    ROW(writes_past_end, nullptr),
    ROW(writes_before, nullptr),
    ROW(changes_input, nullptr),
    ROW(writes_nothing, nullptr),
    ROW(loses_launch, nullptr),
    ROW(takes_memory, nullptr),
    ROW(copies_q, nullptr),
    ROW(default_stream, nullptr),
    ROW(looks_at_q, nullptr),
    ROW(counts, nullptr),
    { "much_workspace.bf16", "bf16", "nominal", "harms nothing",
      ASSAY_KERNEL_RAW, supports, much_workspace, launch_writes_nothing },
};

static const assay_kernel_module module = { ASSAY_KERNEL_ABI,
#ifdef ASSAY_DEVICE_CUDA
                                            ASSAY_KERNEL_CUDA,
#else
                                            ASSAY_KERNEL_HIP,
#endif
                                            "gpu-faults",
                                            nullptr,
                                            sizeof *kernels,
                                            sizeof kernels / sizeof *kernels,
                                            kernels };

const assay_kernel_module *assay_module(void)
{
    return &module;
}
