/* SPDX-License-Identifier: MIT
 *
 * What a comparison says: tables, Markdown, CSV and JSON ("assay-compare/1").
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/csv.h"
#include "golden/json.h"
#include "golden/sheet.h"
#include "validate/compare_report.h"
#include "validate/report_explain.h"

static const char *verdict_text(const struct compared_side *side)
{
    return side->result ? verdict_get(side->verdict)->name : "missing";
}

static const char *reason_text(const struct compared_side *side)
{
    return side->reason ? side->reason : side->result->reason;
}

static double seconds_of(const struct compared_side *side)
{
    return side->result && side->result->seconds > 0 ? side->result->seconds
                                                     : (double)NAN;
}

/* Both kernels where they are called differently. */
static void kernel_cell(struct sheet *s, const struct compared *c)
{
    const struct run_result *a = compared_result(c), *b = c->b.result;
    const bool renamed = b && strcmp(a->kernel, b->kernel) != 0;
    sheet_cell(s, "%s%s%s%s%s", a->kernel[0] ? a->kernel : "-",
               renamed ? " -> " : "", renamed ? b->kernel : "",
               a->input ? " " : "", a->input ? a->input : "");
}

static void name_cells(struct sheet *s, const struct compared *c)
{
    const struct run_result *r = compared_result(c);
    sheet_cell(s, "%s", r->case_name);
    sheet_cell(s, "%s", r->recipe->name);
    kernel_cell(s, c);
}

/* ---- tables ---- */

/* A table over pairs in some order; nothing where there is none. */
struct section {
    const char *title;
    int order; /* of enum compare_order */
    size_t most;
    const struct column *columns;
    size_t n_columns;
    void (*cells)(struct sheet *s, const struct compared *c, int order);
};

static bool print_section(const struct section *x, const struct comparison *c,
                          const struct sheet_to *to)
{
    const struct compared **pairs;
    struct sheet s;
    size_t n;
    bool ok =
        compare_sorted(c, x->order, x->most, &pairs, &n, NULL) == ASSAY_OK;
    if (ok && n > 0) {
        sheet_open(&s, to, x->title, x->columns, x->n_columns);
        for (size_t i = 0; i < n; i++) {
            name_cells(&s, pairs[i]);
            x->cells(&s, pairs[i], x->order);
        }
        ok = sheet_end(&s);
    }
    free((void *)pairs);
    return ok;
}

static void verdict_cells(struct sheet *s, const struct compared *c, int order)
{
    sheet_cell(s, "%s", verdict_text(&c->a));
    sheet_cell(s, "%s", verdict_text(&c->b));
    sheet_colour(s, compared_worse(c) ? COLOUR_BAD : COLOUR_NONE);
    if (order == COMPARE_BY_VERDICT)
        sheet_cell(s, "%s", reason_text(&c->b));
}

bool compare_table_verdicts(const struct comparison *c,
                            const struct sheet_to *to)
{
    static const struct column columns[] = {
        { "CASE", COLUMN_LONG },   { "RECIPE", COLUMN_TEXT },
        { "KERNEL", COLUMN_LONG }, { "A", COLUMN_TEXT },
        { "B", COLUMN_TEXT },      { "REASON IN B", COLUMN_PROSE },
    };
    const struct section x = { "verdicts that changed",
                               COMPARE_BY_VERDICT,
                               SIZE_MAX,
                               columns,
                               6,
                               verdict_cells };
    return print_section(&x, c, to);
}

/* Where B is wrong and A was not as wrong, as B's record says it. */
static bool print_explanations(const struct comparison *c, bool markdown,
                               FILE *out)
{
    const struct compared **pairs;
    size_t n, told = 0;
    const bool ok = compare_sorted(c, COMPARE_BY_VERDICT, SIZE_MAX, &pairs, &n,
                                   NULL) == ASSAY_OK;
    for (size_t i = 0; ok && i < n; i++) {
        const struct run_result *b = pairs[i]->b.result;
        const char *const names[] = { b->case_name, b->recipe->name,
                                      b->kernel };
        struct explained_line lines[EXPLAINED_LINES];
        const bool passed = pairs[i]->b.verdict == VERDICT_PASS;
        const size_t said = passed ? 0 : report_explained(b->why, lines);
        fputs(said && markdown ? "- " : "", out);
        for (size_t k = 0; said && k < 3; k++) {
            sheet_text(out, markdown, names[k]);
            fputs(k < 2 ? ", " : " in B:\n", out);
        }
        for (size_t k = 0; k < said; k++) {
            fprintf(out, "%s%s: ", markdown ? "  " : "    ", lines[k].name);
            sheet_text(out, markdown, lines[k].text);
            fputs(markdown ? "  \n" : "\n", out);
        }
        told += said;
    }
    fputs(told ? "\n" : "", out);
    free((void *)pairs);
    return ok;
}

static void change_cells(struct sheet *s, const struct compared *c, int order)
{
    const int f = order - COMPARE_BY_CHANGE;
    const double from = compare_figure_get(f)->from;
    sheet_number(s, "%.3e", fabs(c->a.figures[f] - from));
    sheet_number(s, "%.3e", fabs(c->b.figures[f] - from));
    sheet_number(s, "%+.2g %%", 100 * c->change[f]);
}

bool compare_table_changes(const struct comparison *c, size_t most,
                           const struct sheet_to *to)
{
    static const struct column columns[] = {
        { "CASE", COLUMN_LONG },   { "RECIPE", COLUMN_TEXT },
        { "KERNEL", COLUMN_LONG }, { "A", COLUMN_NUMBER },
        { "B", COLUMN_NUMBER },    { "CHANGE", COLUMN_NUMBER },
    };
    bool ok = true;
    for (int f = 0; ok && f < COMPARE_FIGURES; f++) {
        char title[80];
        snprintf(title, sizeof title, "largest changes of %s, build distance",
                 compare_figure_get(f)->name);
        const struct section x = { title, COMPARE_BY_CHANGE + f, most, columns,
                                   6,     change_cells };
        ok = print_section(&x, c, to);
    }
    return ok;
}

static void slow_cells(struct sheet *s, const struct compared *c, int order)
{
    (void)order;
    sheet_number(s, "%.3g", seconds_of(&c->a));
    sheet_number(s, "%.3g", seconds_of(&c->b));
    sheet_number(s, "%.3f", c->ratio);
}

bool compare_table_times(const struct comparison *c, size_t most,
                         const struct sheet_to *to)
{
    static const struct column recipe[] = {
        { "RECIPE", COLUMN_TEXT },    { "PAIRS", COLUMN_NUMBER },
        { "A S", COLUMN_NUMBER },     { "B S", COLUMN_NUMBER },
        { "B / A", COLUMN_NUMBER },   { "LEAST", COLUMN_NUMBER },
        { "LARGEST", COLUMN_NUMBER },
    };
    static const struct column slow[] = {
        { "CASE", COLUMN_LONG },   { "RECIPE", COLUMN_TEXT },
        { "KERNEL", COLUMN_LONG }, { "A S", COLUMN_NUMBER },
        { "B S", COLUMN_NUMBER },  { "B / A", COLUMN_NUMBER },
    };
    const struct section x = {
        "slowest in B beside A", COMPARE_BY_SECONDS, most, slow, 6, slow_cells
    };
    struct sheet s;
    if (c->recipes == 0)
        return true;
    sheet_open(&s, to, "seconds of launches; B / A: geometric mean over pairs",
               recipe, 7);
    for (size_t i = 0; i < c->recipes; i++) {
        const struct compared_times *t = &c->times[i];
        sheet_cell(&s, "%s", t->recipe->name);
        sheet_cell(&s, "%zu", t->pairs);
        sheet_number(&s, "%.3g", t->seconds_a);
        sheet_number(&s, "%.3g", t->seconds_b);
        sheet_number(&s, "%.3f", t->mean);
        sheet_number(&s, "%.3f", t->least);
        sheet_number(&s, "%.3f", t->largest);
    }
    return sheet_end(&s) && print_section(&x, c, to);
}

void compare_head_text(const char *name, const struct run_file *run, char *text,
                       size_t size)
{
    const struct run_facts *facts = run_file_facts(run);
    snprintf(text, size, "%s: %s, %s %s%s%s", name, run_file_path(run),
             facts->driver, facts->module_name,
             facts->module_build[0] ? ", " : "", facts->module_build);
}

static void print_head(const char *name, const struct run_file *run,
                       const struct sheet_to *to)
{
    char text[8192];
    compare_head_text(name, run, text, sizeof text);
    sheet_text(to->out, to->markdown, text);
    fputs(to->markdown ? "  \n" : "\n", to->out);
}

bool compare_table_counts(const struct comparison *c, const struct sheet_to *to)
{
    static const struct column columns[] = { { "RESULTS", COLUMN_NUMBER },
                                             { "WHAT", COLUMN_TEXT },
                                             { "ABOUT", COLUMN_PROSE } };
    struct sheet s;
    sheet_open(&s, to, NULL, columns, 3);
    for (int k = 0; k < LIKENESSES; k++) {
        sheet_cell(&s, "%zu", c->counts[k]);
        sheet_cell(&s, "%s", likeness_name((enum likeness)k));
        sheet_cell(&s, "%s", likeness_about((enum likeness)k));
    }
    return sheet_end(&s);
}

static size_t count_of(const struct comparison *c,
                       bool (*is)(const struct compared *))
{
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        n += is(&c->pairs[i]);
    return n;
}

void compare_counts_text(const struct comparison *c, char *text, size_t size)
{
    snprintf(text, size,
             "%zu result%s: %zu with another verdict, %zu in one run alone; "
             "%zu for the worse",
             c->count, plural((int64_t)c->count), count_of(c, compared_moved),
             count_of(c, compared_alone), count_of(c, compared_worse));
}

static bool print_tables(const struct compare_report *r, FILE *out)
{
    const struct comparison *c = r->c;
    const struct sheet_to to = { out, r->form == COMPARE_MARKDOWN, NULL };
    char counts[200];
    print_head("A", c->a, &to);
    print_head("B", c->b, &to);
    fputs("Verdicts of both: by the limits of B's run.\n\n", out);
    const bool ok = compare_table_counts(c, &to) &&
                    compare_table_verdicts(c, &to) &&
                    print_explanations(c, to.markdown, out) &&
                    compare_table_changes(c, r->worst, &to) &&
                    compare_table_times(c, r->worst, &to);
    compare_counts_text(c, counts, sizeof counts);
    fprintf(out, "%s\n", counts);
    return ok && fflush(out) == 0;
}

/* ---- CSV ---- */

static void csv_side(struct csv *csv, const struct compared_side *side)
{
    csv_word(csv, side->result ? side->result->kernel : NULL);
    csv_text(csv, verdict_text(side));
    csv_word(csv, side->result ? side->result->verdict : NULL);
    csv_word(csv, side->result && side->result->ran ? side->result->sketch.bits
                                                    : NULL);
    const struct explanation *why = side->result ? side->result->why : NULL;
    csv_word(csv, why ? why->pattern : NULL);
    csv_word(csv, why ? why->lse_cause : NULL);
    for (int f = 0; f < COMPARE_FIGURES; f++)
        csv_number(csv, side->figures[f]);
    csv_number(csv, seconds_of(side));
}

static void csv_head(struct csv *csv)
{
    static const char *const first[] = { "case",  "recipe",   "softmax_form",
                                         "input", "likeness", "worse" };
    char key[64];
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        csv_text(csv, first[i]);
    for (char side = 'a'; side <= 'b'; side++) {
        static const char *const keys[] = { "kernel",           "verdict",
                                            "recorded_verdict", "bits",
                                            "pattern",          "lse_cause" };
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            snprintf(key, sizeof key, "%c_%s", side, keys[i]);
            csv_text(csv, key);
        }
        for (int f = 0; f < COMPARE_FIGURES; f++) {
            snprintf(key, sizeof key, "%c_%s", side,
                     compare_figure_get(f)->key);
            csv_text(csv, key);
        }
        snprintf(key, sizeof key, "%c_seconds", side);
        csv_text(csv, key);
    }
    for (int f = 0; f < COMPARE_FIGURES; f++) {
        snprintf(key, sizeof key, "change_%s", compare_figure_get(f)->key);
        csv_text(csv, key);
    }
    csv_text(csv, "seconds_ratio");
    csv_end_line(csv);
}

static bool print_csv(const struct comparison *c, FILE *out)
{
    struct csv csv = { .out = out };
    csv_head(&csv);
    for (size_t i = 0; i < c->count; i++) {
        const struct compared *pair = &c->pairs[i];
        const struct run_result *r = compared_result(pair);
        csv_text(&csv, r->case_name);
        csv_text(&csv, r->recipe->name);
        csv_text(&csv, assay_softmax_get(r->recipe->softmax)->name);
        csv_word(&csv, r->input);
        csv_text(&csv, likeness_name(pair->likeness));
        csv_text(&csv, compared_worse(pair) ? "yes" : "no");
        csv_side(&csv, &pair->a);
        csv_side(&csv, &pair->b);
        for (int f = 0; f < COMPARE_FIGURES; f++)
            csv_number(&csv, pair->change[f]);
        csv_number(&csv, pair->ratio);
        csv_end_line(&csv);
    }
    return fflush(out) == 0 && !ferror(out);
}

/* ---- JSON ---- */

static json_t *run_json(const struct run_file *run)
{
    const struct run_facts *facts = run_file_facts(run);
    char *version = run_file_provenance(run, "version"),
         *date = run_file_provenance(run, "date");
    json_t *out = json_object();
    json_object_set_new(out, "file", json_text(run_file_path(run)));
    json_object_set_new(out, "content_hash", json_text(run_file_hash(run)));
    json_object_set_new(out, "version", json_text(version ? version : ""));
    json_object_set_new(out, "date", json_text(date ? date : ""));
    json_object_set_new(out, "set", json_text(facts->set));
    json_object_set_new(out, "set_content_hash",
                        json_text(facts->set_content_hash));
    json_object_set_new(out, "driver", json_text(facts->driver));
    json_object_set_new(out, "module", json_text(facts->module));
    json_object_set_new(out, "module_name", json_text(facts->module_name));
    json_object_set_new(out, "module_build", json_text(facts->module_build));
    free(version);
    free(date);
    return out;
}

/* NaN may be a figure, or stand where there is none. */
static bool has_figure(const struct run_result *r, int figure)
{
    return r && r->ran && !(figure == COMPARE_LSE && r->sketch.no_lse);
}

static json_t *side_json(const struct compared_side *side)
{
    const struct run_result *r = side->result;
    json_t *out = json_object();
    if (!r) {
        json_decref(out);
        return json_null();
    }
    json_object_set_new(out, "kernel", json_text(r->kernel));
    json_object_set_new(out, "verdict", json_string(verdict_text(side)));
    json_object_set_new(out, "recorded_verdict", json_text(r->verdict));
    json_object_set_new(out, "reason", json_text(reason_text(side)));
    json_object_set_new(out, "bits",
                        r->ran ? json_text(r->sketch.bits) : json_null());
    json_object_set_new(out, "explanation", report_explanation_json(r->why));
    for (int f = 0; f < COMPARE_FIGURES; f++)
        json_object_set_new(out, compare_figure_get(f)->key,
                            has_figure(r, f) ? json_number(side->figures[f])
                                             : json_null());
    json_object_set_new(out, "seconds", json_optional(seconds_of(side)));
    return out;
}

static json_t *pair_json(const struct compared *c)
{
    const struct run_result *r = compared_result(c);
    json_t *out = json_object(), *changes = json_object();
    json_object_set_new(out, "case", json_plain(r->case_name));
    json_object_set_new(out, "recipe", json_string(r->recipe->name));
    json_object_set_new(
        out, "softmax_form",
        json_string(assay_softmax_get(r->recipe->softmax)->name));
    json_object_set_new(out, "input",
                        r->input ? json_string(r->input) : json_null());
    json_object_set_new(out, "likeness",
                        json_string(likeness_name(c->likeness)));
    json_object_set_new(out, "worse", json_boolean(compared_worse(c)));
    json_object_set_new(out, "a", side_json(&c->a));
    json_object_set_new(out, "b", side_json(&c->b));
    for (int f = 0; f < COMPARE_FIGURES; f++)
        json_object_set_new(changes, compare_figure_get(f)->key,
                            has_figure(c->a.result, f) &&
                                    has_figure(c->b.result, f)
                                ? json_number(c->change[f])
                                : json_null());
    json_object_set_new(out, "relative_change", changes);
    json_object_set_new(out, "seconds_ratio", json_optional(c->ratio));
    return out;
}

static json_t *times_json(const struct compared_times *t)
{
    return json_pack(
        "{ss sI so so so so so}", "recipe", t->recipe->name, "pairs",
        (json_int_t)t->pairs, "a_seconds", json_optional(t->seconds_a),
        "b_seconds", json_optional(t->seconds_b), "ratio_geometric_mean",
        json_optional(t->mean), "ratio_least", json_optional(t->least),
        "ratio_largest", json_optional(t->largest));
}

static bool print_json(const struct comparison *c, FILE *out)
{
    json_t *all = json_object(), *counts = json_object(), *pairs = json_array(),
           *times = json_array();
    json_object_set_new(all, "schema", json_string("assay-compare/1"));
    json_object_set_new(all, "version", json_string(PACKAGE_VERSION));
    json_object_set_new(all, "a", run_json(c->a));
    json_object_set_new(all, "b", run_json(c->b));
    for (int k = 0; k < LIKENESSES; k++)
        json_object_set_new(counts, likeness_name((enum likeness)k),
                            json_integer((json_int_t)c->counts[k]));
    json_object_set_new(all, "counts", counts);
    json_object_set_new(all, "worse",
                        json_integer((json_int_t)count_of(c, compared_worse)));
    for (size_t i = 0; i < c->recipes; i++)
        json_array_append_new(times, times_json(&c->times[i]));
    json_object_set_new(all, "seconds", times);
    for (size_t i = 0; i < c->count; i++)
        json_array_append_new(pairs, pair_json(&c->pairs[i]));
    json_object_set_new(all, "results", pairs);
    return json_print(all, out) == 0;
}

bool compare_print(const void *report, FILE *out)
{
    const struct compare_report *r = report;
    switch (r->form) {
    case COMPARE_CSV: return print_csv(r->c, out);
    case COMPARE_JSON: return print_json(r->c, out);
    case COMPARE_HTML: return compare_html(r, out);
    default: return print_tables(r, out);
    }
}
