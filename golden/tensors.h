/* SPDX-License-Identifier: MIT
 *
 * Named tensors made elsewhere, in whatever form: a safetensors file, one .npy
 * file (its tensor has the name ""), a folder of NAME.npy, or an HDF5 file
 * whose root has datasets. All of it is hostile until checked.
 */
#ifndef ASSAY_TENSORS_H
#define ASSAY_TENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/error.h"

enum { TENSOR_MAX_RANK = 8 };

enum tensor_type {
    TENSOR_BF16,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_WORD, /* 16 bits; of which format is not said */
    TENSOR_OTHER
};

struct tensor {
    char *name; /* the file's */
    enum tensor_type type;
    const char *type_name; /* as the file says it; static */
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    size_t bytes; /* as stored; the shape's product fits */
};

struct tensors;

/* Reads names, types and shapes, and checks them against the file's size. What
 * `wanted` does not want is left out, so that it may be of a type that is not
 * read; NULL wants all. *out is the caller's to tensors_close, NULL after a
 * failure. ASSAY_FILE, ASSAY_FORMAT, ASSAY_MEMORY, with the path. */
enum assay_status tensors_open(const char *path,
                               bool (*wanted)(const char *name),
                               struct tensors **out, struct assay_error *err);
void tensors_close(struct tensors *t);

/* Whether a path ends in .q.npy, and the three tensors X.q, X.k and X.v of
 * such a path .../X.q.npy and its two neighbours. */
bool tensors_is_head(const char *path);
enum assay_status tensors_open_head(const char *path, struct tensors **out,
                                    struct assay_error *err);

const char *tensors_path(const struct tensors *t);
/* In the order of the bytes of their names. */
size_t tensors_count(const struct tensors *t);
const struct tensor *tensors_get(const struct tensors *t, size_t i);
/* The tensor of that name; false: there is none. */
bool tensors_find(const struct tensors *t, const char *name, size_t *i);
/* The file's metadata: __metadata__ of safetensors, metadata.json of a folder,
 * attributes of an HDF5 file's root. NULL: not there. */
const char *tensors_metadata(const struct tensors *t, const char *key);

/* Reads a tensor's words; assay_free what *out, a pointer to it, gets. */
enum assay_status tensors_read(const struct tensors *t, size_t i, void *out,
                               struct assay_error *err);

/* A shape as messages have it: "[3, 256, 128]". */
struct tensor_text {
    char s[200];
};
struct tensor_text tensor_shape_text(int rank, const int64_t *shape);

#endif
