/* SPDX-License-Identifier: MIT */
#include "validate/run_case.h"

#include <fenv.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/child.h"
#include "golden/term.h"
#include "validate/buffers.h"
#include "validate/fault.h"
#include "validate/module.h"

/* How far the child got, so that a crash can say where. */
enum stage { LOADING, OPENING, ASKING, ALLOCATING, LAUNCHING, COPYING, DONE };

static const char *const stage_names[] = {
    "loading the module", "opening the device", "asking what it supports",
    "allocating memory",  "running the kernel", "copying results",
    "after the kernel",
};

struct shared {
    enum stage stage;
    double seconds;
    int supports, launch;    /* what the kernel's functions returned */
    size_t workspace;        /* asked for */
    int64_t workspace_bytes; /* changed outside it */
    struct fault fault;
    const char *at[BUFFERS]; /* the child's addresses */
    const char *workspace_at;
    char reason[160]; /* of the module */
    char said[128];   /* of the device */
    char notes[160];
};

struct running {
    const struct run_request *r;
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
static bool place_workspace(struct device *d, struct assay_kernel_job *job)
{
    const size_t n = job->workspace_bytes;
    size_t all;
    if (__builtin_add_overflow(n, 3 * (size_t)GUARD_BYTES, &all)) {
        snprintf(d->said, sizeof d->said, "no device has %zu bytes", n);
        return false;
    }
    all = GUARD_BYTES + n + guard_tail(n);
    char *memory = d->calls->alloc(d, all);
    if (!memory || !d->calls->fill(d, memory, GUARD_BYTE, all))
        return false;
    job->workspace = memory + GUARD_BYTES;
    return true;
}

/* In the child, since only it can reach the device. */
static bool check_workspace(struct shared *s, struct device *d,
                            const struct assay_kernel_job *job)
{
    static unsigned char guards[3 * GUARD_BYTES];
    const size_t n = job->workspace_bytes, tail = guard_tail(n);
    char *at = job->workspace;
    if (n == 0)
        return true;
    if (!d->calls->from_device(d, guards, at - GUARD_BYTES, GUARD_BYTES) ||
        !d->calls->from_device(d, guards + GUARD_BYTES, at + n, tail))
        return false;
    for (size_t i = 0; i < GUARD_BYTES + tail; i++)
        s->workspace_bytes += guards[i] != GUARD_BYTE;
    return true;
}

/* Copies may still be under way when they return: waited for, so that what
 * goes wrong later is the kernel's. */
static bool place_buffers(const struct running *run, struct device *d,
                          struct assay_kernel_job *job, void *at[BUFFERS])
{
    if (!buffers_to_device(run->buffers, d, at) ||
        (job->workspace_bytes > 0 && !place_workspace(d, job)) ||
        !d->calls->wait(d))
        return false;
    job->q.data = at[BUFFER_Q];
    job->k.data = at[BUFFER_K];
    job->v.data = at[BUFFER_V];
    job->q.scale = at[BUFFER_Q_SCALE];
    job->k.scale = at[BUFFER_K_SCALE];
    job->v.scale = at[BUFFER_V_SCALE];
    job->o.data = at[BUFFER_O];
    job->lse = at[BUFFER_LSE];
    job->stream = d->stream;
    memcpy(run->shared->at, at, sizeof run->shared->at);
    run->shared->workspace_at = job->workspace;
    return true;
}

/* The kernel by its number, if it is the one that was asked for. */
static const struct assay_kernel *find_kernel(const struct run_request *r,
                                              struct shared *s)
{
    const struct driver_info *info = r->module;
    char name[sizeof info->kernels[0].name];
    const struct assay_kernel_module *m =
        module_load(info->path, s->reason, sizeof s->reason);
    if (!m || r->kernel >= m->kernel_count)
        return NULL;
    const struct assay_kernel *k = module_kernel(m, r->kernel);
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, k->name);
    term_plain(name); /* as the name was when the module was asked */
    if (strcmp(name, info->kernels[r->kernel].name) == 0)
        return k;
    snprintf(s->reason, sizeof s->reason,
             "the module has other kernels than when it was asked");
    return NULL;
}

/* From the launch to its outputs in the image. */
static void launch(const struct running *run, const struct assay_kernel *k,
                   const struct assay_kernel_job *job, struct device *d,
                   void *const at[BUFFERS])
{
    struct shared *s = run->shared;
    fault_watch(&s->fault);
    d->calls->clean(d); /* of what came before */
    s->stage = LAUNCHING;
    bool ok = d->calls->start(d);
    if (ok) {
        s->launch = k->launch(job, s->reason, sizeof s->reason);
        ok = d->calls->stop(d, &s->seconds);
    }
    check_environment(s, "running");
    if (!ok)
        return;
    if (!d->calls->clean(d) && s->launch == 0 && !s->notes[0])
        snprintf(s->notes, sizeof s->notes,
                 "the kernel reported success and left an error: %.*s",
                 (int)sizeof s->notes - 64, d->said);
    d->said[0] = '\0';
    s->stage = COPYING;
    if (check_workspace(s, d, job) && buffers_from_device(run->buffers, d, at))
        s->stage = DONE;
}

/* In the child. */
static void run_on(const struct running *run, struct device *d)
{
    const struct run_request *r = run->r;
    struct shared *s = run->shared;
    struct assay_kernel_job job = make_job(r);
    void *at[BUFFERS];
    const struct assay_kernel *k = find_kernel(r, s);
    if (!k)
        return;
    check_environment(s, "loading");
    s->stage = OPENING;
    if (!device_open(r->module->device, r->device_index, d))
        return;
    s->stage = ASKING;
    s->supports = k->supports(&job, s->reason, sizeof s->reason);
    if (s->supports != 0)
        return;
    s->reason[0] = '\0';
    job.workspace_bytes = k->workspace_bytes ? k->workspace_bytes(&job) : 0;
    s->workspace = job.workspace_bytes;
    s->stage = ALLOCATING;
    if (place_buffers(run, d, &job, at))
        launch(run, k, &job, d, at);
}

static void work(void *context)
{
    const struct running *run = context;
    struct device d = { 0 };
    run_on(run, &d);
    memcpy(run->shared->said, d.said, sizeof d.said);
}

/* ---- in the parent: what it came to ---- */

/* Says beside which buffer a fault was; false: beside none. */
static bool say_fault(const struct shared *s, const struct buffers *b,
                      char *text, size_t size)
{
    for (int i = 0; s->fault.seen && i <= BUFFERS; i++) {
        const bool own = i < BUFFERS;
        const uintptr_t start = (uintptr_t)(own ? s->at[i] : s->workspace_at);
        const uintptr_t address = s->fault.address;
        const size_t bytes = own ? b->list[i].bytes : s->workspace;
        const size_t near = DEVICE_GAP + 2 * (size_t)GUARD_BYTES;
        const bool before = address < start;
        const size_t off = before ? start - address : address - start - bytes;
        if (!start || (!before && address < start + bytes) || off >= near)
            continue;
        snprintf(text, size, "%s byte %zu %s %s", fault_verb(s->fault.access),
                 before ? off : off + 1,
                 before ? "before the beginning of" : "past the end of",
                 own ? buffer_name((enum buffer_id)i) : "the workspace");
        return true;
    }
    return false;
}

static void explain_end(const struct shared *s, const struct buffers *b,
                        const struct child_outcome *end, struct result *result)
{
    char how[256], where[96];
    const char *stage = s->stage <= DONE ? stage_names[s->stage] : "";
    child_describe(end, how, sizeof how);
    result->verdict =
        end->end == CHILD_TIMED_OUT ? VERDICT_HANG : VERDICT_CRASH;
    if (end->end == CHILD_KILLED && say_fault(s, b, where, sizeof where)) {
        result->verdict = VERDICT_OUT_OF_BOUNDS;
        snprintf(result->reason, sizeof result->reason, "%s: %.160s %s", where,
                 how, stage);
    } else {
        snprintf(result->reason, sizeof result->reason, "%s %s", how, stage);
    }
}

/* The child returned and has no result. */
static void explain_failure(const struct shared *s, struct result *result)
{
    char *text = result->reason;
    const size_t size = sizeof result->reason;
    result->verdict = VERDICT_NOT_RUN;
    if (s->stage == OPENING) {
        snprintf(text, size, "%s", s->said);
    } else if (s->stage == ASKING && s->supports != 0) {
        result->verdict = VERDICT_UNSUPPORTED;
        snprintf(text, size, "%s",
                 s->reason[0] ? s->reason : "no reason given");
    } else if (s->stage == ALLOCATING) {
        snprintf(text, size,
                 "the device cannot take the buffers (a workspace of %zu bytes "
                 "with them): %s",
                 s->workspace, s->said);
    } else if (s->launch != 0) {
        result->verdict = VERDICT_CRASH;
        snprintf(text, size, "launch returned %d: %s%s%s", s->launch,
                 s->reason[0] ? s->reason : "no reason given",
                 s->said[0] ? "; " : "", s->said);
    } else {
        const char *why = s->stage == LOADING ? s->reason : s->said;
        result->verdict = VERDICT_CRASH;
        snprintf(text, size, "failed %s%s%s",
                 s->stage <= DONE ? stage_names[s->stage] : "",
                 why[0] ? ": " : "", why);
    }
}

static enum buffer_edge edge_of(const struct run_request *r)
{
    if (r->module->device != ASSAY_KERNEL_HOST)
        return EDGE_BANDS;
    return r->at_start ? EDGE_START : EDGE_END;
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
                    edge_of(request), request->number, &buffers, err);
    if (st != ASSAY_OK)
        return st;
    if ((st = child_share(sizeof *shared, &shared, err)) != ASSAY_OK)
        goto out;
    struct running running = { request, &buffers, shared };
    st = child_run(work, &running, request->timeout_s, &end, err);
    if (st != ASSAY_OK)
        goto out;
    shared->reason[sizeof shared->reason - 1] = '\0';
    shared->notes[sizeof shared->notes - 1] = '\0';
    shared->said[sizeof shared->said - 1] = '\0';
    term_plain(shared->reason);
    term_plain(shared->said);
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
    } else if (end.end == CHILD_RETURNED) {
        explain_failure(shared, result);
    } else {
        explain_end(shared, &buffers, &end, result);
    }
out:
    child_unshare(shared, sizeof *shared);
    buffers_free(&buffers);
    return st;
}
