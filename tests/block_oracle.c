/* SPDX-License-Identifier: MIT */
#include "block_oracle.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum of { AMAX, DIVIDED, TIMES };
enum up { NEVER, CEIL, MAX, HALF_STEP, AT_1_75, ABOVE_1_5, NEAREST };

static const struct block_rule {
    const char *name;
    enum of of;
    enum up up;
    float least;
    int zero, huge; /* -1: no such byte */
    bool wrap;
    int cap;
    bool poison, flush;
    enum assay_rounding rounding;
} rules[] = {
    { "floor", AMAX, NEVER, 0, -1, -1, 0, 254, 1, 0, ASSAY_NEAREST_EVEN },
    { "ceil", AMAX, CEIL, 0, -1, -1, 0, 254, 1, 0, ASSAY_NEAREST_EVEN },
    { "even", AMAX, HALF_STEP, 0, -1, -1, 0, 254, 1, 0, ASSAY_NEAREST_EVEN },
    { "roundup", AMAX, MAX, 0, -1, -1, 0, 254, 1, 0, ASSAY_NEAREST_EVEN },
    { "aiter-mxfp8", AMAX, AT_1_75, 0, -1, 254, 0, 254, 0, 1,
      ASSAY_NEAREST_EVEN },
    { "aiter-mxfp6", AMAX, NEVER, 0, 127, -1, 1, 255, 0, 1,
      ASSAY_NEAREST_EVEN },
    { "aiter-mxfp4", DIVIDED, CEIL, 0, -1, -1, 0, 255, 0, 1,
      ASSAY_NEAREST_EVEN },
    { "aiter-mxfp4-v", AMAX, ABOVE_1_5, 1e-12f, -1, -1, 0, 255, 0, 1,
      ASSAY_TIES_TO_ZERO },
    { "a2a", TIMES, CEIL, 0, -1, -1, 0, 255, 0, 1, ASSAY_NEAREST_EVEN },
    { "a2a-int8", DIVIDED, CEIL, 1e-30f, -1, -1, 0, 254, 0, 1,
      ASSAY_NEAREST_EVEN },
    { "sage", DIVIDED, CEIL, 0, -1, -1, 0, 254, 0, 0, ASSAY_TIES_AWAY },
    { "sage-rne", AMAX, NEAREST, 0, -1, -1, 0, 254, 0, 0, ASSAY_TIES_AWAY },
};

const struct block_rule *block_rule_find(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

enum assay_rounding block_rule_rounding(const struct block_rule *rule)
{
    return rule->rounding;
}

/* a / max in binary32: of the numbers near it the one whose product with max,
 * which binary64 holds, is nearest to a; the even one of two. */
static float quotient(float a, double max)
{
    float best = (float)(a / max);
    if (isinf(a))
        return a;
    float near[2] = { nextafterf(best, 0), nextafterf(best, INFINITY) };
    for (int i = 0; i < 2; i++) {
        double old = fabs(best * max - a), new = fabs(near[i] * max - a);
        if (new < old || (new == old &&fmodf(best / 0x1p-149f, 2) != 0))
            best = near[i];
    }
    return best;
}

/* The number whose exponent is asked for. */
static float number_of(const struct block_rule *rule, double max, float amax)
{
    float of = rule->of == AMAX      ? amax
               : rule->of == DIVIDED ? quotient(amax, max)
                                     : (float)((double)amax * quotient(1, max));
    if (rule->flush && of < FLT_MIN)
        of = 0;
    return of < rule->least ? rule->least : of;
}

/* `part` is what is past the power of two, 0 to 1. */
static bool goes_up(const struct block_rule *rule, const struct oracle *o,
                    double max, int exponent, double part)
{
    int after_first = o->id == ASSAY_INT8 ? 6 : o->man;
    switch (rule->up) {
    case NEVER: return false;
    case CEIL: return part > 0;
    case MAX: return part > max / exp2(floor(log2(max))) - 1;
    case HALF_STEP: return part >= 1 - exp2(-after_first - 1);
    case AT_1_75: return part >= 0.75;
    case ABOVE_1_5: return part > 0.5;
    case NEAREST: return part > 0.5 || (part == 0.5 && exponent % 2 == 1);
    }
    return false;
}

static int scale_of(const struct block_rule *rule, const struct oracle *o,
                    float amax)
{
    const double max = oracle_size(o, o->max);
    if (amax == 0 && rule->zero >= 0)
        return rule->zero;
    float of = number_of(rule, max, amax);
    int exponent = 0, e; /* binary32's: 0 below its normal numbers */
    double part = of * 0x1p126;
    if (of >= FLT_MIN) {
        part = isinf(of) ? 0 : 2 * frexp(of, &e) - 1;
        exponent = isinf(of) ? 255 : e - 1 + 127;
    }
    exponent += goes_up(rule, o, max, exponent, part);
    if (exponent == 255 && rule->huge >= 0)
        return rule->huge;
    int byte = exponent - (rule->of == AMAX ? (int)floor(log2(max)) : 0);
    if (byte < 0)
        return rule->wrap ? byte + 256 : 0;
    return byte < rule->cap ? byte : rule->cap;
}

static float flushed(const struct block_rule *rule, float x)
{
    return rule->flush && fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

uint8_t block_oracle(const struct block_rule *rule, const struct oracle *o,
                     const float *thresholds, size_t n, const float *x,
                     uint8_t *codes)
{
    float amax = 0;
    bool nan = false;
    for (size_t i = 0; i < n; i++) {
        nan |= isnan(x[i]);
        amax = fmaxf(amax, fabsf(flushed(rule, x[i])));
    }
    int byte = nan && rule->poison ? 255 : scale_of(rule, o, amax);
    for (size_t i = 0; i < n; i++) {
        double times = byte == 255 ? NAN : exp2(127 - byte);
        /* binary64 holds the product; what binary32 drops of it is far below
         * every format's smallest value */
        float y = (float)(flushed(rule, x[i]) * times);
        if (byte == 255)
            y = NAN;
        codes[i] = (uint8_t)oracle_code(
            o, ASSAY_SATURATE, y,
            isnan(y) ? 0 : oracle_count(o, thresholds, fabsf(y)));
    }
    return (uint8_t)byte;
}
