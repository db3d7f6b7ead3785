/* SPDX-License-Identifier: MIT
 *
 * A problem in one line: b1,hq4,hk2,q257,k257,d128,dv64,causal
 *
 * Words stand in any order, with commas between, each at most once:
 *   bN      batch, 1 if not there
 *   hqN hkN query heads, key heads; hN both; hk is hq if not there
 *   qN kN   queries, keys; sN both; k is q if not there
 *   dN      width of q, k and v; dvN that of v where it differs
 *   causal  the mask; none if not there
 *   scale=X softmax scale; 1/sqrt(d) if not there
 *   dist=NAME seed=N  what the inputs are made of
 * hq, q and d (or h, s, d) must be there.
 */
#ifndef ASSAY_PROBLEM_LINE_H
#define ASSAY_PROBLEM_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_LINE_NAME = 32, ASSAY_LINE_MAX = 320 };

struct assay_problem_line {
    struct assay_problem problem;
    char name[ASSAY_LINE_NAME]; /* of the distribution, not looked up; or "" */
    bool seeded;                /* seed is 0 if not */
    uint64_t seed;
};

/* ASSAY_USAGE, with the place in the line (from 1), for a word that is
 * unknown, repeated, or has no number that fits; ASSAY_SHAPE for sizes that
 * assay_problem_check refuses. *out is written on success alone. */
ASSAY_API enum assay_status assay_problem_parse(const char *text,
                                                struct assay_problem_line *out,
                                                struct assay_error *err);

/* The line of a problem, shortest words first to last as in the example; dv
 * and scale only where they differ from the default. Parsing it gives the same
 * problem, to the bit of its scale. */
ASSAY_API void assay_problem_line(const struct assay_problem_line *line,
                                  char text[ASSAY_LINE_MAX]);

#ifdef __cplusplus
}
#endif
#endif
