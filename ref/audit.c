/* SPDX-License-Identifier: MIT */
#include "assay/audit.h"

#include <math.h>

#include "assay/memory.h"

/* ---- payloads ---- */

/* Whether block `at` of a sequence of s tokens holds any of them. */
static bool holds_token(enum assay_token_order order, int64_t at, int64_t s)
{
    /* field 0 holds the lowest token of a block */
    return at / 2 * ASSAY_FRAME + assay_token(order, (int)(at % 2), 0) < s;
}

static void count_bytes(const struct assay_payload *x, struct assay_e8m0 *out)
{
    const struct assay_tensor *t = &x->tensor;
    const bool tokens = x->scale == ASSAY_SCALE_BLOCK_TOKENS;
    const int64_t blocks =
        tokens && x->n_scales > 0 ? x->n_scales / (t->b * t->h * t->d) : 1;
    for (int64_t i = 0; i < x->n_scales; i++)
        if (!tokens || holds_token(t->order, i / t->d % blocks, t->s))
            out->count[x->e8m0[i]]++;
}

void assay_e8m0_finish(struct assay_e8m0 *e)
{
    int64_t below = 0;
    e->total = 0;
    e->min = e->median = e->max = e->distinct = 0;
    for (int byte = 0; byte < 256; byte++)
        e->total += e->count[byte];
    for (int byte = 0; byte < 256; byte++) {
        if (e->count[byte] == 0)
            continue;
        if (e->distinct++ == 0)
            e->min = byte;
        e->max = byte;
        if (below < (e->total + 1) / 2)
            e->median = byte;
        below += e->count[byte];
    }
}

static struct assay_e8m0 histogram(const struct assay_payload *x)
{
    struct assay_e8m0 out = { 0 };
    if (x->e8m0)
        count_bytes(x, &out);
    assay_e8m0_finish(&out);
    return out;
}

static double bits_of_element(const struct assay_payload *x)
{
    if (x->count == 0)
        return NAN;
    return x->format->bits +
           (double)x->n_scales * (x->e8m0 ? 8 : 32) / (double)x->count;
}

/* A value is code times scale, and the largest code may be half a step off. */
static double share_clipped(const struct assay_payload *x, const float *seen,
                            const float *codes, const float *values)
{
    const double max = assay_format_max(x->format),
                 half = assay_format_ulp(x->format, (float)max) / 2;
    int64_t n = 0;
    for (int64_t i = 0; i < x->count; i++) {
        const double code = fabs((double)codes[i]);
        n += code >= max && isfinite(code) &&
             fabs((double)seen[i]) >
                 fabs((double)values[i]) * ((code + half) / code);
    }
    return x->count > 0 ? (double)n / (double)x->count : 0;
}

/* Of what a payload stands for, against the inputs without their mean: that is
 * what was quantized. `mean` may be NULL. */
static double round_trip(const struct assay_tensor *t, const float *a,
                         const float *b, const float *mean)
{
    const int64_t row = t->h * t->d, n = t->b * t->s * row;
    double error = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        const double d = (double)a[i] - b[i],
                     x = mean ? (double)b[i] -
                                    mean[i / row / t->s * row + i % row]
                              : (double)b[i];
        error += d * d;
        size += x * x;
    }
    return error == 0 ? 0 : sqrt(error / size);
}

struct operand {
    const struct assay_payload *payload;
    const struct assay_quantizer *how;
    const float *input, *mean;
    float mult;
};

/* What the quantizer saw, into y. */
static enum assay_status seen_values(const struct operand *o,
                                     const struct assay_format *word, float *y,
                                     struct assay_error *err)
{
    const struct assay_tensor *t = &o->payload->tensor;
    const struct assay_operand from = { t->b,     t->s,    t->h,   t->d,
                                        o->input, o->mean, o->mult };
    return assay_operand_prepare(assay_rotation_order_get(o->how->prepare),
                                 word, &from, y, err);
}

static enum assay_status audit_operand(const struct operand *o,
                                       const struct assay_format *word,
                                       struct assay_audit_operand *out,
                                       struct assay_error *err)
{
    const struct assay_payload *x = o->payload;
    float *seen = NULL, *codes = NULL, *values = NULL;
    enum assay_status st;
    if ((st = assay_alloc("payload values", x->count, sizeof *values, &values,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("payload codes", x->count, sizeof *codes, &codes,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("prepared values", x->count, sizeof *seen, &seen,
                          err)) != ASSAY_OK)
        goto out;
    if (o->how->prepares && (st = seen_values(o, word, seen, err)) != ASSAY_OK)
        goto out;
    assay_format_decode(x->format, (size_t)x->count, x->codes, codes);
    assay_payload_values(x, values);
    out->clipped =
        share_clipped(x, o->how->prepares ? seen : o->input, codes, values);
    out->bits = bits_of_element(x);
    out->e8m0 = histogram(x);
    st = assay_payload_inputs(x, o->how, o->mult, o->mean, values, err);
    if (st == ASSAY_OK)
        out->round_trip = round_trip(&x->tensor, values, o->input, o->mean);
out:
    assay_free(values);
    assay_free(codes);
    assay_free(seen);
    return st;
}

/* ---- distances ---- */

static enum assay_status distance(const struct assay_problem *p,
                                  struct assay_answered a,
                                  struct assay_answered b,
                                  struct assay_distance *out,
                                  struct assay_error *err)
{
    struct assay_row *rows;
    enum assay_status st = assay_alloc("row figures", assay_problem_rows(p),
                                       sizeof *rows, &rows, err);
    if (st != ASSAY_OK)
        return st;
    assay_rows_compare(p, a.o, b.o, rows);
    assay_distance(p, rows, a.lse, b.lse, 0, p->hq, out);
    assay_free(rows);
    return ASSAY_OK;
}

enum assay_status assay_audit_recipe(
    const struct assay_recipe *recipe, const struct assay_problem *p,
    const struct assay_format *word, const float *q, const float *k,
    const float *v, const struct assay_payloads *payloads,
    struct assay_answered exact, struct assay_answered emulated,
    struct assay_audit *out, struct assay_error *err)
{
    const float mult = recipe->scale_applied == ASSAY_APPLIED_Q
                           ? assay_fold_multiplier(p->softmax_scale)
                           : 1;
    const struct operand of_q = { &payloads->q, assay_quantizer_get(recipe->q),
                                  q, NULL, mult },
                         of_k = { &payloads->k, assay_quantizer_get(recipe->k),
                                  k, payloads->k_mean, 1 },
                         of_v = { &payloads->v, assay_quantizer_get(recipe->v),
                                  v, NULL, 1 };
    enum assay_status st;
    if (!word)
        word = assay_format_get(ASSAY_BF16);
    if ((st = audit_operand(&of_q, word, &out->q, err)) != ASSAY_OK ||
        (st = audit_operand(&of_k, word, &out->k, err)) != ASSAY_OK ||
        (st = audit_operand(&of_v, word, &out->v, err)) != ASSAY_OK ||
        (st = distance(p, emulated, exact, &out->distance, err)) != ASSAY_OK)
        return st;
    out->v_amplification =
        out->v.round_trip > 0 ? out->distance.rel_l2 / out->v.round_trip : NAN;
    return ASSAY_OK;
}

enum assay_status
assay_audit_stages(const struct assay_recipe *recipe,
                   const struct assay_problem *p, const float *q,
                   const float *k, const float *v,
                   const struct assay_payloads *payloads,
                   struct assay_answered exact, const struct assay_run *run,
                   struct assay_stage_costs *out, struct assay_error *err)
{
    const unsigned all = (1U << ASSAY_STAGES) - 1;
    float *o = NULL;
    double *lse = NULL;
    enum assay_status st = assay_alloc(
        "a stage's output", assay_problem_o_elems(p), sizeof *o, &o, err);
    if (st == ASSAY_OK)
        st = assay_alloc("a stage's LSE", assay_problem_rows(p), sizeof *lse,
                         &lse, err);
    for (unsigned i = 0; st == ASSAY_OK && i < 2 * ASSAY_STAGES; i++) {
        const unsigned stage = i / 2, bit = 1U << stage;
        struct assay_distance d = { 0 };
        st = assay_stages_emulate(recipe, p, i % 2 ? all & ~bit : bit, q, k, v,
                                  payloads, o, lse, run, err);
        if (st == ASSAY_OK)
            st = distance(p, (struct assay_answered){ o, lse }, exact, &d, err);
        *(i % 2 ? &out->all_but[stage] : &out->only[stage]) =
            (struct assay_cost){ d.rel_l2, d.lse_max };
    }
    assay_free(o);
    assay_free(lse);
    return st;
}
