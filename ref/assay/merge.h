/* SPDX-License-Identifier: MIT
 *
 * Merging of attention partials: each part is attention over some of the keys
 * (a rank's of ring or context parallelism, a split of split-KV), normalised,
 * with its LSE in nats. Key sets are disjoint. Per row, with M the largest LSE:
 *   w_k = exp(LSE_k - M)
 *   LSE = M + ln sum_k w_k
 *   O   = sum_k w_k O_k / sum_k w_k
 * This is sum_k exp(LSE_k - LSE) O_k without the error that LSE's last bit
 * would bring into every weight (1e-11 at an LSE of 1e5).
 * Source: Milakov and Gimelshein, arXiv:1805.02867; ROCm/aiter aiter/mla.py.
 */
#ifndef ASSAY_MERGE_H
#define ASSAY_MERGE_H

#include <stdbool.h>

#include "assay/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One part; the arrays are the caller's. recipe and softmax name the contract
 * of the kernel that made it; NULL: exact attention. */
struct assay_partial {
    const char *recipe, *softmax;
    const double *o;   /* [b, nq, hq, dv] */
    const double *lse; /* [b, hq, nq] */
};

/* ASSAY_USAGE with a sentence if two parts differ in recipe or softmax form:
 * an LSE is that of a kernel's own rounded scores, so weights across recipes
 * compare different things. */
ASSAY_API enum assay_status assay_merge_check(int64_t n,
                                              const struct assay_partial *parts,
                                              struct assay_error *err);

/* Merges n >= 0 parts of the rows of p into o [b, nq, hq, dv] and lse
 * [b, hq, nq]; of p only b, hq, nq and dv matter. `mixed` allows what
 * assay_merge_check refuses.
 *
 *   a part with LSE -inf   is empty: its O is not read, whatever it holds
 *   no part, or all empty  O 0, LSE -inf
 *   one part not empty     its bits, in any place among empty ones
 *   a NaN LSE              LSE and O of the row are NaN
 *   a +inf LSE             LSE is +inf (NaN beside a NaN), O is NaN: some
 *                          kernels give +inf for an empty part, and weights
 *                          made of it would wipe out all others
 *   NaN or infinity in O   as IEEE has it, also with a weight of 0
 *
 * o and lse may be those of one of the parts: parts that come one by one are
 * merged with what came before. That rounds once a step, so its bits are those
 * of one call only where a row has at most two parts that are not empty;
 * otherwise they, like those of another order of parts, differ by a few units
 * of the last place. */
ASSAY_API enum assay_status assay_merge(const struct assay_problem *p,
                                        int64_t n,
                                        const struct assay_partial *parts,
                                        bool mixed, double *o, double *lse,
                                        struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
