/* SPDX-License-Identifier: MIT
 *
 * ref/emulate.c, ref/blocked_engine.h, ref/softmax_coded.c: every recipe in
 * every softmax form against a slow emulation (tests/plain_recipe.c).
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_assay.h"
#include "check_values.h"
#include "plain_recipe.h"
#include "recipe_run.h"

struct use {
    double o, lse;   /* worst part of what is allowed */
    int64_t plain;   /* rows with nothing near a boundary */
    int64_t rebased; /* rows whose frozen maximum moved */
};

static void compare_slow(const struct assay_recipe *r,
                         const struct assay_problem *p,
                         const struct assay_payloads *x, int64_t tile,
                         struct use *use)
{
    struct emulated e = emulate(r, p, x, tile);
    struct plain_recipe slow = plain_recipe_new(r, p, x, tile ? tile : 128);
    struct plain_row s = { .o = must_alloc((size_t)p->dv, sizeof *s.o) };
    for (int64_t n = 0; n < assay_problem_rows(p); n++) {
        plain_recipe_row(&slow, n, &s);
        const float *got =
            e.o + assay_row_offset(p->nq, p->hq, p->dv, n / p->nq / p->hq,
                                   n % p->nq, n / p->nq % p->hq);
        double off = 0;
        for (int64_t d = 0; d < p->dv; d++)
            off += (got[d] - s.o[d]) * (got[d] - s.o[d]);
        off = sqrt(off);
        s.lse += x->lse_shift ? x->lse_shift[n] : 0;
        double off_lse = s.lse == e.lse[n] ? 0 : fabs(s.lse - e.lse[n]);
        ck_assert_msg(off <= s.allowed_o && off_lse <= s.allowed_lse,
                      "%s in %s, tile %d, row %d: O off by %g of %g, LSE by %g "
                      "of %g",
                      r->name, form_name(r), (int)tile, (int)n, off,
                      s.allowed_o, off_lse, s.allowed_lse);
        use->plain += !s.flips;
        use->rebased += s.rebased > 0;
        if (s.allowed_o > 0 && !s.flips) {
            use->o = fmax(use->o, off / s.allowed_o);
            use->lse = fmax(use->lse, off_lse / s.allowed_lse);
        }
    }
    free(s.o);
    plain_recipe_free(&slow);
    emulated_free(&e);
}

static const struct assay_problem shapes[] = {
    { 1, 2, 1, 150, 333, 32, 16, ASSAY_MASK_NONE, 0.2 },
    { 1, 2, 1, 150, 333, 32, 16, ASSAY_MASK_CAUSAL, 0.2 },
    { 2, 2, 2, 90, 70, 24, 9, ASSAY_MASK_CAUSAL, 0.3 }, /* dead rows */
    { 1, 1, 1, 140, 400, 16, 16, ASSAY_MASK_NONE, 1 },  /* peaked */
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* A rotation wants a power of two: said, and nothing is made. */
static void refused(const struct assay_recipe *r, const struct assay_problem *p)
{
    struct tensors t = tensors_new(p, 1);
    struct assay_payloads x;
    struct assay_error err;
    ck_assert(assay_quantizer_get(r->q)->prepares &&
              (p->dk & (p->dk - 1)) != 0);
    ck_assert_int_eq(
        assay_recipe_quantize(r, p, NULL, NULL, t.q, t.k, t.v, &x, &err),
        ASSAY_SHAPE);
    ck_assert_ptr_nonnull(strstr(err.text, "power of two"));
    ck_assert(!x.q.codes && !x.k.codes && !x.v.codes && !x.k_mean);
    tensors_free(&t);
}

START_TEST(online_is_the_slow_one)
{
    const int64_t tiles[] = { 32, 48, 64, 100, 128, 192, 256, 0 };
    const struct assay_problem *p = &shapes[_i / ASSAY_RECIPES];
    const struct assay_recipe *r = recipe_numbered(_i % ASSAY_RECIPES);
    if (assay_recipe_check(r, p, NULL) != ASSAY_OK) {
        refused(r, p);
        return;
    }
    struct assay_payloads x = random_payloads(r, p, 110);
    struct use use = { 0 };
    for (int n = 0; n < 8; n++)
        if (!r->p_blocks || tiles[n] % 64 == 0)
            compare_slow(r, p, &x, tiles[n], &use);
    printf("# %s, shape %d: %.2f of O's and %.2f of LSE's noise used, %d of "
           "%d rows away from boundaries\n",
           r->name, _i / ASSAY_RECIPES, use.o, use.lse, (int)use.plain,
           (int)(8 * assay_problem_rows(p)));
    /* or the test says little; f16 has boundaries everywhere */
    ck_assert_int_gt(use.plain,
                     r->p_format == ASSAY_F16 ? 0 : assay_problem_rows(p) / 3);
    assay_payloads_free(&x);
}
END_TEST

/* ---- the other forms ---- */

/* Whole tiles of 128 and a partial one. Late keys lie near queries, so that
 * some scores pass a maximum that was frozen after the first tile: by more than
 * 8.8 octaves, and in fp6p by more than 32. */
static const struct form_case {
    struct assay_problem p;
    int64_t from;         /* the first of them */
    float late;           /* times a query; 0: keys like any others */
    bool u32, byte, fp6p; /* whether some row must be rebased */
} form_cases[] = {
    { { 1, 2, 1, 140, 400, 128, 16, ASSAY_MASK_NONE, 0.0884 },
      256,
      0,
      false,
      false,
      false },
    { { 1, 2, 1, 140, 400, 128, 16, ASSAY_MASK_NONE, 0.0884 },
      256,
      1,
      true,
      true,
      false },
    { { 1, 2, 1, 140, 400, 128, 16, ASSAY_MASK_NONE, 0.0884 },
      256,
      4,
      true,
      true,
      true },
    { { 1, 2, 1, 300, 400, 32, 16, ASSAY_MASK_CAUSAL, 0.2 },
      128,
      5,
      true,
      true,
      true },
    { { 2, 1, 1, 20, 384, 96, 16, ASSAY_MASK_NONE, 0.3 },
      256,
      8,
      true,
      true,
      true },
};
enum { N_FORM_CASES = sizeof form_cases / sizeof *form_cases };

static struct assay_payloads late_payloads(const struct assay_recipe *r,
                                           const struct form_case *c)
{
    const struct assay_problem *p = &c->p;
    const int64_t group = p->hq / p->hk;
    struct tensors t = tensors_new(p, 114);
    for (int64_t j = c->from; c->late > 0 && j < p->nk; j++)
        for (int64_t h = 0; h < p->hk; h++)
            for (int64_t d = 0; d < p->dk; d++)
                t.k[(j * p->hk + h) * p->dk + d] =
                    c->late *
                    t.q[((j + p->nq / 2) % p->nq * p->hq + h * group) * p->dk +
                        d];
    struct assay_payloads x = payloads_of(r, p, t.q, t.k, t.v);
    tensors_free(&t);
    return x;
}

static bool must_rebase(const struct form_case *c, const struct assay_recipe *r)
{
    switch (assay_softmax_get(r->softmax)->kind) {
    case ASSAY_KIND_U32: return c->u32;
    case ASSAY_KIND_BYTE: return c->byte;
    case ASSAY_KIND_FROZEN: return c->fp6p;
    default: return false;
    }
}

START_TEST(forms_are_the_slow_ones)
{
    const struct form_case *c = &form_cases[_i % N_FORM_CASES];
    const struct assay_recipe *r = recipe_numbered(_i / N_FORM_CASES);
    if (assay_recipe_check(r, &c->p, NULL) != ASSAY_OK) {
        refused(r, &c->p);
        return;
    }
    struct assay_payloads x = late_payloads(r, c);
    struct use use = { 0 };
    compare_slow(r, &c->p, &x, 0, &use);
    printf("# %s in %s, late %g: %d of %d rows rebased, %.2f of O's and %.2f "
           "of LSE's noise used\n",
           r->name, form_name(r), (double)c->late, (int)use.rebased,
           (int)assay_problem_rows(&c->p), use.o, use.lse);
    ck_assert(use.rebased > 0 || !must_rebase(c, r));
    assay_payloads_free(&x);
}
END_TEST

/* ---- key tiles ---- */

START_TEST(default_tile)
{
    const struct assay_problem *p = &shapes[1];
    const struct assay_recipe *r = recipe_numbered(_i);
    struct assay_payloads x = random_payloads(r, p, 111);
    struct emulated a = emulate(r, p, &x, 0), b = emulate(r, p, &x, 128);
    ck_assert_mem_eq(a.o, b.o, (size_t)assay_problem_o_elems(p) * sizeof *a.o);
    ck_assert_mem_eq(a.lse, b.lse,
                     (size_t)assay_problem_rows(p) * sizeof *a.lse);
    emulated_free(&a);
    emulated_free(&b);
    assay_payloads_free(&x);
}
END_TEST

/* Blocks of P are whole frames of 64 keys; elsewhere any tile will do. */
START_TEST(tiles_refused)
{
    static const int64_t tiles[] = { -1, 0, 1, 48, 63, 65, 96 };
    const struct assay_problem p = { 1,  1, 1, 2, 130, 32, 4, ASSAY_MASK_NONE,
                                     0.2 };
    const struct assay_recipe *r = recipe_numbered(_i);
    struct assay_payloads x = random_payloads(r, &p, 115);
    float o[2 * 4];
    double lse[2];
    for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
        struct assay_error err = { 0 };
        const bool good = tiles[t] > 0 && !r->p_blocks;
        ck_assert_int_eq(
            assay_recipe_emulate_tile(r, &p, &x, tiles[t], o, lse, NULL, &err),
            good ? ASSAY_OK : ASSAY_SHAPE);
        ck_assert(good || strstr(err.text, r->p_blocks ? "a multiple of 64"
                                                       : "at least 1"));
    }
    assay_payloads_free(&x);
}
END_TEST

static void add_emulation(Suite *suite)
{
    TCase *c = tcase_create("emulation");
    tcase_add_loop_test(c, online_is_the_slow_one, 0, N_SHAPES * ASSAY_RECIPES);
    tcase_add_loop_test(c, forms_are_the_slow_ones, 0,
                        N_FORM_CASES * ASSAY_RECIPES * ASSAY_SOFTMAXES);
    tcase_add_loop_test(c, default_tile, 0, ASSAY_RECIPES * ASSAY_SOFTMAXES);
    tcase_add_loop_test(c, tiles_refused, 0, ASSAY_RECIPES);
    suite_add_tcase(suite, c);
}

int main(void)
{
    Suite *suite = suite_create("recipe emulation");
    add_emulation(suite);
    return assay_check_main(suite);
}
