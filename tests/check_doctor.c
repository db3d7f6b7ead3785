/* SPDX-License-Identifier: MIT
 *
 * The LSE doctor: mistakes are planted in the LSE of honest kernels, whose key
 * tile is not that of the emulation, and must be named. Scores, maxima and
 * wrong kernels are made here, by loops or by other problems.
 */
#include "check_assay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/distribution.h"
#include "assay/memory.h"
#include "check_values.h"
#include "golden/answers.h"
#include "validate/doctor.h"

#define LOG2E 1.4426950408889634
#define LN2 0.6931471805599453

/* One problem with its right answers and an honest kernel's LSE. */
struct patient {
    struct assay_problem p;
    const struct assay_recipe *recipe;
    struct assay_inputs in;
    struct assay_exact exact;
    struct assay_answer answer;
    int64_t rows;
    double *honest, *m, *c;
};

static float *shift_of(const struct patient *a)
{
    return a->answer.payloads.lse_shift;
}

static double shift(const struct patient *a, int64_t r)
{
    return shift_of(a) ? (double)shift_of(a)[r] : 0;
}

static void must(enum assay_status st, const struct assay_error *err)
{
    ck_assert_msg(st == ASSAY_OK, "%s", err->text);
}

/* The LSE of a kernel with another scale: in the scores, or in Q's codes. The
 * host's part for the K mean stays that of the right one. */
static void kernel_lse(const struct patient *a, double scale, double *lse)
{
    struct assay_problem p = a->p;
    struct assay_payloads own = { 0 };
    const struct assay_payloads *x = &a->answer.payloads;
    struct assay_error err = { 0 };
    float *o = must_alloc((size_t)assay_problem_o_elems(&p), sizeof *o);
    /* a form that fixes the maximum fixes the tile */
    const struct assay_softmax_form *form =
        assay_softmax_get(a->recipe->softmax);
    const int64_t tile = form->kind == ASSAY_KIND_ONLINE ? 64 : 128;
    p.softmax_scale = scale;
    if (a->recipe->scale_applied == ASSAY_APPLIED_Q) {
        must(assay_recipe_quantize(a->recipe, &p, NULL, NULL, a->in.q, a->in.k,
                                   a->in.v, &own, &err),
             &err);
        x = &own;
    }
    must(assay_recipe_emulate_tile(a->recipe, &p, x, tile, o, lse, NULL, &err),
         &err);
    for (int64_t r = 0; r < a->rows; r++)
        lse[r] = (float)(lse[r] - (x->lse_shift ? (double)x->lse_shift[r] : 0) +
                         shift(a, r));
    assay_payloads_free(&own);
    free(o);
}

/* What gfx950 kernels of fp8 make of Q: its codes are multiplied by what makes
 * the factor of the scores a power of two, and rounded again. */
static void round_again(const struct patient *a, float *q)
{
    const struct assay_payloads *x = &a->answer.payloads;
    const int64_t n = assay_problem_q_elems(&a->p);
    int exponent;
    const float by = (float)frexp(a->p.softmax_scale * (double)x->q.scales[0] *
                                      (double)x->k.scales[0] * LOG2E,
                                  &exponent),
                to = x->q.scales[0] / by;
    for (int64_t i = 0; i < n; i++)
        q[i] /= to;
    assay_format_round(x->q.format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE,
                       (size_t)n, q, q);
    for (int64_t i = 0; i < n; i++)
        q[i] *= to;
}

/* Maxima of the scores that codes stand for, without the K mean; of the first
 * 128 keys in forms that fix it. */
static void fill_maxima(struct patient *a)
{
    const struct assay_problem *p = &a->p;
    const struct assay_softmax_form *form =
        assay_softmax_get(a->recipe->softmax);
    const struct assay_payloads *x = &a->answer.payloads;
    float *q = must_alloc((size_t)assay_problem_q_elems(p), sizeof *q),
          *k = must_alloc((size_t)assay_problem_k_elems(p), sizeof *k);
    assay_payload_values(&x->q, q);
    assay_payload_values(&x->k, k);
    if (strcmp(form->name, "gfx950-u32") == 0)
        round_again(a, q);
    const double by =
        a->recipe->scale_applied == ASSAY_APPLIED_Q ? log(2) : p->softmax_scale;
    for (int64_t r = 0; r < a->rows; r++) {
        const int64_t i = r % p->nq, h = r / p->nq % p->hq,
                      b = r / p->nq / p->hq;
        a->m[r] = -INFINITY;
        for (int64_t j = 0; j < p->nk; j++) {
            double dot = 0;
            if (p->mask == ASSAY_MASK_CAUSAL && j > i + p->nk - p->nq)
                continue;
            if (j >= 128 && strncmp(form->name, "gfx950", 6) == 0)
                continue;
            for (int64_t c = 0; c < p->dk; c++)
                dot += (double)q[((b * p->nq + i) * p->hq + h) * p->dk + c] *
                       (double)k[((b * p->nk + j) * p->hk + h * p->hk / p->hq) *
                                     p->dk +
                                 c];
            a->m[r] = fmax(a->m[r], by * dot);
        }
    }
    free(q);
    free(k);
}

static void patient_new(struct patient *a, struct assay_problem p,
                        const struct assay_recipe *recipe,
                        const char *distribution)
{
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    struct assay_error err = { 0 };
    *a = (struct patient){ .p = p,
                           .recipe = recipe,
                           .in.format = bf16,
                           .rows = assay_problem_rows(&p) };
    must(assay_alloc("q", assay_problem_q_elems(&p), 4, &a->in.q, &err), &err);
    must(assay_alloc("k", assay_problem_k_elems(&p), 4, &a->in.k, &err), &err);
    must(assay_alloc("v", assay_problem_v_elems(&p), 4, &a->in.v, &err), &err);
    must(assay_distribution_fill(assay_distribution_find(distribution), NULL,
                                 &p, 5, bf16, a->in.q, a->in.k, a->in.v, NULL,
                                 &err),
         &err);
    must(answers_exact_only(&p, &a->in, false, NULL, &a->exact, &err), &err);
    must(answers_recipe(a->recipe, &p, &a->in, NULL, &a->answer, &err), &err);
    a->honest = must_alloc((size_t)a->rows, sizeof *a->honest);
    a->m = must_alloc((size_t)a->rows, sizeof *a->m);
    a->c = must_alloc((size_t)a->rows, sizeof *a->c);
    kernel_lse(a, p.softmax_scale, a->honest);
    fill_maxima(a);
    memcpy(a->c, a->honest, (size_t)a->rows * sizeof *a->c);
}

static void patient_free(struct patient *a)
{
    assay_inputs_free(&a->in);
    assay_exact_free(&a->exact);
    assay_answer_free(&a->answer);
    free(a->honest);
    free(a->m);
    free(a->c);
}

static struct doctor_input input_of(const struct patient *a)
{
    return (struct doctor_input){ .p = &a->p,
                                  .recipe = a->recipe,
                                  .payloads = &a->answer.payloads,
                                  .q = a->in.q,
                                  .word = a->in.format,
                                  .lse_c = a->c,
                                  .lse_e = a->answer.lse,
                                  .lse_x = a->exact.lse,
                                  .jitter_lse = a->answer.jitter.lse };
}

static struct diagnosis look(const struct patient *a)
{
    struct doctor_input in = input_of(a);
    struct diagnosis d;
    struct assay_error err = { 0 };
    for (int64_t r = 0; r < a->rows; r++)
        a->c[r] = (float)a->c[r];
    must(doctor_look(&in, 0, a->p.hq, &d, &err), &err);
    return d;
}

static const char *const names[] = {
#define ASSAY_CAUSE(id, ...) #id,
#include "validate/doctor.def"
#undef ASSAY_CAUSE
};

static struct diagnosis expect(const struct patient *a, enum cause cause,
                               const char *text)
{
    struct diagnosis d = look(a);
    printf("# %s: %s\n", a->recipe->name, d.text);
    fflush(stdout);
    ck_assert_msg(d.cause == cause, "%s: %s should be named, was %s: %s",
                  a->recipe->name, names[cause], names[d.cause], d.text);
    ck_assert_msg(strstr(d.text, text), "no \"%s\" in: %s", text, d.text);
    return d;
}

/* ---- mistakes of a formula, in recipes whose scores are exact, quantized,
 * and folded into Q, with and without a K mean ---- */

static const struct {
    const char *recipe, *distribution;
    enum assay_mask mask;
    const char *form;
} wards[] = {
    { "bf16", "normal", ASSAY_MASK_NONE, "nominal" },
    { "bf16", "sink", ASSAY_MASK_CAUSAL, "nominal" },
    { "fp8", "normal", ASSAY_MASK_CAUSAL, "nominal" },
    { "fp8", "kcommon", ASSAY_MASK_NONE, "nominal" },
    { "mxfp4", "transformer", ASSAY_MASK_NONE, "nominal" },
    { "mxfp4", "kcommon", ASSAY_MASK_CAUSAL, "nominal" },
    { "fp8", "transformer", ASSAY_MASK_NONE, "gfx950-u32" },
    { "f6f8", "kcommon", ASSAY_MASK_CAUSAL, "gfx950-byte" },
};
enum { WARDS = sizeof wards / sizeof *wards };

static void ward_new(struct patient *a, int i)
{
    const struct assay_problem p = { 1,    4, 2, 96, 160, 64, 64, wards[i].mask,
                                     0.125 };
    patient_new(a, p,
                assay_recipe_in_form(assay_recipe_find(wards[i].recipe),
                                     assay_softmax_find(wards[i].form)->id),
                wards[i].distribution);
}

/* e: the honest LSE; l: the kernel's, without the K mean's part s; m its
 * maximum; n the keys seen. */
struct facts {
    double e, l, m, s, n;
};
#define PLANTS(PLANT)                                                         \
    PLANT(ZERO, 0, "0 everywhere")                                            \
    PLANT(BASE_2, f->e *LOG2E, "multiply the LSE by ln 2")                    \
    PLANT(LN_2_TWICE, f->e *LN2, "once too often")                            \
    PLANT(SIGN, -f->e, "negate")                                              \
    PLANT(OFFSET_NAMED, f->e + LN2, "off by ln 2:")                           \
    PLANT(OFFSET_NAMED, f->e - 6.104793232414985, "off by -ln 448,")          \
    PLANT(OFFSET_NAMED, f->e + 5.545177444479562, "off by ln 256:")           \
    PLANT(MAX_ONLY, f->m + f->s, "log of the sum missing")                    \
    PLANT(MAX_MISSING, f->l - f->m + f->s, "row maximum missing")             \
    PLANT(SUM_NOT_LOGGED, f->m + exp(f->l - f->m) + f->s, "sum without log")  \
    PLANT(SUM_ONLY, exp(f->l - f->m) + f->s, "the sum alone")                 \
    PLANT(MAX_BASE_2, f->m *LOG2E + f->l - f->m + f->s, "maximum in base 2")  \
    PLANT(SUM_BASE_2, f->m + (f->l - f->m) * LOG2E + f->s, "natural log")     \
    PLANT(SUM_INVERTED, f->m - (f->l - f->m) + f->s, "1 / sum")               \
    PLANT(MAX_NEGATED, f->l - f->m - f->m + f->s, "maximum subtracted")       \
    PLANT(MAX_UNSCALED, 8 * f->m + f->l - f->m + f->s, "without the softmax") \
    PLANT(MAX_SCALED_TWICE, f->m / 8 + f->l - f->m + f->s, "scaled twice")    \
    PLANT(OFFSET, f->e + 0.3, "constant offset of 0.3")                       \
    PLANT(FACTOR, f->e * 1.1, "multiplied by 1.1")                            \
    PLANT(BASE_2_KERNEL, f->l *LOG2E + f->s, "before the K mean's part")      \
    PLANT(SHIFT_MISSING, f->l, "K mean not restored")                         \
    PLANT(SHIFT_TWICE, f->e + f->s, "K mean restored twice")                  \
    PLANT(SHIFT_NEGATED, f->l - f->s, "subtracted")                           \
    PLANT(MEAN, f->e - log(f->n), "log of the mean")

static double planted(int plant, const struct facts *f)
{
    int i = 0;
#define PLANT(id, formula, text) \
    if (i++ == plant)            \
        return formula;
    PLANTS(PLANT)
#undef PLANT
    return NAN;
}

static const struct {
    enum cause cause;
    const char *text;
} plants[] = {
#define PLANT(id, formula, text) { CAUSE_##id, text },
    PLANTS(PLANT)
#undef PLANT
};
enum { N_PLANTS = sizeof plants / sizeof *plants };

START_TEST(formulas_are_named)
{
    struct patient a;
    const int plant = _i / WARDS;
    const enum cause cause = plants[plant].cause;
    ward_new(&a, _i % WARDS);
    bool of_shift =
        cause == CAUSE_BASE_2_KERNEL ||
        (cause >= CAUSE_SHIFT_MISSING && cause <= CAUSE_SHIFT_NEGATED);
    /* where all rows see the same number of keys, it is ln nk that is off */
    bool constant = cause == CAUSE_MEAN && a.p.mask == ASSAY_MASK_NONE;
    for (int64_t r = 0; r < a.rows; r++) {
        int64_t i = r % a.p.nq;
        struct facts f = {
            a.honest[r], a.honest[r] - shift(&a, r), a.m[r], shift(&a, r),
            (double)(constant ? a.p.nk : i + 1 + a.p.nk - a.p.nq)
        };
        a.c[r] = planted(plant, &f);
    }
    if (!of_shift || strcmp(wards[_i % WARDS].distribution, "kcommon") == 0) {
        struct diagnosis d =
            constant ? expect(&a, CAUSE_OFFSET_NAMED, "off by -ln nk")
                     : expect(&a, cause, plants[plant].text);
        ck_assert(d.left * 10 <= d.was);
        ck_assert_int_eq(d.heads, 4);
    }
    patient_free(&a);
}
END_TEST

START_TEST(figures_are_right)
{
    struct patient a;
    ward_new(&a, 0);
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] = a.honest[r] * LOG2E;
    struct diagnosis d = look(&a);
    ck_assert_double_eq_tol(d.slope, LOG2E, 1e-3);
    ck_assert_double_eq_tol(d.offset, 0, 5e-3);
    ck_assert_int_eq(d.wrong, a.rows);
    ck_assert_int_eq(d.rows, 4 * DOCTOR_ROWS);
    ck_assert_int_eq(d.not_finite, 0);
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] = 3 * a.honest[r] - 2;
    d = expect(&a, CAUSE_UNEXPLAINED, "it is about 3 times the right one -2");
    ck_assert_double_eq_tol(d.slope, 3, 1e-2);
    patient_free(&a);
}
END_TEST

/* ---- kernels with another scale, right in all else ---- */

START_TEST(scales_are_named)
{
    static const struct {
        enum cause cause;
        double scale; /* right is 1/8, of width 64 */
        const char *text;
    } kernels[] = {
        { CAUSE_SCALE_MISSING, 1, "softmax scale missing" },
        { CAUSE_SCALE_TWICE, 1. / 64, "applied twice" },
        { CAUSE_LOG2E_MISSING, 0.125 * LN2, "exp2 of natural" },
        { CAUSE_LOG2E_TWICE, 0.125 * LOG2E, "log2 e applied twice" },
        { CAUSE_FOLD_MISSING, LN2, "softmax scale and log2 e missing" },
        { CAUSE_SCALE_WIDTH, 0.08838834764831845, "1/sqrt(128)" },
        { CAUSE_SCALE_WIDTH, 0.10206207261596577, "1/sqrt(96)" },
    };
    struct patient a;
    const int k = _i / WARDS;
    ward_new(&a, _i % WARDS);
    kernel_lse(&a, kernels[k].scale, a.c);
    expect(&a, kernels[k].cause, kernels[k].text);
    patient_free(&a);
}
END_TEST

/* A scale that nobody has a name for is found from the LSE. */
START_TEST(other_scales_are_found)
{
    static const struct {
        double times;
        enum cause cause;
        const char *text;
    } kernels[] = {
        { 0.5, CAUSE_SCALE_WIDTH, "1/sqrt(256)" },
        { 0.72, CAUSE_SCALE_OTHER, "times the right one: use the" },
        { 1.1, CAUSE_SCALE_OTHER, "times the right one: use the" },
        { 3, CAUSE_SCALE_OTHER, "times the right one: use the" },
    };
    /* where the scale is in Q's codes it is found within what these are off */
    const double within = _i % WARDS < 4 ? 1e-3 : 0.03;
    struct patient a;
    const int k = _i / WARDS;
    ward_new(&a, _i % WARDS);
    kernel_lse(&a, kernels[k].times * a.p.softmax_scale, a.c);
    struct diagnosis d = expect(&a, kernels[k].cause, kernels[k].text);
    if (kernels[k].cause == CAUSE_SCALE_OTHER) {
        const double found = atof(d.name + strlen("softmax scale is "));
        ck_assert_double_eq_tol(found / kernels[k].times, 1, within);
    }
    patient_free(&a);
}
END_TEST

/* The K mean's part has the wrong scale as well. */
START_TEST(other_scale_of_the_k_mean_too)
{
    struct patient a;
    ward_new(&a, 3);
    kernel_lse(&a, 0.72 * a.p.softmax_scale, a.c);
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] -= 0.28 * shift(&a, r);
    expect(&a, CAUSE_SCALE_OTHER, "softmax scale is 0.72 times the right one");
    patient_free(&a);
}
END_TEST

/* Rows that a scale of their own explains each do not share one. */
START_TEST(no_one_scale_is_claimed)
{
    struct patient a;
    double *two;
    ward_new(&a, _i);
    two = must_alloc((size_t)a.rows, sizeof *two);
    kernel_lse(&a, 0.6 * a.p.softmax_scale, a.c);
    kernel_lse(&a, 1.7 * a.p.softmax_scale, two);
    for (int64_t r = 0; r < a.rows; r += 2)
        a.c[r] = two[r];
    expect(&a, CAUSE_UNEXPLAINED, "");
    free(two);
    patient_free(&a);
}
END_TEST

/* Of width 128 what is sqrt(128) times too much or too little has a name. */
START_TEST(scales_of_width_128_are_named)
{
    static const struct assay_problem p = { 1,   2,  1,
                                            64,  96, 128,
                                            128, 0,  0.08838834764831845 };
    struct patient a;
    patient_new(&a, p, assay_recipe_find(_i ? "fp8" : "bf16"), "normal");
    kernel_lse(&a, 1, a.c);
    expect(&a, CAUSE_SCALE_MISSING, "softmax scale missing");
    kernel_lse(&a, 1. / 128, a.c);
    expect(&a, CAUSE_SCALE_TWICE, "applied twice");
    patient_free(&a);
}
END_TEST

/* 1/d is 1/64 there, the scale twice; here it is another. */
START_TEST(squared_scale_is_named)
{
    struct patient a;
    const struct assay_problem p = { 1, 2, 1, 64, 64, 64, 64, 0, 0.3 };
    patient_new(&a, p, assay_recipe_find("fp8"), "normal");
    kernel_lse(&a, 1. / 64, a.c);
    expect(&a, CAUSE_SCALE_SQUARED, "1/d");
    patient_free(&a);
}
END_TEST

/* All of the operation has the wrong scale, the K mean's part too. */
START_TEST(scale_of_the_k_mean_too)
{
    struct patient a;
    ward_new(&a, 3);
    kernel_lse(&a, 1. / 64, a.c);
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] += shift(&a, r) / 8 - shift(&a, r);
    expect(&a, CAUSE_SCALE_TWICE, "applied twice");
    patient_free(&a);
}
END_TEST

/* ---- other answers in the place of the right one ---- */

START_TEST(exact_scores_are_named)
{
    struct patient a;
    ward_new(&a, 2 + _i);
    memcpy(a.c, a.exact.lse, (size_t)a.rows * sizeof *a.c);
    expect(&a, CAUSE_EXACT, "LSE of exact scores");
    patient_free(&a);
}
END_TEST

START_TEST(whole_sum_is_named)
{
    static const char *const recipes[] = { "fp8", "mxfp4" };
    struct patient a;
    const struct assay_problem p = { 1, 2, 1, 64, 640, 64, 64, 0, 0.125 };
    struct assay_error err = { 0 };
    patient_new(&a, p, assay_recipe_find(recipes[_i]), "diffusion");
    struct assay_recipe r = *a.recipe;
    r.softmax = ASSAY_SOFTMAX_WHOLE_SUM;
    must(assay_recipe_emulate_tile(&r, &p, &a.answer.payloads, 64, a.answer.o,
                                   a.c, NULL, &err),
         &err);
    expect(&a, CAUSE_WHOLE_SUM, "before it is rounded");
    patient_free(&a);
}
END_TEST

START_TEST(rounding_is_named)
{
    struct patient a;
    float *x, *y;
    ward_new(&a, 0);
    x = must_alloc((size_t)a.rows, sizeof *x);
    y = must_alloc((size_t)a.rows, sizeof *y);
    for (int64_t r = 0; r < a.rows; r++)
        x[r] = (float)a.honest[r];
    assay_format_round(assay_format_get(_i ? ASSAY_F16 : ASSAY_BF16),
                       ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, (size_t)a.rows, x, y);
    for (int64_t r = 0; r < a.rows; r++) {
        a.c[r] = (double)y[r];
        a.answer.jitter.lse[r] *= 0.01f; /* f16 is within that of bf16 */
        a.answer.lse[r] = a.honest[r];
    }
    expect(&a, CAUSE_ROUNDED, _i ? "rounded to f16" : "rounded to bf16");
    free(x);
    free(y);
    patient_free(&a);
}
END_TEST

START_TEST(places_are_named)
{
    static const struct {
        enum cause cause;
        const char *text;
    } places[] = { { CAUSE_ROW_NEXT, "next row" },
                   { CAUSE_ROW_PREVIOUS, "row before" },
                   { CAUSE_LAYOUT, "[b, nq, hq]" },
                   { CAUSE_HEAD, "1 in place of 0" } };
    struct patient a;
    const int place = _i / WARDS;
    ward_new(&a, _i % WARDS);
    for (int h = 0; h < 4; h++)
        for (int i = 0; i < 96; i++) {
            int to = place == 0   ? h * 96 + (i + 95) % 96
                     : place == 1 ? h * 96 + (i + 1) % 96
                     : place == 2 ? i * 4 + h
                                  : (h ^ 1) * 96 + i;
            a.c[to] = a.honest[h * 96 + i];
        }
    expect(&a, places[place].cause, places[place].text);
    patient_free(&a);
}
END_TEST

START_TEST(offsets_of_heads_are_named)
{
    struct patient a;
    ward_new(&a, 2);
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] += 0.4 + 0.17 * (double)(r / 96);
    expect(&a, CAUSE_OFFSET_HEADS, "in each head");
    patient_free(&a);
}
END_TEST

/* ---- other keys: exact attention over them, by other problems ---- */

static void other_keys(struct patient *a, const struct assay_problem *p)
{
    double *lse = must_alloc((size_t)assay_problem_rows(p), sizeof *lse);
    float *k = must_alloc((size_t)assay_problem_k_elems(p), sizeof *k);
    struct assay_error err = { 0 };
    const int64_t n = assay_problem_k_elems(&a->p);
    for (int64_t i = 0; i < assay_problem_k_elems(p); i++)
        k[i] = i < n ? a->in.k[i] : 0;
    must(assay_attention_plain(p, a->in.q, k, k, NULL, lse, &err), &err);
    for (int64_t h = 0; h < p->hq; h++)
        for (int64_t i = 0; i < p->nq; i++)
            a->c[h * a->p.nq + i] = lse[h * p->nq + i];
    free(lse);
    free(k);
}

START_TEST(keys_are_named)
{
    static const struct {
        enum cause cause;
        enum assay_mask mask, seen_mask;
        int64_t nk, seen_nq, seen_nk;
        const char *text;
    } kernels[] = {
        { CAUSE_MASK_IGNORED, ASSAY_MASK_CAUSAL, ASSAY_MASK_NONE, 80, 60, 80,
          "mask ignored" },
        /* top left: bottom right of as many keys as queries */
        { CAUSE_MASK_TOP_LEFT, ASSAY_MASK_CAUSAL, ASSAY_MASK_CAUSAL, 80, 60, 60,
          "causal mask from the top left: query i must see keys up to "
          "i + nk - nq" },
        /* one query less: each sees one key more */
        { CAUSE_KEY_MORE, ASSAY_MASK_CAUSAL, ASSAY_MASK_CAUSAL, 62, 59, 62,
          "too many" },
        { CAUSE_KEY_LESS, ASSAY_MASK_NONE, ASSAY_MASK_NONE, 24, 60, 23,
          "last key" },
        { CAUSE_TILE_LESS, ASSAY_MASK_NONE, ASSAY_MASK_NONE, 90, 60, 64,
          "last tile of 32 keys" },
        { CAUSE_TILE_LESS, ASSAY_MASK_NONE, ASSAY_MASK_NONE, 192, 60, 128,
          "last tile of 64 keys" },
        { CAUSE_PADDING, ASSAY_MASK_NONE, ASSAY_MASK_NONE, 80, 60, 128,
          "48 keys of score 0" },
        { CAUSE_PADDING, ASSAY_MASK_NONE, ASSAY_MASK_NONE, 24, 60, 25,
          "1 keys of score 0" },
    };
    struct assay_problem p = { .b = 1,
                               .hq = 2,
                               .hk = 1,
                               .nq = 60,
                               .nk = kernels[_i].nk,
                               .dk = 32,
                               .dv = 32,
                               .mask = kernels[_i].mask,
                               .softmax_scale = 0.2 };
    struct patient a;
    patient_new(&a, p, assay_recipe_find("bf16"), "normal");
    p.mask = kernels[_i].seen_mask;
    p.nq = kernels[_i].seen_nq;
    p.nk = kernels[_i].seen_nk;
    other_keys(&a, &p);
    expect(&a, kernels[_i].cause, kernels[_i].text);
    patient_free(&a);
}
END_TEST

/* ---- an online softmax that forgets to rescale its sum ---- */

/* As kernels go over key tiles, from scores [keys]. */
static double online_lse(const double *s, int64_t keys, int64_t tile,
                         bool rescale)
{
    double top = -INFINITY, sum = 0;
    for (int64_t first = 0; first < keys; first += tile) {
        const double before = top;
        for (int64_t j = first; j < first + tile && j < keys; j++)
            top = fmax(top, s[j]);
        sum *= rescale ? exp(before - top) : 1;
        for (int64_t j = first; j < first + tile && j < keys; j++)
            sum += exp(s[j] - top);
    }
    return top + log(sum);
}

/* Scores of row r in nats, of the keys that it sees; how many. */
static int64_t scores_of(const struct patient *a, const float *q,
                         const float *k, int64_t r, double *s)
{
    const struct assay_problem *p = &a->p;
    const int64_t i = r % p->nq, h = r / p->nq,
                  keys = p->mask == ASSAY_MASK_CAUSAL ? i + 1 + p->nk - p->nq
                                                      : p->nk;
    const double by =
        a->recipe->scale_applied == ASSAY_APPLIED_Q ? log(2) : p->softmax_scale;
    for (int64_t j = 0; j < keys; j++) {
        s[j] = 0;
        for (int64_t c = 0; c < p->dk; c++)
            s[j] += by * (double)q[(i * p->hq + h) * p->dk + c] *
                    (double)k[(j * p->hk + h * p->hk / p->hq) * p->dk + c];
    }
    return keys;
}

START_TEST(missing_rescale_is_named)
{
    static const int64_t tiles[] = { 1, 16, 64 };
    const int64_t tile = tiles[_i / 6];
    struct patient a;
    char text[64];
    ward_new(&a, _i % 6); /* those with an online maximum */
    const struct assay_payloads *x = &a.answer.payloads;
    float *q = must_alloc((size_t)assay_problem_q_elems(&a.p), sizeof *q),
          *k = must_alloc((size_t)assay_problem_k_elems(&a.p), sizeof *k);
    double *s = must_alloc((size_t)a.p.nk, sizeof *s);
    assay_payload_values(&x->q, q);
    assay_payload_values(&x->k, k);
    for (int64_t r = 0; r < a.rows; r++) {
        const int64_t keys = scores_of(&a, q, k, r, s);
        a.c[r] = a.honest[r] + online_lse(s, keys, tile, false) -
                 online_lse(s, keys, tile, true);
    }
    snprintf(text, sizeof text, "in key tiles of %d: multiply the sum",
             (int)tile);
    expect(&a, CAUSE_RESCALE, text);
    free(q);
    free(k);
    free(s);
    patient_free(&a);
}
END_TEST

/* ---- classes: 40 queries, 24 keys, rows 0 to 15 see none ---- */

static const struct assay_problem with_empty = { 1,  2,  2,  40,
                                                 24, 32, 32, ASSAY_MASK_CAUSAL,
                                                 0.2 };

START_TEST(empty_rows_are_named)
{
    static const struct {
        enum cause cause;
        double c;
        const char *text;
    } empty[] = { { CAUSE_EMPTY_PLUS_INF, INFINITY, "+inf where no key" },
                  { CAUSE_EMPTY_NAN, NAN, "NaN where no key" },
                  { CAUSE_EMPTY_ZERO, 0, "0 where no key" },
                  { CAUSE_EMPTY_FINITE, -1e30, "stand-in" } };
    struct patient a;
    patient_new(&a, with_empty, assay_recipe_find("fp8"), "normal");
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < 16; i++)
            a.c[h * 40 + i] = empty[_i].c;
    struct diagnosis d = expect(&a, empty[_i].cause, empty[_i].text);
    ck_assert_int_eq(d.not_finite, 32);
    ck_assert_int_eq(d.wrong, 0);
    ck_assert_int_eq(d.heads, 2);
    /* a mistake in the other rows comes first, and these are told too */
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] *= r % 40 < 16 ? 1 : LOG2E;
    expect(&a, CAUSE_BASE_2, cause_get(empty[_i].cause)->name);
    patient_free(&a);
}
END_TEST

START_TEST(empty_rows_alone_are_right)
{
    struct patient a;
    patient_new(&a, with_empty, assay_recipe_find("mxfp4"), "normal");
    ck_assert(a.c[15] == -INFINITY && isfinite(a.c[16]));
    expect(&a, CAUSE_RIGHT, "nothing");
    patient_free(&a);
}
END_TEST

START_TEST(classes_are_named)
{
    static const struct {
        enum cause cause;
        double c;
        const char *text;
    } classes[] = { { CAUSE_NAN, NAN, "NaN: " },
                    { CAUSE_PLUS_INF, INFINITY, "overflows" },
                    { CAUSE_MINUS_INF, -INFINITY, "underflows" } };
    struct patient a;
    patient_new(&a, with_empty, assay_recipe_find("fp8"), "normal");
    a.c[40 + 17] = classes[_i].c;
    struct diagnosis d = expect(&a, classes[_i].cause, classes[_i].text);
    ck_assert_int_eq(d.not_finite, 1);
    ck_assert_int_eq(d.heads, 1);
    patient_free(&a);
}
END_TEST

/* ---- what is not to be named ---- */

START_TEST(honest_kernels_are_right)
{
    struct patient a;
    ward_new(&a, _i);
    struct diagnosis d = expect(&a, CAUSE_RIGHT, "within the jitter");
    ck_assert_int_eq(d.heads, 0);
    ck_assert_double_eq_tol(d.slope, 1, 0.01);
    patient_free(&a);
}
END_TEST

START_TEST(noise_is_unexplained)
{
    static const double sizes[] = { 0.1, 1, 10, 100 };
    struct patient a;
    ward_new(&a, _i / 4);
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] += sizes[_i % 4] * (double)values_normal(31, (uint64_t)r);
    expect(&a, CAUSE_UNEXPLAINED, "unexplained");
    patient_free(&a);
}
END_TEST

/* A line that no constants explain, and one row that is anywhere. */
START_TEST(few_rows_name_no_constant)
{
    struct patient a;
    ward_new(&a, 2);
    a.c[100] += 0.3;
    struct diagnosis d = expect(&a, CAUSE_UNEXPLAINED, "(1 row, ");
    ck_assert_int_eq(d.rows, 1);
    patient_free(&a);
}
END_TEST

/* One head in base 2 and right rows beside it. */
START_TEST(wrong_rows_among_right_ones)
{
    struct patient a;
    ward_new(&a, 2);
    for (int i = 5; i < 96; i += 16)
        a.c[2 * 96 + i] *= LOG2E;
    struct diagnosis d = expect(&a, CAUSE_BASE_2, "6 rows");
    ck_assert_int_eq(d.heads, 1);
    struct doctor_input in = input_of(&a);
    ck_assert_int_eq(doctor_look(&in, 0, 2, &d, NULL), ASSAY_OK);
    ck_assert_int_eq(d.cause, CAUSE_RIGHT);
    patient_free(&a);
}
END_TEST

/* All LSE are ln 64: what is ln 2 off is not another base, and not a mean. */
START_TEST(constant_lse_does_not_confuse)
{
    static const struct {
        enum cause cause;
        double c;
        const char *text;
    } constants[] = { { CAUSE_OFFSET_NAMED, LN2 * 7, "ln 2:" },
                      { CAUSE_OFFSET_NAMED, LN2 * 5, "-ln 2:" },
                      { CAUSE_BASE_2, 6, "base 2" },
                      { CAUSE_OFFSET, 4, "constant offset" } };
    const struct assay_problem p = { 1, 2, 1, 32, 64, 32, 32, 0, 0.2 };
    struct patient a;
    patient_new(&a, p, assay_recipe_find("fp8"), "zero");
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] = constants[_i].c;
    struct diagnosis d = expect(&a, constants[_i].cause, constants[_i].text);
    ck_assert_double_eq(d.slope, 1);
    patient_free(&a);
}
END_TEST

/* One row, of two scores 0: 1 octave is ln 2 nats; DeepSeek's FlashMLA,
 * pull request 106. */
START_TEST(b39_two_scores_of_zero)
{
    const struct assay_problem p = { 1, 1, 1, 1, 2, 16, 16, 0, 1 };
    struct patient a;
    patient_new(&a, p, assay_recipe_find("bf16"), "zero");
    ck_assert_double_eq_tol(a.answer.lse[0], 0.69314718055994531, 1e-7);
    a.c[0] = 1;
    expect(&a, CAUSE_BASE_2, "base 2");
    patient_free(&a);
}
END_TEST

/* Without codes, exact LSE or K mean, what is left is still named. */
START_TEST(less_can_be_known)
{
    struct patient a;
    ward_new(&a, 2);
    struct doctor_input in = input_of(&a);
    struct diagnosis d;
    in.payloads = NULL;
    in.lse_x = NULL;
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] *= LOG2E;
    ck_assert_int_eq(doctor_look(&in, 0, 4, &d, NULL), ASSAY_OK);
    ck_assert_int_eq(d.cause, CAUSE_BASE_2);
    for (int64_t r = 0; r < a.rows; r++)
        a.c[r] = a.m[r];
    ck_assert_int_eq(doctor_look(&in, 0, 4, &d, NULL), ASSAY_OK);
    ck_assert_int_eq(d.cause, CAUSE_UNEXPLAINED);
    patient_free(&a);
}
END_TEST

START_TEST(heads_that_are_not_there)
{
    struct patient a;
    ward_new(&a, 0);
    struct doctor_input in = input_of(&a);
    struct diagnosis d;
    struct assay_error err = { 0 };
    ck_assert_int_eq(doctor_look(&in, 2, 5, &d, &err), ASSAY_SHAPE);
    ck_assert_msg(strstr(err.text, "there are 4"), "%s", err.text);
    ck_assert_int_eq(doctor_look(&in, 2, 2, &d, &err), ASSAY_SHAPE);
    patient_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("doctor");
    TCase *t = tcase_create("doctor");
    tcase_add_loop_test(t, formulas_are_named, 0, N_PLANTS * WARDS);
    tcase_add_test(t, figures_are_right);
    tcase_add_loop_test(t, scales_are_named, 0, 7 * WARDS);
    tcase_add_loop_test(t, other_scales_are_found, 0, 4 * WARDS);
    tcase_add_test(t, other_scale_of_the_k_mean_too);
    tcase_add_loop_test(t, no_one_scale_is_claimed, 0, WARDS);
    tcase_add_loop_test(t, scales_of_width_128_are_named, 0, 2);
    tcase_add_test(t, squared_scale_is_named);
    tcase_add_test(t, scale_of_the_k_mean_too);
    tcase_add_loop_test(t, exact_scores_are_named, 0, 4);
    tcase_add_loop_test(t, whole_sum_is_named, 0, 2);
    tcase_add_loop_test(t, rounding_is_named, 0, 2);
    tcase_add_loop_test(t, places_are_named, 0, 4 * WARDS);
    tcase_add_test(t, offsets_of_heads_are_named);
    tcase_add_loop_test(t, keys_are_named, 0, 8);
    tcase_add_loop_test(t, missing_rescale_is_named, 0, 3 * 6);
    tcase_add_loop_test(t, empty_rows_are_named, 0, 4);
    tcase_add_test(t, empty_rows_alone_are_right);
    tcase_add_loop_test(t, classes_are_named, 0, 3);
    tcase_add_loop_test(t, honest_kernels_are_right, 0, WARDS);
    tcase_add_loop_test(t, noise_is_unexplained, 0, 4 * WARDS);
    tcase_add_test(t, few_rows_name_no_constant);
    tcase_add_test(t, wrong_rows_among_right_ones);
    tcase_add_loop_test(t, constant_lse_does_not_confuse, 0, 4);
    tcase_add_test(t, b39_two_scores_of_zero);
    tcase_add_test(t, less_can_be_known);
    tcase_add_test(t, heads_that_are_not_there);
    suite_add_tcase(suite, t);
    return assay_check_main(suite);
}
