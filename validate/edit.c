/* SPDX-License-Identifier: MIT */
#include "validate/edit.h"

#include <string.h>

#include "assay/memory.h"

struct edit edit_of(const struct subject *s, struct assay_error *err)
{
    struct edit e = { .s = s,
                      .p = s->c->problem,
                      .recipe = *s->e->recipe,
                      .pay = s->e->payloads,
                      .st = ASSAY_OK,
                      .err = err };
    e.pay.v = s->v;
    return e;
}

void *edit_array(struct edit *e, int64_t count, size_t bytes)
{
    void *array = NULL;
    if (e->st != ASSAY_OK)
        return NULL;
    if (e->n_own == EDIT_ARRAYS)
        e->st = assay_fail(e->err, ASSAY_INTERNAL,
                           "a changed problem has more than %d arrays",
                           EDIT_ARRAYS);
    else
        e->st = assay_alloc("a changed problem", count, bytes, &array, e->err);
    if (array)
        e->own[e->n_own++] = array;
    return array;
}

/* Rows of `bytes` of [b, s, h] by the map, into [b, n, heads]. */
static void *gather(struct edit *e, const struct assay_tensor *t,
                    const void *from, size_t bytes, const struct edit_map *map)
{
    const int64_t n = map->token ? map->n : t->s;
    const int64_t heads = map->head ? map->heads : t->h;
    uint8_t *to = edit_array(e, t->b * n * heads, bytes);
    for (int64_t r = 0; to && r < t->b * n * heads; r++) {
        int64_t b = r / heads / n, j = r / heads % n, h = r % heads;
        int64_t token = map->token ? map->token[j] : j;
        int64_t head = map->head ? map->head[h] : h;
        if (token < 0)
            memset(to + (size_t)r * bytes, 0, bytes);
        else
            memcpy(to + (size_t)r * bytes,
                   (const uint8_t *)from +
                       (size_t)((b * t->s + token) * t->h + head) * bytes,
                   bytes);
    }
    return to;
}

/* Scales that stand for tokens or heads go where those go. */
static void gather_scales(struct edit *e, struct assay_payload *x,
                          const struct edit_map *map)
{
    const struct assay_tensor *t = &x->tensor;
    const struct assay_tensor row = { .b = t->b, .s = 1, .h = t->h };
    const struct edit_map heads = { .heads = map->heads, .head = map->head };
    const int64_t rows = t->b * t->s * t->h;
    switch (x->scale) {
    case ASSAY_SCALE_BLOCK:
        if (rows > 0)
            x->e8m0 = gather(e, t, x->e8m0, (size_t)(x->n_scales / rows), map);
        break;
    case ASSAY_SCALE_TOKEN:
        x->scales = gather(e, t, x->scales, sizeof(float), map);
        break;
    case ASSAY_SCALE_HEAD:
        x->scales = gather(e, &row, x->scales, sizeof(float), &heads);
        break;
    case ASSAY_SCALE_CHANNEL:
        x->scales =
            gather(e, &row, x->scales, (size_t)t->d * sizeof(float), &heads);
        break;
    default: break;
    }
}

void edit_gather(struct edit *e, struct assay_payload *x,
                 const struct edit_map *map)
{
    const struct assay_tensor *t = &x->tensor;
    x->codes = gather(e, t, x->codes,
                      (size_t)t->d * assay_format_bytes(x->format), map);
    gather_scales(e, x, map);
    if (map->token)
        x->tensor.s = map->n;
    if (map->head)
        x->tensor.h = map->heads;
    x->count = t->b * t->s * t->h * t->d;
}

static void gather_keys(struct edit *e, const struct edit_map *map)
{
    edit_gather(e, &e->pay.k, map);
    edit_gather(e, &e->pay.v, map);
    e->p.nk = map->n;
}

void edit_drop_keys(struct edit *e, int64_t first, int64_t end)
{
    const int64_t n = e->p.nk - (end - first);
    int64_t *token = edit_array(e, n, sizeof *token);
    if (!token)
        return;
    for (int64_t j = 0; j < n; j++)
        token[j] = j < first ? j : j + end - first;
    gather_keys(e, &(struct edit_map){ .n = n, .token = token });
}

void edit_add_keys(struct edit *e, int64_t more)
{
    const int64_t nk = e->p.nk, n = nk + more;
    int64_t *token = edit_array(e, n, sizeof *token);
    if (!token)
        return;
    for (int64_t j = 0; j < n; j++)
        token[j] = j < nk ? j : -1;
    gather_keys(e, &(struct edit_map){ .n = n, .token = token });
}

void edit_shift(struct edit *e, struct assay_payload *x, int64_t by)
{
    const int64_t n = e->p.nk;
    int64_t *token = edit_array(e, n, sizeof *token);
    if (!token)
        return;
    for (int64_t j = 0; j < n; j++)
        token[j] = j + by < n ? j + by : n - 1;
    edit_gather(e, x, &(struct edit_map){ .n = n, .token = token });
}

void edit_scale(struct edit *e, double by)
{
    struct assay_payload *q = &e->pay.q;
    e->p.softmax_scale *= by;
    if (e->recipe.scale_applied == ASSAY_APPLIED_KERNEL)
        return;
    float *values = edit_array(e, q->count, sizeof *values);
    if (!values)
        return;
    assay_payload_values(q, values);
    for (int64_t i = 0; i < q->count; i++)
        values[i] = (float)(values[i] * by);
    q->codes = values;
    q->format = assay_format_get(ASSAY_F32);
    q->scale = ASSAY_SCALE_NONE;
    q->e8m0 = NULL;
    q->scales = NULL;
}

enum assay_status edit_run(struct edit *e, int64_t key_tile, float *o,
                           double *lse)
{
    const int64_t rows = assay_problem_rows(&e->p);
    if (e->st == ASSAY_OK && e->p.nk == 0) {
        memset(o, 0, (size_t)(rows * e->p.dv) * sizeof *o);
        for (int64_t r = 0; r < rows; r++)
            lse[r] = -__builtin_inf();
    } else if (e->st == ASSAY_OK) {
        e->st =
            key_tile > 0
                ? assay_recipe_emulate_tile(&e->recipe, &e->p, &e->pay,
                                            key_tile, o, lse, e->s->run, e->err)
                : assay_recipe_emulate(&e->recipe, &e->p, &e->pay, o, lse, NULL,
                                       e->s->run, e->err);
    }
    while (e->n_own > 0)
        assay_free(e->own[--e->n_own]);
    return e->st;
}
