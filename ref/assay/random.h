/* SPDX-License-Identifier: MIT
 *
 * Counter-based random numbers: a value depends on (seed, stream, index) and
 * on nothing else, so any part of an array can be made by any thread.
 * Source: Philox4x32-10 of Salmon, Moraes, Dror, Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011.
 */
#ifndef ASSAY_RANDOM_H
#define ASSAY_RANDOM_H

#include <stdint.h>

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Philox4x32-10: four words of a counter under a key. */
ASSAY_API void assay_philox(const uint32_t counter[4], const uint32_t key[2],
                            uint32_t out[4]);

/* The key is the seed, low word first; the counter is (low, high word of the
 * block's number, stream, 0). */

/* n standard normal deviates, from number `first` (at least 0) of the stream
 * on, by Box and Muller in binary64: a block of four words (w0 .. w3) has
 * deviates r cos a, r sin a of (w0, w1), then of (w2, w3), with
 * r = sqrt(-2 ln((w + 1/2) / 2^32)), a = 2 pi w' / 2^32, each rounded once to
 * binary32. |x| < 6.77. The libm's log, sin and cos are not rounded correctly:
 * another libm may give another last bit of a binary32 value, very rarely. */
ASSAY_API void assay_random_normal(uint64_t seed, uint32_t stream,
                                   int64_t first, int64_t n, float *x);

/* Uniform in [0, 1): the first 53 bits of block `index` of the stream. */
ASSAY_API double assay_random_uniform(uint64_t seed, uint32_t stream,
                                      int64_t index);

/* Marks `count` of n places, every choice as likely as any other (Floyd's
 * sampling): chosen[n] becomes 1 there and 0 elsewhere. 0 <= count <= n. */
ASSAY_API void assay_random_choose(uint64_t seed, uint32_t stream, int64_t n,
                                   int64_t count, unsigned char *chosen);

#ifdef __cplusplus
}
#endif
#endif
