/* SPDX-License-Identifier: MIT */
#include "validate/rescale.h"

#include <math.h>

void rescale_lifts(int64_t tile, int64_t keys, const double *s, double *lift)
{
    double top = -INFINITY;
    for (int64_t first = 0; first < keys; first += tile) {
        const int64_t end = keys - first < tile ? keys : first + tile;
        for (int64_t j = first; j < end; j++)
            top = s[j] > top ? s[j] : top;
        for (int64_t j = first; j < end; j++)
            lift[j] = top;
    }
    for (int64_t j = 0; j < keys; j++)
        lift[j] = top - lift[j];
}
