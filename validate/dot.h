/* SPDX-License-Identifier: MIT
 *
 * A score in double. Sums go over fixed lanes, so that the processor's adds
 * overlap and the vector width does not matter.
 */
#ifndef ASSAY_DOT_H
#define ASSAY_DOT_H

#include <stdint.h>

enum { DOT_LANES = 8 };

static inline double dot(int64_t n, const float *a, const float *b)
{
    double lane[DOT_LANES] = { 0 }, sum = 0;
    int64_t i = 0;
    for (; i + DOT_LANES <= n; i += DOT_LANES)
        for (int l = 0; l < DOT_LANES; l++)
            lane[l] += (double)a[i + l] * b[i + l];
    for (; i < n; i++)
        sum += (double)a[i] * b[i];
    for (int l = 0; l < DOT_LANES; l++)
        sum += lane[l];
    return sum;
}

#endif
