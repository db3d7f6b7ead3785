/* SPDX-License-Identifier: MIT
 *
 * Speed of element formats and block scales, as ns an element and as times a
 * multiply-copy of the same bytes, made in turns in the same run: ratios
 * travel, absolute figures do not. Built thrice: as the library is, and with
 * the registers of AVX2 and of plain x86-64 alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/block.h"
#include "assay/memory.h"
#include "golden/clock.h"
#include "ref/bits.h"

enum { N = 1 << 20, ROUNDS = 30, HEAD = 128 };

#ifndef BENCH_CODE
#define BENCH_CODE "run-time dispatch"
#endif

ASSAY_CLONES
static void copy(size_t n, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * 1.5f;
}

struct work {
    const struct assay_format *format;
    struct assay_blocks rows, tokens, ties;
    float *x, *y;
    uint8_t *codes, *scales;
};

static void do_copy(struct work *w)
{
    copy(N, w->x, w->y);
}

static void do_rows(struct work *w)
{
    assay_blocks_round(&w->rows, w->x, w->y);
}

static void do_tokens(struct work *w)
{
    assay_blocks_round(&w->tokens, w->x, w->y);
}

static void do_ties(struct work *w)
{
    assay_blocks_round(&w->ties, w->x, w->y);
}

static void do_encode(struct work *w)
{
    assay_blocks_encode(&w->rows, w->x, w->codes, w->scales);
}

static void do_decode(struct work *w)
{
    assay_blocks_decode(&w->rows, w->codes, w->scales, w->y);
}

static void do_plain_encode(struct work *w)
{
    assay_format_encode(w->format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, N, w->x,
                        w->codes);
}

static void do_plain_decode(struct work *w)
{
    assay_format_decode(w->format, N, w->codes, w->y);
}

/* A 16th of the elements by definition: it is slow. */
static void do_scalar(struct work *w)
{
    for (size_t i = 0; i < N / 16; i++)
        w->codes[i] = (uint8_t)assay_format_encode_one(
            w->format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, w->x[i]);
}

static const struct task {
    const char *name;
    void (*run)(struct work *w);
    double share;
} tasks[] = {
    { "copy", do_copy, 1 },           { "blocks", do_rows, 1 },
    { "tokens", do_tokens, 1 },       { "ties-0", do_ties, 1 },
    { "b-encode", do_encode, 1 },     { "b-decode", do_decode, 1 },
    { "encode", do_plain_encode, 1 }, { "decode", do_plain_decode, 1 },
    { "one", do_scalar, 1. / 16 },
};
enum { TASKS = sizeof tasks / sizeof *tasks };

static void measure(struct work *w)
{
    double best[TASKS];
    const struct assay_blocks rows = {
        .format = w->format,
        .rule = assay_scale_rule_get(ASSAY_SCALE_RULE_FLOOR),
        .rounding = ASSAY_NEAREST_EVEN,
        .overflow = ASSAY_SATURATE,
        .block = 32,
        .outer = N / HEAD,
        .length = HEAD,
        .inner = 1,
    };
    w->rows = w->tokens = w->ties = rows;
    w->tokens.outer = 1;
    w->tokens.length = N / HEAD;
    w->tokens.inner = HEAD;
    w->ties.rounding = ASSAY_TIES_TO_ZERO;
    for (int r = 0; r < ROUNDS; r++)
        for (int t = 0; t < TASKS; t++) {
            double start = seconds();
            tasks[t].run(w);
            double took = (seconds() - start) / tasks[t].share;
            best[t] = r == 0 || took < best[t] ? took : best[t];
        }
    printf("%-9s", w->format->name);
    for (int t = 0; t < TASKS; t++)
        printf(" %9.3f", 1e9 * best[t] / N);
    printf("   %.1f\n", best[1] / best[0]);
}

int main(void)
{
    struct work w;
    struct assay_error err;
    if (assay_alloc("values", N, sizeof *w.x, &w.x, &err) != ASSAY_OK ||
        assay_alloc("values", N, sizeof *w.y, &w.y, &err) != ASSAY_OK ||
        assay_alloc("codes", N, 1, &w.codes, &err) != ASSAY_OK ||
        assay_alloc("scales", N / 32, 1, &w.scales, &err) != ASSAY_OK) {
        fprintf(stderr, "bench_formats: %s\n", err.text);
        return 1;
    }
    /* nearly Gaussian: subnormals and large values have their share */
    uint64_t z = 1;
    for (int i = 0; i < N; i++) {
        w.x[i] = 0;
        for (int k = 0; k < 8; k++) {
            z = z * 6364136223846793005u + 1442695040888963407u;
            w.x[i] += (float)(int32_t)(z >> 32) * 0x1p-31f;
        }
    }
    memset(w.y, 0, N * sizeof *w.y);
    memset(w.codes, 0, N);
    printf("ns an element, " BENCH_CODE ". copy: multiply-copy; blocks, "
           "tokens, ties-0: quantize-\ndequantize with E8M0 scales for 32 "
           "channels, 32 tokens, and ties toward zero;\nb-: to codes and "
           "scales and back; one: the scalar definition.\n%-9s",
           "");
    for (int t = 0; t < TASKS; t++)
        printf(" %9s", tasks[t].name);
    printf("   blocks/copy\n");
    for (int id = 0; id < ASSAY_FORMATS; id++) {
        w.format = assay_format_get((enum assay_format_id)id);
        if (w.format->bits <= 8 && w.format->top != ASSAY_TOP_POWER)
            measure(&w);
    }
    assay_free(w.x);
    assay_free(w.y);
    assay_free(w.codes);
    assay_free(w.scales);
    return 0;
}
