/* SPDX-License-Identifier: MIT
 *
 * Packing and tile layouts on the shared vectors, to the byte: K from packed
 * rows to tiles, V from its bf16 words through quantizers written here, and
 * from buffers to codes and back.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/tile.h"
#include "check_assay.h"
#include "check_values.h"
#include "vectors.h"

static const char *const files[] = { "head_lm_dev.h5", "head_mlm_dev.h5",
                                     "synthetic_zeros.h5",
                                     "synthetic_powers.h5" };
enum { N_FILES = sizeof files / sizeof *files };

static void same_bytes(const char *what, size_t n, const uint8_t *got,
                       const struct vector *want)
{
    ck_assert_msg(n == want->size, "%s: %zu bytes, not %zu", what, n,
                  want->size);
    for (size_t i = 0; i < n; i++)
        if (got[i] != ((const uint8_t *)want->bytes)[i])
            ck_abort_msg("%s: byte %zu is %02x, not %02x", what, i, got[i],
                         ((const uint8_t *)want->bytes)[i]);
}

static struct assay_tile_layout layout_of(enum assay_tile_id tile,
                                          const struct vector *bshd)
{
    return (struct assay_tile_layout){
        .tile = tile,
        .b = (int64_t)bshd->dims[0],
        .s = (int64_t)bshd->dims[1],
        .h = (int64_t)bshd->dims[2],
        .d = 128,
    };
}

/* E2M1 and E2M3 of 1 and 3 mantissa bits: nearest even, saturating. */
static uint8_t code_even(int man, double x)
{
    double n = 1 << man, a = fabs(x);
    double step = a < 2 ? 1 / n : a < 4 ? 2 / n : 4 / n;
    double r = fmin(rint(a / step) * step, 8 - 4 / n);
    double code = r < 2   ? r * n
                  : r < 4 ? 2 * n + (r - 2) * n / 2
                          : 3 * n + (r - 4) * n / 4;
    return (uint8_t)(code + (signbit(x) ? 4 * n : 0));
}

/* ---- K ---- */

/* Rotated K in bf16 is what the MX quantizers of K round: a code that is not
 * its word's came from another place in the row. */
static void check_k_codes(const char *file, const char *words_name, int man,
                          const uint8_t *codes, const struct vector *e)
{
    struct vector words;
    vector_read(file, words_name, &words);
    for (size_t i = 0; i < words.size / 2; i++) {
        uint32_t word = ((const uint16_t *)words.bytes)[i];
        int scale = ((const uint8_t *)e->bytes)[i / 32];
        uint8_t want = code_even(man, ldexp(float_of(word << 16), 127 - scale));
        if (codes[i] != want)
            ck_abort_msg("%s: %s, E2M%d code of element %zu is %02x, not %02x",
                         file, words_name, man, i, codes[i], want);
    }
    free(words.bytes);
}

static void check_k(const char *file, const char *prefix,
                    enum assay_tile_id tile)
{
    const struct assay_packing *p =
        assay_packing_get(assay_tile_get(tile)->packing);
    char format[40], name[80];
    snprintf(format, sizeof format, "%smxfp%d_k", prefix, p->bits);
    struct vector rows, e, want;
    snprintf(name, sizeof name, "%s.rows", format);
    vector_read(file, name, &rows);
    snprintf(name, sizeof name, "%s.e", format);
    vector_read(file, name, &e);
    snprintf(name, sizeof name, "%s.tiles", format);
    vector_read(file, name, &want);

    struct assay_tile_layout l = layout_of(tile, &rows);
    ck_assert_int_eq(assay_tile_check(&l, NULL), ASSAY_OK);
    size_t n_codes = (size_t)assay_tile_codes(&l);
    size_t n_bytes = (size_t)assay_tile_bytes(&l);
    uint8_t *codes = must_alloc(n_codes, 1), *again = must_alloc(rows.size, 1);
    uint8_t *payload = must_alloc(n_bytes, 1);
    uint8_t *scales = must_alloc((size_t)assay_tile_scale_bytes(&l), 1);
    assay_unpack_rows(p, n_codes / 128, 128, rows.bytes, codes);
    assay_pack_rows(p, n_codes / 128, 128, codes, again);
    snprintf(name, sizeof name, "%s: %s.rows", file, format);
    same_bytes(name, rows.size, again, &rows);
    ck_assert_uint_eq(e.size, (size_t)assay_tile_scales(&l));
    snprintf(name, sizeof name, "%srotate_k.words", prefix);
    check_k_codes(file, name, p->bits - 3, codes, &e);
    ck_assert_int_eq(
        assay_tile_pack(&l, codes, e.bytes, NULL, payload, scales, NULL),
        ASSAY_OK);
    snprintf(name, sizeof name, "%s: %s.tiles", file, format);
    same_bytes(name, n_bytes, payload, &want);
    same_bytes(name, e.size, scales, &e);
    free(codes), free(again), free(payload), free(scales);
    free(rows.bytes), free(e.bytes), free(want.bytes);
}

START_TEST(k_tiles)
{
    const char *file = files[_i];
    if (!vectors_present(file))
        return;
    check_k(file, "", ASSAY_TILE_K_MXFP6);
    check_k(file, "", ASSAY_TILE_K_MXFP4);
    if (_i == 0) { /* the one that also has K with its mean subtracted */
        check_k(file, "forced.", ASSAY_TILE_K_MXFP6);
        check_k(file, "forced.", ASSAY_TILE_K_MXFP4);
    }
}
END_TEST

/* ---- V ---- */

static const struct v_case {
    const char *name;
    enum assay_tile_id tile;
    enum assay_token_order order;
    enum assay_tail tail;
} v_cases[] = {
    { "mxfp4_v.default", ASSAY_TILE_V_MXFP4, ASSAY_TOKENS_CANONICAL,
      ASSAY_TAIL_ZERO },
    { "mxfp4_v.fp6p", ASSAY_TILE_V_MXFP4, ASSAY_TOKENS_FP6P, ASSAY_TAIL_ZERO },
    { "mxfp6_v.default", ASSAY_TILE_V_MXFP6, ASSAY_TOKENS_CANONICAL,
      ASSAY_TAIL_REPEAT_LAST },
    { "mxfp6_v.fp6p", ASSAY_TILE_V_MXFP6, ASSAY_TOKENS_FP6P,
      ASSAY_TAIL_REPEAT_LAST },
};
enum { N_V_CASES = sizeof v_cases / sizeof *v_cases };

struct v_vectors {
    struct vector words, payload, image;
    struct assay_tile_layout l;
    uint8_t *codes, *scales, *past;
};

static struct v_vectors read_v(const char *file, const struct v_case *c)
{
    struct v_vectors v;
    char name[80];
    vector_read(file, "v.words", &v.words);
    snprintf(name, sizeof name, "%s.payload", c->name);
    vector_read(file, name, &v.payload);
    snprintf(name, sizeof name, "%s.image", c->name);
    vector_read(file, name, &v.image);
    v.l = layout_of(c->tile, &v.words);
    v.l.order = c->order;
    v.l.tail = c->tail;
    ck_assert_int_eq(assay_tile_check(&v.l, NULL), ASSAY_OK);
    ck_assert_uint_eq(v.payload.size, (size_t)assay_tile_bytes(&v.l));
    ck_assert_uint_eq(v.image.size, (size_t)assay_tile_scales(&v.l));
    v.codes = must_alloc((size_t)assay_tile_codes(&v.l), 1);
    v.scales = must_alloc(v.image.size, 1);
    v.past = must_alloc(v.image.size, 1);
    return v;
}

static void free_v(struct v_vectors *v)
{
    free(v->words.bytes), free(v->payload.bytes), free(v->image.bytes);
    free(v->codes), free(v->scales), free(v->past);
}

/* Packs codes, scales and past, and compares both buffers. */
static void check_v(const char *what, const struct v_vectors *v)
{
    uint8_t *payload = must_alloc(v->payload.size, 1);
    uint8_t *image = must_alloc((size_t)assay_tile_scale_bytes(&v->l), 1);
    char name[80];
    ck_assert_int_eq(assay_tile_pack(&v->l, v->codes, v->scales, v->past,
                                     payload, image, NULL),
                     ASSAY_OK);
    snprintf(name, sizeof name, "%s.image", what);
    same_bytes(name, v->image.size, image, &v->image);
    snprintf(name, sizeof name, "%s.payload", what);
    same_bytes(name, v->payload.size, payload, &v->payload);
    free(payload), free(image);
}

START_TEST(v_comes_back)
{
    const char *file = files[_i / N_V_CASES];
    const struct v_case *c = &v_cases[_i % N_V_CASES];
    char what[80];
    if (!vectors_present(file))
        return;
    struct v_vectors v = read_v(file, c);
    /* a scale buffer also has slack, of which the vectors have none */
    uint8_t *image = must_alloc((size_t)assay_tile_scale_bytes(&v.l), 1);
    memcpy(image, v.image.bytes, v.image.size);
    ck_assert_int_eq(assay_tile_unpack(&v.l, v.payload.bytes, image, v.codes,
                                       v.scales, v.past, NULL),
                     ASSAY_OK);
    snprintf(what, sizeof what, "%s: %s again", file, c->name);
    check_v(what, &v);
    free(image);
    free_v(&v);
}
END_TEST

/* The 32 words of a block of one channel, the tail as the case has it. */
static void gather(const struct v_vectors *v, int64_t head, int64_t block,
                   int channel, float x[32])
{
    const struct assay_tile_layout *l = &v->l;
    const uint16_t *words = v->words.bytes;
    for (int i = 0, n = 0; i < 64; i++) {
        int parity = l->order == ASSAY_TOKENS_FP6P ? i >> 2 & 1 : i >> 5;
        int64_t token = block / 2 * 64 + i;
        if (parity != block % 2)
            continue;
        bool zero = token >= l->s && l->tail == ASSAY_TAIL_ZERO;
        token = token < l->s ? token : l->s - 1;
        uint32_t word =
            words[((head / l->h * l->s + token) * l->h + head % l->h) * 128 +
                  channel];
        x[n++] = zero ? 0 : float_of(word << 16);
    }
}

/* E2M1 with ties toward zero. */
static uint8_t code_toward_zero(double x)
{
    static const double middles[] = { 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5 };
    uint8_t code = signbit(x) ? 8 : 0;
    for (size_t i = 0; i < 7; i++)
        code += fabs(x) > middles[i];
    return code;
}

static uint8_t scale_of(const struct v_vectors *v, const float x[32])
{
    float top = 0;
    for (int i = 0; i < 32; i++)
        top = fmaxf(top, fabsf(x[i]));
    if (v->l.tile == ASSAY_TILE_V_MXFP6)
        return (uint8_t)(top == 0 ? 127 : (bits_of(top) >> 23) - 2);
    uint32_t bits = bits_of(fmaxf(top, 1e-12f));
    return (uint8_t)((bits >> 23) - 2 + ((bits & 0x7fffff) > 0x400000));
}

static uint8_t code_of(const struct v_vectors *v, float x, uint8_t scale)
{
    double scaled = ldexp(x, 127 - scale);
    return v->l.tile == ASSAY_TILE_V_MXFP6 ? code_even(3, scaled)
                                           : code_toward_zero(scaled);
}

static void quantize_block(const struct v_vectors *v, int64_t head,
                           int64_t block, int channel)
{
    const struct assay_tile_layout *l = &v->l;
    const uint16_t *words = v->words.bytes;
    int64_t blocks = assay_tile_count(l) * 4;
    int64_t i = (head * blocks + block) * 128 + channel;
    float x[32];
    gather(v, head, block, channel, x);
    v->scales[i] = scale_of(v, x);
    for (int64_t token = block / 2 * 64; token < block / 2 * 64 + 64; token++) {
        int64_t from = token < l->s ? token : l->s - 1;
        int64_t at =
            ((head / l->h * l->s + from) * l->h + head % l->h) * 128 + channel;
        bool mine =
            (l->order == ASSAY_TOKENS_FP6P ? token >> 2 & 1 : token >> 5 & 1) ==
            block % 2;
        uint8_t code =
            code_of(v, float_of((uint32_t)words[at] << 16), v->scales[i]);
        if (mine && token < l->s)
            v->codes[at] = code;
        else if (mine)
            v->past[i] = code;
    }
}

START_TEST(v_from_words)
{
    const char *file = files[_i / N_V_CASES];
    const struct v_case *c = &v_cases[_i % N_V_CASES];
    char what[80];
    if (!vectors_present(file))
        return;
    struct v_vectors v = read_v(file, c);
    for (int64_t head = 0; head < v.l.b * v.l.h; head++)
        for (int64_t block = 0; block < assay_tile_count(&v.l) * 4; block++)
            for (int channel = 0; channel < 128; channel++)
                quantize_block(&v, head, block, channel);
    snprintf(what, sizeof what, "%s: %s from words", file, c->name);
    check_v(what, &v);
    free_v(&v);
}
END_TEST

int main(void)
{
    if (!assay_shared_dir()) {
        puts("1..0 # SKIP no folder of shared vectors");
        return 0;
    }
    Suite *suite = suite_create("tile vectors");
    TCase *c = tcase_create("vectors");
    tcase_add_loop_test(c, k_tiles, 0, N_FILES);
    tcase_add_loop_test(c, v_comes_back, 0, N_FILES * N_V_CASES);
    tcase_add_loop_test(c, v_from_words, 0, N_FILES * N_V_CASES);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
