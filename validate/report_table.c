/* SPDX-License-Identifier: MIT
 *
 * Results for people: tables for a terminal or in Markdown.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/sheet.h"
#include "golden/sketch.h"
#include "golden/verb.h"
#include "validate/judge.h"
#include "validate/quarantine.h"
#include "validate/report.h"

/* Unlike "-", "nan" is a figure. */
static void figure(struct sheet *s, double x, bool fixed, int digits)
{
    if (isnan(x))
        sheet_cell(s, "nan");
    else
        sheet_cell(s, fixed ? "%.*f" : "%.*e", digits, x);
}

enum { FIGURES = 6 };

/* An LSE that was not delivered has no figure. */
static void figure_cells(struct sheet *s, const struct assay_distance *d,
                         bool lse)
{
    figure(s, d->cosine, true, 8);
    figure(s, d->worst_row_cosine, true, 6);
    figure(s, d->mae, false, 2);
    figure(s, d->max_error, false, 2);
    figure(s, d->rel_l2, false, 2);
    if (lse)
        figure(s, d->lse_max, false, 2);
    else
        sheet_cell(s, "-");
}

static enum colour colour_of(const struct result *r)
{
    const int code = verdict_get(r->verdict)->code;
    return code == 0                                        ? COLOUR_GOOD
           : code == EXIT_NOTHING_RAN || result_is_known(r) ? COLOUR_DIM
                                                            : COLOUR_BAD;
}

double report_used(const struct result *r)
{
    double most = 0;
    for (int i = 0; i < GATES; i++) {
        const enum gate g = (enum gate)i;
        const double limit = report_gate_limit(r, g);
        if (report_gate_judged(r, g) && limit >= 0)
            most = assay_worst(most, part_used(r->gates[g].value, limit));
    }
    return most;
}

struct report_places report_places(const struct report *r, size_t i)
{
    const struct result *one = &r->results[i];
    struct report_places at = { "", "" };
    snprintf(at.row, sizeof at.row, "result-%zu", i);
    if (result_failed(one))
        snprintf(at.why, sizeof at.why, "failure-%zu", i);
    else if (verdict_get(one->verdict)->code == EXIT_NOTHING_RAN)
        snprintf(at.why, sizeof at.why, "not-run");
    return at;
}

/* Raw and packed input share the recipe's own distance: it is told once. */
static bool same_recipe(const struct result *a, const struct result *b)
{
    return a->judged && a->recipe == b->recipe &&
           strcmp(a->case_name, b->case_name) == 0;
}

/* What the rows of a result begin with. A terminal has it once; rows of a
 * Markdown table may be taken apart. */
static void first_cells(struct sheet *s, const struct report *all, size_t i,
                        bool again)
{
    const struct result *r = &all->results[i];
    const struct report_places places = report_places(all, i);
    if (again && !s->markdown) {
        for (int n = 0; n < 5; n++)
            sheet_cell(s, "%s", "");
        return;
    }
    sheet_cell(s, "%s", r->case_name);
    sheet_cell(s, "%s", r->recipe->name);
    sheet_cell(s, "%s%s%s", r->kernel[0] ? r->kernel : "-", r->input ? " " : "",
               r->input ? r->input : "");
    sheet_cell(s, "%s%s", verdict_get(r->verdict)->name,
               result_is_known(r) ? ", known" : "");
    sheet_colour(s, colour_of(r));
    sheet_link(s, places.row, places.why);
    if (r->judged)
        figure(s, report_used(r), true, report_used(r) < 100 ? 2 : 0);
    else
        sheet_cell(s, "-");
}

static void result_rows(struct sheet *s, const struct report *all, size_t at)
{
    const struct result *r = &all->results[at], *before = at ? r - 1 : NULL;
    const struct {
        const char *name;
        const struct assay_distance *distance;
    } rows[] = { { "build", &r->build },
                 { "recipe", &r->recipe_distance },
                 { "total", &r->total } };
    if (!r->judged) {
        first_cells(s, all, at, false);
        for (int i = 0; i < 1 + FIGURES; i++)
            sheet_cell(s, "-");
        return;
    }
    for (int i = 0; i < 3; i++) {
        if (i > 0 && (r->lacks & SKETCH_LACKS_EXACT))
            break;
        if (i == 1 && !s->markdown && before && same_recipe(before, r))
            continue;
        first_cells(s, all, at, i > 0);
        sheet_cell(s, "%s", rows[i].name);
        figure_cells(s, rows[i].distance,
                     i == 1 ? !(r->lacks & SKETCH_LACKS_LSE) : !r->no_lse);
    }
}

bool report_results(const struct report *r, const struct sheet_to *to)
{
    static const struct column columns[] = {
        { "CASE", COLUMN_LONG },
        { "RECIPE", COLUMN_TEXT },
        { "KERNEL", COLUMN_LONG },
        { "VERDICT", COLUMN_TEXT },
        { "USED", COLUMN_NUMBER },
        { "DISTANCE", COLUMN_TEXT },
        { "COSINE", COLUMN_NUMBER },
        { "WORST ROW", COLUMN_EXTRA | COLUMN_NUMBER },
        { "MAE", COLUMN_NUMBER },
        { "MAX ERROR", COLUMN_EXTRA | COLUMN_NUMBER },
        { "REL L2", COLUMN_EXTRA | COLUMN_NUMBER },
        { "LSE NATS", COLUMN_NUMBER },
    };
    struct sheet s;
    sheet_open(&s, to, to->markdown ? "Results" : NULL, columns,
               sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->count; i++)
        result_rows(&s, r, i);
    return sheet_end(&s);
}

/* ---- the worst of each figure over a recipe's results that ran ---- */

/* NaN is none so far. What is not finite would hide all others. */
static void higher(double *worst, double x)
{
    if (isfinite(x) && !(*worst >= x))
        *worst = x;
}

static void lower(double *worst, double x)
{
    if (isfinite(x) && !(*worst <= x))
        *worst = x;
}

/* Whether all of the figures are finite. */
static bool worsen(struct assay_distance *worst, const struct assay_distance *d,
                   bool lse)
{
    lower(&worst->cosine, d->cosine);
    lower(&worst->worst_row_cosine, d->worst_row_cosine);
    higher(&worst->mae, d->mae);
    higher(&worst->max_error, d->max_error);
    higher(&worst->rel_l2, d->rel_l2);
    if (lse)
        higher(&worst->lse_max, d->lse_max);
    return isfinite(d->cosine) && isfinite(d->worst_row_cosine) &&
           isfinite(d->mae) && isfinite(d->max_error) && isfinite(d->rel_l2) &&
           (!lse || isfinite(d->lse_max));
}

struct summary {
    const char *recipe;
    size_t ran, passed, judged, with_lse, recipe_lse, with_exact;
    struct assay_distance distances[3]; /* build, recipe, total */
    size_t not_finite[3];               /* results with a figure that is not */
};

static struct summary summarise(const struct report *r,
                                const struct assay_recipe *recipe)
{
    struct summary sum = { .recipe = recipe->name };
    for (int d = 0; d < 3; d++)
        sum.distances[d] = (struct assay_distance){ .cosine = NAN,
                                                    .worst_row_cosine = NAN,
                                                    .mae = NAN,
                                                    .max_error = NAN,
                                                    .rel_l2 = NAN,
                                                    .lse_max = NAN };
    for (size_t i = 0; i < r->count; i++) {
        const struct result *one = &r->results[i];
        if (one->recipe->id != recipe->id)
            continue;
        sum.ran += verdict_get(one->verdict)->code != EXIT_NOTHING_RAN;
        sum.passed += one->verdict == VERDICT_PASS;
        if (!one->judged)
            continue;
        sum.judged++;
        sum.with_lse += !one->no_lse;
        sum.not_finite[0] +=
            !worsen(&sum.distances[0], &one->build, !one->no_lse);
        if (one->lacks & SKETCH_LACKS_EXACT)
            continue;
        sum.with_exact++;
        sum.recipe_lse += !(one->lacks & SKETCH_LACKS_LSE);
        sum.not_finite[1] += !worsen(&sum.distances[1], &one->recipe_distance,
                                     !(one->lacks & SKETCH_LACKS_LSE));
        sum.not_finite[2] +=
            !worsen(&sum.distances[2], &one->total, !one->no_lse);
    }
    return sum;
}

static bool has_not_finite(const struct summary *sum)
{
    return sum->not_finite[0] || sum->not_finite[1] || sum->not_finite[2];
}

static void summary_rows(struct sheet *s, const struct summary *sum,
                         bool not_finite)
{
    static const char *const names[] = { "build", "recipe", "total" };
    for (int d = 0; d < (sum->with_exact > 0 ? 3 : 1); d++) {
        if (d == 0 || s->markdown) {
            sheet_cell(s, "%s", sum->recipe);
            sheet_cell(s, "%zu", sum->ran);
            sheet_cell(s, "%zu", sum->passed);
            sheet_colour(s, sum->passed == sum->ran ? COLOUR_GOOD : COLOUR_BAD);
        } else
            for (int i = 0; i < 3; i++)
                sheet_cell(s, "%s", "");
        sheet_cell(s, "%s", names[d]);
        figure_cells(s, &sum->distances[d],
                     d == 1 ? sum->recipe_lse > 0 : sum->with_lse > 0);
        if (not_finite)
            sheet_cell(s, "%zu", sum->not_finite[d]);
    }
}

/* Whether anything is left out of a worst figure. */
static bool any_not_finite(const struct report *r)
{
    for (int id = 0; id < assay_recipe_count(); id++) {
        const struct summary sum =
            summarise(r, assay_recipe_get((enum assay_recipe_id)id));
        if (has_not_finite(&sum))
            return true;
    }
    return false;
}

bool report_worst(const struct report *r, const struct sheet_to *to)
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
        { "NOT FINITE", COLUMN_NUMBER }, /* where there are any */
    };
    const bool not_finite = any_not_finite(r);
    struct sheet s;
    bool any = false;
    for (int id = 0; id < assay_recipe_count(); id++) {
        const struct summary sum =
            summarise(r, assay_recipe_get((enum assay_recipe_id)id));
        if (sum.judged == 0)
            continue;
        if (!any)
            sheet_open(&s, to,
                       to->markdown ? "Worst figures of each recipe"
                                    : "worst figures of each recipe",
                       columns, sizeof columns / sizeof *columns - !not_finite);
        any = true;
        summary_rows(&s, &sum, not_finite);
    }
    return !any || sheet_end(&s);
}

/* ---- the two formats ---- */

const char *const *report_legend(const struct report *r, size_t *n)
{
    static const char *const lines[] = {
        "build: kernel - emulated; recipe: emulated - exact; total: kernel - "
        "exact",
        "USED: worst part of what the gates allow; WORST ROW: cosine; LSE "
        "NATS: largest",
        "NOT FINITE: results that are left out of a worst figure, which is not "
        "finite"
    };
    *n = sizeof lines / sizeof *lines - !any_not_finite(r);
    return lines;
}

static void print_limits(const struct report *r, bool markdown, FILE *out)
{
    char *limits = report_limits(r);
    if (!limits)
        return;
    fputs("limits: ", out);
    sheet_text(out, markdown, limits);
    fputs(markdown ? "\n\n" : "\n", out);
    free(limits);
}

static bool print_all(const struct report *r, bool markdown, FILE *out)
{
    const struct sheet_to to = { out, markdown, NULL };
    char counts[256];
    size_t n;
    const bool ok = report_results(r, &to) && report_worst(r, &to) &&
                    report_payloads(r, &to);
    const char *const *legend = report_legend(r, &n);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n%s", legend[i], markdown ? "\n" : "");
    print_limits(r, markdown, out);
    report_reasons(r, markdown, out);
    report_right(r, markdown, out);
    report_counts(r, counts, sizeof counts);
    fprintf(out, markdown ? "\n**%s**\n" : "%s\n", counts);
    return ok && fflush(out) == 0;
}

bool report_table(const struct report *r, FILE *out)
{
    fprintf(out, "%s %s%s%s%s%s%s\n", driver_get(r->driver)->name,
            r->module->name, r->module->where[0] ? " (" : "", r->module->where,
            r->module->where[0] ? ")" : "", r->module->build[0] ? ", " : "",
            r->module->build);
    return print_all(r, false, out);
}

bool report_markdown(const struct report *r, FILE *out)
{
    static const struct column columns[] = { { "FACT", COLUMN_TEXT },
                                             { "VALUE", COLUMN_TEXT } };
    struct report_fact facts[REPORT_FACTS];
    struct sheet s;
    report_facts(r, facts);
    fputs("## assay validate: ", out);
    sheet_text(out, true, r->module->name);
    fputs("\n\n", out);
    sheet_begin(&s, out, true, "Run", columns, 2);
    for (int i = 0; i < REPORT_FACTS; i++) {
        sheet_cell(&s, "%s", facts[i].key);
        sheet_cell(&s, "%s", facts[i].text);
    }
    return sheet_end(&s) && print_all(r, true, out);
}
