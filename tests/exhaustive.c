/* SPDX-License-Identifier: MIT
 *
 * All 2^32 binary32 inputs through the encoders of every format of at most 16
 * bits, each rounding and overflow policy, against the thresholds of
 * tests/format_oracle.c. Arrays are encoded and rounded in full; the scalar
 * function, the slowest, sees every STRIDE-th input.
 *
 *   exhaustive [-p PART] [-s STRIDE] [FORMAT...]
 *
 * PART 100 does one in a hundred chunks of inputs. Prints one line a format;
 * exit status 1, with the input, at the first mismatch.
 */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/format.h"
#include "check_values.h"
#include "format_oracle.h"
#include "golden/clock.h"

/* Inputs of a chunk come in order and share their sign. */
enum { CHUNK = 1 << 12, LANES = 16, MOST = 0x7f80 + LANES };
#define CHUNKS (0x80000000u / CHUNK)

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

/* What one rounding of one format asks for. */
struct table {
    const struct oracle *o;
    uint32_t n;                              /* thresholds, padded */
    float threshold[MOST];                   /* NaN where padded */
    uint16_t code[ASSAY_OVERFLOWS][2][MOST]; /* of a count, by sign */
};
static struct table tables[ASSAY_ROUNDINGS];
static uint32_t value[0x10000]; /* bits of each code */

static struct {
    uint32_t part, stride;
    double start;
    _Atomic uint32_t done; /* chunks of this format */
} run = { .part = 1, .stride = 7 };

static void make_tables(const struct oracle *o)
{
    for (int r = 0; r < ASSAY_ROUNDINGS; r++) {
        struct table *t = &tables[r];
        t->o = o;
        t->n = (o->max + LANES) / LANES * LANES;
        for (uint32_t k = 0; k < t->n; k++)
            t->threshold[k] =
                k <= o->max ? oracle_threshold(o, (enum assay_rounding)r, k)
                            : NAN;
        for (int v = 0; v < ASSAY_OVERFLOWS; v++)
            for (uint32_t k = 0; k <= o->max + 1; k++)
                for (int sign = 0; sign < 2; sign++)
                    t->code[v][sign][k] = (uint16_t)oracle_code(
                        o, (enum assay_overflow)v, sign ? -1 : 1, k);
    }
    for (uint32_t code = 0; code < 1u << o->bits; code++)
        value[code] = oracle_bits(o, code);
}

/* Number of thresholds not above each input. */
CLONES static void count_all(const struct table *t, const float *x,
                             uint16_t *count)
{
    for (int i = 0; i < CHUNK; i += LANES) {
        int32_t n[LANES] = { 0 };
        for (uint32_t k = 0; k < t->n; k++)
            for (int j = 0; j < LANES; j++)
                n[j] += t->threshold[k] <= x[i + j];
        for (int j = 0; j < LANES; j++)
            count[i + j] = (uint16_t)n[j];
    }
}

static void count_sizes(const struct table *t, const float *x, uint16_t *count)
{
    if (t->o->bits <= 8)
        count_all(t, x, count);
    else
        for (int i = 0; i < CHUNK; i++)
            count[i] = (uint16_t)oracle_count(t->o, t->threshold, x[i]);
}

static void wrong(const struct table *t, int r, int v, float x, uint32_t want,
                  const char *who, uint32_t got)
{
    fflush(stdout);
    fprintf(stderr,
            "\n%s, %s, %s: %08" PRIx32 " (%a) gives %0*" PRIx32
            " by %s, not %0*" PRIx32 "\n",
            t->o->name, assay_rounding_get((enum assay_rounding)r)->name,
            assay_overflow_get((enum assay_overflow)v)->name, bits_of(x), x,
            (t->o->bits + 3) / 4, got, who, (t->o->bits + 3) / 4, want);
    _exit(1);
}

struct chunk {
    float x[CHUNK], rounded[CHUNK];
    uint16_t count[CHUNK], want[CHUNK], halves[CHUNK];
    uint8_t bytes[CHUNK];
};

static void want_codes(const struct table *t, int v, struct chunk *c)
{
    const uint32_t first = bits_of(c->x[0]), abs = first & 0x7fffffffu;
    const uint16_t *code = t->code[v][first >> 31];
    for (int i = 0; i < CHUNK; i++)
        c->want[i] = code[c->count[i]];
    /* zero and NaN have codes of their own */
    for (int i = 0; i < CHUNK && (abs == 0 || abs >= 0x7f800000u); i++)
        if (c->x[i] == 0 || isnan(c->x[i]))
            c->want[i] = (uint16_t)oracle_code(t->o, (enum assay_overflow)v,
                                               c->x[i], c->count[i]);
}

static void check_arrays(const struct table *t, int r, int v, struct chunk *c)
{
    const struct assay_format *f = assay_format_get(t->o->id);
    const enum assay_rounding rounding = (enum assay_rounding)r;
    const enum assay_overflow overflow = (enum assay_overflow)v;
    const bool narrow = f->bits <= 8;
    uint32_t bad = 0;
    assay_format_encode(f, rounding, overflow, CHUNK, c->x,
                        narrow ? (void *)c->bytes : c->halves);
    assay_format_round(f, rounding, overflow, CHUNK, c->x, c->rounded);
    for (int i = 0; i < CHUNK && narrow; i++)
        c->halves[i] = c->bytes[i];
    for (int i = 0; i < CHUNK; i++)
        bad |= (uint32_t)(c->halves[i] ^ c->want[i]) |
               (bits_of(c->rounded[i]) ^ value[c->want[i]]);
    for (int i = 0; i < CHUNK && bad; i++) {
        if (c->halves[i] != c->want[i])
            wrong(t, r, v, c->x[i], c->want[i], "encode", c->halves[i]);
        if (bits_of(c->rounded[i]) != value[c->want[i]])
            wrong(t, r, v, c->x[i], value[c->want[i]], "round",
                  bits_of(c->rounded[i]));
    }
}

static void check_scalar(const struct table *t, int r, int v, uint64_t at,
                         const struct chunk *c)
{
    const struct assay_format *f = assay_format_get(t->o->id);
    uint64_t skip = (run.stride - at % run.stride) % run.stride;
    for (uint64_t i = skip; i < CHUNK; i += run.stride) {
        uint32_t got = assay_format_encode_one(f, (enum assay_rounding)r,
                                               (enum assay_overflow)v, c->x[i]);
        if (got != c->want[i])
            wrong(t, r, v, c->x[i], c->want[i], "encode_one", got);
    }
}

/* Policies that differ: symmetric is int8's alone. */
static int policies(const struct oracle *o)
{
    return o->id == ASSAY_INT8 ? ASSAY_OVERFLOWS : ASSAY_SYMMETRIC;
}

static void check_chunk(uint32_t number)
{
    struct chunk c;
    for (int r = 0; r < ASSAY_ROUNDINGS; r++) {
        const struct table *t = &tables[r];
        for (uint32_t sign = 0; sign < 2; sign++) {
            const uint32_t first = number * CHUNK | sign << 31;
            for (uint32_t i = 0; i < CHUNK; i++)
                c.x[i] = float_of(first + i);
            if (sign == 0)
                count_sizes(t, c.x, c.count);
            for (int v = 0; v < policies(t->o); v++) {
                want_codes(t, v, &c);
                check_arrays(t, r, v, &c);
                check_scalar(t, r, v, first, &c);
            }
        }
    }
}

static void progress(const char *name)
{
    double part = (double)++run.done * run.part / CHUNKS;
    double took = seconds() - run.start;
    if (run.done % 1024 == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-9s %3.0f %%, %4.0f s left ", name, 100 * part,
                took / part - took);
}

static void check_format(const struct oracle *o)
{
    const int64_t chunks = (CHUNKS + run.part - 1) / run.part;
    run.start = seconds();
    run.done = 0;
    make_tables(o);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < chunks; i++) {
        check_chunk((uint32_t)i * run.part);
        progress(o->name);
    }
    double took = seconds() - run.start, inputs = 2.0 * CHUNK * (double)chunks;
    int ways = ASSAY_ROUNDINGS * policies(o);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%40s\r", "");
    printf("%-9s %10.0f inputs x %2d ways, 0 mismatches, %6.1f s, "
           "%5.0f M/s\n",
           o->name, inputs, ways, took, 1e-6 * inputs * ways / took);
    fflush(stdout);
}

static int usage(void)
{
    fputs("usage: exhaustive [-p PART] [-s STRIDE] [FORMAT...]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const double start = seconds();
    for (int o; (o = getopt(argc, argv, "p:s:")) != -1;) {
        char *end;
        unsigned long n = o == '?' ? 0 : strtoul(optarg, &end, 10);
        if (n == 0 || n > CHUNKS || *end)
            return usage();
        *(o == 'p' ? &run.part : &run.stride) = (uint32_t)n;
    }
    for (int i = optind; i < argc; i++)
        if (!assay_format_find(argv[i]) ||
            assay_format_find(argv[i])->bits > 16)
            return usage();
    for (int id = 0; id < ASSAY_FORMATS; id++) {
        bool asked = optind == argc && oracles[id].bits <= 16;
        for (int i = optind; i < argc; i++)
            asked |= strcmp(argv[i], oracles[id].name) == 0;
        if (asked)
            check_format(&oracles[id]);
    }
    printf("all in %.0f s\n", seconds() - start);
    return 0;
}
