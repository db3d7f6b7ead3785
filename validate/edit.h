/* SPDX-License-Identifier: MIT
 *
 * A changed problem: the payloads of a subject with tokens, heads, scale or
 * mask moved, emulated by the subject's recipe. The first failure stays and
 * makes all that follows nothing.
 */
#ifndef ASSAY_EDIT_H
#define ASSAY_EDIT_H

#include "validate/mutation.h"

enum { EDIT_ARRAYS = 16 };

struct edit {
    const struct subject *s;
    struct assay_problem p;
    struct assay_recipe recipe;
    struct assay_payloads pay; /* views of the subject's, or of `own` */
    void *own[EDIT_ARRAYS];
    int n_own;
    enum assay_status st;
    struct assay_error *err;
};

/* Begins as the subject. */
struct edit edit_of(const struct subject *s, struct assay_error *err);

/* A new array that lives until edit_run; NULL after a failure. */
void *edit_array(struct edit *e, int64_t count, size_t bytes);

/* Takes token[j] of each of b x heads for j < n, and head[h] of those for
 * h < heads; -1 is a token of zeros. NULL: all, as they are. */
struct edit_map {
    int64_t n;
    const int64_t *token;
    int64_t heads;
    const int64_t *head;
};
void edit_gather(struct edit *e, struct assay_payload *x,
                 const struct edit_map *map);

/* K and V lose keys first to end - 1, or get `more` keys of zeros at their
 * end. */
void edit_drop_keys(struct edit *e, int64_t first, int64_t end);
void edit_add_keys(struct edit *e, int64_t more);

/* Key j takes the K, or the V, of key j + by; the last one repeats. */
void edit_shift(struct edit *e, struct assay_payload *x, int64_t by);

/* Scores times a factor. */
void edit_scale(struct edit *e, double by);

/* Emulates, and frees what the edit owns; key_tile 0: the form's. */
enum assay_status edit_run(struct edit *e, int64_t key_tile, float *o,
                           double *lse);

#endif
