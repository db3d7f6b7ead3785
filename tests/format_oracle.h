/* SPDX-License-Identifier: MIT
 *
 * Encoding by brute force, for tests: the values of a format from the formulas
 * of its standard, written again, and thresholds between them; the code of |x|
 * is the number of thresholds that are not above it. Shares nothing with ref/.
 */
#ifndef FORMAT_ORACLE_H
#define FORMAT_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/format.h"

struct oracle {
    enum assay_format_id id;
    const char *name;
    int bits, man, bias;
    uint32_t max;      /* code of the largest finite value */
    uint32_t inf, nan; /* codes without sign; 0: none */
    bool one_zero;     /* neither zero nor NaN has a sign */
};

/* One row for each format of format.def, in its order. */
extern const struct oracle oracles[ASSAY_FORMATS];

/* Value of a code; NaN is positive. */
double oracle_value(const struct oracle *o, uint32_t code);

/* The k-th value from zero up (e8m0: from 2^-127). The one after the largest
 * is what the formula would give it: overflow is decided after rounding. */
double oracle_size(const struct oracle *o, uint32_t k);

/* Smallest binary32 number that is rounded to more than oracle_size(k). */
float oracle_threshold(const struct oracle *o, enum assay_rounding rounding,
                       uint32_t k);

/* All max + 1 of them, ascending; free() it. Not for f32. */
float *oracle_thresholds(const struct oracle *o, enum assay_rounding rounding);

/* Number of thresholds not above a. */
uint32_t oracle_count(const struct oracle *o, const float *thresholds, float a);

/* Code of x, whose size has the number k; the policies are those of
 * assay/format.h. */
uint32_t oracle_code(const struct oracle *o, enum assay_overflow overflow,
                     float x, uint32_t k);

/* All of it: code of x. Slow: makes the thresholds. */
uint32_t oracle_encode(const struct oracle *o, enum assay_rounding rounding,
                       enum assay_overflow overflow, float x);

/* Bits that decode must give: oracle_value, with the sign of a NaN. */
uint32_t oracle_bits(const struct oracle *o, uint32_t code);

#endif
