/* SPDX-License-Identifier: MIT
 *
 * Private: what writing and reading a run record share.
 */
#ifndef ASSAY_RUN_LAYOUT_H
#define ASSAY_RUN_LAYOUT_H

#include <stddef.h>

#include "golden/run_file.h"
#include "golden/set_layout.h"
#include "golden/stored.h"

enum run_column_kind { RUN_REAL, RUN_COUNT, RUN_CHANNEL };
struct run_column {
    const char *name;
    enum run_column_kind kind;
    size_t offset; /* of a double or an int64_t */
};

/* Columns, or none. */
struct run_columns {
    const struct run_column *column;
    size_t count;
    size_t bytes; /* of the struct they are in */
};

enum run_extent { RUN_ROWS, RUN_HEADS };
struct run_array {
    const char *name;
    size_t offset; /* of a pointer in struct sketch */
    enum h5_type type;
    enum run_extent extent;
    struct run_columns columns;
};

enum { RUN_ARRAYS = 13 };
extern const struct run_array run_arrays[RUN_ARRAYS];

/* Rows or heads of an array. */
static inline int64_t run_extent_count(const struct assay_problem *p,
                                       enum run_extent extent)
{
    return extent == RUN_ROWS ? assay_problem_rows(p) : p->b * p->hq;
}

struct h5_shape run_array_shape(const struct assay_problem *p,
                                const struct run_array *a);

/* Names of columns with a space between, as the attribute says them. */
void run_columns_text(const struct run_columns *c, char *text, size_t size);

/* As the group "explanation" of a result's; nothing where e is NULL. */
enum assay_status explanation_write(const char *path, hid_t in,
                                    const struct explanation *e,
                                    struct assay_error *err);
/* *out is NULL where there is none. ASSAY_FORMAT for a map that is not one of
 * that problem. */
enum assay_status explanation_read(const char *path, hid_t in,
                                   const struct assay_problem *p,
                                   struct explanation **out,
                                   struct assay_error *err);

/* Of a sketch's payloads: the attribute and the group "payloads". Reading needs
 * problem and recipe of *s; ASSAY_FORMAT for counts that are not ones of them. */
enum assay_status run_payload_write(const char *path, hid_t in,
                                    const struct sketch *s,
                                    struct assay_error *err);
enum assay_status run_payload_read(const char *path, hid_t in, struct sketch *s,
                                   struct assay_error *err);

#endif
