/* SPDX-License-Identifier: MIT
 *
 * Readings of a quantizer's bytes from the bytes alone: codes of a pair
 * swapped, heads before tokens, scales transposed or late, subnormals flushed
 * and NaN at the top.
 */
#include "golden/scale_reading.h"
#include "golden/set_layout.h"

/* How many words of c differ from s [outer, m, n, inner] with m and n
 * swapped. */
static int64_t unlike_swapped(struct byte_words s, struct byte_words c,
                              int64_t outer, int64_t m, int64_t n,
                              int64_t inner)
{
    int64_t differ = 0, to = 0;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                for (int64_t e = 0; e < inner; e++, to++)
                    differ += word_at(&c, to) !=
                              word_at(&s, ((o * m + i) * n + j) * inner + e);
    return differ;
}

static void try_swapped(struct looking *l, enum byte_kind kind, int64_t outer,
                        int64_t m, int64_t n, int64_t inner, const char *name)
{
    struct left left = reading_left(l);
    if (m < 2 || n < 2)
        return;
    left.of[kind] = unlike_swapped(words_of(l->s, kind), words_of(l->c, kind),
                                   outer, m, n, inner);
    reading_offer(l, &left, "", name, NULL);
}

static void try_pairs(struct looking *l)
{
    const struct byte_words s = words_of(l->s, BYTES_CODES),
                            c = words_of(l->c, BYTES_CODES);
    struct left left = reading_left(l);
    if (l->s->tensor.d % 2 != 0)
        return;
    left.of[BYTES_CODES] = 0;
    for (int64_t i = 0; i < s.count; i++)
        left.of[BYTES_CODES] += word_at(&c, i) != word_at(&s, i ^ 1);
    reading_offer(l, &left, "",
                  s.format->bits == 4 ? "the two nibbles of a byte swapped"
                                      : "codes of each pair swapped",
                  NULL);
}

/* Of floats, where code 0 is 0 and the sign may stay or go. */
static void try_flushed(struct looking *l)
{
    const struct byte_words s = words_of(l->s, BYTES_CODES),
                            c = words_of(l->c, BYTES_CODES);
    const struct assay_format *f = s.format;
    struct left left = reading_left(l);
    if (f->top == ASSAY_TOP_INTEGER || f->bits > 8 || !f->sign)
        return;
    const uint32_t sign = 1u << (f->bits - 1), normal = 1u << f->man_bits;
    left.of[BYTES_CODES] = 0;
    for (int64_t i = 0; i < s.count; i++) {
        const uint32_t is = word_at(&c, i), was = word_at(&s, i);
        left.of[BYTES_CODES] +=
            (was & ~sign) < normal ? (is & ~sign) != 0 : is != was;
    }
    reading_offer(l, &left, "", "subnormal codes flushed to zero", NULL);
}

/* NaN where the largest code is due, as where an encoder takes that for an
 * overflow. */
static void try_nan_at_top(struct looking *l)
{
    const struct byte_words s = words_of(l->s, BYTES_CODES),
                            c = words_of(l->c, BYTES_CODES);
    const struct assay_format *f = s.format;
    struct left left = reading_left(l);
    if (!f->nan_code || f->bits > 8)
        return;
    const uint32_t sign = f->sign ? 1u << (f->bits - 1) : 0;
    left.of[BYTES_CODES] = 0;
    for (int64_t i = 0; i < s.count; i++) {
        const uint32_t is = word_at(&c, i), was = word_at(&s, i);
        const float v = assay_format_decode_one(f, is);
        left.of[BYTES_CODES] +=
            (was & ~sign) == f->max_code ? v == v : is != was;
    }
    reading_offer(l, &left, "", "NaN in place of the largest code", NULL);
}

/* Each the one of the place before, as where a loop writes what it had. */
static void try_late(struct looking *l)
{
    const struct byte_words s = words_of(l->s, BYTES_SCALES),
                            c = words_of(l->c, BYTES_SCALES);
    struct left left = reading_left(l);
    if (s.count < 2)
        return;
    left.of[BYTES_SCALES] = 0;
    for (int64_t i = 1; i < s.count; i++)
        left.of[BYTES_SCALES] += word_at(&c, i) != word_at(&s, i - 1);
    reading_offer(l, &left, "", "scales one place late", NULL);
}

static void try_axes(struct looking *l)
{
    const struct assay_tensor *t = &l->s->tensor;
    int64_t n[ASSAY_SCALE_AXES];
    try_swapped(l, BYTES_CODES, t->b, t->s, t->h, t->d,
                "codes of heads before tokens");
    assay_scale_sizes(l->s->scale, t, n);
    if (l->s->scale == ASSAY_SCALE_TOKEN)
        try_swapped(l, BYTES_SCALES, n[0], n[1], n[2], 1,
                    "scales of heads before tokens");
    if (l->s->scale == ASSAY_SCALE_BLOCK) {
        try_swapped(l, BYTES_SCALES, n[0], n[1], n[2], n[3],
                    "scales of heads before tokens");
        try_swapped(l, BYTES_SCALES, n[0], n[1] * n[2], n[3], 1,
                    "scales of blocks before tokens");
    }
    if (l->s->scale == ASSAY_SCALE_BLOCK_TOKENS)
        try_swapped(l, BYTES_SCALES, n[0] * n[1], n[2], n[3], 1,
                    "scales of channels before blocks");
}

void reading_bytes(struct looking *l)
{
    try_pairs(l);
    try_axes(l);
    try_late(l);
    try_flushed(l);
    try_nan_at_top(l);
}
