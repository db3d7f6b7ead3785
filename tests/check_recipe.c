/* SPDX-License-Identifier: MIT
 *
 * ref/recipe.c: the tables, recipes in other softmax forms, and what quantizing
 * gives, byte for byte.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/recipe.h"
#include "check_assay.h"
#include "check_values.h"

static const struct assay_recipe *recipe_of(enum assay_recipe_id id)
{
    return assay_recipe_get(id);
}

/* ---- tables ---- */

/* Facts of the rows again: quantizers of q, k and v, P, and what else tells
 * recipes apart. F: the softmax scale is folded into Q; S: K is smoothed;
 * B: P has blocks, in fp6p order; M: P or its softmax is not
 * public. */
static const struct facts {
    const char *name, *q, *v, *p, *out, *form, *flags;
} facts[] = {
    { "bf16", "bf16", "bf16", "bf16", "bf16", "nominal", "M" },
    { "f16", "f16", "f16", "f16", "f16", "nominal", "" },
    { "e4m3", "fp8", "fp8", "e4m3fn", "bf16", "nominal", "" },
    { "bf16fp8", "bf16", "fp8", "e4m3fn", "bf16", "nominal", "M" },
    { "i8fp8", "int8", "fp8", "e4m3fn", "bf16", "nominal", "S" },
    { "fp8", "fp8rot", "fp8", "e4m3fn", "bf16", "nominal", "S" },
    { "mxfp8", "mxfp8", "fp8", "e4m3fn", "bf16", "nominal", "SF" },
    { "f8f6", "fp8rot", "mxfp6-v", "e2m3", "bf16", "nominal", "SBM" },
    { "f6f8", "mxfp6", "fp8chan", "e4m3fn", "bf16", "nominal", "SF" },
    { "mxfp6", "mxfp6", "mxfp6-v", "e2m3", "bf16", "nominal", "SFBM" },
    { "f6f4", "mxfp6", "mxfp4-v", "e2m3", "bf16", "nominal", "SFBM" },
    { "mxfp4", "mxfp4", "mxfp4-v", "e2m3", "bf16", "nominal", "SFBM" },
    { "fp8-gfx942", "fp8rot-fnuz", "fp8-fnuz", "e4m3fnuz", "bf16", "nominal",
      "S" },
    { "i8fp8-gfx942", "int8", "fp8-fnuz", "e4m3fnuz", "bf16", "nominal", "S" },
    { "mla_bf16", "bf16", "bf16", "bf16", "bf16", "whole-sum", "" },
    { "mla_fp8", "fp8cast", "fp8cast", "e4m3fn", "bf16", "whole-sum", "" },
};
enum { N_FACTS = sizeof facts / sizeof *facts };

START_TEST(tables)
{
    ck_assert_int_eq(N_FACTS, ASSAY_RECIPES);
    for (int i = 0; i < ASSAY_RECIPES; i++) {
        const struct facts *f = &facts[i];
        const struct assay_recipe *r = recipe_of((enum assay_recipe_id)i);
        printf("# tables: %s\n", r->name);
        fflush(stdout);
        ck_assert_int_eq(r->id, i);
        ck_assert_str_eq(r->name, f->name);
        ck_assert_ptr_eq(assay_recipe_find(r->name), r);
        ck_assert_str_eq(assay_quantizer_get(r->q)->name, f->q);
        ck_assert_int_eq(r->k, r->q);
        ck_assert_str_eq(assay_quantizer_get(r->v)->name, f->v);
        ck_assert_str_eq(assay_format_get(r->p_format)->name, f->p);
        ck_assert_str_eq(assay_format_get(r->out_format)->name, f->out);
        ck_assert_str_eq(assay_softmax_get(r->softmax)->name, f->form);
        ck_assert_str_eq(assay_smooth_name(r->smooth),
                         strchr(f->flags, 'S') ? "words" : "no");
        ck_assert_int_eq(r->scale_applied == ASSAY_APPLIED_Q,
                         strchr(f->flags, 'F') != NULL);
        ck_assert_int_eq(r->p_blocks, strchr(f->flags, 'B') != NULL);
        ck_assert_int_eq(r->order == ASSAY_TOKENS_FP6P, r->p_blocks);
        ck_assert_str_eq(assay_recipe_promise_name(r),
                         strchr(f->flags, 'M') ? "statistical" : "arithmetic");
        /* P lies in (0, 1] and must have a row format that holds it */
        ck_assert(assay_format_max(assay_format_get(r->p_format)) >= 1);
        ck_assert(r->about && r->about[0]);
        struct assay_error err;
        const struct assay_recipe *same;
        ck_assert_int_eq(assay_recipe_valid(r, &err), ASSAY_OK);
        ck_assert_int_eq(assay_recipe_add(r, &same, &err), ASSAY_OK);
        ck_assert_ptr_eq(same, r);
    }
    for (int i = 0; i < ASSAY_QUANTIZERS; i++) {
        struct assay_error err;
        const struct assay_quantizer *same,
            *q = assay_quantizer_get((enum assay_quantizer_id)i);
        ck_assert_int_eq(assay_quantizer_add(q, &same, &err), ASSAY_OK);
        ck_assert_ptr_eq(same, q);
    }
    ck_assert_int_eq(assay_recipe_count(), ASSAY_RECIPES);
    ck_assert_ptr_null(assay_recipe_find("fp9"));
    ck_assert_ptr_null(assay_recipe_find(""));
    ck_assert_ptr_null(assay_recipe_find("fp8 "));
}
END_TEST

START_TEST(forms)
{
    static const struct {
        const char *name;
        enum assay_softmax_kind kind;
        bool whole_sum, fixes_p, nearest;
    } rows[] = {
        { "nominal", ASSAY_KIND_ONLINE, false, false, true },
        { "whole-sum", ASSAY_KIND_ONLINE, true, false, true },
        { "whole-sum-down", ASSAY_KIND_ONLINE, true, false, true },
        { "whole-sum-split", ASSAY_KIND_ONLINE, true, false, true },
        { "gfx950-u32", ASSAY_KIND_U32, false, true, true },
        { "gfx950-byte", ASSAY_KIND_BYTE, false, true, true },
        { "gfx950-byte-trunc", ASSAY_KIND_BYTE, false, true, false },
        { "fp6p", ASSAY_KIND_FROZEN, false, false, true },
    };
    ck_assert_int_eq(sizeof rows / sizeof *rows, ASSAY_SOFTMAXES);
    for (int i = 0; i < ASSAY_SOFTMAXES; i++) {
        const struct assay_softmax_form *f =
            assay_softmax_get((enum assay_softmax)i);
        ck_assert_int_eq(f->id, i);
        ck_assert_str_eq(f->name, rows[i].name);
        ck_assert_ptr_eq(assay_softmax_find(f->name), f);
        ck_assert_int_eq(f->kind, rows[i].kind);
        ck_assert_int_eq(f->key_tile, 128);
        ck_assert_int_eq(f->whole_sum, rows[i].whole_sum);
        ck_assert_int_eq(f->walk,
                         i == ASSAY_SOFTMAX_WHOLE_SUM_DOWN    ? ASSAY_WALK_DOWN
                         : i == ASSAY_SOFTMAX_WHOLE_SUM_SPLIT ? ASSAY_WALK_PARTS
                                                              : ASSAY_WALK_UP);
        ck_assert_int_eq(f->p_format,
                         rows[i].fixes_p ? ASSAY_E4M3FN : ASSAY_FORMATS);
        ck_assert_int_eq(f->nearest, rows[i].nearest);
        ck_assert(f->about && f->about[0]);
    }
    ck_assert_ptr_null(assay_softmax_find("gfx950"));
    ck_assert_ptr_null(assay_softmax_find(""));
}
END_TEST

/* A form that fixes P's format drops its blocks, and V is in canonical order
 * then; all else stays the recipe's. */
START_TEST(recipes_in_forms)
{
    for (int i = 0; i < ASSAY_RECIPES * ASSAY_SOFTMAXES; i++) {
        const struct assay_recipe *r =
            recipe_of((enum assay_recipe_id)(i / ASSAY_SOFTMAXES));
        const enum assay_softmax form =
            (enum assay_softmax)(i % ASSAY_SOFTMAXES);
        const struct assay_recipe *got = assay_recipe_in_form(r, form);
        struct assay_recipe want = *r;
        want.softmax = form;
        if (form == ASSAY_SOFTMAX_GFX950_U32 ||
            form == ASSAY_SOFTMAX_GFX950_BYTE ||
            form == ASSAY_SOFTMAX_GFX950_BYTE_TRUNC) {
            want.p_format = ASSAY_E4M3FN;
            want.p_blocks = false;
            want.order = ASSAY_TOKENS_CANONICAL;
        }
        printf("# %s in form %d\n", r->name, (int)form);
        fflush(stdout);
        ck_assert(got->id == want.id && got->q == want.q && got->k == want.k &&
                  got->v == want.v && got->order == want.order &&
                  got->smooth == want.smooth &&
                  got->scale_applied == want.scale_applied &&
                  got->p_format == want.p_format &&
                  got->p_blocks == want.p_blocks &&
                  got->out_format == want.out_format &&
                  got->softmax == want.softmax && got->promise == want.promise);
        ck_assert_str_eq(got->name, r->name);
        /* the same again, back to the recipe's own, and by way of another */
        ck_assert_ptr_eq(assay_recipe_in_form(r, form), got);
        ck_assert_ptr_eq(assay_recipe_in_form(got, form), got);
        ck_assert_ptr_eq(assay_recipe_in_form(got, r->softmax), r);
    }
}
END_TEST

/* The weaker of form and recipe; a form that fixes P's format leaves the
 * recipe's P out of it. */
START_TEST(promises)
{
    static const struct {
        const char *recipe, *form, *promise;
    } rows[] = {
        { "fp8", "nominal", "arithmetic" },
        { "fp8", "whole-sum", "arithmetic" },
        { "fp8", "gfx950-u32", "arithmetic" },
        { "fp8", "fp6p", "statistical" },
        { "f6f4", "nominal", "statistical" },
        { "f6f4", "whole-sum", "statistical" },
        { "f6f4", "gfx950-byte", "arithmetic" },
        { "f6f4", "gfx950-byte-trunc", "arithmetic" },
        { "mxfp4", "fp6p", "statistical" },
        { "bf16", "nominal", "statistical" },
    };
    ck_assert_int_eq(ASSAY_PROMISES, 3);
    ck_assert_str_eq(assay_promise_get(ASSAY_PROMISE_BITS)->name, "bit-exact");
    ck_assert_int_lt(ASSAY_PROMISE_BITS, ASSAY_PROMISE_ARITHMETIC);
    ck_assert_int_lt(ASSAY_PROMISE_ARITHMETIC, ASSAY_PROMISE_STATISTICAL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct assay_recipe *r =
            assay_recipe_in_form(assay_recipe_find(rows[i].recipe),
                                 assay_softmax_find(rows[i].form)->id);
        printf("# promise of %s@%s\n", rows[i].recipe, rows[i].form);
        fflush(stdout);
        ck_assert_str_eq(assay_recipe_promise_name(r), rows[i].promise);
    }
}
END_TEST

/* The widths that a rotation takes are powers of two. */
START_TEST(widths)
{
    static const int64_t good[] = { 1, 2, 32, 128, 256 },
                         bad[] = { 3, 24, 96, 129, 192 };
    for (int i = 0; i < ASSAY_RECIPES; i++) {
        const struct assay_recipe *r = recipe_of((enum assay_recipe_id)i);
        const char *q = facts[i].q;
        const bool rotates = strncmp(q, "fp8rot", 6) == 0 || q[0] == 'm';
        struct assay_problem p = { 1, 1, 1, 2, 2, 0, 4, ASSAY_MASK_NONE, 1 };
        for (int n = 0; n < 5; n++) {
            struct assay_error err = { 0 };
            p.dk = good[n];
            ck_assert_int_eq(assay_recipe_check(r, &p, &err), ASSAY_OK);
            p.dk = bad[n];
            ck_assert_int_eq(assay_recipe_check(r, &p, &err),
                             rotates ? ASSAY_SHAPE : ASSAY_OK);
            char width[32];
            snprintf(width, sizeof width, "%d is no power", (int)bad[n]);
            ck_assert(!rotates ||
                      (strstr(err.text, r->name) && strstr(err.text, width)));
        }
    }
}
END_TEST

/* ---- quantizer ---- */

/* Quantizes v, n values; q and k are one value each. */
static struct assay_payloads quantize_v(const struct assay_recipe *recipe,
                                        int64_t n, const float *v)
{
    const struct assay_problem p = { 1, 1, 1, 1, 1, 1, n, 0, 1 };
    const float one[1] = { 1 };
    struct assay_payloads out;
    struct assay_error err = { 0 };
    enum assay_status st =
        assay_recipe_quantize(recipe, &p, NULL, NULL, one, one, v, &out, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
    ck_assert_int_eq(out.v.count, n);
    return out;
}

static uint8_t e4m3(float x)
{
    uint8_t code;
    assay_format_encode(assay_format_get(ASSAY_E4M3FN), ASSAY_NEAREST_EVEN,
                        ASSAY_SATURATE, 1, &x, &code);
    return code;
}

static const uint8_t *v_codes(const struct assay_payloads *x)
{
    return x->v.codes;
}

/* Scale is amax / 448, not amax times the rounded 1/448; codes are of x times
 * the rounded reciprocal, not of x / scale. Both pairs differ for some of the
 * amax tried here, so that either mistake would show. */
START_TEST(reciprocal_then_multiply)
{
    enum { N = 2000, AMAX = 128 };
    int scales_differ = 0, codes_differ = 0;
    for (int m = 0; m < AMAX; m++) {
        float x[N], amax = 1 + (float)m / AMAX;
        for (int i = 0; i < N; i++)
            x[i] = remainderf(values_normal(100, (uint64_t)i), 2) * amax;
        /* ties need short words, and what kernels are given is bf16 */
        assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                           ASSAY_SPECIAL, N, x, x);
        x[N / 2] = -amax;
        struct assay_payloads out =
            quantize_v(recipe_of(ASSAY_RECIPE_E4M3), N, x);
        float scale = amax / 448.0f, reciprocal = 1.0f / scale;
        ck_assert_int_eq(out.v.n_scales, 1);
        ck_assert(out.v.scales[0] == scale);
        scales_differ += amax * (1.0f / 448.0f) != scale;
        for (int i = 0; i < N; i++) {
            ck_assert_msg(v_codes(&out)[i] == e4m3(x[i] * reciprocal),
                          "amax %a: %a gives %02x, not %02x", amax, x[i],
                          v_codes(&out)[i], e4m3(x[i] * reciprocal));
            codes_differ += e4m3(x[i] / scale) != e4m3(x[i] * reciprocal);
        }
        assay_payloads_free(&out);
    }
    printf("# reciprocal_then_multiply: %d scales of %d and %d codes of %d "
           "tell the forms apart\n",
           scales_differ, AMAX, codes_differ, AMAX * N);
    ck_assert_int_gt(scales_differ, 0);
    ck_assert_int_gt(codes_differ, 0);
}
END_TEST

START_TEST(zeros_have_scale_one)
{
    const float x[4] = { 0, -0.0f, 0, -0.0f };
    const uint8_t want[4] = { 0, 0x80, 0, 0x80 };
    struct assay_payloads out = quantize_v(recipe_of(ASSAY_RECIPE_E4M3), 4, x);
    ck_assert(out.v.scales[0] == 1);
    ck_assert_mem_eq(v_codes(&out), want, 4);
    assay_payloads_free(&out);
}
END_TEST

/* HACKING.md, "Recipes": where 0 < amax < 448 * 2^-128, 1/scale is infinite:
 * what is not zero saturates, and zero times infinity is NaN. */
START_TEST(subnormal_amax)
{
    const float below = nextafterf(448 * 0x1p-128f, 0);
    const float x[4] = { below, -0x1p-140f, 0, -below };
    const uint8_t want[2] = { 0x7e, 0xfe };
    struct assay_payloads out = quantize_v(recipe_of(ASSAY_RECIPE_E4M3), 4, x);
    ck_assert(out.v.scales[0] == below / 448.0f);
    ck_assert(isinf(1.0f / out.v.scales[0]));
    ck_assert_uint_eq(v_codes(&out)[0], want[0]);
    ck_assert_uint_eq(v_codes(&out)[1], want[1]);
    ck_assert_uint_eq(v_codes(&out)[2] & 0x7f, 0x7f);
    ck_assert_uint_eq(v_codes(&out)[3], want[1]);
    assay_payloads_free(&out);

    /* above the limit the reciprocal is finite and all is as usual */
    const float y[2] = { 450 * 0x1p-128f, 0 };
    out = quantize_v(recipe_of(ASSAY_RECIPE_E4M3), 2, y);
    ck_assert(isfinite(1.0f / out.v.scales[0]));
    ck_assert_uint_eq(v_codes(&out)[0], 0x7e);
    ck_assert_uint_eq(v_codes(&out)[1], 0);
    assay_payloads_free(&out);

    /* so small that amax / 448 is zero: scale 1, codes 0 */
    const float z[2] = { 0x1p-149f, -0x1p-149f };
    out = quantize_v(recipe_of(ASSAY_RECIPE_E4M3), 2, z);
    ck_assert(out.v.scales[0] == 1);
    ck_assert_uint_eq(v_codes(&out)[0], 0);
    ck_assert_uint_eq(v_codes(&out)[1], 0x80);
    assay_payloads_free(&out);
}
END_TEST

/* NaN is a NaN code and does not become the maximum. */
START_TEST(nan_is_kept)
{
    const float x[4] = { NAN, 2, -4, NAN };
    struct assay_payloads out = quantize_v(recipe_of(ASSAY_RECIPE_E4M3), 4, x);
    ck_assert(out.v.scales[0] == 4 / 448.0f);
    ck_assert_uint_eq(v_codes(&out)[0] & 0x7f, 0x7f);
    ck_assert_uint_eq(v_codes(&out)[1], e4m3(2 * (1.0f / (4 / 448.0f))));
    ck_assert_uint_eq(v_codes(&out)[2], 0xfe);
    ck_assert_uint_eq(v_codes(&out)[3] & 0x7f, 0x7f);
    assay_payloads_free(&out);
}
END_TEST

/* Without scales the words are the values, and too large is infinite. */
START_TEST(bf16_words)
{
    const float x[4] = { 1, -0.0f, 0x1.00ffp0f, 0x1.fffffep127f };
    const uint16_t want[4] = { 0x3f80, 0x8000, 0x3f80, 0x7f80 };
    struct assay_payloads out = quantize_v(recipe_of(ASSAY_RECIPE_BF16), 4, x);
    ck_assert_ptr_null(out.v.scales);
    ck_assert_int_eq(out.v.n_scales, 0);
    ck_assert_mem_eq(out.v.codes, want, sizeof want);
    assay_payloads_free(&out);
}
END_TEST

/* Each of q, k and v has a scale of its own, and values carry it once. */
START_TEST(values)
{
    const struct assay_problem p = { 1, 1, 1, 1, 2, 2, 1, 0, 1 };
    const float q[2] = { 448, 224 }, k[4] = { 896, 448, 0, -896 };
    const float v[2] = { 112, -56 };
    struct assay_payloads out;
    float x[4];
    ck_assert_int_eq(assay_recipe_quantize(recipe_of(ASSAY_RECIPE_E4M3), &p,
                                           NULL, NULL, q, k, v, &out, NULL),
                     ASSAY_OK);
    ck_assert(out.q.scales[0] == 1 && out.k.scales[0] == 2);
    ck_assert(out.v.scales[0] == 0.25f);
    assay_payload_values(&out.q, x);
    ck_assert(x[0] == 448 && x[1] == 224);
    assay_payload_values(&out.k, x);
    ck_assert(x[0] == 896 && x[1] == 448 && x[2] == 0 && x[3] == -896);
    assay_payload_values(&out.v, x);
    ck_assert(x[0] == 112 && x[1] == -56);
    assay_payloads_free(&out);
    assay_payloads_free(&out); /* empties it, so twice is harmless */
}
END_TEST

START_TEST(bad_problem)
{
    const struct assay_problem p = { 1, 3, 2, 1, 1, 1, 1, 0, 1 };
    const float x[4] = { 0 };
    struct assay_payloads out;
    float o[4];
    double lse[4];
    ck_assert_int_eq(assay_recipe_quantize(recipe_of(ASSAY_RECIPE_E4M3), &p,
                                           NULL, NULL, x, x, x, &out, NULL),
                     ASSAY_SHAPE);
    ck_assert_int_eq(assay_recipe_emulate(recipe_of(ASSAY_RECIPE_E4M3), &p,
                                          &out, o, lse, NULL, NULL, NULL),
                     ASSAY_SHAPE);
    assay_payloads_free(&out);
    const struct assay_problem good = { 1, 1, 1, 1, 1, 1, 1, 0, 1 };
    ck_assert_int_eq(assay_recipe_emulate_tile(recipe_of(ASSAY_RECIPE_E4M3),
                                               &good, &out, 0, o, lse, NULL,
                                               NULL),
                     ASSAY_SHAPE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe");
    TCase *c = tcase_create("tables");
    tcase_add_test(c, tables);
    tcase_add_test(c, forms);
    tcase_add_test(c, recipes_in_forms);
    tcase_add_test(c, promises);
    tcase_add_test(c, widths);
    suite_add_tcase(suite, c);
    c = tcase_create("quantizer");
    tcase_add_test(c, reciprocal_then_multiply);
    tcase_add_test(c, zeros_have_scale_one);
    tcase_add_test(c, subnormal_amax);
    tcase_add_test(c, nan_is_kept);
    tcase_add_test(c, bf16_words);
    tcase_add_test(c, values);
    tcase_add_test(c, bad_problem);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
