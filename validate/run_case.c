/* SPDX-License-Identifier: MIT */
#include "validate/run_case.h"

#include <fenv.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "assay/memory.h"
#include "validate/buffers.h"
#include "validate/module.h"
#include "golden/child.h"
#include "golden/clock.h"
#include "golden/term.h"

/* How far the child got, so that a crash can say where. */
enum stage { LOADING, ASKING, ALLOCATING, LAUNCHING, COPYING, DONE };

static const char *const stage_names[] = {
    "loading the module", "asking what it supports", "allocating memory",
    "running the kernel", "copying results",         "after the kernel",
};

struct shared {
    enum stage stage;
    double seconds;
    int supports, launch; /* what the kernel's functions returned */
    bool no_memory;
    size_t workspace;        /* asked for */
    int64_t workspace_bytes; /* changed outside it */
    char reason[160];
    char notes[160];
};

struct running {
    const struct run_request *r;
    const struct device *device;
    const struct buffers *buffers;
    struct shared *shared;
};

static void set_strides(struct assay_kernel_tensor *t, int64_t tokens,
                        int64_t heads, int64_t width)
{
    t->stride[0] = tokens * heads * width;
    t->stride[1] = heads * width;
    t->stride[2] = width;
    t->stride[3] = 1;
}

/* Captured words, or what the recipe's quantizer makes of them. */
static void set_input(struct assay_kernel_tensor *t,
                      const struct run_request *r, enum assay_quantizer_id how,
                      int64_t tokens, int64_t heads, int64_t width)
{
    const struct assay_quantizer *quantizer = assay_quantizer_get(how);
    const bool raw = r->input == ASSAY_KERNEL_RAW;
    const struct assay_format *format =
        raw ? r->c->format : assay_format_get(quantizer->format);
    t->format = format->kernel_format;
    t->scale_mode = assay_scale_get(raw ? ASSAY_SCALE_NONE : quantizer->scale)
                        ->kernel_scale;
    set_strides(t, tokens, heads, width);
}

static struct assay_kernel_job make_job(const struct run_request *r)
{
    const struct assay_problem *p = &r->c->problem;
    const struct assay_recipe *recipe = r->answer->recipe;
    struct assay_kernel_job job = {
        .size = sizeof job,
        .workload = ASSAY_KERNEL_DENSE,
        .input = r->input,
        .mask = p->mask == ASSAY_MASK_CAUSAL ? ASSAY_KERNEL_MASK_CAUSAL
                                             : ASSAY_KERNEL_MASK_NONE,
        .batch = p->b,
        .seqlen_q = p->nq,
        .seqlen_k = p->nk,
        .heads_q = p->hq,
        .heads_kv = p->hk,
        .head_dim_qk = p->dk,
        .head_dim_v = p->dv,
        .softmax_scale = p->softmax_scale,
    };
    set_input(&job.q, r, recipe->q, p->nq, p->hq, p->dk);
    set_input(&job.k, r, recipe->k, p->nk, p->hk, p->dk);
    set_input(&job.v, r, recipe->v, p->nk, p->hk, p->dv);
    job.o.format = assay_format_get(recipe->out_format)->kernel_format;
    job.o.scale_mode = ASSAY_KERNEL_SCALE_NONE;
    set_strides(&job.o, p->nq, p->hq, p->dv);
    return job;
}

/* A module built with -ffast-math flushes subnormals from the moment it is
 * loaded. Noted and put back. */
static void check_environment(struct shared *s, const char *when)
{
    volatile float tiny = FLT_MIN;
    tiny /= 2;
    bool flushes = tiny == 0;
    if (flushes || fegetround() != FE_TONEAREST)
        snprintf(s->notes, sizeof s->notes,
                 "%s the module changed the floating-point environment (%s); "
                 "put back",
                 when, flushes ? "flush to zero" : "rounding");
    fesetenv(FE_DFL_ENV);
}

/* Between guards, and full of the same NaN: its contents are undefined. */
static bool place_workspace(const struct running *run,
                            struct assay_kernel_job *job)
{
    const size_t n = job->workspace_bytes;
    size_t all;
    if (__builtin_add_overflow(n, 3 * (size_t)GUARD_BYTES, &all))
        return false;
    all = GUARD_BYTES + n + guard_tail(n);
    char *memory = run->device->alloc(all);
    if (!memory || !run->device->fill(memory, GUARD_BYTE, all))
        return false;
    job->workspace = memory + GUARD_BYTES;
    return true;
}

/* In the child, since only it can reach the device. */
static bool check_workspace(const struct running *run,
                            const struct assay_kernel_job *job)
{
    static unsigned char guards[3 * GUARD_BYTES];
    const size_t n = job->workspace_bytes, tail = guard_tail(n);
    char *at = job->workspace;
    if (n == 0)
        return true;
    if (!run->device->from_device(guards, at - GUARD_BYTES, GUARD_BYTES) ||
        !run->device->from_device(guards + GUARD_BYTES, at + n, tail))
        return false;
    for (size_t i = 0; i < GUARD_BYTES + tail; i++)
        run->shared->workspace_bytes += guards[i] != GUARD_BYTE;
    return true;
}

static bool place_buffers(const struct running *run,
                          struct assay_kernel_job *job, void *at[BUFFERS])
{
    if (!buffers_to_device(run->buffers, run->device, at))
        return false;
    job->q.data = at[BUFFER_Q];
    job->k.data = at[BUFFER_K];
    job->v.data = at[BUFFER_V];
    job->q.scale = at[BUFFER_Q_SCALE];
    job->k.scale = at[BUFFER_K_SCALE];
    job->v.scale = at[BUFFER_V_SCALE];
    job->o.data = at[BUFFER_O];
    job->lse = at[BUFFER_LSE];
    return job->workspace_bytes == 0 || place_workspace(run, job);
}

/* In the child. */
static void work(void *context)
{
    const struct running *run = context;
    const struct run_request *r = run->r;
    struct shared *s = run->shared;
    struct assay_kernel_job job = make_job(r);
    void *at[BUFFERS];
    s->stage = LOADING;
    const struct assay_kernel_module *m =
        module_load(r->module->path, s->reason, sizeof s->reason);
    if (!m || r->kernel >= m->kernel_count)
        return;
    check_environment(s, "loading");
    const struct assay_kernel *k = module_kernel(m, r->kernel);
    char name[sizeof r->module->kernels[0].name];
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, k->name);
    term_plain(name); /* as the name was when the module was asked */
    if (strcmp(name, r->module->kernels[r->kernel].name) != 0) {
        snprintf(s->reason, sizeof s->reason,
                 "the module has other kernels than when it was asked");
        return;
    }
    s->stage = ASKING;
    s->supports = k->supports(&job, s->reason, sizeof s->reason);
    if (s->supports != 0)
        return;
    s->reason[0] = '\0';
    job.workspace_bytes = k->workspace_bytes ? k->workspace_bytes(&job) : 0;
    s->workspace = job.workspace_bytes;
    s->stage = ALLOCATING;
    s->no_memory = !place_buffers(run, &job, at);
    if (s->no_memory)
        return;
    s->stage = LAUNCHING;
    double start = seconds();
    s->launch = k->launch(&job, s->reason, sizeof s->reason);
    bool waited = run->device->wait();
    s->seconds = seconds() - start;
    check_environment(s, "running");
    s->stage = COPYING;
    if (waited && check_workspace(run, &job) &&
        buffers_from_device(run->buffers, run->device, at))
        s->stage = DONE;
}

/* A kernel that did not come to an end: verdict and reason. */
static void explain(const struct shared *s, const struct child_outcome *end,
                    struct result *result)
{
    char how[256];
    if (end->end != CHILD_RETURNED) {
        child_describe(end, how, sizeof how);
        result->verdict =
            end->end == CHILD_TIMED_OUT ? VERDICT_HANG : VERDICT_CRASH;
        snprintf(result->reason, sizeof result->reason, "%s %s", how,
                 s->stage <= DONE ? stage_names[s->stage] : "");
    } else if (s->stage == ASKING && s->supports != 0) {
        result->verdict = VERDICT_UNSUPPORTED;
        snprintf(result->reason, sizeof result->reason, "%s",
                 s->reason[0] ? s->reason : "no reason given");
    } else if (s->no_memory) {
        result->verdict = VERDICT_NOT_RUN;
        snprintf(result->reason, sizeof result->reason,
                 "not enough memory on the device (a workspace of %zu bytes)",
                 s->workspace);
    } else {
        result->verdict = VERDICT_CRASH;
        snprintf(result->reason, sizeof result->reason, "failed %s%s%s",
                 s->stage <= DONE ? stage_names[s->stage] : "",
                 s->reason[0] ? ": " : "", s->reason);
    }
}

enum assay_status run_case(const struct run_request *request, bool *ran,
                           struct candidate *out, struct result *result,
                           struct assay_error *err)
{
    const struct assay_recipe *recipe = request->answer->recipe;
    struct buffers buffers;
    struct shared *shared = NULL;
    struct child_outcome end;
    *ran = false;
    *out = (struct candidate){ 0 };
    enum assay_status st =
        buffers_new(request->c, request->answer, request->input,
                    request->number, &buffers, err);
    if (st != ASSAY_OK)
        return st;
    if ((st = child_share(sizeof *shared, &shared, err)) != ASSAY_OK)
        goto out;
    struct running running = { request, device_find(request->module->device),
                               &buffers, shared };
    st = child_run(work, &running, request->timeout_s, &end, err);
    if (st != ASSAY_OK)
        goto out;
    shared->reason[sizeof shared->reason - 1] = '\0';
    shared->notes[sizeof shared->notes - 1] = '\0';
    term_plain(shared->reason);
    result->seconds = shared->seconds;
    memcpy(result->notes, shared->notes, sizeof shared->notes);
    if (end.end == CHILD_RETURNED && shared->stage == DONE &&
        shared->launch == 0) {
        *ran = true;
        st = buffers_collect(&buffers, &request->c->problem,
                             assay_format_get(recipe->out_format), out, err);
        if (shared->workspace_bytes > 0 && out->guard_bytes == 0)
            out->guard_where = "beside the workspace";
        out->guard_bytes += shared->workspace_bytes;
    } else if (end.end == CHILD_RETURNED && shared->stage == DONE) {
        result->verdict = VERDICT_CRASH;
        snprintf(result->reason, sizeof result->reason,
                 "launch returned %d: %s", shared->launch,
                 shared->reason[0] ? shared->reason : "no reason given");
    } else {
        explain(shared, &end, result);
    }
out:
    child_unshare(shared, sizeof *shared);
    buffers_free(&buffers);
    return st;
}
