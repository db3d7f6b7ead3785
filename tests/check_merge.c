/* SPDX-License-Identifier: MIT
 *
 * ref/merge.c: parts of attention against the whole, published cases, and
 * what is empty or not finite.
 */
#include <check.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/attention.h"
#include "assay/merge.h"
#include "assay/split.h"
#include "check_assay.h"
#include "check_values.h"

/* One row of one channel. */
static const struct assay_problem scalar = {
    .b = 1, .hq = 1, .hk = 1, .nq = 1, .dk = 1, .dv = 1, .softmax_scale = 1
};

struct pair {
    double o, lse;
};

static struct pair merge_n(int n, const struct pair *in)
{
    struct assay_partial parts[9];
    struct assay_error err = { 0 };
    struct pair out = { 7, 7 };
    for (int k = 0; k < n; k++)
        parts[k] = (struct assay_partial){ NULL, NULL, &in[k].o, &in[k].lse };
    ck_assert_msg(assay_merge(&scalar, n, parts, false, &out.o, &out.lse,
                              &err) == ASSAY_OK,
                  "%s", err.text);
    return out;
}

static struct pair merge_two(struct pair a, struct pair b)
{
    const struct pair in[] = { a, b };
    return merge_n(2, in);
}

static void bits_are(struct pair got, double o, double lse)
{
    ck_assert_msg(same_double(got.o, o) && same_double(got.lse, lse),
                  "(%a, %a), not (%a, %a)", got.o, got.lse, o, lse);
}

static void near(struct pair got, double o, double lse)
{
    ck_assert_msg(fabs(got.o - o) <= 1e-15 * fabs(o) &&
                      fabs(got.lse - lse) <= 1e-15 * fmax(1, fabs(lse)),
                  "(%.17g, %.17g), not (%.17g, %.17g)", got.o, got.lse, o, lse);
}

/* ---- published cases ---- */

#define LN2 0.6931471805599453
static const struct pair a = { 1, LN2 }, b = { 2, 3 };
static const struct pair empty = { 0, -INFINITY };
static const double both_o = 1.9094429985127419, both_lse = 3.0949229564209609;

/* Bases mixed up: deepseek-ai/FlashMLA pull 106, vllm-project/vllm pull 28840.
 */
START_TEST(natural_base)
{
    near(merge_two(a, b), both_o, both_lse);
    near(merge_two((struct pair){ 1, LN2 / LN2 }, (struct pair){ 2, 3 / LN2 }),
         1.9653798284206711, 4.3633187731709978);
    struct pair base2 =
        merge_two((struct pair){ 1, LN2 * LN2 }, (struct pair){ 2, 3 * LN2 });
    base2.lse /= LN2;
    near(base2, 1.8318769704595925, 3.265557916559854);
}
END_TEST

/* flashinfer-ai/flashinfer issue 4051, vllm-project/vllm pull 39148. */
START_TEST(empty_parts)
{
    static const double held[] = { 0, 5, NAN, INFINITY, -DBL_MAX };
    bits_are(merge_two(empty, empty), 0, -INFINITY);
    bits_are(merge_n(0, NULL), 0, -INFINITY);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        const struct pair none = { held[i], -INFINITY };
        bits_are(merge_two(none, none), 0, -INFINITY);
        bits_are(merge_n(1, &none), 0, -INFINITY);
        bits_are(merge_two(a, none), a.o, a.lse);
        bits_are(merge_two(none, a), a.o, a.lse);
        const struct pair zero = { -0.0, -0.0 }, large = { DBL_MAX, -1e308 };
        bits_are(merge_two(none, zero), -0.0, -0.0);
        bits_are(merge_two(large, none), DBL_MAX, -1e308);
        const struct pair all[] = { none, b, none, none, a, none };
        near(merge_n(6, all), both_o, both_lse);
        near(merge_two(merge_two(none, a), merge_two(b, none)), both_o,
             both_lse);
        near(merge_two(merge_two(none, none), merge_two(b, a)), both_o,
             both_lse);
    }
}
END_TEST

/* ---- what must stay visible ---- */

START_TEST(not_finite)
{
    const struct pair nan_lse = { 1, NAN }, inf_lse = { 0, INFINITY };
    bits_are(merge_n(1, &nan_lse), NAN, NAN);
    bits_are(merge_n(1, &inf_lse), NAN, INFINITY);
    bits_are(merge_two(a, nan_lse), NAN, NAN);
    bits_are(merge_two(nan_lse, empty), NAN, NAN);
    bits_are(merge_two(inf_lse, nan_lse), NAN, NAN);
    bits_are(merge_two(nan_lse, inf_lse), NAN, NAN);
    bits_are(merge_two(a, inf_lse), NAN, INFINITY);
    bits_are(merge_two(inf_lse, a), NAN, INFINITY);
    bits_are(merge_two(inf_lse, empty), NAN, INFINITY);
    bits_are(merge_two(inf_lse, inf_lse), NAN, INFINITY);
    /* an O is multiplied even where its weight is 0 */
    bits_are(merge_two(a, (struct pair){ NAN, -2000 }), NAN, LN2);
    bits_are(merge_two(a, (struct pair){ INFINITY, -2000 }), NAN, LN2);
    bits_are(merge_two(b, (struct pair){ INFINITY, 3 }), INFINITY, 3 + LN2);
    bits_are(merge_two(a, (struct pair){ 5, -2000 }), 1, LN2);
}
END_TEST

/* One row's NaN is its own. */
START_TEST(rows_apart)
{
    const struct assay_problem p = {
        .b = 1, .hq = 2, .hk = 1, .nq = 2, .dk = 1, .dv = 2, .softmax_scale = 1
    };
    const double o[] = { 1, 2, 3, 4, 5, 6, 7, 8 };   /* [i, h, c] */
    const double first[] = { 1, NAN, -INFINITY, 0 }; /* [h, i] */
    const double second[] = { 1, 0, 0, INFINITY };
    const double right_o[] = { 1, 2, 3, 4, NAN, NAN, NAN, NAN };
    const double right_lse[] = { 1 + LN2, NAN, 0, INFINITY };
    const struct assay_partial parts[] = { { NULL, NULL, o, first },
                                           { NULL, NULL, o, second } };
    double got[8], lse[4];
    ck_assert_int_eq(assay_merge(&p, 2, parts, false, got, lse, NULL),
                     ASSAY_OK);
    for (int i = 0; i < 8; i++)
        ck_assert_msg(same_double(got[i], right_o[i]), "O %d: %g", i, got[i]);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(same_double(lse[i], right_lse[i]), "LSE %d: %g", i,
                      lse[i]);
}
END_TEST

/* ---- large LSE ---- */

/* Against long double from the same LSE. Weights made as exp(LSE_k - LSE) are
 * off by 1e-13 at 1400 and 1e-11 at 1e5. */
static void check_large(double base, int n, uint64_t seed)
{
    struct pair in[9];
    long double top = -INFINITY, sum = 0, o = 0;
    for (int k = 0; k < n; k++) {
        in[k].o = 1 + fabs(values_normal(seed, (uint64_t)k));
        in[k].lse = base + values_normal(seed + 1, (uint64_t)k);
        top = in[k].lse > top ? in[k].lse : top;
    }
    for (int k = 0; k < n; k++) {
        const long double w = expl(in[k].lse - top);
        sum += w;
        o += w * in[k].o;
    }
    near(merge_n(n, in), (double)(o / sum), (double)(top + logl(sum)));
}

START_TEST(large_lse)
{
    static const double bases[] = { 0, 1400, -1400, 1e5, -1e5, 1e12, -1e300 };
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        for (int n = 1; n <= 9; n++)
            for (uint64_t seed = 1; seed < 40; seed += 2)
                check_large(bases[i], n, seed);
    /* far apart: the lower one vanishes, and does so without underflow to NaN
     */
    bits_are(merge_two((struct pair){ 1, -1e5 }, (struct pair){ 2, 1400 }), 2,
             1400);
    bits_are(
        merge_two((struct pair){ 1, DBL_MAX }, (struct pair){ 2, -DBL_MAX }), 1,
        DBL_MAX);
}
END_TEST

/* ---- parts against the whole ---- */

struct answer {
    double *o, *lse;
};

static struct answer answer_new(const struct assay_problem *p)
{
    struct answer x = {
        must_alloc((size_t)assay_problem_o_elems(p), sizeof *x.o),
        must_alloc((size_t)assay_problem_rows(p), sizeof *x.lse),
    };
    return x;
}

static void answer_free(struct answer *x)
{
    free(x->o);
    free(x->lse);
}

static void attend(const struct assay_problem *p, const struct tensors *t,
                   double *o, double *lse)
{
    struct assay_error err = { 0 };
    ck_assert_msg(assay_attention_f64(p, t->q, t->k, t->v, o, lse, NULL,
                                      &err) == ASSAY_OK,
                  "%s", err.text);
}

/* The first n keys of a rank. */
static void take_keys(const struct assay_problem *p, const struct tensors *t,
                      const struct assay_split *s, int64_t rank, int64_t n,
                      struct tensors *own)
{
    const int64_t k = p->hk * p->dk, v = p->hk * p->dv;
    for (int64_t j = 0; j < n; j++) {
        const int64_t key = assay_split_key(s, rank, j);
        memcpy(own->k + j * k, t->k + key * k, (size_t)k * sizeof(float));
        memcpy(own->v + j * v, t->v + key * v, (size_t)v * sizeof(float));
    }
}

/* A rank's part, query by query: which of its keys one sees is no mask of a
 * whole problem. */
static struct answer part_of(const struct assay_problem *p,
                             const struct tensors *t,
                             const struct assay_split *s, int64_t rank)
{
    struct answer part = answer_new(p);
    struct tensors own = tensors_new(p, 9);
    double *lse = must_alloc((size_t)p->hq, sizeof *lse);
    struct assay_problem row = *p;
    row.nq = 1;
    row.mask = ASSAY_MASK_NONE;
    take_keys(p, t, s, rank, assay_split_count(s, rank), &own);
    float *const all = own.q;
    for (int64_t i = 0; i < p->nq; i++) {
        row.nk = assay_split_visible(s, rank, assay_problem_visible(p, i));
        own.q = t->q + i * p->hq * p->dk;
        attend(&row, &own, part.o + i * p->hq * p->dv, lse);
        for (int64_t h = 0; h < p->hq; h++)
            part.lse[h * p->nq + i] = lse[h];
    }
    own.q = all;
    tensors_free(&own);
    free(lse);
    return part;
}

static void compare(const struct assay_problem *p, const struct answer *got,
                    const struct answer *right, double limit, const char *what)
{
    for (int64_t i = 0; i < assay_problem_o_elems(p); i++)
        if (!(fabs(got->o[i] - right->o[i]) <= limit))
            ck_abort_msg("%s: O %" PRId64 " is %.17g, not %.17g", what, i,
                         got->o[i], right->o[i]);
    for (int64_t i = 0; i < assay_problem_rows(p); i++)
        if (got->lse[i] != right->lse[i] && /* -inf too */
            !(fabs(got->lse[i] - right->lse[i]) <=
              limit * fmax(1, fabs(right->lse[i]))))
            ck_abort_msg("%s: LSE %" PRId64 " is %.17g, not %.17g", what, i,
                         got->lse[i], right->lse[i]);
}

/* All at once, backwards, and one by one into the first's own place. */
static void merge_ways(const struct assay_problem *p, int64_t n,
                       struct answer *part, const struct answer *whole,
                       double limit)
{
    struct assay_partial parts[9], back[9];
    struct answer got = answer_new(p), other = answer_new(p);
    for (int64_t k = 0; k < n; k++)
        parts[k] = back[n - 1 - k] =
            (struct assay_partial){ "fp8", "nominal", part[k].o, part[k].lse };
    ck_assert(assay_merge(p, n, parts, false, got.o, got.lse, NULL) ==
              ASSAY_OK);
    compare(p, &got, whole, limit, "all at once");
    ck_assert(assay_merge(p, n, back, false, other.o, other.lse, NULL) ==
              ASSAY_OK);
    compare(p, &other, &got, 1e-14, "backwards");
    for (int64_t k = 1; k < n; k++) {
        struct assay_partial two[] = { parts[0], parts[k] };
        ck_assert(assay_merge(p, 2, two, false, part[0].o, part[0].lse, NULL) ==
                  ASSAY_OK);
    }
    compare(p, &part[0], &got, n <= 2 ? 0 : 1e-14, "one by one");
    answer_free(&got);
    answer_free(&other);
}

static void check_parts(const struct assay_problem *p, float q_times,
                        double limit)
{
    struct tensors t = tensors_new(p, 3);
    struct answer whole = answer_new(p), part[9];
    for (int64_t i = 0; i < assay_problem_q_elems(p); i++)
        t.q[i] *= q_times;
    attend(p, &t, whole.o, whole.lse);
    for (int kind = 0; kind < ASSAY_SPLITS; kind++)
        for (int64_t n = 1; n <= 9; n++) {
            struct assay_split s = { (enum assay_split_kind)kind, p->nk, n };
            for (int64_t k = 0; k < n; k++)
                part[k] = part_of(p, &t, &s, k);
            merge_ways(p, n, part, &whole, limit);
            for (int64_t k = 0; k < n; k++)
                answer_free(&part[k]);
        }
    answer_free(&whole);
    tensors_free(&t);
}

/* 5 keys on 9 ranks leave ranks without keys, and 20 queries leave rows
 * without keys. */
START_TEST(parts_and_whole)
{
    static const struct {
        int64_t hq, hk, nq, nk;
        enum assay_mask mask;
    } cases[] = {
        { 2, 1, 3, 70, ASSAY_MASK_NONE },   { 4, 2, 20, 70, ASSAY_MASK_CAUSAL },
        { 2, 2, 8, 13, ASSAY_MASK_CAUSAL }, { 2, 1, 20, 5, ASSAY_MASK_CAUSAL },
        { 1, 1, 2, 5, ASSAY_MASK_NONE },    { 1, 1, 2, 0, ASSAY_MASK_NONE },
    };
    const struct assay_problem p = { .b = 1,
                                     .hq = cases[_i].hq,
                                     .hk = cases[_i].hk,
                                     .nq = cases[_i].nq,
                                     .nk = cases[_i].nk,
                                     .dk = 16,
                                     .dv = 24,
                                     .mask = cases[_i].mask,
                                     .softmax_scale = 0.25 };
    check_parts(&p, 1, 1e-14);
    check_parts(&p, 100, 1e-12); /* LSE of hundreds */
}
END_TEST

/* ---- recipes ---- */

START_TEST(recipes_do_not_mix)
{
    static const struct {
        const char *recipe, *softmax, *text;
    } others[] = {
        { "mxfp4", "nominal",
          "part 0 is of recipe fp8 with softmax nominal, part 2 of recipe "
          "mxfp4 with softmax nominal: their LSE do not compare" },
        { "fp8", "other", "part 2 of recipe fp8 with softmax other" },
        { NULL, NULL, "part 2 of recipe exact with softmax exact" },
        { "fp8", NULL, "part 2 of recipe fp8 with softmax exact" },
    };
    char same[] = "fp8"; /* equal, not the same pointer */
    struct assay_partial parts[] = { { "fp8", "nominal", &a.o, &a.lse },
                                     { same, "nominal", &b.o, &b.lse },
                                     { 0 } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct assay_error err = { 0 };
        struct pair got = { 7, 7 };
        parts[2] = (struct assay_partial){ others[i].recipe, others[i].softmax,
                                           &b.o, &b.lse };
        ck_assert_int_eq(assay_merge_check(2, parts, &err), ASSAY_OK);
        ck_assert_int_eq(assay_merge_check(3, parts, &err), ASSAY_USAGE);
        ck_assert_msg(strstr(err.text, others[i].text), "%s", err.text);
        ck_assert_int_eq(
            assay_merge(&scalar, 3, parts, false, &got.o, &got.lse, &err),
            ASSAY_USAGE);
        ck_assert(got.o == 7 && got.lse == 7);
        ck_assert_int_eq(
            assay_merge(&scalar, 3, parts, true, &got.o, &got.lse, &err),
            ASSAY_OK);
        ck_assert(got.o > 1 && got.lse > 3);
    }
    ck_assert_int_eq(assay_merge_check(0, NULL, NULL), ASSAY_OK);
}
END_TEST

START_TEST(what_is_refused)
{
    struct assay_error err = { 0 };
    struct assay_problem p = scalar;
    double o = 7, lse = 7;
    ck_assert_int_eq(assay_merge(&p, -1, NULL, false, &o, &lse, &err),
                     ASSAY_USAGE);
    ck_assert_str_eq(err.text, "-1 parts cannot be merged");
    p.dv = 0;
    ck_assert_int_eq(assay_merge(&p, 0, NULL, false, &o, &lse, &err),
                     ASSAY_SHAPE);
    ck_assert(o == 7 && lse == 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge");
    TCase *c = tcase_create("merge");
    tcase_add_test(c, natural_base);
    tcase_add_test(c, empty_parts);
    tcase_add_test(c, not_finite);
    tcase_add_test(c, rows_apart);
    tcase_add_test(c, large_lse);
    tcase_add_loop_test(c, parts_and_whole, 0, 6);
    tcase_add_test(c, recipes_do_not_mix);
    tcase_add_test(c, what_is_refused);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
