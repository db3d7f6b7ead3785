/* SPDX-License-Identifier: MIT
 *
 * What BLAS the reference stands on. Golden bits depend on its core.
 */
#ifndef ASSAY_BLAS_H
#define ASSAY_BLAS_H

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Static strings: library and version, and the kernel set chosen on this
 * machine ("Haswell"); "unknown" where the library does not tell. */
ASSAY_API const char *assay_blas_name(void);
ASSAY_API const char *assay_blas_core(void);

/* Corner cases that per-core BLAS kernels have got wrong: k = 0, beta = 0
 * over NaN, alpha = 0, zero times NaN, odd sizes. ASSAY_INTERNAL with the
 * case that fails. Source: OpenBLAS #2914, #5429; Reference-LAPACK #1077. */
ASSAY_API enum assay_status assay_blas_check(struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
