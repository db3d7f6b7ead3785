/* SPDX-License-Identifier: MIT
 *
 * Block scales by their definition, one element at a time, and values to try
 * them on.
 */
#ifndef PLAIN_BLOCKS_H
#define PLAIN_BLOCKS_H

#include "assay/block.h"

/* One block of n elements that are `stride` apart in x, codes and values; b
 * gives format, rule, rounding and overflow. */
void plain_block(const struct assay_blocks *b, int64_t n, int64_t stride,
                 const float *x, uint8_t *codes, uint8_t *scale, float *values);

/* All blocks of an array. */
void plain_blocks(const struct assay_blocks *b, const float *x, uint8_t *codes,
                  uint8_t *scales, float *values);

/* What a tensor may hold. Ties have few mantissa bits, so that they meet the
 * midpoints and thresholds; runs of one sort are 1 to 97 long. */
enum value_mix {
    MIX_NORMAL,   /* a spread of exponents, ties, zeros of both signs */
    MIX_TINY,     /* the smallest exponents, subnormals */
    MIX_HUGE,     /* the largest exponents */
    MIX_ANY,      /* all of those in turn */
    MIX_INFINITE, /* and an infinity now and then */
    MIX_SPECIAL,  /* and NaN */
    MIXES
};
void mixed_values(uint64_t seed, enum value_mix mix, int64_t n, float *x);

#endif
