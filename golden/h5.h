/* SPDX-License-Identifier: MIT
 *
 * The only place that calls libhdf5. Bytes go to and from files as they are:
 * the library's own conversions narrow floats wrongly (1.10.8), so file and
 * memory types are always the same.
 */
#ifndef ASSAY_H5_H
#define ASSAY_H5_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/error.h"

/* Element types of datasets; always little-endian in the file. */
enum h5_type { H5_U8, H5_I8, H5_U16, H5_U32, H5_F32, H5_F64 };

enum { H5_MAX_RANK = 8, H5_HASH_CHARS = 32 };

struct h5_shape {
    int rank;
    hsize_t dims[H5_MAX_RANK];
};

size_t h5_type_bytes(enum h5_type type);
const char *h5_type_name(enum h5_type type);
int64_t h5_shape_count(const struct h5_shape *shape);

/* Silences libhdf5's own messages and its exit handler; call first. */
void h5_init(void);

/* ASSAY_FILE with "path: what: the library's innermost reason". */
enum assay_status h5_fail(struct assay_error *err, const char *path,
                          const char *what);

/* Files and groups. Every id returned is the caller's to close. */
enum assay_status h5_create_file(const char *path, hid_t *file,
                                 struct assay_error *err);
enum assay_status h5_open_file(const char *path, hid_t *file,
                               struct assay_error *err);
enum assay_status h5_create_group(const char *path, hid_t in, const char *name,
                                  hid_t *group, struct assay_error *err);
enum assay_status h5_open_group(const char *path, hid_t in, const char *name,
                                hid_t *group, struct assay_error *err);
/* Closes if open, and marks the id as closed. */
void h5_close_group(hid_t *id);

/* ASSAY_FORMAT unless `name`, one or more links deep, is an object of that
 * kind in this very file: soft and external links could name other files, or
 * themselves. */
enum assay_status h5_check_link(const char *path, hid_t in, const char *name,
                                H5O_type_t kind, struct assay_error *err);

/* Whether there is a link of that name, whatever it leads to. */
bool h5_has_link(hid_t in, const char *name);

/* Names of the links of a group in the order of their bytes; free each and
 * the array with h5_free_names. */
enum assay_status h5_list(const char *path, hid_t group, char ***names,
                          size_t *count, struct assay_error *err);
void h5_free_names(char **names, size_t count);

/* Attributes: fixed-length UTF-8 strings, int64 and binary64. Reading takes
 * any string, padded as it may be, and any integer or float width. The string
 * read is the caller's to free(). */
enum assay_status h5_write_text(const char *path, hid_t at, const char *name,
                                const char *text, struct assay_error *err);
/* The same in place of one that may be there. */
enum assay_status h5_replace_text(const char *path, hid_t at, const char *name,
                                  const char *text, struct assay_error *err);
enum assay_status h5_write_int(const char *path, hid_t at, const char *name,
                               int64_t value, struct assay_error *err);
enum assay_status h5_write_real(const char *path, hid_t at, const char *name,
                                double value, struct assay_error *err);
bool h5_has_attribute(hid_t at, const char *name);
enum assay_status h5_read_text(const char *path, hid_t at, const char *name,
                               char **text, struct assay_error *err);
enum assay_status h5_read_int(const char *path, hid_t at, const char *name,
                              int64_t *value, struct assay_error *err);
enum assay_status h5_read_real(const char *path, hid_t at, const char *name,
                               double *value, struct assay_error *err);

/* XXH3-128 of bytes as the attribute H5_HASH_NAME of a dataset has it. */
#define H5_HASH_NAME "xxh3_128"
void h5_hash(const void *data, size_t bytes, char hex[H5_HASH_CHARS + 1]);
/* ASSAY_FORMAT unless the open dataset `set` says that its data have the hash
 * of these bytes. */
enum assay_status h5_check_hash(const char *path, const char *name, hid_t set,
                                const void *data, size_t bytes,
                                struct assay_error *err);

/* Writes a contiguous dataset with its hash; intermediate groups are made.
 * `format` becomes an attribute unless NULL. */
enum assay_status h5_write_data(const char *path, hid_t in, const char *name,
                                enum h5_type type, const struct h5_shape *shape,
                                const char *format, const void *data,
                                struct assay_error *err);

/* Type and shape of a dataset, checked to be one of ours and whole: every
 * byte allocated, none past the end of the file. */
enum assay_status h5_data_info(const char *path, hid_t in, const char *name,
                               enum h5_type *type, struct h5_shape *shape,
                               struct assay_error *err);

/* Reads a dataset that must have this type and shape into the caller's buffer
 * and checks its hash. */
enum assay_status h5_read_data(const char *path, hid_t in, const char *name,
                               enum h5_type type, const struct h5_shape *shape,
                               void *data, struct assay_error *err);

/* The same of a dataset that somebody else wrote, which has no hash. */
enum assay_status h5_read_bare(const char *path, hid_t in, const char *name,
                               enum h5_type type, const struct h5_shape *shape,
                               void *data, struct assay_error *err);

/* Value of a dataset's attribute "format"; free(). */
enum assay_status h5_data_format(const char *path, hid_t in, const char *name,
                                 char **format, struct assay_error *err);

/* Another text attribute of a dataset that is there. Reading gives NULL where
 * it has none of that name; else free(). */
enum assay_status h5_write_data_text(const char *path, hid_t in,
                                     const char *name, const char *key,
                                     const char *text, struct assay_error *err);
enum assay_status h5_read_data_text(const char *path, hid_t in,
                                    const char *name, const char *key,
                                    char **text, struct assay_error *err);

/* Hash of names, attributes, types, shapes and data hashes under a group,
 * independent of the order they were written in. */
enum assay_status h5_content_hash(const char *path, hid_t in, const char *group,
                                  char hex[H5_HASH_CHARS + 1],
                                  struct assay_error *err);

/* Reads every dataset under a group and checks its hash. `each` is told of
 * each dataset's path below `group`, with NULL or what is wrong. Returns the
 * first failure, after all have been looked at. */
enum assay_status h5_check_hashes(const char *path, hid_t in, const char *group,
                                  void (*each)(void *context, const char *name,
                                               const char *wrong),
                                  void *context, struct assay_error *err);

#endif
