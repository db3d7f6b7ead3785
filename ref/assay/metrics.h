/* SPDX-License-Identifier: MIT
 *
 * Distances between two answers, rows first, everything summed in double.
 *
 * Non-finite values never enter a sum. A pair of equal infinities, or of two
 * NaN, counts as no difference; any other pair with a non-finite member makes
 * mae, max_error, rel_l2, norm_ratio and the cosines NaN, and max_at names the
 * first. Cosine of two zero vectors is 1, of a zero and a non-zero one 0;
 * it never passes 1.
 */
#ifndef ASSAY_METRICS_H
#define ASSAY_METRICS_H

#include <stdbool.h>

#include "assay/format.h"
#include "assay/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether two values are both finite, the same infinity, or both NaN. */
ASSAY_API bool assay_same_class(double a, double b);

/* The larger of two, where a NaN on either side is the largest of all and is
 * not forgotten when more follow. */
ASSAY_API double assay_worst(double so_far, double x);

/* Sorts n numbers, the smallest first. */
ASSAY_API void assay_sort(int64_t n, double *x);

/* Where something is; -1 where it is nowhere. */
struct assay_place {
    int64_t b, h, i, c;
};

/* The place of row r of [b, hq, nq], no channel. */
ASSAY_API struct assay_place assay_row_place(const struct assay_problem *p,
                                             int64_t r);

/* One row (b, h, i) of O, a against b. */
struct assay_row {
    double distance; /* L2 of a - b */
    double norm_a, norm_b, dot;
    double sum_abs; /* of |a - b| */
    double max_abs;
    int64_t max_c;       /* channel of max_abs; -1 */
    double max_a, max_b; /* the two values there, or at mismatched_c */
    int64_t nonfinite_a, nonfinite_b;
    int64_t mismatched;   /* elements whose classes differ */
    int64_t mismatched_c; /* the first; -1 */
};

/* rows: one per (b, h, i), [b, hq, nq]. a and b are [b, nq, hq, dv]. */
ASSAY_API void assay_rows_compare(const struct assay_problem *p, const float *a,
                                  const float *b, struct assay_row *rows);

/* Half an ulp of rounding to nearest, and one more, which truncation or a
 * second rounding costs. doc/gates.md, section 3. */
#define ASSAY_OUTPUT_ULPS 1.5

/* What of |C - E| is more than the rounding of the output. */
struct assay_row_beyond {
    double beyond;     /* L2 of what is left of |C - E| after that */
    double rounding;   /* L2 of these ulp of the larger of the two */
    double bound_part; /* largest part of the bound that what is left uses */
    int64_t bound_c;   /* its channel; -1 */
};

/* The rows of C against E, E against X and C against X in one walk, for an
 * output format; each is that of assay_rows_compare() to the bit. Where C or E
 * is not finite, neither rounding nor anything beyond it is counted. bound is
 * [b, nq, hq, dv] and may be NULL, then no part is used. 0 / 0 is 0, more over
 * 0 infinite; a bound that is NaN or below 0 counts as 0. */
ASSAY_API void assay_rows_measure(const struct assay_problem *p,
                                  const struct assay_format *out,
                                  const float *c, const float *e,
                                  const float *x, const float *bound,
                                  struct assay_row *ce, struct assay_row *ex,
                                  struct assay_row *cx,
                                  struct assay_row_beyond *beyond);

ASSAY_API double assay_row_cosine(const struct assay_row *row);

struct assay_distance {
    double cosine, worst_row_cosine, mae, max_error, rel_l2, norm_ratio;
    double lse_max, lse_mean; /* of |a - b|, nats */
    int64_t nonfinite_a, nonfinite_b, mismatched;
    int64_t lse_mismatched; /* rows whose LSE classes differ */
    struct assay_place worst_row, max_at, lse_at;
    double max_a, max_b; /* the two values at max_at */
};

/* The summary of rows and LSE over heads h0 .. h1 - 1 of all batches. mae is
 * over all elements, with the zeros of rows that see no key; lse_mean over the
 * rows that see a key: those where both LSE are -inf are left out, and without
 * others it is 0. lse_a or lse_b NULL: the LSE figures are NaN. */
ASSAY_API void assay_distance(const struct assay_problem *p,
                              const struct assay_row *rows, const double *lse_a,
                              const double *lse_b, int64_t h0, int64_t h1,
                              struct assay_distance *out);

#ifdef __cplusplus
}
#endif
#endif
