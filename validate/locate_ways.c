/* SPDX-License-Identifier: MIT
 *
 * Other ways to compute the rows that are looked at: each is held against
 * C - E by the change of O that it makes, so that what the recipe rounds stays
 * out of it.
 */
#include "validate/locate_keys.h"

#include <math.h>
#include <string.h>

enum { KV_ROWS = 3, SCALE_STEPS = 12, LONGEST_TILE = 256 };

static double way_explains(const struct keys *k, const struct key_row *row,
                           struct way way)
{
    keys_answer(k, row->at, way, k->change);
    for (int64_t c = 0; c < k->p->dv; c++)
        k->change[c] -= row->o[c];
    return keys_explained(k, row, k->change);
}

/* -- other numbers of keys -- */

struct mask_guess {
    enum pattern_id id;
    enum assay_mask mask; /* where it is a guess */
    int64_t tile;         /* of whole tiles: up, or down if negative */
    int64_t more;
};

static const struct mask_guess mask_guesses[] = {
    { PATTERN_KEY_LAST_OUT, ASSAY_MASK_NONE, 0, -1 },
    { PATTERN_KEY_LAST_OUT, ASSAY_MASK_CAUSAL, 0, -1 },
    { PATTERN_KEYS_END_OUT, ASSAY_MASK_NONE, -16, 0 },
    { PATTERN_KEYS_END_OUT, ASSAY_MASK_NONE, -32, 0 },
    { PATTERN_KEYS_END_OUT, ASSAY_MASK_NONE, -64, 0 },
    { PATTERN_KEYS_END_OUT, ASSAY_MASK_NONE, -128, 0 },
    { PATTERN_MASK_SHORT, ASSAY_MASK_CAUSAL, 0, -1 },
    { PATTERN_MASK_LONG, ASSAY_MASK_CAUSAL, 0, 1 },
    { PATTERN_MASK_DOWN, ASSAY_MASK_CAUSAL, -16, 0 },
    { PATTERN_MASK_DOWN, ASSAY_MASK_CAUSAL, -32, 0 },
    { PATTERN_MASK_DOWN, ASSAY_MASK_CAUSAL, -64, 0 },
    { PATTERN_MASK_DOWN, ASSAY_MASK_CAUSAL, -128, 0 },
    { PATTERN_MASK_UP, ASSAY_MASK_CAUSAL, 16, 0 },
    { PATTERN_MASK_UP, ASSAY_MASK_CAUSAL, 32, 0 },
    { PATTERN_MASK_UP, ASSAY_MASK_CAUSAL, 64, 0 },
    { PATTERN_MASK_UP, ASSAY_MASK_CAUSAL, 128, 0 },
    { PATTERN_MASK_NONE, ASSAY_MASK_CAUSAL, 0, INT64_MAX },
    { PATTERN_MASK_TOP_LEFT, ASSAY_MASK_CAUSAL, 0, 0 },
};

static int64_t guessed_keys(const struct keys *k, const struct mask_guess *g,
                            const struct key_row *row)
{
    int64_t n = row->visible;
    if (g->tile > 0)
        n = (n + g->tile - 1) / g->tile * g->tile;
    else if (g->tile < 0)
        n = n / -g->tile * -g->tile;
    else if (g->id == PATTERN_MASK_TOP_LEFT)
        n = row->at.i + 1;
    else
        n = g->more > k->p->nk ? k->p->nk : n + g->more;
    return n > k->p->nk ? k->p->nk : n;
}

/* Rows that a guess leaves as they are say nothing about it; half of the rows
 * at least must say something. */
static void guess_mask(const struct keys *k, const struct mask_guess *g,
                       struct pattern *best)
{
    double sum = 0;
    int64_t rows = 0, fewer = 0;
    if (k->p->mask != g->mask)
        return;
    for (int64_t n = 0; n < k->n; n++) {
        const struct key_row *row = &k->row[n];
        struct way way = keys_right_way(k, row);
        way.visible = guessed_keys(k, g, row);
        if (way.visible == row->visible ||
            (g->id == PATTERN_KEY_LAST_OUT && row->visible < k->p->nk))
            continue;
        fewer = row->visible - way.visible;
        sum += way_explains(k, row, way);
        rows++;
    }
    struct pattern guess = { g->id, g->tile, 0, 0, 0, sum / (double)k->n };
    if (g->tile < 0)
        guess.a = -g->tile;
    if (g->id == PATTERN_KEYS_END_OUT) {
        guess.b = guess.a;
        guess.a = fewer;
    }
    if (rows > 0)
        keys_offer(k, best, guess);
}

/* -- V of another key, K and V of another head -- */

static void guess_v_shift(const struct keys *k, struct pattern *best)
{
    for (int64_t shift = -1; shift <= 1; shift += 2) {
        double sum = 0;
        for (int64_t n = 0; n < k->n; n++) {
            struct way way = keys_right_way(k, &k->row[n]);
            way.v_shift = shift;
            sum += way_explains(k, &k->row[n], way);
        }
        keys_offer(k, best,
                   (struct pattern){ PATTERN_V_SHIFTED, shift, 0, 0, 0,
                                     sum / (double)k->n });
    }
}

/* What another KV head explains of a row at most; *used is that head. */
static double kv_explains(const struct keys *k, const struct key_row *row,
                          int64_t *used)
{
    double most = 0;
    for (int64_t kv = 0; kv < k->p->hk; kv++) {
        struct way way = keys_right_way(k, row);
        if (kv == way.kv)
            continue;
        keys_score(k, row->at, kv, k->spare);
        way.score = k->spare;
        way.kv = kv;
        double part = way_explains(k, row, way);
        if (part > most) {
            most = part;
            *used = kv;
        }
    }
    return most;
}

/* The first few rows alone: each asks for all KV heads. */
static void guess_kv_head(const struct keys *k, struct pattern *best)
{
    const int64_t rows = k->n < KV_ROWS ? k->n : KV_ROWS;
    double sum = 0;
    int64_t worst = 0, other = 0;
    for (int64_t n = 0; n < rows; n++)
        sum += kv_explains(k, &k->row[n], n == 0 ? &worst : &other);
    struct assay_place at = k->row[0].at;
    keys_offer(k, best,
               (struct pattern){ PATTERN_KV_HEAD, at.h, worst,
                                 keys_right_way(k, &k->row[0]).kv, 0,
                                 sum / (double)rows });
}

/* The failing row of head (b, h) that is furthest off beside its norm; -1. */
static int64_t worst_row(const struct keys *k, int64_t bh)
{
    double most = 0;
    int64_t worst = -1;
    for (int64_t r = bh * k->p->nq; r < (bh + 1) * k->p->nq; r++) {
        const double off =
            scene_o_fails(k->s, r) ? keys_off(k, assay_row_place(k->p, r)) : 0;
        if (off > most) {
            most = off;
            worst = r;
        }
    }
    return worst;
}

/* Each head that fails is asked by its worst row, in the memory of the last of
 * the rows that were looked at. A head of several batches counts once. */
void locate_kv_heads(struct keys *k, struct location *out)
{
    struct pattern *found = &out->found[PATTERN_KIND_KEYS];
    struct key_row *row = &k->row[k->n - 1];
    for (int64_t h = 0; h < k->p->hq; h++) {
        int64_t r = -1, used = 0;
        for (int64_t b = 0; b < k->p->b && r < 0; b++)
            r = worst_row(k, b * k->p->hq + h);
        if (r < 0)
            continue;
        keys_fill_row(k, assay_row_place(k->p, r), row);
        if (kv_explains(k, row, &used) < LOCATE_EXPLAINS)
            continue;
        const int64_t n = out->kv_heads++, right = keys_right_way(k, row).kv;
        if (n == 0)
            *found = (struct pattern){ found->id, h, used,
                                       right,     0, found->explained };
        if (n < LOCATION_KV_HEADS) {
            out->kv[n].h = h;
            out->kv[n].used = used;
            out->kv[n].right = right;
        }
    }
}

/* -- gains: keys of zeros, another softmax scale -- */

/* n keys with K = V = 0 have weight exp(0) each: C = O / (1 + n exp(-LSE)),
 * the same whole n in all rows. */
static void guess_padding(const struct keys *k, struct pattern *best)
{
    /* a tile, or another buffer as long, at most */
    const double most = fmax((double)k->p->nk, LONGEST_TILE);
    double sum = 0, count = 0;
    for (int64_t pass = 0; pass < 2; pass++)
        for (int64_t n = 0; n < k->n; n++) {
            const struct key_row *row = &k->row[n];
            double od = 0, oo = 0;
            for (int64_t c = 0; c < k->p->dv; c++) {
                od += row->o[c] * row->d[c];
                oo += row->o[c] * row->o[c];
            }
            if (pass == 0) { /* -x / (1 + x) = od / oo */
                count += -od / (oo + od) * exp(row->lse) / (double)k->n;
                continue;
            }
            double x = round(count) * exp(-row->lse);
            for (int64_t c = 0; c < k->p->dv; c++)
                k->change[c] = -row->o[c] * x / (1 + x);
            sum += keys_explained(k, row, k->change);
        }
    if (round(count) >= 1 && count <= most)
        keys_offer(k, best,
                   (struct pattern){ PATTERN_PADDING, (int64_t)round(count), 0,
                                     0, 0, sum / (double)k->n });
}

/* u = sum of p_j (s_j - mean s) v_j, the change of O with the scale of its
 * scores, of the row computed that way, whose answer is o. */
static void scale_slope(const struct keys *k, const struct key_row *row,
                        struct way way, const double *o, double *u)
{
    const struct assay_problem *p = k->p;
    const double top = keys_largest(&way);
    double sum = 0;
    memset(u, 0, (size_t)p->dv * sizeof *u);
    for (int64_t j = 0; j < way.visible; j++) {
        double w = exp(way.scale * way.score[j] - top);
        double ws = w * (way.score[j] - top / way.scale);
        const float *v = keys_v(k, row->at, j, way.kv);
        sum += w;
        for (int64_t c = 0; c < p->dv; c++)
            u[c] += ws * (v[c] - o[c]);
    }
    for (int64_t c = 0; c < p->dv; c++)
        u[c] /= sum;
}

/* The scale that makes a row most like C, by Gauss and Newton. */
static double fit_scale(const struct keys *k, const struct key_row *row)
{
    double *slope = k->slope;
    struct way way = keys_right_way(k, row);
    for (int step = 0; step < SCALE_STEPS; step++) {
        double ru = 0, uu = 0;
        keys_answer(k, row->at, way, k->change);
        scale_slope(k, row, way, k->change, slope);
        for (int64_t c = 0; c < k->p->dv; c++) {
            ru += slope[c] * (row->d[c] - (k->change[c] - row->o[c]));
            uu += slope[c] * slope[c];
        }
        double more = uu > 0 ? ru / uu : 0;
        more = fmax(-0.5 * way.scale, fmin(way.scale, more));
        way.scale += more;
        if (fabs(more) < 1e-5)
            break;
    }
    return way.scale;
}

static double median(double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = i; j > 0 && x[j - 1] > x[j]; j--) {
            double t = x[j];
            x[j] = x[j - 1];
            x[j - 1] = t;
        }
    return x[n / 2];
}

/* One scale for all rows. */
static void offer_scale(const struct keys *k, enum pattern_id id, double scale,
                        struct pattern *best)
{
    double sum = 0;
    for (int64_t n = 0; n < k->n; n++) {
        struct way way = keys_right_way(k, &k->row[n]);
        way.scale = scale;
        sum += way_explains(k, &k->row[n], way);
    }
    /* a number that is fitted is told where it explains nearly all */
    if (id != PATTERN_SCALE || sum >= LOCATE_STATES * (double)k->n)
        keys_offer(k, best,
                   (struct pattern){ id, 0, 0, 0, scale, sum / (double)k->n });
}

/* Those that a mistake makes are told before one that is fitted. */
static void guess_scale(const struct keys *k, struct pattern *best)
{
    const double right = k->s->in->softmax_scale;
    double scales[LOCATION_KEY_ROWS] = { 1 };
    offer_scale(k, PATTERN_SCALE_TWICE, right, best);
    if (right != 0)
        offer_scale(k, PATTERN_SCALE_MISSING, 1 / right, best);
    offer_scale(k, PATTERN_SCALE_LOG2E, M_LOG2E, best);
    offer_scale(k, PATTERN_SCALE_LN2, M_LN2, best);
    for (int64_t n = 0; n < k->n; n++)
        scales[n] = fit_scale(k, &k->row[n]);
    offer_scale(k, PATTERN_SCALE, median(scales, k->n), best);
}

void locate_ways(const struct keys *k, struct pattern *best)
{
    for (size_t g = 0; g < sizeof mask_guesses / sizeof *mask_guesses; g++)
        guess_mask(k, &mask_guesses[g], best);
    guess_padding(k, best);
    guess_v_shift(k, best);
    guess_scale(k, best);
    guess_kv_head(k, best);
    locate_rescale(k, best);
}
