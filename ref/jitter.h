/* SPDX-License-Identifier: MIT
 *
 * Private: what the nominal form and binary32 leave open, row by row.
 */
#ifndef ASSAY_JITTER_H
#define ASSAY_JITTER_H

#include "assay/format.h"
#include "assay/problem.h"
#include "blocked.h"

/* Largest key tile of the nominal form. */
enum { JITTER_KEY_TILE = 256 };

/* For each row (b, h, i) of an emulation job with binary32 operands: how far
 * another legal kernel's O (L2) and LSE (nats) may be, of typical size; the
 * derivation is at the head of jitter.c. o is the job's answer. */
enum assay_status jitter_model(const struct blocked_job *job, const float *o,
                               float *jitter_o, float *jitter_lse,
                               const struct assay_run *run,
                               struct assay_error *err);

#endif
