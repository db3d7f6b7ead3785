/* SPDX-License-Identifier: MIT
 *
 * Element formats. Rounding is branch-free: adding and subtracting the power
 * of two whose ulp is the format's step rounds to nearest even in hardware,
 * subnormals included.
 */
#include "assay/format.h"

#include <math.h>
#include <string.h>

#include "bits.h"

static const struct assay_format formats[] = {
#define ASSAY_FORMAT(id, name, bits, exp, man, bias, top, max, kernel, about) \
    { ASSAY_##id,      name, bits,   exp,  man, bias,                         \
      ASSAY_TOP_##top, max,  kernel, about },
#include "assay/format.def"
#undef ASSAY_FORMAT
};

#define ASSAY_FORMAT(id, name, bits, exp, man, bias, top, max, kernel, about) \
    _Static_assert((bits) == 1 + (exp) + (man), name);
#include "assay/format.def"
#undef ASSAY_FORMAT

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

size_t assay_format_bytes(const struct assay_format *format)
{
    return (size_t)format->bits / 8;
}

float assay_format_max(const struct assay_format *format)
{
    if (format->top == ASSAY_TOP_INTEGER)
        return (float)format->max_code;
    uint32_t man_mask = (1u << format->man_bits) - 1;
    int exponent = (int)(format->max_code >> format->man_bits) - format->bias;
    double fraction = 1 + ldexp(format->max_code & man_mask, -format->man_bits);
    return (float)ldexp(fraction, exponent);
}

double assay_format_epsilon(const struct assay_format *format)
{
    return format->top == ASSAY_TOP_INTEGER ? 1 : ldexp(1, -format->man_bits);
}

double assay_format_ulp(const struct assay_format *format, float x)
{
    int least = 1 - format->bias, e;
    if (!isfinite(x))
        return NAN;
    if (format->top == ASSAY_TOP_INTEGER)
        return 1;
    frexp(x, &e);
    e = x == 0 || e - 1 < least ? least : e - 1;
    return ldexp(1, e - format->man_bits);
}

/* What the loops need of a row, in registers. */
struct shape {
    int man;
    uint32_t min_exp; /* binary32 exponent field of the smallest normal */
    float limit;      /* past this every value overflows; keeps 2^e finite */
    float max;        /* largest finite */
    float over;       /* what overflow becomes */
};

static struct shape shape_of(const struct assay_format *format,
                             enum assay_overflow overflow)
{
    float max = assay_format_max(format);
    float special = format->top == ASSAY_TOP_IEEE ? INFINITY : NAN;
    return (struct shape){
        .man = format->man_bits,
        .min_exp = (uint32_t)(128 - format->bias),
        .limit = 4 * max,
        .max = max,
        .over = overflow == ASSAY_SATURATE ? max : special,
    };
}

static inline float round_one(struct shape s, float x)
{
    uint32_t sign = f32_bits(x) & 0x80000000u;
    uint32_t abs = f32_bits(x) & 0x7fffffffu;
    float a = bits_f32(abs);
    float clipped = a < s.limit ? a : s.limit;
    uint32_t e = f32_bits(clipped) >> 23;
    e = e > s.min_exp ? e : s.min_exp;
    float magic = bits_f32((e + 23 - (uint32_t)s.man) << 23);
    float y = (clipped + magic) - magic;
    y = y > s.max ? s.over : y;
    y = abs > 0x7f800000u ? a : y;
    return bits_f32(f32_bits(y) | sign);
}

/* bf16 has binary32's exponents, so its step has no larger power of two to
 * add near the top; round on the bits instead. */
static inline float round_bf16(float over, float x)
{
    uint32_t b = f32_bits(x);
    uint32_t r = (b + 0x7fffu + ((b >> 16) & 1)) & 0xffff0000u;
    uint32_t abs = b & 0x7fffffffu;
    uint32_t big = (b & 0x80000000u) | f32_bits(over);
    r = (r & 0x7fffffffu) >= 0x7f800000u ? big : r;
    r = abs > 0x7f800000u ? b | 0x00400000u : r;
    return bits_f32(r & 0xffff0000u);
}

static inline float round_int8(float x)
{
    float y = x > 127 ? 127 : x < -128 ? -128 : x;
    y = x == x ? y : 0;
    float magic = 0x1.8p23f;
    return (y + magic) - magic;
}

ASSAY_CLONES
static void round_small(struct shape s, size_t n, const float *in, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = round_one(s, in[i]);
}

ASSAY_CLONES
static void round_bf16s(float over, size_t n, const float *in, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = round_bf16(over, in[i]);
}

void assay_format_round(const struct assay_format *format,
                        enum assay_overflow overflow, size_t n, const float *in,
                        float *out)
{
    struct shape s = shape_of(format, overflow);
    switch (format->id) {
    case ASSAY_F32:
        for (size_t i = 0; i < n; i++)
            out[i] = isinf(in[i]) ? copysignf(s.over, in[i]) : in[i];
        break;
    case ASSAY_BF16: round_bf16s(s.over, n, in, out); break;
    case ASSAY_INT8:
        for (size_t i = 0; i < n; i++)
            out[i] = round_int8(in[i]);
        break;
    default: round_small(s, n, in, out);
    }
}

/* Code of a value that the format holds exactly. */
static inline uint32_t pack_one(const struct assay_format *format, float y)
{
    uint32_t b = f32_bits(y), abs = b & 0x7fffffffu;
    uint32_t sign = (b >> 31) << (format->bits - 1);
    uint32_t min_exp = (uint32_t)(128 - format->bias);
    uint32_t nan_code = ((1u << (format->bits - 1)) - 1);
    if (abs > 0x7f800000u)
        return sign | nan_code;
    if (abs == 0x7f800000u)
        return sign | (nan_code & ~((1u << format->man_bits) - 1));
    if (abs >> 23 >= min_exp)
        return sign | ((abs >> (23 - format->man_bits)) -
                       ((min_exp - 1) << format->man_bits));
    float step = bits_f32((min_exp - (uint32_t)format->man_bits) << 23);
    return sign | (uint32_t)(bits_f32(abs) / step);
}

void assay_format_encode(const struct assay_format *format,
                         enum assay_overflow overflow, size_t n,
                         const float *values, void *codes)
{
    enum { BLOCK = 512 };
    float block[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t m = n - at < BLOCK ? n - at : BLOCK;
        assay_format_round(format, overflow, m, values + at, block);
        if (format->id == ASSAY_F32)
            memcpy((uint32_t *)codes + at, block, m * sizeof *block);
        else if (format->id == ASSAY_BF16)
            for (size_t i = 0; i < m; i++)
                ((uint16_t *)codes)[at + i] =
                    (uint16_t)(f32_bits(block[i]) >> 16);
        else if (format->id == ASSAY_INT8)
            for (size_t i = 0; i < m; i++)
                ((int8_t *)codes)[at + i] = (int8_t)block[i];
        else if (format->bits == 16)
            for (size_t i = 0; i < m; i++)
                ((uint16_t *)codes)[at + i] =
                    (uint16_t)pack_one(format, block[i]);
        else
            for (size_t i = 0; i < m; i++)
                ((uint8_t *)codes)[at + i] =
                    (uint8_t)pack_one(format, block[i]);
    }
}

static float unpack_one(const struct assay_format *format, uint32_t code)
{
    uint32_t man_mask = (1u << format->man_bits) - 1;
    uint32_t abs = code & ((1u << (format->bits - 1)) - 1);
    float sign = code >> (format->bits - 1) ? -1.0f : 1.0f;
    uint32_t e = abs >> format->man_bits, man = abs & man_mask;
    if (abs > format->max_code)
        return format->top == ASSAY_TOP_IEEE && man == 0 ? sign * INFINITY
                                                         : NAN;
    if (e == 0)
        return sign * ldexpf((float)man, 1 - format->bias - format->man_bits);
    return sign * ldexpf((float)(man | (man_mask + 1)),
                         (int)e - format->bias - format->man_bits);
}

void assay_format_decode(const struct assay_format *format, size_t n,
                         const void *codes, float *values)
{
    if (format->id == ASSAY_F32) {
        memcpy(values, codes, n * sizeof *values);
    } else if (format->id == ASSAY_BF16) {
        for (size_t i = 0; i < n; i++)
            values[i] = bits_f32((uint32_t)((const uint16_t *)codes)[i] << 16);
    } else if (format->id == ASSAY_INT8) {
        for (size_t i = 0; i < n; i++)
            values[i] = ((const int8_t *)codes)[i];
    } else if (format->bits == 16) {
        for (size_t i = 0; i < n; i++)
            values[i] = unpack_one(format, ((const uint16_t *)codes)[i]);
    } else {
        float table[256];
        for (uint32_t c = 0; c < 256; c++)
            table[c] = unpack_one(format, c);
        for (size_t i = 0; i < n; i++)
            values[i] = table[((const uint8_t *)codes)[i]];
    }
}
