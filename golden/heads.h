/* SPDX-License-Identifier: MIT
 *
 * Captured heads: tensors X.q, X.k and X.v of a file (golden/tensors.h: in
 * safetensors, HDF5 or a folder of .npy) become one case named <file stem>.<X>;
 * of a file that `assay export` wrote, those that its metadata name, by these
 * names. A file X.q.npy stands for itself, X.k.npy and X.v.npy, named X.
 */
#ifndef ASSAY_HEADS_H
#define ASSAY_HEADS_H

#include "golden/set.h"

struct heads_options {
    const char *layout; /* as of golden/layout.h; NULL: the file's metadata
                           "layout", else hsd, and four axes are refused */
    bool has_mask;      /* else the file's metadata "causal" */
    enum assay_mask mask;
    bool has_scale; /* else metadata "softmax_scale", else 1/sqrt(dk) */
    double scale;
};

struct heads;

/* Opens a file and checks names, element types, shapes, mask and scale of
 * every head in it, so that nothing but reading can fail later. */
enum assay_status heads_open(const char *path,
                             const struct heads_options *options,
                             struct heads **out, struct assay_error *err);
void heads_close(struct heads *h);

size_t heads_count(const struct heads *h);
const char *heads_case_name(const struct heads *h, size_t i); /* the heads' */
const struct assay_problem *heads_problem(const struct heads *h, size_t i);

/* Reads one head's words into BSHD. An input that is not finite is
 * ASSAY_FORMAT, with the first place. */
enum assay_status heads_read(const struct heads *h, size_t i,
                             struct assay_case *out, struct assay_error *err);

#endif
