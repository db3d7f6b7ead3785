/* SPDX-License-Identifier: MIT
 *
 * A proof as a page: what escaped first, then which gate rejects which
 * mutation, how small a one, and how near honest kernels come to each limit.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "golden/plot.h"
#include "golden/provenance.h"
#include "validate/alike.h"
#include "validate/prove_report.h"

struct page {
    const struct prove_run *run;
    struct html html;
    bool ok;
};

/* ---- what is wrong ---- */

static void put_bad(struct page *p, const struct proof *x)
{
    char *text = prove_bad_text(p->run, x), *again = prove_repeat(p->run, x);
    if (text)
        html_note(&p->html, COLOUR_BAD, "%s", text);
    p->ok &= text != NULL;
    free(text);
    html_code(&p->html, again ? again : "out of memory");
    free(again);
}

static void put_all_bad(struct page *p)
{
    bool any = false;
    for (size_t i = 0; i < p->run->count; i++) {
        const struct proof *x = &p->run->proofs[i];
        if (proof_bad(x) == 0)
            continue;
        if (!any)
            html_section(&p->html, "wrong", "what is wrong", NULL);
        any = true;
        put_bad(p, x);
    }
}

/* ---- mutations by gates ---- */

/* A sign and a word: colour says nothing alone. */
static void state_cell(struct html *h, const struct mutation *m,
                       const struct prove_sum *x)
{
    const int64_t escaped = x->observable - x->rejected;
    if (x->observable == 0)
        html_cell(h, COLOUR_DIM, "\u25cb not observable");
    else if (escaped == 0)
        html_cell(h, COLOUR_GOOD, "\u2713 rejected");
    else if (m->expect == MUTATION_TOLD)
        html_cell(h, COLOUR_NONE, "\u2013 passes in %" PRId64 ", as it may",
                  escaped);
    else
        html_cell(h, COLOUR_BAD, "\u2717 escaped in %" PRId64, escaped);
}

static void matrix_row(struct page *p, int mutation)
{
    struct html *h = &p->html;
    const struct mutation *m = prove_mutation(mutation);
    const struct prove_sum x = prove_sum_of(p->run, mutation);
    char strength[48];
    if (m->expect == MUTATION_HONEST || x.subjects == 0)
        return;
    mutation_strength_text(m, m->strength, strength, sizeof strength);
    html_cell(h, COLOUR_NONE, "%s%s", m->name,
              m->expect == MUTATION_TOLD ? " (told)" : "");
    state_cell(h, m, &x);
    html_cell(h, COLOUR_NONE, "%s", strength);
    html_cell(h, COLOUR_NONE, "%" PRId64, x.heads);
    html_cell(h, COLOUR_NONE, "%" PRId64, x.observable);
    for (int g = 0; g < GATES; g++)
        if (prove_has_limit(p->run, g) && x.observable > 0 && x.by[g] == 0)
            html_shaded(h, 0, COLOUR_DIM, "\u00b7");
        else if (prove_has_limit(p->run, g))
            html_share(h, x.by[g], x.observable);
    if (x.observable < x.heads)
        html_number(h, COLOUR_NONE, "%.2g", x.unseen_moved);
    else
        html_cell(h, COLOUR_DIM, "-");
    html_cell(h, COLOUR_DIM, "%s", m->about);
}

static void put_matrix(struct page *p)
{
    struct prove_columns c = { .n = 0 };
    prove_add_column(&c, "MUTATION", COLUMN_TEXT);
    prove_add_column(&c, "STATE", COLUMN_TEXT);
    prove_add_column(&c, "STRENGTH", COLUMN_TEXT);
    prove_add_column(&c, "HEADS", COLUMN_NUMBER);
    prove_add_column(&c, "SEEN", COLUMN_NUMBER);
    prove_add_gates(p->run, &c);
    prove_add_column(&c, "UNSEEN MOVED", COLUMN_NUMBER);
    prove_add_column(&c, "ABOUT", COLUMN_TEXT);
    html_section(
        &p->html, "mutations", "mutations by gates",
        "\u2713 rejected: by some gate in every head where it can be seen; "
        "\u2717 escaped: in so many of these heads by none; \u25cb not "
        "observable: no row of O and no LSE moves by more than in honest "
        "kernels. "
        "SEEN: heads in which it can be seen. A gate's cell has how many of "
        "them it rejects, a dot stands for none. UNSEEN MOVED: the most in "
        "the other heads, as a part of that. (told): a kernel may do so; what "
        "the gates make of it is told and decides nothing.");
    html_table_begin(&p->html, c.column, c.n);
    for (int m = 0; m < MUTATIONS; m++)
        matrix_row(p, m);
    html_table_end(&p->html);
}

/* ---- recipes ---- */

static void recipe_row(struct page *p, const struct assay_recipe *recipe)
{
    struct html *h = &p->html;
    int64_t n[6] = { 0 };
    for (size_t i = 0; i < p->run->count; i++) {
        const struct proof *x = &p->run->proofs[i];
        const enum mutation_expect expect = mutation_get(x->mutation)->expect;
        if (p->run->subjects[x->subject].recipe != recipe || !x->applies ||
            expect == MUTATION_TOLD)
            continue;
        if (expect == MUTATION_HONEST) {
            n[4] += x->heads;
            n[5] += x->rejected;
            continue;
        }
        n[0] += x->observable;
        n[1] += x->rejected;
        n[2] += x->observable - x->rejected;
        n[3] += x->heads - x->observable;
    }
    html_cell(h, COLOUR_NONE, "%s", recipe->name);
    for (int i = 0; i < 6; i++)
        html_cell(h, (i == 2 || i == 5) && n[i] > 0 ? COLOUR_BAD : COLOUR_NONE,
                  "%" PRId64, n[i]);
}

static const struct assay_recipe *recipe_of(const void *run, size_t i)
{
    const struct prove_run *of = run;
    return of->subjects[i].recipe;
}

static void put_recipes(struct page *p)
{
    static const struct column columns[] = {
        { "RECIPE", COLUMN_TEXT },
        { "SEEN", COLUMN_NUMBER },
        { "REJECTED", COLUMN_NUMBER },
        { "ESCAPED", COLUMN_NUMBER },
        { "NOT OBSERVABLE", COLUMN_NUMBER },
        { "HONEST", COLUMN_NUMBER },
        { "HONEST REJECTED", COLUMN_NUMBER },
    };
    html_section(&p->html, "recipes", "recipes",
                 "Heads of all cases and mutations, those that are only told "
                 "left out, and of all honest variants.");
    html_table_begin(&p->html, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < p->run->n_subjects; i++)
        if (alike_is_first(recipe_of, p->run, i))
            recipe_row(p, recipe_of(p->run, i));
    html_table_end(&p->html);
}

/* ---- honest variants ---- */

/* Part used of a limit above 0; other gates have no margin. */
static bool has_margin(const struct prove_run *run, int g)
{
    return prove_has_limit(run, g) && gate_get((enum gate)g)->limit != 0;
}

static void honest_row(struct page *p, int variant)
{
    struct html *h = &p->html;
    const struct prove_sum x = prove_sum_of(p->run, variant);
    if (!prove_is_honest(variant) || x.subjects == 0)
        return;
    html_cell(h, COLOUR_NONE, "%s", prove_mutation(variant)->name);
    html_cell(h, COLOUR_NONE, "%" PRId64, x.heads);
    html_cell(h, x.rejected ? COLOUR_BAD : COLOUR_NONE, "%" PRId64, x.rejected);
    for (int g = 0; g < GATES; g++) {
        const double used = x.used[g];
        const bool bad = x.by[g] > 0;
        if (!prove_has_limit(p->run, g))
            continue;
        if (isnan(used))
            html_cell(h, COLOUR_DIM, "-");
        else
            html_shaded(h, has_margin(p->run, g) ? used : bad,
                        bad ? COLOUR_BAD : COLOUR_NONE, "%s%.2g",
                        bad ? "\u2717 " : "", used);
    }
    html_cell(h, COLOUR_DIM, "%s", prove_mutation(variant)->about);
}

/* For each gate the parts used by all honest variants, cases and recipes. */
static void plot_margins(struct page *p)
{
    const struct plot_frame frame = {
        .title = "Margin of honest variants to each limit",
        .of = "part used of the limit, worst head of a case",
        .caption = "One point a variant, case and recipe. More than 1 would "
                   "reject a right kernel.",
        .log = true,
        .mark = 1,
        .mark_name = "limit"
    };
    struct plot_group groups[GATES];
    double *values = calloc(p->run->count * GATES + 1, sizeof *values);
    size_t n = 0, at = 0;
    p->ok &= values != NULL;
    for (int g = 0; values && g < GATES; g++) {
        const size_t first = at;
        if (!has_margin(p->run, g))
            continue;
        for (size_t i = 0; i < p->run->count; i++)
            if (p->run->proofs[i].applies && !isnan(p->run->proofs[i].used[g]))
                values[at++] = p->run->proofs[i].used[g];
        if (at > first)
            groups[n++] = (struct plot_group){ gate_get((enum gate)g)->name,
                                               values + first, at - first };
    }
    if (n > 0)
        plot_distribution(&p->html, &frame, groups, n);
    free(values);
}

static void put_honest(struct page *p)
{
    struct prove_columns c = { .n = 0 };
    prove_add_column(&c, "HONEST VARIANT", COLUMN_TEXT);
    prove_add_column(&c, "HEADS", COLUMN_NUMBER);
    prove_add_column(&c, "REJECTED", COLUMN_NUMBER);
    prove_add_gates(p->run, &c);
    prove_add_column(&c, "ABOUT", COLUMN_TEXT);
    if (prove_totals_of(p->run).variants == 0)
        return;
    html_section(&p->html, "honest", "honest variants",
                 "What a right kernel may do. A gate's cell has the largest "
                 "part that any case and recipe uses of its limit, or a count "
                 "where the limit is 0; \u2717: heads are rejected.");
    html_table_begin(&p->html, c.column, c.n);
    for (int m = 0; m < MUTATIONS; m++)
        honest_row(p, m);
    html_table_end(&p->html);
    plot_margins(p);
}

/* ---- the page ---- */

static void put_head(struct page *p, const char *command)
{
    char date[32];
    const struct prove_totals t = prove_totals_of(p->run);
    char *text = prove_totals_text(&t);
    p->ok &= text != NULL;
    if (text)
        html_note(&p->html,
                  t.observable > t.rejected || t.honest_rejected > 0
                      ? COLOUR_BAD
                      : COLOUR_GOOD,
                  "%s", text);
    free(text);
    html_origin(&p->html, "version", PACKAGE_VERSION);
    provenance_date(date, sizeof date);
    html_origin(&p->html, "date", date);
    html_origin(&p->html, "command", command ? command : "not said");
    html_origin(&p->html, "set", assay_set_path(p->run->set));
    html_origin(&p->html, "set_content_hash", assay_set_hash(p->run->set));
}

bool prove_html(const struct prove_run *run, const char *command, FILE *to)
{
    struct page p = { .run = run, .ok = true };
    html_begin(&p.html, to, "assay prove: what the gates reject");
    put_head(&p, command);
    put_all_bad(&p);
    put_matrix(&p);
    if (prove_any_swept(run)) {
        html_section(
            &p.html, "resolution", "resolution",
            "The smallest strength from which on a gate rejects every head "
            "where the largest can be seen, the worst of all cases and "
            "recipes; -: not even the largest. ANY: by whichever gate.");
        p.ok &= prove_resolution(run, &(struct sheet_to){ to, false, &p.html });
    }
    put_honest(&p);
    put_recipes(&p);
    html_section(&p.html, "limits", "limits", NULL);
    p.ok &= prove_limits(run, &(struct sheet_to){ to, false, &p.html });
    html_end(&p.html);
    return p.ok && fflush(to) == 0 && !ferror(to);
}
