/* SPDX-License-Identifier: MIT
 *
 * What the forms of tensor files share: each opens a file into a list.
 */
#ifndef ASSAY_TENSORS_FORM_H
#define ASSAY_TENSORS_FORM_H

#include <jansson.h>

#include "golden/tensors.h"

struct tensors {
    char *path;
    struct tensor *list;
    size_t count;
    json_t *metadata; /* object of strings, or NULL */
    bool (*wanted)(const char *name);
    void *own; /* the form's */
    enum assay_status (*read)(const struct tensors *t, size_t i, void *data,
                              struct assay_error *err);
    void (*close)(struct tensors *t);
};

/* Room for `count` tensors; ASSAY_MEMORY. */
enum assay_status tensors_room(struct tensors *t, size_t count,
                               struct assay_error *err);
/* Adds one by its name, to what there is room for. ASSAY_FORMAT, with the path,
 * where it has too many axes or its size does not fit. */
enum assay_status tensors_add(struct tensors *t, const char *name,
                              const struct tensor *tensor, size_t elem_bytes,
                              struct assay_error *err);

bool tensors_wants(const struct tensors *t, const char *name);

/* The forms: each fills *t, whose path is set. */
enum assay_status tensors_open_safetensors(struct tensors *t,
                                           struct assay_error *err);
enum assay_status tensors_open_npy(struct tensors *t, struct assay_error *err);
enum assay_status tensors_open_three(struct tensors *t,
                                     struct assay_error *err);
enum assay_status tensors_open_folder(struct tensors *t,
                                      struct assay_error *err);
enum assay_status tensors_open_h5(struct tensors *t, struct assay_error *err);

#endif
