/* SPDX-License-Identifier: MIT
 *
 * Names on the command line: looked up in a table, and the nearest one told
 * where there is none such.
 */
#ifndef ASSAY_NAMES_H
#define ASSAY_NAMES_H

#include <stddef.h>

#include "assay/error.h"

struct names {
    const char *what; /* of one: "format" */
    int count;
    const char *const *names;
};

/* The tables of ref/; an index is the row's id. */
extern const struct names names_formats, names_roundings, names_overflows,
    names_packings, names_scale_rules, names_softmax_forms, names_quantizers,
    names_scales, names_f32_rules, names_rotation_orders, names_token_orders,
    names_tails, names_distributions;

/* Transport codecs, and then profiles: ASSAY_TRANSPORT_CODECS is the index of
 * the first profile. */
extern const struct names names_transports;

/* The name that `word` was likely meant to be: one that begins with it, or one
 * at most a third of its letters away (a letter more, less, other, or two
 * swapped; case does not count). NULL where there is none. */
const char *names_nearest(const struct names *n, const char *word);

/* Index of `word`. ASSAY_USAGE with the nearest name, or with all. */
enum assay_status names_find(const struct names *n, const char *word,
                             int *index, struct assay_error *err);

/* All names, with commas between, cut where there is no room. */
void names_join(const struct names *n, char *out, size_t size);

#endif
