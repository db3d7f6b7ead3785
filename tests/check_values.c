/* SPDX-License-Identifier: MIT */
#include "check_values.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The finaliser of splitmix64 over a Weyl sequence (Steele, Lea, Flood 2014).
 */
uint32_t values_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed << 40) + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* Sum of twelve uniform values: no libm, so the same bits everywhere. */
float values_normal(uint64_t seed, uint64_t i)
{
    double sum = -6;
    for (uint64_t n = 0; n < 12; n++)
        sum += values_bits(seed, 12 * i + n) * 0x1p-32;
    return (float)sum;
}

void values_fill(uint64_t seed, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = values_normal(seed, i);
}

bool same_float(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

void *must_alloc(size_t n, size_t size)
{
    void *memory = malloc(n * size + 1);
    if (!memory)
        ck_abort_msg("no memory for %zu x %zu bytes", n, size);
    return memory;
}

static float *filled(uint64_t seed, int64_t n)
{
    float *x = must_alloc((size_t)n, sizeof *x);
    values_fill(seed, (size_t)n, x);
    return x;
}

struct tensors tensors_new(const struct assay_problem *p, uint64_t seed)
{
    return (struct tensors){
        .q = filled(3 * seed, assay_problem_q_elems(p)),
        .k = filled(3 * seed + 1, assay_problem_k_elems(p)),
        .v = filled(3 * seed + 2, assay_problem_v_elems(p)),
    };
}

void tensors_free(struct tensors *t)
{
    free(t->q);
    free(t->k);
    free(t->v);
    *t = (struct tensors){ 0 };
}
