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

/* sketch_make() and judge_sketch() with the limits of gate.def. */
enum assay_status judge(const struct yardstick *against,
                        const struct candidate *c, struct result *out,
                        struct assay_error *err);

/* Adds to the notes who made the answer that it was held against; NULL: assay,
 * of which nothing is said. */
void judge_tell_maker(const char *maker, struct result *out);

/* value / allowed, where 0 / 0 is 0 */
double part_used(double value, double allowed);

/* The part that row r of O uses of what the limits of its distance and of its
 * elements allow, the larger of the two, and the part of its LSE: above 1
 * fails, NaN is another class than E's, 0 is none or nothing to judge. */
double judge_row_used(const struct sketch *s, const struct gate_result *gates,
                      int64_t r);
double judge_row_used_lse(const struct sketch *s,
                          const struct gate_result *gates, int64_t r);

/* What a row may be off by: so many jitters, or the error bar where that is
 * more. No jitter at all is a row that has one right answer. */
double judge_allowance(double jitters, double bar);

/* The golden's error bar of a row's L2: each element may be off by the bar. */
double judge_row_bar(const struct sketch *s, int64_t bh);

/* " at batch 0, head 1, row 2", as far as it is set; or "". */
void judge_place_text(struct assay_place at, char *text, size_t n);

/* C - E of a finite LSE in nats, an ulp of binary32 taken off. */
double judge_lse_off(double c, double e);

#endif
