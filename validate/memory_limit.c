/* SPDX-License-Identifier: MIT */
#include "validate/memory_limit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

size_t memory_limit_default(size_t buffer_bytes)
{
    const size_t least = (size_t)4 << 30, times = 32;
    return buffer_bytes > SIZE_MAX / times ? SIZE_MAX
                                           : add(least, times * buffer_bytes);
}

size_t memory_limit_parse(struct argp_state *state, const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    const bool number = *text >= '0' && *text <= '9' && errno == 0 &&
                        end[unit != NULL] == '\0' && n <= (SIZE_MAX >> shift);
    const size_t bytes = number ? (size_t)n << shift : 0;
    if (bytes < (size_t)1 << 20)
        argp_error(state,
                   "--memory-limit \"%.40s\" is no size of at least 1M, as "
                   "512M or 4G",
                   text);
    return bytes;
}
