/* SPDX-License-Identifier: MIT
 *
 * The tables of ref/ as rows of cells, for people and programs to read.
 */
#ifndef ASSAY_TOPIC_H
#define ASSAY_TOPIC_H

#include <stdbool.h>

#include "golden/names.h"

enum { TOPIC_COLUMNS = 16 };

enum topic_kind {
    TOPIC_NOTHING, /* the row has no such thing */
    TOPIC_TEXT,
    TOPIC_INTEGER,
    TOPIC_REAL,
    TOPIC_CODE,  /* an integer that people read in hexadecimal */
    TOPIC_BYTES, /* the same in GiB */
    TOPIC_FLAG
};

struct topic_cell {
    enum topic_kind kind;
    const char *text;
    long long integer; /* TOPIC_FLAG: 0 or 1 */
    double real;
};

struct topic_column {
    const char *key; /* in JSON; in tables in capitals */
    int flags;       /* of enum column_flags */
};

struct topic_row {
    int n;
    struct topic_cell cells[TOPIC_COLUMNS];
};

struct topic {
    const char *name, *about;
    int rows, columns;
    const struct topic_column *column;
    void (*fill)(int i, struct topic_row *row);
    /* Where the rows are not known before they are asked for, within about
     * that time; else NULL. */
    int (*ask)(double timeout_s);
};

/* Topics by name: rows of topic.def, then those added. Index -1 is the list of
 * them. */
const struct names *topic_names(void);
const struct topic *topic_get(int index);

/* Adds the table of a folder that golden/ does not know; `topic` stays the
 * caller's, for good. Before any is looked up; at most TOPICS_ADDED. */
enum { TOPICS_ADDED = 8 };
void topic_add(const struct topic *topic);

#endif
