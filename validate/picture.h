/* SPDX-License-Identifier: MIT
 *
 * What a page draws of a result: distances of its heads, and of each row its
 * LSE and the parts that it uses of the limits of rows. A few numbers a row,
 * so that all results of a run fit.
 */
#ifndef ASSAY_PICTURE_H
#define ASSAY_PICTURE_H

#include "golden/sketch.h"
#include "validate/heat.h"
#include "validate/result.h"

/* Rows are [b, hq, nq], heads [b, hq]. */
struct picture {
    size_t heads, rows;
    bool no_lse;   /* of the kernel */
    bool no_exact; /* of the set */
    /* of each head, by enum distance_kind */
    double *rel_l2[DISTANCES], *lse_max[DISTANCES];
    float *lse_c, *lse_e;     /* nats */
    float *used_o, *used_lse; /* above 1 fails; NaN: another class */
    int32_t *channel;         /* of the largest difference; -1 */
};

/* Draws what a judged result's sketch holds; result_free() frees it. */
enum assay_status result_keep_picture(struct result *r,
                                      const struct sketch *sketch,
                                      struct assay_error *err);
void picture_free(struct picture *picture);

/* Whether a row of O uses more than it may, or is of another class. */
bool picture_any_fails(const struct picture *p);

/* The largest part used by the rows of O in each cell, 0 where it is within
 * the limits, unless no part can be told that is beyond. By channels a row
 * counts in the block of its largest difference alone. heat_free(). */
enum assay_status picture_heat(const struct result *r, enum heat_kind kind,
                               struct heat *out, struct assay_error *err);

#endif
