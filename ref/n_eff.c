/* SPDX-License-Identifier: MIT */
#include "assay/n_eff.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>

#include "assay/memory.h"
#include "bits.h"

enum { LANES = 8 };

/* Scores of one query, in fixed lanes of channels. */
ASSAY_CLONES
static void score_keys(int64_t d, const float *q, int64_t keys, int64_t step,
                       const float *k, double scale, double *s)
{
    for (int64_t j = 0; j < keys; j++) {
        const float *key = k + j * step;
        double lane[LANES] = { 0 }, sum = 0;
        int64_t c = 0;
        for (; c + LANES <= d; c += LANES)
            for (int i = 0; i < LANES; i++)
                lane[i] += (double)q[c + i] * key[c + i];
        for (; c < d; c++)
            sum += (double)q[c] * key[c];
        for (int i = 0; i < LANES; i++)
            sum += lane[i];
        s[j] = sum * scale;
    }
}

/* (sum e)^2 / sum e^2, e = exp(s - max). */
static double of_scores(int64_t keys, const double *s)
{
    double max = -INFINITY, sum = 0, square = 0;
    for (int64_t j = 0; j < keys; j++)
        max = s[j] > max || isnan(s[j]) ? s[j] : max;
    if (keys == 0 || max == -INFINITY)
        return 0;
    for (int64_t j = 0; j < keys; j++) {
        const double e = exp(s[j] - max);
        sum += e;
        square += e * e;
    }
    return sum * sum / square;
}

int64_t assay_n_eff_rows(const struct assay_problem *p, int64_t every)
{
    return p->nq / every + (p->nq % every != 0);
}

enum assay_status assay_n_eff(const struct assay_problem *p, const float *q,
                              const float *k, int64_t every, double *n_eff,
                              const struct assay_run *run,
                              struct assay_error *err)
{
    const int threads =
        run && run->threads > 0 ? run->threads : omp_get_max_threads();
    double *scratch;
    enum assay_status st = assay_problem_check(p, err);
    if (st != ASSAY_OK)
        return st;
    if (every < 1)
        return assay_fail(err, ASSAY_USAGE,
                          "n_eff of every %" PRId64 "th query cannot be had",
                          every);
    if ((st = assay_alloc("scores", threads * p->nk, sizeof *scratch, &scratch,
                          err)) != ASSAY_OK)
        return st;
    const int64_t rows = assay_n_eff_rows(p, every);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t r = 0; r < p->b * p->hq * rows; r++) {
        const int64_t i = r % rows * every, h = r / rows % p->hq,
                      b = r / rows / p->hq;
        const int64_t keys = assay_problem_visible(p, i);
        double *s = scratch + omp_get_thread_num() * p->nk;
        score_keys(p->dk, q + assay_row_offset(p->nq, p->hq, p->dk, b, i, h),
                   keys, p->hk * p->dk,
                   k + assay_row_offset(p->nk, p->hk, p->dk, b, 0,
                                        h / (p->hq / p->hk)),
                   p->softmax_scale, s);
        n_eff[r] = of_scores(keys, s);
    }
    assay_free(scratch);
    return ASSAY_OK;
}
