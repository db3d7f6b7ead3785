/* SPDX-License-Identifier: MIT
 *
 * Private to the verb audit: what it measures of a case, and how that is told.
 */
#ifndef ASSAY_AUDIT_REPORT_H
#define ASSAY_AUDIT_REPORT_H

#include <stdio.h>

#include "assay/audit.h"
#include "golden/audit_transport.h"
#include "golden/set.h"

/* One recipe on one case. Behind a transport only the distances are there, and
 * the bits of q, k and v are those on the wire. */
struct audit_result {
    const struct assay_recipe *recipe;
    const struct audit_transport *transport; /* NULL: none */
    struct assay_audit figures;
    struct assay_distance *heads;    /* [hq], batches together */
    struct assay_stage_costs *costs; /* NULL where stages are not asked for */
};

struct audit_case {
    char *name, *source;
    struct assay_problem problem;
    const char *word;
    /* [hq], mean over those of rows 0, n_eff_every, 2 n_eff_every ... that see
     * a key; NaN if none does */
    double *n_eff;
    int64_t n_eff_every;
    struct audit_result *results;
    size_t n;
};

/* Products that n_eff may cost before rows are sampled. */
#define AUDIT_N_EFF_WORK 0x1p33

struct audit_options {
    const struct assay_recipe *const *recipes;
    size_t n_recipes;
    const struct audit_transport *transports;
    size_t n_transports;
    bool stages, f64; /* f64: sums of the exact answer, where none is held */
};

/* Measures the recipes that are defined for the case; the others are told on
 * stderr. `set` holds answers that need not be computed; NULL if none. The
 * first call of a case is for *out empty; free it also after a failure. */
struct audit_held {
    const struct assay_set *set;
    size_t index;
};
enum assay_status
audit_measure(const struct audit_options *options, const struct assay_case *c,
              const struct audit_held *held, const struct assay_run *run,
              struct audit_case *out, struct assay_error *err);
void audit_case_free(struct audit_case *c);

/* ---- reports ---- */

struct audit_report {
    const char *command;
    const struct audit_case *cases;
    size_t n_cases;
    const struct audit_options *options;
    int worst; /* heads told by name, of each recipe */
};

/* False when out of memory; the stream's errors are the caller's to see. */
bool audit_print_tables(const struct audit_report *report, bool markdown,
                        FILE *out);
bool audit_print_csv(const struct audit_report *report, FILE *out);
bool audit_print_json(const struct audit_report *report, FILE *out);
bool audit_print_html(const struct audit_report *report, FILE *out);

#endif
