/* SPDX-License-Identifier: MIT
 *
 * A quantizer's payload C against the one S that a recipe asks for: which codes
 * and scales differ, by how many steps, and which other rule, order or rounding
 * gives C's bytes.
 */
#ifndef ASSAY_SCALE_BYTES_H
#define ASSAY_SCALE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/quantize.h"

/* Steps along the number line of the format: bins[i] counts i - STEPS_MOST
 * steps, the outermost also what is further. */
enum { STEPS_MOST = 4, STEP_BINS = 2 * STEPS_MOST + 1 };

/* The first that differs. `token` is a block of 32 tokens, and `channel` a
 * block of 32 channels, where scales have such; -1: scales have none. */
struct byte_place {
    int64_t index; /* in the array; -1: nothing differs */
    int64_t batch, head, token, channel;
    uint32_t set, candidate; /* code, E8M0 byte, or bits of a binary32 */
};

/* Of codes or of scales. Those of another class (NaN, infinite, finite) and
 * those that differ in sign alone are in no bin. */
struct byte_steps {
    int64_t count, differ;
    int64_t bins[STEP_BINS]; /* codes; octaves of E8M0; ulps of binary32 */
    int64_t signs, classes;
    struct byte_place first;
};

struct scale_bytes {
    struct byte_steps codes, scales;
    bool explained; /* looks_like is worth telling */
    char looks_like[64];
    int64_t left; /* codes and scales that differ from what looks_like gives */
    int also;     /* other readings that give the same bytes here */
    double share; /* of codes and scales that the best reading gives */
    char sentence[400];
};

/* Compares c with s, the payload of x [b, s, h, d] (prepared, as assay_quantize
 * wants it) by `how`; x NULL: readings that need values are not tried.
 * `operand`
 * ("k") begins the sentence. ASSAY_SHAPE where format, kind of scale, shape or
 * counts of the two differ or are not what the shape asks for. */
enum assay_status
scale_bytes_compare(const char *operand, const struct assay_quantizer *how,
                    const float *x, const struct assay_payload *s,
                    const struct assay_payload *c, struct scale_bytes *out,
                    struct assay_error *err);

#endif
