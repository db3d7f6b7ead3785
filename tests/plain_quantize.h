/* SPDX-License-Identifier: MIT
 *
 * Quantizers by plain loops over the tensor. Formats' largest values, f32 rules
 * and token orders are written again here, not looked up.
 */
#ifndef PLAIN_QUANTIZE_H
#define PLAIN_QUANTIZE_H

#include "assay/quantize.h"

/* Everything that a payload should hold, by plain loops. */
struct expected {
    int64_t count, n_scales;
    uint8_t *codes, *e8m0, *past;
    float *scales, *values;
};

struct expected plain_quantize(const struct assay_quantizer *how,
                               const struct assay_tensor *t, const float *x);
void expected_free(struct expected *e);

/* Formats that binary32 scales are tried with: the largest value and the
 * binary32 nearest to its reciprocal. */
enum { N_MAX = 6 };
extern const struct max_spec {
    enum assay_format_id id;
    float max;
    uint32_t reciprocal;
} max_specs[N_MAX];

#endif
