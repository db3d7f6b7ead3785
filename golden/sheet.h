/* SPDX-License-Identifier: MIT
 *
 * A table that is filled from left to right, printed for a terminal, as
 * Markdown or into a page.
 */
#ifndef ASSAY_SHEET_H
#define ASSAY_SHEET_H

#include "golden/html.h"

/* Bytes of a name of a place in a page. */
enum { SHEET_PLACE = 32 };

struct sheet {
    FILE *out;
    struct table *table; /* NULL: Markdown, or out of memory */
    size_t column, columns;
    bool markdown, failed;
    struct html *html; /* NULL: not into a page */
    char *last;        /* cell of the page: its colour comes after it, */
    enum colour colour;
    char here[SHEET_PLACE], to[SHEET_PLACE]; /* and its link; "": none */
};

/* Starts a table of n columns under a line of text, if there is one. */
void sheet_begin(struct sheet *s, FILE *out, bool markdown, const char *title,
                 const struct column *columns, size_t n);

/* Where tables go: a terminal, Markdown, or a page if html is there. */
struct sheet_to {
    FILE *out;
    bool markdown;
    struct html *html;
};
/* The same in any of them: in a page the title, if there is one, is a smaller
 * heading, and the columns live until the end. */
void sheet_open(struct sheet *s, const struct sheet_to *to, const char *title,
                const struct column *columns, size_t n);

/* The next cell; after the last column a new row begins. */
void sheet_cell(struct sheet *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a number by a format of one double; "-" if it is NaN. */
void sheet_number(struct sheet *s, const char *format, double value);

/* Colours the cell that came last, where there is colour. */
void sheet_colour(struct sheet *s, enum colour colour);

/* In a page #here leads to the cell that came last, and the cell to #to. */
void sheet_link(struct sheet *s, const char *here, const char *to);

/* Text of any kind in plain characters: no control characters, and in
 * Markdown nothing that would be read as more than text. */
void sheet_text(FILE *out, bool markdown, const char *text);

/* Prints what is not printed yet, and an empty line; false when something
 * failed. The sheet can begin again. */
bool sheet_end(struct sheet *s);

#endif
