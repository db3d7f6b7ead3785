/* SPDX-License-Identifier: MIT */
#include "validate/probe_report.h"

#include <inttypes.h>

#include "golden/csv.h"
#include "golden/json.h"
#include "golden/sheet.h"
#include "golden/verb.h"

const char *const probe_format_names[PROBE_FORMATS] = { "table", "json", "csv",
                                                        "markdown" };

static void count(const struct probe_report *r, size_t counts[PROBE_OUTCOMES])
{
    for (int i = 0; i < PROBE_OUTCOMES; i++)
        counts[i] = 0;
    for (size_t i = 0; i < r->count; i++)
        counts[r->findings[i].outcome]++;
}

int probe_report_exit(const struct probe_report *r)
{
    size_t counts[PROBE_OUTCOMES];
    count(r, counts);
    return counts[PROBE_FOUND]     ? EXIT_WRONG
           : counts[PROBE_CRASHED] ? 3
           : counts[PROBE_CLEAN]   ? 0
                                   : EXIT_NOTHING_RAN;
}

static enum colour colour_of(enum probe_outcome outcome)
{
    return outcome == PROBE_CLEAN         ? COLOUR_GOOD
           : outcome >= PROBE_UNSUPPORTED ? COLOUR_DIM
                                          : COLOUR_BAD;
}

static bool print_sheet(const struct probe_report *r, bool markdown)
{
    static const struct column columns[] = {
        { "CASE", COLUMN_LONG },
        { "RECIPE", 0 },
        { "KERNEL", COLUMN_LONG },
        { "INPUT", COLUMN_EXTRA },
        { "PROBE", 0 },
        { "RESULT", 0 },
        { "RUNS", COLUMN_NUMBER },
        { "OUTPUTS", COLUMN_NUMBER },
        { "REMARKS", COLUMN_PROSE },
    };
    struct sheet s;
    size_t counts[PROBE_OUTCOMES];
    sheet_begin(&s, stdout, markdown, NULL, columns,
                sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->count; i++) {
        const struct probe_finding *f = &r->findings[i];
        sheet_cell(&s, "%s", f->case_name);
        sheet_cell(&s, "%s", f->recipe->name);
        sheet_cell(&s, "%s", f->kernel);
        sheet_cell(&s, "%s", f->input);
        sheet_cell(&s, "%s", probe_get(f->probe)->name);
        sheet_cell(&s, "%s", probe_outcome_name(f->outcome));
        sheet_colour(&s, colour_of(f->outcome));
        sheet_cell(&s, "%" PRId64, f->runs);
        sheet_cell(&s, f->outputs ? "%" PRId64 : "-", f->outputs);
        sheet_cell(&s, "%s", f->text[0] ? f->text : "-");
    }
    const bool ok = sheet_end(&s);
    count(r, counts);
    for (int i = 0; i < PROBE_OUTCOMES; i++)
        printf("%s%zu %s", i ? ", " : "", counts[i],
               probe_outcome_name((enum probe_outcome)i));
    putchar('\n');
    return ok;
}

static void print_csv(const struct probe_report *r)
{
    static const char *const keys[] = { "case",  "recipe",  "kernel",
                                        "input", "probe",   "result",
                                        "runs",  "outputs", "remarks" };
    struct csv csv = { .out = stdout };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        csv_text(&csv, keys[i]);
    csv_end_line(&csv);
    for (size_t i = 0; i < r->count; i++) {
        const struct probe_finding *f = &r->findings[i];
        csv_text(&csv, f->case_name);
        csv_text(&csv, f->recipe->name);
        csv_text(&csv, f->kernel);
        csv_text(&csv, f->input);
        csv_text(&csv, probe_get(f->probe)->name);
        csv_text(&csv, probe_outcome_name(f->outcome));
        csv_number(&csv, (double)f->runs);
        csv_number(&csv, (double)f->outputs);
        csv_word(&csv, f->text);
        csv_end_line(&csv);
    }
}

static json_t *finding(const struct probe_finding *f)
{
    return json_pack("{s:o, s:s, s:o, s:s, s:s, s:s, s:I, s:I, s:o}", "case",
                     json_plain(f->case_name), "recipe", f->recipe->name,
                     "kernel", json_plain(f->kernel), "input", f->input,
                     "probe", probe_get(f->probe)->name, "result",
                     probe_outcome_name(f->outcome), "runs",
                     (json_int_t)f->runs, "outputs", (json_int_t)f->outputs,
                     "remarks", json_plain(f->text));
}

static bool print_json(const struct probe_report *r)
{
    json_t *all = json_array();
    for (size_t i = 0; i < r->count; i++)
        if (json_array_append_new(all, finding(&r->findings[i])) != 0)
            break;
    const bool whole = json_array_size(all) == r->count;
    json_t *top =
        json_pack("{s:s, s:o, s:s, s:o, s:o}", "verb", "probe", "set",
                  json_plain(r->set_path), "content_hash", r->set_hash,
                  "module", json_plain(r->module), "findings", all);
    return top && json_print(top, stdout) == 0 && whole;
}

enum assay_status probe_report_print(const struct probe_report *r,
                                     enum probe_format format,
                                     struct assay_error *err)
{
    bool ok = true;
    if (format == PROBE_CSV)
        print_csv(r);
    else if (format == PROBE_JSON)
        ok = print_json(r);
    else
        ok = print_sheet(r, format == PROBE_MARKDOWN);
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_MEMORY,
                           "no memory for a report of %zu findings, or it "
                           "cannot be written",
                           r->count);
}
