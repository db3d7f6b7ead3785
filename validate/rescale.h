/* SPDX-License-Identifier: MIT
 *
 * An online softmax that forgets to bring its sums to a new maximum.
 */
#ifndef ASSAY_RESCALE_H
#define ASSAY_RESCALE_H

#include <stdint.h>

/* Key tiles that are tried. */
#define RESCALE_TILES           \
    {                           \
        1, 16, 32, 64, 128, 256 \
    }

/* lift[j], in nats: how much too large the weight of key j stays in a sum that
 * is never multiplied by exp(old - new maximum). The maximum is that of scores
 * s [keys] up to the end of a tile; all are 0 where it never rises. */
void rescale_lifts(int64_t tile, int64_t keys, const double *s, double *lift);

#endif
