/* SPDX-License-Identifier: MIT
 *
 * The driver of kernel modules: each run has a child of its own.
 */
#include <stdio.h>

#include "validate/device.h"
#include "validate/module.h"
#include "validate/run_case.h"

static enum assay_status run(struct driver *d, const struct driver_run *r,
                             bool *ran, struct candidate *out,
                             struct result *result, struct assay_error *err)
{
    const struct run_request request = {
        d->info,  r->kernel, (enum assay_kernel_input)r->input,
        r->c,     r->answer, r->timeout_s,
        r->number
    };
    if (device_find(d->info->device))
        return run_case(&request, ran, out, result, err);
    *ran = false;
    *out = (struct candidate){ 0 };
    result->verdict = VERDICT_NOT_RUN;
    snprintf(result->reason, sizeof result->reason,
             "the module is for %s, this program drives the host only",
             device_name(d->info->device));
    return ASSAY_OK;
}

static void close_module(struct driver *d)
{
    module_info_free(d->info);
}

enum assay_status driver_open_MODULE(const char *what, double timeout_s,
                                     struct driver *out,
                                     struct assay_error *err)
{
    char path[4096];
    module_builtin_path("assay-host", path, sizeof path);
    out->run = run;
    out->close = close_module;
    return module_ask(what ? what : path, timeout_s, &out->info, err);
}
