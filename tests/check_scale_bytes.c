/* SPDX-License-Identifier: MIT
 *
 * Payloads made wrong on purpose, and what golden/scale_bytes.h calls them.
 */
#include "check_assay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/scale_bytes.h"

/* V's last tile has 70 tokens of 128. */
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

static struct assay_payload made_in(const struct assay_quantizer *how,
                                    enum assay_token_order order)
{
    const struct assay_tensor t = { B, S, H, D, order, 0 };
    struct assay_payload p;
    ck_assert_int_eq(assay_quantize(how, &t, x, &p, &err), ASSAY_OK);
    return p;
}

static struct assay_payload made(const struct assay_quantizer *how)
{
    return made_in(how, ASSAY_TOKENS_CANONICAL);
}

/* A recipe that gives K and V to the quantizer, as far as sentences ask. */
static const char *told(const struct assay_quantizer *how,
                        const struct scale_bytes *b)
{
    static char text[SCALE_BYTES_TEXT];
    const bool v = how->scale == ASSAY_SCALE_BLOCK_TOKENS;
    const struct assay_problem p = { B, H, H, S, S, D, D, ASSAY_MASK_NONE, 1 };
    struct assay_recipe r = *assay_recipe_find("bf16");
    r.k = r.v = how->id;
    text[0] = '\0';
    scale_bytes_tell(&r, &p, v ? ASSAY_INPUT_V : ASSAY_INPUT_K, b, text,
                     sizeof text);
    ck_assert_uint_lt(strlen(text), SCALE_BYTES_TEXT / ASSAY_INPUTS);
    return text;
}

static struct scale_bytes compared(const struct assay_quantizer *how,
                                   const float *values,
                                   const struct assay_payload *s,
                                   const struct assay_payload *c)
{
    struct scale_bytes o;
    ck_assert_int_eq(scale_bytes_compare("k", s, c, &o, &err), ASSAY_OK);
    ck_assert_int_eq(scale_bytes_explain(how, values, s, c, &o, &err),
                     ASSAY_OK);
    ck_assert(o.there);
    return o;
}

static int64_t unlike(const void *a, const void *b, int64_t n, size_t bytes)
{
    int64_t differ = 0;
    for (int64_t i = 0; i < n; i++)
        differ += memcmp((const char *)a + (size_t)i * bytes,
                         (const char *)b + (size_t)i * bytes, bytes) != 0;
    return differ;
}

/* Counts are those of a plain loop, and a reading that is named gives the
 * bytes of c, all that left does not count. */
static void check_counts(const struct scale_bytes *o,
                         const struct assay_payload *s,
                         const struct assay_payload *c)
{
    const size_t bytes = assay_format_bytes(s->format);
    const int64_t n = s->n_scales;
    const int64_t scales = s->e8m0     ? unlike(s->e8m0, c->e8m0, n, 1)
                           : s->scales ? unlike(s->scales, c->scales, n, 4)
                                       : 0;
    ck_assert_int_eq(o->steps[BYTES_CODES].differ,
                     unlike(s->codes, c->codes, s->count, bytes));
    ck_assert_int_eq(o->steps[BYTES_SCALES].differ, scales);
    ck_assert_int_eq(o->steps[BYTES_PAST].differ,
                     s->past ? unlike(s->past, c->past, n, 1) : 0);
    ck_assert_int_eq(o->steps[BYTES_CODES].count, N);
    ck_assert_int_eq(o->steps[BYTES_SCALES].count, n);
    ck_assert_int_eq(o->steps[BYTES_PAST].count, s->past ? n : 0);
    for (int k = 0; k < BYTE_KINDS; k++) {
        const struct byte_steps *b = &o->steps[k];
        int64_t sum = b->signs + b->classes;
        for (int i = 0; i < STEP_BINS; i++)
            sum += b->bins[i];
        ck_assert_int_eq(sum, b->differ);
    }
}

static bool alike(const struct assay_payload *a, const struct assay_payload *b)
{
    const size_t n = (size_t)a->n_scales;
    return memcmp(a->codes, b->codes,
                  (size_t)a->count * assay_format_bytes(a->format)) == 0 &&
           (!a->e8m0 || memcmp(a->e8m0, b->e8m0, n) == 0) &&
           (!a->scales ||
            memcmp(a->scales, b->scales, n * sizeof *a->scales) == 0) &&
           (!a->past || memcmp(a->past, b->past, n) == 0);
}

/* The rules that looks_like names are all those that give c, and no other. */
static void check_names(const struct assay_quantizer *how, int rules,
                        const struct scale_bytes *o,
                        const struct assay_payload *c)
{
    const bool e8m0 = c->e8m0 != NULL;
    char want[160] = "", end[48];
    for (int i = 0; i < rules; i++) {
        struct assay_quantizer other = *how;
        other.scale_rule = (enum assay_scale_rule_id)i;
        other.f32_rule = (enum assay_f32_rule_id)i;
        if (i == (e8m0 ? (int)how->scale_rule : (int)how->f32_rule))
            continue;
        struct assay_payload p = made(&other);
        if (alike(&p, c)) {
            strcat(want, want[0] ? " or " : "scale rule ");
            strcat(want, assay_quantizer_rule_name(&other));
        }
        assay_payload_free(&p);
    }
    snprintf(end, sizeof end, ", not %s", assay_quantizer_rule_name(how));
    strcat(want, end);
    ck_assert_str_eq(o->looks_like, want);
}

static const struct {
    const char *quantizer;
    int rules;
} ruled[] = {
    { "mxfp8", ASSAY_SCALE_RULES },   { "mxfp6", ASSAY_SCALE_RULES },
    { "mxfp4", ASSAY_SCALE_RULES },   { "mxfp6-v", ASSAY_SCALE_RULES },
    { "mxfp4-v", ASSAY_SCALE_RULES }, { "a2a-int8", ASSAY_SCALE_RULES },
    { "fp8chan", ASSAY_F32_RULES },
};
enum { RULED = sizeof ruled / sizeof *ruled };

START_TEST(rules_are_told)
{
    const struct assay_quantizer *how =
        assay_quantizer_find(ruled[_i].quantizer);
    int apart = 0;
    for (int i = 0; i < ruled[_i].rules; i++) {
        struct assay_quantizer other = *how;
        other.scale_rule = (enum assay_scale_rule_id)i;
        other.f32_rule = (enum assay_f32_rule_id)i;
        struct assay_payload s = made(how), c = made(&other);
        struct scale_bytes o = compared(how, x, &s, &c);
        check_counts(&o, &s, &c);
        if (alike(&s, &c)) {
            ck_assert_str_eq(o.looks_like, "");
            ck_assert_str_eq(told(how, &o), "");
        } else {
            check_names(how, ruled[_i].rules, &o, &c);
            for (int k = 0; k < BYTE_KINDS; k++)
                ck_assert_int_eq(o.steps[k].left, 0);
            ck_assert_ptr_nonnull(strstr(told(how, &o), o.looks_like));
            apart++;
        }
        assay_payload_free(&s);
        assay_payload_free(&c);
    }
    /* of 12 rules, and of 4 of which two share each scale */
    ck_assert_int_ge(apart, ruled[_i].rules == ASSAY_F32_RULES ? 2 : 8);
}
END_TEST

/* One scale for all, whose last bit tells amax / max from amax * (1 / max) for
 * some amax. */
START_TEST(one_scale_of_all)
{
    const struct assay_quantizer *how = assay_quantizer_find("fp8rot-div");
    struct assay_quantizer other = *how;
    const float old = x[5];
    bool apart = false;
    other.f32_rule = ASSAY_F32_RULE_RECIP;
    for (int i = 0; i < 128 && !apart; i++) {
        x[5] = 0x1p125f * (1 + (float)i / 128);
        struct assay_payload s = made(how), c = made(&other);
        if (s.scales[0] != c.scales[0]) {
            struct scale_bytes o = compared(how, x, &s, &c);
            const struct byte_steps *b = &o.steps[BYTES_SCALES];
            check_counts(&o, &s, &c);
            ck_assert_int_eq(b->bins[STEPS_MOST - 1] + b->bins[STEPS_MOST + 1],
                             1);
            ck_assert_ptr_nonnull(strstr(o.looks_like, "recip"));
            ck_assert_ptr_nonnull(strstr(o.looks_like, ", not divide-recip"));
            ck_assert_ptr_nonnull(
                strstr(told(how, &o), "k: 1 of 1 scale differs by "));
            apart = true;
        }
        assay_payload_free(&s);
        assay_payload_free(&c);
    }
    ck_assert(apart);
    x[5] = old;
}
END_TEST

/* ---- other readings ---- */

/* What `how` gives and the candidate does not is called so, and only so. */
static void expect(const struct assay_quantizer *how, const float *values,
                   const struct assay_payload *s, const struct assay_payload *c,
                   const char *looks_like)
{
    struct scale_bytes o = compared(how, values, s, c);
    check_counts(&o, s, c);
    ck_assert_str_eq(o.looks_like, looks_like);
    ck_assert_int_eq(o.also, 0);
    for (int k = 0; k < BYTE_KINDS; k++)
        ck_assert_int_eq(o.steps[k].left, 0);
}

START_TEST(overflow_is_told)
{
    struct assay_quantizer how = *assay_quantizer_find("mxfp8"), other;
    how.scale_rule = ASSAY_SCALE_RULE_FLOOR;
    other = how;
    other.overflow = ASSAY_SPECIAL;
    struct assay_payload s = made(&how), c = made(&other);
    struct scale_bytes o = compared(&how, x, &s, &c);
    ck_assert_int_gt(o.steps[BYTES_CODES].classes, 0);
    expect(&how, x, &s, &c, "overflow special, not saturate");
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

START_TEST(token_order_is_told)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp6-v");
    struct assay_payload s = made_in(how, ASSAY_TOKENS_FP6P),
                         c = made_in(how, ASSAY_TOKENS_CANONICAL);
    c.tensor.order = s.tensor.order;
    expect(how, x, &s, &c, "token order canonical, not fp6p");
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

START_TEST(nibbles_are_told)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp4");
    struct assay_payload s = made(how), c = made(how);
    for (int i = 0; i < N; i++)
        ((uint8_t *)c.codes)[i] = ((uint8_t *)s.codes)[i ^ 1];
    expect(how, x, &s, &c, "the two nibbles of a byte swapped");
    expect(how, NULL, &s, &c, "the two nibbles of a byte swapped");
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

/* [b, s, h, e] as [b, h, s, e] */
static void heads_first(const uint8_t *from, uint8_t *to, int e)
{
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int t = 0; t < S; t++, to += e)
                memcpy(to, from + ((b * S + t) * H + h) * e, (size_t)e);
}

START_TEST(layouts_are_told)
{
    const struct assay_quantizer *k = assay_quantizer_find("mxfp8"),
                                 *v = assay_quantizer_find("mxfp4-v");
    struct assay_payload s = made(k), c = made(k);
    heads_first(s.codes, c.codes, D);
    expect(k, x, &s, &c, "codes of heads before tokens");
    memcpy(c.codes, s.codes, N);
    heads_first(s.e8m0, c.e8m0, D / 32);
    expect(k, x, &s, &c, "scales of heads before tokens");
    for (int b = 0; b < B; b++)
        for (int t = 0; t < S * H; t++)
            for (int i = 0; i < D / 32; i++)
                c.e8m0[(b * D / 32 + i) * S * H + t] =
                    s.e8m0[(b * S * H + t) * (D / 32) + i];
    expect(k, NULL, &s, &c, "scales of blocks before tokens");
    assay_payload_free(&s);
    assay_payload_free(&c);
    s = made(v);
    c = made(v);
    for (int bh = 0; bh < B * H; bh++)
        for (int i = 0; i < 4; i++)
            for (int d = 0; d < D; d++)
                c.e8m0[(bh * D + d) * 4 + i] = s.e8m0[(bh * 4 + i) * D + d];
    expect(v, x, &s, &c, "scales of channels before blocks");
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

static float value(const struct assay_payload *p, int64_t i)
{
    return assay_format_decode_one(p->format, ((uint8_t *)p->codes)[i]);
}

/* The code below in magnitude where nearest went up. */
START_TEST(rounding_is_told)
{
    static const char *const names[] = { "mxfp8", "mxfp4", "fp8chan" };
    const struct assay_quantizer *how = assay_quantizer_find(names[_i]);
    struct assay_payload s = made(how), c = made(how);
    int64_t up = 0;
    for (int64_t i = 0; i < N; i++) {
        const int64_t bh = i / D / H / S * H + i / D % H;
        const float v = c.e8m0 ? ldexpf(x[i], 127 - c.e8m0[i / 32])
                               : x[i] / c.scales[bh * D + i % D];
        if (fabsf(value(&s, i)) > fabsf(v)) {
            ((uint8_t *)c.codes)[i]--;
            up++;
        }
    }
    ck_assert_int_gt(up, N / 8);
    expect(how, x, &s, &c, "rounding toward-zero, not nearest-even");
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

START_TEST(flushed_subnormals_are_told)
{
    static const char *const names[] = { "mxfp6", "mxfp4" };
    const struct assay_quantizer *how = assay_quantizer_find(names[_i]);
    struct assay_payload s = made(how), c = made(how);
    int64_t flushed = 0;
    for (int64_t i = 0; i < N; i++)
        if (value(&s, i) != 0 && fabsf(value(&s, i)) < 1) {
            ((uint8_t *)c.codes)[i] = 0;
            flushed++;
        }
    ck_assert_int_gt(flushed, 100);
    expect(how, NULL, &s, &c, "subnormal codes flushed to zero");
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

START_TEST(late_scales_are_told)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp6-v");
    struct assay_payload s = made(how), c = made(how);
    memcpy(c.e8m0 + 1, s.e8m0, (size_t)s.n_scales - 1);
    expect(how, x, &s, &c, "scales one place late");
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

/* Scales that no rule gives: codes that go with them, and codes that do not. */
START_TEST(own_scales_are_told)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp8");
    struct assay_payload s = made(how), c = made(how);
    for (int64_t i = 0; i < c.n_scales; i += 2)
        c.e8m0[i] += 1 + i % 5; /* larger: nothing saturates */
    struct scale_bytes o = compared(how, x, &s, &c);
    ck_assert_str_eq(o.looks_like, "");
    ck_assert_int_eq(o.steps[BYTES_CODES].differ, 0);
    for (int64_t i = 0; i < N; i++) {
        const float v = ldexpf(x[i], 127 - c.e8m0[i / 32]);
        assay_format_encode(c.format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, 1, &v,
                            (uint8_t *)c.codes + i);
    }
    o = compared(how, x, &s, &c);
    check_counts(&o, &s, &c);
    ck_assert_str_eq(o.looks_like, "codes that follow their other scales");
    ck_assert_int_eq(o.steps[BYTES_CODES].left, 0);
    ck_assert_int_eq(o.steps[BYTES_SCALES].left, c.n_scales / 2);
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

/* A rule that explains some of it is told as the nearest one, with its part. */
START_TEST(the_nearest_is_told)
{
    struct assay_quantizer how = *assay_quantizer_find("mxfp6"), other;
    how.scale_rule = ASSAY_SCALE_RULE_FLOOR;
    other = how;
    other.scale_rule = ASSAY_SCALE_RULE_CEIL;
    struct assay_payload s = made(&how), c = made(&other);
    struct scale_bytes o = compared(&how, x, &s, &c);
    const int64_t by_rule =
        o.steps[BYTES_CODES].differ + o.steps[BYTES_SCALES].differ;
    char part[80];
    for (int64_t i = 0; i < N / 4; i++)
        ((uint8_t *)c.codes)[4 * i] = ((uint8_t *)s.codes)[4 * i] ^ 0x20;
    o = compared(&how, x, &s, &c);
    ck_assert_int_eq(o.steps[BYTES_CODES].left + o.steps[BYTES_SCALES].left,
                     N / 4);
    const double differ =
        (double)(o.steps[BYTES_CODES].differ + o.steps[BYTES_SCALES].differ);
    ck_assert_double_gt(differ, (double)by_rule);
    ck_assert_double_eq_tol(scale_bytes_explains(&o), 1 - N / 4 / differ,
                            1e-12);
    snprintf(part, sizeof part,
             "; nothing tried explains them, nearest is scale rule ceil, not "
             "floor, for %.0f %%",
             100 * (1 - N / 4 / differ));
    ck_assert_ptr_nonnull(strstr(told(&how, &o), part));
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

/* Drivers bring no codes of tokens past the last: none are judged. */
START_TEST(tails_may_lack)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp6-v");
    struct assay_payload s = made(how), c = made(how);
    uint8_t *past = c.past;
    c.past = NULL;
    struct scale_bytes o = compared(how, x, &s, &c);
    ck_assert_int_eq(o.steps[BYTES_PAST].count, 0);
    ck_assert_int_eq(o.steps[BYTES_CODES].count, N);
    ck_assert_double_eq(scale_bytes_differ(&o), 0);
    for (int64_t i = 0; i < c.n_scales; i++)
        c.e8m0[i]++;
    o = compared(how, x, &s, &c);
    ck_assert_int_eq(o.steps[BYTES_SCALES].differ, c.n_scales);
    ck_assert_int_eq(o.steps[BYTES_PAST].differ, 0);
    c.past = past;
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

/* Without values a rule cannot be told, and nothing is made up. */
START_TEST(no_values_no_rule)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp4");
    struct assay_quantizer other = *how;
    other.scale_rule = ASSAY_SCALE_RULE_FLOOR;
    struct assay_payload s = made(how), c = made(&other);
    struct scale_bytes o = compared(how, NULL, &s, &c);
    ck_assert_str_eq(o.looks_like, "");
    ck_assert_int_eq(o.also, 0);
    ck_assert_int_eq(o.steps[BYTES_SCALES].left, 0);
    ck_assert_ptr_nonnull(strstr(told(how, &o), "nothing tried explains them"));
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

/* ---- sentences ---- */

START_TEST(one_code_and_one_scale)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp8");
    struct assay_payload s = made(how), c = made(how);
    const int64_t at = ((1 * S + 5) * H + 2) * D + 33, scale = at / 32;
    uint8_t *code = (uint8_t *)c.codes + at;
    ((uint8_t *)s.codes)[at] = 0x30;
    s.e8m0[scale] = 0x7c;
    *code = 0x31;
    c.e8m0[scale] = 0x7d;
    struct scale_bytes o = compared(how, x, &s, &c);
    ck_assert_int_eq(o.steps[BYTES_CODES].first, at);
    ck_assert_str_eq(told(how, &o),
                     "k: 1 of 840 scales differs by +1 octave, at batch 1, "
                     "token 5, head 2, block 1: 0x7d, should be 0x7c; 1 of "
                     "26880 codes differs by +1 step, at batch 1, token 5, "
                     "head 2, channel 33: 0x31, should be 0x30; nothing tried "
                     "explains them");
    c.e8m0[scale] = 0x7c;
    *code = 0xb0;
    o = compared(how, x, &s, &c);
    ck_assert_str_eq(told(how, &o),
                     "k: 1 of 26880 codes differs in sign alone, at batch 1, "
                     "token 5, head 2, channel 33: 0xb0, should be 0x30; "
                     "nothing tried explains them");
    *code = 0x7f;
    o = compared(how, x, &s, &c);
    ck_assert_ptr_nonnull(
        strstr(told(how, &o), "differs in being finite, infinite or NaN, at"));
    *code = 0x20;
    ((uint8_t *)c.codes)[at + 1] ^= 0x80;
    o = compared(how, x, &s, &c);
    ck_assert_ptr_nonnull(strstr(told(how, &o),
                                 "k: 2 of 26880 codes differ (1 by 2 steps or "
                                 "more, 1 in sign alone), the first at "
                                 "batch 1, token 5, head 2, channel 33: 0x20"));
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

/* A rule and a few codes and scales beside it. */
START_TEST(what_a_rule_leaves)
{
    struct assay_quantizer how = *assay_quantizer_find("mxfp4"), other;
    how.scale_rule = ASSAY_SCALE_RULE_FLOOR;
    other = how;
    other.scale_rule = ASSAY_SCALE_RULE_CEIL;
    struct assay_payload s = made(&how), c = made(&other);
    struct scale_bytes o = compared(&how, x, &s, &c);
    ck_assert_ptr_nonnull(strstr(
        told(&how, &o), "; looks like scale rule ceil, not floor: scales and "
                        "codes agree under it"));
    ck_assert_ptr_nonnull(strstr(told(&how, &o), "scales differ, all by +1 "
                                                 "octave; "));
    c.e8m0[7] ^= 0x40;
    o = compared(&how, x, &s, &c);
    ck_assert_int_eq(o.steps[BYTES_SCALES].left, 1);
    ck_assert_ptr_nonnull(strstr(told(&how, &o), "scale rule ceil, not floor: "
                                                 "codes agree under it, 1 "
                                                 "scale differs"));
    ((uint8_t *)c.codes)[99] ^= 8;
    ((uint8_t *)c.codes)[98] ^= 8;
    o = compared(&how, x, &s, &c);
    ck_assert_int_eq(o.steps[BYTES_CODES].left, 2);
    ck_assert_ptr_nonnull(strstr(told(&how, &o),
                                 "not floor: 1 scale and 2 codes differ under "
                                 "it"));
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

START_TEST(tail_codes_count)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp6-v");
    struct assay_payload s = made(how), c = made(how);
    const int64_t at = ((1 * H + 2) * 4 + 3) * D + 9;
    s.past[at] = 2;
    c.past[at] = 0x21; /* -1 of 3 on the line */
    struct scale_bytes o = compared(how, x, &s, &c);
    check_counts(&o, &s, &c);
    ck_assert_str_eq(told(how, &o),
                     "v: 1 of 1536 tail codes differs by -3 steps, at batch 1, "
                     "head 2, block 3, channel 9: 0x21, should be 0x2; nothing "
                     "tried explains them");
    assay_payload_free(&s);
    assay_payload_free(&c);
}
END_TEST

/* Where the scales of each kind stand. */
START_TEST(places_of_scales)
{
    static const struct {
        enum assay_scale scale;
        int64_t at;
        const char *place;
    } all[] = {
        { ASSAY_SCALE_TENSOR, 0, "at scale 0:" },
        { ASSAY_SCALE_HEAD, 4, "at batch 1, head 1:" },
        { ASSAY_SCALE_TOKEN, (1 * S + 68) * H + 2,
          "at batch 1, token 68, head 2:" },
        { ASSAY_SCALE_CHANNEL, (1 * H + 2) * D + 63,
          "at batch 1, head 2, channel 63:" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct assay_quantizer like = *assay_quantizer_find("fp8");
        const struct assay_quantizer *how;
        char name[24];
        snprintf(name, sizeof name, "places-%zu", i);
        like.name = name;
        like.scale = all[i].scale;
        like.operands = "qkv";
        ck_assert_msg(assay_quantizer_add(&like, &how, &err) == ASSAY_OK, "%s",
                      err.text);
        struct assay_payload s = made(how), c = made(how);
        c.scales[all[i].at] = nextafterf(s.scales[all[i].at], INFINITY);
        struct scale_bytes o = compared(how, NULL, &s, &c);
        ck_assert_ptr_nonnull(strstr(told(how, &o), "differs by +1 ulp, at"));
        ck_assert_msg(strstr(told(how, &o), all[i].place) != NULL, "%s",
                      told(how, &o));
        assay_payload_free(&s);
        assay_payload_free(&c);
    }
}
END_TEST

/* ---- steps ---- */

/* How many other values of the format lie from a to b: both zeros are one. */
static int steps_between(const struct assay_format *f, float a, float b)
{
    int n = 0;
    for (uint32_t code = 0; code < 1u << f->bits; code++) {
        const float v = assay_format_decode_one(f, code);
        if (v == 0 && signbit(v))
            continue;
        n += isfinite(v) && (a < b ? v > a && v <= b : v < a && v >= b);
    }
    return a < b ? n : -n;
}

static int class_of(float v)
{
    return isnan(v) ? 2 : isinf(v) ? 1 : 0;
}

/* Every pair of codes of a format, into one bin each. */
START_TEST(steps_of_all_pairs)
{
    static const enum assay_format_id ids[] = { ASSAY_E4M3FN, ASSAY_E4M3FNUZ,
                                                ASSAY_E2M3, ASSAY_E2M1,
                                                ASSAY_INT8 };
    const struct assay_format *f = assay_format_get(ids[_i]);
    const int n = 1 << f->bits;
    for (int a = 0; a < n; a++) {
        struct byte_steps want = { 0 };
        uint8_t from[256], to[256];
        const float va = assay_format_decode_one(f, (uint32_t)a);
        for (int b = 0; b < n; b++) {
            const float vb = assay_format_decode_one(f, (uint32_t)b);
            from[b] = (uint8_t)a;
            to[b] = (uint8_t)b;
            if (a == b)
                continue;
            int by =
                class_of(va) || class_of(vb) ? 0 : steps_between(f, va, vb);
            by = by < -STEPS_MOST  ? -STEPS_MOST
                 : by > STEPS_MOST ? STEPS_MOST
                                   : by;
            want.classes += class_of(va) != class_of(vb);
            if (class_of(va) != class_of(vb))
                continue;
            if (class_of(va) || va == -vb) /* NaN of the other sign, too */
                want.signs++;
            else
                want.bins[by + STEPS_MOST]++;
        }
        struct assay_payload s = { .format = f,
                                   .tensor = { 1, 1, 1, n, 0, 0 },
                                   .count = n,
                                   .codes = from },
                             c = s;
        struct scale_bytes o;
        c.codes = to;
        ck_assert_int_eq(scale_bytes_compare("q", &s, &c, &o, &err), ASSAY_OK);
        const struct byte_steps *got = &o.steps[BYTES_CODES];
        ck_assert_int_eq(got->differ, n - 1);
        ck_assert_int_eq(got->signs, want.signs);
        ck_assert_int_eq(got->classes, want.classes);
        for (int i = 0; i < STEP_BINS; i++)
            ck_assert_int_eq(got->bins[i], want.bins[i]);
    }
}
END_TEST

START_TEST(hostile_sizes)
{
    const struct assay_quantizer *how = assay_quantizer_find("mxfp4-v");
    struct assay_payload s = made(how), c = s;
    struct scale_bytes o;
    for (int i = 0; i < 10; i++) {
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
            c.tensor.b = H, c.tensor.h = B; /* the same count */
        if (i == 6)
            c.format = NULL;
        if (i == 7)
            c.codes = NULL;
        if (i == 8)
            c.scale = ASSAY_SCALES;
        if (i == 9)
            c.tensor.order = ASSAY_TOKENS_FP6P;
        ck_assert_int_eq(scale_bytes_compare("q", &s, &c, &o, &err),
                         ASSAY_SHAPE);
        ck_assert_msg(strncmp(err.text, "q ", 2) == 0, "%s", err.text);
    }
    assay_payload_free(&s);
}
END_TEST

int main(void)
{
    make_values();
    Suite *suite = suite_create("scale-bytes");
    TCase *t = tcase_create("scale-bytes");
    tcase_add_loop_test(t, rules_are_told, 0, RULED);
    tcase_add_test(t, one_scale_of_all);
    tcase_add_test(t, overflow_is_told);
    tcase_add_test(t, token_order_is_told);
    tcase_add_test(t, nibbles_are_told);
    tcase_add_test(t, layouts_are_told);
    tcase_add_loop_test(t, rounding_is_told, 0, 3);
    tcase_add_loop_test(t, flushed_subnormals_are_told, 0, 2);
    tcase_add_test(t, late_scales_are_told);
    tcase_add_test(t, own_scales_are_told);
    tcase_add_test(t, the_nearest_is_told);
    tcase_add_test(t, tails_may_lack);
    tcase_add_test(t, no_values_no_rule);
    tcase_add_test(t, one_code_and_one_scale);
    tcase_add_test(t, what_a_rule_leaves);
    tcase_add_test(t, tail_codes_count);
    tcase_add_test(t, places_of_scales);
    tcase_add_loop_test(t, steps_of_all_pairs, 0, 5);
    tcase_add_test(t, hostile_sizes);
    suite_add_tcase(suite, t);
    return assay_check_main(suite);
}
