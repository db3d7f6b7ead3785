/* SPDX-License-Identifier: MIT */
#include "golden/show_recipe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "golden/json.h"
#include "golden/recipe_file.h"
#include "golden/run_file.h"
#include "golden/select.h"
#include "golden/set.h"
#include "golden/term.h"

/* A recipe is there once in each softmax form. */
struct recipes {
    const struct assay_recipe *list[SELECT_RECIPES_MOST];
    size_t count;
};

static void add(struct recipes *to, const struct assay_recipe *recipe)
{
    for (size_t i = 0; i < to->count; i++)
        if (strcmp(to->list[i]->name, recipe->name) == 0 &&
            to->list[i]->softmax == recipe->softmax)
            return;
    if (to->count < SELECT_RECIPES_MOST)
        to->list[to->count++] = recipe;
}

static enum assay_status of_set(const char *path, struct recipes *out,
                                struct assay_error *err)
{
    struct assay_set *set;
    enum assay_status st = assay_set_open(path, &set, err);
    if (st != ASSAY_OK)
        return st;
    for (size_t i = 0; st == ASSAY_OK && i < assay_set_count(set); i++) {
        const struct assay_recipe **recipes;
        size_t n;
        st = assay_set_recipes(set, i, &recipes, &n, err);
        for (size_t r = 0; st == ASSAY_OK && r < n; r++)
            add(out, recipes[r]);
        if (st == ASSAY_OK)
            free(recipes);
    }
    assay_set_close(set);
    return st;
}

static enum assay_status of_run(const char *path, struct recipes *out,
                                struct assay_error *err)
{
    struct run_file *run;
    enum assay_status st = run_file_open(path, &run, err);
    if (st != ASSAY_OK)
        return st;
    for (size_t i = 0; st == ASSAY_OK && i < run_file_count(run); i++) {
        struct run_result result;
        st = run_file_describe(run, i, &result, err);
        if (st == ASSAY_OK)
            add(out, result.recipe);
        run_result_free(&result);
    }
    run_file_close(run);
    return st;
}

static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    if (text)
        return *text ? text : "-";
    return json_is_true(value) ? "yes" : "no";
}

/* Keys of a recipe file, a line each. */
static void print_recipe(const struct assay_recipe *recipe, const json_t *row)
{
    const char *key;
    json_t *value;
    term_printf(stdout, "recipe %s, in softmax form %s: %s\n", recipe->name,
                assay_softmax_get(recipe->softmax)->name,
                assay_softmax_get(recipe->softmax)->about);
    json_object_foreach ((json_t *)(uintptr_t)row, key, value)
        if (strcmp(key, "name") != 0 && strcmp(key, "form") != 0)
            term_printf(stdout, "  %-10s %s\n", key,
                        strcmp(key, "promise") == 0
                            ? assay_recipe_promise_name(recipe)
                            : text_of(value));
    putchar('\n');
}

static bool print_quantizers(const json_t *rows)
{
    static const char *const keys[] = {
        "name",     "format",   "scale", "rule",
        "prepared", "overflow", "tail",  "about"
    };
    enum { KEYS = sizeof keys / sizeof *keys };
    char titles[KEYS][16];
    struct column columns[KEYS];
    size_t r;
    json_t *row;
    for (int i = 0; i < KEYS; i++) {
        for (size_t c = 0; c <= strlen(keys[i]); c++)
            titles[i][c] = (char)toupper((unsigned char)keys[i][c]);
        columns[i] = (struct column){ titles[i], i == KEYS - 1 ? COLUMN_PROSE
                                                               : COLUMN_TEXT };
    }
    snprintf(titles[0], sizeof titles[0], "QUANTIZER");
    struct table *t = table_new(columns, KEYS);
    if (!t)
        return false;
    json_array_foreach (rows, r, row) {
        table_row(t);
        for (size_t i = 0; i < KEYS; i++)
            table_text(t, i, text_of(json_object_get(row, keys[i])));
    }
    return table_print(t, stdout);
}

static bool print(const struct recipes *r, bool json)
{
    json_t *all = recipe_definitions(r->list, r->count);
    if (json)
        return json_print(all, stdout) == 0;
    const json_t *rows = json_object_get(all, "recipes");
    for (size_t i = 0; i < r->count; i++)
        print_recipe(r->list[i], json_array_get(rows, i));
    const bool ok = print_quantizers(json_object_get(all, "quantizers"));
    json_decref(all);
    return ok;
}

enum assay_status show_recipes(const char *path, const char *selected,
                               bool json, struct assay_error *err)
{
    struct recipes have = { .count = 0 }, chosen = { .count = 0 };
    enum assay_status st =
        run_file_is(path) ? of_run(path, &have, err) : of_set(path, &have, err);
    if (st == ASSAY_OK)
        st = select_check_recipes(selected, have.list, have.count, err);
    if (st != ASSAY_OK)
        return st;
    for (size_t i = 0; i < have.count; i++)
        if (select_has_recipe(selected, have.list[i]->name,
                              assay_softmax_get(have.list[i]->softmax)->name))
            add(&chosen, have.list[i]);
    return print(&chosen, json) || ferror(stdout)
               ? ASSAY_OK
               : assay_fail(err, ASSAY_MEMORY, "no memory for recipes");
}
