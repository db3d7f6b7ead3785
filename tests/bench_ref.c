/* SPDX-License-Identifier: MIT
 *
 * What `assay bench` cannot see from outside of ref: exact attention beside its
 * two products alone, exp2, peak memory. The best of interleaved runs is told.
 * For true figures unset OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE.
 *
 *   bench_ref [TOKENS [THREADS]]   default 4096 tokens, one thread
 */
#include <cblas.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "assay/attention.h"
#include "assay/blas.h"
#include "assay/format.h"
#include "assay/memory.h"
#include "assay/rotate.h"
#include "golden/clock.h"
#include "ref/blas_threads.h"
#include "ref/vexp.h"

static void *need(int64_t count, size_t bytes)
{
    struct assay_error err;
    void *memory;
    if (assay_alloc("a benchmark", count, bytes, &memory, &err) != ASSAY_OK) {
        fprintf(stderr, "bench_ref: %s\n", err.text);
        exit(1);
    }
    return memory;
}

/* Counter-based, so the data do not depend on the order of filling. */
static void fill(int64_t n, uint64_t seed, float *x)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15u + seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        x[i] = (float)(int64_t)(z ^ (z >> 31)) * 0x1p-62f;
    }
}

struct bench {
    struct assay_problem p;
    struct assay_run run;
    float *q, *k, *v, *o, *tile;
    double *lse, *o64;
};

static void exact_f32(struct bench *b)
{
    assay_attention_f32(&b->p, b->q, b->k, b->v, b->o, b->lse, &b->run, NULL);
}

static void exact_f64(struct bench *b)
{
    assay_attention_f64(&b->p, b->q, b->k, b->v, b->o64, b->lse, &b->run, NULL);
}

/* The two products of attention alone, in the engine's own tile sizes. */
static void products_f32(struct bench *b)
{
    enum { M = 128, N = 512 };
    const int d = (int)b->p.dk;
    for (int64_t i = 0; i + M <= b->p.nq; i += M)
        for (int64_t j = 0; j + N <= b->p.nk; j += N) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, M, N, d, 1,
                        b->q + i * d, d, b->k + j * d, d, 0, b->tile, N);
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, d, N, 1,
                        b->tile, N, b->v + j * d, d, 1, b->tile + M * N, d);
        }
}

static double best(double now, double before)
{
    return before == 0 || now < before ? now : before;
}

static double timed(void (*work)(struct bench *), struct bench *b)
{
    double start = seconds();
    work(b);
    return seconds() - start;
}

static void bench_attention(struct bench *b, int rounds)
{
    double f32 = 0, f64 = 0, gemm = 0;
    double flop = 4.0 * (double)b->p.nq * (double)b->p.nk * (double)b->p.dk;
    for (int r = 0; r < rounds; r++) {
        gemm = best(timed(products_f32, b), gemm);
        f32 = best(timed(exact_f32, b), f32);
        if (b->o64)
            f64 = best(timed(exact_f64, b), f64);
    }
    printf("sgemm of the same tiles, 1 thread  %8.3f s  %7.1f GFLOP/s\n", gemm,
           flop / gemm * 1e-9);
    printf("exact f32, %d threads               %8.3f s  %7.1f GFLOP/s  "
           "%.2f x the products' time\n",
           b->run.threads, f32, flop / f32 * 1e-9, f32 / gemm);
    if (b->o64)
        printf("exact f64, %d threads               %8.3f s  %7.1f GFLOP/s\n",
               b->run.threads, f64, flop / f64 * 1e-9);
}

static void bench_elements(int rounds)
{
    enum { N = 1 << 20 };
    float *x = need(N, sizeof *x), *y = need(N, sizeof *y);
    fill(N, 7, x);
    double copy = 0, exp = 0, rotate = 0;
    for (int r = 0; r < rounds; r++) {
        double start = seconds();
        for (int64_t i = 0; i < N; i++)
            y[i] = x[i] * 1.5f;
        copy = best(seconds() - start, copy);
        start = seconds();
        exp2_f32(N, y);
        exp = best(seconds() - start, exp);
        start = seconds();
        assay_rotate(128, N / 128, x, 1, NULL, y, NULL);
        rotate = best(seconds() - start, rotate);
    }
    printf("ns an element: multiply-copy %.2f, exp2 %.2f, rotation of 128 "
           "channels %.2f\n",
           1e9 * copy / N, 1e9 * exp / N, 1e9 * rotate / N);
    assay_free(x);
    assay_free(y);
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 4096;
    const int threads = argc > 2 ? atoi(argv[2]) : 1;
    const bool small = n <= 16384;
    struct rusage usage;
    struct bench b = { .p = { 1, 1, 1, n, n, 128, 128, ASSAY_MASK_NONE,
                              assay_problem_default_scale(128) },
                       .run = { .threads = threads } };
    b.q = need(n * 128, sizeof(float));
    b.k = need(n * 128, sizeof(float));
    b.v = need(n * 128, sizeof(float));
    b.o = need(n * 128, sizeof(float));
    b.lse = need(n, sizeof(double));
    b.tile = need(128 * 1024, sizeof(float));
    b.o64 = small ? need(n * 128, sizeof(double)) : NULL;
    fill(n * 128, 1, b.q);
    fill(n * 128, 2, b.k);
    fill(n * 128, 3, b.v);
    memset(b.tile, 0, 128 * 1024 * sizeof(float));
    int blas = blas_one_thread();
    printf("%s, core %s; %" PRId64 " tokens, width 128, one head\n",
           assay_blas_name(), assay_blas_core(), n);
    bench_attention(&b, small ? 5 : 1);
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory so far %.0f MB\n", (double)usage.ru_maxrss / 1024);
    if (small)
        bench_elements(15);
    blas_restore_threads(blas);
    assay_free(b.q);
    assay_free(b.k);
    assay_free(b.v);
    assay_free(b.o);
    assay_free(b.o64);
    assay_free(b.lse);
    assay_free(b.tile);
    return 0;
}
