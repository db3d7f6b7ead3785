/* SPDX-License-Identifier: MIT */
#include "blocked.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>

#include "assay/memory.h"
#include "bits.h"
#include "blas_threads.h"
#include "softmax_coded.h"
#include "vexp.h"

#define REAL double
#define GEMM cblas_dgemm
#define EXP2 exp2_f64
#define ROUND_P(job, n, p) round_through_f32((job)->p_format, n, p)

/* A kernel that keeps P in binary64 does not exist: P is binary32 first. */
static void round_through_f32(const struct assay_format *format, int64_t n,
                              double *p)
{
    float block[256];
    for (int64_t at = 0; at < n; at += 256) {
        int64_t m = n - at < 256 ? n - at : 256;
        for (int64_t j = 0; j < m; j++)
            block[j] = (float)p[at + j];
        assay_format_round(format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE,
                           (size_t)m, block, block);
        for (int64_t j = 0; j < m; j++)
            p[at + j] = block[j];
    }
}

#include "blocked_engine.h"

ASSAY_CLONES
static void widen(int64_t n, const float *restrict x, double *restrict y)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = x[j];
}

/* Tile by tile: a copy of whole inputs in binary64 would be the largest
 * memory of all. */
static const double *load(const float *from, int64_t rows, int64_t width,
                          int64_t heads, double *room, int *step)
{
    for (int64_t r = 0; r < rows; r++)
        widen(width, from + r * heads * width, room + r * width);
    *step = (int)width;
    return room;
}

enum assay_status blocked_f64(const struct blocked_job *job,
                              const struct assay_run *run,
                              struct assay_error *err)
{
    return engine(job, run, err);
}
