/* SPDX-License-Identifier: MIT
 *
 * Block scales on arrays. Work goes in pieces that stay in the first cache:
 * the largest |x| of each block, the scale bytes of all of them at once, the
 * elements. Along the last axis a block is a piece of a row; along another
 * axis it is a few rows, and every column of them has a scale of its own.
 */
#include "assay/block.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bits.h"
#include "round.h"
#include "scale_rule.h"

enum {
    BLOCKS = 64,     /* blocks of a row whose scales are found in one go */
    PIECE = 2048,    /* elements of them that go through a buffer in one go */
    COLUMNS = 256,   /* the same across columns */
    FLUSH_BELOW = 20 /* subnormals come to less than 2^-19 from this byte on,
                      * which every format rounds to zero anyway */
};

/* What every loop needs. */
struct job {
    const struct assay_blocks *b;
    struct rule_shape rule;
    struct bounded_shape bounded;
    bool saturates;
    uint32_t tiny; /* smaller bits count as zero */
};

static struct job job_of(const struct assay_blocks *b)
{
    const struct assay_format *f = b->format;
    return (struct job){
        .b = b,
        .rule = rule_shape(b->rule, f),
        .bounded = bounded_shape(f, b->overflow),
        .saturates =
            b->overflow != ASSAY_SPECIAL || !(f->inf_code | f->nan_code),
        .tiny = b->rule->flush ? f32_bits(FLT_MIN) : 0,
    };
}

/* What is done with blocks; the arrays that it does not use are NULL. */
struct arrays {
    enum { ENCODE, DECODE, ROUND } action;
    const float *in;
    float *out;
    const uint8_t *codes_in, *scales_in;
    uint8_t *codes, *scales;
};

/* Some blocks, side by side: a piece of a row, or columns of a few rows. */
struct group {
    int64_t n;
    bool bounded;  /* round_bounded() takes all elements */
    bool poisoned; /* some scale is NaN */
    uint32_t tiny;
    uint32_t amax[COLUMNS], bytes[COLUMNS];
    float inverse[COLUMNS], scale[COLUMNS];
};

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* 2^(byte - 127), and 2^(127 - byte). */
static inline float scale_of(uint32_t byte)
{
    uint32_t bits = byte == 0 ? 0x00400000u : byte << 23;
    return bits_f32(byte == 255 ? 0x7fc00000u : bits);
}

static inline float inverse_of(uint32_t byte)
{
    uint32_t bits = (254 - byte) << 23;
    return bits_f32(byte >= 254 ? 0x00400000u : bits);
}

ASSAY_CLONES
static void factors(int64_t n, const uint32_t *bytes, float *inverse,
                    float *scale)
{
    for (int64_t k = 0; k < n; k++) {
        inverse[k] = inverse_of(bytes[k]);
        scale[k] = scale_of(bytes[k]);
    }
}

static inline float flushed(uint32_t tiny, float x)
{
    uint32_t bits = f32_bits(x), sign = bits & 0x80000000u;
    return bits_f32((bits ^ sign) < tiny ? sign : bits);
}

/* |bits| of a number, or of a NaN if those count. They compare as they are. */
static inline int32_t size_of(float x)
{
    return (int32_t)(f32_bits(x) & 0x7fffffffu);
}

/* Scale bytes and all that follows from them. */
static void group_scales(const struct job *job, struct group *g)
{
    uint32_t least = 255, most = 0, top = 0;
    rule_bytes(&job->rule, (size_t)g->n, g->amax, g->bytes);
    for (int64_t k = 0; k < g->n; k++) {
        least = g->bytes[k] < least ? g->bytes[k] : least;
        most = g->bytes[k] > most ? g->bytes[k] : most;
        top = g->amax[k] > top ? g->amax[k] : top;
    }
    g->poisoned = most == 255;
    g->tiny = least < FLUSH_BELOW ? job->tiny : 0;
    g->bounded &=
        job->saturates && top < 0x7f800000u && most < 255 && g->tiny == 0;
    factors(g->n, g->bytes, g->inverse, g->scale);
}

/* Scale bytes from memory. */
static void group_load(struct group *g, const uint8_t *scales)
{
    g->poisoned = false;
    for (int64_t k = 0; k < g->n; k++) {
        g->bytes[k] = scales[k];
        g->poisoned |= scales[k] == 255;
    }
    factors(g->n, g->bytes, g->inverse, g->scale);
}

/* A NaN scale has one answer, whatever the elements' own signs are. */
static void poison(const struct job *job, const struct arrays *a, int64_t at,
                   int64_t n)
{
    const struct assay_blocks *b = job->b;
    if (a->action == ENCODE)
        memset(a->codes + at,
               (int)assay_format_encode_one(b->format, b->rounding, b->overflow,
                                            NAN),
               (size_t)n);
    else
        for (int64_t i = at; i < at + n; i++)
            a->out[i] = bits_f32(0x7fc00000u);
}

/* ---- rows: blocks of contiguous elements ---- */

static inline uint32_t amax_of(int64_t n, const float *x)
{
    int32_t amax = 0;
    for (int64_t i = 0; i < n; i++)
        amax = size_of(x[i]) > amax ? size_of(x[i]) : amax;
    return (uint32_t)amax;
}

/* Loops over blocks are written out for 32, where the compiler then leaves no
 * inner loop. */
ASSAY_CLONES
static void row_amax(int64_t blocks, int64_t block, const float *x,
                     uint32_t *amax)
{
    if (block == 32)
        for (int64_t k = 0; k < blocks; k++)
            amax[k] = amax_of(32, x + k * 32);
    else
        for (int64_t k = 0; k < blocks; k++)
            amax[k] = amax_of(block, x + k * block);
}

static uint32_t amax_of_numbers(int64_t n, const float *x)
{
    int32_t amax = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(x[i]) && size_of(x[i]) > amax)
            amax = size_of(x[i]);
    return (uint32_t)amax;
}

static void row_scales(const struct job *job, int64_t block, const float *x,
                       struct group *g)
{
    row_amax(g->n, block, x, g->amax);
    g->bounded = true;
    for (int64_t k = 0; k < g->n && !job->b->rule->poison; k++)
        if (g->amax[k] > 0x7f800000u) {
            g->amax[k] = amax_of_numbers(block, x + k * block);
            g->bounded = false;
        }
    group_scales(job, g);
}

#define ROUND(size)                                         \
    for (int64_t i = k * (size); i < (k + 1) * (size); i++) \
        out[i] = scale[k] * round_bounded(s, rounding, in[i] * inverse[k]);
#define BODY(ROUNDING)                                 \
    {                                                  \
        const enum assay_rounding rounding = ROUNDING; \
        if (block == 32)                               \
            for (int64_t k = 0; k < blocks; k++)       \
                ROUND(32)                              \
        else                                           \
            for (int64_t k = 0; k < blocks; k++)       \
                ROUND(block)                           \
    }
ROUND_LOOPS(round_blocks,
            (struct bounded_shape s, int64_t blocks, int64_t block,
             const float *inverse, const float *scale, const float *in,
             float *out),
            BODY)
#undef BODY
#undef ROUND

/* Whole blocks, or a part of one, times what each has. */
ASSAY_CLONES
static void times_blocks(uint32_t tiny, int64_t n, int64_t block,
                         const float *times, const float *in, float *out)
{
    if (block == 32 && n % 32 == 0)
        for (int64_t k = 0; k < n / 32; k++)
            for (int64_t i = k * 32; i < (k + 1) * 32; i++)
                out[i] = flushed(tiny, in[i]) * times[k];
    else
        for (int64_t k = 0; k * block < n; k++)
            for (int64_t i = k * block; i < least_of(n, (k + 1) * block); i++)
                out[i] = flushed(tiny, in[i]) * times[k];
}

/* One buffer full: all blocks of a group, or a part of the one there is. */
static void do_buffer(const struct job *job, const struct arrays *a, int64_t at,
                      int64_t n, int64_t block, const struct group *g)
{
    const struct assay_blocks *b = job->b;
    float scaled[PIECE];
    if (a->action == DECODE) {
        assay_format_decode(b->format, (size_t)n, a->codes_in + at, scaled);
        times_blocks(0, n, block, g->scale, scaled, a->out + at);
        return;
    }
    times_blocks(g->tiny, n, block, g->inverse, a->in + at, scaled);
    if (a->action == ENCODE) {
        assay_format_encode(b->format, b->rounding, b->overflow, (size_t)n,
                            scaled, a->codes + at);
    } else {
        assay_format_round(b->format, b->rounding, b->overflow, (size_t)n,
                           scaled, scaled);
        times_blocks(0, n, block, g->scale, scaled, a->out + at);
    }
}

static void do_piece(const struct job *job, const struct arrays *a, int64_t at,
                     int64_t first, int64_t block, struct group *g)
{
    if (a->action == DECODE)
        group_load(g, a->scales_in + first);
    else
        row_scales(job, block, a->in + at, g);
    for (int64_t k = 0; k < g->n && a->action == ENCODE; k++)
        a->scales[first + k] = (uint8_t)g->bytes[k];
    if (a->action == ROUND && g->bounded)
        round_blocks[job->b->rounding](job->bounded, g->n, block, g->inverse,
                                       g->scale, a->in + at, a->out + at);
    else
        for (int64_t i = 0; i < g->n * block; i += PIECE)
            do_buffer(job, a, at + i, least_of(PIECE, g->n * block - i), block,
                      g);
    for (int64_t k = 0; k < g->n && g->poisoned; k++)
        if (g->bytes[k] == 255)
            poison(job, a, at + k * block, block);
}

static void do_rows(const struct job *job, const struct arrays *a)
{
    const int64_t block = job->b->block, room = PIECE / block;
    int64_t rows = job->b->outer, length = job->b->length, first = 0;
    struct group g;
    if (length % block == 0) { /* no block is short: the rows are one */
        length *= rows;
        rows = 1;
    }
    for (int64_t row = 0; row < rows; row++) {
        const int64_t start = row * length, full = length / block;
        for (int64_t k = 0; k < full; k += g.n, first += g.n) {
            g.n = least_of(room < 1 ? 1 : least_of(room, BLOCKS), full - k);
            do_piece(job, a, start + k * block, first, block, &g);
        }
        g.n = 1;
        if (length % block)
            do_piece(job, a, start + full * block, first++, length % block, &g);
    }
}

/* ---- columns: blocks of elements that are `inner` apart ---- */

ASSAY_CLONES
static void column_amax(int64_t rows, int64_t inner, int64_t n, const float *x,
                        uint32_t *amax)
{
    for (int64_t t = 0; t < rows; t++)
        for (int64_t c = 0; c < n; c++) {
            int32_t size = size_of(x[t * inner + c]);
            int32_t top = (int32_t)amax[c];
            amax[c] = (uint32_t)(size > top ? size : top);
        }
}

static void column_amax_of_numbers(int64_t rows, int64_t inner, int64_t n,
                                   const float *x, uint32_t *amax)
{
    for (int64_t t = 0; t < rows; t++)
        for (int64_t c = 0; c < n; c++) {
            const float v = x[t * inner + c];
            if (!isnan(v) && (uint32_t)size_of(v) > amax[c])
                amax[c] = (uint32_t)size_of(v);
        }
}

static void column_scales(const struct job *job, int64_t rows, const float *x,
                          struct group *g)
{
    const int64_t inner = job->b->inner;
    bool nan = false;
    memset(g->amax, 0, sizeof g->amax);
    column_amax(rows, inner, g->n, x, g->amax);
    for (int64_t c = 0; c < g->n; c++)
        nan |= g->amax[c] > 0x7f800000u;
    g->bounded = !nan;
    if (nan && !job->b->rule->poison) {
        memset(g->amax, 0, sizeof g->amax);
        column_amax_of_numbers(rows, inner, g->n, x, g->amax);
    }
    group_scales(job, g);
}

ASSAY_CLONES
static void times_columns(uint32_t tiny, int64_t n, const float *times,
                          const float *in, float *out)
{
    for (int64_t c = 0; c < n; c++)
        out[c] = flushed(tiny, in[c]) * times[c];
}

#define BODY(rounding)                                                         \
    {                                                                          \
        for (int64_t t = 0; t < rows; t++, in += inner, out += inner)          \
            for (int64_t c = 0; c < n; c++)                                    \
                out[c] =                                                       \
                    scale[c] * round_bounded(s, rounding, in[c] * inverse[c]); \
    }
ROUND_LOOPS(round_columns,
            (struct bounded_shape s, int64_t rows, int64_t inner, int64_t n,
             const float *inverse, const float *scale, const float *in,
             float *out),
            BODY)
#undef BODY

/* One row of a group of columns. */
static void do_row(const struct job *job, const struct arrays *a, int64_t at,
                   const struct group *g)
{
    const struct assay_blocks *b = job->b;
    float scaled[COLUMNS];
    if (a->action == DECODE) {
        assay_format_decode(b->format, (size_t)g->n, a->codes_in + at, scaled);
        times_columns(0, g->n, g->scale, scaled, a->out + at);
        return;
    }
    times_columns(g->tiny, g->n, g->inverse, a->in + at, scaled);
    if (a->action == ENCODE) {
        assay_format_encode(b->format, b->rounding, b->overflow, (size_t)g->n,
                            scaled, a->codes + at);
    } else {
        assay_format_round(b->format, b->rounding, b->overflow, (size_t)g->n,
                           scaled, scaled);
        times_columns(0, g->n, g->scale, scaled, a->out + at);
    }
}

static void do_columns(const struct job *job, const struct arrays *a,
                       int64_t at, int64_t first, int64_t rows, struct group *g)
{
    const int64_t inner = job->b->inner;
    if (a->action == DECODE)
        group_load(g, a->scales_in + first);
    else
        column_scales(job, rows, a->in + at, g);
    for (int64_t c = 0; c < g->n && a->action == ENCODE; c++)
        a->scales[first + c] = (uint8_t)g->bytes[c];
    if (a->action == ROUND && g->bounded) {
        round_columns[job->b->rounding](job->bounded, rows, inner, g->n,
                                        g->inverse, g->scale, a->in + at,
                                        a->out + at);
        return;
    }
    for (int64_t t = 0; t < rows; t++) {
        do_row(job, a, at + t * inner, g);
        for (int64_t c = 0; c < g->n && g->poisoned; c++)
            if (g->bytes[c] == 255)
                poison(job, a, at + t * inner + c, 1);
    }
}

static void do_blocks(const struct job *job, const struct arrays *a)
{
    const struct assay_blocks *b = job->b;
    struct group g;
    int64_t first = 0;
    if (assay_blocks_elems(b) == 0)
        return;
    if (b->inner == 1) {
        do_rows(job, a);
        return;
    }
    for (int64_t o = 0; o < b->outer; o++)
        for (int64_t t = 0; t < b->length; t += b->block) {
            const int64_t rows = least_of(b->block, b->length - t);
            const int64_t at = (o * b->length + t) * b->inner;
            for (int64_t c = 0; c < b->inner; c += COLUMNS) {
                g.n = least_of(COLUMNS, b->inner - c);
                do_columns(job, a, at + c, first + c, rows, &g);
            }
            first += b->inner;
        }
}

/* ---- public ---- */

static int64_t or_one(int64_t n)
{
    return n > 0 ? n : 1;
}

enum assay_status assay_blocks_check(const struct assay_blocks *b,
                                     struct assay_error *err)
{
    int64_t n;
    if (b->format->bits > 8 || b->format->top == ASSAY_TOP_POWER)
        return assay_fail(err, ASSAY_USAGE,
                          "block scales are for elements of at most 8 bits "
                          "that are no scales themselves, %s is not one",
                          b->format->name);
    if (b->block < 1)
        return assay_fail(err, ASSAY_SHAPE,
                          "a block of %" PRId64 " elements is not possible",
                          b->block);
    if (b->outer < 0 || b->length < 0 || b->inner < 0)
        return assay_fail(err, ASSAY_SHAPE,
                          "an array of %" PRId64 " x %" PRId64 " x %" PRId64
                          " is not possible",
                          b->outer, b->length, b->inner);
    /* also where one of them is 0, so that no product of others overflows */
    if (__builtin_mul_overflow(or_one(b->outer), or_one(b->inner), &n) ||
        __builtin_mul_overflow(n, or_one(b->length), &n) ||
        n > INT64_MAX / (int64_t)sizeof(float))
        return assay_fail(err, ASSAY_SHAPE,
                          "an array of %" PRId64 " x %" PRId64 " x %" PRId64
                          " is too large",
                          b->outer, b->length, b->inner);
    return ASSAY_OK;
}

int64_t assay_blocks_elems(const struct assay_blocks *b)
{
    return b->outer * b->length * b->inner;
}

int64_t assay_blocks_scales(const struct assay_blocks *b)
{
    return b->outer * b->inner *
           (b->length / b->block + (b->length % b->block != 0));
}

void assay_blocks_encode(const struct assay_blocks *b, const float *x,
                         uint8_t *codes, uint8_t *scales)
{
    const struct job job = job_of(b);
    do_blocks(&job, &(struct arrays){ .action = ENCODE,
                                      .in = x,
                                      .codes = codes,
                                      .scales = scales });
}

void assay_blocks_decode(const struct assay_blocks *b, const uint8_t *codes,
                         const uint8_t *scales, float *x)
{
    const struct job job = job_of(b);
    do_blocks(&job, &(struct arrays){ .action = DECODE,
                                      .out = x,
                                      .codes_in = codes,
                                      .scales_in = scales });
}

void assay_blocks_round(const struct assay_blocks *b, const float *in,
                        float *out)
{
    const struct job job = job_of(b);
    do_blocks(&job, &(struct arrays){ .action = ROUND, .in = in, .out = out });
}
