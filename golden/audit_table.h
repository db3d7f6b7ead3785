/* SPDX-License-Identifier: MIT
 *
 * Private to the verb audit: its tables, one by one, for a stream or a page.
 */
#ifndef ASSAY_AUDIT_TABLE_H
#define ASSAY_AUDIT_TABLE_H

#include "golden/audit_figure.h"
#include "golden/sheet.h"

struct audit_tables {
    const struct audit_report *report;
    struct sheet_to to;
    bool ok; /* false when out of memory */
};

/* In a page without their headings. Lines are audit_lines(). */
void audit_table_cases(struct audit_tables *t);
void audit_table_results(struct audit_tables *t);
void audit_table_operands(struct audit_tables *t);
void audit_table_stages(struct audit_tables *t);
void audit_table_transports(struct audit_tables *t,
                            const struct audit_line *lines, size_t n);
void audit_table_worst(struct audit_tables *t, const struct audit_line *lines,
                       size_t n);
void audit_table_ranking(struct audit_tables *t, const struct audit_line *lines,
                         size_t n);
/* What the heads of columns stand for. */
void audit_table_legend(const struct audit_tables *t);

bool audit_any_transport(const struct audit_line *lines, size_t n);

/* The median over cases of one of the four figures of a stage; NaN if there
 * are none. Room is for a number a case. */
double audit_stage_median(const struct audit_report *report,
                          const struct assay_recipe *recipe, int stage,
                          bool alone, bool lse, double *room);

#endif
