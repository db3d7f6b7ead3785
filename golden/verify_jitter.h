/* SPDX-License-Identifier: MIT
 *
 * Private to `assay verify`: stored jitters against those made again. They
 * allow kernels to differ, so they are believed no more than answers are.
 */
#ifndef ASSAY_VERIFY_JITTER_H
#define ASSAY_VERIFY_JITTER_H

#include "golden/set.h"

/* Whether the jitter `was` of an answer o [b, nq, hq, dv] is `now`, which was
 * made again. same_machine: by the BLAS, core, CPU, compiler and program that
 * made it, whose sums are the same; else a few rows may have moved. A NaN is
 * right only where `now` has one. */
bool verify_jitter(const struct assay_problem *p,
                   const struct assay_jitter *was,
                   const struct assay_jitter *now, const float *o,
                   bool same_machine);

#endif
