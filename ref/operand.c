/* SPDX-License-Identifier: MIT */
#include "assay/operand.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "assay/rotate.h"

enum { NO, YES };

static const struct assay_rotation_order orders[] = {
#define ASSAY_ROTATION_ORDER(id, name, rotate, first, about) \
    { ASSAY_ROTATION_##id, name, rotate, first, about },
#include "assay/rotation_order.def"
#undef ASSAY_ROTATION_ORDER
};

const struct assay_rotation_order *
assay_rotation_order_get(enum assay_rotation_order_id id)
{
    return &orders[id];
}

float assay_fold_multiplier(double softmax_scale)
{
    return (float)(softmax_scale * M_LOG2E);
}

static enum assay_status check(const struct assay_rotation_order *order,
                               const struct assay_operand *x,
                               struct assay_error *err)
{
    int64_t n;
    if (x->b < 1 || x->tokens < 0 || x->heads < 1 || x->width < 1 ||
        __builtin_mul_overflow(x->b, x->heads, &n) ||
        __builtin_mul_overflow(n, x->width, &n) ||
        __builtin_mul_overflow(n, (int64_t)sizeof(float), &n) ||
        __builtin_mul_overflow(n, x->tokens, &n))
        return assay_fail(err, ASSAY_SHAPE,
                          "no operand can have the shape [%" PRId64 ", %" PRId64
                          ", %" PRId64 ", %" PRId64 "]",
                          x->b, x->tokens, x->heads, x->width);
    return order->rotate ? assay_rotate(x->width, 0, NULL, 1, NULL, NULL, err)
                         : ASSAY_OK;
}

/* Rows of which row r has mean row r % means; the mean may be NULL. */
static void subtract(int64_t width, int64_t rows, const float *x, int64_t means,
                     const float *mean, float *y)
{
    for (int64_t r = 0; r < rows; r++) {
        const float *m = mean ? mean + r % means * width : NULL;
        for (int64_t c = 0; c < width; c++)
            y[r * width + c] = x[r * width + c] - (m ? m[c] : 0);
    }
}

static void round_words(const struct assay_format *word, int64_t n, float *y)
{
    assay_format_round(word, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, (size_t)n, y,
                       y);
}

/* Some tokens of one batch. */
static enum assay_status prepare(const struct assay_rotation_order *order,
                                 const struct assay_format *word,
                                 const struct assay_operand *x, int64_t tokens,
                                 float *y, struct assay_error *err)
{
    const int64_t rows = tokens * x->heads, n = rows * x->width;
    const float mult = x->mult;
    enum assay_status st = ASSAY_OK;
    if (order->rotate)
        st = assay_rotate(x->width, rows, x->x, x->heads, x->mean, y, err);
    else
        subtract(x->width, rows, x->x, x->heads, x->mean, y);
    if (st != ASSAY_OK)
        return st;
    if (order->round_first)
        round_words(word, n, y);
    for (int64_t i = 0; i < n; i++)
        y[i] *= mult;
    round_words(word, n, y);
    return ASSAY_OK;
}

enum assay_status assay_operand_prepare(
    const struct assay_rotation_order *order, const struct assay_format *word,
    const struct assay_operand *operand, float *y, struct assay_error *err)
{
    enum { TOKENS = 16 }; /* at a time, to stay in the cache */
    const struct assay_operand *x = operand;
    enum assay_status st = check(order, x, err);
    for (int64_t b = 0; st == ASSAY_OK && b < x->b; b++)
        for (int64_t t = 0; st == ASSAY_OK && t < x->tokens; t += TOKENS) {
            const int64_t token = x->heads * x->width;
            const int64_t at = (b * x->tokens + t) * token;
            const int64_t left = x->tokens - t;
            struct assay_operand part = *x;
            part.x = x->x + at;
            part.mean = x->mean ? x->mean + b * token : NULL;
            st = prepare(order, word, &part, left < TOKENS ? left : TOKENS,
                         y + at, err);
        }
    return st;
}
