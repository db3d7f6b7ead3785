/* SPDX-License-Identifier: MIT
 *
 * Emulation of recipes, and its jitter: the larger of what other legal
 * kernels were seen to do and of what the model in jitter.c says they may.
 */
#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/metrics.h"
#include "assay/recipe.h"
#include "blocked.h"
#include "jitter.h"

/* Legal kernels beside the emulated one. */
static const struct {
    int64_t key_tile;
    bool f64;
} variants[] = { { 32, false }, { 64, false }, { 128, true }, { 256, false } };

enum { N_VARIANTS = sizeof variants / sizeof *variants };

struct operands {
    float *q, *k, *v; /* codes as values; scales are in the job */
    float *o;         /* a variant's answer */
    double *lse;
};

static void operands_free(struct operands *x)
{
    assay_free(x->q);
    assay_free(x->k);
    assay_free(x->v);
    assay_free(x->o);
    assay_free(x->lse);
}

static enum assay_status codes_as_values(const struct assay_payload *payload,
                                         float **out, struct assay_error *err)
{
    enum assay_status st =
        assay_alloc("decoded codes", payload->count, sizeof **out, out, err);
    if (st == ASSAY_OK)
        assay_format_decode(payload->format, (size_t)payload->count,
                            payload->codes, *out);
    return st;
}

static enum assay_status operands_new(const struct assay_payloads *payloads,
                                      struct operands *x,
                                      struct assay_error *err)
{
    enum assay_status st;
    *x = (struct operands){ 0 };
    if ((st = codes_as_values(&payloads->q, &x->q, err)) == ASSAY_OK &&
        (st = codes_as_values(&payloads->k, &x->k, err)) == ASSAY_OK)
        st = codes_as_values(&payloads->v, &x->v, err);
    return st;
}

static double scale_of(const struct assay_payload *payload)
{
    return payload->scale == ASSAY_SCALE_NONE ? 1 : payload->scales[0];
}

static struct blocked_job job_of(const struct assay_recipe *recipe,
                                 const struct assay_problem *p,
                                 const struct assay_payloads *payloads,
                                 const struct operands *x, int64_t key_tile)
{
    return (struct blocked_job){
        .p = p,
        .q = x->q,
        .k = x->k,
        .v = x->v,
        .score_scale = p->softmax_scale * scale_of(&payloads->q) *
                       scale_of(&payloads->k) * M_LOG2E,
        .value_scale = scale_of(&payloads->v),
        .p_format = assay_format_get(recipe->p_format),
        .key_tile = key_tile,
    };
}

enum assay_status assay_recipe_emulate_tile(
    const struct assay_recipe *recipe, const struct assay_problem *p,
    const struct assay_payloads *payloads, int64_t key_tile, float *o,
    double *lse, const struct assay_run *run, struct assay_error *err)
{
    struct operands x;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    if (key_tile < 1)
        return assay_fail(err, ASSAY_SHAPE,
                          "a key tile of %lld, must be at least 1",
                          (long long)key_tile);
    st = operands_new(payloads, &x, err);
    if (st == ASSAY_OK) {
        struct blocked_job job = job_of(recipe, p, payloads, &x, key_tile);
        job.o = o;
        job.lse = lse;
        st = blocked_f32(&job, run, err);
    }
    operands_free(&x);
    return st;
}

/* The variant with binary64 sums; everything else is run in binary32. */
static enum assay_status run_f64(struct blocked_job job, struct operands *x,
                                 const struct assay_run *run,
                                 struct assay_error *err)
{
    const int64_t n = assay_problem_o_elems(job.p);
    double *o;
    enum assay_status st = assay_alloc("o", n, sizeof *o, &o, err);
    if (st != ASSAY_OK)
        return st;
    job.o = o;
    st = blocked_f64(&job, run, err);
    for (int64_t i = 0; st == ASSAY_OK && i < n; i++)
        x->o[i] = (float)o[i];
    assay_free(o);
    return st;
}

/* Takes one variant into the jitter. */
static void absorb(const struct assay_problem *p, const struct operands *x,
                   const float *o, const double *lse, struct assay_row *rows,
                   const struct assay_jitter *jitter)
{
    assay_rows_compare(p, x->o, o, rows);
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        double a2 = 0, b2 = 0;
        for (int64_t r = bh * p->nq; r < (bh + 1) * p->nq; r++) {
            double off = x->lse[r] == lse[r] ? 0 : fabs(x->lse[r] - lse[r]);
            a2 += rows[r].norm_a * rows[r].norm_a;
            b2 += rows[r].norm_b * rows[r].norm_b;
            jitter->o[r] = (float)assay_worst(jitter->o[r], rows[r].distance);
            jitter->lse[r] = (float)assay_worst(jitter->lse[r], off);
        }
        double gain = b2 > 0 ? fabs(sqrt(a2 / b2) - 1) : 0;
        jitter->gain[bh] = (float)assay_worst(jitter->gain[bh], gain);
    }
}

static enum assay_status measure_jitter(const struct blocked_job *base,
                                        struct operands *x, const float *o,
                                        const double *lse,
                                        const struct assay_jitter *jitter,
                                        const struct assay_run *run,
                                        struct assay_error *err)
{
    const struct assay_problem *p = base->p;
    const int64_t n = assay_problem_rows(p);
    struct assay_row *rows = NULL;
    enum assay_status st;
    if ((st = assay_alloc("a variant's output", assay_problem_o_elems(p),
                          sizeof *x->o, &x->o, err)) != ASSAY_OK ||
        (st = assay_alloc("a variant's LSE", n, sizeof *x->lse, &x->lse,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("row figures", n, sizeof *rows, &rows, err)) !=
            ASSAY_OK)
        goto out;
    memset(jitter->gain, 0, (size_t)(p->b * p->hq) * sizeof *jitter->gain);
    st = jitter_model(base, o, jitter->o, jitter->lse, run, err);
    for (size_t i = 0; st == ASSAY_OK && i < N_VARIANTS; i++) {
        struct blocked_job job = *base;
        job.key_tile = variants[i].key_tile;
        job.o = x->o;
        job.lse = x->lse;
        st = variants[i].f64 ? run_f64(job, x, run, err)
                             : blocked_f32(&job, run, err);
        if (st == ASSAY_OK)
            absorb(p, x, o, lse, rows, jitter);
    }
out:
    assay_free(rows);
    return st;
}

enum assay_status assay_recipe_emulate(const struct assay_recipe *recipe,
                                       const struct assay_problem *p,
                                       const struct assay_payloads *payloads,
                                       float *o, double *lse,
                                       const struct assay_jitter *jitter,
                                       const struct assay_run *run,
                                       struct assay_error *err)
{
    struct operands x;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    st = operands_new(payloads, &x, err);
    if (st == ASSAY_OK) {
        struct blocked_job job =
            job_of(recipe, p, payloads, &x,
                   assay_softmax_get(recipe->softmax)->key_tile);
        job.o = o;
        job.lse = lse;
        st = blocked_f32(&job, run, err);
        if (st == ASSAY_OK && jitter)
            st = measure_jitter(&job, &x, o, lse, jitter, run, err);
    }
    operands_free(&x);
    return st;
}
