/* SPDX-License-Identifier: MIT */
#include "plain_blocks.h"

#include <float.h>
#include <math.h>

#include "check_values.h"

static float flushed(const struct assay_blocks *b, float x)
{
    return b->rule->flush && fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

void plain_block(const struct assay_blocks *b, int64_t n, int64_t stride,
                 const float *x, uint8_t *codes, uint8_t *scale, float *values)
{
    float amax = 0;
    bool nan = false;
    for (int64_t i = 0; i < n; i++) {
        const float size = fabsf(x[i * stride]);
        nan |= isnan(size);
        amax = size > amax ? size : amax; /* fmaxf(0, signalling NaN) is NaN */
    }
    *scale = assay_scale_rule_code(b->rule, b->format,
                                   nan && b->rule->poison ? NAN : amax);
    for (int64_t i = 0; i < n; i++) {
        float v = flushed(b, x[i * stride]), back = float_of(0x7fc00000);
        v = *scale == 255 ? NAN : v * ldexpf(1, 127 - *scale);
        uint32_t code =
            assay_format_encode_one(b->format, b->rounding, b->overflow, v);
        if (*scale != 255)
            back = assay_format_decode_one(b->format, code) *
                   ldexpf(1, *scale - 127);
        codes[i * stride] = (uint8_t)code;
        values[i * stride] = back;
    }
}

void plain_blocks(const struct assay_blocks *b, const float *x, uint8_t *codes,
                  uint8_t *scales, float *values)
{
    for (int64_t o = 0; o < b->outer; o++)
        for (int64_t t = 0; t < b->length; t += b->block)
            for (int64_t i = 0; i < b->inner; i++) {
                int64_t n = b->length - t, at = (o * b->length + t) * b->inner;
                plain_block(b, n < b->block ? n : b->block, b->inner,
                            x + at + i, codes + at + i, scales++,
                            values + at + i);
            }
}

static float with_exponent(uint32_t bits, uint32_t least, uint32_t count)
{
    return float_of((bits & 0x807fffff) | (least + (bits >> 23 & 0xff) % count)
                                              << 23);
}

static float value_of(uint64_t seed, uint64_t i, uint32_t sort)
{
    const uint32_t bits = values_bits(seed, i);
    switch (sort) {
    case 0: return with_exponent(bits, 100, 40);
    case 1: return with_exponent(bits & 0xffe00000, 118, 9);
    case 2: return with_exponent(bits & 0xfffc0000, 125, 3);
    case 3: return float_of(bits & 0x80000000);
    case 4: return with_exponent(bits, 0, 24);
    case 5: return float_of(bits & 0x807fffff);
    case 6: return with_exponent(bits & 0xfff80000, 240, 15);
    case 7: return float_of((bits & 0x80000000) | 0x7f800000);
    default:
        return float_of((bits & 0x80000000) | 0x7f800001 | (bits & 0x7fffff));
    }
}

/* Sorts of value_of() that a mix draws from: a run has one of them. */
static uint32_t sort_of(enum value_mix mix, uint32_t bits)
{
    static const uint32_t sorts[] = { 0, 1, 2, 3, 4, 5, 6 };
    switch (mix) {
    case MIX_NORMAL: return sorts[bits % 4];
    case MIX_TINY: return sorts[3 + bits % 3];
    case MIX_HUGE: return bits % 8 == 0 ? 3 : 6;
    default: return sorts[bits % 7];
    }
}

void mixed_values(uint64_t seed, enum value_mix mix, int64_t n, float *x)
{
    uint32_t sort = 0, left = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = values_bits(seed, (uint64_t)(2 * i));
        if (left-- == 0) {
            sort = sort_of(mix, bits >> 8);
            left = (bits >> 16) % 97;
        }
        uint32_t one = sort;
        if (mix >= MIX_INFINITE && bits % 128 == 0)
            one = mix == MIX_SPECIAL && bits & 128 ? 8 : 7;
        else if (bits % 32 == 0)
            one = 3;
        x[i] = value_of(seed, (uint64_t)(2 * i + 1), one);
    }
}
