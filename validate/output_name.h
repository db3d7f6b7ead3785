/* SPDX-License-Identifier: MIT
 *
 * Names of outputs made elsewhere: CASE.RECIPE.o and .lse, or
 * CASE.RECIPE@FORM.o, held against the cases of a set.
 */
#ifndef ASSAY_OUTPUT_NAME_H
#define ASSAY_OUTPUT_NAME_H

#include "golden/set.h"

enum output_part { OUTPUT_O, OUTPUT_LSE, OUTPUT_PARTS };

/* "o", "lse" */
const char *output_part_name(enum output_part part);

/* What names are held against; texts are the set's. */
struct output_case {
    const char *name;
    struct assay_problem problem;
    const struct assay_recipe **recipes;
    size_t n_recipes;
};
struct output_cases {
    struct output_case *list;
    size_t count;
};
/* Free with output_cases_free, also after a failure. */
enum assay_status output_cases_read(const struct assay_set *set,
                                    struct output_cases *out,
                                    struct assay_error *err);
void output_cases_free(struct output_cases *c);

struct output_name {
    size_t at; /* of the case */
    const struct assay_recipe *recipe;
    const char *form; /* "": not said; static */
    enum output_part part;
};

/* False where no case of the set with that recipe is meant. */
bool output_name_match(const struct output_cases *c, const char *name,
                       struct output_name *out);

#endif
