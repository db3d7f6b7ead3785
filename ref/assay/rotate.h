/* SPDX-License-Identifier: MIT
 *
 * Walsh-Hadamard rotation of rows in natural (Sylvester) order:
 *   y[j] = 1/sqrt(n) sum_i (-1)^popcount(i AND j) x[i]
 * A rotation of Q and K alike leaves their products as they are and spreads
 * outliers over the channels: QuaRot, arXiv:2404.00456.
 */
#ifndef ASSAY_ROTATE_H
#define ASSAY_ROTATE_H

#include <stdint.h>

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The longest row; no head is as wide. */
#define ASSAY_ROTATE_MAX 32768

/* Rotates `rows` rows of n channels: x and y are [rows, n], and are the same
 * array or do not overlap. With a mean, [means, n], row r has mean row
 * r % means taken off first, so one batch of [token, head, channel] goes with
 * its means [head, channel]; `means` is not looked at where mean is NULL.
 *
 * The arithmetic is that of ROCm/aiter csrc/kernels/mha_v4_quant.cu to the
 * bit, in binary32: x - mean, then butterflies of strides 1, 2, 4, ...
 * (left + right, left - right), then one multiplication by the binary32
 * nearest 1/sqrt(n). Nothing is rounded in between, and subnormals are kept
 * (the GPU flushes them). A NaN or an infinity spoils its own row alone.
 *
 * ASSAY_SHAPE unless n is a power of two from 1 to ASSAY_ROTATE_MAX, the rows
 * can be addressed and there is at least one mean row. */
ASSAY_API enum assay_status assay_rotate(int64_t n, int64_t rows,
                                         const float *x, int64_t means,
                                         const float *mean, float *y,
                                         struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
