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

/* The MHA recipes, the softmax form of their kernels where it is known, and by
 * how much the LSE's bias may differ between chunks of keys (0: upstream has no
 * bound, here the widest of the others). */
static const struct row {
    const char *recipe;
    enum assay_softmax form;
    double spread;
} mha[] = {
    { "bf16", ASSAY_SOFTMAX_NOMINAL, 0.05 },
    { "bf16fp8", ASSAY_SOFTMAX_NOMINAL, 0.05 },
    { "i8fp8", ASSAY_SOFTMAX_GFX950_U32, 0.05 },
    { "fp8", ASSAY_SOFTMAX_GFX950_U32, 0.75 },
    { "mxfp8", ASSAY_SOFTMAX_GFX950_U32, 0 },
    { "f8f6", ASSAY_SOFTMAX_GFX950_U32, 0.75 },
    { "f6f8", ASSAY_SOFTMAX_GFX950_BYTE, 0.35 },
    { "mxfp6", ASSAY_SOFTMAX_FP6P, 0.35 },
    { "f6f4", ASSAY_SOFTMAX_GFX950_BYTE, 0.35 },
    { "mxfp4", ASSAY_SOFTMAX_FP6P, 0.35 },
};
enum { N_ROWS = sizeof mha / sizeof *mha };

/* A row's recipe in the nominal form, and the next in its own. */
static const struct assay_recipe *recipe_of(int i)
{
    return assay_recipe_in_form(assay_recipe_find(mha[i / 2].recipe),
                                i % 2 ? mha[i / 2].form
                                      : ASSAY_SOFTMAX_NOMINAL);
}

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

struct answers {
    float *o, *exact_o;
    double *lse, *exact_lse;
};

static struct answers answers_new(const struct inputs *in,
                                  const struct assay_recipe *recipe)
{
    const struct assay_problem *p = &in->p;
    const size_t n = (size_t)assay_problem_o_elems(p),
                 rows = (size_t)assay_problem_rows(p);
    struct answers out = { must_alloc(n, sizeof(float)),
                           must_alloc(n, sizeof(float)),
                           must_alloc(rows, sizeof(double)),
                           must_alloc(rows, sizeof(double)) };
    struct assay_payloads x;
    struct assay_error err;
    if (assay_attention_f32(p, in->q, in->k, in->v, out.exact_o, out.exact_lse,
                            NULL, &err) != ASSAY_OK ||
        assay_recipe_quantize(recipe, p, NULL, NULL, in->q, in->k, in->v, &x,
                              &err) != ASSAY_OK ||
        assay_recipe_emulate(recipe, p, &x, out.o, out.lse, NULL, NULL, &err) !=
            ASSAY_OK)
        ck_abort_msg("%s", err.text);
    assay_payloads_free(&x);
    return out;
}

static void answers_free(struct answers *a)
{
    free(a->o);
    free(a->exact_o);
    free(a->lse);
    free(a->exact_lse);
}

/* Emulated against exact. */
static struct assay_distance distance(const struct inputs *in,
                                      const struct assay_recipe *recipe)
{
    const struct assay_problem *p = &in->p;
    struct answers a = answers_new(in, recipe);
    struct assay_row *row =
        must_alloc((size_t)assay_problem_rows(p), sizeof *row);
    struct assay_distance out;
    assay_rows_compare(p, a.o, a.exact_o, row);
    assay_distance(p, row, a.lse, a.exact_lse, 0, p->hq, &out);
    printf("# %s, %s: relative L2 %.4f, LSE %.4f and %.4f nats\n", recipe->name,
           assay_softmax_get(recipe->softmax)->name, out.rel_l2, out.lse_max,
           out.lse_mean);
    fflush(stdout);
    answers_free(&a);
    free(row);
    return out;
}

START_TEST(lse_of_normal_inputs)
{
    struct inputs in = inputs_new(512, 5);
    struct assay_distance d = distance(&in, recipe_of(_i));
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
    static const int smoothed[] = { 3, 4, 9 }; /* fp8, mxfp8, mxfp4 */
    const struct assay_recipe *r = recipe_of(2 * smoothed[_i / 2] + _i % 2);
    struct inputs in = inputs_new(1024, 4);
    struct assay_distance before = distance(&in, r);
    add_common(&in, 16);
    struct assay_distance after = distance(&in, r);
    ck_assert(after.rel_l2 < 1.5 * before.rel_l2);
    ck_assert(after.lse_max < before.lse_max + 0.5);
    inputs_free(&in);
}
END_TEST

/* Mean error of the LSE. */
static double bias(const struct inputs *in, const struct assay_recipe *recipe)
{
    const int64_t rows = assay_problem_rows(&in->p);
    struct answers a = answers_new(in, recipe);
    double sum = 0;
    for (int64_t r = 0; r < rows; r++)
        sum += a.lse[r] - a.exact_lse[r];
    answers_free(&a);
    return sum / (double)rows;
}

/* 2048 keys that grow from once to six times, in four chunks of 512 that are
 * merged by their LSE: a bias that they do not share would favour some keys. */
START_TEST(chunks_share_their_bias)
{
    enum { CHUNK = 512, CHUNKS = 4, HEADS = 2, WIDTH = HEADS * 128 };
    const struct assay_recipe *r = recipe_of(_i);
    struct inputs all = inputs_new(CHUNKS * CHUNK, HEADS), one = all;
    double low = INFINITY, high = -INFINITY;
    one.p.nq = 256;
    one.p.nk = CHUNK;
    for (int64_t i = 0; i < CHUNKS * CHUNK * WIDTH; i++)
        all.k[i] *= 1 + 5 * (float)(i / WIDTH) / (CHUNKS * CHUNK - 1);
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, (size_t)CHUNKS * CHUNK * WIDTH, all.k,
                       all.k);
    for (int c = 0; c < CHUNKS; c++) {
        one.k = all.k + c * CHUNK * WIDTH;
        one.v = all.v + c * CHUNK * WIDTH;
        double b = bias(&one, r);
        low = fmin(low, b);
        high = fmax(high, b);
    }
    printf("# %s, %s: bias of the LSE from %.4f to %.4f nats\n", r->name,
           assay_softmax_get(r->softmax)->name, low, high);
    fflush(stdout);
    const double spread = mha[_i / 2].spread;
    ck_assert(high - low < (spread > 0 ? spread : 0.75));
    inputs_free(&all);
}
END_TEST

/* bf16fp8 against attention over the values that its payloads stand for. */
START_TEST(dequantized_reference)
{
    static const int64_t sizes[][2] = { { 129, 257 }, { 257, 193 } };
    const struct assay_recipe *r = assay_recipe_find("bf16fp8");
    struct inputs in = inputs_new(257, 5);
    struct assay_payloads x;
    struct assay_error err;
    in.p.nq = sizes[_i][0];
    in.p.nk = sizes[_i][1];
    struct answers a = answers_new(&in, r);
    struct assay_row *row =
        must_alloc((size_t)assay_problem_rows(&in.p), sizeof *row);
    struct assay_distance d;
    ck_assert_int_eq(
        assay_recipe_quantize(r, &in.p, NULL, NULL, in.q, in.k, in.v, &x, &err),
        ASSAY_OK);
    assay_payload_values(&x.q, in.q);
    assay_payload_values(&x.k, in.k);
    assay_payload_values(&x.v, in.v);
    ck_assert_int_eq(assay_attention_f32(&in.p, in.q, in.k, in.v, a.exact_o,
                                         a.exact_lse, NULL, &err),
                     ASSAY_OK);
    assay_rows_compare(&in.p, a.o, a.exact_o, row);
    assay_distance(&in.p, row, a.lse, a.exact_lse, 0, in.p.hq,
                   &d);
    printf("# cosine %.6f, norm ratio %.6f\n", d.cosine, d.norm_ratio);
    fflush(stdout);
    ck_assert(d.cosine > 0.998);
    ck_assert(fabs(d.norm_ratio - 1) < 0.002);
    assay_payloads_free(&x);
    answers_free(&a);
    free(row);
    inputs_free(&in);
}
END_TEST

/* A last key tile that is cut, anywhere in a block of V or at its end. */
START_TEST(cut_key_tiles)
{
    static const int mx_v[] = { 5, 7, 8, 9 }; /* f8f6, mxfp6, f6f4, mxfp4 */
    static const int64_t tails[] = { 1, 8, 32, 64, 96, 127, 129 };
    const struct assay_recipe *r = recipe_of(2 * mx_v[_i / 2] + _i % 2);
    struct inputs in = inputs_new(257, 5);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        in.p.nk = 128 + tails[i];
        in.p.nq = i % 2 ? 129 : in.p.nk;
        struct assay_distance d = distance(&in, r);
        ck_assert(d.cosine > 0.95);
        ck_assert_int_eq(d.nonfinite_a, 0);
    }
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
    struct assay_distance d = distance(&in, recipe_of(_i));
    ck_assert_int_eq(d.nonfinite_a + d.nonfinite_b, 0);
    ck_assert(d.cosine > 0.9);
    inputs_free(&in);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe bounds");
    TCase *c = tcase_create("upstream");
    tcase_add_loop_test(c, lse_of_normal_inputs, 0, 2 * N_ROWS);
    tcase_add_loop_test(c, common_mode, 0, 2 * 3);
    tcase_add_loop_test(c, chunks_share_their_bias, 0, 2 * N_ROWS);
    tcase_add_loop_test(c, dequantized_reference, 0, 2);
    tcase_add_loop_test(c, cut_key_tiles, 0, 2 * 4);
    tcase_add_loop_test(c, massive_and_lopsided, 0, 2 * N_ROWS);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
