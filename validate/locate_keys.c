/* SPDX-License-Identifier: MIT
 *
 * Which keys count wrongly. The weights p_j of the worst rows are computed in
 * double from Q and K. Keys of a set T counted f times: with m the sum of
 * their p and
 *   u = sum over T of p_j (v_j - O),  C - O = (f - 1) u / (1 + (f - 1) m)
 * so all that T can do is a multiple a of u, and f = 1 + a / (1 - a m): a
 * dropped set has a = -1 / (1 - m).
 */
#include "validate/locate_keys.h"

#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "validate/dot.h"

enum { MANY_KEYS = 16384, ROWS_OF_MANY = 4, FEW_ROWS = 4 };

/* What must be explained of several rows, where what is left is the rounding
 * of small differences. */
static const double MOST = 0.7;

static const float *kv_row(const float *x, const struct assay_problem *p,
                           int64_t width, int64_t b, int64_t j, int64_t kv)
{
    return x + assay_row_offset(p->nk, p->hk, width, b, j, kv);
}

const float *keys_v(const struct keys *k, struct assay_place at, int64_t j,
                    int64_t kv)
{
    return kv_row(k->s->in->v, k->p, k->p->dv, at.b, j, kv);
}

static int64_t kv_of(const struct keys *k, struct assay_place at)
{
    return at.h / (k->p->hq / k->p->hk);
}

void keys_score(const struct keys *k, struct assay_place at, int64_t kv,
                double *score)
{
    const struct assay_problem *p = k->p;
    const float *q =
        k->s->in->q + assay_row_offset(p->nq, p->hq, p->dk, at.b, at.i, at.h);
    for (int64_t j = 0; j < p->nk; j++) {
        const float *key = kv_row(k->s->in->k, p, p->dk, at.b, j, kv);
        score[j] = k->s->in->softmax_scale * dot(p->dk, q, key);
    }
}

double keys_largest(const struct way *way)
{
    double most = -INFINITY;
    for (int64_t j = 0; j < way->visible; j++)
        most = fmax(most, way->scale * way->score[j]);
    return most;
}

double keys_answer(const struct keys *k, struct assay_place at, struct way way,
                   double *o)
{
    const struct assay_problem *p = k->p;
    const double top = keys_largest(&way);
    double sum = 0;
    memset(o, 0, (size_t)p->dv * sizeof *o);
    for (int64_t j = 0; j < way.visible; j++) {
        double w = exp(way.scale * way.score[j] - top);
        int64_t from = j + way.v_shift;
        sum += w;
        if (from < 0 || from >= p->nk)
            continue;
        const float *v = keys_v(k, at, from, way.kv);
        for (int64_t c = 0; c < p->dv; c++)
            o[c] += w * v[c];
    }
    for (int64_t c = 0; c < p->dv && sum > 0; c++)
        o[c] /= sum;
    return top + log(sum);
}

double keys_explained(const struct keys *k, const struct key_row *row,
                      const double *change)
{
    double left = 0;
    for (int64_t c = 0; c < k->p->dv; c++)
        left += (row->d[c] - change[c]) * (row->d[c] - change[c]);
    double part = 1 - left / row->dd;
    return part > 0 ? part : 0; /* NaN explains nothing */
}

struct way keys_right_way(const struct keys *k, const struct key_row *row)
{
    return (struct way){ row->score, row->visible, 1, 0, kv_of(k, row->at) };
}

void keys_offer(const struct keys *k, struct pattern *best,
                struct pattern guess)
{
    if (guess.explained >= (k->n < FEW_ROWS ? LOCATE_EXPLAINS : MOST) &&
        guess.explained > best->explained + 0.002)
        *best = guess;
}

/* C - E of a row into d [dv], unless NULL; its squared norm, NaN where it is
 * not finite. */
static double difference(const struct keys *k, struct assay_place at, double *d)
{
    const float *c = scene_row(k->s, k->s->in->c, at);
    const float *e = scene_row(k->s, k->s->in->e, at);
    double sum = 0;
    for (int64_t i = 0; i < k->p->dv; i++) {
        double x = (double)c[i] - e[i];
        sum += x * x;
        if (d)
            d[i] = x;
    }
    return isfinite(sum) ? sum : NAN;
}

static double norm2(const struct keys *k, struct assay_place at)
{
    const float *e = scene_row(k->s, k->s->in->e, at);
    double sum = 0;
    for (int64_t i = 0; i < k->p->dv; i++)
        sum += (double)e[i] * e[i];
    return sum;
}

double keys_off(const struct keys *k, struct assay_place at)
{
    return assay_problem_visible(k->p, at.i) > 0
               ? difference(k, at, NULL) / norm2(k, at)
               : 0;
}

/* Failing rows that are finite and see a key, those first that are furthest
 * off beside their norm: what rounding adds is least there. */
static void choose_rows(struct keys *k)
{
    const struct assay_problem *p = k->p;
    const int64_t most = p->nk > MANY_KEYS ? ROWS_OF_MANY : LOCATION_KEY_ROWS;
    int64_t chosen[LOCATION_KEY_ROWS];
    double off[LOCATION_KEY_ROWS];
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        struct assay_place at = assay_row_place(p, r);
        int64_t n = k->n;
        if (!scene_o_fails(k->s, r))
            continue;
        double here = keys_off(k, at);
        if (!(here > 0))
            continue;
        while (n > 0 && here > off[n - 1])
            n--;
        if (n == most)
            continue;
        k->n += k->n < most;
        size_t after = (size_t)(k->n - 1 - n);
        memmove(chosen + n + 1, chosen + n, after * sizeof *chosen);
        memmove(off + n + 1, off + n, after * sizeof *off);
        chosen[n] = r;
        off[n] = here;
    }
    for (int64_t n = 0; n < k->n; n++)
        k->row[n].at = assay_row_place(p, chosen[n]);
}

void keys_fill_row(const struct keys *k, struct assay_place at,
                   struct key_row *row)
{
    row->at = at;
    row->visible = assay_problem_visible(k->p, at.i);
    row->dd = difference(k, at, row->d);
    keys_score(k, at, kv_of(k, at), row->score);
    row->lse = keys_answer(k, at, keys_right_way(k, row), row->o);
}

static enum assay_status make_rows(struct keys *k, struct assay_error *err)
{
    const struct assay_problem *p = k->p;
    const int64_t tiles = (p->nk + LOCATION_KEY_TILE - 1) / LOCATION_KEY_TILE;
    const int64_t doubles = k->n * (p->nk + 2 * p->dv) + 2 * p->dv + p->nk +
                            (tiles + 1) * (p->dv + 1);
    enum assay_status st = assay_alloc("rows of keys", doubles,
                                       sizeof *k->memory, &k->memory, err);
    if (st != ASSAY_OK)
        return st;
    k->change = k->memory;
    k->slope = k->change + p->dv;
    k->spare = k->slope + p->dv;
    k->tile = k->spare + p->nk;
    k->mass = k->tile + (tiles + 1) * p->dv;
    double *next = k->mass + tiles + 1;
    for (int64_t n = 0; n < k->n; n++, next += p->nk + 2 * p->dv) {
        struct key_row *row = &k->row[n];
        row->score = next;
        row->o = next + p->nk;
        row->d = row->o + p->dv;
        keys_fill_row(k, row->at, row);
    }
    return ASSAY_OK;
}

enum assay_status locate_keys(const struct scene *s, struct location *out,
                              struct assay_error *err)
{
    struct keys k = { .s = s, .p = s->p };
    choose_rows(&k);
    if (k.n == 0)
        return ASSAY_OK;
    enum assay_status st = make_rows(&k, err);
    if (st != ASSAY_OK)
        return st;
    locate_ways(&k, &out->found[PATTERN_KIND_KEYS]);
    locate_key_sets(&k, &out->found[PATTERN_KIND_KEYS]);
    if (out->found[PATTERN_KIND_KEYS].id == PATTERN_KV_HEAD)
        locate_kv_heads(&k, out);
    assay_free(k.memory);
    return ASSAY_OK;
}
