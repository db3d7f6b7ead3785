/* SPDX-License-Identifier: MIT
 *
 * One source, three devices. Kernels use HIP's names; this header brings them
 * for AMD (from HIP itself), for NVIDIA (renamed from CUDA) and for the host
 * (an emulation). A build defines one of ASSAY_DEVICE_HIP, ASSAY_DEVICE_CUDA
 * and ASSAY_DEVICE_HOST. HIP's own header for NVIDIA is not used: it lags
 * behind CUDA's releases.
 *
 * assay_launch(kernel, grid, block, stream, args...) takes a pointer to the
 * kernel: commas of a template argument list would split a macro's argument.
 */
#ifndef ASSAY_KERNELS_DEVICE_H
#define ASSAY_KERNELS_DEVICE_H

#if defined(ASSAY_DEVICE_HIP)

#include <hip/hip_runtime.h>

#define assay_launch(kernel, grid, block, stream, ...) \
    hipLaunchKernelGGL(kernel, dim3(grid), dim3(block), 0, stream, __VA_ARGS__)

#elif defined(ASSAY_DEVICE_CUDA)

#include <cuda_runtime.h>

#define hipError_t cudaError_t
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipMemsetAsync cudaMemsetAsync
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess

#define __shfl_xor(value, mask, width) \
    __shfl_xor_sync(0xffffffffu, value, mask, width)

#define assay_launch(kernel, grid, block, stream, ...) \
    (kernel)<<<dim3(grid), dim3(block), 0, stream>>>(__VA_ARGS__)

#elif defined(ASSAY_DEVICE_HOST)

#include "device_host.h"

#define assay_launch(kernel, grid, block, stream, ...)                  \
    ((void)(stream), assay_host_launch(dim3(grid), dim3(block),         \
                                       [&] { (kernel)(__VA_ARGS__); }))

#else
#error "define ASSAY_DEVICE_HIP, ASSAY_DEVICE_CUDA or ASSAY_DEVICE_HOST"
#endif

#endif
