/* SPDX-License-Identifier: MIT
 *
 * Readings of a quantizer's bytes: every scale rule, other overflow and token
 * order on the values; codes of a pair swapped, heads before tokens and scales
 * transposed on the bytes.
 */
#include "golden/scale_reading.h"

#include <stdio.h>

#include "golden/set_layout.h"
#include "golden/term.h"

/* A reading leaves at most this part of what differs. */
enum { EXPLAINS_OF = 10 };

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

static struct left left_now(const struct looking *l)
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

static void offer(struct looking *l, const struct left *left, const char *kind,
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
    for (int64_t i = 0; i < x.count; i++)
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
        offer(l, &left, kind, name, own);
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

/* ---- readings of the bytes ---- */

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
    struct left left = left_now(l);
    if (m < 2 || n < 2)
        return;
    left.of[kind] = unlike_swapped(words_of(l->s, kind), words_of(l->c, kind),
                                   outer, m, n, inner);
    offer(l, &left, "", name, NULL);
}

static void try_pairs(struct looking *l)
{
    const struct byte_words s = words_of(l->s, BYTES_CODES),
                            c = words_of(l->c, BYTES_CODES);
    struct left left = left_now(l);
    if (s.format->bits != 4 || l->s->tensor.d % 2 != 0)
        return;
    left.of[BYTES_CODES] = 0;
    for (int64_t i = 0; i < s.count; i++)
        left.of[BYTES_CODES] += word_at(&c, i) != word_at(&s, i ^ 1);
    offer(l, &left, "", "the two nibbles of a byte swapped", NULL);
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

/* "scale rule ceil or sage, not floor", or nothing where it leaves too much */
static void conclude(const struct looking *l, double differ)
{
    struct scale_bytes *o = l->out;
    if (l->names[0] && l->left * EXPLAINS_OF <= differ) {
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
    try_pairs(&l);
    try_axes(&l);
    if (x && ((st = try_rules(&l)) != ASSAY_OK ||
              (st = try_overflows(&l)) != ASSAY_OK ||
              (st = try_orders(&l)) != ASSAY_OK))
        return st;
    conclude(&l, differ);
    return ASSAY_OK;
}
