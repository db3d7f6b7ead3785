/* SPDX-License-Identifier: MIT
 *
 * Runs one kernel on one case in a child and brings back what it left.
 */
#ifndef ASSAY_RUN_CASE_H
#define ASSAY_RUN_CASE_H

#include "validate/driver.h"

struct run_request {
    const struct driver_info *module;
    size_t kernel; /* index in the module */
    enum assay_kernel_input input;
    const struct assay_case *c;
    const struct assay_answer *answer; /* payloads for packed input */
    double timeout_s;
    unsigned number; /* of the run; picks the poison */
    int device_index;
    size_t memory_limit;   /* of a kernel on the host; 0: the default */
    struct worker *worker; /* that runs it; NULL: a child of its own */
    bool at_start; /* on the host: inputs lie against the beginning of their
                      memory, not against its end */
    unsigned char workspace_flip; /* this and more as in struct driver_run */
    bool workspace_stays, traffic, graph;
};

/* Runs it; the rest as in struct driver. */
enum assay_status run_case(const struct run_request *request, bool *ran,
                           struct candidate *out, struct result *result,
                           struct assay_error *err);

#endif
