/* SPDX-License-Identifier: MIT */
#include "golden/audit_figure.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN, EXTRA };

static const struct audit_figure figures[] = {
#define AUDIT_FIGURE(key, field, head, format, extra, bad) \
    { #key,  head,        format,                          \
      extra, AUDIT_##bad, offsetof(struct assay_distance, field) },
#include "golden/audit_figure.def"
#undef AUDIT_FIGURE
};

const struct audit_figure *audit_figure_get(int figure)
{
    return &figures[figure];
}

double audit_figure_value(int figure, const struct assay_distance *from)
{
    double value;
    memcpy(&value, (const char *)from + figures[figure].offset, sizeof value);
    return value;
}

/* ---- names ---- */

struct audit_name audit_recipe_name(const struct assay_recipe *recipe)
{
    struct audit_name out;
    const struct assay_recipe *row = assay_recipe_find(recipe->name);
    const bool own = !row || recipe->softmax == row->softmax;
    snprintf(out.s, sizeof out.s, "%s%s%s", recipe->name, own ? "" : "@",
             own ? "" : assay_softmax_get(recipe->softmax)->name);
    return out;
}

struct audit_name audit_head_name(const struct audit_case *c, int64_t head)
{
    struct audit_name out;
    if (c->problem.hq > 1)
        snprintf(out.s, sizeof out.s, "%.70s/h%lld", c->name, (long long)head);
    else
        snprintf(out.s, sizeof out.s, "%.90s", c->name);
    return out;
}

const char *audit_operand_name(int operand)
{
    static const char *const names[] = { "q", "k", "v" };
    return names[operand];
}

const struct assay_audit_operand *audit_operand_of(const struct assay_audit *x,
                                                   int operand)
{
    return operand == 0 ? &x->q : operand == 1 ? &x->k : &x->v;
}

/* ---- ranks ---- */

bool audit_has_rows(const struct audit_case *c)
{
    return c->problem.b > 0 && c->problem.nq > 0 && c->problem.nk > 0;
}

static int by_badness(const void *a, const void *b)
{
    const double x = ((const struct audit_place *)a)->badness,
                 y = ((const struct audit_place *)b)->badness;
    return (x > y) - (x < y);
}

static void add_heads(struct audit_ranked *out, const struct audit_case *c,
                      const struct audit_result *from, int figure)
{
    for (int64_t h = 0; h < c->problem.hq; h++) {
        const double value = audit_figure_value(figure, &from->heads[h]);
        const double sign = figures[figure].bad == AUDIT_HIGH ? 1 : -1;
        out->places[out->n++] =
            (struct audit_place){ c, from, h, value,
                                  isnan(value) ? INFINITY : sign * value };
    }
}

struct audit_ranked audit_rank(const struct audit_report *report,
                               const struct assay_recipe *recipe,
                               const struct audit_transport *transport,
                               int figure)
{
    struct audit_ranked out = { 0 };
    size_t heads = 1;
    for (size_t c = 0; c < report->n_cases; c++)
        heads += (size_t)report->cases[c].problem.hq;
    out.places = calloc(heads, sizeof *out.places);
    if (!out.places)
        return out;
    for (size_t c = 0; c < report->n_cases; c++)
        for (size_t r = 0; r < report->cases[c].n; r++) {
            const struct audit_result *one = &report->cases[c].results[r];
            if (one->recipe == recipe && one->transport == transport &&
                audit_has_rows(&report->cases[c]))
                add_heads(&out, &report->cases[c], one, figure);
        }
    qsort(out.places, out.n, sizeof *out.places, by_badness);
    return out;
}

double audit_quantile(const struct audit_ranked *ranked, double share)
{
    size_t at = (size_t)ceil(share * (double)ranked->n);
    return ranked->places[at > 0 ? at - 1 : 0].value;
}

static int by_median(const void *a, const void *b)
{
    const double x = ((const struct audit_line *)a)->median,
                 y = ((const struct audit_line *)b)->median;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

struct audit_line *audit_lines(const struct audit_report *report, size_t *n)
{
    const struct audit_options *o = report->options;
    struct audit_line *out =
        calloc(o->n_recipes * (o->n_transports + 1) + 1, sizeof *out);
    *n = 0;
    for (size_t r = 0; out && r < o->n_recipes; r++)
        for (size_t t = 0; t <= o->n_transports; t++) {
            const struct audit_transport *by =
                t > 0 ? &o->transports[t - 1] : NULL;
            struct audit_ranked ranked =
                audit_rank(report, o->recipes[r], by, AUDIT_FIGURE_rel_l2);
            if (ranked.n > 0)
                out[(*n)++] =
                    (struct audit_line){ o->recipes[r], by,
                                         audit_quantile(&ranked, 0.5) };
            free(ranked.places);
        }
    if (out)
        qsort(out, *n, sizeof *out, by_median);
    return out;
}

static int by_value(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

double audit_median(double *values, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(values, n, sizeof *values, by_value);
    return values[(n - 1) / 2];
}
