/* SPDX-License-Identifier: MIT
 *
 * Heads that a distribution makes: one line of text says all of them.
 */
#ifndef ASSAY_MADE_H
#define ASSAY_MADE_H

#include "assay/distribution.h"
#include "assay/problem_line.h"
#include "golden/set.h"

struct made {
    const struct assay_distribution *distribution;
    struct assay_problem_line line; /* name and seed filled in */
    const struct assay_format *word;
    char name[ASSAY_LINE_MAX + 64]; /* peaked.hq8.hk2.s512.d128.seed0 */
};

/* Checks and names a head; `line` has the distribution's name and the seed.
 * ASSAY_USAGE for an unknown distribution, else as assay_distribution_check. */
enum assay_status made_check(const struct assay_problem_line *line,
                             const struct assay_format *word, struct made *out,
                             struct assay_error *err);

/* Makes it. Free with assay_case_free. */
enum assay_status made_read(const struct made *made,
                            const struct assay_run *run, struct assay_case *out,
                            struct assay_error *err);

#endif
