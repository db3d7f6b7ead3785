/* SPDX-License-Identifier: MIT
 *
 * Exact attention over BLAS: the blocked engine with an unrounded P.
 */
#include <math.h>

#include "assay/attention.h"
#include "blocked.h"

enum { EXACT_KEY_TILE = 512 };

static struct blocked_job exact_job(const struct assay_problem *p,
                                    const float *q, const float *k,
                                    const float *v, void *o, double *lse)
{
    return (struct blocked_job){
        .p = p,
        .q = q,
        .k = k,
        .v = v,
        .score_scale = p->softmax_scale * M_LOG2E,
        .unit = 1,
        .value_scale = 1,
        .key_tile = EXACT_KEY_TILE,
        .o = o,
        .lse = lse,
    };
}

enum assay_status assay_attention_f32(const struct assay_problem *p,
                                      const float *q, const float *k,
                                      const float *v, float *o, double *lse,
                                      const struct assay_run *run,
                                      struct assay_error *err)
{
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    struct blocked_job job = exact_job(p, q, k, v, o, lse);
    return blocked_f32(&job, run, err);
}

enum assay_status assay_attention_f64(const struct assay_problem *p,
                                      const float *q, const float *k,
                                      const float *v, double *o, double *lse,
                                      const struct assay_run *run,
                                      struct assay_error *err)
{
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    struct blocked_job job = exact_job(p, q, k, v, o, lse);
    return blocked_f64(&job, run, err);
}
