/* SPDX-License-Identifier: MIT */
#include "validate/driver.h"

#include "assay/memory.h"
#include "validate/delivered.h"

static const struct driver_row rows[] = {
#define ASSAY_DRIVER(id, name, ...) { name, driver_open_##id },
#include "validate/driver.def"
#undef ASSAY_DRIVER
};

const struct driver_row *driver_get(enum driver_kind kind)
{
    return &rows[kind];
}

enum assay_status driver_open(enum driver_kind kind, const char *what,
                              const char *device, double timeout_s,
                              struct driver *out, struct assay_error *err)
{
    *out = (struct driver){ .kind = kind, .device = device };
    return rows[kind].open(what, timeout_s, out, err);
}

void driver_close(struct driver *d)
{
    if (d->close)
        d->close(d);
    *d = (struct driver){ 0 };
}

const char *driver_input_name(unsigned input)
{
    return input == ASSAY_KERNEL_RAW      ? "raw"
           : input == ASSAY_KERNEL_PACKED ? "packed"
                                          : "saved";
}

void candidate_free(struct candidate *c)
{
    assay_free((void *)c->o);
    assay_free((void *)c->lse);
    assay_free((void *)c->unwritten);
    delivered_free(c->delivered);
    *c = (struct candidate){ 0 };
}
