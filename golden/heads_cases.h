/* SPDX-License-Identifier: MIT
 *
 * What the metadata of an exported file say of its cases: a JSON object in the
 * member "cases", {"NAME": {"causal": false, "softmax_scale": 0.125, "source":
 * "...", "recipes": {"RECIPE": "FORM"}}}. Heads of such a file are those that
 * it names, by these very names.
 */
#ifndef ASSAY_HEADS_CASES_H
#define ASSAY_HEADS_CASES_H

#include <jansson.h>

#include "golden/set.h"

/* The value of the member "format" of such a file's metadata. */
#define HEADS_CASES_FORMAT "assay-cases"

/* -- writing: `cases` is the object; a lack of memory shows at the end -- */
void heads_cases_add(json_t *cases, const struct assay_case *c);
void heads_cases_add_recipe(json_t *cases, const char *case_name,
                            const char *recipe, const char *form);
/* All members of a file's metadata, strings: the cases, the layout, what made
 * them, and mask and scale where all cases have the same. ASSAY_MEMORY. */
enum assay_status heads_cases_metadata(const json_t *cases,
                                       const char *set_hash, json_t *metadata,
                                       struct assay_error *err);

/* -- reading -- */
/* Of what `text` says; json_decref it. ASSAY_FORMAT. */
enum assay_status heads_cases_read(const char *text, json_t **cases,
                                   struct assay_error *err);
/* Of one of them, which heads_cases_read has checked. */
enum assay_mask heads_cases_mask(const json_t *one);
double heads_cases_scale(const json_t *one);
const char *heads_cases_source(const json_t *one);

#endif
