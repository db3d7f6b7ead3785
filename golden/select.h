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

/* ASSAY_USAGE for a member of the list that matches no name of a table, with
 * the nearest. */
struct names;
enum assay_status select_names(const char *list, const struct names *names,
                               struct assay_error *err);

/* The recipes that a list selects, in table order: names, globs or "all", the
 * ten of MHA v4, each with @FORM behind it in another softmax form. A NULL list
 * is what the built-in kernels have. A retired name is told on stderr.
 * ASSAY_USAGE with the nearest name, or for a recipe in two forms. `out` has
 * room for ASSAY_RECIPES_MAX. */
enum assay_status select_recipes(const char *list,
                                 const struct assay_recipe *out[],
                                 size_t *count, struct assay_error *err);

/* The same of a recipe file's recipes too, which are taken where there is no
 * list; without either, those of the list `otherwise`. */
enum assay_status select_recipes_of(const char *list, const char *file,
                                    const char *otherwise,
                                    const struct assay_recipe *out[],
                                    size_t *count, struct assay_error *err);

#endif
