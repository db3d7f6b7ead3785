/* SPDX-License-Identifier: MIT
 *
 * Keys of one sequence over the ranks of context parallelism. A rank's keys
 * are numbered in the order of the sequence, so those that a query sees are
 * its first ones.
 * Source: torch.tensor_split (contiguous); ROCm/aiter
 * op_tests/test_mla_persistent_round_robin.py (round-robin).
 */
#ifndef ASSAY_SPLIT_H
#define ASSAY_SPLIT_H

#include <stdint.h>

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_split_kind {
#define ASSAY_SPLIT(id, name, about) ASSAY_SPLIT_##id,
#include "assay/split.def"
#undef ASSAY_SPLIT
    ASSAY_SPLITS
};

struct assay_split {
    enum assay_split_kind kind;
    int64_t nk, ranks;
};

/* ASSAY_SHAPE with a sentence unless the kind is known, nk is at least 0 and
 * there is at least one rank. The functions below want a checked split, and a
 * rank from 0 to ranks - 1. */
ASSAY_API enum assay_status assay_split_check(const struct assay_split *split,
                                              struct assay_error *err);

/* How many keys a rank has: 0 where there are more ranks than keys. */
ASSAY_API int64_t assay_split_count(const struct assay_split *split,
                                    int64_t rank);

/* Number in the sequence of a rank's j-th key, and back: which rank has a key
 * of the sequence, and as which of its own. */
ASSAY_API int64_t assay_split_key(const struct assay_split *split, int64_t rank,
                                  int64_t j);
ASSAY_API int64_t assay_split_rank(const struct assay_split *split,
                                   int64_t key);
ASSAY_API int64_t assay_split_index(const struct assay_split *split,
                                    int64_t key);

/* How many of a rank's keys a query sees that sees the first `visible` keys of
 * the sequence (assay_problem_visible): 0 to assay_split_count. */
ASSAY_API int64_t assay_split_visible(const struct assay_split *split,
                                      int64_t rank, int64_t visible);

/* Name, and back; ASSAY_SPLITS for an unknown name. What a kind does, in one
 * line. */
ASSAY_API const char *assay_split_name(enum assay_split_kind kind);
ASSAY_API const char *assay_split_about(enum assay_split_kind kind);
ASSAY_API enum assay_split_kind assay_split_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
