/* SPDX-License-Identifier: MIT
 *
 * V: blocks of 32 tokens of one channel. A tile has two frames of two blocks.
 */
#include "tile_layout.h"

#include "assay/problem.h"

enum {
    V4_FRAME = 1024, /* bytes of 32 channels of a frame; 16 a token */
    V6_FRAME = 1536, /* the same; 24 a channel of a block */
};

/* One block of one channel of one head. */
struct place {
    int64_t head, block;
    int channel;
};

static int frame_in_tile(struct place at)
{
    return (int)(at.block % ASSAY_TILE_BLOCKS / 2);
}

static int parity(struct place at)
{
    return (int)(at.block % 2);
}

/* Element of scales and of past, [head, block, channel]. */
static int64_t scale_of(const struct assay_tile_layout *l, struct place at)
{
    int64_t blocks = assay_tile_count(l) * ASSAY_TILE_BLOCKS;
    return (at.head * blocks + at.block) * ASSAY_TILE_WIDTH + at.channel;
}

static int64_t tile_of(const struct assay_tile_layout *l, struct place at)
{
    return at.head * assay_tile_count(l) + at.block / ASSAY_TILE_BLOCKS;
}

/* Both formats have one image, though aiter writes it in two ways. */
static int64_t image_at(const struct assay_tile_layout *l, struct place at)
{
    return tile_of(l, at) * assay_tile_get(l->tile)->image +
           frame_in_tile(at) * 256 + parity(at) * 128 + at.channel % 32 * 4 +
           at.channel / 32;
}

/* The 32 channels of a frame that a block's channel is among. */
static int64_t frame_at(const struct assay_tile_layout *l, struct place at,
                        int64_t bytes)
{
    return tile_of(l, at) * assay_tile_get(l->tile)->bytes +
           (at.channel / 32 * 2 + frame_in_tile(at)) * bytes;
}

static int64_t v4_at(const struct assay_tile_layout *l, struct place at,
                     int field)
{
    return frame_at(l, at, V4_FRAME) +
           (parity(at) * ASSAY_BLOCK_TOKENS + field) * 16 + at.channel % 32 / 2;
}

static int64_t v6_at(const struct assay_tile_layout *l, struct place at)
{
    return frame_at(l, at, V6_FRAME) +
           (parity(at) * 32 + at.channel % 32) * FP6_CHUNK;
}

/* Token that a field of the block holds; may be past s. */
static int64_t token_of(const struct assay_tile_layout *l, struct place at,
                        int field)
{
    return at.block / 2 * ASSAY_FRAME +
           assay_token(l->order, parity(at), field);
}

static int64_t code_of(const struct assay_tile_layout *l, struct place at,
                       int64_t token)
{
    return assay_row_offset(l->s, l->h, ASSAY_TILE_WIDTH, at.head / l->h, token,
                            at.head % l->h) +
           at.channel;
}

static void put(const struct assay_tile_layout *l, struct place at,
                const uint8_t *fields, uint8_t *payload)
{
    if (l->tile == ASSAY_TILE_V_MXFP6) {
        assay_pack(assay_packing_get(ASSAY_PACKING_STREAM6), ASSAY_BLOCK_TOKENS,
                   fields, payload + v6_at(l, at));
        return;
    }
    for (int f = 0; f < ASSAY_BLOCK_TOKENS; f++)
        payload[v4_at(l, at, f)] |=
            (uint8_t)((fields[f] & 15) << 4 * (at.channel % 2));
}

static void get(const struct assay_tile_layout *l, struct place at,
                const uint8_t *payload, uint8_t *fields)
{
    if (l->tile == ASSAY_TILE_V_MXFP6) {
        assay_unpack(assay_packing_get(ASSAY_PACKING_STREAM6),
                     ASSAY_BLOCK_TOKENS, payload + v6_at(l, at), fields);
        return;
    }
    for (int f = 0; f < ASSAY_BLOCK_TOKENS; f++)
        fields[f] = payload[v4_at(l, at, f)] >> 4 * (at.channel % 2) & 15;
}

static void pack_block(const struct assay_tile_layout *l, struct place at,
                       const uint8_t *codes, const uint8_t *past,
                       uint8_t *payload)
{
    uint8_t fields[ASSAY_BLOCK_TOKENS];
    for (int f = 0; f < ASSAY_BLOCK_TOKENS; f++) {
        int64_t token = token_of(l, at, f);
        if (token < l->s)
            fields[f] = codes[code_of(l, at, token)];
        else
            fields[f] = past ? past[scale_of(l, at)] : 0;
    }
    put(l, at, fields, payload);
}

static void unpack_block(const struct assay_tile_layout *l, struct place at,
                         const uint8_t *payload, uint8_t *codes, uint8_t *past)
{
    uint8_t fields[ASSAY_BLOCK_TOKENS];
    get(l, at, payload, fields);
    for (int f = 0; f < ASSAY_BLOCK_TOKENS; f++) {
        int64_t token = token_of(l, at, f);
        if (token < l->s)
            codes[code_of(l, at, token)] = fields[f];
        else if (past)
            past[scale_of(l, at)] = fields[f];
    }
}

void tile_v_pack(const struct assay_tile_layout *l, const uint8_t *codes,
                 const uint8_t *scales, const uint8_t *past, uint8_t *payload,
                 uint8_t *image)
{
    const int64_t blocks = assay_tile_count(l) * ASSAY_TILE_BLOCKS;
    struct place at;
    for (at.head = 0; at.head < l->b * l->h; at.head++)
        for (at.block = 0; at.block < blocks; at.block++)
            for (at.channel = 0; at.channel < ASSAY_TILE_WIDTH; at.channel++) {
                image[image_at(l, at)] = scales[scale_of(l, at)];
                pack_block(l, at, codes, past, payload);
            }
}

void tile_v_unpack(const struct assay_tile_layout *l, const uint8_t *payload,
                   const uint8_t *image, uint8_t *codes, uint8_t *scales,
                   uint8_t *past)
{
    const int64_t blocks = assay_tile_count(l) * ASSAY_TILE_BLOCKS;
    struct place at;
    for (at.head = 0; at.head < l->b * l->h; at.head++)
        for (at.block = 0; at.block < blocks; at.block++)
            for (at.channel = 0; at.channel < ASSAY_TILE_WIDTH; at.channel++) {
                scales[scale_of(l, at)] = image[image_at(l, at)];
                unpack_block(l, at, payload, codes, past);
            }
}
