/* SPDX-License-Identifier: MIT
 *
 * Golden sets: reading cases and answers.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/h5.h"
#include "golden/set.h"
#include "golden/set_file.h"
#include "golden/set_layout.h"

static enum assay_status read_format(const char *path, hid_t in,
                                     const char *name,
                                     const struct assay_format **format,
                                     struct assay_error *err)
{
    char *text;
    enum assay_status st = h5_data_format(path, in, name, &text, err);
    if (st != ASSAY_OK)
        return st;
    *format = assay_format_find(text);
    if (!*format)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: %s has the unknown format \"%.40s\"", path, name,
                        text);
    free(text);
    return st;
}

enum assay_status assay_set_describe(const struct assay_set *set, size_t i,
                                     struct assay_case *out,
                                     struct assay_error *err)
{
    hid_t group;
    *out = (struct assay_case){ 0 };
    enum assay_status st =
        stored_open_member(&set->stored, i, NULL, &group, err);
    if (st == ASSAY_OK &&
        (st = stored_read_problem(set->stored.path, group, &out->problem,
                                  err)) == ASSAY_OK &&
        (st = h5_read_text(set->stored.path, group, "source", &out->source,
                           err)) == ASSAY_OK &&
        (st = read_format(set->stored.path, group, "q", &out->format, err)) ==
            ASSAY_OK &&
        !(out->name = strdup(set->stored.names[i])))
        st = assay_fail(err, ASSAY_MEMORY, "no memory for a case name");
    h5_close_group(&group);
    if (st != ASSAY_OK)
        assay_case_free(out);
    return stored_in_member(&set->stored, i, st, err);
}

enum assay_status assay_set_read_case(const struct assay_set *set, size_t i,
                                      struct assay_case *out,
                                      struct assay_error *err)
{
    const struct assay_format *k_format, *v_format;
    enum assay_status st = assay_set_describe(set, i, out, err);
    if (st != ASSAY_OK)
        return st;
    const struct assay_problem *p = &out->problem;
    const enum h5_type words = type_of_codes(out->format);
    hid_t group;
    st = stored_open_member(&set->stored, i, NULL, &group, err);
    if (st == ASSAY_OK &&
        (st = read_format(set->stored.path, group, "k", &k_format, err)) ==
            ASSAY_OK &&
        (st = read_format(set->stored.path, group, "v", &v_format, err)) ==
            ASSAY_OK &&
        (k_format != out->format || v_format != out->format))
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: q, k and v are %s, %s and %s, must be the same",
                        set->stored.path, out->format->name, k_format->name,
                        v_format->name);
    if (st == ASSAY_OK &&
        (st = stored_read_array(set->stored.path, group, "q", words, shape_q(p),
                                &out->q, err)) == ASSAY_OK &&
        (st = stored_read_array(set->stored.path, group, "k", words, shape_k(p),
                                &out->k, err)) == ASSAY_OK)
        st = stored_read_array(set->stored.path, group, "v", words, shape_v(p),
                               &out->v, err);
    h5_close_group(&group);
    if (st != ASSAY_OK) {
        st = stored_in_member(&set->stored, i, st, err);
        assay_case_free(out);
    }
    return st;
}

static enum assay_status read_recipe(const struct assay_set *set, size_t i,
                                     const char *name,
                                     const struct assay_recipe **out,
                                     struct assay_error *err)
{
    char *below = NULL;
    hid_t group = -1;
    if (asprintf(&below, "recipes/%s", name) < 0)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    enum assay_status st =
        stored_open_member(&set->stored, i, below, &group, err);
    free(below);
    if (st == ASSAY_OK)
        st = stored_read_recipe(set->stored.path, group, name, out, err);
    h5_close_group(&group);
    return st;
}

static int by_id(const void *a, const void *b)
{
    const struct assay_recipe *const *x = a, *const *y = b;
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

enum assay_status assay_set_recipes(const struct assay_set *set, size_t i,
                                    const struct assay_recipe ***out,
                                    size_t *count, struct assay_error *err)
{
    char **names = NULL;
    size_t n = 0;
    hid_t group;
    *out = NULL;
    *count = 0;
    enum assay_status st =
        stored_open_member(&set->stored, i, "recipes", &group, err);
    if (st == ASSAY_OK)
        st = h5_list(set->stored.path, group, &names, &n, err);
    h5_close_group(&group);
    if (st == ASSAY_OK && n > 0 && !(*out = calloc(n, sizeof **out)))
        st = assay_fail(err, ASSAY_MEMORY, "no memory for recipes");
    for (size_t j = 0; st == ASSAY_OK && j < n; j++) {
        st = read_recipe(set, i, names[j], &(*out)[*count], err);
        *count += st == ASSAY_OK;
    }
    if (*count > 1)
        qsort((void *)*out, *count, sizeof **out, by_id);
    h5_free_names(names, n);
    return stored_in_member(&set->stored, i, st, err);
}

static enum assay_status read_exact(const char *path, hid_t group,
                                    const struct assay_problem *p,
                                    struct assay_exact *out,
                                    struct assay_error *err)
{
    enum h5_type type;
    struct h5_shape shape;
    enum assay_status st =
        h5_data_info(path, group, "exact/o", &type, &shape, err);
    if (st != ASSAY_OK)
        return st;
    void *o = type == H5_F64 ? (void *)&out->o64 : (void *)&out->o;
    if ((st = stored_read_array(path, group, "exact/o",
                                type == H5_F64 ? H5_F64 : H5_F32, shape_o(p), o,
                                err)) != ASSAY_OK ||
        (st = stored_read_array(path, group, "exact/lse", H5_F64, shape_rows(p),
                                &out->lse, err)) != ASSAY_OK ||
        (st = stored_read_array(path, group, "exact/error_bar/o", H5_F64,
                                shape_heads(p), &out->bar_o, err)) !=
            ASSAY_OK ||
        (st = stored_read_array(path, group, "exact/error_bar/lse", H5_F64,
                                shape_heads(p), &out->bar_lse, err)) !=
            ASSAY_OK ||
        !out->o64)
        return st;
    int64_t n = assay_problem_o_elems(p);
    st = assay_alloc("exact output", n, sizeof *out->o, &out->o, err);
    for (int64_t i = 0; st == ASSAY_OK && i < n; i++)
        out->o[i] = (float)out->o64[i];
    return st;
}

bool assay_set_has_exact(const struct assay_set *set, size_t i)
{
    struct assay_error ignored;
    hid_t group;
    const bool has = stored_open_member(&set->stored, i, NULL, &group,
                                        &ignored) == ASSAY_OK &&
                     h5_has_link(group, "exact");
    h5_close_group(&group);
    return has;
}

static size_t count_recipes(const struct assay_set *set, size_t i)
{
    struct assay_error ignored;
    const struct assay_recipe **recipes;
    size_t n;
    assay_set_recipes(set, i, &recipes, &n, &ignored);
    free(recipes);
    return n;
}

bool assay_set_has_answers(const struct assay_set *set)
{
    for (size_t i = 0; i < set->stored.count; i++)
        if (assay_set_has_exact(set, i) || count_recipes(set, i) > 0)
            return true;
    return false;
}

enum assay_status assay_set_need_answers(const struct assay_set *set,
                                         struct assay_error *err)
{
    const struct assay_recipe **recipes;
    size_t n = 0;
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && n == 0 && i < set->stored.count; i++) {
        st = assay_set_recipes(set, i, &recipes, &n, err);
        free(recipes);
    }
    return st != ASSAY_OK || n > 0
               ? st
               : assay_fail(err, ASSAY_FORMAT,
                            "%s: has no answers, it was imported without any; "
                            "`assay generate %s -o NEW.h5` makes them",
                            set->stored.path, set->stored.path);
}

enum assay_status assay_set_read_exact(const struct assay_set *set, size_t i,
                                       const struct assay_problem *p,
                                       struct assay_exact *out,
                                       struct assay_error *err)
{
    hid_t group;
    *out = (struct assay_exact){ 0 };
    enum assay_status st =
        stored_open_member(&set->stored, i, NULL, &group, err);
    if (st == ASSAY_OK && !h5_has_link(group, "exact"))
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: has no exact answer, it was imported; `assay "
                        "generate %s -o NEW.h5` makes one",
                        set->stored.path, set->stored.path);
    if (st == ASSAY_OK)
        st = read_exact(set->stored.path, group, p, out, err);
    h5_close_group(&group);
    if (st != ASSAY_OK)
        assay_exact_free(out);
    return stored_in_member(&set->stored, i, st, err);
}

/* A dataset made in another way than this program's row says; sets written
 * before there were such attributes have none. */
static enum assay_status expect_data_text(const char *path, hid_t in,
                                          const char *name, const char *key,
                                          const char *want,
                                          struct assay_error *err)
{
    char *text;
    enum assay_status st = h5_read_data_text(path, in, name, key, &text, err);
    if (st == ASSAY_OK && text && strcmp(text, want) != 0)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: %s has the %s \"%.40s\", the recipe's is %s", path,
                        name, key, text, want);
    free(text);
    return st;
}

/* The scales of a payload, and what V's blocks have beside. */
static enum assay_status
read_scales(const char *path, hid_t group, const char *name,
            const struct h5_shape *of, const struct assay_quantizer *how,
            struct assay_payload *out, struct assay_error *err)
{
    char dataset[32];
    const struct h5_shape shape = shape_scales(out->scale, of);
    out->n_scales = h5_shape_count(&shape);
    snprintf(dataset, sizeof dataset, "%s_scale", name);
    enum assay_status st = expect_data_text(
        path, group, dataset, "rule", assay_quantizer_rule_name(how), err);
    if (st == ASSAY_OK && out->scale == ASSAY_SCALE_BLOCK_TOKENS)
        st = expect_data_text(path, group, dataset, "token_order",
                              assay_token_order_name(out->tensor.order), err);
    if (st != ASSAY_OK)
        return st;
    if (!is_e8m0(out->scale))
        return stored_read_array(path, group, dataset, H5_F32, shape,
                                 &out->scales, err);
    st = stored_read_array(path, group, dataset, H5_U8, shape, &out->e8m0, err);
    if (st != ASSAY_OK || out->scale != ASSAY_SCALE_BLOCK_TOKENS)
        return st;
    snprintf(dataset, sizeof dataset, "%s_past", name);
    return stored_read_array(path, group, dataset, H5_U8, shape, &out->past,
                             err);
}

static enum assay_status
read_payload(const char *path, hid_t group, const char *name,
             enum assay_quantizer_id how, enum assay_token_order order,
             struct h5_shape shape, struct assay_payload *out,
             struct assay_error *err)
{
    const struct assay_quantizer *quantizer = assay_quantizer_get(how);
    const struct assay_format *own;
    enum assay_status st = read_format(path, group, name, &own, err);
    if (st != ASSAY_OK)
        return st;
    out->format = assay_format_get(quantizer->format);
    out->scale = quantizer->scale;
    out->tensor = (struct assay_tensor){
        .b = (int64_t)shape.dims[0],
        .s = (int64_t)shape.dims[1],
        .h = (int64_t)shape.dims[2],
        .d = (int64_t)shape.dims[3],
        .order = order,
    };
    out->count = h5_shape_count(&shape);
    if (own != out->format)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s is %s, the recipe's payload is %s", path,
                          name, own->name, out->format->name);
    st = expect_data_text(path, group, name, "quantizer", quantizer->name, err);
    if (st == ASSAY_OK)
        st = stored_read_array(path, group, name, type_of_codes(own), shape,
                               &out->codes, err);
    if (st != ASSAY_OK || out->scale == ASSAY_SCALE_NONE)
        return st;
    return read_scales(path, group, name, &shape, quantizer, out, err);
}

static enum assay_status read_payloads(const char *path, hid_t group,
                                       const struct assay_problem *p,
                                       const struct assay_recipe *r,
                                       struct assay_payloads *out,
                                       struct assay_error *err)
{
    enum assay_status st;
    if ((st = read_payload(path, group, "q", r->q, r->order, shape_q(p),
                           &out->q, err)) != ASSAY_OK ||
        (st = read_payload(path, group, "k", r->k, r->order, shape_k(p),
                           &out->k, err)) != ASSAY_OK ||
        (st = read_payload(path, group, "v", r->v, r->order, shape_v(p),
                           &out->v, err)) != ASSAY_OK ||
        !r->smooth)
        return st;
    return stored_read_array(path, group, "k_mean", H5_F32, shape_k_mean(p),
                             &out->k_mean, err);
}

static enum assay_status read_bound(const char *path, hid_t group,
                                    const struct assay_problem *p, float **out,
                                    struct assay_error *err)
{
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16), *own;
    const int64_t n = assay_problem_o_elems(p);
    uint16_t *words = NULL;
    enum assay_status st = read_format(path, group, "bound", &own, err);
    if (st == ASSAY_OK && own != bf16)
        st = assay_fail(err, ASSAY_FORMAT, "%s: bound is %s, must be bf16",
                        path, own->name);
    if (st == ASSAY_OK &&
        (st = stored_read_array(path, group, "bound", H5_U16, shape_o(p),
                                &words, err)) == ASSAY_OK &&
        (st = assay_alloc("bounds", n, sizeof **out, out, err)) == ASSAY_OK)
        assay_format_decode(bf16, (size_t)n, words, *out);
    assay_free(words);
    return st;
}

static enum assay_status read_jitter(const char *path, hid_t group,
                                     const struct assay_problem *p,
                                     struct assay_jitter *j,
                                     struct assay_error *err)
{
    enum assay_status st;
    if ((st = stored_read_array(path, group, "jitter/o", H5_F32, shape_rows(p),
                                &j->o, err)) != ASSAY_OK ||
        (st = stored_read_array(path, group, "jitter/lse", H5_F32,
                                shape_rows(p), &j->lse, err)) != ASSAY_OK ||
        (st = stored_read_array(path, group, "jitter/gain", H5_F32,
                                shape_heads(p), &j->gain, err)) != ASSAY_OK)
        return st;
    return read_bound(path, group, p, &j->bound, err);
}

static enum assay_status read_maker(const char *path, hid_t group, char **maker,
                                    struct assay_error *err)
{
    *maker = NULL;
    if (!h5_has_attribute(group, SET_MAKER))
        return ASSAY_OK;
    enum assay_status st = h5_read_text(path, group, SET_MAKER, maker, err);
    if (st != ASSAY_OK || **maker)
        return st;
    free(*maker);
    *maker = NULL;
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: the attribute " SET_MAKER " is empty", path);
}

/* An answer made elsewhere may lack LSE, jitter and bound; assay's lacks
 * nothing. */
static enum assay_status read_answer(const char *path, hid_t group,
                                     const struct assay_problem *p,
                                     const struct assay_recipe *r,
                                     struct assay_answer *out,
                                     struct assay_error *err)
{
    enum assay_status st;
    if ((st = stored_expect_text(path, group, "softmax_form",
                                 assay_softmax_get(r->softmax)->name, err)) !=
            ASSAY_OK ||
        (st = read_maker(path, group, &out->maker, err)) != ASSAY_OK ||
        (st = read_payloads(path, group, p, r, &out->payloads, err)) !=
            ASSAY_OK ||
        (st = stored_read_array(path, group, "o", H5_F32, shape_o(p), &out->o,
                                err)) != ASSAY_OK)
        return st;
    if (!out->maker || h5_has_link(group, "lse"))
        st = stored_read_array(path, group, "lse", H5_F64, shape_rows(p),
                               &out->lse, err);
    if (st == ASSAY_OK && (!out->maker || h5_has_link(group, "jitter")))
        st = read_jitter(path, group, p, &out->jitter, err);
    return st;
}

enum assay_status assay_set_maker(const struct assay_set *set, size_t i,
                                  const struct assay_recipe *recipe,
                                  char **maker, struct assay_error *err)
{
    char below[64] = "recipes/";
    hid_t group;
    strcat(below, recipe->name);
    *maker = NULL;
    enum assay_status st =
        stored_open_member(&set->stored, i, below, &group, err);
    if (st == ASSAY_OK)
        st = read_maker(set->stored.path, group, maker, err);
    h5_close_group(&group);
    return stored_in_member(&set->stored, i, st, err);
}

enum assay_status assay_set_read_answer(const struct assay_set *set, size_t i,
                                        const struct assay_problem *p,
                                        const struct assay_recipe *recipe,
                                        struct assay_answer *out,
                                        struct assay_error *err)
{
    char below[64] = "recipes/";
    hid_t group;
    *out = (struct assay_answer){ .recipe = recipe };
    strcat(below, recipe->name);
    enum assay_status st =
        stored_open_member(&set->stored, i, below, &group, err);
    if (st == ASSAY_OK)
        st = read_answer(set->stored.path, group, p, recipe, out, err);
    h5_close_group(&group);
    if (st != ASSAY_OK) {
        st = assay_fail_in(err, st, "recipe %s", recipe->name);
        assay_answer_free(out);
    }
    return stored_in_member(&set->stored, i, st, err);
}
