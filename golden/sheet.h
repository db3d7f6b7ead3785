/* SPDX-License-Identifier: MIT
 *
 * A table that is filled from left to right, printed to stdout for a terminal
 * or as Markdown.
 */
#ifndef ASSAY_SHEET_H
#define ASSAY_SHEET_H

#include "golden/term.h"

struct sheet {
    struct table *table; /* NULL: Markdown, or out of memory */
    size_t column, columns;
    bool markdown, failed;
};

/* Starts a table of n columns under a line of text. */
void sheet_begin(struct sheet *s, bool markdown, const char *title,
                 const struct column *columns, size_t n);

/* The next cell; after the last column a new row begins. */
void sheet_cell(struct sheet *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a number by a format of one double; "-" if it is NaN. */
void sheet_number(struct sheet *s, const char *format, double value);

/* Prints what is not printed yet, and an empty line; false when something
 * failed. The sheet can begin again. */
bool sheet_end(struct sheet *s);

#endif
