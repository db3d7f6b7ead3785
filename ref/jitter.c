/* SPDX-License-Identifier: MIT
 *
 * What the nominal form and binary32 leave open, row by row; in formulas:
 * doc/gates.md, sections 4 (terms 1 to 3) and 5 (term 4).
 *
 * 1. Key tile. P[j] is rounded relative to the running maximum at the end of
 *    the tile that holds key j. With tiles of up to T keys that end lies
 *    between keys j and j + T - 1, so the maximum is one of the running
 *    maxima there. If they are all equal, P[j] is rounded in one way only. If
 *    not, two legal kernels round P[j] independently: the difference of two
 *    errors, uniform over a step of P each, has the standard deviation
 *    step/sqrt(6), the step taken at the highest maximum, where P[j] may be
 *    subnormal. Over keys these add as independent errors:
 *      LSE: sqrt(sum step^2 / 6) / L     O: the same, each times |v[j]| + |o|
 *    A P[j] that the highest maximum flushes to zero is lost whole, always in
 *    the same direction: these add up as they are. A form that fixes the
 *    maximum leaves nothing open here. Where blocks of P have scales of their
 *    own, the step is that of the block. A denominator that sums P before it
 *    is rounded does not feel steps and flips.
 * 2. Noise. With u = 2^-24 a binary32 dot product of width d is off by some
 *    sqrt(d) u times its partial sums, which are at most |q||k| (Higham,
 *    Accuracy and Stability of Numerical Algorithms, 3.1). NOISE_DOT units of
 *    u times scale |q| max|k| cover it; NOISE_EXP units of u cover the shift
 *    by the maximum, exp2, the scale and the sums. LSE moves by at most the
 *    noise. O moves by sum P[j] e[j] (v[j] - o) / L with |e[j]| at most
 *    expm1(2 noise) / 2, and by Jensen sum P |v - o| / L is at most
 *    sqrt(sum P |v|^2 / L - |o|^2): nothing where one key has all the weight,
 *    however large its score. The sums themselves round by some u.
 * 3. Flips. A P[j] of one possible rounding that lies within the noise of a
 *    rounding boundary may still go either way, a whole step. The largest
 *    score of a tile is 1 whatever its noise. Where P has blocks, the largest
 *    of a block may cross a power of two, and then the others are rounded to
 *    steps twice as large or half. Where scores become bits, those have
 *    boundaries of their own, and the noise is also that of the accumulators,
 *    which hold the bias: an ulp after each matrix instruction, and two for
 *    the bias less the maximum.
 * 4. Bound. That is what is likely; nothing legal goes beyond this. Two
 *    kernels' P[j] are a step apart at most, two of the highest maximum where
 *    there are several (a lower one may put P[j] into the octave above, whose
 *    steps are twice as large; what is flushed is less), what term 3 flips, and
 * P[j] expm1(2 w) more, where w is the worst case of term 2: d units of u for a
 * dot product of width d (Higham, 3.1), 16 for shift, exp2 and scales, and as
 * many as there are keys for the sums. With e[j] for all that, and weights P[j]
 * / L, |O' - O| <= sum e[j] (|v[j]| + |o|) / (L - sum e[j])   channel by
 * channel since O' = sum P'[j] v[j] / sum P'[j]. An average of V is never
 * beyond V, 1.25 of it where weights need not sum to one, which is the bound
 * where e leaves nothing of L.
 */
#include "jitter.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>

#include "assay/memory.h"
#include "bits.h"
#include "blas_threads.h"
#include "softmax_coded.h"
#include "vexp.h"

static const double U32 = 0x1p-24;
enum { NOISE_DOT = 8, NOISE_EXP = 16, BLOCK_ROWS = 16 };

/* A denominator from P before it is rounded leaves weights that do not sum to
 * one; no format of P has a larger step than a quarter. */
static const double BEYOND_V = 1.25;

struct scratch {
    float *s;              /* [BLOCK_ROWS][nk] scores, log2 units */
    float *top, *end;      /* [nk] lowest and highest maximum of a key's P */
    float *p_low, *p_high; /* [nk] P at these */
    float *less, *more;    /* [nk] P at the two ends of the noise */
    float *step;           /* [nk] P's step at the highest maximum */
    float *blocks;         /* [nk, whole frames] P in the order of blocks */
    float *apart;          /* [BLOCK_ROWS][nk] term 4's e[j] */
    float *sums;           /* [BLOCK_ROWS][dv] of it times |v| */
    double l[BLOCK_ROWS], lost[BLOCK_ROWS]; /* sums of P and of e */
};

static void scratch_free(struct scratch *x)
{
    assay_free(x->s);
    assay_free(x->top);
    assay_free(x->sums);
}

static enum assay_status scratch_new(int64_t nk, int64_t dv, struct scratch *x,
                                     struct assay_error *err)
{
    *x = (struct scratch){ 0 };
    enum assay_status st = assay_alloc(
        "scores of some rows", 2 * BLOCK_ROWS * nk, sizeof *x->s, &x->s, err);
    if (st == ASSAY_OK)
        st = assay_alloc("a row of P", 8 * nk + ASSAY_FRAME, sizeof *x->top,
                         &x->top, err);
    if (st == ASSAY_OK)
        st = assay_alloc("sums of some rows", BLOCK_ROWS * dv, sizeof *x->sums,
                         &x->sums, err);
    if (st != ASSAY_OK) {
        scratch_free(x);
        return st;
    }
    x->end = x->top + nk;
    x->p_low = x->end + nk;
    x->p_high = x->p_low + nk;
    x->less = x->p_high + nk;
    x->more = x->less + nk;
    x->step = x->more + nk;
    x->blocks = x->step + nk;
    x->apart = x->s + BLOCK_ROWS * nk;
    return ASSAY_OK;
}

static double norm(int64_t n, const float *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

/* The maximum so far at the end of the smallest and of the largest tile that
 * holds a key. */
static void fill_online(const struct blocked_job *job, struct scratch *x,
                        const float *s, int64_t n, float top)
{
    /* where P has blocks, tiles are whole frames */
    const int64_t step = job->p_blocks ? ASSAY_FRAME : 1;
    for (int64_t j = 0; j < n; j++)
        x->top[j] = top = s[j] > top ? s[j] : top;
    for (int64_t j = 0; j < n; j++) {
        const int64_t j0 = j / step * step,
                      soon = j0 + step - 1 < n ? j0 + step - 1 : n - 1,
                      last = j0 + JITTER_KEY_TILE - 1;
        x->end[j] = x->top[last < n ? last : n - 1];
        x->top[j] = x->top[soon];
    }
}

/* The same from the last key on. */
static void fill_online_down(const struct blocked_job *job, struct scratch *x,
                             const float *s, int64_t n)
{
    const int64_t step = job->p_blocks ? ASSAY_FRAME : 1;
    float top = -INFINITY;
    for (int64_t j = n - 1; j >= 0; j--)
        x->top[j] = top = s[j] > top ? s[j] : top;
    for (int64_t j = n - 1; j >= 0; j--) {
        const int64_t j0 = j / step * step, last = j0 + step - JITTER_KEY_TILE;
        x->end[j] = x->top[last > 0 ? last : 0];
        x->top[j] = x->top[j0];
    }
}

/* A part begins or ends no nearer than its cuts are: a key's part ends with its
 * own cut's keys after it, or begins with those before it, and may be all. */
static void fill_online_parts(const struct blocked_job *job, struct scratch *x,
                              const float *s, int64_t n)
{
    float most = -INFINITY;
    for (int64_t j = 0; j < n; j++)
        most = s[j] > most ? s[j] : most;
    for (int64_t j0 = 0; j0 < n; j0 += ASSAY_FRAME) {
        const int64_t end = j0 + ASSAY_FRAME < n ? j0 + ASSAY_FRAME : n;
        float up = -INFINITY, down = -INFINITY;
        for (int64_t j = j0; j < end; j++)
            x->top[j] = up = s[j] > up ? s[j] : up;
        for (int64_t j = end - 1; j >= j0; j--) {
            down = s[j] > down ? s[j] : down;
            x->end[j] = most;
            /* where P has blocks, tiles are whole frames */
            x->top[j] = job->p_blocks      ? up
                        : down < x->top[j] ? down
                                           : x->top[j];
        }
    }
}

/* Between which maxima the P of keys from `first` on may be taken; `top` is
 * that of the keys before. ONLINE: at the end of any tile that holds it.
 * FROZEN: that of the first tile, which later ones replace only where P would
 * pass 2^32. Else, in tiles whose scores do not become bits, that so far. */
static void fill_maxima(const struct blocked_job *job, struct scratch *x,
                        const float *s, int64_t first, int64_t n, float top)
{
    const float over = job->form->kind == ASSAY_KIND_FROZEN ? 32 : 0;
    if (job->form->kind == ASSAY_KIND_ONLINE) {
        switch (job->form->walk) {
        case ASSAY_WALK_UP: fill_online(job, x, s, n, top); break;
        case ASSAY_WALK_DOWN: fill_online_down(job, x, s, n); break;
        case ASSAY_WALK_PARTS: fill_online_parts(job, x, s, n); break;
        }
        return;
    }
    for (int64_t j0 = first; j0 < n; j0 += job->key_tile) {
        const int64_t end = j0 + job->key_tile < n ? j0 + job->key_tile : n;
        const bool whole = end - j0 == job->key_tile;
        float most = -INFINITY;
        for (int64_t j = j0; j < end; j++)
            most = s[j] > most ? s[j] : most;
        if (j0 == 0 || most - top > (whole ? over : 0))
            top = most;
        for (int64_t j = j0; j < end; j++)
            x->top[j] = x->end[j] = top;
    }
}

/* Spacing of the format at P. */
static inline double step_of(const struct assay_format *format, float p)
{
    uint32_t least = (uint32_t)(128 - format->bias);
    uint32_t e = f32_bits(p) >> 23;
    e = e > least ? e : least;
    return bits_f32(
        (e > (uint32_t)format->man_bits ? e - (uint32_t)format->man_bits : 1)
        << 23);
}

/* A row of P to the order of its blocks, with zeros to the end of a frame. */
static int64_t to_blocks(const struct blocked_job *job, int64_t n,
                         const float *p, float *blocks)
{
    const int64_t width = (n + ASSAY_FRAME - 1) / ASSAY_FRAME * ASSAY_FRAME;
    for (int64_t j = 0; j < width; j++)
        blocks[j / ASSAY_FRAME * ASSAY_FRAME +
               assay_token_slot(job->order, (int)(j % ASSAY_FRAME))] =
            j < n ? p[j] : 0;
    return width;
}

static float from_blocks(const struct blocked_job *job, int64_t j,
                         const float *blocks)
{
    return blocks[j / ASSAY_FRAME * ASSAY_FRAME +
                  assay_token_slot(job->order, (int)(j % ASSAY_FRAME))];
}

static void round_p(const struct blocked_job *job, struct scratch *x, int64_t n,
                    float *p)
{
    if (!job->p_blocks) {
        assay_format_round(job->p_format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE,
                           (size_t)n, p, p);
        return;
    }
    const struct assay_blocks b =
        blocked_p(job, 1, to_blocks(job, n, p, x->blocks));
    assay_blocks_round(&b, x->blocks, x->blocks);
    for (int64_t j = 0; j < n; j++)
        p[j] = from_blocks(job, j, x->blocks);
}

/* Of keys from `first` on; bits leave no maximum open. */
static void fill_steps(const struct blocked_job *job, struct scratch *x,
                       int64_t first, int64_t n)
{
    if (!job->p_blocks) {
        for (int64_t j = first; j < n; j++)
            x->step[j] = (float)step_of(job->p_format, x->p_high[j]);
        return;
    }
    const int64_t width = to_blocks(job, n, x->p_high, x->blocks);
    const struct assay_scale_rule *rule = blocked_p(job, 1, width).rule;
    for (int64_t at = 0; at < width; at += ASSAY_BLOCK_TOKENS) {
        float top = 0;
        for (int64_t j = at; j < at + ASSAY_BLOCK_TOKENS; j++)
            top = x->blocks[j] > top ? x->blocks[j] : top;
        int e = assay_scale_rule_code(rule, job->p_format, top) - 127;
        float scale = ldexpf(1, e);
        for (int64_t j = at; j < at + ASSAY_BLOCK_TOKENS; j++)
            x->blocks[j] =
                scale * (float)step_of(job->p_format, x->blocks[j] / scale);
    }
    for (int64_t j = 0; j < n; j++)
        x->step[j] = from_blocks(job, j, x->blocks);
}

/* One tile whose scores become bits, all moved by `off`: P, and the maximum in
 * units. `m` is that before. */
static float coded_tile(const struct blocked_job *job, int64_t j0,
                        const float *s, float m, float off, float *p)
{
    const float unit = (float)job->unit;
    struct softmax_row row = { .m = m };
    const float start = j0 > 0 ? softmax_start(job->form, m) : 0;
    for (int64_t j = j0; j < j0 + job->key_tile; j++)
        p[j] = s[j] * unit + start;
    softmax_coded_row(job->form, j0 > 0, off, job->key_tile, p + j0, &row);
    return row.m;
}

/* P and its ends over the first n keys, whole tiles whose scores become bits.
 * Returns their maximum in octaves; *moved is what noise may do to it, nats: a
 * rebased row takes it from an accumulator. */
static float fill_coded(const struct blocked_job *job, struct scratch *x,
                        const float *s, int64_t n, float noise, double *moved)
{
    const float unit = (float)job->unit,
                bias = softmax_start(job->form, 0) / unit,
                ulps = (float)(2 + (job->p->dk + job->dot_step - 1) /
                                       job->dot_step);
    float m = -INFINITY;
    for (int64_t j0 = 0; j0 < n; j0 += job->key_tile) {
        const float before = m;
        m = coded_tile(job, j0, s, before, 0, x->p_low);
        const float held = bias + fabsf(j0 > 0 ? before : m) / unit;
        const float off =
            unit * (noise / (float)M_LN2 + ulps * 0x1p-23f * held);
        coded_tile(job, j0, s, before, -off, x->less);
        coded_tile(job, j0, s, before, off, x->more);
        for (int64_t j = j0; j < j0 + job->key_tile; j++)
            x->top[j] = x->end[j] = m / unit;
        if (j0 > 0 && m > before)
            *moved += (double)(off / unit) * M_LN2;
    }
    return m / unit;
}

/* P of a row at both ends of what the running maximum may be, and the ends of
 * the noise around the former. The first `coded` keys become bits. */
static void fill_p(const struct blocked_job *job, struct scratch *x,
                   const float *s, int64_t coded, int64_t n, float noise,
                   double *moved)
{
    const float top = fill_coded(job, x, s, coded, noise, moved);
    fill_maxima(job, x, s, coded, n, top);
    for (int64_t j = coded; j < n; j++) {
        x->p_low[j] = s[j] - x->top[j];
        x->p_high[j] = s[j] - x->end[j];
    }
    exp2_f32(n - coded, x->p_low + coded);
    exp2_f32(n - coded, x->p_high + coded);
    for (int64_t j = coded; j < n; j++) {
        /* the maximum is 1 whatever its noise */
        const float off = x->p_low[j] == 1 ? 0 : fminf(noise, 1);
        x->less[j] = x->p_low[j] * (1 - off);
        x->more[j] = x->p_low[j] * (1 + off);
    }
    round_p(job, x, n, x->less);
    round_p(job, x, n, x->more);
    fill_steps(job, x, coded, n);
}

struct row_sums {
    double l, mean_v, square_v; /* sum of P, of P |v| */
    double most_v;              /* the largest |v| */
    double tile, tile_v;        /* squares, of term 1 */
    double flips, flips_v;      /* term 3, and what term 1 flushes */
};

/* From a running maximum to the final one, which is where sums are; maxima
 * change seldom. */
struct to_final {
    float m;
    double factor;
};

static double to_final(struct to_final *last, float m, float top)
{
    if (m != last->m)
        *last = (struct to_final){ m, exp2((double)m - top) };
    return last->factor;
}

/* Of a row whose maxima rise from the first key on, from the last, or are
 * highest in all. */
static float final_top(const struct scratch *x, int64_t n)
{
    return x->end[0] > x->end[n - 1] ? x->end[0] : x->end[n - 1];
}

/* Adds up a row, everything relative to the final maximum. */
static struct row_sums add_row(const struct scratch *x, int64_t n,
                               const double *v_norm, int64_t step, double own)
{
    struct row_sums sum = { 0 };
    const float top = final_top(x, n);
    struct to_final lows = { NAN, 1 }, highs = { NAN, 1 };
    for (int64_t j = 0; j < n; j++) {
        const float end = x->end[j];
        double norm_v = v_norm[j * step], pull = norm_v + own;
        const double low = to_final(&lows, x->top[j], top),
                     high = to_final(&highs, end, top);
        double p = x->p_low[j] * low;
        sum.l += p;
        sum.mean_v += p * norm_v;
        sum.square_v += p * norm_v * norm_v;
        sum.most_v = fmax(sum.most_v, norm_v);
        if (x->top[j] != end) {
            double d = (double)x->step[j];
            if (x->p_high[j] <= d / 2) {
                sum.flips += p;
                sum.flips_v += p * pull;
                continue;
            }
            d *= high;
            sum.tile += d * d;
            sum.tile_v += d * d * pull * pull;
        } else {
            double flip = fabs((double)x->more[j] - x->less[j]) * low;
            sum.flips += flip;
            sum.flips_v += flip * pull;
        }
    }
    return sum;
}

/* e[j] of term 4 for a row, relative to the final maximum, 0 from key n on;
 * `worst` is its e. Steps of coded keys are those of P's format. */
static double fill_apart(const struct blocked_job *job, const struct scratch *x,
                         int64_t coded, int64_t n, double worst, float *apart)
{
    const float top = final_top(x, n);
    const double noise = expm1(2 * worst);
    struct to_final lows = { NAN, 1 }, highs = { NAN, 1 };
    double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        const double low = to_final(&lows, x->top[j], top),
                     high = to_final(&highs, x->end[j], top),
                     p = x->p_low[j] * low,
                     step = j < coded ? step_of(job->p_format, x->more[j])
                                      : (double)x->step[j],
                     moved = fabs((double)x->more[j] - x->less[j]) * low;
        /* P relative to a lower maximum may lie in the octave above */
        const double steps = x->top[j] < x->end[j] ? 2 : 1,
                     e = steps * step * high + moved + p * noise;
        apart[j] = (float)e;
        sum += e;
    }
    for (int64_t j = n; j < job->p->nk; j++)
        apart[j] = 0;
    return sum;
}

struct model {
    const struct blocked_job *job;
    const float *o;
    const double *v_norm; /* [b, nk, hk], unscaled */
    const double *k_top;  /* [b, hk], largest finite norm of a key: a row that
                             sees another has no answer */
    const float *v_abs;   /* [b, nk, hk, dv], 0 where V is not finite */
    const float *v_top;   /* [b, hk, dv], the largest */
    const struct assay_jitter *jitter;
};

static void one_row(const struct model *m, struct scratch *x, const float *s,
                    int64_t b, int64_t h, int64_t i)
{
    const struct assay_problem *p = m->job->p;
    const int64_t kv = h / (p->hq / p->hk), row = (b * p->hq + h) * p->nq + i;
    const int64_t n = assay_problem_visible(p, i);
    const double vs = fabs(m->job->value_scale);
    const int64_t r = i % BLOCK_ROWS;
    m->jitter->o[row] = m->jitter->lse[row] = 0;
    x->l[r] = x->lost[r] = 0;
    if (n == 0)
        return;
    double q =
        norm(p->dk, m->job->q + assay_row_offset(p->nq, p->hq, p->dk, b, i, h));
    const double partial = fabs(m->job->score_scale / m->job->unit) * M_LN2 *
                           q * m->k_top[b * p->hk + kv];
    double noise = U32 * (NOISE_DOT * partial + NOISE_EXP);
    double own =
        vs == 0 ? 0
                : norm(p->dv,
                       m->o + assay_row_offset(p->nq, p->hq, p->dv, b, i, h)) /
                      vs;
    const bool bits = m->job->form->kind >= ASSAY_KIND_U32;
    double moved = 0;
    const int64_t all =
        assay_problem_visible(p, i / BLOCKED_QUERY_TILE * BLOCKED_QUERY_TILE);
    const int64_t coded = bits ? all / m->job->key_tile * m->job->key_tile : 0;
    fill_p(m->job, x, s, coded, n, (float)noise, &moved);
    struct row_sums sum =
        add_row(x, n, m->v_norm + assay_row_offset(p->nk, p->hk, 1, b, 0, kv),
                p->hk, own);
    double spread = sqrt(fmax(0, sum.square_v / sum.l - own * own));
    double rounding = NOISE_EXP * U32 * (sum.mean_v / sum.l + own);
    double rounded =
        m->job->form->whole_sum ? 0 : sqrt(sum.tile / 6) + sum.flips;
    m->jitter->lse[row] = (float)(rounded / sum.l + noise + moved);
    double off = (sqrt(sum.tile_v / 6) + sum.flips_v) / sum.l +
                 expm1(2 * noise) / 2 * spread + rounding;
    /* noise that leaves the weights open leaves an average of V; 0 inf */
    if (!(noise < 1))
        off = fmin(off, BEYOND_V * sum.most_v + own);
    m->jitter->o[row] = (float)(vs * off);
    if (!m->jitter->bound)
        return;
    const double worst =
        U32 * ((double)p->dk * partial + NOISE_EXP + (double)n);
    x->l[r] = sum.l;
    x->lost[r] = fill_apart(m->job, x, coded, n, worst, x->apart + r * p->nk);
}

/* Up to a bf16 number, which is what sets hold. */
static float bf16_above(double x)
{
    float f = (float)x;
    if (!isfinite(f))
        return f;
    f = (double)f < x ? nextafterf(f, INFINITY) : f;
    return bits_f32((f32_bits(f) + 0xffff) & 0xffff0000u);
}

/* Term 4 for a block of rows that see n keys at most. */
static void block_bounds(const struct model *m, struct scratch *x, int64_t b,
                         int64_t h, int64_t i0, int64_t rows, int64_t n)
{
    const struct assay_problem *p = m->job->p;
    const int64_t kv = h / (p->hq / p->hk);
    const float *v_top = m->v_top + (b * p->hk + kv) * p->dv;
    const float *channel =
        m->job->channel_scale ? m->job->channel_scale + (b * p->hk + kv) * p->dv
                              : NULL;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows,
                (int)p->dv, (int)n, 1, x->apart, (int)p->nk,
                m->v_abs + assay_row_offset(p->nk, p->hk, p->dv, b, 0, kv),
                (int)(p->hk * p->dv), 0, x->sums, (int)p->dv);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = assay_row_offset(p->nq, p->hq, p->dv, b, i0 + r, h);
        const double left = x->l[r] - x->lost[r];
        for (int64_t c = 0; c < p->dv; c++) {
            const double scale = fabs(m->job->value_scale *
                                      (channel ? (double)channel[c] : 1)),
                         o = fabs((double)m->o[at + c]);
            const double bound =
                (scale * (double)x->sums[r * p->dv + c] + x->lost[r] * o) /
                left;
            const double most = BEYOND_V * scale * (double)v_top[c] + o;
            m->jitter->bound[at + c] =
                x->l[r] == 0
                    ? 0
                    : bf16_above(left > 0 && bound < most ? bound : most);
        }
    }
}

static void one_block(const struct model *m, struct scratch *x, int64_t b,
                      int64_t h, int64_t i0)
{
    const struct assay_problem *p = m->job->p;
    int64_t rows = p->nq - i0 < BLOCK_ROWS ? p->nq - i0 : BLOCK_ROWS;
    int64_t n = assay_problem_visible(p, i0 + rows - 1);
    if (n > 0)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n,
                    (int)p->dk, (float)(m->job->score_scale / m->job->unit),
                    m->job->q + assay_row_offset(p->nq, p->hq, p->dk, b, i0, h),
                    (int)(p->hq * p->dk),
                    m->job->k + assay_row_offset(p->nk, p->hk, p->dk, b, 0,
                                                 h / (p->hq / p->hk)),
                    (int)(p->hk * p->dk), 0, x->s, (int)p->nk);
    for (int64_t r = 0; r < rows; r++)
        one_row(m, x, x->s + r * p->nk, b, h, i0 + r);
    if (m->jitter->bound)
        block_bounds(m, x, b, h, i0, rows, n);
}

static void all_blocks(const struct model *m, const struct assay_run *run,
                       enum assay_status *st, struct assay_error *err)
{
    const struct assay_problem *p = m->job->p;
    const int64_t blocks = (p->nq + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const int64_t units = p->b * p->hq * blocks;
    const int threads =
        run && run->threads > 0 ? run->threads : omp_get_max_threads();
    int64_t done = 0;
#pragma omp parallel num_threads(threads)
    {
        struct scratch x;
        struct assay_error mine;
        enum assay_status got = scratch_new(p->nk, p->dv, &x, &mine);
        if (got != ASSAY_OK) {
#pragma omp critical(assay_jitter)
            {
                *st = got;
                if (err)
                    *err = mine;
            }
        }
#pragma omp for schedule(dynamic, 1)
        for (int64_t u = 0; u < units; u++) {
            if (got != ASSAY_OK)
                continue;
            int64_t block = blocks - 1 - u / (p->b * p->hq);
            int64_t bh = u % (p->b * p->hq);
            one_block(m, &x, bh / p->hq, bh % p->hq, block * BLOCK_ROWS);
            if (run && run->progress) {
#pragma omp critical(assay_jitter)
                run->progress(run->context, ++done, units);
            }
        }
        if (got == ASSAY_OK)
            scratch_free(&x);
    }
}

/* Norm of a row of V, without the scale that all of V has. */
static double value_norm(const struct blocked_job *job, int64_t r)
{
    const struct assay_problem *p = job->p;
    const float *v = job->v + r * p->dv;
    if (!job->channel_scale)
        return norm(p->dv, v);
    const float *scale =
        job->channel_scale + (r / p->nk / p->hk * p->hk + r % p->hk) * p->dv;
    double sum = 0;
    for (int64_t c = 0; c < p->dv; c++)
        sum += (double)v[c] * scale[c] * ((double)v[c] * scale[c]);
    return sqrt(sum);
}

/* |V| for the bound, and its largest by channel. */
static void fill_v_abs(const struct blocked_job *job, float *v_abs,
                       float *v_top)
{
    const struct assay_problem *p = job->p;
    const int64_t wide = p->hk * p->dv;
    for (int64_t i = 0; i < p->b * wide; i++)
        v_top[i] = 0;
    for (int64_t r = 0; r < p->b * p->nk; r++)
        for (int64_t c = 0; c < wide; c++) {
            const float v = fabsf(job->v[r * wide + c]);
            float *top = &v_top[r / p->nk * wide + c];
            v_abs[r * wide + c] = isfinite(v) ? v : 0;
            *top = v_abs[r * wide + c] > *top ? v_abs[r * wide + c] : *top;
        }
}

enum assay_status jitter_model(const struct blocked_job *job, const float *o,
                               const struct assay_jitter *jitter,
                               const struct assay_run *run,
                               struct assay_error *err)
{
    const struct assay_problem *p = job->p;
    const int64_t keys = p->b * p->nk * p->hk;
    const int64_t bounded = jitter->bound ? 1 : 0;
    float *v_abs = NULL, *v_top = NULL;
    double *v_norm = NULL, *k_top = NULL;
    enum assay_status st;
    if ((st = assay_alloc("norms of V", keys, sizeof *v_norm, &v_norm, err)) !=
            ASSAY_OK ||
        (st = assay_alloc("norms of K", p->b * p->hk, sizeof *k_top, &k_top,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("|V|", bounded * keys * p->dv, sizeof *v_abs, &v_abs,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("|V|", bounded * p->b * p->hk * p->dv, sizeof *v_top,
                          &v_top, err)) != ASSAY_OK)
        goto out;
    if (jitter->bound)
        fill_v_abs(job, v_abs, v_top);
    for (int64_t i = 0; i < p->b * p->hk; i++)
        k_top[i] = 0;
    for (int64_t r = 0; r < keys; r++) {
        double *top = &k_top[r / p->nk / p->hk * p->hk + r % p->hk];
        double n = norm(p->dk, job->k + r * p->dk);
        *top = isfinite(n) && n > *top ? n : *top;
        n = value_norm(job, r);
        v_norm[r] = n <= FLT_MAX ? (float)n : n; /* as sets have had it */
    }
    struct model m = { job, o, v_norm, k_top, v_abs, v_top, jitter };
    int blas = blas_one_thread();
    all_blocks(&m, run, &st, err);
    blas_restore_threads(blas);
out:
    assay_free(v_norm);
    assay_free(k_top);
    assay_free(v_abs);
    assay_free(v_top);
    return st;
}
