/* SPDX-License-Identifier: MIT
 *
 * Selections on the command line: comma lists of names and shell globs.
 */
#ifndef ASSAY_SELECT_H
#define ASSAY_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/recipe.h"

/* A name as a list that selects it alone: commas and what a glob would read
 * something into are escaped by backslashes. */
void select_quote(const char *name, char *out, size_t size);

/* Whether a member of the list matches; a NULL list matches everything. */
bool select_has(const char *list, const char *name);

/* ASSAY_USAGE with the first member of the list that matches none of the
 * names, and what there is; `what` says what they are ("recipe"). */
enum assay_status select_check(const char *list, const char *what,
                               const char *const *names, size_t count,
                               struct assay_error *err);

/* The same of recipes that are there in one softmax form each, by NAME or
 * NAME@FORM. Of a recipe in another form the sentence says in which it is. */
bool select_has_recipe(const char *list, const char *name, const char *form);
enum assay_status select_check_recipes(const char *list,
                                       const struct assay_recipe *const *have,
                                       size_t count, struct assay_error *err);

/* The same of the recipes of all cases of a set: one that no case has answers
 * for is a mistake, not an empty selection. */
struct assay_set;
enum assay_status select_check_set(const char *list,
                                   const struct assay_set *set,
                                   struct assay_error *err);

/* ASSAY_USAGE for a member of the list that matches no name of a table, with
 * the nearest. */
struct names;
enum assay_status select_names(const char *list, const struct names *names,
                               struct assay_error *err);

/* Recipes asked for: by a comma list of names, globs or "all", the ten of MHA
 * v4, each with @FORM behind it in another softmax form, or NULL; and of a
 * recipe file, or NULL. */
struct recipe_selection {
    const char *list, *file;
    const char
        *otherwise; /* the list without either; a file alone: all of it */
    bool one_form;  /* a recipe in two forms is refused */
};
enum { SELECT_RECIPES_MOST = ASSAY_RECIPES_MAX * ASSAY_SOFTMAXES };

/* Those recipes, in table order, then in that of forms. A retired name is told
 * on stderr. ASSAY_USAGE with the nearest name, or for a recipe in two forms;
 * errors of recipe_file_read. */
enum assay_status select_recipes(const struct recipe_selection *selection,
                                 const struct assay_recipe *out[],
                                 size_t *count, struct assay_error *err);

#endif
