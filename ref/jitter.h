/* SPDX-License-Identifier: MIT
 *
 * Private: what the nominal form and binary32 leave open, row by row.
 */
#ifndef ASSAY_JITTER_H
#define ASSAY_JITTER_H

#include "assay/format.h"
#include "assay/problem.h"
#include "assay/recipe.h"
#include "blocked.h"

/* Largest key tile of the nominal form. */
enum { JITTER_KEY_TILE = 256 };

/* For each row (b, h, i) of an emulation job with binary32 operands: how far
 * another legal kernel's O (L2) and LSE (nats) may be, of typical size, and the
 * bound, if asked for; the derivation is at the head of jitter.c. o is the
 * job's answer. The gain is not touched. */
enum assay_status jitter_model(const struct blocked_job *job, const float *o,
                               const struct assay_jitter *jitter,
                               const struct assay_run *run,
                               struct assay_error *err);

#endif
