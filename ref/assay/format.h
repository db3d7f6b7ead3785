/* SPDX-License-Identifier: MIT
 *
 * Element formats: encode, decode and round arrays. Always straight from
 * binary32, nearest with ties to even, overflow decided after rounding.
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

enum assay_top { ASSAY_TOP_IEEE, ASSAY_TOP_NAN, ASSAY_TOP_INTEGER };

/* What a value past the largest finite one, or an infinity, becomes: the
 * largest finite one, or infinity (NaN where the format has none). */
enum assay_overflow { ASSAY_SATURATE, ASSAY_SPECIAL };

struct assay_format {
    enum assay_format_id id;
    const char *name;
    int bits, exp_bits, man_bits, bias;
    enum assay_top top;
    uint32_t max_code;
    int kernel_format; /* enum assay_kernel_format */
    const char *about;
};

/* The row of a format; static. find returns NULL for an unknown name. */
ASSAY_API const struct assay_format *assay_format_get(enum assay_format_id id);
ASSAY_API const struct assay_format *assay_format_find(const char *name);

/* Bytes of one code in memory, largest finite value, and the distance from 1
 * to the next larger value. */
ASSAY_API size_t assay_format_bytes(const struct assay_format *format);
ASSAY_API float assay_format_max(const struct assay_format *format);
ASSAY_API double assay_format_epsilon(const struct assay_format *format);

/* Spacing of the format's values at |x|: 2^(exponent of x) * epsilon, and the
 * smallest step near zero. NaN for x not finite. */
ASSAY_API double assay_format_ulp(const struct assay_format *format, float x);

/* Values of n codes: uint32_t, uint16_t, or uint8_t words in native byte
 * order. Exact; NaN codes give NaN. No overlap between in and out. */
ASSAY_API void assay_format_decode(const struct assay_format *format, size_t n,
                                   const void *codes, float *values);

/* Codes of n values. NaN stays NaN (sign and payload may change; int8 has
 * none and gives 0); zero keeps its sign where the format has one. */
ASSAY_API void assay_format_encode(const struct assay_format *format,
                                   enum assay_overflow overflow, size_t n,
                                   const float *values, void *codes);

/* decode(encode(x)) without the codes. in == out is allowed. */
ASSAY_API void assay_format_round(const struct assay_format *format,
                                  enum assay_overflow overflow, size_t n,
                                  const float *in, float *out);

#ifdef __cplusplus
}
#endif
#endif
