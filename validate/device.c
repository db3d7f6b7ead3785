/* SPDX-License-Identifier: MIT */
#include "validate/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/gpu_runtime.h"

static const struct row {
    const char *name, *module;
} rows[] = {
#define ASSAY_DEVICE(id, name, module) [ASSAY_KERNEL_##id] = { name, module },
#include "validate/device.def"
#undef ASSAY_DEVICE
};

_Static_assert(sizeof rows / sizeof *rows == DEVICE_KINDS,
               "as many as rows of device.def");

static bool is_known(enum assay_kernel_device kind)
{
    return (int)kind >= 0 && (int)kind < DEVICE_KINDS;
}

const char *device_name(enum assay_kernel_device kind)
{
    return is_known(kind) ? rows[kind].name : "unknown";
}

const char *device_module(enum assay_kernel_device kind)
{
    return rows[is_known(kind) ? kind : ASSAY_KERNEL_HOST].module;
}

bool device_parse(const char *text, enum assay_kernel_device *kind, int *index)
{
    const size_t n = strcspn(text, ":");
    char *end = "";
    long number = 0;
    if (text[n] && (text[n + 1] < '0' || text[n + 1] > '9'))
        return false;
    if (text[n])
        number = strtol(text + n + 1, &end, 10);
    if (*end || number > 4095)
        return false;
    for (int k = 0; k < DEVICE_KINDS; k++)
        if (strlen(rows[k].name) == n && strncmp(rows[k].name, text, n) == 0) {
            *kind = (enum assay_kernel_device)k;
            *index = (int)number;
            return true;
        }
    return false;
}

bool device_load(enum assay_kernel_device kind, struct device *d)
{
    *d = (struct device){ .kind = kind, .calls = &device_host };
    if (kind == ASSAY_KERNEL_HOST)
        return true;
    if (!is_known(kind)) {
        snprintf(d->said, sizeof d->said,
                 "device kind %d is not known to this program", (int)kind);
        return false;
    }
    d->calls = &device_gpu;
    d->gpu = gpu_runtime_load(kind, d->said, sizeof d->said);
    return d->gpu != NULL;
}

bool device_open(enum assay_kernel_device kind, int index, struct device *d)
{
    int count;
    if (!device_load(kind, d) || !d->calls->count(d, &count))
        return false;
    d->index = index;
    if (index >= 0 && index < count)
        return d->calls->open(d);
    snprintf(d->said, sizeof d->said, "there is no %s:%d, the last is %s:%d",
             device_name(kind), index, device_name(kind), count - 1);
    return false;
}
