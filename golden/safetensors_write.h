/* SPDX-License-Identifier: MIT
 *
 * The head of a safetensors file that is to be written: the tensors' words
 * follow it, in the order given, with nothing between them. Format: see
 * golden/safetensors.h.
 */
#ifndef ASSAY_SAFETENSORS_WRITE_H
#define ASSAY_SAFETENSORS_WRITE_H

#include "assay/format.h"
#include "golden/safetensors.h"

struct safetensors_part {
    const char *name;
    enum assay_safetensors_dtype_id dtype;
    int rank;
    int64_t shape[ASSAY_SAFETENSORS_MAX_RANK];
};

struct safetensors_note {
    const char *key, *text; /* a member of __metadata__ */
};

/* Bytes of a tensor's words; its bits must come to whole bytes. */
size_t safetensors_part_bytes(const struct safetensors_part *part);

/* The length and the header, filled up with spaces so that the words begin at
 * a multiple of 8; free(). Text that is no UTF-8 gets '?' there. ASSAY_MEMORY.
 */
enum assay_status safetensors_head(const struct safetensors_part *parts,
                                   size_t n_parts,
                                   const struct safetensors_note *notes,
                                   size_t n_notes, char **head, size_t *bytes,
                                   struct assay_error *err);

/* bf16, f16 and f32 have the same words in both. NULL: another type; and the
 * type of one of these three. */
const struct assay_format *
safetensors_float(const struct assay_safetensors_dtype *dtype);
enum assay_safetensors_dtype_id
safetensors_dtype_of(const struct assay_format *format);

#endif
