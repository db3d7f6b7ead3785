/* SPDX-License-Identifier: MIT */
#include "blocked.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>

#include "assay/memory.h"
#include "bits.h"
#include "blas_threads.h"
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
        assay_format_round(format, ASSAY_SATURATE, (size_t)m, block, block);
        for (int64_t j = 0; j < m; j++)
            p[at + j] = block[j];
    }
}

#include "blocked_engine.h"

static enum assay_status widen(const char *what, int64_t n, const float *x,
                               double **out, struct assay_error *err)
{
    enum assay_status st = assay_alloc(what, n, sizeof **out, out, err);
    for (int64_t i = 0; st == ASSAY_OK && i < n; i++)
        (*out)[i] = x[i];
    return st;
}

enum assay_status blocked_f64(const struct blocked_job *job,
                              const struct assay_run *run,
                              struct assay_error *err)
{
    const struct assay_problem *p = job->p;
    double *q = NULL, *k = NULL, *v = NULL;
    enum assay_status st;
    if ((st = widen("q", assay_problem_q_elems(p), job->q, &q, err)) !=
            ASSAY_OK ||
        (st = widen("k", assay_problem_k_elems(p), job->k, &k, err)) !=
            ASSAY_OK ||
        (st = widen("v", assay_problem_v_elems(p), job->v, &v, err)) !=
            ASSAY_OK)
        goto out;
    struct blocked_job wide = *job;
    wide.q = q;
    wide.k = k;
    wide.v = v;
    st = engine(&wide, run, err);
out:
    assay_free(q);
    assay_free(k);
    assay_free(v);
    return st;
}
