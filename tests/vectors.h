/* SPDX-License-Identifier: MIT
 *
 * Datasets of the shared vectors: HDF5 files in vectors/ of the shared folder.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements as they are in the file, little-endian; free(bytes). */
struct vector {
    void *bytes;
    size_t size; /* bytes */
    int rank;
    uint64_t dims[4];
};

/* Whether there is such a file ("head_lm_dev.h5"); one line to stdout if
 * not, for a test that skips. */
bool vectors_present(const char *file);

/* Ends the test when the dataset is not there or cannot be read. */
void vector_read(const char *file, const char *name, struct vector *out);

#endif
