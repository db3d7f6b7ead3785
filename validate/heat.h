/* SPDX-License-Identifier: MIT
 *
 * A picture of where rows fail: heads by tiles of queries, or tiles of queries
 * by blocks of channels, as numbers and as text.
 */
#ifndef ASSAY_HEAT_H
#define ASSAY_HEAT_H

#include <stdbool.h>
#include <stdio.h>

#include "validate/locate.h"

enum heat_kind { HEAT_HEADS_BY_ROWS, HEAT_ROWS_BY_CHANNELS };

struct heat {
    enum heat_kind kind;
    int64_t rows, columns;
    int64_t row_step;    /* heads (b * hq + h), or queries, in a row of it */
    int64_t column_step; /* queries, or channels, in a column */
    int64_t row_count;   /* of all of them: b * hq, or nq */
    int64_t column_count;
    int64_t heads; /* hq */
    /* [rows, columns], heat_free()s: the largest part used in a cell, NaN
     * above all. By channels, the part used of a row times the cell's part of
     * the L2 of its difference. */
    double *value;
};

/* "heads-by-queries"; for reports. */
const char *heat_kind_name(enum heat_kind kind);

/* The kind that tells more: by channels where some channels alone are wrong. */
enum heat_kind heat_kind_for(const struct location *location);

/* The cells alone, all 0: at most `rows` by `columns`; steps of queries and
 * channels are powers of two. Free with heat_free. */
enum assay_status heat_new(const struct assay_problem *p, enum heat_kind kind,
                           int64_t rows, int64_t columns, struct heat *out,
                           struct assay_error *err);

/* The same filled. */
enum assay_status heat_make(const struct locate_input *in, enum heat_kind kind,
                            int64_t rows, int64_t columns, struct heat *out,
                            struct assay_error *err);
void heat_free(struct heat *heat);

/* Columns side by side are put together, their largest kept, until there are
 * at most that many. */
void heat_narrow(struct heat *heat, int64_t columns);

/* Cells in a line of text of that width, for heat_make. */
int64_t heat_columns_in(int width);

/* The map with a title and a legend, lines no longer than `width` where that
 * is 40 or more; blocks: with UTF-8 characters. False if writing failed. */
bool heat_print(const struct heat *heat, bool blocks, int width, FILE *out);

#endif
