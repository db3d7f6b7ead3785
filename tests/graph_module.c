/* SPDX-License-Identifier: MIT
 *
 * Kernels for gpu.test that a graph alone harms, beside one that it does not,
 * over the runtime of fake_gpu.c: OWN is the source of a module whose launch
 * computes at once.
 */
#define assay_module plain_module
#include OWN
#undef assay_module

#include <stdlib.h>

int cudaLaunchHostFunc(void *stream, void (*call)(void *), void *with);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);

struct call {
    struct assay_kernel_job job;
    int first; /* nothing has run it yet */
};

static void compute(void *with)
{
    const struct call *c = with;
    launch(&c->job, NULL, 0);
}

/* Right as long as what the launch prepared on the host is not used up. */
static void compute_once(void *with)
{
    struct call *c = with;
    compute(c);
    if (!c->first)
        *(uint16_t *)c->job.o.data ^= 1;
    c->first = 0;
}

/* Never freed: a graph may run it at any time. */
static struct call *keep(const struct assay_kernel_job *j)
{
    struct call *c = malloc(sizeof *c);
    c->job = *j;
    c->first = 1;
    return c;
}

static int right(const struct assay_kernel_job *j, char *why, size_t n)
{
    (void)why, (void)n;
    return cudaLaunchHostFunc(j->stream, compute, keep(j));
}

static int once(const struct assay_kernel_job *j, char *why, size_t n)
{
    (void)why, (void)n;
    return cudaLaunchHostFunc(j->stream, compute_once, keep(j));
}

/* On the default stream, and nobody looks. */
static int no_stream(const struct assay_kernel_job *j, char *why, size_t n)
{
    (void)why, (void)n;
    cudaLaunchHostFunc(NULL, compute, keep(j));
    return 0;
}

static int own_stream(const struct assay_kernel_job *j, char *why, size_t n)
{
    void *stream;
    (void)why, (void)n;
    return cudaStreamCreateWithFlags(&stream, 1) ||
           cudaLaunchHostFunc(stream, compute, keep(j));
}

/* Looks at an input on the host first. */
static int looks(const struct assay_kernel_job *j, char *why, size_t n)
{
    uint16_t word;
    const int error = cudaMemcpy(&word, j->q.data, sizeof word, 2);
    if (error)
        return snprintf(why, n, "copy"), error;
    return right(j, why, n);
}

#define ROW(id)                                                          \
    {                                                                    \
#id, "bf16", "nominal", "", ASSAY_KERNEL_RAW, supports, NULL, id \
    }

static const struct assay_kernel graph_kernels[] = {
    ROW(right), ROW(once), ROW(no_stream), ROW(own_stream), ROW(looks),
};

static const struct assay_kernel_module graph_module = {
    ASSAY_KERNEL_ABI,
    ASSAY_KERNEL_CUDA,
    "graphs",
    NULL,
    sizeof *graph_kernels,
    sizeof graph_kernels / sizeof *graph_kernels,
    graph_kernels,
};

const struct assay_kernel_module *assay_module(void)
{
    return &graph_module;
}
