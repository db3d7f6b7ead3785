/* SPDX-License-Identifier: MIT
 *
 * Private: the blocked engine under exact attention and under emulation. The
 * two differ in what P is rounded to and in the scales.
 */
#ifndef ASSAY_BLOCKED_H
#define ASSAY_BLOCKED_H

#include "assay/attention.h"
#include "assay/recipe.h"

enum { BLOCKED_QUERY_TILE = 128 };

struct blocked_job {
    const struct assay_problem *p;
    const float *q, *k, *v;
    double score_scale;         /* times q.k gives scores in `unit` an octave */
    double unit;                /* 1; the forms that fix bits have their own */
    double value_scale;         /* times O */
    const float *channel_scale; /* [b, hk, dv], times O; or NULL */
    const struct assay_format *p_format; /* NULL: P is not rounded */
    bool p_blocks; /* E8M0 scales for 32 keys of P, in this order */
    enum assay_token_order order;
    const struct assay_softmax_form *form; /* not looked at without p_format */
    int64_t key_tile;
    int dot_step; /* channels of a matrix instruction, where a form adds there
                   */
    void *o;      /* float with f32, double with f64; may be NULL */
    double *lse;
};

/* Rows of P in the order of their blocks, `width` of whole frames. */
static inline struct assay_blocks blocked_p(const struct blocked_job *job,
                                            int64_t rows, int64_t width)
{
    const struct assay_scale_rule *rule =
        assay_scale_rule_get(ASSAY_SCALE_RULE_FLOOR);
    return (struct assay_blocks){ .format = job->p_format,
                                  .rule = rule,
                                  .rounding = rule->rounding,
                                  .overflow = ASSAY_SATURATE,
                                  .block = ASSAY_BLOCK_TOKENS,
                                  .outer = rows,
                                  .length = width,
                                  .inner = 1 };
}

enum assay_status blocked_f32(const struct blocked_job *job,
                              const struct assay_run *run,
                              struct assay_error *err);
enum assay_status blocked_f64(const struct blocked_job *job,
                              const struct assay_run *run,
                              struct assay_error *err);

#endif
