/* SPDX-License-Identifier: MIT
 *
 * Protocol of programs that run a kernel, version 1. The file that tells a
 * program a case is safetensors: q [b, nq, hq, dk], k [b, nk, hk, dk] and
 * v [b, nk, hk, dv] in the words as captured, and where the recipe smooths
 * k_mean [b, hk, dk], F32, for a quantizer to take off K; metadata, all text:
 * format "assay-case", version "1", case, recipe, softmax_form, softmax_scale,
 * causal "true" or "false" (bottom-right), run.
 *
 * The answer is safetensors too: o [b, nq, hq, dv] of BF16, F16 or F32, and if
 * the kernel has one lse [b, hq, nq] of F32 or F64, natural log; of a
 * quantizer, with o or without, codes q, k and v, of each that it makes, and
 * q_scale, k_scale and v_scale as `assay export --payloads` writes them;
 * metadata, each if there is something to say: kernel, device, build,
 * softmax_form, seconds (of the kernel alone).
 */
#ifndef ASSAY_CASE_FILE_H
#define ASSAY_CASE_FILE_H

#include "validate/driver.h"

/* A file of that form and what stands in it; borrows the case's words. */
struct case_file {
    const char *path;
    char *head;
    struct {
        const void *bytes;
        size_t n;
    } piece[5]; /* head, q, k, v, k_mean */
};

/* Writes it. To be freed in any case. ASSAY_FILE, ASSAY_MEMORY. */
enum assay_status case_file_write(const char *path, const struct driver_run *r,
                                  struct case_file *out,
                                  struct assay_error *err);
/* Bytes that are not as they were written, those that are gone or were added
 * too; *gone: there is no such file any more. */
int64_t case_file_changed(const struct case_file *file, bool *gone);
void case_file_free(struct case_file *file);

/* What an answer's metadata say, fit for a terminal; "": nothing. */
struct answer_facts {
    char kernel[64], device[192], build[256], softmax_form[32];
    double seconds; /* 0: not said */
    char note[96];  /* ours, on its o */
};

/* Reads an answer, which is taken to be hostile. ASSAY_MEMORY is ours; with any
 * other failure there is no answer, and the sentence says why. */
enum assay_status answer_file_read(const char *path, const struct driver_run *r,
                                   struct candidate *out,
                                   struct answer_facts *facts,
                                   struct assay_error *err);

#endif
