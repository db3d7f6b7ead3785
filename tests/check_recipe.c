/* SPDX-License-Identifier: MIT
 *
 * ref/recipe.c, ref/emulate.c, ref/jitter.c: the quantizer byte for byte, the
 * emulation against a slow one written here, and the jitter against key tiles
 * that it has not seen.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/recipe.h"
#include "check_assay.h"
#include "check_values.h"
#include "golden/h5.h"
#include "golden/heads.h"

static const double U32 = 0x1p-24;

/* What validate/gate.def allows of the jitter of gain. */
static const double JITTERS_GAIN = 4;

static const struct assay_recipe *recipe_of(enum assay_recipe_id id)
{
    return assay_recipe_get(id);
}

/* ---- tables ---- */

START_TEST(tables)
{
    for (int i = 0; i < ASSAY_RECIPES; i++) {
        const struct assay_recipe *r = recipe_of((enum assay_recipe_id)i);
        printf("# tables: %s\n", r->name);
        ck_assert_int_eq(r->id, i);
        ck_assert_ptr_eq(assay_recipe_find(r->name), r);
        /* P lies in (0, 1] and must have a row format that holds it */
        ck_assert(assay_format_max(assay_format_get(r->p_format)) >= 1);
        const struct assay_softmax_form *form = assay_softmax_get(r->softmax);
        ck_assert_int_eq(form->id, r->softmax);
        ck_assert_int_ge(form->key_tile, 1);
        ck_assert_int_eq(assay_scale_get(assay_quantizer_get(r->q)->scale)->id,
                         assay_quantizer_get(r->q)->scale);
        ck_assert(r->about && form->about);
    }
    ck_assert_ptr_null(assay_recipe_find("fp9"));
    ck_assert_int_eq(recipe_of(ASSAY_RECIPE_E4M3)->p_format, ASSAY_E4M3FN);
    ck_assert_int_eq(recipe_of(ASSAY_RECIPE_BF16)->p_format, ASSAY_BF16);
    ck_assert_int_eq(assay_softmax_get(ASSAY_SOFTMAX_NOMINAL)->key_tile, 128);
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

/* ---- an emulation of one's own ---- */

/* Nearest even at the format's step, by division, for 0 <= p < 8. */
static double round_p(enum assay_format_id id, double p)
{
    static const struct {
        enum assay_format_id id;
        int man, least;
        double max;
    } shapes[] = {
        { ASSAY_BF16, 7, -126, 8 }, { ASSAY_F16, 10, -14, 8 },
        { ASSAY_E4M3FN, 3, -6, 8 }, { ASSAY_E4M3FNUZ, 3, -7, 8 },
        { ASSAY_E2M3, 3, 0, 7.5 },
    };
    int i = 0, e;
    while (shapes[i].id != id)
        i++;
    frexp(p, &e);
    e = p == 0 || e - 1 < shapes[i].least ? shapes[i].least : e - 1;
    double step = ldexp(1, e - shapes[i].man);
    return fmin(nearbyint(p / step) * step, shapes[i].max);
}

/* P of a tile that starts with a frame, each key (64 f + t) in the block of
 * its frame that bit 2 of t names; 2^(floor of log2 of the largest, less 2)
 * is a block's scale. */
static void round_blocks(int64_t n, const double *p, double *w)
{
    for (int64_t block = 0; block * 32 < n + 63; block++) {
        double top = 0;
        int e;
        for (int64_t j = 0; j < n; j++)
            if (j / 64 * 2 + (j / 4 & 1) == block)
                top = fmax(top, p[j]);
        frexp(top, &e);
        double scale = top == 0 ? 1 : ldexp(1, e - 3);
        for (int64_t j = 0; j < n; j++)
            if (j / 64 * 2 + (j / 4 & 1) == block)
                w[j] = round_p(ASSAY_E2M3, p[j] / scale) * scale;
    }
}

/* P of a tile as the recipe rounds it, with a relative error of all but a P
 * of 1, which is the maximum whatever its error. */
static void round_tile(const struct assay_recipe *r, int64_t n, double error,
                       const double *exact, double *w)
{
    double *p = must_alloc((size_t)n, sizeof *p);
    for (int64_t j = 0; j < n; j++)
        p[j] = exact[j] == 1 ? 1 : exact[j] * (1 + error);
    if (r->p_blocks)
        round_blocks(n, p, w);
    for (int64_t j = 0; j < n && !r->p_blocks; j++)
        w[j] = round_p(r->p_format, p[j]);
    free(p);
}

struct slow {
    double *o, lse;
    double allowed_o, allowed_lse; /* by rounding, see slow_row */
    bool flips;
};

static double norm(int64_t n, const float *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

/* One row of the nominal form: scores in binary64, maximum over the tiles so
 * far, P to binary32 and then to the recipe's format, sums of the rounded P.
 *
 * What binary32 may add: a score is off by u sqrt(dk) |q||k| at most, here
 * with the factor 8 of jitter.c, which moves P, and so LSE and O, in
 * proportion. A P within that of a rounding boundary may go the other way;
 * such rows are marked, and the whole step is allowed. */
static void slow_row(const struct assay_recipe *r,
                     const struct assay_problem *p, int64_t tile,
                     const float *q, const float *k, const float *v, double c,
                     int64_t n, struct slow *out)
{
    double m = -INFINITY, l = 0, flips = 0, flips_v = 0, mean_v = 0, k_top = 0;
    const bool whole = assay_softmax_get(r->softmax)->whole_sum;
    double *s = must_alloc((size_t)tile * 4, sizeof *s), *w = s + tile,
           *less = w + tile, *more = less + tile;
    memset(out->o, 0, (size_t)p->dv * sizeof *out->o);
    for (int64_t j = 0; j < n; j++) {
        double x = norm(p->dk, k + j * p->hk * p->dk);
        k_top = x > k_top ? x : k_top;
    }
    double noise = U32 * (8 * fabs(c) * M_LN2 * norm(p->dk, q) * k_top + 16);
    for (int64_t j0 = 0; j0 < n; j0 += tile) {
        int64_t end = n - j0 < tile ? n - j0 : tile;
        double top = m;
        for (int64_t j = 0; j < end; j++) {
            s[j] = 0;
            for (int64_t d = 0; d < p->dk; d++)
                s[j] += (double)q[d] * k[(j0 + j) * p->hk * p->dk + d];
            s[j] *= c;
            top = s[j] > top ? s[j] : top;
        }
        double alpha = exp2(m - top);
        m = top;
        l *= alpha, flips *= alpha, flips_v *= alpha, mean_v *= alpha;
        for (int64_t d = 0; d < p->dv; d++)
            out->o[d] *= alpha;
        for (int64_t j = 0; j < end; j++)
            s[j] = (float)exp2(s[j] - m);
        round_tile(r, end, 0, s, w);
        round_tile(r, end, -noise, s, less);
        round_tile(r, end, noise, s, more);
        for (int64_t j = 0; j < end; j++) {
            const float *vj = v + (j0 + j) * p->hk * p->dv;
            double nv = norm(p->dv, vj), step = fabs(more[j] - less[j]);
            l += whole ? s[j] : w[j];
            mean_v += w[j] * nv;
            flips += step;
            flips_v += step * nv;
            for (int64_t d = 0; d < p->dv; d++)
                out->o[d] += w[j] * vj[d];
        }
    }
    free(s);
    double own = 0;
    for (int64_t d = 0; d < p->dv; d++) {
        out->o[d] = l == 0 ? 0 : out->o[d] / l;
        own += out->o[d] * out->o[d];
    }
    own = sqrt(own);
    out->flips = flips > 0;
    out->lse = l == 0 ? -INFINITY : log(2) * m + log(l);
    out->allowed_lse = l == 0 ? 0 : (whole ? 0 : flips / l) + noise;
    out->allowed_o =
        l == 0 ? 0 : (flips_v + flips * own) / l + noise * (mean_v / l + own);
}

struct emulated {
    float *o;
    double *lse;
};

static struct emulated emulate(const struct assay_recipe *r,
                               const struct assay_problem *p,
                               const struct assay_payloads *x, int64_t tile)
{
    struct emulated e = {
        must_alloc((size_t)assay_problem_o_elems(p), sizeof(float)),
        must_alloc((size_t)assay_problem_rows(p), sizeof(double)),
    };
    const struct assay_run run = { .threads = 1 };
    struct assay_error err = { 0 };
    enum assay_status st =
        tile ? assay_recipe_emulate_tile(r, p, x, tile, e.o, e.lse, &run, &err)
             : assay_recipe_emulate(r, p, x, e.o, e.lse, NULL, &run, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
    return e;
}

static void emulated_free(struct emulated *e)
{
    free(e->o);
    free(e->lse);
}

/* Codes as values, with the scales of blocks alone. */
static float *raw_values(const struct assay_payload *x)
{
    float *to = must_alloc((size_t)x->count, sizeof *to);
    if (x->e8m0)
        assay_payload_values(x, to);
    else
        assay_format_decode(x->format, (size_t)x->count, x->codes, to);
    return to;
}

static double scale_of(const struct assay_payload *x)
{
    return x->scale == ASSAY_SCALE_TENSOR ? x->scales[0] : 1;
}

/* The scale of a channel of V, and the largest of a head. */
static double v_scale(const struct assay_problem *p,
                      const struct assay_payload *v, int64_t b, int64_t kv,
                      int64_t d)
{
    return v->scale == ASSAY_SCALE_CHANNEL
               ? v->scales[(b * p->hk + kv) * p->dv + d]
               : scale_of(v);
}

struct use {
    double o, lse; /* worst part of what is allowed */
    int64_t plain; /* rows with nothing near a boundary */
};

static void compare_slow(const struct assay_recipe *r,
                         const struct assay_problem *p,
                         const struct assay_payloads *x, int64_t tile,
                         struct use *use)
{
    struct emulated e = emulate(r, p, x, tile);
    float *q = raw_values(&x->q), *k = raw_values(&x->k),
          *v = raw_values(&x->v);
    double *o = must_alloc((size_t)p->dv, sizeof *o);
    const double c = r->scale_applied == ASSAY_APPLIED_Q
                         ? 1
                         : p->softmax_scale * scale_of(&x->q) *
                               scale_of(&x->k) * 1.4426950408889634;
    for (int64_t n = 0; n < assay_problem_rows(p); n++) {
        int64_t i = n % p->nq, h = n / p->nq % p->hq, b = n / p->nq / p->hq;
        int64_t kv = h / (p->hq / p->hk);
        struct slow s = { .o = o };
        slow_row(r, p, tile ? tile : 128,
                 q + assay_row_offset(p->nq, p->hq, p->dk, b, i, h),
                 k + assay_row_offset(p->nk, p->hk, p->dk, b, 0, kv),
                 v + assay_row_offset(p->nk, p->hk, p->dv, b, 0, kv), c,
                 assay_problem_visible(p, i), &s);
        const float *got = e.o + assay_row_offset(p->nq, p->hq, p->dv, b, i, h);
        double off = 0, vs = 0;
        for (int64_t d = 0; d < p->dv; d++) {
            double one = v_scale(p, &x->v, b, kv, d);
            off += (got[d] - one * o[d]) * (got[d] - one * o[d]);
            vs = fmax(vs, one);
        }
        off = sqrt(off);
        s.lse += x->lse_shift ? x->lse_shift[n] : 0;
        double off_lse = s.lse == e.lse[n] ? 0 : fabs(s.lse - e.lse[n]);
        ck_assert_msg(off <= vs * s.allowed_o && off_lse <= s.allowed_lse,
                      "%s, tile %d, row %d: O off by %g of %g, LSE by %g of "
                      "%g",
                      r->name, (int)tile, (int)n, off, vs * s.allowed_o,
                      off_lse, s.allowed_lse);
        use->plain += !s.flips;
        if (s.allowed_o > 0 && !s.flips) {
            use->o = fmax(use->o, off / (vs * s.allowed_o));
            use->lse = fmax(use->lse, off_lse / s.allowed_lse);
        }
    }
    emulated_free(&e);
    free(q), free(k), free(v), free(o);
}

static const struct assay_problem emulated_shapes[] = {
    { 1, 2, 1, 150, 333, 32, 16, ASSAY_MASK_NONE, 0.2 },
    { 1, 2, 1, 150, 333, 32, 16, ASSAY_MASK_CAUSAL, 0.2 },
    { 2, 2, 2, 90, 70, 24, 9, ASSAY_MASK_CAUSAL, 0.3 }, /* dead rows */
    { 1, 1, 1, 140, 400, 16, 16, ASSAY_MASK_NONE, 1 },  /* peaked */
};
enum { N_EMULATED = sizeof emulated_shapes / sizeof *emulated_shapes };

static struct assay_payloads random_payloads(const struct assay_recipe *r,
                                             const struct assay_problem *p,
                                             uint64_t seed)
{
    struct tensors t = tensors_new(p, seed);
    struct assay_payloads x;
    ck_assert_int_eq(
        assay_recipe_quantize(r, p, NULL, NULL, t.q, t.k, t.v, &x, NULL),
        ASSAY_OK);
    tensors_free(&t);
    return x;
}

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
    tensors_free(&t);
}

START_TEST(emulation_is_the_slow_one)
{
    const int64_t tiles[] = { 32, 48, 64, 100, 128, 192, 256, 0 };
    const struct assay_problem *p = &emulated_shapes[_i / ASSAY_RECIPES];
    const struct assay_recipe *r =
        recipe_of((enum assay_recipe_id)(_i % ASSAY_RECIPES));
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

START_TEST(default_tile)
{
    const struct assay_problem *p = &emulated_shapes[1];
    const struct assay_recipe *r = recipe_of((enum assay_recipe_id)_i);
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

/* ---- jitter ---- */

static struct assay_jitter jitter_new(const struct assay_problem *p)
{
    size_t n = (size_t)assay_problem_rows(p);
    return (struct assay_jitter){
        must_alloc(n, sizeof(float)),
        must_alloc(n, sizeof(float)),
        must_alloc((size_t)(p->b * p->hq), sizeof(float)),
    };
}

static void jitter_free(struct assay_jitter *j)
{
    free(j->o);
    free(j->lse);
    free(j->gain);
}

static struct emulated emulate_jitter(const struct assay_recipe *r,
                                      const struct assay_problem *p,
                                      const struct assay_payloads *x,
                                      int threads, struct assay_jitter *j)
{
    struct emulated e = {
        must_alloc((size_t)assay_problem_o_elems(p), sizeof(float)),
        must_alloc((size_t)assay_problem_rows(p), sizeof(double)),
    };
    const struct assay_run run = { .threads = threads };
    struct assay_error err = { 0 };
    enum assay_status st =
        assay_recipe_emulate(r, p, x, e.o, e.lse, j, &run, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
    return e;
}

START_TEST(jitter_changes_no_answer)
{
    const struct assay_problem *p = &emulated_shapes[1];
    const struct assay_recipe *r = recipe_of((enum assay_recipe_id)_i);
    struct assay_payloads x = random_payloads(r, p, 112);
    const size_t n = (size_t)assay_problem_rows(p);
    struct emulated plain = emulate(r, p, &x, 0);
    struct assay_jitter first = jitter_new(p);
    struct emulated e = emulate_jitter(r, p, &x, 1, &first);
    for (int threads = 1; threads <= 3; threads++) {
        struct assay_jitter j = jitter_new(p);
        struct emulated a = emulate_jitter(r, p, &x, threads, &j);
        ck_assert_mem_eq(a.o, plain.o,
                         (size_t)assay_problem_o_elems(p) * sizeof *a.o);
        ck_assert_mem_eq(a.lse, plain.lse, n * sizeof *a.lse);
        ck_assert_mem_eq(j.o, first.o, n * sizeof *j.o);
        ck_assert_mem_eq(j.lse, first.lse, n * sizeof *j.lse);
        ck_assert_mem_eq(j.gain, first.gain, 2 * sizeof *j.gain);
        emulated_free(&a);
        jitter_free(&j);
    }
    emulated_free(&plain);
    emulated_free(&e);
    jitter_free(&first);
    assay_payloads_free(&x);
}
END_TEST

START_TEST(dead_rows_do_not_jitter)
{
    struct assay_problem problem = emulated_shapes[2];
    const struct assay_problem *p = &problem;
    const struct assay_recipe *r = recipe_of((enum assay_recipe_id)_i);
    problem.dk = 32; /* every recipe takes that */
    struct assay_payloads x = random_payloads(r, p, 113);
    struct assay_jitter j = jitter_new(p);
    struct emulated e = emulate_jitter(r, p, &x, 1, &j);
    int dead = 0;
    for (int64_t n = 0; n < assay_problem_rows(p); n++)
        if (assay_problem_visible(p, n % p->nq) == 0) {
            ck_assert(j.o[n] == 0 && j.lse[n] == 0);
            ck_assert(e.lse[n] == -INFINITY);
            dead++;
        } else {
            ck_assert(j.o[n] > 0 && j.lse[n] > 0 && isfinite(j.o[n]));
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
    const struct assay_recipe *r = recipe_of((enum assay_recipe_id)(_i / 2));
    float zeros[300 * 8] = { 0 };
    struct assay_payloads x;
    ck_assert_int_eq(
        assay_recipe_quantize(r, &p, NULL, NULL, zeros, zeros, zeros, &x, NULL),
        ASSAY_OK);
    struct assay_jitter j = jitter_new(&p);
    struct emulated e = emulate_jitter(r, &p, &x, 1, &j);
    for (int64_t n = 0; n < assay_problem_o_elems(&p); n++)
        ck_assert(e.o[n] == 0);
    for (int64_t n = 0; n < assay_problem_rows(&p); n++) {
        if (p.nk == 0)
            ck_assert(e.lse[n] == -INFINITY && j.lse[n] == 0);
        else
            ck_assert_double_eq_tol(e.lse[n], 5.703782474656201, 1e-14);
        ck_assert(j.o[n] == 0 && j.lse[n] >= 0 && j.lse[n] < 1e-5);
    }
    ck_assert(j.gain[0] == 0 && j.gain[1] == 0);
    emulated_free(&e);
    jitter_free(&j);
    assay_payloads_free(&x);
}
END_TEST

/* Key tiles that the jitter's own variants do not have. */
static const int64_t held_out[] = { 33,  40,  56,  72,  88, 112,
                                    144, 176, 192, 208, 240 };
enum { N_HELD_OUT = sizeof held_out / sizeof *held_out };

struct figures {
    double o, lse, gain;     /* worst distance over jitter */
    double *far_o, *far_lse; /* per row, largest over the tiles */
};

static double row_distance(const struct assay_problem *p, int64_t n,
                           const float *a, const float *b)
{
    int64_t at = assay_row_offset(p->nq, p->hq, p->dv, n / p->nq / p->hq,
                                  n % p->nq, n / p->nq % p->hq);
    double sum = 0;
    for (int64_t c = at; c < at + p->dv; c++)
        sum += ((double)a[c] - b[c]) * ((double)a[c] - b[c]);
    return sqrt(sum);
}

/* Key 0 holds the maximum, so that no tile matters, and P of all others lies
 * just above a rounding boundary: a scale a few units of 2^-24 larger, well
 * within the noise of binary32, takes all of them down a step. The jitter must
 * know, though no variant of it goes there. */
START_TEST(boundaries_are_known)
{
    enum { NK = 200, DV = 4 };
    static const enum assay_recipe_id plain[] = { ASSAY_RECIPE_BF16,
                                                  ASSAY_RECIPE_E4M3 };
    const struct assay_recipe *r = recipe_of(plain[_i]);
    const double half_step =
        assay_format_epsilon(assay_format_get(r->p_format)) / 2;
    const double boundary = 0.5 * (1 + half_step);
    /* 448 is its own code, with scale 1, in both recipes */
    struct assay_problem p = { 1,
                               1,
                               1,
                               1,
                               NK,
                               1,
                               DV,
                               ASSAY_MASK_NONE,
                               -log(boundary * (1 + 4 * U32)) / 448 / 448 };
    float q[1] = { 448 }, k[NK], v[NK * DV];
    values_fill(120, NK * DV, v);
    for (int j = 0; j < NK; j++)
        k[j] = j == 0 ? 0 : -448;
    struct assay_payloads x;
    ck_assert_int_eq(
        assay_recipe_quantize(r, &p, NULL, NULL, q, k, v, &x, NULL), ASSAY_OK);
    struct assay_jitter j = jitter_new(&p);
    struct emulated e = emulate_jitter(r, &p, &x, 1, &j);
    p.softmax_scale *= 1 + 16 * U32;
    struct emulated a = emulate(r, &p, &x, 0);
    double o = row_distance(&p, 0, a.o, e.o), lse = fabs(a.lse[0] - e.lse[0]);
    /* all NK - 1 went down one step, half_step each; 0.54 is about P */
    ck_assert_double_gt(lse, half_step / 0.54 * 0.9);
    ck_assert_double_le(lse, ASSAY_JITTERS_LSE * (double)j.lse[0]);
    ck_assert_double_gt(o, 0);
    ck_assert_double_le(o, ASSAY_JITTERS_O * (double)j.o[0]);
    emulated_free(&e);
    emulated_free(&a);
    jitter_free(&j);
    assay_payloads_free(&x);
}
END_TEST

static double head_norm(const struct assay_problem *p, int64_t bh,
                        const float *o)
{
    double sum = 0;
    for (int64_t i = 0; i < p->nq; i++) {
        double x = norm(p->dv, o + assay_row_offset(p->nq, p->hq, p->dv,
                                                    bh / p->hq, i, bh % p->hq));
        sum += x * x;
    }
    return sqrt(sum);
}

/* 0 for no distance, whatever is allowed. */
static double part_of(double distance, double allowed)
{
    return distance == 0 ? 0 : distance / allowed;
}

static void absorb(const struct assay_problem *p, const struct emulated *e,
                   const struct emulated *a, const struct assay_jitter *j,
                   struct figures *f)
{
    for (int64_t n = 0; n < assay_problem_rows(p); n++) {
        double o = row_distance(p, n, a->o, e->o);
        double lse = a->lse[n] == e->lse[n] ? 0 : fabs(a->lse[n] - e->lse[n]);
        f->far_o[n] = fmax(f->far_o[n], o);
        f->far_lse[n] = fmax(f->far_lse[n], lse);
        f->o = fmax(f->o, part_of(o, j->o[n]));
        f->lse = fmax(f->lse, part_of(lse, j->lse[n]));
    }
    for (int64_t bh = 0; bh < p->b * p->hq; bh++)
        f->gain = fmax(
            f->gain,
            part_of(fabs(head_norm(p, bh, a->o) / head_norm(p, bh, e->o) - 1),
                    j->gain[bh]));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int64_t n, double *x)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 2];
}

static double median_float(int64_t n, const float *x)
{
    double *y = must_alloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i];
    double m = median(n, y);
    free(y);
    return m;
}

/* The emulated tile, and a softmax scale one step of binary32 to either side,
 * as a kernel has that multiplies its scales in another order: only P on a
 * rounding boundary goes another way. */
static void absorb_scales(const struct assay_case *c,
                          const struct assay_recipe *r,
                          const struct assay_payloads *x,
                          const struct emulated *e,
                          const struct assay_jitter *j)
{
    const int64_t n = assay_problem_rows(&c->problem);
    struct figures f = { .far_o = must_alloc((size_t)n, sizeof(double)),
                         .far_lse = must_alloc((size_t)n, sizeof(double)) };
    for (int step = -2; step <= 2; step++) {
        struct assay_problem p = c->problem;
        p.softmax_scale *= 1 + step * U32;
        struct emulated a = emulate(r, &p, x, 0);
        memset(f.far_o, 0, (size_t)n * sizeof(double));
        memset(f.far_lse, 0, (size_t)n * sizeof(double));
        absorb(&p, e, &a, j, &f);
        emulated_free(&a);
    }
    printf("# %s %s: other scales reach %.2f jitters of O, %.2f of LSE, %.2f "
           "of gain\n",
           c->name, r->name, f.o, f.lse, f.gain);
    ck_assert_msg(f.o <= ASSAY_JITTERS_O, "O: %g jitters", f.o);
    ck_assert_msg(f.lse <= ASSAY_JITTERS_LSE, "LSE: %g jitters", f.lse);
    ck_assert_msg(f.gain <= JITTERS_GAIN, "gain: %g jitters", f.gain);
    free(f.far_o), free(f.far_lse);
}

static void check_held_out(const struct assay_case *c,
                           const struct assay_recipe *r)
{
    const struct assay_problem *p = &c->problem;
    const int64_t n = assay_problem_rows(p);
    struct assay_inputs in;
    struct assay_payloads x;
    ck_assert_int_eq(assay_case_values(c, &in, NULL), ASSAY_OK);
    ck_assert_int_eq(
        assay_recipe_quantize(r, p, NULL, NULL, in.q, in.k, in.v, &x, NULL),
        ASSAY_OK);
    struct assay_jitter j = jitter_new(p);
    struct emulated e = emulate_jitter(r, p, &x, 1, &j);
    struct figures f = { .far_o = must_alloc((size_t)n, sizeof(double)),
                         .far_lse = must_alloc((size_t)n, sizeof(double)) };
    memset(f.far_o, 0, (size_t)n * sizeof(double));
    memset(f.far_lse, 0, (size_t)n * sizeof(double));
    for (int t = 0; t < N_HELD_OUT; t++) {
        if (r->p_blocks && held_out[t] % 64 != 0)
            continue;
        struct emulated a = emulate(r, p, &x, held_out[t]);
        absorb(p, &e, &a, &j, &f);
        emulated_free(&a);
    }
    absorb_scales(c, r, &x, &e, &j);
    double over_o = median_float(n, j.o) / median(n, f.far_o);
    double over_lse = median_float(n, j.lse) / median(n, f.far_lse);
    printf("# %s %s: held-out tiles reach %.2f jitters of O, %.2f of LSE, "
           "%.2f of gain; median jitter is %.1f and %.1f median distances\n",
           c->name, r->name, f.o, f.lse, f.gain, over_o, over_lse);
    ck_assert_msg(f.o <= ASSAY_JITTERS_O, "O: %g jitters", f.o);
    ck_assert_msg(f.lse <= ASSAY_JITTERS_LSE, "LSE: %g jitters", f.lse);
    ck_assert_msg(f.gain <= JITTERS_GAIN, "gain: %g jitters", f.gain);
    /* nor is it so wide that nothing would be caught */
    /* (P's blocks leave few tiles to be far off) */
    const double wide = r->p_blocks ? 60 : 30;
    ck_assert_msg(over_o <= wide, "O: median jitter is %g distances", over_o);
    /* sums of P before it is rounded hardly move at all */
    ck_assert_msg(over_lse <= wide || assay_softmax_get(r->softmax)->whole_sum,
                  "LSE: median jitter is %g distances", over_lse);
    emulated_free(&e);
    jitter_free(&j);
    free(f.far_o), free(f.far_lse);
    assay_payloads_free(&x);
    assay_inputs_free(&in);
}

START_TEST(held_out_tiles)
{
    static const char *const files[] = { "lm_causal_gqa", "mlm_bidir" };
    char path[4096];
    struct heads *heads;
    struct assay_error err = { 0 };
    const struct heads_options options = { 0 };
    snprintf(path, sizeof path, ASSAY_TOP_SRCDIR "/data/%s.safetensors",
             files[_i / ASSAY_RECIPES]);
    ck_assert_msg(heads_open(path, &options, &heads, &err) == ASSAY_OK, "%s",
                  err.text);
    ck_assert_uint_eq(heads_count(heads), 2);
    for (size_t n = 0; n < heads_count(heads); n++) {
        struct assay_case c;
        ck_assert_int_eq(heads_read(heads, n, &c, &err), ASSAY_OK);
        check_held_out(&c,
                       recipe_of((enum assay_recipe_id)(_i % ASSAY_RECIPES)));
        assay_case_free(&c);
    }
    heads_close(heads);
}
END_TEST

/* ---- vectors of an independent implementation ---- */

static const char *const vector_files[] = { "head_lm_dev", "head_mlm_dev",
                                            "synthetic_powers",
                                            "synthetic_zeros" };

/* A dataset whole, through a memory type of this machine's words. The files
 * are another tool's, without the hashes that h5_read_data asks for. */
static void *read_set(hid_t file, const char *name, hid_t type, size_t bytes,
                      struct h5_shape *shape)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    ck_assert_msg(set >= 0, "no dataset %s", name);
    hid_t space = H5Dget_space(set);
    shape->rank = H5Sget_simple_extent_ndims(space);
    ck_assert_int_le(shape->rank, H5_MAX_RANK);
    H5Sget_simple_extent_dims(space, shape->dims, NULL);
    void *data = must_alloc((size_t)h5_shape_count(shape), bytes);
    ck_assert_int_ge(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data),
                     0);
    H5Sclose(space);
    H5Dclose(set);
    return data;
}

struct vectors {
    hid_t file;
    struct assay_problem p;
    struct tensors t;
};

static float *read_bf16(hid_t file, const char *name, struct h5_shape *shape)
{
    uint16_t *words = read_set(file, name, H5T_NATIVE_UINT16, 2, shape);
    size_t n = (size_t)h5_shape_count(shape);
    float *x = must_alloc(n, sizeof *x);
    ck_assert_int_eq(shape->rank, 4);
    assay_format_decode(assay_format_get(ASSAY_BF16), n, words, x);
    free(words);
    return x;
}

/* False, with the reason printed, if the file is not there. */
static bool open_vectors(const char *name, struct vectors *x)
{
    const char *folder = assay_shared_dir();
    struct assay_error err = { 0 };
    struct h5_shape q, k, v;
    int64_t causal;
    char path[4096];
    snprintf(path, sizeof path, "%s/vectors/%s.h5", folder ? folder : "", name);
    if (!folder || access(path, R_OK) != 0) {
        printf("# vectors %s skipped: no shared folder with vectors/\n", name);
        return false;
    }
    h5_init();
    ck_assert_msg(h5_open_file(path, &x->file, &err) == ASSAY_OK, "%s",
                  err.text);
    ck_assert_msg(h5_read_int(path, x->file, "causal", &causal, &err) ==
                      ASSAY_OK,
                  "%s", err.text);
    x->t.q = read_bf16(x->file, "q.words", &q);
    x->t.k = read_bf16(x->file, "k.words", &k);
    x->t.v = read_bf16(x->file, "v.words", &v);
    x->p = (struct assay_problem){
        .b = (int64_t)q.dims[0],
        .hq = (int64_t)q.dims[2],
        .hk = (int64_t)k.dims[2],
        .nq = (int64_t)q.dims[1],
        .nk = (int64_t)k.dims[1],
        .dk = (int64_t)q.dims[3],
        .dv = (int64_t)v.dims[3],
        .mask = causal ? ASSAY_MASK_CAUSAL : ASSAY_MASK_NONE,
        .softmax_scale = assay_problem_default_scale((int64_t)q.dims[3]),
    };
    return true;
}

static void close_vectors(struct vectors *x)
{
    tensors_free(&x->t);
    H5Fclose(x->file);
}

static void expect_payload(const struct vectors *x, const char *name,
                           const struct assay_payload *payload)
{
    char codes_name[32], scale_name[32];
    struct h5_shape shape;
    snprintf(codes_name, sizeof codes_name, "%s.codes", name);
    snprintf(scale_name, sizeof scale_name, "%s.scale", name);
    uint8_t *codes = read_set(x->file, codes_name, H5T_NATIVE_UINT8, 1, &shape);
    ck_assert_int_eq(h5_shape_count(&shape), payload->count);
    float *scale = read_set(x->file, scale_name, H5T_NATIVE_FLOAT, 4, &shape);
    ck_assert_int_eq(h5_shape_count(&shape), 1);
    ck_assert_msg(scale[0] == payload->scales[0], "%s: scale %a, not %a", name,
                  payload->scales[0], scale[0]);
    for (int64_t i = 0; i < payload->count; i++)
        if (((const uint8_t *)payload->codes)[i] != codes[i])
            ck_abort_msg("%s: code %d is %02x, not %02x", name, (int)i,
                         ((const uint8_t *)payload->codes)[i], codes[i]);
    free(codes);
    free(scale);
}

START_TEST(vector_payloads)
{
    struct vectors x;
    struct assay_payloads out;
    if (!open_vectors(vector_files[_i], &x))
        return;
    ck_assert_int_eq(assay_recipe_quantize(recipe_of(ASSAY_RECIPE_E4M3), &x.p,
                                           NULL, NULL, x.t.q, x.t.k, x.t.v,
                                           &out, NULL),
                     ASSAY_OK);
    expect_payload(&x, "fp8_v", &out.v);
    expect_payload(&x, "fp8_q", &out.q);
    assay_payloads_free(&out);
    close_vectors(&x);
}
END_TEST

/* Answers of the bf16 recipe in the nominal form. Sums of binary32 differ, so
 * a P on a boundary may be rounded otherwise, which is within one jitter; a
 * tenth more, since the jitter may be the distance of a variant that took the
 * very same turn. */
static void compare_nominal(const struct vectors *x, const char *name)
{
    const struct assay_problem *p = &x->p;
    const struct assay_recipe *r = recipe_of(ASSAY_RECIPE_BF16);
    struct h5_shape shape;
    struct assay_payloads codes;
    ck_assert_int_eq(assay_recipe_quantize(r, p, NULL, NULL, x->t.q, x->t.k,
                                           x->t.v, &codes, NULL),
                     ASSAY_OK);
    struct assay_jitter j = jitter_new(p);
    struct emulated e = emulate_jitter(r, p, &codes, 1, &j);
    double *lse =
        read_set(x->file, "nominal.bf16.lse", H5T_NATIVE_DOUBLE, 8, &shape);
    ck_assert_int_eq(h5_shape_count(&shape), assay_problem_rows(p));
    double worst_lse = 0, worst_o = 0, part_lse = 0, part_o = 0;
    for (int64_t n = 0; n < assay_problem_rows(p); n++) {
        double off = fabs(lse[n] - e.lse[n]);
        ck_assert(!isnan(off));
        worst_lse = fmax(worst_lse, off);
        part_lse = fmax(part_lse, part_of(off, j.lse[n]));
    }
    float *o = read_set(x->file, "nominal.bf16.o", H5T_NATIVE_FLOAT, 4, &shape);
    int64_t *rows = read_set(x->file, "rows", H5T_NATIVE_INT64, 8, &shape);
    int64_t n_rows = (int64_t)shape.dims[0];
    for (int64_t n = 0; n < n_rows; n++)
        for (int64_t h = 0; h < p->hq; h++) {
            double off = 0;
            const float *got =
                e.o + assay_row_offset(p->nq, p->hq, p->dv, 0, rows[n], h);
            const float *right = o + (n * p->hq + h) * p->dv;
            for (int64_t c = 0; c < p->dv; c++)
                off +=
                    ((double)got[c] - right[c]) * ((double)got[c] - right[c]);
            off = sqrt(off);
            ck_assert(!isnan(off));
            worst_o = fmax(worst_o, off);
            part_o = fmax(part_o, part_of(off, j.o[h * p->nq + rows[n]]));
        }
    printf("# %s nominal.bf16: O within %.3g (%.2f jitters), LSE within %.3g "
           "(%.2f)\n",
           name, worst_o, part_o, worst_lse, part_lse);
    ck_assert_double_le(part_o, 1.1);
    ck_assert_double_le(part_lse, 1.1);
    free(lse), free(o), free(rows);
    jitter_free(&j);
    emulated_free(&e);
    assay_payloads_free(&codes);
}

START_TEST(vector_answers)
{
    struct vectors x;
    if (!open_vectors(vector_files[_i], &x))
        return;
    compare_nominal(&x, vector_files[_i]);
    close_vectors(&x);
}
END_TEST

static void add_quantizer(Suite *suite)
{
    TCase *c = tcase_create("quantizer");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, tables);
    tcase_add_test(c, reciprocal_then_multiply);
    tcase_add_test(c, zeros_have_scale_one);
    tcase_add_test(c, subnormal_amax);
    tcase_add_test(c, nan_is_kept);
    tcase_add_test(c, bf16_words);
    tcase_add_test(c, values);
    tcase_add_test(c, bad_problem);
    suite_add_tcase(suite, c);
}

static void add_emulation(Suite *suite)
{
    TCase *c = tcase_create("emulation");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, emulation_is_the_slow_one, 0,
                        N_EMULATED * ASSAY_RECIPES);
    tcase_add_loop_test(c, default_tile, 0, ASSAY_RECIPES);
    tcase_add_loop_test(c, jitter_changes_no_answer, 0, ASSAY_RECIPES);
    tcase_add_loop_test(c, dead_rows_do_not_jitter, 0, ASSAY_RECIPES);
    tcase_add_loop_test(c, zero_inputs, 0, 2 * ASSAY_RECIPES);
    tcase_add_loop_test(c, boundaries_are_known, 0, 2);
    tcase_add_loop_test(c, held_out_tiles, 0, 2 * ASSAY_RECIPES);
    suite_add_tcase(suite, c);
}

int main(void)
{
    Suite *suite = suite_create("recipe");
    add_quantizer(suite);
    add_emulation(suite);
    TCase *c = tcase_create("vectors");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, vector_payloads, 0, 4);
    tcase_add_loop_test(c, vector_answers, 0, 4);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
