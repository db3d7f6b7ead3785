/* SPDX-License-Identifier: MIT */
#include "validate/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "golden/clock.h"

/* Shared with the child. */
struct desk {
    struct task task;
    atomic_bool done;
};

struct worker {
    struct desk *desk;
    int file;     /* of the image */
    int calls[2]; /* a byte a task; ours is the second */
    bool running;
    struct child child;
};

enum assay_status worker_new(struct worker **out, struct assay_error *err)
{
    struct worker *w = calloc(1, sizeof *w);
    *out = w;
    if (!w)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a worker");
    w->file = memfd_create("buffers of a kernel", MFD_CLOEXEC);
    if (w->file < 0)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a worker: %s",
                          strerror(errno));
    return child_share(sizeof *w->desk, &w->desk, err);
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    worker_stop(w);
    child_unshare(w->desk, sizeof *w->desk);
    if (w->file >= 0)
        close(w->file);
    free(w);
}

struct task *worker_task(struct worker *w)
{
    return &w->desk->task;
}

int worker_file(const struct worker *w)
{
    return w->file;
}

/* In the child: until nobody can call any more. */
static void serve(void *worker)
{
    struct worker *w = worker;
    char call;
    child_close_others((int[]){ w->calls[0], w->file }, 2);
    while (read(w->calls[0], &call, 1) == 1) {
        task_do(&w->desk->task);
        atomic_store(&w->desk->done, true);
    }
}

static enum assay_status start(struct worker *w, struct assay_error *err)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, w->calls) != 0)
        return assay_fail(err, ASSAY_INTERNAL, "no socket to a worker: %s",
                          strerror(errno));
    enum assay_status st = child_start(serve, w, &w->child, err);
    close(w->calls[0]);
    w->running = st == ASSAY_OK;
    if (!w->running)
        close(w->calls[1]);
    return st;
}

/* How it ended. */
static void finish(struct worker *w, struct child_outcome *end)
{
    close(w->calls[1]);
    child_finish(&w->child, end);
    w->running = false;
}

/* A worker that died between two tasks, of what it had been left with, hears
 * no call; that is not the next task's fault. */
static enum assay_status call(struct worker *w, struct assay_error *err)
{
    for (int tries = 0; tries < 2; tries++) {
        enum assay_status st = w->running ? ASSAY_OK : start(w, err);
        if (st != ASSAY_OK || send(w->calls[1], "", 1, MSG_NOSIGNAL) == 1)
            return st;
        worker_stop(w);
    }
    return assay_fail(err, ASSAY_INTERNAL, "a worker does not listen");
}

enum assay_status worker_do(struct worker *w, double timeout_s,
                            struct child_outcome *end, struct assay_error *err)
{
    const double begin = seconds();
    *end = (struct child_outcome){ .end = CHILD_RETURNED };
    atomic_store(&w->desk->done, false);
    enum assay_status st = call(w, err);
    if (st != ASSAY_OK)
        return st;
    w->child.start = begin; /* a time-out is that of the task */
    child_wait(&w->child, &w->desk->done, begin + timeout_s);
    if (!atomic_load(&w->desk->done) || w->child.ended)
        finish(w, end);
    end->seconds = seconds() - begin;
    return ASSAY_OK;
}

void worker_stop(struct worker *w)
{
    struct child_outcome end;
    if (w->running)
        finish(w, &end);
}
