/* SPDX-License-Identifier: MIT
 *
 * Quantizers on the shared vectors, from the bf16 words of Q, K and V to
 * codes, scales, packed rows, tiles and scale images, to the byte.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/quantize.h"
#include "assay/tile.h"
#include "check_assay.h"
#include "check_values.h"
#include "vectors.h"

#define NOT_TILED ASSAY_TILES
#define NOT_PACKED ASSAY_PACKINGS

/* What a vector's name says; `how` is spelled again on purpose. */
static const struct vector_row {
    const char *name;
    enum assay_quantizer_id how;
    char operand;
    enum assay_packing_id packing;
    enum assay_tile_id tile;
    enum assay_token_order order;
} rows[] = {
#define PLAIN(name, id, operand)                                      \
    {                                                                 \
        name, ASSAY_QUANTIZER_##id, operand, NOT_PACKED, NOT_TILED, 0 \
    }
#define ROWS(name, id, operand, packing, tile)                                \
    {                                                                         \
        name, ASSAY_QUANTIZER_##id, operand, ASSAY_PACKING_##packing, tile, 0 \
    }
#define V(name, id, tile, order)                                        \
    {                                                                   \
        name, ASSAY_QUANTIZER_##id, 'v', NOT_PACKED, ASSAY_TILE_##tile, \
            ASSAY_TOKENS_##order                                        \
    }
    PLAIN("int8_q", INT8, 'q'),
    PLAIN("int8_k", INT8, 'k'),
    PLAIN("fp8_q", FP8, 'q'),
    PLAIN("fp8_v", FP8, 'v'),
    PLAIN("fp8chan_v", FP8CHAN, 'v'),
    PLAIN("fp8rot_q.recip", FP8ROT, 'q'),
    PLAIN("fp8rot_k.recip", FP8ROT, 'k'),
    PLAIN("fp8rot_q.div", FP8ROT_DIV, 'q'),
    PLAIN("fp8rot_k.div", FP8ROT_DIV, 'k'),
    PLAIN("mxfp8_q", MXFP8, 'q'),
    PLAIN("mxfp8_k", MXFP8, 'k'),
    ROWS("mxfp6_q", MXFP6, 'q', INTERLEAVED6, NOT_TILED),
    ROWS("mxfp6_k", MXFP6, 'k', INTERLEAVED6, ASSAY_TILE_K_MXFP6),
    ROWS("mxfp4_q", MXFP4, 'q', NIBBLES, NOT_TILED),
    ROWS("mxfp4_k", MXFP4, 'k', NIBBLES, ASSAY_TILE_K_MXFP4),
    V("mxfp4_v.default", MXFP4_V, V_MXFP4, CANONICAL),
    V("mxfp4_v.fp6p", MXFP4_V, V_MXFP4, FP6P),
    V("mxfp6_v.default", MXFP6_V, V_MXFP6, CANONICAL),
    V("mxfp6_v.fp6p", MXFP6_V, V_MXFP6, FP6P),
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static const char *const files[] = { "head_lm_dev.h5", "head_mlm_dev.h5",
                                     "synthetic_zeros.h5",
                                     "synthetic_powers.h5" };
enum { N_FILES = sizeof files / sizeof *files };

/* Where a test is: for messages and names. */
struct place {
    const char *file, *prefix;
    const struct vector_row *row;
};

static void same(const struct place *at, const char *part, size_t n,
                 const void *got)
{
    char name[96];
    struct vector want;
    snprintf(name, sizeof name, "%s%s.%s", at->prefix, at->row->name, part);
    vector_read(at->file, name, &want);
    ck_assert_msg(n == want.size, "%s: %s has %zu bytes, not %zu", at->file,
                  name, n, want.size);
    for (size_t i = 0; i < n; i++)
        if (((const uint8_t *)got)[i] != ((const uint8_t *)want.bytes)[i])
            ck_abort_msg("%s: %s: byte %zu is %02x, not %02x", at->file, name,
                         i, ((const uint8_t *)got)[i],
                         ((const uint8_t *)want.bytes)[i]);
    free(want.bytes);
}

/* Words of an operand as values, ready for its quantizer. */
static float *prepared(const struct place *at, struct assay_tensor *t)
{
    const struct assay_quantizer *how = assay_quantizer_get(at->row->how);
    const char *const words_of[] = { "q.words", "k.words", "v.words" };
    const char operand = at->row->operand;
    struct vector words, mean = { 0 };
    char name[64];
    vector_read(at->file,
                words_of[operand == 'q'   ? 0
                         : operand == 'k' ? 1
                                          : 2],
                &words);
    *t = (struct assay_tensor){ .b = (int64_t)words.dims[0],
                                .s = (int64_t)words.dims[1],
                                .h = (int64_t)words.dims[2],
                                .d = (int64_t)words.dims[3],
                                .order = at->row->order };
    float *x = must_alloc(words.size / 2, sizeof *x);
    assay_format_decode(assay_format_get(ASSAY_BF16), words.size / 2,
                        words.bytes, x);
    free(words.bytes);
    if (operand == 'k') {
        snprintf(name, sizeof name, "%sk_mean", at->prefix);
        vector_read(at->file, name, &mean);
    }
    const bool folds = operand == 'q' && how->scale == ASSAY_SCALE_BLOCK;
    if (how->prepares) {
        struct assay_operand o = { t->b,
                                   t->s,
                                   t->h,
                                   t->d,
                                   x,
                                   mean.bytes,
                                   folds ? assay_fold_multiplier(1 / sqrt(128))
                                         : 1 };
        ck_assert_int_eq(
            assay_operand_prepare(assay_rotation_order_get(how->prepare),
                                  assay_format_get(ASSAY_BF16), &o, x, NULL),
            ASSAY_OK);
    }
    free(mean.bytes);
    return x;
}

static void check_packed(const struct place *at,
                         const struct assay_payload *payload)
{
    const struct assay_packing *packing = assay_packing_get(at->row->packing);
    const size_t width = (size_t)payload->tensor.d;
    const size_t count = (size_t)payload->count / width;
    const size_t bytes = count * assay_packing_bytes(packing, width);
    uint8_t *packed = must_alloc(bytes, 1);
    assay_pack_rows(packing, count, width, payload->codes, packed);
    same(at, "rows", bytes, packed);
    free(packed);
}

static void check_tiles(const struct place *at,
                        const struct assay_payload *payload)
{
    const struct assay_tensor *t = &payload->tensor;
    const struct assay_tile *tile = assay_tile_get(at->row->tile);
    const struct assay_tile_layout layout = { .tile = at->row->tile,
                                              .order = t->order,
                                              .tail = tile->tail,
                                              .b = t->b,
                                              .s = t->s,
                                              .h = t->h,
                                              .d = t->d };
    const size_t bytes = (size_t)assay_tile_bytes(&layout);
    uint8_t *buffer = must_alloc(bytes, 1);
    uint8_t *image = must_alloc((size_t)assay_tile_scale_bytes(&layout), 1);
    ck_assert_int_eq(assay_tile_pack(&layout, payload->codes, payload->e8m0,
                                     payload->past, buffer, image, NULL),
                     ASSAY_OK);
    same(at, at->row->operand == 'v' ? "payload" : "tiles", bytes, buffer);
    if (at->row->operand == 'v')
        same(at, "image",
             (size_t)(t->b * t->h * assay_tile_count(&layout) * tile->image),
             image);
    free(buffer);
    free(image);
}

static void check_row(const struct place *at)
{
    struct assay_tensor tensor;
    struct assay_payload payload;
    float *x = prepared(at, &tensor);
    ck_assert_int_eq(assay_quantize(assay_quantizer_get(at->row->how), &tensor,
                                    x, &payload, NULL),
                     ASSAY_OK);
    if (at->row->packing == NOT_PACKED && at->row->tile == NOT_TILED)
        same(at, "codes", (size_t)payload.count, payload.codes);
    if (payload.scales)
        same(at, "scale", (size_t)payload.n_scales * sizeof *payload.scales,
             payload.scales);
    if (payload.e8m0 && at->row->operand != 'v')
        same(at, "e", (size_t)payload.n_scales, payload.e8m0);
    if (at->row->packing != NOT_PACKED)
        check_packed(at, &payload);
    if (at->row->tile != NOT_TILED)
        check_tiles(at, &payload);
    assay_payload_free(&payload);
    free(x);
}

START_TEST(vectors)
{
    const char *file = files[_i];
    if (!vectors_present(file))
        return;
    for (int r = 0; r < N_ROWS; r++)
        check_row(&(struct place){ file, "", &rows[r] });
}
END_TEST

/* K without its plain mean, whether the gate is open or not: the captured
 * heads alone never open it. */
START_TEST(forced_mean)
{
    const char *file = "head_lm_dev.h5";
    if (!vectors_present(file))
        return;
    for (int r = 0; r < N_ROWS; r++)
        if (rows[r].operand == 'k')
            check_row(&(struct place){ file, "forced.", &rows[r] });
}
END_TEST

/* Every quantizer of the table is in a vector, or is named here. */
START_TEST(table_is_covered)
{
    const char *const others = "bf16 a2a-int8-tensor a2a-e4m3 a2a-mxfp6 "
                               "a2a-mxfp4 a2a-int8 f16 fp8cast fp8-fnuz fp8rot-fnuz ";
    for (int id = 0; id < ASSAY_QUANTIZERS; id++) {
        const struct assay_quantizer *q =
            assay_quantizer_get((enum assay_quantizer_id)id);
        bool covered = false;
        char word[40];
        snprintf(word, sizeof word, "%s ", q->name);
        for (int r = 0; r < N_ROWS; r++)
            covered |= rows[r].how == q->id;
        ck_assert_msg(covered || strstr(others, word), "%s has no vector",
                      q->name);
    }
}
END_TEST

int main(void)
{
    if (!assay_shared_dir()) {
        puts("1..0 # SKIP no folder of shared vectors");
        return 0;
    }
    Suite *suite = suite_create("quantizer vectors");
    TCase *tc = tcase_create("vectors");
    tcase_add_loop_test(tc, vectors, 0, N_FILES);
    tcase_add_test(tc, forced_mean);
    tcase_add_test(tc, table_is_covered);
    suite_add_tcase(suite, tc);
    return assay_check_main(suite);
}
