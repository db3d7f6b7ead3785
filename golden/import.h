/* SPDX-License-Identifier: MIT
 *
 * Answers made elsewhere, for a set: tensors CASE.RECIPE.o, and .lse where
 * there is one, of a file. What they are is not believed: that they are answers
 * of these heads is looked at on some rows.
 */
#ifndef ASSAY_IMPORT_H
#define ASSAY_IMPORT_H

#include "golden/answer_tensor.h"
#include "golden/set.h"
#include "golden/source.h"

struct import_options {
    const char *file;
    const char *layout; /* of O, or NULL: as the file's metadata say */
    const char *maker;  /* or NULL: as the file's metadata say */
    const struct assay_recipe *const *recipes;
    size_t n_recipes;
};

struct import_answers;

/* Finds both tensors of every case and recipe, and checks their types and
 * shapes, before any is read. *out is the caller's to close after an error too;
 * it borrows the options' and the source's memory. A tensor that no case has
 * room for is told on stderr. ASSAY_FORMAT: one that is not there, or is not
 * what it should be; ASSAY_USAGE: nobody says who made them. */
enum assay_status import_open(const struct import_options *options,
                              const struct source *source,
                              struct import_answers **out,
                              struct assay_error *err);
void import_close(struct import_answers *a);

const char *import_maker(const struct import_answers *a);

/* The answer of recipe r of the options to case i of the source, with assay's
 * payloads and without jitter. ASSAY_FORMAT: a value that is not finite, a row
 * that sees no key and is not 0 and -inf, or an answer that cannot be one of
 * these inputs. Free with assay_answer_free, also after a failure. */
enum assay_status import_read(const struct import_answers *a, size_t i,
                              size_t r, const struct assay_case *c,
                              const struct assay_inputs *in,
                              struct assay_answer *out,
                              struct assay_error *err);

#endif
