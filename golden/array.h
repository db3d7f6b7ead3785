/* SPDX-License-Identifier: MIT
 *
 * Arrays in files: .npy by its suffix, anything else raw little-endian words
 * without a header. "-" is standard input or output, raw.
 */
#ifndef ASSAY_ARRAY_H
#define ASSAY_ARRAY_H

#include <stdbool.h>

#include "golden/npy.h"

/* A raw file is read as u1 of rank 1: it says nothing of its elements. */
struct array {
    struct npy npy;
    bool raw;
};

bool array_is_npy(const char *path);
bool array_is_stream(const char *path); /* "-" */

/* Reads all of a file; the path is in every sentence. Free with array_free,
 * also after a failure. */
enum assay_status array_read(const char *path, struct array *out,
                             struct assay_error *err);
void array_free(struct array *a);

/* Begins, writes and flushes `path`, which then waits for temp_file_commit;
 * nothing is left of it after a failure. Not for a stream. */
enum assay_status array_write(const char *path, const struct npy *npy,
                              struct temp_file *file, struct assay_error *err);

/* Name for messages. */
const char *array_name(const char *path);

#endif
