/* SPDX-License-Identifier: MIT
 *
 * ref/tile*.c and ref/tokens.c: token orders against literal tables, sizes
 * against the literals of aiter's own test, and every byte of every buffer
 * against a description written here the other way round: from the byte's
 * offset to what it holds.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/tile.h"
#include "check_assay.h"
#include "check_values.h"

enum { GUARD = 0xa5 };

/* ---- token orders ---- */

/* clang-format off */
/* Frames as op_tests/test_mha_v4.py of ROCm/aiter has them. */
static const uint8_t frames[ASSAY_TOKEN_ORDERS][64] = {
    [ASSAY_TOKENS_CANONICAL] = {
         0,  1,  2,  3,  8,  9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27,
         4,  5,  6,  7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31,
        32, 33, 34, 35, 40, 41, 42, 43, 48, 49, 50, 51, 56, 57, 58, 59,
        36, 37, 38, 39, 44, 45, 46, 47, 52, 53, 54, 55, 60, 61, 62, 63,
    },
    [ASSAY_TOKENS_FP6P] = {
         0,  1,  2,  3,  8,  9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27,
        32, 33, 34, 35, 40, 41, 42, 43, 48, 49, 50, 51, 56, 57, 58, 59,
         4,  5,  6,  7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31,
        36, 37, 38, 39, 44, 45, 46, 47, 52, 53, 54, 55, 60, 61, 62, 63,
    },
};
/* clang-format on */

START_TEST(token_tables)
{
    enum assay_token_order order = (enum assay_token_order)_i;
    for (int slot = 0; slot < 64; slot++) {
        int token = assay_token(order, slot / 32, slot % 32);
        ck_assert_int_eq(token, frames[order][slot]);
        ck_assert_int_eq(assay_token_slot(order, token), slot);
    }
}
END_TEST

static int swap_2_5(int token)
{
    return (token & 27) | (token & 4) << 3 | (token & 32) >> 3;
}

START_TEST(orders_differ_by_bits_2_and_5)
{
    for (int slot = 0; slot < 64; slot++) {
        int c = assay_token(ASSAY_TOKENS_CANONICAL, slot / 32, slot % 32);
        int p = assay_token(ASSAY_TOKENS_FP6P, slot / 32, slot % 32);
        ck_assert_int_eq(p, swap_2_5(c));
        ck_assert_int_eq(swap_2_5(swap_2_5(c)), c);
        ck_assert_int_eq(c / 32, slot / 32); /* contiguous blocks */
        ck_assert_int_eq(p >> 2 & 1, slot / 32);
    }
}
END_TEST

START_TEST(names)
{
    static const char *const orders[] = { "canonical", "fp6p" };
    static const char *const tails[] = { "zero", "repeat-last" };
    static const char *const tiles[] = { "k-mxfp4", "k-mxfp6", "v-mxfp4",
                                         "v-mxfp6" };
    for (int i = 0; i < ASSAY_TOKEN_ORDERS; i++) {
        ck_assert_str_eq(assay_token_order_name((enum assay_token_order)i),
                         orders[i]);
        ck_assert_int_eq(assay_token_order_find(orders[i]), i);
    }
    for (int i = 0; i < ASSAY_TAILS; i++) {
        ck_assert_str_eq(assay_tail_name((enum assay_tail)i), tails[i]);
        ck_assert_int_eq(assay_tail_find(tails[i]), i);
    }
    for (int i = 0; i < ASSAY_TILES; i++) {
        const struct assay_tile *t = assay_tile_get((enum assay_tile_id)i);
        ck_assert_int_eq(t->id, i);
        ck_assert_str_eq(t->name, tiles[i]);
        ck_assert_ptr_eq(assay_tile_find(tiles[i]), t);
        ck_assert_ptr_nonnull(t->about);
        ck_assert_int_eq(t->tail, i == ASSAY_TILE_V_MXFP6);
    }
    ck_assert_int_eq(assay_token_order_find("default"), ASSAY_TOKEN_ORDERS);
    ck_assert_int_eq(assay_tail_find("last"), ASSAY_TAILS);
    ck_assert_ptr_null(assay_tile_find("mxfp4"));
}
END_TEST

/* ---- sizes ---- */

static struct assay_tile_layout layout_of(enum assay_tile_id tile, int64_t b,
                                          int64_t s, int64_t h)
{
    return (struct assay_tile_layout){
        .tile = tile, .b = b, .s = s, .h = h, .d = 128
    };
}

/* raw_buffer_sizes_are_stable and the slack tests of test_mha_v4.py. */
static const struct size {
    enum assay_tile_id tile;
    int64_t b, s, h, tiles, bytes, scale_bytes;
} sizes[] = {
    { ASSAY_TILE_K_MXFP6, 1, 128, 1, 1, 17664, 576 },
    { ASSAY_TILE_K_MXFP6, 2, 129, 3, 2, 2 * 3 * 2 * 17408 + 256,
      2 * 129 * 3 * 4 + 64 },
    { ASSAY_TILE_V_MXFP4, 2, 128, 3, 1, 2 * 128 * 3 * 64 + 64,
      2 * 3 * 512 + 1024 },
    { ASSAY_TILE_V_MXFP4, 2, 129, 3, 2, 2 * 256 * 3 * 64 + 64,
      2 * 3 * 1024 + 1024 },
    { ASSAY_TILE_K_MXFP4, 1, 1, 1, 1, 8192, 4 + 383 * 4 + 4 },
    { ASSAY_TILE_K_MXFP4, 1, 128, 1, 1, 8192, 512 + 256 * 4 + 4 },
    { ASSAY_TILE_K_MXFP4, 2, 129, 3, 2, 2 * 3 * 2 * 8192,
      2 * 129 * 3 * 4 + (256 + 256 - 129) * 3 * 4 + 4 },
    { ASSAY_TILE_V_MXFP6, 1, 1, 1, 1, 12288 + 256, 512 },
    { ASSAY_TILE_V_MXFP6, 2, 257, 3, 3, 2 * 3 * 3 * 12288 + 256,
      2 * 3 * 3 * 512 },
    /* past 2^32 */
    { ASSAY_TILE_V_MXFP6, 8, 131072, 64, 1024, 6442450944 + 256, 268435456 },
};

START_TEST(size_table)
{
    const struct size *z = &sizes[_i];
    struct assay_tile_layout l = layout_of(z->tile, z->b, z->s, z->h);
    ck_assert_int_eq(assay_tile_check(&l, NULL), ASSAY_OK);
    ck_assert_int_eq(assay_tile_count(&l), z->tiles);
    ck_assert_int_eq(assay_tile_bytes(&l), z->bytes);
    ck_assert_int_eq(assay_tile_scale_bytes(&l), z->scale_bytes);
    ck_assert_int_eq(assay_tile_codes(&l), z->b * z->s * z->h * 128);
    ck_assert_int_eq(assay_tile_scales(&l),
                     z->tile < ASSAY_TILE_V_MXFP4
                         ? z->b * z->s * z->h * 4
                         : z->b * z->h * 4 * z->tiles * 128);
}
END_TEST

static void refused(const struct assay_tile_layout *l, const char *sentence)
{
    struct assay_error err = { 0 };
    uint8_t byte = GUARD;
    ck_assert_int_eq(assay_tile_check(l, &err), ASSAY_SHAPE);
    ck_assert_msg(strstr(err.text, sentence) != NULL, "\"%s\" lacks \"%s\"",
                  err.text, sentence);
    ck_assert_int_eq(
        assay_tile_pack(l, &byte, &byte, &byte, &byte, &byte, NULL),
        ASSAY_SHAPE);
    ck_assert_int_eq(
        assay_tile_unpack(l, &byte, &byte, &byte, &byte, &byte, NULL),
        ASSAY_SHAPE);
    ck_assert_uint_eq(byte, GUARD);
}

START_TEST(bad_sizes)
{
    static const char *const words[] = { "batch is", "tokens is", "heads is" };
    static const int64_t bad[] = { 0, -1, INT64_MIN };
    char sentence[80];
    for (int field = 0; field < 3; field++)
        for (int i = 0; i < 3; i++) {
            struct assay_tile_layout l = layout_of(_i, 2, 3, 4);
            *(field == 0 ? &l.b : field == 1 ? &l.s : &l.h) = bad[i];
            snprintf(sentence, sizeof sentence,
                     "%s: %s %" PRId64 ", must be at least 1",
                     assay_tile_get(l.tile)->name, words[field], bad[i]);
            refused(&l, sentence);
        }
    for (int64_t d = 0; d <= 256; d += 64) {
        struct assay_tile_layout l = layout_of(_i, 2, 3, 4);
        l.d = d;
        snprintf(sentence, sizeof sentence, "head width is %" PRId64 ", must",
                 d);
        if (d != 128)
            refused(&l, sentence);
    }
}
END_TEST

START_TEST(bad_rows)
{
    struct assay_tile_layout l = layout_of(ASSAY_TILES, 1, 1, 1);
    refused(&l, "tile layout 4 is not known");
    l.tile = (enum assay_tile_id) - 1;
    refused(&l, "tile layout -1 is not known");
    l = layout_of(ASSAY_TILE_V_MXFP4, 1, 1, 1);
    l.order = ASSAY_TOKEN_ORDERS;
    refused(&l, "token order 2 is not known");
    l.order = ASSAY_TOKENS_FP6P;
    l.tail = ASSAY_TAILS;
    refused(&l, "tail 2 is not known");
}
END_TEST

START_TEST(too_large)
{
    struct assay_tile_layout l = layout_of(_i, INT64_MAX, 1, 1);
    refused(&l, "of [9223372036854775807, 1, 1, 128] is too large");
    l = layout_of(_i, 1, INT64_MAX, 1);
    refused(&l, "of [1, 9223372036854775807, 1, 128] is too large");
    l = layout_of(_i, 1, 1, INT64_MAX);
    refused(&l, "of [1, 1, 9223372036854775807, 128] is too large");
    l = layout_of(_i, (int64_t)1 << 32, 1, (int64_t)1 << 32);
    refused(&l, "too large");
    l = layout_of(_i, 1 << 16, 1 << 20, 1 << 10); /* 2^53 bytes */
    ck_assert_int_eq(assay_tile_check(&l, NULL), ASSAY_OK);
}
END_TEST

START_TEST(past_is_needed)
{
    struct assay_tile_layout l = layout_of(ASSAY_TILE_V_MXFP6, 1, 1, 1);
    struct assay_error err = { 0 };
    uint8_t byte = GUARD;
    l.tail = ASSAY_TAIL_REPEAT_LAST;
    ck_assert_int_eq(
        assay_tile_pack(&l, &byte, &byte, NULL, &byte, &byte, &err),
        ASSAY_USAGE);
    ck_assert_str_eq(err.text, "v-mxfp6: tail repeat-last needs the codes of "
                               "tokens past the last");
    ck_assert_uint_eq(byte, GUARD);
}
END_TEST

/* ---- every byte ---- */

/* An operand of random codes; buffers of their very size. */
struct made {
    struct assay_tile_layout l;
    int64_t tiles, n_codes, n_scales, n_bytes, n_scale_bytes;
    uint8_t *codes, *scales, *past, *payload, *buffer;
};

static uint8_t *random_bytes(uint64_t seed, int64_t n, unsigned mask)
{
    uint8_t *out = malloc((size_t)n);
    ck_assert_ptr_nonnull(out);
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint8_t)(values_bits(seed, (uint64_t)i) & mask);
    return out;
}

static bool is_fp4(const struct made *m)
{
    return m->l.tile == ASSAY_TILE_K_MXFP4 || m->l.tile == ASSAY_TILE_V_MXFP4;
}

static bool is_v(const struct made *m)
{
    return m->l.tile >= ASSAY_TILE_V_MXFP4;
}

static struct made make(const struct assay_tile_layout *l)
{
    struct made m = { .l = *l, .tiles = (l->s + 127) / 128 };
    unsigned mask = is_fp4(&m) ? 15 : 63;
    m.n_codes = l->b * l->s * l->h * 128;
    m.n_scales =
        is_v(&m) ? l->b * l->h * m.tiles * 512 : l->b * l->s * l->h * 4;
    m.n_bytes = assay_tile_bytes(l);
    m.n_scale_bytes = assay_tile_scale_bytes(l);
    m.codes = random_bytes(1, m.n_codes, mask);
    m.scales = random_bytes(2, m.n_scales, 255);
    m.past = random_bytes(3, m.n_scales, mask);
    m.payload = random_bytes(4, m.n_bytes, 255);
    m.buffer = random_bytes(5, m.n_scale_bytes, 255);
    return m;
}

static void unmake(struct made *m)
{
    free(m->codes), free(m->scales), free(m->past);
    free(m->payload), free(m->buffer);
}

/* What a token of a head has, its tail included. */
static unsigned code_of(const struct made *m, int64_t head, int64_t token,
                        int64_t channel, int64_t block)
{
    const struct assay_tile_layout *l = &m->l;
    if (token >= l->s) {
        if (l->tail == ASSAY_TAIL_ZERO)
            return 0;
        if (is_v(m))
            return m->past[(head * 4 * m->tiles + block) * 128 + channel];
        token = l->s - 1;
    }
    return m->codes[((head / l->h * l->s + token) * l->h + head % l->h) * 128 +
                    channel];
}

static unsigned k_scale_of(const struct made *m, int64_t head, int64_t scale)
{
    const struct assay_tile_layout *l = &m->l;
    int64_t token = scale / 4;
    if (token >= l->s) {
        if (l->tail == ASSAY_TAIL_ZERO || token >= 128 * m->tiles)
            return 0;
        token = l->s - 1;
    }
    return m->scales[((head / l->h * l->s + token) * l->h + head % l->h) * 4 +
                     scale % 4];
}

static unsigned v_scale_of(const struct made *m, int64_t tile, int64_t block,
                           int64_t channel)
{
    return m->scales[(tile * 4 + block) * 128 + channel];
}

static unsigned k4_byte(const struct made *m, int64_t tile, int64_t r)
{
    int64_t head = tile / m->tiles,
            token = tile % m->tiles * 128 + r % 2048 / 16;
    int64_t channel = r / 2048 * 32 + r % 16 * 2;
    return code_of(m, head, token, channel, 0) |
           code_of(m, head, token, channel + 1, 0) << 4;
}

static unsigned k6_scale_byte(const struct made *m, int64_t tile, int64_t r)
{
    int64_t shifted = r / 512, inst = r / 256 % 2, lane = r / 4 % 64;
    int64_t token = lane % 4 * 32 + inst * 16 + lane / 4;
    int64_t scale = (tile % m->tiles * 128 + token) * 4 + r % 4 + shifted;
    return k_scale_of(m, tile / m->tiles, scale);
}

static unsigned k6_byte(const struct made *m, int64_t tile, int64_t r)
{
    int64_t quarter, chunk, lane, at;
    unsigned byte = 0;
    if (r >= 12288)
        return r < 16384 ? 0 : k6_scale_byte(m, tile, r - 16384);
    if (r < 8192) {
        quarter = r / 2048, chunk = r / 512 % 4, lane = r / 16 % 32,
        at = r % 16;
    } else {
        r -= 8192;
        quarter = r / 1024, chunk = r / 256 % 4, lane = r / 8 % 32;
        at = 16 + r % 8;
    }
    for (int k = 0; k < 8; k++) {
        int64_t bit = 8 * at + k, field = bit / 6;
        int64_t channel = chunk * 32 + field % 2 * 16 + field / 2;
        byte |=
            (code_of(m, tile / m->tiles,
                     tile % m->tiles * 128 + quarter * 32 + lane, channel, 0) >>
                 bit % 6 &
             1)
            << k;
    }
    return byte;
}

static unsigned v4_byte(const struct made *m, int64_t tile, int64_t r)
{
    int64_t head = tile / m->tiles, half = r / 1024 % 2, column = r / 16 % 64;
    int64_t token =
        tile % m->tiles * 128 + half * 64 + frames[m->l.order][column];
    int64_t block = tile % m->tiles * 4 + half * 2 + column / 32;
    int64_t channel = r / 2048 * 32 + r % 16 * 2;
    return code_of(m, head, token, channel, block) |
           code_of(m, head, token, channel + 1, block) << 4;
}

static unsigned v6_byte(const struct made *m, int64_t tile, int64_t r)
{
    int64_t half = r / 1536 % 2, group = r / 24 % 64;
    int64_t channel = r / 3072 * 32 + group % 32;
    int64_t block = tile % m->tiles * 4 + half * 2 + group / 32;
    unsigned byte = 0;
    for (int k = 0; k < 8; k++) {
        int64_t bit = r % 24 * 8 + k;
        int64_t token = tile % m->tiles * 128 + half * 64 +
                        frames[m->l.order][group / 32 * 32 + bit / 6];
        byte |=
            (code_of(m, tile / m->tiles, token, channel, block) >> bit % 6 & 1)
            << k;
    }
    return byte;
}

static unsigned v4_scale_byte(const struct made *m, int64_t tile, int64_t r)
{
    int64_t channel = r % 4 * 32 + r / 8 % 16 * 2 + r / 4 % 2;
    return v_scale_of(m, tile, r / 256 * 2 + r / 128 % 2, channel);
}

static unsigned v6_scale_byte(const struct made *m, int64_t tile, int64_t r)
{
    int64_t lane = r / 4 % 64;
    return v_scale_of(m, tile, r / 256 * 2 + lane / 32, r % 4 * 32 + lane % 32);
}

static const struct {
    int64_t bytes;
    unsigned (*byte)(const struct made *m, int64_t tile, int64_t r);
    unsigned (*scale_byte)(const struct made *m, int64_t tile, int64_t r);
} readers[ASSAY_TILES] = {
    [ASSAY_TILE_K_MXFP4] = { 8192, k4_byte, NULL },
    [ASSAY_TILE_K_MXFP6] = { 17408, k6_byte, NULL },
    [ASSAY_TILE_V_MXFP4] = { 8192, v4_byte, v4_scale_byte },
    [ASSAY_TILE_V_MXFP6] = { 12288, v6_byte, v6_scale_byte },
};

static void wrong_byte(const struct made *m, const char *buffer, int64_t at,
                       unsigned got, unsigned want)
{
    ck_abort_msg("%s [%" PRId64 ", %" PRId64 ", %" PRId64 "], order %s, tail "
                 "%s: byte %" PRId64 " of the %s is %02x, not %02x",
                 assay_tile_get(m->l.tile)->name, m->l.b, m->l.s, m->l.h,
                 assay_token_order_name(m->l.order), assay_tail_name(m->l.tail),
                 at, buffer, got, want);
}

static void check_payload(const struct made *m)
{
    int64_t bytes = readers[m->l.tile].bytes;
    for (int64_t at = 0; at < m->n_bytes; at++) {
        unsigned want = 0;
        if (at / bytes < m->l.b * m->l.h * m->tiles)
            want = readers[m->l.tile].byte(m, at / bytes, at % bytes);
        if (m->payload[at] != want)
            wrong_byte(m, "payload", at, m->payload[at], want);
    }
}

static void check_scale_buffer(const struct made *m)
{
    for (int64_t at = 0; at < m->n_scale_bytes; at++) {
        unsigned want = 0;
        if (at < m->n_scales && is_v(m))
            want = readers[m->l.tile].scale_byte(m, at / 512, at % 512);
        else if (at < m->n_scales)
            want = m->scales[at];
        if (m->buffer[at] != want)
            wrong_byte(m, "scale buffer", at, m->buffer[at], want);
    }
}

/* The code past s of a block that has tokens past s. */
static uint8_t past_of(const struct made *m, int64_t i)
{
    int64_t block = i / 128 % (4 * m->tiles);
    bool any = false;
    for (int f = 0; f < 32; f++)
        any |=
            block / 2 * 64 + frames[m->l.order][block % 2 * 32 + f] >= m->l.s;
    return any && m->l.tail == ASSAY_TAIL_REPEAT_LAST ? m->past[i] : 0;
}

static void check_back(const struct made *m)
{
    uint8_t *codes = random_bytes(6, m->n_codes, 255);
    uint8_t *scales = random_bytes(7, m->n_scales, 255);
    uint8_t *past = random_bytes(8, m->n_scales, 255);
    ck_assert_int_eq(assay_tile_unpack(&m->l, m->payload, m->buffer, codes,
                                       scales, past, NULL),
                     ASSAY_OK);
    ck_assert_mem_eq(codes, m->codes, (size_t)m->n_codes);
    ck_assert_mem_eq(scales, m->scales, (size_t)m->n_scales);
    for (int64_t i = 0; is_v(m) && i < m->n_scales; i++)
        if (past[i] != past_of(m, i))
            wrong_byte(m, "codes past s", i, past[i], past_of(m, i));
    memset(codes, GUARD, (size_t)m->n_codes);
    ck_assert_int_eq(assay_tile_unpack(&m->l, m->payload, m->buffer, codes,
                                       scales, NULL, NULL),
                     ASSAY_OK);
    ck_assert_mem_eq(codes, m->codes, (size_t)m->n_codes);
    free(codes), free(scales), free(past);
}

START_TEST(every_byte)
{
    static const int64_t lengths[] = { 1,   31,  32,  33,  63,  64, 65,
                                       127, 128, 129, 255, 256, 257 };
    static const int64_t shapes[][2] = { { 1, 1 }, { 2, 3 } };
    enum { N_LENGTHS = sizeof lengths / sizeof *lengths };
    struct assay_tile_layout l = { .tile = (enum assay_tile_id)_i, .d = 128 };
    for (int i = 0; i < 8 * N_LENGTHS; i++) {
        l.s = lengths[i / 8];
        l.b = shapes[i % 2][0];
        l.h = shapes[i % 2][1];
        l.order = (enum assay_token_order)(i / 2 % 2);
        l.tail = (enum assay_tail)(i / 4 % 2);
        struct made m = make(&l);
        ck_assert_int_eq(assay_tile_pack(&l, m.codes, m.scales, m.past,
                                         m.payload, m.buffer, NULL),
                         ASSAY_OK);
        check_payload(&m);
        check_scale_buffer(&m);
        check_back(&m);
        unmake(&m);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile");
    TCase *c = tcase_create("tokens");
    tcase_add_loop_test(c, token_tables, 0, ASSAY_TOKEN_ORDERS);
    tcase_add_test(c, orders_differ_by_bits_2_and_5);
    tcase_add_test(c, names);
    suite_add_tcase(suite, c);

    c = tcase_create("sizes");
    tcase_add_loop_test(c, size_table, 0, sizeof sizes / sizeof *sizes);
    tcase_add_loop_test(c, bad_sizes, 0, ASSAY_TILES);
    tcase_add_test(c, bad_rows);
    tcase_add_loop_test(c, too_large, 0, ASSAY_TILES);
    tcase_add_test(c, past_is_needed);
    suite_add_tcase(suite, c);

    c = tcase_create("bytes");
    tcase_add_loop_test(c, every_byte, 0, ASSAY_TILES);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
