/* SPDX-License-Identifier: MIT
 *
 * Private: what else could have given a candidate's codes and scales.
 */
#ifndef ASSAY_SCALE_READING_H
#define ASSAY_SCALE_READING_H

#include "scale_bytes.h"

/* Word i of codes of a format, and a payload's scales as such words. */
uint32_t word_at(const struct assay_format *f, const void *words, int64_t i);
const struct assay_format *scale_format(const struct assay_payload *p);
const void *scale_words(const struct assay_payload *p);

/* Fills explained, looks_like, left, also and share of *out, whose counts are
 * there. A reading explains if it leaves at most a tenth of what differs. */
enum assay_status
scale_reading_find(const struct assay_quantizer *how, const float *x,
                   const struct assay_payload *s, const struct assay_payload *c,
                   struct scale_bytes *out, struct assay_error *err);

#endif
