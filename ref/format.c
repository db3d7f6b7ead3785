/* SPDX-License-Identifier: MIT
 *
 * The table of element formats, and encode and decode by definition: integers
 * only, one value at a time. ref/format_array.c is held to these.
 */
#include "assay/format.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bits.h"

static const struct assay_format formats[] = {
#define ASSAY_FORMAT(id, name, bits, sign, exp, man, bias, top, max, zero, \
                     inf, nan, kernel, about)                              \
    { ASSAY_##id, name,                                                    \
      bits,       sign,                                                    \
      exp,        man,                                                     \
      bias,       ASSAY_TOP_##top,                                         \
      max,        ASSAY_ZERO_##zero,                                       \
      inf,        nan,                                                     \
      kernel,     about },
#include "assay/format.def"
#undef ASSAY_FORMAT
};

#define ASSAY_FORMAT(id, name, bits, sign, exp, man, ...) \
    _Static_assert((bits) == (sign) + (exp) + (man), name);
#include "assay/format.def"
#undef ASSAY_FORMAT

static const struct assay_way roundings[] = {
#define ASSAY_ROUNDING(id, name, about) { name, about },
#include "assay/rounding.def"
#undef ASSAY_ROUNDING
};

static const struct assay_way overflows[] = {
#define ASSAY_OVERFLOW(id, name, about) { name, about },
#include "assay/overflow.def"
#undef ASSAY_OVERFLOW
};

const struct assay_format *assay_format_get(enum assay_format_id id)
{
    return &formats[id];
}

const struct assay_format *assay_format_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

const struct assay_way *assay_rounding_get(enum assay_rounding id)
{
    return &roundings[id];
}

const struct assay_way *assay_overflow_get(enum assay_overflow id)
{
    return &overflows[id];
}

size_t assay_format_bytes(const struct assay_format *format)
{
    return format->bits <= 8 ? 1 : (size_t)format->bits / 8;
}

float assay_format_max(const struct assay_format *format)
{
    return assay_format_decode_one(format, format->max_code);
}

float assay_format_min_normal(const struct assay_format *format)
{
    if (format->top == ASSAY_TOP_INTEGER)
        return 1;
    uint32_t one = format->top == ASSAY_TOP_POWER ? 0 : 1;
    return assay_format_decode_one(format, one << format->man_bits);
}

float assay_format_min(const struct assay_format *format)
{
    return assay_format_decode_one(format, format->zero != ASSAY_ZERO_NONE);
}

double assay_format_epsilon(const struct assay_format *format)
{
    return format->top == ASSAY_TOP_INTEGER ? 1 : ldexp(1, -format->man_bits);
}

int assay_format_emax(const struct assay_format *format)
{
    int e;
    frexpf(assay_format_max(format), &e);
    return e - 1;
}

double assay_format_ulp(const struct assay_format *format, float x)
{
    int least = (format->top != ASSAY_TOP_POWER) - format->bias, e;
    if (!isfinite(x))
        return NAN;
    if (format->top == ASSAY_TOP_INTEGER)
        return 1;
    frexp(x, &e);
    e = x == 0 || e - 1 < least ? least : e - 1;
    return ldexp(1, e - format->man_bits);
}

static uint32_t code_mask(const struct assay_format *format)
{
    return UINT32_MAX >> (32 - format->bits);
}

static uint32_t sign_bit(const struct assay_format *format)
{
    return format->sign ? 1u << (format->bits - 1) : 0;
}

int64_t assay_format_steps(const struct assay_format *format, uint32_t a,
                           uint32_t b)
{
    const uint32_t sign = sign_bit(format), mask = code_mask(format);
    uint32_t code[] = { a & mask, b & mask };
    int64_t place[2];
    bool nan[2];
    for (int i = 0; i < 2; i++) {
        uint32_t abs = code[i] & (mask ^ sign);
        nan[i] = isnan(assay_format_decode_one(format, code[i]));
        place[i] = !(code[i] & sign)                  ? (int64_t)code[i]
                   : format->top == ASSAY_TOP_INTEGER ? (int64_t)abs - sign
                                                      : -(int64_t)abs;
    }
    if (nan[0] || nan[1])
        return nan[0] && nan[1] ? 0 : ASSAY_STEPS_NAN;
    return place[1] - place[0];
}

float assay_format_decode_one(const struct assay_format *format, uint32_t code)
{
    const uint32_t sign = sign_bit(format),
                   man_bits = (uint32_t)format->man_bits;
    if (format->id == ASSAY_F32)
        return bits_f32(code);
    code &= code_mask(format);
    uint32_t abs = code & ~sign, man = abs & ((1u << man_bits) - 1);
    int e = (int)(abs >> man_bits);
    if (format->top == ASSAY_TOP_INTEGER)
        return (float)((int)abs - (code & sign ? (int)sign : 0));
    if (abs == format->inf_code && format->inf_code)
        return code & sign ? -INFINITY : INFINITY;
    if (abs > format->max_code || (code == format->nan_code && code))
        return bits_f32(format->zero == ASSAY_ZERO_SIGNED && code & sign
                            ? 0xffc00000u
                            : 0x7fc00000u);
    if (e > 0 || format->top == ASSAY_TOP_POWER)
        man |= 1u << man_bits;
    else
        e = 1;
    float x = ldexpf((float)man, e - format->bias - format->man_bits);
    return code & sign ? -x : x;
}

/* m / 2^shift in whole numbers; m < 2^24. */
static uint32_t divide(uint32_t m, int shift, enum assay_rounding rounding)
{
    if (shift <= 0)
        return m << -shift;
    if (shift > 31) /* below a quarter whatever m is */
        return 0;
    uint32_t whole = m >> shift, half = 1u << (shift - 1);
    uint32_t rest = m - (whole << shift);
    switch (rounding) {
    case ASSAY_NEAREST_EVEN:
        return whole + (rest > half || (rest == half && whole % 2 == 1));
    case ASSAY_TIES_TO_ZERO: return whole + (rest > half);
    case ASSAY_TIES_AWAY: return whole + (rest >= half);
    default: return whole;
    }
}

/* Code of the size of a finite value, past max_code where it overflows. */
static uint32_t size_code(const struct assay_format *format,
                          enum assay_rounding rounding, uint32_t abs)
{
    const bool power = format->top == ASSAY_TOP_POWER;
    const bool integer = format->top == ASSAY_TOP_INTEGER;
    int exp = (int)(abs >> 23) ? (int)(abs >> 23) : 1;
    uint32_t m = (abs & 0x7fffffu) | (abs >> 23 ? 0x800000u : 0);
    int least = integer ? 0 : 1 - format->bias; /* of the first normals */
    int e = exp - 127;                          /* value is m * 2^(e - 23) */
    if (power) {
        while (m && m < 0x800000u && e > -127) {
            m *= 2;
            e--;
        }
        if (e < -127 || m < 0x800000u)
            return 0; /* below 2^-127 */
        /* a significand of one bit is odd: IEEE 754-2019, 4.3.1, goes up */
        if (rounding == ASSAY_NEAREST_EVEN)
            rounding = ASSAY_TIES_AWAY;
        return (uint32_t)(e + 127) + divide(m, 23, rounding) - 1;
    }
    if (integer) {
        uint32_t n = e > 8 ? 256 : divide(m, 23 - e, rounding);
        return n < 256 ? n : 256;
    }
    if (e < least)
        return divide(m, least - e + 23 - format->man_bits, rounding);
    return ((uint32_t)(e - least) << format->man_bits) +
           divide(m, 23 - format->man_bits, rounding);
}

static uint32_t nan_of(const struct assay_format *format, uint32_t sign)
{
    if (format->top == ASSAY_TOP_INTEGER)
        return 0;
    if (format->nan_code == 0)
        return sign | format->max_code;
    return format->zero == ASSAY_ZERO_SIGNED ? sign | format->nan_code
                                             : format->nan_code;
}

/* What overflow gives. */
static uint32_t over_of(const struct assay_format *format,
                        enum assay_overflow overflow, uint32_t sign)
{
    if (format->top == ASSAY_TOP_INTEGER && sign)
        return overflow == ASSAY_SYMMETRIC ? 0x81 : 0x80;
    if (overflow != ASSAY_SPECIAL || !(format->inf_code | format->nan_code))
        return sign | format->max_code;
    return format->inf_code ? sign | format->inf_code : nan_of(format, sign);
}

uint32_t assay_format_encode_one(const struct assay_format *format,
                                 enum assay_rounding rounding,
                                 enum assay_overflow overflow, float value)
{
    uint32_t abs = f32_bits(value) & 0x7fffffffu;
    uint32_t sign = f32_bits(value) >> 31 ? sign_bit(format) : 0;
    if (abs > 0x7f800000u)
        return nan_of(format, sign);
    if (format->top == ASSAY_TOP_POWER &&
        (value < 0 || (abs == 0 && overflow == ASSAY_SPECIAL)))
        return format->nan_code;
    if (abs == 0x7f800000u)
        return over_of(format, overflow, sign);
    uint32_t code = size_code(format, rounding, abs);
    if (format->top == ASSAY_TOP_INTEGER && sign && code == 128 &&
        overflow != ASSAY_SYMMETRIC)
        return 0x80;
    if (code > format->max_code)
        return over_of(format, overflow, sign);
    if (format->top == ASSAY_TOP_INTEGER)
        return sign ? (0x100u - code) & 0xff : code;
    return code == 0 && format->zero != ASSAY_ZERO_SIGNED ? 0 : sign | code;
}
