/* SPDX-License-Identifier: MIT
 *
 * Results for people (tables) and for programs (JSON, "assay-run/1").
 */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "validate/module.h"
#include "validate/result.h"

struct report {
    const char *set_path, *set_hash;
    const char *module_option;  /* as given; NULL: the built-in module */
    const char *timeout_option; /* as given, or NULL */
    const struct module_info *module;
    const struct result *results;
    size_t count;
};

/* The command line that runs one result again. */
struct repeat {
    const char *argv[16]; /* texts of the report, the result, and these */
    char case_name[1024], kernel[160];
};
size_t report_repeat(const struct report *r, const struct result *one,
                     struct repeat *out);

/* The same as a shell reads it; free(). NULL: out of memory. */
char *report_repeat_line(const struct report *r, const struct result *one);

/* The command line of a verb, as a shell reads it; free(). To be asked for
 * before argp puts argv in another order. NULL: out of memory. */
char *report_command(const char *verb, int argc, char *const *argv);

/* Each prints the whole report; false when the stream could not be written
 * or memory ran out. */
bool report_table(const struct report *r, FILE *out);
bool report_json(const struct report *r, FILE *out);

/* Writes one of them to a file, whole or not at all; path NULL: to stdout, whose
 * errors are verb_end's. ASSAY_FILE. */
enum assay_status report_write(const struct report *r, bool json,
                               const char *path, struct assay_error *err);

/* One line: how many results had which verdict. */
void report_counts(const struct report *r, char *text, size_t size);

/* Exit code: the program's, from all verdicts. 1 before 3 before 77; 77 only
 * where nothing ran. */
int report_exit(const struct report *r);

#endif
