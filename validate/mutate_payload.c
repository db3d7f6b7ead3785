/* SPDX-License-Identifier: MIT
 *
 * Mutations of what a quantizer delivers: codes and scales of Q, K and V. O and
 * LSE stay as emulated, so nothing but their bytes tells.
 */
#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/tile.h"
#include "validate/mutation.h"

/* A copy of an array that lives as long as the mutant; NULL after a failure. */
static void *own(struct mutant *m, const void *from, int64_t count,
                 size_t bytes, enum assay_status *st, struct assay_error *err)
{
    void *to = NULL;
    if (*st == ASSAY_OK)
        *st = assay_alloc("a mutant's payload", count, bytes, &to, err);
    if (*st != ASSAY_OK)
        return NULL;
    memcpy(to, from, (size_t)count * bytes);
    m->owned[m->n_owned++] = to;
    return to;
}

/* The payloads as stored, to be changed: operand x. */
static struct assay_payload *deliver(struct mutant *m, enum assay_input input)
{
    m->payloads = m->s->e->payloads;
    m->left.payloads = &m->payloads;
    return assay_payloads_at(&m->payloads, input);
}

static uint8_t *own_codes(struct mutant *m, struct assay_payload *x,
                          enum assay_status *st, struct assay_error *err)
{
    void *codes =
        own(m, x->codes, x->count, assay_format_bytes(x->format), st, err);
    if (codes)
        x->codes = codes;
    return codes;
}

MUTATE(payload_as_stored)
{
    (void)strength, (void)err;
    deliver(m, ASSAY_INPUT_Q);
    return ASSAY_OK;
}

/* ---- a code, a scale ---- */

/* The next code nearer to zero; from zero, the one above. */
static uint32_t stepped(const struct assay_format *f, uint32_t code, int by)
{
    const uint32_t sign = f->sign ? 1u << (f->bits - 1) : 0;
    if (f->top == ASSAY_TOP_INTEGER) /* two's complement */
        return (code & sign ? code + (uint32_t)by
                : code      ? code - (uint32_t)by
                            : (uint32_t)by) &
               (2 * sign - 1);
    return (code & ~sign) ? code - (uint32_t)by : code + (uint32_t)by;
}

/* The code in the middle of an operand. */
static enum assay_status code_off(struct mutant *m, enum assay_input input,
                                  double strength, struct assay_error *err)
{
    struct assay_payload *x = deliver(m, input);
    const size_t bytes = assay_format_bytes(x->format);
    enum assay_status st = ASSAY_OK;
    uint32_t code = 0;
    m->applies = x->count > 0;
    if (!m->applies)
        return ASSAY_OK;
    uint8_t *codes = own_codes(m, x, &st, err);
    if (!codes)
        return st;
    codes += (size_t)(x->count / 2) * bytes;
    memcpy(&code, codes, bytes); /* little-endian, as sets are */
    code = stepped(x->format, code, (int)strength);
    memcpy(codes, &code, bytes);
    return st;
}

MUTATE(payload_q_code)
{
    return code_off(m, ASSAY_INPUT_Q, strength, err);
}

MUTATE(payload_k_code)
{
    return code_off(m, ASSAY_INPUT_K, strength, err);
}

MUTATE(payload_v_code)
{
    return code_off(m, ASSAY_INPUT_V, strength, err);
}

/* The scale in the middle: an octave of E8M0, an ulp of binary32. */
static enum assay_status scale_off(struct mutant *m, enum assay_input input,
                                   double strength, struct assay_error *err)
{
    struct assay_payload *x = deliver(m, input);
    const int64_t at = x->n_scales / 2;
    enum assay_status st = ASSAY_OK;
    m->applies = x->n_scales > 0;
    if (!m->applies)
        return ASSAY_OK;
    if (x->e8m0) {
        uint8_t *scales = own(m, x->e8m0, x->n_scales, 1, &st, err);
        if (!scales)
            return st;
        scales[at] =
            stepped(assay_format_get(ASSAY_E8M0), scales[at], (int)strength) &
            0xff;
        x->e8m0 = scales;
    } else {
        float *scales =
            own(m, x->scales, x->n_scales, sizeof *scales, &st, err);
        if (!scales)
            return st;
        scales[at] = nextafterf(scales[at], 0);
        x->scales = scales;
    }
    return st;
}

MUTATE(payload_q_scale)
{
    return scale_off(m, ASSAY_INPUT_Q, strength, err);
}

MUTATE(payload_k_scale)
{
    return scale_off(m, ASSAY_INPUT_K, strength, err);
}

MUTATE(payload_v_scale)
{
    return scale_off(m, ASSAY_INPUT_V, strength, err);
}

/* The code of tokens past the last, in the last block. */
MUTATE(payload_tail)
{
    struct assay_payload *x = deliver(m, ASSAY_INPUT_V);
    enum assay_status st = ASSAY_OK;
    m->applies = x->past && x->tensor.s % ASSAY_TILE_TOKENS != 0;
    if (!m->applies)
        return ASSAY_OK;
    uint8_t *past = own(m, x->past, x->n_scales, 1, &st, err);
    if (!past)
        return st;
    uint8_t *last = &past[x->n_scales - 1];
    *last = stepped(x->format, *last, (int)strength) & 0xff;
    x->past = past;
    return st;
}

/* ---- all codes ---- */

/* Of the first operand that has codes of 4 bits. */
MUTATE(payload_nibbles)
{
    struct assay_payload *x = NULL;
    enum assay_status st = ASSAY_OK;
    (void)strength;
    for (int i = 0; i < ASSAY_INPUTS && !x; i++) {
        x = deliver(m, (enum assay_input)i);
        if (x->format->bits != 4 || x->tensor.d % 2 != 0 || x->count == 0)
            x = NULL;
    }
    m->applies = x != NULL;
    if (!m->applies)
        return ASSAY_OK;
    const uint8_t *from = x->codes;
    uint8_t *to = own_codes(m, x, &st, err);
    for (int64_t i = 0; to && i < x->count; i++)
        to[i] = from[i ^ 1];
    return st;
}

/* ---- another rule ---- */

static bool same_payload(const struct assay_payload *a,
                         const struct assay_payload *b)
{
    const size_t n = (size_t)a->n_scales,
                 codes = (size_t)a->count * assay_format_bytes(a->format);
    return memcmp(a->codes, b->codes, codes) == 0 &&
           (a->e8m0 ? memcmp(a->e8m0, b->e8m0, n) == 0
                    : memcmp(a->scales, b->scales, n * sizeof *a->scales) == 0);
}

/* What another rule gives that is not what the recipe's gives; false where
 * there is none. */
static enum assay_status by_other_rule(const struct assay_quantizer *own_how,
                                       const struct assay_payload *stored,
                                       const float *x, bool *found,
                                       struct assay_payload *out,
                                       struct assay_error *err)
{
    const int n = stored->e8m0 ? ASSAY_SCALE_RULES : ASSAY_F32_RULES;
    enum assay_status st = ASSAY_OK;
    *found = false;
    for (int i = 0; i < n && st == ASSAY_OK && !*found; i++) {
        struct assay_quantizer how = *own_how;
        how.scale_rule = (enum assay_scale_rule_id)i;
        how.f32_rule = (enum assay_f32_rule_id)i;
        st = assay_quantize(&how, &stored->tensor, x, out, err);
        *found = st == ASSAY_OK && !same_payload(stored, out);
        if (!*found)
            assay_payload_free(out);
    }
    return st;
}

static enum assay_status rule_other(struct mutant *m, enum assay_input input,
                                    struct assay_error *err)
{
    const struct subject *s = m->s;
    const struct assay_recipe *recipe = s->e->recipe;
    struct assay_payload *x = deliver(m, input), other = { 0 };
    struct assay_inputs in;
    m->applies = x->n_scales > 0 && x->count > 0;
    if (!m->applies)
        return ASSAY_OK;
    enum assay_status st = assay_case_values(s->c, &in, err);
    float *const all[ASSAY_INPUTS] = { in.q, in.k, in.v };
    float *values = all[input];
    if (st == ASSAY_OK)
        st = assay_recipe_prepare(recipe, &s->c->problem, in.format,
                                  s->e->payloads.k_mean, input, values, values,
                                  err);
    if (st == ASSAY_OK)
        st = by_other_rule(assay_recipe_quantizer(recipe, input), x, values,
                           &m->applies, &other, err);
    assay_inputs_free(&in);
    *x = other;
    void *const arrays[] = { other.codes, other.scales, other.e8m0,
                             other.past };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        m->owned[m->n_owned++] = arrays[i];
    return st;
}

MUTATE(payload_k_rule)
{
    (void)strength;
    return rule_other(m, ASSAY_INPUT_K, err);
}

MUTATE(payload_v_rule)
{
    (void)strength;
    return rule_other(m, ASSAY_INPUT_V, err);
}
