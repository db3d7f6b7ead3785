/* SPDX-License-Identifier: MIT
 *
 * Quantizers with E8M0 scales: blocks of 32 channels of a token, or of 32
 * tokens of a channel in a token order.
 */
#include "quantize_blocks.h"

#include <string.h>

#include "assay/memory.h"

enum { BLOCK = ASSAY_BLOCK_TOKENS, BLOCKS_PER_FRAME = ASSAY_FRAME / BLOCK };

_Static_assert((int)ASSAY_BLOCK_CHANNELS == (int)ASSAY_BLOCK_TOKENS,
               "blocks of channels and of tokens are of one length");

static struct assay_blocks blocks_of(const struct assay_quantizer *how,
                                     const struct assay_payload *p,
                                     int64_t outer, int64_t length,
                                     int64_t inner)
{
    const struct assay_scale_rule *rule =
        assay_scale_rule_get(how ? how->scale_rule : ASSAY_SCALE_RULE_FLOOR);
    return (struct assay_blocks){
        .format = p->format,
        .rule = rule,
        .rounding = rule->rounding,
        .overflow = how ? how->overflow : ASSAY_SATURATE,
        .block = BLOCK,
        .outer = outer,
        .length = length,
        .inner = inner,
    };
}

/* ---- along channels ---- */

static struct assay_blocks channels(const struct assay_quantizer *how,
                                    const struct assay_payload *p)
{
    const struct assay_tensor *t = &p->tensor;
    return blocks_of(how, p, t->b * t->s * t->h, t->d, 1);
}

enum assay_status quantize_channels(const struct assay_quantizer *how,
                                    const float *x, struct assay_payload *out,
                                    struct assay_error *err)
{
    const struct assay_blocks blocks = channels(how, out);
    enum assay_status st = assay_blocks_check(&blocks, err);
    if (st != ASSAY_OK)
        return st;
    out->n_scales = assay_blocks_scales(&blocks);
    st = assay_alloc("scales", out->n_scales, 1, &out->e8m0, err);
    if (st == ASSAY_OK)
        assay_blocks_encode(&blocks, x, out->codes, out->e8m0);
    return st;
}

void values_channels(const struct assay_payload *p, float *values)
{
    const struct assay_blocks blocks = channels(NULL, p);
    assay_blocks_decode(&blocks, p->codes, p->e8m0, values);
}

/* ---- along tokens ---- */

/* A block of one head: 32 tokens of all channels. */
struct block_place {
    const struct assay_tensor *t;
    int64_t bi, hi, index, count; /* index-th of count blocks of the head */
};

static int64_t blocks_of_head(const struct assay_tensor *t)
{
    int64_t sizes[ASSAY_SCALE_AXES];
    assay_scale_sizes(ASSAY_SCALE_BLOCK_TOKENS, t, sizes);
    return sizes[2];
}

static int64_t token_of(const struct block_place *at, int field)
{
    return at->index / BLOCKS_PER_FRAME * ASSAY_FRAME +
           assay_token(at->t->order, (int)(at->index % BLOCKS_PER_FRAME),
                       field);
}

static int64_t row_of(const struct block_place *at, int64_t token)
{
    const struct assay_tensor *t = at->t;
    return ((at->bi * t->s + token) * t->h + at->hi) * t->d;
}

static int64_t scales_of(const struct block_place *at)
{
    const struct assay_tensor *t = at->t;
    return ((at->bi * t->h + at->hi) * at->count + at->index) * t->d;
}

#define EACH_BLOCK(at)                                    \
    for ((at).bi = 0; (at).bi < (at).t->b; (at).bi++)     \
        for ((at).hi = 0; (at).hi < (at).t->h; (at).hi++) \
            for ((at).index = 0; (at).index < (at).count; (at).index++)

/* The values of a block, [field, channel]. */
static void gather(const struct block_place *at, enum assay_tail tail,
                   const float *x, float *block)
{
    const int64_t d = at->t->d, last = at->t->s - 1;
    for (int f = 0; f < BLOCK; f++) {
        int64_t token = token_of(at, f);
        if (token > last && tail == ASSAY_TAIL_ZERO) {
            memset(block + f * d, 0, (size_t)d * sizeof *block);
            continue;
        }
        token = token > last ? last : token;
        memcpy(block + f * d, x + row_of(at, token), (size_t)d * sizeof *block);
    }
}

static void scatter(const struct block_place *at, const uint8_t *block,
                    uint8_t *codes, uint8_t *past)
{
    const size_t d = (size_t)at->t->d;
    memset(past, 0, d);
    for (int f = 0; f < BLOCK; f++) {
        int64_t token = token_of(at, f);
        uint8_t *to = token < at->t->s ? codes + row_of(at, token) : past;
        memcpy(to, block + (size_t)f * d, d);
    }
}

enum assay_status quantize_tokens(const struct assay_quantizer *how,
                                  const float *x, struct assay_payload *out,
                                  struct assay_error *err)
{
    struct block_place at = { .t = &out->tensor,
                              .count = blocks_of_head(&out->tensor) };
    const int64_t d = out->tensor.d;
    const struct assay_blocks blocks = blocks_of(how, out, 1, BLOCK, d);
    float *values = NULL;
    uint8_t *codes = NULL;
    enum assay_status st;
    out->n_scales = out->tensor.b * out->tensor.h * at.count * d;
    if ((st = assay_blocks_check(&blocks, err)) != ASSAY_OK ||
        (st = assay_alloc("scales", out->n_scales, 1, &out->e8m0, err)) !=
            ASSAY_OK ||
        (st = assay_alloc("codes past the end", out->n_scales, 1, &out->past,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("a block", BLOCK * d, sizeof *values, &values,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("a block", BLOCK * d, 1, &codes, err)) != ASSAY_OK)
        goto out;
    EACH_BLOCK(at)
    {
        gather(&at, how->tail, x, values);
        assay_blocks_encode(&blocks, values, codes, out->e8m0 + scales_of(&at));
        scatter(&at, codes, out->codes, out->past + scales_of(&at));
    }
out:
    assay_free(values);
    assay_free(codes);
    return st;
}

void values_tokens(const struct assay_payload *p, float *values)
{
    struct block_place at = { .t = &p->tensor,
                              .count = blocks_of_head(&p->tensor) };
    const int64_t d = p->tensor.d;
    const struct assay_blocks row = blocks_of(NULL, p, 1, 1, d);
    EACH_BLOCK(at)
    for (int f = 0; f < BLOCK; f++) {
        int64_t token = token_of(&at, f);
        if (token < at.t->s)
            assay_blocks_decode(&row, (uint8_t *)p->codes + row_of(&at, token),
                                p->e8m0 + scales_of(&at),
                                values + row_of(&at, token));
    }
}
