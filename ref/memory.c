/* SPDX-License-Identifier: MIT */
#include "assay/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

enum assay_status assay_alloc(const char *what, int64_t count, size_t bytes,
                              void *out, struct assay_error *err)
{
    size_t n;
    void *memory = NULL;
    if (count < 0 || __builtin_mul_overflow((size_t)count, bytes, &n) ||
        n > PTRDIFF_MAX - ALIGN || posix_memalign(&memory, ALIGN, n + !n) != 0)
        return assay_fail(err, ASSAY_MEMORY,
                          "no memory for %s: %" PRId64 " x %zu bytes", what,
                          count, bytes);
    memcpy(out, &memory, sizeof memory);
    return ASSAY_OK;
}

void assay_free(void *memory)
{
    free(memory);
}
