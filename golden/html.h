/* SPDX-License-Identifier: MIT
 *
 * A page of one file: headings, tables and plots, with its style inside,
 * without scripts and without anything that is fetched. Every text may come
 * from a hostile file: what HTML would read something into is escaped, hidden
 * characters are shown as \u{202e}, bytes that are no UTF-8 as U+FFFD.
 *
 * Calls go from top to bottom; nothing can fail but the stream, which the
 * caller asks in the end.
 */
#ifndef ASSAY_HTML_H
#define ASSAY_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "golden/term.h"

struct html {
    FILE *out; /* the caller's */
    const struct column *columns;
    size_t n_columns, column;
    int plots;           /* so far: each has ids of its own */
    double plot_seconds; /* that one plot may take */
    char no_plots[200];  /* why there are none; "" while they work */
};

/* Starts a page; *h needs no other start. */
void html_begin(struct html *h, FILE *out, const char *title);
/* A line under the title: what was run, by what. */
void html_origin(struct html *h, const char *name, const char *value);
/* A heading that #anchor leads to, and a paragraph; NULL: none. */
void html_section(struct html *h, const char *anchor, const char *heading,
                  const char *paragraph);
/* A smaller heading. */
void html_heading(struct html *h, const char *heading);
/* A paragraph. */
void html_note(struct html *h, enum colour look, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A paragraph that #here leads to, and that leads to #to, a place of the same
 * page. Names of places are the program's own. */
void html_link(struct html *h, const char *here, const char *to,
               const char *text);
/* A line as it stands, for a shell. */
void html_code(struct html *h, const char *text);
/* What is shown when its summary is opened, or from the start. */
void html_details_begin(struct html *h, const char *summary, bool open);
void html_details_end(struct html *h);
void html_end(struct html *h);

/* A table, filled from left to right; after the last column a new row begins.
 * The columns must live until its end; of their flags COLUMN_NUMBER goes to
 * the right and COLUMN_LONG may be broken over lines. What is too wide scrolls
 * in a box of its own, the first column stays. */
void html_table_begin(struct html *h, const struct column *columns, size_t n);
void html_cell(struct html *h, enum colour look, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A cell that #here leads to, and that leads to #to. */
void html_cell_link(struct html *h, enum colour look, const char *here,
                    const char *to, const char *text);
/* A number by a format of one double. */
void html_number(struct html *h, enum colour look, const char *format,
                 double value);
/* "n/m" on a ground that is the stronger, the larger the share; "-" if m is
 * 0. For a matrix of what was rejected. */
void html_share(struct html *h, int64_t n, int64_t m);
/* A text on such a ground. */
void html_shaded(struct html *h, double share, enum colour look,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
void html_table_end(struct html *h);

/* The escaped text alone, for content and quoted attributes. */
void html_text(FILE *out, const char *text);

#endif
