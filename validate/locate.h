/* SPDX-License-Identifier: MIT
 *
 * Where an output is wrong, and what the wrong rows have in common. Nothing
 * here decides: a row fails where a gate said so.
 */
#ifndef ASSAY_LOCATE_H
#define ASSAY_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/format.h"
#include "assay/metrics.h"
#include "assay/problem.h"

enum pattern_id {
#define PATTERN(id, ...) PATTERN_##id,
#include "validate/pattern.def"
#undef PATTERN
    PATTERNS
};

enum pattern_kind {
    PATTERN_KIND_NONE,
    PATTERN_KIND_HEADS,
    PATTERN_KIND_ROWS,
    PATTERN_KIND_CHANNELS,
    PATTERN_KIND_VALUES,
    PATTERN_KIND_KEYS,
    PATTERN_KINDS
};

struct pattern_row {
    enum pattern_kind kind;
    const char *name;
    const char *sentence; /* with places for parameters: see pattern.def */
};
const struct pattern_row *pattern_get(enum pattern_id id);

/* A pattern that was found. a, b, c and x are what its sentence says. */
struct pattern {
    enum pattern_id id;
    int64_t a, b, c;
    double x;
    /* 0 to 1: HEADS and ROWS, of the failing rows; CHANNELS, of the squared
     * difference; VALUES and KEYS, mean over the rows looked at of the part of
     * a row's squared difference */
    double explained;
};

/* A place with the largest part used in it and its part of the whole squared
 * difference of O, 0 to 1. Elements that are not finite are in no sum; the
 * part used of their rows should say it. */
struct location_spot {
    struct assay_place at;
    double used;  /* 1 = at the limit; NaN is the worst; 0 where unknown */
    double share; /* 0 where nothing differs */
};

/* What is to be located. All arrays are the caller's and stay as they are. */
struct locate_input {
    const struct assay_problem *p;
    const float *c, *e;     /* candidate and emulated O, [b, nq, hq, dv] */
    const double *used_o;   /* part used of each row, [b, hq, nq]; above 1 or
                               NaN fails */
    const double *used_lse; /* the same of the LSE, or NULL */
    /* Values that the emulation multiplied, without a folded softmax scale
     * (assay_payload_inputs() gives them), or the inputs where those are near;
     * all three or NULL. q [b, nq, hq, dk], k and v [b, nk, hk, dk or dv] */
    const float *q, *k, *v;
    double softmax_scale;  /* that goes with q and k; nats per product */
    int64_t unwritten;     /* elements of C that nobody wrote, NaN in C */
    int64_t lse_unwritten; /* the same of LSE */
    const struct assay_format *out; /* of O; NULL: no rounding of it is taken
                                       off in maps */
};

/* The larger of the parts used of O and LSE of row r; NaN is the largest. */
double locate_row_used(const struct locate_input *in, int64_t r);

enum {
    LOCATION_BLOCK = 32,     /* channels of a block */
    LOCATION_TILE = 128,     /* rows of a query tile */
    LOCATION_KEY_TILE = 64,  /* keys of a tile */
    LOCATION_KEY_ROWS = 16,  /* most rows whose keys are looked at */
    LOCATION_KV_HEADS = 4,   /* heads of a wrong KV head that are named */
    LOCATION_SENTENCE = 640, /* bytes */
};

/* A cause that explains less is not stated, but what it looks most like. */
#define LOCATE_STATES 0.95

struct location {
    int64_t rows, failing; /* of [b, hq, nq], by O or LSE */
    int64_t failing_o, failing_lse;
    bool of_o; /* what was found is of O's rows alone: LSE fails in others */
    int64_t batch; /* the only one that fails; -1: all, or several */
    /* Of each kind; PATTERN_NONE where none fits. HEADS_SOME and
     * ROWS_SCATTERED say that there is no pattern among failing rows. */
    struct pattern found[PATTERN_KINDS];
    struct {
        int64_t h, used, right;
    } kv[LOCATION_KV_HEADS]; /* of KV_HEAD: the first heads, by number */
    int64_t kv_heads;        /* all heads that are concerned */
    struct {
        int64_t rows, looked_at;
        struct assay_place first;
    } odd; /* rows that a gain does not explain, of those looked at */
    struct location_spot head, row;
    struct location_spot tile;  /* .at.i is its first row, in all heads */
    struct location_spot block; /* .at.c is its first channel, in all rows */
    char sentence[LOCATION_SENTENCE]; /* "no row fails" where none does */
};

/* Time is that of a few passes over C and E, and of LOCATION_KEY_ROWS rows of
 * attention where K is given; memory is O(rows + keys). ASSAY_MEMORY is the
 * one failure. */
enum assay_status locate(const struct locate_input *in, struct location *out,
                         struct assay_error *err);

/* "row 5 in every head": the rows and heads that fail, into text[n]; which of
 * all they are is said, so that it may be "every row in every head". */
void location_place(const struct location *location, char *text, size_t n);
/* Whether these are rows or heads that have something in common, not all or
 * scattered ones. */
bool location_is_place(const struct location *location);

/* The sentence of one pattern into text[n]. */
void pattern_text(const struct pattern *found, char *text, size_t n);

#endif
