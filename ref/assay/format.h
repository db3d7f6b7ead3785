/* SPDX-License-Identifier: MIT
 *
 * Element formats: encode, decode and round, always straight from binary32,
 * overflow decided after rounding. The scalar functions are the definition in
 * integers; those on arrays are as fast as memory and give the same bits.
 *
 * NaN stays NaN (the format's quiet one; its sign is kept where the format
 * has two). Where a format has no NaN it becomes the largest value of its
 * sign, so that it shows, as in AMD's and NVIDIA's converters; int8 gives 0.
 * e8m0 has no zero and no sign: zero and what is smaller than 2^-127 give code
 * 0 (SPECIAL: zero gives NaN, as in ml_dtypes), negative values NaN.
 */
#ifndef ASSAY_FORMAT_H
#define ASSAY_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_format_id {
#define ASSAY_FORMAT(id, ...) ASSAY_##id,
#include "assay/format.def"
#undef ASSAY_FORMAT
    ASSAY_FORMATS
};

enum assay_top {
    ASSAY_TOP_IEEE,
    ASSAY_TOP_NAN,
    ASSAY_TOP_FINITE,
    ASSAY_TOP_INTEGER,
    ASSAY_TOP_POWER
};

enum assay_zero { ASSAY_ZERO_SIGNED, ASSAY_ZERO_UNSIGNED, ASSAY_ZERO_NONE };

enum assay_rounding {
#define ASSAY_ROUNDING(id, ...) ASSAY_##id,
#include "assay/rounding.def"
#undef ASSAY_ROUNDING
    ASSAY_ROUNDINGS
};

enum assay_overflow {
#define ASSAY_OVERFLOW(id, ...) ASSAY_##id,
#include "assay/overflow.def"
#undef ASSAY_OVERFLOW
    ASSAY_OVERFLOWS
};

struct assay_format {
    enum assay_format_id id;
    const char *name;
    int bits, sign, exp_bits, man_bits, bias;
    enum assay_top top;
    uint32_t max_code;
    enum assay_zero zero;
    uint32_t inf_code, nan_code; /* 0: none */
    int kernel_format;           /* enum assay_kernel_format, or -1 */
    const char *about;
};

/* A named way: rows of rounding.def and overflow.def. */
struct assay_way {
    const char *name, *about;
};

/* Rows; static. find returns NULL for an unknown name. */
ASSAY_API const struct assay_format *assay_format_get(enum assay_format_id id);
ASSAY_API const struct assay_format *assay_format_find(const char *name);
ASSAY_API const struct assay_way *assay_rounding_get(enum assay_rounding id);
ASSAY_API const struct assay_way *assay_overflow_get(enum assay_overflow id);

/* Bytes of one code in memory: 1 for formats of at most 8 bits. */
ASSAY_API size_t assay_format_bytes(const struct assay_format *format);

/* Largest finite value, smallest positive normal, smallest positive value,
 * and the distance from 1 to the next larger value. */
ASSAY_API float assay_format_max(const struct assay_format *format);
ASSAY_API float assay_format_min_normal(const struct assay_format *format);
ASSAY_API float assay_format_min(const struct assay_format *format);
ASSAY_API double assay_format_epsilon(const struct assay_format *format);

/* Exponent of the largest finite value: "emax" of OCP Microscaling. */
ASSAY_API int assay_format_emax(const struct assay_format *format);

/* Spacing of the format's values at |x|: 2^(exponent of x) * epsilon, and the
 * smallest step near zero. NaN for x not finite. */
ASSAY_API double assay_format_ulp(const struct assay_format *format, float x);

/* How many values of the format code b is above code a; +0 and -0 are one.
 * ASSAY_STEPS_NAN where just one of them is NaN, 0 where both are. Bits above
 * the format's are ignored. */
#define ASSAY_STEPS_NAN INT64_MAX
ASSAY_API int64_t assay_format_steps(const struct assay_format *format,
                                     uint32_t a, uint32_t b);

/* The definition: value of a code, exact; code of a value. */
ASSAY_API float assay_format_decode_one(const struct assay_format *format,
                                        uint32_t code);
ASSAY_API uint32_t assay_format_encode_one(const struct assay_format *format,
                                           enum assay_rounding rounding,
                                           enum assay_overflow overflow,
                                           float value);

/* Values of n codes: uint32_t, uint16_t, or uint8_t words in native byte
 * order; bits above the format's are ignored. No overlap of in and out. */
ASSAY_API void assay_format_decode(const struct assay_format *format, size_t n,
                                   const void *codes, float *values);

/* Codes of n values, in words as above. */
ASSAY_API void assay_format_encode(const struct assay_format *format,
                                   enum assay_rounding rounding,
                                   enum assay_overflow overflow, size_t n,
                                   const float *values, void *codes);

/* decode(encode(x)) without the codes. in == out is allowed. */
ASSAY_API void assay_format_round(const struct assay_format *format,
                                  enum assay_rounding rounding,
                                  enum assay_overflow overflow, size_t n,
                                  const float *in, float *out);

#ifdef __cplusplus
}
#endif
#endif
