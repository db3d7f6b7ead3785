/* SPDX-License-Identifier: MIT
 *
 * Where the heads of a command come from: files of captured heads, golden sets,
 * whose cases keep their names, or distributions.
 */
#ifndef ASSAY_SOURCE_H
#define ASSAY_SOURCE_H

#include <argp.h>
#include <stdio.h>

#include "golden/heads.h"

struct source_options {
    struct heads_options heads;
    const char *dist;          /* comma list of names and globs, all, or NULL */
    const char *const *shapes; /* problems in one line */
    size_t n_shapes;
    bool seeded;
    uint64_t seed;
    const struct assay_format *word; /* of made inputs; NULL: bf16 */
    char *const *files;
    int n_files;
};

/* Options of all verbs that take heads: --layout, --mask, --softmax-scale,
 * --dist, --shape, --seed, --inputs. A child parser whose input is a struct
 * source_options; files are the verb's own arguments. */
extern const struct argp source_argp;

/* The verb's check at ARGP_KEY_END: argp_error unless there are files or
 * shapes, and no options of one with the other. */
void source_check(struct argp_state *state, const struct source_options *o);

/* These options as they would be typed, files without folders: the same for
 * the same request wherever it is run. */
void source_print(const struct source_options *o, FILE *out);

struct source;

/* Opens and checks everything, so that nothing but reading can fail later: a
 * bad last file must not cost the work on the others. No two cases have the
 * same name. ASSAY_USAGE where a file is `out`, which may be NULL. *source is
 * closed by the caller after an error too; it borrows the options' texts. */
enum assay_status source_open(const struct source_options *o, const char *out,
                              struct source **source, struct assay_error *err);
void source_close(struct source *s);

size_t source_count(const struct source *s);
const char *source_name(const struct source *s, size_t i); /* the source's */
const struct assay_problem *source_problem(const struct source *s, size_t i);

/* The set that a case is of, and its place there; NULL: of none. */
const struct assay_set *source_set(const struct source *s, size_t i,
                                   size_t *index);

/* Reads or makes one case. */
enum assay_status source_read(const struct source *s, size_t i,
                              const struct assay_run *run,
                              struct assay_case *out, struct assay_error *err);

#endif
