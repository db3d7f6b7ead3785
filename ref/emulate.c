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
#include "emulate.h"
#include "jitter.h"
#include "softmax_coded.h"

/* Legal kernels beside the emulated one. A form that fixes the maximum fixes
 * the tile; P's blocks need whole frames. */
static const struct {
    int64_t key_tile;
    bool f64;
} variants[] = { { 32, false }, { 64, false }, { 128, true }, { 256, false } };

/* What binary32 sums alone do to a head's norm. */
static const double GAIN_NOISE = 0x1p-21;

static bool is_legal(const struct blocked_job *job, int64_t key_tile)
{
    return key_tile == job->key_tile ||
           (job->form->kind == ASSAY_KIND_ONLINE &&
            (!job->p_blocks || key_tile % ASSAY_FRAME == 0));
}

enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* gfx950's scaled MFMA instructions take 64 channels; sums of integers are
 * exact, and reach binary32 once. */
enum { SCALED_MFMA_CHANNELS = 64 };

struct operands {
    float *q, *k, *v; /* codes as values; one scale of all is in the job */
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

/* Scales that a kernel applies after the product stay out. */
static bool stays_out(enum assay_scale scale, bool v)
{
    return scale == ASSAY_SCALE_TENSOR || (v && scale == ASSAY_SCALE_CHANNEL);
}

static enum assay_status values_of(const struct assay_payload *payload, bool v,
                                   float **out, struct assay_error *err)
{
    enum assay_status st =
        assay_alloc("decoded codes", payload->count, sizeof **out, out, err);
    if (st != ASSAY_OK)
        return st;
    if (stays_out(payload->scale, v))
        assay_format_decode(payload->format, (size_t)payload->count,
                            payload->codes, *out);
    else
        assay_payload_values(payload, *out);
    return ASSAY_OK;
}

static double scale_of(const struct assay_payload *payload)
{
    return payload->scale == ASSAY_SCALE_TENSOR ? (double)payload->scales[0]
                                                : 1;
}

bool emulate_requantizes(const struct assay_recipe *recipe,
                         const struct assay_payloads *payloads)
{
    return assay_softmax_get(recipe->softmax)->kind == ASSAY_KIND_U32 &&
           recipe->scale_applied == ASSAY_APPLIED_KERNEL &&
           payloads->q.scale == ASSAY_SCALE_TENSOR &&
           payloads->k.scale == ASSAY_SCALE_TENSOR &&
           payloads->q.format->top != ASSAY_TOP_INTEGER;
}

float emulate_requantize(const struct assay_problem *p,
                         const struct assay_payloads *payloads, float *q,
                         int *exponent)
{
    const float log2e = 0x1.715476p+0f;
    float c = (float)p->softmax_scale * payloads->q.scales[0];
    c = c * payloads->k.scales[0] * log2e * 0x1p23f;
    const float fraction = frexpf(c, exponent);
    for (int64_t i = 0; i < payloads->q.count; i++)
        q[i] *= fraction;
    assay_format_round(payloads->q.format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE,
                       (size_t)payloads->q.count, q, q);
    return fraction;
}

/* Takes the operands in, and all that the contract says of scores and P. */
static enum assay_status
job_new(const struct assay_recipe *recipe, const struct assay_problem *p,
        const struct assay_payloads *payloads, int64_t key_tile,
        struct operands *x, struct blocked_job *job, struct assay_error *err)
{
    const struct assay_softmax_form *form = assay_softmax_get(recipe->softmax);
    enum assay_status st;
    *x = (struct operands){ 0 };
    if ((st = values_of(&payloads->q, false, &x->q, err)) != ASSAY_OK ||
        (st = values_of(&payloads->k, false, &x->k, err)) != ASSAY_OK ||
        (st = values_of(&payloads->v, true, &x->v, err)) != ASSAY_OK)
        return st;
    *job = (struct blocked_job){
        .p = p,
        .q = x->q,
        .k = x->k,
        .v = x->v,
        .unit = softmax_unit(form),
        .value_scale = scale_of(&payloads->v),
        .channel_scale = payloads->v.scale == ASSAY_SCALE_CHANNEL
                             ? payloads->v.scales
                             : NULL,
        .p_format = assay_format_get(recipe->p_format),
        .p_blocks = recipe->p_blocks,
        .order = recipe->order,
        .form = form,
        .key_tile = key_tile,
        .dot_step = payloads->q.format->top == ASSAY_TOP_INTEGER
                        ? (int)p->dk
                        : SCALED_MFMA_CHANNELS,
    };
    if (emulate_requantizes(recipe, payloads)) {
        int exponent;
        emulate_requantize(p, payloads, x->q, &exponent);
        job->score_scale = ldexp(1, exponent);
        return ASSAY_OK;
    }
    job->score_scale =
        scale_of(&payloads->q) * scale_of(&payloads->k) * job->unit;
    if (recipe->scale_applied == ASSAY_APPLIED_KERNEL)
        job->score_scale *= p->softmax_scale * M_LOG2E;
    return ASSAY_OK;
}

/* Scores of smoothed keys lack what the mean gave them. */
static void restore_lse(const struct assay_problem *p,
                        const struct assay_payloads *payloads, double *lse)
{
    const int64_t n = assay_problem_rows(p);
    for (int64_t r = 0; payloads->lse_shift && r < n; r++)
        lse[r] += (double)payloads->lse_shift[r];
}

enum assay_status emulate_run(struct blocked_job job, bool f64, float *out,
                              const struct assay_run *run,
                              struct assay_error *err)
{
    const int64_t n = assay_problem_o_elems(job.p);
    double *o;
    job.o = out;
    if (!f64)
        return blocked_f32(&job, run, err);
    enum assay_status st = assay_alloc("o", n, sizeof *o, &o, err);
    if (st != ASSAY_OK)
        return st;
    job.o = o;
    st = blocked_f64(&job, run, err);
    for (int64_t i = 0; st == ASSAY_OK && i < n; i++)
        out[i] = (float)o[i];
    assay_free(o);
    return st;
}

bool emulate_needs_f64(const struct blocked_job *job)
{
    return job->form->kind >= ASSAY_KIND_U32;
}

enum assay_status assay_recipe_emulate_tile(
    const struct assay_recipe *recipe, const struct assay_problem *p,
    const struct assay_payloads *payloads, int64_t key_tile, float *o,
    double *lse, const struct assay_run *run, struct assay_error *err)
{
    struct operands x = { 0 };
    struct blocked_job job;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    if (key_tile < 1 || (recipe->p_blocks && key_tile % ASSAY_FRAME != 0))
        return assay_fail(err, ASSAY_SHAPE, "a key tile of %lld, must be %s",
                          (long long)key_tile,
                          recipe->p_blocks ? "a multiple of 64, for P's blocks"
                                           : "at least 1");
    st = job_new(recipe, p, payloads, key_tile, &x, &job, err);
    job.lse = lse;
    if (st == ASSAY_OK)
        st = emulate_run(job, emulate_needs_f64(&job), o, run, err);
    if (st == ASSAY_OK)
        restore_lse(p, payloads, lse);
    operands_free(&x);
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
        double gain = b2 > 0 ? fabs(sqrt(a2 / b2) - 1) + GAIN_NOISE : 0;
        jitter->gain[bh] = (float)assay_worst(jitter->gain[bh], gain);
    }
}

/* Four samples may agree by luck. Rows that are off by their jitter change a
 * head's norm by this much: each in a direction of its own among dv where the
 * denominator is rounded with P, else along O, which rounding P then scales.
 * Where a few rows have all the jitter, one may well lie half along O.
 * doc/gates.md, section 4. */
static void add_rows_gain(const struct assay_problem *p, bool whole_sum,
                          const struct assay_row *rows,
                          const struct assay_jitter *jitter)
{
    const double ways = whole_sum ? 1 : (double)p->dv;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        double off2 = 0, most = 0, norm2 = 0;
        for (int64_t r = bh * p->nq; r < (bh + 1) * p->nq; r++) {
            double x = (double)jitter->o[r] * rows[r].norm_b;
            off2 += x * x;
            most = assay_worst(most, x);
            norm2 += rows[r].norm_b * rows[r].norm_b;
        }
        double gain =
            norm2 > 0 ? sqrt(off2 / ways + most * most / 4) / norm2 : 0;
        jitter->gain[bh] = (float)assay_worst(jitter->gain[bh], gain);
    }
}

static bool all_finite(int64_t n, const float *x)
{
    bool all = true;
    for (int64_t i = 0; i < n; i++)
        all &= isfinite(x[i]) != 0;
    return all;
}

static double largest(int64_t n, const float *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = isfinite(x[i]) ? fmax(most, fabs((double)x[i])) : most;
    return most;
}

/* With all scales of V. */
static double largest_v(const struct blocked_job *job)
{
    const struct assay_problem *p = job->p;
    double most = 0;
    for (int64_t r = 0; r < p->b * p->nk * p->hk; r++)
        for (int64_t c = 0; c < p->dv; c++) {
            const int64_t of = r / p->nk / p->hk * p->hk + r % p->hk;
            const float scale =
                job->channel_scale ? job->channel_scale[of * p->dv + c] : 1;
            const double x = fabs((double)job->v[r * p->dv + c] * scale);
            most = isfinite(x) ? fmax(most, x) : most;
        }
    return most * fabs(job->value_scale);
}

/* A row that has an answer must have a jitter, or its gates say nothing. */
static enum assay_status check_jitter(const struct blocked_job *job,
                                      const float *o, const double *lse,
                                      const struct assay_jitter *jitter,
                                      struct assay_error *err)
{
    const struct assay_problem *p = job->p;
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        const struct assay_place at = assay_row_place(p, r);
        if ((isfinite(jitter->o[r]) && isfinite(jitter->lse[r])) ||
            !isfinite(lse[r]) ||
            !all_finite(p->dv, o + assay_row_offset(p->nq, p->hq, p->dv, at.b,
                                                    at.i, at.h)))
            continue;
        const double term = fabs(job->score_scale / job->unit) * M_LN2 *
                            largest(assay_problem_q_elems(p), job->q) *
                            largest(assay_problem_k_elems(p), job->k);
        return assay_fail(
            err, ASSAY_USAGE,
            "row %lld of head %lld of batch %lld has a finite answer, but how "
            "far other kernels may be off is not finite: products of Q and K "
            "are up to %.2g nats, V up to %.2g",
            (long long)at.i, (long long)at.h, (long long)at.b, term,
            largest_v(job));
    }
    return ASSAY_OK;
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
    st = jitter_model(base, o, jitter, run, err);
    for (size_t i = 0; st == ASSAY_OK && i < N_VARIANTS; i++) {
        struct blocked_job job = *base;
        if (!is_legal(base, variants[i].key_tile))
            continue;
        job.key_tile = variants[i].key_tile;
        job.lse = x->lse;
        st = emulate_run(job, variants[i].f64 != emulate_needs_f64(base), x->o,
                         run, err);
        if (st == ASSAY_OK)
            absorb(p, x, o, lse, rows, jitter);
    }
    if (st == ASSAY_OK)
        add_rows_gain(p, base->form->whole_sum, rows, jitter);
    if (st == ASSAY_OK)
        st = check_jitter(base, o, lse, jitter, err);
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
    struct operands x = { 0 };
    struct blocked_job job;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    st = job_new(recipe, p, payloads,
                 assay_softmax_get(recipe->softmax)->key_tile, &x, &job, err);
    job.lse = lse;
    if (st == ASSAY_OK)
        st = emulate_run(job, emulate_needs_f64(&job), o, run, err);
    if (st == ASSAY_OK && jitter)
        st = measure_jitter(&job, &x, o, lse, jitter, run, err);
    if (st == ASSAY_OK)
        restore_lse(p, payloads, lse);
    operands_free(&x);
    return st;
}
