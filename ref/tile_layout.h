/* SPDX-License-Identifier: MIT
 *
 * Between tile.c and the layouts of K and V. Layouts are checked, buffers that
 * are written are zeros; past may be NULL.
 */
#ifndef ASSAY_TILE_LAYOUT_H
#define ASSAY_TILE_LAYOUT_H

#include "assay/tile.h"

enum { CHUNK = 32, CHUNKS = ASSAY_TILE_WIDTH / CHUNK, FP6_CHUNK = 24 };

void tile_k_pack(const struct assay_tile_layout *l, const uint8_t *codes,
                 const uint8_t *scales, uint8_t *payload, uint8_t *plain);
void tile_k_unpack(const struct assay_tile_layout *l, const uint8_t *payload,
                   const uint8_t *plain, uint8_t *codes, uint8_t *scales);
void tile_v_pack(const struct assay_tile_layout *l, const uint8_t *codes,
                 const uint8_t *scales, const uint8_t *past, uint8_t *payload,
                 uint8_t *image);
void tile_v_unpack(const struct assay_tile_layout *l, const uint8_t *payload,
                   const uint8_t *image, uint8_t *codes, uint8_t *scales,
                   uint8_t *past);

#endif
