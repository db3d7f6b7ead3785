/* SPDX-License-Identifier: MIT */
#include "validate/jobs.h"

#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "golden/child.h"

/* What is numbered higher is left to the maker. */
enum { MOST = 1 << 20 };
enum { FREE, CLAIMED, MADE };

struct jobs {
    atomic_uchar *state; /* [MOST], shared */
    pid_t pid[JOBS_MAX];
    int count;
};

static int threads_of_each(int workers)
{
    const int n = omp_get_num_procs() / workers;
    return n > 1 ? n : 1;
}

/* A worker says nothing: results are its maker's to tell. */
static _Noreturn void be_worker(void (*work)(void *), void *context, int n,
                                pid_t maker)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != maker)
        _exit(0);
    omp_set_num_threads(threads_of_each(n));
    work(context);
    _exit(0);
}

enum assay_status jobs_begin(int n, void (*work)(void *context), void *context,
                             struct jobs **out, struct assay_error *err)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    const pid_t maker = getpid();
    *out = NULL;
    if (!jobs)
        return assay_fail(err, ASSAY_MEMORY, "no memory for workers");
    enum assay_status st = child_share(MOST, &jobs->state, err);
    if (st != ASSAY_OK) {
        free(jobs);
        return st;
    }
    *out = jobs;
    for (int i = 0; i < n; i++) {
        const pid_t pid = fork();
        if (pid == 0)
            be_worker(work, context, n, maker);
        if (pid > 0)
            jobs->pid[jobs->count++] = pid;
    }
    if (jobs->count > 0)
        return ASSAY_OK;
    jobs_end(jobs);
    *out = NULL;
    return assay_fail(err, ASSAY_INTERNAL, "no worker could be started: %s",
                      strerror(errno));
}

void jobs_end(struct jobs *jobs)
{
    if (!jobs)
        return;
    for (int i = 0; i < jobs->count; i++) {
        kill(jobs->pid[i], SIGKILL);
        waitpid(jobs->pid[i], NULL, 0);
    }
    child_unshare(jobs->state, MOST);
    free(jobs);
}

bool jobs_claim(struct jobs *jobs, size_t at)
{
    unsigned char was = FREE;
    return at < MOST &&
           atomic_compare_exchange_strong(&jobs->state[at], &was, CLAIMED);
}

void jobs_done(struct jobs *jobs, size_t at)
{
    atomic_store(&jobs->state[at], MADE);
}

static void collect(struct jobs *jobs)
{
    for (int i = jobs->count; i-- > 0;)
        if (waitpid(jobs->pid[i], NULL, WNOHANG) == jobs->pid[i])
            jobs->pid[i] = jobs->pid[--jobs->count];
}

void jobs_wait(struct jobs *jobs, size_t at)
{
    static const struct timespec moment = { .tv_nsec = 2000000 };
    while (jobs && at < MOST && jobs->count > 0 &&
           atomic_load(&jobs->state[at]) != MADE) {
        nanosleep(&moment, NULL);
        collect(jobs);
    }
}
