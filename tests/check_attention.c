/* SPDX-License-Identifier: MIT
 *
 * ref/attention_*.c, ref/blocked*, ref/error_bar.c: the plain form against
 * values worked out by hand and against identities that need no oracle, then
 * the blocked forms against the plain one.
 *
 * Tolerances. With u = 2^-53 or 2^-24, a score, a sum of dk products, is off
 * by about sqrt(dk) u A where A = scale |q| max|k| (Higham and Mary, SIAM J.
 * Sci. Comput. 41, 2019, for sums of random sign); the maximum, exp and log
 * add some units of LSE, which is at most A + ln nk. LSE moves by as much. O
 * moves by twice that, as numerator and denominator do, and by sqrt(nk) u for
 * its own sum, all times max|v|. A is the largest of all rows, so that most
 * rows stay far below.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/attention.h"
#include "check_assay.h"
#include "check_values.h"

static const double U32 = 0x1p-24, U64 = 0x1p-53;

enum form { PLAIN, F32, F64, N_FORMS };
static const char *const form_names[] = { "plain", "f32", "f64" };

struct answer {
    double *o, *lse; /* O of f32 widened: compares as it is */
};

static struct answer answer_new(const struct assay_problem *p)
{
    return (struct answer){
        must_alloc((size_t)assay_problem_o_elems(p), sizeof(double)),
        must_alloc((size_t)assay_problem_rows(p), sizeof(double)),
    };
}

static void answer_free(struct answer *a)
{
    free(a->o);
    free(a->lse);
}

static struct answer attend_threads(enum form form,
                                    const struct assay_problem *p,
                                    const struct tensors *t, int threads)
{
    struct answer a = answer_new(p);
    struct assay_error err = { 0 };
    const struct assay_run run = { .threads = threads };
    enum assay_status st;
    if (form == PLAIN) {
        st = assay_attention_plain(p, t->q, t->k, t->v, a.o, a.lse, &err);
    } else if (form == F64) {
        st = assay_attention_f64(p, t->q, t->k, t->v, a.o, a.lse, &run, &err);
    } else {
        int64_t n = assay_problem_o_elems(p);
        float *o = must_alloc((size_t)n, sizeof *o);
        st = assay_attention_f32(p, t->q, t->k, t->v, o, a.lse, &run, &err);
        for (int64_t i = 0; i < n; i++)
            a.o[i] = o[i];
        free(o);
    }
    ck_assert_msg(st == ASSAY_OK, "%s: %s", form_names[form], err.text);
    return a;
}

static struct answer attend(enum form form, const struct assay_problem *p,
                            const struct tensors *t)
{
    return attend_threads(form, p, t, 1);
}

static double worst_abs(int64_t n, const double *a, const double *b)
{
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
        if (isnan(d))
            return NAN;
        worst = d > worst ? d : worst;
    }
    return worst;
}

/* ---- values by hand ---- */

/* Small problems, the same for every form. Expected values carry the digits
 * of binary64; f32 is allowed its own rounding. */
static double hand_tol(enum form form, double scale_of_value)
{
    return (form == F32 ? 16 * U32 : 16 * U64) * (1 + scale_of_value);
}

static void expect_rows(enum form form, const struct assay_problem *p,
                        const float *q, const float *k, const float *v,
                        const double *o, const double *lse)
{
    const struct tensors t = { (float *)q, (float *)k, (float *)v };
    struct answer a = attend(form, p, &t);
    for (int64_t i = 0; i < assay_problem_rows(p); i++)
        ck_assert_msg(a.lse[i] == lse[i] || fabs(a.lse[i] - lse[i]) <=
                                                hand_tol(form, fabs(lse[i])),
                      "%s: LSE[%d] is %.17g, not %.17g", form_names[form],
                      (int)i, a.lse[i], lse[i]);
    for (int64_t i = 0; i < assay_problem_o_elems(p); i++)
        ck_assert_msg(fabs(a.o[i] - o[i]) <= hand_tol(form, fabs(o[i])),
                      "%s: O[%d] is %.17g, not %.17g", form_names[form], (int)i,
                      a.o[i], o[i]);
    answer_free(&a);
}

static const float counting[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const float zeros[64];

/* Rows 0, 2 and 3 of rten #1321, mlx #2395, pytorch #134650; a row that sees
 * nothing is in `bottom_right`, since no mask here takes out one row. */
START_TEST(four_keys)
{
    const struct assay_problem p = { 1, 1, 1, 4, 4, 2, 2, ASSAY_MASK_NONE, 1 };
    const float qk[8] = { 1, 0, 0, 1, 1, 1, 2, 0 };
    const struct tensors t = { (float *)qk, (float *)qk, (float *)counting };
    const double o[8] = { 5.1377865815540921,
                          6.1377865815540921,
                          0,
                          0,
                          4.9242343145200195,
                          5.9242343145200195,
                          6.1032139702975037,
                          7.1032139702975037 };
    const double lse[4] = { 2.6265233750364457, 0, 3.0064088680781681,
                            4.253856022085945 };
    struct answer a = attend((enum form)_i, &p, &t);
    for (int i = 0; i < 4; i++)
        if (i != 1) {
            double tol = hand_tol((enum form)_i, 8);
            ck_assert_double_eq_tol(a.lse[i], lse[i], tol);
            ck_assert_double_eq_tol(a.o[2 * i], o[2 * i], tol);
            ck_assert_double_eq_tol(a.o[2 * i + 1], o[2 * i + 1], tol);
        }
    answer_free(&a);
}
END_TEST

/* flash-attention #1537, #978. */
START_TEST(no_keys)
{
    const struct assay_problem p = { 2, 2, 1, 1, 0, 4, 3, _i % 2, 1 };
    const double o[12] = { 0 };
    const double lse[4] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
    expect_rows((enum form)(_i / 2), &p, zeros, zeros, zeros, o, lse);
}
END_TEST

START_TEST(no_queries)
{
    const struct assay_problem p = { 1, 1, 1, 0, 5, 4, 3, _i % 2, 1 };
    expect_rows((enum form)(_i / 2), &p, zeros, zeros, zeros, NULL, NULL);
}
END_TEST

/* Bottom-right corner, by rectangles both ways: squares cannot tell. cutlass
 * #2336; mlx #2835; flash-attention #517. */
START_TEST(bottom_right)
{
    static const struct {
        int64_t nq, nk;
        double o[5], lse[5];
    } cases[] = {
        { 2, 5, { 2.5, 3 }, { 1.3862943611198906, 1.6094379124341004 } },
        { 5,
          2,
          { 0, 0, 0, 1, 1.5 },
          { -INFINITY, -INFINITY, -INFINITY, 0, 0.69314718055994531 } },
        { 3, 3, { 1, 1.5, 2 }, { 0, 0.69314718055994531, 1.0986122886681097 } },
    };
    for (int n = 0; n < 3; n++) {
        const struct assay_problem p = {
            1, 1, 1, cases[n].nq, cases[n].nk, 1, 1, ASSAY_MASK_CAUSAL, 1
        };
        expect_rows((enum form)_i, &p, zeros, zeros, counting, cases[n].o,
                    cases[n].lse);
    }
}
END_TEST

/* ONNXim #33; HipKittens #22; fla #1029. */
START_TEST(head_mapping)
{
    static const int64_t pairs[][2] = {
        { 8, 2 }, { 28, 4 }, { 12, 12 }, { 4, 2 }, { 6, 1 }
    };
    for (int n = 0; n < 5; n++) {
        const int64_t hq = pairs[n][0], hk = pairs[n][1];
        const struct assay_problem p = { 1, hq, hk, 1, 1, 1, 1, 0, 1 };
        float v[12];
        double o[28], lse[28] = { 0 };
        for (int g = 0; g < hk; g++)
            v[g] = (float)g + 1;
        for (int h = 0; h < hq; h++)
            o[h] = (double)(h / (hq / hk)) + 1;
        expect_rows((enum form)_i, &p, zeros, zeros, v, o, lse);
    }
}
END_TEST

/* Zero is a scale of its own. SKaiNET #860; tt-metal #33304. The inputs are
 * binary32, which moves the document's values by some 3e-8. */
START_TEST(scales)
{
    const float q[6] = { .1f, .2f, .3f, .4f, .5f, .6f };
    const float k[6] = { .7f, .8f, .9f, 1, 1.1f, 1.2f };
    const struct tensors t = { (float *)q, (float *)k, (float *)counting };
    const struct {
        double scale, o[3], lse[3];
    } cases[] = {
        { 1 / sqrt(2),
          { 1, 2.049457091320634, 3.2065857659743444 },
          { 0.16263455967290593, 1.1186357493901004, 1.8491248644363073 } },
        { 0, { 1, 2, 3 }, { 0, 0.69314718055994531, 1.0986122886681097 } },
        { 1,
          { 1, 2.069885890316429, NAN },
          { 0.23, 1.2955951823371514, 2.1646810021220524 } },
    };
    for (int n = 0; n < 3; n++) {
        struct assay_problem p = {
            1, 1, 1, 3, 3, 2, 2, ASSAY_MASK_CAUSAL, cases[n].scale
        };
        struct answer a = attend((enum form)_i, &p, &t);
        double tol = cases[n].scale == 0 ? hand_tol((enum form)_i, 4)
                     : _i == F32         ? 1e-6
                                         : 1e-7;
        for (int i = 0; i < 3; i++) {
            ck_assert_double_eq_tol(a.lse[i], cases[n].lse[i], tol);
            if (isnan(cases[n].o[i]))
                continue;
            ck_assert_double_eq_tol(a.o[2 * i], cases[n].o[i], tol);
            ck_assert_double_eq_tol(a.o[2 * i + 1], cases[n].o[i] + 1, tol);
        }
        answer_free(&a);
    }
    ck_assert(assay_problem_default_scale(2) == pow(2, -0.5));
}
END_TEST

/* flash-attention #2374, #1745; pytorch #101967; Wan2GP #1628. */
START_TEST(poison_behind_the_mask)
{
    struct assay_problem p = { 1, 1, 1, 1, 1, 4, 4, ASSAY_MASK_NONE, 0.5 };
    const float x[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const double o[4] = { 0, 1, 2, 3 }, seven = 7, nineteen = 19;
    expect_rows((enum form)_i, &p, x, x, x, o, &seven);
    expect_rows((enum form)_i, &p, x + 4, x, x, o, &nineteen);

    const float poisons[] = { NAN, INFINITY, -INFINITY, 0x1.fffffep127f };
    p.nq = p.nk = 2;
    p.mask = ASSAY_MASK_CAUSAL; /* row 0 does not see key 1 */
    struct answer clean = { NULL, NULL };
    for (int n = -1; n < 4; n++) {
        float kv[8];
        for (int i = 0; i < 8; i++)
            kv[i] = i < 4 || n < 0 ? x[i] : poisons[n];
        const struct tensors t = { (float *)x, kv, kv };
        struct answer a = attend((enum form)_i, &p, &t);
        if (n < 0) {
            clean = a;
            continue;
        }
        ck_assert_mem_eq(a.lse, clean.lse, sizeof *a.lse);
        ck_assert_mem_eq(a.o, clean.o, 4 * sizeof *a.o);
        answer_free(&a);
    }
    answer_free(&clean);
}
END_TEST

/* Nats, not base 2. FlashMLA #106; tokenspeed #571; vLLM #28840. */
START_TEST(natural_log)
{
    const struct assay_problem p = { 1, 1, 1, 1, 2, 1, 1, 0, 1 };
    const double o[1] = { 1.5 }, lse[1] = { 0.69314718055994531 };
    expect_rows((enum form)_i, &p, zeros, zeros, counting, o, lse);
}
END_TEST

/* Scales other than 1, each applied once: K codes 4 and 8 times 0.25, V codes
 * 2 and 6 times 0.5. flashinfer #4979; tokenspeed #759. */
START_TEST(dequantized)
{
    const struct assay_problem p = { 1, 1, 1, 1, 2, 1, 1, 0, 1 };
    const float q[1] = { 1 };
    const float k[2] = { 4 * 0.25f, 8 * 0.25f }, v[2] = { 2 * 0.5f, 6 * 0.5f };
    const double o[1] = { 2.4621171572600098 }, lse[1] = { 2.3132616875182228 };
    expect_rows((enum form)_i, &p, q, k, v, o, lse);
}
END_TEST

/* A score of -inf weighs nothing; a row of them is a row without keys. NaN
 * that is seen is passed on, and +inf is NaN as IEEE has it. */
START_TEST(special_scores)
{
    const struct assay_problem p = { 1, 1, 1, 1, 2, 1, 1, 0, 1 };
    const float q[1] = { 1 }, v[2] = { 3, 5 };
    float k[2] = { -INFINITY, -INFINITY };
    double o = 0, lse = -INFINITY;
    expect_rows((enum form)_i, &p, q, k, v, &o, &lse);
    k[1] = 2;
    o = 5;
    lse = 2;
    expect_rows((enum form)_i, &p, q, k, v, &o, &lse);
    for (int n = 0; n < 3; n++) {
        float x[2] = { 0, n == 2 ? INFINITY : NAN }, w[2] = { 3, NAN };
        const struct tensors t = { (float *)q, n == 1 ? (float *)zeros : x,
                                   n == 1 ? w : (float *)v };
        struct answer a = attend((enum form)_i, &p, &t);
        ck_assert(isnan(a.o[0]));
        if (n == 0)
            ck_assert(isnan(a.lse[0]));
        if (n == 1)
            ck_assert_double_eq_tol(a.lse[0], M_LN2, 16 * U32);
        answer_free(&a);
    }
}
END_TEST

/* stan-dev/posterior #399; matrixStats #84; StatsFuns #100. */
START_TEST(logsumexp)
{
    const double inf = INFINITY;
    const struct {
        int64_t n;
        double x[3], want;
    } cases[] = {
        { 0, { 0 }, -inf },
        { 1, { -inf }, -inf },
        { 1, { 3.25 }, 3.25 },
        { 2, { -inf, -inf }, -inf },
        { 2, { inf, 0 }, inf },
        { 2, { inf, -inf }, inf },
        { 2, { inf, inf }, inf },
        { 2, { NAN, 0 }, NAN },
        { 2, { 0, NAN }, NAN },
        { 2, { inf, NAN }, NAN },
        { 2, { NAN, inf }, NAN },
        { 2, { -inf, NAN }, NAN },
        { 2, { 1000, 1000 }, 1000.6931471805599 },
        { 2, { -1000, -1000 }, -999.30685281944005 },
        { 2, { 88.8, 88.8 }, 89.493147180559942 },
        { 3, { -15, -10, -inf }, -9.9932846515108819 },
        { 2, { 0, -50 }, 1.9287498479639178e-22 },
        { 2, { -50, 0 }, 1.9287498479639178e-22 },
        /* columns of a matrix that is -inf but for its first row */
        { 3, { -15, -inf, -inf }, -15 },
        { 3, { -10, -inf, -inf }, -10 },
        { 3, { -inf, -inf, -inf }, -inf },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got = assay_logsumexp(cases[i].n, cases[i].x);
        double want = cases[i].want;
        ck_assert_msg(same_double(got, want) ||
                          fabs(got - want) <= 4 * U64 * fabs(want),
                      "case %zu: %.17g, not %.17g", i, got, want);
    }
}
END_TEST

START_TEST(refuses_bad_problems)
{
    struct assay_problem p = { 1, 3, 2, 1, 1, 1, 1, 0, 1 };
    struct assay_error err;
    float x[8] = { 0 }, of[8];
    double o[8], lse[8];
    ck_assert_int_eq(assay_attention_plain(&p, x, x, x, o, lse, &err),
                     ASSAY_SHAPE);
    ck_assert_int_eq(assay_attention_f32(&p, x, x, x, of, lse, NULL, &err),
                     ASSAY_SHAPE);
    ck_assert_int_eq(assay_attention_f64(&p, x, x, x, o, lse, NULL, &err),
                     ASSAY_SHAPE);
    ck_assert_int_eq(
        assay_error_bar_f64(&p, x, x, x, o, lse, 1, o, o, NULL, &err),
        ASSAY_SHAPE);
    ck_assert_int_eq(
        assay_error_bar_f32(&p, x, x, x, of, lse, o, o, NULL, &err),
        ASSAY_SHAPE);
    ck_assert_ptr_nonnull(strstr(err.text, "3 query heads"));
}
END_TEST

/* Either answer may be left out; the other does not change. */
START_TEST(one_answer_only)
{
    const struct assay_problem p = { 1, 2, 1, 9, 11, 8, 5, 1, 0.3 };
    struct tensors t = tensors_new(&p, 5);
    struct answer a = attend(PLAIN, &p, &t), f = attend(F64, &p, &t);
    double o[90], lse[18];
    assay_attention_plain(&p, t.q, t.k, t.v, o, NULL, NULL);
    ck_assert_mem_eq(o, a.o, sizeof o);
    assay_attention_plain(&p, t.q, t.k, t.v, NULL, lse, NULL);
    ck_assert_mem_eq(lse, a.lse, sizeof lse);
    assay_attention_f64(&p, t.q, t.k, t.v, o, NULL, NULL, NULL);
    ck_assert_mem_eq(o, f.o, sizeof o);
    assay_attention_f64(&p, t.q, t.k, t.v, NULL, lse, NULL, NULL);
    ck_assert_mem_eq(lse, f.lse, sizeof lse);
    answer_free(&a);
    answer_free(&f);
    tensors_free(&t);
}
END_TEST

/* ---- tolerances ---- */

static double largest_norm(int64_t rows, int64_t width, const float *x)
{
    double top = 0;
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < width; c++)
            sum += (double)x[r * width + c] * x[r * width + c];
        top = sum > top ? sum : top;
    }
    return sqrt(top);
}

static double largest(int64_t n, const float *x)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++)
        top = fabs(x[i]) > top ? fabs(x[i]) : top;
    return top;
}

struct tolerance {
    double o, lse;
};

/* See the head of the file. */
static struct tolerance tolerance_of(const struct assay_problem *p,
                                     const struct tensors *t, double u)
{
    double a = fabs(p->softmax_scale) *
               largest_norm(p->b * p->nq * p->hq, p->dk, t->q) *
               largest_norm(p->b * p->nk * p->hk, p->dk, t->k);
    double lse =
        u * (sqrt((double)p->dk) * a + 4 * (a + log1p((double)p->nk) + 1));
    double v = largest(assay_problem_v_elems(p), t->v);
    return (struct tolerance){
        .o = v * (2 * lse + u * (sqrt((double)p->nk) + 1)),
        .lse = lse,
    };
}

static void expect_near(const char *what, const struct assay_problem *p,
                        const struct answer *a, const struct answer *b,
                        struct tolerance tol)
{
    double o = worst_abs(assay_problem_o_elems(p), a->o, b->o);
    double lse = worst_abs(assay_problem_rows(p), a->lse, b->lse);
    ck_assert_msg(o <= tol.o, "%s: O is off by %g, may be by %g", what, o,
                  tol.o);
    ck_assert_msg(lse <= tol.lse, "%s: LSE is off by %g, may be by %g", what,
                  lse, tol.lse);
}

/* ---- identities of the plain form ---- */

static const struct assay_problem mid = { 2, 4, 2, 37, 53, 16, 12, 1, 0.25 };

START_TEST(constant_v)
{
    struct assay_problem p = mid;
    struct tensors t = tensors_new(&p, 20);
    for (int64_t i = 0; i < assay_problem_v_elems(&p); i++)
        t.v[i] = 0.7f;
    struct answer a = attend((enum form)_i, &p, &t);
    double u = _i == F32 ? U32 : U64;
    for (int64_t i = 0; i < assay_problem_o_elems(&p); i++)
        ck_assert_double_eq_tol(a.o[i], 0.7f, tolerance_of(&p, &t, u).o);
    answer_free(&a);
    tensors_free(&t);
}
END_TEST

/* One more channel, q = 1 and k = c there, adds scale c to every score: O
 * stays and LSE moves by scale c. At 1000 nats either way exp overflows or
 * underflows unless the maximum is taken off. */
START_TEST(constant_added_to_scores)
{
    const double constants[] = { 24, 4000, -4000 };
    const double c = constants[_i / N_FORMS];
    const enum form form = (enum form)(_i % N_FORMS);
    struct assay_problem p = mid, wide = mid;
    wide.dk = p.dk + 1;
    struct tensors t = tensors_new(&p, 21), w = tensors_new(&wide, 21);
    for (int64_t r = 0; r < p.b * p.nq * p.hq; r++) {
        memcpy(w.q + r * wide.dk, t.q + r * p.dk, (size_t)p.dk * 4);
        w.q[r * wide.dk + p.dk] = 1;
    }
    for (int64_t r = 0; r < p.b * p.nk * p.hk; r++) {
        memcpy(w.k + r * wide.dk, t.k + r * p.dk, (size_t)p.dk * 4);
        w.k[r * wide.dk + p.dk] = (float)c;
    }
    memcpy(w.v, t.v, (size_t)assay_problem_v_elems(&p) * 4);
    struct answer a = attend(form, &p, &t);
    struct answer b = attend(form, &wide, &w);
    for (int64_t i = 0; i < assay_problem_rows(&p); i++)
        a.lse[i] += p.softmax_scale * c;
    expect_near("constant added", &p, &b, &a,
                tolerance_of(&wide, &w, form == F32 ? U32 : U64));
    answer_free(&a);
    answer_free(&b);
    tensors_free(&t);
    tensors_free(&w);
}
END_TEST

/* Copies tokens of a [b, tokens, heads, width] tensor: to[j] = from[map(j)]. */
static void take_tokens(int64_t b, int64_t from_n, int64_t to_n, int64_t row,
                        const float *from, float *to, int64_t times,
                        int64_t plus)
{
    for (int64_t n = 0; n < b; n++)
        for (int64_t j = 0; j < to_n; j++)
            memcpy(to + (n * to_n + j) * row,
                   from + (n * from_n + (j * times + plus) % from_n) * row,
                   (size_t)row * sizeof *to);
}

START_TEST(permuted_keys)
{
    struct assay_problem p = mid;
    p.mask = ASSAY_MASK_NONE;
    struct tensors t = tensors_new(&p, 22), w = tensors_new(&p, 22);
    /* 53 is prime: times 20 plus 7 is a permutation */
    take_tokens(p.b, p.nk, p.nk, p.hk * p.dk, t.k, w.k, 20, 7);
    take_tokens(p.b, p.nk, p.nk, p.hk * p.dv, t.v, w.v, 20, 7);
    struct answer a = attend((enum form)_i, &p, &t);
    struct answer b = attend((enum form)_i, &p, &w);
    expect_near("keys permuted", &p, &b, &a,
                tolerance_of(&p, &t, _i == F32 ? U32 : U64));
    answer_free(&a);
    answer_free(&b);
    tensors_free(&t);
    tensors_free(&w);
}
END_TEST

START_TEST(doubled_keys)
{
    struct assay_problem p = mid, twice = mid;
    p.mask = twice.mask = ASSAY_MASK_NONE;
    twice.nk = 2 * p.nk;
    struct tensors t = tensors_new(&p, 23), w = tensors_new(&twice, 23);
    memcpy(w.q, t.q, (size_t)assay_problem_q_elems(&p) * 4);
    take_tokens(p.b, p.nk, twice.nk, p.hk * p.dk, t.k, w.k, 1, 0);
    take_tokens(p.b, p.nk, twice.nk, p.hk * p.dv, t.v, w.v, 1, 0);
    struct answer a = attend((enum form)_i, &p, &t);
    struct answer b = attend((enum form)_i, &twice, &w);
    for (int64_t i = 0; i < assay_problem_rows(&p); i++)
        a.lse[i] += M_LN2;
    expect_near("keys doubled", &p, &b, &a,
                tolerance_of(&twice, &w, _i == F32 ? U32 : U64));
    answer_free(&a);
    answer_free(&b);
    tensors_free(&t);
    tensors_free(&w);
}
END_TEST

/* A batch is a loop over its members, to the bit. */
START_TEST(batch_is_a_loop)
{
    struct assay_problem p = mid, one = mid;
    p.b = 3;
    one.b = 1;
    struct tensors t = tensors_new(&p, 24);
    struct answer a = attend((enum form)_i, &p, &t);
    for (int64_t n = 0; n < p.b; n++) {
        struct tensors w = { t.q + n * assay_problem_q_elems(&one),
                             t.k + n * assay_problem_k_elems(&one),
                             t.v + n * assay_problem_v_elems(&one) };
        struct answer b = attend((enum form)_i, &one, &w);
        size_t o = (size_t)assay_problem_o_elems(&one) * sizeof(double);
        size_t lse = (size_t)assay_problem_rows(&one) * sizeof(double);
        ck_assert(memcmp((char *)a.o + (size_t)n * o, b.o, o) == 0);
        ck_assert(memcmp((char *)a.lse + (size_t)n * lse, b.lse, lse) == 0);
        answer_free(&b);
    }
    answer_free(&a);
    tensors_free(&t);
}
END_TEST

/* ---- blocked against plain ---- */

/* Tokens around the tiles of 128 queries and 512 keys, both rectangles, GQA,
 * unequal widths, rows without a key, no keys at all. */
static const struct assay_problem shapes[] = {
    { 1, 1, 1, 1, 1, 1, 1, 0, 1 },
    { 1, 1, 1, 1, 513, 32, 32, 1, 0.2 },
    { 1, 2, 1, 63, 63, 64, 64, 1, 0.125 },
    { 1, 2, 2, 127, 129, 40, 24, 1, 0.15 },
    { 1, 4, 1, 128, 128, 64, 64, 0, 0.125 },
    { 2, 4, 2, 129, 127, 33, 65, 1, 0.17 },
    { 1, 1, 1, 511, 512, 16, 16, 1, 0.25 },
    { 1, 2, 1, 512, 511, 16, 48, 1, 0.25 },
    { 1, 1, 1, 513, 513, 128, 128, 1, 0.0883883 },
    { 1, 1, 1, 512, 1025, 24, 8, 1, 0.2 },
    { 1, 1, 1, 130, 1024, 24, 8, 0, 0.2 },
    { 1, 2, 2, 300, 40, 16, 16, 1, 0.25 },  /* 260 rows see nothing */
    { 1, 1, 1, 700, 513, 16, 16, 1, 0.25 }, /* 187 rows see nothing */
    { 2, 2, 1, 5, 0, 8, 8, 1, 0.3 },
    { 2, 2, 1, 5, 0, 8, 8, 0, 0.3 },
    { 1, 3, 3, 65, 600, 7, 3, 1, -0.4 },
    { 1, 1, 1, 100, 100, 64, 64, 1, 0 },
    { 1, 1, 1, 64, 300, 64, 64, 0, 3 }, /* peaked: scores to hundreds */
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

START_TEST(blocked_is_plain)
{
    const struct assay_problem *p = &shapes[_i];
    struct tensors t = tensors_new(p, 30 + (uint64_t)_i);
    struct answer right = attend(PLAIN, p, &t);
    double used[2];
    for (int form = F32; form <= F64; form++) {
        struct tolerance tol = tolerance_of(p, &t, form == F32 ? U32 : U64);
        struct answer a = attend((enum form)form, p, &t);
        expect_near(form_names[form], p, &a, &right, tol);
        used[form - F32] = worst_abs(assay_problem_o_elems(p), a.o, right.o) /
                           (tol.o > 0 ? tol.o : 1);
        for (int64_t r = 0; r < assay_problem_rows(p); r++) {
            /* dead rows are exact, and only they are -inf */
            bool dead = assay_problem_visible(p, r % p->nq) == 0;
            ck_assert((a.lse[r] == -INFINITY) == dead);
            int64_t at =
                assay_row_offset(p->nq, p->hq, p->dv, r / p->nq / p->hq,
                                 r % p->nq, r / p->nq % p->hq);
            for (int64_t c = 0; dead && c < p->dv; c++)
                ck_assert(a.o[at + c] == 0);
        }
        answer_free(&a);
    }
    printf("# blocked_is_plain %d: %.2f of the tolerance of O used in f32, "
           "%.2f in f64\n",
           _i, used[0], used[1]);
    answer_free(&right);
    tensors_free(&t);
}
END_TEST

START_TEST(threads_do_not_matter)
{
    const struct assay_problem *p = &shapes[_i];
    struct tensors t = tensors_new(p, 60);
    size_t o = (size_t)assay_problem_o_elems(p) * sizeof(double);
    size_t lse = (size_t)assay_problem_rows(p) * sizeof(double);
    for (int form = F32; form <= F64; form++) {
        struct answer one = attend((enum form)form, p, &t);
        for (int threads = 0; threads <= 3; threads++) {
            struct answer a = attend_threads((enum form)form, p, &t, threads);
            ck_assert_msg(
                memcmp(a.o, one.o, o) == 0 && memcmp(a.lse, one.lse, lse) == 0,
                "%s: other bits with %d threads", form_names[form], threads);
            answer_free(&a);
        }
        answer_free(&one);
    }
    tensors_free(&t);
}
END_TEST

/* Progress comes once a unit, in order, to the total. */
static void count_progress(void *context, int64_t done, int64_t total)
{
    int64_t *last = context;
    ck_assert_int_eq(done, *last + 1);
    ck_assert_int_le(done, total);
    *last = done == total ? -total : done;
}

START_TEST(progress)
{
    const struct assay_problem *p = &shapes[7];
    struct tensors t = tensors_new(p, 61);
    struct answer a = answer_new(p);
    int64_t last = 0;
    const struct assay_run run = { 2, count_progress, &last };
    assay_attention_f64(p, t.q, t.k, t.v, a.o, a.lse, &run, NULL);
    ck_assert_int_lt(last, 0);
    answer_free(&a);
    tensors_free(&t);
}
END_TEST

/* Everything from key `from` on becomes `value`: rows that do not see it keep
 * their bits, rows that do are spoilt if it is NaN. Keys are chosen inside
 * diagonal tiles, at their edges, and in later tiles. */
static void check_poison(enum form form, const struct assay_problem *p,
                         int64_t from, float value, bool in_k, bool in_v)
{
    struct tensors t = tensors_new(p, 70);
    struct answer clean = attend(form, p, &t);
    for (int64_t n = 0; n < p->b; n++)
        for (int64_t j = from; j < p->nk; j++)
            for (int64_t c = 0; c < p->hk * (p->dk > p->dv ? p->dk : p->dv);
                 c++) {
                if (in_k && c < p->hk * p->dk)
                    t.k[(n * p->nk + j) * p->hk * p->dk + c] = value;
                if (in_v && c < p->hk * p->dv)
                    t.v[(n * p->nk + j) * p->hk * p->dv + c] = value;
            }
    struct answer a = attend(form, p, &t);
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        int64_t i = r % p->nq, h = r / p->nq % p->hq, b = r / p->nq / p->hq;
        const double *o = a.o + assay_row_offset(p->nq, p->hq, p->dv, b, i, h);
        const double *was =
            clean.o + assay_row_offset(p->nq, p->hq, p->dv, b, i, h);
        if (assay_problem_visible(p, i) <= from) {
            ck_assert_msg(memcmp(o, was, (size_t)p->dv * sizeof *o) == 0 &&
                              same_double(a.lse[r], clean.lse[r]),
                          "%s: %g in %s%s from key %d on changes row %d, "
                          "which does not see it",
                          form_names[form], value, in_k ? "K" : "",
                          in_v ? "V" : "", (int)from, (int)i);
        } else if (isnan(value)) {
            ck_assert_msg(isnan(o[0]) && isnan(o[p->dv - 1]),
                          "%s: NaN in key %d does not reach row %d",
                          form_names[form], (int)from, (int)i);
            ck_assert(in_k == isnan(a.lse[r]));
        }
    }
    answer_free(&a);
    answer_free(&clean);
    tensors_free(&t);
}

START_TEST(poison_in_tiles)
{
    static const struct {
        struct assay_problem p;
        int64_t from[6];
    } cases[] = {
        { { 1, 2, 1, 200, 200, 24, 20, 1, 0.2 },
          { 1, 63, 100, 128, 150, 199 } },
        { { 1, 1, 1, 130, 600, 24, 33, 1, 0.2 },
          { 471, 500, 511, 512, 513, 599 } },
        { { 2, 1, 1, 140, 60, 8, 4, 1, 0.3 }, { 0, 1, 20, 47, 48, 59 } },
        { { 1, 1, 1, 129, 129, 128, 128, 1, 0.08 }, { 1, 64, 127, 128, 2, 3 } },
    };
    const float values[] = { NAN, INFINITY, -INFINITY, 0x1.fffffep127f };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (int f = 0; f < 6; f++)
            for (int x = 0; x < 4; x++)
                for (int where = 1; where < 4; where++)
                    check_poison((enum form)_i, &cases[n].p, cases[n].from[f],
                                 values[x], where & 1, where & 2);
}
END_TEST

/* ---- the error bar ---- */

struct bars {
    double o[16], lse[16];
};

/* Of an answer held in binary64: all its rows, or rounded to binary32 all the
 * same. */
static struct bars bars_of(enum form form, const struct assay_problem *p,
                           const struct tensors *t, const struct answer *a,
                           int64_t rows)
{
    struct bars bars;
    enum assay_status st;
    const int64_t n = assay_problem_o_elems(p);
    if (form == F64) {
        st = assay_error_bar_f64(p, t->q, t->k, t->v, a->o, a->lse, rows,
                                 bars.o, bars.lse, NULL, NULL);
    } else {
        float *o = must_alloc((size_t)n, sizeof *o);
        for (int64_t i = 0; i < n; i++)
            o[i] = (float)a->o[i];
        st = assay_error_bar_f32(p, t->q, t->k, t->v, o, a->lse, bars.o,
                                 bars.lse, NULL, NULL);
        free(o);
    }
    ck_assert_int_eq(st, ASSAY_OK);
    return bars;
}

static enum form bar_form(int i)
{
    return i % 2 ? F64 : F32;
}

START_TEST(bar_is_tiny)
{
    const struct assay_problem *p = &shapes[_i / 2];
    const enum form form = bar_form(_i);
    struct tensors t = tensors_new(p, 80);
    struct answer a = attend(form, p, &t);
    struct tolerance tol = tolerance_of(p, &t, form == F32 ? U32 : U64);
    struct bars bars = bars_of(form, p, &t, &a, 8);
    for (int64_t i = 0; i < p->b * p->hq; i++) {
        ck_assert_double_ge(bars.o[i], 0);
        ck_assert_double_le(bars.o[i], tol.o);
        ck_assert_double_ge(bars.lse[i], 0);
        ck_assert_double_le(bars.lse[i], tol.lse);
    }
    answer_free(&a);
    tensors_free(&t);
}
END_TEST

/* Every element and every LSE of head (b, h) off by a known amount: the bar
 * is the largest of them, for this head only. */
START_TEST(bar_covers_damage)
{
    const struct assay_problem p = { 2, 2, 1, 19, 23, 8, 6, 1, 0.3 };
    const enum form form = bar_form(_i);
    struct tensors t = tensors_new(&p, 81);
    struct tolerance tol = tolerance_of(&p, &t, form == F32 ? U32 : U64);
    for (int64_t bh = 0; bh < 4; bh++) {
        struct answer a = attend(form, &p, &t);
        double worst = 0;
        for (int64_t i = 0; i < p.nq; i++) {
            int64_t at = assay_row_offset(p.nq, p.hq, p.dv, bh / 2, i, bh % 2);
            for (int64_t c = 0; c < p.dv; c++) {
                double by = 1e-2 * values_normal(82, (uint64_t)(at + c));
                a.o[at + c] += by;
                worst = fabs(by) > worst ? fabs(by) : worst;
            }
            a.lse[bh * p.nq + i] -= 1e-3 * (double)(i + 1);
        }
        struct bars bars = bars_of(form, &p, &t, &a, p.nq);
        for (int64_t n = 0; n < 4; n++) {
            ck_assert_double_le(fabs(bars.o[n] - (n == bh ? worst : 0)), tol.o);
            ck_assert_double_le(fabs(bars.lse[n] - (n == bh ? 19e-3 : 0)),
                                tol.lse);
        }
        answer_free(&a);
    }
    tensors_free(&t);
}
END_TEST

/* First and last rows are among the sampled, however few; NaN and a dead row
 * with the wrong LSE show, wherever they are. */
START_TEST(bar_sees_single_rows)
{
    const struct assay_problem p = { 1, 1, 1, 40, 30, 8, 6, 1, 0.3 };
    const enum form form = bar_form(_i);
    const int64_t rows[] = { 0, 39 };
    struct tensors t = tensors_new(&p, 83);
    struct answer a = attend(form, &p, &t);
    struct tolerance tol = tolerance_of(&p, &t, form == F32 ? U32 : U64);
    for (int n = 0; n < 2; n++) {
        double *x = a.o + rows[n] * p.dv + 3, *l = a.lse + rows[n];
        const double was = *x, lse_was = *l;
        *x += 0.5;
        struct bars bars = bars_of(form, &p, &t, &a, 4);
        ck_assert_double_le(fabs(bars.o[0] - 0.5), tol.o);
        ck_assert_double_le(bars.lse[0], tol.lse);
        *x = NAN;
        bars = bars_of(form, &p, &t, &a, 4);
        ck_assert_msg(isnan(bars.o[0]), "NaN in row %d: bar %g", (int)rows[n],
                      bars.o[0]);
        *x = was;
        *l = NAN;
        bars = bars_of(form, &p, &t, &a, 4);
        ck_assert_msg(isnan(bars.lse[0]), "NaN LSE of row %d: bar %g",
                      (int)rows[n], bars.lse[0]);
        *l = 0;
        bars = bars_of(form, &p, &t, &a, 4);
        ck_assert_double_gt(bars.lse[0], 0.1); /* infinite: the row is dead */
        *l = lse_was;
    }
    answer_free(&a);
    tensors_free(&t);
}
END_TEST

/* Half of the sampled rows are those of the longest queries. */
START_TEST(bar_samples_long_queries)
{
    const struct assay_problem p = { 1, 2, 1, 60, 30, 8, 6, 0, 0.3 };
    const int64_t longest[] = { 17, 58, 31 }; /* of head 1, any order */
    struct tensors t = tensors_new(&p, 84);
    for (int n = 0; n < 3; n++)
        for (int64_t c = 0; c < p.dk; c++)
            t.q[assay_row_offset(p.nq, p.hq, p.dk, 0, longest[n], 1) + c] *=
                (float)(9 - n);
    for (int n = 0; n < 3; n++) {
        struct answer a = attend(F64, &p, &t);
        a.lse[p.nq + longest[n]] += 0.25;
        struct bars bars = bars_of(F64, &p, &t, &a, 6);
        ck_assert_double_eq_tol(bars.lse[1], 0.25, 1e-12);
        ck_assert_double_le(bars.lse[0], 1e-12);
        answer_free(&a);
    }
    tensors_free(&t);
}
END_TEST

static void add_hand(Suite *suite)
{
    TCase *c = tcase_create("hand");
    tcase_add_loop_test(c, four_keys, 0, N_FORMS);
    tcase_add_loop_test(c, no_keys, 0, 2 * N_FORMS);
    tcase_add_loop_test(c, no_queries, 0, 2 * N_FORMS);
    tcase_add_loop_test(c, bottom_right, 0, N_FORMS);
    tcase_add_loop_test(c, head_mapping, 0, N_FORMS);
    tcase_add_loop_test(c, scales, 0, N_FORMS);
    tcase_add_loop_test(c, poison_behind_the_mask, 0, N_FORMS);
    tcase_add_loop_test(c, natural_log, 0, N_FORMS);
    tcase_add_loop_test(c, dequantized, 0, N_FORMS);
    tcase_add_loop_test(c, special_scores, 0, N_FORMS);
    tcase_add_test(c, logsumexp);
    tcase_add_test(c, refuses_bad_problems);
    tcase_add_test(c, one_answer_only);
    suite_add_tcase(suite, c);
}

static void add_identities(Suite *suite)
{
    TCase *c = tcase_create("identity");
    tcase_add_loop_test(c, constant_v, 0, N_FORMS);
    tcase_add_loop_test(c, constant_added_to_scores, 0, 3 * N_FORMS);
    tcase_add_loop_test(c, permuted_keys, 0, N_FORMS);
    tcase_add_loop_test(c, doubled_keys, 0, N_FORMS);
    tcase_add_loop_test(c, batch_is_a_loop, 0, N_FORMS);
    suite_add_tcase(suite, c);
}

int main(void)
{
    Suite *suite = suite_create("attention");
    add_hand(suite);
    add_identities(suite);
    TCase *c = tcase_create("blocked");
    tcase_add_loop_test(c, blocked_is_plain, 0, N_SHAPES);
    tcase_add_loop_test(c, threads_do_not_matter, 0, N_SHAPES);
    tcase_add_test(c, progress);
    tcase_add_loop_test(c, poison_in_tiles, PLAIN, N_FORMS);
    suite_add_tcase(suite, c);

    c = tcase_create("bar");
    tcase_add_loop_test(c, bar_is_tiny, 0, 2 * N_SHAPES);
    tcase_add_loop_test(c, bar_covers_damage, 0, 2);
    tcase_add_loop_test(c, bar_sees_single_rows, 0, 2);
    tcase_add_test(c, bar_samples_long_queries);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
