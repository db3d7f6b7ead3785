/* SPDX-License-Identifier: MIT
 *
 * An audit as a page: the ranking first, then its plots, then what explains
 * them.
 */
#include "config.h"

#include <stdlib.h>

#include "assay/blas.h"
#include "golden/audit_table.h"
#include "golden/plot.h"
#include "golden/provenance.h"

struct page {
    const struct audit_report *report;
    struct html html;
    struct audit_tables tables;
    const struct audit_line *lines;
    size_t n;
};

/* ---- distributions over heads ---- */

/* A figure of all heads of each line that is behind a transport or not. */
struct groups {
    struct plot_group *all;
    struct audit_name *names;
    double *values;
    size_t n;
};

static void groups_free(struct groups *g)
{
    free(g->all);
    free(g->names);
    free(g->values);
}

static bool groups_alloc(const struct page *p, struct groups *g)
{
    size_t heads = 1;
    for (size_t i = 0; i < p->report->n_cases; i++)
        heads += (size_t)p->report->cases[i].problem.hq;
    *g = (struct groups){ calloc(p->n + 1, sizeof *g->all),
                          calloc(p->n + 1, sizeof *g->names),
                          calloc(heads * (p->n + 1), sizeof *g->values), 0 };
    return g->all && g->names && g->values;
}

static bool groups_fill(const struct page *p, int figure, struct groups *g)
{
    size_t at = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->lines[i].transport)
            continue;
        struct audit_ranked ranked =
            audit_rank(p->report, p->lines[i].recipe, NULL, figure);
        if (!ranked.places)
            return false;
        g->names[g->n] = audit_recipe_name(p->lines[i].recipe);
        g->all[g->n] =
            (struct plot_group){ g->names[g->n].s, g->values + at, ranked.n };
        for (size_t h = 0; h < ranked.n; h++)
            g->values[at++] = ranked.places[h].value;
        g->n++;
        free(ranked.places);
    }
    return true;
}

static void put_distribution(struct page *p, int figure, const char *title,
                             const char *of)
{
    const struct plot_frame frame = {
        .title = title,
        .of = of,
        .caption = "One point a head, recipes from the best median of REL L2.",
        .log = true,
    };
    struct groups g;
    if (groups_alloc(p, &g) && groups_fill(p, figure, &g))
        plot_distribution(&p->html, &frame, g.all, g.n);
    else
        p->tables.ok = false;
    groups_free(&g);
}

/* ---- stages ---- */

static void put_bars(struct page *p, bool alone)
{
    const struct audit_report *report = p->report;
    const struct plot_frame frame = {
        .title =
            alone ? "Error of each stage alone" : "Error of all stages but one",
        .of = "REL L2, median over cases",
        .caption = alone ? "The longest bar is the stage that costs most."
                         : "The shortest bar is the stage that would gain "
                           "most, were it exact.",
        .log = true,
    };
    const char *stages[ASSAY_STAGES], **names = calloc(p->n + 1, sizeof *names);
    struct audit_name *recipes = calloc(p->n + 1, sizeof *recipes);
    double *values = calloc((p->n + 1) * ASSAY_STAGES, sizeof *values),
           *room = calloc(report->n_cases + 1, sizeof *room);
    size_t n = 0;
    p->tables.ok &= names && recipes && values && room;
    for (int s = 0; s < ASSAY_STAGES; s++)
        stages[s] = assay_stage_get((enum assay_stage)s)->name;
    for (size_t i = 0; p->tables.ok && i < p->n; i++) {
        if (p->lines[i].transport)
            continue;
        recipes[n] = audit_recipe_name(p->lines[i].recipe);
        names[n] = recipes[n].s;
        for (int s = 0; s < ASSAY_STAGES; s++)
            values[n * ASSAY_STAGES + (size_t)s] = audit_stage_median(
                report, p->lines[i].recipe, s, alone, false, room);
        n++;
    }
    if (p->tables.ok)
        plot_bars(&p->html, &frame, names, n, stages, ASSAY_STAGES, values);
    free(room);
    free(values);
    free(recipes);
    free(names);
}

/* ---- the page ---- */

static void put_origin(struct page *p)
{
    char date[32];
    char blas[200];
    snprintf(blas, sizeof blas, "%s, core %s", assay_blas_name(),
             assay_blas_core());
    html_origin(&p->html, "Command", p->report->command);
    provenance_date(date, sizeof date);
    html_origin(&p->html, "Date", date);
    html_origin(&p->html, "Program", "assay " PACKAGE_VERSION);
    html_origin(&p->html, "BLAS", blas);
}

static void put_results(struct page *p)
{
    struct html *h = &p->html;
    html_section(h, "recipes", "recipes over heads",
                 "REL L2 of O over heads, the best median first.");
    audit_table_ranking(&p->tables, p->lines, p->n);
    html_section(h, "heads", "distribution over heads", NULL);
    put_distribution(p, AUDIT_FIGURE_rel_l2, "Relative error of O",
                     "REL L2 of a head");
    put_distribution(p, AUDIT_FIGURE_lse_max_nats,
                     "Largest error of the log-sum-exp",
                     "LSE MAX of a head, nats");
    if (audit_any_transport(p->lines, p->n)) {
        html_section(h, "transports", "behind a transport",
                     "REL L2 over heads.");
        audit_table_transports(&p->tables, p->lines, p->n);
    }
    if (p->report->options->stages) {
        html_section(h, "stages", "error by stage",
                     "REL L2 and LSE MAX, medians over cases.");
        put_bars(p, true);
        put_bars(p, false);
        audit_table_stages(&p->tables);
    }
    if (p->report->worst > 0) {
        html_section(h, "worst", "worst heads of each recipe", "By REL L2.");
        audit_table_worst(&p->tables, p->lines, p->n);
    }
    html_section(h, "operands", "operands", "Over all cases.");
    audit_table_operands(&p->tables);
}

static void put_rest(struct page *p)
{
    html_section(&p->html, "each", "each case", "All its heads.");
    audit_table_results(&p->tables);
    html_section(&p->html, "cases", "cases", NULL);
    audit_table_cases(&p->tables);
    html_section(&p->html, "words", "what the heads of columns stand for",
                 NULL);
    fputs("<p>", p->html.out);
    audit_table_legend(&p->tables);
    fputs("</p>\n", p->html.out);
}

bool audit_print_html(const struct audit_report *report, FILE *out)
{
    struct page p = { .report = report };
    p.tables = (struct audit_tables){ report, { out, false, &p.html }, true };
    p.lines = audit_lines(report, &p.n);
    if (!p.lines)
        return false;
    html_begin(&p.html, out, "assay audit");
    put_origin(&p);
    put_results(&p);
    put_rest(&p);
    html_end(&p.html);
    free((void *)p.lines);
    return p.tables.ok;
}
