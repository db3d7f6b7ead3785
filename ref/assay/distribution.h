/* SPDX-License-Identifier: MIT
 *
 * Inputs made by a rule: distributions, rows of distribution.def.
 */
#ifndef ASSAY_DISTRIBUTION_H
#define ASSAY_DISTRIBUTION_H

#include "assay/attention.h"
#include "assay/format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum assay_distribution_id {
#define ASSAY_DISTRIBUTION(id, ...) ASSAY_DISTRIBUTION_##id,
#include "assay/distribution.def"
#undef ASSAY_DISTRIBUTION
    ASSAY_DISTRIBUTIONS
};

/* Constants that may be changed; distribution.def says what they are. */
struct assay_distribution_values {
    double spread, gap, jitter, step, low;
};

struct assay_distribution {
    enum assay_distribution_id id;
    const char *name;
    struct assay_distribution_values values; /* defaults */
    const char *about;
};

/* Rows; static. find returns NULL for an unknown name. */
ASSAY_API const struct assay_distribution *
assay_distribution_get(enum assay_distribution_id id);
ASSAY_API const struct assay_distribution *
assay_distribution_find(const char *name);

/* ASSAY_SHAPE with a sentence where the distribution cannot be made in these
 * sizes: maxstair wants dk a power of two from 32 to 32768, whole tiles of 128
 * keys, at most 5 (dk - dk/32) + 1 of them, and a scale that is not 0;
 * tiebreak 12 keys. ASSAY_USAGE for constants that are not finite, or a
 * negative gap. values may be NULL: the defaults. */
ASSAY_API enum assay_status
assay_distribution_check(const struct assay_distribution *distribution,
                         const struct assay_distribution_values *values,
                         const struct assay_problem *p,
                         struct assay_error *err);

/* Fills q [b, nq, hq, dk], k [b, nk, hk, dk], v [b, nk, hk, dv] with values
 * made in binary32 and rounded once, at the end, to `word` (bf16 or f16,
 * nearest even; f32 as they are). The same bits for any number of threads;
 * run->progress is not called. Errors as in check; ASSAY_USAGE for another
 * word. */
ASSAY_API enum assay_status
assay_distribution_fill(const struct assay_distribution *distribution,
                        const struct assay_distribution_values *values,
                        const struct assay_problem *p, uint64_t seed,
                        const struct assay_format *word, float *q, float *k,
                        float *v, const struct assay_run *run,
                        struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
