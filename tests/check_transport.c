/* SPDX-License-Identifier: MIT
 *
 * Transport: tables, what is refused, the exchange, and native codecs against
 * the plain arithmetic of tests/plain_transport.c.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/transport.h"
#include "check_assay.h"
#include "check_values.h"
#include "plain_transport.h"

/* ---- tables ---- */

/* Written again on purpose: quantizers by name, NULL where there is none. */
static const struct {
    const char *name, *native, *qk, *v;
    double native_bits, qk_bits, v_bits;
} codecs[] = {
    { "e4m3", "a2a-e4m3", "fp8rot", "fp8", 8.25, 8, 8 },
    { "e4m3_pc", NULL, NULL, "fp8chan", 0, 0, 8 },
    { "int8", "a2a-int8", "a2a-int8-tensor", NULL, 8.25, 8, 0 },
    { "mxfp4", "a2a-mxfp4", "mxfp4", "mxfp4-v", 4.25, 4.25, 4.25 },
    { "mxfp6", "a2a-mxfp6", "mxfp6", NULL, 6.25, 6.25, 0 },
    { "mxfp6_p", NULL, NULL, "mxfp6-v", 0, 0, 6.25 },
    { "mxfp8", "a2a-e4m3", "mxfp8", NULL, 8.25, 8.25, 0 },
};

static void form_is(const struct assay_transport *t, enum assay_role role,
                    const char *name, double bits)
{
    const struct assay_quantizer *how = assay_transport_quantizer(t, role);
    ck_assert_msg((how == NULL) == (name == NULL), "form of role %d", role);
    if (name) {
        ck_assert_str_eq(how->name, name);
        ck_assert(assay_transport_bits(t, role) == bits);
    }
}

START_TEST(codec_rows)
{
    ck_assert_int_eq(sizeof codecs / sizeof *codecs, ASSAY_TRANSPORT_CODECS);
    for (int i = 0; i < ASSAY_TRANSPORT_CODECS; i++) {
        const enum assay_transport_codec_id id =
            (enum assay_transport_codec_id)i;
        const struct assay_transport_codec *row = assay_transport_codec_get(id);
        struct assay_transport t = { .qk = id, .v = id };
        ck_assert_str_eq(row->name, codecs[i].name);
        ck_assert_int_eq(row->id, i);
        ck_assert_ptr_eq(assay_transport_codec_find(codecs[i].name), row);
        for (int role = 0; role < ASSAY_ROLES; role++)
            form_is(&t, (enum assay_role)role, codecs[i].native,
                    codecs[i].native_bits);
        t.packed = true;
        form_is(&t, ASSAY_ROLE_Q, codecs[i].qk, codecs[i].qk_bits);
        form_is(&t, ASSAY_ROLE_K, codecs[i].qk, codecs[i].qk_bits);
        form_is(&t, ASSAY_ROLE_V, codecs[i].v, codecs[i].v_bits);
    }
    ck_assert_ptr_null(assay_transport_codec_find("mxfp5"));
}
END_TEST

static const struct {
    const char *name, *qk, *v, *recipe;
    int order, multiple, rotated;
} profiles[] = {
    { "e4m3-e4m3", "e4m3", "e4m3", "fp8", 0, 32, 1 },
    { "int8-e4m3", "int8", "e4m3", "i8fp8", 0, 32, 0 },
    { "mxfp8-e4m3", "mxfp8", "e4m3", "mxfp8", 0, 32, 1 },
    { "e4m3-mxfp6", "e4m3", "mxfp6_p", "f8f6", 1, 64, 1 },
    { "mxfp6-e4m3", "mxfp6", "e4m3_pc", "f6f8", 0, 32, 1 },
    { "mxfp6-mxfp6", "mxfp6", "mxfp6_p", "mxfp6", 1, 64, 1 },
    { "mxfp6-mxfp4", "mxfp6", "mxfp4", "f6f4", 1, 64, 1 },
    { "mxfp4-mxfp4", "mxfp4", "mxfp4", "mxfp4", 1, 64, 1 },
};

START_TEST(profile_rows)
{
    ck_assert_int_eq(sizeof profiles / sizeof *profiles,
                     ASSAY_TRANSPORT_PROFILES);
    for (int i = 0; i < ASSAY_TRANSPORT_PROFILES; i++) {
        const struct assay_transport_profile *row =
            assay_transport_profile_find(profiles[i].name);
        ck_assert_ptr_eq(row, assay_transport_profile_get(
                                  (enum assay_transport_profile_id)i));
        struct assay_transport t = assay_transport_of(row, 4, 0.125);
        ck_assert_str_eq(assay_transport_codec_get(t.qk)->name, profiles[i].qk);
        ck_assert_str_eq(assay_transport_codec_get(t.v)->name, profiles[i].v);
        ck_assert_str_eq(row->recipe, profiles[i].recipe);
        ck_assert(t.packed && !t.compact && t.ranks == 4 &&
                  t.softmax_scale == 0.125);
        ck_assert_int_eq(t.order, profiles[i].order);
        ck_assert_int_eq(t.multiple, profiles[i].multiple);
        ck_assert_int_eq(t.rotated, profiles[i].rotated);
        ck_assert_int_eq(assay_transport_check(&t, NULL), ASSAY_OK);
        t.multiple = 32; /* later kernels */
        ck_assert_int_eq(assay_transport_check(&t, NULL), ASSAY_OK);
    }
    ck_assert_ptr_null(assay_transport_profile_find("mxfp4-e4m3"));
}
END_TEST

/* ---- what is refused ---- */

static const struct assay_transport good = { .qk = ASSAY_TRANSPORT_MXFP6,
                                             .v = ASSAY_TRANSPORT_MXFP4,
                                             .packed = true,
                                             .ranks = 2,
                                             .multiple = 32,
                                             .order = ASSAY_TOKENS_FP6P,
                                             .softmax_scale = 1 };

static void refused(struct assay_transport t, const char *text)
{
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_transport_check(&t, &err), ASSAY_USAGE);
    ck_assert_msg(strstr(err.text, text), "'%s' lacks '%s'", err.text, text);
}

#define BAD(text, ...)                   \
    do {                                 \
        struct assay_transport t = good; \
        __VA_ARGS__;                     \
        refused(t, text);                \
    } while (0)

START_TEST(what_is_refused)
{
    ck_assert_int_eq(assay_transport_check(&good, NULL), ASSAY_OK);
    BAD("codec 7 or 3", t.qk = ASSAY_TRANSPORT_CODECS);
    BAD("between 2, 4 or 8 ranks, or 1; not 3", t.ranks = 3);
    BAD("not 0", t.ranks = 0);
    BAD("not -2", t.ranks = -2);
    BAD("not 16", t.ranks = 16);
    BAD("a multiple of 0", t.multiple = 0);
    BAD("a multiple of 32 tokens, not of 48", t.multiple = 48);
    BAD("token order 2 or rotation 0", t.order = ASSAY_TOKEN_ORDERS);
    BAD("token order 1 or rotation 3", t.rotated = ASSAY_ROTATEDS);
    BAD("softmax scale is 0", t.softmax_scale = 0);
    BAD("softmax scale is -1", t.softmax_scale = -1);
    BAD("softmax scale is inf", t.softmax_scale = INFINITY);
    BAD("softmax scale is nan", t.softmax_scale = NAN);
    BAD("e4m3_pc has no native form of V", t.packed = false,
        t.v = ASSAY_TRANSPORT_E4M3_PC);
    BAD("mxfp6_p has no native form of V", t.packed = false,
        t.v = ASSAY_TRANSPORT_MXFP6_P);
    BAD("e4m3_pc has no packed form of Q", t.qk = ASSAY_TRANSPORT_E4M3_PC);
    BAD("mxfp6_p has no packed form of Q", t.qk = ASSAY_TRANSPORT_MXFP6_P);
    BAD("int8 has no packed form of V", t.v = ASSAY_TRANSPORT_INT8);
    BAD("mxfp6 has no packed form of V", t.v = ASSAY_TRANSPORT_MXFP6);
    BAD("mxfp8 has no packed form of V", t.v = ASSAY_TRANSPORT_MXFP8);
    BAD("packed e4m3 is not", t.v = ASSAY_TRANSPORT_E4M3);
    BAD("native mxfp4 is not", t.packed = false);
    BAD("mxfp6_p needs token order fp6p, not canonical",
        t.v = ASSAY_TRANSPORT_MXFP6_P, t.order = ASSAY_TOKENS_CANONICAL);
    BAD("int8 is not rotated within", t.qk = ASSAY_TRANSPORT_INT8,
        t.rotated = ASSAY_ROTATED_WITHIN);
    /* V in e4m3_pc needs no padding, mxfp4 no FP6P, native no scale */
    struct assay_transport t = good;
    t.v = ASSAY_TRANSPORT_E4M3_PC, t.order = ASSAY_TOKENS_CANONICAL;
    t.multiple = 1;
    ck_assert_int_eq(assay_transport_check(&t, NULL), ASSAY_OK);
    t.v = ASSAY_TRANSPORT_MXFP4, t.multiple = 32;
    ck_assert_int_eq(assay_transport_check(&t, NULL), ASSAY_OK);
    t.packed = false, t.softmax_scale = 0, t.multiple = 1;
    ck_assert_int_eq(assay_transport_check(&t, NULL), ASSAY_OK);
}
END_TEST

START_TEST(sends_refused)
{
    static const struct {
        int role, rank;
        int64_t tokens, heads;
        const char *text;
    } bad[] = {
        { 3, 0, 64, 4, "role 3 is not known" },
        { 0, 2, 64, 4, "no rank 2 of 2" },
        { 0, -1, 64, 4, "no rank -1 of 2" },
        { 0, 0, 0, 4, "0 tokens of 4 heads cannot go to 2 ranks" },
        { 0, 0, 64, 0, "64 tokens of 0 heads cannot go to 2 ranks" },
        { 0, 0, 64, 5, "64 tokens of 5 heads cannot go to 2 ranks" },
        { 0, 0, INT64_MAX, 4, "too many to address" },
        { 0, 0, INT64_MAX / 4, 8, "too many to address" },
        { 0, 0, (int64_t)1 << 50, 1 << 10, "too many to address" },
        { 0, 0, 64, INT64_MAX - 1, "too many to address" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct assay_error err = { 0 };
        struct assay_arrival out;
        float x[1] = { 0 };
        ck_assert(assay_transport_send(&good, (enum assay_role)bad[i].role,
                                       bad[i].rank, bad[i].tokens, bad[i].heads,
                                       x, &out, &err) != ASSAY_OK);
        ck_assert_msg(strstr(err.text, bad[i].text), "%s", err.text);
        assay_arrival_free(&out);
    }
}
END_TEST

START_TEST(tokens_of_a_rank)
{
    static const struct {
        int ranks;
        int64_t multiple, tokens, right;
    } cases[] = {
        { 1, 1, 5, 5 },     { 2, 1, 5, 3 },         { 8, 1, 5, 1 },
        { 2, 32, 64, 32 },  { 2, 32, 65, 64 },      { 4, 64, 1, 64 },
        { 8, 64, 512, 64 }, { 8, 64, 513, 128 },    { 8, 32, 513, 96 },
        { 4, 1, 0, 0 },     { 8, 64, 75600, 9472 }, { 2, 64, INT64_MAX, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct assay_transport t = { .ranks = cases[i].ranks,
                                     .multiple = cases[i].multiple };
        ck_assert_int_eq(assay_transport_rank_tokens(&t, cases[i].tokens),
                         cases[i].right);
    }
}
END_TEST

/* ---- the exchange ---- */

/* Every byte knows where it comes from. */
static uint32_t mark(int64_t token, int64_t head, int64_t channel)
{
    return (uint32_t)(1 + channel + 5 * (head + 64 * token));
}

static void check_exchange(int ranks, int64_t tokens, int64_t rank_tokens,
                           int64_t heads)
{
    enum { WIDE = 5 };
    const struct assay_exchange x = { ranks, tokens, rank_tokens, heads,
                                      WIDE * sizeof(uint32_t) };
    const int64_t n = tokens * heads * WIDE, own = heads / ranks;
    const int64_t all_tokens = ranks * rank_tokens;
    uint32_t *all = must_alloc((size_t)n, sizeof *all);
    uint32_t *back = must_alloc((size_t)n, sizeof *back);
    uint32_t *got = must_alloc((size_t)(all_tokens * own * WIDE), sizeof *got);
    for (int64_t i = 0; i < n; i++)
        all[i] = mark(i / WIDE / heads, i / WIDE % heads, i % WIDE);
    memset(back, 0, (size_t)n * sizeof *back);
    for (int rank = 0; rank < ranks; rank++) {
        assay_exchange_receive(&x, rank, all, got);
        for (int64_t i = 0; i < all_tokens * own * WIDE; i++) {
            const int64_t t = i / WIDE / own, h = i / WIDE % own;
            const uint32_t right =
                t < tokens ? mark(t, rank * own + h, i % WIDE) : 0;
            if (got[i] != right)
                ck_abort_msg("at %" PRId64 ": %u, not %u", i, got[i], right);
        }
        assay_exchange_return(&x, rank, got, back);
    }
    ck_assert_mem_eq(all, back, (size_t)n * sizeof *all);
    free(all), free(back), free(got);
}

START_TEST(exchange)
{
    for (int ranks = 1; ranks <= 8; ranks *= 2)
        for (int64_t each = 1; each <= 3; each++) {
            check_exchange(ranks, 4 * ranks, 4, each * ranks);
            check_exchange(ranks, 4 * ranks - 3, 4, each * ranks);
            check_exchange(ranks, 1, 4, each * ranks);
        }
}
END_TEST

/* ---- native codecs ---- */

static const struct native {
    enum assay_transport_codec_id id;
    const struct element *element;
    int bits;
    uint32_t inverse_max; /* 0: int8's own rule */
} natives[] = {
    { ASSAY_TRANSPORT_E4M3, &e4m3, 8, 0x3b124925 },
    { ASSAY_TRANSPORT_INT8, &int8, 8, 0 },
    { ASSAY_TRANSPORT_MXFP4, &e2m1, 4, 0x3e2aaaab },
    { ASSAY_TRANSPORT_MXFP6, &e2m3, 6, 0x3e088889 },
    { ASSAY_TRANSPORT_MXFP8, &e4m3, 8, 0x3b124925 },
};
enum { N_NATIVES = sizeof natives / sizeof *natives };

static int native_byte(const struct native *n, float amax)
{
    return n->inverse_max ? ceil_exponent(amax * float_of(n->inverse_max))
                          : ceil_exponent(fmaxf(amax / 127, 1e-30f));
}

/* Words whose blocks have all kinds of sizes; token 0 is zeros. */
static float *words_new(int64_t tokens, int64_t heads, uint64_t seed)
{
    const int64_t n = tokens * heads * WIDTH;
    float *x = must_alloc((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        const int up = (int)(values_bits(seed + 1, (uint64_t)(i / BLOCK)) % 41);
        const float size = ldexpf(values_normal(seed, (uint64_t)i), up - 20);
        x[i] = i < heads * WIDTH ? (i % 2 ? -0.0f : 0) : to_bf16(size);
    }
    return x;
}

/* A row of what arrives: codes, packed bytes, scales, values. */
struct row {
    uint8_t codes[WIDTH], bytes[WIDTH], scales[BLOCKS];
    float values[WIDTH];
};

static void native_row(const struct native *n, const float *x, struct row *out)
{
    memset(out, 0, sizeof *out);
    for (int c = 0; c < WIDTH; c++) {
        const int e = native_byte(n, amax_of(BLOCK, x + c / BLOCK * BLOCK));
        const uint8_t code = code_of(n->element, x[c] * reciprocal(e), false);
        out->scales[c / BLOCK] = (uint8_t)e;
        out->codes[c] = code;
        out->values[c] =
            to_bf16((float)ldexp(value_of(n->element, code), e - 127));
        for (int bit = 0; bit < n->bits; bit++) {
            const int at = c * n->bits + bit;
            out->bytes[at / 8] |= (uint8_t)((code >> bit & 1) << at % 8);
        }
    }
}

static void values_are(const float *got, const float *right, const char *what)
{
    for (int c = 0; c < WIDTH; c++)
        if (bits_of(got[c]) != bits_of(right[c]))
            ck_abort_msg("%s: channel %d is %a, not %a", what, c, got[c],
                         right[c]);
}

/* prepare makes what is quantized of a source row. */
static void check_native(const struct native *n,
                         const struct assay_transport *t, enum assay_role role,
                         int64_t tokens, int64_t heads, const float *x,
                         void (*prepare)(const float *, float *))
{
    const int64_t own = heads / t->ranks;
    const int64_t all = t->ranks * assay_transport_rank_tokens(t, tokens);
    const size_t step = (size_t)(WIDTH * n->bits / 8);
    const char *name = assay_transport_codec_get(n->id)->name;
    for (int rank = 0; rank < t->ranks; rank++) {
        struct assay_arrival a;
        struct assay_error err = { 0 };
        ck_assert_msg(assay_transport_send(t, role, rank, tokens, heads, x, &a,
                                           &err) == ASSAY_OK,
                      "%s", err.text);
        ck_assert_int_eq(a.payload_bytes, all * own * (int64_t)step);
        ck_assert_int_eq(a.scale_bytes, all * own * BLOCKS);
        ck_assert_int_eq(a.payload.tensor.s, all);
        ck_assert_int_eq(a.payload.tensor.h, own);
        ck_assert(8. * (double)(a.payload_bytes + a.scale_bytes) /
                      (double)a.payload.count ==
                  assay_transport_bits(t, role));
        for (int64_t i = 0; i < all * own; i++) {
            const int64_t s = i / own, h = i % own, at = h * all + s;
            float zeros[WIDTH] = { 0 }, y[WIDTH];
            struct row right;
            prepare(s < tokens ? x + (s * heads + rank * own + h) * WIDTH
                               : zeros,
                    y);
            native_row(n, y, &right);
            ck_assert_mem_eq((uint8_t *)a.payload.codes + i * WIDTH,
                             right.codes, WIDTH);
            ck_assert_mem_eq(a.payload_buffer + (size_t)at * step, right.bytes,
                             step);
            ck_assert_mem_eq(a.scale_buffer + at * BLOCKS, right.scales,
                             BLOCKS);
            values_are(a.values + i * WIDTH, right.values, name);
        }
        assay_arrival_free(&a);
    }
}

static void as_is(const float *x, float *y)
{
    memcpy(y, x, WIDTH * sizeof *y);
}

static void rotated_words(const float *x, float *y)
{
    rotate_row(x, y);
    for (int c = 0; c < WIDTH; c++)
        y[c] = to_bf16(y[c]);
}

START_TEST(native_codecs)
{
    enum { TOKENS = 13, HEADS = 8 };
    const struct native *n = &natives[_i];
    float *x = words_new(TOKENS, HEADS, 1);
    struct assay_transport t = { .qk = n->id, .v = n->id, .multiple = 1 };
    for (t.ranks = 1; t.ranks <= 8; t.ranks *= 2) {
        t.rotated = ASSAY_ROTATED_NEVER;
        for (int role = 0; role < ASSAY_ROLES; role++)
            check_native(n, &t, (enum assay_role)role, TOKENS, HEADS, x, as_is);
        t.rotated = ASSAY_ROTATED_WITHIN;
        check_native(n, &t, ASSAY_ROLE_Q, TOKENS, HEADS, x, rotate_row);
        check_native(n, &t, ASSAY_ROLE_K, TOKENS, HEADS, x, rotate_row);
        check_native(n, &t, ASSAY_ROLE_V, TOKENS, HEADS, x, as_is);
        t.rotated = ASSAY_ROTATED_BEFORE;
        check_native(n, &t, ASSAY_ROLE_K, TOKENS, HEADS, x, rotated_words);
        check_native(n, &t, ASSAY_ROLE_V, TOKENS, HEADS, x, as_is);
    }
    t.ranks = 2, t.multiple = 32, t.rotated = ASSAY_ROTATED_NEVER;
    check_native(n, &t, ASSAY_ROLE_Q, TOKENS, HEADS, x, as_is);
    free(x);
}
END_TEST

/* The codecs of Q and K, and of V, are two. */
START_TEST(codec_pair)
{
    enum { TOKENS = 4, HEADS = 4 };
    float *x = words_new(TOKENS, HEADS, 3);
    const struct assay_transport t = { .qk = ASSAY_TRANSPORT_MXFP6,
                                       .v = ASSAY_TRANSPORT_MXFP4,
                                       .ranks = 2,
                                       .multiple = 1 };
    check_native(&natives[3], &t, ASSAY_ROLE_Q, TOKENS, HEADS, x, as_is);
    check_native(&natives[3], &t, ASSAY_ROLE_K, TOKENS, HEADS, x, as_is);
    check_native(&natives[2], &t, ASSAY_ROLE_V, TOKENS, HEADS, x, as_is);
    free(x);
}
END_TEST

/* Scale bytes by hand: amax, and E of e4m3, int8, mxfp4, mxfp6. */
START_TEST(scale_bytes)
{
    static const struct {
        float amax;
        int e[4];
    } right[] = {
        { 0, { 0, 28, 0, 0 } },
        { 448, { 127, 129, 134, 133 } },
        { 450, { 128, 129, 134, 133 } },
        { 6, { 121, 123, 127, 127 } },
        { 6.03125f, { 121, 123, 128, 127 } },
        { 7.5f, { 122, 123, 128, 127 } },
        { 7.53125f, { 122, 123, 128, 128 } },
        { 127, { 126, 127, 132, 132 } },
        { 1, { 119, 121, 125, 125 } },
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        for (int n = 0; n < 4; n++) {
            float x[WIDTH] = { 0 };
            struct assay_arrival a;
            struct assay_transport t = { .qk = natives[n].id,
                                         .v = natives[n].id,
                                         .ranks = 1,
                                         .multiple = 1 };
            x[40] = -right[i].amax;
            ck_assert_int_eq(
                assay_transport_send(&t, ASSAY_ROLE_V, 0, 1, 1, x, &a, NULL),
                ASSAY_OK);
            ck_assert_msg(a.scale_buffer[1] == right[i].e[n],
                          "codec %d, amax %g: %d, not %d", n, right[i].amax,
                          a.scale_buffer[1], right[i].e[n]);
            assay_arrival_free(&a);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transport");
    TCase *c = tcase_create("transport");
    tcase_add_test(c, codec_rows);
    tcase_add_test(c, profile_rows);
    tcase_add_test(c, what_is_refused);
    tcase_add_test(c, sends_refused);
    tcase_add_test(c, tokens_of_a_rank);
    tcase_add_test(c, exchange);
    tcase_add_loop_test(c, native_codecs, 0, N_NATIVES);
    tcase_add_test(c, codec_pair);
    tcase_add_test(c, scale_bytes);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
