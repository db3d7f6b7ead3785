/* SPDX-License-Identifier: MIT
 *
 * What a report says once of things that are alike. Lists are the caller's: a
 * function gives element i of `of`, NULL for one that is left out.
 */
#ifndef ASSAY_ALIKE_H
#define ASSAY_ALIKE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/recipe.h"
#include "validate/limits.h"

typedef const struct assay_recipe *alike_recipe(const void *of, size_t i);
/* Whether element i is in the list and the first with its recipe. */
bool alike_is_first(alike_recipe *at, const void *of, size_t i);

typedef const struct limit *alike_limit(const void *of, size_t i, int gate);
/* How many of n have the limit of element i for a gate; 0: it is not in the
 * list, or an earlier one has it too. */
size_t alike_limits(alike_limit *at, const void *of, size_t n, size_t i,
                    int gate);

#endif
