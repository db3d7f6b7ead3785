/* SPDX-License-Identifier: MIT
 *
 * Status codes and the error record that every fallible call fills.
 */
#ifndef ASSAY_ERROR_H
#define ASSAY_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ASSAY_API __attribute__((visibility("default")))
#define ASSAY_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define ASSAY_API
#define ASSAY_PRINTF(at, first)
#endif

enum assay_status {
#define ASSAY_STATUS(id, number, text, exit_code) ASSAY_##id = number,
#include "assay/status.def"
#undef ASSAY_STATUS
};

/* Filled on failure, left alone on success. The caller's; may be NULL. */
struct assay_error {
    enum assay_status status;
    char text[512]; /* one sentence with names and numbers, no full stop */
};

/* Writes the sentence and returns `status`, so that
 * `return assay_fail(err, ASSAY_SHAPE, "...", ...)` reads well. */
ASSAY_API enum assay_status assay_fail(struct assay_error *err,
                                       enum assay_status status,
                                       const char *format, ...)
    ASSAY_PRINTF(3, 4);

/* Puts "context: " in front of the sentence already there and returns its
 * status; for callers that know the file or the case. */
ASSAY_API enum assay_status assay_fail_in(struct assay_error *err,
                                          enum assay_status status,
                                          const char *format, ...)
    ASSAY_PRINTF(3, 4);

/* Static text of a status, and the exit code that the program gives it. */
ASSAY_API const char *assay_status_text(enum assay_status status);
ASSAY_API int assay_status_exit(enum assay_status status);

#ifdef __cplusplus
}
#endif
#endif
