/* SPDX-License-Identifier: MIT
 *
 * Writes the conformance tables of data/conformance/ with libassay. They are
 * for people who check converters of their own; README.md there says what is
 * in them. tests/read_conformance.c holds them to arithmetic of its own.
 *
 *   make_conformance DIR
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/block.h"
#include "assay/format.h"
#include "assay/pack.h"
#include "ref/bits.h"

static FILE *open_csv(const char *dir, const char *name)
{
    char path[4096];
    FILE *to;
    snprintf(path, sizeof path, "%s/%s.csv", dir, name);
    if (!(to = fopen(path, "w"))) {
        fprintf(stderr, "make_conformance: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    return to;
}

static void close_csv(FILE *to)
{
    if (ferror(to) | fclose(to)) {
        fprintf(stderr, "make_conformance: %s\n", strerror(errno));
        exit(2);
    }
}

/* Formats of at most 8 bits. */
static const struct assay_format *narrow(int id)
{
    const struct assay_format *f = assay_format_get((enum assay_format_id)id);
    return f->bits <= 8 ? f : NULL;
}

/* ---- codes ---- */

static const char *class_of(const struct assay_format *f, float x)
{
    return isnan(x)                                ? "nan"
           : isinf(x)                              ? "infinity"
           : x == 0                                ? "zero"
           : fabsf(x) < assay_format_min_normal(f) ? "subnormal"
                                                   : "normal";
}

/* Fewest digits that give the same binary32 number. */
static void shortest(float x, char *to, size_t size)
{
    for (int digits = 1; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(to, size, "%.*g", digits, x);
        if (strtof(to, NULL) == x)
            break;
    }
}

static void write_codes(FILE *to)
{
    fputs("format,code,value,decimal,class\n", to);
    for (int id = 0; id < ASSAY_FORMATS; id++) {
        const struct assay_format *f = narrow(id);
        for (uint32_t code = 0; f && code < 1u << f->bits; code++) {
            float x = assay_format_decode_one(f, code);
            char decimal[32];
            shortest(x, decimal, sizeof decimal);
            if (isnan(x))
                fprintf(to, "%s,%02x,nan,nan,nan\n", f->name, code);
            else
                fprintf(to, "%s,%02x,%a,%s,%s\n", f->name, code, x, decimal,
                        class_of(f, x));
        }
    }
}

/* ---- rounding ---- */

static void write_input(FILE *to, const struct assay_format *f, uint32_t bits)
{
    fprintf(to, "%s,%08x", f->name, bits);
    for (int r = 0; r < ASSAY_ROUNDINGS; r++)
        for (int v = 0; v < ASSAY_OVERFLOWS; v++)
            fprintf(to, ",%02x",
                    assay_format_encode_one(f, (enum assay_rounding)r,
                                            (enum assay_overflow)v,
                                            bits_f32(bits)));
    fputc('\n', to);
}

/* x > 0 and its two neighbours, both signs. */
static void write_around(FILE *to, const struct assay_format *f, double x)
{
    float y = x > FLT_MAX ? FLT_MAX : (float)x;
    for (uint32_t sign = 0; sign < 2; sign++)
        for (uint32_t step = 0; step < 3; step++)
            write_input(to, f, (f32_bits(y) + step - 1) | sign << 31);
}

static void write_rounding(FILE *to)
{
    static const uint32_t specials[] = {
        0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff,
        0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff,
    };
    fputs("format,input", to);
    for (int r = 0; r < ASSAY_ROUNDINGS; r++)
        for (int v = 0; v < ASSAY_OVERFLOWS; v++)
            fprintf(to, ",%s %s",
                    assay_rounding_get((enum assay_rounding)r)->name,
                    assay_overflow_get((enum assay_overflow)v)->name);
    fputc('\n', to);
    for (int id = 0; id < ASSAY_FORMATS; id++) {
        const struct assay_format *f = narrow(id);
        if (!f)
            continue;
        for (size_t i = 0; i < 2 * sizeof specials / sizeof *specials; i++)
            write_input(to, f, specials[i / 2] | (i % 2 ? 0x80000000u : 0));
        write_around(to, f, assay_format_min(f));
        for (uint32_t code = 0; code <= f->max_code; code++) {
            float x = assay_format_decode_one(f, code);
            write_around(to, f, x + assay_format_ulp(f, x) / 2);
        }
        float max = assay_format_max(f);
        write_around(to, f, max);
        write_around(to, f, max + assay_format_ulp(f, max));
        if (f->top == ASSAY_TOP_INTEGER) { /* one more below zero */
            write_around(to, f, max + 1.5f);
            write_around(to, f, max + 2);
        }
    }
}

/* ---- blocks ---- */

enum { BLOCK = 32 };

/* amax somewhere in the block, the rest a ramp below it of both signs. */
static void ramp(float amax, float *x)
{
    for (int i = 0; i < BLOCK; i++) {
        float part = (float)(BLOCK - i) / BLOCK;
        x[7 * i % BLOCK] = amax * (i % 2 ? -part : part);
    }
}

static void fill(float value, float *x)
{
    for (int i = 0; i < BLOCK; i++)
        x[i] = value;
}

/* Exponents from `low` up, each with another mantissa. */
static void wide(int low, int range, float *x)
{
    uint32_t state = 1;
    for (int i = 0; i < BLOCK; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes */
        float man = 1 + (float)(state >> 9) * 0x1p-23f;
        x[i] = ldexpf(i % 3 ? man : -man, low + i * range / BLOCK);
    }
}

static void write_block(FILE *to, const char *name,
                        const struct assay_scale_rule *rule,
                        const struct assay_format *f, const float *x)
{
    const struct assay_blocks b = { f,     rule, rule->rounding, ASSAY_SATURATE,
                                    BLOCK, 1,    BLOCK,          1 };
    uint8_t codes[BLOCK], scale;
    assay_blocks_encode(&b, x, codes, &scale);
    fprintf(to, "%s,%s,%s,%s,", f->name, rule->name,
            assay_rounding_get(rule->rounding)->name, name);
    for (int i = 0; i < BLOCK; i++)
        fprintf(to, "%08x", f32_bits(x[i]));
    fprintf(to, ",%02x,", scale);
    for (int i = 0; i < BLOCK; i++)
        fprintf(to, "%02x", codes[i]);
    fputc('\n', to);
}

/* Blocks whose amax is x, the number below it, and the one above. */
static void write_amax(FILE *to, const char *name,
                       const struct assay_scale_rule *rule,
                       const struct assay_format *f, float amax)
{
    static const char *const suffix[] = { "-below", "", "-above" };
    for (uint32_t step = 0; step < 3; step++) {
        char full[64];
        float x[BLOCK];
        snprintf(full, sizeof full, "%s%s", name, suffix[step]);
        ramp(bits_f32(f32_bits(amax) + step - 1), x);
        write_block(to, full, rule, f, x);
    }
}

static void write_corners(FILE *to, const struct assay_scale_rule *rule,
                          const struct assay_format *f)
{
    float x[BLOCK];
    static const struct {
        const char *name;
        float value;
    } constant[] = {
        { "zeros", 0 },       { "minus-zeros", -0.0f },
        { "constant", 0.3f }, { "all-inf", -INFINITY },
        { "all-nan", NAN },   { "least", 0x1p-149f },
    };
    for (size_t i = 0; i < sizeof constant / sizeof *constant; i++) {
        fill(constant[i].value, x);
        write_block(to, constant[i].name, rule, f, x);
    }
    static const struct {
        const char *name;
        float value;
    } one[] = { { "one-inf", INFINITY }, { "one-nan", NAN } };
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        ramp(3, x);
        x[5] = one[i].value;
        write_block(to, one[i].name, rule, f, x);
    }
    wide(-12, 14, x);
    write_block(to, "wide", rule, f, x);
    wide(-149, 40, x);
    write_block(to, "wide-low", rule, f, x);
}

static void write_blocks(FILE *to)
{
    fputs("format,rule,rounding,case,inputs,scale,codes\n", to);
    for (int id = 0; id < ASSAY_FORMATS; id++)
        for (int n = 0; n < ASSAY_SCALE_RULES; n++) {
            const struct assay_format *f = narrow(id);
            const struct assay_scale_rule *rule =
                assay_scale_rule_get((enum assay_scale_rule_id)n);
            if (!f || f->top == ASSAY_TOP_POWER)
                continue;
            float max = assay_format_max(f);
            write_corners(to, rule, f);
            write_amax(to, "one", rule, f, 1);
            write_amax(to, "max", rule, f, max);
            write_amax(to, "small-max", rule, f, max * 0x1p-130f);
            /* below it a quotient is subnormal, a product may not be */
            write_amax(to, "max-of-normal", rule, f, max * 0x1p-126f);
            write_amax(to, "one-and-a-half", rule, f, 12);
            write_amax(to, "one-and-a-half-odd", rule, f, 24);
            write_amax(to, "one-and-three-quarters", rule, f, 1.75f);
            write_amax(to, "half-step", rule, f,
                       max + assay_format_ulp(f, max) / 2);
            write_amax(to, "smallest-normal", rule, f, 0x1p-126f);
            write_amax(to, "power-low", rule, f, 0x1p-118f);
            write_amax(to, "power-high", rule, f, 0x1p127f);
            write_amax(to, "high", rule, f, 0x1.cp127f);
        }
}

/* ---- packing ---- */

static void write_packed(FILE *to, const struct assay_packing *p, size_t n,
                         const uint8_t *codes)
{
    uint8_t bytes[64];
    assay_pack(p, n, codes, bytes);
    fprintf(to, "%s,%zu,", p->name, n);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%02x", codes[i]);
    fputc(',', to);
    for (size_t i = 0; i < assay_packing_bytes(p, n); i++)
        fprintf(to, "%02x", bytes[i]);
    fputc('\n', to);
}

static void write_packing(FILE *to)
{
    fputs("packing,count,codes,bytes\n", to);
    for (int id = 0; id < ASSAY_PACKINGS; id++) {
        const struct assay_packing *p =
            assay_packing_get((enum assay_packing_id)id);
        const uint8_t mask = (uint8_t)(0xff >> (8 - p->bits));
        uint8_t codes[64];
        for (size_t i = 0; i < 64; i++) /* odd steps: every code comes */
            codes[i] = (uint8_t)(37 * i + 1) & mask;
        for (size_t n = 1; n <= 40; n++)
            write_packed(to, p, n, codes);
        write_packed(to, p, 64, codes);
        for (size_t at = 0; at < BLOCK; at++) { /* one code of ones */
            memset(codes, 0, sizeof codes);
            codes[at] = mask;
            write_packed(to, p, BLOCK, codes);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(FILE *to);
    } tables[] = {
        { "codes", write_codes },
        { "rounding", write_rounding },
        { "blocks", write_blocks },
        { "packing", write_packing },
    };
    if (argc != 2) {
        fputs("usage: make_conformance DIR\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        FILE *to = open_csv(argv[1], tables[i].name);
        tables[i].write(to);
        close_csv(to);
    }
    return 0;
}
