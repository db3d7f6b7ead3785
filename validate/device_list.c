/* SPDX-License-Identifier: MIT */
#include "validate/device_list.h"

#include <stdio.h>

#include "golden/child.h"

/* Shared with a child. */
struct asking {
    enum assay_kernel_device kind;
    int index; /* -1: all */
    struct device_list found;
    char said[128]; /* of the kind as a whole; empty: all was told */
    bool done;
};

/* In the child. */
static void ask(void *context)
{
    struct asking *a = context;
    struct device d;
    int count = 0;
    child_close_others(NULL, 0);
    if (!device_load(a->kind, &d) || !d.calls->count(&d, &count))
        snprintf(a->said, sizeof a->said, "%s", d.said);
    for (int i = 0; i < count && i < DEVICES_MAX; i++) {
        struct device_entry *e = &a->found.entries[a->found.count];
        if (a->index >= 0 && a->index != i)
            continue;
        e->kind = a->kind;
        e->index = i;
        if (!device_open(a->kind, i, &d) || !d.calls->facts(&d, &e->facts))
            snprintf(e->note, sizeof e->note, "%s", d.said);
        a->found.count++;
    }
    a->done = true;
}

static void add(struct device_list *list, const struct device_entry *e)
{
    if (list->count < DEVICES_MAX)
        list->entries[list->count++] = *e;
}

void device_list_add(struct device_list *list, enum assay_kernel_device kind,
                     int index, double timeout_s)
{
    struct device_entry none = { .kind = kind, .index = -1 };
    struct asking *a = NULL;
    struct child_outcome end;
    struct assay_error err;
    if (child_share(sizeof *a, &a, &err) != ASSAY_OK) {
        snprintf(none.note, sizeof none.note, "%.300s", err.text);
        add(list, &none);
        return;
    }
    a->kind = kind;
    a->index = index;
    if (child_run(ask, a, timeout_s, &end, &err) != ASSAY_OK)
        snprintf(none.note, sizeof none.note, "%.300s", err.text);
    else if (end.end != CHILD_RETURNED || !a->done)
        child_describe(&end, none.note, sizeof none.note);
    else
        snprintf(none.note, sizeof none.note, "%s", a->said);
    for (int i = 0; i < a->found.count && i < DEVICES_MAX; i++)
        add(list, &a->found.entries[i]);
    if (none.note[0])
        add(list, &none);
    child_unshare(a, sizeof *a);
}

const struct device_list *device_list(double timeout_s)
{
    static struct device_list list;
    list.count = 0;
    for (int k = 0; k < DEVICE_KINDS; k++)
        device_list_add(&list, (enum assay_kernel_device)k, -1, timeout_s);
    return &list;
}
