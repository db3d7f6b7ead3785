/* SPDX-License-Identifier: MIT
 *
 * A recipe behind a transport: what the kernels of all ranks make of operands
 * that came through a codec.
 */
#ifndef ASSAY_AUDIT_TRANSPORT_H
#define ASSAY_AUDIT_TRANSPORT_H

#include "assay/recipe.h"
#include "assay/transport.h"
#include "golden/set.h"

/* A native codec, for any recipe, or a profile of packed operands, for the
 * recipe that reads them. */
struct audit_transport {
    const char *name;
    const struct assay_transport_codec *codec;     /* NULL: packed */
    const struct assay_transport_profile *profile; /* NULL: native */
    int ranks;
};

/* Whether the recipe is defined behind it for the case's inputs: false with
 * the reason in err. */
bool audit_transport_fits(const struct audit_transport *t,
                          const struct assay_recipe *recipe,
                          const struct assay_problem *p,
                          const struct assay_format *word,
                          struct assay_error *err);

/* Whether the recipe is the transport's: a profile serves one. */
bool audit_transport_serves(const struct audit_transport *t,
                            const struct assay_recipe *recipe);

/* O [b, nq, hq, dv] and LSE [b, hq, nq] of the recipe behind the transport;
 * bits an element that Q, K and V take on the wire. */
enum assay_status audit_transport_answer(const struct audit_transport *t,
                                         const struct assay_recipe *recipe,
                                         const struct assay_problem *p,
                                         const struct assay_inputs *in,
                                         const struct assay_run *run, float *o,
                                         double *lse, double bits[3],
                                         struct assay_error *err);

#endif
