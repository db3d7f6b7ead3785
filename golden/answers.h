/* SPDX-License-Identifier: MIT
 *
 * Makes the answers of a case: what `generate` stores and `verify` remakes.
 */
#ifndef ASSAY_ANSWERS_H
#define ASSAY_ANSWERS_H

#include "golden/set.h"

/* Rows a head that the error bar of a binary64 answer is sampled on. */
enum { ANSWERS_BAR_ROWS = 8 };

/* The exact answer with its error bar, in binary64 sums if f64. Free with
 * assay_exact_free. */
enum assay_status answers_exact(const struct assay_problem *p,
                                const struct assay_inputs *in, bool f64,
                                const struct assay_run *run,
                                struct assay_exact *out,
                                struct assay_error *err);

/* The same without error bars, which cost more than the answer. */
enum assay_status answers_exact_only(const struct assay_problem *p,
                                     const struct assay_inputs *in, bool f64,
                                     const struct assay_run *run,
                                     struct assay_exact *out,
                                     struct assay_error *err);

/* Payloads and emulated answer; no jitter. Free with assay_answer_free, also
 * after a failure. */
enum assay_status answers_emulated(const struct assay_recipe *recipe,
                                   const struct assay_problem *p,
                                   const struct assay_inputs *in,
                                   const struct assay_run *run,
                                   struct assay_answer *out,
                                   struct assay_error *err);

/* The same with jitter; nothing to free after a failure. */
enum assay_status
answers_recipe(const struct assay_recipe *recipe, const struct assay_problem *p,
               const struct assay_inputs *in, const struct assay_run *run,
               struct assay_answer *out, struct assay_error *err);

/* Says on stderr how many values of an answer are not finite, if any are: such
 * rows say little about a kernel or a recipe. `advice` ends the sentence. */
#define ANSWERS_TRY_F64 " (sums may overflow binary32; try --precision f64)"
void answers_warn(const char *verb, const struct assay_case *c,
                  const char *answer, const float *o, const double *lse,
                  const char *advice);

#endif
