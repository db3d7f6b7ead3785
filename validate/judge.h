/* SPDX-License-Identifier: MIT
 *
 * Judges a candidate C against the emulated answer E and the exact answer X.
 * The build distance C-E decides; E-X and C-X are told.
 */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "validate/result.h"
#include "golden/sketch.h"

/* The limits of gate.def. */
void limits_default(struct limit limits[GATES]);

/* Fills verdict, reason, gates, heads and the three distances of *out, whose
 * case, recipe and kernel are there already. ASSAY_USAGE where a limit that
 * somebody set allows less than the golden's own error bar. */
enum assay_status judge_sketch(const struct sketch *s,
                               const struct limit limits[GATES],
                               struct result *out, struct assay_error *err);

/* sketch_make() and judge_sketch(); limits NULL: the default ones. */
enum assay_status judge(const struct yardstick *against,
                        const struct candidate *c,
                        const struct limit limits[GATES], struct result *out,
                        struct assay_error *err);

#endif
