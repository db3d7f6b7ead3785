/* SPDX-License-Identifier: MIT
 *
 * Single keys, and ranges of whole key tiles, counted too little or too much:
 * see locate_keys.c for the algebra. Rows propose sets; a set must explain all
 * of the rows.
 */
#include "validate/locate_keys.h"

#include <math.h>
#include <string.h>

/* Rows that propose, and the fewest values that tell a set from chance. */
enum { PROPOSALS = 4, LEAST_VALUES = 32 };

/* What a wider range must explain more. */
static const double WORTH = 0.002;

struct key_set {
    int64_t first, last;
    bool v_only; /* O = sum of f p_j v_j, the sum of p_j is right */
    double explained, factor;
};

/* The best multiple of u, whose keys weigh m: part explained, and the factor.
 */
static void project(const struct keys *k, const struct key_row *row,
                    const double *u, double m, struct key_set *set)
{
    double du = 0, uu = 0;
    for (int64_t c = 0; c < k->p->dv; c++) {
        du += row->d[c] * u[c];
        uu += u[c] * u[c];
    }
    set->explained = 0;
    set->factor = 1;
    if (!(uu > 0))
        return;
    double a = du / uu;
    double factor = set->v_only ? 1 + a : 1 + a / (1 - a * m);
    if ((!set->v_only && a * m >= 1) || factor < -0.1)
        return; /* no count of keys does that */
    set->explained = du * du / uu / row->dd;
    set->factor = factor;
}

static double weight(const struct key_row *row, int64_t j)
{
    return exp(row->score[j] - row->lse);
}

/* Adds key j to u and returns its weight. */
static double add_key(const struct keys *k, const struct key_row *row,
                      int64_t j, bool v_only, double *u)
{
    const double p = weight(row, j);
    const float *v = keys_v(k, row->at, j, keys_right_way(k, row).kv);
    for (int64_t c = 0; c < k->p->dv; c++)
        u[c] += p * (v[c] - (v_only ? 0 : row->o[c]));
    return p;
}

static void set_explains(const struct keys *k, const struct key_row *row,
                         struct key_set *set)
{
    double m = 0;
    memset(k->change, 0, (size_t)k->p->dv * sizeof *k->change);
    for (int64_t j = set->first; j <= set->last && j < row->visible; j++)
        m += add_key(k, row, j, set->v_only, k->change);
    project(k, row, k->change, m, set);
}

/* Sums up to each tile, so that a range of tiles is a difference of two. */
static int64_t sum_tiles(const struct keys *k, const struct key_row *row,
                         bool v_only)
{
    const int64_t dv = k->p->dv;
    const int64_t n =
        (row->visible + LOCATION_KEY_TILE - 1) / LOCATION_KEY_TILE;
    memset(k->tile, 0, (size_t)dv * sizeof *k->tile);
    k->mass[0] = 0;
    for (int64_t t = 0; t < n; t++) {
        double *u = k->tile + (t + 1) * dv;
        memcpy(u, u - dv, (size_t)dv * sizeof *u);
        k->mass[t + 1] = k->mass[t];
        for (int64_t j = t * LOCATION_KEY_TILE;
             j < (t + 1) * LOCATION_KEY_TILE && j < row->visible; j++)
            k->mass[t + 1] += add_key(k, row, j, v_only, u);
    }
    return n;
}

/* Tiles first .. last, in tiles. */
static struct key_set tiles_explain(const struct keys *k,
                                    const struct key_row *row, int64_t first,
                                    int64_t last, bool v_only)
{
    const int64_t dv = k->p->dv;
    struct key_set set = { first, last, v_only, 0, 1 };
    for (int64_t c = 0; c < dv; c++)
        k->change[c] = k->tile[(last + 1) * dv + c] - k->tile[first * dv + c];
    project(k, row, k->change, k->mass[last + 1] - k->mass[first], &set);
    return set;
}

/* The tile that explains most, made wider while that pays. */
static struct key_set propose_tiles(const struct keys *k,
                                    const struct key_row *row, bool v_only)
{
    const int64_t n = sum_tiles(k, row, v_only);
    struct key_set best = { .v_only = v_only };
    for (int64_t t = 0; t < n; t++) {
        struct key_set one = tiles_explain(k, row, t, t, v_only);
        best = one.explained > best.explained ? one : best;
    }
    for (bool wider = true; wider;) {
        const struct key_set now = best;
        for (int side = 0; side < 2; side++) {
            int64_t first = now.first - (side == 0), last = now.last + side;
            if (first < 0 || last >= n)
                continue;
            struct key_set more = tiles_explain(k, row, first, last, v_only);
            if (more.explained > best.explained + WORTH)
                best = more;
        }
        wider = best.explained > now.explained;
    }
    best.first *= LOCATION_KEY_TILE;
    best.last = (best.last + 1) * LOCATION_KEY_TILE - 1;
    if (best.last >= k->p->nk)
        best.last = k->p->nk - 1;
    return best;
}

static struct key_set propose_key(const struct keys *k,
                                  const struct key_row *row)
{
    struct key_set best = { 0 };
    for (int64_t j = 0; j < row->visible; j++) {
        struct key_set one = { .first = j, .last = j };
        set_explains(k, row, &one);
        best = one.explained > best.explained ? one : best;
    }
    return best;
}

/* The mean over all rows; the factor is that of the row explained best. */
static void judge_set(const struct keys *k, struct key_set set,
                      struct pattern *best)
{
    double sum = 0, factor = 1, most = 0;
    for (int64_t n = 0; n < k->n; n++) {
        set_explains(k, &k->row[n], &set);
        sum += set.explained;
        if (set.explained > most) {
            most = set.explained;
            factor = set.factor;
        }
    }
    enum pattern_id id = set.v_only              ? PATTERN_V_RANGE
                         : set.first == set.last ? PATTERN_KEY_ONE
                                                 : PATTERN_KEYS_RANGE;
    factor = fabs(factor) < 0.02 ? 0 : round(100 * factor) / 100;
    keys_offer(k, best,
               (struct pattern){ id, set.first, set.last, 0, factor,
                                 sum / (double)k->n });
}

void locate_key_sets(const struct keys *k, struct pattern *best)
{
    if (k->n * k->p->dv < LEAST_VALUES)
        return;
    for (int64_t n = 0; n < k->n && n < PROPOSALS; n++)
        judge_set(k, propose_key(k, &k->row[n]), best);
    for (int64_t n = 0; n < k->n && n < PROPOSALS; n++)
        judge_set(k, propose_tiles(k, &k->row[n], false), best);
    for (int64_t n = 0; n < k->n && n < PROPOSALS; n++)
        judge_set(k, propose_tiles(k, &k->row[n], true), best);
}
