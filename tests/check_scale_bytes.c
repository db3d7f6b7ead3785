/* SPDX-License-Identifier: MIT
 *
 * Payloads made wrong on purpose, and what scale_bytes_compare() calls them.
 */
#include "check_assay.h"

#include <stdlib.h>
#include <string.h>

#include "assay/quantize.h"
#include "golden/scale_bytes.h"

enum { B = 2, S = 70, H = 3, D = 64, N = B * S * H * D };

static float x[N];
static struct assay_error err;

static void make_values(void)
{
    unsigned state = 7;
    for (int i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)((double)(state >> 8) / (1 << 23) - 1) *
               (1 + (float)(i / D % 13) / 13); /* any fraction of amax */
    }
    for (int i = 0; i < 3 * H * D; i++) /* zeros, subnormal and huge tokens */
        x[(40 * H) * D + i] *= i < H * D ? 0 : i < 2 * H * D ? 1e-42f : 1e37f;
}

static struct assay_payload made(const struct assay_quantizer *how)
{
    const struct assay_tensor t = { B, S, H, D, ASSAY_TOKENS_CANONICAL, 0 };
    struct assay_payload p;
    ck_assert_int_eq(assay_quantize(how, &t, x, &p, &err), ASSAY_OK);
    return p;
}

static struct scale_bytes compared(const struct assay_quantizer *how,
                                   const struct assay_payload *s,
                                   const struct assay_payload *c)
{
    struct scale_bytes o;
    ck_assert_int_eq(scale_bytes_compare("k", how, x, s, c, &o, &err),
                     ASSAY_OK);
    return o;
}

static const char *const quantizers[] = { "mxfp8", "mxfp6", "mxfp4", "mxfp6-v",
                                          "mxfp4-v" };

/* Another rule is named wherever its bytes are not the right ones, or one that
 * gives the same bytes here. */
START_TEST(rules_are_told)
{
    const struct assay_quantizer *how =
        assay_quantizer_find(quantizers[_i / ASSAY_SCALE_RULES]);
    struct assay_quantizer other = *how;
    other.scale_rule = (enum assay_scale_rule_id)(_i % ASSAY_SCALE_RULES);
    struct assay_payload s = made(how), c = made(&other);
    struct scale_bytes o = compared(how, &s, &c);
    int64_t codes = 0, scales = 0;
    for (int64_t i = 0; i < N; i++)
        codes += ((uint8_t *)s.codes)[i] != ((uint8_t *)c.codes)[i];
    for (int64_t i = 0; i < s.n_scales; i++)
        scales += s.e8m0[i] != c.e8m0[i];
    ck_assert_int_eq(o.codes.differ, codes);
    ck_assert_int_eq(o.scales.differ, scales);
    if (codes + scales == 0) {
        ck_assert(!o.explained);
    } else {
        ck_assert(o.explained);
        ck_assert_int_eq(o.left, 0);
        ck_assert_double_eq(o.share, 1);
        struct assay_quantizer named = *how;
        named.scale_rule =
            assay_scale_rule_find(o.looks_like + strlen("scale rule "))->id;
        struct assay_payload n = made(&named);
        ck_assert_mem_eq(n.codes, c.codes, N);
        ck_assert_mem_eq(n.e8m0, c.e8m0, (size_t)c.n_scales);
        assay_payload_free(&n);
        if (o.also == 0)
            ck_assert_int_eq((int)named.scale_rule, (int)other.scale_rule);
    }
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

START_TEST(one_code_and_one_scale)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp8");
    struct assay_payload s = made(how), c = made(how);
    const int64_t at = ((1 * S + 5) * H + 2) * D + 33, scale = at / 32;
    ((uint8_t *)s.codes)[at] = 0x30;
    ((uint8_t *)c.codes)[at] = 0x31;
    c.e8m0[scale]++;
    struct scale_bytes o = compared(how, &s, &c);
    ck_assert_int_eq(o.codes.differ, 1);
    ck_assert_int_eq(o.codes.bins[STEPS_MOST + 1], 1);
    ck_assert_int_eq(o.scales.bins[STEPS_MOST + 1], 1);
    ck_assert_int_eq(o.codes.first.batch, 1);
    ck_assert_int_eq(o.codes.first.token, 5);
    ck_assert_int_eq(o.codes.first.head, 2);
    ck_assert_int_eq(o.codes.first.channel, 33);
    ck_assert_int_eq(o.scales.first.channel, 1);
    ck_assert_int_eq(o.scales.first.token, 5);
    ck_assert(!o.explained);
    ck_assert_str_eq(o.sentence,
                     "k: 1 of 840 scales differ, all by +1 octave; 1 of 26880 "
                     "codes differ, all by +1 step: nothing tried explains "
                     "them");
    ((uint8_t *)c.codes)[at] = 0xb0; /* sign */
    ck_assert_int_eq(compared(how, &s, &c).codes.signs, 1);
    ((uint8_t *)c.codes)[at] = 0x7f; /* NaN */
    ck_assert_int_eq(compared(how, &s, &c).codes.classes, 1);
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

START_TEST(nibbles_and_axes)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp4");
    struct assay_payload s = made(how), c = made(how);
    for (int i = 0; i < N; i++)
        ((uint8_t *)c.codes)[i] = ((uint8_t *)s.codes)[i ^ 1];
    struct scale_bytes o = compared(how, &s, &c);
    ck_assert_str_eq(o.looks_like, "the two nibbles of a byte swapped");
    ck_assert_int_eq(o.left, 0);
    memcpy(c.codes, s.codes, N);
    for (int b = 0, to = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int t = 0; t < S; t++, to++)
                memcpy(c.e8m0 + 2 * to, s.e8m0 + 2 * ((b * S + t) * H + h), 2);
    o = compared(how, &s, &c);
    ck_assert_str_eq(o.looks_like, "scales of heads before tokens");
    ck_assert_int_eq(o.left, 0);
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

START_TEST(hostile_sizes)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp4");
    struct assay_payload s = made(how), c = s;
    struct scale_bytes o;
    for (int i = 0; i < 6; i++) {
        c = s;
        if (i == 0)
            c.count--;
        if (i == 1)
            c.n_scales = INT64_MAX;
        if (i == 2)
            c.tensor.s = -1;
        if (i == 3)
            c.tensor.b = c.tensor.s = INT64_MAX;
        if (i == 4)
            c.e8m0 = NULL;
        if (i == 5)
            c.tensor.b = S, c.tensor.s = B; /* the same count */
        ck_assert_int_eq(scale_bytes_compare("q", how, x, &s, &c, &o, &err),
                         ASSAY_SHAPE);
    }
    assay_payload_free(&s);
}
END_TEST

int main(void)
{
    make_values();
    Suite *suite = suite_create("scale-bytes");
    TCase *t = tcase_create("scale-bytes");
    tcase_add_loop_test(t, rules_are_told, 0, 5 * ASSAY_SCALE_RULES);
    tcase_add_test(t, one_code_and_one_scale);
    tcase_add_test(t, nibbles_and_axes);
    tcase_add_test(t, hostile_sizes);
    suite_add_tcase(suite, t);
    return assay_check_main(suite);
}
