/* SPDX-License-Identifier: MIT
 *
 * Rows whose keys are looked at, in double; see locate.h.
 */
#ifndef ASSAY_LOCATE_KEYS_H
#define ASSAY_LOCATE_KEYS_H

#include "validate/locate_scene.h"

/* A row looked at. Arrays are its part of one allocation. */
struct key_row {
    struct assay_place at;
    int64_t visible;
    double *score; /* [nk], all keys, masked ones too */
    double *o;     /* [dv], right answer in double */
    double *d;     /* [dv], C - E */
    double dd;     /* its squared norm */
    double lse;
};

struct keys {
    const struct scene *s;
    const struct assay_problem *p;
    int64_t n; /* rows, at least one */
    struct key_row row[LOCATION_KEY_ROWS];
    double *memory;
    double *change; /* [dv], of a guess */
    double *slope;  /* [dv] */
    double *spare;  /* [nk], scores of another KV head */
    double *tile;   /* [tiles + 1, dv], sums of p_j (v_j - O) up to a tile */
    double *mass;   /* [tiles + 1], of p_j */
};

/* How a row may have been computed. */
struct way {
    const double *score;
    int64_t visible;
    double scale;    /* of the scores; 1 */
    int64_t v_shift; /* key j meets V of j + v_shift; zeros past the ends */
    int64_t kv;
};

/* Scores of a row against KV head kv, [nk]. */
void keys_score(const struct keys *k, struct assay_place at, int64_t kv,
                double *score);

/* The largest scaled score. */
double keys_largest(const struct way *way);

/* o [dv]: the row that way; returns its LSE. */
double keys_answer(const struct keys *k, struct assay_place at, struct way way,
                   double *o);

/* C - E of a row beside its norm, squared; NaN where it is not finite. */
double keys_off(const struct keys *k, struct assay_place at);

/* Fills a row, whose arrays are there. */
void keys_fill_row(const struct keys *k, struct assay_place at,
                   struct key_row *row);

/* What a change of O [dv] explains of C - E, 0 to 1. */
double keys_explained(const struct keys *k, const struct key_row *row,
                      const double *change);

struct way keys_right_way(const struct keys *k, const struct key_row *row);

const float *keys_v(const struct keys *k, struct assay_place at, int64_t j,
                    int64_t kv);

/* Keeps the guess that explains most, if it explains enough; the first of two
 * that are as good. */
void keys_offer(const struct keys *k, struct pattern *best,
                struct pattern guess);

/* Offers what other ways to compute the rows explain. */
void locate_ways(const struct keys *k, struct pattern *best);

/* Offers what a softmax that forgets to rescale explains. */
void locate_rescale(const struct keys *k, struct pattern *best);

/* Names the heads that used a wrong KV head; the last row is overwritten. */
void locate_kv_heads(struct keys *k, struct location *out);

/* Offers what single keys and ranges of keys explain. */
void locate_key_sets(const struct keys *k, struct pattern *best);

#endif
