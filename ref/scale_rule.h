/* SPDX-License-Identifier: MIT
 *
 * Private: a scale rule for many blocks at once, the bytes of
 * assay_scale_rule_code().
 */
#ifndef ASSAY_SCALE_RULE_H
#define ASSAY_SCALE_RULE_H

#include "assay/block.h"

/* The columns of a rule for one element format, as numbers. */
struct rule_shape {
    float times, by, least, tiny;
    uint32_t add, tie;
    int32_t less, at_inf, at_zero, low_mask, cap;
};

struct rule_shape rule_shape(const struct assay_scale_rule *rule,
                             const struct assay_format *format);

/* Scale bytes of n blocks from the bits of their amax; NaN bits give 255. */
void rule_bytes(const struct rule_shape *s, size_t n, const uint32_t *amax,
                uint32_t *bytes);

#endif
