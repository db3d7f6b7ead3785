/* SPDX-License-Identifier: MIT
 *
 * Reports of a run. Each format is a row of report.def and a file
 * report_<format>.c; what they share is here.
 */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "golden/set.h"
#include "golden/sheet.h"
#include "golden/temp_file.h"
#include "validate/limits.h"
#include "validate/module.h"
#include "validate/quarantine.h"
#include "validate/result.h"

/* When and where; texts are the struct's. */
struct report_run {
    char date[32], host[128], cpu[128];
    char *command;     /* the command line; see report_command */
    char *set_command; /* the one that made the set; NULL: not said */
};

struct report {
    const char *verb; /* "validate" or "judge", for a page's title */
    const char *set_path, *set_hash;
    enum driver_kind driver;
    const char *driver_option;       /* as given; NULL: the built-in module */
    const char *layout_option;       /* as given, or NULL */
    const char *device_option;       /* as given, or NULL */
    const char *timeout_option;      /* the same */
    const char *quarantine_option;   /* the same */
    const char *memory_limit_option; /* the same */
    struct {
        const char *cases, *recipe, *kernel, *input; /* as given, or NULL */
    } selected;
    bool skip_crashed;
    const struct limits *limits; /* or NULL: what --limit and --limits say */
    long runs;                   /* of each kernel on each case */
    bool again; /* results of a record, judged anew: no kernel ran */
    const struct driver_info *module;
    const struct result *results;
    size_t count;
    struct report_run run;
};

/* The command line of a verb, as a shell reads it; free(). To be asked for
 * before argp puts argv in another order. NULL: out of memory. */
char *report_command(const char *verb, int argc, char *const *argv);

/* Fills report->run, which takes the command; set NULL: its command is not
 * said. */
void report_run_fill(struct report *report, const struct assay_set *set,
                     char *command);
void report_run_free(struct report *report);

/* The head of a report: names and texts, all the report's, none NULL. */
enum { REPORT_FACTS = 15 };
struct report_fact {
    const char *key, *text;
};
void report_facts(const struct report *report,
                  struct report_fact facts[REPORT_FACTS]);

/* Of the launch; NaN where none came to its end. */
double report_seconds(const struct result *one);

/* Whether a gate of a result was judged; one that was not has no value. */
bool report_gate_judged(const struct result *one, enum gate gate);
/* What it allowed, and who said so: "default". NaN and NULL: it has no
 * limit. */
double report_gate_limit(const struct result *one, enum gate gate);
const char *report_gate_limit_from(const struct result *one, enum gate gate);

/* The command line that runs one result again. */
struct repeat {
    const char *argv[28 + 2 * GATES]; /* of the report, the result, and these */
    char case_name[1024], kernel[160], driver[16], runs[24],
        limits[GATES][LIMITS_WORD];
};
size_t report_repeat(const struct report *r, const struct result *one,
                     struct repeat *out);
/* The same as a shell reads it; free(). NULL: out of memory. */
char *report_repeat_line(const struct report *r, const struct result *one);

/* Words as a shell reads them; free(). NULL: out of memory. */
char *report_line(const char *const *words, size_t n);
/* --limit and --limits as words into argv, at most 2 + 2 * GATES of `limits`
 * and of text; how many. */
size_t report_limit_words(const struct limits *limits,
                          char text[GATES][LIMITS_WORD], const char **argv);

/* "lse 5 (command line); ...": the limits that are not the default, and their
 * reasons; free(). NULL: there are none, or no memory. */
char *report_limits(const struct report *r);
/* A line on stderr for each of the files of limits and of known failures that
 * has entries for no result. */
void report_unused(const struct report *r, const struct quarantine *q);
/* The same of entries for kernels, where there is none. */
void report_unused_kernels(const struct limits_list *list);

/* One line: how many results had which verdict. */
void report_counts(const struct report *r, char *text, size_t size);

/* Exit code: the program's, from all verdicts. 1 before 3 before 77; 77 only
 * where nothing ran. A known failure is as a pass. */
int report_exit(const struct report *r);

/* Each prints a part of the report; false when the stream could not be
 * written or memory ran out. */
typedef bool report_writer(const struct report *r, FILE *out);
typedef bool report_one_writer(const struct report *r, const struct result *one,
                               FILE *out);

struct report_format {
    const char *name;
    report_writer *begin;   /* before the first kernel, or NULL */
    report_one_writer *one; /* as soon as a result is there, or NULL */
    report_writer *end;     /* when all results are there */
    const char *about;
};
/* Whether it tells result->rows; whether it draws result->picture. */
bool report_format_has_rows(const struct report_format *format);
bool report_format_has_pictures(const struct report_format *format);
int report_format_count(void);
const struct report_format *report_format_get(int i);
/* The value of an option --format; argp_error() if there is no such. */
const struct report_format *report_format_parse(struct argp_state *state,
                                                const char *arg);
/* "|table|markdown|...", for an option's help from the second letter on */
extern const char report_format_names[];

#define ASSAY_REPORT(name, begin, one, end, about) report_writer end;
#include "validate/report.def"
#undef ASSAY_REPORT
report_writer report_jsonl_begin;
report_one_writer report_jsonl_one;

/* The largest part of what the gates allow a judged result; above 1 fails. */
double report_used(const struct result *one);

/* Places in a page: result i's row in the table of all, and why it is not a
 * pass; "" if there is nothing to say of it. */
struct report_places {
    char row[SHEET_PLACE], why[SHEET_PLACE];
};
struct report_places report_places(const struct report *r, size_t i);

/* Tables of all results, and of the worst figures of each recipe. */
bool report_results(const struct report *r, const struct sheet_to *to);
bool report_worst(const struct report *r, const struct sheet_to *to);
/* Codes and scales that differ, by steps: nothing where none do. */
bool report_payloads(const struct report *r, const struct sheet_to *to);
/* A line on how many results have codes and scales; false: none has. */
bool report_payload_counts(const struct report *r, char *text, size_t size);
/* What their heads stand for; n texts. */
const char *const *report_legend(const struct report *r, size_t *n);
/* Where all that ran passed, a line that says so and what the recipes cost. */
void report_right(const struct report *r, bool markdown, FILE *out);

/* Whether two results did not run for the same reason, and how many cases did
 * not for result i's; 0: an earlier result tells it. */
size_t report_cases_alike(const struct report *r, size_t i);
/* What was promised, and what the cases cannot tell apart, in lines. */
void report_promises(const struct report *r, FILE *out);
void report_coverage(const struct report *r, FILE *out);

/* Lines for people: reasons, notes and what the cases cannot tell apart. */
void report_reasons(const struct report *r, bool markdown, FILE *out);

/* -- where a report goes -- */
#define REPORT_PART ".part" /* of the name of lines that are no report yet */
struct report_file {
    const struct report_format *format;
    const char *path; /* NULL: stdout, where errors are verb_end's */
    FILE *out;        /* while kernels run; NULL: not open */
    const char *at;   /* path or part: where `out` writes */
    char part[PATH_MAX], real[PATH_MAX];
    struct assay_error lost; /* why the rest is not written; ASSAY_OK: it is */
};
/* A format that is written while kernels run goes line by line to `path`.part,
 * which takes the name of `path` at the end; any other appears whole or not at
 * all. Either way the old file stays until the new one is whole. ASSAY_FILE. */
enum assay_status report_file_begin(struct report_file *file,
                                    const struct report *r,
                                    struct assay_error *err);
/* A line that cannot be written ends the lines and not the run: the end tells.
 */
void report_file_one(struct report_file *file, const struct report *r,
                     const struct result *one);
/* ASSAY_FILE where a part could not be written; then the table of all results
 * is on stdout. */
enum assay_status report_file_end(struct report_file *file,
                                  const struct report *r,
                                  struct assay_error *err);
/* Closes what an error left open; the lines that are there stay. */
void report_file_close(struct report_file *file);

#endif
