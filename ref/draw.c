/* SPDX-License-Identifier: MIT */
#include "draw.h"

#include <math.h>

#include "assay/random.h"

uint32_t draw_stream(int operand, enum draw_use use)
{
    return (uint32_t)use * DRAW_OPERANDS + (uint32_t)operand;
}

void draw_rows(const struct draw *draw, int operand, bool noise,
               draw_shape *shape, const void *context)
{
    const struct draw_operand *of = &draw->of[operand];
    const uint32_t stream = draw_stream(operand, DRAW_NOISE);
#pragma omp parallel for schedule(static) num_threads(draw->threads)
    for (int64_t row = 0; row < of->b * of->n * of->h; row++) {
        const struct draw_place at = { row / of->h / of->n, row / of->h % of->n,
                                       row % of->h, row };
        float *x = of->x + row * of->d;
        if (noise)
            assay_random_normal(draw->seed, stream, row * of->d, of->d, x);
        if (shape)
            shape(draw, of, context, &at, x);
    }
}

void draw_normal(const struct draw *draw, int operand, enum draw_use use,
                 int64_t n, float *x)
{
    assay_random_normal(draw->seed, draw_stream(operand, use), 0, n, x);
}

double draw_dot(int64_t d, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t c = 0; c < d; c++)
        sum += (double)x[c] * y[c];
    return sum;
}

void draw_scale_to(int64_t d, double length, float *x)
{
    const double square = draw_dot(d, x, x);
    const double by = square > 0 ? length / sqrt(square) : 0;
    for (int64_t c = 0; c < d; c++)
        x[c] = (float)(x[c] * by);
}

void draw_directions(const struct draw *draw, int operand, enum draw_use use,
                     int64_t rows, int64_t d, double length, float *x)
{
    draw_normal(draw, operand, use, rows * d, x);
    for (int64_t r = 0; r < rows; r++)
        draw_scale_to(d, length, x + r * d);
}
