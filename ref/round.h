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

/* What the loops need of a row, in registers. Formats whose exponents are as
 * wide as binary32's (bf16), integers and powers have loops of their own. */
struct round_shape {
    uint32_t man;     /* mantissa bits */
    uint32_t min_exp; /* binary32 exponent field of the smallest normal */
    float limit;      /* past this every value overflows; keeps 2^e finite */
    float max;        /* largest finite */
    float over;       /* size of what overflow becomes */
    float nan;        /* size of what NaN becomes */
    uint32_t odd;     /* sign mask of zero and NaN: none in FNUZ formats */
};

/* true for the formats that round_size takes. */
bool round_takes(const struct assay_format *format);
struct round_shape round_shape(const struct assay_format *format,
                               enum assay_overflow overflow);

/* |x| rounded; overflow is not looked at. `rounding` is a constant where this
 * is inlined. Takes NaN as it takes infinity. */
static inline float round_size(const struct round_shape *s,
                               enum assay_rounding rounding, float a)
{
    float x = a < s->limit ? a : s->limit;
    uint32_t e = f32_bits(x) >> 23;
    e = e > s->min_exp ? e : s->min_exp;
    float magic = bits_f32((e + 23 - s->man) << 23);
    float step = bits_f32((e - s->man) << 23);
    float y = (x + magic) - magic;
    switch (rounding) {
    case ASSAY_TIES_TO_ZERO: return y - x == step / 2 ? y - step : y;
    case ASSAY_TIES_AWAY: return x - y == step / 2 ? y + step : y;
    case ASSAY_TOWARD_ZERO: return y > x ? y - step : y;
    default: return y;
    }
}

/* x rounded: decode(encode(x)). */
static inline float round_value(const struct round_shape *s,
                                enum assay_rounding rounding, float x)
{
    uint32_t abs = f32_bits(x) & 0x7fffffffu;
    float y = round_size(s, rounding, bits_f32(abs));
    y = y > s->max ? s->over : y;
    y = abs > 0x7f800000u ? s->nan : y;
    uint32_t signs = y > 0 ? 0x80000000u : s->odd;
    return bits_f32(f32_bits(y) | (f32_bits(x) & signs));
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
