/* SPDX-License-Identifier: MIT */
#include "golden/cast.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/clock.h"

enum { SLAB = 1 << 20 }; /* elements, unless a block scale needs more */

int64_t cast_elems(const struct cast *c)
{
    return c->outer * c->length * c->inner;
}

static struct assay_blocks blocks_of(const struct cast *c, int64_t outer,
                                     int64_t length)
{
    return (struct assay_blocks){ .format = c->to ? c->to : c->from,
                                  .rule = c->rule,
                                  .rounding = c->rounding,
                                  .overflow = c->overflow,
                                  .block = c->block,
                                  .outer = outer,
                                  .length = length,
                                  .inner = c->inner };
}

int64_t cast_scales(const struct cast *c)
{
    struct assay_blocks b = blocks_of(c, c->outer, c->length);
    return c->block ? assay_blocks_scales(&b) : 0;
}

enum assay_status cast_check(const struct cast *c, struct assay_error *err)
{
    struct assay_blocks b = blocks_of(c, c->outer, c->length);
    return c->block ? assay_blocks_check(&b, err) : ASSAY_OK;
}

static uint32_t word_at(const void *words, size_t bytes, int64_t i)
{
    return bytes == 1   ? ((const uint8_t *)words)[i]
           : bytes == 2 ? ((const uint16_t *)words)[i]
                        : ((const uint32_t *)words)[i];
}

enum assay_status cast_check_codes(const struct assay_format *format, int64_t n,
                                   const void *words, struct assay_error *err)
{
    if (format->bits >= 8)
        return ASSAY_OK;
    for (int64_t i = 0; i < n; i++)
        if (((const uint8_t *)words)[i] >> format->bits)
            return assay_fail(
                err, ASSAY_FORMAT,
                "code 0x%02x at index %" PRId64 " has bits above the %d of %s",
                ((const uint8_t *)words)[i], i, format->bits, format->name);
    return ASSAY_OK;
}

/* ---- slabs ---- */

/* A part that can be cast by itself with the scales of the whole: outer rows,
 * or whole blocks of a single row. */
struct slab {
    struct assay_blocks blocks;
    int64_t at, count;        /* elements */
    int64_t scale_at, scales; /* scales */
};

static int64_t slab_unit(const struct cast *c)
{
    if (c->outer != 1 || c->inner != 1)
        return c->length * c->inner;
    return !c->block ? 1 : c->block < c->length ? c->block : c->length;
}

static bool next_slab(const struct cast *c, struct slab *s)
{
    const int64_t all = cast_elems(c), row = c->length * c->inner;
    s->at += s->count;
    s->scale_at += s->scales;
    if (s->at >= all)
        return false;
    int64_t unit = slab_unit(c);
    s->count = unit < SLAB ? SLAB / unit * unit : unit;
    if (s->count > all - s->at)
        s->count = all - s->at;
    s->blocks = c->outer == 1 && c->inner == 1
                    ? blocks_of(c, 1, s->count)
                    : blocks_of(c, s->count / row, c->length);
    s->scales = c->block ? assay_blocks_scales(&s->blocks) : 0;
    /* a bar that comes and goes in a moment is only a flicker */
    if (c->progress && seconds() - c->progress->start > 0.5)
        progress_step(c->progress, s->at, all);
    return true;
}

/* ---- what becomes of the elements ---- */

/* Sizes from which on a value is past the largest one of the format. */
struct reach {
    double limit[2];   /* of positive values, of negative ones */
    bool inclusive[2]; /* the limit itself is past */
    bool infinity;     /* is past as well */
};

static struct reach reach_of(const struct cast *c)
{
    const struct assay_format *to = c->to;
    const float max = assay_format_max(to);
    const double step = assay_format_ulp(to, max);
    const bool odd = to->max_code & 1 || to->top == ASSAY_TOP_POWER;
    struct reach r = { .infinity =
                           c->overflow != ASSAY_SPECIAL || !to->inf_code };
    for (int s = 0; s < 2; s++) {
        const bool low =
            s && to->top == ASSAY_TOP_INTEGER && c->overflow != ASSAY_SYMMETRIC;
        r.limit[s] = (double)max + low +
                     (c->rounding == ASSAY_TOWARD_ZERO ? step : step / 2);
        r.inclusive[s] = c->rounding == ASSAY_TOWARD_ZERO ||
                         c->rounding == ASSAY_TIES_AWAY ||
                         (c->rounding == ASSAY_NEAREST_EVEN && odd && !low);
    }
    return r;
}

/* Whether the word is a zero of the format. */
static bool is_zero(const struct assay_format *format, uint32_t word)
{
    const uint32_t sign =
        format->zero == ASSAY_ZERO_SIGNED ? 1u << (format->bits - 1) : 0;
    return format->zero != ASSAY_ZERO_NONE && (word & ~sign) == 0;
}

/* One value x that became `word`; the format sees x * factor. */
static void count_value(const struct cast *c, const struct reach *r, float x,
                        double factor, uint32_t word,
                        struct cast_counts *counts)
{
    const double size = fabs((double)x) * factor;
    const int low = signbit(x) != 0;
    if (isnan(x) ||
        (c->to->top == ASSAY_TOP_POWER && !(x > 0) && word == c->to->nan_code))
        counts->nan++;
    else if (isinf(x)                ? r->infinity
             : size == r->limit[low] ? r->inclusive[low]
                                     : size > r->limit[low])
        counts->over++;
    else if (x != 0 && is_zero(c->to, word))
        counts->zero++;
}

static void count_slab(const struct cast *c, const struct slab *s,
                       const float *x, const void *words, const uint8_t *scales,
                       struct cast_counts *counts)
{
    const struct reach r = reach_of(c);
    const size_t bytes = assay_format_bytes(c->to);
    const struct assay_blocks *b = &s->blocks;
    double factor[256];
    if (!c->block) {
        for (int64_t i = 0; i < s->count; i++)
            count_value(c, &r, x[i], 1, word_at(words, bytes, i), counts);
        return;
    }
    for (int i = 0; i < 256; i++)
        factor[i] = ldexp(1, 127 - i);
    for (int64_t o = 0, at = 0; o < b->outer; o++, scales += b->inner)
        for (int64_t l = 0; l < b->length; l++) {
            scales += l && l % b->block == 0 ? b->inner : 0;
            for (int64_t i = 0; i < b->inner; i++, at++)
                count_value(c, &r, x[at], factor[scales[i]],
                            word_at(words, bytes, at), counts);
        }
}

/* ---- casts ---- */

enum assay_status cast_encode(const struct cast *c, const void *in, void *out,
                              uint8_t *scales, struct cast_counts *counts,
                              struct assay_error *err)
{
    const size_t from = assay_format_bytes(c->from),
                 to = assay_format_bytes(c->to);
    const int64_t unit = slab_unit(c);
    float *values = NULL;
    enum assay_status st = ASSAY_OK;
    *counts = (struct cast_counts){ 0 };
    if (c->from->id != ASSAY_F32)
        st = assay_alloc("values", unit > SLAB ? unit : SLAB, sizeof *values,
                         &values, err);
    struct slab s = { 0 };
    while (st == ASSAY_OK && next_slab(c, &s)) {
        const char *words = (const char *)in + (size_t)s.at * from;
        char *codes = (char *)out + (size_t)s.at * to;
        uint8_t *scale = c->block ? scales + s.scale_at : NULL;
        const float *x = values;
        if (values)
            assay_format_decode(c->from, (size_t)s.count, words, values);
        else
            x = (const float *)in + s.at;
        if (c->block)
            assay_blocks_encode(&s.blocks, x, (uint8_t *)codes, scale);
        else
            assay_format_encode(c->to, c->rounding, c->overflow,
                                (size_t)s.count, x, codes);
        count_slab(c, &s, x, codes, scale, counts);
        for (int64_t i = 0; i < s.scales; i++)
            counts->nan_scales += scale[i] == 0xff;
    }
    assay_free(values);
    return st;
}

void cast_decode(const struct cast *c, const void *in, const uint8_t *scales,
                 float *out)
{
    const size_t from = assay_format_bytes(c->from);
    struct slab s = { 0 };
    while (next_slab(c, &s)) {
        const char *words = (const char *)in + (size_t)s.at * from;
        if (!c->block) {
            assay_format_decode(c->from, (size_t)s.count, words, out + s.at);
            continue;
        }
        assay_blocks_decode(&s.blocks, (const uint8_t *)words,
                            scales + s.scale_at, out + s.at);
    }
}
