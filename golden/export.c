/* SPDX-License-Identifier: MIT
 *
 * A set is gone through twice: the first time tensors are announced, since the
 * head of a file names them all, the second time they are written.
 */
#include "golden/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/export_sink.h"
#include "golden/heads_cases.h"
#include "golden/select.h"
#include "golden/set_layout.h"

struct walk {
    const struct assay_set *set;
    const struct export_options *o;
    struct export_sink *sink;
    bool writing;
    size_t cases;
    json_t *about; /* of each case; of the first turn */
};

/* Names are BASE.LAST, BASE being a case, or a case and a recipe. */
static enum assay_status put(struct walk *w, const char *base, const char *last,
                             enum assay_safetensors_dtype_id dtype,
                             struct h5_shape shape, const void *words,
                             struct assay_error *err)
{
    struct safetensors_part part = { .dtype = dtype, .rank = shape.rank };
    char *name = NULL;
    if (asprintf(&name, "%s.%s", base, last) < 0)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    part.name = name;
    for (int a = 0; a < shape.rank; a++)
        part.shape[a] = (int64_t)shape.dims[a];
    enum assay_status st = w->writing
                               ? export_sink_add(w->sink, &part, words, err)
                               : export_sink_announce(w->sink, &part, err);
    free(name);
    return st;
}

static enum assay_status put_inputs(struct walk *w, const struct assay_case *c,
                                    struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    const enum assay_safetensors_dtype_id dtype =
        safetensors_dtype_of(c->format);
    enum assay_status st = put(w, c->name, "q", dtype, shape_q(p), c->q, err);
    if (st == ASSAY_OK)
        st = put(w, c->name, "k", dtype, shape_k(p), c->k, err);
    return st == ASSAY_OK ? put(w, c->name, "v", dtype, shape_v(p), c->v, err)
                          : st;
}

static enum assay_status put_exact(struct walk *w, size_t i,
                                   const struct assay_case *c,
                                   struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    struct assay_exact x;
    char base[300];
    enum assay_status st = assay_set_read_exact(w->set, i, p, &x, err);
    if (st != ASSAY_OK)
        return st;
    snprintf(base, sizeof base, "%s.exact", c->name);
    st = x.o64
             ? put(w, base, "o", ASSAY_SAFETENSORS_F64, shape_o(p), x.o64, err)
             : put(w, base, "o", ASSAY_SAFETENSORS_F32, shape_o(p), x.o, err);
    if (st == ASSAY_OK)
        st = put(w, base, "lse", ASSAY_SAFETENSORS_F64, shape_rows(p), x.lse,
                 err);
    assay_exact_free(&x);
    return st;
}

static enum assay_safetensors_dtype_id
dtype_of_codes(const struct assay_format *format)
{
    switch (format->id) {
    case ASSAY_F32: return ASSAY_SAFETENSORS_F32;
    case ASSAY_F16: return ASSAY_SAFETENSORS_F16;
    case ASSAY_BF16: return ASSAY_SAFETENSORS_BF16;
    case ASSAY_INT8: return ASSAY_SAFETENSORS_I8;
    case ASSAY_E4M3FN: return ASSAY_SAFETENSORS_F8_E4M3;
    case ASSAY_E4M3FNUZ: return ASSAY_SAFETENSORS_F8_E4M3FNUZ;
    default:
        return format->bits == 16 ? ASSAY_SAFETENSORS_U16
                                  : ASSAY_SAFETENSORS_U8;
    }
}

static enum assay_status put_payload(struct walk *w, const char *base,
                                     const char *name, struct h5_shape shape,
                                     const struct assay_payload *x,
                                     struct assay_error *err)
{
    char scale[16];
    enum assay_status st =
        put(w, base, name, dtype_of_codes(x->format), shape, x->codes, err);
    if (st != ASSAY_OK || x->scale == ASSAY_SCALE_NONE)
        return st;
    snprintf(scale, sizeof scale, "%s_scale", name);
    return put(w, base, scale,
               is_e8m0(x->scale) ? ASSAY_SAFETENSORS_F8_E8M0
                                 : ASSAY_SAFETENSORS_F32,
               shape_scales(x->scale, &shape),
               is_e8m0(x->scale) ? (const void *)x->e8m0 : x->scales, err);
}

static enum assay_status put_payloads(struct walk *w, const char *base,
                                      const struct assay_problem *p,
                                      const struct assay_payloads *x,
                                      struct assay_error *err)
{
    enum assay_status st = put_payload(w, base, "q", shape_q(p), &x->q, err);
    if (st == ASSAY_OK)
        st = put_payload(w, base, "k", shape_k(p), &x->k, err);
    if (st == ASSAY_OK)
        st = put_payload(w, base, "v", shape_v(p), &x->v, err);
    if (st == ASSAY_OK && x->k_mean)
        st = put(w, base, "k_mean", ASSAY_SAFETENSORS_F32, shape_k_mean(p),
                 x->k_mean, err);
    return st;
}

static enum assay_status put_recipe(struct walk *w, size_t i,
                                    const struct assay_case *c,
                                    const struct assay_recipe *recipe,
                                    struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    struct assay_answer a;
    char base[300];
    enum assay_status st = assay_set_read_answer(w->set, i, p, recipe, &a, err);
    snprintf(base, sizeof base, "%s.%s", c->name, recipe->name);
    if (st == ASSAY_OK && w->o->answers)
        st = put(w, base, "o", ASSAY_SAFETENSORS_F32, shape_o(p), a.o, err);
    if (st == ASSAY_OK && w->o->answers && a.lse)
        st = put(w, base, "lse", ASSAY_SAFETENSORS_F64, shape_rows(p), a.lse,
                 err);
    if (st == ASSAY_OK && w->o->payloads)
        st = put_payloads(w, base, p, &a.payloads, err);
    assay_answer_free(&a);
    return st;
}

static enum assay_status put_recipes(struct walk *w, size_t i,
                                     const struct assay_case *c,
                                     struct assay_error *err)
{
    const struct assay_recipe **recipes;
    size_t n;
    enum assay_status st = assay_set_recipes(w->set, i, &recipes, &n, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
        const char *form = assay_softmax_get(recipes[r]->softmax)->name;
        if (!select_has_recipe(w->o->recipes, recipes[r]->name, form))
            continue;
        if (!w->writing)
            heads_cases_add_recipe(w->about, c->name, recipes[r]->name, form);
        if (w->o->answers || w->o->payloads)
            st = put_recipe(w, i, c, recipes[r], err);
    }
    free(recipes);
    return st;
}

static enum assay_status put_case(struct walk *w, size_t i,
                                  struct assay_error *err)
{
    struct assay_case c;
    enum assay_status st = assay_set_read_case(w->set, i, &c, err);
    if (st != ASSAY_OK)
        return st;
    if (!w->writing) {
        w->cases++;
        heads_cases_add(w->about, &c);
    }
    st = put_inputs(w, &c, err);
    if (st == ASSAY_OK && w->o->answers && assay_set_has_exact(w->set, i))
        st = put_exact(w, i, &c, err);
    if (st == ASSAY_OK)
        st = put_recipes(w, i, &c, err);
    assay_case_free(&c);
    return st;
}

static enum assay_status put_all(struct walk *w, struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < assay_set_count(w->set); i++)
        if (select_has(w->o->cases, assay_set_case_name(w->set, i)))
            st = put_case(w, i, err);
    return st;
}

enum assay_status export_set(const struct assay_set *set,
                             const struct export_options *options,
                             const char *path, struct export_counts *counts,
                             struct assay_error *err)
{
    struct export_sink sink;
    struct walk w = {
        .set = set, .o = options, .sink = &sink, .about = json_object()
    };
    enum assay_status st = export_sink_new(path, &sink, err);
    if (st == ASSAY_OK)
        st = put_all(&w, err);
    if (st == ASSAY_OK)
        st = heads_cases_metadata(w.about, assay_set_hash(set), sink.metadata,
                                  err);
    if (st == ASSAY_OK)
        st = export_sink_begin(&sink, err);
    w.writing = true;
    if (st == ASSAY_OK)
        st = put_all(&w, err);
    *counts = (struct export_counts){ w.cases, sink.added };
    if (st == ASSAY_OK)
        st = export_sink_commit(&sink, err);
    json_decref(w.about);
    export_sink_free(&sink);
    return st;
}
