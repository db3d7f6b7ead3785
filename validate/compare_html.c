/* SPDX-License-Identifier: MIT
 *
 * A comparison as a page: what moved, then how far figures changed.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/plot.h"
#include "golden/provenance.h"
#include "validate/alike.h"
#include "validate/compare_report.h"

struct page {
    const struct compare_report *r;
    struct html html;
    bool ok;
};

static bool any_worse(const struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (compared_worse(&c->pairs[i]))
            return true;
    return false;
}

/* ---- distributions of B over A ---- */

/* B / A of a figure, or of seconds where it is COMPARE_FIGURES; NaN where the
 * two cannot be held side by side. */
static double ratio_of(const struct compared *c, int figure)
{
    return figure == COMPARE_FIGURES ? c->ratio : 1 + c->change[figure];
}

static bool has_ratio(const struct compared *c, int figure)
{
    return !isnan(ratio_of(c, figure));
}

/* Pairs that have a ratio of a figure. */
struct ratios {
    const struct comparison *c;
    int figure;
};

static const struct assay_recipe *recipe_of(const void *ratios, size_t i)
{
    const struct ratios *of = ratios;
    const struct compared *pair = &of->c->pairs[i];
    return has_ratio(pair, of->figure) ? compared_result(pair)->recipe : NULL;
}

/* A group for each recipe, in the order of pairs; values have room for all
 * pairs. How many. */
static size_t by_recipe(const struct comparison *c, int figure,
                        struct plot_group *groups, double *values)
{
    const struct ratios all = { c, figure };
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct assay_recipe *recipe = recipe_of(&all, i);
        if (!alike_is_first(recipe_of, &all, i))
            continue;
        groups[n] = (struct plot_group){ recipe->name, values, 0 };
        for (size_t j = i; j < c->count; j++)
            if (recipe_of(&all, j) == recipe)
                values[groups[n].n++] = ratio_of(&c->pairs[j], figure);
        values += groups[n++].n;
    }
    return n;
}

static void put_changes(struct page *p, int figure)
{
    const struct comparison *c = p->r->c;
    const bool seconds = figure == COMPARE_FIGURES;
    const char *name = seconds ? "seconds" : compare_figure_get(figure)->name;
    char title[80], of[80];
    const struct plot_frame frame = {
        .title = title,
        .of = of,
        .caption = seconds
                       ? "One point a result that both runs timed; right of "
                         "the line B is slower."
                       : "One point a result that both runs have; right of "
                         "the line B is farther from the emulated answer. "
                         "Zero: A was off and B is not; not finite: the other "
                         "way round, or not a number.",
        .log = !seconds, /* which are near each other */
        .mark = 1,
        .mark_name = "as in A"
    };
    struct plot_group *groups = calloc(c->count + 1, sizeof *groups);
    double *values = calloc(c->count + 1, sizeof *values);
    snprintf(title, sizeof title, "Change of %s%s", name,
             seconds ? "" : ", build distance");
    snprintf(of, sizeof of, "%s: B / A", name);
    const size_t n =
        groups && values ? by_recipe(c, figure, groups, values) : 0;
    p->ok &= groups && values;
    if (n > 0)
        plot_distribution(&p->html, &frame, groups, n);
    free(values);
    free(groups);
}

/* ---- the page ---- */

static void put_head(struct page *p)
{
    char date[32];
    const struct comparison *c = p->r->c;
    char text[8192];
    compare_counts_text(c, text, sizeof text);
    html_note(&p->html, any_worse(c) ? COLOUR_BAD : COLOUR_GOOD, "%s", text);
    html_origin(&p->html, "version", PACKAGE_VERSION);
    provenance_date(date, sizeof date);
    html_origin(&p->html, "date", date);
    html_origin(&p->html, "command",
                p->r->command ? p->r->command : "not said");
    compare_head_text("", c->a, text, sizeof text);
    html_origin(&p->html, "A", text + strlen(": "));
    compare_head_text("", c->b, text, sizeof text);
    html_origin(&p->html, "B", text + strlen(": "));
    html_origin(&p->html, "set of A", run_file_facts(c->a)->set);
    html_origin(&p->html, "set_content_hash of A",
                run_file_facts(c->a)->set_content_hash);
    html_origin(&p->html, "set_content_hash of B",
                run_file_facts(c->b)->set_content_hash);
}

bool compare_html(const struct compare_report *r, FILE *out)
{
    struct page p = { .r = r, .ok = true };
    const struct sheet_to to = { out, false, &p.html };
    html_begin(&p.html, out, "assay compare: B beside A");
    put_head(&p);
    html_section(&p.html, "results", "results",
                 "Verdicts of both: by the limits of B's run.");
    p.ok &=
        compare_table_counts(r->c, &to) && compare_table_verdicts(r->c, &to);
    html_section(&p.html, "changes", "changes of figures",
                 "Of the build distance, kernel - emulated.");
    for (int f = 0; f < COMPARE_FIGURES; f++)
        put_changes(&p, f);
    p.ok &= compare_table_changes(r->c, r->worst, &to);
    html_section(&p.html, "seconds", "seconds", NULL);
    put_changes(&p, COMPARE_FIGURES);
    p.ok &= compare_table_times(r->c, r->worst, &to);
    html_end(&p.html);
    return p.ok && fflush(out) == 0 && !ferror(out);
}
