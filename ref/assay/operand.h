/* SPDX-License-Identifier: MIT
 *
 * Q and K on their way from words to a quantizer: K mean taken off, Hadamard
 * rotation, softmax scale folded into Q, and the roundings in between.
 * Source: ROCm/aiter csrc/kernels/mha_v4_quant.cu.
 */
#ifndef ASSAY_OPERAND_H
#define ASSAY_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/error.h"
#include "assay/format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_rotation_order_id {
#define ASSAY_ROTATION_ORDER(id, ...) ASSAY_ROTATION_##id,
#include "assay/rotation_order.def"
#undef ASSAY_ROTATION_ORDER
    ASSAY_ROTATION_ORDERS
};

struct assay_rotation_order {
    enum assay_rotation_order_id id;
    const char *name;
    bool rotate, round_first;
    const char *about;
};

/* The row of an order; static. */
ASSAY_API const struct assay_rotation_order *
assay_rotation_order_get(enum assay_rotation_order_id id);

/* One operand; the arrays are the caller's. */
struct assay_operand {
    int64_t b, tokens, heads, width;
    const float *x;    /* [b, token, head, channel] */
    const float *mean; /* [b, head, channel], or NULL: none is taken off */
    float mult;        /* assay_fold_multiplier for a folded Q, else 1 */
};

/* What Q is multiplied by where softmax_scale is folded into it and the
 * kernel's exponentials have base 2: softmax_scale * log2(e), a product in
 * binary64 that is then rounded. */
ASSAY_API float assay_fold_multiplier(double softmax_scale);

/* The values that the quantizer sees, into y, laid out as x (and may be x):
 * words of `word`, the format of the input: bf16, or f16, which the kernels
 * take too. Everything else is binary32; too large a value becomes infinite.
 * ASSAY_SHAPE unless the sizes can be addressed, b, heads and width are at
 * least 1, and a width to be rotated is as assay_rotate wants it. */
ASSAY_API enum assay_status assay_operand_prepare(
    const struct assay_rotation_order *order, const struct assay_format *word,
    const struct assay_operand *operand, float *y, struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
