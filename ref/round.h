/* SPDX-License-Identifier: MIT
 *
 * Private: one value rounded to a narrow float format, without branches, so
 * that loops over it become vector instructions. Adding and subtracting the
 * power of two whose ulp is the format's step rounds to nearest even in
 * hardware, subnormals included; the other roundings correct that by a step.
 */
#ifndef ASSAY_ROUND_H
#define ASSAY_ROUND_H

#include "assay/format.h"
#include "bits.h"

/* What the loops need of a row, in registers. int8 is a format of subnormals
 * only. Formats whose exponents are as wide as binary32's have loops of their
 * own. */
struct round_shape {
    uint32_t man;     /* mantissa bits */
    uint32_t min_exp; /* binary32 exponent field of the smallest normal */
    float limit;      /* past this every value overflows; keeps 2^e finite */
    float max;        /* largest finite */
    float over;       /* size of what overflow becomes */
    float nan;        /* size of what NaN becomes */
    uint32_t odd;     /* sign mask of zero and NaN: none in FNUZ formats */
    float top;        /* 127 for int8, whose -128 has no counterpart */
};

/* true for the formats that round_size takes. */
bool round_takes(const struct assay_format *format);
struct round_shape round_shape(const struct assay_format *format,
                               enum assay_overflow overflow);

/* y, a >= 0 rounded to nearest even, as the rounding asks for. */
static inline float redirect(enum assay_rounding rounding, float a, float y,
                             float step)
{
    switch (rounding) {
    case ASSAY_TIES_TO_ZERO: return y - a == step / 2 ? y - step : y;
    case ASSAY_TIES_AWAY: return a - y == step / 2 ? y + step : y;
    case ASSAY_TOWARD_ZERO: return y > a ? y - step : y;
    default: return y;
    }
}

/* |x| rounded; overflow is not looked at. `rounding` is a constant where this
 * is inlined. Takes NaN as it takes infinity. */
static inline float round_size(struct round_shape s,
                               enum assay_rounding rounding, float a)
{
    float x = a < s.limit ? a : s.limit;
    uint32_t e = f32_bits(x) >> 23;
    e = e > s.min_exp ? e : s.min_exp;
    float magic = bits_f32((e + 23 - s.man) << 23);
    float step = bits_f32((e - s.man) << 23);
    return redirect(rounding, x, (x + magic) - magic, step);
}

/* x rounded: decode(encode(x)). */
static inline float round_value(struct round_shape s,
                                enum assay_rounding rounding, float x)
{
    uint32_t abs = f32_bits(x) & 0x7fffffffu;
    float y = round_size(s, rounding, bits_f32(abs));
    y = y > s.max ? s.over : y;
    y = abs > 0x7f800000u ? s.nan : y;
    uint32_t signs = y > 0 ? 0x80000000u : s.odd;
    y = bits_f32(f32_bits(y) | (f32_bits(x) & signs));
    return y > s.top ? s.top : y;
}

/* The same for what blocks mostly hold: values that are finite and less than
 * 8 * max, and that saturate. Half the instructions, the same bits. */
struct bounded_shape {
    int32_t min_exp; /* in binary32's place, as all of these */
    int32_t man, up;
    float low, high;
    float zero; /* x + zero: -0.0 keeps a zero's sign, 0.0 does not */
};

struct bounded_shape bounded_shape(const struct assay_format *format,
                                   enum assay_overflow overflow);

static inline float round_bounded(struct bounded_shape s,
                                  enum assay_rounding rounding, float x)
{
    uint32_t sign = f32_bits(x) & 0x80000000u;
    float a = bits_f32(f32_bits(x) ^ sign);
    int32_t e = (int32_t)(f32_bits(x) & 0x7f800000u);
    e = e > s.min_exp ? e : s.min_exp;
    float magic = bits_f32((uint32_t)(e + s.up));
    float step = bits_f32((uint32_t)(e - s.man));
    float y = redirect(rounding, a, (a + magic) - magic, step);
    y = bits_f32(f32_bits(y) | sign) + s.zero;
    y = y < s.low ? s.low : y;
    return y > s.high ? s.high : y;
}

/* Defines a loop over round_value (or another) once per rounding, so that the
 * rounding is a constant in each: ROUND_LOOPS(name, parameters, body). */
#define ROUND_LOOPS(name, params, body)                                  \
    ASSAY_CLONES static void name##_even params body(ASSAY_NEAREST_EVEN) \
    ASSAY_CLONES static void name##_zero params body(ASSAY_TIES_TO_ZERO) \
    ASSAY_CLONES static void name##_away params body(ASSAY_TIES_AWAY)    \
    ASSAY_CLONES static void name##_trunc params body(                   \
        ASSAY_TOWARD_ZERO) typedef void name##_loop params;              \
    static name##_loop *const name[ASSAY_ROUNDINGS] = {                  \
        [ASSAY_NEAREST_EVEN] = name##_even,                              \
        [ASSAY_TIES_TO_ZERO] = name##_zero,                              \
        [ASSAY_TIES_AWAY] = name##_away,                                 \
        [ASSAY_TOWARD_ZERO] = name##_trunc,                              \
    };

#endif
