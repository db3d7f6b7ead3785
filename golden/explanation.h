/* SPDX-License-Identifier: MIT
 *
 * Where an output is wrong, and what makes its LSE so; as results hold it and
 * run records keep it.
 */
#ifndef ASSAY_EXPLANATION_H
#define ASSAY_EXPLANATION_H

#include "assay/problem.h"

enum { EXPLANATION_MAP_ROWS = 24, EXPLANATION_MAP_COLUMNS = 64 }; /* at most */

struct explanation {
#define EXPLANATION_TEXT(member, bytes) char member[bytes];
#define EXPLANATION_COUNT(member) int64_t member;
#define EXPLANATION_REAL(member) double member;
#include "golden/explanation.def"
    /* a map of where rows fail, [rows, columns]; none where map is NULL */
    int64_t map_rows, map_columns;
#define MAP_SIZE(member) int64_t map_##member;
#include "golden/explanation_map.def"
#undef MAP_SIZE
    double *map;
};

/* One that says nothing; explanation_free. ASSAY_MEMORY. */
enum assay_status explanation_new(struct explanation **out,
                                  struct assay_error *err);
/* NULL is allowed. */
void explanation_free(struct explanation *e);

#endif
