/* SPDX-License-Identifier: MIT
 *
 * Private helpers of the library: bit patterns, and the marks that let the
 * compiler vectorise a loop for wider registers without changing its bits.
 */
#ifndef ASSAY_BITS_H
#define ASSAY_BITS_H

#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "assay's reference must not be built with -ffast-math"
#endif

/* Contraction is off, so every clone does the same IEEE operations. Sanitizers
 * instrument the resolver that picks a clone and then crash before main. */
#ifdef ASSAY_CLONES /* a benchmark chose */
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ASSAY_CLONES \
    __attribute__((  \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
/* For a loop written once more for registers of 512 bits. */
#define ASSAY_V4 __attribute__((target("arch=x86-64-v4")))
#else
#define ASSAY_CLONES
#endif

static inline uint32_t f32_bits(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline float bits_f32(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

#endif
