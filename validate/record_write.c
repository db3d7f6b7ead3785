/* SPDX-License-Identifier: MIT */
#include "validate/record_write.h"

#include <stdlib.h>
#include <string.h>

#include "golden/file_hash.h"
#include "golden/run_facts.h"
#include "golden/run_parts.h"
#include "golden/verb.h"

struct record_writer {
    struct run_parts *parts;
    const struct report *report;
    char *limits_command;
    char repeat[24], hash[FILE_HASH_CHARS + 1];
    char build[256], where[192]; /* that parts from before tell; or "" */
};

/* What is known of the run now: a program tells where it ran when it has run.
 */
static struct run_facts facts_of(const struct record_writer *w)
{
    const struct report *r = w->report;
    return (struct run_facts){
        .set = r->set_path,
        .set_content_hash = r->set_hash,
        .set_command = r->run.set_command,
        .module = r->module->path,
        .module_name = r->module->name,
        .module_build = r->module->build,
        .module_device = r->module->where,
        .module_hash = w->hash[0] ? w->hash : NULL,
        .driver = driver_get(r->driver)->name,
        .driver_option = r->driver_option,
        .layout_option = r->layout_option,
        .device_option = r->device_option,
        .timeout_option = r->timeout_option,
        .quarantine_option = r->quarantine_option,
        .case_option = r->selected.cases,
        .recipe_option = r->selected.recipe,
        .kernel_option = r->selected.kernel,
        .input_option = r->selected.input,
        .memory_limit_option = r->memory_limit_option,
        .skip_crashed = r->skip_crashed ? "yes" : NULL,
        .repeat = w->repeat,
        .limits_set = r->limits->set.text,
        .limits_file = r->limits->file.text,
        .limits_file_name = r->limits->path,
        .limits_command = w->limits_command,
    };
}

static const char *command_of(const struct record_writer *w)
{
    return w->report->run.command ? w->report->run.command : "";
}

/* ---- the same run ---- */

/* What its first part says; another one that is not of this run is made again
 * (record_take). */
static enum assay_status check_resumed(const struct record_writer *w,
                                       struct assay_error *err)
{
    const struct run_facts now = facts_of(w);
    size_t at;
    struct run_file *part;
    struct run_facts_other other;
    if (!run_parts_any(w->parts, &at))
        return ASSAY_OK;
    enum assay_status st = run_parts_read(w->parts, at, &part, err);
    if (st == ASSAY_OK && run_facts_differ(&now, run_file_facts(part), &other))
        st = assay_fail(err, ASSAY_USAGE,
                        "%s: is of another run: its %s is \"%.60s\", now it "
                        "is \"%.60s\"; remove it to begin anew",
                        run_parts_path(w->parts), other.key, other.b, other.a);
    run_file_close(part);
    return st;
}

/* ---- writing ---- */

/* What a module or saved outputs are is their file's bytes. */
static enum assay_status hash_module(const struct report *report,
                                     char hash[FILE_HASH_CHARS + 1],
                                     struct assay_error *err)
{
    const bool file =
        report->driver == DRIVER_MODULE || report->driver == DRIVER_OUTPUTS;
    return file ? file_hash(report->module->path, hash, err) : ASSAY_OK;
}

enum assay_status record_begin(const char *path, const struct report *report,
                               bool resume, struct record_writer **out,
                               struct assay_error *err)
{
    *out = NULL;
    struct record_writer *w = calloc(1, sizeof *w);
    if (!w)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a run record");
    w->report = report;
    snprintf(w->repeat, sizeof w->repeat, "%ld", report->runs);
    enum assay_status st =
        limits_command_text(report->limits, &w->limits_command, err);
    if (st == ASSAY_OK)
        st = hash_module(report, w->hash, err);
    if (st == ASSAY_OK)
        st = run_parts_open(path, resume, &w->parts, err);
    if (st == ASSAY_OK && resume)
        st = check_resumed(w, err);
    if (st != ASSAY_OK) {
        record_abandon(w);
        return st;
    }
    *out = w;
    return ASSAY_OK;
}

enum assay_status record_add(struct record_writer *w, size_t at,
                             const struct result *r,
                             const struct sketch *sketch,
                             struct assay_error *err)
{
    const struct run_facts facts = facts_of(w);
    struct run_result one = {
        .case_name = r->case_name,
        .kernel = r->kernel,
        .input = r->input,
        .verdict = verdict_get(r->verdict)->name,
        .reason = r->reason,
        .notes = r->notes,
        .recipe = r->recipe,
        .problem = r->problem,
        .seconds = r->seconds,
        .ran = sketch != NULL,
        .why = r->why,
    };
    if (sketch)
        one.sketch = *sketch;
    if (r->known)
        one.known = (struct run_known){ r->known->tracker, r->known->reason,
                                        r->known->date, r->known->verdict };
    return run_parts_add(w->parts, at, command_of(w), &facts, &one, err);
}

static bool is_same(const struct result *a, const struct result *b)
{
    return strcmp(a->case_name, b->case_name) == 0 &&
           strcmp(a->kernel, b->kernel) == 0 &&
           assay_recipe_same(a->recipe, b->recipe) &&
           (a->input == b->input ||
            (a->input && b->input && strcmp(a->input, b->input) == 0));
}

bool record_has(const struct record_writer *w, size_t at)
{
    return w && run_parts_has(w->parts, at);
}

/* Says so. A program's build is that of the parts that were taken before, until
 * it tells its own. */
static bool is_of_other_run(const struct record_writer *w, size_t at,
                            const struct run_file *part)
{
    struct run_facts now = facts_of(w);
    struct run_facts_other other;
    char text[512];
    if (!now.module_build[0])
        now.module_build = w->build;
    if (!run_facts_differ(&now, run_file_facts(part), &other))
        return false;
    snprintf(text, sizeof text,
             "%.200s: result %zu is of another run, and made again: its %s is "
             "\"%.60s\", now it is \"%.60s\"",
             run_parts_path(w->parts), at, other.key, other.b, other.a);
    verb_say("validate", text);
    return true;
}

/* The same. */
static bool is_other_result(const struct record_writer *w, size_t at,
                            const struct result *then, const struct result *r)
{
    char text[768];
    if (is_same(then, r))
        return false;
    snprintf(text, sizeof text,
             "%.200s: result %zu is another one, and made again: it is case "
             "%.60s, recipe %s, kernel %s, now it is case %.60s, recipe %s, "
             "kernel %s",
             run_parts_path(w->parts), at, then->case_name, then->recipe->name,
             then->kernel, r->case_name, r->recipe->name, r->kernel);
    verb_say("validate", text);
    return true;
}

static void keep_told(struct record_writer *w, const struct run_facts *then)
{
    if (!w->build[0])
        snprintf(w->build, sizeof w->build, "%s", then->module_build);
    if (!w->where[0])
        snprintf(w->where, sizeof w->where, "%s", then->module_device);
}

enum assay_status record_take(struct record_writer *w, size_t at,
                              const struct limits *limits,
                              const struct quarantine *quarantine,
                              enum record_keep keep, struct result *r,
                              bool *taken, struct assay_error *err)
{
    struct run_file *part;
    struct result then = { 0 };
    struct assay_error why;
    *taken = false;
    if (!record_has(w, at))
        return ASSAY_OK;
    if (run_parts_read(w->parts, at, &part, &why) != ASSAY_OK) {
        verb_say("validate", why.text); /* it is made again */
        return ASSAY_OK;
    }
    if (is_of_other_run(w, at, part)) {
        run_file_close(part);
        return ASSAY_OK;
    }
    enum assay_status st =
        record_judge(part, 0, limits, quarantine, keep, &then, err);
    const bool taking = st == ASSAY_OK && !is_other_result(w, at, &then, r);
    if (taking)
        keep_told(w, run_file_facts(part));
    run_file_close(part);
    if (!taking) {
        result_free(&then);
        return st;
    }
    result_free(r);
    *r = then;
    *taken = true;
    return ASSAY_OK;
}

/* ---- the end ---- */

void record_abandon(struct record_writer *w)
{
    if (!w)
        return;
    run_parts_close(w->parts);
    free(w->limits_command);
    free(w);
}

void record_tell_module(const struct record_writer *w, struct driver_info *info)
{
    if (w && !info->build[0])
        memcpy(info->build, w->build, sizeof info->build);
    if (w && !info->where[0])
        memcpy(info->where, w->where, sizeof info->where);
}

/* Where the rest of a run came from another build, they are two runs. */
static enum assay_status check_build(const struct record_writer *w,
                                     struct assay_error *err)
{
    const char *now = w->report->module->build;
    if (!w->build[0] || strcmp(w->build, now) == 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_USAGE,
                      "%s: the first results are of build \"%.60s\", the rest "
                      "of \"%.60s\"; remove it to begin anew",
                      run_parts_path(w->parts), w->build, now);
}

enum assay_status record_end(struct record_writer *w, size_t count,
                             struct assay_error *err)
{
    const struct run_facts facts = facts_of(w);
    enum assay_status st = check_build(w, err);
    if (st == ASSAY_OK)
        st = run_parts_join(w->parts, count, command_of(w), &facts, err);
    record_abandon(w);
    return st;
}
