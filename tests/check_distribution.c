/* SPDX-License-Identifier: MIT
 *
 * ref/distribution.c: what each distribution promises, measured on what it
 * made. Bounds are five standard errors where the text does not say else.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/distribution.h"
#include "assay/n_eff.h"
#include "assay/rotate.h"
#include "assay/smooth.h"
#include "check_assay.h"
#include "check_values.h"

static struct assay_problem square(int64_t b, int64_t hq, int64_t hk, int64_t n,
                                   int64_t d)
{
    return (struct assay_problem){
        b, hq, hk, n, n, d, d, ASSAY_MASK_NONE, 1 / sqrt((double)d)
    };
}

static struct tensors make(const char *name, const struct assay_problem *p,
                           uint64_t seed, enum assay_format_id word,
                           int threads)
{
    struct tensors t = { must_alloc((size_t)assay_problem_q_elems(p) + 1, 4),
                         must_alloc((size_t)assay_problem_k_elems(p) + 1, 4),
                         must_alloc((size_t)assay_problem_v_elems(p) + 1, 4) };
    const struct assay_run run = { .threads = threads };
    struct assay_error err = { 0 };
    ck_assert_msg(assay_distribution_fill(assay_distribution_find(name), NULL,
                                          p, seed, assay_format_get(word), t.q,
                                          t.k, t.v, &run, &err) == ASSAY_OK,
                  "%s", err.text);
    return t;
}

static const float *row(const float *x, int64_t n, int64_t h, int64_t d,
                        int64_t b, int64_t t, int64_t head)
{
    return x + ((b * n + t) * h + head) * d;
}

static double dot(int64_t d, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t c = 0; c < d; c++)
        sum += (double)x[c] * y[c];
    return sum;
}

/* ---- all of them ---- */

START_TEST(bits)
{
    const struct assay_distribution *row = assay_distribution_get(_i);
    struct assay_problem p = square(2, 4, 2, 256, 64);
    p.nq = 37;
    p.dv = 32;
    struct tensors a = make(row->name, &p, 5, ASSAY_BF16, 1);
    struct tensors b = make(row->name, &p, 5, ASSAY_BF16, 2);
    struct tensors c = make(row->name, &p, 6, ASSAY_BF16, 1);
    const size_t q = (size_t)assay_problem_q_elems(&p) * 4,
                 k = (size_t)assay_problem_k_elems(&p) * 4,
                 v = (size_t)assay_problem_v_elems(&p) * 4;
    ck_assert_mem_eq(a.q, b.q, q);
    ck_assert_mem_eq(a.k, b.k, k);
    ck_assert_mem_eq(a.v, b.v, v);
    ck_assert_int_eq(memcmp(a.v, c.v, v) != 0, _i != ASSAY_DISTRIBUTION_ZERO);
    for (size_t i = 0; i < q / 4; i++)
        ck_assert_uint_eq(bits_of(a.q[i]) & 0xffff, 0);
    for (size_t i = 0; i < v / 4; i++) {
        ck_assert_uint_eq(bits_of(a.v[i]) & 0xffff, 0);
        ck_assert(_i != ASSAY_DISTRIBUTION_ZERO || bits_of(a.v[i]) == 0);
    }
    tensors_free(&a);
    tensors_free(&b);
    tensors_free(&c);
}
END_TEST

/* kcommon alone opens the gate of K smoothing. */
START_TEST(gate)
{
    const struct assay_distribution *row = assay_distribution_get(_i);
    const struct assay_problem p = square(1, 4, 4, 1024, 64);
    struct tensors t = make(row->name, &p, 2, ASSAY_BF16, 1);
    float mean[4 * 64];
    bool open[4];
    const struct assay_k_mean out = { mean, NULL, open };
    ck_assert_int_eq(
        assay_k_mean_compute(&p, t.k, ASSAY_SMOOTHING_GATED, &out, NULL),
        ASSAY_OK);
    for (int h = 0; h < 4; h++)
        ck_assert_int_eq(open[h], _i == ASSAY_DISTRIBUTION_KCOMMON);
    tensors_free(&t);
}
END_TEST

/* One seed in another word is the same values rounded elsewhere. */
START_TEST(words)
{
    const struct assay_problem p = square(1, 2, 1, 64, 64);
    const struct tensors wide = make("peaked", &p, 3, ASSAY_F32, 1);
    const enum assay_format_id word[] = { ASSAY_BF16, ASSAY_F16 };
    for (int w = 0; w < 2; w++) {
        struct tensors t = make("peaked", &p, 3, word[w], 1);
        for (int64_t i = 0; i < assay_problem_q_elems(&p); i++) {
            const double ulp =
                assay_format_ulp(assay_format_get(word[w]), wide.q[i]);
            ck_assert_double_le(fabs((double)t.q[i] - wide.q[i]), ulp / 2);
        }
        tensors_free(&t);
    }
    struct tensors all = wide;
    tensors_free(&all);
}
END_TEST

/* ---- diffusion and its kin ---- */

static void spread(const struct assay_problem *p, const struct tensors *t,
                   double want)
{
    int above = 0, below = 0, rows = 0;
    for (int64_t i = 0; i < p->nq; i += p->nq / 64, rows++) {
        double sum = 0, sq = 0;
        for (int64_t j = 0; j < p->nk; j++) {
            const double s = dot(p->dk, row(t->q, p->nq, p->hq, p->dk, 0, i, 0),
                                 row(t->k, p->nk, p->hk, p->dk, 0, j, 0)) /
                             sqrt((double)p->dk);
            sum += s;
            sq += s * s;
        }
        const double n = (double)p->nk;
        const double is = sqrt((sq - sum * sum / n) / (n - 1));
        above += is > want * 1.001;
        below += is < want * 0.999;
    }
    /* bf16 moves a deviation by less than 0.1 % */
    ck_assert_int_eq(rows, 64);
    ck_assert_int_le(above, 32);
    ck_assert_int_le(below, 32);
}

/* Rows i and j of a head correlate by rho^2 over channels that are scaled by
 * the head's own: E = rho^2 sum of channel^2. The mean over pairs i, j of
 * distinct rows is (|sum x|^2 - sum |x|^2) / (n (n - 1)). */
static double shared_part(int64_t n, int64_t h, int64_t d, const float *x)
{
    double sum[64] = { 0 }, square = 0, of_sum = 0;
    for (int64_t t = 0; t < n; t++)
        for (int64_t c = 0; c < d; c++) {
            const double y = x[t * h * d + c];
            sum[c] += y;
            square += y * y;
        }
    for (int64_t c = 0; c < d; c++)
        of_sum += sum[c] * sum[c];
    return (of_sum - square) / (double)(n - 1) / square;
}

START_TEST(diffusion)
{
    const struct assay_problem p = square(1, 2, 2, 2048, 64);
    struct tensors t = make("diffusion", &p, 4, ASSAY_BF16, 2);
    spread(&p, &t, 2.2);
    /* One draw of channels, exp(0.32 N), weighs 64 squares of the shared part:
     * deviation of the weighted mean sqrt((2 + e^0.41 - 1) / 64) = 0.2. */
    for (int64_t h = 0; h < 2; h++) {
        const double q = shared_part(p.nq, 2, 64, t.q + h * 64),
                     k = shared_part(p.nk, 2, 64, t.k + h * 64);
        ck_assert_double_eq_tol(q, 0.45 * 0.45, 0.45 * 0.45 * 0.5);
        ck_assert_double_eq_tol(k, 0.40 * 0.40, 0.40 * 0.40 * 0.5);
    }
    tensors_free(&t);
}
END_TEST

/* How many tokens or channels of V are above so many times the mean one. */
static int outliers(int64_t n, int64_t step, int64_t m, int64_t inner,
                    const float *v, double above)
{
    int count = 0;
    double *size = must_alloc((size_t)n, sizeof *size), mean = 0;
    for (int64_t i = 0; i < n; i++) {
        size[i] = 0;
        for (int64_t j = 0; j < m; j++)
            size[i] += fabs((double)v[i * step + j * inner]);
        mean += size[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++)
        count += size[i] > above * mean;
    free(size);
    return count;
}

/* Hot channels are twice as large, over both heads, hot tokens 4 (2.5) times;
 * the channel scales themselves vary by exp(0.16 N), and by exp(0.45 N) at most
 * 3.5 in transformer, where only tokens can be told. */
START_TEST(hot_values)
{
    const struct assay_problem p = square(1, 2, 2, 2048, 64);
    struct tensors t = make("diffusion", &p, 8, ASSAY_BF16, 2);
    ck_assert_int_eq(outliers(2048, 128, 128, 1, t.v, 2.5), 2048 / 256);
    ck_assert_int_eq(outliers(64, 1, 4096, 64, t.v, 1.35), 64 / 16);
    tensors_free(&t);
    t = make("transformer", &p, 8, ASSAY_BF16, 2);
    ck_assert_int_eq(outliers(2048, 128, 128, 1, t.v, 1.9), 2048 / 128);
    tensors_free(&t);
}
END_TEST

/* Q and K of a token share 0.35 N: their dot product is 0.35^2 d and more,
 * that of other tokens is around 0. Channel scales have E c^2 <= e^0.245 =
 * 1.28, so a product of channels has a variance below (1.28 + 0.13)^2. */
START_TEST(transformer)
{
    const struct assay_problem p = square(1, 2, 2, 2048, 64);
    struct tensors t = make("transformer", &p, 1, ASSAY_BF16, 2);
    double same = 0, other = 0;
    for (int64_t i = 0; i < 2047; i++) {
        same += dot(64, t.q + i * 128, t.k + i * 128) / 2047;
        other += dot(64, t.q + i * 128, t.k + (i + 1) * 128) / 2047;
    }
    const double bound = 5 * sqrt(64 * 1.41 * 1.41 * 1.5 / 2047);
    ck_assert_double_eq_tol(same, 0.35 * 0.35 * 64, bound);
    ck_assert_double_eq_tol(other, 0, bound);
    tensors_free(&t);
}
END_TEST

/* Keys 0 to 3 carry 12 g and queries 3 g: those products are 36 higher. */
START_TEST(sink)
{
    const struct assay_problem p = square(1, 1, 1, 2048, 64);
    struct tensors t = make("sink", &p, 1, ASSAY_BF16, 2);
    for (int64_t j = 0; j < 6; j++) {
        double mean = 0;
        for (int64_t i = 0; i < p.nq; i++)
            mean += dot(64, t.q + i * 64, t.k + j * 64) / (double)p.nq;
        /* 3 g of all queries on a key's own g part: 3 * 1.2 N */
        ck_assert_double_eq_tol(mean, j < 4 ? 36 : 0, 5 * 3 * 1.2);
    }
    tensors_free(&t);
}
END_TEST

/* The keys' common part is 16 mean lengths of what is left without it. */
START_TEST(kcommon)
{
    const struct assay_problem p = square(1, 1, 1, 512, 64);
    struct tensors t = make("kcommon", &p, 1, ASSAY_F32, 2),
                   u = make("diffusion", &p, 1, ASSAY_F32, 2);
    double length = 0, common = 0;
    for (int64_t j = 0; j < 512; j++)
        length += sqrt(dot(64, u.k + j * 64, u.k + j * 64)) / 512;
    for (int64_t i = 0; i < 512 * 64; i++) {
        const float add = t.k[i] - u.k[i];
        ck_assert_float_eq_tol(add, t.k[i % 64] - u.k[i % 64], 1e-4f);
        common += (double)add * add / 512;
        ck_assert(t.q[i] == u.q[i] && t.v[i] == u.v[i]);
    }
    ck_assert_double_eq_tol(sqrt(common), 16 * length, 1e-4 * 16 * length);
    tensors_free(&t);
    tensors_free(&u);
}
END_TEST

START_TEST(padded)
{
    const struct assay_problem p = square(1, 8, 2, 64, 64);
    struct tensors t = make("padded", &p, 1, ASSAY_BF16, 2);
    for (int64_t i = 0; i < 64; i++) {
        for (int64_t h = 0; h < 8; h++) {
            const float *x = row(t.q, 64, 8, 64, 0, i, h);
            ck_assert_int_eq(dot(64, x, x) == 0, h >= 6);
        }
        for (int64_t h = 0; h < 2; h++) {
            const float *x = row(t.k, 64, 2, 64, 0, i, h),
                        *y = row(t.v, 64, 2, 64, 0, i, h);
            ck_assert_int_eq(dot(64, x, x) == 0, h >= 1);
            ck_assert_int_eq(dot(64, y, y) == 0, h >= 1);
        }
    }
    tensors_free(&t);
}
END_TEST

/* ---- few keys ---- */

/* Scores of hot keys are row * gap; noise on both sides: the dot of 0.35 N
 * with amp u, of amp u with 0.1 N and of both noises. Mean over 128 keys. */
START_TEST(hot_keys)
{
    const bool late = _i;
    const double gap = late ? 40 : 16, least = late ? 1 : 0.4;
    const struct assay_problem p = square(1, 1, 1, 512, 128);
    struct tensors t =
        make(late ? "latepeak" : "underflow", &p, 1, ASSAY_BF16, 2);
    const double root = sqrt(128), amp = sqrt(gap * root);
    const double noise = 6 * amp * 0.36 / root;
    double low = INFINITY, high = 0;
    for (int64_t i = 0; i < 512; i++) {
        double hot = 0, cold = 0;
        for (int64_t j = 0; j < 512; j++) {
            const double s = dot(128, t.q + i * 128, t.k + j * 128) / root;
            *((late ? j >= 384 : j < 128) ? &hot : &cold) += s;
        }
        ck_assert_double_eq_tol(cold / 384, 0, 1);
        low = fmin(low, hot / 128);
        high = fmax(high, hot / 128);
    }
    ck_assert_double_ge(low, gap * least - noise);
    ck_assert_double_le(high, gap + noise);
    /* and the lowest of 512 rows is near the least */
    ck_assert_double_le(low, gap * least + noise);
    ck_assert_double_ge(high, gap - noise);
    tensors_free(&t);
}
END_TEST

/* In the rotated domain a tile's best score is 12 octaves above the last one's
 * and half of that for odd groups of queries: the sum of states is the tile. */
START_TEST(maxstair)
{
    const struct assay_problem p = square(1, 1, 1, 512, 128);
    struct tensors t = make("maxstair", &p, 1, ASSAY_BF16, 2);
    float k[128];
    for (int64_t j = 0; j < 512; j++) {
        int64_t up = j / 128;
        ck_assert_int_eq(assay_rotate(128, 1, t.k + j * 128, 1, NULL, k, NULL),
                         ASSAY_OK);
        for (int64_t c = 0; c < 128; c++) {
            const double want = c % 32 == 31 ? 7 : up-- > 0 ? 1 : 0;
            up += c % 32 == 31; /* an anchor takes no step */
            ck_assert_double_eq_tol(k[c], j % 2 ? -want : want, 0.05);
        }
        for (int64_t i = 0; i < 512; i += 100) {
            const double octaves = dot(128, t.q + i * 128, t.k + j * 128) *
                                   p.softmax_scale * 1.4426950408889634;
            const double step = i / 128 % 2 ? 6 : 12;
            const double want = step * (double)(28 + j / 128);
            ck_assert_double_eq_tol(octaves, j % 2 ? -want : want, 0.02 * want);
        }
    }
    tensors_free(&t);
}
END_TEST

/* Pairs of keys: a query's two best are a pair, n_eff and gaps as derived. */
START_TEST(tiebreak)
{
    struct assay_problem p = square(1, 4, 2, 256, 128);
    struct tensors t = make("tiebreak", &p, 1, ASSAY_F32, 2);
    const double ratio = pow(64, 1. / 5);
    for (int64_t i = 0; i < 256; i += 5)
        for (int64_t h = 0; h < 4; h++) {
            const int64_t pair = (i + h % 2) % 128;
            const double gap = 24. / 256 * pow(ratio, (double)(pair % 6));
            for (int64_t j = 0; j < 256; j++) {
                const double s = dot(128, row(t.q, 256, 4, 128, 0, i, h),
                                     row(t.k, 256, 2, 128, 0, j, h / 2)) /
                                 sqrt(128);
                if (j / 2 == pair)
                    ck_assert_double_eq_tol(s, j % 2 ? 24 - gap : 24, 1e-4);
                else
                    ck_assert_double_lt(s, 16); /* 5 deviations of 3 */
            }
        }
    tensors_free(&t);
}
END_TEST

/* The key that a query looks for, by hand; the second of two heads looks for
 * the next of those that are seen too, both for the first that is not. */
static void needle_at(struct assay_problem p, const int64_t *wanted)
{
    struct tensors t = make("needle", &p, 7, ASSAY_F32, 2);
    for (int64_t i = 0; i < p.nq; i++)
        for (int64_t h = 0; h < p.hq; h++)
            for (int64_t j = 0; j < p.nk; j++) {
                const int64_t seen =
                    p.mask == ASSAY_MASK_NONE ? p.nk : i + 1 + p.nk - p.nq;
                const double s = dot(128, row(t.q, p.nq, p.hq, 128, 0, i, h),
                                     row(t.k, p.nk, p.hk, 128, 0, j, h / 2)) /
                                 sqrt(128);
                const bool next =
                    h % 2 && seen > 1 && j == (wanted[i] + 1) % seen;
                if (seen > 0 && (j == wanted[i] || next || j == seen))
                    ck_assert_double_eq_tol(s, 10,
                                            h % 2 || seen < p.nk ? 3 : 1e-4);
                else if (seen > 0)
                    ck_assert_double_lt(s, 6);
            }
    tensors_free(&t);
}

/* Every key is looked for, the first and the last also where there are fewer
 * queries. */
START_TEST(needle)
{
    struct assay_problem p = square(1, 4, 2, 5, 128);
    needle_at(p, (const int64_t[]){ 0, 1, 2, 3, 4 });
    p.mask = ASSAY_MASK_CAUSAL;
    needle_at(p, (const int64_t[]){ 0, 1, 2, 3, 4 });
    p.nq = 3;
    needle_at(p, (const int64_t[]){ 0, 2, 4 });
    p.nq = 1;
    needle_at(p, (const int64_t[]){ 4 });
    p.nq = 7; /* the first two see nothing */
    needle_at(p, (const int64_t[]){ 0, 0, 0, 1, 2, 3, 4 });
    p.mask = ASSAY_MASK_NONE;
    needle_at(p, (const int64_t[]){ 0, 0, 1, 2, 2, 3, 4 });
}
END_TEST

static double mean_n_eff(const char *name, int64_t h, int64_t n, int64_t every)
{
    const struct assay_problem p = square(1, h, h, n, 128);
    struct tensors t = make(name, &p, 1, ASSAY_BF16, 0);
    const int64_t rows = h * assay_n_eff_rows(&p, every);
    double *x = must_alloc((size_t)rows, sizeof *x), mean = 0;
    ck_assert_int_eq(assay_n_eff(&p, t.q, t.k, every, x, NULL, NULL), ASSAY_OK);
    for (int64_t i = 0; i < rows; i++)
        mean += x[i] / (double)rows;
    free(x);
    tensors_free(&t);
    return mean;
}

/* Published by ROCm/aiter for 8 heads of 8192 tokens: 191, 13 and 1.6. Heads
 * differ: six seeds of diffusion gave 153 to 198, of peaked 12.1 to 14.6. */
START_TEST(n_eff)
{
    const double spread_out = mean_n_eff("diffusion", 8, 8192, 127),
                 peaked = mean_n_eff("peaked", 8, 8192, 127);
    ck_assert_double_eq_tol(spread_out, 191, 50);
    ck_assert(peaked > 10 && peaked < 20);
    ck_assert_double_eq_tol(mean_n_eff("tiebreak", 2, 8192, 61), 1.6, 0.02);
    ck_assert_double_eq_tol(mean_n_eff("tiebreak", 1, 12, 1), 1.6, 0.02);
}
END_TEST

/* ---- refused ---- */

static const struct {
    const char *name;
    int64_t nk, dk;
    double scale, gap;
    const char *says;
} bad[] = {
    { "maxstair", 100, 128, 1, 0, "not 100 keys" },
    { "maxstair", 128, 96, 1, 0, "power of two from 32 to 32768, not 96" },
    { "maxstair", 128, 16, 1, 0, "not 16" },
    { "maxstair", 157 * 128, 32, 1, 0,
      "for 156 tiles of 128 keys, not for 157" },
    { "maxstair", 128, 128, 0, 0, "softmax scale is 0" },
    { "tiebreak", 11, 128, 1, 0, "at least 12 keys, two for each of six" },
    { "diffusion", -1, 128, 1, 0, "keys is -1" },
    { "underflow", 5, 128, 1, -1, "gap -1" },
    { "underflow", 5, 128, 1, NAN, "gap nan" },
};

START_TEST(refused)
{
    const struct assay_problem p = {
        1, 1, 1, 1, bad[_i].nk, bad[_i].dk, 8, ASSAY_MASK_NONE, bad[_i].scale
    };
    const struct assay_distribution_values v = { .gap = bad[_i].gap };
    struct assay_error err = { 0 };
    ck_assert_int_ne(assay_distribution_check(
                         assay_distribution_find(bad[_i].name), &v, &p, &err),
                     ASSAY_OK);
    ck_assert_msg(strstr(err.text, bad[_i].says) != NULL, "%s", err.text);
}
END_TEST

enum { FLANK = 32, WIDEST = 128 * 32 };

struct flanked {
    float x[FLANK + WIDEST + FLANK];
};

static void flank(struct flanked *of)
{
    for (size_t i = 0; i < sizeof of->x / sizeof *of->x; i++)
        of->x[i] = NAN;
}

static void expect_inside(const struct flanked *of, int64_t n)
{
    for (int64_t i = 0; i < FLANK; i++)
        ck_assert(isnan(of->x[i]) && isnan(of->x[FLANK + n + i]));
    for (int64_t i = 0; i < n; i++)
        ck_assert(isfinite(of->x[FLANK + i]));
}

static void fill_flanked(const struct assay_distribution *row,
                         const struct assay_problem *p)
{
    static struct flanked q, k, v;
    const struct assay_run run = { .threads = 2 };
    flank(&q);
    flank(&k);
    flank(&v);
    if (assay_distribution_check(row, NULL, p, NULL) != ASSAY_OK)
        return;
    ck_assert(assay_distribution_fill(
                  row, NULL, p, 1, assay_format_get(ASSAY_BF16), q.x + FLANK,
                  k.x + FLANK, v.x + FLANK, &run, NULL) == ASSAY_OK);
    expect_inside(&q, assay_problem_q_elems(p));
    expect_inside(&k, assay_problem_k_elems(p));
    expect_inside(&v, assay_problem_v_elems(p));
}

/* No queries, no keys, one key; a width of one: nothing is read or written
 * beside the tensors. */
START_TEST(small)
{
    for (int64_t nk = 0; nk <= 128; nk += nk < 2 ? 1 : 126)
        for (int64_t nq = 0; nq < 2; nq++)
            for (int64_t d = 1; d <= 32; d += 31) {
                struct assay_problem p = square(1, 1, 1, nk, d);
                p.nq = nq;
                fill_flanked(assay_distribution_get(_i), &p);
            }
}
END_TEST

START_TEST(other_words)
{
    const struct assay_problem p = square(1, 1, 1, 1, 1);
    float x[3];
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_distribution_fill(assay_distribution_get(0), NULL,
                                             &p, 1,
                                             assay_format_get(ASSAY_E4M3FN), x,
                                             x + 1, x + 2, NULL, &err),
                     ASSAY_USAGE);
    ck_assert(strstr(err.text, "not e4m3fn") != NULL);
    ck_assert_ptr_null(assay_distribution_find("gauss"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("distribution");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, bits, 0, ASSAY_DISTRIBUTIONS);
    tcase_add_loop_test(t, gate, 0, ASSAY_DISTRIBUTIONS);
    tcase_add_loop_test(t, small, 0, ASSAY_DISTRIBUTIONS);
    tcase_add_test(t, words);
    tcase_add_test(t, diffusion);
    tcase_add_test(t, hot_values);
    tcase_add_test(t, transformer);
    tcase_add_test(t, sink);
    tcase_add_test(t, kcommon);
    tcase_add_test(t, padded);
    tcase_add_loop_test(t, hot_keys, 0, 2);
    tcase_add_test(t, maxstair);
    tcase_add_test(t, tiebreak);
    tcase_add_test(t, needle);
    tcase_add_test(t, n_eff);
    tcase_add_loop_test(t, refused, 0, (int)(sizeof bad / sizeof *bad));
    tcase_add_test(t, other_words);
    suite_add_tcase(s, t);
    return assay_check_main(s);
}
