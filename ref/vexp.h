/* SPDX-License-Identifier: MIT
 *
 * Private: x[i] = 2^x[i], from SLEEF's 1.0 ulp functions. With AVX2 the "finz"
 * set, whose bits are the same on every machine that has FMA; elsewhere the
 * scalar functions.
 */
#ifndef ASSAY_VEXP_H
#define ASSAY_VEXP_H

#include <stdint.h>

void exp2_f32(int64_t n, float *x);
void exp2_f64(int64_t n, double *x);

/* Compiled with its own flags; call only where the CPU has AVX2 and FMA. */
void exp2_f32_avx2(int64_t n, float *x);
void exp2_f64_avx2(int64_t n, double *x);

#endif
