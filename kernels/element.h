/* SPDX-License-Identifier: MIT
 *
 * Element conversions of the kernels: bf16 and e4m3fn to and from f32, with
 * integer arithmetic on the bits. C and C++, host and device. Written apart
 * from the reference on purpose, so that one can be checked by the other.
 */
#ifndef ASSAY_KERNELS_ELEMENT_H
#define ASSAY_KERNELS_ELEMENT_H

#include <stdint.h>
#include <string.h>

#if defined(__HIPCC__) || defined(__CUDACC__)
#define ELEMENT_FN static inline __host__ __device__
#else
#define ELEMENT_FN static inline
#endif

ELEMENT_FN uint32_t bits_from_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ELEMENT_FN float f32_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

ELEMENT_FN float f32_from_bf16(uint16_t word)
{
    return f32_from_bits((uint32_t)word << 16);
}

/* Nearest, ties to even. A NaN stays one, even if only its low half says so. */
ELEMENT_FN uint16_t bf16_from_f32(float x)
{
    uint32_t bits = bits_from_f32(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x0040u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* OCP E4M3FN: exponent bias 7, no infinity, all ones is NaN. */
ELEMENT_FN float f32_from_e4m3(uint8_t code)
{
    uint32_t sign = (uint32_t)(code & 0x80u) << 24;
    uint32_t exponent = code >> 3 & 15u, mantissa = code & 7u;
    uint32_t bits;
    if ((code & 0x7fu) == 0x7fu)
        bits = 0x7fc00000u;
    else if (exponent == 0)
        bits = bits_from_f32((float)mantissa * 0x1p-9f);
    else
        bits = (exponent + 127u - 7u) << 23 | mantissa << 20;
    return f32_from_bits(sign | bits);
}

/* Nearest, ties to even; the overflow is decided after rounding and gives the
 * largest finite value, 448. NaN gives 0x7F. */
ELEMENT_FN uint8_t e4m3_from_f32(float x)
{
    uint32_t bits = bits_from_f32(x);
    uint32_t sign = bits >> 24 & 0x80u, mag = bits & 0x7fffffffu;
    uint32_t code;
    if (mag > 0x7f800000u)
        return 0x7f;
    if (mag < 0x3c800000u) /* below 2^-6: steps of 2^-9, which 2^14 has too */
        code = bits_from_f32(f32_from_bits(mag) + 0x1p14f) -
               bits_from_f32(0x1p14f);
    else
        code = ((mag + 0x7ffffu + (mag >> 20 & 1u)) >> 20) - (127u - 7u) * 8u;
    return (uint8_t)(sign | (code > 0x7eu ? 0x7eu : code));
}

#endif
