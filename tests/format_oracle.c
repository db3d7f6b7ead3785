/* SPDX-License-Identifier: MIT */
#include "format_oracle.h"

#include <math.h>
#include <stdlib.h>

#include "check_values.h"

/* IEEE 754-2019 table 3.5; OCP OFP8 1.0 table 1; OCP Microscaling Formats 1.0
 * tables 2 to 6 and 7; for FNUZ table 1 of arXiv:2206.02915. */
const struct oracle oracles[ASSAY_FORMATS] = {
    { ASSAY_F32, "f32", 32, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0 },
    { ASSAY_F16, "f16", 16, 10, 15, 0x7bff, 0x7c00, 0x7e00, false },
    { ASSAY_BF16, "bf16", 16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false },
    { ASSAY_E5M2, "e5m2", 8, 2, 15, 0x7b, 0x7c, 0x7e, false },
    { ASSAY_E4M3FN, "e4m3fn", 8, 3, 7, 0x7e, 0, 0x7f, false },
    { ASSAY_E5M2FNUZ, "e5m2fnuz", 8, 2, 16, 0x7f, 0, 0x80, true },
    { ASSAY_E4M3FNUZ, "e4m3fnuz", 8, 3, 8, 0x7f, 0, 0x80, true },
    { ASSAY_E3M2, "e3m2", 6, 2, 3, 0x1f, 0, 0, false },
    { ASSAY_E2M3, "e2m3", 6, 3, 1, 0x1f, 0, 0, false },
    { ASSAY_E2M1, "e2m1", 4, 1, 1, 0x7, 0, 0, false },
    { ASSAY_INT8, "int8", 8, 0, 0, 0x7f, 0, 0, true },
    { ASSAY_E8M0, "e8m0", 8, 0, 127, 0xfe, 0, 0xff, true },
};

double oracle_size(const struct oracle *o, uint32_t k)
{
    uint32_t e = k >> o->man, m = k & ((1u << o->man) - 1);
    if (o->id == ASSAY_INT8)
        return k;
    if (o->id == ASSAY_E8M0)
        return ldexp(1, (int)k - o->bias);
    return e == 0 ? ldexp(m, 1 - o->bias - o->man)
                  : ldexp(m + (1u << o->man), (int)e - o->bias - o->man);
}

static uint32_t sign_of(const struct oracle *o)
{
    return o->id == ASSAY_E8M0 ? 0 : 1u << (o->bits - 1);
}

double oracle_value(const struct oracle *o, uint32_t code)
{
    uint32_t sign = code & sign_of(o), abs = code ^ sign;
    if (o->id == ASSAY_INT8)
        return (double)code - (sign ? 256 : 0);
    if (o->one_zero && code == o->nan)
        return NAN;
    double size = abs <= o->max             ? oracle_size(o, abs)
                  : o->inf && abs == o->inf ? INFINITY
                                            : NAN;
    return sign && !isnan(size) ? -size : size;
}

uint32_t oracle_bits(const struct oracle *o, uint32_t code)
{
    double v = oracle_value(o, code);
    uint32_t sign = o->one_zero ? 0 : code & sign_of(o);
    if (o->id == ASSAY_F32)
        return code;
    return isnan(v) ? 0x7fc00000u | (sign ? 0x80000000u : 0)
                    : bits_of((float)v);
}

float oracle_threshold(const struct oracle *o, enum assay_rounding rounding,
                       uint32_t k)
{
    double low = oracle_size(o, k), high = oracle_size(o, k + 1);
    if (rounding == ASSAY_TOWARD_ZERO)
        return high < 0x1p128 ? (float)high : INFINITY;
    bool up =
        rounding == ASSAY_TIES_AWAY ||
        (rounding == ASSAY_NEAREST_EVEN && (k % 2 == 1 || o->id == ASSAY_E8M0));
    float middle = (float)((low + high) / 2); /* exact */
    return up ? middle : nextafterf(middle, INFINITY);
}

float *oracle_thresholds(const struct oracle *o, enum assay_rounding rounding)
{
    float *t = must_alloc(o->max + 1, sizeof *t);
    for (uint32_t k = 0; k <= o->max; k++)
        t[k] = oracle_threshold(o, rounding, k);
    return t;
}

uint32_t oracle_count(const struct oracle *o, const float *thresholds, float a)
{
    uint32_t low = 0, high = o->max + 1;
    if (o->bits <= 8) {
        for (uint32_t k = 0; k <= o->max; k++)
            low += thresholds[k] <= a;
        return low;
    }
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (thresholds[middle] <= a)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* int8 has one more below; where there is no NaN it is the largest value. */
static uint32_t int8_code(enum assay_overflow overflow, float x, uint32_t k)
{
    uint32_t most = !signbit(x) ? 127 : overflow == ASSAY_SYMMETRIC ? 127 : 128;
    if (isnan(x))
        return 0;
    k = k < most ? k : most;
    return signbit(x) ? -k & 0xff : k;
}

static uint32_t e8m0_code(enum assay_overflow overflow, float x, uint32_t k)
{
    if (isnan(x) || x < 0 || (x == 0 && overflow == ASSAY_SPECIAL))
        return 0xff;
    if (isinf(x) || k > 0xfe)
        return overflow == ASSAY_SPECIAL ? 0xff : 0xfe;
    return k;
}

uint32_t oracle_code(const struct oracle *o, enum assay_overflow overflow,
                     float x, uint32_t k)
{
    if (o->id == ASSAY_INT8)
        return int8_code(overflow, x, k);
    if (o->id == ASSAY_E8M0)
        return e8m0_code(overflow, x, k);
    if (isnan(x))
        k = o->nan ? o->nan : o->max;
    else if (isinf(x) || k > o->max)
        k = overflow != ASSAY_SPECIAL ? o->max
            : o->inf                  ? o->inf
            : o->nan                  ? o->nan
                                      : o->max;
    if (o->one_zero && (k == 0 || k == o->nan))
        return k;
    return k | (signbit(x) ? sign_of(o) : 0);
}

uint32_t oracle_encode(const struct oracle *o, enum assay_rounding rounding,
                       enum assay_overflow overflow, float x)
{
    if (o->id == ASSAY_F32)
        return oracle_code(o, overflow, x, bits_of(fabsf(x)));
    float *t = oracle_thresholds(o, rounding);
    uint32_t k = oracle_count(o, t, fabsf(x));
    free(t);
    return oracle_code(o, overflow, x, k);
}
