/* SPDX-License-Identifier: MIT
 *
 * Quantizers: from the values of a tensor to payload and scales, as the
 * kernels that feed attention do it (quantizer.def).
 */
#ifndef ASSAY_QUANTIZE_H
#define ASSAY_QUANTIZE_H

#include <stdbool.h>

#include "assay/block.h"
#include "assay/format.h"
#include "assay/operand.h"
#include "assay/tokens.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_scale {
#define ASSAY_SCALE(id, ...) ASSAY_SCALE_##id,
#include "assay/scale.def"
#undef ASSAY_SCALE
    ASSAY_SCALES
};

enum assay_f32_rule_id {
#define ASSAY_F32_RULE(id, ...) ASSAY_F32_RULE_##id,
#include "assay/f32_rule.def"
#undef ASSAY_F32_RULE
    ASSAY_F32_RULES
};

enum assay_quantizer_id {
#define ASSAY_QUANTIZER(id, ...) ASSAY_QUANTIZER_##id,
#include "assay/quantizer.def"
#undef ASSAY_QUANTIZER
    ASSAY_QUANTIZERS,                            /* no quantizer */
    ASSAY_QUANTIZERS_MAX = ASSAY_QUANTIZERS + 65 /* with those added */
};

struct assay_scale_kind {
    enum assay_scale id;
    const char *name;
    int kernel_scale; /* enum assay_kernel_scale */
    const char *about;
};

struct assay_f32_rule {
    enum assay_f32_rule_id id;
    const char *name;
    enum assay_rule_of of;
    float least;
    enum assay_rule_of apply;
    const char *about;
};

struct assay_quantizer {
    enum assay_quantizer_id id;
    const char *name, *operands;
    enum assay_format_id format;
    enum assay_scale scale;
    enum assay_f32_rule_id f32_rule;     /* of binary32 scales */
    enum assay_scale_rule_id scale_rule; /* of E8M0 scales */
    bool prepares;
    enum assay_rotation_order_id prepare;
    enum assay_overflow overflow;
    enum assay_tail tail;
    const char *about;
};

/* Rows; static. find returns NULL for an unknown name. */
ASSAY_API const struct assay_scale_kind *assay_scale_get(enum assay_scale id);
ASSAY_API const struct assay_f32_rule *
assay_f32_rule_get(enum assay_f32_rule_id id);
ASSAY_API const struct assay_quantizer *
assay_quantizer_get(enum assay_quantizer_id id);
ASSAY_API const struct assay_quantizer *assay_quantizer_find(const char *name);
/* ASSAY_USAGE with a sentence where columns contradict each other: operands
 * that are not among q, k and v, blocks of tokens for others than V, elements
 * of blocks of more than 8 bits, scales for f32 or bf16, preparation of V, an
 * unknown number, or a name as assay_recipe_valid refuses it. */
ASSAY_API enum assay_status
assay_quantizer_valid(const struct assay_quantizer *quantizer,
                      struct assay_error *err);

/* Adds a valid quantizer to the table for good, as assay_recipe_add does. The
 * ids of added ones begin above ASSAY_QUANTIZERS. */
ASSAY_API enum assay_status
assay_quantizer_add(const struct assay_quantizer *quantizer,
                    const struct assay_quantizer **out,
                    struct assay_error *err);
/* Whether a row was added, and is none of quantizer.def. */
ASSAY_API bool assay_quantizer_is_added(const struct assay_quantizer *q);

/* The rule its scales are found by, binary32 or E8M0; "-" where it has none. */
ASSAY_API const char *
assay_quantizer_rule_name(const struct assay_quantizer *quantizer);

/* A tensor [b, s, h, d] and what a quantizer needs to know beside its row. */
struct assay_tensor {
    int64_t b, s, h, d;
    enum assay_token_order order; /* of BLOCK_TOKENS */
    double clip; /* binary32 scales: max / clip for max; 0 means 1 */
};

/* Channels of a token, or tokens of a channel, that one E8M0 scale is for. */
enum { ASSAY_BLOCK_CHANNELS = 32, ASSAY_SCALE_AXES = 4 };

/* ASSAY_SHAPE unless b, h and d are at least 1, s is at least 0 and all that a
 * quantizer makes of it can be addressed. */
ASSAY_API enum assay_status
assay_tensor_check(const struct assay_tensor *tensor, struct assay_error *err);

/* Sizes of a checked tensor's scales along their axes, as of scale.def; returns
 * how many axes there are, 0 where there are no scales. Blocks of tokens are 4
 * * ceil(s / 128) a channel: V's tiles are whole. */
ASSAY_API int assay_scale_sizes(enum assay_scale scale,
                                const struct assay_tensor *tensor,
                                int64_t sizes[ASSAY_SCALE_AXES]);
/* Their product. */
ASSAY_API int64_t assay_scale_count(enum assay_scale scale,
                                    const struct assay_tensor *tensor);

/* One quantized tensor. The arrays are the payload's own. */
struct assay_payload {
    const struct assay_format *format;
    enum assay_scale scale;
    struct assay_tensor tensor;
    int64_t count; /* codes */
    void *codes;   /* [b, s, h, d], in words as of assay_format_encode */
    int64_t n_scales;
    float *scales; /* binary32 kinds; NULL for the others */
    uint8_t *e8m0; /* BLOCK, BLOCK_TOKENS; NULL for the others */
    uint8_t *past; /* BLOCK_TOKENS: as assay/tile.h wants it */
};

/* Quantizes x [b, s, h, d], which has been prepared. out is made new; free it
 * with assay_payload_free, also after a failure. NaN is never an amax and
 * stays NaN. A subnormal amax can make 1 / scale infinite; then codes saturate
 * or are NaN, as they would in the kernel. ASSAY_SHAPE unless
 * assay_tensor_check() takes the tensor. */
ASSAY_API enum assay_status assay_quantize(const struct assay_quantizer *how,
                                           const struct assay_tensor *tensor,
                                           const float *x,
                                           struct assay_payload *out,
                                           struct assay_error *err);
ASSAY_API void assay_payload_free(struct assay_payload *payload);

/* Values of the payload, scales applied: code * scale, rounded once. */
ASSAY_API void assay_payload_values(const struct assay_payload *payload,
                                    float *values);

#ifdef __cplusplus
}
#endif
#endif
