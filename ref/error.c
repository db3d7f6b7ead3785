/* SPDX-License-Identifier: MIT */
#include "assay/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ref/text.h"

static const struct {
    enum assay_status status;
    const char *text;
    int exit_code;
} rows[] = {
#define ASSAY_STATUS(id, number, text, exit_code) \
    { ASSAY_##id, text, exit_code },
#include "assay/status.def"
#undef ASSAY_STATUS
};

enum assay_status assay_fail(struct assay_error *err, enum assay_status status,
                             const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        assay_text_unsign_nan(format, err->text);
        va_end(args);
        err->status = status;
    }
    return status;
}

enum assay_status assay_fail_in(struct assay_error *err,
                                enum assay_status status, const char *format,
                                ...)
{
    if (err) {
        char old[sizeof err->text];
        memcpy(old, err->text, sizeof old);
        va_list args;
        va_start(args, format);
        int n = vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        if (n >= 0 && (size_t)n < sizeof err->text)
            snprintf(err->text + n, sizeof err->text - (size_t)n, ": %.*s",
                     (int)(sizeof err->text) - 2 - n, old);
        err->status = status;
    }
    return status;
}

const char *assay_status_text(enum assay_status status)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].text;
    return "unknown status";
}

int assay_status_exit(enum assay_status status)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].exit_code;
    return 99;
}
