/* SPDX-License-Identifier: MIT
 *
 * Where named tensors are written to: a safetensors file, which appears whole
 * or not at all, or a new folder of NAME.npy with metadata.json.
 */
#ifndef ASSAY_EXPORT_SINK_H
#define ASSAY_EXPORT_SINK_H

#include <jansson.h>

#include "golden/safetensors_write.h"
#include "golden/temp_file.h"

struct export_sink {
    char *path;
    bool folder;
    struct safetensors_part *parts; /* all that will be added, names owned */
    size_t count, space, added;
    json_t *metadata; /* object of strings */
    struct temp_file file;
    bool open;
};

/* The form is that of the path: one that ends in '/' is a folder, one that ends
 * in .safetensors the file; ASSAY_USAGE for another. */
enum assay_status export_sink_new(const char *path, struct export_sink *sink,
                                  struct assay_error *err);

/* Tensors are announced, in order, before the first is added. */
enum assay_status export_sink_announce(struct export_sink *sink,
                                       const struct safetensors_part *part,
                                       struct assay_error *err);
enum assay_status export_sink_begin(struct export_sink *sink,
                                    struct assay_error *err);
/* The next of those announced. ASSAY_INTERNAL where it is another. */
enum assay_status export_sink_add(struct export_sink *sink,
                                  const struct safetensors_part *part,
                                  const void *words, struct assay_error *err);
enum assay_status export_sink_commit(struct export_sink *sink,
                                     struct assay_error *err);

/* Frees the sink; what was not committed is removed, of a folder all but
 * what others put there. */
void export_sink_free(struct export_sink *sink);

#endif
