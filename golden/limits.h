/* SPDX-License-Identifier: MIT
 *
 * Limits of gates from a file, each with its reason:
 *
 *   {"schema": "assay-limits/1",
 *    "limits": [{"gate": "lse", "limit": 1.5, "recipe": "mxfp4", "case": "lm*",
 *                "kernel": "*", "reason": "tile 16, see issue 12",
 *                "date": "2026-12-02"}]}
 *
 * recipe, case and kernel are selections (names and globs) and may be left
 * out. Where several entries are for a result, the last one holds.
 */
#ifndef ASSAY_LIMITS_H
#define ASSAY_LIMITS_H

#include <stddef.h>

#include "assay/error.h"

struct limits_entry {
    char gate[32];
    char *recipe, *cases, *kernel; /* NULL: all */
    double limit;                  /* at least 0 */
    char *reason;                  /* never blank */
    char date[11];                 /* YYYY-MM-DD */
};

struct limits_list {
    char *from; /* the file's name, for sentences */
    char *text; /* the JSON, as a golden set holds it */
    struct limits_entry *entries;
    size_t count;
};

/* Reads a file. ASSAY_FILE, or ASSAY_USAGE with the entry and what is wrong:
 * no reason, no date, a limit that is no number or below 0, an unknown key.
 * Whether gates are known is for who knows gates. Free with limits_list_free,
 * also after a failure. */
enum assay_status limits_read(const char *path, struct limits_list *out,
                              struct assay_error *err);

/* The same from the text of one; `from` names it. */
enum assay_status limits_parse(const char *from, const char *text,
                               struct limits_list *out,
                               struct assay_error *err);

void limits_list_free(struct limits_list *list);

#endif
