/* SPDX-License-Identifier: MIT
 *
 * Results for people.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/term.h"
#include "golden/verb.h"
#include "validate/device.h"
#include "validate/report.h"

enum {
    CASE,
    RECIPE,
    KERNEL,
    VERDICT,
    USED,
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

/* The worst part of what the gates allow; above 1 fails. */
static double most_used(const struct result *r)
{
    double most = 0;
    for (int g = 0; g < GATES; g++)
        if (gate_get((enum gate)g)->limit == 1)
            most = assay_worst(most, r->gates[g].value);
    return most;
}

/* Raw and packed input share the recipe's own distance: it is told once. */
static bool same_recipe(const struct result *a, const struct result *b)
{
    return a->judged && a->recipe == b->recipe &&
           strcmp(a->case_name, b->case_name) == 0;
}

static void result_rows(struct table *t, const struct result *r,
                        const struct result *before)
{
    table_row(t);
    table_text(t, CASE, r->case_name);
    table_text(t, RECIPE, r->recipe->name);
    table_printf(t, KERNEL, "%s %s", r->kernel[0] ? r->kernel : "-",
                 r->input ? r->input : "");
    table_text(t, VERDICT, verdict_get(r->verdict)->name);
    int code = verdict_get(r->verdict)->code;
    table_colour(t, VERDICT,
                 code == 0                  ? COLOUR_GOOD
                 : code == EXIT_NOTHING_RAN ? COLOUR_DIM
                                            : COLOUR_BAD);
    if (!r->judged)
        return;
    table_printf(t, USED, most_used(r) < 100 ? "%.2f" : "%.0f", most_used(r));
    distance_cells(t, "build", &r->build);
    table_row(t);
    if (!before || !same_recipe(before, r)) {
        distance_cells(t, "recipe", &r->recipe_distance);
        table_row(t);
    }
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
    bool any = false;
    struct table *t = table_new(columns, sizeof columns / sizeof *columns);
    if (!t)
        return false;
    for (int id = 0; id < assay_recipe_count(); id++) {
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
        any = true;
        const char *name = assay_recipe_get((enum assay_recipe_id)id)->name;
        summary_row(t, name, results, passed, "build", &build);
        summary_row(t, NULL, 0, 0, "recipe", &recipe);
        summary_row(t, NULL, 0, 0, "total", &total);
    }
    if (any)
        fputs("\nworst figures of each recipe\n", out);
    return table_print(t, out);
}

static void print_repeat(const struct report *r, const struct result *one,
                         FILE *out)
{
    char *line = report_repeat_line(r, one);
    fprintf(out, "    repeat: %s\n", line ? line : "no memory to say");
    free(line);
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
                fprintf(out, "    %" PRId64 " of %" PRId64 " heads fail%s\n",
                        one->heads_failed, one->heads,
                        one->heads_failed == 1 ? "s" : "");
            if (code != EXIT_NOTHING_RAN)
                print_repeat(r, one, out);
        }
        if (one->notes[0])
            fprintf(out, "note: %s, %s, %s: %s\n", one->case_name,
                    one->recipe->name, one->kernel, one->notes);
    }
}

/* What the cases cannot tell apart. */
static void print_coverage(const struct report *r, FILE *out)
{
    bool causal = false, rectangle = false, gqa = false;
    for (size_t i = 0; i < r->count; i++) {
        const struct assay_problem *p = &r->results[i].problem;
        bool masked = p->mask == ASSAY_MASK_CAUSAL;
        causal |= masked;
        rectangle |= masked && p->nq != p->nk;
        gqa |= p->hq != p->hk && p->hk > 1;
    }
    if (causal && !rectangle)
        fputs("note: no causal case has nq != nk, so top-left and bottom-right "
              "masks look the same\n",
              out);
    if (!gqa)
        fputs("note: no case has several key heads for more query heads, so "
              "GQA is not tested\n",
              out);
}

static bool is_first(const struct report *r, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (r->results[j].recipe == r->results[i].recipe)
            return false;
    return true;
}

/* "promise: arithmetic e4m3, fp8; statistical bf16" */
static void print_promises(const struct report *r, FILE *out)
{
    const char *before = "promise: ";
    for (int p = 0; p < ASSAY_PROMISES; p++) {
        bool any = false;
        for (size_t i = 0; i < r->count; i++) {
            const struct assay_recipe *recipe = r->results[i].recipe;
            if ((int)assay_recipe_promise(recipe) != p || !is_first(r, i))
                continue;
            if (!any)
                fprintf(out, "%s%s", before,
                        assay_promise_get((enum assay_promise)p)->name);
            fprintf(out, "%s %s", any ? "," : "", recipe->name);
            before = "; ";
            any = true;
        }
    }
    fputs("\n\n", out);
}

bool report_table(const struct report *r, FILE *out)
{
    static const struct column columns[COLUMNS] = {
        [CASE] = { "CASE", COLUMN_LONG },
        [RECIPE] = { "RECIPE", COLUMN_TEXT },
        [KERNEL] = { "KERNEL", COLUMN_LONG },
        [VERDICT] = { "VERDICT", COLUMN_TEXT },
        [USED] = { "USED", COLUMN_NUMBER },
        [DISTANCE] = { "DISTANCE", COLUMN_TEXT },
        [COSINE] = { "COSINE", COLUMN_NUMBER },
        [WORST] = { "WORST ROW", COLUMN_EXTRA | COLUMN_NUMBER },
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
        result_rows(t, &r->results[i], i ? &r->results[i - 1] : NULL);
    bool ok = table_print(t, out) && print_summary(r, out);
    fputs("build: kernel - emulated; recipe: emulated - exact; "
          "total: kernel - exact\n"
          "USED: worst part of what the gates allow; WORST ROW: cosine; "
          "LSE NATS: largest\n",
          out);
    print_promises(r, out);
    print_reasons(r, out);
    print_coverage(r, out);
    report_counts(r, counts, sizeof counts);
    fprintf(out, "%s\n", counts);
    return ok && fflush(out) == 0;
}
