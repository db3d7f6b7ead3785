/* SPDX-License-Identifier: MIT
 *
 * Recipes on inputs at the edge: rows that see nothing, zeros, scores beyond
 * any, NaN and infinity, and keys with a common part under GQA.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/attention.h"
#include "check_assay.h"
#include "check_values.h"
#include "recipe_run.h"

enum { ALL = ASSAY_RECIPES * ASSAY_SOFTMAXES };

static bool is_coded(const struct assay_recipe *r)
{
    const enum assay_softmax_kind kind = assay_softmax_get(r->softmax)->kind;
    return kind == ASSAY_KIND_U32 || kind == ASSAY_KIND_BYTE;
}

/* ---- nothing there ---- */

/* Sum of P over n equal scores: the maximum is 1, but truncated to bits the
 * code below, 0.9375, in whole tiles of 128. */
static double equal_sum(const struct assay_recipe *r, int64_t n)
{
    const int64_t whole =
        r->softmax == ASSAY_SOFTMAX_GFX950_BYTE_TRUNC ? n / 128 * 128 : 0;
    return 0.9375 * (double)whole + (double)(n - whole);
}

START_TEST(dead_rows)
{
    const struct assay_problem p = { 2,  2, 2, 90, 70, 32, 9, ASSAY_MASK_CAUSAL,
                                     0.3 };
    const struct assay_recipe *r = recipe_numbered(_i);
    struct assay_payloads x = random_payloads(r, &p, 113);
    struct assay_jitter j = jitter_new(&p);
    struct emulated e = emulate_jitter(r, &p, &x, 1, &j);
    int dead = 0;
    for (int64_t n = 0; n < assay_problem_rows(&p); n++) {
        const float *o =
            e.o + assay_row_offset(p.nq, p.hq, p.dv, n / p.nq / p.hq, n % p.nq,
                                   n / p.nq % p.hq);
        if (assay_problem_visible(&p, n % p.nq) > 0) {
            ck_assert(j.o[n] > 0 && j.lse[n] > 0 && isfinite(j.o[n]));
            ck_assert(isfinite(e.lse[n]) && norm_of(p.dv, o) > 0);
            continue;
        }
        ck_assert(j.o[n] == 0 && j.lse[n] == 0);
        ck_assert(e.lse[n] == -INFINITY && norm_of(p.dv, o) == 0);
        dead++;
    }
    ck_assert_int_eq(dead, 20 * 4);
    emulated_free(&e);
    jitter_free(&j);
    assay_payloads_free(&x);
}
END_TEST

/* Zeros, and no keys: finite everywhere, O and its jitter exactly zero. */
START_TEST(zero_inputs)
{
    const struct assay_problem p = {
        1, 2, 1, 9, _i % 2 ? 300 : 0, 8, 8, ASSAY_MASK_NONE, 0.3
    };
    const struct assay_recipe *r = recipe_numbered(_i / 2);
    float zeros[300 * 8] = { 0 };
    struct assay_payloads x = payloads_of(r, &p, zeros, zeros, zeros);
    struct assay_jitter j = jitter_new(&p);
    struct emulated e = emulate_jitter(r, &p, &x, 1, &j);
    for (int64_t n = 0; n < assay_problem_o_elems(&p); n++)
        ck_assert(e.o[n] == 0);
    for (int64_t n = 0; n < assay_problem_rows(&p); n++) {
        if (p.nk == 0)
            ck_assert(e.lse[n] == -INFINITY && j.lse[n] == 0);
        else
            ck_assert_double_eq_tol(e.lse[n], log(equal_sum(r, p.nk)), 1e-14);
        ck_assert(j.o[n] == 0 && j.lse[n] >= 0 && j.lse[n] < 1e-4);
    }
    ck_assert(j.gain[0] == 0 && j.gain[1] == 0);
    emulated_free(&e);
    jitter_free(&j);
    assay_payloads_free(&x);
}
END_TEST

/* Two heads of four are zero: their O is exactly 0, their LSE that of equal
 * scores, and the others are as they would be. */
START_TEST(zero_heads)
{
    enum { N = 512, H = 4, D = 16 };
    const struct assay_problem p = {
        1, H, H, N, N, D, D, ASSAY_MASK_NONE, 0.3
    };
    const struct assay_recipe *r = recipe_numbered(_i);
    struct tensors t = tensors_new(&p, 131);
    for (int64_t i = 0; i < N * H * D; i++)
        if (i / D % H >= 2)
            t.q[i] = t.k[i] = t.v[i] = 0;
    struct assay_payloads x = payloads_of(r, &p, t.q, t.k, t.v);
    struct emulated e = emulate(r, &p, &x, 0);
    for (int64_t n = 0; n < N * H; n++) {
        const float *o = e.o + assay_row_offset(N, H, D, 0, n % N, n / N);
        if (n / N >= 2) {
            ck_assert(norm_of(D, o) == 0);
            ck_assert_double_eq_tol(e.lse[n], log(equal_sum(r, N)), 1e-14);
        } else {
            ck_assert(norm_of(D, o) > 0 && isfinite(norm_of(D, o)));
            ck_assert(isfinite(e.lse[n]));
        }
    }
    emulated_free(&e);
    assay_payloads_free(&x);
    tensors_free(&t);
}
END_TEST

/* ---- large ---- */

/* Finite everywhere, and the LSE within a part of itself. */
static void check_large(const struct assay_recipe *r,
                        const struct assay_problem *p, const struct tensors *t,
                        double part)
{
    const int64_t rows = assay_problem_rows(p);
    const size_t n = (size_t)assay_problem_o_elems(p);
    struct assay_payloads x = payloads_of(r, p, t->q, t->k, t->v);
    struct assay_jitter j = jitter_new(p);
    struct emulated e = emulate_jitter(r, p, &x, 1, &j);
    float *o = must_alloc(n, sizeof *o);
    double *lse = must_alloc((size_t)rows, sizeof *lse), most = 0;
    ck_assert_int_eq(
        assay_attention_f32(p, t->q, t->k, t->v, o, lse, NULL, NULL), ASSAY_OK);
    for (size_t i = 0; i < n; i++)
        ck_assert(isfinite(e.o[i]));
    for (int64_t i = 0; i < rows; i++) {
        ck_assert(isfinite(j.o[i]) && isfinite(j.lse[i]));
        ck_assert_msg(fabs(e.lse[i] - lse[i]) <= part * (1 + fabs(lse[i])),
                      "%s in %s, row %d: LSE %g, exactly %g", r->name,
                      form_name(r), (int)i, e.lse[i], lse[i]);
        most = fmax(most, lse[i]);
    }
    printf("# %s in %s: LSE up to %.0f nats\n", r->name, form_name(r), most);
    fflush(stdout);
    free(o), free(lse);
    emulated_free(&e);
    jitter_free(&j);
    assay_payloads_free(&x);
}

/* Each query's own key has all the weight, with some 1400 nats. */
START_TEST(massive_rows)
{
    const struct assay_problem p = {
        1, 1, 1, 200, 200, 128, 16, ASSAY_MASK_NONE, 0.08838834764831845
    };
    struct tensors t = tensors_new(&p, 132);
    for (int64_t i = 0; i < 200 * 128; i++)
        t.k[i] = t.q[i] *= 11.2f;
    const struct assay_recipe *r = recipe_numbered(_i);
    /* FP4 is coarse */
    check_large(r, &p, &t, r->id == ASSAY_RECIPE_MXFP4 ? 0.15 : 0.05);
    tensors_free(&t);
}
END_TEST

/* One channel of Q and K a thousand times the others, and one of V. */
START_TEST(huge_channel)
{
    const struct assay_problem p = {
        1, 2, 1, 20, 300, 128, 16, ASSAY_MASK_NONE, 0.08838834764831845 / 1000
    };
    struct tensors t = tensors_new(&p, 133);
    for (int64_t i = 17; i < 20 * 2 * 128; i += 128)
        t.q[i] *= 10;
    for (int64_t i = 17; i < 300 * 128; i += 128)
        t.k[i] *= 1000;
    for (int64_t i = 3; i < 300 * 16; i += 16)
        t.v[i] *= 1000;
    check_large(recipe_numbered(_i), &p, &t, 0.2);
    tensors_free(&t);
}
END_TEST

/* As many keys as a video has; the last has the most weight for one query. */
START_TEST(long_rows)
{
    enum { KEYS = 75600, D = 64 };
    const struct assay_problem p = { 1,    1, 1,  3,
                                     KEYS, D, 16, ASSAY_MASK_NONE,
                                     0.125 };
    struct tensors t = tensors_new(&p, 134);
    for (int64_t c = 0; c < D; c++)
        t.k[(KEYS - 1) * D + c] = 3 * t.q[2 * D + c];
    check_large(assay_recipe_in_form(assay_recipe_find(mha_recipes[_i % N_MHA]),
                                     _i < N_MHA ? ASSAY_SOFTMAX_NOMINAL
                                                : ASSAY_SOFTMAX_GFX950_U32),
                &p, &t, 0.05);
    tensors_free(&t);
}
END_TEST

/* ---- NaN and infinity ---- */

/* What becomes of O, and in the nominal form, for one NaN and one infinity in
 * Q, K and V. Of an element: a payload without NaN makes a number of it. Of an
 * amax: infinity makes the scale of a tensor, a channel or a block infinite or
 * NaN. Of K's mean: neither is finite, so a recipe that smooths loses the head.
 *   .  nothing shows         r  the row of that query     c  the channel of V
 *   a  all that sees it      +  rows whose score is +inf
 *   l  LSE, but not O, which is made of numbers */
static const struct special {
    const char *recipe, *becomes; /* Q NaN, Q inf, K NaN, K inf, V NaN, V inf */
} specials[] = {
    { "bf16", "rra+cc" },       { "f16", "rra+cc" },
    { "e4m3", "raaaca" },       { "bf16fp8", "rra+ca" },
    { "i8fp8", ".allca" },      { "fp8", "raaaca" },
    { "mxfp8", "rraaca" },      { "f8f6", "raaa.c" },
    { "f6f8", ".rllcc" },       { "mxfp6", ".rll.c" },
    { "f6f4", ".rll.c" },       { "mxfp4", ".rll.c" },
    { "fp8-gfx942", "raaaca" }, { "i8fp8-gfx942", ".allca" },
    { "mla_bf16", "rra+cc" },   { "mla_fp8", "r.a.c." },
};
enum { N_SPECIALS = sizeof specials / sizeof *specials };

static const struct assay_problem special = { 1,   2,  1, 4,
                                              140, 32, 8, ASSAY_MASK_NONE,
                                              0.2 };

/* Whether an element of O, and the LSE of its row, must be finite. */
struct finite {
    bool o, lse;
};

static struct finite finite_of(char becomes, char of, int64_t row, int64_t c,
                               float q)
{
    const bool bad = (becomes == 'r' && row == 1) ||
                     (becomes == 'c' && c == 2) || becomes == 'a' ||
                     (becomes == '+' && q > 0);
    return (struct finite){ !bad, becomes != 'l' && (!bad || of == 'v') };
}

START_TEST(special_values)
{
    const struct special *s = &specials[_i / 6];
    const struct assay_recipe *r = assay_recipe_in_form(
        assay_recipe_find(s->recipe), ASSAY_SOFTMAX_NOMINAL);
    const struct assay_problem *p = &special;
    const char of = "qkv"[_i % 6 / 2];
    const float bad = _i % 2 ? INFINITY : NAN;
    struct tensors t = tensors_new(p, 130);
    switch (of) {
    case 'q': t.q[1 * 2 * 32 + 3] = bad; break; /* query 1, head 0 */
    case 'k': t.k[5 * 32 + 3] = bad; break;
    default: t.v[5 * 8 + 2] = bad; break;
    }
    struct assay_payloads x = payloads_of(r, p, t.q, t.k, t.v);
    struct emulated e = emulate(r, p, &x, 0);
    for (int64_t n = 0; n < 4 * 2; n++) /* (h, i) */
        for (int64_t c = 0; c < 8; c++) {
            const int64_t i = n % 4, h = n / 4;
            struct finite f = finite_of(s->becomes[_i % 6], of, n, c,
                                        t.q[(i * 2 + h) * 32 + 3]);
            ck_assert_msg(!isfinite(e.o[(i * 2 + h) * 8 + c]) == !f.o &&
                              !isfinite(e.lse[n]) == !f.lse,
                          "%s, %c %g, row %d, channel %d: O %g, LSE %g",
                          r->name, of, (double)bad, (int)n, (int)c,
                          (double)e.o[(i * 2 + h) * 8 + c], e.lse[n]);
        }
    emulated_free(&e);
    assay_payloads_free(&x);
    tensors_free(&t);
}
END_TEST

/* V's NaN in the last key reaches the rows that see it alone, in any form. */
START_TEST(unseen_nan)
{
    const struct assay_problem p = { 1,   2,  1, 300,
                                     300, 32, 8, ASSAY_MASK_CAUSAL,
                                     0.2 };
    const struct assay_recipe *r = recipe_numbered(_i);
    struct tensors t = tensors_new(&p, 134);
    t.v[299 * 8 + 2] = NAN;
    struct assay_payloads x = payloads_of(r, &p, t.q, t.k, t.v);
    struct emulated e = emulate(r, &p, &x, 0);
    const bool keeps = specials[r->id].becomes[4] == 'c';
    for (int64_t i = 0; i < assay_problem_o_elems(&p); i++)
        ck_assert(isnan(e.o[i]) == (keeps && i / 16 == 299 && i % 8 == 2));
    emulated_free(&e);
    assay_payloads_free(&x);
    tensors_free(&t);
}
END_TEST

/* Where scores become bits, NaN becomes 0: the key has no weight. In a last
 * tile that is not whole, which is exact, NaN stays. */
START_TEST(nan_has_no_bits)
{
    static const enum assay_softmax forms[] = {
        ASSAY_SOFTMAX_GFX950_U32, ASSAY_SOFTMAX_GFX950_BYTE,
        ASSAY_SOFTMAX_GFX950_BYTE_TRUNC
    };
    const struct assay_recipe *r = assay_recipe_in_form(
        assay_recipe_get(ASSAY_RECIPE_BF16), forms[_i / 2]);
    const struct assay_problem *p = &special;
    const int64_t key = _i % 2 ? 130 : 5;
    struct tensors t = tensors_new(p, 130);
    ck_assert(is_coded(r));
    t.k[key * 32 + 3] = NAN;
    for (int64_t i = 0; i < 140 * 8; i++)
        t.v[i] = i / 8 == key;
    struct assay_payloads x = payloads_of(r, p, t.q, t.k, t.v);
    struct emulated e = emulate(r, p, &x, 0);
    for (int64_t i = 0; i < assay_problem_o_elems(p); i++)
        ck_assert(key < 128 ? e.o[i] == 0 : isnan(e.o[i]));
    for (int64_t n = 0; n < assay_problem_rows(p); n++)
        ck_assert(key < 128 ? isfinite(e.lse[n]) : isnan(e.lse[n]));
    emulated_free(&e);
    assay_payloads_free(&x);
    tensors_free(&t);
}
END_TEST

/* ---- what K has in common ---- */

static float bf16(double x)
{
    uint32_t b = bits_of((float)x);
    return float_of((b + 0x7fff + (b >> 16 & 1)) & 0xffff0000);
}

/* Four query heads on two of keys, each with a common part of its own: it is
 * taken off K, and put back for each query head from its own group. */
START_TEST(groups_get_their_mean_back)
{
    enum { NQ = 30, NK = 200, DK = 32, DV = 8 };
    const struct assay_problem p = {
        2, 4, 2, NQ, NK, DK, DV, ASSAY_MASK_NONE, 0.1767766952966369
    };
    const struct assay_recipe *r = recipe_numbered(_i);
    struct tensors t = tensors_new(&p, 135);
    for (int64_t i = 0; i < 2 * NK * 2 * DK; i++) {
        const int64_t head = i / NK / 2 / DK * 2 + i / DK % 2;
        t.k[i] = bf16(t.k[i] +
                      8 * values_normal(136, (uint64_t)(head * DK + i % DK)));
    }
    for (int64_t i = 0; i < 2 * NQ * 4 * DK; i++)
        t.q[i] = bf16(t.q[i]);
    struct assay_payloads x = payloads_of(r, &p, t.q, t.k, t.v);
    ck_assert(!x.k_mean == !r->smooth && !x.lse_shift == !r->smooth);
    struct assay_payloads bare = x;
    bare.lse_shift = NULL;
    struct emulated e = emulate(r, &p, &x, 0), less = emulate(r, &p, &bare, 0);
    ck_assert_mem_eq(e.o, less.o,
                     (size_t)assay_problem_o_elems(&p) * sizeof *e.o);
    for (int64_t n = 0; n < assay_problem_rows(&p); n++) {
        const int64_t i = n % NQ, h = n / NQ % 4, b = n / NQ / 4;
        double dot = 0;
        for (int64_t c = 0; c < DK && r->smooth; c++) {
            double mean = 0;
            for (int64_t j = 0; j < NK; j++)
                mean += t.k[((b * NK + j) * 2 + h / 2) * DK + c] / (double)NK;
            dot += (double)t.q[((b * NQ + i) * 4 + h) * DK + c] * bf16(mean);
        }
        /* a sum in another order may be an ulp of bf16 off */
        double shift = bf16(dot) * p.softmax_scale;
        ck_assert_msg(fabs(e.lse[n] - less.lse[n] - shift) <=
                          0x1p-7 * fabs(shift) + 1e-6,
                      "%s, row %d: LSE went up by %g, not by %g", r->name,
                      (int)n, e.lse[n] - less.lse[n], shift);
    }
    emulated_free(&e);
    emulated_free(&less);
    assay_payloads_free(&x);
    tensors_free(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe cases");
    TCase *c = tcase_create("cases");
    tcase_add_loop_test(c, dead_rows, 0, ALL);
    tcase_add_loop_test(c, zero_inputs, 0, 2 * ALL);
    tcase_add_loop_test(c, zero_heads, 0, ALL);
    tcase_add_loop_test(c, massive_rows, 0, ALL);
    tcase_add_loop_test(c, huge_channel, 0, ALL);
    tcase_add_loop_test(c, long_rows, 0, 2 * N_MHA);
    tcase_add_loop_test(c, special_values, 0, 6 * N_SPECIALS);
    tcase_add_loop_test(c, unseen_nan, 0, ALL);
    tcase_add_loop_test(c, nan_has_no_bits, 0, 6);
    tcase_add_loop_test(c, groups_get_their_mean_back, 0, ALL);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
