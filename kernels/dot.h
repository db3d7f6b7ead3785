/* SPDX-License-Identifier: MIT
 *
 * The two inner products of attention, on rows of bf16 words in shared
 * memory, with fp32 sums in ascending order. Matrix instructions belong here.
 */
#ifndef ASSAY_KERNELS_DOT_H
#define ASSAY_KERNELS_DOT_H

#include "device.h"
#include "element.h"

/* x . y */
template <int N>
__device__ inline float dot(const uint16_t *x, const uint16_t *y)
{
    float sum = 0.0f;
    for (int c = 0; c < N; c++)
        sum += f32_from_bf16(x[c]) * f32_from_bf16(y[c]);
    return sum;
}

/* sum[c] += p[j] * rows[j * stride + c] over the first n rows. A row past n
 * may hold anything, NaN too, and is not read. */
template <int N>
__device__ inline void add_weighted_rows(float (&sum)[N], const uint16_t *p,
                                         const uint16_t *rows, int stride,
                                         int n)
{
    for (int j = 0; j < n; j++) {
        const float weight = f32_from_bf16(p[j]);
        for (int c = 0; c < N; c++)
            sum[c] += weight * f32_from_bf16(rows[j * stride + c]);
    }
}

#endif
