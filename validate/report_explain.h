/* SPDX-License-Identifier: MIT
 *
 * Private to the reports: what is said of a struct explanation.
 */
#ifndef ASSAY_REPORT_EXPLAIN_H
#define ASSAY_REPORT_EXPLAIN_H

#include "golden/json.h"
#include "validate/report.h"

/* Lines for people, and what each is called; how many there are. Texts are the
 * explanation's, which may be NULL. */
enum { EXPLAINED_LINES = 3 };
struct explained_line {
    const char *name, *text;
};
size_t report_explained(const struct explanation *e,
                        struct explained_line lines[EXPLAINED_LINES]);

/* Text maps in a report for people: one of each case, that of the result whose
 * worst row is the worst, and at most REPORT_MAPS. */
enum { REPORT_MAPS = 8 };
struct report_maps {
    const struct report *r;
    size_t printed, left_out;
};
/* The map of result i, if it is one of them; false when that failed. */
bool report_map(struct report_maps *maps, size_t i, FILE *out);

/* All members, and the map that people see as text: what its rows and columns
 * are (map_kind), how many there are, how many heads, queries or channels are
 * in each (map_row_step, map_column_step) and in all (map_row_count,
 * map_column_count), and a list of values for each row. "map" is null where
 * there is none. Null for no explanation. */
json_t *report_explanation_json(const struct explanation *e);

#endif
