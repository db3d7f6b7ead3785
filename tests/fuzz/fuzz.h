/* SPDX-License-Identifier: MIT
 *
 * What the harnesses of the readers share. A harness takes the bytes of one
 * file, reads all that its reader delivers and frees it; a fault is a report
 * of a sanitizer or an abort. It is linked with libFuzzer (`make fuzz`) or with
 * replay.c (`make check`).
 */
#ifndef ASSAY_FUZZ_H
#define ASSAY_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golden/set.h"

/* Each harness has one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file of that name in a folder of this process, which goes with
 * it; valid until the next call. */
const char *fuzz_path(const char *name);
/* The same with these bytes in the file. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);

/* Reads every byte into the digest of what was read; NULL is none. */
void fuzz_touch(const void *data, size_t bytes);
void fuzz_touch_text(const char *text);
void fuzz_touch_int(int64_t value);
void fuzz_touch_problem(const struct assay_problem *p);
void fuzz_touch_case(const struct assay_case *c);
/* The digest since it was last asked for. */
uint64_t fuzz_digest(void);

/* Aborts, with the sentence, where a property does not hold. */
void fuzz_require(bool holds, const char *sentence);
/* The same of a status that must be ASSAY_OK. */
void fuzz_require_ok(enum assay_status st, const struct assay_error *err);
/* The sentence of a refusal is there, and whole. */
void fuzz_check_refusal(enum assay_status st, const struct assay_error *err);

/* Takes the recipes and quantizers of the user off the tables, which in the
 * program only grow. */
void fuzz_forget_recipes(void);
void fuzz_forget_quantizers(void);

#endif
