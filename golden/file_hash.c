/* SPDX-License-Identifier: MIT */
#include "golden/file_hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

#include "golden/input.h"

static enum assay_status add_all(int fd, int64_t bytes, XXH3_state_t *state,
                                 struct assay_error *err)
{
    static char buffer[1 << 16];
    enum assay_status st = ASSAY_OK;
    for (int64_t at = 0; st == ASSAY_OK && at < bytes;) {
        const int64_t left = bytes - at;
        const size_t n =
            left < (int64_t)sizeof buffer ? (size_t)left : sizeof buffer;
        st = input_read_at(fd, at, buffer, n, err);
        if (st == ASSAY_OK)
            XXH3_128bits_update(state, buffer, n);
        at += (int64_t)n;
    }
    return st;
}

enum assay_status file_hash(const char *path, char hash[FILE_HASH_CHARS + 1],
                            struct assay_error *err)
{
    int fd;
    int64_t bytes;
    enum assay_status st = input_open(path, &fd, &bytes, err);
    XXH3_state_t *state = XXH3_createState();
    if (st == ASSAY_OK && !state)
        st = assay_fail(err, ASSAY_MEMORY, "no memory for a hash");
    if (st == ASSAY_OK) {
        XXH3_128bits_reset(state);
        st = add_all(fd, bytes, state, err);
    }
    if (st == ASSAY_OK) {
        const XXH128_hash_t h = XXH3_128bits_digest(state);
        snprintf(hash, FILE_HASH_CHARS + 1, "%016" PRIx64 "%016" PRIx64,
                 (uint64_t)h.high64, (uint64_t)h.low64);
    }
    XXH3_freeState(state);
    if (fd >= 0)
        close(fd);
    return st;
}
