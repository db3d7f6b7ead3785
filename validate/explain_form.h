/* SPDX-License-Identifier: MIT
 *
 * Private: does a wrong candidate fit another softmax form?
 */
#ifndef ASSAY_EXPLAIN_FORM_H
#define ASSAY_EXPLAIN_FORM_H

#include "validate/explain.h"

/* Emulates the recipe in each other softmax form and fills the members of
 * *e for it if half of the heads or more fit one, and more than fit the set's
 * own. Not asked where fewer than half of the heads fail, where the set's
 * answer has no jitter, which any other kernel fails, or where a form would
 * take more than some 2^35 multiplications. ASSAY_MEMORY. */
enum assay_status explain_form(const struct explain_input *in,
                               struct explanation *e, struct assay_error *err);

#endif
