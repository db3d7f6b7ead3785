/* SPDX-License-Identifier: MIT
 *
 * Cases of a golden set as tensors for another harness: CASE.q, .k and .v, and
 * where asked for answers and payloads. The metadata say the rest, and generate
 * makes the same set of them again.
 */
#ifndef ASSAY_EXPORT_H
#define ASSAY_EXPORT_H

#include "golden/set.h"

struct export_options {
    const char *cases, *recipes; /* selections, or NULL */
    bool answers;  /* CASE.RECIPE.o and .lse, CASE.exact.o and .lse */
    bool payloads; /* CASE.RECIPE.q, .q_scale, .k_mean, ... */
};

/* Writes all to `path`, see golden/export_sink.h. What was written is counted.
 */
struct export_counts {
    size_t cases, tensors;
};
enum assay_status export_set(const struct assay_set *set,
                             const struct export_options *options,
                             const char *path, struct export_counts *counts,
                             struct assay_error *err);

#endif
