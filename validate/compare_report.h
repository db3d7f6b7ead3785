/* SPDX-License-Identifier: MIT
 *
 * Private to what a comparison says: its tables, for a stream or a page.
 */
#ifndef ASSAY_COMPARE_REPORT_H
#define ASSAY_COMPARE_REPORT_H

#include "golden/sheet.h"
#include "validate/compare.h"

/* Each false when memory ran out; nothing where there is nothing to tell. */
bool compare_table_counts(const struct comparison *c,
                          const struct sheet_to *to);
bool compare_table_verdicts(const struct comparison *c,
                            const struct sheet_to *to);
bool compare_table_changes(const struct comparison *c, size_t most,
                           const struct sheet_to *to);
bool compare_table_times(const struct comparison *c, size_t most,
                         const struct sheet_to *to);

/* "A: path, module name, build" */
void compare_head_text(const char *name, const struct run_file *run, char *text,
                       size_t size);
/* "48 results: ..." */
void compare_counts_text(const struct comparison *c, char *text, size_t size);

/* As compare_print(). */
bool compare_html(const struct compare_report *r, FILE *out);

#endif
