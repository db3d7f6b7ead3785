/* SPDX-License-Identifier: MIT
 *
 * Input files that are read byte by byte: with pread, never mmap, so that a
 * file that is cut while it is open gives an error, not a signal. Sentences
 * say what is wrong; the caller puts the path in front.
 */
#ifndef ASSAY_INPUT_H
#define ASSAY_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "assay/error.h"

/* A path for a message: its tail, where the file's own name is. */
struct input_path {
    char s[256];
};
struct input_path input_path(const char *path);

/* Opens a regular file; anything else is ASSAY_FILE. *fd is the caller's to
 * close where it is not -1, after a failure too. */
enum assay_status input_open(const char *path, int *fd, int64_t *file_bytes,
                             struct assay_error *err);

/* All of `bytes` at `offset`, or ASSAY_FILE. */
enum assay_status input_read_at(int fd, int64_t offset, void *buffer,
                                size_t bytes, struct assay_error *err);

#endif
