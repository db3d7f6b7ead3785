/* SPDX-License-Identifier: MIT
 *
 * Recipes of the user, as JSON: what `assay list recipes --format json` and
 * `assay list quantizers --format json` print, with rows of one's own.
 *
 *   {"recipes": [{"name": "mine", "like": "mxfp8", "q": "floor8"}],
 *    "quantizers": [{"name": "floor8", "like": "mxfp8", "rule": "floor"}]}
 *
 * A key that a row lacks is as in the row that `like` names; without one,
 * recipes need q, k, v and p, quantizers format and scale, and the rest is as
 * in plain recipes. An array, or one row alone, is taken for recipes.
 */
#ifndef ASSAY_RECIPE_FILE_H
#define ASSAY_RECIPE_FILE_H

#include <jansson.h>

#include "assay/recipe.h"

/* Reads a file and adds its quantizers and recipes to the tables. `out` gets
 * the recipes in their order. ASSAY_FILE, or ASSAY_USAGE with the file, the
 * row and the key. */
enum assay_status recipe_file_read(const char *path,
                                   const struct assay_recipe *out[],
                                   size_t *count, struct assay_error *err);

/* The text of such a file with one recipe, and the quantizers that it adds;
 * free(). NULL: out of memory. */
char *recipe_definition(const struct assay_recipe *recipe);

/* The same of recipes with all their quantizers, those of the program too.
 * NULL: out of memory. */
json_t *recipe_definitions(const struct assay_recipe *const recipes[],
                           size_t count);

/* Reads that back, and adds it. `where` begins the sentence of an error, which
 * is ASSAY_FORMAT: such text comes from golden sets. */
enum assay_status recipe_define(const char *where, const char *text,
                                const struct assay_recipe **out,
                                struct assay_error *err);

#endif
