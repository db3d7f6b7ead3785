/* SPDX-License-Identifier: MIT
 *
 * What came of one kernel on one case.
 */
#ifndef ASSAY_RESULT_H
#define ASSAY_RESULT_H

#include "assay/metrics.h"
#include "assay/recipe.h"

enum verdict {
#define ASSAY_VERDICT(id, name, code) VERDICT_##id,
#include "validate/verdict.def"
#undef ASSAY_VERDICT
    VERDICTS
};

enum gate {
#define ASSAY_GATE(id, ...) GATE_##id,
#include "validate/gate.def"
#undef ASSAY_GATE
    GATES
};

struct verdict_row {
    const char *name;
    int code;
};
const struct verdict_row *verdict_get(enum verdict verdict);

struct gate_row {
    const char *name;
    double limit, factor;
    enum verdict verdict;
    const char *rule;
};
const struct gate_row *gate_get(enum gate gate);

struct gate_result {
    double value; /* against the row's limit; NaN fails */
    bool pass;
    struct assay_place at; /* the worst; i = -1 where there is none */
    char note[160];        /* numbers of the worst, for people */
};

struct result {
    char *case_name; /* the result's */
    struct assay_problem problem;
    const struct assay_recipe *recipe;
    char kernel[64];   /* empty where the module has none for the recipe */
    const char *input; /* "raw" or "packed"; NULL with no kernel */
    enum verdict verdict;
    double seconds;   /* of the launch, without loading and copying */
    char reason[320]; /* of a verdict that is not pass */
    char notes[160];  /* what does not change the verdict */
    bool judged;      /* gates and distances hold something */
    struct gate_result gates[GATES];
    int64_t heads, heads_failed;
    uint32_t *head_gates; /* [b, hq], bits of the gates that failed in each
                             head; the caller's, or NULL */
    struct assay_distance build, recipe_distance, total;
};

#endif
