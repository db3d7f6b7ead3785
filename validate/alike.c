/* SPDX-License-Identifier: MIT */
#include "validate/alike.h"

bool alike_is_first(alike_recipe *at, const void *of, size_t i)
{
    const struct assay_recipe *recipe = at(of, i);
    bool first = recipe != NULL;
    for (size_t j = 0; j < i; j++)
        first &= at(of, j) != recipe;
    return first;
}

size_t alike_limits(alike_limit *at, const void *of, size_t n, size_t i,
                    int gate)
{
    const struct limit *limit = at(of, i, gate);
    size_t count = 0;
    for (size_t k = 0; limit && k < n; k++) {
        const struct limit *other = at(of, k, gate);
        if (!other || !limit_same(other, limit))
            continue;
        if (k < i)
            return 0;
        count++;
    }
    return count;
}
