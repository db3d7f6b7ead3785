/* SPDX-License-Identifier: MIT
 *
 * ref/operand.c: the order of roundings against plain loops written here, and
 * against words and codes of an independent implementation whose quantizers
 * were checked against the kernels' own code.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/operand.h"
#include "check_assay.h"
#include "check_values.h"
#include "vectors.h"

/* Written again on purpose: the table under test has these too. */
static const struct spec {
    enum assay_rotation_order_id id;
    const char *name;
    bool rotate, first;
} specs[] = {
    { ASSAY_ROTATION_UNROTATED, "unrotated", false, false },
    { ASSAY_ROTATION_ONCE, "once", true, false },
    { ASSAY_ROTATION_TWICE, "twice", true, true },
};
enum { N_SPECS = sizeof specs / sizeof *specs };

static const struct assay_format *bf16(void)
{
    return assay_format_get(ASSAY_BF16);
}

/* ---- table and multiplier ---- */

START_TEST(row_is_right)
{
    const struct spec *s = &specs[_i];
    const struct assay_rotation_order *o = assay_rotation_order_get(s->id);
    ck_assert_int_eq(N_SPECS, ASSAY_ROTATION_ORDERS);
    ck_assert_int_eq(o->id, s->id);
    ck_assert_str_eq(o->name, s->name);
    ck_assert(o->rotate == s->rotate && o->round_first == s->first);
    ck_assert_uint_gt(strlen(o->about), 0);
}
END_TEST

/* A product in binary32 gives 48, 72 and 160 another last bit. */
START_TEST(multiplier)
{
    static const struct {
        double width;
        uint32_t bits;
    } right[] = { { 1, 0x3fb8aa3b },   { 16, 0x3eb8aa3b }, { 48, 0x3e553b95 },
                  { 64, 0x3e38aa3b },  { 72, 0x3e2e1a93 }, { 128, 0x3e0293ee },
                  { 160, 0x3de995b3 }, { 576, 0x3d76384f } };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert_uint_eq(
            bits_of(assay_fold_multiplier(pow(right[i].width, -0.5))),
            right[i].bits);
    ck_assert(assay_fold_multiplier(0) == 0);
}
END_TEST

/* ---- plain loops ---- */

static float round_bf16(float x)
{
    uint32_t b = bits_of(x);
    return float_of((b + 0x7fff + (b >> 16 & 1)) & 0xffff0000u);
}

static float round_f16(float x)
{
    assay_format_round(assay_format_get(ASSAY_F16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, 1, &x, &x);
    return x;
}

static void plain_row(const struct spec *s, float (*word)(float), int64_t n,
                      const float *x, const float *mean, float mult, float *y)
{
    const float norm = (float)(1 / sqrt((double)n));
    for (int64_t i = 0; i < n; i++)
        y[i] = mean ? x[i] - mean[i] : x[i];
    for (int64_t stride = 1; s->rotate && stride < n; stride *= 2)
        for (int64_t i = 0; i < n; i++)
            if (!(i & stride)) {
                float low = y[i] + y[i + stride];
                y[i + stride] = y[i] - y[i + stride];
                y[i] = low;
            }
    for (int64_t i = 0; i < n; i++) {
        y[i] = s->rotate ? y[i] * norm : y[i];
        y[i] = s->first ? word(y[i]) : y[i];
        y[i] = word(y[i] * mult);
    }
}

static void prepare(enum assay_rotation_order_id id,
                    const struct assay_format *word,
                    const struct assay_operand *x, float *y)
{
    struct assay_error err = { 0 };
    enum assay_status st =
        assay_operand_prepare(assay_rotation_order_get(id), word, x, y, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
}

static void check_order(const struct spec *s, bool f16, struct assay_operand x,
                        float *y)
{
    const struct assay_format *word =
        assay_format_get(f16 ? ASSAY_F16 : ASSAY_BF16);
    float right[128];
    prepare(s->id, word, &x, y);
    for (int64_t row = 0; row < x.b * x.tokens * x.heads; row++) {
        const int64_t b = row / x.heads / x.tokens, h = row % x.heads;
        const float *mean =
            x.mean ? x.mean + (b * x.heads + h) * x.width : NULL;
        plain_row(s, f16 ? round_f16 : round_bf16, x.width, x.x + row * x.width,
                  mean, x.mult, right);
        for (int64_t c = 0; c < x.width; c++)
            if (!same_float(y[row * x.width + c], right[c]))
                ck_abort_msg("%s, row %" PRId64 ", channel %" PRId64
                             ": %a, not %a",
                             s->name, row, c, y[row * x.width + c], right[c]);
    }
}

/* Tokens: fewer than, as many as, and more than are done at a time. */
START_TEST(orders)
{
    enum { HEADS = 3, MOST = 2 * 37 * HEADS * 128 };
    static const int64_t tokens[] = { 1, 5, 16, 37 }, widths[] = { 128, 64 };
    static const float mults[] = { 1, 0x1.0527dcp-3f };
    float *x = must_alloc(MOST, sizeof *x), *y = must_alloc(MOST, sizeof *y);
    float mean[2 * HEADS * 128];
    values_fill(1, MOST, x);
    values_fill(2, sizeof mean / sizeof *mean, mean);
    for (int n = 0; n < 4 * 2 * 2 * 2 * 2; n++) {
        struct assay_operand operand = {
            .b = 2,
            .tokens = tokens[n % 4],
            .heads = HEADS,
            .width = widths[n / 4 % 2],
            .x = x,
            .mean = n / 8 % 2 ? mean : NULL,
            .mult = mults[n / 16 % 2],
        };
        check_order(&specs[_i], n / 32, operand, y);
    }
    free(x);
    free(y);
}
END_TEST

/* A width that is no power of two is refused only where it is rotated. */
START_TEST(any_width_unrotated)
{
    float x[2 * 3 * 80], mean[3 * 80], y[2 * 3 * 80];
    values_fill(3, 2 * 3 * 80, x);
    values_fill(4, 3 * 80, mean);
    check_order(&specs[0], false,
                (struct assay_operand){ 1, 2, 3, 80, x, mean, 1 }, y);
}
END_TEST

/* The test above would not tell orders apart if they gave the same. */
START_TEST(orders_differ)
{
    enum { N = 32 * 128 };
    float x[N], once[N], twice[N];
    struct assay_operand q = { 1, 32, 1, 128, x, NULL, 0x1.0527dcp-3f };
    int64_t differ = 0;
    values_fill(5, N, x);
    prepare(ASSAY_ROTATION_ONCE, bf16(), &q, once);
    prepare(ASSAY_ROTATION_TWICE, bf16(), &q, twice);
    for (int i = 0; i < N; i++)
        differ += once[i] != twice[i];
    ck_assert_int_gt(differ, N / 20);
    q.mult = 1; /* K: rounding twice is rounding once */
    prepare(ASSAY_ROTATION_ONCE, bf16(), &q, once);
    prepare(ASSAY_ROTATION_TWICE, bf16(), &q, twice);
    ck_assert_mem_eq(once, twice, sizeof once);
    prepare(ASSAY_ROTATION_ONCE, bf16(), &q, x); /* in place */
    ck_assert_mem_eq(once, x, sizeof once);
}
END_TEST

/* The largest bf16 overflows in the butterfly, as in the kernel. */
START_TEST(overflow)
{
    float x[128], y[128];
    struct assay_operand k = { 1, 1, 1, 128, x, NULL, 1 };
    for (int i = 0; i < 128; i++)
        x[i] = 0x1.fep127f;
    prepare(ASSAY_ROTATION_ONCE, bf16(), &k, y);
    ck_assert(y[0] == INFINITY);
    k.width = 1;
    x[0] = 0x1.ffp127f; /* a tie between the largest and infinity */
    prepare(ASSAY_ROTATION_UNROTATED, bf16(), &k, y);
    ck_assert(y[0] == INFINITY);
}
END_TEST

static void refused(enum assay_rotation_order_id id, int64_t b, int64_t tokens,
                    int64_t heads, int64_t width, const char *text)
{
    struct assay_error err = { 0 };
    float x[1] = { 1 }, y[1] = { 7 };
    struct assay_operand operand = { b, tokens, heads, width, x, NULL, 1 };
    ck_assert_int_eq(assay_operand_prepare(assay_rotation_order_get(id), bf16(),
                                           &operand, y, &err),
                     ASSAY_SHAPE);
    ck_assert_msg(strstr(err.text, text), "'%s' lacks '%s'", err.text, text);
    ck_assert(y[0] == 7);
}

START_TEST(what_is_refused)
{
    const int64_t large = (int64_t)1 << 40;
    struct assay_operand none = { 1, 0, 1, 128, NULL, NULL, 1 };
    for (int n = 0; n < N_SPECS; n++) {
        const enum assay_rotation_order_id id = specs[n].id;
        refused(id, 0, 1, 1, 1, "[0, 1, 1, 1]");
        refused(id, 1, -1, 1, 1, "[1, -1, 1, 1]");
        refused(id, 1, 1, 0, 1, "[1, 1, 0, 1]");
        refused(id, 1, 1, 1, -128, "[1, 1, 1, -128]");
        refused(id, large, 1, large, 1, "no operand can have the shape");
        refused(id, 1, large, 1 << 20, 128, "no operand can have the shape");
        refused(id, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, "no operand");
        prepare(id, bf16(), &none, NULL);
    }
    refused(ASSAY_ROTATION_ONCE, 1, 1, 1, 80, "a rotation of 80 channels");
    refused(ASSAY_ROTATION_TWICE, 1, 0, 1, 80, "a rotation of 80 channels");
}
END_TEST

/* ---- vectors of an independent implementation ---- */

static const char *const files[] = { "head_lm_dev.h5", "head_mlm_dev.h5",
                                     "synthetic_zeros.h5",
                                     "synthetic_powers.h5" };

/* An operand [b, token, head, channel] of a file, decoded from its words;
 * mean may be NULL. */
static struct assay_operand read_operand(const char *file, const char *words,
                                         const char *mean)
{
    struct vector x, m = { 0 };
    vector_read(file, words, &x);
    ck_assert_int_eq(x.rank, 4);
    if (mean)
        vector_read(file, mean, &m);
    float *values = must_alloc(x.size / 2, sizeof *values);
    assay_format_decode(bf16(), x.size / 2, x.bytes, values);
    free(x.bytes);
    ck_assert(!mean || m.size == x.dims[0] * x.dims[2] * x.dims[3] * 4);
    return (struct assay_operand){
        (int64_t)x.dims[0],
        (int64_t)x.dims[1],
        (int64_t)x.dims[2],
        (int64_t)x.dims[3],
        values,
        m.bytes,
        1,
    };
}

static int64_t elems(const struct assay_operand *x)
{
    return x->b * x->tokens * x->heads * x->width;
}

static float *prepared(enum assay_rotation_order_id id,
                       const struct assay_operand *x)
{
    float *y = must_alloc((size_t)elems(x), sizeof *y);
    prepare(id, bf16(), x, y);
    return y;
}

static void operand_free(struct assay_operand *x)
{
    free((void *)(uintptr_t)x->x);
    free((void *)(uintptr_t)x->mean);
}

static void check_words(const char *file, const char *words, const char *mean,
                        const char *rotated)
{
    struct assay_operand x = read_operand(file, words, mean);
    struct vector right;
    vector_read(file, rotated, &right);
    const size_t n = (size_t)elems(&x);
    ck_assert_uint_eq(right.size, 2 * n);
    float *y = prepared(ASSAY_ROTATION_ONCE, &x);
    uint16_t *got = must_alloc(n, sizeof *got);
    assay_format_encode(bf16(), ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, n, y, got);
    for (size_t i = 0; i < n; i++)
        if (got[i] != ((uint16_t *)right.bytes)[i])
            ck_abort_msg("%s: %s[%zu] is %04x, not %04x", file, rotated, i,
                         got[i], ((uint16_t *)right.bytes)[i]);
    operand_free(&x);
    free(right.bytes), free(y), free(got);
}

START_TEST(rotated_words)
{
    const char *file = files[_i];
    if (!vectors_present(file))
        return;
    check_words(file, "q.words", NULL, "rotate_q.words");
    check_words(file, "k.words", "k_mean", "rotate_k.words");
    if (_i == 0)
        check_words(file, "k.words", "forced.k_mean", "forced.rotate_k.words");
}
END_TEST

/* int8 of the unrotated operand: nearest of x / (amax / 127). */
static void check_int8(const char *words, const char *mean, const char *codes,
                       const char *scales)
{
    struct assay_operand x = read_operand(files[0], words, mean);
    struct vector right, right_scale;
    float *y = prepared(ASSAY_ROTATION_UNROTATED, &x), amax = 0;
    vector_read(files[0], codes, &right);
    vector_read(files[0], scales, &right_scale);
    ck_assert_uint_eq(right.size, (size_t)elems(&x));
    for (size_t i = 0; i < right.size; i++)
        amax = fmaxf(amax, fabsf(y[i]));
    const float scale = amax / 127;
    ck_assert_mem_eq(&scale, right_scale.bytes, sizeof scale);
    for (size_t i = 0; i < right.size; i++)
        ck_assert_int_eq((int8_t)rintf(y[i] / scale),
                         ((int8_t *)right.bytes)[i]);
    operand_free(&x);
    free(y), free(right.bytes), free(right_scale.bytes);
}

START_TEST(int8_codes)
{
    if (!vectors_present(files[0]))
        return;
    check_int8("q.words", NULL, "int8_q.codes", "int8_q.scale");
    check_int8("k.words", "k_mean", "int8_k.codes", "int8_k.scale");
    check_int8("k.words", "forced.k_mean", "forced.int8_k.codes",
               "forced.int8_k.scale");
}
END_TEST

/* mxfp8 of an operand rounded twice: 32 channels share 2^(e - 127), e =
 * exponent of amax, one more from mantissa 1.75 on, less 8. */
static void check_mxfp8(const char *file, const struct assay_operand *x,
                        const char *codes, const char *exponents)
{
    float *y = prepared(ASSAY_ROTATION_TWICE, x);
    struct vector right, e;
    vector_read(file, codes, &right);
    vector_read(file, exponents, &e);
    ck_assert_uint_eq(right.size, (size_t)elems(x));
    ck_assert_uint_eq(e.size, right.size / 32);
    for (size_t block = 0; block < e.size; block++) {
        float amax = 0, *v = y + 32 * block;
        uint8_t got[32];
        for (int i = 0; i < 32; i++)
            amax = fmaxf(amax, fabsf(v[i]));
        uint32_t exponent = (bits_of(amax) + 0x00200000u) >> 23;
        exponent = exponent > 8 ? exponent - 8 : 0;
        ck_assert_uint_eq(exponent, ((uint8_t *)e.bytes)[block]);
        for (int i = 0; i < 32; i++)
            v[i] *= float_of((254 - exponent) << 23);
        assay_format_encode(assay_format_get(ASSAY_E4M3FN), ASSAY_NEAREST_EVEN,
                            ASSAY_SATURATE, 32, v, got);
        ck_assert_mem_eq(got, (uint8_t *)right.bytes + 32 * block, 32);
    }
    free(y), free(right.bytes), free(e.bytes);
}

/* Q with the softmax scale folded in, where two roundings are not one. */
START_TEST(mxfp8_codes)
{
    const char *file = files[_i];
    if (!vectors_present(file))
        return;
    struct assay_operand q = read_operand(file, "q.words", NULL);
    struct assay_operand k = read_operand(file, "k.words", "k_mean");
    q.mult = assay_fold_multiplier(pow(128, -0.5));
    check_mxfp8(file, &q, "mxfp8_q.codes", "mxfp8_q.e");
    check_mxfp8(file, &k, "mxfp8_k.codes", "mxfp8_k.e");
    operand_free(&q);
    operand_free(&k);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operand");
    TCase *c = tcase_create("operand");
    tcase_add_loop_test(c, row_is_right, 0, N_SPECS);
    tcase_add_test(c, multiplier);
    tcase_add_loop_test(c, orders, 0, N_SPECS);
    tcase_add_test(c, any_width_unrotated);
    tcase_add_test(c, orders_differ);
    tcase_add_test(c, overflow);
    tcase_add_test(c, what_is_refused);
    tcase_add_loop_test(c, rotated_words, 0, 4);
    tcase_add_test(c, int8_codes);
    tcase_add_loop_test(c, mxfp8_codes, 0, 4);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
