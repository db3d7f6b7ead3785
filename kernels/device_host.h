/* SPDX-License-Identifier: MIT
 *
 * The host as a device: HIP's names for kernels that run on the CPU. Blocks
 * run in order, each thread of a block is a fibre, and a fibre runs until it
 * waits for others. So results repeat, and a barrier that not every thread
 * reaches hangs, as it may on a GPU.
 *
 * Shared memory is thread_local: several host threads can launch at a time
 * without a lock, and the fibres of one launch, which never leave their host
 * thread, all see the same variable. Its contents outlive a block.
 *
 * The wave has 64 lanes, or 32 with ASSAY_HOST_WAVE=32 in the environment.
 */
#ifndef ASSAY_KERNELS_DEVICE_HOST_H
#define ASSAY_KERNELS_DEVICE_HOST_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1)
        : x(nx), y(ny), z(nz)
    {
    }
};

/* Where a fibre is in its launch. */
struct assay_host_place {
    dim3 thread, block, block_dim, grid_dim;
};

const assay_host_place &assay_host_self();
int assay_host_wave();
void assay_host_barrier();
uint64_t assay_host_shuffle_xor(uint64_t value, int mask, int width);
void assay_host_run(dim3 grid, dim3 block, void (*body)(void *), void *arg);

#define threadIdx (assay_host_self().thread)
#define blockIdx (assay_host_self().block)
#define blockDim (assay_host_self().block_dim)
#define gridDim (assay_host_self().grid_dim)
#define warpSize (assay_host_wave())
#define __syncthreads() assay_host_barrier()

template <class T>
T __shfl_xor(T value, int mask, int width = assay_host_wave())
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "one slot a lane");
    uint64_t slot = 0;
    memcpy(&slot, &value, sizeof value);
    slot = assay_host_shuffle_xor(slot, mask, width);
    memcpy(&value, &slot, sizeof value);
    return value;
}

/* Fibres change only where they wait, so a plain update is atomic. */
static inline unsigned atomicMax(unsigned *at, unsigned value)
{
    unsigned old = *at;
    *at = value > old ? value : old;
    return old;
}

typedef void *hipStream_t;
enum hipError_t { hipSuccess = 0, hipErrorOutOfMemory = 2 };

hipError_t hipGetLastError();
const char *hipGetErrorString(hipError_t error);

static inline hipError_t hipMemsetAsync(void *at, int byte, size_t bytes,
                                        hipStream_t)
{
    memset(at, byte, bytes);
    return hipSuccess;
}

template <class Body>
void assay_host_launch(dim3 grid, dim3 block, Body body)
{
    assay_host_run(
        grid, block, [](void *arg) { (*static_cast<Body *>(arg))(); }, &body);
}

#endif
