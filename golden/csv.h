/* SPDX-License-Identifier: MIT
 *
 * Comma-separated values: RFC 4180, but lines end in a newline.
 * A cell is never empty: csv_number(NAN) for a figure that is not there,
 * csv_word(NULL) for a word.
 */
#ifndef ASSAY_CSV_H
#define ASSAY_CSV_H

#include <stdbool.h>
#include <stdio.h>

struct csv {
    FILE *out;
    bool begun; /* a cell of the line is there */
};

/* The next cell of a line; quoted where needed, and cleaned as term_plain does:
 * a record is a line. A text that begins with = + - or @, after any
 * apostrophes, gets one in front: programs for tables would run it as a
 * formula. "-" does not, which is no formula. */
void csv_text(struct csv *csv, const char *text);
/* The same, and "-" for NULL or nothing. */
void csv_word(struct csv *csv, const char *text);
/* In full precision, and nothing in front; "nan", "inf" and "-inf" for what is
 * not finite. */
void csv_number(struct csv *csv, double value);
void csv_end_line(struct csv *csv);

#endif
