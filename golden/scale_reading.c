/* SPDX-License-Identifier: MIT
 *
 * Readings of a quantizer's bytes that need its values: every scale rule, other
 * overflow, token order and rounding, and the delivered scales. The best of
 * these and of those of golden/scale_reading_bytes.c is told.
 */
#include "golden/scale_reading.h"

#include <math.h>
#include <stdio.h>

#include "assay/memory.h"
#include "golden/set_layout.h"
#include "golden/term.h"

/* A reading that explains less is chance. */
#define EXPLAINS_LEAST 0.25

struct left reading_left(const struct looking *l)
{
    struct left left;
    for (int k = 0; k < BYTE_KINDS; k++)
        left.of[k] = l->out->steps[k].differ;
    return left;
}

/* Another name of as good a reading; where it has no room it is counted. */
static void offer_equal(struct looking *l, const char *kind, const char *name)
{
    static const char or [] = " or ";
    if (strcmp(kind, l->kind) != 0 || strlen(l->names) + sizeof or
        +strlen(name) > sizeof l->names)
        l->out->also++;
    else
        text_append(l->names, sizeof l->names, "%s%s", or, name);
}

void reading_offer(struct looking *l, const struct left *left, const char *kind,
                   const char *name, const char *own)
{
    double sum = 0;
    for (int k = 0; k < BYTE_KINDS; k++)
        sum += (double)left->of[k];
    if (l->names[0] && sum == l->left) {
        offer_equal(l, kind, name);
        return;
    }
    if (l->names[0] && sum > l->left)
        return;
    snprintf(l->names, sizeof l->names, "%s", name);
    l->kind = kind;
    l->own = own;
    l->left = sum;
    l->out->also = 0;
    for (int k = 0; k < BYTE_KINDS; k++)
        l->out->steps[k].left = left->of[k];
}

/* ---- readings of the values ---- */

static int64_t unlike(const struct assay_payload *a,
                      const struct assay_payload *b, enum byte_kind kind)
{
    const struct byte_words x = words_of(a, kind), y = words_of(b, kind);
    int64_t differ = 0;
    for (int64_t i = 0; y.words && i < x.count; i++)
        differ += word_at(&x, i) != word_at(&y, i);
    return differ;
}

static enum assay_status try_how(struct looking *l,
                                 const struct assay_quantizer *how,
                                 enum assay_token_order order, const char *kind,
                                 const char *name, const char *own)
{
    struct assay_tensor t = l->s->tensor;
    struct assay_payload p = { 0 };
    struct left left;
    t.order = order;
    enum assay_status st = assay_quantize(how, &t, l->x, &p, l->err);
    for (int k = 0; st == ASSAY_OK && k < BYTE_KINDS; k++)
        left.of[k] = unlike(&p, l->c, (enum byte_kind)k);
    if (st == ASSAY_OK)
        reading_offer(l, &left, kind, name, own);
    assay_payload_free(&p);
    return st;
}

static enum assay_status try_rules(struct looking *l)
{
    const bool e8m0 = is_e8m0(l->s->scale);
    const int n = l->s->scale == ASSAY_SCALE_NONE ? 0
                  : e8m0                          ? (int)ASSAY_SCALE_RULES
                                                  : (int)ASSAY_F32_RULES;
    enum assay_status st = ASSAY_OK;
    for (int i = 0; i < n && st == ASSAY_OK; i++) {
        struct assay_quantizer how = *l->how;
        if ((e8m0 ? (int)how.scale_rule : (int)how.f32_rule) == i)
            continue;
        if (e8m0)
            how.scale_rule = (enum assay_scale_rule_id)i;
        else
            how.f32_rule = (enum assay_f32_rule_id)i;
        st = try_how(l, &how, l->s->tensor.order, "scale rule ",
                     assay_quantizer_rule_name(&how),
                     assay_quantizer_rule_name(l->how));
    }
    return st;
}

static enum assay_status try_overflows(struct looking *l)
{
    static const char *const names[] = {
#define ASSAY_OVERFLOW(id, name, about) name,
#include "assay/overflow.def"
#undef ASSAY_OVERFLOW
    };
    enum assay_status st = ASSAY_OK;
    for (int i = 0; i < ASSAY_OVERFLOWS && st == ASSAY_OK; i++) {
        struct assay_quantizer how = *l->how;
        if ((int)how.overflow == i)
            continue;
        how.overflow = (enum assay_overflow)i;
        st = try_how(l, &how, l->s->tensor.order, "overflow ", names[i],
                     names[l->how->overflow]);
    }
    return st;
}

static enum assay_status try_orders(struct looking *l)
{
    const enum assay_token_order own = l->s->tensor.order;
    enum assay_status st = ASSAY_OK;
    if (l->s->scale != ASSAY_SCALE_BLOCK_TOKENS)
        return ASSAY_OK;
    for (int i = 0; i < ASSAY_TOKEN_ORDERS && st == ASSAY_OK; i++)
        if (i != (int)own)
            st = try_how(l, l->how, (enum assay_token_order)i, "token order ",
                         assay_token_order_name((enum assay_token_order)i),
                         assay_token_order_name(own));
    return st;
}

/* ---- readings of the values with scales that are there ---- */

/* Which scale the code at [b, s, h, d] has. */
static int64_t scale_at(const struct assay_payload *p, int64_t b, int64_t s,
                        int64_t h, int64_t d)
{
    const struct assay_tensor *t = &p->tensor;
    int64_t n[ASSAY_SCALE_AXES];
    assay_scale_sizes(p->scale, t, n);
    switch (p->scale) {
    case ASSAY_SCALE_HEAD: return b * t->h + h;
    case ASSAY_SCALE_TOKEN: return (b * t->s + s) * t->h + h;
    case ASSAY_SCALE_CHANNEL: return (b * t->h + h) * t->d + d;
    case ASSAY_SCALE_BLOCK:
        return ((b * t->s + s) * t->h + h) * n[3] + d / ASSAY_BLOCK_CHANNELS;
    case ASSAY_SCALE_BLOCK_TOKENS: {
        const int slot = assay_token_slot(t->order, (int)(s % ASSAY_FRAME));
        const int64_t block = 2 * (s / ASSAY_FRAME) + slot / ASSAY_BLOCK_TOKENS;
        return ((b * t->h + h) * n[2] + block) * n[3] + d;
    }
    default: return 0;
    }
}

/* Value i of a row as it is rounded, under the scales of p. */
static float scaled(const struct looking *l, const struct assay_payload *p,
                    int64_t at, float x)
{
    enum { BIAS = 127, NOT_A_NUMBER = 255 };
    if (p->scale == ASSAY_SCALE_NONE)
        return x;
    if (p->e8m0)
        return p->e8m0[at] == NOT_A_NUMBER ? NAN
                                           : ldexpf(x, BIAS - p->e8m0[at]);
    return assay_f32_rule_get(l->how->f32_rule)->apply == ASSAY_OF_TIMES
               ? x * (1 / p->scales[at])
               : x / p->scales[at];
}

/* How many codes of c are not those of the values under the scales of p. */
static enum assay_status unlike_under(const struct looking *l,
                                      const struct assay_payload *p,
                                      enum assay_rounding rounding,
                                      int64_t *differ)
{
    const struct assay_tensor *t = &p->tensor;
    const struct byte_words c = words_of(l->c, BYTES_CODES);
    struct byte_words ours = { c.format, t->d, NULL };
    float *row = NULL;
    void *codes = NULL;
    enum assay_status st =
        assay_alloc("a row", t->d, sizeof *row, &row, l->err);
    if (st == ASSAY_OK)
        st = assay_alloc("codes", t->d, assay_format_bytes(c.format), &codes,
                         l->err);
    ours.words = codes;
    *differ = 0;
    for (int64_t r = 0; st == ASSAY_OK && r < t->b * t->s * t->h; r++) {
        const int64_t h = r % t->h, s = r / t->h % t->s, b = r / t->h / t->s;
        for (int64_t d = 0; d < t->d; d++)
            row[d] = scaled(l, p, scale_at(p, b, s, h, d), l->x[r * t->d + d]);
        assay_format_encode(c.format, rounding, l->how->overflow, (size_t)t->d,
                            row, codes);
        for (int64_t d = 0; d < t->d; d++)
            *differ += word_at(&ours, d) != word_at(&c, r * t->d + d);
    }
    assay_free(row);
    assay_free(codes);
    return st;
}

static enum assay_rounding own_rounding(const struct looking *l)
{
    return is_e8m0(l->s->scale)
               ? assay_scale_rule_get(l->how->scale_rule)->rounding
               : ASSAY_NEAREST_EVEN;
}

static enum assay_status try_roundings(struct looking *l)
{
    const enum assay_rounding own = own_rounding(l);
    struct left left = reading_left(l);
    enum assay_status st = ASSAY_OK;
    for (int i = 0; i < ASSAY_ROUNDINGS && st == ASSAY_OK; i++) {
        const enum assay_rounding other = (enum assay_rounding)i;
        if (other == own || l->out->steps[BYTES_CODES].differ == 0)
            continue;
        st = unlike_under(l, l->s, other, &left.of[BYTES_CODES]);
        if (st == ASSAY_OK)
            reading_offer(l, &left, "rounding ",
                          assay_rounding_get(other)->name,
                          assay_rounding_get(own)->name);
    }
    return st;
}

/* Scales that no rule gives, stale ones say, and codes that go with them. */
static enum assay_status try_own_scales(struct looking *l)
{
    struct left left = reading_left(l);
    if (l->out->steps[BYTES_SCALES].differ == 0 ||
        l->out->steps[BYTES_CODES].differ == 0)
        return ASSAY_OK;
    enum assay_status st =
        unlike_under(l, l->c, own_rounding(l), &left.of[BYTES_CODES]);
    if (st == ASSAY_OK)
        reading_offer(l, &left, "", "codes that follow their other scales",
                      NULL);
    return st;
}

/* ---- the best of all ---- */

/* "scale rule ceil or sage, not floor", or nothing where it leaves too much */
static void conclude(const struct looking *l, double differ)
{
    struct scale_bytes *o = l->out;
    if (l->names[0] && l->left <= (1 - EXPLAINS_LEAST) * differ) {
        snprintf(o->looks_like, sizeof o->looks_like, "%s%s%s%s", l->kind,
                 l->names, l->own ? ", not " : "", l->own ? l->own : "");
        return;
    }
    o->also = 0;
    for (int k = 0; k < BYTE_KINDS; k++)
        o->steps[k].left = 0;
}

enum assay_status scale_bytes_explain(const struct assay_quantizer *how,
                                      const float *x,
                                      const struct assay_payload *s,
                                      const struct assay_payload *c,
                                      struct scale_bytes *out,
                                      struct assay_error *err)
{
    struct looking l = {
        .how = how, .x = x, .s = s, .c = c, .out = out, .err = err
    };
    const double differ = scale_bytes_differ(out);
    enum assay_status st = ASSAY_OK;
    if (differ == 0)
        return ASSAY_OK;
    /* where scales agree a rounding says more than a rule that has it */
    const bool same_scales = out->steps[BYTES_SCALES].differ == 0;
    reading_bytes(&l);
    if (x && ((same_scales && (st = try_roundings(&l)) != ASSAY_OK) ||
              (st = try_rules(&l)) != ASSAY_OK ||
              (st = try_overflows(&l)) != ASSAY_OK ||
              (st = try_orders(&l)) != ASSAY_OK ||
              (!same_scales && (st = try_own_scales(&l)) != ASSAY_OK)))
        return st;
    conclude(&l, differ);
    return ASSAY_OK;
}
