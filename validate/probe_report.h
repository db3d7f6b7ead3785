/* SPDX-License-Identifier: MIT
 *
 * What probes found, for people and programs.
 */
#ifndef ASSAY_PROBE_REPORT_H
#define ASSAY_PROBE_REPORT_H

#include "validate/probe.h"

enum probe_format {
    PROBE_TABLE,
    PROBE_JSON,
    PROBE_CSV,
    PROBE_MARKDOWN,
    PROBE_FORMATS
};
extern const char *const probe_format_names[PROBE_FORMATS];

struct probe_report {
    const char *set_path, *set_hash, *module;
    const struct probe_finding *findings;
    size_t count;
};

/* To stdout; what could not be written shows in its state. ASSAY_MEMORY. */
enum assay_status probe_report_print(const struct probe_report *r,
                                     enum probe_format format,
                                     struct assay_error *err);

/* 1 where anything was found, else 3 where a kernel crashed or hung, else 0
 * where any came through clean, else 77. */
int probe_report_exit(const struct probe_report *r);

#endif
