/* SPDX-License-Identifier: MIT
 *
 * A cast from file to file: cast_input.c reads, cast_output.c writes.
 */
#ifndef ASSAY_CAST_FILE_H
#define ASSAY_CAST_FILE_H

#include "assay/pack.h"
#include "golden/array.h"
#include "golden/cast.h"

struct cast_file {
    /* what is asked for */
    struct cast cast;                    /* formats and ways; no `to`: decode */
    const struct assay_packing *packing; /* of the codes; NULL: a word each */
    const char *in, *out;
    const char *scales;         /* read by a decode, else written */
    int want_rank;              /* 0: the shape is the file's */
    int64_t want[NPY_MAX_RANK]; /* in elements */
    int64_t row;                /* or rows of so many; 0: not said */
    int axis;                   /* of the blocks; below 0 from the last */

    /* what is found */
    struct array input, input_scales;
    int rank; /* at least 1 */
    int64_t shape[NPY_MAX_RANK];
    int64_t elems, n_scales;
    struct cast_counts counts;
};

/* Reads and checks all that is read, and finds the sizes. */
enum assay_status cast_file_read(struct cast_file *f, struct assay_error *err);

/* Casts and writes; OUT and the scales are whole or as they were. */
enum assay_status cast_file_write(struct cast_file *f, struct assay_error *err);

void cast_file_free(struct cast_file *f);

/* What .npy calls the words of a format. */
const struct npy_type *cast_file_type(const struct assay_format *format);

/* Type, shape and count of the scales. */
void cast_file_scales(const struct cast_file *f, struct npy *out);

#endif
