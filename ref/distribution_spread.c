/* SPDX-License-Identifier: MIT
 *
 * Distributions where many keys count: diffusion and what is made of it,
 * transformer, sink.
 */
#include <math.h>
#include <stdlib.h>

#include "assay/memory.h"
#include "assay/metrics.h"
#include "assay/random.h"
#include "draw.h"

/* ---- diffusion ---- */

static const double rho[DRAW_OPERANDS] = { 0.45, 0.40, 0.34 };
static const double diffusion_channel = 0.16; /* deviation of ln(scale) */
static const float diffusion_hot_channel = 2, diffusion_hot_token = 4;
enum { DIFFUSION_TOKENS = 256 }; /* one of so many is hot */

/* transformer */
static const double row_floor = 1e-6;
static const struct {
    double deviation, least, most;
} transformer_channel[DRAW_OPERANDS] = { { 0.35, 0.35, 2.5 },
                                         { 0.35, 0.35, 2.5 },
                                         { 0.45, 0.25, 3.5 } };
static const float transformer_shared = 0.35f;
static const float transformer_hot_channel = 4, transformer_hot_token = 2.5f;
enum { TRANSFORMER_TOKENS = 128 };

enum { HOT_CHANNELS = 16 }; /* one of so many is hot */

enum { PROBES = 64 };
static const double least_spread = 1e-9;

/* What rows of an operand have in common: shared and channel [h, d], hot
 * channels [d] and hot tokens [n] of V, 0 or 1. */
struct common {
    float *shared, *channel;
    unsigned char *hot_channel, *hot_token;
    float noise; /* multiplies it */
};

static void common_free(struct common *c)
{
    assay_free(c->shared);
    assay_free(c->channel);
    assay_free(c->hot_channel);
    assay_free(c->hot_token);
}

static enum assay_status common_new(const struct draw *draw, int operand,
                                    struct common *c, struct assay_error *err)
{
    const struct draw_operand *of = &draw->of[operand];
    enum assay_status st;
    *c = (struct common){ 0 };
    if ((st = assay_alloc("shared rows", of->h * of->d, sizeof *c->shared,
                          &c->shared, err)) != ASSAY_OK ||
        (st = assay_alloc("channel scales", of->h * of->d, sizeof *c->channel,
                          &c->channel, err)) != ASSAY_OK ||
        (st = assay_alloc("hot channels", of->d, 1, &c->hot_channel, err)) !=
            ASSAY_OK ||
        (st = assay_alloc("hot tokens", of->n, 1, &c->hot_token, err)) !=
            ASSAY_OK)
        common_free(c);
    return st;
}

/* V alone has hot channels, the same in all heads, and hot tokens. */
static void choose_hot(const struct draw *draw, int64_t tokens,
                       struct common *c)
{
    const struct draw_operand *of = &draw->of[DRAW_V];
    const int64_t channels = of->d < HOT_CHANNELS ? 1 : of->d / HOT_CHANNELS;
    const int64_t hot = of->n == 0 ? 0 : of->n < tokens ? 1 : of->n / tokens;
    assay_random_choose(draw->seed, draw_stream(DRAW_V, DRAW_HOT_CHANNELS),
                        of->d, channels, c->hot_channel);
    assay_random_choose(draw->seed, draw_stream(DRAW_V, DRAW_HOT_TOKENS), of->n,
                        hot, c->hot_token);
}

static void heat(const struct draw_operand *of, const struct common *c,
                 int64_t token, float channel, float by, float *x)
{
    for (int64_t i = 0; i < of->d; i++)
        x[i] *=
            (c->hot_channel[i] ? channel : 1) * (c->hot_token[token] ? by : 1);
}

static void diffusion_row(const struct draw *draw,
                          const struct draw_operand *of, const void *context,
                          const struct draw_place *at, float *x)
{
    const struct common *c = context;
    const float *shared = c->shared + at->h * of->d;
    const float *channel = c->channel + at->h * of->d;
    (void)draw;
    for (int64_t i = 0; i < of->d; i++)
        x[i] = (shared[i] + c->noise * x[i]) * channel[i];
    if (of->which == DRAW_V)
        heat(of, c, at->t, diffusion_hot_channel, diffusion_hot_token, x);
}

static enum assay_status diffusion_operand(const struct draw *draw, int operand,
                                           struct assay_error *err)
{
    const struct draw_operand *of = &draw->of[operand];
    struct common c;
    enum assay_status st = common_new(draw, operand, &c, err);
    if (st != ASSAY_OK)
        return st;
    draw_directions(draw, operand, DRAW_SHARED, of->h, of->d,
                    rho[operand] * sqrt((double)of->d), c.shared);
    c.noise = (float)sqrt(1 - rho[operand] * rho[operand]);
    draw_normal(draw, operand, DRAW_CHANNEL, of->h * of->d, c.channel);
    for (int64_t i = 0; i < of->h * of->d; i++)
        c.channel[i] = (float)exp(diffusion_channel * c.channel[i]);
    if (operand == DRAW_V)
        choose_hot(draw, DIFFUSION_TOKENS, &c);
    draw_rows(draw, operand, true, diffusion_row, &c);
    common_free(&c);
    return ASSAY_OK;
}

/* Unbiased deviation of q.k/sqrt(dk) over the keys of head 0. */
static double spread_of(const struct draw *draw, const float *q)
{
    const struct draw_operand *k = &draw->of[DRAW_K];
    double mean = 0, square = 0; /* Welford's */
    for (int64_t j = 0; j < k->n; j++) {
        const double x = draw_dot(k->d, q, k->x + j * k->h * k->d);
        const double off = x - mean;
        mean += off / (double)(j + 1);
        square += off * (x - mean);
    }
    return sqrt(square / (double)(k->n - 1) / (double)k->d);
}

/* Lower median over up to 64 queries of batch 0, head 0. */
static double typical_spread(const struct draw *draw)
{
    const struct draw_operand *q = &draw->of[DRAW_Q];
    const int64_t every = q->n < PROBES ? 1 : q->n / PROBES;
    const int64_t all = (q->n + every - 1) / every;
    const int64_t probes = all < PROBES ? all : PROBES;
    double spread[PROBES];
#pragma omp parallel for num_threads(draw->threads)
    for (int64_t i = 0; i < probes; i++)
        spread[i] = spread_of(draw, q->x + i * every * q->h * q->d);
    assay_sort(probes, spread);
    return spread[(probes - 1) / 2];
}

static void scaled_row(const struct draw *draw, const struct draw_operand *of,
                       const void *by, const struct draw_place *at, float *x)
{
    (void)draw, (void)at;
    for (int64_t c = 0; c < of->d; c++)
        x[c] *= *(const float *)by;
}

/* One key has no spread: Q stays as it is. */
enum assay_status draw_diffusion(struct draw *draw, struct assay_error *err)
{
    for (int operand = 0; operand < DRAW_OPERANDS; operand++) {
        enum assay_status st = diffusion_operand(draw, operand, err);
        if (st != ASSAY_OK)
            return st;
    }
    if (draw->p->nq == 0 || draw->p->nk < 2)
        return ASSAY_OK;
    const float by =
        (float)(draw->values.spread / fmax(typical_spread(draw), least_spread));
    draw_rows(draw, DRAW_Q, false, scaled_row, &by);
    return ASSAY_OK;
}

/* ---- kcommon, padded ---- */

static const double common_keys = 16; /* mean lengths of a key */

static void add_head_row(const struct draw *draw, const struct draw_operand *of,
                         const void *rows, const struct draw_place *at,
                         float *x)
{
    const float *add = (const float *)rows + at->h * of->d;
    (void)draw;
    for (int64_t c = 0; c < of->d; c++)
        x[c] += add[c];
}

enum assay_status draw_kcommon(struct draw *draw, struct assay_error *err)
{
    const struct draw_operand *k = &draw->of[DRAW_K];
    const int64_t rows = k->b * k->n * k->h;
    float *direction;
    double length = 0;
    enum assay_status st = draw_diffusion(draw, err);
    if (st != ASSAY_OK)
        return st;
    st = assay_alloc("common keys", k->h * k->d, sizeof *direction, &direction,
                     err);
    if (st != ASSAY_OK)
        return st;
    for (int64_t r = 0; r < rows; r++)
        length += sqrt(draw_dot(k->d, k->x + r * k->d, k->x + r * k->d));
    draw_directions(draw, DRAW_K, DRAW_DIRECTION, k->h, k->d,
                    rows ? common_keys * length / (double)rows : 0, direction);
    draw_rows(draw, DRAW_K, false, add_head_row, direction);
    assay_free(direction);
    return ASSAY_OK;
}

static void pad_row(const struct draw *draw, const struct draw_operand *of,
                    const void *context, const struct draw_place *at, float *x)
{
    const int64_t zero = of->h < 4 ? 1 : of->h / 4;
    (void)draw, (void)context;
    if (at->h >= of->h - zero)
        for (int64_t c = 0; c < of->d; c++)
            x[c] = 0;
}

void draw_padded(struct draw *draw)
{
    for (int operand = 0; operand < DRAW_OPERANDS; operand++)
        draw_rows(draw, operand, false, pad_row, NULL);
}

/* ---- transformer, sink ---- */

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum { PIECE = 128 }; /* channels at a time */

/* Q and K of the same batch, token and head get the same values, as far as
 * both of them, and a row of V, go. */
static void add_shared(const struct draw *draw, const struct draw_place *at,
                       float *x)
{
    const struct assay_problem *p = draw->p;
    const int64_t n = min(p->nq, p->nk), h = min(p->hq, p->hk),
                  d = min(p->dk, p->dv);
    float piece[PIECE];
    if (at->t >= n || at->h >= h)
        return;
    for (int64_t c = 0; c < d; c += PIECE) {
        const int64_t m = min(PIECE, d - c);
        assay_random_normal(draw->seed, draw_stream(DRAW_Q, DRAW_SHARED),
                            assay_row_offset(n, h, d, at->b, at->t, at->h) + c,
                            m, piece);
        for (int64_t i = 0; i < m; i++)
            x[c + i] += transformer_shared * piece[i];
    }
}

static void transformer_row(const struct draw *draw,
                            const struct draw_operand *of, const void *context,
                            const struct draw_place *at, float *x)
{
    const struct common *c = context;
    const float *channel = c->channel + at->h * of->d;
    const double square = draw_dot(of->d, x, x) / (double)of->d;
    const float by = (float)(1 / sqrt(square + row_floor));
    for (int64_t i = 0; i < of->d; i++)
        x[i] *= by * channel[i];
    if (of->which == DRAW_V)
        heat(of, c, at->t, transformer_hot_channel, transformer_hot_token, x);
    else
        add_shared(draw, at, x);
}

enum assay_status draw_transformer(struct draw *draw, struct assay_error *err)
{
    for (int operand = 0; operand < DRAW_OPERANDS; operand++) {
        const struct draw_operand *of = &draw->of[operand];
        struct common c;
        enum assay_status st = common_new(draw, operand, &c, err);
        if (st != ASSAY_OK)
            return st;
        draw_normal(draw, operand, DRAW_CHANNEL, of->h * of->d, c.channel);
        for (int64_t i = 0; i < of->h * of->d; i++)
            c.channel[i] = (float)fmin(
                fmax(exp(transformer_channel[operand].deviation * c.channel[i]),
                     transformer_channel[operand].least),
                transformer_channel[operand].most);
        if (operand == DRAW_V)
            choose_hot(draw, TRANSFORMER_TOKENS, &c);
        draw_rows(draw, operand, true, transformer_row, &c);
        common_free(&c);
    }
    return ASSAY_OK;
}

enum { SINK_KEYS = 4 };
static const float sink[DRAW_OPERANDS] = { 3, 12, 0 };

static void sink_row(const struct draw *draw, const struct draw_operand *of,
                     const void *directions, const struct draw_place *at,
                     float *x)
{
    const float *g = (const float *)directions + at->b * of->d;
    (void)draw;
    if (of->which == DRAW_Q || at->t < SINK_KEYS)
        for (int64_t c = 0; c < of->d; c++)
            x[c] += sink[of->which] * g[c];
}

enum assay_status draw_sink(struct draw *draw, struct assay_error *err)
{
    const struct assay_problem *p = draw->p;
    float *g;
    enum assay_status st = draw_transformer(draw, err);
    if (st != ASSAY_OK || (st = assay_alloc("directions", p->b * p->dk,
                                            sizeof *g, &g, err)) != ASSAY_OK)
        return st;
    draw_directions(draw, DRAW_Q, DRAW_DIRECTION, p->b, p->dk, 1, g);
    draw_rows(draw, DRAW_Q, false, sink_row, g);
    draw_rows(draw, DRAW_K, false, sink_row, g);
    assay_free(g);
    return ASSAY_OK;
}
