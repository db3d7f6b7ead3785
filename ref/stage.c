/* SPDX-License-Identifier: MIT
 *
 * Recipes stage by stage. Payloads go back to the space of the inputs, so that
 * a quantized operand can meet an exact one; a rotation is its own inverse.
 */
#include "assay/stage.h"

#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/rotate.h"
#include "assay/smooth.h"
#include "blocked.h"
#include "emulate.h"
#include "softmax_coded.h"

static const struct assay_way stages_of[] = {
#define ASSAY_STAGE(id, name, about) { name, about },
#include "assay/stage.def"
#undef ASSAY_STAGE
};

const struct assay_way *assay_stage_get(enum assay_stage stage)
{
    return &stages_of[stage];
}

enum assay_status assay_payload_inputs(const struct assay_payload *payload,
                                       const struct assay_quantizer *how,
                                       float mult, const float *mean, float *x,
                                       struct assay_error *err)
{
    const struct assay_tensor *t = &payload->tensor;
    const int64_t rows = t->b * t->s * t->h;
    assay_payload_values(payload, x);
    if (how->prepares && assay_rotation_order_get(how->prepare)->rotate) {
        enum assay_status st = assay_rotate(t->d, rows, x, 1, NULL, x, err);
        if (st != ASSAY_OK)
            return st;
    }
    for (int64_t i = 0; mult != 1 && i < payload->count; i++)
        x[i] /= mult;
    for (int64_t r = 0; mean && r < rows; r++)
        for (int64_t c = 0; c < t->d; c++)
            x[r * t->d + c] +=
                mean[(r / t->h / t->s * t->h + r % t->h) * t->d + c];
    return ASSAY_OK;
}

/* The input, or what its payload stands for in memory of its own; without the
 * mean, if there is one. */
static enum assay_status operand(bool quantized, const float *input,
                                 const struct assay_payload *payload,
                                 enum assay_quantizer_id how, float mult,
                                 const float *mean, float **own,
                                 const float **out, struct assay_error *err)
{
    const struct assay_tensor *t = &payload->tensor;
    enum assay_status st;
    *own = NULL;
    *out = input;
    if (!quantized && !mean)
        return ASSAY_OK;
    if ((st = assay_alloc("an operand", payload->count, sizeof **own, own,
                          err)) != ASSAY_OK)
        return st;
    *out = *own;
    if (quantized)
        return assay_payload_inputs(payload, assay_quantizer_get(how), mult,
                                    NULL, *own, err);
    for (int64_t i = 0; i < payload->count; i++)
        (*own)[i] =
            input[i] -
            mean[i / t->d / t->h / t->s * t->h * t->d + i % (t->h * t->d)];
    return ASSAY_OK;
}

/* What a Q that the softmax form rounds again stands for, into x. */
static enum assay_status requantized(const struct assay_recipe *recipe,
                                     const struct assay_problem *p,
                                     const struct assay_payloads *payloads,
                                     float *x, struct assay_error *err)
{
    const struct assay_payload *q = &payloads->q;
    const struct assay_quantizer *how = assay_quantizer_get(recipe->q);
    int exponent;
    assay_format_decode(q->format, (size_t)q->count, q->codes, x);
    const float by =
        q->scales[0] / emulate_requantize(p, payloads, x, &exponent);
    for (int64_t i = 0; i < q->count; i++)
        x[i] *= by;
    return how->prepares && assay_rotation_order_get(how->prepare)->rotate
               ? assay_rotate(q->tensor.d, q->count / q->tensor.d, x, 1, NULL,
                              x, err)
               : ASSAY_OK;
}

/* What the mean took off the LSE: as the recipe puts it back, or exactly where
 * K is not that of the recipe. */
static enum assay_status restore_lse(const struct assay_problem *p,
                                     bool k_stage,
                                     const struct assay_payloads *payloads,
                                     const float *q, double *lse,
                                     struct assay_error *err)
{
    const int64_t n = assay_problem_rows(p);
    float *delta = NULL;
    enum assay_status st =
        assay_alloc("an LSE shift", n, sizeof *delta, &delta, err);
    if (st == ASSAY_OK && k_stage)
        memcpy(delta, payloads->lse_shift, (size_t)n * sizeof *delta);
    else if (st == ASSAY_OK)
        st = assay_k_mean_lse_delta(p, assay_format_get(ASSAY_F32), q,
                                    payloads->k_mean, delta, err);
    for (int64_t r = 0; st == ASSAY_OK && r < n; r++)
        lse[r] += (double)delta[r];
    assay_free(delta);
    return st;
}

/* The form without its exp and max: an online one with the same denominator. */
static const struct assay_softmax_form *
form_of(const struct assay_softmax_form *form, bool softmax)
{
    return softmax || form->kind == ASSAY_KIND_ONLINE
               ? form
               : assay_softmax_get(form->whole_sum ? ASSAY_SOFTMAX_WHOLE_SUM
                                                   : ASSAY_SOFTMAX_NOMINAL);
}

static struct blocked_job job_of(const struct assay_recipe *recipe,
                                 const struct assay_problem *p, unsigned stages)
{
    const bool softmax = stages >> ASSAY_STAGE_SOFTMAX & 1,
               rounds = stages >> ASSAY_STAGE_P & 1;
    const struct assay_softmax_form *form =
        form_of(assay_softmax_get(recipe->softmax), softmax);
    return (struct blocked_job){
        .p = p,
        .unit = softmax_unit(form),
        .score_scale = p->softmax_scale * M_LOG2E * softmax_unit(form),
        .value_scale = 1,
        /* f32 rounds nothing, and has the form looked at */
        .p_format = assay_format_get(rounds ? recipe->p_format : ASSAY_F32),
        .p_blocks = rounds && recipe->p_blocks,
        .order = recipe->order,
        .form = form,
        .key_tile = form->key_tile,
        .dot_step = (int)p->dk,
    };
}

enum assay_status assay_stages_emulate(
    const struct assay_recipe *recipe, const struct assay_problem *p,
    unsigned stages, const float *q, const float *k, const float *v,
    const struct assay_payloads *payloads, float *o, double *lse,
    const struct assay_run *run, struct assay_error *err)
{
    const float mult = recipe->scale_applied == ASSAY_APPLIED_Q
                           ? assay_fold_multiplier(p->softmax_scale)
                           : 1;
    struct blocked_job job = job_of(recipe, p, stages);
    float *own[3] = { NULL, NULL, NULL };
    enum assay_status st = assay_problem_check(p, err);
    if (st == ASSAY_OK)
        st = operand(stages >> ASSAY_STAGE_Q & 1, q, &payloads->q, recipe->q,
                     mult, NULL, &own[0], &job.q, err);
    if (st == ASSAY_OK && own[0] && stages >> ASSAY_STAGE_SOFTMAX & 1 &&
        emulate_requantizes(recipe, payloads))
        st = requantized(recipe, p, payloads, own[0], err);
    if (st == ASSAY_OK)
        st = operand(stages >> ASSAY_STAGE_K & 1, k, &payloads->k, recipe->k, 1,
                     payloads->lse_shift ? payloads->k_mean : NULL, &own[1],
                     &job.k, err);
    if (st == ASSAY_OK)
        st = operand(stages >> ASSAY_STAGE_V & 1, v, &payloads->v, recipe->v, 1,
                     NULL, &own[2], &job.v, err);
    job.lse = lse;
    if (st == ASSAY_OK)
        st = emulate_run(job, emulate_needs_f64(&job), o, run, err);
    if (st == ASSAY_OK && payloads->lse_shift)
        st = restore_lse(p, stages >> ASSAY_STAGE_K & 1, payloads, q, lse, err);
    if (st == ASSAY_OK && stages >> ASSAY_STAGE_OUT & 1)
        assay_format_round(assay_format_get(recipe->out_format),
                           ASSAY_NEAREST_EVEN, ASSAY_SPECIAL,
                           (size_t)assay_problem_o_elems(p), o, o);
    for (int i = 0; i < 3; i++)
        assay_free(own[i]);
    return st;
}
