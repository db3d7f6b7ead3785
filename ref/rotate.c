/* SPDX-License-Identifier: MIT */
#include "assay/rotate.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "bits.h"

enum { BLOCK = 128 };

/* Sums of neighbours go to the lower half, their differences to the upper
 * one. That turns the bits of an index round by one place, so the pairs of the
 * next stride are neighbours in turn and every pass vectorises; after
 * log2(BLOCK) of them each index is where it was: Pease, J. ACM 15 (1968). */
static inline void pass(const float *restrict x, float *restrict y)
{
    for (int i = 0; i < BLOCK / 2; i++) {
        y[i] = x[2 * i] + x[2 * i + 1];
        y[BLOCK / 2 + i] = x[2 * i] - x[2 * i + 1];
    }
}

/* Strides 1 to BLOCK / 2: seven passes. Left to itself, gcc does not inline it,
 * and a function outside of the clones has the narrowest registers. */
static inline __attribute__((always_inline)) void butterfly_block(float *y)
{
    float a[BLOCK], b[BLOCK];
    pass(y, a);
    for (int i = 0; i < 3; i++) {
        pass(a, b);
        pass(b, i < 2 ? a : y);
    }
}

static inline void butterfly(int64_t stride, float *restrict left,
                             float *restrict right)
{
    for (int64_t i = 0; i < stride; i++) {
        float l = left[i], r = right[i];
        left[i] = l + r;
        right[i] = l - r;
    }
}

ASSAY_CLONES
static void rotate_row(int64_t n, float norm, const float *x, const float *mean,
                       float *y)
{
    const int64_t blocks = n / BLOCK;
    for (int64_t i = 0; i < n; i++)
        y[i] = mean ? x[i] - mean[i] : x[i];
    for (int64_t i = 0; i < blocks; i++)
        butterfly_block(y + i * BLOCK);
    for (int64_t stride = blocks ? BLOCK : 1; stride < n; stride *= 2)
        for (int64_t at = 0; at < n; at += 2 * stride)
            butterfly(stride, y + at, y + at + stride);
    for (int64_t i = 0; i < n; i++)
        y[i] *= norm;
}

static void rotate_rows(int64_t n, int64_t rows, const float *x, int64_t means,
                        const float *mean, float *y)
{
    const float norm = (float)(1 / sqrt((double)n));
    for (int64_t r = 0; r < rows; r++)
        rotate_row(n, norm, x + r * n, mean ? mean + r % means * n : NULL,
                   y + r * n);
}

enum assay_status assay_rotate(int64_t n, int64_t rows, const float *x,
                               int64_t means, const float *mean, float *y,
                               struct assay_error *err)
{
    if (n < 1 || n > ASSAY_ROTATE_MAX || (n & (n - 1)) != 0)
        return assay_fail(err, ASSAY_SHAPE,
                          "a rotation of %" PRId64
                          " channels, must be a power of two from 1 to %d",
                          n, ASSAY_ROTATE_MAX);
    if (rows < 0 || rows > PTRDIFF_MAX / (int64_t)sizeof *x / n)
        return assay_fail(err, ASSAY_SHAPE,
                          "a rotation of %" PRId64 " rows of %" PRId64
                          " channels cannot be addressed",
                          rows, n);
    if (mean && means < 1)
        return assay_fail(
            err, ASSAY_SHAPE,
            "a rotation with %" PRId64 " mean rows, must be at least 1", means);
    rotate_rows(n, rows, x, means, mean, y);
    return ASSAY_OK;
}
