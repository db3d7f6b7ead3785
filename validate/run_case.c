/* SPDX-License-Identifier: MIT */
#include "validate/run_case.h"

#include <stdio.h>
#include <string.h>

#include "golden/child.h"
#include "golden/term.h"
#include "golden/text.h"
#include "validate/memory_limit.h"
#include "validate/task.h"
#include "validate/worker.h"

static const char *const stage_names[] = {
    "loading the module", "opening the device", "asking what it supports",
    "allocating memory",  "recording a graph",  "running the kernel",
    "copying results",    "after the kernel",
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

static const struct driver_kernel *kernel_of(const struct run_request *r)
{
    return &r->module->kernels[r->kernel];
}

static struct assay_kernel_payload make_payload(const struct run_request *r,
                                                enum assay_input input)
{
    const struct assay_quantizer *how =
        assay_recipe_quantizer(r->answer->recipe, input);
    return (struct assay_kernel_payload){
        .format = assay_format_get(how->format)->kernel_format,
        .scale_mode = assay_scale_get(how->scale)->kernel_scale,
        .token_order = r->answer->recipe->order == ASSAY_TOKENS_FP6P
                           ? ASSAY_KERNEL_TOKENS_FP6P
                           : ASSAY_KERNEL_TOKENS_CANONICAL,
    };
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
    if (kernel_of(r)->quantizer) {
        job.q_out = make_payload(r, ASSAY_INPUT_Q);
        job.k_out = make_payload(r, ASSAY_INPUT_K);
        job.v_out = make_payload(r, ASSAY_INPUT_V);
    }
    return job;
}

/* ---- in the parent: what it came to ---- */

/* Says beside which buffer a fault was; false: beside none. */
static bool say_fault(const struct task_outcome *s, const struct buffers *b,
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

static void explain_end(const struct task_outcome *s, const struct buffers *b,
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
static void explain_failure(const struct task_outcome *s, struct result *result)
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

static size_t limit_of(const struct run_request *r, const struct buffers *b)
{
    if (r->module->device != ASSAY_KERNEL_HOST)
        return 0; /* runtimes of GPUs map far more than they use */
    return r->memory_limit ? r->memory_limit
                           : memory_limit_default(b->image_bytes);
}

static void fill_task(const struct run_request *r, const struct buffers *b,
                      struct task *t)
{
    const struct driver_info *info = r->module;
    memset(t, 0, sizeof *t);
    memcpy(t->path, info->path, sizeof t->path);
    memcpy(t->kernel_name, info->kernels[r->kernel].name,
           sizeof t->kernel_name);
    t->kernel = r->kernel;
    t->device = info->device;
    t->index = r->device_index;
    t->memory_limit = limit_of(r, b);
    t->workspace_byte = GUARD_BYTE ^ r->workspace_flip;
    t->workspace_stays = r->workspace_stays;
    t->traffic = r->traffic;
    t->graph = r->graph;
    t->job = make_job(r);
    t->buffers = *b;
}

/* A copy of what the child left, fit to be read. */
static struct task_outcome take_outcome(const struct task *t)
{
    struct task_outcome o = t->outcome;
    o.reason[sizeof o.reason - 1] = '\0';
    o.notes[sizeof o.notes - 1] = '\0';
    o.said[sizeof o.said - 1] = '\0';
    term_plain(o.reason);
    term_plain(o.said);
    return o;
}

static void note(struct result *r, const char *text)
{
    text_append(r->notes, sizeof r->notes, "%s%s", r->notes[0] ? "; " : "",
                text);
}

/* What it did that does not decide. */
static void add_notes(const struct child_outcome *end, size_t limit,
                      struct result *result)
{
    char text[320];
    if (end->left) {
        snprintf(text, sizeof text, "left %d process%s running; ended",
                 end->left, end->left == 1 ? "" : "es");
        note(result, text);
    }
    /* near enough to have met it: what grows by doubling holds a half */
    if (end->end != CHILD_RETURNED && limit && end->most >= limit / 3) {
        snprintf(text, sizeof text,
                 "memory: it held %zu MiB and the limit for what it takes is "
                 "%zu MiB (--memory-limit)",
                 end->most >> 20, limit >> 20);
        note(result, text);
    }
    if (end->printed > TAIL_BYTES) {
        snprintf(text, sizeof text,
                 "printed %zu bytes, of which the last %d were kept",
                 end->printed, (int)TAIL_BYTES);
        note(result, text);
    }
    if (end->end == CHILD_RETURNED && end->output[0]) {
        snprintf(text, sizeof text, "printed \"%.80s\"%s", end->output,
                 strlen(end->output) > 80 ? " and more" : "");
        note(result, text);
    }
}

/* What a child that ended leaves: a candidate, or a verdict and its reason. */
static enum assay_status collect(const struct run_request *r,
                                 const struct buffers *b,
                                 const struct task_outcome *o,
                                 const struct child_outcome *end, bool *ran,
                                 struct candidate *out, struct result *result,
                                 struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    result->seconds = o->seconds;
    memcpy(result->notes, o->notes, sizeof o->notes);
    add_notes(end, limit_of(r, b), result);
    if (end->end != CHILD_RETURNED) {
        explain_end(o, b, end, result);
    } else if (o->stage != DONE || o->launch != 0) {
        explain_failure(o, result);
    } else {
        *ran = true;
        st = buffers_collect(b, &r->c->problem, r->answer->recipe, out, err);
        if (o->workspace_bytes > 0 && out->guard_bytes == 0)
            out->guard_where = "beside the workspace";
        out->guard_bytes += o->workspace_bytes;
        out->workspace = o->workspace;
        out->traffic = o->traffic;
        if (out->input_bytes > 0)
            buffers_tell_changed(b, result->notes, sizeof result->notes);
    }
    return st;
}

static void do_alone(void *task)
{
    child_close_others(NULL, 0);
    task_do(task);
}

enum assay_status run_case(const struct run_request *r, bool *ran,
                           struct candidate *out, struct result *result,
                           struct assay_error *err)
{
    const int file = r->worker ? worker_file(r->worker) : -1;
    struct buffers buffers;
    struct task *task = r->worker ? worker_task(r->worker) : NULL;
    struct child_outcome end;
    *ran = false;
    *out = (struct candidate){ 0 };
    enum assay_status st =
        buffers_new(r->c, r->answer, r->input, kernel_of(r)->quantizer,
                    edge_of(r), r->number, file, &buffers, err);
    if (st != ASSAY_OK ||
        (!task && (st = child_share(sizeof *task, &task, err)) != ASSAY_OK))
        goto out;
    fill_task(r, &buffers, task);
    st = r->worker ? worker_do(r->worker, r->timeout_s, &end, err)
                   : child_run(do_alone, task, r->timeout_s, &end, err);
    if (st != ASSAY_OK)
        goto out;
    const struct task_outcome outcome = take_outcome(task);
    st = collect(r, &buffers, &outcome, &end, ran, out, result, err);
    const bool refused = outcome.stage == ASKING && outcome.supports != 0;
    if (r->worker && !refused &&
        !(*ran && out->guard_bytes == 0 && out->input_bytes == 0))
        worker_stop(r->worker);
out:
    if (!r->worker)
        child_unshare(task, sizeof *task);
    buffers_free(&buffers);
    return st;
}
