/* SPDX-License-Identifier: MIT
 *
 * What the tests of recipes share: payloads of random inputs, and an emulation
 * that ends the test where it fails.
 */
#ifndef RECIPE_RUN_H
#define RECIPE_RUN_H

#include "assay/recipe.h"

/* The MHA recipes, in the order of upstream's tests. */
enum { N_MHA = 10 };
extern const char *const mha_recipes[N_MHA];

/* A recipe and a softmax form by number: ASSAY_RECIPES to a form. */
const struct assay_recipe *recipe_numbered(int i);
const char *form_name(const struct assay_recipe *r);

/* Payloads of values_normal() inputs; the recipe must take the problem. */
struct assay_payloads random_payloads(const struct assay_recipe *r,
                                      const struct assay_problem *p,
                                      uint64_t seed);
struct assay_payloads payloads_of(const struct assay_recipe *r,
                                  const struct assay_problem *p, const float *q,
                                  const float *k, const float *v);

struct emulated {
    float *o;
    double *lse;
};

/* Key tile 0: the form's own. */
struct emulated emulate(const struct assay_recipe *r,
                        const struct assay_problem *p,
                        const struct assay_payloads *x, int64_t tile);
struct emulated emulate_jitter(const struct assay_recipe *r,
                               const struct assay_problem *p,
                               const struct assay_payloads *x, int threads,
                               struct assay_jitter *j);
void emulated_free(struct emulated *e);

struct assay_jitter jitter_new(const struct assay_problem *p);
void jitter_free(struct assay_jitter *j);

/* L2 of a row of x, and of the difference of a's and b's row n (b, h, i). */
double norm_of(int64_t n, const float *x);
double row_distance(const struct assay_problem *p, int64_t n, const float *a,
                    const float *b);

/* distance / allowed, and 0 for no distance whatever is allowed. */
double part_of(double distance, double allowed);

#endif
