/* SPDX-License-Identifier: MIT
 *
 * What a recipe costs on one problem: how far its emulated answer is from the
 * exact one, what its payloads lose, and which of its stages is to blame.
 */
#ifndef ASSAY_AUDIT_H
#define ASSAY_AUDIT_H

#include "assay/metrics.h"
#include "assay/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The E8M0 bytes of a payload, blocks that hold no token left out. The median
 * is the lower one of an even number. */
struct assay_e8m0 {
    int64_t count[256];
    int64_t total; /* 0: no such scales, and the rest is 0 too */
    int min, median, max, distinct;
};

/* Fills the rest from the counts: histograms can be added. */
ASSAY_API void assay_e8m0_finish(struct assay_e8m0 *e8m0);

struct assay_audit_operand {
    /* Share of elements that are clipped: the code is the largest finite one
     * of its sign, and |x|, as the quantizer sees it, divided by its scale is
     * more than half the format's last step beyond that code. Rounding to the
     * largest is no clipping; what became infinite or NaN is none either. */
    double clipped;
    /* Of a payload element, its share of the scales (32 bits, or 8 for E8M0,
     * as many as there are) included. NaN where there are no elements. */
    double bits;
    /* Relative L2 of what the payload stands for among the inputs, beside the
     * inputs without the mean that was taken off. 0 for 0 / 0. */
    double round_trip;
    struct assay_e8m0 e8m0;
};

struct assay_audit {
    struct assay_distance distance; /* emulated - exact */
    /* Relative L2 of O over V's round trip; NaN where V loses nothing. */
    double v_amplification;
    struct assay_audit_operand q, k, v;
};

/* An answer: o [b, nq, hq, dv], lse [b, hq, nq]. */
struct assay_answered {
    const float *o;
    const double *lse;
};

/* The recipe's payloads of q, k and v, and its answer before the output is
 * rounded, against the exact one. `word` as in assay_recipe_quantize. */
ASSAY_API enum assay_status assay_audit_recipe(
    const struct assay_recipe *recipe, const struct assay_problem *p,
    const struct assay_format *word, const float *q, const float *k,
    const float *v, const struct assay_payloads *payloads,
    struct assay_answered exact, struct assay_answered emulated,
    struct assay_audit *out, struct assay_error *err);

/* What O and LSE are off by. */
struct assay_cost {
    double rel_l2, lse_max; /* nats */
};

/* Per stage of the recipe: it alone, and all the others. */
struct assay_stage_costs {
    struct assay_cost only[ASSAY_STAGES], all_but[ASSAY_STAGES];
};

/* Emulates the recipe twice for each stage (assay_stages_emulate). */
ASSAY_API enum assay_status
assay_audit_stages(const struct assay_recipe *recipe,
                   const struct assay_problem *p, const float *q,
                   const float *k, const float *v,
                   const struct assay_payloads *payloads,
                   struct assay_answered exact, const struct assay_run *run,
                   struct assay_stage_costs *out, struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
