/* SPDX-License-Identifier: MIT
 *
 * Raw bf16 tensors to e4m3fn payloads with one scale a tensor:
 *
 *   amax  = max |x| over the tensor
 *   scale = amax / 448, or 1 where that is not above 0
 *   code  = round(x * (1 / scale)), saturating
 *
 * The reciprocal comes first and is then multiplied: that is the recipe.
 */
#ifndef ASSAY_KERNELS_QUANTIZE_H
#define ASSAY_KERNELS_QUANTIZE_H

#include "attention_args.h"

#include <stddef.h>

/* Workspace for q, k and v of a job. */
size_t assay_quantize_bytes(const AttentionArgs &a);

/* Queues the quantization of a->q, k and v into the workspace and points them
 * there. */
void assay_quantize(AttentionArgs *a, void *workspace, hipStream_t stream);

#endif
