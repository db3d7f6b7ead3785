/* SPDX-License-Identifier: MIT
 *
 * Devices: where a kernel's memory is. A row of functions a device; all are
 * called in the child.
 */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/kernel.h"

struct device {
    enum assay_kernel_device kind;
    const char *name;
    /* Memory of the device, whole pages; NULL when there is none left. Lives
     * as long as the child. */
    void *(*alloc)(size_t bytes);
    bool (*fill)(void *at, int byte, size_t bytes);
    bool (*to_device)(void *to, const void *from, size_t bytes);
    bool (*from_device)(void *to, const void *from, size_t bytes);
    bool (*wait)(void); /* for everything launched */
};

/* The row of a device, or NULL: this program does not drive it. */
const struct device *device_find(enum assay_kernel_device kind);

/* The name of any device of the ABI, driven or not. */
const char *device_name(enum assay_kernel_device kind);

#endif
