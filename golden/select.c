/* SPDX-License-Identifier: MIT */
#include "golden/select.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

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

enum assay_status select_recipes(const char *list,
                                 const struct assay_recipe *out[ASSAY_RECIPES],
                                 size_t *count, struct assay_error *err)
{
    const char *names[ASSAY_RECIPES];
    *count = 0;
    for (int i = 0; i < ASSAY_RECIPES; i++)
        names[i] = assay_recipe_get((enum assay_recipe_id)i)->name;
    if (list && strcmp(list, "all") == 0)
        list = NULL;
    enum assay_status st =
        select_check(list, "recipe", names, ASSAY_RECIPES, err);
    for (int i = 0; st == ASSAY_OK && i < ASSAY_RECIPES; i++)
        if (select_has(list, names[i]))
            out[(*count)++] = assay_recipe_get((enum assay_recipe_id)i);
    return st;
}
