/* SPDX-License-Identifier: MIT
 *
 * The driver of kernel modules: each run has a child of its own on the host,
 * unless it is to share one.
 */
#include <stdio.h>
#include <unistd.h>

#include "validate/device_list.h"
#include "validate/module.h"
#include "validate/run_case.h"
#include "validate/worker.h"

static int device_index(const struct driver *d)
{
    enum assay_kernel_device kind;
    int index = 0;
    if (d->device)
        device_parse(d->device, &kind, &index);
    return index;
}

static enum assay_status run(struct driver *d, const struct driver_run *r,
                             bool *ran, struct candidate *out,
                             struct result *result, struct assay_error *err)
{
    const bool stays =
        r->process != DRIVER_OWN_CHILD || d->info->device != ASSAY_KERNEL_HOST;
    const struct run_request request = {
        .module = d->info,
        .kernel = r->kernel,
        .input = (enum assay_kernel_input)r->input,
        .c = r->c,
        .answer = r->answer,
        .timeout_s = r->timeout_s,
        .number = r->number,
        .device_index = device_index(d),
        .memory_limit = d->memory_limit,
        .worker = stays ? d->own : NULL,
        .at_start = r->at_start,
        .workspace_flip = r->workspace_flip,
        .workspace_stays = r->workspace_stays,
        .traffic = r->traffic,
        .graph = r->graph,
    };
    if (r->process == DRIVER_NEW_CHILD)
        worker_stop(d->own);
    return run_case(&request, ran, out, result, err);
}

static void close_module(struct driver *d)
{
    worker_free(d->own);
    module_info_free(d->info);
}

/* A GPU and its versions belong to what a result says. */
static void say_where(struct driver_info *info, int index, double timeout_s)
{
    static struct device_list list;
    const struct device_entry *e = NULL;
    if (info->device == ASSAY_KERNEL_HOST) /* said by module_ask() */
        return;
    list.count = 0;
    device_list_add(&list, info->device, index, timeout_s);
    for (int i = 0; i < list.count; i++)
        if (list.entries[i].index == index)
            e = &list.entries[i];
    snprintf(info->where, sizeof info->where, "%s:%d",
             device_name(info->device), index);
    if (e && !e->note[0])
        snprintf(info->where, sizeof info->where,
                 "%s:%d %.60s %.30s, driver %.20s, runtime %.20s",
                 device_name(info->device), index, e->facts.name, e->facts.arch,
                 e->facts.driver, e->facts.runtime);
}

enum assay_status driver_open_MODULE(const char *what, double timeout_s,
                                     struct driver *out,
                                     struct assay_error *err)
{
    enum assay_kernel_device kind = ASSAY_KERNEL_HOST;
    char path[4096];
    int index = 0;
    if (out->device && !device_parse(out->device, &kind, &index))
        return assay_fail(err, ASSAY_USAGE,
                          "device \"%.40s\" is none of host, hip, cuda, hip:N "
                          "and cuda:N",
                          out->device);
    module_builtin_path(device_module(kind), path, sizeof path);
    out->run = run;
    out->close = close_module;
    if (!what && access(path, F_OK) != 0)
        return assay_fail(err, ASSAY_FILE,
                          "%s: is not there: no kernels for %s were built "
                          "(configure --with-devices has the list); --module "
                          "takes others",
                          path, device_name(kind));
    enum assay_status st =
        module_ask(what ? what : path, timeout_s, &out->info, err);
    if (st != ASSAY_OK)
        return st;
    if (out->device && out->info->device != kind)
        return assay_fail(
            err, ASSAY_USAGE, "%s: is a module for %s, and --device is %.40s",
            out->info->path, device_name(out->info->device), out->device);
    say_where(out->info, index, timeout_s);
    struct worker *worker;
    st = worker_new(&worker, err);
    out->own = worker;
    return st;
}
