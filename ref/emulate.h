/* SPDX-License-Identifier: MIT
 *
 * Private: running an emulation job.
 */
#ifndef ASSAY_EMULATE_H
#define ASSAY_EMULATE_H

#include "blocked.h"

/* Runs a job in binary32 or, all but P and the answer, in binary64. */
enum assay_status emulate_run(struct blocked_job job, bool f64, float *o,
                              const struct assay_run *run,
                              struct assay_error *err);

/* Forms that make bits of scores round sums of whole instructions, which
 * binary32 cannot hold on the way. */
bool emulate_needs_f64(const struct blocked_job *job);

#endif
