/* SPDX-License-Identifier: MIT */
#include "validate/delivered.h"

#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/tensors.h"

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

/* ---- tensors of files ---- */

/* Names of types: safetensors, .npy, HDF5. Plain ones say how wide words are.
 */
static bool is_type(const struct assay_format *f, const char *type)
{
    static const struct {
        enum assay_format_id id;
        const char *names[4];
    } own[] = {
        { ASSAY_F32, { "F32", "<f4", "float32" } },
        { ASSAY_F16, { "F16", "<f2", "U16" } },
        { ASSAY_BF16, { "BF16", "U16", "<u2", "uint16" } },
        { ASSAY_INT8, { "I8", "|i1", "int8" } },
        { ASSAY_E4M3FN, { "F8_E4M3" } },
        { ASSAY_E4M3FNUZ, { "F8_E4M3FNUZ" } },
        { ASSAY_E5M2, { "F8_E5M2" } },
        { ASSAY_E5M2FNUZ, { "F8_E5M2FNUZ" } },
        { ASSAY_E8M0, { "F8_E8M0" } },
    };
    static const char *const bytes[] = { "U8", "|u1", "uint8" };
    bool is = false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        for (int j = 0; own[i].id == f->id && j < 4 && own[i].names[j]; j++)
            is |= strcmp(type, own[i].names[j]) == 0;
    for (size_t i = 0; assay_format_bytes(f) == 1 && i < 3; i++)
        is |= strcmp(type, bytes[i]) == 0;
    return is;
}

static bool same_shape(const struct delivered_tensor *t, int rank,
                       const int64_t *want)
{
    bool same = t->rank == rank;
    for (int a = 0; same && a < rank; a++)
        same = t->shape[a] == want[a];
    return same;
}

/* Two 4-bit codes to a byte. */
static bool is_packed(const struct assay_format *f,
                      const struct assay_tensor *x,
                      const struct delivered_tensor *t)
{
    const int64_t halves[] = { x->b, x->s, x->h, x->d / 2 };
    return f->bits == 4 && x->d % 2 == 0 && same_shape(t, 4, halves);
}

enum assay_status delivered_check(const struct assay_recipe *recipe,
                                  const struct assay_problem *p,
                                  struct delivered_part part,
                                  const struct delivered_tensor *t,
                                  struct assay_error *err)
{
    const struct assay_quantizer *how =
        assay_recipe_quantizer(recipe, part.input);
    const struct assay_tensor x = assay_recipe_tensor(recipe, p, part.input);
    const enum byte_kind kind = part.scales ? BYTES_SCALES : BYTES_CODES;
    const struct assay_format *f =
        byte_kind_format(kind, assay_format_get(how->format), how->scale);
    int64_t want[ASSAY_SCALE_AXES] = { x.b, x.s, x.h, x.d };
    const int rank = part.scales ? assay_scale_sizes(how->scale, &x, want) : 4;
    if (rank == 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s has scales, and %s of %s has none", t->name,
                          assay_input_name(part.input), recipe->name);
    if (!is_type(f, t->type))
        return assay_fail(err, ASSAY_FORMAT, "%s is %s; %ss of %s of %s are %s",
                          t->name, t->type, byte_kind_name(kind),
                          assay_input_name(part.input), recipe->name, f->name);
    if (same_shape(t, rank, want) || (rank == 1 && t->rank == 0) ||
        (!part.scales && is_packed(f, &x, t)))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT, "%s has shape %s, %ss of %s are %s",
                      t->name, tensor_shape_text(t->rank, t->shape).s,
                      byte_kind_name(kind), assay_input_name(part.input),
                      tensor_shape_text(rank, want).s);
}

bool delivered_is_made(const struct assay_recipe *recipe,
                       enum assay_input input)
{
    const struct assay_quantizer *how = assay_recipe_quantizer(recipe, input);
    return how->scale != ASSAY_SCALE_NONE ||
           assay_format_bytes(assay_format_get(how->format)) == 1;
}

void delivered_take(struct delivered_part part,
                    const struct delivered_tensor *t, const void *words,
                    struct assay_payload *to)
{
    const bool f32 = to->scales != NULL;
    const uint8_t *bytes = words;
    uint8_t *codes = to->codes;
    if (part.scales)
        memcpy(delivered_scales(to), words,
               (size_t)to->n_scales * (f32 ? sizeof *to->scales : 1));
    else if (is_packed(to->format, &to->tensor, t))
        for (int64_t i = 0; i < to->count; i++)
            codes[i] = bytes[i / 2] >> i % 2 * 4 & 15;
    else
        memcpy(codes, words,
               (size_t)to->count * assay_format_bytes(to->format));
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
    if (st == ASSAY_OK && e->lse)
        st = assay_alloc("an LSE", rows, sizeof *lse, &lse, err);
    assay_free((void *)out->lse); /* an LSE of no O is nobody's */
    out->o = o;
    out->lse = lse;
    out->no_o = true;
    if (st != ASSAY_OK)
        return st;
    if (differ && !e->maker)
        return emulate(c, e, &mixed, o, lse, err);
    memcpy(o, e->o, (size_t)n * sizeof *o);
    if (lse)
        memcpy(lse, e->lse, (size_t)rows * sizeof *lse);
    return ASSAY_OK;
}
