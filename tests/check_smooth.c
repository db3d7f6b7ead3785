/* SPDX-License-Identifier: MIT
 *
 * ref/smooth.c: which keys are sampled, when the gate opens, what is put back
 * into the LSE; and the figures of an independent implementation.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/attention.h"
#include "assay/smooth.h"
#include "check_assay.h"
#include "check_values.h"
#include "vectors.h"

static struct assay_problem keys_of(int64_t b, int64_t nk, int64_t hk,
                                    int64_t dk)
{
    return (struct assay_problem){ .b = b,
                                   .hq = hk,
                                   .hk = hk,
                                   .nq = 1,
                                   .nk = nk,
                                   .dk = dk,
                                   .dv = 1,
                                   .softmax_scale = 1 };
}

static void compute(const struct assay_problem *p, const float *k,
                    enum assay_smoothing smoothing, float *mean, double *ratio,
                    bool *gate)
{
    const struct assay_k_mean out = { mean, ratio, gate };
    struct assay_error err = { 0 };
    ck_assert_msg(assay_k_mean_compute(p, k, smoothing, &out, &err) == ASSAY_OK,
                  "%s", err.text);
}

/* k[j, c] = noise + common. */
static float *keys_new(const struct assay_problem *p, uint64_t seed,
                       float common)
{
    const int64_t n = assay_problem_k_elems(p);
    float *k = must_alloc((size_t)n, sizeof *k);
    values_fill(seed, (size_t)n, k);
    for (int64_t i = 0; i < n; i++)
        k[i] += common;
    return k;
}

/* ---- the sample ---- */

static const struct {
    int64_t nk, stride, keys;
} samples[] = {
    { 1, 1, 1 },       { 2047, 1, 2047 }, { 2048, 1, 2048 }, { 2049, 1, 2049 },
    { 4095, 1, 4095 }, { 4096, 2, 2048 }, { 4097, 2, 2049 }, { 6000, 2, 3000 },
    { 6143, 2, 3072 }, { 6144, 3, 2048 }, { 6145, 3, 2049 },
};

/* Key j holds j in channel 0, and in channel 1 a one where it is sampled and
 * NaN where not. */
START_TEST(strides)
{
    const int64_t nk = samples[_i].nk, stride = samples[_i].stride;
    const struct assay_problem p = keys_of(1, nk, 1, 2);
    float *k = must_alloc((size_t)(2 * nk), sizeof *k), mean[2];
    for (int64_t j = 0; j < nk; j++) {
        k[2 * j] = (float)j;
        k[2 * j + 1] = j % stride == 0 ? 1 : NAN;
    }
    compute(&p, k, ASSAY_SMOOTHING_FORCED, mean, NULL, NULL);
    const double right = (double)stride * (double)(samples[_i].keys - 1) / 2;
    ck_assert_msg(mean[0] == (float)right && mean[1] == 1, "%g, not %g",
                  mean[0], right);
    free(k);
}
END_TEST

/* Sums in long double: the mean is the nearest, or next to it where the two
 * sums fall on different sides of a midpoint. */
START_TEST(means_and_ratios)
{
    enum { B = 2, H = 3, D = 200, N = 4500, STRIDE = 2 };
    const struct assay_problem p = keys_of(B, N, H, D);
    float *k = keys_new(&p, 1, 0.5f), mean[B * H * D];
    double ratio[B * H];
    bool gate[B * H];
    compute(&p, k, ASSAY_SMOOTHING_FORCED, mean, ratio, gate);
    for (int64_t head = 0; head < B * H; head++) {
        long double mean_sq = 0, key_sq = 0;
        for (int64_t c = 0; c < D; c++) {
            long double sum = 0, n = N / STRIDE;
            for (int64_t j = 0; j < N; j += STRIDE) {
                float x = k[((head / H * N + j) * H + head % H) * D + c];
                sum += x;
                key_sq += (long double)x * x / n;
            }
            const float right = (float)(sum / n);
            mean_sq += (long double)right * right;
            ck_assert(fabsf(mean[head * D + c] - right) <=
                      nextafterf(right, INFINITY) - right);
        }
        ck_assert_double_eq_tol(ratio[head], (double)(mean_sq / key_sq), 1e-13);
        ck_assert(!gate[head]);
    }
    free(k);
}
END_TEST

/* ---- the gate ---- */

static void all_zero(int64_t n, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        ck_assert(x[i] == 0);
}

START_TEST(noise_never_opens)
{
    static const int64_t lengths[] = { 16, 100, 2048, 5000 };
    enum { B = 2, H = 3, D = 128 };
    const struct assay_problem p = keys_of(B, lengths[_i], H, D);
    float mean[B * H * D];
    double ratio[B * H];
    bool gate[B * H];
    for (uint64_t seed = 0; seed < 5; seed++) {
        float *k = keys_new(&p, 10 + seed, 0);
        compute(&p, k, ASSAY_SMOOTHING_GATED, mean, ratio, gate);
        all_zero(B * H * D, mean);
        for (int head = 0; head < B * H; head++)
            ck_assert(!gate[head] && ratio[head] < 0.1);
        free(k);
    }
}
END_TEST

/* common^2 / (common^2 + 1) is 0.9 and 0.5; one head of six is shared. */
START_TEST(common_direction_opens)
{
    enum { B = 2, H = 3, D = 128, N = 300, SHARED = 4 };
    const struct assay_problem p = keys_of(B, N, H, D);
    for (int open = 0; open < 2; open++) {
        float *k = keys_new(&p, 20, 0), mean[B * H * D], plain[B * H * D];
        double ratio[B * H];
        bool gate[B * H];
        for (int64_t j = 0; j < N; j++)
            for (int64_t c = 0; c < D; c++)
                k[((SHARED / H * N + j) * H + SHARED % H) * D + c] +=
                    (c % 2 ? 1 : -1) * (open ? 3.0f : 1.0f);
        compute(&p, k, ASSAY_SMOOTHING_FORCED, plain, NULL, NULL);
        compute(&p, k, ASSAY_SMOOTHING_GATED, mean, ratio, gate);
        ck_assert_double_eq_tol(ratio[SHARED], open ? 0.9 : 0.5, 0.02);
        for (int head = 0; head < B * H; head++) {
            const bool right = open && head == SHARED;
            ck_assert(gate[head] == right);
            if (right)
                ck_assert_mem_eq(mean + head * D, plain + head * D,
                                 D * sizeof *mean);
            else
                all_zero(D, mean + head * D);
        }
        free(k);
    }
}
END_TEST

/* Keys (m, e) and (m, -e) have the mean (m, 0), |mean|^2 = m^2 and |k|^2 =
 * m^2 + |e|^2. m = 85 and e = (50, 15, 7, 1), of square 2775, are exactly at
 * 0.7225 = 0.85^2, which is not above it. */
START_TEST(threshold_is_strict)
{
    static const struct {
        float m;
        bool open;
    } cases[] = {
        { 85, false },      { 0x1.54p6f, false }, { 84.9999f, false },
        { 85.0001f, true }, { -85, false },       { -85.0001f, true }
    };
    const float e[4] = { 50, 15, 7, 1 };
    const struct assay_problem p = keys_of(1, 6, 1, 5);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (int by = -30; by <= 30; by += 15) {
            float k[6 * 5], mean[5];
            double ratio;
            bool gate;
            for (int j = 0; j < 6; j++) {
                k[5 * j] = ldexpf(cases[n].m, by);
                for (int c = 0; c < 4; c++)
                    k[5 * j + 1 + c] = ldexpf(j % 2 ? -e[c] : e[c], by);
            }
            compute(&p, k, ASSAY_SMOOTHING_GATED, mean, &ratio, &gate);
            ck_assert_msg(gate == cases[n].open, "m = %.9g: ratio %.17g",
                          cases[n].m, ratio);
            ck_assert(mean[0] == (gate ? k[0] : 0));
            all_zero(4, mean + 1);
            if (fabsf(cases[n].m) == 85)
                ck_assert(ratio == 0.7225);
            compute(&p, k, ASSAY_SMOOTHING_FORCED, mean, &ratio, &gate);
            ck_assert(mean[0] == k[0] && gate == cases[n].open);
        }
}
END_TEST

START_TEST(nothing_there)
{
    enum { B = 2, H = 2, D = 3 };
    for (int64_t nk = 0; nk < 3; nk++) {
        const struct assay_problem p = keys_of(B, nk, H, D);
        const float k[B * 2 * H * D] = { 0 };
        float mean[B * H * D];
        double ratio[B * H];
        bool gate[B * H];
        for (int forced = 0; forced < 2; forced++) {
            memset(mean, 0xff, sizeof mean);
            compute(&p, k, forced, mean, ratio, gate);
            all_zero(B * H * D, mean);
            for (int head = 0; head < B * H; head++)
                ck_assert(ratio[head] == 0 && !gate[head]);
        }
    }
}
END_TEST

/* One bad key is in every mean of its head and channel, and in no other; a
 * closed gate does not hide it: 0 * NaN and 0 * infinity are NaN. */
START_TEST(bad_keys)
{
    enum { B = 2, N = 10, H = 2, D = 4, HEAD = 2, CHANNEL = 3 };
    const struct assay_problem p = keys_of(B, N, H, D);
    const float bad[] = { NAN, INFINITY, -INFINITY };
    for (int n = 0; n < 6; n++) {
        float *k = keys_new(&p, 30, 5), mean[B * H * D];
        double ratio[B * H];
        bool gate[B * H];
        k[((HEAD / H * N + 7) * H + HEAD % H) * D + CHANNEL] = bad[n % 3];
        compute(&p, k, n / 3, mean, ratio, gate);
        for (int i = 0; i < B * H * D; i++)
            if (i != HEAD * D + CHANNEL)
                ck_assert(isfinite(mean[i]));
            else if (n / 3 == ASSAY_SMOOTHING_GATED)
                ck_assert(isnan(mean[i]));
            else
                ck_assert(same_float(mean[i], bad[n % 3]));
        for (int head = 0; head < B * H; head++)
            ck_assert(gate[head] == (head != HEAD));
        ck_assert(isnan(ratio[HEAD]));
        free(k);
    }
}
END_TEST

/* Squares of the largest bf16 pass binary32, sums of them do too. */
START_TEST(large_keys)
{
    const struct assay_problem p = keys_of(1, 8, 1, 2);
    float k[16], mean[2];
    double ratio;
    bool gate;
    for (int i = 0; i < 16; i++)
        k[i] = i % 2 ? -0x1.fep127f : 0x1.fep127f;
    compute(&p, k, ASSAY_SMOOTHING_GATED, mean, &ratio, &gate);
    ck_assert(mean[0] == k[0] && mean[1] == k[1] && ratio == 1 && gate);
}
END_TEST

/* ---- LSE ---- */

static float round_bf16(float x)
{
    uint32_t b = bits_of(x);
    return float_of((b + 0x7fff + (b >> 16 & 1)) & 0xffff0000u);
}

static void delta_of(const struct assay_problem *p, const float *q,
                     const float *mean, float *delta)
{
    struct assay_error err = { 0 };
    ck_assert_msg(assay_k_mean_lse_delta(p, assay_format_get(ASSAY_BF16), q,
                                         mean, delta, &err) == ASSAY_OK,
                  "%s", err.text);
}

/* Integers of 9 bits, which bf16 rounds: binary64 sums of their products are
 * exact in any order, so that only the definition's roundings are left. */
START_TEST(delta_is_its_definition)
{
    enum { B = 2, HQ = 6, HK = 2, NQ = 5, DK = 150 };
    const struct assay_problem p = { .b = B,
                                     .hq = HQ,
                                     .hk = HK,
                                     .nq = NQ,
                                     .nk = 9,
                                     .dk = DK,
                                     .dv = 1,
                                     .softmax_scale = 0.1 };
    float q[B * NQ * HQ * DK], mean[B * HK * DK], delta[B * HQ * NQ];
    for (int i = 0; i < B * NQ * HQ * DK; i++)
        q[i] = (float)(values_bits(40, (uint64_t)i) % 1023) - 511;
    for (int i = 0; i < B * HK * DK; i++)
        mean[i] = (float)(values_bits(41, (uint64_t)i) % 1023) - 511;
    delta_of(&p, q, mean, delta);
    for (int b = 0; b < B; b++)
        for (int h = 0; h < HQ; h++)
            for (int i = 0; i < NQ; i++) {
                double dot = 0;
                for (int c = 0; c < DK; c++)
                    dot += (double)round_bf16(
                               q[((b * NQ + i) * HQ + h) * DK + c]) *
                           round_bf16(mean[(b * HK + h / 3) * DK + c]);
                ck_assert(delta[(b * HQ + h) * NQ + i] ==
                          round_bf16((float)dot) * 0.1f);
            }
}
END_TEST

/* 2^26 + 1 - 2^26, which binary32 does not hold on the way. */
START_TEST(delta_is_summed_in_binary64)
{
    const float q[3] = { 0x1p13f, 1, -0x1p13f };
    const float mean[3] = { 0x1p13f, 1, 0x1p13f };
    struct assay_problem p = keys_of(1, 1, 1, 3);
    float delta;
    delta_of(&p, q, mean, &delta);
    ck_assert(delta == 1);
}
END_TEST

/* The LSE of K is that of K - mean plus delta, within its bf16 rounding; all
 * values have few bits, so that K - mean is exact. */
START_TEST(delta_restores_the_lse)
{
    enum { HQ = 4, NQ = 7, NK = 40, DK = 32, LSES = HQ * NQ };
    const struct assay_problem p = { .b = 1,
                                     .hq = HQ,
                                     .hk = 2,
                                     .nq = NQ,
                                     .nk = NK,
                                     .dk = DK,
                                     .dv = 1,
                                     .softmax_scale = 0.125 };
    struct tensors t = tensors_new(&p, 50);
    float delta[LSES], mean[2 * DK];
    double lse[LSES], shifted[LSES];
    for (int64_t i = 0; i < assay_problem_q_elems(&p); i++)
        t.q[i] = round_bf16(t.q[i]);
    for (int64_t i = 0; i < assay_problem_k_elems(&p); i++)
        t.k[i] = rintf(16 * t.k[i]) / 16;
    for (int i = 0; i < 2 * DK; i++)
        mean[i] = (float)(i % 5 - 1) / 4 + 1;
    ck_assert_int_eq(assay_attention_plain(&p, t.q, t.k, t.v, NULL, lse, NULL),
                     ASSAY_OK);
    for (int64_t i = 0; i < assay_problem_k_elems(&p); i++)
        t.k[i] -= mean[i % (2 * DK)];
    ck_assert_int_eq(
        assay_attention_plain(&p, t.q, t.k, t.v, NULL, shifted, NULL),
        ASSAY_OK);
    delta_of(&p, t.q, mean, delta);
    for (int i = 0; i < LSES; i++)
        ck_assert(fabs(shifted[i] + delta[i] - lse[i]) <=
                  0x1p-8 * fabsf(delta[i]) + 1e-12);
    tensors_free(&t);
}
END_TEST

START_TEST(what_is_refused)
{
    struct assay_problem p = keys_of(1, 4, 0, 8);
    struct assay_error err = { 0 };
    float x[1] = { 0 }, mean[1] = { 7 };
    const struct assay_k_mean out = { mean, NULL, NULL };
    ck_assert_int_eq(
        assay_k_mean_compute(&p, x, ASSAY_SMOOTHING_GATED, &out, &err),
        ASSAY_SHAPE);
    ck_assert_ptr_nonnull(strstr(err.text, "0, must be at least 1"));
    p.hk = 2;
    p.hq = 3;
    ck_assert_int_eq(assay_k_mean_lse_delta(&p, assay_format_get(ASSAY_BF16), x,
                                            x, mean, &err),
                     ASSAY_SHAPE);
    ck_assert_ptr_nonnull(strstr(err.text, "3 query heads are no multiple"));
    ck_assert(mean[0] == 7);
    p.hq = 2;
    p.nq = 0; /* no rows are fine */
    ck_assert_int_eq(assay_k_mean_lse_delta(&p, assay_format_get(ASSAY_BF16),
                                            NULL, x, NULL, &err),
                     ASSAY_OK);
}
END_TEST

/* ---- vectors of an independent implementation ---- */

static const char *const files[] = { "head_lm_dev.h5", "head_mlm_dev.h5",
                                     "synthetic_zeros.h5",
                                     "synthetic_powers.h5" };

static float *read_words(const char *file, const char *name, uint64_t dims[4])
{
    struct vector x;
    vector_read(file, name, &x);
    ck_assert_int_eq(x.rank, 4);
    memcpy(dims, x.dims, sizeof x.dims);
    float *values = must_alloc(x.size / 2, sizeof *values);
    assay_format_decode(assay_format_get(ASSAY_BF16), x.size / 2, x.bytes,
                        values);
    free(x.bytes);
    return values;
}

/* A file's dataset of n elements of that size; free() it. */
static void *read_whole(const char *file, const char *name, size_t n,
                        size_t size)
{
    struct vector x;
    vector_read(file, name, &x);
    ck_assert_uint_eq(x.size, n * size);
    return x.bytes;
}

/* Means within one ulp: an implementation may sum in another order. */
static void same_means(const char *file, const char *name, size_t n,
                       const float *mean)
{
    float *right = read_whole(file, name, n, sizeof *right);
    size_t differ = 0;
    for (size_t i = 0; i < n; i++) {
        differ += mean[i] != right[i];
        ck_assert(fabsf(mean[i] - right[i]) <=
                  nextafterf(fabsf(right[i]), INFINITY) - fabsf(right[i]));
    }
    printf("# %s: %zu of %zu of %s differ\n", file, differ, n, name);
    free(right);
}

START_TEST(vector_means)
{
    const char *file = files[_i];
    uint64_t dims[4];
    if (!vectors_present(file))
        return;
    float *k = read_words(file, "k.words", dims);
    const struct assay_problem p = keys_of((int64_t)dims[0], (int64_t)dims[1],
                                           (int64_t)dims[2], (int64_t)dims[3]);
    const size_t heads = dims[0] * dims[2], n = heads * dims[3];
    float *mean = must_alloc(n, sizeof *mean);
    double *ratio = must_alloc(heads, sizeof *ratio);
    bool *gate = must_alloc(heads, sizeof *gate);
    double *right = read_whole(file, "k_mean_ratio", heads, sizeof *right);
    uint8_t *right_gate = read_whole(file, "k_gate", heads, 1);
    compute(&p, k, ASSAY_SMOOTHING_GATED, mean, ratio, gate);
    same_means(file, "k_mean", n, mean);
    for (size_t head = 0; head < heads; head++) {
        ck_assert(fabs(ratio[head] - right[head]) <= 1e-14 * right[head]);
        ck_assert(gate[head] == right_gate[head]);
    }
    if (_i == 0) {
        compute(&p, k, ASSAY_SMOOTHING_FORCED, mean, ratio, gate);
        same_means(file, "forced.k_mean", n, mean);
    }
    free(k), free(mean), free(ratio), free(gate), free(right), free(right_gate);
}
END_TEST

/* Another order of the dot product may round to the next bf16. */
START_TEST(vector_lse_delta)
{
    uint64_t q_dims[4], k_dims[4];
    int differ = 0;
    if (!vectors_present(files[0]))
        return;
    float *q = read_words(files[0], "q.words", q_dims);
    free(read_words(files[0], "k.words", k_dims));
    struct assay_problem p = keys_of(1, (int64_t)k_dims[1], 1, 128);
    p.hq = (int64_t)q_dims[2];
    p.nq = (int64_t)q_dims[1];
    p.softmax_scale = assay_problem_default_scale(128);
    const size_t n = (size_t)assay_problem_rows(&p);
    float *delta = must_alloc(n, sizeof *delta);
    float *mean = read_whole(files[0], "forced.k_mean", 128, sizeof *mean);
    float *right = read_whole(files[0], "forced.lse_delta", n, sizeof *right);
    delta_of(&p, q, mean, delta);
    for (size_t i = 0; i < n; i++) {
        differ += delta[i] != right[i];
        ck_assert(fabsf(delta[i] - right[i]) <= 0x1.01p-7f * fabsf(right[i]));
    }
    printf("# %d of %zu LSE corrections differ\n", differ, n);
    ck_assert_int_le(differ, (int)n / 50);
    free(q), free(delta), free(mean), free(right);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("smooth");
    TCase *c = tcase_create("smooth");
    tcase_add_loop_test(c, strides, 0, (int)(sizeof samples / sizeof *samples));
    tcase_add_test(c, means_and_ratios);
    tcase_add_loop_test(c, noise_never_opens, 0, 4);
    tcase_add_test(c, common_direction_opens);
    tcase_add_test(c, threshold_is_strict);
    tcase_add_test(c, nothing_there);
    tcase_add_test(c, bad_keys);
    tcase_add_test(c, large_keys);
    tcase_add_test(c, delta_is_its_definition);
    tcase_add_test(c, delta_is_summed_in_binary64);
    tcase_add_test(c, delta_restores_the_lse);
    tcase_add_test(c, what_is_refused);
    tcase_add_loop_test(c, vector_means, 0, 4);
    tcase_add_test(c, vector_lse_delta);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
