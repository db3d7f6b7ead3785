/* SPDX-License-Identifier: MIT
 *
 * The hash of a dataset, in a file of its own so that a harness can let every
 * hash pass and see what is behind it (tests/fuzz/h5_here.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "golden/h5.h"

void h5_hash(const void *data, size_t bytes, char hex[H5_HASH_CHARS + 1])
{
    const XXH128_hash_t hash = XXH3_128bits(data, bytes);
    snprintf(hex, H5_HASH_CHARS + 1, "%016" PRIx64 "%016" PRIx64,
             (uint64_t)hash.high64, (uint64_t)hash.low64);
}

enum assay_status h5_check_hash(const char *path, const char *name, hid_t set,
                                const void *data, size_t bytes,
                                struct assay_error *err)
{
    char hex[H5_HASH_CHARS + 1], *want = NULL;
    enum assay_status st = h5_read_text(path, set, H5_HASH_NAME, &want, err);
    if (st != ASSAY_OK)
        return assay_fail_in(err, st, "%s", name);
    h5_hash(data, bytes, hex);
    if (strcmp(hex, want) != 0)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: %s has hash %s, its attribute says %.40s: the "
                        "data have changed",
                        path, name, hex, want);
    free(want);
    return st;
}
