/* SPDX-License-Identifier: MIT
 *
 * The runtime library of a GPU: found, loaded, its functions looked up.
 */
#ifndef ASSAY_GPU_RUNTIME_H
#define ASSAY_GPU_RUNTIME_H

#include <stddef.h>

#include "assay/kernel.h"

enum gpu_call {
#define GPU_CALL(type, id, ...) GPU_CALL_##id,
#include "validate/gpu_call.def"
#undef GPU_CALL
    GPU_CALLS
};

struct gpu_runtime {
    char file[32];             /* as it was found */
    char names[GPU_CALLS][40]; /* "cudaMalloc", ... */
    /* NULL: a GPU_CALL_MAY that the runtime lacks */
#define GPU_CALL(type, id, name, arguments) type(*id) arguments;
#include "validate/gpu_call.def"
#undef GPU_CALL
};

/* For ASSAY_KERNEL_HIP or ASSAY_KERNEL_CUDA: stays loaded as long as the
 * process, which must be a child. A module that brought a runtime along shares
 * it. NULL with a sentence in `why`. */
const struct gpu_runtime *gpu_runtime_load(enum assay_kernel_device kind,
                                           char *why, size_t why_bytes);

#endif
