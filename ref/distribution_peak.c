/* SPDX-License-Identifier: MIT
 *
 * Distributions where few keys count: underflow and latepeak, maxstair,
 * tiebreak.
 */
#include <math.h>

#include "assay/memory.h"
#include "assay/random.h"
#include "assay/rotate.h"
#include "draw.h"

enum { TILE = 128 }; /* keys or queries */

static const float value_size = 0.5f;

static void value_row(const struct draw *draw, const struct draw_operand *of,
                      const void *context, const struct draw_place *at,
                      float *x)
{
    (void)draw, (void)context, (void)at;
    for (int64_t c = 0; c < of->d; c++)
        x[c] *= value_size;
}

/* ---- underflow, latepeak ---- */

static const float hot_q_noise = 0.35f, cold_noise = 0.30f, hot_noise = 0.10f;

struct hot {
    float *direction; /* [b, dk], of length amp */
    int64_t from, to; /* hot keys */
};

static void hot_q_row(const struct draw *draw, const struct draw_operand *of,
                      const void *context, const struct draw_place *at,
                      float *x)
{
    const struct hot *hot = context;
    const float *u = hot->direction + at->b * of->d;
    const double jitter = draw->values.jitter;
    const float row =
        (float)(jitter + (1 - jitter) *
                             assay_random_uniform(draw->seed,
                                                  draw_stream(DRAW_Q, DRAW_ROW),
                                                  at->row));
    for (int64_t c = 0; c < of->d; c++)
        x[c] = row * u[c] + hot_q_noise * x[c];
}

static void hot_k_row(const struct draw *draw, const struct draw_operand *of,
                      const void *context, const struct draw_place *at,
                      float *x)
{
    const struct hot *hot = context;
    const float *u = hot->direction + at->b * of->d;
    const bool is_hot = at->t >= hot->from && at->t < hot->to;
    (void)draw;
    for (int64_t c = 0; c < of->d; c++)
        x[c] = is_hot ? u[c] + hot_noise * x[c] : cold_noise * x[c];
}

enum assay_status draw_hot_keys(struct draw *draw, bool last,
                                struct assay_error *err)
{
    const struct assay_problem *p = draw->p;
    const int64_t n = p->nk < TILE ? p->nk : TILE;
    const double amp = sqrt(draw->values.gap * sqrt((double)p->dk));
    struct hot hot = { .from = last ? p->nk - n : 0, .to = last ? p->nk : n };
    enum assay_status st = assay_alloc(
        "directions", p->b * p->dk, sizeof *hot.direction, &hot.direction, err);
    if (st != ASSAY_OK)
        return st;
    draw_directions(draw, DRAW_Q, DRAW_DIRECTION, p->b, p->dk, amp,
                    hot.direction);
    draw_rows(draw, DRAW_Q, true, hot_q_row, &hot);
    draw_rows(draw, DRAW_K, true, hot_k_row, &hot);
    draw_rows(draw, DRAW_V, true, value_row, NULL);
    assay_free(hot.direction);
    return ASSAY_OK;
}

/* ---- maxstair: rows as the rotation of K and Q leaves them ---- */

static const float anchor = 7; /* keeps the scales of all blocks alike */
static const double log2_e = 1.4426950408889634;

static void stair_k_row(const struct draw *draw, const struct draw_operand *of,
                        const void *context, const struct draw_place *at,
                        float *x)
{
    const int64_t n = of->d - of->d / 32, tile = at->t / TILE;
    const float sign = at->t % 2 ? -1 : 1;
    int64_t i = 0;
    (void)draw, (void)context;
    for (int64_t c = 0; c < of->d; c++)
        if (c % 32 == 31)
            x[c] = sign * anchor;
        else /* tile steps in all channels together */
            x[c] = sign * (float)((tile + n - 1 - i++) / n);
}

static void stair_q_row(const struct draw *draw, const struct draw_operand *of,
                        const void *context, const struct draw_place *at,
                        float *x)
{
    const double low = at->t / TILE % 2 ? draw->values.low : 1;
    (void)context;
    for (int64_t c = 0; c < of->d; c++)
        x[c] = (float)(draw->values.step * low /
                       (draw->p->softmax_scale * log2_e));
}

enum assay_status draw_maxstair(struct draw *draw, struct assay_error *err)
{
    draw_rows(draw, DRAW_Q, false, stair_q_row, NULL);
    draw_rows(draw, DRAW_K, false, stair_k_row, NULL);
    draw_rows(draw, DRAW_V, true, value_row, NULL);
    for (int operand = DRAW_Q; operand <= DRAW_K; operand++) {
        const struct draw_operand *of = &draw->of[operand];
        /* its own inverse */
        enum assay_status st = assay_rotate(of->d, of->b * of->n * of->h, of->x,
                                            1, NULL, of->x, err);
        if (st != ASSAY_OK)
            return st;
    }
    return ASSAY_OK;
}

/* ---- tiebreak ----
 *
 * Keys 2i and 2i + 1 are a pair: base + w and (1 - g) base + w', with base of
 * length sqrt(dk) and w, w' standard normal but perpendicular to base, so that
 * the two keys are rounded each in its own way. A query is a multiple of a
 * pair's base: its scores there are gap and gap (1 - g). */

enum { GAPS = 6 };
/* g goes from the unit roundoff of bf16 to that of E2M1, in equal ratios. */
static const double least_gap = 0x1p-8, most_gap = 0x1p-2;

struct ties {
    float *base; /* [b, pairs, hk, dk] */
    int64_t pairs;
};

static void tie_k_row(const struct draw *draw, const struct draw_operand *of,
                      const void *context, const struct draw_place *at,
                      float *x)
{
    const struct ties *ties = context;
    const int64_t pair = at->t / 2;
    const float *base = ties->base + assay_row_offset(ties->pairs, of->h, of->d,
                                                      at->b, pair, at->h);
    const double part = (double)(pair % GAPS) / (GAPS - 1);
    const double g =
        at->t % 2 ? least_gap * pow(most_gap / least_gap, part) : 0;
    const double along = draw_dot(of->d, x, base) / (double)of->d;
    (void)draw;
    for (int64_t c = 0; c < of->d; c++)
        x[c] = (float)(x[c] + (1 - g - along) * base[c]);
}

/* Query i aims at pair i, round and round the pairs that it sees in full; the
 * heads of a group at one after another. */
static void tie_q_row(const struct draw *draw, const struct draw_operand *of,
                      const void *context, const struct draw_place *at,
                      float *x)
{
    const struct ties *ties = context;
    const struct assay_problem *p = draw->p;
    const int64_t ratio = p->hq / p->hk;
    const int64_t seen = assay_problem_visible(p, at->t) / 2;
    const int64_t pair = (at->t + at->h % ratio) % (seen < 1 ? 1 : seen);
    const float *base =
        ties->base +
        assay_row_offset(ties->pairs, p->hk, of->d, at->b, pair, at->h / ratio);
    const float by = (float)(draw->values.gap / sqrt((double)of->d));
    for (int64_t c = 0; c < of->d; c++)
        x[c] = by * base[c];
}

enum assay_status draw_tiebreak(struct draw *draw, struct assay_error *err)
{
    const struct assay_problem *p = draw->p;
    struct ties ties = { .pairs = (p->nk + 1) / 2 };
    const int64_t rows = p->b * ties.pairs * p->hk;
    enum assay_status st = assay_alloc("bases of pairs", rows * p->dk,
                                       sizeof *ties.base, &ties.base, err);
    if (st != ASSAY_OK)
        return st;
    draw_directions(draw, DRAW_K, DRAW_SHARED, rows, p->dk, sqrt((double)p->dk),
                    ties.base);
    draw_rows(draw, DRAW_Q, false, tie_q_row, &ties);
    draw_rows(draw, DRAW_K, true, tie_k_row, &ties);
    draw_rows(draw, DRAW_V, true, NULL, NULL);
    assay_free(ties.base);
    return ASSAY_OK;
}
