/* SPDX-License-Identifier: MIT
 *
 * Private to the doctor: another softmax scale, found from an LSE.
 */
#ifndef ASSAY_DOCTOR_SCALE_H
#define ASSAY_DOCTOR_SCALE_H

#include <stdint.h>

/* Rows that a scale is found from, and the smallest and largest factor. */
enum { DOCTOR_SCALE_ROWS = 16 };
#define DOCTOR_SCALE_LEAST 0x1p-6
#define DOCTOR_SCALE_MOST 0x1p6

/* One row: scores in nats, with the right scale, of the keys that it sees; C
 * less the K mean's part, which is `shift`. */
struct doctor_scale_row {
    const double *s;
    int64_t keys;
    double c, shift;
};

/* What the scores (with_shift: and the shift) are multiplied by in most rows,
 * so that LSE(x s) (+ (x - 1) shift) = c; NAN where nothing does. work has room
 * for the keys of a row. */
double doctor_scale_find(const struct doctor_scale_row *rows, int64_t n,
                         int with_shift, double *work);

#endif
