/* SPDX-License-Identifier: MIT
 *
 * Private: softmax forms that make the bits of P from scores.
 */
#ifndef ASSAY_SOFTMAX_CODED_H
#define ASSAY_SOFTMAX_CODED_H

#include "assay/recipe.h"

/* Scores of the form an octave: 2^23 for U32, 8 for BYTE, else 1. */
double softmax_unit(const struct assay_softmax_form *form);

/* m is the row's maximum, -INFINITY before the first tile; alpha is what its
 * sums so far are multiplied by. */
struct softmax_row {
    float m, alpha;
};

/* What is added to the scores of a row after its first tile. */
float softmax_start(const struct assay_softmax_form *form, float m);

/* n scores of a whole tile to P, before P is rounded to its format. In a tile
 * after the first they have softmax_start() added already. `off` is added to
 * all of them once the maximum is settled: 0, but for what noise may do. */
void softmax_coded_row(const struct assay_softmax_form *form, bool added,
                       float off, int64_t n, float *s, struct softmax_row *row);

#endif
