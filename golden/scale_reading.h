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

#endif
