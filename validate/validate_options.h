/* SPDX-License-Identifier: MIT
 *
 * What the command line of `assay validate` says.
 */
#ifndef ASSAY_VALIDATE_OPTIONS_H
#define ASSAY_VALIDATE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "validate/driver.h"
#include "validate/limits.h"
#include "validate/report.h"

struct validate_options {
    const char *file, *recipe, *cases, *kernel, *out, *record;
    enum driver_kind driver;
    const char *driver_option; /* as given, or NULL */
    const char *layout;        /* of outputs made elsewhere, or NULL */
    const char *device;        /* the same */
    unsigned inputs;           /* bits, as of a kernel */
    const char *timeout;       /* as given, or NULL */
    double timeout_s;
    size_t memory_limit; /* 0: the default */
    const struct report_format *format;
    struct limits limits;
    const char *quarantine;
    long runs; /* of each kernel on each case */
    bool rows;
};

/* Its input is struct validate_options, filled with the defaults. */
extern const struct argp validate_argp;
struct validate_options validate_options_default(void);

#endif
