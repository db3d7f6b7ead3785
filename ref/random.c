/* SPDX-License-Identifier: MIT */
#include "assay/random.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 10 };

void assay_philox(const uint32_t counter[4], const uint32_t key[2],
                  uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t x = (uint64_t)0xd2511f53u * c0,
                       y = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(y >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)y;
        c2 = (uint32_t)(x >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)x;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static void block(uint64_t seed, uint32_t stream, int64_t number,
                  uint32_t out[4])
{
    const uint64_t n = (uint64_t)number;
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    const uint32_t counter[4] = { (uint32_t)n, (uint32_t)(n >> 32), stream, 0 };
    assay_philox(counter, key, out);
}

static void box_muller(uint32_t w, uint32_t v, float *x)
{
    const double pi = 3.14159265358979323846;
    const double r = sqrt(-2 * log((w + 0.5) * 0x1p-32));
    const double a = 2 * pi * (v * 0x1p-32);
    x[0] = (float)(r * cos(a));
    x[1] = (float)(r * sin(a));
}

void assay_random_normal(uint64_t seed, uint32_t stream, int64_t first,
                         int64_t n, float *x)
{
    while (n > 0) {
        const int64_t skip = first % 4, m = n < 4 - skip ? n : 4 - skip;
        uint32_t w[4];
        float four[4];
        block(seed, stream, first / 4, w);
        box_muller(w[0], w[1], four);
        box_muller(w[2], w[3], four + 2);
        memcpy(x, four + skip, (size_t)m * sizeof *x);
        x += m;
        first += m;
        n -= m;
    }
}

double assay_random_uniform(uint64_t seed, uint32_t stream, int64_t index)
{
    uint32_t w[4];
    block(seed, stream, index, w);
    return ((w[0] >> 5) * 0x1p26 + (w[1] >> 6)) * 0x1p-53;
}

void assay_random_choose(uint64_t seed, uint32_t stream, int64_t n,
                         int64_t count, unsigned char *chosen)
{
    memset(chosen, 0, (size_t)n);
    for (int64_t j = n - count; j < n; j++) {
        const int64_t at =
            (int64_t)(assay_random_uniform(seed, stream, j) * (double)(j + 1));
        chosen[chosen[at] ? j : at] = 1;
    }
}
