/* SPDX-License-Identifier: MIT */
#include "plain_recipe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_values.h"
#include "recipe_run.h"

static const double U32 = 0x1p-24, LOG2E = 1.4426950408889634;

/* Units of an octave, bias, and where a row is rebased. */
static const float U32_UNIT = 8388608, U32_BIAS = 1064866816, /* 0x4E7DE250 */
    U32_GATE = 1138753536, U32_CLAMP = 2071986176;            /* 0x7B800000 */
static const float BYTE_UNIT = 8, BYTE_BIAS = 55.5361328125f,
                   BYTE_GATE = 126.5f;
enum { QUERY_TILE = 128 };

/* ---- formats of P ---- */

/* Nearest even at the format's step, by division. */
static double round_p(enum assay_format_id id, double p)
{
    static const struct {
        enum assay_format_id id;
        int man, least;
        double max;
    } shapes[] = {
        { ASSAY_BF16, 7, -126, 0x1.fep127 }, { ASSAY_F16, 10, -14, 65504 },
        { ASSAY_E4M3FN, 3, -6, 448 },        { ASSAY_E4M3FNUZ, 3, -7, 240 },
        { ASSAY_E2M3, 3, 0, 7.5 },
    };
    int i = 0, e;
    while (shapes[i].id != id)
        i++;
    frexp(p, &e);
    e = p == 0 || e - 1 < shapes[i].least ? shapes[i].least : e - 1;
    double step = ldexp(1, e - shapes[i].man);
    return fmin(nearbyint(p / step) * step, shapes[i].max);
}

/* P of a tile that starts with a frame, each key (64 f + t) in the block of
 * its frame that bit 2 of t names; 2^(floor of log2 of the largest, less 2)
 * is a block's scale. */
static void round_blocks(int64_t n, const double *p, double *w)
{
    for (int64_t block = 0; block * 32 < n + 63; block++) {
        double top = 0;
        int e;
        for (int64_t j = 0; j < n; j++)
            if (j / 64 * 2 + (j / 4 & 1) == block)
                top = fmax(top, p[j]);
        frexp(top, &e);
        double scale = top == 0 ? 1 : ldexp(1, e - 3);
        for (int64_t j = 0; j < n; j++)
            if (j / 64 * 2 + (j / 4 & 1) == block)
                w[j] = round_p(ASSAY_E2M3, p[j] / scale) * scale;
    }
}

/* P of a tile as the recipe rounds it, with a relative error of all but a P
 * of 1, which is the maximum whatever its error. */
static void round_tile(const struct assay_recipe *r, int64_t n, double error,
                       const double *exact, double *w)
{
    double *p = must_alloc((size_t)n, sizeof *p);
    for (int64_t j = 0; j < n; j++)
        p[j] = exact[j] == 1 ? 1 : exact[j] * (1 + error);
    if (r->p_blocks)
        round_blocks(n, p, w);
    for (int64_t j = 0; j < n && !r->p_blocks; j++)
        w[j] = round_p(r->p_format, p[j]);
    free(p);
}

/* ---- operands ---- */

static double unit_of(enum assay_softmax_kind kind)
{
    return kind == ASSAY_KIND_U32    ? U32_UNIT
           : kind == ASSAY_KIND_BYTE ? BYTE_UNIT
                                     : 1;
}

/* Codes as values, with the scales of blocks alone. */
static float *raw_values(const struct assay_payload *x)
{
    float *to = must_alloc((size_t)x->count, sizeof *to);
    if (x->e8m0)
        assay_payload_values(x, to);
    else
        assay_format_decode(x->format, (size_t)x->count, x->codes, to);
    return to;
}

static double scale_of(const struct assay_payload *x)
{
    return x->scale == ASSAY_SCALE_TENSOR ? x->scales[0] : 1;
}

/* Per-tensor floats in the u32 form: the factor of the scores is split into a
 * power of two and a fraction in [0.5, 1) that goes into Q, which is rounded
 * to its format a second time. */
static double requantize(const struct assay_payloads *x, double softmax_scale,
                         float *q)
{
    float c = (float)softmax_scale * x->q.scales[0] * x->k.scales[0];
    int e;
    c = c * (float)LOG2E * U32_UNIT;
    float fraction = frexpf(c, &e);
    for (int64_t i = 0; i < x->q.count; i++) {
        float y = q[i] * fraction;
        q[i] = copysignf((float)round_p(x->q.format->id, fabsf(y)), y);
    }
    return ldexp(1, e);
}

struct plain_recipe plain_recipe_new(const struct assay_recipe *recipe,
                                     const struct assay_problem *p,
                                     const struct assay_payloads *x,
                                     int64_t tile)
{
    const enum assay_softmax_kind kind =
        assay_softmax_get(recipe->softmax)->kind;
    struct plain_recipe job = {
        .recipe = recipe,
        .p = p,
        .tile = tile,
        .q = raw_values(&x->q),
        .k = raw_values(&x->k),
        .v = raw_values(&x->v),
        .v_scales = x->v.scales,
        .channels = x->v.scale == ASSAY_SCALE_CHANNEL,
        .scale = scale_of(&x->q) * scale_of(&x->k) * unit_of(kind),
    };
    if (kind == ASSAY_KIND_U32 && x->q.scale == ASSAY_SCALE_TENSOR &&
        x->q.format->id != ASSAY_INT8)
        job.scale = requantize(x, p->softmax_scale, job.q);
    else if (recipe->scale_applied == ASSAY_APPLIED_KERNEL)
        job.scale *= p->softmax_scale * LOG2E;
    return job;
}

void plain_recipe_free(struct plain_recipe *job)
{
    free(job->q);
    free(job->k);
    free(job->v);
}

/* ---- a row ---- */

struct row {
    const struct plain_recipe *job;
    const float *q, *k, *v; /* the query; the head's first key and value */
    int64_t n;              /* keys it sees */
    double m, l, unit;      /* m in units of the form */
    double mean_v;          /* sum of P |v| */
    double flips, flips_v;  /* steps that noise may cause */
    double noise, pv_noise;
    double *s, *w, *less, *more; /* [tile]: scores and P, P rounded */
    double *o;
    int rebased;
};

static void fade(struct row *x, double alpha)
{
    x->l *= alpha, x->mean_v *= alpha, x->flips *= alpha, x->flips_v *= alpha;
    for (int64_t d = 0; d < x->job->p->dv; d++)
        x->o[d] *= alpha;
}

/* Adds a tile whose P is in s, rounded in w. */
static void add_tile(struct row *x, int64_t j0, int64_t n)
{
    const struct assay_problem *p = x->job->p;
    const bool whole = assay_softmax_get(x->job->recipe->softmax)->whole_sum;
    for (int64_t j = 0; j < n; j++) {
        const float *v = x->v + (j0 + j) * p->hk * p->dv;
        double nv = norm_of(p->dv, v), step = fabs(x->more[j] - x->less[j]);
        x->l += whole ? x->s[j] : x->w[j];
        x->mean_v += x->w[j] * nv;
        x->flips += step;
        x->flips_v += step * nv;
        for (int64_t d = 0; d < p->dv; d++)
            x->o[d] += x->w[j] * v[d];
    }
}

/* q.k over channels c0 to c1. */
static double dot(const struct row *x, int64_t j, int64_t c0, int64_t c1)
{
    const float *k = x->k + j * x->job->p->hk * x->job->p->dk;
    double sum = 0;
    for (int64_t c = c0; c < c1; c++)
        sum += (double)x->q[c] * k[c];
    return sum * x->job->scale;
}

/* Scores in s to P by exp2, the maximum before and after given. */
static void exact_tile(struct row *x, int64_t j0, int64_t n, bool frozen)
{
    double top = x->m;
    for (int64_t j = 0; j < n; j++) {
        x->s[j] = dot(x, j0 + j, 0, x->job->p->dk);
        top = x->s[j] > top ? x->s[j] : top;
    }
    if (frozen && n == x->job->tile && j0 > 0 && top - x->m <= 32)
        top = x->m;
    x->rebased += frozen && n == x->job->tile && j0 > 0 && top > x->m;
    fade(x, top == x->m ? 1 : exp2((x->m - top) / x->unit));
    x->m = top;
    for (int64_t j = 0; j < n; j++)
        x->s[j] = (float)exp2((x->s[j] - top) / x->unit);
    round_tile(x->job->recipe, n, 0, x->s, x->w);
    round_tile(x->job->recipe, n, -x->noise, x->s, x->less);
    round_tile(x->job->recipe, n, x->noise, x->s, x->more);
    add_tile(x, j0, n);
}

/* A binary32 whose bits are y, as a number: 2^(octave) with a linear
 * fraction. */
static double by_bits(float y)
{
    double octaves = fmin(fmax(0, (double)y), U32_CLAMP) / U32_UNIT;
    double whole = floor(octaves);
    return ldexp(1 + octaves - whole, (int)whole - 127);
}

/* An e4m3 code as a number. */
static double by_code(float y, bool nearest)
{
    double at = fmin(fmax(0, (double)y), 126);
    int code = (int)(nearest ? nearbyint(at) : floor(at));
    return code < 8 ? code / 512. : ldexp(8 + code % 8, code / 8 - 10);
}

/* y to P, for 448 octaves above the maximum at most: a row beyond is rebased.
 */
static void u32_tile(struct row *x, int64_t n, const float *y, float top)
{
    double most = 1;
    for (int64_t j = 0; j < n; j++) {
        x->s[j] = by_bits(y[j]);
        most = fmax(most, x->s[j]);
    }
    if (top > U32_GATE && most > 448) {
        const float less = 1 / (float)most;
        for (int64_t j = 0; j < n; j++)
            x->s[j] = (float)x->s[j] * less;
        fade(x, less);
        x->m = (float)x->m + log2f((float)most) * U32_UNIT;
        x->rebased++;
    }
}

static void byte_tile(struct row *x, int64_t n, const float *y, float top)
{
    const bool nearest = assay_softmax_get(x->job->recipe->softmax)->nearest;
    float back = 0;
    if (top > BYTE_GATE) {
        back = top - BYTE_BIAS;
        fade(x, exp2f(-back / BYTE_UNIT));
        x->m = (float)x->m + back;
        x->rebased++;
    }
    for (int64_t j = 0; j < n; j++)
        x->s[j] = by_code(y[j] - back, nearest);
}

static float dithered(const struct plain_recipe *job, uint64_t at, float y)
{
    switch (job->ulps ? values_bits(job->ulps, at) % 3 : 0) {
    case 1: return nextafterf(y, INFINITY);
    case 2: return nextafterf(y, -INFINITY);
    default: return y;
    }
}

/* A whole tile whose scores become bits. Their sums are binary32 after every
 * 64 channels (integers: once), the first tile's from 0 and later ones' from
 * the bias on. */
static void coded_tile(struct row *x, int64_t j0)
{
    const struct plain_recipe *job = x->job;
    const bool u32 =
        assay_softmax_get(job->recipe->softmax)->kind == ASSAY_KIND_U32;
    const int64_t n = job->tile, dk = job->p->dk,
                  step = job->recipe->q == ASSAY_QUANTIZER_INT8 ? dk : 64;
    const float bias = u32 ? U32_BIAS : BYTE_BIAS;
    float *y = must_alloc((size_t)n, sizeof *y), top = -INFINITY;
    for (int64_t j = 0; j < n; j++) {
        y[j] = j0 == 0 ? 0 : bias - (float)x->m;
        for (int64_t c = 0; c < dk; c += step)
            y[j] = dithered(job,
                            (uint64_t)((x->q - job->q) * job->p->nk +
                                       (j0 + j) * 4 + c / 64),
                            (float)(y[j] + dot(x, j0 + j, c,
                                               c + step < dk ? c + step : dk)));
        top = y[j] > top ? y[j] : top;
    }
    if (j0 == 0) {
        x->m = top;
        for (int64_t j = 0; j < n; j++)
            y[j] += bias - (float)x->m;
        top += bias - (float)x->m;
    }
    (u32 ? u32_tile : byte_tile)(x, n, y, top);
    round_tile(job->recipe, n, 0, x->s, x->w);
    memcpy(x->less, x->w, (size_t)n * sizeof *x->w);
    memcpy(x->more, x->w, (size_t)n * sizeof *x->w);
    add_tile(x, j0, n);
    free(y);
}

static void finish(struct row *x, const float *scales, bool channels,
                   struct plain_row *out)
{
    const int64_t dv = x->job->p->dv;
    double own = 0, most = 0;
    for (int64_t d = 0; d < dv; d++) {
        out->o[d] = x->l == 0 ? 0 : x->o[d] / x->l;
        own += out->o[d] * out->o[d];
    }
    own = sqrt(own);
    for (int64_t d = 0; d < dv; d++) {
        const double scale = scales ? scales[channels ? d : 0] : 1;
        out->o[d] *= scale;
        most = fmax(most, scale);
    }
    const bool whole = assay_softmax_get(x->job->recipe->softmax)->whole_sum;
    out->flips = x->flips > 0;
    out->rebased = x->rebased;
    out->lse = x->l == 0 ? -INFINITY : log(2) * x->m / x->unit + log(x->l);
    out->allowed_lse = x->l == 0 ? 0
                                 : (whole ? 0 : x->flips / x->l) + x->noise +
                                       1e-13 * (1 + fabs(out->lse));
    out->allowed_o =
        x->l == 0 ? 0
                  : most * ((x->flips_v + x->flips * own) / x->l +
                            x->noise * (x->mean_v / x->l + own) +
                            2 * U32 * own + x->pv_noise * x->mean_v / x->l);
}

/* How far binary32 takes a P. The forms that make bits have scores in
 * binary64, and P V of a tile in binary32. */
static double noise_of(const struct row *x, bool coded)
{
    const struct assay_problem *p = x->job->p;
    double top = 0;
    if (coded)
        return 0;
    for (int64_t j = 0; j < x->n; j++)
        top = fmax(top, norm_of(p->dk, x->k + j * p->hk * p->dk));
    return U32 *
           (8 * fabs(x->job->scale) * M_LN2 * norm_of(p->dk, x->q) * top + 16);
}

void plain_recipe_row(const struct plain_recipe *job, int64_t n,
                      struct plain_row *out)
{
    const struct assay_problem *p = job->p;
    const enum assay_softmax_kind kind =
        assay_softmax_get(job->recipe->softmax)->kind;
    const bool coded = kind == ASSAY_KIND_U32 || kind == ASSAY_KIND_BYTE;
    const int64_t i = n % p->nq, h = n / p->nq % p->hq, b = n / p->nq / p->hq,
                  kv = h / (p->hq / p->hk);
    struct row x = {
        .job = job,
        .q = job->q + assay_row_offset(p->nq, p->hq, p->dk, b, i, h),
        .k = job->k + assay_row_offset(p->nk, p->hk, p->dk, b, 0, kv),
        .v = job->v + assay_row_offset(p->nk, p->hk, p->dv, b, 0, kv),
        .n = assay_problem_visible(p, i),
        .m = -INFINITY,
        .unit = unit_of(kind),
        .o = out->o,
    };
    /* bits are made where a whole block of queries sees a whole tile */
    const int64_t all = assay_problem_visible(p, i / QUERY_TILE * QUERY_TILE);
    x.noise = noise_of(&x, coded);
    x.pv_noise = coded ? 16 * U32 : 0; /* of 128 products, typically 11 */
    x.s = must_alloc((size_t)job->tile * 4, sizeof *x.s);
    x.w = x.s + job->tile, x.less = x.w + job->tile,
    x.more = x.less + job->tile;
    memset(out->o, 0, (size_t)p->dv * sizeof *out->o);
    const int64_t tiles = (x.n + job->tile - 1) / job->tile;
    const bool down =
        assay_softmax_get(job->recipe->softmax)->walk == ASSAY_WALK_DOWN;
    for (int64_t t = 0; t < tiles; t++) {
        const int64_t j0 = (down ? tiles - 1 - t : t) * job->tile;
        if (coded && all >= j0 + job->tile)
            coded_tile(&x, j0);
        else
            exact_tile(&x, j0, x.n - j0 < job->tile ? x.n - j0 : job->tile,
                       kind == ASSAY_KIND_FROZEN);
    }
    finish(&x,
           job->v_scales && job->channels
               ? job->v_scales + (b * p->hk + kv) * p->dv
               : job->v_scales,
           job->channels, out);
    free(x.s);
}
