/* SPDX-License-Identifier: MIT
 *
 * An audit for programs: csv, a line for each case, recipe, transport and
 * head, with figures of the whole case on each of its lines; json, nested.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "golden/audit_figure.h"
#include "golden/csv.h"
#include "golden/json.h"

/* ---- csv ---- */

static void csv_key(struct csv *csv, const char *a, const char *b,
                    const char *c)
{
    char key[64];
    snprintf(key, sizeof key, "%s%s%s", a, b, c);
    csv_text(csv, key);
}

static void csv_head(struct csv *csv, const struct audit_report *report)
{
    static const char *const first[] = { "case",  "head",    "recipe",
                                         "form",  "promise", "transport",
                                         "ranks", "inputs" };
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        csv_text(csv, first[i]);
#define SET_SIZE(key, field) csv_text(csv, key);
#include "golden/set_size.def"
#undef SET_SIZE
    csv_text(csv, "mask");
    csv_text(csv, "softmax_scale");
    csv_text(csv, "n_eff");
    csv_text(csv, "n_eff_every");
    for (int i = 0; i < AUDIT_FIGURES; i++)
        csv_text(csv, audit_figure_get(i)->key);
    csv_text(csv, "v_amplification");
    for (int i = 0; i < AUDIT_OPERANDS; i++) {
        csv_key(csv, audit_operand_name(i), "_bits", "");
        csv_key(csv, audit_operand_name(i), "_round_trip", "");
        csv_key(csv, audit_operand_name(i), "_clipped", "");
        csv_key(csv, audit_operand_name(i), "_wire_bits", "");
    }
    for (int i = 0; report->options->stages && i < ASSAY_STAGES; i++) {
        const char *stage = assay_stage_get((enum assay_stage)i)->name;
        csv_key(csv, "only_", stage, "_rel_l2");
        csv_key(csv, "only_", stage, "_lse_max_nats");
        csv_key(csv, "all_but_", stage, "_rel_l2");
        csv_key(csv, "all_but_", stage, "_lse_max_nats");
    }
    csv_end_line(csv);
}

/* NaN where there is no such figure. */
static void csv_figure(struct csv *csv, bool there, double value)
{
    csv_number(csv, there ? value : NAN);
}

static void csv_case_figures(struct csv *csv, const struct audit_case *c,
                             const struct audit_result *one)
{
    const bool alone = !one->transport;
    csv_figure(csv, alone && audit_has_rows(c), one->figures.v_amplification);
    for (int i = 0; i < AUDIT_OPERANDS; i++) {
        const struct assay_audit_operand *x =
            audit_operand_of(&one->figures, i);
        csv_figure(csv, alone, x->bits);
        csv_figure(csv, alone, x->round_trip);
        csv_figure(csv, alone, x->clipped);
        csv_figure(csv, !alone, x->bits);
    }
}

static void csv_costs(struct csv *csv, const struct assay_stage_costs *costs)
{
    for (int i = 0; i < ASSAY_STAGES; i++)
        for (int k = 0; k < 4; k++) {
            const struct assay_cost *cost = !costs  ? NULL
                                            : k < 2 ? &costs->only[i]
                                                    : &costs->all_but[i];
            csv_number(csv, !cost ? NAN : k % 2 ? cost->lse_max : cost->rel_l2);
        }
}

static void csv_line(struct csv *csv, const struct audit_report *report,
                     const struct audit_case *c, const struct audit_result *one,
                     int64_t head)
{
    const struct assay_problem *p = &c->problem;
    csv_text(csv, c->name);
    csv_number(csv, (double)head);
    csv_text(csv, one->recipe->name);
    csv_text(csv, assay_softmax_get(one->recipe->softmax)->name);
    csv_text(csv, assay_recipe_promise_name(one->recipe));
    csv_word(csv, one->transport ? one->transport->name : NULL);
    csv_number(csv, one->transport ? one->transport->ranks : 1);
    csv_text(csv, c->word);
#define SET_SIZE(key, field) csv_number(csv, (double)p->field);
#include "golden/set_size.def"
#undef SET_SIZE
    csv_text(csv, assay_mask_name(p->mask));
    csv_number(csv, p->softmax_scale);
    csv_number(csv, c->n_eff[head]);
    csv_number(csv, (double)c->n_eff_every);
    for (int i = 0; i < AUDIT_FIGURES; i++)
        csv_figure(csv, audit_has_rows(c),
                   audit_figure_value(i, &one->heads[head]));
    csv_case_figures(csv, c, one);
    if (report->options->stages)
        csv_costs(csv, one->costs);
    csv_end_line(csv);
}

bool audit_print_csv(const struct audit_report *report, FILE *out)
{
    struct csv csv = { .out = out };
    csv_head(&csv, report);
    for (size_t i = 0; i < report->n_cases; i++) {
        const struct audit_case *c = &report->cases[i];
        for (size_t r = 0; r < c->n; r++)
            for (int64_t h = 0; h < c->problem.hq; h++)
                csv_line(&csv, report, c, &c->results[r], h);
    }
    return true;
}

/* ---- json ---- */

static json_t *json_e8m0(const struct assay_e8m0 *e)
{
    if (e->total == 0)
        return json_null();
    json_t *out = json_object(), *bytes = json_object();
    char key[8];
    for (int byte = 0; byte < 256; byte++)
        if (e->count[byte] > 0) {
            snprintf(key, sizeof key, "%d", byte);
            json_object_set_new(bytes, key, json_integer(e->count[byte]));
        }
    json_object_set_new(out, "total", json_integer(e->total));
    json_object_set_new(out, "min", json_integer(e->min));
    json_object_set_new(out, "median", json_integer(e->median));
    json_object_set_new(out, "max", json_integer(e->max));
    json_object_set_new(out, "counts", bytes);
    return out;
}

static json_t *json_operand(const struct assay_audit_operand *x, bool alone)
{
    json_t *out = json_object();
    json_object_set_new(out, alone ? "bits" : "wire_bits",
                        json_number(x->bits));
    if (!alone)
        return out;
    json_object_set_new(out, "round_trip_rel_l2", json_number(x->round_trip));
    json_object_set_new(out, "clipped", json_number(x->clipped));
    json_object_set_new(out, "e8m0", json_e8m0(&x->e8m0));
    return out;
}

static json_t *json_cost(const struct assay_cost *cost)
{
    json_t *out = json_object();
    json_object_set_new(out, "rel_l2", json_number(cost->rel_l2));
    json_object_set_new(out, "lse_max_nats", json_number(cost->lse_max));
    return out;
}

static json_t *json_costs(const struct assay_stage_costs *costs)
{
    json_t *out = json_object();
    for (int i = 0; i < ASSAY_STAGES; i++) {
        json_t *stage = json_object();
        json_object_set_new(stage, "only", json_cost(&costs->only[i]));
        json_object_set_new(stage, "all_but", json_cost(&costs->all_but[i]));
        json_object_set_new(out, assay_stage_get((enum assay_stage)i)->name,
                            stage);
    }
    return out;
}

static json_t *json_result(const struct audit_case *c,
                           const struct audit_result *one)
{
    json_t *out = json_object(), *operands = json_object(),
           *heads = json_array();
    const struct assay_recipe *recipe = one->recipe;
    json_object_set_new(out, "recipe", json_text(recipe->name));
    json_object_set_new(out, "softmax_form",
                        json_string(assay_softmax_get(recipe->softmax)->name));
    json_object_set_new(out, "promise",
                        json_string(assay_recipe_promise_name(recipe)));
    json_object_set_new(out, "transport",
                        one->transport ? json_string(one->transport->name)
                                       : json_null());
    json_object_set_new(
        out, "ranks", json_integer(one->transport ? one->transport->ranks : 1));
    const bool rows = audit_has_rows(c);
    json_object_set_new(out, "distance",
                        rows ? json_distance(&one->figures.distance, true)
                             : json_null());
    if (!one->transport)
        json_object_set_new(out, "v_amplification",
                            rows ? json_optional(one->figures.v_amplification)
                                 : json_null());
    for (int i = 0; i < AUDIT_OPERANDS; i++)
        json_object_set_new(
            operands, audit_operand_name(i),
            json_operand(audit_operand_of(&one->figures, i), !one->transport));
    json_object_set_new(out, "operands", operands);
    if (one->costs)
        json_object_set_new(out, "stages", json_costs(one->costs));
    for (int64_t h = 0; h < c->problem.hq; h++)
        json_array_append_new(heads, rows ? json_distance(&one->heads[h], true)
                                          : json_null());
    json_object_set_new(out, "heads", heads);
    return out;
}

static json_t *json_case(const struct audit_case *c)
{
    json_t *out = json_object(), *n_eff = json_array(), *list = json_array();
    json_object_set_new(out, "case", json_plain(c->name));
    json_object_set_new(out, "source", json_text(c->source));
    json_object_set_new(out, "problem", json_problem(&c->problem));
    json_object_set_new(out, "inputs", json_string(c->word));
    for (int64_t h = 0; h < c->problem.hq; h++)
        json_array_append_new(n_eff, json_number(c->n_eff[h]));
    json_object_set_new(out, "n_eff", n_eff);
    json_object_set_new(out, "n_eff_every", json_integer(c->n_eff_every));
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(list, json_result(c, &c->results[i]));
    json_object_set_new(out, "results", list);
    return out;
}

/* A figure over heads, with the name of the worst. */
static json_t *json_spread(const struct audit_report *report,
                           const struct audit_line *line, int figure)
{
    struct audit_ranked ranked =
        audit_rank(report, line->recipe, line->transport, figure);
    json_t *out = json_object();
    if (ranked.n > 0) {
        const struct audit_place *at = &ranked.places[ranked.n - 1];
        json_object_set_new(out, "median",
                            json_number(audit_quantile(&ranked, 0.5)));
        json_object_set_new(out, "p90",
                            json_number(audit_quantile(&ranked, 0.9)));
        json_object_set_new(out, "p99",
                            json_number(audit_quantile(&ranked, 0.99)));
        json_object_set_new(out, "worst", json_number(at->value));
        json_object_set_new(out, "worst_case", json_plain(at->c->name));
        json_object_set_new(out, "worst_head", json_integer(at->head));
    }
    free(ranked.places);
    return out;
}

static json_t *json_line(const struct audit_report *report,
                         const struct audit_line *line)
{
    json_t *out = json_object();
    json_object_set_new(out, "recipe", json_text(line->recipe->name));
    json_object_set_new(
        out, "softmax_form",
        json_string(assay_softmax_get(line->recipe->softmax)->name));
    json_object_set_new(out, "transport",
                        line->transport ? json_string(line->transport->name)
                                        : json_null());
    json_object_set_new(out, "promise",
                        json_string(assay_recipe_promise_name(line->recipe)));
    for (int i = 0; i < AUDIT_FIGURES; i++)
        json_object_set_new(out, audit_figure_get(i)->key,
                            json_spread(report, line, i));
    return out;
}

bool audit_print_json(const struct audit_report *report, FILE *stream)
{
    size_t n = 0;
    struct audit_line *lines = audit_lines(report, &n);
    if (!lines)
        return false;
    json_t *out = json_object(), *cases = json_array(), *recipes = json_array();
    json_object_set_new(out, "schema", json_string("assay-audit/1"));
    json_object_set_new(out, "version", json_string(PACKAGE_VERSION));
    json_object_set_new(out, "command", json_text(report->command));
    json_object_set_new(out, "blas", json_text(assay_blas_name()));
    json_object_set_new(out, "blas_core", json_text(assay_blas_core()));
    for (size_t i = 0; i < report->n_cases; i++)
        json_array_append_new(cases, json_case(&report->cases[i]));
    for (size_t i = 0; i < n; i++)
        json_array_append_new(recipes, json_line(report, &lines[i]));
    json_object_set_new(out, "recipes", recipes);
    json_object_set_new(out, "cases", cases);
    free(lines);
    return json_print(out, stream) == 0;
}
