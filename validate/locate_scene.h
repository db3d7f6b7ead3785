/* SPDX-License-Identifier: MIT
 *
 * What the parts of localisation share; see locate.h.
 */
#ifndef ASSAY_LOCATE_SCENE_H
#define ASSAY_LOCATE_SCENE_H

#include <stdbool.h>

#include "validate/locate.h"

/* A pattern must hold this part of what it explains, and may hold that part
 * of rows that do not fail. */
#define LOCATE_COVERS 0.95
#define LOCATE_FALSE 0.05
/* What VALUES and KEYS must explain of the squared difference. */
#define LOCATE_EXPLAINS 0.9

enum {
    LOCATE_SAMPLE = 512,
    LOCATE_VALUES = 8, /* nothing is said of fewer values */
    LOCATE_CHANNELS = 4
};

struct scene {
    const struct locate_input *in;
    const struct assay_problem *p;
    int64_t failing;       /* rows */
    bool *fails;           /* [b, hq, nq] */
    int64_t *head_fails;   /* failing rows of each (b, h) */
    bool *head_in;         /* heads that belong to what fails */
    double *head_diff;     /* squared difference of each (b, h) */
    int64_t *row_fails;    /* [nq], over heads that belong */
    int64_t *row_lives;    /* [nq], rows there that could fail */
    double *channel_diff;  /* squared difference of each channel, all rows */
    double *channel_norm;  /* of E, all rows */
    double *channel_share; /* of what is wrong in failing rows, sum 1 */
    bool *channel_in;      /* channels that belong to what is wrong */
    int64_t channels;      /* how many */
    int64_t sample[LOCATE_SAMPLE]; /* rows whose O fails, spread evenly */
    int64_t sampled;
};

void locate_heads(struct scene *s, struct location *out);
void locate_rows(struct scene *s, struct location *out);
void locate_channels(struct scene *s, struct location *out);
void locate_values(const struct scene *s, struct location *out);
enum assay_status locate_keys(const struct scene *s, struct location *out,
                              struct assay_error *err);

/* A guess: gain times a row of E, its channels turned by `turn`. */
struct guess {
    const float *row; /* NULL: there is none, as past the last row */
    double gain;
    int64_t turn;
};

/* The part of a row's difference that a guess explains: 0 where it explains
 * nothing, or is worse than E. */
double locate_explained(const struct scene *s, struct assay_place at,
                        struct guess g);

/* One gain for all rows, for each head, or for each row; false where it does
 * not fit. Rows that it leaves as wrong as a limit forbids are in out->odd. */
bool locate_gain(const struct scene *s, struct location *out);
bool locate_gain_head(const struct scene *s, struct location *out);
bool locate_gain_row(const struct scene *s, struct location *out);

/* O of row (b, h, i) in C or E. */
static inline const float *scene_row(const struct scene *s, const float *x,
                                     struct assay_place at)
{
    return x + assay_row_offset(s->p->nq, s->p->hq, s->p->dv, at.b, at.i, at.h);
}

static inline const float *scene_e_row(const struct scene *s,
                                       struct assay_place at)
{
    return scene_row(s, s->in->e, at);
}

static inline struct assay_place scene_sampled(const struct scene *s, int64_t n)
{
    return assay_row_place(s->p, s->sample[n]);
}

/* Whether row r fails by its O. */
static inline bool scene_o_fails(const struct scene *s, int64_t r)
{
    return !(s->in->used_o[r] <= 1);
}

#endif
