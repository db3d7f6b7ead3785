/* SPDX-License-Identifier: MIT
 *
 * Element formats on arrays: the bits of ref/format.c's scalar functions, at
 * the speed of memory.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "assay/format.h"
#include "bits.h"
#include "round.h"

bool round_takes(const struct assay_format *format)
{
    return format->exp_bits < 8;
}

static struct round_shape int8_shape(enum assay_overflow overflow)
{
    const float low = overflow == ASSAY_SYMMETRIC ? 127 : 128;
    return (struct round_shape){
        .man = 7,
        .min_exp = 127 + 7,
        .limit = 512,
        .max = low,
        .over = low,
        .nan = 0,
        .odd = 0,
        .top = 127,
    };
}

struct round_shape round_shape(const struct assay_format *format,
                               enum assay_overflow overflow)
{
    if (format->id == ASSAY_INT8)
        return int8_shape(overflow);
    const float max = assay_format_max(format);
    float special = format->inf_code ? INFINITY : format->nan_code ? NAN : max;
    return (struct round_shape){
        .man = (uint32_t)format->man_bits,
        .min_exp = (uint32_t)(128 - format->bias),
        .limit = 4 * max,
        .max = max,
        .over = overflow == ASSAY_SPECIAL ? special : max,
        .nan = format->nan_code ? bits_f32(0x7fc00000u) : max,
        .odd = format->zero == ASSAY_ZERO_SIGNED ? 0x80000000u : 0,
        .top = INFINITY,
    };
}

struct bounded_shape bounded_shape(const struct assay_format *format,
                                   enum assay_overflow overflow)
{
    const struct round_shape s = round_shape(format, overflow);
    return (struct bounded_shape){
        .min_exp = (int32_t)(s.min_exp << 23),
        .man = (int32_t)(s.man << 23),
        .up = (int32_t)((23 - s.man) << 23),
        .low = -s.max,
        .high = s.max < s.top ? s.max : s.top,
        .zero = s.odd ? -0.0f : 0.0f,
    };
}

/* ---- round ---- */

#define BODY(rounding)                                \
    {                                                 \
        for (size_t i = 0; i < n; i++)                \
            out[i] = round_value(s, rounding, in[i]); \
    }
ROUND_LOOPS(round_narrow,
            (struct round_shape s, size_t n, const float *in, float *out), BODY)
#undef BODY

/* bf16 has binary32's exponents, so its step has no larger power of two to
 * add near the top; round on the bits instead. `over` is infinity or not. */
static inline uint32_t round_bf16(enum assay_rounding rounding, uint32_t over,
                                  uint32_t b)
{
    uint32_t abs = b & 0x7fffffffu;
    uint32_t add = rounding == ASSAY_NEAREST_EVEN   ? 0x7fffu + ((b >> 16) & 1)
                   : rounding == ASSAY_TIES_TO_ZERO ? 0x7fffu
                   : rounding == ASSAY_TIES_AWAY    ? 0x8000u
                                                    : 0;
    uint32_t r = (abs + add) & 0xffff0000u;
    r = r >= 0x7f800000u ? over : r;
    r = abs > 0x7f800000u ? 0x7fc00000u : r;
    return r | (b & 0x80000000u);
}

#define BODY(rounding)                                                      \
    {                                                                       \
        for (size_t i = 0; i < n; i++)                                      \
            out[i] = bits_f32(round_bf16(rounding, over, f32_bits(in[i]))); \
    }
ROUND_LOOPS(round_bf16s, (uint32_t over, size_t n, const float *in, float *out),
            BODY)
#undef BODY

static uint32_t wide_over(const struct assay_format *format,
                          enum assay_overflow overflow)
{
    return overflow == ASSAY_SPECIAL ? 0x7f800000u
                                     : f32_bits(assay_format_max(format));
}

ASSAY_CLONES
static void round_f32s(uint32_t over, size_t n, const float *in, float *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t b = f32_bits(in[i]), abs = b & 0x7fffffffu;
        uint32_t r = abs == 0x7f800000u ? over : abs;
        r = abs > 0x7f800000u ? 0x7fc00000u : r;
        out[i] = bits_f32(r | (b ^ abs));
    }
}

void assay_format_round(const struct assay_format *format,
                        enum assay_rounding rounding,
                        enum assay_overflow overflow, size_t n, const float *in,
                        float *out)
{
    switch (format->id) {
    case ASSAY_BF16:
        round_bf16s[rounding](wide_over(format, overflow), n, in, out);
        break;
    case ASSAY_F32: round_f32s(wide_over(format, overflow), n, in, out); break;
    case ASSAY_E8M0:
        for (size_t i = 0; i < n; i++)
            out[i] = assay_format_decode_one(
                format,
                assay_format_encode_one(format, rounding, overflow, in[i]));
        break;
    default: round_narrow[rounding](round_shape(format, overflow), n, in, out);
    }
}

/* ---- encode ---- */

/* What the loops need of a row to give codes. */
struct code_shape {
    float limit;         /* past this every value overflows */
    int32_t min_exp, up; /* as in struct bounded_shape */
    int32_t man;
    uint32_t shift; /* from binary32's mantissa to the format's */
    uint32_t sign_shift;
    uint32_t max, over, nan; /* codes without sign */
    uint32_t zero;           /* sign mask of zero */
};

static struct code_shape code_shape(const struct assay_format *format,
                                    enum assay_overflow overflow)
{
    const uint32_t sign = 1u << (format->bits - 1);
    const struct bounded_shape b = bounded_shape(format, overflow);
    const uint32_t nan = format->nan_code ? format->nan_code : format->max_code;
    return (struct code_shape){
        .limit = 4 * assay_format_max(format),
        .min_exp = b.min_exp,
        .up = b.up,
        .man = b.man,
        .shift = (uint32_t)(23 - format->man_bits),
        .sign_shift = (uint32_t)(32 - format->bits),
        .max = format->max_code,
        .over = overflow != ASSAY_SPECIAL ? format->max_code
                : format->inf_code        ? format->inf_code
                                          : nan,
        .nan = nan,
        .zero = format->zero == ASSAY_ZERO_SIGNED ? sign : 0,
    };
}

/* The sum's low bits count the steps from the start of the binade, a carry
 * included: the code, but for the binades below. The NaN of FNUZ formats is a
 * sign bit alone and so does not mind one. */
static inline uint32_t encode_value(struct code_shape s,
                                    enum assay_rounding rounding, float x)
{
    uint32_t abs = f32_bits(x) & 0x7fffffffu;
    uint32_t sign = (f32_bits(x) ^ abs) >> s.sign_shift;
    float a = bits_f32(abs) < s.limit ? bits_f32(abs) : s.limit;
    int32_t e = (int32_t)(f32_bits(a) & 0x7f800000u);
    e = e > s.min_exp ? e : s.min_exp;
    float magic = bits_f32((uint32_t)(e + s.up)), sum = a + magic;
    uint32_t code = f32_bits(sum) - f32_bits(magic) +
                    ((uint32_t)(e - s.min_exp) >> s.shift);
    float half = bits_f32((uint32_t)(e - s.man)) / 2, y = sum - magic;
    code -= rounding == ASSAY_TIES_TO_ZERO && y - a == half;
    code += rounding == ASSAY_TIES_AWAY && a - y == half;
    code -= rounding == ASSAY_TOWARD_ZERO && y > a;
    code = code > s.max ? s.over : code;
    code = abs > 0x7f800000u ? s.nan : code;
    return code | (code == 0 ? sign & s.zero : sign);
}

#define BODY(rounding)                                                \
    {                                                                 \
        for (size_t i = 0; i < n; i++)                                \
            codes[i] = (uint8_t)encode_value(s, rounding, values[i]); \
    }
ROUND_LOOPS(encode_8,
            (struct code_shape s, size_t n, const float *values,
             uint8_t *codes),
            BODY)
#undef BODY

#define BODY(rounding)                                                 \
    {                                                                  \
        for (size_t i = 0; i < n; i++)                                 \
            codes[i] = (uint16_t)encode_value(s, rounding, values[i]); \
    }
ROUND_LOOPS(encode_16,
            (struct code_shape s, size_t n, const float *values,
             uint16_t *codes),
            BODY)
#undef BODY

#define BODY(rounding)                                                        \
    {                                                                         \
        for (size_t i = 0; i < n; i++)                                        \
            codes[i] =                                                        \
                (uint16_t)(round_bf16(rounding, over, f32_bits(values[i])) >> \
                           16);                                               \
    }
ROUND_LOOPS(encode_bf16,
            (uint32_t over, size_t n, const float *values, uint16_t *codes),
            BODY)
#undef BODY

#define BODY(rounding)                                                       \
    {                                                                        \
        for (size_t i = 0; i < n; i++)                                       \
            codes[i] = (int8_t)(int32_t)round_value(s, rounding, values[i]); \
    }
ROUND_LOOPS(encode_int8,
            (struct round_shape s, size_t n, const float *values,
             int8_t *codes),
            BODY)
#undef BODY

void assay_format_encode(const struct assay_format *format,
                         enum assay_rounding rounding,
                         enum assay_overflow overflow, size_t n,
                         const float *values, void *codes)
{
    if (format->id == ASSAY_BF16)
        encode_bf16[rounding](wide_over(format, overflow), n, values, codes);
    else if (format->id == ASSAY_INT8)
        encode_int8[rounding](int8_shape(overflow), n, values, codes);
    else if (format->id == ASSAY_F32)
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)codes)[i] =
                assay_format_encode_one(format, rounding, overflow, values[i]);
    else if (format->id == ASSAY_E8M0)
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)codes)[i] = (uint8_t)assay_format_encode_one(
                format, rounding, overflow, values[i]);
    else if (format->bits == 16)
        encode_16[rounding](code_shape(format, overflow), n, values, codes);
    else
        encode_8[rounding](code_shape(format, overflow), n, values, codes);
}

/* ---- decode ---- */

struct value_shape {
    uint32_t up;     /* mantissa to binary32's place */
    uint32_t base;   /* exponent to binary32's */
    uint32_t normal; /* first code of a normal */
    uint32_t sign;   /* sign bit */
    uint32_t left;   /* to binary32's sign */
    uint32_t max_code, inf_code, alone;
    float step;
};

static struct value_shape value_shape(const struct assay_format *format)
{
    return (struct value_shape){
        .up = (uint32_t)(23 - format->man_bits),
        .base = (uint32_t)(127 - format->bias) << 23,
        .normal = 1u << format->man_bits,
        .sign = 1u << (format->bits - 1),
        .left = (uint32_t)(32 - format->bits),
        .max_code = format->max_code,
        .inf_code = format->inf_code,
        .alone = format->zero == ASSAY_ZERO_UNSIGNED ? format->nan_code : ~0u,
        .step = assay_format_min(format),
    };
}

static inline float decode_value(struct value_shape s, uint32_t code)
{
    uint32_t abs = code & (s.sign - 1), sign = (code & s.sign) << s.left;
    uint32_t normal = (abs << s.up) + s.base;
    float small = (float)(int32_t)abs * s.step;
    uint32_t v = abs >= s.normal ? normal : f32_bits(small);
    uint32_t special = abs == s.inf_code ? 0x7f800000u : 0x7fc00000u;
    v = abs > s.max_code ? special : v;
    v |= sign;
    return bits_f32((code & (2 * s.sign - 1)) == s.alone ? 0x7fc00000u : v);
}

ASSAY_CLONES
static void decode_8(struct value_shape s, size_t n, const uint8_t *codes,
                     float *values)
{
    for (size_t i = 0; i < n; i++)
        values[i] = decode_value(s, codes[i]);
}

ASSAY_CLONES
static void decode_16(struct value_shape s, size_t n, const uint16_t *codes,
                      float *values)
{
    for (size_t i = 0; i < n; i++)
        values[i] = decode_value(s, codes[i]);
}

void assay_format_decode(const struct assay_format *format, size_t n,
                         const void *codes, float *values)
{
    if (format->id == ASSAY_F32)
        memcpy(values, codes, n * sizeof *values);
    else if (format->id == ASSAY_INT8)
        for (size_t i = 0; i < n; i++)
            values[i] = ((const int8_t *)codes)[i];
    else if (format->id == ASSAY_E8M0)
        for (size_t i = 0; i < n; i++)
            values[i] =
                assay_format_decode_one(format, ((const uint8_t *)codes)[i]);
    else if (format->bits == 16)
        decode_16(value_shape(format), n, codes, values);
    else
        decode_8(value_shape(format), n, codes, values);
}
