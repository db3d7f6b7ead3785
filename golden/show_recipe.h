/* SPDX-License-Identifier: MIT
 *
 * assay show --recipe: what recipes in a golden set or a run record are.
 */
#ifndef ASSAY_SHOW_RECIPE_H
#define ASSAY_SHOW_RECIPE_H

#include <stdbool.h>

#include "assay/error.h"

/* Prints to stdout the recipes of a file that are selected by NAME or NAME@FORM
 * and the quantizers of their operands: as text, or as a recipe file
 * ("assay-list/1"). ASSAY_USAGE for a recipe that the file lacks; errors of
 * assay_set_open and run_file_open. */
enum assay_status show_recipes(const char *path, const char *selected,
                               bool json, struct assay_error *err);

#endif
