/* SPDX-License-Identifier: MIT
 *
 * Emulation of recipes by plain loops over double, one row at a time: every
 * softmax form, from its description. Formats of P, constants of forms and the
 * order of P's blocks are written again here, not looked up.
 */
#ifndef PLAIN_RECIPE_H
#define PLAIN_RECIPE_H

#include <stdbool.h>

#include "assay/recipe.h"

/* Operands as numbers, without the scales that a kernel applies afterwards. */
struct plain_recipe {
    const struct assay_recipe *recipe;
    const struct assay_problem *p;
    int64_t tile;
    float *q, *k, *v;
    const float *v_scales; /* one, or with `channels` [b, hk, dv]; or NULL */
    bool channels;
    double scale; /* times q.k gives octaves times the form's unit */
    /* Not 0: another legal kernel, whose scores of bits are off by a binary32
     * ulp up or down after each matrix instruction; the seed says where. */
    uint64_t ulps;
};

struct plain_row {
    double *o; /* [dv], the caller's */
    double lse;
    /* What binary32 may add: a score is off by u sqrt(dk) |q||k| at most, here
     * with the factor 8 of ref/jitter.c, which moves P, and so LSE and O, in
     * proportion. A P within that of a rounding boundary may go the other way;
     * such rows are marked, and the whole step is allowed. */
    double allowed_o, allowed_lse;
    bool flips;
    int rebased; /* tiles that moved a frozen maximum */
};

struct plain_recipe plain_recipe_new(const struct assay_recipe *recipe,
                                     const struct assay_problem *p,
                                     const struct assay_payloads *x,
                                     int64_t tile);
void plain_recipe_free(struct plain_recipe *job);

/* Row n of [b, hq, nq]; the LSE lacks what the K mean took off. */
void plain_recipe_row(const struct plain_recipe *job, int64_t n,
                      struct plain_row *out);

#endif
