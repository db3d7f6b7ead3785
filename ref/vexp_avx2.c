/* SPDX-License-Identifier: MIT */
#include "vexp.h"

#include <immintrin.h>
#include <sleef.h>
#include <string.h>

void exp2_f32_avx2(int64_t n, float *x)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i,
                         Sleef_finz_exp2f8_u10avx2(_mm256_loadu_ps(x + i)));
    if (i < n) {
        float rest[8] = { 0 };
        size_t bytes = (size_t)(n - i) * sizeof *x;
        memcpy(rest, x + i, bytes);
        _mm256_storeu_ps(rest,
                         Sleef_finz_exp2f8_u10avx2(_mm256_loadu_ps(rest)));
        memcpy(x + i, rest, bytes);
    }
}

void exp2_f64_avx2(int64_t n, double *x)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        _mm256_storeu_pd(x + i,
                         Sleef_finz_exp2d4_u10avx2(_mm256_loadu_pd(x + i)));
    if (i < n) {
        double rest[4] = { 0 };
        size_t bytes = (size_t)(n - i) * sizeof *x;
        memcpy(rest, x + i, bytes);
        _mm256_storeu_pd(rest,
                         Sleef_finz_exp2d4_u10avx2(_mm256_loadu_pd(rest)));
        memcpy(x + i, rest, bytes);
    }
}
