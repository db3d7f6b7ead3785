/* SPDX-License-Identifier: MIT
 *
 * A recipe with some of its stages only, the others exact: which part of a
 * recipe costs what.
 */
#ifndef ASSAY_STAGE_H
#define ASSAY_STAGE_H

#include "assay/recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_stage {
#define ASSAY_STAGE(id, ...) ASSAY_STAGE_##id,
#include "assay/stage.def"
#undef ASSAY_STAGE
    ASSAY_STAGES
};

/* The row of a stage; static. */
ASSAY_API const struct assay_way *assay_stage_get(enum assay_stage stage);

/* What a payload stands for among the inputs it was made from, [b, s, h, d]:
 * its values, rotated back, without the softmax scale that was folded in, the
 * mean [b, h, d] added again (NULL: none was taken off). Exact but for
 * binary32 sums. */
ASSAY_API enum assay_status
assay_payload_inputs(const struct assay_payload *payload,
                     const struct assay_quantizer *how, float mult,
                     const float *mean, float *x, struct assay_error *err);

/* O [b, nq, hq, dv] and LSE [b, hq, nq] where the stages whose bits (1 <<
 * stage) are set do as the recipe does. q, k, v are the inputs of payloads. K is
 * without its mean in any case; what that takes off the LSE is put back as the
 * recipe does it where K is quantized, and exactly where it is not.
 * A second rounding of Q that some forms do is there where both Q and the
 * softmax are as in the recipe. With all stages it is the emulation but for the
 * order of sums. */
ASSAY_API enum assay_status assay_stages_emulate(
    const struct assay_recipe *recipe, const struct assay_problem *p,
    unsigned stages, const float *q, const float *k, const float *v,
    const struct assay_payloads *payloads, float *o, double *lse,
    const struct assay_run *run, struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
