/* SPDX-License-Identifier: MIT
 *
 * A quantizer's payload C against the one S that a recipe asks for: which codes
 * and scales differ, by how many steps, and which other rule, order or rounding
 * gives C's bytes.
 */
#ifndef ASSAY_SCALE_BYTES_H
#define ASSAY_SCALE_BYTES_H

#include "assay/recipe.h"

/* Steps along the number line of the format: bins[i] counts i - STEPS_MOST
 * steps, the outermost also what is further. */
enum { STEPS_MOST = 4, STEP_BINS = 2 * STEPS_MOST + 1 };

/* What of a payload; PAST: the code of tokens past the last, one a block. */
enum byte_kind { BYTES_SCALES, BYTES_CODES, BYTES_PAST, BYTE_KINDS };

/* Counts of one kind. What differs is in a bin, in signs or in classes. */
struct byte_steps {
    int64_t count, differ;
    int64_t bins[STEP_BINS]; /* codes; octaves of E8M0; ulps of binary32 */
    int64_t signs;           /* that differ in sign alone */
    int64_t classes; /* NaN, infinite or finite and of another of them */
    int64_t first;   /* index of the first that differs, or -1 */
    int64_t first_set, first_candidate; /* code, byte, or bits of a binary32 */
    int64_t left; /* that differ from what looks_like gives; else 0 */
};

struct scale_bytes {
    bool there; /* the candidate delivered this operand */
    struct byte_steps steps[BYTE_KINDS];
    /* the reading that fits best, "scale rule ceil, not floor"; "": none does
     * to a quarter */
    char looks_like[128];
    int64_t also; /* readings that explain as much and have no name there */
};

/* Fills counts of c against s. ASSAY_SHAPE with a sentence that begins with
 * `operand` where format, kind of scale, shape or counts of the two differ or
 * are not what the shape asks for. Tail codes may be left out of c: then
 * none count. */
enum assay_status scale_bytes_compare(const char *operand,
                                      const struct assay_payload *s,
                                      const struct assay_payload *c,
                                      struct scale_bytes *out,
                                      struct assay_error *err);

/* What differs, in all kinds together: a sum that cannot overflow. */
double scale_bytes_differ(const struct scale_bytes *b);

/* The part of that which looks_like explains, 0 to 1. */
double scale_bytes_explains(const struct scale_bytes *b);

/* From here on C is told to look like the reading, and below it the reading is
 * told as the nearest. */
#define SCALE_BYTES_ALIKE 0.9

/* Looks for the reading that explains most of it. s and c are as compared; x
 * [b, s, h, d] is what the quantizer `how` sees (assay_recipe_prepare), NULL:
 * readings that need values are not tried. */
enum assay_status scale_bytes_explain(const struct assay_quantizer *how,
                                      const float *x,
                                      const struct assay_payload *s,
                                      const struct assay_payload *c,
                                      struct scale_bytes *out,
                                      struct assay_error *err);

/* Appends "k: 312 of 4096 scales differ, ...", or nothing where nothing does,
 * to a text in a room of `size` bytes. */
void scale_bytes_tell(const struct assay_recipe *recipe,
                      const struct assay_problem *p, enum assay_input input,
                      const struct scale_bytes *b, char *text, size_t size);

/* Room for the sentences of three operands. */
enum { SCALE_BYTES_TEXT = 3072 };

/* "scale", "code", "tail code" */
const char *byte_kind_name(enum byte_kind kind);

/* How many there are of a kind in an operand of a recipe, and their format. */
int64_t byte_kind_count(enum byte_kind kind, enum assay_scale scale,
                        const struct assay_tensor *t);
const struct assay_format *byte_kind_format(enum byte_kind kind,
                                            const struct assay_format *codes,
                                            enum assay_scale scale);

#endif
