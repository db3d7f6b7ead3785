/* SPDX-License-Identifier: MIT
 *
 * Backing buffers of K and V as the AITER MHA v4 kernels read them: tiles of
 * 128 tokens of one head, 128 channels, heads after one another, MX codes and
 * E8M0 scale bytes. Tile layouts are in HACKING.md, "Packing and tile layouts".
 * Source: ROCm/aiter csrc/kernels/mha_v4_quant.cu.
 *
 * Operands, one byte a code (low bits) and one a scale:
 *   K  codes [b, s, h, 128]  scales [b, s, h, 4], 32 channels each
 *   V  codes [b, s, h, 128]  scales [b, h, blocks, 128], 32 tokens each, and
 *      past [b, h, blocks, 128]
 * with blocks = 4 * ceil(s / 128), blocks wholly past s included, since the
 * kernels store a scale for these too; block = 2 * frame + parity
 * (assay/tokens.h). past is the code that tokens past s have in that block:
 * with ASSAY_TAIL_REPEAT_LAST it is the last token's value in the scale of
 * this block, often another code than the last token has in its own.
 */
#ifndef ASSAY_TILE_H
#define ASSAY_TILE_H

#include <stdint.h>

#include "assay/pack.h"
#include "assay/tokens.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAY_TILE_TOKENS = 128, ASSAY_TILE_WIDTH = 128, ASSAY_TILE_BLOCKS = 4 };

enum assay_tile_id {
#define ASSAY_TILE(id, ...) ASSAY_TILE_##id,
#include "assay/tile.def"
#undef ASSAY_TILE
    ASSAY_TILES
};

enum assay_tile_operand { ASSAY_OPERAND_K, ASSAY_OPERAND_V };

struct assay_tile {
    enum assay_tile_id id;
    const char *name;
    enum assay_tile_operand operand;
    enum assay_packing_id packing;
    int64_t bytes, slack;
    int64_t image, scale_slack, lead;
    enum assay_tail tail;
    const char *about;
};

/* The row of a layout; static. find returns NULL for an unknown name. */
ASSAY_API const struct assay_tile *assay_tile_get(enum assay_tile_id id);
ASSAY_API const struct assay_tile *assay_tile_find(const char *name);

/* One operand in one layout. order is V's alone. */
struct assay_tile_layout {
    enum assay_tile_id tile;
    enum assay_token_order order;
    enum assay_tail tail;
    int64_t b, s, h, d; /* batch, tokens, key and value heads, width */
};

/* ASSAY_SHAPE with a sentence unless all rows are known, b, s and h at least
 * 1, d is 128 and every size below can be counted. */
ASSAY_API enum assay_status
assay_tile_check(const struct assay_tile_layout *layout,
                 struct assay_error *err);

/* Sizes of a checked layout: tiles of a head; bytes of the two buffers; codes
 * and scale bytes of the operand (and of V's past). */
ASSAY_API int64_t assay_tile_count(const struct assay_tile_layout *layout);
ASSAY_API int64_t assay_tile_bytes(const struct assay_tile_layout *layout);
ASSAY_API int64_t
assay_tile_scale_bytes(const struct assay_tile_layout *layout);
ASSAY_API int64_t assay_tile_codes(const struct assay_tile_layout *layout);
ASSAY_API int64_t assay_tile_scales(const struct assay_tile_layout *layout);

/* Writes both buffers whole; bytes that the layout has no use for are 0. past
 * is read for V with ASSAY_TAIL_REPEAT_LAST only, where it must not be NULL
 * (ASSAY_USAGE). No overlap between in and out. */
ASSAY_API enum assay_status
assay_tile_pack(const struct assay_tile_layout *layout, const uint8_t *codes,
                const uint8_t *scales, const uint8_t *past, uint8_t *payload,
                uint8_t *scale_buffer, struct assay_error *err);

/* The way back. Scales come from the scale buffer; the copies in a k-mxfp6
 * tile are not looked at, nor are slack and holes. past may be NULL; it is 0
 * for blocks without tokens past s, and for K left alone. */
ASSAY_API enum assay_status
assay_tile_unpack(const struct assay_tile_layout *layout,
                  const uint8_t *payload, const uint8_t *scale_buffer,
                  uint8_t *codes, uint8_t *scales, uint8_t *past,
                  struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
