/* SPDX-License-Identifier: MIT
 *
 * The table of distributions, what they refuse, and the last rounding.
 */
#include "assay/distribution.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "assay/rotate.h"
#include "draw.h"

enum { TILE = 128, TIES = 12 };

static const struct assay_distribution rows[] = {
#define ASSAY_DISTRIBUTION(id, name, spread, gap, jitter, step, low, about) \
    { ASSAY_DISTRIBUTION_##id,                                              \
      name,                                                                 \
      { spread, gap, jitter, step, low },                                   \
      about },
#include "assay/distribution.def"
#undef ASSAY_DISTRIBUTION
};

const struct assay_distribution *
assay_distribution_get(enum assay_distribution_id id)
{
    return &rows[id];
}

const struct assay_distribution *assay_distribution_find(const char *name)
{
    for (int i = 0; i < ASSAY_DISTRIBUTIONS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static enum assay_status check_stair(const struct assay_problem *p,
                                     struct assay_error *err)
{
    const int64_t most = 5 * (p->dk - p->dk / 32) + 1;
    if (p->dk < 32 || p->dk > ASSAY_ROTATE_MAX || (p->dk & (p->dk - 1)) != 0)
        return assay_fail(err, ASSAY_SHAPE,
                          "maxstair wants a width of q and k that is a power "
                          "of two from 32 to %d, not %" PRId64,
                          ASSAY_ROTATE_MAX, p->dk);
    if (p->nk % TILE != 0)
        return assay_fail(err, ASSAY_SHAPE,
                          "maxstair wants whole tiles of %d keys, not %" PRId64
                          " keys",
                          TILE, p->nk);
    if (p->nk / TILE > most)
        return assay_fail(err, ASSAY_SHAPE,
                          "maxstair has steps for %" PRId64
                          " tiles of %d keys, not for %" PRId64,
                          most, TILE, p->nk / TILE);
    if (p->softmax_scale == 0)
        return assay_fail(err, ASSAY_SHAPE,
                          "maxstair has no steps where the softmax scale is 0");
    return ASSAY_OK;
}

enum assay_status
assay_distribution_check(const struct assay_distribution *distribution,
                         const struct assay_distribution_values *values,
                         const struct assay_problem *p, struct assay_error *err)
{
    const struct assay_distribution_values *v =
        values ? values : &distribution->values;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    if (!isfinite(v->spread) || !isfinite(v->gap) || !isfinite(v->jitter) ||
        !isfinite(v->step) || !isfinite(v->low) || v->gap < 0)
        return assay_fail(err, ASSAY_USAGE,
                          "%s cannot be made with spread %g, gap %g, jitter "
                          "%g, step %g, low %g",
                          distribution->name, v->spread, v->gap, v->jitter,
                          v->step, v->low);
    if (distribution->id == ASSAY_DISTRIBUTION_MAXSTAIR)
        return check_stair(p, err);
    if (distribution->id == ASSAY_DISTRIBUTION_TIEBREAK && p->nk < TIES)
        return assay_fail(err, ASSAY_SHAPE,
                          "tiebreak wants at least %d keys, two for each of "
                          "six gaps, not %" PRId64,
                          TIES, p->nk);
    return ASSAY_OK;
}

static void scale_row(const struct draw *draw, const struct draw_operand *of,
                      const void *by, const struct draw_place *at, float *x)
{
    (void)draw, (void)at;
    for (int64_t c = 0; c < of->d; c++)
        x[c] *= *(const float *)by;
}

static enum assay_status make(struct draw *draw, enum assay_distribution_id id,
                              struct assay_error *err)
{
    const float by = id == ASSAY_DISTRIBUTION_ZERO ? 0 : 1;
    enum assay_status st;
    switch (id) {
    case ASSAY_DISTRIBUTION_DIFFUSION:
    case ASSAY_DISTRIBUTION_PEAKED: return draw_diffusion(draw, err);
    case ASSAY_DISTRIBUTION_KCOMMON: return draw_kcommon(draw, err);
    case ASSAY_DISTRIBUTION_PADDED:
        if ((st = draw_diffusion(draw, err)) == ASSAY_OK)
            draw_padded(draw);
        return st;
    case ASSAY_DISTRIBUTION_TRANSFORMER: return draw_transformer(draw, err);
    case ASSAY_DISTRIBUTION_SINK: return draw_sink(draw, err);
    case ASSAY_DISTRIBUTION_UNDERFLOW: return draw_hot_keys(draw, false, err);
    case ASSAY_DISTRIBUTION_LATEPEAK: return draw_hot_keys(draw, true, err);
    case ASSAY_DISTRIBUTION_MAXSTAIR: return draw_maxstair(draw, err);
    case ASSAY_DISTRIBUTION_TIEBREAK: return draw_tiebreak(draw, err);
    case ASSAY_DISTRIBUTION_NEEDLE: draw_needle(draw); return ASSAY_OK;
    default:
        for (int i = 0; i < DRAW_OPERANDS; i++)
            draw_rows(draw, i, true, scale_row, &by);
        return ASSAY_OK;
    }
}

/* 0 * -x is -0; all zero means +0. */
static void round_row(const struct draw *draw, const struct draw_operand *of,
                      const void *word, const struct draw_place *at, float *x)
{
    (void)draw, (void)at;
    for (int64_t c = 0; c < of->d; c++)
        x[c] += 0.0f;
    assay_format_round(word, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, (size_t)of->d,
                       x, x);
}

enum assay_status
assay_distribution_fill(const struct assay_distribution *distribution,
                        const struct assay_distribution_values *values,
                        const struct assay_problem *p, uint64_t seed,
                        const struct assay_format *word, float *q, float *k,
                        float *v, const struct assay_run *run,
                        struct assay_error *err)
{
    struct draw draw = { .p = p,
                         .values = values ? *values : distribution->values,
                         .seed = seed,
                         .threads = run && run->threads > 0
                                        ? run->threads
                                        : omp_get_max_threads(),
                         .of = { { DRAW_Q, q, p->b, p->nq, p->hq, p->dk },
                                 { DRAW_K, k, p->b, p->nk, p->hk, p->dk },
                                 { DRAW_V, v, p->b, p->nk, p->hk, p->dv } } };
    enum assay_status st =
        assay_distribution_check(distribution, values, p, err);
    if (st != ASSAY_OK)
        return st;
    if (word->id != ASSAY_BF16 && word->id != ASSAY_F16 &&
        word->id != ASSAY_F32)
        return assay_fail(err, ASSAY_USAGE,
                          "inputs are made as bf16, f16 or f32, not %s",
                          word->name);
    if ((st = make(&draw, distribution->id, err)) != ASSAY_OK)
        return st;
    for (int i = 0; i < DRAW_OPERANDS; i++)
        draw_rows(&draw, i, false, round_row, word);
    return ASSAY_OK;
}
