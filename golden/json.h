/* SPDX-License-Identifier: MIT
 *
 * JSON that every parser reads: a number that is not finite is a string, one
 * that is not there is null.
 */
#ifndef ASSAY_JSON_H
#define ASSAY_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "assay/metrics.h"

/* A real, or "nan", "inf", "-inf": a figure that came out like that. */
json_t *json_number(double value);
/* The same of a figure that is NaN where there is none: null there. */
json_t *json_optional(double value);

/* Text that need not be UTF-8: bytes that are not become '?'. */
json_t *json_text(const char *text);
/* A name as people may see it: what term_plain makes of it. */
json_t *json_plain(const char *text);

/* Prints indented, full precision, and drops the reference. 0 or -1. */
int json_print(json_t *value, FILE *out);
/* The same as one line, for JSON Lines. */
int json_print_line(json_t *value, FILE *out);

/* Sizes, mask and scale of a problem, by their golden set names. */
json_t *json_problem(const struct assay_problem *p);

/* Batch, head, row and channel as far as they are set; null for nowhere. */
json_t *json_place(const struct assay_place *at);

/* A distance under its names in reports, places included. has_lse false: LSE
 * was not compared, and its figures are null. */
json_t *json_distance(const struct assay_distance *d, bool has_lse);

#endif
