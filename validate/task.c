/* SPDX-License-Identifier: MIT
 *
 * One run of a kernel, in a child.
 */
#include "validate/task.h"

#include <fenv.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "golden/child.h"
#include "golden/term.h"
#include "validate/module.h"

/* What stays from task to task, and what one has of the device. */
struct hand {
    const struct assay_kernel_module *module;
    struct device device;
    bool device_open;
    struct buffers buffers;
    struct assay_kernel_job job;
    void *at[BUFFERS];
    void *workspace; /* with its guards; NULL: none, or not yet */
    size_t workspace_bytes;
};

/* A module built with -ffast-math flushes subnormals from the moment it is
 * loaded. Noted and put back. */
static void check_environment(struct task_outcome *o, const char *when)
{
    volatile float tiny = FLT_MIN;
    tiny /= 2;
    bool flushes = tiny == 0;
    if (flushes || fegetround() != FE_TONEAREST)
        snprintf(o->notes, sizeof o->notes,
                 "%s the module changed the floating-point environment (%s); "
                 "put back",
                 when, flushes ? "flush to zero" : "rounding");
    fesetenv(FE_DFL_ENV);
}

/* The kernel by its number, if it is the one that was asked for. */
static const struct assay_kernel *find_kernel(struct hand *h, struct task *t)
{
    struct task_outcome *o = &t->outcome;
    char name[sizeof t->kernel_name];
    if (!h->module)
        h->module = module_load(t->path, o->reason, sizeof o->reason);
    if (!h->module || t->kernel >= h->module->kernel_count)
        return NULL;
    const struct assay_kernel *k = module_kernel(h->module, t->kernel);
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, k->name);
    term_plain(name); /* as the name was when the module was asked */
    if (strcmp(name, t->kernel_name) == 0)
        return k;
    snprintf(o->reason, sizeof o->reason,
             "the module has other kernels than when it was asked");
    return NULL;
}

static void release_workspace(struct hand *h)
{
    struct device *d = &h->device;
    if (h->workspace)
        d->calls->release(d, h->workspace, h->workspace_bytes);
    h->workspace = NULL;
}

/* Between guards; its contents are undefined, and so are ours. One that stayed
 * is taken as it is. */
static bool place_workspace(struct hand *h, const struct task *t)
{
    struct device *d = &h->device;
    const unsigned char contents = t->workspace_byte;
    const size_t n = h->job.workspace_bytes;
    size_t bytes;
    if (__builtin_add_overflow(n, 3 * (size_t)GUARD_BYTES, &bytes)) {
        snprintf(d->said, sizeof d->said, "no device has %zu bytes", n);
        return false;
    }
    bytes = GUARD_BYTES + n + guard_tail(n);
    if (!t->workspace_stays || n == 0 || bytes != h->workspace_bytes)
        release_workspace(h);
    if (n == 0)
        return true;
    if (h->workspace) {
        h->job.workspace = (char *)h->workspace + GUARD_BYTES;
        return true;
    }
    h->workspace_bytes = bytes;
    h->workspace = d->calls->alloc(d, bytes);
    if (!h->workspace ||
        !d->calls->fill(d, h->workspace, GUARD_BYTE, h->workspace_bytes))
        return false;
    h->job.workspace = (char *)h->workspace + GUARD_BYTES;
    return contents == GUARD_BYTE ||
           d->calls->fill(d, h->job.workspace, contents, n);
}

static bool check_workspace(struct hand *h, struct task_outcome *o)
{
    static unsigned char guards[3 * GUARD_BYTES];
    struct device *d = &h->device;
    const size_t n = h->job.workspace_bytes, tail = guard_tail(n);
    char *at = h->workspace;
    if (n == 0)
        return true;
    if (!d->calls->from_device(d, guards, at, GUARD_BYTES) ||
        !d->calls->from_device(d, guards + GUARD_BYTES, at + GUARD_BYTES + n,
                               tail))
        return false;
    for (size_t i = 0; i < GUARD_BYTES + tail; i++)
        o->workspace_bytes += guards[i] != GUARD_BYTE;
    return true;
}

/* Copies may still be under way when they return: waited for, so that what
 * goes wrong later is the kernel's. */
static bool place_buffers(struct hand *h, struct task *t)
{
    struct task_outcome *o = &t->outcome;
    struct device *d = &h->device;
    struct assay_kernel_job *job = &h->job;
    if (!buffers_to_device(&h->buffers, d, h->at) || !place_workspace(h, t) ||
        !d->calls->wait(d))
        return false;
    job->q.data = h->at[BUFFER_Q];
    job->k.data = h->at[BUFFER_K];
    job->v.data = h->at[BUFFER_V];
    job->q.scale = h->at[BUFFER_Q_SCALE];
    job->k.scale = h->at[BUFFER_K_SCALE];
    job->v.scale = h->at[BUFFER_V_SCALE];
    job->o.data = h->at[BUFFER_O];
    job->lse = h->at[BUFFER_LSE];
    job->k_mean = h->at[BUFFER_K_MEAN];
    struct assay_kernel_payload *const outs[] = { &job->q_out, &job->k_out,
                                                  &job->v_out };
    for (int i = 0; i < 3; i++) {
        outs[i]->codes = h->at[BUFFER_Q_CODES + i];
        outs[i]->scales = h->at[BUFFER_Q_SCALES + i];
    }
    job->stream = d->stream;
    memcpy(o->at, h->at, sizeof o->at);
    o->workspace_at = job->workspace;
    return true;
}

static void give_back(struct hand *h, bool workspace_stays)
{
    buffers_release(&h->buffers, &h->device, h->at);
    if (!workspace_stays)
        release_workspace(h);
}

/* Into a graph, while all inputs are zeros: a kernel that looks at them on the
 * host finds nothing. */
static bool record_graph(struct hand *h, const struct assay_kernel *k,
                         struct task_outcome *o)
{
    struct device *d = &h->device;
    size_t nodes = 0;
    o->stage = RECORDING;
    if (!buffers_clear_inputs(&h->buffers, d, h->at) || !d->calls->wait(d) ||
        !d->calls->graph_start(d))
        return false;
    o->launch = k->launch(&h->job, o->reason, sizeof o->reason);
    if (o->launch != 0 || !d->calls->graph_stop(d, &nodes))
        return false;
    if (nodes > 0)
        return true;
    snprintf(d->said, sizeof d->said,
             "the launch put nothing on the stream of its job");
    return false;
}

/* More than one replay: what a launch prepares on the host is there for the
 * first alone. */
static bool replay_graph(struct hand *h, double *seconds)
{
    enum { REPLAYS = 3 };
    struct device *d = &h->device;
    bool ok = true;
    for (int i = 0; ok && i < REPLAYS; i++)
        ok = buffers_fill(&h->buffers, d, h->at) && d->calls->wait(d) &&
             d->calls->start(d) && d->calls->graph_replay(d) &&
             d->calls->stop(d, seconds);
    return d->calls->graph_release(d) && ok;
}

/* The launch itself, or a graph of it. */
static bool launch_kernel(struct hand *h, const struct assay_kernel *k,
                          struct task *t)
{
    struct task_outcome *o = &t->outcome;
    struct device *d = &h->device;
    const bool graph = t->graph;
    if (graph && !record_graph(h, k, o))
        return false;
    o->stage = LAUNCHING;
    if (graph)
        return replay_graph(h, &o->seconds);
    if (!d->calls->start(d))
        return false;
    o->launch = k->launch(&h->job, o->reason, sizeof o->reason);
    return d->calls->stop(d, &o->seconds);
}

/* From the launch to its outputs in the image. */
static void launch(struct hand *h, const struct assay_kernel *k, struct task *t)
{
    struct task_outcome *o = &t->outcome;
    struct device *d = &h->device;
    const bool traffic = t->traffic; /* whatever the kernel writes there */
    fault_watch(&o->fault);
    d->calls->clean(d); /* of what came before */
    const bool ok = launch_kernel(h, k, t);
    if (traffic)
        o->traffic = d->calls->traffic_stop(d);
    check_environment(o, "running");
    if (!ok)
        return;
    if (!d->calls->clean(d) && o->launch == 0 && !o->notes[0])
        snprintf(o->notes, sizeof o->notes,
                 "the kernel reported success and left an error: %.*s",
                 (int)sizeof o->notes - 64, d->said);
    d->said[0] = '\0';
    o->stage = COPYING;
    if (check_workspace(h, o) && buffers_from_device(&h->buffers, d, h->at))
        o->stage = DONE;
}

static void run_task(struct hand *h, struct task *t)
{
    struct task_outcome *o = &t->outcome;
    struct assay_kernel_job *job = &h->job;
    const struct assay_kernel *k = find_kernel(h, t);
    if (!k)
        return;
    check_environment(o, "loading");
    o->stage = OPENING;
    if ((!h->device_open &&
         !(h->device_open = device_open(t->device, t->index, &h->device))) ||
        (t->graph && !h->device.calls->graphs(&h->device))) {
        memcpy(o->said, h->device.said, sizeof o->said);
        return;
    }
    o->stage = ASKING;
    o->supports = k->supports(job, o->reason, sizeof o->reason);
    if (o->supports != 0)
        return;
    o->reason[0] = '\0';
    job->workspace_bytes = k->workspace_bytes ? k->workspace_bytes(job) : 0;
    o->workspace = job->workspace_bytes;
    o->stage = ALLOCATING;
    if (place_buffers(h, t) &&
        (!t->traffic || h->device.calls->traffic_start(&h->device)))
        launch(h, k, t);
    memcpy(o->said, h->device.said, sizeof o->said); /* before more fails */
    give_back(h, t->workspace_stays);
}

void task_do(void *task)
{
    static struct hand hand;
    struct task *t = task;
    struct hand *h = &hand;
    h->buffers = t->buffers;
    h->job = t->job;
    memset(h->at, 0, sizeof h->at);
    child_limit_memory(t->memory_limit);
    h->device.said[0] = '\0';
    if (h->buffers.file < 0 || buffers_map(&h->buffers))
        run_task(h, t);
    if (h->buffers.file >= 0)
        buffers_free(&h->buffers);
}
