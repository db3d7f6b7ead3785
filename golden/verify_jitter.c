/* SPDX-License-Identifier: MIT
 *
 * How far a jitter may move between machines. Of six BLAS cores (SkylakeX,
 * Haswell, Zen, Sandybridge, Prescott, Nehalem), ten recipes, other softmax
 * forms, captured heads and made ones, decoding among them:
 *
 * - nearly all rows are the same within 10 %: at most 2 of 64 rows, or 0.5 % of
 *   more, were beyond 1.5 times, and heads of many rows as a whole (root mean
 *   square) within 3 %;
 * - but a P next to a rounding boundary counts as a step on one core and not on
 *   another: single rows were 50 times apart, gains of heads of one row 31
 *   times.
 *
 * Thread counts and cache sizes moved no bit.
 */
#include "golden/verify_jitter.h"

#include <math.h>

#include "assay/memory.h"
#include "assay/metrics.h"

static const double APART = 1.5, TYPICAL = 1.25, MOST = 256, SHARE = 0.05;
enum { SPARE = 1, GROUP = 8 };

/* Numbers of one kind: how many are apart, of how many. */
struct tally {
    int64_t n, apart;
    bool lost; /* one is further apart than anything explains */
};

/* How many times two are apart, what rounding moves by itself taken off. */
static double times_apart(double a, double b, double floor)
{
    const double high = fmax(a, b), low = fmin(a, b);
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 1 : INFINITY;
    if (a < 0 || b < 0)
        return INFINITY;
    return a == b || high - floor <= low ? 1 : (high - floor) / low;
}

static void count(struct tally *t, double was, double now, double floor)
{
    const double times = times_apart(was, now, floor);
    t->n++;
    t->apart += !(times <= APART);
    t->lost |= !(times <= MOST);
}

static bool holds(const struct tally *t, bool same_machine)
{
    const double most = same_machine ? 0 : SPARE + SHARE * (double)t->n;
    return !t->lost && (double)t->apart <= most;
}

/* Whether the median of now / was is about 1: what a few rows move does not
 * move it. Groups of few have none. `ratios` has room for n. */
static bool typical(int64_t n, const float *was, const float *now,
                    double *ratios)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (was[i] > 0 && now[i] > 0 && isfinite(was[i]) && isfinite(now[i]))
            ratios[kept++] = (double)now[i] / (double)was[i];
    if (kept < GROUP)
        return true;
    assay_sort(kept, ratios);
    const double middle = ratios[kept / 2];
    return middle <= TYPICAL && middle >= 1 / TYPICAL;
}

static double norm_of_row(const struct assay_problem *p, const float *o,
                          int64_t r)
{
    const float *row =
        o + assay_row_offset(p->nq, p->hq, p->dv, r / p->nq / p->hq, r % p->nq,
                             r / p->nq % p->hq);
    double sum = 0;
    for (int64_t c = 0; c < p->dv; c++)
        sum += (double)row[c] * (double)row[c];
    return sqrt(sum);
}

/* Each head by itself, then all heads together: of decoding, heads are a row
 * or two each. */
static bool all_typical(const struct assay_problem *p,
                        const struct assay_jitter *was,
                        const struct assay_jitter *now)
{
    const int64_t rows = assay_problem_rows(p);
    double *ratios;
    if (assay_alloc("ratios", rows, sizeof *ratios, &ratios, NULL) != ASSAY_OK)
        return false;
    bool same = typical(rows, was->o, now->o, ratios) &&
                typical(rows, was->lse, now->lse, ratios);
    for (int64_t r = 0; same && r < rows; r += p->nq)
        same = typical(p->nq, was->o + r, now->o + r, ratios) &&
               typical(p->nq, was->lse + r, now->lse + r, ratios);
    assay_free(ratios);
    return same;
}

bool verify_jitter(const struct assay_problem *p,
                   const struct assay_jitter *was,
                   const struct assay_jitter *now, const float *o,
                   bool same_machine)
{
    static const double U = 0x1p-24; /* of binary32, all sums' rounding */
    struct tally rows_o = { 0 }, rows_lse = { 0 }, gains = { 0 }, bound = { 0 };
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        count(&rows_o, was->o[r], now->o[r], U * norm_of_row(p, o, r));
        count(&rows_lse, was->lse[r], now->lse[r], U);
    }
    for (int64_t bh = 0; bh < p->b * p->hq; bh++)
        count(&gains, was->gain[bh], now->gain[bh], 4 * U);
    for (int64_t c = 0; c < assay_problem_o_elems(p); c++)
        count(&bound, was->bound[c], now->bound[c], U * fabs((double)o[c]));
    return holds(&rows_o, same_machine) && holds(&rows_lse, same_machine) &&
           holds(&gains, same_machine) && holds(&bound, same_machine) &&
           all_typical(p, was, now);
}
