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
    int64_t max_c; /* channel of max_abs */
    int64_t nonfinite_a, nonfinite_b;
    int64_t mismatched;   /* elements whose classes differ */
    int64_t mismatched_c; /* the first; -1 */
};

/* rows: one per (b, h, i), [b, hq, nq]. a and b are [b, nq, hq, dv]. */
ASSAY_API void assay_rows_compare(const struct assay_problem *p, const float *a,
                                  const float *b, struct assay_row *rows);

/* One row of three answers: c a kernel's, e emulated, x exact. */
struct assay_row_triple {
    struct assay_row ce, ex, cx; /* c against e, e against x, c against x */
    double beyond;     /* L2 of what 1.5 ulp of the output format leave of
                          |c - e|: at the larger of |c| and |e|, 0 where one is
                          not finite */
    double bound_part; /* the largest of what is left / bound; 0 / 0 is 0 */
    int64_t bound_c;   /* its first channel; -1 where there is no bound */
};

/* Three comparisons in one walk over memory; each is that of
 * assay_rows_compare() to the bit. bound is of O's shape and may be NULL; where
 * it is not above 0, whatever is left is infinitely beyond it. */
ASSAY_API void assay_rows_measure(const struct assay_problem *p,
                                  const struct assay_format *out,
                                  const float *c, const float *e,
                                  const float *x, const float *bound,
                                  struct assay_row_triple *rows);

ASSAY_API double assay_row_cosine(const struct assay_row *row);

struct assay_distance {
    double cosine, worst_row_cosine, mae, max_error, rel_l2, norm_ratio;
    double lse_max, lse_mean; /* nats */
    int64_t nonfinite_a, nonfinite_b, mismatched;
    int64_t lse_mismatched; /* rows whose LSE classes differ */
    struct assay_place worst_row, max_at, lse_at;
    double max_a, max_b; /* the two values at max_at */
};

/* The summary of rows and LSE over heads h0 .. h1 - 1 of all batches.
 * lse_a or lse_b NULL: the LSE figures are NaN. */
ASSAY_API void assay_distance(const struct assay_problem *p, const float *a,
                              const float *b, const struct assay_row *rows,
                              const double *lse_a, const double *lse_b,
                              int64_t h0, int64_t h1,
                              struct assay_distance *out);

/* The same of rows that lie step bytes apart, as those of a triple do:
 * &triples->ce, sizeof *triples. */
ASSAY_API void assay_distance_stepped(const struct assay_problem *p,
                                      const float *a, const float *b,
                                      const struct assay_row *rows, size_t step,
                                      const double *lse_a, const double *lse_b,
                                      int64_t h0, int64_t h1,
                                      struct assay_distance *out);

#ifdef __cplusplus
}
#endif
#endif
