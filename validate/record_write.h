/* SPDX-License-Identifier: MIT
 *
 * From results to a run record, one after another or by several processes at
 * once. Until record_end they are in a folder beside it (golden/run_parts.h),
 * which outlives whatever ends the program.
 */
#ifndef ASSAY_RECORD_WRITE_H
#define ASSAY_RECORD_WRITE_H

#include "golden/sketch.h"
#include "validate/record.h"
#include "validate/report.h"

struct record_writer;

/* Begins the record of the run that a report is about, whose texts have to
 * stay, or goes on with one where `resume` says so: ASSAY_USAGE where that was
 * of another run. */
enum assay_status record_begin(const char *path, const struct report *report,
                               bool resume, struct record_writer **out,
                               struct assay_error *err);

/* Result `at` of the run, from 0 on; sketch NULL: there was nothing to judge.
 */
enum assay_status record_add(struct record_writer *w, size_t at,
                             const struct result *r,
                             const struct sketch *sketch,
                             struct assay_error *err);

bool record_has(const struct record_writer *w, size_t at);

/* Result `at`, if it is there: *taken, and what record_judge makes of it is in
 * *r, which says whose it has to be. One that cannot be read, or is of another
 * run, is told on stderr and not taken. result_free *r. */
enum assay_status record_take(struct record_writer *w, size_t at,
                              const struct limits *limits,
                              const struct quarantine *quarantine,
                              enum record_keep keep, struct result *r,
                              bool *taken, struct assay_error *err);

/* What parts from before tell of a program that had nothing left to run. */
void record_tell_module(const struct record_writer *w,
                        struct driver_info *info);

/* The record of all `count` results; ends the writer either way. */
enum assay_status record_end(struct record_writer *w, size_t count,
                             struct assay_error *err);
/* What is there stays, for --resume. NULL is allowed. */
void record_abandon(struct record_writer *w);

#endif
