/* SPDX-License-Identifier: MIT
 *
 * Judges a candidate C against the emulated answer E and the exact answer X.
 * The build distance C-E decides; E-X and C-X are told.
 */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "golden/set.h"
#include "validate/result.h"

/* What a kernel left behind. */
struct candidate {
    const float *o;          /* values, [b, nq, hq, dv] */
    const double *lse;       /* [b, hq, nq] */
    int64_t guard_bytes;     /* changed outside the buffers */
    const char *guard_where; /* the first: "after o"; static, or NULL */
    int64_t input_bytes;     /* inputs changed */
    int64_t o_unwritten;     /* elements that still hold the poison */
    int64_t lse_unwritten;
    struct assay_place unwritten_at; /* the first */
};

/* Fills verdict, reason, gates, heads_failed and the three distances. */
enum assay_status judge(const struct assay_problem *p,
                        const struct assay_recipe *recipe,
                        const struct candidate *c, const struct assay_answer *e,
                        const struct assay_exact *x, struct result *out,
                        struct assay_error *err);

#endif
