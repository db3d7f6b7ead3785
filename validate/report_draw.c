/* SPDX-License-Identifier: MIT */
#include "validate/report_draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/plot.h"
#include "validate/alike.h"
#include "validate/judge.h"
#include "validate/picture.h"

/* ---- distributions over heads ---- */

enum { GROUPS = 40 }; /* more are not told apart by kernel */

/* Results whose heads are points of one row. */
struct bundle {
    const struct assay_recipe *recipe;
    const char *kernel; /* NULL: any */
    char name[128];
};

struct bundles {
    struct bundle *all;
    struct plot_group *groups;
    double *values;
    size_t n;
};

static size_t find(const struct bundles *b, const struct result *one)
{
    size_t i = 0;
    while (i < b->n &&
           (b->all[i].recipe != one->recipe ||
            (b->all[i].kernel && strcmp(b->all[i].kernel, one->kernel) != 0)))
        i++;
    return i;
}

static void gather(const struct report *r, bool by_kernel, struct bundles *b)
{
    b->n = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct result *one = &r->results[i];
        if (one->picture && find(b, one) == b->n)
            b->all[b->n++] =
                (struct bundle){ one->recipe, by_kernel ? one->kernel : NULL,
                                 "" };
    }
    for (size_t i = 0; i < b->n; i++) {
        size_t same = 0;
        for (size_t j = 0; j < b->n; j++)
            same += b->all[j].recipe == b->all[i].recipe;
        snprintf(b->all[i].name, sizeof b->all[i].name, "%s%s%s",
                 b->all[i].recipe->name, same > 1 ? ", " : "",
                 same > 1 ? b->all[i].kernel : "");
    }
}

/* Whether an earlier result has the same answer of the recipe. */
static bool told_before(const struct report *r, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (r->results[j].picture &&
            r->results[j].recipe == r->results[i].recipe &&
            strcmp(r->results[j].case_name, r->results[i].case_name) == 0)
            return true;
    return false;
}

static void fill(const struct report *r, enum distance_kind kind, bool lse,
                 struct bundles *b)
{
    double *to = b->values;
    for (size_t g = 0; g < b->n; g++) {
        b->groups[g] = (struct plot_group){ b->all[g].name, to, 0 };
        for (size_t i = 0; i < r->count; i++) {
            const struct picture *p = r->results[i].picture;
            if (!p || find(b, &r->results[i]) != g ||
                (kind != DISTANCE_BUILD && p->no_exact) ||
                (kind == DISTANCE_RECIPE && told_before(r, i)))
                continue;
            memcpy(to, lse ? p->lse_max[kind] : p->rel_l2[kind],
                   p->heads * sizeof *to);
            to += p->heads;
            b->groups[g].n += p->heads;
        }
    }
}

static bool bundles_alloc(const struct report *r, struct bundles *b)
{
    size_t heads = 1;
    for (size_t i = 0; i < r->count; i++)
        heads += r->results[i].picture ? r->results[i].picture->heads : 0;
    *b = (struct bundles){ calloc(r->count + 1, sizeof *b->all),
                           calloc(r->count + 1, sizeof *b->groups),
                           calloc(heads, sizeof *b->values), 0 };
    return b->all && b->groups && b->values;
}

static const struct {
    enum distance_kind kind;
    bool lse;
    struct plot_frame frame;
} heads_plots[] = {
#define FRAME(title, of, caption)               \
    {                                           \
        title, of, NULL, caption, true, 0, NULL \
    }
    { DISTANCE_BUILD, false,
      FRAME("Build distance of O", "REL L2 of kernel - emulated, of a head",
            "What the kernel adds to its recipe. One point a head.") },
    { DISTANCE_RECIPE, false,
      FRAME("Recipe distance of O", "REL L2 of emulated - exact, of a head",
            "What the number formats cost, whatever the kernel. One point a "
            "head.") },
    { DISTANCE_TOTAL, false,
      FRAME("Total distance of O", "REL L2 of kernel - exact, of a head",
            "Both together. One point a head.") },
    { DISTANCE_BUILD, true,
      FRAME("Build distance of LSE", "largest |kernel - emulated|, nats",
            "Of each head the row that is farthest off.") },
#undef FRAME
};

bool report_draw_heads(const struct report *r, struct html *h)
{
    struct bundles b;
    const bool ok = bundles_alloc(r, &b);
    for (size_t i = 0; ok && i < sizeof heads_plots / sizeof *heads_plots;
         i++) {
        gather(r, heads_plots[i].kind != DISTANCE_RECIPE, &b);
        if (b.n > GROUPS)
            gather(r, false, &b);
        fill(r, heads_plots[i].kind, heads_plots[i].lse, &b);
        if (b.n > 0)
            plot_distribution(h, &heads_plots[i].frame, b.groups, b.n);
    }
    free(b.values);
    free(b.groups);
    free(b.all);
    return ok;
}

/* ---- LSE against LSE ---- */

enum lse_class { LSE_WITHIN, LSE_BEYOND, LSE_HEAD, LSE_CLASSES };
static const char *const lse_names[LSE_CLASSES] = { "row within its limit",
                                                    "row beyond its limit",
                                                    "row within, head beyond" };

struct points {
    double *e, *c, off; /* off: the largest difference */
    unsigned char *class;
    size_t n;
};

static bool points_alloc(struct points *p, size_t n)
{
    *p = (struct points){ calloc(n + 1, sizeof *p->e),
                          calloc(n + 1, sizeof *p->c), 0, calloc(n + 1, 1), 0 };
    return p->e && p->c && p->class;
}

static void points_free(struct points *p)
{
    free(p->e);
    free(p->c);
    free(p->class);
}

static void points_add(struct points *p, const struct result *one)
{
    const uint32_t means = 1u << GATE_LSE_RMS | 1u << GATE_LSE_MEAN;
    const struct picture *x = one->picture;
    for (size_t i = 0; i < x->rows && !x->no_lse; i++) {
        const uint32_t gates = one->heads_gates[i / (size_t)one->problem.nq];
        const double e = (double)x->lse_e[i], c = (double)x->lse_c[i];
        p->e[p->n] = e;
        p->c[p->n] = c;
        if (isfinite(e) && isfinite(c))
            p->off = fmax(p->off, fabs(c - e));
        p->class[p->n++] = !((double)x->used_lse[i] <= 1) ? LSE_BEYOND
                           : gates & means                ? LSE_HEAD
                                                          : LSE_WITHIN;
    }
}

static void points_plot(const struct points *p, const char *title,
                        struct html *h)
{
    char caption[120];
    snprintf(caption, sizeof caption,
             "One point a row; the largest difference is %.2e nats.", p->off);
    plot_scatter(h,
                 &(struct plot_frame){ .title = title,
                                       .of = "LSE of the kernel, nats",
                                       .across = "LSE emulated, nats",
                                       .caption = caption },
                 p->e, p->c, p->n,
                 &(struct plot_classes){ p->class, lse_names, LSE_CLASSES });
}

static bool draw_recipe(const struct report *r, size_t first, struct html *h)
{
    const struct assay_recipe *recipe = r->results[first].recipe;
    struct points p;
    char title[160];
    size_t rows = 0;
    for (size_t i = first; i < r->count; i++)
        if (r->results[i].picture && r->results[i].recipe == recipe)
            rows += r->results[i].picture->rows;
    const bool ok = points_alloc(&p, rows);
    for (size_t i = first; ok && i < r->count; i++)
        if (r->results[i].picture && r->results[i].recipe == recipe)
            points_add(&p, &r->results[i]);
    snprintf(title, sizeof title, "LSE of %s, all kernels and cases",
             recipe->name);
    if (ok)
        points_plot(&p, title, h);
    points_free(&p);
    return ok;
}

static const struct assay_recipe *drawn_recipe(const void *report, size_t i)
{
    const struct report *r = report;
    return r->results[i].picture ? r->results[i].recipe : NULL;
}

bool report_draw_lse(const struct report *r, struct html *h)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->count; i++)
        if (alike_is_first(drawn_recipe, r, i))
            ok = draw_recipe(r, i, h);
    return ok;
}

/* ---- where a failing result is wrong ---- */

/* Names of rows and columns of a map; texts of NAME bytes. */
enum { NAME = 56 };
struct map_names {
    char (*texts)[NAME];
    const char **rows, **columns;
};

static bool names_alloc(const struct heat *map, struct map_names *n)
{
    const size_t rows = (size_t)map->rows, columns = (size_t)map->columns;
    *n = (struct map_names){ calloc(rows + columns, NAME),
                             calloc(rows, sizeof *n->rows),
                             calloc(columns, sizeof *n->columns) };
    for (size_t i = 0; n->texts && n->rows && i < rows; i++)
        n->rows[i] = n->texts[i];
    for (size_t i = 0; n->texts && n->columns && i < columns; i++)
        n->columns[i] = n->texts[rows + i];
    return n->texts && n->rows && n->columns;
}

static void names_free(struct map_names *n)
{
    free(n->texts);
    free((void *)n->rows);
    free((void *)n->columns);
}

/* Multiples of a step, the first number of each row or column. */
static void name_steps(char (*texts)[NAME], int64_t n, int64_t step)
{
    for (int64_t i = 0; i < n; i++)
        snprintf(texts[i], sizeof *texts, "%" PRId64, i * step);
}

static void name_heads(char (*texts)[NAME], const struct assay_problem *p)
{
    for (int64_t i = 0; i < p->b * p->hq; i++)
        if (p->b > 1)
            snprintf(texts[i], sizeof *texts, "batch %" PRId64 " head %" PRId64,
                     i / p->hq, i % p->hq);
        else
            snprintf(texts[i], sizeof *texts, "head %" PRId64, i);
}

static bool draw_map(const struct result *one, const char *what, bool channels,
                     struct html *h)
{
    struct heat map;
    struct map_names names = { NULL, NULL, NULL };
    char title[200], across[64], down[64];
    bool ok =
        picture_heat(one, channels ? HEAT_ROWS_BY_CHANNELS : HEAT_HEADS_BY_ROWS,
                     &map, NULL) == ASSAY_OK &&
        names_alloc(&map, &names);
    const struct plot_frame frame = {
        .title = title,
        .of = "part used of what a row may be off",
        .across = across,
        .caption = channels
                       ? "Each row counts in the channels of its largest "
                         "difference; a cell shows the worst of these rows of "
                         "all heads. More than 1 fails; rows within "
                         "the limits are left out where others fail."
                       : "A cell shows its worst row. More than 1 fails; rows "
                         "within the limits are left out where others fail.",
        .log = true
    };
    if (ok) {
        snprintf(title, sizeof title, "%s: %s", what,
                 channels ? "queries by channels" : "heads by queries");
        snprintf(down, sizeof down,
                 channels ? "query, %" PRId64 " a cell" : "head", map.row_step);
        snprintf(across, sizeof across, "%s, %" PRId64 " a cell",
                 channels ? "channel" : "query", map.column_step);
        if (channels)
            name_steps(names.texts, map.rows, map.row_step);
        else
            name_heads(names.texts, &one->problem);
        name_steps(names.texts + map.rows, map.columns, map.column_step);
        plot_heat(h, &frame,
                  &(struct plot_matrix){ map.value, (size_t)map.rows,
                                         (size_t)map.columns, names.rows,
                                         names.columns, down });
    }
    names_free(&names);
    heat_free(&map);
    return ok;
}

/* A map of rows that are all as they should be says nothing. */
static bool is_in_rows(const struct result *one)
{
    static const enum gate gates[] = { GATE_BUILD, GATE_BUILD_RMS, GATE_GAIN,
                                       GATE_BOUND, GATE_DEAD_ROWS };
    bool pass = !picture_any_fails(one->picture);
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        pass &= one->gates[gates[i]].pass;
    return !pass;
}

bool report_draw_failure(const struct result *one, const char *what,
                         struct html *h)
{
    struct points p;
    char title[200];
    bool ok = true;
    if (is_in_rows(one))
        ok = draw_map(one, what, false, h) && draw_map(one, what, true, h);
    if (one->gates[GATE_LSE].pass && one->gates[GATE_LSE_RMS].pass &&
        one->gates[GATE_LSE_MEAN].pass)
        return ok;
    ok = points_alloc(&p, one->picture->rows) && ok;
    if (ok) {
        points_add(&p, one);
        snprintf(title, sizeof title, "%s: LSE", what);
        points_plot(&p, title, h);
    }
    points_free(&p);
    return ok;
}
