/* SPDX-License-Identifier: MIT
 *
 * Private: running an emulation job.
 */
#ifndef ASSAY_EMULATE_H
#define ASSAY_EMULATE_H

#include "assay/recipe.h"
#include "blocked.h"

/* Runs a job in binary32 or, all but P and the answer, in binary64. */
enum assay_status emulate_run(struct blocked_job job, bool f64, float *o,
                              const struct assay_run *run,
                              struct assay_error *err);

/* Forms that make bits of scores round sums of whole instructions, which
 * binary32 cannot hold on the way. */
bool emulate_needs_f64(const struct blocked_job *job);

/* What the gfx950 kernels of per-tensor fp8 do to Q: the factor of the scores
 * becomes a power of two, whose exponent is given, and a fraction from 0.5 on,
 * which is returned; by that Q's codes, as values in q, are multiplied, and
 * rounded to their format again. */
bool emulate_requantizes(const struct assay_recipe *recipe,
                         const struct assay_payloads *payloads);
float emulate_requantize(const struct assay_problem *p,
                         const struct assay_payloads *payloads, float *q,
                         int *exponent);

#endif
