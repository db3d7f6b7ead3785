/* SPDX-License-Identifier: MIT
 *
 * .npy files: one array, little-endian, in C order. What is read is taken to
 * be hostile: nothing in it is believed before it is checked.
 *
 * Format: numpy/lib/format.py, versions 1.0, 2.0 and 3.0. 6 bytes of magic, 2
 * of version, the header's length in 2 bytes (4 from 2.0 on), a Python
 * dictionary, and the data, which end the file.
 */
#ifndef ASSAY_NPY_H
#define ASSAY_NPY_H

#include "golden/temp_file.h"

#include <stddef.h>
#include <stdint.h>

enum { NPY_MAX_RANK = 32, NPY_MAX_HEADER_BYTES = 1 << 20 };

enum npy_type_id {
#define NPY_TYPE(id, ...) NPY_##id,
#include "golden/npy_type.def"
#undef NPY_TYPE
    NPY_TYPES
};

struct npy_type {
    enum npy_type_id id;
    const char *descr;
    size_t bytes; /* of one element */
};

/* Last axis fastest. Rank 0 is one element. */
struct npy {
    const struct npy_type *type;
    int rank;
    int64_t shape[NPY_MAX_RANK]; /* each >= 0; any product of them fits */
    int64_t count;
    void *data; /* free with assay_free */
};

/* Rows; static. */
const struct npy_type *npy_type_get(enum npy_type_id id);

/* A shape for messages, as Python writes it; cut where it is long. */
struct npy_text {
    char s[160];
};
struct npy_text npy_shape_text(int rank, const int64_t *shape);

/* Type, rank, shape and count of the `n` bytes of a header's dictionary; what
 * is not read (big-endian, Fortran order, other types) is ASSAY_FORMAT. */
enum assay_status npy_parse(const char *text, size_t n, struct npy *out,
                            struct assay_error *err);

/* Product of a shape times the bytes of one element into *bytes. ASSAY_SHAPE
 * if it does not fit, also where only a 0 among the sizes makes it small. */
enum assay_status npy_count(int rank, const int64_t *shape, size_t element,
                            int64_t *count, struct assay_error *err);

/* Reads a file. ASSAY_FILE: cannot be read; ASSAY_FORMAT: is not what it says.
 * Sizes are checked against the file's before anything is allocated. */
enum assay_status npy_read(const char *path, struct npy *out,
                           struct assay_error *err);

/* Writes version 1.0, the data at a multiple of 64. */
enum assay_status npy_write(const struct temp_file *file, const struct npy *npy,
                            struct assay_error *err);

#endif
