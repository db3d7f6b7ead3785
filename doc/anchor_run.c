/* SPDX-License-Identifier: MIT */
#include "doc/anchor_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/n_eff.h"

static struct assay_error err;

static void must(enum assay_status st)
{
    if (st == ASSAY_OK)
        return;
    fprintf(stderr, "anchors: %s\n", err.text);
    exit(1);
}

static void *room(int64_t count, size_t bytes)
{
    void *out;
    must(assay_alloc("anchors", count, bytes, &out, &err));
    return out;
}

/* ---- inputs ---- */

/* Rows of `width` elements of one token, every so many tokens. */
static void thin(const void *from, int64_t tokens, int64_t every, size_t width,
                 void *to)
{
    for (int64_t t = 0; t < tokens; t += every)
        memmove((char *)to + (size_t)(t / every) * width,
                (const char *)from + (size_t)t * width, width);
}

struct anchor_inputs anchor_inputs_new(const char *distribution, int64_t h,
                                       int64_t s, int64_t every, uint64_t seed)
{
    const struct assay_distribution *d = assay_distribution_find(distribution);
    struct anchor_inputs in = { .all = { 1, h, h, s, s, 128, 128,
                                         ASSAY_MASK_NONE,
                                         assay_problem_default_scale(128) },
                                .every = every };
    in.p = in.all;
    in.p.nq = (s + every - 1) / every;
    in.q_all = room(assay_problem_q_elems(&in.all), sizeof *in.q_all);
    in.q = room(assay_problem_q_elems(&in.p), sizeof *in.q);
    in.k = room(assay_problem_k_elems(&in.all), sizeof *in.k);
    in.v = room(assay_problem_v_elems(&in.all), sizeof *in.v);
    in.o = room(assay_problem_o_elems(&in.p), sizeof *in.o);
    in.lse = room(assay_problem_rows(&in.p), sizeof *in.lse);
    must(assay_distribution_fill(d, NULL, &in.all, seed,
                                 assay_format_get(ASSAY_BF16), in.q_all, in.k,
                                 in.v, NULL, &err));
    thin(in.q_all, s, every, (size_t)(h * 128) * sizeof *in.q, in.q);
    return in;
}

void anchor_inputs_exact(struct anchor_inputs *in)
{
    must(assay_attention_f32(&in->p, in->q, in->k, in->v, in->o, in->lse, NULL,
                             &err));
}

void anchor_inputs_free(struct anchor_inputs *in)
{
    assay_free(in->q_all);
    assay_free(in->q);
    assay_free(in->k);
    assay_free(in->v);
    assay_free(in->o);
    assay_free(in->lse);
}

double anchor_n_eff(const struct anchor_inputs *in)
{
    const int64_t rows = assay_problem_rows(&in->p);
    double *n_eff = room(rows, sizeof *n_eff), sum = 0;
    must(assay_n_eff(&in->p, in->q, in->k, 1, n_eff, NULL, &err));
    for (int64_t i = 0; i < rows; i++)
        sum += n_eff[i];
    assay_free(n_eff);
    return sum / (double)rows;
}

/* ---- recipes of June 2026 ---- */

/* bench_sage of ROCm/aiter pull request 3495. Its fp8_quantize hands
 * per_tensor_quant amax as the scale, so that e4m3 codes reach 1, not 448; no
 * mean is taken off and Q and K are not rotated. Its MXFP4 is that of the
 * Triton kernels (sage_quant_mxfp4), with V in e4m3 by channel. */
static const struct june {
    const char *name, *like;
    const char *qk; /* a quantizer, whose rule is changed */
    enum assay_f32_rule_id f32_rule;
    enum assay_scale_rule_id scale_rule;
    enum assay_quantizer_id v;
    bool unit_qk, unit_v; /* codes reach 1 */
} june[] = {
    { "fp8.june", "e4m3", "fp8", ASSAY_F32_RULE_DIVIDE, 0, ASSAY_QUANTIZER_FP8,
      true, true },
    { "fp8.june-448", "e4m3", "fp8", ASSAY_F32_RULE_DIVIDE, 0,
      ASSAY_QUANTIZER_FP8, false, false },
    { "i8fp8.june", "i8fp8", "int8", ASSAY_F32_RULE_DIVIDE, 0,
      ASSAY_QUANTIZER_FP8, false, true },
    { "mxfp4.june", "mxfp4", "mxfp4", 0, ASSAY_SCALE_RULE_SAGE,
      ASSAY_QUANTIZER_FP8CHAN, false, false },
};
enum { JUNE = sizeof june / sizeof *june };

static const struct assay_recipe *june_recipe(const struct june *j)
{
    const struct assay_quantizer *qk;
    const struct assay_recipe *recipe;
    struct assay_quantizer quantizer =
        *assay_quantizer_get(assay_quantizer_find(j->qk)->id);
    struct assay_recipe r = *assay_recipe_find(j->like);
    quantizer.name = r.name = j->name;
    quantizer.f32_rule = j->f32_rule;
    quantizer.scale_rule = j->scale_rule;
    must(assay_quantizer_add(&quantizer, &qk, &err));
    r.q = r.k = qk->id;
    r.v = j->v;
    r.smooth = false;
    r.order = ASSAY_TOKENS_CANONICAL;
    r.p_format = ASSAY_E4M3FN;
    r.p_blocks = false;
    r.promise = ASSAY_PROMISE_ARITHMETIC;
    must(assay_recipe_add(&r, &recipe, &err));
    return recipe;
}

static const struct assay_recipe *find(const char *name, const struct june **j)
{
    char text[64];
    const struct assay_recipe *r;
    snprintf(text, sizeof text, "%s", name);
    char *form = strchr(text, '@');
    if (form)
        *form++ = '\0';
    *j = NULL;
    for (int i = 0; i < JUNE; i++)
        if (strcmp(june[i].name, text) == 0)
            *j = &june[i];
    r = *j ? june_recipe(*j) : assay_recipe_find(text);
    return form ? assay_recipe_in_form(r, assay_softmax_find(form)->id) : r;
}

/* Quantized again, amax as the scale. */
static void to_unit(enum assay_quantizer_id id, const float *x,
                    struct assay_payload *payload)
{
    struct assay_tensor t = payload->tensor;
    t.clip = 448;
    assay_payload_free(payload);
    must(assay_quantize(assay_quantizer_get(id), &t, x, payload, &err));
}

/* ---- a recipe on inputs ---- */

/* Q is quantized whole, as its scale may be that of all queries. */
static void quantize(const struct anchor_inputs *in,
                     const struct assay_recipe *r, const struct june *j,
                     struct assay_payloads *out)
{
    struct assay_payload *q = &out->q;
    const size_t token = (size_t)(in->all.hq * in->all.dk);
    must(assay_recipe_quantize(r, &in->all, NULL, NULL, in->q_all, in->k, in->v,
                               out, &err));
    if (j && j->unit_qk) {
        to_unit(r->q, in->q_all, q);
        to_unit(r->k, in->k, &out->k);
    }
    if (j && j->unit_v)
        to_unit(r->v, in->v, &out->v);
    thin(q->codes, q->tensor.s, in->every,
         token * assay_format_bytes(q->format), q->codes);
    if (q->scale == ASSAY_SCALE_BLOCK) {
        thin(q->e8m0, q->tensor.s, in->every,
             (size_t)(q->n_scales / q->tensor.s), q->e8m0);
        q->n_scales = q->n_scales / q->tensor.s * in->p.nq;
    }
    for (int64_t i = 0; out->lse_shift && i < assay_problem_rows(&in->p); i++)
        out->lse_shift[i] = out->lse_shift[i / in->p.nq * in->all.nq +
                                           i % in->p.nq * in->every];
    q->tensor.s = in->p.nq;
    q->count = assay_problem_q_elems(&in->p);
}

static float *rounded(int64_t n, const float *x)
{
    float *y = room(n, sizeof *y);
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, (size_t)n, x, y);
    return y;
}

/* How far bf16 words of the two answers are from each other. */
static void compare(const struct anchor_inputs *in, const float *o,
                    const double *lse, struct anchor_figures *out)
{
    const struct assay_problem *p = &in->p;
    const int64_t n = assay_problem_o_elems(p), rows = assay_problem_rows(p);
    float *a = rounded(n, o), *b = rounded(n, in->o);
    struct assay_row *row = room(rows, sizeof *row);
    struct assay_distance d;
    assay_rows_compare(p, a, b, row);
    assay_distance(p, row, lse, in->lse, 0, p->hq, &d);
    out->mae = d.mae;
    out->max_error = d.max_error;
    out->cosine = d.cosine;
    out->lse_max = d.lse_max;
    out->lse_bias = 0;
    for (int64_t i = 0; i < rows; i++)
        out->lse_bias += (lse[i] - in->lse[i]) / (double)rows;
    assay_free(a);
    assay_free(b);
    assay_free(row);
}

/* |x - y| / |y| */
static double relative(int64_t n, const float *x, const float *y)
{
    double off = 0, all = 0;
    for (int64_t i = 0; i < n; i++) {
        off += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
        all += (double)y[i] * y[i];
    }
    return sqrt(off / all);
}

static void v_parts(const struct anchor_inputs *in,
                    const struct assay_recipe *r,
                    const struct assay_payloads *payloads, const float *o_all,
                    struct anchor_figures *out)
{
    const unsigned v = 1u << ASSAY_STAGE_V, all = (1u << ASSAY_STAGES) - 1,
                   rounding = 1u << ASSAY_STAGE_OUT;
    const int64_t n = assay_problem_o_elems(&in->p),
                  n_v = assay_problem_v_elems(&in->all);
    float *o = room(n, sizeof *o), *values = room(n_v, sizeof *values);
    double *lse = room(assay_problem_rows(&in->p), sizeof *lse);
    must(assay_payload_inputs(&payloads->v, assay_quantizer_get(r->v), 1, NULL,
                              values, &err));
    const double trip = relative(n_v, values, in->v),
                 whole = relative(n, o_all, in->o);
    must(assay_stages_emulate(r, &in->p, v, in->q, in->k, in->v, payloads, o,
                              lse, NULL, &err));
    out->v_only = relative(n, o, in->o) / trip;
    must(assay_stages_emulate(r, &in->p, all & ~v & ~rounding, in->q, in->k,
                              in->v, payloads, o, lse, NULL, &err));
    const double others = relative(n, o, in->o);
    out->v_added = sqrt(fmax(whole * whole - others * others, 0)) / trip;
    out->v_all = whole / trip;
    assay_free(o);
    assay_free(values);
    assay_free(lse);
}

struct anchor_figures anchor_measure(const struct anchor_inputs *in,
                                     const char *recipe, bool v_part)
{
    const struct june *j;
    const struct assay_recipe *r = find(recipe, &j);
    struct assay_payloads payloads;
    struct anchor_figures out = { 0 };
    float *o = room(assay_problem_o_elems(&in->p), sizeof *o);
    double *lse = room(assay_problem_rows(&in->p), sizeof *lse);
    quantize(in, r, j, &payloads);
    must(assay_recipe_emulate(r, &in->p, &payloads, o, lse, NULL, NULL, &err));
    compare(in, o, lse, &out);
    if (v_part)
        v_parts(in, r, &payloads, o, &out);
    assay_payloads_free(&payloads);
    assay_free(o);
    assay_free(lse);
    return out;
}
