/* SPDX-License-Identifier: MIT
 *
 * Whether two records are of one run, by what they say of it.
 */
#ifndef ASSAY_RUN_FACTS_H
#define ASSAY_RUN_FACTS_H

#include <stdbool.h>

#include "golden/run_file.h"

/* A fact by which two runs are not one; "" for what is not said. */
struct run_facts_other {
    const char *key, *a, *b;
};

/* False where they are one run. Where a file lies does not make it another
 * one, its bytes do; a program tells its build when it has run. */
bool run_facts_differ(const struct run_facts *a, const struct run_facts *b,
                      struct run_facts_other *out);

#endif
