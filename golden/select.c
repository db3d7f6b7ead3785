/* SPDX-License-Identifier: MIT */
#include "golden/select.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/names.h"
#include "golden/recipe_file.h"
#include "golden/set.h"
#include "golden/term.h"

/* The next member of a comma list into `item`; false at the end. A backslash
 * takes what follows as it is, a comma too; fnmatch does the rest. */
static bool next_item(const char **list, char *item, size_t size)
{
    const char *from = *list;
    if (!from || !*from)
        return false;
    size_t n = 0;
    while (from[n] && from[n] != ',')
        n += from[n] == '\\' && from[n + 1] ? 2 : 1;
    size_t m = n < size - 1 ? n : size - 1;
    memcpy(item, from, m);
    item[m] = '\0';
    *list = from[n] ? from + n + 1 : from + n;
    return true;
}

void select_quote(const char *name, char *out, size_t size)
{
    size_t at = 0;
    for (; *name && at + 2 < size; name++) {
        if (strchr("\\,*?[", *name))
            out[at++] = '\\';
        out[at++] = *name;
    }
    out[at] = '\0';
}

bool select_has(const char *list, const char *name)
{
    char item[256];
    if (!list)
        return true;
    while (next_item(&list, item, sizeof item))
        if (fnmatch(item, name, 0) == 0)
            return true;
    return false;
}

static void join(const char *const *names, size_t count, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && at + 1 < size; i++) {
        int n = snprintf(out + at, size - at, "%s%s", i ? ", " : "", names[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    if (at + 1 >= size && size > 4)
        strcpy(out + size - 4, "...");
}

enum assay_status select_check(const char *list, const char *what,
                               const char *const *names, size_t count,
                               struct assay_error *err)
{
    char item[256], all[256];
    join(names, count, all, sizeof all);
    if (list && !*list)
        return assay_fail(err, ASSAY_USAGE, "no %s named; there are %s", what,
                          all);
    while (next_item(&list, item, sizeof item)) {
        bool found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = fnmatch(item, names[i], 0) == 0;
        if (!found)
            return assay_fail(err, ASSAY_USAGE,
                              "no %s matches \"%s\"; there are %s", what, item,
                              count ? all : "none");
    }
    return ASSAY_OK;
}

bool select_has_recipe(const char *list, const char *name, const char *form)
{
    char text[96];
    snprintf(text, sizeof text, "%s@%s", name, form);
    return select_has(list, name) || select_has(list, text);
}

/* Of one member that matches no recipe. */
static enum assay_status no_such_form(const char *item,
                                      const struct assay_recipe *const *have,
                                      size_t count, struct assay_error *err)
{
    const char *names[ASSAY_RECIPES_MAX], *form = strchr(item, '@');
    for (size_t i = 0; i < count; i++) {
        const char *name = names[i] = have[i]->name;
        if (form && strlen(name) == (size_t)(form - item) &&
            strncmp(item, name, strlen(name)) == 0)
            return assay_fail(err, ASSAY_USAGE,
                              "recipe %s is there in softmax form %s, not %s",
                              name, assay_softmax_get(have[i]->softmax)->name,
                              form + 1);
    }
    return select_check(item, "recipe", names, count, err);
}

enum assay_status select_check_recipes(const char *list,
                                       const struct assay_recipe *const *have,
                                       size_t count, struct assay_error *err)
{
    char item[256];
    enum assay_status st = ASSAY_OK;
    if (list && !*list)
        return no_such_form("", have, count, err);
    while (st == ASSAY_OK && next_item(&list, item, sizeof item)) {
        bool found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = select_has_recipe(
                item, have[i]->name, assay_softmax_get(have[i]->softmax)->name);
        if (!found)
            st = no_such_form(item, have, count, err);
    }
    return st;
}

enum assay_status select_check_set(const char *list,
                                   const struct assay_set *set,
                                   struct assay_error *err)
{
    const struct assay_recipe *have[ASSAY_RECIPES_MAX] = { 0 };
    size_t n_have = 0;
    for (size_t i = 0; i < assay_set_count(set); i++) {
        const struct assay_recipe **recipes;
        size_t n;
        enum assay_status st = assay_set_recipes(set, i, &recipes, &n, err);
        for (size_t r = 0; r < n; r++)
            have[recipes[r]->id] = recipes[r];
        free(recipes);
        if (st != ASSAY_OK)
            return st;
    }
    for (int id = 0; id < assay_recipe_count(); id++)
        if (have[id])
            have[n_have++] = have[id];
    enum assay_status st = select_check_recipes(list, have, n_have, err);
    return st == ASSAY_OK ? st
                          : assay_fail_in(err, st, "%s", assay_set_path(set));
}

enum assay_status select_names(const char *list, const struct names *names,
                               struct assay_error *err)
{
    char item[256];
    if (!*list)
        return names_find(names, "", &(int){ 0 }, err);
    while (next_item(&list, item, sizeof item)) {
        bool found = false;
        for (int i = 0; i < names->count && !found; i++)
            found = fnmatch(item, names->names[i], 0) == 0;
        if (!found)
            return names_find(names, item, &(int){ 0 }, err);
    }
    return ASSAY_OK;
}

/* "all". f4f4 was merged
 * into mxfp4 upstream. */
static const char ALL_MHA[] =
    "bf16,bf16fp8,i8fp8,fp8,mxfp8,f8f6,f6f8,mxfp6,f6f4,mxfp4";
static const struct {
    const char *old, *now;
} renamed[] = { { "f4f4", "mxfp4" } };

static void today(char *item, size_t size)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(item, renamed[i].old) == 0 && !assay_recipe_find(item)) {
            term_printf(stderr, "assay: recipe %s was retired, it is %s now\n",
                        item, renamed[i].now);
            snprintf(item, size, "%s", renamed[i].now);
        }
}

/* Of no recipe by that name. */
static enum assay_status no_recipe(const char *item, struct assay_error *err)
{
    const char *names[ASSAY_RECIPES_MAX];
    const struct names all = { "recipe", assay_recipe_count(), names };
    int index;
    for (int i = 0; i < all.count; i++)
        names[i] = assay_recipe_get((enum assay_recipe_id)i)->name;
    return names_find(&all, item, &index, err);
}

/* Forms that were asked for, of each recipe. */
struct chosen {
    const struct assay_recipe *in[ASSAY_RECIPES_MAX][ASSAY_SOFTMAXES];
    bool one_form;
};

static enum assay_status choose(struct chosen *chosen,
                                const struct assay_recipe *r,
                                struct assay_error *err)
{
    for (int form = 0; chosen->one_form && form < ASSAY_SOFTMAXES; form++)
        if (chosen->in[r->id][form] && form != (int)r->softmax)
            return assay_fail(err, ASSAY_USAGE,
                              "recipe %s in two softmax forms, %s and %s; a "
                              "set holds one",
                              r->name,
                              assay_softmax_get((enum assay_softmax)form)->name,
                              assay_softmax_get(r->softmax)->name);
    chosen->in[r->id][r->softmax] = r;
    return ASSAY_OK;
}

/* One item, NAME or NAME@FORM, into the recipes that it selects. */
static enum assay_status select_item(char *item, size_t size,
                                     struct chosen *chosen,
                                     struct assay_error *err)
{
    char *at = strchr(item, '@');
    int match = 0, form = 0;
    enum assay_status st = ASSAY_OK;
    if (at) {
        *at = '\0';
        st = names_find(&names_softmax_forms, at + 1, &form, err);
    }
    if (st != ASSAY_OK)
        return st;
    today(item, size);
    const bool all = strcmp(item, "all") == 0;
    for (int i = 0; st == ASSAY_OK && i < assay_recipe_count(); i++) {
        const struct assay_recipe *r =
            assay_recipe_get((enum assay_recipe_id)i);
        if (all ? !select_has(ALL_MHA, r->name)
                : fnmatch(item, r->name, 0) != 0)
            continue;
        match++;
        if (at)
            r = assay_recipe_in_form(r, (enum assay_softmax)form);
        st = choose(chosen, r, err);
    }
    return st == ASSAY_OK && match == 0 ? no_recipe(item, err) : st;
}

static enum assay_status select_list(const char *list, struct chosen *chosen,
                                     struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    char item[256];
    if (!*list)
        return assay_fail(err, ASSAY_USAGE,
                          "no recipe named; `assay list recipes` lists them");
    while (st == ASSAY_OK && next_item(&list, item, sizeof item))
        st = select_item(item, sizeof item, chosen, err);
    return st;
}

enum assay_status select_recipes(const struct recipe_selection *selection,
                                 const struct assay_recipe *out[],
                                 size_t *count, struct assay_error *err)
{
    struct chosen chosen = { .one_form = selection->one_form };
    enum assay_status st = ASSAY_OK;
    if (selection->file)
        st = recipe_file_read(selection->file, out, count, err);
    if (st != ASSAY_OK || (selection->file && !selection->list))
        return st;
    st = select_list(selection->list ? selection->list : selection->otherwise,
                     &chosen, err);
    *count = 0;
    for (int i = 0; st == ASSAY_OK && i < assay_recipe_count(); i++)
        for (int f = 0; f < ASSAY_SOFTMAXES; f++)
            if (chosen.in[i][f])
                out[(*count)++] = chosen.in[i][f];
    return st;
}
