/* SPDX-License-Identifier: MIT */
#include "validate/picture.h"

#include <math.h>
#include <stdlib.h>

#include "assay/memory.h"
#include "validate/judge.h"

enum { TILES = 64, COARSE_TILES = 32, BLOCKS = 16 }; /* most in a map */

void picture_free(struct picture *p)
{
    if (!p)
        return;
    for (int d = 0; d < DISTANCES; d++) {
        assay_free(p->rel_l2[d]);
        assay_free(p->lse_max[d]);
    }
    assay_free(p->lse_c);
    assay_free(p->lse_e);
    assay_free(p->used_o);
    assay_free(p->used_lse);
    assay_free(p->channel);
    free(p);
}

static enum assay_status picture_new(const struct assay_problem *p,
                                     struct picture **out,
                                     struct assay_error *err)
{
    static const char what[] = "the figures of a page";
    const int64_t rows = assay_problem_rows(p), heads = p->b * p->hq;
    struct picture *n = calloc(1, sizeof *n);
    enum assay_status st = ASSAY_OK;
    *out = n;
    if (!n)
        return assay_fail(err, ASSAY_MEMORY, "no memory for %s", what);
    n->heads = (size_t)heads;
    n->rows = (size_t)rows;
    for (int d = 0; st == ASSAY_OK && d < DISTANCES; d++)
        if ((st = assay_alloc(what, heads, sizeof(double), &n->rel_l2[d],
                              err)) == ASSAY_OK)
            st = assay_alloc(what, heads, sizeof(double), &n->lse_max[d], err);
    float **const floats[] = { &n->lse_c, &n->lse_e, &n->used_o, &n->used_lse };
    for (size_t i = 0; st == ASSAY_OK && i < sizeof floats / sizeof *floats;
         i++)
        st = assay_alloc(what, rows, sizeof(float), floats[i], err);
    if (st == ASSAY_OK)
        st = assay_alloc(what, rows, sizeof *n->channel, &n->channel, err);
    return st;
}

/* One head is a problem of its own: all its rows lie together. */
static void fill_heads(struct picture *out, const struct sketch *s)
{
    const double *lse_c = s->no_lse ? NULL : s->lse_c,
                 *lse_e = s->lacks & SKETCH_LACKS_LSE ? NULL : s->lse_e;
    const struct {
        const struct assay_row *rows;
        const double *a, *b;
    } of[DISTANCES] = { [DISTANCE_BUILD] = { s->ce, lse_c, s->lse_e },
                        [DISTANCE_RECIPE] = { s->ex, lse_e, s->lse_x },
                        [DISTANCE_TOTAL] = { s->cx, lse_c, s->lse_x } };
    struct assay_problem one = s->problem;
    one.b = one.hq = one.hk = 1;
    for (size_t h = 0; h < out->heads; h++)
        for (int d = 0; d < DISTANCES; d++) {
            const size_t at = h * (size_t)one.nq;
            struct assay_distance x;
            assay_distance(&one, of[d].rows + at, of[d].a ? of[d].a + at : NULL,
                           of[d].b + at, 0, 1, &x);
            out->rel_l2[d][h] = x.rel_l2;
            out->lse_max[d][h] = x.lse_max;
        }
}

enum assay_status result_keep_picture(struct result *r, const struct sketch *s,
                                      struct assay_error *err)
{
    struct picture *p;
    enum assay_status st = picture_new(&s->problem, &p, err);
    if (st != ASSAY_OK) {
        picture_free(p);
        return st;
    }
    fill_heads(p, s);
    p->no_lse = s->no_lse;
    p->no_exact = s->lacks & SKETCH_LACKS_EXACT;
    for (size_t i = 0; i < p->rows; i++) {
        const int64_t row = (int64_t)i;
        const struct assay_row *ce = &s->ce[i];
        p->lse_c[i] = (float)s->lse_c[i];
        p->lse_e[i] = (float)s->lse_e[i];
        p->used_o[i] = (float)judge_row_used(s, r->gates, row);
        p->used_lse[i] = (float)judge_row_used_lse(s, r->gates, row);
        p->channel[i] =
            (int32_t)(ce->mismatched ? ce->mismatched_c : ce->max_c);
    }
    picture_free(r->picture);
    r->picture = p;
    return ASSAY_OK;
}

/* ---- maps ---- */

bool picture_any_fails(const struct picture *p)
{
    for (size_t i = 0; i < p->rows; i++)
        if (!((double)p->used_o[i] <= 1))
            return true;
    return false;
}

/* Rows below this part are left out: where there are failing ones with a part
 * that can be drawn, the others only hide them. */
static double least_of(const struct picture *p)
{
    for (size_t i = 0; i < p->rows; i++)
        if (isfinite(p->used_o[i]) && (double)p->used_o[i] > 1)
            return 1;
    return 0;
}

enum assay_status picture_heat(const struct result *r, enum heat_kind kind,
                               struct heat *out, struct assay_error *err)
{
    const struct picture *p = r->picture;
    const bool heads = kind == HEAT_HEADS_BY_ROWS;
    const enum assay_status st =
        heat_new(&r->problem, kind, heads ? (int64_t)p->heads : COARSE_TILES,
                 heads ? TILES : BLOCKS, out, err);
    const double least = least_of(p);
    for (size_t i = 0; st == ASSAY_OK && i < p->rows; i++) {
        const int64_t head = (int64_t)i / r->problem.nq,
                      query = (int64_t)i % r->problem.nq,
                      row = heads ? head : query,
                      column = heads ? query : p->channel[i];
        if (column < 0 || (double)p->used_o[i] <= least)
            continue;
        double *cell = &out->value[row / out->row_step * out->columns +
                                   column / out->column_step];
        *cell = assay_worst(*cell, (double)p->used_o[i]);
    }
    return st;
}
