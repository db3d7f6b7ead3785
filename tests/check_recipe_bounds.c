/* SPDX-License-Identifier: MIT
 *
 * Bounds that upstream's tests put on the MHA recipes (ROCm/aiter
 * op_tests/test_mha_v4.py), held by their emulation on normal inputs.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/attention.h"
#include "assay/metrics.h"
#include "assay/recipe.h"
#include "check_assay.h"
#include "check_values.h"

static const char *const recipes[] = { "bf16",  "bf16fp8", "i8fp8", "fp8",
                                       "mxfp8", "f8f6",    "f6f8",  "mxfp6",
                                       "f6f4",  "mxfp4" };
enum { N_RECIPES = sizeof recipes / sizeof *recipes };

struct inputs {
    struct assay_problem p;
    float *q, *k, *v;
};

/* Normal deviates, rounded to bf16 (Box and Muller, 1958). */
static float *normal(uint64_t seed, int64_t n)
{
    float *x = must_alloc((size_t)n, sizeof *x);
    uint64_t state = seed;
    for (int64_t i = 0; i < n; i++) {
        double u[2];
        for (int j = 0; j < 2; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            u[j] = ((double)(state >> 11) + 1) * 0x1p-53;
        }
        x[i] = (float)(sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]));
    }
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, (size_t)n, x, x);
    return x;
}

static struct inputs inputs_new(int64_t n, int64_t h)
{
    const int64_t elems = n * h * 128;
    return (struct inputs){
        .p = { 1, h, h, n, n, 128, 128, ASSAY_MASK_NONE, 1 / sqrt(128) },
        .q = normal(31, elems),
        .k = normal(32, elems),
        .v = normal(33, elems),
    };
}

static void inputs_free(struct inputs *in)
{
    free(in->q);
    free(in->k);
    free(in->v);
}

/* Every key of a head gets `common` times a direction of its head. */
static void add_common(struct inputs *in, float common)
{
    const struct assay_problem *p = &in->p;
    float *u = normal(34, p->hk * p->dk);
    for (int64_t r = 0; r < p->nk * p->hk; r++)
        for (int64_t c = 0; c < p->dk; c++)
            in->k[r * p->dk + c] += common * u[r % p->hk * p->dk + c];
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, (size_t)(p->nk * p->hk * p->dk), in->k,
                       in->k);
    free(u);
}

/* Emulated against exact. */
static struct assay_distance distance(const struct inputs *in, const char *name)
{
    const struct assay_problem *p = &in->p;
    const int64_t rows = assay_problem_rows(p);
    const size_t n = (size_t)assay_problem_o_elems(p);
    float *exact = must_alloc(n, sizeof *exact), *o = must_alloc(n, sizeof *o);
    double *exact_lse = must_alloc((size_t)rows, sizeof *exact_lse),
           *lse = must_alloc((size_t)rows, sizeof *lse);
    struct assay_row *row = must_alloc((size_t)rows, sizeof *row);
    struct assay_payloads x;
    struct assay_distance out;
    struct assay_error err;
    const struct assay_recipe *recipe = assay_recipe_find(name);
    if (assay_attention_f32(p, in->q, in->k, in->v, exact, exact_lse, NULL,
                            &err) != ASSAY_OK ||
        assay_recipe_quantize(recipe, p, NULL, NULL, in->q, in->k, in->v, &x,
                              &err) != ASSAY_OK ||
        assay_recipe_emulate(recipe, p, &x, o, lse, NULL, NULL, &err) !=
            ASSAY_OK)
        ck_abort_msg("%s", err.text);
    assay_rows_compare(p, o, exact, row);
    assay_distance(p, o, exact, row, lse, exact_lse, 0, p->hq, &out);
    printf("# %s: relative L2 %.4f, LSE %.4f and %.4f nats\n", name, out.rel_l2,
           out.lse_max, out.lse_mean);
    assay_payloads_free(&x);
    free(exact), free(o), free(exact_lse), free(lse), free(row);
    return out;
}

START_TEST(lse_of_normal_inputs)
{
    struct inputs in = inputs_new(512, 5);
    struct assay_distance d = distance(&in, recipes[_i]);
    ck_assert(d.lse_max < 0.25);
    ck_assert(d.lse_mean < 0.05);
    ck_assert_int_eq(d.nonfinite_a, 0);
    inputs_free(&in);
}
END_TEST

/* What all keys share must not cost a recipe that smooths: without that, its
 * whole scale would go to it. */
START_TEST(common_mode)
{
    static const char *const smoothed[] = { "fp8", "mxfp8", "mxfp4" };
    struct inputs in = inputs_new(1024, 4);
    struct assay_distance before = distance(&in, smoothed[_i]);
    add_common(&in, 16);
    struct assay_distance after = distance(&in, smoothed[_i]);
    ck_assert(after.rel_l2 < 1.5 * before.rel_l2);
    ck_assert(after.lse_max < before.lse_max + 0.5);
    inputs_free(&in);
}
END_TEST

/* Scores beyond a thousand nats, and a channel that dwarfs the others. */
START_TEST(massive_and_lopsided)
{
    struct inputs in = inputs_new(200, 1);
    for (int64_t i = 0; i < 200 * 128; i++) {
        in.q[i] *= 12;
        in.k[i] = in.q[i];
        if (i % 128 == 17)
            in.q[i] *= 64, in.k[i] /= 64, in.v[i] *= 1000;
    }
    struct assay_distance d = distance(&in, recipes[_i]);
    ck_assert_int_eq(d.nonfinite_a + d.nonfinite_b, 0);
    ck_assert(d.cosine > 0.9);
    inputs_free(&in);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe bounds");
    TCase *c = tcase_create("upstream");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, lse_of_normal_inputs, 0, N_RECIPES);
    tcase_add_loop_test(c, common_mode, 0, 3);
    tcase_add_loop_test(c, massive_and_lopsided, 0, N_RECIPES);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
