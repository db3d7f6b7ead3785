/* SPDX-License-Identifier: MIT
 *
 * The table of scale rules: the definition, one block at a time, and the same
 * for many, without branches.
 */
#include "scale_rule.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "bits.h"

enum { CLAMP, WRAP };
enum { IGNORE, POISON };
enum { NO, YES };

static const struct assay_scale_rule rules[] = {
#define ASSAY_SCALE_RULE(id, name, of, up, least, zero, huge, low, cap, nan, \
                         flush, rounding, about)                             \
    { ASSAY_SCALE_RULE_##id,                                                 \
      name,                                                                  \
      ASSAY_OF_##of,                                                         \
      ASSAY_UP_##up,                                                         \
      least,                                                                 \
      zero,                                                                  \
      huge,                                                                  \
      (low) == WRAP,                                                         \
      cap,                                                                   \
      nan,                                                                   \
      flush,                                                                 \
      ASSAY_##rounding,                                                      \
      about },
#include "assay/scale_rule.def"
#undef ASSAY_SCALE_RULE
};

const struct assay_scale_rule *assay_scale_rule_get(enum assay_scale_rule_id id)
{
    return &rules[id];
}

const struct assay_scale_rule *assay_scale_rule_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_SCALE_RULES; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

enum { FRACTION = 0x7fffff, HALF = 0x400000 };

static uint32_t fraction_of_max(const struct assay_format *format)
{
    return f32_bits(assay_format_max(format)) & FRACTION;
}

/* Half a step of the mantissa, in binary32's fraction. The largest int8 has
 * six bits after its first. */
static uint32_t half_step(const struct assay_format *format)
{
    int bits = format->man_bits - (format->top == ASSAY_TOP_INTEGER);
    return 1u << (22 - bits);
}

static bool goes_up(const struct assay_scale_rule *rule,
                    const struct assay_format *format, uint32_t exponent,
                    uint32_t fraction)
{
    switch (rule->up) {
    case ASSAY_UP_NEVER: return false;
    case ASSAY_UP_CEIL: return fraction > 0;
    case ASSAY_UP_MAX: return fraction > fraction_of_max(format);
    case ASSAY_UP_HALF_STEP: return fraction + half_step(format) > FRACTION;
    case ASSAY_UP_AT_1_75: return fraction >= HALF + HALF / 2;
    case ASSAY_UP_ABOVE_1_5: return fraction > HALF;
    case ASSAY_UP_NEAREST:
        return fraction > HALF || (fraction == HALF && exponent % 2 == 1);
    }
    return false;
}

uint8_t assay_scale_rule_code(const struct assay_scale_rule *rule,
                              const struct assay_format *format, float amax)
{
    if (isnan(amax) && rule->poison)
        return 255;
    const float tiny = rule->flush ? FLT_MIN : 0;
    const float max = assay_format_max(format);
    float a = isnan(amax) || amax < tiny ? 0 : amax;
    if (a == 0 && rule->zero >= 0)
        return (uint8_t)rule->zero;
    float of = rule->of == ASSAY_OF_DIVIDED ? a / max
               : rule->of == ASSAY_OF_TIMES ? a * (1 / max)
                                            : a;
    of = of < tiny ? 0 : of;
    of = of > rule->least ? of : rule->least;
    uint32_t exponent = f32_bits(of) >> 23;
    if (goes_up(rule, format, exponent, f32_bits(of) & FRACTION))
        exponent++;
    if (exponent == 255 && rule->huge >= 0)
        return (uint8_t)rule->huge;
    int byte = (int)exponent;
    if (rule->of == ASSAY_OF_AMAX)
        byte -= assay_format_emax(format);
    if (byte < 0)
        return rule->wrap ? (uint8_t)byte : 0;
    return (uint8_t)(byte < rule->cap ? byte : rule->cap);
}

/* What to add to a binary32's bits so that its exponent goes up. */
static uint32_t up_add(const struct assay_scale_rule *rule,
                       const struct assay_format *format)
{
    switch (rule->up) {
    case ASSAY_UP_NEVER: return 0;
    case ASSAY_UP_CEIL: return FRACTION;
    case ASSAY_UP_MAX: return FRACTION - fraction_of_max(format);
    case ASSAY_UP_HALF_STEP: return half_step(format);
    case ASSAY_UP_AT_1_75: return HALF / 2;
    case ASSAY_UP_ABOVE_1_5:
    case ASSAY_UP_NEAREST: return HALF - 1;
    }
    return 0;
}

struct rule_shape rule_shape(const struct assay_scale_rule *rule,
                             const struct assay_format *format)
{
    const float max = assay_format_max(format);
    const int less = rule->of == ASSAY_OF_AMAX ? assay_format_emax(format) : 0;
    return (struct rule_shape){
        .times = rule->of == ASSAY_OF_TIMES ? 1 / max : 1,
        .by = rule->of == ASSAY_OF_DIVIDED ? max : 1,
        .least = rule->least,
        .tiny = rule->flush ? FLT_MIN : 0,
        .add = up_add(rule, format),
        .tie = rule->up == ASSAY_UP_NEAREST,
        .less = less,
        .at_inf = rule->huge >= 0 ? rule->huge : 255 - less,
        .at_zero = assay_scale_rule_code(rule, format, 0),
        .low_mask = rule->wrap ? 255 : 0,
        .cap = rule->cap,
    };
}

static inline uint32_t rule_byte(const struct rule_shape *s, uint32_t amax)
{
    float a = bits_f32(amax);
    a = a < s->tiny ? 0 : a;
    float of = a * s->times / s->by;
    of = of < s->tiny ? 0 : of;
    of = of > s->least ? of : s->least;
    uint32_t b = f32_bits(of);
    uint32_t exponent = (b + s->add + ((b >> 23) & s->tie)) >> 23;
    int32_t byte = exponent == 255 ? s->at_inf : (int32_t)exponent - s->less;
    byte = byte < 0 ? byte & s->low_mask : byte;
    byte = byte < s->cap ? byte : s->cap;
    byte = a == 0 ? s->at_zero : byte;
    return amax > 0x7f800000u ? 255 : (uint32_t)byte;
}

ASSAY_CLONES
static void bytes_of(struct rule_shape s, size_t n, const uint32_t *amax,
                     uint32_t *bytes)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = rule_byte(&s, amax[i]);
}

void rule_bytes(const struct rule_shape *s, size_t n, const uint32_t *amax,
                uint32_t *bytes)
{
    bytes_of(*s, n, amax, bytes);
}
