/* SPDX-License-Identifier: MIT */
#include "assay/smooth.h"

#include "bits.h"

/* Channels at a time. */
enum { BLOCK = 128 };

/* Adds up n channels of every stride-th of `keys` rows. */
ASSAY_CLONES
static void add_keys(int64_t keys, int64_t stride, int64_t step, int64_t n,
                     const float *k, double *sum, double *square)
{
    for (int64_t j = 0; j < keys; j += stride)
        for (int64_t c = 0; c < n; c++) {
            double x = k[j * step + c];
            sum[c] += x;
            square[c] += x * x;
        }
}

/* One head: its plain mean, and what the gate compares. */
static void mean_of_head(const struct assay_problem *p, const float *k,
                         float *mean, double *mean_sq, double *key_sq)
{
    const int64_t every = p->nk / ASSAY_SMOOTH_ROWS;
    const int64_t stride = every < 1 ? 1 : every;
    const int64_t keys = (p->nk + stride - 1) / stride;
    const double n = keys ? (double)keys : 1;
    *mean_sq = *key_sq = 0;
    for (int64_t at = 0; at < p->dk; at += BLOCK) {
        const int64_t m = p->dk - at < BLOCK ? p->dk - at : BLOCK;
        double sum[BLOCK] = { 0 }, square[BLOCK] = { 0 };
        add_keys(p->nk, stride, p->hk * p->dk, m, k + at, sum, square);
        for (int64_t c = 0; c < m; c++) {
            const double x = mean[at + c] = (float)(sum[c] / n);
            *mean_sq += x * x;
            *key_sq += square[c] / n;
        }
    }
}

enum assay_status assay_k_mean_compute(const struct assay_problem *p,
                                       const float *k,
                                       enum assay_smoothing smoothing,
                                       const struct assay_k_mean *out,
                                       struct assay_error *err)
{
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    for (int64_t head = 0; head < p->b * p->hk; head++) {
        const int64_t at = assay_row_offset(p->nk, p->hk, p->dk, head / p->hk,
                                            0, head % p->hk);
        float *mean = out->mean + head * p->dk;
        double mean_sq, key_sq;
        mean_of_head(p, k + at, mean, &mean_sq, &key_sq);
        const bool gate = mean_sq > ASSAY_SMOOTH_RATIO * key_sq;
        if (out->ratio)
            out->ratio[head] = key_sq == 0 ? 0 : mean_sq / key_sq;
        if (out->gate)
            out->gate[head] = gate;
        if (smoothing == ASSAY_SMOOTHING_GATED && !gate)
            for (int64_t c = 0; c < p->dk; c++)
                mean[c] *= 0;
    }
    return ASSAY_OK;
}

static float dot_words(const struct assay_format *word, int64_t n,
                       const float *q, const float *mean)
{
    double dot = 0;
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int64_t m = n - at < BLOCK ? n - at : BLOCK;
        float x[BLOCK], y[BLOCK];
        assay_format_round(word, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, (size_t)m,
                           q + at, x);
        assay_format_round(word, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, (size_t)m,
                           mean + at, y);
        for (int64_t c = 0; c < m; c++)
            dot += (double)x[c] * y[c];
    }
    float sum = (float)dot, rounded;
    assay_format_round(word, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 1, &sum,
                       &rounded);
    return rounded;
}

enum assay_status assay_k_mean_lse_delta(const struct assay_problem *p,
                                         const struct assay_format *word,
                                         const float *q, const float *mean,
                                         float *delta, struct assay_error *err)
{
    const float scale = (float)p->softmax_scale;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    for (int64_t row = 0; row < assay_problem_rows(p); row++) {
        const int64_t i = row % p->nq, h = row / p->nq % p->hq,
                      b = row / p->nq / p->hq;
        const int64_t kv = b * p->hk + h / (p->hq / p->hk);
        const int64_t at = assay_row_offset(p->nq, p->hq, p->dk, b, i, h);
        delta[row] = dot_words(word, p->dk, q + at, mean + kv * p->dk) * scale;
    }
    return ASSAY_OK;
}
