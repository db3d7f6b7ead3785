/* SPDX-License-Identifier: MIT
 *
 * Payload and scale bytes of a quantizer: counts, steps and a sentence.
 */
#include "scale_bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scale_reading.h"

/* ---- shapes ---- */

static bool product(const int64_t *sizes, int n, int64_t *out)
{
    *out = 1;
    for (int i = 0; i < n; i++)
        if (sizes[i] < 0 || __builtin_mul_overflow(*out, sizes[i], out))
            return false;
    return true;
}

/* How many scales a payload has; false where that cannot be counted. */
static bool scales_wanted(const struct assay_payload *p, int64_t *n)
{
    const struct assay_tensor *t = &p->tensor;
    switch (p->scale) {
    case ASSAY_SCALE_NONE: return product(NULL, 0, n) && (*n = 0, true);
    case ASSAY_SCALE_TENSOR: return product(NULL, 0, n);
    case ASSAY_SCALE_HEAD: return product((int64_t[]){ t->b, t->h }, 2, n);
    case ASSAY_SCALE_TOKEN:
        return product((int64_t[]){ t->b, t->s, t->h }, 3, n);
    case ASSAY_SCALE_CHANNEL:
        return product((int64_t[]){ t->b, t->h, t->d }, 3, n);
    case ASSAY_SCALE_BLOCK:
        return product(
            (int64_t[]){ t->b, t->s, t->h, t->d / 32 + (t->d % 32 > 0) }, 4, n);
    case ASSAY_SCALE_BLOCK_TOKENS:
        return product(
            (int64_t[]){ t->b, t->h, 4, t->s / 128 + (t->s % 128 > 0), t->d },
            5, n);
    case ASSAY_SCALES: break;
    }
    return false;
}

static enum assay_status whole(const char *operand, const char *whose,
                               const struct assay_payload *p,
                               struct assay_error *err)
{
    const struct assay_tensor *t = &p->tensor;
    const bool e8m0 =
        p->scale == ASSAY_SCALE_BLOCK || p->scale == ASSAY_SCALE_BLOCK_TOKENS;
    int64_t codes, scales;
    if (!p->format ||
        !product((int64_t[]){ t->b, t->s, t->h, t->d }, 4, &codes) ||
        !scales_wanted(p, &scales))
        return assay_fail(err, ASSAY_SHAPE,
                          "%s of the %s is no payload: [%" PRId64 ", %" PRId64
                          ", %" PRId64 ", %" PRId64 "]",
                          operand, whose, t->b, t->s, t->h, t->d);
    if (p->count != codes || p->n_scales != scales)
        return assay_fail(err, ASSAY_SHAPE,
                          "%s of the %s has %" PRId64 " codes and %" PRId64
                          " scales instead of %" PRId64 " and %" PRId64,
                          operand, whose, p->count, p->n_scales, codes, scales);
    if ((codes > 0 && !p->codes) ||
        (scales > 0 && !(e8m0 ? (void *)p->e8m0 : (void *)p->scales)))
        return assay_fail(err, ASSAY_SHAPE,
                          "%s of the %s lacks its codes or scales", operand,
                          whose);
    return ASSAY_OK;
}

static enum assay_status comparable(const char *operand,
                                    const struct assay_payload *s,
                                    const struct assay_payload *c,
                                    struct assay_error *err)
{
    const struct assay_tensor *a = &s->tensor, *b = &c->tensor;
    enum assay_status st = whole(operand, "set", s, err);
    if (st == ASSAY_OK)
        st = whole(operand, "candidate", c, err);
    if (st != ASSAY_OK)
        return st;
    if (s->format != c->format || s->scale != c->scale || a->b != b->b ||
        a->s != b->s || a->h != b->h || a->d != b->d || a->order != b->order)
        return assay_fail(
            err, ASSAY_SHAPE,
            "%s is %s with scales %s [%" PRId64 ", %" PRId64 ", %" PRId64
            ", %" PRId64 "] in the set, %s with %s [%" PRId64 ", %" PRId64
            ", %" PRId64 ", %" PRId64 "] in the candidate",
            operand, s->format->name, assay_scale_get(s->scale)->name, a->b,
            a->s, a->h, a->d, c->format->name, assay_scale_get(c->scale)->name,
            b->b, b->s, b->h, b->d);
    return ASSAY_OK;
}

/* ---- steps ---- */

enum class { FINITE, INFINITE, NOT_A_NUMBER };

static enum class class_of(const struct assay_format *f, uint32_t code) {
    float v = assay_format_decode_one(f, code); return v != v ? NOT_A_NUMBER
                                                       : v - v != 0 ? INFINITE
                                                                    : FINITE;
}

static int64_t magnitude(const struct assay_format *f, uint32_t code)
{
    return (int64_t)(code & ((UINT64_C(1) << (f->bits - 1)) - 1));
}

/* Place on the format's number line: int8 is two's complement, E8M0 has no
 * sign, the others are sign and magnitude. */
static int64_t line(const struct assay_format *f, uint32_t code)
{
    const uint64_t top = UINT64_C(1) << (f->bits - 1);
    if (!f->sign)
        return code;
    if (f->top == ASSAY_TOP_INTEGER)
        return (int64_t)code - ((code & top) ? (int64_t)(2 * top) : 0);
    return code & top ? -magnitude(f, code) : magnitude(f, code);
}

static void count_step(const struct assay_format *f, uint32_t s, uint32_t c,
                       struct byte_steps *to)
{
    int64_t by = line(f, c) - line(f, s);
    if (class_of(f, s) != class_of(f, c))
        to->classes++;
    else if (f->sign &&
             (f->top == ASSAY_TOP_INTEGER ? line(f, s) == -line(f, c)
                                          : magnitude(f, s) == magnitude(f, c)))
        to->signs++;
    else {
        by = by < -STEPS_MOST ? -STEPS_MOST : by > STEPS_MOST ? STEPS_MOST : by;
        to->bins[by + STEPS_MOST]++;
    }
}

static void compare_words(const struct assay_format *f, int64_t n,
                          const void *s, const void *c, struct byte_steps *to)
{
    *to = (struct byte_steps){ .count = n, .first = { .index = -1 } };
    for (int64_t i = 0; i < n; i++) {
        uint32_t a = word_at(f, s, i), b = word_at(f, c, i);
        if (a == b)
            continue;
        if (to->differ++ == 0)
            to->first = (struct byte_place){ i, 0, 0, -1, -1, a, b };
        count_step(f, a, b, to);
    }
}

/* ---- places ---- */

static void place_code(const struct assay_tensor *t, struct byte_place *at)
{
    int64_t i = at->index;
    if (i < 0)
        return;
    at->channel = i % t->d;
    at->head = i / t->d % t->h;
    at->token = i / t->d / t->h % t->s;
    at->batch = i / t->d / t->h / t->s;
}

static void place_scale(const struct assay_payload *p, struct byte_place *at)
{
    const struct assay_tensor *t = &p->tensor;
    const bool channels =
        p->scale == ASSAY_SCALE_CHANNEL || p->scale == ASSAY_SCALE_BLOCK_TOKENS;
    int64_t i = at->index, blocks = (t->d + 31) / 32;
    if (i < 0 || p->scale == ASSAY_SCALE_TENSOR)
        return;
    if (channels || p->scale == ASSAY_SCALE_BLOCK) {
        const int64_t n = channels ? t->d : blocks;
        at->channel = i % n;
        i /= n;
    }
    if (p->scale == ASSAY_SCALE_BLOCK_TOKENS) {
        const int64_t n = (t->s + 127) / 128 * 4;
        at->token = i % n;
        i /= n;
    }
    at->head = i % t->h;
    i /= t->h;
    if (p->scale == ASSAY_SCALE_BLOCK || p->scale == ASSAY_SCALE_TOKEN) {
        at->token = i % t->s;
        i /= t->s;
    }
    at->batch = i;
}

/* ---- the sentence ---- */

static const char *unit_of(const struct assay_payload *p, bool scales)
{
    return !scales ? "step" : p->e8m0 ? "octave" : "ulp";
}

static int tell_steps(char *to, size_t size, const char *what, const char *unit,
                      const struct byte_steps *b)
{
    int n = snprintf(to, size, "%" PRId64 " of %" PRId64 " %s differ",
                     b->differ, b->count, what);
    if (b->signs == b->differ && b->differ > 0)
        return n + snprintf(to + n, size - (size_t)n, ", all in sign alone");
    for (int i = 0; i < STEP_BINS; i++)
        if (b->differ > 0 && b->bins[i] == b->differ)
            n += snprintf(to + n, size - (size_t)n, ", all by %+d %s%s%s",
                          i - STEPS_MOST, unit,
                          i == STEPS_MOST - 1 || i == STEPS_MOST + 1 ? "" : "s",
                          i == 0 || i == STEP_BINS - 1 ? " or more" : "");
    return n;
}

static void tell(const char *operand, const struct assay_payload *s,
                 struct scale_bytes *o)
{
    const size_t size = sizeof o->sentence;
    char *to = o->sentence;
    if (o->codes.differ + o->scales.differ == 0) {
        snprintf(to, size, "%s: all codes and scales are equal", operand);
        return;
    }
    int n = snprintf(to, size, "%s: ", operand);
    if (o->scales.count > 0) {
        n += tell_steps(to + n, size - (size_t)n, "scales", unit_of(s, true),
                        &o->scales);
        n += snprintf(to + n, size - (size_t)n, "; ");
    }
    n += tell_steps(to + n, size - (size_t)n, "codes", unit_of(s, false),
                    &o->codes);
    if (!o->explained)
        snprintf(to + n, size - (size_t)n, ": nothing tried explains them");
    else if (o->left > 0)
        snprintf(to + n, size - (size_t)n,
                 ": looks like %s, but for %" PRId64 " bytes", o->looks_like,
                 o->left);
    else if (o->also > 0)
        snprintf(to + n, size - (size_t)n,
                 ": %s gives all of them, as %d other%s would", o->looks_like,
                 o->also, o->also == 1 ? "" : "s");
    else
        snprintf(to + n, size - (size_t)n, ": %s gives all of them",
                 o->looks_like);
}

enum assay_status
scale_bytes_compare(const char *operand, const struct assay_quantizer *how,
                    const float *x, const struct assay_payload *s,
                    const struct assay_payload *c, struct scale_bytes *out,
                    struct assay_error *err)
{
    *out = (struct scale_bytes){ .share = 1 };
    enum assay_status st = comparable(operand, s, c, err);
    if (st != ASSAY_OK)
        return st;
    compare_words(s->format, s->count, s->codes, c->codes, &out->codes);
    compare_words(scale_format(s), s->n_scales, scale_words(s), scale_words(c),
                  &out->scales);
    place_code(&s->tensor, &out->codes.first);
    place_scale(s, &out->scales.first);
    if (out->codes.differ + out->scales.differ > 0)
        st = scale_reading_find(how, x, s, c, out, err);
    tell(operand, s, out);
    return st;
}
