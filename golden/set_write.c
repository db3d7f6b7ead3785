/* SPDX-License-Identifier: MIT
 *
 * Golden sets: writing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/h5.h"
#include "golden/set.h"
#include "golden/set_layout.h"
#include "golden/stored.h"

struct assay_set_writer {
    struct stored_writer stored;
};

void assay_set_abandon(struct assay_set_writer *w)
{
    if (!w)
        return;
    stored_abandon(&w->stored);
    free(w);
}

enum assay_status assay_set_create(const char *path,
                                   const struct assay_provenance *provenance,
                                   struct assay_set_writer **out,
                                   struct assay_error *err)
{
    *out = NULL;
    struct assay_set_writer *w = calloc(1, sizeof *w);
    if (!w)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a set");
    enum assay_status st =
        stored_create(path, STORED_SET, provenance->command, &w->stored, err);
    if (st != ASSAY_OK) {
        free(w);
        return st;
    }
    if (provenance->limits &&
        (st = h5_write_text(path, w->stored.members, "limits",
                            provenance->limits, err)) != ASSAY_OK) {
        assay_set_abandon(w);
        return st;
    }
    *out = w;
    return ASSAY_OK;
}

static enum assay_status write_exact(const char *path, hid_t group,
                                     const struct assay_problem *p,
                                     const struct assay_exact *e,
                                     struct assay_error *err)
{
    struct h5_shape o = shape_o(p), lse = shape_rows(p), bar = shape_heads(p);
    const void *data = e->o64 ? (const void *)e->o64 : e->o;
    enum assay_status st;
    if ((st = h5_write_data(path, group, "exact/o", e->o64 ? H5_F64 : H5_F32,
                            &o, NULL, data, err)) != ASSAY_OK ||
        (st = h5_write_data(path, group, "exact/lse", H5_F64, &lse, NULL,
                            e->lse, err)) != ASSAY_OK ||
        (st = h5_write_data(path, group, "exact/error_bar/o", H5_F64, &bar,
                            NULL, e->bar_o, err)) != ASSAY_OK)
        return st;
    return h5_write_data(path, group, "exact/error_bar/lse", H5_F64, &bar, NULL,
                         e->bar_lse, err);
}

/* Scales say their kind and rule; V's blocks have their order and past too. */
static enum assay_status
write_scales(const char *path, hid_t group, const char *name,
             const struct h5_shape *of, const struct assay_quantizer *how,
             const struct assay_payload *payload, struct assay_error *err)
{
    char dataset[32];
    const struct h5_shape shape = shape_scales(payload->scale, of);
    const bool e8m0 = is_e8m0(payload->scale);
    enum assay_status st;
    snprintf(dataset, sizeof dataset, "%s_scale", name);
    if ((st =
             h5_write_data(path, group, dataset, e8m0 ? H5_U8 : H5_F32, &shape,
                           assay_scale_get(payload->scale)->name,
                           e8m0 ? (const void *)payload->e8m0 : payload->scales,
                           err)) != ASSAY_OK ||
        (st = h5_write_data_text(path, group, dataset, "rule",
                                 assay_quantizer_rule_name(how), err)) !=
            ASSAY_OK ||
        payload->scale != ASSAY_SCALE_BLOCK_TOKENS ||
        (st = h5_write_data_text(path, group, dataset, "token_order",
                                 assay_token_order_name(payload->tensor.order),
                                 err)) != ASSAY_OK)
        return st;
    snprintf(dataset, sizeof dataset, "%s_past", name);
    return h5_write_data(path, group, dataset, H5_U8, &shape,
                         payload->format->name, payload->past, err);
}

static enum assay_status
write_payload(const char *path, hid_t group, const char *name,
              const struct h5_shape *shape, enum assay_quantizer_id id,
              const struct assay_payload *payload, struct assay_error *err)
{
    const struct assay_quantizer *how = assay_quantizer_get(id);
    enum assay_status st =
        h5_write_data(path, group, name, type_of_codes(payload->format), shape,
                      payload->format->name, payload->codes, err);
    if (st == ASSAY_OK)
        st = h5_write_data_text(path, group, name, "quantizer", how->name, err);
    if (st != ASSAY_OK || payload->scale == ASSAY_SCALE_NONE)
        return st;
    return write_scales(path, group, name, shape, how, payload, err);
}

static enum assay_status write_payloads(const char *path, hid_t group,
                                        const struct assay_problem *p,
                                        const struct assay_recipe *r,
                                        const struct assay_payloads *x,
                                        struct assay_error *err)
{
    struct h5_shape q = shape_q(p), k = shape_k(p), v = shape_v(p),
                    mean = shape_k_mean(p);
    enum assay_status st;
    if ((st = write_payload(path, group, "q", &q, r->q, &x->q, err)) !=
            ASSAY_OK ||
        (st = write_payload(path, group, "k", &k, r->k, &x->k, err)) !=
            ASSAY_OK ||
        (st = write_payload(path, group, "v", &v, r->v, &x->v, err)) !=
            ASSAY_OK ||
        !x->k_mean)
        return st;
    return h5_write_data(path, group, "k_mean", H5_F32, &mean, NULL, x->k_mean,
                         err);
}

/* Bounds are bf16 numbers. */
static enum assay_status write_bound(const char *path, hid_t group,
                                     const struct assay_problem *p,
                                     const float *bound,
                                     struct assay_error *err)
{
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    const int64_t n = assay_problem_o_elems(p);
    const struct h5_shape shape = shape_o(p);
    uint16_t *words;
    enum assay_status st = assay_alloc("bounds", n, sizeof *words, &words, err);
    if (st != ASSAY_OK)
        return st;
    assay_format_encode(bf16, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, (size_t)n,
                        bound, words);
    st = h5_write_data(path, group, "bound", H5_U16, &shape, bf16->name, words,
                       err);
    assay_free(words);
    return st;
}

static enum assay_status write_jitter(const char *path, hid_t group,
                                      const struct assay_problem *p,
                                      const struct assay_jitter *j,
                                      struct assay_error *err)
{
    const struct h5_shape rows = shape_rows(p), heads = shape_heads(p);
    enum assay_status st;
    if (!j->o)
        return ASSAY_OK;
    if ((st = h5_write_data(path, group, "jitter/o", H5_F32, &rows, NULL, j->o,
                            err)) == ASSAY_OK &&
        (st = h5_write_data(path, group, "jitter/lse", H5_F32, &rows, NULL,
                            j->lse, err)) == ASSAY_OK &&
        (st = h5_write_data(path, group, "jitter/gain", H5_F32, &heads, NULL,
                            j->gain, err)) == ASSAY_OK)
        st = write_bound(path, group, p, j->bound, err);
    return st;
}

/* What the recipe is, and who made the answer where that is not assay. */
static enum assay_status write_about(const char *path, hid_t group,
                                     const struct assay_answer *a,
                                     struct assay_error *err)
{
    enum assay_status st = stored_write_recipe(path, group, a->recipe, err);
    if (st == ASSAY_OK)
        st = h5_write_text(path, group, "promise",
                           assay_recipe_promise_name(a->recipe), err);
    return st == ASSAY_OK && a->maker
               ? h5_write_text(path, group, SET_MAKER, a->maker, err)
               : st;
}

static enum assay_status write_answer(const char *path, hid_t in,
                                      const struct assay_problem *p,
                                      const struct assay_answer *a,
                                      struct assay_error *err)
{
    const struct h5_shape o = shape_o(p), rows = shape_rows(p);
    char name[64];
    hid_t group;
    snprintf(name, sizeof name, "recipes/%s", a->recipe->name);
    enum assay_status st = h5_create_group(path, in, name, &group, err);
    if (st == ASSAY_OK && (st = write_about(path, group, a, err)) == ASSAY_OK &&
        (st = write_payloads(path, group, p, a->recipe, &a->payloads, err)) ==
            ASSAY_OK &&
        (st = h5_write_data(path, group, "o", H5_F32, &o, NULL, a->o, err)) ==
            ASSAY_OK &&
        (!a->lse || (st = h5_write_data(path, group, "lse", H5_F64, &rows, NULL,
                                        a->lse, err)) == ASSAY_OK))
        st = write_jitter(path, group, p, &a->jitter, err);
    h5_close_group(&group);
    return st;
}

enum assay_status assay_set_add(struct assay_set_writer *w,
                                const struct assay_case *c,
                                const struct assay_exact *exact,
                                const struct assay_answer *answers,
                                size_t n_answers, struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    const char *path = w->stored.file.final, *format = c->format->name;
    const enum h5_type words = type_of_codes(c->format);
    struct h5_shape q = shape_q(p), k = shape_k(p), v = shape_v(p);
    hid_t group = -1, recipes = -1;
    enum assay_status st;
    if ((st = h5_create_group(path, w->stored.members, c->name, &group, err)) ==
            ASSAY_OK &&
        (st = stored_write_problem(path, group, p, err)) == ASSAY_OK &&
        (st = h5_write_text(path, group, "source", c->source, err)) ==
            ASSAY_OK &&
        (st = h5_write_data(path, group, "q", words, &q, format, c->q, err)) ==
            ASSAY_OK &&
        (st = h5_write_data(path, group, "k", words, &k, format, c->k, err)) ==
            ASSAY_OK &&
        (st = h5_write_data(path, group, "v", words, &v, format, c->v, err)) ==
            ASSAY_OK &&
        (!exact || (st = write_exact(path, group, p, exact, err)) == ASSAY_OK))
        st = h5_create_group(path, group, "recipes", &recipes, err);
    for (size_t i = 0; st == ASSAY_OK && i < n_answers; i++)
        st = write_answer(path, group, p, &answers[i], err);
    if (st == ASSAY_OK)
        st = stored_flush(&w->stored, err);
    h5_close_group(&recipes);
    h5_close_group(&group);
    w->stored.count++;
    return st;
}

enum assay_status assay_set_commit(struct assay_set_writer *w,
                                   char hash[SET_HASH_CHARS + 1],
                                   struct assay_error *err)
{
    enum assay_status st = stored_commit(&w->stored, hash, err);
    free(w);
    return st;
}
