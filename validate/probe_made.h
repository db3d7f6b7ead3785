/* SPDX-License-Identifier: MIT
 *
 * Cases made of a case, for probes, and their answers. Cases are the caller's
 * to assay_case_free, also after a failure.
 */
#ifndef ASSAY_PROBE_MADE_H
#define ASSAY_PROBE_MADE_H

#include "golden/set.h"

/* The same shape with other data: tokens backwards, and V negated. A tensor's
 * largest magnitude is what it was. */
enum assay_status probe_made_other(const struct assay_case *c,
                                   struct assay_case *out,
                                   struct assay_error *err);

/* Its first batch entry, and of that the first `tokens` queries and keys as
 * far as there are so many. */
enum assay_status probe_made_cut(const struct assay_case *c, int64_t tokens,
                                 struct assay_case *out,
                                 struct assay_error *err);

/* Two cases of one shape in one batch, a before b. */
enum assay_status probe_made_joined(const struct assay_case *a,
                                    const struct assay_case *b,
                                    struct assay_case *out,
                                    struct assay_error *err);

/* What a recipe's quantizers make of a made case: payloads alone. Free the
 * answer, also after a failure. */
enum assay_status probe_made_payloads(const struct assay_case *c,
                                      const struct assay_recipe *recipe,
                                      struct assay_answer *answer,
                                      struct assay_error *err);

/* All that a case can be judged by. Free both, also after a failure. No second
 * thread, for children are forked after it. */
enum assay_status probe_made_answer(const struct assay_case *c,
                                    const struct assay_recipe *recipe,
                                    struct assay_exact *exact,
                                    struct assay_answer *answer,
                                    struct assay_error *err);

#endif
