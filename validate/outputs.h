/* SPDX-License-Identifier: MIT
 *
 * Private to the driver of outputs made elsewhere.
 */
#ifndef ASSAY_OUTPUTS_H
#define ASSAY_OUTPUTS_H

#include "golden/answer_tensor.h"
#include "validate/driver.h"
#include "validate/output_name.h"

/* What one kernel left on one case: tensors, NOT_THERE for none. */
enum { NOT_THERE = -1 };
struct output {
    size_t at, kernel;
    ptrdiff_t part[OUTPUT_PARTS];
};

struct outputs {
    struct tensors *file;
    struct output_cases cases;
    struct answer_axes axes;
    struct output *list;
    size_t count;
    bool has_lse[DRIVER_MAX_KERNELS]; /* of any case */
};

/* A member of the file's metadata as people may see it. */
void outputs_tell(const struct outputs *o, const char *key,
                  const char *otherwise, char *text, size_t size);

/* NULL: nothing of that kernel on that case. */
struct output *outputs_find(const struct outputs *o, size_t at, size_t kernel);

/* Finds out which tensor is what, and checks types and shapes. */
enum assay_status outputs_bind(struct driver *d, const struct driver_binding *b,
                               struct assay_error *err);

#endif
