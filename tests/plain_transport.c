/* SPDX-License-Identifier: MIT */
#include "plain_transport.h"

#include <math.h>

#include "check_values.h"

const struct element e4m3 = { 3, -6, 448, 7 }, e2m3 = { 3, 0, 7.5, 5 },
                     e2m1 = { 1, 0, 6, 3 }, int8 = { 7, 7, 127, 0 };

float to_bf16(float x)
{
    uint32_t b = bits_of(x);
    return float_of((b + 0x7fff + (b >> 16 & 1)) & 0xffff0000u);
}

/* Steps of 2^(exponent - mantissa), the exponent at least that of the smallest
 * normal. */
static double step_of(const struct element *e, double size)
{
    int exponent = size > 0 ? ilogb(size) : e->least;
    return ldexp(1, (exponent > e->least ? exponent : e->least) - e->mantissa);
}

uint8_t code_of(const struct element *e, float x, bool tie_to_zero)
{
    const double size = fabs((double)x), step = step_of(e, size);
    double steps = rint(size / step);
    if (tie_to_zero && steps - size / step == 0.5)
        steps -= 1;
    const double value = fmin(steps * step, e->max);
    if (e == &int8)
        return (uint8_t)(int8_t)copysign(value, x);
    const double own = step_of(e, value);
    const int field = (int)log2(own) + e->mantissa - e->least;
    return (uint8_t)((signbit(x) ? 1 : 0) << e->sign_shift |
                     ((field << e->mantissa) + (int)(value / own)));
}

double value_of(const struct element *e, uint8_t code)
{
    if (e == &int8)
        return (int8_t)code;
    const int low = code & ((1 << e->sign_shift) - 1);
    const int field = low >> e->mantissa, rest = low & ((1 << e->mantissa) - 1);
    const double size = field == 0 ? ldexp(rest, e->least - e->mantissa)
                                   : ldexp((1 << e->mantissa) + rest,
                                           field - 1 + e->least - e->mantissa);
    return code >> e->sign_shift & 1 ? -size : size;
}

void rotate_row(const float *x, float *y)
{
    for (int i = 0; i < WIDTH; i++)
        y[i] = x[i];
    for (int stride = 1; stride < WIDTH; stride *= 2)
        for (int i = 0; i < WIDTH; i++)
            if (!(i & stride)) {
                const float low = y[i] + y[i + stride];
                y[i + stride] = y[i] - y[i + stride];
                y[i] = low;
            }
    for (int i = 0; i < WIDTH; i++)
        y[i] *= float_of(0x3db504f3);
}

float amax_of(int64_t n, const float *x)
{
    float amax = 0;
    for (int64_t i = 0; i < n; i++)
        amax = fmaxf(amax, fabsf(x[i]));
    return amax;
}

float reciprocal(int byte)
{
    return float_of((uint32_t)(254 - byte) << 23);
}

int ceil_exponent(float x)
{
    return (int)(bits_of(x) >> 23 & 255) + ((bits_of(x) & 0x7fffff) != 0);
}
