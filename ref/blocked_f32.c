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

#define REAL float
#define GEMM cblas_sgemm
#define EXP2 exp2_f32
#define ROUND_P(job, n, p)                                                  \
    assay_format_round((job)->p_format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE, \
                       (size_t)(n), p, p)

#include "blocked_engine.h"

static const float *load(const float *from, int64_t rows, int64_t width,
                         int64_t heads, float *room, int *step)
{
    (void)rows;
    (void)room;
    *step = (int)(heads * width);
    return from;
}

enum assay_status blocked_f32(const struct blocked_job *job,
                              const struct assay_run *run,
                              struct assay_error *err)
{
    return engine(job, run, err);
}
