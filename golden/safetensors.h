/* SPDX-License-Identifier: MIT
 *
 * Reads safetensors files, which are taken to be hostile: nothing in them is
 * believed before it is checked. Knows no tensor names and no meaning of
 * elements; that is for the importer of heads.
 *
 * Format: https://github.com/huggingface/safetensors, "Format" in README.md.
 * 8 bytes N (unsigned, little-endian), N bytes of JSON, then the data, in
 * which the tensors lie one after another without hole or overlap.
 */
#ifndef ASSAY_SAFETENSORS_H
#define ASSAY_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_SAFETENSORS_MAX_RANK 8
#define ASSAY_SAFETENSORS_MAX_HEADER_BYTES 100000000

enum assay_safetensors_dtype_id {
#define ASSAY_SAFETENSORS_DTYPE(id, name, bits) ASSAY_SAFETENSORS_##id,
#include "safetensors_dtype.def"
#undef ASSAY_SAFETENSORS_DTYPE
    ASSAY_SAFETENSORS_N_DTYPES
};

/* A row of safetensors_dtype.def; static. */
struct assay_safetensors_dtype {
    enum assay_safetensors_dtype_id id;
    const char *name;
    int bits;
};

/* One tensor. Belongs to the file and lives until the file is closed. */
struct assay_safetensors_tensor {
    const char *name; /* UTF-8, any characters but NUL, may be empty */
    const struct assay_safetensors_dtype *dtype;
    size_t index;                              /* place in name order */
    int rank;                                  /* 0 is a scalar */
    int64_t shape[ASSAY_SAFETENSORS_MAX_RANK]; /* each >= 0; may be 0 */
    size_t bytes; /* product of shape times bits, over 8; always exact */
};

struct assay_safetensors;

/*
 * Opens `path`, reads its header and checks all of it against the size of
 * the file. *file is the caller's to close; NULL after a failure. The data
 * are not read. The path is kept for messages, each of which begins with it
 * (its tail, if it is long).
 *
 * ASSAY_FILE: cannot be opened or read, or is no regular file.
 * ASSAY_FORMAT: the contents break a rule of the format or a limit above.
 * ASSAY_MEMORY: out of memory; JSON of N bytes may want some 20 N. (The JSON
 * library takes some of its own failures to allocate for bad JSON.)
 */
enum assay_status assay_safetensors_open(const char *path,
                                         struct assay_safetensors **file,
                                         struct assay_error *err);

/* Frees the file and all that it lent out. NULL is allowed. */
void assay_safetensors_close(struct assay_safetensors *file);

/* Value of `key` in __metadata__, or NULL when absent; the file's. */
const char *assay_safetensors_metadata(const struct assay_safetensors *file,
                                       const char *key);

/* Number of tensors; __metadata__ is none. */
size_t assay_safetensors_count(const struct assay_safetensors *file);

/*
 * The tensor at `index`, in order of the bytes of the names.
 * ASSAY_USAGE: index not below the count.
 */
enum assay_status
assay_safetensors_get(const struct assay_safetensors *file, size_t index,
                      const struct assay_safetensors_tensor **tensor,
                      struct assay_error *err);

/* The tensor of that name. ASSAY_FORMAT: the file has none. */
enum assay_status
assay_safetensors_find(const struct assay_safetensors *file, const char *name,
                       const struct assay_safetensors_tensor **tensor,
                       struct assay_error *err);

/*
 * Reads a tensor's bytes as stored: little-endian, last dimension fastest.
 * `tensor` is one that this file lent out; `buffer` is the caller's, may be
 * NULL if the tensor is empty, and holds rubbish after a failure.
 *
 * ASSAY_SHAPE: buffer_bytes is not tensor->bytes.
 * ASSAY_USAGE: the tensor is not of this file.
 * ASSAY_FILE: reading failed, or the file was cut since it was opened.
 */
enum assay_status
assay_safetensors_read(const struct assay_safetensors *file,
                       const struct assay_safetensors_tensor *tensor,
                       void *buffer, size_t buffer_bytes,
                       struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
