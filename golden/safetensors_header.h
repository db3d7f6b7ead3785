/* SPDX-License-Identifier: MIT
 *
 * What the two sources of the safetensors reader share.
 */
#ifndef ASSAY_SAFETENSORS_HEADER_H
#define ASSAY_SAFETENSORS_HEADER_H

#include <jansson.h>

#include "golden/safetensors.h"

#define SAFETENSORS_METADATA "__metadata__"

struct safetensors_entry {
    struct assay_safetensors_tensor tensor;
    int64_t begin, end; /* bytes of the data, which start at data_begin */
};

struct assay_safetensors {
    int fd;
    char *path;
    int64_t data_begin, data_bytes;
    json_t *root;                      /* owns all names and metadata */
    struct safetensors_entry *entries; /* in name order once open */
    size_t n_entries;
};

/* Words for a message. */
struct safetensors_text {
    char s[256];
};

/* The file's own words: escaped, and cut between characters. */
struct safetensors_text safetensors_show(const char *words);

/* Reads the header of an open file and checks each tensor by itself; what
 * they are together is not looked at. Sets root, the entries in the order of
 * the header, and where the data are. */
enum assay_status safetensors_read_header(struct assay_safetensors *file,
                                          int64_t file_bytes,
                                          struct assay_error *err);

#endif
