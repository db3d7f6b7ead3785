/* SPDX-License-Identifier: MIT */
#include "vexp.h"

#include <sleef.h>
#include <stdbool.h>

#include "config.h"

#ifdef ASSAY_AVX2
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

void exp2_f32(int64_t n, float *x)
{
#ifdef ASSAY_AVX2
    if (has_avx2()) {
        exp2_f32_avx2(n, x);
        return;
    }
#endif
    for (int64_t i = 0; i < n; i++)
        x[i] = Sleef_exp2f_u10(x[i]);
}

void exp2_f64(int64_t n, double *x)
{
#ifdef ASSAY_AVX2
    if (has_avx2()) {
        exp2_f64_avx2(n, x);
        return;
    }
#endif
    for (int64_t i = 0; i < n; i++)
        x[i] = Sleef_exp2_u10(x[i]);
}
