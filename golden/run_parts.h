/* SPDX-License-Identifier: MIT
 *
 * A run record in the making: a folder RUN.h5.part with a record of its own for
 * each result, NUMBER.h5. A record appears whole or not at all, so that what
 * ends the program at any moment leaves all results that there were.
 */
#ifndef ASSAY_RUN_PARTS_H
#define ASSAY_RUN_PARTS_H

#include "golden/run_file.h"

#define RUN_PARTS_SUFFIX ".part"

struct run_parts;

/* Makes the folder of the record `path`, or goes on with it where `resume`
 * says so; nobody else can until run_parts_close. ASSAY_USAGE where it is there
 * and should not be, or where another run has it; ASSAY_FILE where a part is
 * no regular file. */
enum assay_status run_parts_open(const char *path, bool resume,
                                 struct run_parts **out,
                                 struct assay_error *err);
/* NULL is allowed; what is in the folder stays. */
void run_parts_close(struct run_parts *parts);

const char *run_parts_path(const struct run_parts *parts);

/* A part that is there, the lowest; false: none is. */
bool run_parts_any(const struct run_parts *parts, size_t *at);
bool run_parts_has(const struct run_parts *parts, size_t at);
/* Writes result `at`. */
enum assay_status run_parts_add(struct run_parts *parts, size_t at,
                                const char *command,
                                const struct run_facts *facts,
                                const struct run_result *r,
                                struct assay_error *err);
/* A record of one result; checked as a whole, hostile or not. */
enum assay_status run_parts_read(const struct run_parts *parts, size_t at,
                                 struct run_file **out,
                                 struct assay_error *err);

/* The first `count` results become the record, and the folder goes; where it
 * cannot be written the folder stays. */
enum assay_status run_parts_join(struct run_parts *parts, size_t count,
                                 const char *command,
                                 const struct run_facts *facts,
                                 struct assay_error *err);

/* Whether a path is such a folder, and a record of what is in it at `to`. */
bool run_parts_is(const char *path);
enum assay_status run_parts_gather(const char *path, const char *to,
                                   struct assay_error *err);

#endif
