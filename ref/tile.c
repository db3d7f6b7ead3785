/* SPDX-License-Identifier: MIT
 *
 * The table of tile layouts, their sizes, and what is refused.
 */
#include "assay/tile.h"

#include <inttypes.h>
#include <string.h>

#include "tile_layout.h"

static const struct assay_tile tiles[] = {
#define ASSAY_TILE(id, name, operand, packing, bytes, slack, image, \
                   scale_slack, lead, tail, about)                  \
    { ASSAY_TILE_##id,                                              \
      name,                                                         \
      ASSAY_OPERAND_##operand,                                      \
      ASSAY_PACKING_##packing,                                      \
      bytes,                                                        \
      slack,                                                        \
      image,                                                        \
      scale_slack,                                                  \
      lead,                                                         \
      ASSAY_TAIL_##tail,                                            \
      about },
#include "assay/tile.def"
#undef ASSAY_TILE
};

const struct assay_tile *assay_tile_get(enum assay_tile_id id)
{
    return &tiles[id];
}

const struct assay_tile *assay_tile_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_TILES; i++)
        if (strcmp(tiles[i].name, name) == 0)
            return &tiles[i];
    return NULL;
}

int64_t assay_tile_count(const struct assay_tile_layout *l)
{
    return l->s / ASSAY_TILE_TOKENS + (l->s % ASSAY_TILE_TOKENS != 0);
}

int64_t assay_tile_bytes(const struct assay_tile_layout *l)
{
    const struct assay_tile *t = &tiles[l->tile];
    return l->b * l->h * assay_tile_count(l) * t->bytes + t->slack;
}

int64_t assay_tile_scale_bytes(const struct assay_tile_layout *l)
{
    const struct assay_tile *t = &tiles[l->tile];
    int64_t ahead = 0;
    if (t->lead > 0)
        ahead = (assay_tile_count(l) + t->lead) * ASSAY_TILE_TOKENS - l->s;
    return assay_tile_scales(l) + ahead * l->h * CHUNKS + t->scale_slack;
}

int64_t assay_tile_codes(const struct assay_tile_layout *l)
{
    return l->b * l->s * l->h * ASSAY_TILE_WIDTH;
}

/* An image holds every scale of V once, so the two are one size. */
int64_t assay_tile_scales(const struct assay_tile_layout *l)
{
    const struct assay_tile *t = &tiles[l->tile];
    if (t->operand == ASSAY_OPERAND_V)
        return l->b * l->h * assay_tile_count(l) * t->image;
    return l->b * l->s * l->h * CHUNKS;
}

static enum assay_status check_known(const struct assay_tile_layout *l,
                                     struct assay_error *err)
{
    const struct {
        const char *name;
        int id, count;
    } rows[] = {
        { "tile layout", (int)l->tile, ASSAY_TILES },
        { "token order", (int)l->order, ASSAY_TOKEN_ORDERS },
        { "tail", (int)l->tail, ASSAY_TAILS },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id < 0 || rows[i].id >= rows[i].count)
            return assay_fail(err, ASSAY_SHAPE, "%s %d is not known",
                              rows[i].name, rows[i].id);
    return ASSAY_OK;
}

/* The largest size is a payload with its slack or scales with theirs; four
 * tiles a head more than there are cover both. */
static bool countable(const struct assay_tile_layout *l)
{
    int64_t x;
    return !__builtin_mul_overflow(l->b, l->h, &x) &&
           !__builtin_mul_overflow(x, assay_tile_count(l) + 4, &x) &&
           !__builtin_mul_overflow(x, tiles[ASSAY_TILE_K_MXFP6].bytes, &x);
}

enum assay_status assay_tile_check(const struct assay_tile_layout *l,
                                   struct assay_error *err)
{
    const struct {
        const char *name;
        int64_t size;
    } sizes[] = { { "batch", l->b }, { "tokens", l->s }, { "heads", l->h } };
    enum assay_status st = check_known(l, err);
    if (st != ASSAY_OK)
        return st;
    const char *name = tiles[l->tile].name;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].size < 1)
            return assay_fail(err, ASSAY_SHAPE,
                              "%s: %s is %" PRId64 ", must be at least 1", name,
                              sizes[i].name, sizes[i].size);
    if (l->d != ASSAY_TILE_WIDTH)
        return assay_fail(err, ASSAY_SHAPE,
                          "%s: head width is %" PRId64 ", must be %d", name,
                          l->d, ASSAY_TILE_WIDTH);
    if (!countable(l))
        return assay_fail(err, ASSAY_SHAPE,
                          "%s of [%" PRId64 ", %" PRId64 ", %" PRId64
                          ", %" PRId64 "] is too large to address",
                          name, l->b, l->s, l->h, l->d);
    return ASSAY_OK;
}

enum assay_status assay_tile_pack(const struct assay_tile_layout *l,
                                  const uint8_t *codes, const uint8_t *scales,
                                  const uint8_t *past, uint8_t *payload,
                                  uint8_t *scale_buffer,
                                  struct assay_error *err)
{
    enum assay_status st = assay_tile_check(l, err);
    if (st != ASSAY_OK)
        return st;
    bool v = tiles[l->tile].operand == ASSAY_OPERAND_V;
    if (v && l->tail == ASSAY_TAIL_REPEAT_LAST && !past)
        return assay_fail(err, ASSAY_USAGE,
                          "%s: tail %s needs the codes of tokens past the last",
                          tiles[l->tile].name, assay_tail_name(l->tail));
    memset(payload, 0, (size_t)assay_tile_bytes(l));
    memset(scale_buffer, 0, (size_t)assay_tile_scale_bytes(l));
    if (v)
        tile_v_pack(l, codes, scales,
                    l->tail == ASSAY_TAIL_REPEAT_LAST ? past : NULL, payload,
                    scale_buffer);
    else
        tile_k_pack(l, codes, scales, payload, scale_buffer);
    return ASSAY_OK;
}

enum assay_status assay_tile_unpack(const struct assay_tile_layout *l,
                                    const uint8_t *payload,
                                    const uint8_t *scale_buffer, uint8_t *codes,
                                    uint8_t *scales, uint8_t *past,
                                    struct assay_error *err)
{
    enum assay_status st = assay_tile_check(l, err);
    if (st != ASSAY_OK)
        return st;
    if (tiles[l->tile].operand == ASSAY_OPERAND_K) {
        tile_k_unpack(l, payload, scale_buffer, codes, scales);
        return ASSAY_OK;
    }
    if (past)
        memset(past, 0, (size_t)assay_tile_scales(l));
    tile_v_unpack(l, payload, scale_buffer, codes, scales, past);
    return ASSAY_OK;
}
