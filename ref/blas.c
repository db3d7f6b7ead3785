/* SPDX-License-Identifier: MIT */
#include "assay/blas.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas_threads.h"
#include "config.h"

#ifdef HAVE_OPENBLAS_SET_NUM_THREADS
const char *assay_blas_name(void)
{
    /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": keep name and version */
    static _Thread_local char name[64];
    sscanf(openblas_get_config(), "%31s", name);
    size_t n = strlen(name);
    if (sscanf(openblas_get_config(), "%*s %30s", name + n + 1) == 1)
        name[n] = ' ';
    return name;
}

const char *assay_blas_core(void)
{
    return openblas_get_corename();
}

int blas_one_thread(void)
{
    int before = openblas_get_num_threads();
    if (before != 1)
        openblas_set_num_threads(1);
    return before;
}

void blas_restore_threads(int before)
{
    if (before != 1)
        openblas_set_num_threads(before);
}
#else
const char *assay_blas_name(void)
{
    return "cblas";
}

const char *assay_blas_core(void)
{
    return "unknown";
}

int blas_one_thread(void)
{
    return 1;
}

void blas_restore_threads(int before)
{
    (void)before;
}
#endif

static float gemm_one(int k, float beta, float c)
{
    float a[1] = { 1 }, b[1] = { 1 };
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, k, 1, a, 1, b,
                1, beta, &c, 1);
    return c;
}

static int small_cases_right(void)
{
    float c[4] = { NAN, NAN, NAN, NAN };
    const float a[4] = { 1, 2, 3, 4 }, b[4] = { 5, 6, 7, 8 };
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, a, 2, b,
                2, 0, c, 2);
    return gemm_one(0, 0, 0.266733f) == 0 && gemm_one(0, 2, 5) == 10 &&
           c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50;
}

static int zero_times_nan_is_nan(void)
{
    const float a[4] = { 0 }, b[4] = { NAN, 6, INFINITY, 8 };
    float c[4] = { 0 };
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, a, 2, b,
                2, 0, c, 2);
    return isnan(c[0]) && c[1] == 0 && isnan(c[2]) && c[3] == 0;
}

static int times_identity_is_exact(void)
{
    enum { M = 45, N = 33 };
    static const float one = 1;
    float a[M * N], eye[N * N] = { 0 }, c[M * N];
    for (int i = 0; i < M * N; i++) {
        a[i] = (float)i;
        c[i] = NAN;
    }
    for (int i = 0; i < N; i++)
        eye[i * N + i] = one;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, N, 1, a, N,
                eye, N, 0, c, N);
    return memcmp(a, c, sizeof a) == 0;
}

enum assay_status assay_blas_check(struct assay_error *err)
{
    const struct {
        int (*right)(void);
        const char *what;
    } cases[] = {
        { small_cases_right, "k = 0 or beta = 0 over old contents" },
        { zero_times_nan_is_nan, "zero times NaN" },
        { times_identity_is_exact, "45 x 33 times the identity" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!cases[i].right())
            return assay_fail(
                err, ASSAY_INTERNAL, "%s, core %s, gets sgemm wrong: %s",
                assay_blas_name(), assay_blas_core(), cases[i].what);
    return ASSAY_OK;
}
