/* SPDX-License-Identifier: MIT */
#include "validate/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/json.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/device.h"

int report_exit(const struct report *r)
{
    bool wrong = false, ended = true, ran = false;
    for (size_t i = 0; i < r->count; i++) {
        int code = verdict_get(r->results[i].verdict)->code;
        wrong |= code == EXIT_WRONG;
        ended &= code != assay_status_exit(ASSAY_KERNEL);
        ran |= code == 0;
    }
    if (wrong)
        return EXIT_WRONG;
    if (!ended)
        return assay_status_exit(ASSAY_KERNEL);
    return ran ? 0 : EXIT_NOTHING_RAN;
}

void report_counts(const struct report *r, char *text, size_t size)
{
    size_t counts[VERDICTS] = { 0 };
    int at = snprintf(text, size, "%zu results", r->count);
    for (size_t i = 0; i < r->count; i++)
        counts[r->results[i].verdict]++;
    for (int v = VERDICTS - 1; v >= 0; v--)
        if (counts[v] > 0 && at > 0 && (size_t)at < size)
            at += snprintf(text + at, size - (size_t)at, ", %zu %s", counts[v],
                           verdict_get((enum verdict)v)->name);
}

enum {
    CASE,
    RECIPE,
    KERNEL,
    INPUT,
    VERDICT,
    DISTANCE,
    COSINE,
    WORST,
    MAE,
    MAX,
    REL,
    LSE,
    COLUMNS
};

/* The six figures, from `column` on. */
static void figure_cells(struct table *t, size_t column,
                         const struct assay_distance *d)
{
    const double small[] = { d->mae, d->max_error, d->rel_l2, d->lse_max };
    table_printf(t, column++, "%.8f", d->cosine);
    table_printf(t, column++, "%.6f", d->worst_row_cosine);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        table_printf(t, column++, "%.2e", small[i]);
}

static void distance_cells(struct table *t, const char *name,
                           const struct assay_distance *d)
{
    table_text(t, DISTANCE, name);
    figure_cells(t, COSINE, d);
}

static void result_rows(struct table *t, const struct result *r)
{
    table_row(t);
    table_text(t, CASE, r->case_name);
    table_text(t, RECIPE, r->recipe->name);
    table_text(t, KERNEL, r->kernel[0] ? r->kernel : "-");
    table_text(t, INPUT, r->input ? r->input : "-");
    table_text(t, VERDICT, verdict_get(r->verdict)->name);
    int code = verdict_get(r->verdict)->code;
    table_colour(t, VERDICT,
                 code == 0                  ? COLOUR_GOOD
                 : code == EXIT_NOTHING_RAN ? COLOUR_DIM
                                            : COLOUR_BAD);
    if (!r->judged)
        return;
    distance_cells(t, "build", &r->build);
    table_row(t);
    distance_cells(t, "recipe", &r->recipe_distance);
    table_row(t);
    distance_cells(t, "total", &r->total);
}

/* The worst of each figure over a recipe's results that ran. */
static void worsen(struct assay_distance *worst, const struct assay_distance *d)
{
    worst->cosine = -assay_worst(-worst->cosine, -d->cosine);
    worst->worst_row_cosine =
        -assay_worst(-worst->worst_row_cosine, -d->worst_row_cosine);
    worst->mae = assay_worst(worst->mae, d->mae);
    worst->max_error = assay_worst(worst->max_error, d->max_error);
    worst->rel_l2 = assay_worst(worst->rel_l2, d->rel_l2);
    worst->lse_max = assay_worst(worst->lse_max, d->lse_max);
}

enum { SUM_RECIPE, SUM_RESULTS, SUM_PASSED, SUM_DISTANCE, SUM_COSINE };

static void summary_row(struct table *t, const char *recipe, size_t results,
                        size_t passed, const char *name,
                        const struct assay_distance *d)
{
    table_row(t);
    if (recipe) {
        table_text(t, SUM_RECIPE, recipe);
        table_printf(t, SUM_RESULTS, "%zu", results);
        table_printf(t, SUM_PASSED, "%zu", passed);
        table_colour(t, SUM_PASSED,
                     passed == results ? COLOUR_GOOD : COLOUR_BAD);
    }
    table_text(t, SUM_DISTANCE, name);
    figure_cells(t, SUM_COSINE, d);
}

static bool print_summary(const struct report *r, FILE *out)
{
    static const struct column columns[] = {
        { "RECIPE", COLUMN_TEXT },
        { "RAN", COLUMN_NUMBER },
        { "PASSED", COLUMN_NUMBER },
        { "DISTANCE", COLUMN_TEXT },
        { "COSINE", COLUMN_NUMBER },
        { "WORST ROW", COLUMN_NUMBER },
        { "MAE", COLUMN_NUMBER },
        { "MAX ERROR", COLUMN_EXTRA | COLUMN_NUMBER },
        { "REL L2", COLUMN_EXTRA | COLUMN_NUMBER },
        { "LSE NATS", COLUMN_NUMBER },
    };
    struct table *t = table_new(columns, sizeof columns / sizeof *columns);
    if (!t)
        return false;
    for (int id = 0; id < ASSAY_RECIPES; id++) {
        struct assay_distance build = { .cosine = 1, .worst_row_cosine = 1 },
                              recipe = build, total = build;
        size_t results = 0, passed = 0, judged = 0;
        for (size_t i = 0; i < r->count; i++) {
            const struct result *one = &r->results[i];
            if ((int)one->recipe->id != id)
                continue;
            results += verdict_get(one->verdict)->code != EXIT_NOTHING_RAN;
            passed += one->verdict == VERDICT_PASS;
            if (!one->judged)
                continue;
            judged++;
            worsen(&build, &one->build);
            worsen(&recipe, &one->recipe_distance);
            worsen(&total, &one->total);
        }
        if (judged == 0)
            continue;
        const char *name = assay_recipe_get((enum assay_recipe_id)id)->name;
        summary_row(t, name, results, passed, "build", &build);
        summary_row(t, NULL, 0, 0, "recipe", &recipe);
        summary_row(t, NULL, 0, 0, "total", &total);
    }
    fputs("\nworst figures of each recipe\n", out);
    return table_print(t, out);
}

/* What repeats one result. */
static void print_repeat(const struct report *r, const struct result *one,
                         FILE *out)
{
    fprintf(out, "    repeat: assay validate %s --case '%s' --recipe %s",
            r->set_path, one->case_name, one->recipe->name);
    if (r->module_option)
        fprintf(out, " --module %s", r->module_option);
    if (one->kernel[0])
        fprintf(out, " --kernel '%s'", one->kernel);
    if (one->input)
        fprintf(out, " --input %s", one->input);
    fputc('\n', out);
}

static void print_reasons(const struct report *r, FILE *out)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct result *one = &r->results[i];
        int code = verdict_get(one->verdict)->code;
        if (one->verdict != VERDICT_PASS) {
            fprintf(out, "%s: %s, %s%s%s: %s\n",
                    verdict_get(one->verdict)->name, one->case_name,
                    one->recipe->name, one->kernel[0] ? ", " : "", one->kernel,
                    one->reason);
            if (one->judged)
                fprintf(out, "    %" PRId64 " of %" PRId64 " heads fail\n",
                        one->heads_failed, one->heads);
            if (code != EXIT_NOTHING_RAN)
                print_repeat(r, one, out);
        }
        if (one->notes[0])
            fprintf(out, "note: %s, %s, %s: %s\n", one->case_name,
                    one->recipe->name, one->kernel, one->notes);
    }
}

bool report_table(const struct report *r, FILE *out)
{
    static const struct column columns[COLUMNS] = {
        [CASE] = { "CASE", COLUMN_LONG },
        [RECIPE] = { "RECIPE", COLUMN_TEXT },
        [KERNEL] = { "KERNEL", COLUMN_EXTRA },
        [INPUT] = { "INPUT", COLUMN_EXTRA },
        [VERDICT] = { "VERDICT", COLUMN_TEXT },
        [DISTANCE] = { "DISTANCE", COLUMN_TEXT },
        [COSINE] = { "COSINE", COLUMN_NUMBER },
        [WORST] = { "WORST ROW", COLUMN_NUMBER },
        [MAE] = { "MAE", COLUMN_NUMBER },
        [MAX] = { "MAX ERROR", COLUMN_EXTRA | COLUMN_NUMBER },
        [REL] = { "REL L2", COLUMN_EXTRA | COLUMN_NUMBER },
        [LSE] = { "LSE NATS", COLUMN_NUMBER },
    };
    char counts[256];
    struct table *t = table_new(columns, COLUMNS);
    if (!t)
        return false;
    fprintf(out, "module %s (%s)%s%s\n", r->module->name,
            device_name(r->module->device), r->module->build[0] ? ", " : "",
            r->module->build);
    for (size_t i = 0; i < r->count; i++)
        result_rows(t, &r->results[i]);
    bool ok = table_print(t, out) && print_summary(r, out);
    fputs("build: kernel - emulated; recipe: emulated - exact; "
          "total: kernel - exact\n",
          out);
    fputc('\n', out);
    print_reasons(r, out);
    report_counts(r, counts, sizeof counts);
    fprintf(out, "%s\n", counts);
    return ok && fflush(out) == 0;
}

static json_t *gates_json(const struct result *r)
{
    json_t *list = json_array();
    for (int g = 0; r->judged && g < GATES; g++) {
        const struct gate_row *row = gate_get((enum gate)g);
        const struct gate_result *got = &r->gates[g];
        json_t *gate = json_object();
        json_object_set_new(gate, "name", json_string(row->name));
        json_object_set_new(gate, "value", json_number(got->value));
        json_object_set_new(gate, "limit", json_number(row->limit));
        json_object_set_new(gate, "limit_from", json_string("default"));
        json_object_set_new(gate, "pass", json_boolean(got->pass));
        json_object_set_new(gate, "at", json_place(&got->at));
        json_object_set_new(gate, "note", json_text(got->note));
        json_array_append_new(list, gate);
    }
    return list;
}

static json_t *result_json(const struct result *r)
{
    json_t *out = json_object(), *distances = json_object();
    json_object_set_new(out, "case", json_text(r->case_name));
    json_object_set_new(out, "recipe", json_string(r->recipe->name));
    json_object_set_new(
        out, "softmax_form",
        json_string(assay_softmax_get(r->recipe->softmax)->name));
    json_object_set_new(out, "kernel",
                        r->kernel[0] ? json_text(r->kernel) : json_null());
    json_object_set_new(out, "input",
                        r->input ? json_string(r->input) : json_null());
    json_object_set_new(out, "verdict",
                        json_string(verdict_get(r->verdict)->name));
    json_object_set_new(out, "reason", json_text(r->reason));
    json_object_set_new(out, "notes", json_text(r->notes));
    json_object_set_new(out, "seconds", json_number(r->seconds));
    json_object_set_new(out, "heads", json_integer(r->heads));
    json_object_set_new(out, "heads_failed", json_integer(r->heads_failed));
    json_object_set_new(out, "gates", gates_json(r));
    if (r->judged) {
        json_object_set_new(distances, "build", json_distance(&r->build));
        json_object_set_new(distances, "recipe",
                            json_distance(&r->recipe_distance));
        json_object_set_new(distances, "total", json_distance(&r->total));
    }
    json_object_set_new(out, "distances", distances);
    return out;
}

bool report_json(const struct report *r, FILE *out)
{
    json_t *all = json_object(), *results = json_array(),
           *module = json_object();
    json_object_set_new(all, "schema", json_string("assay-run/1"));
    json_object_set_new(all, "set", json_text(r->set_path));
    json_object_set_new(all, "set_content_hash", json_text(r->set_hash));
    json_object_set_new(module, "path", json_text(r->module->path));
    json_object_set_new(module, "name", json_text(r->module->name));
    json_object_set_new(module, "build", json_text(r->module->build));
    json_object_set_new(module, "device",
                        json_string(device_name(r->module->device)));
    json_object_set_new(all, "module", module);
    for (size_t i = 0; i < r->count; i++)
        json_array_append_new(results, result_json(&r->results[i]));
    json_object_set_new(all, "results", results);
    return json_print(all, out) == 0;
}
