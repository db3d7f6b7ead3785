/* SPDX-License-Identifier: MIT
 *
 * Private: words of a payload, for counting and for readings.
 */
#ifndef ASSAY_SCALE_READING_H
#define ASSAY_SCALE_READING_H

#include <string.h>

#include "golden/scale_bytes.h"

/* Words of one kind; the payload's. */
struct byte_words {
    const struct assay_format *format;
    int64_t count;
    const void *words;
};
struct byte_words words_of(const struct assay_payload *p, enum byte_kind kind);

/* Word i; bits above the format's are ignored. */
static inline uint32_t word_at(const struct byte_words *w, int64_t i)
{
    uint32_t wide;
    if (w->format->bits <= 8)
        return ((const uint8_t *)w->words)[i] & ((1u << w->format->bits) - 1);
    if (w->format->bits <= 16)
        return ((const uint16_t *)w->words)[i];
    memcpy(&wide, (const char *)w->words + (size_t)i * sizeof wide,
           sizeof wide);
    return wide;
}

/* ---- readings ---- */

struct looking {
    const struct assay_quantizer *how;
    const float *x;
    const struct assay_payload *s, *c;
    struct scale_bytes *out;
    struct assay_error *err;
    /* the best so far; "" before the first */
    const char *kind, *own; /* "scale rule ", "floor" */
    char names[96];         /* "ceil or sage" */
    double left;
};

/* What a reading leaves, by kind; it begins as what differs. */
struct left {
    int64_t of[BYTE_KINDS];
};

/* What differs now. */
struct left reading_left(const struct looking *l);

/* A reading and what it leaves: the best stays. `kind` and `name` are its
 * words, `own` the set's, or NULL. */
void reading_offer(struct looking *l, const struct left *left, const char *kind,
                   const char *name, const char *own);

/* Those that need no values. */
void reading_bytes(struct looking *l);

#endif
