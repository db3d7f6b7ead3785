/* SPDX-License-Identifier: MIT
 *
 * Output files appear whole or not at all: written beside their final name,
 * then renamed. A signal that ends the program removes what is unfinished; what
 * a killed one left, the next output of that name does.
 */
#ifndef ASSAY_TEMP_FILE_H
#define ASSAY_TEMP_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/error.h"

enum { TEMP_FILES = 2 }; /* at a time in a process */

struct temp_file {
    char path[PATH_MAX]; /* the temporary name */
    char final[PATH_MAX];
    int slot;
};

/* ASSAY_USAGE if the two are one file: an input must not be replaced. NULL is
 * no file. */
enum assay_status temp_file_check_input(const char *final, const char *input,
                                        struct assay_error *err);
/* The same for all that a command reads. */
enum assay_status temp_file_check_inputs(const char *final,
                                         const char *const inputs[], size_t n,
                                         struct assay_error *err);
/* ASSAY_USAGE if two outputs are one file, by whatever names, there already or
 * not. NULL for either is fine. */
enum assay_status temp_file_check_apart(const char *final, const char *other,
                                        struct assay_error *err);
/* Picks `final`.<pid>.tmp and checks that its folder can be written. Removes
 * such files of programs that are gone. */
enum assay_status temp_file_begin(const char *final, struct temp_file *file,
                                  struct assay_error *err);
/* Whether temp_file_begin can, before long work; NULL: stdout can. */
enum assay_status temp_file_try(const char *final, struct assay_error *err);
/* Adds bytes at the end, for writers that have no library of their own. */
enum assay_status temp_file_write(const struct temp_file *file,
                                  const void *bytes, size_t n,
                                  struct assay_error *err);
/* Flushes to disk; removes on failure. */
enum assay_status temp_file_sync(struct temp_file *file,
                                 struct assay_error *err);
/* The same, and renames over the final name; removes on failure. */
enum assay_status temp_file_commit(struct temp_file *file,
                                   struct assay_error *err);
/* Prints `what` to a file, whole or not at all; final NULL: to stdout, whose
 * own errors are verb_end's. print gives false where the stream could not be
 * written, or memory ran out. ASSAY_FILE, ASSAY_MEMORY. */
enum assay_status temp_file_print(const char *final,
                                  bool (*print)(const void *what, FILE *out),
                                  const void *what, struct assay_error *err);
void temp_file_abandon(struct temp_file *file);

#endif
