/* SPDX-License-Identifier: MIT
 *
 * From run records to results, for the verbs that need no kernel;
 * record_write.h is the other way.
 */
#ifndef ASSAY_RECORD_H
#define ASSAY_RECORD_H

#include <argp.h>

#include "golden/run_file.h"
#include "validate/limits.h"
#include "validate/quarantine.h"
#include "validate/report.h"

/* Says on stderr that a record has what there is of a run that did not end. */
void record_say_unfinished(const char *verb, const struct run_file *run);

/* What of a verdict a record says, or ASSAY_FORMAT. */
enum assay_status record_verdict(const struct run_result *from,
                                 enum verdict *out, struct assay_error *err);

/* What a judged result keeps for its report: result->rows, result->picture. */
enum record_keep { KEEP_NOTHING, KEEP_ROWS, KEEP_PICTURE };

/* Results whose recorded verdict is not what their rows say by the limits of
 * their run. An empty one is { 0 }. */
struct record_doubts {
    size_t n;
    const struct run_result *first;
    enum verdict judged; /* what the rows of the first say */
};
void record_doubt(struct record_doubts *doubts, const struct run_result *from,
                  enum verdict judged);
/* Says so on stderr, in one sentence; nothing where there are none. */
void record_say_doubts(const char *verb, const struct run_file *run,
                       const struct record_doubts *doubts);

/* A result that was read with its rows, judged anew if it has some, by the
 * limits of a kernel of that name. result_free *out, also after a failure. */
enum assay_status record_judge_read(const struct run_result *from,
                                    const struct limits *limits,
                                    const char *kernel, struct result *out,
                                    struct assay_error *err);

/* Result i of a record, judged anew if it has rows; the verdict of what did
 * not run stays. Known failures are those of the record where quarantine is
 * NULL. result_free *out, also after a failure. */
enum assay_status record_judge(const struct run_file *run, size_t i,
                               const struct limits *limits,
                               const struct quarantine *quarantine,
                               enum record_keep keep, struct result *out,
                               struct assay_error *err);

/* The head of the report of a record, without results; module_info_free its
 * module and report_run_free it, also after a failure. It takes the command,
 * other texts are the record's. */
enum assay_status record_report(const struct run_file *run,
                                const struct limits *limits, char *command,
                                struct report *out, struct assay_error *err);

/* -- selections -- */
struct record_selection {
    const char *cases, *recipe, *kernel; /* lists, or NULL */
};

/* --case, --recipe and --kernel, for the children of a verb's parser. */
extern const struct argp record_selection_argp;

/* Results of a record without their rows, and where each is in it. */
struct record_list {
    struct run_result *results;
    size_t *at;
    size_t count;
};

/* All of them; record_list_free, also after a failure. */
enum assay_status record_list(const struct run_file *run,
                              struct record_list *out, struct assay_error *err);
void record_list_free(struct record_list *list);

/* Leaves those of n lists that are selected; ASSAY_USAGE for a name that is in
 * none of them. */
enum assay_status record_select(const struct record_selection *selection,
                                struct record_list *const *lists, size_t n,
                                struct assay_error *err);

#endif
