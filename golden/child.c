/* SPDX-License-Identifier: MIT */
#include "golden/child.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "golden/clock.h"

enum assay_status child_share(size_t bytes, void *out, struct assay_error *err)
{
    void *memory = mmap(NULL, bytes + !bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return assay_fail(err, ASSAY_MEMORY, "no shared memory: %zu bytes: %s",
                          bytes, strerror(errno));
    memcpy(out, &memory, sizeof memory);
    return ASSAY_OK;
}

void child_unshare(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes + !bytes);
}

void child_prepare(int parent)
{
    const struct rlimit none = { 0, 0 };
    sigset_t all;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before that took hold */
        _exit(1);
    setrlimit(RLIMIT_CORE, &none);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

static int by_value(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

void child_close_others(const int *keep, size_t n)
{
    int kept[CHILD_KEPT];
    unsigned from = STDERR_FILENO + 1;
    for (size_t i = 0; i < n; i++)
        kept[i] = keep[i];
    qsort(kept, n, sizeof *kept, by_value);
    for (size_t i = 0; i < n; i++) {
        if (kept[i] < (int)from)
            continue;
        if (kept[i] > (int)from)
            close_range(from, (unsigned)kept[i] - 1, 0);
        from = (unsigned)kept[i] + 1;
    }
    close_range(from, ~0u, 0);
}

_Noreturn static void be_child(void (*work)(void *), void *context, int output,
                               bool *returned, pid_t parent)
{
    child_prepare(parent);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO); /* what is there is the caller's */
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    fesetenv(FE_DFL_ENV);
    work(context);
    *returned = true;
    _exit(0);
}

/* Takes what the child printed, all of it or so many pieces: what it left may
 * print for ever. */
static void take_output(struct child *c, int pieces)
{
    char bytes[65536];
    for (int i = 0; i < pieces && c->output >= 0; i++) {
        const ssize_t n = read(c->output, bytes, sizeof bytes);
        if (n > 0) {
            tail_add(&c->tail, bytes, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(c->output);
            c->output = -1;
        } else {
            break;
        }
    }
}

enum assay_status child_start(void (*work)(void *), void *context,
                              struct child *out, struct assay_error *err)
{
    const pid_t parent = getpid();
    int ends[2];
    *out = (struct child){ .output = -1, .pid = -1 };
    enum assay_status st =
        child_share(sizeof *out->returned, &out->returned, err);
    if (st != ASSAY_OK)
        return st;
    fflush(NULL);
    out->start = seconds();
    out->before = kin_now();
    if (pipe2(ends, O_CLOEXEC) == 0) {
        out->output = ends[0];
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        out->pid = fork();
        if (out->pid == 0)
            be_child(work, context, ends[1], out->returned, parent);
        st = out->pid < 0 ? assay_fail(err, ASSAY_INTERNAL,
                                       "no child process: %s", strerror(errno))
                          : ASSAY_OK;
        close(ends[1]);
    } else {
        st = assay_fail(err, ASSAY_INTERNAL, "no pipe from a child: %s",
                        strerror(errno));
    }
    if (st != ASSAY_OK) {
        if (out->output >= 0)
            close(out->output);
        child_unshare(out->returned, sizeof *out->returned);
    }
    return st;
}

static void kill_child(struct child *c)
{
    kill(-c->pid, SIGKILL);
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        ;
}

void child_wait(struct child *c, const atomic_bool *done, double deadline)
{
    struct timespec nap = { 0, 200 * 1000 };
    struct rusage use;
    for (;;) {
        if (wait4(c->pid, &c->status, WNOHANG, &use) == c->pid) {
            c->ended = true;
            c->most = (size_t)use.ru_maxrss * 1024;
            return;
        }
        if (done && atomic_load(done))
            return;
        if (seconds() >= deadline) {
            kill_child(c);
            c->timed_out = true;
            c->limit = deadline - c->start;
            return;
        }
        struct pollfd said = { c->output, POLLIN, 0 };
        if (ppoll(&said, 1, &nap, NULL) > 0)
            take_output(c, 1);
        if (nap.tv_nsec < 10 * 1000 * 1000)
            nap.tv_nsec += nap.tv_nsec / 4;
    }
}

void child_finish(struct child *c, struct child_outcome *out)
{
    *out = (struct child_outcome){ .most = c->most, .limit = c->limit };
    if (!c->ended && !c->timed_out)
        kill_child(c);
    if (c->ended)
        out->left = kin_left(&c->before);
    kill(-c->pid, SIGKILL);
    out->seconds = seconds() - c->start;
    kin_end(&c->before);
    if (c->timed_out) {
        out->end = CHILD_TIMED_OUT;
    } else if (WIFSIGNALED(c->status)) {
        out->end = CHILD_KILLED;
        out->code = WTERMSIG(c->status);
    } else {
        out->code = WEXITSTATUS(c->status);
        out->end =
            *c->returned && out->code == 0 ? CHILD_RETURNED : CHILD_EXITED;
    }
    take_output(c, 64);
    out->printed = c->tail.total;
    tail_line(&c->tail, out->output, sizeof out->output);
    if (c->output >= 0)
        close(c->output);
    child_unshare(c->returned, sizeof *c->returned);
}

enum assay_status child_run(void (*work)(void *), void *context,
                            double timeout_s, struct child_outcome *out,
                            struct assay_error *err)
{
    struct child c;
    enum assay_status st = child_start(work, context, &c, err);
    *out = (struct child_outcome){ 0 };
    if (st != ASSAY_OK)
        return st;
    child_wait(&c, NULL, c.start + timeout_s);
    child_finish(&c, out);
    return ASSAY_OK;
}

void child_describe(const struct child_outcome *o, char *text, size_t size)
{
    int n = 0;
    switch (o->end) {
    case CHILD_RETURNED:
        n = snprintf(text, size, "ended before its work was done");
        break;
    case CHILD_EXITED:
        n = snprintf(text, size, "exited with status %d", o->code);
        break;
    case CHILD_KILLED:
        n = snprintf(text, size, "killed by signal %d (%s)", o->code,
                     strsignal(o->code));
        break;
    case CHILD_TIMED_OUT:
        n = snprintf(text, size, "still running after %.*f s",
                     o->limit < 0.1 ? 3 : 1, o->limit);
        break;
    }
    if (n > 0 && (size_t)n < size && o->output[0])
        snprintf(text + n, size - (size_t)n, ", last said \"%s\"", o->output);
}

/* What counts already. */
static size_t taken(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*u %*u %*u %*u %*u %zu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

void child_limit_memory(size_t bytes)
{
    struct rlimit now;
    if (bytes == 0 || getrlimit(RLIMIT_DATA, &now) != 0)
        return;
    const size_t has = taken(),
                 most = bytes > SIZE_MAX - has ? SIZE_MAX : has + bytes;
    if (most < now.rlim_max)
        now.rlim_max = most;
    if (now.rlim_max < now.rlim_cur)
        now.rlim_cur = now.rlim_max;
    setrlimit(RLIMIT_DATA, &now);
}
