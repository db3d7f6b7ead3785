/* SPDX-License-Identifier: MIT
 *
 * What one rank receives. A native codec's blocks lie within one head of one
 * token, so it does not matter that they are quantized after the exchange
 * here; a packed codec's other scales are those of the received tensor anyway.
 */
#include <inttypes.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/rotate.h"
#include "assay/transport.h"

enum { WIDTH = ASSAY_TRANSPORT_WIDTH, SCALES = WIDTH / 32 };

static enum assay_status check(const struct assay_transport *t,
                               enum assay_role role, int rank, int64_t tokens,
                               int64_t heads, struct assay_error *err)
{
    int64_t n;
    enum assay_status st = assay_transport_check(t, err);
    if (st != ASSAY_OK)
        return st;
    if (role >= ASSAY_ROLES)
        return assay_fail(err, ASSAY_USAGE, "role %d is not known", (int)role);
    if (rank < 0 || rank >= t->ranks)
        return assay_fail(err, ASSAY_SHAPE, "there is no rank %d of %d", rank,
                          t->ranks);
    if (tokens < 1 || heads < 1 || heads % t->ranks != 0)
        return assay_fail(err, ASSAY_SHAPE,
                          "%" PRId64 " tokens of %" PRId64
                          " heads cannot go to %d ranks",
                          tokens, heads, t->ranks);
    const int64_t own = assay_transport_rank_tokens(t, tokens);
    if (own == 0 || __builtin_mul_overflow(own * t->ranks, heads, &n) ||
        n > INT64_MAX / (int64_t)(WIDTH * sizeof(float)))
        return assay_fail(err, ASSAY_SHAPE,
                          "%" PRId64 " tokens of %" PRId64
                          " heads are too many to address",
                          tokens, heads);
    return ASSAY_OK;
}

/* ---- values ---- */

/* Rotated words that are multiplied and rounded again: what TWICE does. */
static enum assay_rotation_order_id order_of(const struct assay_transport *t,
                                             const struct assay_quantizer *how)
{
    switch (t->rotated) {
    case ASSAY_ROTATED_BEFORE: return ASSAY_ROTATION_TWICE;
    case ASSAY_ROTATED_WITHIN: return how->prepare;
    default: return ASSAY_ROTATION_UNROTATED;
    }
}

static enum assay_status prepare(const struct assay_transport *t,
                                 enum assay_role role,
                                 const struct assay_quantizer *how,
                                 const struct assay_tensor *tensor, float *x,
                                 struct assay_error *err)
{
    const bool fold =
        t->packed && role == ASSAY_ROLE_Q && how->scale == ASSAY_SCALE_BLOCK;
    const struct assay_operand operand = {
        .b = 1,
        .tokens = tensor->s,
        .heads = tensor->h,
        .width = WIDTH,
        .x = x,
        .mult = fold ? assay_fold_multiplier(t->softmax_scale) : 1,
    };
    if (role == ASSAY_ROLE_V)
        return ASSAY_OK;
    if (!t->packed && t->rotated == ASSAY_ROTATED_WITHIN)
        return assay_rotate(WIDTH, tensor->s * tensor->h, x, 1, NULL, x, err);
    return assay_operand_prepare(assay_rotation_order_get(order_of(t, how)),
                                 assay_format_get(ASSAY_BF16), &operand, x,
                                 err);
}

/* Decoded on arrival. Narrow codes are exact in bf16 but for a result below its
 * normal range. */
static enum assay_status decode(struct assay_arrival *out,
                                struct assay_error *err)
{
    const int64_t n = out->payload.count;
    enum assay_status st =
        assay_alloc("values", n, sizeof *out->values, &out->values, err);
    if (st != ASSAY_OK)
        return st;
    assay_payload_values(&out->payload, out->values);
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, (size_t)n, out->values, out->values);
    return ASSAY_OK;
}

/* ---- compact ---- */

static int64_t blocks_of(int64_t tokens)
{
    return (tokens + ASSAY_TILE_TOKENS - 1) / ASSAY_TILE_TOKENS *
           ASSAY_TILE_BLOCKS;
}

/* Cuts to the first tokens. Padding is zeros, so `past` of a block needs no
 * change: its code is 0 already. */
static void cut(struct assay_payload *p, int64_t tokens)
{
    struct assay_tensor *t = &p->tensor;
    if (p->scale == ASSAY_SCALE_BLOCK)
        p->n_scales = p->n_scales / t->s * tokens;
    if (p->scale == ASSAY_SCALE_BLOCK_TOKENS) {
        const size_t from = (size_t)(blocks_of(t->s) * t->d);
        const size_t to = (size_t)(blocks_of(tokens) * t->d);
        for (size_t h = 0; h < (size_t)t->h; h++) {
            memmove(p->e8m0 + h * to, p->e8m0 + h * from, to);
            memmove(p->past + h * to, p->past + h * from, to);
        }
        p->n_scales = (int64_t)to * t->h;
    }
    t->s = tokens;
    p->count = t->h * t->d * tokens;
}

/* ---- bytes ---- */

static enum assay_status buffers_new(struct assay_arrival *out,
                                     struct assay_error *err)
{
    enum assay_status st = assay_alloc("a payload buffer", out->payload_bytes,
                                       1, &out->payload_buffer, err);
    return st != ASSAY_OK ? st
                          : assay_alloc("a scale buffer", out->scale_bytes, 1,
                                        &out->scale_buffer, err);
}

/* Heads after one another. */
static enum assay_status fill_native(const struct assay_packing *packing,
                                     struct assay_arrival *out,
                                     struct assay_error *err)
{
    const struct assay_payload *p = &out->payload;
    const struct assay_tensor *t = &p->tensor;
    const int64_t step = (int64_t)assay_packing_bytes(packing, WIDTH);
    const uint8_t *codes = p->codes;
    out->payload_bytes = t->s * t->h * step;
    out->scale_bytes = t->s * t->h * SCALES;
    enum assay_status st = buffers_new(out, err);
    for (int64_t h = 0; st == ASSAY_OK && h < t->h; h++)
        for (int64_t s = 0; s < t->s; s++) {
            const int64_t from = s * t->h + h, to = h * t->s + s;
            assay_pack(packing, WIDTH, codes + from * WIDTH,
                       out->payload_buffer + to * step);
            memcpy(out->scale_buffer + to * SCALES, p->e8m0 + from * SCALES,
                   SCALES);
        }
    return st;
}

/* Rows as they are, and the scales. */
static enum assay_status fill_rows(const struct assay_packing *packing,
                                   struct assay_arrival *out,
                                   struct assay_error *err)
{
    const struct assay_payload *p = &out->payload;
    const int64_t rows = p->count / WIDTH;
    const size_t one = p->scales ? sizeof *p->scales : 1;
    out->payload_bytes = rows * (int64_t)assay_packing_bytes(packing, WIDTH);
    out->scale_bytes = p->n_scales * (int64_t)one;
    enum assay_status st = buffers_new(out, err);
    if (st != ASSAY_OK)
        return st;
    assay_pack_rows(packing, (size_t)rows, WIDTH, p->codes,
                    out->payload_buffer);
    memcpy(out->scale_buffer,
           p->scales ? (const void *)p->scales : (const void *)p->e8m0,
           (size_t)out->scale_bytes);
    return ASSAY_OK;
}

static enum assay_status fill_tiles(enum assay_tile_id tile,
                                    struct assay_arrival *out,
                                    struct assay_error *err)
{
    const struct assay_payload *p = &out->payload;
    const struct assay_tensor *t = &p->tensor;
    const struct assay_tile_layout layout = {
        tile, t->order, assay_tile_get(tile)->tail, t->b, t->s, t->h, t->d
    };
    enum assay_status st = assay_tile_check(&layout, err);
    if (st != ASSAY_OK)
        return st;
    out->payload_bytes = assay_tile_bytes(&layout);
    out->scale_bytes = assay_tile_scale_bytes(&layout);
    if ((st = buffers_new(out, err)) != ASSAY_OK)
        return st;
    return assay_tile_pack(&layout, p->codes, p->e8m0, p->past,
                           out->payload_buffer, out->scale_buffer, err);
}

static enum assay_status fill(const struct assay_transport *t,
                              enum assay_role role, struct assay_arrival *out,
                              struct assay_error *err)
{
    const struct assay_transport_codec *codec =
        assay_transport_codec_get(role == ASSAY_ROLE_V ? t->v : t->qk);
    if (!t->packed)
        return fill_native(assay_packing_get(codec->native_rows), out, err);
    if (role == ASSAY_ROLE_K && codec->k_tile != ASSAY_TILES)
        return fill_tiles(codec->k_tile, out, err);
    if (role == ASSAY_ROLE_V && codec->v_tile != ASSAY_TILES)
        return fill_tiles(codec->v_tile, out, err);
    return fill_rows(assay_packing_get(role == ASSAY_ROLE_V
                                           ? ASSAY_PACKING_BYTES
                                           : codec->qk_rows),
                     out, err);
}

/* ---- all ---- */

enum assay_status
assay_transport_send(const struct assay_transport *t, enum assay_role role,
                     int rank, int64_t tokens, int64_t heads, const float *x,
                     struct assay_arrival *out, struct assay_error *err)
{
    float *received = NULL;
    *out = (struct assay_arrival){ 0 };
    enum assay_status st = check(t, role, rank, tokens, heads, err);
    if (st != ASSAY_OK)
        return st;
    const struct assay_quantizer *how = assay_transport_quantizer(t, role);
    const struct assay_exchange exchange = {
        t->ranks, tokens, assay_transport_rank_tokens(t, tokens), heads,
        WIDTH * sizeof *x
    };
    const struct assay_tensor tensor = { .b = 1,
                                         .s = t->ranks * exchange.rank_tokens,
                                         .h = heads / t->ranks,
                                         .d = WIDTH,
                                         .order = t->order };
    if ((st = assay_alloc("a received tensor", tensor.s * tensor.h * WIDTH,
                          sizeof *received, &received, err)) != ASSAY_OK)
        return st;
    assay_exchange_receive(&exchange, rank, x, received);
    if ((st = prepare(t, role, how, &tensor, received, err)) == ASSAY_OK)
        st = assay_quantize(how, &tensor, received, &out->payload, err);
    assay_free(received);
    if (st != ASSAY_OK)
        return st;
    if (t->packed && t->compact && role != ASSAY_ROLE_Q)
        cut(&out->payload, tokens);
    if ((st = fill(t, role, out, err)) != ASSAY_OK || t->packed)
        return st;
    return decode(out, err);
}

void assay_arrival_free(struct assay_arrival *arrival)
{
    assay_payload_free(&arrival->payload);
    assay_free(arrival->payload_buffer);
    assay_free(arrival->scale_buffer);
    assay_free(arrival->values);
    *arrival = (struct assay_arrival){ 0 };
}
