/* SPDX-License-Identifier: MIT
 *
 * The devices of this machine, asked for in child processes: one a kind, so
 * that a driver that hangs or crashes hides no other.
 */
#ifndef ASSAY_DEVICE_LIST_H
#define ASSAY_DEVICE_LIST_H

#include "validate/device.h"

struct device_entry {
    enum assay_kernel_device kind;
    int index; /* -1: none of that kind, and note says why */
    struct device_facts facts;
    char note[320];
};

enum { DEVICES_MAX = 64 };

struct device_list {
    int count;
    struct device_entry entries[DEVICES_MAX];
};

/* Adds those of one kind, or the one of that index (-1: all); one entry more
 * says what stands in the way. */
void device_list_add(struct device_list *list, enum assay_kernel_device kind,
                     int index, double timeout_s);

/* All of them, in the order of device.def; each kind is waited for at most
 * that long. Valid until the next call. */
const struct device_list *device_list(double timeout_s);

#endif
