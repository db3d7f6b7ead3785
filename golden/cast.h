/* SPDX-License-Identifier: MIT
 *
 * Casts of arrays in memory between element formats, with block scales or
 * without. An array is cast in slabs, so what is needed beside input and
 * output does not grow with it.
 */
#ifndef ASSAY_CAST_H
#define ASSAY_CAST_H

#include "assay/block.h"
#include "golden/term.h"

/* Words have the format's bytes (assay_format_bytes), native byte order. */
struct cast {
    const struct assay_format *from, *to; /* to: NULL for cast_decode */
    enum assay_rounding rounding;
    enum assay_overflow overflow;
    /* Scales of `to` when it is encoded, of `from` when it is decoded: blocks
     * along `length` of [outer, length, inner]. block 0: no scales. */
    const struct assay_scale_rule *rule;
    int64_t block;
    int64_t outer, length, inner;
    struct progress *progress; /* or NULL */
};

/* What became of the elements. */
struct cast_counts {
    int64_t nan;        /* were NaN (e8m0: or not positive) */
    int64_t over;       /* past the largest value once rounded */
    int64_t zero;       /* were not 0 and are now */
    int64_t nan_scales; /* blocks */
};

int64_t cast_elems(const struct cast *c);
int64_t cast_scales(const struct cast *c); /* 0 without blocks */

/* Whether formats, block and sizes are such as can be cast. */
enum assay_status cast_check(const struct cast *c, struct assay_error *err);

/* ASSAY_FORMAT with the first word that has bits above the format's. */
enum assay_status cast_check_codes(const struct assay_format *format, int64_t n,
                                   const void *words, struct assay_error *err);

/* Words of `from` to words of `to` and scales. */
enum assay_status cast_encode(const struct cast *c, const void *in, void *out,
                              uint8_t *scales, struct cast_counts *counts,
                              struct assay_error *err);

/* Words of `from` and scales to values. */
void cast_decode(const struct cast *c, const void *in, const uint8_t *scales,
                 float *out);

#endif
