/* SPDX-License-Identifier: MIT */
#include "validate/delivered.h"

#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"

enum assay_status delivered_new(struct candidate *c, struct assay_error *err)
{
    c->delivered = calloc(1, sizeof *c->delivered);
    c->payloads = c->delivered;
    return c->delivered
               ? ASSAY_OK
               : assay_fail(err, ASSAY_MEMORY, "no memory for payloads");
}

void delivered_free(struct assay_payloads *delivered)
{
    if (delivered)
        assay_payloads_free(delivered);
    free(delivered);
}

enum assay_status delivered_room(const struct assay_recipe *recipe,
                                 const struct assay_problem *p,
                                 enum assay_input input,
                                 struct assay_payload *out,
                                 struct assay_error *err)
{
    const struct assay_quantizer *how = assay_recipe_quantizer(recipe, input);
    const struct assay_tensor t = assay_recipe_tensor(recipe, p, input);
    const bool f32 = how->scale != ASSAY_SCALE_NONE &&
                     how->scale != ASSAY_SCALE_BLOCK &&
                     how->scale != ASSAY_SCALE_BLOCK_TOKENS;
    *out = (struct assay_payload){ .format = assay_format_get(how->format),
                                   .scale = how->scale,
                                   .tensor = t };
    enum assay_status st = assay_tensor_check(&t, err);
    if (st != ASSAY_OK)
        return st;
    out->count = t.b * t.s * t.h * t.d;
    out->n_scales = assay_scale_count(how->scale, &t);
    st = assay_alloc("codes", out->count, assay_format_bytes(out->format),
                     &out->codes, err);
    if (st == ASSAY_OK && f32)
        st = assay_alloc("scales", out->n_scales, sizeof *out->scales,
                         &out->scales, err);
    else if (st == ASSAY_OK && how->scale != ASSAY_SCALE_NONE)
        st = assay_alloc("scales", out->n_scales, 1, &out->e8m0, err);
    return st;
}

void *delivered_scales(const struct assay_payload *x)
{
    return x->scales ? (void *)x->scales : x->e8m0;
}

/* The recipe's payloads with the operands that were delivered in their place;
 * *differ: whether any byte is another. Memory is theirs. */
static enum assay_status mix(const struct assay_payloads *ours,
                             struct assay_payloads *delivered,
                             struct assay_payloads *out, bool *differ,
                             struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    *out = *ours;
    *differ = false;
    for (int i = 0; st == ASSAY_OK && i < ASSAY_INPUTS; i++) {
        const enum assay_input input = (enum assay_input)i;
        struct assay_payload *to = assay_payloads_at(out, input), own = *to;
        struct scale_bytes bytes;
        *to = *assay_payloads_at(delivered, input);
        if (!to->format) {
            *to = own;
            continue;
        }
        st =
            scale_bytes_compare(assay_input_name(input), &own, to, &bytes, err);
        to->past = own.past;
        *differ |= st == ASSAY_OK && scale_bytes_differ(&bytes) > 0;
    }
    return st;
}

/* What the mean of K took off the LSE is put back, as in the set's answer. */
static enum assay_status emulate(const struct assay_case *c,
                                 const struct assay_answer *e,
                                 struct assay_payloads *x, float *o,
                                 double *lse, struct assay_error *err)
{
    struct assay_answer shifted = *e;
    enum assay_status st = ASSAY_OK;
    if (!x->lse_shift)
        st = assay_answer_lse_shift(c, &shifted, err);
    x->lse_shift = shifted.payloads.lse_shift;
    if (st == ASSAY_OK)
        st = assay_recipe_emulate(e->recipe, &c->problem, x, o, lse, NULL, NULL,
                                  err);
    if (!e->payloads.lse_shift)
        assay_free(shifted.payloads.lse_shift);
    return st;
}

enum assay_status delivered_answer(const struct assay_case *c,
                                   const struct assay_answer *e,
                                   struct candidate *out,
                                   struct assay_error *err)
{
    const int64_t n = assay_problem_o_elems(&c->problem),
                  rows = assay_problem_rows(&c->problem);
    struct assay_payloads mixed;
    float *o = NULL;
    double *lse = NULL;
    bool differ;
    if (out->o || !out->delivered)
        return ASSAY_OK;
    enum assay_status st =
        mix(&e->payloads, out->delivered, &mixed, &differ, err);
    if (st == ASSAY_OK)
        st = assay_alloc("an output", n, sizeof *o, &o, err);
    if (st == ASSAY_OK)
        st = assay_alloc("an LSE", rows, sizeof *lse, &lse, err);
    out->o = o;
    out->lse = lse;
    out->no_o = true;
    if (st != ASSAY_OK)
        return st;
    if (differ)
        return emulate(c, e, &mixed, o, lse, err);
    memcpy(o, e->o, (size_t)n * sizeof *o);
    memcpy(lse, e->lse, (size_t)rows * sizeof *lse);
    return ASSAY_OK;
}
