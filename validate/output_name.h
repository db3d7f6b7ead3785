/* SPDX-License-Identifier: MIT
 *
 * Names of outputs made elsewhere: CASE.RECIPE.o and .lse, or
 * CASE.RECIPE@FORM.o, and of what quantizers made, .q, .q_scale and so on, held
 * against the cases of a set.
 */
#ifndef ASSAY_OUTPUT_NAME_H
#define ASSAY_OUTPUT_NAME_H

#include "golden/set.h"

/* Codes and scales of Q, K and V in the order of enum assay_input. */
enum output_part {
    OUTPUT_O,
    OUTPUT_LSE,
    OUTPUT_Q,
    OUTPUT_Q_SCALE,
    OUTPUT_K,
    OUTPUT_K_SCALE,
    OUTPUT_V,
    OUTPUT_V_SCALE,
    OUTPUT_PARTS
};

static inline enum output_part output_codes(enum assay_input input)
{
    return (enum output_part)(OUTPUT_Q + 2 * (int)input);
}

static inline enum output_part output_scales(enum assay_input input)
{
    return (enum output_part)(OUTPUT_Q_SCALE + 2 * (int)input);
}

/* "o", "lse", "q", "q_scale", ... */
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

/* Whether a name ends in a part, and which; what stands before it is *base
 * bytes long. */
bool output_name_part(const char *name, enum output_part *part, size_t *base);

/* The part that a name ends in, spelt otherwise ("LSE", "out"), "lse" or "o";
 * NULL: none. */
const char *output_name_meant(const char *name);

/* Whether it is an input of a case, CASE.q: no output. */
bool output_name_is_input(const struct output_cases *c, const char *name);

/* False where no case of the set with that recipe is meant. */
bool output_name_match(const struct output_cases *c, const char *name,
                       struct output_name *out);

#endif
