/* SPDX-License-Identifier: MIT
 *
 * One allocator: 64-byte aligned, the product of sizes checked.
 */
#ifndef ASSAY_MEMORY_H
#define ASSAY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* count x bytes of uninitialised memory into *out, to be freed by
 * assay_free; at least one byte, so *out is never NULL on success. `what`
 * names it in the sentence of ASSAY_MEMORY. */
ASSAY_API enum assay_status assay_alloc(const char *what, int64_t count,
                                        size_t bytes, void *out,
                                        struct assay_error *err);
ASSAY_API void assay_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif
