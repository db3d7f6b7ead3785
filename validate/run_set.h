/* SPDX-License-Identifier: MIT
 *
 * The kernels of a driver on the cases of a golden set, one after another, each
 * judged and told as soon as it has run.
 */
#ifndef ASSAY_RUN_SET_H
#define ASSAY_RUN_SET_H

#include "golden/run_file.h"
#include "golden/term.h"
#include "validate/quarantine.h"
#include "validate/validate_options.h"

/* All but what came of it is the caller's. */
struct run_set {
    const struct validate_options *o;
    struct assay_set *set;
    struct driver *driver;
    const struct quarantine *quarantine;
    struct report *report; /* has the results that were told */
    struct report_file *file;
    struct run_file_writer *record; /* or NULL; abandoned where it cannot be
                                       written */
    struct assay_error no_record;   /* why it was, or ASSAY_OK */
    /* what came of it */
    struct result *results;
    size_t count, space, told;
    unsigned runs;
    struct progress progress;
    int64_t cases;
    int64_t runs_per_case; /* as far as the driver tells */
};

/* ASSAY_USAGE where --case, --recipe or --kernel name what is not there. */
enum assay_status run_set_check(struct run_set *v, struct assay_error *err);
/* What a kernel did is no error. */
enum assay_status run_set(struct run_set *v, struct assay_error *err);
/* Frees the results. */
void run_set_free(struct run_set *v);

#endif
