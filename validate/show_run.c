/* SPDX-License-Identifier: MIT */
#include "validate/show_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/json.h"
#include "golden/select.h"
#include "golden/sheet.h"
#include "validate/record.h"

static const char *const provenance[] = { "version", "command", "date",
                                          "host",    "cpu",     "blas" };
enum { N_PROVENANCE = sizeof provenance / sizeof *provenance };

struct fact {
    const char *key, *text;
};
enum {
#define RUN_FACT(member, needed) FACT_##member,
#include "golden/run_fact.def"
#undef RUN_FACT
    FACTS
};

static void list_facts(const struct run_facts *from, struct fact out[FACTS])
{
    const struct fact all[] = {
#define RUN_FACT(member, needed) { #member, from->member },
#include "golden/run_fact.def"
#undef RUN_FACT
    };
    for (int i = 0; i < FACTS; i++)
        out[i] = all[i];
}

static void print_head(const struct run_file *run)
{
    struct fact facts[FACTS];
    list_facts(run_file_facts(run), facts);
    term_printf(stdout, "%s: run record, %zu result%s, content %s\n",
                run_file_path(run), run_file_count(run),
                plural((int64_t)run_file_count(run)), run_file_hash(run));
    for (size_t i = 0; i < N_PROVENANCE; i++) {
        char *text = run_file_provenance(run, provenance[i]);
        term_printf(stdout, "  %-17s %s\n", provenance[i],
                    text ? text : "not said");
        free(text);
    }
    for (int i = 0; i < FACTS; i++)
        if (facts[i].text)
            term_printf(stdout, "  %-17s %s\n", facts[i].key,
                        facts[i].text[0] ? facts[i].text : "not said");
    printf("\nverdicts as they were; `assay judge` gives the whole report\n");
}

/* Seconds of the launch; NaN where none came to its end. */
static double seconds_of(const struct run_result *r)
{
    return r->seconds > 0 ? r->seconds : (double)NAN;
}

/* A record that is selected from, and what this program makes of its rows by
 * the limits of the run. */
struct shown {
    const struct run_file *run;
    const char *cases;
    enum verdict *judged;
};

/* NULL: the verdict that is recorded. */
static const char *other_verdict(const struct shown *s, size_t i,
                                 const struct run_result *r)
{
    const char *name = verdict_get(s->judged[i])->name;
    return strcmp(name, r->verdict) == 0 ? NULL : name;
}

static const char *known_word(const struct run_result *r)
{
    const bool passed =
        strcmp(r->verdict, verdict_get(VERDICT_PASS)->name) == 0;
    return !r->known.tracker ? "" : passed ? ", unexpected" : ", known";
}

static void add_row(struct sheet *s, const struct run_result *r,
                    const char *other)
{
    const char *known = r->known.tracker;
    char *line = assay_case_line(&r->problem);
    sheet_cell(s, "%s", r->case_name);
    sheet_cell(s, "%s", line ? line : "");
    sheet_cell(s, "%s", r->recipe->name);
    sheet_cell(s, "%s%s%s", r->kernel[0] ? r->kernel : "-", r->input ? " " : "",
               r->input ? r->input : "");
    sheet_cell(s, "%s%s%s%s", r->verdict, known_word(r),
               other ? ", judged " : "", other ? other : "");
    sheet_number(s, "%.3g", seconds_of(r));
    sheet_cell(s, "%s%s%s%s%s%s", r->reason, r->reason[0] && known ? "; " : "",
               known ? "known: " : "", known ? known : "", known ? ", " : "",
               known ? r->known.reason : "");
    free(line);
}

static json_t *known_json(const struct run_known *known)
{
    const struct {
        const char *key, *text;
    } all[] = { { "tracker", known->tracker },
                { "reason", known->reason },
                { "date", known->date },
                { "verdict", known->verdict } };
    json_t *out = known->tracker ? json_object() : json_null();
    for (size_t i = 0; known->tracker && i < sizeof all / sizeof *all; i++)
        json_object_set_new(out, all[i].key,
                            all[i].text ? json_text(all[i].text) : json_null());
    return out;
}

static json_t *result_json(const struct run_result *r, const char *other)
{
    json_t *out = json_object();
    json_object_set_new(out, "case", json_plain(r->case_name));
    json_object_set_new(out, "recipe", json_string(r->recipe->name));
    json_object_set_new(
        out, "softmax_form",
        json_string(assay_softmax_get(r->recipe->softmax)->name));
    json_object_set_new(out, "kernel", json_text(r->kernel));
    json_object_set_new(out, "input",
                        r->input ? json_string(r->input) : json_null());
    json_object_set_new(out, "verdict", json_text(r->verdict));
    json_object_set_new(out, "judged", json_text(other ? other : r->verdict));
    json_object_set_new(out, "known", known_json(&r->known));
    json_object_set_new(out, "reason", json_text(r->reason));
    json_object_set_new(out, "notes", json_text(r->notes));
    json_object_set_new(out, "seconds", json_optional(seconds_of(r)));
    json_object_set_new(out, "problem", json_problem(&r->problem));
    json_object_set_new(out, "bits",
                        r->ran ? json_text(r->sketch.bits) : json_null());
    return out;
}

static json_t *head_json(const struct run_file *run)
{
    struct fact facts[FACTS];
    json_t *out = json_object(), *from = json_object();
    list_facts(run_file_facts(run), facts);
    json_object_set_new(out, "schema", json_string("assay-record/1"));
    json_object_set_new(out, "file", json_text(run_file_path(run)));
    json_object_set_new(out, "content_hash", json_text(run_file_hash(run)));
    for (int i = 0; i < FACTS; i++)
        json_object_set_new(out, facts[i].key,
                            facts[i].text ? json_text(facts[i].text)
                                          : json_null());
    for (size_t i = 0; i < N_PROVENANCE; i++) {
        char *text = run_file_provenance(run, provenance[i]);
        if (text)
            json_object_set_new(from, provenance[i], json_text(text));
        free(text);
    }
    json_object_set_new(out, "provenance", from);
    return out;
}

/* Reads rows and all, so that what contradicts itself is refused before
 * anything is printed. */
static enum assay_status judge_all(struct shown *s, struct assay_error *err)
{
    const struct run_file *run = s->run;
    struct limits limits = { 0 };
    for (int g = 0; g < GATES; g++)
        limits.command[g] = NAN;
    enum assay_status st =
        limits_load_run(&limits, run_file_facts(run), run_file_path(run), err);
    size_t shown = 0;
    for (size_t i = 0; st == ASSAY_OK && i < run_file_count(run); i++) {
        struct result judged = { 0 };
        st = record_judge(run, i, &limits, NULL, KEEP_NOTHING, &judged, err);
        if (st == ASSAY_OK) {
            s->judged[i] = judged.verdict;
            shown += select_has(s->cases, judged.case_name);
        }
        result_free(&judged);
    }
    limits_free(&limits);
    if (st == ASSAY_OK && s->cases && shown == 0)
        st = assay_fail(err, ASSAY_USAGE, "%s: no case matches \"%.100s\"",
                        run_file_path(run), s->cases);
    return st;
}

/* Each result that is selected, as an object or as a row. */
static enum assay_status each_result(const struct shown *s, struct sheet *sheet,
                                     json_t *list, struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < run_file_count(s->run); i++) {
        struct run_result r;
        st = run_file_describe(s->run, i, &r, err);
        if (st == ASSAY_OK && select_has(s->cases, r.case_name)) {
            const char *other = other_verdict(s, i, &r);
            if (list)
                json_array_append_new(list, result_json(&r, other));
            else
                add_row(sheet, &r, other);
        }
        run_result_free(&r);
    }
    return st;
}

static enum assay_status show_table(const struct shown *shown,
                                    struct assay_error *err)
{
    static const struct column columns[] = {
        { "CASE", COLUMN_LONG },    { "PROBLEM", COLUMN_LONG | COLUMN_EXTRA },
        { "RECIPE", COLUMN_TEXT },  { "KERNEL", COLUMN_LONG },
        { "VERDICT", COLUMN_TEXT }, { "SECONDS", COLUMN_NUMBER },
        { "REASON", COLUMN_PROSE },
    };
    struct sheet s;
    print_head(shown->run);
    sheet_begin(&s, stdout, false, NULL, columns, 7);
    enum assay_status st = each_result(shown, &s, NULL, err);
    sheet_end(&s);
    return st;
}

static enum assay_status show_json(const struct shown *shown,
                                   struct assay_error *err)
{
    json_t *out = head_json(shown->run), *list = json_array();
    enum assay_status st = each_result(shown, NULL, list, err);
    json_object_set_new(out, "results", list);
    if (st == ASSAY_OK)
        json_print(out, stdout);
    else
        json_decref(out);
    return st;
}

enum assay_status show_run(const char *path, const char *cases, bool json,
                           struct assay_error *err)
{
    struct shown s = { .cases = cases };
    struct run_file *run;
    enum assay_status st = run_file_open(path, &run, err);
    if (st != ASSAY_OK)
        return st;
    s.run = run;
    s.judged = calloc(run_file_count(run) + 1, sizeof *s.judged);
    st = s.judged ? judge_all(&s, err)
                  : assay_fail(err, ASSAY_MEMORY, "no memory for verdicts");
    if (st == ASSAY_OK)
        st = json ? show_json(&s, err) : show_table(&s, err);
    free(s.judged);
    run_file_close(run);
    return st;
}
