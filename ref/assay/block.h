/* SPDX-License-Identifier: MIT
 *
 * Block scales: one E8M0 byte for every `block` elements along one axis of an
 * array, so value = 2^(byte - 127) * element (OCP Microscaling Formats 1.0).
 * The rule that finds the byte is named: scale_rule.def.
 */
#ifndef ASSAY_BLOCK_H
#define ASSAY_BLOCK_H

#include <stdbool.h>

#include "assay/format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_scale_rule_id {
#define ASSAY_SCALE_RULE(id, ...) ASSAY_SCALE_RULE_##id,
#include "assay/scale_rule.def"
#undef ASSAY_SCALE_RULE
    ASSAY_SCALE_RULES
};

enum assay_rule_of { ASSAY_OF_AMAX, ASSAY_OF_DIVIDED, ASSAY_OF_TIMES };
enum assay_rule_up {
    ASSAY_UP_NEVER,
    ASSAY_UP_CEIL,
    ASSAY_UP_MAX,
    ASSAY_UP_HALF_STEP,
    ASSAY_UP_AT_1_75,
    ASSAY_UP_ABOVE_1_5,
    ASSAY_UP_NEAREST
};

struct assay_scale_rule {
    enum assay_scale_rule_id id;
    const char *name;
    enum assay_rule_of of;
    enum assay_rule_up up;
    float least;
    int zero, huge; /* -1: as the formula gives */
    bool wrap;
    int cap;
    bool poison, flush;
    enum assay_rounding rounding;
    const char *about;
};

/* Rows; static. find returns NULL for an unknown name. */
ASSAY_API const struct assay_scale_rule *
assay_scale_rule_get(enum assay_scale_rule_id id);
ASSAY_API const struct assay_scale_rule *
assay_scale_rule_find(const char *name);

/* The definition: scale byte of a block of `format` whose largest |x| is amax,
 * NaN if a NaN is among them. */
ASSAY_API uint8_t assay_scale_rule_code(const struct assay_scale_rule *rule,
                                        const struct assay_format *format,
                                        float amax);

/* An array [outer, length, inner] whose blocks run along `length`: they never
 * cross its end, the last may be short. Scales are [outer, blocks, inner]. */
struct assay_blocks {
    const struct assay_format *format; /* at most 8 bits, not e8m0 */
    const struct assay_scale_rule *rule;
    enum assay_rounding rounding;
    enum assay_overflow overflow;
    int64_t block; /* elements of one scale; 32 in OCP */
    int64_t outer, length, inner;
};

/* Sizes are not negative, their products fit, the format is one of those. */
ASSAY_API enum assay_status assay_blocks_check(const struct assay_blocks *b,
                                               struct assay_error *err);

/* Number of elements, and of scales. */
ASSAY_API int64_t assay_blocks_elems(const struct assay_blocks *b);
ASSAY_API int64_t assay_blocks_scales(const struct assay_blocks *b);

/* Codes, one byte each, and scale bytes of x: each element is encoded from
 * x * 2^(127 - byte). With a NaN scale every code is that of NaN (in a format
 * without one: the largest), and every value is NaN. */
ASSAY_API void assay_blocks_encode(const struct assay_blocks *b, const float *x,
                                   uint8_t *codes, uint8_t *scales);

/* Values of codes and scales. */
ASSAY_API void assay_blocks_decode(const struct assay_blocks *b,
                                   const uint8_t *codes, const uint8_t *scales,
                                   float *x);

/* decode(encode(x)) without the codes; in == out is allowed. */
ASSAY_API void assay_blocks_round(const struct assay_blocks *b, const float *in,
                                  float *out);

#ifdef __cplusplus
}
#endif
#endif
