/* SPDX-License-Identifier: MIT
 *
 * Why a candidate that failed did: localisation and the LSE doctor, asked
 * while its output is still there. Nothing here decides.
 */
#ifndef ASSAY_EXPLAIN_H
#define ASSAY_EXPLAIN_H

#include "golden/sketch.h"
#include "validate/heat.h"
#include "validate/result.h"

/* Of one candidate, all as it was judged. */
struct explain_input {
    const struct assay_case *c;
    const struct assay_answer *answer;
    const struct assay_exact *exact;
    const struct candidate *candidate;
    const struct sketch *sketch;
    const struct result *result; /* its gates and heads are judged */
};

/* *out is NULL after a failure, which changes no verdict. Time is that of
 * locate() and doctor_look(); memory that of Q, K and V once more. */
enum assay_status explain(const struct explain_input *in,
                          struct explanation **out, struct assay_error *err);

/* A copy of the map of an explanation, at most `columns` wide; heat_free() it.
 * False: it has none, or there is no memory for it. */
bool explanation_heat(const struct explanation *e,
                      const struct assay_problem *p, int64_t columns,
                      struct heat *out);

/* Whether limits of rows are others than those that it was found with. */
bool explanation_of_other_limits(const struct result *r);

#endif
