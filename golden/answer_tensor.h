/* SPDX-License-Identifier: MIT
 *
 * Answers made elsewhere, as tensors CASE.RECIPE.o and CASE.RECIPE.lse of a
 * file: whether one is of the type and shape that a case has, and its values.
 */
#ifndef ASSAY_ANSWER_TENSOR_H
#define ASSAY_ANSWER_TENSOR_H

#include "assay/recipe.h"
#include "golden/layout.h"
#include "golden/tensors.h"

/* How the axes of O lie in a file. */
struct answer_axes {
    const char *option; /* that would tell it, for sentences */
    struct layout layout;
    bool told; /* else four axes are refused */
};

/* As the option of that name says, value NULL: it was not given; else the
 * file's metadata "layout", else hsd. ASSAY_USAGE for the option, ASSAY_FORMAT
 * for the file. */
enum assay_status answer_axes_find(const struct tensors *file,
                                   const char *option, const char *value,
                                   struct answer_axes *out,
                                   struct assay_error *err);

/* For tensors_open: inputs, payloads and exact answers may stand beside. */
bool answer_tensor_wanted(const char *name);

/* What the words of an O are: the recipe's own format or binary32. NULL: of
 * another type. */
const struct assay_format *answer_tensor_format(const struct tensor *t,
                                                const struct assay_recipe *r);

/* ASSAY_FORMAT, the sentence without the file. */
enum assay_status answer_tensor_check_o(const struct tensor *t,
                                        const struct answer_axes *axes,
                                        const struct assay_problem *p,
                                        const struct assay_recipe *r,
                                        struct assay_error *err);
enum assay_status answer_tensor_check_lse(const struct tensor *t,
                                          const struct assay_problem *p,
                                          struct assay_error *err);

/* Values of tensor i, which was checked: O in BSHD, LSE [b, hq, nq]. assay_free
 * them. */
enum assay_status answer_tensor_read_o(const struct tensors *file, size_t i,
                                       const struct answer_axes *axes,
                                       const struct assay_problem *p,
                                       const struct assay_recipe *r,
                                       float **out, struct assay_error *err);
enum assay_status answer_tensor_read_lse(const struct tensors *file, size_t i,
                                         const struct assay_problem *p,
                                         double **out, struct assay_error *err);

#endif
