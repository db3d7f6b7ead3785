/* SPDX-License-Identifier: MIT
 *
 * Limits of gates: command line before limits file before golden set before
 * the default of gate.def.
 */
#ifndef ASSAY_VALIDATE_LIMITS_H
#define ASSAY_VALIDATE_LIMITS_H

#include <argp.h>

#include "golden/limits.h"
#include "golden/run_file.h"
#include "golden/set.h"
#include "validate/result.h"

struct limits {
    double command[GATES]; /* what --limit says; NAN: nothing */
    const char *path;      /* of --limits, or NULL */
    struct limits_list file, set;
};

/* --limit and --limits, for the children of a verb's parser; its input is a
 * struct limits, which this makes empty. */
extern const struct argp limits_argp;

/* Whether --limit or --limits was given; before they are loaded. */
bool limits_asked(const struct limits *limits);

/* Reads the file of --limits and what the set holds (NULL: no set). ASSAY_FILE
 * or ASSAY_USAGE: also where a limit above 0 is asked for a gate whose limit in
 * gate.def is 0. Free with limits_free, also after a failure. */
enum assay_status limits_load(struct limits *limits,
                              const struct assay_set *set,
                              struct assay_error *err);
/* The same for a run that is judged again: its own limits, where --limits does
 * not replace them; a --limit goes before both. `path` is the record's. */
enum assay_status limits_load_run(struct limits *limits,
                                  const struct run_facts *facts,
                                  const char *path, struct assay_error *err);
void limits_free(struct limits *limits);

/* "GATE=VALUE" as --limit takes it; the number reads back the same. */
enum { LIMITS_WORD = 64 };
void limits_word(enum gate gate, double value, char text[LIMITS_WORD]);

/* What --limit said as "GATE=VALUE,...", for facts->limits_command; free().
 * *text is NULL where it said nothing. */
enum assay_status limits_command_text(const struct limits *limits, char **text,
                                      struct assay_error *err);

/* The limits of one result: its case, recipe and kernel are looked at. Texts
 * are those of `limits`. */
void limits_of(const struct limits *limits, const struct result *r,
               struct limit out[GATES]);
/* Value, source and reasons. */
bool limit_same(const struct limit *a, const struct limit *b);
/* Whether an entry is for a result. */
bool limits_entry_fits(const struct limits_entry *e, const struct result *r);

#endif
