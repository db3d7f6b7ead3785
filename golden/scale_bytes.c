/* SPDX-License-Identifier: MIT
 *
 * Payload and scale bytes of a quantizer: counts, steps and a sentence.
 */
#include "golden/scale_bytes.h"

#include <inttypes.h>

#include "golden/scale_reading.h"
#include "golden/set_layout.h"
#include "golden/term.h"

/* ---- what there is of a kind ---- */

const char *byte_kind_name(enum byte_kind kind)
{
    static const char *const names[BYTE_KINDS] = {
        [BYTES_SCALES] = "scale",
        [BYTES_CODES] = "code",
        [BYTES_PAST] = "tail code",
    };
    return names[kind];
}

int64_t byte_kind_count(enum byte_kind kind, enum assay_scale scale,
                        const struct assay_tensor *t)
{
    switch (kind) {
    case BYTES_CODES: return t->b * t->s * t->h * t->d;
    case BYTES_SCALES: return assay_scale_count(scale, t);
    default:
        return scale == ASSAY_SCALE_BLOCK_TOKENS ? assay_scale_count(scale, t)
                                                 : 0;
    }
}

const struct assay_format *byte_kind_format(enum byte_kind kind,
                                            const struct assay_format *codes,
                                            enum assay_scale scale)
{
    if (kind != BYTES_SCALES)
        return codes;
    return assay_format_get(is_e8m0(scale) ? ASSAY_E8M0 : ASSAY_F32);
}

struct byte_words words_of(const struct assay_payload *p, enum byte_kind kind)
{
    const void *const scales =
        is_e8m0(p->scale) ? (const void *)p->e8m0 : (const void *)p->scales;
    const void *const all[BYTE_KINDS] = { [BYTES_SCALES] = scales,
                                          [BYTES_CODES] = p->codes,
                                          [BYTES_PAST] = p->past };
    return (struct byte_words){ byte_kind_format(kind, p->format, p->scale),
                                byte_kind_count(kind, p->scale, &p->tensor),
                                all[kind] };
}

/* ---- shapes ---- */

static enum assay_status whole(const char *operand, const char *whose,
                               const struct assay_payload *p,
                               bool tails_may_lack, struct assay_error *err)
{
    enum assay_status st = assay_tensor_check(&p->tensor, err);
    if (st != ASSAY_OK || !p->format || p->scale >= ASSAY_SCALES)
        return st != ASSAY_OK
                   ? assay_fail_in(err, st, "%s of the %s", operand, whose)
                   : assay_fail(err, ASSAY_SHAPE,
                                "%s of the %s has no format, or scales of "
                                "kind %d",
                                operand, whose, (int)p->scale);
    const int64_t codes = words_of(p, BYTES_CODES).count,
                  scales = words_of(p, BYTES_SCALES).count;
    if (p->count != codes || p->n_scales != scales)
        return assay_fail(err, ASSAY_SHAPE,
                          "%s of the %s has %" PRId64 " codes and %" PRId64
                          " scales instead of %" PRId64 " and %" PRId64,
                          operand, whose, p->count, p->n_scales, codes, scales);
    for (int k = 0; k < BYTE_KINDS; k++) {
        const struct byte_words w = words_of(p, (enum byte_kind)k);
        const bool may_lack = tails_may_lack && k == BYTES_PAST;
        if (w.count > 0 && !w.words && !may_lack)
            return assay_fail(err, ASSAY_SHAPE, "%s of the %s lacks its %ss",
                              operand, whose,
                              byte_kind_name((enum byte_kind)k));
    }
    return ASSAY_OK;
}

static enum assay_status comparable(const char *operand,
                                    const struct assay_payload *s,
                                    const struct assay_payload *c,
                                    struct assay_error *err)
{
    const struct assay_tensor *a = &s->tensor, *b = &c->tensor;
    enum assay_status st = whole(operand, "set", s, false, err);
    if (st == ASSAY_OK)
        st = whole(operand, "candidate", c, true, err);
    if (st != ASSAY_OK)
        return st;
    if (s->format == c->format && s->scale == c->scale && a->b == b->b &&
        a->s == b->s && a->h == b->h && a->d == b->d && a->order == b->order)
        return ASSAY_OK;
    return assay_fail(
        err, ASSAY_SHAPE,
        "%s is %s with scales %s [%" PRId64 ", %" PRId64 ", %" PRId64
        ", %" PRId64 "] in order %s in the set, %s with %s [%" PRId64
        ", %" PRId64 ", %" PRId64 ", %" PRId64 "] in order %s in the candidate",
        operand, s->format->name, assay_scale_get(s->scale)->name, a->b, a->s,
        a->h, a->d, assay_token_order_name(a->order), c->format->name,
        assay_scale_get(c->scale)->name, b->b, b->s, b->h, b->d,
        assay_token_order_name(b->order));
}

/* ---- steps ---- */

enum number_class { FINITE, INFINITE, NOT_A_NUMBER };

static enum number_class class_of(const struct assay_format *f, uint32_t code)
{
    const float v = assay_format_decode_one(f, code);
    return v != v ? NOT_A_NUMBER : v - v != 0 ? INFINITE : FINITE;
}

/* Place on the format's number line: int8 is two's complement, E8M0 has no
 * sign, the others are sign and magnitude. */
static int64_t line(const struct assay_format *f, uint32_t code)
{
    const int64_t top = INT64_C(1) << (f->bits - 1),
                  magnitude = code & (top - 1);
    if (!f->sign || !(code & top))
        return code;
    return f->top == ASSAY_TOP_INTEGER ? magnitude - top : -magnitude;
}

static void count_step(const struct assay_format *f, uint32_t s, uint32_t c,
                       struct byte_steps *to)
{
    const int64_t a = line(f, s), b = line(f, c);
    int64_t by = b - a;
    if (class_of(f, s) != class_of(f, c))
        to->classes++;
    else if (f->sign && a == -b)
        to->signs++;
    else {
        by = by < -STEPS_MOST ? -STEPS_MOST : by > STEPS_MOST ? STEPS_MOST : by;
        to->bins[by + STEPS_MOST]++;
    }
}

static struct byte_steps compare_words(struct byte_words s, struct byte_words c)
{
    struct byte_steps to = { .count = c.words ? s.count : 0, .first = -1 };
    const size_t bytes = (size_t)s.count * assay_format_bytes(s.format);
    if (to.count == 0 || memcmp(s.words, c.words, bytes) == 0)
        return to;
    for (int64_t i = 0; i < s.count; i++) {
        const uint32_t a = word_at(&s, i), b = word_at(&c, i);
        if (a == b)
            continue;
        if (to.differ++ == 0) {
            to.first = i;
            to.first_set = a;
            to.first_candidate = b;
        }
        count_step(s.format, a, b, &to);
    }
    return to;
}

enum assay_status scale_bytes_compare(const char *operand,
                                      const struct assay_payload *s,
                                      const struct assay_payload *c,
                                      struct scale_bytes *out,
                                      struct assay_error *err)
{
    *out = (struct scale_bytes){ 0 };
    enum assay_status st = comparable(operand, s, c, err);
    if (st != ASSAY_OK)
        return st;
    out->there = true;
    for (int k = 0; k < BYTE_KINDS; k++)
        out->steps[k] = compare_words(words_of(s, (enum byte_kind)k),
                                      words_of(c, (enum byte_kind)k));
    return ASSAY_OK;
}

double scale_bytes_differ(const struct scale_bytes *b)
{
    double sum = 0;
    for (int k = 0; k < BYTE_KINDS; k++)
        sum += (double)b->steps[k].differ;
    return sum;
}

double scale_bytes_explains(const struct scale_bytes *b)
{
    const double differ = scale_bytes_differ(b);
    double left = 0;
    for (int k = 0; k < BYTE_KINDS; k++)
        left += (double)b->steps[k].left;
    return b->looks_like[0] && left < differ ? 1 - left / differ : 0;
}

/* ---- the sentence ---- */

struct told {
    const struct scale_bytes *b;
    const struct assay_format *format;
    enum assay_scale scale;
    struct assay_tensor tensor;
    char *text;
    size_t size;
};

#define ADD(t, ...) text_append((t)->text, (t)->size, __VA_ARGS__)

/* " (280 by 1 step, 20 by 2 steps or more, 12 in sign alone)" */
static void tell_mixed(const struct told *t, const struct byte_steps *b,
                       const char *unit)
{
    const int64_t one = b->bins[STEPS_MOST - 1] + b->bins[STEPS_MOST + 1],
                  more = b->differ - one - b->signs - b->classes;
    const char *before = " (";
    if (one == b->differ) {
        ADD(t, ", all by 1 %s up or down", unit);
        return;
    }
    if (more == b->differ) {
        ADD(t, ", all by 2 %ss or more", unit);
        return;
    }
    if (one > 0)
        ADD(t, "%s%" PRId64 " by 1 %s", before, one, unit), before = ", ";
    if (more > 0)
        ADD(t, "%s%" PRId64 " by 2 %ss or more", before, more, unit),
            before = ", ";
    if (b->signs > 0)
        ADD(t, "%s%" PRId64 " in sign alone", before, b->signs), before = ", ";
    if (b->classes > 0)
        ADD(t, "%s%" PRId64 " in being finite, infinite or NaN", before,
            b->classes);
    ADD(t, ")");
}

/* "312 of 4096 scales differ, all by +1 octave" */
static void tell_steps(const struct told *t, enum byte_kind kind)
{
    const struct byte_steps *b = &t->b->steps[kind];
    const char *unit = kind != BYTES_SCALES ? "step"
                       : is_e8m0(t->scale)  ? "octave"
                                            : "ulp";
    const char *all = b->differ == 1 ? "" : ", all";
    bool uniform = b->signs == b->differ || b->classes == b->differ;
    ADD(t, "%" PRId64 " of %" PRId64 " %s%s differ%s", b->differ, b->count,
        byte_kind_name(kind), plural(b->count), b->differ == 1 ? "s" : "");
    if (b->signs == b->differ)
        ADD(t, "%s in sign alone", all);
    if (b->classes == b->differ)
        ADD(t, "%s in being finite, infinite or NaN", all);
    for (int i = 0; i < STEP_BINS; i++) {
        if (b->bins[i] != b->differ)
            continue;
        uniform = true;
        ADD(t, "%s by %+d %s%s%s", all, i - STEPS_MOST, unit,
            i == STEPS_MOST - 1 || i == STEPS_MOST + 1 ? "" : "s",
            i == 0 || i == STEP_BINS - 1 ? " or more" : "");
    }
    if (!uniform)
        tell_mixed(t, b, unit);
}

/* ", the first at batch 0, token 5, head 1, channel 33: 0x31, should be 0x30"
 */
static void tell_first(const struct told *t, enum byte_kind kind)
{
    static const char *const axes[ASSAY_SCALES][ASSAY_SCALE_AXES] = {
        [ASSAY_SCALE_NONE] = { "batch", "token", "head",
                               "channel" }, /* codes */
        [ASSAY_SCALE_TENSOR] = { "scale" },
        [ASSAY_SCALE_HEAD] = { "batch", "head" },
        [ASSAY_SCALE_TOKEN] = { "batch", "token", "head" },
        [ASSAY_SCALE_CHANNEL] = { "batch", "head", "channel" },
        [ASSAY_SCALE_BLOCK] = { "batch", "token", "head", "block" },
        [ASSAY_SCALE_BLOCK_TOKENS] = { "batch", "head", "block", "channel" },
    };
    const struct byte_steps *b = &t->b->steps[kind];
    const enum assay_scale of =
        kind == BYTES_CODES ? ASSAY_SCALE_NONE : t->scale;
    int64_t sizes[ASSAY_SCALE_AXES] = { t->tensor.b, t->tensor.s, t->tensor.h,
                                        t->tensor.d };
    const int n = kind == BYTES_CODES
                      ? ASSAY_SCALE_AXES
                      : assay_scale_sizes(t->scale, &t->tensor, sizes);
    int64_t stride = b->count, at = b->first;
    ADD(t, ", %sat", b->differ == 1 ? "" : "the first ");
    for (int i = 0; i < n; i++) {
        stride /= sizes[i];
        ADD(t, "%s %s %" PRId64, i ? "," : "", axes[of][i], at / stride);
        at %= stride;
    }
    ADD(t, ": 0x%" PRIx64 ", should be 0x%" PRIx64,
        (uint64_t)b->first_candidate, (uint64_t)b->first_set);
}

/* ": codes agree under it, 3 scales differ" */
static void tell_agreement(const struct told *t)
{
    const struct scale_bytes *b = t->b;
    int equal = 0;
    int64_t left = 0;
    for (int k = 0; k < BYTE_KINDS; k++)
        if (b->steps[k].count > 0 && b->steps[k].left == 0)
            ADD(t, "%s%ss", equal++ ? " and " : ": ",
                byte_kind_name((enum byte_kind)k));
    ADD(t, "%s", equal ? " agree under it" : "");
    for (int k = 0; k < BYTE_KINDS; k++) {
        const int64_t n = b->steps[k].left;
        if (n == 0)
            continue;
        ADD(t, "%s%" PRId64 " %s%s",
            left > 0 ? " and "
            : equal  ? ", "
                     : ": ",
            n, byte_kind_name((enum byte_kind)k), plural(n));
        left += n;
    }
    if (left > 0)
        ADD(t, " differ%s%s", left == 1 ? "s" : "", equal ? "" : " under it");
    if (b->also > 0)
        ADD(t, " (%" PRId64 " other reading%s as well)", b->also,
            b->also == 1 ? " does" : "s do");
}

void scale_bytes_tell(const struct assay_recipe *recipe,
                      const struct assay_problem *p, enum assay_input input,
                      const struct scale_bytes *b, char *text, size_t size)
{
    const struct assay_quantizer *how = assay_recipe_quantizer(recipe, input);
    const struct told t = { b,          assay_format_get(how->format),
                            how->scale, assay_recipe_tensor(recipe, p, input),
                            text,       size };
    const bool alike = scale_bytes_explains(b) >= SCALE_BYTES_ALIKE;
    const char *before = "";
    if (scale_bytes_differ(b) == 0)
        return;
    ADD(&t, "%s: ", assay_input_name(input));
    for (int k = 0; k < BYTE_KINDS; k++) {
        if (b->steps[k].differ == 0)
            continue;
        ADD(&t, "%s", before);
        tell_steps(&t, (enum byte_kind)k);
        if (!alike)
            tell_first(&t, (enum byte_kind)k);
        before = "; ";
    }
    if (alike) {
        ADD(&t, "; looks like %s", b->looks_like);
        tell_agreement(&t);
    } else if (b->looks_like[0])
        ADD(&t, "; nothing tried explains them, nearest is %s, for %.0f %%",
            b->looks_like, 100 * scale_bytes_explains(b));
    else
        ADD(&t, "; nothing tried explains them");
}
