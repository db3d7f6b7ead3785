/* SPDX-License-Identifier: MIT
 *
 * Kernels for probe.test, a fault each that one probe alone sees: the plain
 * bf16 kernel of packed_module.c, which is right wherever nothing is done
 * about it. Statics last as long as the process.
 */
#define assay_module plain_module
#include "packed_module.c"
#undef assay_module

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>

typedef int work(const struct assay_kernel_job *j);

static work *before; /* the kernel that this process launched last */

static int right(const struct assay_kernel_job *j)
{
    return launch(&of_bf16, j);
}

static uint16_t *words(const struct assay_kernel_tensor *t)
{
    return t->data;
}

/* Takes a flag of the kernel before it for its own. */
static int determinism(const struct assay_kernel_job *j)
{
    right(j);
    if (before && before != determinism)
        words(&j->o)[j->head_dim_v - 1] ^= 1;
    return 0;
}

/* Sees by name whether copies run beside it, for what a race does is chance. */
static int race(const struct assay_kernel_job *j)
{
    char path[512], name[32];
    DIR *tasks = opendir("/proc/self/task");
    bool seen = false;
    right(j);
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        seen |= f && fgets(name, sizeof name, f) &&
                strcmp(name, "assay-traffic\n") == 0;
        if (f)
            fclose(f);
    }
    words(&j->o)[j->head_dim_v - 1] ^= seen;
    if (tasks)
        closedir(tasks);
    return 0;
}

/* Keeps the first row for shapes that it has seen. */
static int stale(const struct assay_kernel_job *j)
{
    static uint16_t kept[MOST];
    static int64_t nq, nk;
    const size_t bytes = (size_t)j->head_dim_v * 2;
    right(j);
    if (nq == j->seqlen_q && nk == j->seqlen_k)
        memcpy(j->o.data, kept, bytes);
    memcpy(kept, j->o.data, bytes);
    nq = j->seqlen_q, nk = j->seqlen_k;
    return 0;
}

/* Forgets a tile of one key. */
static int bounds(const struct assay_kernel_job *j)
{
    struct assay_kernel_job less = *j;
    less.seqlen_k -= j->seqlen_k > 1 && j->seqlen_k % FRAME == 1;
    return right(&less);
}

/* Reads a byte before its first. */
static int bounds_start(const struct assay_kernel_job *j)
{
    (void)((const volatile char *)j->q.data)[-1];
    return right(j);
}

/* All entries of a batch get the first one's first row. */
static int batch(const struct assay_kernel_job *j)
{
    right(j);
    for (int64_t b = 1; b < j->batch; b++)
        memcpy(words(&j->o) + b * j->o.stride[0], j->o.data,
               (size_t)j->head_dim_v * 2);
    return 0;
}

/* Changes its queries in place from the second launch on. */
static int inputs(const struct assay_kernel_job *j)
{
    static int launches;
    right(j);
    if (launches++ > 0)
        words(&j->q)[0] ^= 1;
    return 0;
}

/* Takes what is there for a maximum, which NaN and small values survive. */
static int workspace(const struct assay_kernel_job *j)
{
    float most;
    right(j);
    memcpy(&most, j->workspace, sizeof most);
    if (most > 1)
        words(&j->o)[j->head_dim_v - 1] ^= 1;
    return 0;
}

/* Takes a first row that somebody left there for its own. */
static int aliasing(const struct assay_kernel_job *j)
{
    static const char mark[] = "a row";
    char *left = j->workspace;
    const size_t bytes = (size_t)j->head_dim_v * 2;
    right(j);
    if (memcmp(left, mark, sizeof mark) == 0)
        memcpy(j->o.data, left + sizeof mark, bytes);
    memcpy(left + sizeof mark, j->o.data, bytes);
    memcpy(left, mark, sizeof mark);
    return 0;
}

static int beside(const struct assay_kernel_job *j)
{
    ((char *)j->workspace)[j->workspace_bytes] = 0;
    return right(j);
}

static int supports_many(const struct assay_kernel_job *j, char *why, size_t n)
{
    if (j->seqlen_q < 64)
        return snprintf(why, n, "%d queries are too few", (int)j->seqlen_q), 1;
    return supports_bf16(j, why, n);
}

static int supports_none(const struct assay_kernel_job *j, char *why, size_t n)
{
    (void)j;
    return snprintf(why, n, "not today"), 1;
}

static int second_crashes(const struct assay_kernel_job *j)
{
    static int launches;
    if (launches++ > 0)
        abort();
    return right(j);
}

static size_t some_bytes(const struct assay_kernel_job *j)
{
    (void)j;
    return 256;
}

static work *const right_without = right, *const many = right,
                   *const none = right;
#define no_bytes NULL

/* X(kernel, group, what it supports, workspace) */
#define FAULTS                                          \
    X(right, probe, supports_bf16, some_bytes)          \
    X(determinism, probe, supports_bf16, some_bytes)    \
    X(race, probe, supports_bf16, some_bytes)           \
    X(stale, probe, supports_bf16, some_bytes)          \
    X(bounds, probe, supports_bf16, some_bytes)         \
    X(bounds_start, probe, supports_bf16, some_bytes)   \
    X(batch, probe, supports_bf16, some_bytes)          \
    X(inputs, probe, supports_bf16, some_bytes)         \
    X(workspace, probe, supports_bf16, some_bytes)      \
    X(aliasing, probe, supports_bf16, some_bytes)       \
    X(second_crashes, other, supports_bf16, some_bytes) \
    X(beside, other, supports_bf16, some_bytes)         \
    X(right_without, other, supports_bf16, no_bytes)    \
    X(many, other, supports_many, some_bytes)           \
    X(none, other, supports_none, some_bytes)

#define X(id, ...)                                                     \
    static int fault_##id(const struct assay_kernel_job *j, char *why, \
                          size_t n)                                    \
    {                                                                  \
        (void)why, (void)n;                                            \
        id(j);                                                         \
        before = id;                                                   \
        return 0;                                                      \
    }
FAULTS
#undef X

static const struct assay_kernel fault_kernels[] = {
#define X(id, group, supports, workspace)           \
    { #group "." #id,      "bf16",   "nominal", "", \
      ASSAY_KERNEL_PACKED, supports, workspace, fault_##id },
    FAULTS
#undef X
};

static const struct assay_kernel_module faults = {
    ASSAY_KERNEL_ABI,
    ASSAY_KERNEL_HOST,
    "faults",
    NULL,
    sizeof *fault_kernels,
    sizeof fault_kernels / sizeof *fault_kernels,
    fault_kernels,
};

const struct assay_kernel_module *assay_module(void)
{
    return &faults;
}
