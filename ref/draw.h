/* SPDX-License-Identifier: MIT
 *
 * What the generators of ref/distribution.c share: one draw, its three
 * operands, and noise given to a function that shapes it row by row.
 */
#ifndef ASSAY_DRAW_H
#define ASSAY_DRAW_H

#include <stdbool.h>

#include "assay/distribution.h"

enum { DRAW_Q, DRAW_K, DRAW_V, DRAW_OPERANDS };

/* What random numbers are for; with the operand it names a stream. */
enum draw_use {
    DRAW_NOISE,
    DRAW_SHARED,
    DRAW_CHANNEL,
    DRAW_HOT_CHANNELS,
    DRAW_HOT_TOKENS,
    DRAW_DIRECTION,
    DRAW_ROW
};

struct draw_operand {
    int which;
    float *x; /* [b, n, h, d] */
    int64_t b, n, h, d;
};

struct draw {
    const struct assay_problem *p;
    struct assay_distribution_values values;
    uint64_t seed;
    int threads;
    struct draw_operand of[DRAW_OPERANDS];
};

/* A row: batch, token, head, and its number in [b, n, h]. */
struct draw_place {
    int64_t b, t, h, row;
};

typedef void draw_shape(const struct draw *draw, const struct draw_operand *of,
                        const void *context, const struct draw_place *at,
                        float *x);

uint32_t draw_stream(int operand, enum draw_use use);

/* Every row of the operand: standard normal noise where `noise`, what is there
 * where not, and then what `shape` (may be NULL) makes of it. */
void draw_rows(const struct draw *draw, int operand, bool noise,
               draw_shape *shape, const void *context);

/* n standard normal values; rows of them scaled to a length. */
void draw_normal(const struct draw *draw, int operand, enum draw_use use,
                 int64_t n, float *x);
void draw_directions(const struct draw *draw, int operand, enum draw_use use,
                     int64_t rows, int64_t d, double length, float *x);
void draw_scale_to(int64_t d, double length, float *x);
double draw_dot(int64_t d, const float *x, const float *y);

/* distribution_spread.c */
enum assay_status draw_diffusion(struct draw *draw, struct assay_error *err);
enum assay_status draw_kcommon(struct draw *draw, struct assay_error *err);
void draw_padded(struct draw *draw);
enum assay_status draw_transformer(struct draw *draw, struct assay_error *err);
enum assay_status draw_sink(struct draw *draw, struct assay_error *err);

/* distribution_peak.c */
enum assay_status draw_hot_keys(struct draw *draw, bool last,
                                struct assay_error *err);
enum assay_status draw_maxstair(struct draw *draw, struct assay_error *err);
enum assay_status draw_tiebreak(struct draw *draw, struct assay_error *err);

/* distribution_needle.c */
void draw_needle(struct draw *draw);

#endif
