/* SPDX-License-Identifier: MIT */
#include "golden/run_layout.h"

#include <stdio.h>

static const struct run_column row_columns[] = {
#define RUN_COLUMN(kind, member) \
    { #member, RUN_##kind, offsetof(struct assay_row, member) },
#include "golden/run_row.def"
#undef RUN_COLUMN
};

static const struct run_column beyond_columns[] = {
#define RUN_COLUMN(kind, member) \
    { #member, RUN_##kind, offsetof(struct assay_row_beyond, member) },
#include "golden/run_beyond.def"
#undef RUN_COLUMN
};

#define COLUMNS_NONE \
    {                \
        NULL, 0, 0   \
    }
#define COLUMNS_ROW                                            \
    {                                                          \
        row_columns, sizeof row_columns / sizeof *row_columns, \
            sizeof(struct assay_row)                           \
    }
#define COLUMNS_BEYOND                                                  \
    {                                                                   \
        beyond_columns, sizeof beyond_columns / sizeof *beyond_columns, \
            sizeof(struct assay_row_beyond)                             \
    }

const struct run_array run_arrays[RUN_ARRAYS] = {
#define RUN_ARRAY(dataset, member, type, extent, columns)                \
    { dataset, offsetof(struct sketch, member), H5_##type, RUN_##extent, \
      COLUMNS_##columns },
#include "golden/run_array.def"
#undef RUN_ARRAY
};

struct h5_shape run_array_shape(const struct assay_problem *p,
                                const struct run_array *a)
{
    struct h5_shape shape =
        a->extent == RUN_ROWS ? shape_rows(p) : shape_heads(p);
    if (a->columns.count > 0)
        shape.dims[shape.rank++] = (hsize_t)a->columns.count;
    return shape;
}

void run_columns_text(const struct run_columns *c, char *text, size_t size)
{
    int at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < c->count && at >= 0 && (size_t)at < size; i++)
        at += snprintf(text + at, size - (size_t)at, "%s%s", i ? " " : "",
                       c->column[i].name);
}
