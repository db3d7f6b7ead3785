/* SPDX-License-Identifier: MIT
 *
 * Readings of a quantizer's bytes: every scale rule, other overflow and token
 * order on the values; codes of a pair swapped, heads before tokens and scales
 * transposed on the bytes.
 */
#include "scale_reading.h"

#include <stdio.h>
#include <string.h>

#include "assay/memory.h"

uint32_t word_at(const struct assay_format *f, const void *words, int64_t i)
{
    if (f->bits <= 8) /* bits above the format's are ignored */
        return ((const uint8_t *)words)[i] & ((1u << f->bits) - 1);
    return f->bits <= 16 ? ((const uint16_t *)words)[i]
                         : ((const uint32_t *)words)[i];
}

const struct assay_format *scale_format(const struct assay_payload *p)
{
    return assay_format_get(p->scale == ASSAY_SCALE_BLOCK ||
                                    p->scale == ASSAY_SCALE_BLOCK_TOKENS
                                ? ASSAY_E8M0
                                : ASSAY_F32);
}

const void *scale_words(const struct assay_payload *p)
{
    return scale_format(p)->bits == 8 ? (const void *)p->e8m0
                                      : (const void *)p->scales;
}

struct looking {
    const struct assay_quantizer *how;
    const float *x;
    const struct assay_payload *s, *c;
    struct scale_bytes *out;
    struct assay_error *err;
};

static int64_t unlike(const struct assay_format *f, int64_t n, const void *a,
                      const void *b)
{
    int64_t differ = 0;
    for (int64_t i = 0; i < n; i++)
        differ += word_at(f, a, i) != word_at(f, b, i);
    return differ;
}

static void offer(const struct looking *l, int64_t left, const char *kind,
                  const char *name)
{
    struct scale_bytes *o = l->out;
    if (o->looks_like[0] && left == o->left)
        o->also++;
    if (o->looks_like[0] && left >= o->left)
        return;
    snprintf(o->looks_like, sizeof o->looks_like, "%s%s", kind, name);
    o->left = left;
    o->also = 0;
}

/* ---- readings of the values ---- */

static enum assay_status try_how(const struct looking *l,
                                 const struct assay_quantizer *how,
                                 enum assay_token_order order, const char *kind,
                                 const char *name)
{
    struct assay_tensor t = l->s->tensor;
    struct assay_payload p = { 0 };
    t.order = order;
    enum assay_status st = assay_quantize(how, &t, l->x, &p, l->err);
    if (st == ASSAY_OK)
        offer(l,
              unlike(p.format, p.count, p.codes, l->c->codes) +
                  unlike(scale_format(&p), p.n_scales, scale_words(&p),
                         scale_words(l->c)),
              kind, name);
    assay_payload_free(&p);
    return st;
}

static enum assay_status try_rules(const struct looking *l)
{
    const enum assay_token_order own = l->s->tensor.order;
    const bool e8m0 = scale_format(l->s)->bits == 8;
    const int n = l->s->n_scales == 0 ? 0
                  : e8m0              ? (int)ASSAY_SCALE_RULES
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
        st = try_how(l, &how, own, "scale rule ",
                     assay_quantizer_rule_name(&how));
    }
    return st;
}

static enum assay_status try_overflow_and_order(const struct looking *l)
{
    static const char *const names[] = {
#define ASSAY_OVERFLOW(id, name, about) name,
#include "assay/overflow.def"
#undef ASSAY_OVERFLOW
    };
    static const char *const orders[] = {
#define ASSAY_TOKEN_ORDER(id, name, ...) name,
#include "assay/token_order.def"
#undef ASSAY_TOKEN_ORDER
    };
    const int own = (int)l->s->tensor.order;
    const int n = l->s->scale == ASSAY_SCALE_BLOCK_TOKENS
                      ? (int)(sizeof orders / sizeof *orders)
                      : 0;
    enum assay_status st = ASSAY_OK;
    for (int i = 0; i < ASSAY_OVERFLOWS && st == ASSAY_OK; i++) {
        struct assay_quantizer how = *l->how;
        if ((int)how.overflow == i)
            continue;
        how.overflow = (enum assay_overflow)i;
        st = try_how(l, &how, (enum assay_token_order)own, "overflow ",
                     names[i]);
    }
    for (int i = 0; i < n && st == ASSAY_OK; i++)
        if (i != own)
            st = try_how(l, l->how, (enum assay_token_order)i, "token order ",
                         orders[i]);
    return st;
}

/* ---- readings of the bytes ---- */

/* How many words differ from s with two axes of [outer, m, n, inner] swapped.
 */
static int64_t unlike_swapped(const struct assay_format *f, int64_t outer,
                              int64_t m, int64_t n, int64_t inner,
                              const void *s, const void *c)
{
    int64_t differ = 0, to = 0;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                for (int64_t e = 0; e < inner; e++, to++)
                    differ += word_at(f, c, to) !=
                              word_at(f, s, ((o * m + i) * n + j) * inner + e);
    return differ;
}

static void try_pairs(const struct looking *l)
{
    const struct assay_payload *s = l->s;
    int64_t left = l->out->scales.differ;
    if (s->format->bits != 4 || s->tensor.d % 2 != 0)
        return;
    for (int64_t i = 0; i < s->count; i++)
        left += word_at(s->format, l->c->codes, i) !=
                word_at(s->format, s->codes, i ^ 1);
    offer(l, left, "the two nibbles of a byte", " swapped");
}

static void try_axes(const struct looking *l)
{
    const struct assay_payload *s = l->s, *c = l->c;
    const struct assay_tensor *t = &s->tensor;
    const int64_t blocks = (t->d + 31) / 32;
    const int64_t of_tokens = (t->s + 127) / 128 * 4;
    if (t->s > 1 && t->h > 1)
        offer(l,
              unlike_swapped(s->format, t->b, t->s, t->h, t->d, s->codes,
                             c->codes) +
                  l->out->scales.differ,
              "codes", " of heads before tokens");
    if (s->scale == ASSAY_SCALE_BLOCK) {
        if (t->s > 1 && t->h > 1)
            offer(l,
                  unlike_swapped(scale_format(s), t->b, t->s, t->h, blocks,
                                 s->e8m0, c->e8m0) +
                      l->out->codes.differ,
                  "scales", " of heads before tokens");
        if (t->s * t->h > 1 && blocks > 1)
            offer(l,
                  unlike_swapped(scale_format(s), t->b, t->s * t->h, blocks, 1,
                                 s->e8m0, c->e8m0) +
                      l->out->codes.differ,
                  "scales", " of blocks before tokens");
    }
    if (s->scale == ASSAY_SCALE_BLOCK_TOKENS && t->d > 1)
        offer(l,
              unlike_swapped(scale_format(s), t->b * t->h, of_tokens, t->d, 1,
                             s->e8m0, c->e8m0) +
                  l->out->codes.differ,
              "scales", " of channels before blocks");
}

enum assay_status
scale_reading_find(const struct assay_quantizer *how, const float *x,
                   const struct assay_payload *s, const struct assay_payload *c,
                   struct scale_bytes *out, struct assay_error *err)
{
    const struct looking l = { how, x, s, c, out, err };
    const int64_t differ = out->codes.differ + out->scales.differ;
    const int64_t all = out->codes.count + out->scales.count;
    enum assay_status st = ASSAY_OK;
    try_pairs(&l);
    try_axes(&l);
    if (x && how)
        st = try_rules(&l);
    if (st == ASSAY_OK && x && how)
        st = try_overflow_and_order(&l);
    if (!out->looks_like[0])
        out->left = differ;
    out->explained = out->looks_like[0] && out->left <= differ / 10;
    out->share = (double)(all - out->left) / (double)all;
    return st;
}
