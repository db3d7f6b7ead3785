/* SPDX-License-Identifier: MIT
 *
 * What people see: tables on stdout, progress on stderr. Widths follow the
 * terminal; colour and progress only on one; NO_COLOR is honoured.
 */
#ifndef ASSAY_TERM_H
#define ASSAY_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "golden/text.h"

/* -- progress bar with rate and time left; nothing unless on a terminal -- */
struct progress {
    char label[80];
    double start, shown; /* seconds */
    bool on;
};

void progress_begin(struct progress *p, const char *label);
/* Fits assay_run.progress, with the struct progress as context. */
void progress_step(void *context, int64_t done, int64_t total);
void progress_end(struct progress *p);

/* -- tables -- */
enum column_flags {
    COLUMN_TEXT = 0,
    COLUMN_NUMBER = 1,              /* to the right */
    COLUMN_LONG = 2,                /* cut where space is short */
    COLUMN_EXTRA = 4,               /* left out where space is shorter still */
    COLUMN_PROSE = 8 | COLUMN_LONG, /* cut at its end, others in the middle */
};
enum colour { COLOUR_NONE, COLOUR_GOOD, COLOUR_BAD, COLOUR_DIM };

struct column {
    const char *name;
    int flags; /* of enum column_flags */
};

struct table;

/* NULL when out of memory. */
struct table *table_new(const struct column *columns, size_t n);
/* A new row; cells are then set by column. Texts are copied. */
void table_row(struct table *t);
void table_text(struct table *t, size_t column, const char *text);
void table_printf(struct table *t, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void table_colour(struct table *t, size_t column, enum colour colour);
/* Prints to `out`; false when that failed. Frees the table either way. */
bool table_print(struct table *t, FILE *out);

/* Whether the character here is one that terminals obey: C0, DEL, or the
 * first of the two bytes of a C1 control in UTF-8. */
bool term_is_control(const char *c);

/* Puts '?' for each of them, for bytes that are no UTF-8, and for what has no
 * look of its own: see utf8_hidden. The text may become shorter. */
void term_plain(char *text);

/* As fprintf, with what has no look of its own shown as utf8_shown does it:
 * names come from files, and terminals obey control characters. One line,
 * whatever is in it: the end of a line stays where it ends the format. False
 * where that failed. */
bool term_printf(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Columns of the terminal that a stream goes to; 0 where it goes to none. */
int term_width(FILE *out);

/* Whether it shows more than ASCII. */
bool term_utf8(FILE *out);

/* Whether stdout takes colour. */
bool term_colour(FILE *out);

#endif
