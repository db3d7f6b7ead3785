/* SPDX-License-Identifier: MIT
 *
 * Numbers for tests, keyed by (seed, index): no state, the same on every
 * machine and in any order.
 */
#ifndef CHECK_VALUES_H
#define CHECK_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/problem.h"

uint32_t values_bits(uint64_t seed, uint64_t i);
float values_normal(uint64_t seed, uint64_t i); /* mean 0, deviation 1 */
void values_fill(uint64_t seed, size_t n, float *x);

static inline uint32_t bits_of(float x)
{
    union {
        float f;
        uint32_t u;
    } w = { .f = x };
    return w.u;
}

static inline float float_of(uint32_t b)
{
    union {
        uint32_t u;
        float f;
    } w = { .u = b };
    return w.f;
}

/* Equal bits, or both NaN. */
bool same_float(float a, float b);
bool same_double(double a, double b);

/* malloc that ends the test when there is no memory; free() it. */
void *must_alloc(size_t n, size_t size);

/* Inputs of a problem, filled with normal values. */
struct tensors {
    float *q, *k, *v;
};
struct tensors tensors_new(const struct assay_problem *p, uint64_t seed);
void tensors_free(struct tensors *t);

#endif
