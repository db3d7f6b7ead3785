/* SPDX-License-Identifier: MIT
 *
 * K: a row of 128 channels is four packed chunks of 32. Offsets are within
 * the tiles of one head, whose tokens run on from tile to tile.
 */
#include "tile_layout.h"

#include <string.h>

#include "assay/problem.h"

enum {
    K4_CHUNK = 16, /* bytes */
    K6_HEAD = 16,  /* first bytes of a chunk's 24 */
    K6_REST = 8,   /* and the others */
    K6_RESTS = 8192,
    K6_SCALES = 16384,
    K6_SHIFTED = 512, /* from a scale to its place in the shifted copy */
};

static int64_t tile_of(const struct assay_tile *tile, int64_t token)
{
    return token / ASSAY_TILE_TOKENS * tile->bytes;
}

static int64_t k4_at(const struct assay_tile *tile, int64_t token, int chunk)
{
    return tile_of(tile, token) + chunk * 2048 +
           token % ASSAY_TILE_TOKENS * K4_CHUNK;
}

static int64_t k6_head_at(const struct assay_tile *tile, int64_t token,
                          int chunk)
{
    int64_t quarter = token % ASSAY_TILE_TOKENS / 32, lane = token % 32;
    return tile_of(tile, token) + quarter * 2048 + chunk * 512 + lane * K6_HEAD;
}

static int64_t k6_rest_at(const struct assay_tile *tile, int64_t token,
                          int chunk)
{
    int64_t quarter = token % ASSAY_TILE_TOKENS / 32, lane = token % 32;
    return tile_of(tile, token) + K6_RESTS + quarter * 1024 + chunk * 256 +
           lane * K6_REST;
}

static int64_t k6_scale_at(const struct assay_tile *tile, int64_t token,
                           int chunk)
{
    int64_t quarter = token % ASSAY_TILE_TOKENS / 32, lane = token % 32;
    return tile_of(tile, token) + K6_SCALES + lane / 16 * 256 +
           (lane % 16 * 4 + quarter) * CHUNKS + chunk;
}

static void put_row(const struct assay_tile *tile, int64_t token,
                    const uint8_t *codes, uint8_t *head)
{
    const struct assay_packing *packing = assay_packing_get(tile->packing);
    uint8_t bytes[FP6_CHUNK];
    for (int g = 0; g < CHUNKS; g++) {
        assay_pack(packing, CHUNK, codes + g * CHUNK, bytes);
        if (tile->id == ASSAY_TILE_K_MXFP4) {
            memcpy(head + k4_at(tile, token, g), bytes, K4_CHUNK);
        } else {
            memcpy(head + k6_head_at(tile, token, g), bytes, K6_HEAD);
            memcpy(head + k6_rest_at(tile, token, g), bytes + K6_HEAD, K6_REST);
        }
    }
}

static void get_row(const struct assay_tile *tile, int64_t token,
                    const uint8_t *head, uint8_t *codes)
{
    const struct assay_packing *packing = assay_packing_get(tile->packing);
    uint8_t bytes[FP6_CHUNK];
    for (int g = 0; g < CHUNKS; g++) {
        if (tile->id == ASSAY_TILE_K_MXFP4) {
            memcpy(bytes, head + k4_at(tile, token, g), K4_CHUNK);
        } else {
            memcpy(bytes, head + k6_head_at(tile, token, g), K6_HEAD);
            memcpy(bytes + K6_HEAD, head + k6_rest_at(tile, token, g), K6_REST);
        }
        assay_unpack(packing, CHUNK, bytes, codes + g * CHUNK);
    }
}

/* A k-mxfp6 tile has its scales twice: as they are, and each where the scale
 * before it is, so that the matrix instruction can select without a shuffle.
 * The one before a token's first is the last of the token before. */
static void put_scales(const struct assay_tile *tile, int64_t token,
                       const uint8_t *scales, uint8_t *head)
{
    for (int g = 0; g < CHUNKS; g++) {
        int64_t before = token * CHUNKS + g - 1;
        head[k6_scale_at(tile, token, g)] = scales[g];
        if (before >= 0)
            head[k6_scale_at(tile, before / CHUNKS, (int)(before % CHUNKS)) +
                 K6_SHIFTED] = scales[g];
    }
}

/* Codes [b, s, h, 128] and scales [b, s, h, 4] step by rows together. */
static int64_t row_of(const struct assay_tile_layout *l, int64_t head,
                      int64_t token)
{
    return assay_row_offset(l->s, l->h, 1, head / l->h, token, head % l->h);
}

void tile_k_pack(const struct assay_tile_layout *l, const uint8_t *codes,
                 const uint8_t *scales, uint8_t *payload, uint8_t *plain)
{
    const struct assay_tile *tile = assay_tile_get(l->tile);
    const int64_t tiles = assay_tile_count(l);
    const int64_t end =
        l->tail == ASSAY_TAIL_ZERO ? l->s : tiles * ASSAY_TILE_TOKENS;
    for (int64_t head = 0; head < l->b * l->h; head++) {
        uint8_t *out = payload + head * tiles * tile->bytes;
        for (int64_t token = 0; token < end; token++) {
            int64_t row = row_of(l, head, token < l->s ? token : l->s - 1);
            put_row(tile, token, codes + row * ASSAY_TILE_WIDTH, out);
            if (tile->id == ASSAY_TILE_K_MXFP6)
                put_scales(tile, token, scales + row * CHUNKS, out);
        }
    }
    memcpy(plain, scales, (size_t)assay_tile_scales(l));
}

void tile_k_unpack(const struct assay_tile_layout *l, const uint8_t *payload,
                   const uint8_t *plain, uint8_t *codes, uint8_t *scales)
{
    const struct assay_tile *tile = assay_tile_get(l->tile);
    for (int64_t head = 0; head < l->b * l->h; head++) {
        const uint8_t *in = payload + head * assay_tile_count(l) * tile->bytes;
        for (int64_t token = 0; token < l->s; token++)
            get_row(tile, token, in,
                    codes + row_of(l, head, token) * ASSAY_TILE_WIDTH);
    }
    memcpy(scales, plain, (size_t)assay_tile_scales(l));
}
