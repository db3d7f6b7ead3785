/* SPDX-License-Identifier: MIT */
#include "golden/recipe_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/json_row.h"

/* ---- one row ---- */

/* A name of a table into *out, which stays as it is where there is no key or no
 * such name. */
static void pick(struct json_row *r, const char *key, const struct names *names,
                 int *out)
{
    struct assay_error why;
    const char *text = json_row_text(r, key);
    int index;
    if (!text)
        return;
    if (names_find(names, text, &index, &why) == ASSAY_OK)
        *out = index;
    else
        json_row_wrong(r, "%s: %s", key, why.text);
}

static void need(struct json_row *r, const char *key)
{
    if (!json_object_get(r->object, key))
        json_row_wrong(r, "%s is missing, and so is \"like\"", key);
}

static struct json_row row_of(const char *where, const char *what,
                              const json_t *object, struct assay_error *err)
{
    struct json_row r = { where, "", object, ASSAY_OK, err };
    snprintf(r.what, sizeof r.what, "%s ?", what);
    if (!json_is_object(object)) {
        r.st =
            assay_fail(err, ASSAY_USAGE, "%s: a %s is no object", where, what);
        return r;
    }
    const char *name = json_row_text(&r, "name");
    if (name)
        snprintf(r.what, sizeof r.what, "%s %.40s", what, name);
    else
        json_row_wrong(&r, "it has no name");
    return r;
}

/* ---- quantizers ---- */

static const char *const quantizer_keys[] = {
    "name", "like",     "operands", "format", "scale",
    "rule", "prepared", "overflow", "tail",   "about"
};
static const struct names quantizer_key_names = NAMES("key", quantizer_keys);

/* Kinds of scales have rules of their own. */
enum rules { RULES_NONE, RULES_F32, RULES_E8M0 };

static enum rules rules_of(enum assay_scale scale)
{
    switch (scale) {
    case ASSAY_SCALE_NONE: return RULES_NONE;
    case ASSAY_SCALE_BLOCK:
    case ASSAY_SCALE_BLOCK_TOKENS: return RULES_E8M0;
    default: return RULES_F32;
    }
}

static void pick_rule(struct json_row *r, struct assay_quantizer *q)
{
    int index = 0;
    if (rules_of(q->scale) == RULES_E8M0) {
        index = (int)q->scale_rule;
        pick(r, "rule", &names_scale_rules, &index);
        q->scale_rule = (enum assay_scale_rule_id)index;
    } else if (rules_of(q->scale) == RULES_F32) {
        index = (int)q->f32_rule;
        pick(r, "rule", &names_f32_rules, &index);
        q->f32_rule = (enum assay_f32_rule_id)index;
    } else {
        const char *rule = json_row_text(r, "rule");
        if (rule && strcmp(rule, "-") != 0)
            json_row_wrong(r, "there are no scales, so there is no rule %.40s",
                           rule);
    }
}

static void pick_prepared(struct json_row *r, struct assay_quantizer *q)
{
    const char *text = json_row_text(r, "prepared");
    int index = 0;
    if (!text)
        return;
    q->prepares = strcmp(text, "-") != 0;
    if (q->prepares)
        pick(r, "prepared", &names_rotation_orders, &index);
    q->prepare = (enum assay_rotation_order_id)index;
}

/* What is not said: the rule of the scales' kind that is used most. */
static struct assay_quantizer plain_quantizer(void)
{
    return (struct assay_quantizer){ .f32_rule = ASSAY_F32_RULE_DIVIDE_RECIP,
                                     .scale_rule = ASSAY_SCALE_RULE_FLOOR,
                                     .overflow = ASSAY_SATURATE,
                                     .tail = ASSAY_TAIL_ZERO };
}

static void fill_quantizer(struct json_row *r, struct assay_quantizer *q)
{
    int format = (int)q->format, scale = (int)q->scale,
        overflow = (int)q->overflow, tail = (int)q->tail;
    pick(r, "format", &names_formats, &format);
    pick(r, "scale", &names_scales, &scale);
    pick(r, "overflow", &names_overflows, &overflow);
    pick(r, "tail", &names_tails, &tail);
    q->format = (enum assay_format_id)format;
    q->scale = (enum assay_scale)scale;
    q->overflow = (enum assay_overflow)overflow;
    q->tail = (enum assay_tail)tail;
    pick_rule(r, q);
    pick_prepared(r, q);
    const char *operands = json_row_text(r, "operands"),
               *about = json_row_text(r, "about");
    if (operands)
        q->operands = operands;
    else if (!q->operands)
        q->operands = q->scale == ASSAY_SCALE_BLOCK_TOKENS ? "v"
                      : q->prepares                        ? "qk"
                                                           : "qkv";
    q->about = about ? about : "";
}

static enum assay_status add_quantizer(const char *where, const json_t *object,
                                       struct assay_error *err)
{
    const struct assay_quantizer *like = NULL, *out;
    struct assay_quantizer q = plain_quantizer();
    struct json_row r = row_of(where, "quantizer", object, err);
    if (r.st != ASSAY_OK)
        return r.st;
    json_row_check_keys(&r, &quantizer_key_names);
    const char *name = json_row_text(&r, "like");
    if (name && !(like = assay_quantizer_find(name)))
        json_row_wrong(&r, "there is no quantizer %.40s to be like", name);
    if (like)
        q = *like;
    else if (!name) {
        need(&r, "format");
        need(&r, "scale");
    }
    fill_quantizer(&r, &q);
    if (like && rules_of(q.scale) != RULES_NONE &&
        rules_of(q.scale) != rules_of(like->scale) &&
        !json_row_text(&r, "rule"))
        json_row_wrong(&r,
                       "rule is missing: quantizer %s has none for scale %s",
                       like->name, assay_scale_get(q.scale)->name);
    q.name = json_row_text(&r, "name");
    if (r.st != ASSAY_OK)
        return r.st;
    struct assay_error why;
    if (assay_quantizer_add(&q, &out, &why) != ASSAY_OK)
        return assay_fail(err, why.status, "%s: %s", where, why.text);
    return ASSAY_OK;
}

/* ---- recipes ---- */

static const char *const recipe_keys[] = {
    "name",       "like", "q",        "k",   "v",    "v_tokens", "smooth",
    "scale_in_q", "p",    "p_blocks", "out", "form", "promise",  "about"
};
static const struct names recipe_key_names = NAMES("key", recipe_keys);
static const char *const promises[] = {
#define ASSAY_PROMISE(id, name, about) name,
#include "assay/promise.def"
#undef ASSAY_PROMISE
};
static const char *const smooths[] = { "no", "words", "f32" };
static const struct names smooth_names = NAMES("smoothing", smooths);
static const struct names promise_names = NAMES("promise", promises);

static void pick_quantizer(struct json_row *r, const char *key,
                           enum assay_quantizer_id *out)
{
    struct assay_error why;
    const char *text = json_row_text(r, key);
    const struct assay_quantizer *q = text ? assay_quantizer_find(text) : NULL;
    int index;
    if (q)
        *out = q->id;
    else if (text &&
             names_find(&names_quantizers, text, &index, &why) != ASSAY_OK)
        json_row_wrong(r, "%s: %s", key, why.text);
}

static void fill_recipe(struct json_row *r, struct assay_recipe *x)
{
    bool in_q = x->scale_applied == ASSAY_APPLIED_Q;
    int order = (int)x->order, p = (int)x->p_format, out = (int)x->out_format,
        form = (int)x->softmax, promise = (int)x->promise,
        smooth = (int)x->smooth;
    pick_quantizer(r, "q", &x->q);
    pick_quantizer(r, "k", &x->k);
    pick_quantizer(r, "v", &x->v);
    pick(r, "v_tokens", &names_token_orders, &order);
    pick(r, "smooth", &smooth_names, &smooth);
    json_row_flag(r, "scale_in_q", &in_q);
    pick(r, "p", &names_formats, &p);
    json_row_flag(r, "p_blocks", &x->p_blocks);
    pick(r, "out", &names_formats, &out);
    pick(r, "form", &names_softmax_forms, &form);
    pick(r, "promise", &promise_names, &promise);
    x->order = (enum assay_token_order)order;
    x->scale_applied = in_q ? ASSAY_APPLIED_Q : ASSAY_APPLIED_KERNEL;
    x->p_format = (enum assay_format_id)p;
    x->out_format = (enum assay_format_id)out;
    x->softmax = (enum assay_softmax)form;
    x->promise = (enum assay_promise)promise;
    x->smooth = (enum assay_smooth)smooth;
    const char *about = json_row_text(r, "about");
    x->about = about ? about : "";
    x->name = json_row_text(r, "name");
}

static enum assay_status add_recipe(const char *where, const json_t *object,
                                    const struct assay_recipe **out,
                                    struct assay_error *err)
{
    const struct assay_recipe *like = NULL;
    struct assay_recipe x = { .out_format = ASSAY_BF16,
                              .promise = ASSAY_PROMISE_STATISTICAL };
    struct assay_error why;
    struct json_row r = row_of(where, "recipe", object, err);
    if (r.st != ASSAY_OK)
        return r.st;
    json_row_check_keys(&r, &recipe_key_names);
    const char *name = json_row_text(&r, "like");
    if (name && !(like = assay_recipe_find(name)))
        json_row_wrong(&r, "there is no recipe %.40s to be like", name);
    if (like)
        x = *like;
    for (int i = 0; !name && i < 4; i++)
        need(&r, (const char *const[]){ "q", "k", "v", "p" }[i]);
    fill_recipe(&r, &x);
    if (r.st == ASSAY_OK && assay_recipe_add(&x, out, &why) != ASSAY_OK)
        return assay_fail(err, why.status, "%s: %s", where, why.text);
    return r.st;
}

/* ---- a file ---- */

/* Recipes of an array, or of one object that is a row. */
static enum assay_status add_recipes(const char *where, const json_t *list,
                                     const struct assay_recipe *out[],
                                     size_t *count, struct assay_error *err)
{
    const size_t n = json_is_array(list) ? json_array_size(list) : 1;
    enum assay_status st = ASSAY_OK;
    if (n > ASSAY_RECIPES_MAX - ASSAY_RECIPES)
        return assay_fail(err, ASSAY_USAGE,
                          "%s: %zu recipes, at most %d can be added", where, n,
                          ASSAY_RECIPES_MAX - ASSAY_RECIPES);
    for (size_t i = 0; st == ASSAY_OK && i < n; i++) {
        const struct assay_recipe *one;
        st = add_recipe(where,
                        json_is_array(list) ? json_array_get(list, i) : list,
                        &one, err);
        for (size_t j = 0; st == ASSAY_OK && j < *count; j++)
            if (out[j] == one)
                st =
                    assay_fail(err, ASSAY_USAGE, "%s: a second recipe named %s",
                               where, one->name);
        if (st == ASSAY_OK)
            out[(*count)++] = one;
    }
    return st;
}

/* The version is that of `assay list`. */
static enum assay_status check_schema(const char *where, const json_t *file,
                                      struct assay_error *err)
{
    const json_t *schema = json_object_get(file, "schema");
    const char *text = json_string_value(schema);
    if (!schema || (text && strcmp(text, "assay-list/1") == 0))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_USAGE, "%s: schema \"%.40s\" is not %s", where,
                      text ? text : "?", "assay-list/1");
}

static const char *const file_keys[] = { "schema", "recipes", "quantizers" };
static const struct names file_key_names = NAMES("key", file_keys);

static enum assay_status add_file(const char *where, const json_t *file,
                                  const struct assay_recipe *out[],
                                  size_t *count, struct assay_error *err)
{
    const json_t *quantizers = json_object_get(file, "quantizers"),
                 *recipes = json_object_get(file, "recipes");
    struct assay_error why;
    const char *key;
    json_t *value;
    int index;
    enum assay_status st = ASSAY_OK;
    *count = 0;
    if (!quantizers && !recipes)
        return add_recipes(where, file, out, count, err);
    json_object_foreach ((json_t *)(uintptr_t)file, key, value)
        if (names_find(&file_key_names, key, &index, &why) != ASSAY_OK)
            return assay_fail(err, ASSAY_USAGE, "%s: %s", where, why.text);
    if ((quantizers && !json_is_array(quantizers)) ||
        (recipes && !json_is_array(recipes)))
        return assay_fail(err, ASSAY_USAGE,
                          "%s: recipes and quantizers are arrays", where);
    st = check_schema(where, file, err);
    for (size_t i = 0; st == ASSAY_OK && i < json_array_size(quantizers); i++)
        st = add_quantizer(where, json_array_get(quantizers, i), err);
    return st == ASSAY_OK && recipes
               ? add_recipes(where, recipes, out, count, err)
               : st;
}

enum assay_status recipe_file_read(const char *path,
                                   const struct assay_recipe *out[],
                                   size_t *count, struct assay_error *err)
{
    json_t *root;
    *count = 0;
    enum assay_status st = json_read_file(path, &root, err);
    if (root)
        st = add_file(path, root, out, count, err);
    if (st == ASSAY_OK && *count == 0)
        st = assay_fail(err, ASSAY_USAGE, "%s: there is no recipe in it", path);
    json_decref(root);
    return st;
}

/* ---- definitions ---- */

static json_t *quantizer_json(const struct assay_quantizer *q)
{
    return json_pack(
        "{ss ss ss ss ss ss ss ss ss}", "name", q->name, "operands",
        q->operands, "format", assay_format_get(q->format)->name, "scale",
        assay_scale_get(q->scale)->name, "rule", assay_quantizer_rule_name(q),
        "prepared",
        q->prepares ? assay_rotation_order_get(q->prepare)->name : "-",
        "overflow", assay_overflow_get(q->overflow)->name, "tail",
        assay_tail_name(q->tail), "about", q->about);
}

static json_t *recipe_json(const struct assay_recipe *r)
{
    return json_pack("{ss ss ss ss ss ss sb ss sb ss ss ss ss}", "name",
                     r->name, "q", assay_quantizer_get(r->q)->name, "k",
                     assay_quantizer_get(r->k)->name, "v",
                     assay_quantizer_get(r->v)->name, "v_tokens",
                     assay_token_order_name(r->order), "smooth",
                     assay_smooth_name(r->smooth), "scale_in_q",
                     r->scale_applied == ASSAY_APPLIED_Q, "p",
                     assay_format_get(r->p_format)->name, "p_blocks",
                     r->p_blocks, "out", assay_format_get(r->out_format)->name,
                     "form", assay_softmax_get(r->softmax)->name, "promise",
                     assay_promise_get(r->promise)->name, "about", r->about);
}

static bool has_name(const json_t *rows, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach (rows, i, row)
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0)
            return true;
    return false;
}

/* `all`: not those alone that were added. */
static json_t *definitions(const struct assay_recipe *const list[],
                           size_t count, bool all)
{
    json_t *root = json_object(), *recipes = json_array(),
           *quantizers = json_array();
    for (size_t r = 0; r < count; r++) {
        const enum assay_quantizer_id ids[] = { list[r]->q, list[r]->k,
                                                list[r]->v };
        for (int i = 0; i < 3; i++) {
            const struct assay_quantizer *q = assay_quantizer_get(ids[i]);
            if ((all || assay_quantizer_is_added(q)) &&
                !has_name(quantizers, q->name))
                json_array_append_new(quantizers, quantizer_json(q));
        }
        json_array_append_new(recipes, recipe_json(list[r]));
    }
    json_object_set_new(root, "recipes", recipes);
    json_object_set_new(root, "quantizers", quantizers);
    return root;
}

json_t *recipe_definitions(const struct assay_recipe *const recipes[],
                           size_t count)
{
    json_t *root = definitions(recipes, count, true);
    json_object_set_new(root, "schema", json_string("assay-list/1"));
    return root;
}

char *recipe_definition(const struct assay_recipe *recipe)
{
    json_t *root = definitions(&recipe, 1, false);
    char *text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return text;
}

enum assay_status recipe_define(const char *where, const char *text,
                                const struct assay_recipe **out,
                                struct assay_error *err)
{
    const struct assay_recipe *all[ASSAY_RECIPES_MAX];
    struct assay_error why;
    json_error_t at;
    size_t count = 0;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &at);
    if (!root)
        return assay_fail(err, ASSAY_FORMAT, "%s: definition: %s", where,
                          at.text);
    enum assay_status st = add_file(where, root, all, &count, &why);
    json_decref(root);
    if (st == ASSAY_MEMORY)
        return assay_fail(err, st, "%s", why.text);
    if (st != ASSAY_OK)
        return assay_fail(err, ASSAY_FORMAT, "%s", why.text);
    if (count != 1)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: the definition is of %zu recipes", where, count);
    *out = all[0];
    return ASSAY_OK;
}
