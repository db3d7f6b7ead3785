/* SPDX-License-Identifier: MIT */
#include "golden/file_hash.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static enum assay_status add_file(const char *path, XXH3_state_t *state,
                                  struct assay_error *err)
{
    int fd;
    int64_t bytes;
    enum assay_status st = input_open(path, &fd, &bytes, err);
    if (st == ASSAY_OK)
        st = add_all(fd, bytes, state, err);
    if (fd >= 0)
        close(fd);
    return st;
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* Names and bytes of its files, in the order of names. */
static enum assay_status add_folder(const char *path, XXH3_state_t *state,
                                    struct assay_error *err)
{
    struct dirent **entries;
    char file[4096];
    enum assay_status st = ASSAY_OK;
    const int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        return assay_fail(err, ASSAY_FILE, "%.300s: cannot be read: %s", path,
                          strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (snprintf(file, sizeof file, "%s/%s", path, name) >=
            (int)sizeof file)
            st = assay_fail(err, ASSAY_FILE, "%.300s: its name is too long",
                            path);
        if (st == ASSAY_OK && !is_folder(file)) {
            XXH3_128bits_update(state, name, strlen(name) + 1);
            st = add_file(file, state, err);
        }
        free(entries[i]);
    }
    free(entries);
    return st;
}

enum assay_status file_hash(const char *path, char hash[FILE_HASH_CHARS + 1],
                            struct assay_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a hash");
    XXH3_128bits_reset(state);
    enum assay_status st = is_folder(path) ? add_folder(path, state, err)
                                           : add_file(path, state, err);
    if (st == ASSAY_OK) {
        const XXH128_hash_t h = XXH3_128bits_digest(state);
        snprintf(hash, FILE_HASH_CHARS + 1, "%016" PRIx64 "%016" PRIx64,
                 (uint64_t)h.high64, (uint64_t)h.low64);
    }
    XXH3_freeState(state);
    return st;
}
