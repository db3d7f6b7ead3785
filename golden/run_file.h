/* SPDX-License-Identifier: MIT
 *
 * Run records: what `assay validate` saw of each kernel on each case, sketches
 * and all, so that it can be judged again and compared without a kernel. HDF5,
 * laid out as HACKING.md says.
 */
#ifndef ASSAY_RUN_FILE_H
#define ASSAY_RUN_FILE_H

#include "golden/explanation.h"
#include "golden/sketch.h"

/* NULL: not said. */
struct run_facts {
#define RUN_FACT(member, needed) const char *member;
#include "golden/run_fact.def"
#undef RUN_FACT
};

/* What was known of a failure when it was recorded; HACKING.md, quarantine. */
struct run_known {
    const char *tracker, *reason, *date;
    const char *verdict; /* that it is known for; NULL: any that is not pass */
};

/* One result; writing, texts are the caller's. */
struct run_result {
    const char *case_name;
    const char *kernel; /* "": the module has none for the recipe */
    const char *input;  /* "raw", "packed", "saved", or NULL with no
                           kernel; static */
    const char *verdict, *reason, *notes;
    const struct assay_recipe *recipe;
    struct assay_problem problem;
    double seconds;
    bool ran; /* there is a sketch */
    struct sketch sketch;
    struct explanation *why; /* of a wrong one; or NULL */
    struct run_known known;  /* tracker NULL: nothing */
};

/* -- writing; as sets are -- */
struct run_file_writer;
enum assay_status run_file_create(const char *path, const char *command,
                                  const struct run_facts *facts,
                                  struct run_file_writer **out,
                                  struct assay_error *err);
/* Results keep their order. */
enum assay_status run_file_add(struct run_file_writer *w,
                               const struct run_result *r,
                               struct assay_error *err);
/* Ends the writer either way. */
enum assay_status run_file_commit(struct run_file_writer *w,
                                  struct assay_error *err);
/* NULL is allowed. */
void run_file_abandon(struct run_file_writer *w);

/* -- reading -- */
struct run_file;

/* Whether a file says that it is one. */
bool run_file_is(const char *path);

/* Checks format, version, facts, that every result is there, and the content
 * hash; rows are checked where they are read. */
enum assay_status run_file_open(const char *path, struct run_file **out,
                                struct assay_error *err);
/* The same but for the content hash, for who asks run_file_check next. */
enum assay_status run_file_open_unchecked(const char *path,
                                          struct run_file **out,
                                          struct assay_error *err);
void run_file_close(struct run_file *run);

size_t run_file_count(const struct run_file *run);
const char *run_file_path(const struct run_file *run);
const char *run_file_hash(const struct run_file *run);
const struct run_facts *run_file_facts(const struct run_file *run);
/* A provenance string, or NULL; free(). */
char *run_file_provenance(const struct run_file *run, const char *key);

/* Result i without its rows: the sketch has none. Free with run_result_free. */
enum assay_status run_file_describe(const struct run_file *run, size_t i,
                                    struct run_result *out,
                                    struct assay_error *err);
/* The same with all rows. */
enum assay_status run_file_read(const struct run_file *run, size_t i,
                                struct run_result *out,
                                struct assay_error *err);
void run_result_free(struct run_result *r);

/* Hashes of all datasets, and the content hash; as assay_set_check. */
enum assay_status run_file_check(const struct run_file *run,
                                 void (*each)(void *context, const char *name,
                                              const char *wrong),
                                 void *context, struct assay_error *err);

#endif
