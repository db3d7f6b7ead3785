/* SPDX-License-Identifier: MIT
 *
 * Tables of an audit, for a terminal or in Markdown: the cases, then what the
 * recipes cost, the ranking of the recipes last.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/tokens.h"
#include "golden/audit_figure.h"
#include "golden/audit_table.h"
#include "golden/sheet.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void begin(const struct audit_tables *t, struct sheet *s,
                  const char *title, const struct column *columns, size_t n)
{
    sheet_open(s, &t->to, t->to.html ? NULL : title, columns, n);
}

static void end(struct audit_tables *t, struct sheet *s)
{
    t->ok &= sheet_end(s);
}

/* ---- cases ---- */

static double mean(int64_t n, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

void audit_table_cases(struct audit_tables *t)
{
    static const struct column columns[] = {
        { "CASE", COLUMN_LONG },
        { "PROBLEM", COLUMN_LONG },
        { "INPUTS", COLUMN_TEXT },
        { "N_EFF", COLUMN_NUMBER },
        { "EVERY", COLUMN_NUMBER | COLUMN_EXTRA },
    };
    struct sheet s;
    begin(t, &s, "cases", columns, COUNT(columns));
    for (size_t i = 0; i < t->report->n_cases; i++) {
        const struct audit_case *c = &t->report->cases[i];
        char *line = assay_case_line(&c->problem);
        sheet_cell(&s, "%s", c->name);
        sheet_cell(&s, "%s", line ? line : "");
        sheet_cell(&s, "%s", c->word);
        sheet_number(&s, "%.4g", mean(c->problem.hq, c->n_eff));
        sheet_cell(&s, "%" PRId64, c->n_eff_every);
        free(line);
    }
    end(t, &s);
}

/* ---- each case ---- */

/* NULL where there are no rows to have figures of. */
static void figure_cells(struct sheet *s, const struct assay_distance *d)
{
    for (int i = 0; i < AUDIT_FIGURES && !d; i++)
        sheet_cell(s, "%s", i ? "-" : "no rows");
    for (int i = 0; i < AUDIT_FIGURES && d; i++)
        sheet_number(s, audit_figure_get(i)->format, audit_figure_value(i, d));
}

void audit_table_results(struct audit_tables *t)
{
    struct column columns[AUDIT_FIGURES + 3] = {
        { "CASE", COLUMN_LONG },
        { "RECIPE", COLUMN_TEXT },
        [AUDIT_FIGURES + 2] = { "V AMP", COLUMN_NUMBER },
    };
    for (int i = 0; i < AUDIT_FIGURES; i++) {
        const struct audit_figure *f = audit_figure_get(i);
        columns[2 + i] =
            (struct column){ f->head,
                             COLUMN_NUMBER | (f->extra ? COLUMN_EXTRA : 0) };
    }
    struct sheet s;
    begin(t, &s, "each case, all its heads", columns, COUNT(columns));
    for (size_t i = 0; i < t->report->n_cases; i++)
        for (size_t r = 0; r < t->report->cases[i].n; r++) {
            const struct audit_result *one = &t->report->cases[i].results[r];
            if (one->transport)
                continue;
            sheet_cell(&s, "%s", t->report->cases[i].name);
            sheet_cell(&s, "%s", audit_recipe_name(one->recipe).s);
            const bool rows = audit_has_rows(&t->report->cases[i]);
            figure_cells(&s, rows ? &one->figures.distance : NULL);
            sheet_number(&s, "%.2f",
                         rows ? one->figures.v_amplification : (double)NAN);
        }
    end(t, &s);
}

/* ---- operands ---- */

/* One operand over all cases of a recipe. */
struct operand_sum {
    double *round_trips, clipped, bits;
    size_t n;
    struct assay_e8m0 e8m0;
};

static void add_operand(struct operand_sum *sum,
                        const struct assay_audit_operand *x)
{
    sum->round_trips[sum->n++] = x->round_trip;
    sum->clipped = assay_worst(sum->clipped, x->clipped);
    sum->bits = assay_worst(sum->bits, x->bits);
    for (int byte = 0; byte < 256; byte++)
        sum->e8m0.count[byte] += x->e8m0.count[byte];
}

/* Least, median and largest scale, as powers of two. */
static void scales_cell(struct sheet *s, struct assay_e8m0 *e)
{
    assay_e8m0_finish(e);
    if (e->total == 0)
        sheet_cell(s, "-");
    else
        sheet_cell(s, "2^%d, 2^%d, 2^%d", e->min - 127, e->median - 127,
                   e->max - 127);
}

static void operand_row(struct audit_tables *t, struct sheet *s,
                        const struct assay_recipe *recipe, int operand,
                        double *room)
{
    const enum assay_quantizer_id ids[] = { recipe->q, recipe->k, recipe->v };
    struct operand_sum sum = { .round_trips = room };
    for (size_t i = 0; i < t->report->n_cases; i++)
        for (size_t r = 0; r < t->report->cases[i].n; r++) {
            const struct audit_result *one = &t->report->cases[i].results[r];
            if (one->recipe == recipe && !one->transport &&
                audit_has_rows(&t->report->cases[i]))
                add_operand(&sum, audit_operand_of(&one->figures, operand));
        }
    if (sum.n == 0)
        return;
    sheet_cell(s, "%s", operand ? "" : audit_recipe_name(recipe).s);
    sheet_cell(s, "%s", audit_operand_name(operand));
    sheet_cell(s, "%s", assay_quantizer_get(ids[operand])->name);
    sheet_number(s, "%.4g", sum.bits);
    sheet_number(s, "%.2e", audit_median(sum.round_trips, sum.n));
    sheet_number(s, "%.2e", sum.clipped);
    scales_cell(s, &sum.e8m0);
}

void audit_table_operands(struct audit_tables *t)
{
    static const struct column columns[] = {
        { "RECIPE", COLUMN_TEXT },       { "OF", COLUMN_TEXT },
        { "QUANTIZER", COLUMN_TEXT },    { "BITS", COLUMN_NUMBER },
        { "ROUND TRIP", COLUMN_NUMBER }, { "CLIPPED", COLUMN_NUMBER },
        { "E8M0 SCALES", COLUMN_TEXT },
    };
    struct sheet s;
    double *room = calloc(t->report->n_cases + 1, sizeof *room);
    t->ok &= room != NULL;
    begin(t, &s, "operands, over all cases", columns, COUNT(columns));
    for (size_t r = 0; room && r < t->report->options->n_recipes; r++)
        for (int i = 0; i < AUDIT_OPERANDS; i++)
            operand_row(t, &s, t->report->options->recipes[r], i, room);
    end(t, &s);
    free(room);
}

/* ---- stages ---- */

/* The median over cases of one of the four figures of a stage. */
double audit_stage_median(const struct audit_report *report,
                          const struct assay_recipe *recipe, int stage,
                          bool alone, bool lse, double *room)
{
    size_t n = 0;
    for (size_t i = 0; i < report->n_cases; i++)
        for (size_t r = 0; r < report->cases[i].n; r++) {
            const struct audit_result *one = &report->cases[i].results[r];
            if (one->recipe != recipe || !one->costs ||
                !audit_has_rows(&report->cases[i]))
                continue;
            const struct assay_cost *cost =
                alone ? &one->costs->only[stage] : &one->costs->all_but[stage];
            room[n++] = lse ? cost->lse_max : cost->rel_l2;
        }
    return audit_median(room, n);
}

void audit_table_stages(struct audit_tables *t)
{
    static const struct column columns[] = {
        { "RECIPE", COLUMN_TEXT },
        { "STAGE", COLUMN_TEXT },
        { "ALONE", COLUMN_NUMBER },
        { "ALL BUT", COLUMN_NUMBER },
        { "LSE ALONE", COLUMN_NUMBER },
        { "LSE ALL BUT", COLUMN_NUMBER },
        { "ABOUT", COLUMN_TEXT | COLUMN_EXTRA },
    };
    struct sheet s;
    double *room = calloc(t->report->n_cases + 1, sizeof *room);
    t->ok &= room != NULL;
    begin(t, &s, "error by stage, medians over cases: REL L2 and LSE MAX",
          columns, COUNT(columns));
    for (size_t r = 0; room && r < t->report->options->n_recipes; r++)
        for (int i = 0; i < ASSAY_STAGES; i++) {
            const struct assay_recipe *recipe = t->report->options->recipes[r];
            const struct assay_way *stage =
                assay_stage_get((enum assay_stage)i);
            sheet_cell(&s, "%s", i ? "" : audit_recipe_name(recipe).s);
            sheet_cell(&s, "%s", stage->name);
            for (int k = 0; k < 4; k++)
                sheet_number(&s, "%.2e",
                             audit_stage_median(t->report, recipe, i,
                                                k % 2 == 0, k >= 2, room));
            sheet_cell(&s, "%s", stage->about);
        }
    end(t, &s);
    free(room);
}

/* ---- recipes ---- */

static double quantile_of(struct audit_tables *t, const struct audit_line *line,
                          int figure, double share, struct audit_place *at)
{
    struct audit_ranked ranked =
        audit_rank(t->report, line->recipe, line->transport, figure);
    const double value =
        ranked.n > 0 ? audit_quantile(&ranked, share) : (double)NAN;
    t->ok &= ranked.places != NULL;
    if (at && ranked.n > 0)
        *at = ranked.places[ranked.n - 1];
    free(ranked.places);
    return value;
}

static const struct audit_result *result_of(const struct audit_case *c,
                                            const struct assay_recipe *recipe,
                                            const struct audit_transport *by)
{
    for (size_t r = 0; r < c->n; r++)
        if (c->results[r].recipe == recipe && c->results[r].transport == by)
            return &c->results[r];
    return NULL;
}

/* Of the first case that has it. */
static const struct assay_audit *first_of(const struct audit_report *report,
                                          const struct audit_line *line)
{
    const struct audit_result *found = NULL;
    for (size_t i = 0; i < report->n_cases && !found; i++)
        found = result_of(&report->cases[i], line->recipe, line->transport);
    return &found->figures;
}

/* The median over heads of REL L2 behind the transport over that without. */
static double times_alone(struct audit_tables *t, const struct audit_line *line)
{
    size_t heads = 1, n = 0;
    for (size_t i = 0; i < t->report->n_cases; i++)
        heads += (size_t)t->report->cases[i].problem.hq;
    double *times = calloc(heads, sizeof *times);
    t->ok &= times != NULL;
    for (size_t i = 0; times && i < t->report->n_cases; i++) {
        const struct audit_case *c = &t->report->cases[i];
        if (!audit_has_rows(c))
            continue;
        const struct audit_result *by = result_of(c, line->recipe,
                                                  line->transport),
                                  *alone = result_of(c, line->recipe, NULL);
        for (int64_t h = 0; by && alone && h < c->problem.hq; h++)
            times[n++] = by->heads[h].rel_l2 / alone->heads[h].rel_l2;
    }
    const double median = times ? audit_median(times, n) : (double)NAN;
    free(times);
    return median;
}

void audit_table_transports(struct audit_tables *t,
                            const struct audit_line *lines, size_t n)
{
    static const struct column columns[] = {
        { "RECIPE", COLUMN_TEXT },   { "TRANSPORT", COLUMN_TEXT },
        { "RANKS", COLUMN_NUMBER },  { "WIRE BITS", COLUMN_TEXT },
        { "MEDIAN", COLUMN_NUMBER }, { "WORST", COLUMN_NUMBER },
        { "TIMES", COLUMN_NUMBER },  { "LSE MAX", COLUMN_NUMBER },
    };
    struct sheet s;
    begin(t, &s, "behind a transport, over heads: REL L2", columns,
          COUNT(columns));
    for (size_t i = 0; i < n; i++) {
        const struct audit_line *line = &lines[i];
        if (!line->transport)
            continue;
        const struct assay_audit *first = first_of(t->report, line);
        sheet_cell(&s, "%s", audit_recipe_name(line->recipe).s);
        sheet_cell(&s, "%s", line->transport->name);
        sheet_cell(&s, "%d", line->transport->ranks);
        sheet_cell(&s, "%.4g %.4g %.4g", first->q.bits, first->k.bits,
                   first->v.bits);
        sheet_number(&s, "%.2e", line->median);
        sheet_number(&s, "%.2e",
                     quantile_of(t, line, AUDIT_FIGURE_rel_l2, 1, NULL));
        sheet_number(&s, "%.3f", times_alone(t, line));
        sheet_number(&s, "%.2e",
                     quantile_of(t, line, AUDIT_FIGURE_lse_max_nats, 1, NULL));
    }
    end(t, &s);
}

bool audit_any_transport(const struct audit_line *lines, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= lines[i].transport != NULL;
    return any;
}

void audit_table_worst(struct audit_tables *t, const struct audit_line *lines,
                       size_t n)
{
    struct column columns[AUDIT_FIGURES + 2] = {
        { "RECIPE", COLUMN_TEXT },
        { "HEAD", COLUMN_LONG },
    };
    struct sheet s;
    for (int i = 0; i < AUDIT_FIGURES; i++) {
        const struct audit_figure *f = audit_figure_get(i);
        columns[2 + i] =
            (struct column){ f->head,
                             COLUMN_NUMBER | (f->extra ? COLUMN_EXTRA : 0) };
    }
    begin(t, &s, "worst heads of each recipe, by REL L2", columns,
          COUNT(columns));
    for (size_t i = 0; i < n; i++) {
        if (lines[i].transport)
            continue;
        struct audit_ranked ranked =
            audit_rank(t->report, lines[i].recipe, NULL, AUDIT_FIGURE_rel_l2);
        for (int w = 0; w < t->report->worst && (size_t)w < ranked.n; w++) {
            const struct audit_place *at = &ranked.places[ranked.n - 1 - w];
            sheet_cell(&s, "%s", w ? "" : audit_recipe_name(lines[i].recipe).s);
            sheet_cell(&s, "%s", audit_head_name(at->c, at->head).s);
            figure_cells(&s, &at->result->heads[at->head]);
        }
        t->ok &= ranked.places != NULL;
        free(ranked.places);
    }
    end(t, &s);
}

void audit_table_ranking(struct audit_tables *t, const struct audit_line *lines,
                         size_t n)
{
    static const struct column columns[] = {
        { "RECIPE", COLUMN_TEXT },      { "HEADS", COLUMN_NUMBER },
        { "MEDIAN", COLUMN_NUMBER },    { "P90", COLUMN_NUMBER },
        { "WORST", COLUMN_NUMBER },     { "WORST HEAD", COLUMN_LONG },
        { "WORST ROW", COLUMN_NUMBER }, { "LSE MAX", COLUMN_NUMBER },
        { "PROMISE", COLUMN_EXTRA },
    };
    struct sheet s;
    begin(t, &s, "recipes over heads, best median first: REL L2", columns,
          COUNT(columns));
    for (size_t i = 0; i < n; i++) {
        const struct audit_line *line = &lines[i];
        struct audit_place at = { 0 };
        if (line->transport)
            continue;
        struct audit_ranked ranked =
            audit_rank(t->report, line->recipe, NULL, AUDIT_FIGURE_rel_l2);
        const size_t heads = ranked.n;
        free(ranked.places);
        sheet_cell(&s, "%s", audit_recipe_name(line->recipe).s);
        sheet_cell(&s, "%zu", heads);
        sheet_number(&s, "%.2e", line->median);
        sheet_number(&s, "%.2e",
                     quantile_of(t, line, AUDIT_FIGURE_rel_l2, 0.9, NULL));
        sheet_number(&s, "%.2e",
                     quantile_of(t, line, AUDIT_FIGURE_rel_l2, 1, &at));
        sheet_cell(&s, "%s", at.c ? audit_head_name(at.c, at.head).s : "-");
        sheet_number(
            &s, "%.6f",
            quantile_of(t, line, AUDIT_FIGURE_worst_row_cosine, 1, NULL));
        sheet_number(&s, "%.2e",
                     quantile_of(t, line, AUDIT_FIGURE_lse_max_nats, 1, NULL));
        sheet_cell(&s, "%s", assay_recipe_promise_name(line->recipe));
    }
    end(t, &s);
}

static void legend(const struct audit_tables *t, const char *line)
{
    if (t->to.html)
        html_text(t->to.out, line);
    else
        fputs(line, t->to.out);
    fputc('\n', t->to.out);
}

/* What the heads of columns stand for; lines fit a terminal of 80. */
void audit_table_legend(const struct audit_tables *t)
{
    static const char *const lines[] = {
        "All figures: emulated - exact, before O is rounded.",
        "REL L2: of O; WORST ROW: lowest cosine of a row; LSE in nats; V AMP: "
        "REL L2",
        "over that of V's round trip; N_EFF: keys that count in a row, 1 / sum "
        "p^2, mean",
        "over EVERY so many rows that see keys; LSE MEAN: over rows that see "
        "keys; MAE:",
        "over all elements; MEDIAN, P90: by nearest rank, so each is "
        "some head's or",
        "case's; BITS: an element, scales included; ROUND TRIP: median REL L2 "
        "of what the",
        "codes stand for, of K without its mean; CLIPPED: largest share; E8M0 "
        "SCALES:",
        "least, median, largest of blocks that hold a token.",
    };
    for (size_t i = 0; i < COUNT(lines); i++)
        legend(t, lines[i]);
    if (t->report->options->stages)
        legend(t, "ALONE: that stage of the recipe and no other; ALL BUT: the "
                  "others.");
    if (t->report->options->n_transports > 0)
        legend(t,
               "TIMES: REL L2 over the recipe's own, median over heads; WIRE "
               "BITS: of Q, K\nand V, binary32 scales and padding left out.");
}

bool audit_print_tables(const struct audit_report *report, bool markdown,
                        FILE *out)
{
    struct audit_tables t = { report, { out, markdown, NULL }, true };
    size_t n = 0, heads = 0;
    struct audit_line *lines = audit_lines(report, &n);
    if (!lines)
        return false;
    for (size_t i = 0; i < report->n_cases; i++)
        heads += (size_t)report->cases[i].problem.hq;
    audit_table_cases(&t);
    audit_table_results(&t);
    audit_table_operands(&t);
    if (report->options->stages)
        audit_table_stages(&t);
    if (audit_any_transport(lines, n))
        audit_table_transports(&t, lines, n);
    if (heads > 1 && report->worst > 0)
        audit_table_worst(&t, lines, n);
    audit_table_ranking(&t, lines, n);
    audit_table_legend(&t);
    free(lines);
    return t.ok;
}
