/* SPDX-License-Identifier: MIT
 *
 * Known failures, each with a link to where it is tracked:
 *
 *   {"schema": "assay-quarantine/1",
 *    "known": [{"kernel": "attention.e4m3", "case": "lm*", "recipe": "*",
 *               "verdict": "wrong", "tracker": "https://...", "reason": "...",
 *               "date": "2026-12-02"}]}
 *
 * kernel, case and recipe are selections and may be left out, the verdict too;
 * the last entry that fits holds. A known failure does not make a run fail; a
 * pass where one was expected is told.
 */
#ifndef ASSAY_QUARANTINE_H
#define ASSAY_QUARANTINE_H

#include <stdbool.h>

#include "golden/run_file.h"
#include "validate/result.h"

struct quarantine_entry {
    char *kernel, *cases, *recipe; /* NULL: all */
    char *verdict;                 /* NULL: any that is not pass */
    char *tracker, *reason;
    char date[11];
};

struct quarantine {
    struct quarantine_entry *entries;
    size_t count;
};

/* ASSAY_FILE, or ASSAY_USAGE with the entry and what is wrong: no tracker, no
 * reason, no date, a verdict that there is not. Free with quarantine_free, also
 * after a failure. */
enum assay_status quarantine_read(const char *path, struct quarantine *out,
                                  struct assay_error *err);
void quarantine_free(struct quarantine *q);

/* ASSAY_USAGE unless it names the verdict of a kernel that failed. */
enum assay_status quarantine_check_verdict(const char *name,
                                           struct assay_error *err);

/* What a record has of a known failure as an entry for all kernels, cases and
 * recipes; quarantine_entry_free and free it. ASSAY_MEMORY. */
enum assay_status quarantine_recorded(const struct run_known *known,
                                      struct quarantine_entry **out,
                                      struct assay_error *err);
/* What an entry holds; NULL is allowed. */
void quarantine_entry_free(struct quarantine_entry *e);

/* Whether an entry is for a result. The verdict of a result that passes or did
 * not run is not looked at. */
bool quarantine_fits(const struct quarantine_entry *e, const struct result *r);
/* The last such entry, or NULL. */
const struct quarantine_entry *quarantine_find(const struct quarantine *q,
                                               const struct result *r);

/* A known failure; a pass that was to be one. */
bool result_is_known(const struct result *r);
bool result_passed_unexpectedly(const struct result *r);

#endif
