/* SPDX-License-Identifier: MIT */
#include "assay/problem.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static const char *const mask_names[] = {
#define ASSAY_MASK(id, name, about) name,
#include "assay/mask.def"
#undef ASSAY_MASK
};

const char *assay_mask_name(enum assay_mask mask)
{
    return mask_names[mask];
}

enum assay_mask assay_mask_find(const char *name)
{
    int i = 0;
    while (i < ASSAY_MASKS && strcmp(mask_names[i], name) != 0)
        i++;
    return (enum assay_mask)i;
}

double assay_problem_default_scale(int64_t dk)
{
    return pow((double)dk, -0.5); /* as Python has it, to the bit */
}

int64_t assay_problem_q_elems(const struct assay_problem *p)
{
    return p->b * p->nq * p->hq * p->dk;
}

int64_t assay_problem_k_elems(const struct assay_problem *p)
{
    return p->b * p->nk * p->hk * p->dk;
}

int64_t assay_problem_v_elems(const struct assay_problem *p)
{
    return p->b * p->nk * p->hk * p->dv;
}

int64_t assay_problem_o_elems(const struct assay_problem *p)
{
    return p->b * p->nq * p->hq * p->dv;
}

int64_t assay_problem_rows(const struct assay_problem *p)
{
    return p->b * p->hq * p->nq;
}

int64_t assay_problem_visible(const struct assay_problem *p, int64_t i)
{
    if (p->mask == ASSAY_MASK_NONE)
        return p->nk;
    int64_t n = i + 1 + p->nk - p->nq;
    return n < 0 ? 0 : n > p->nk ? p->nk : n;
}

int64_t assay_row_offset(int64_t tokens, int64_t heads, int64_t width,
                         int64_t b, int64_t token, int64_t head)
{
    return ((b * tokens + token) * heads + head) * width;
}

static enum assay_status check_size(const char *name, int64_t size,
                                    int64_t least, struct assay_error *err)
{
    if (size >= least)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_SHAPE,
                      "%s is %" PRId64 ", must be at least %" PRId64, name,
                      size, least);
}

/* No word of a file stands behind a size of an empty tensor. */
enum { MOST_EMPTY = 1 << 20 };

/* Bytes of the largest form (double) must be countable. A 0 makes the product
 * small and not what is asked for by heads or channels: it counts as 1. */
static enum assay_status check_product(const char *name, int64_t b, int64_t n,
                                       int64_t h, int64_t d,
                                       struct assay_error *err)
{
    int64_t x;
    if (__builtin_mul_overflow(b, n + !n, &x) ||
        __builtin_mul_overflow(x, h, &x) || __builtin_mul_overflow(x, d, &x) ||
        __builtin_mul_overflow(x, 8, &x))
        return assay_fail(err, ASSAY_SHAPE,
                          "%s of [%" PRId64 ", %" PRId64 ", %" PRId64
                          ", %" PRId64 "] is too large to address",
                          name, b, n, h, d);
    if (h > INT_MAX / d) /* BLAS counts a row step in an int */
        return assay_fail(err, ASSAY_SHAPE,
                          "%s has %" PRId64 " heads of %" PRId64
                          " channels, more than a BLAS row step can count",
                          name, h, d);
    if (n == 0 && b * h * d > MOST_EMPTY)
        return assay_fail(err, ASSAY_SHAPE,
                          "%s of [%" PRId64 ", 0, %" PRId64 ", %" PRId64
                          "] has no tokens, and more than %d channels for "
                          "them",
                          name, b, h, d, MOST_EMPTY);
    return ASSAY_OK;
}

enum assay_status assay_problem_check(const struct assay_problem *p,
                                      struct assay_error *err)
{
    const struct {
        const char *name;
        int64_t size, least;
    } sizes[] = {
        { "batch", p->b, 1 },        { "query heads", p->hq, 1 },
        { "key heads", p->hk, 1 },   { "queries", p->nq, 0 },
        { "keys", p->nk, 0 },        { "query and key width", p->dk, 1 },
        { "value width", p->dv, 1 },
    };
    enum assay_status st;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        st = check_size(sizes[i].name, sizes[i].size, sizes[i].least, err);
        if (st != ASSAY_OK)
            return st;
    }
    if (p->hq % p->hk != 0)
        return assay_fail(err, ASSAY_SHAPE,
                          "%" PRId64 " query heads are no multiple of %" PRId64
                          " key heads",
                          p->hq, p->hk);
    if (p->mask >= ASSAY_MASKS)
        return assay_fail(err, ASSAY_SHAPE, "mask %d is not known",
                          (int)p->mask);
    if (!isfinite(p->softmax_scale))
        return assay_fail(err, ASSAY_SHAPE, "softmax scale is %g, not finite",
                          p->softmax_scale);
    if ((st = check_product("q", p->b, p->nq, p->hq, p->dk, err)) != ASSAY_OK ||
        (st = check_product("k", p->b, p->nk, p->hk, p->dk, err)) != ASSAY_OK ||
        (st = check_product("v", p->b, p->nk, p->hk, p->dv, err)) != ASSAY_OK)
        return st;
    return check_product("o", p->b, p->nq, p->hq, p->dv, err);
}
