/* SPDX-License-Identifier: MIT
 *
 * Reads the tables of data/conformance/ and holds each row to
 * tests/format_oracle.c and tests/block_oracle.c: an answer that is not
 * libassay's. Also looks that no code, midpoint, special value, or block of a
 * format is missing.
 *
 *   read_conformance DIR
 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_oracle.h"
#include "check_values.h"
#include "format_oracle.h"

enum { FIELDS = 16, BLOCK = 32, RULES = 12, BLOCK_FORMATS = 8, CASES = 46 };

static struct {
    FILE *from;
    const char *name;
    int line, fields;
    char text[1024];
    char *field[FIELDS];
} csv;

__attribute__((format(printf, 1, 2), noreturn)) static void
wrong(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%s.csv, line %d: ", csv.name, csv.line);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    exit(1);
}

static bool next_line(void)
{
    if (!fgets(csv.text, sizeof csv.text, csv.from))
        return false;
    csv.line++;
    csv.text[strcspn(csv.text, "\n")] = 0;
    char *rest = csv.text;
    for (csv.fields = 0; rest && csv.fields < FIELDS; csv.fields++)
        csv.field[csv.fields] = strsep(&rest, ",");
    return true;
}

static void open_csv(const char *dir, const char *name, const char *header)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.csv", dir, name);
    csv.name = name;
    csv.line = 0;
    if (!(csv.from = fopen(path, "r")) ||
        !fgets(csv.text, sizeof csv.text, csv.from))
        wrong("cannot be read");
    csv.line = 1;
    csv.text[strcspn(csv.text, "\n")] = 0;
    if (strcmp(csv.text, header) != 0)
        wrong("the header is not \"%s\"", header);
}

static void close_csv(void)
{
    printf("%s.csv: %d rows agree\n", csv.name, csv.line - 1);
    fclose(csv.from);
}

static const struct oracle *oracle_of(const char *name)
{
    for (int id = 0; id < ASSAY_FORMATS; id++)
        if (strcmp(oracles[id].name, name) == 0 && oracles[id].bits <= 8)
            return &oracles[id];
    wrong("no format of 8 bits is called %s", name);
}

/* `digits` hexadecimal digits at `at`. */
static uint32_t hex(const char *at, int digits)
{
    char word[9] = { 0 }, *end;
    memcpy(word, at, strnlen(at, (size_t)digits));
    uint32_t value = (uint32_t)strtoul(word, &end, 16);
    if (end != word + digits)
        wrong("\"%.8s\" is not of %d hexadecimal digits", at, digits);
    return value;
}

/* Thresholds, made once. */
static const float *thresholds(const struct oracle *o, int rounding)
{
    static float *all[ASSAY_FORMATS][ASSAY_ROUNDINGS];
    float **t = &all[o->id][rounding];
    if (!*t)
        *t = oracle_thresholds(o, (enum assay_rounding)rounding);
    return *t;
}

/* ---- codes ---- */

static const char *class_of(const struct oracle *o, uint32_t code)
{
    double v = oracle_value(o, code);
    uint32_t size = code & ((1u << (o->bits - 1)) - 1);
    bool low =
        o->id != ASSAY_INT8 && o->id != ASSAY_E8M0 && size >> o->man == 0;
    return isnan(v)   ? "nan"
           : isinf(v) ? "infinity"
           : v == 0   ? "zero"
           : low      ? "subnormal"
                      : "normal";
}

static void read_codes(const char *dir)
{
    uint32_t seen[ASSAY_FORMATS] = { 0 };
    open_csv(dir, "codes", "format,code,value,decimal,class");
    while (next_line()) {
        if (csv.fields != 5)
            wrong("%d fields", csv.fields);
        const struct oracle *o = oracle_of(csv.field[0]);
        uint32_t code = hex(csv.field[1], 2);
        double want = oracle_value(o, code);
        if (code != seen[o->id]++)
            wrong("code %02x is not the next one", code);
        if (!same_double(strtod(csv.field[2], NULL), want))
            wrong("%s %02x is %a", o->name, code, want);
        if (!same_float(strtof(csv.field[3], NULL), (float)want))
            wrong("%s %02x is %.9g", o->name, code, want);
        if (strcmp(csv.field[4], class_of(o, code)) != 0)
            wrong("%s %02x is %s", o->name, code, class_of(o, code));
    }
    for (int id = 0; id < ASSAY_FORMATS; id++)
        if (oracles[id].bits <= 8 && seen[id] != 1u << oracles[id].bits)
            wrong("%s has %u codes", oracles[id].name, seen[id]);
    close_csv();
}

/* ---- rounding ---- */

static void read_input(const struct oracle *o, float x)
{
    for (int way = 0; way < 12; way++) {
        uint32_t k =
            isnan(x) ? 0 : oracle_count(o, thresholds(o, way / 3), fabsf(x));
        uint32_t want = oracle_code(o, (enum assay_overflow)(way % 3), x, k);
        if (hex(csv.field[2 + way], 2) != want)
            wrong("column %d is %s, not %02x", 3 + way, csv.field[2 + way],
                  want);
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void must_have(const struct oracle *o, size_t n, const uint32_t *inputs,
                      uint32_t bits)
{
    for (int sign = 0; sign < 2; sign++, bits ^= 0x80000000u)
        if (!bsearch(&bits, inputs, n, sizeof bits, by_number))
            wrong("%s lacks input %08x", o->name, bits);
}

static void must_have_all(const struct oracle *o, size_t n, uint32_t *inputs)
{
    static const uint32_t specials[] = { 0,          1,          0x7fffff,
                                         0x800000,   0x7f7fffff, 0x7f800000,
                                         0x7f800001, 0x7fc00000, 0x7fffffff };
    qsort(inputs, n, sizeof *inputs, by_number);
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        must_have(o, n, inputs, specials[i]);
    for (uint32_t k = 0; k <= o->max; k++) {
        uint32_t middle =
            bits_of((float)((oracle_size(o, k) + oracle_size(o, k + 1)) / 2));
        for (uint32_t step = 0; step < 3; step++)
            must_have(o, n, inputs, middle + step - 1);
    }
    for (uint32_t step = 0; step < 3; step++)
        must_have(o, n, inputs,
                  bits_of((float)oracle_size(o, o->max)) + step - 1);
}

static void read_rounding(const char *dir)
{
    enum { MOST = 2000 };
    static uint32_t inputs[ASSAY_FORMATS][MOST];
    size_t n[ASSAY_FORMATS] = { 0 };
    open_csv(dir, "rounding",
             "format,input,nearest-even saturate,nearest-even special,"
             "nearest-even symmetric,ties-to-zero saturate,ties-to-zero "
             "special,ties-to-zero symmetric,ties-away saturate,ties-away "
             "special,ties-away symmetric,toward-zero saturate,toward-zero "
             "special,toward-zero symmetric");
    while (next_line()) {
        if (csv.fields != 14)
            wrong("%d fields", csv.fields);
        const struct oracle *o = oracle_of(csv.field[0]);
        uint32_t bits = hex(csv.field[1], 8);
        read_input(o, float_of(bits));
        if (n[o->id] == MOST)
            wrong("more than %d inputs of %s", MOST, o->name);
        inputs[o->id][n[o->id]++] = bits;
    }
    for (int id = 0; id < ASSAY_FORMATS; id++)
        if (oracles[id].bits <= 8)
            must_have_all(&oracles[id], n[id], inputs[id]);
    close_csv();
}

/* ---- blocks ---- */

static void read_block(void)
{
    const struct oracle *o = oracle_of(csv.field[0]);
    const struct block_rule *rule = block_rule_find(csv.field[1]);
    float x[BLOCK];
    uint8_t codes[BLOCK];
    if (!rule)
        wrong("no rule is called %s", csv.field[1]);
    const enum assay_rounding rounding = block_rule_rounding(rule);
    if (strcmp(csv.field[2], assay_rounding_get(rounding)->name) != 0)
        wrong("%s rounds elements %s", csv.field[1],
              assay_rounding_get(rounding)->name);
    if (strlen(csv.field[4]) != 8 * BLOCK || strlen(csv.field[6]) != 2 * BLOCK)
        wrong("not %d elements", BLOCK);
    for (int i = 0; i < BLOCK; i++)
        x[i] = float_of(hex(csv.field[4] + 8 * i, 8));
    uint8_t byte =
        block_oracle(rule, o, thresholds(o, rounding), BLOCK, x, codes);
    if (hex(csv.field[5], 2) != byte)
        wrong("the scale of %s %s %s is %02x", csv.field[0], csv.field[1],
              csv.field[3], byte);
    for (int i = 0; i < BLOCK; i++)
        if (hex(csv.field[6] + 2 * i, 2) != codes[i])
            wrong("element %d (%a) of %s %s %s is %02x", i, x[i], csv.field[0],
                  csv.field[1], csv.field[3], codes[i]);
}

static void read_blocks(const char *dir)
{
    char last[64] = "", now[64];
    int pairs = 0, cases = CASES;
    open_csv(dir, "blocks", "format,rule,rounding,case,inputs,scale,codes");
    while (next_line()) {
        if (csv.fields != 7)
            wrong("%d fields", csv.fields);
        snprintf(now, sizeof now, "%s %s", csv.field[0], csv.field[1]);
        if (strcmp(last, now) != 0) {
            if (cases != CASES)
                wrong("%d cases of %s", cases, last);
            strcpy(last, now);
            pairs++;
            cases = 0;
        }
        cases++;
        read_block();
    }
    if (pairs != RULES * BLOCK_FORMATS || cases != CASES)
        wrong("%d pairs of a format and a rule", pairs);
    close_csv();
}

/* ---- packing ---- */

/* Bit b of element i, of a little-endian stream of fields. */
static size_t bit_at(const char *packing, size_t bits, size_t i, size_t b)
{
    size_t field = i, group = i / 32 * 32, e = i % 32;
    if (strcmp(packing, "interleaved6") == 0)
        field = group + (e < 16 ? 2 * e : 2 * e - 31);
    return field * bits + b;
}

static void read_packed(void)
{
    const char *name = csv.field[0];
    const size_t n = strtoul(csv.field[1], NULL, 10);
    const bool whole = strcmp(name, "interleaved6") == 0;
    const size_t bits = strcmp(name, "bytes") == 0     ? 8
                        : strcmp(name, "nibbles") == 0 ? 4
                                                       : 6;
    const size_t bytes = whole ? (n + 31) / 32 * 24 : (n * bits + 7) / 8;
    uint8_t want[64] = { 0 };
    if (strlen(csv.field[2]) != 2 * n || strlen(csv.field[3]) != 2 * bytes)
        wrong("%zu codes take %zu bytes", n, bytes);
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < bits; b++) {
            size_t at = bit_at(name, bits, i, b);
            uint32_t bit = hex(csv.field[2] + 2 * i, 2) >> b & 1;
            want[at / 8] |= (uint8_t)(bit << at % 8);
        }
    for (size_t i = 0; i < bytes; i++)
        if (hex(csv.field[3] + 2 * i, 2) != want[i])
            wrong("byte %zu is not %02x", i, want[i]);
}

static void read_packing(const char *dir)
{
    static const char *const names[] = { "bytes", "nibbles", "stream6",
                                         "interleaved6" };
    int seen[4] = { 0 };
    open_csv(dir, "packing", "packing,count,codes,bytes");
    while (next_line()) {
        if (csv.fields != 4)
            wrong("%d fields", csv.fields);
        int id = 0;
        while (id < 4 && strcmp(names[id], csv.field[0]) != 0)
            id++;
        if (id == 4)
            wrong("no packing is called %s", csv.field[0]);
        seen[id]++;
        read_packed();
    }
    for (int id = 0; id < 4; id++)
        if (seen[id] != 73)
            wrong("%d rows of %s", seen[id], names[id]);
    close_csv();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: read_conformance DIR\n", stderr);
        return 2;
    }
    read_codes(argv[1]);
    read_rounding(argv[1]);
    read_blocks(argv[1]);
    read_packing(argv[1]);
    return 0;
}
