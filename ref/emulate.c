/* SPDX-License-Identifier: MIT
 *
 * Emulation of recipes, and its jitter.
 *
 * The nominal form fixes the rounding of P but not the key tile, and not the
 * order of binary32 sums. Three things make legal kernels differ:
 *
 * 1. Another key tile gives another running maximum, and so another rounding
 *    of each P. Measured: the emulation is run at every tile of `variants`.
 * 2. Scores carry binary32 noise. With u = 2^-24 a dot product of width d is
 *    off by about sqrt(d) u times its partial sums, which are at most
 *    |q| |k| (Higham, Accuracy and Stability, 3.1); NOISE_DOT units of u times
 *    scale |q| max|k| cover it, and NOISE_EXP units cover the shift by the
 *    maximum, exp2 and the scale itself. To first order a row then moves by
 *    noise (sum p|v| + |o|), its LSE by noise.
 * 3. A P within that noise of a rounding boundary may round either way, which
 *    moves the row by a whole step of P. The engine adds up those steps.
 */
#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/recipe.h"
#include "blocked.h"

static const double U32 = 0x1p-24;
enum { NOISE_DOT = 8, NOISE_EXP = 16 };

/* What the nominal form leaves open. The first is the answer itself. */
static const struct {
    int64_t key_tile;
    bool f64;
} variants[] = {
    { 128, false }, { 32, false }, { 48, false },  { 64, false },
    { 96, false },  { 128, true }, { 192, false }, { 256, false },
};

enum { N_VARIANTS = sizeof variants / sizeof *variants };

struct operands {
    float *q, *k, *v;        /* codes as values; scales are in the job */
    float *noise, *v_norm;   /* per row; per value row, unscaled */
    float *flips, *flips_v, *mean_v;
    float *o;                /* a variant's answer */
    double *lse;
};

static void operands_free(struct operands *x)
{
    assay_free(x->q);
    assay_free(x->k);
    assay_free(x->v);
    assay_free(x->noise);
    assay_free(x->v_norm);
    assay_free(x->flips);
    assay_free(x->flips_v);
    assay_free(x->mean_v);
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

static double norm(int64_t n, const float *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

static void fill_norms(const struct blocked_job *job, struct operands *x)
{
    const struct assay_problem *p = job->p;
    for (int64_t r = 0; r < p->b * p->nk * p->hk; r++)
        x->v_norm[r] = (float)norm(p->dv, x->v + r * p->dv);
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t h = 0; h < p->hq; h++) {
            double top = 0;
            for (int64_t j = 0; j < p->nk; j++) {
                double n = norm(p->dk, x->k + assay_row_offset(
                                                  p->nk, p->hk, p->dk, b, j,
                                                  h / (p->hq / p->hk)));
                top = n > top ? n : top;
            }
            double unit = NOISE_DOT * fabs(job->score_scale) * M_LN2 * top;
            for (int64_t i = 0; i < p->nq; i++) {
                double n = norm(p->dk, x->q + assay_row_offset(p->nq, p->hq,
                                                               p->dk, b, i,
                                                               h));
                x->noise[(b * p->hq + h) * p->nq + i] =
                    (float)(U32 * (unit * n + NOISE_EXP));
            }
        }
}

static enum assay_status jitter_space(const struct assay_problem *p,
                                      struct operands *x,
                                      struct assay_error *err)
{
    const int64_t rows = assay_problem_rows(p), n = assay_problem_o_elems(p);
    struct {
        const char *what;
        int64_t count;
        size_t bytes;
        void *to;
    } arrays[] = {
        { "score noise", rows, sizeof(float), &x->noise },
        { "norms of V", p->b * p->nk * p->hk, sizeof(float), &x->v_norm },
        { "uncertain steps", rows, sizeof(float), &x->flips },
        { "uncertain steps", rows, sizeof(float), &x->flips_v },
        { "mean norms", rows, sizeof(float), &x->mean_v },
        { "a variant's output", n, sizeof(float), &x->o },
        { "a variant's LSE", rows, sizeof(double), &x->lse },
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof arrays / sizeof *arrays;
         i++)
        st = assay_alloc(arrays[i].what, arrays[i].count, arrays[i].bytes,
                         arrays[i].to, err);
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
static void absorb(const struct blocked_job *job, const struct operands *x,
                   const float *o, const double *lse,
                   const struct assay_jitter *jitter)
{
    const struct assay_problem *p = job->p;
    const double vs = fabs(job->value_scale);
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        double norm_e = 0, norm_c = 0;
        for (int64_t i = 0; i < p->nq; i++) {
            int64_t at = assay_row_offset(p->nq, p->hq, p->dv, bh / p->hq, i,
                                          bh % p->hq);
            int64_t row = bh * p->nq + i;
            double d = 0, e = 0;
            for (int64_t c = 0; c < p->dv; c++) {
                double a = x->o[at + c], b = o[at + c];
                d += (a - b) * (a - b);
                e += b * b;
                norm_c += a * a;
            }
            norm_e += e;
            double own = sqrt(e), flips = x->flips[row];
            double row_o = sqrt(d) + vs * x->flips_v[row] + own * flips +
                           x->noise[row] * (vs * x->mean_v[row] + own);
            double row_lse = lse[row] == x->lse[row]
                                 ? 0
                                 : fabs(x->lse[row] - lse[row]);
            row_lse += flips + x->noise[row];
            if (!(row_o <= jitter->o[row]))
                jitter->o[row] = (float)row_o;
            if (!(row_lse <= jitter->lse[row]))
                jitter->lse[row] = (float)row_lse;
        }
        double gain = norm_e > 0 ? fabs(sqrt(norm_c / norm_e) - 1) : 0;
        if (!(gain <= jitter->gain[bh]))
            jitter->gain[bh] = (float)gain;
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
    const struct blocked_doubt doubt = { x->noise, x->v_norm, x->flips,
                                         x->flips_v, x->mean_v };
    enum assay_status st = ASSAY_OK;
    fill_norms(base, x);
    memset(jitter->o, 0, (size_t)assay_problem_rows(p) * sizeof(float));
    memset(jitter->lse, 0, (size_t)assay_problem_rows(p) * sizeof(float));
    memset(jitter->gain, 0, (size_t)(p->b * p->hq) * sizeof(float));
    for (size_t i = 0; st == ASSAY_OK && i < N_VARIANTS; i++) {
        struct blocked_job job = *base;
        job.key_tile = variants[i].key_tile;
        job.o = x->o;
        job.lse = x->lse;
        job.doubt = &doubt;
        st = variants[i].f64 ? run_f64(job, x, run, err)
                             : blocked_f32(&job, run, err);
        if (st == ASSAY_OK)
            absorb(base, x, o, lse, jitter);
    }
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
        if (st == ASSAY_OK && jitter &&
            (st = jitter_space(p, &x, err)) == ASSAY_OK)
            st = measure_jitter(&job, &x, o, lse, jitter, run, err);
    }
    operands_free(&x);
    return st;
}
