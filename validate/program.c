/* SPDX-License-Identifier: MIT */
#include "validate/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/clock.h"

/* Nothing of ours stays open in it: no golden set, no half-written record. */
_Noreturn static void be_shell(const char *line, int parent, int in, int out,
                               int err)
{
    child_prepare(parent);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A pipe whose end ours[0] for reading or ours[1] for writing stays here, and
 * never waits. */
static bool make_pipe(int ends[2], int ours)
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ends[0] = ends[1] = -1;
        return false;
    }
    return fcntl(ends[ours], F_SETFL, O_NONBLOCK) == 0;
}

enum assay_status program_start(struct program *p, const char *line, bool talks,
                                struct assay_error *err)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, say[2] = { -1, -1 };
    const int parent = getpid();
    p->tail[0] = p->tail[1] = (struct tail){ .n = 0 };
    p->ended = false;
    p->status = p->left = 0;
    fflush(NULL);
    p->before = kin_now();
    bool ok = make_pipe(out, 0) && make_pipe(say, 0);
    if (ok && talks)
        ok = make_pipe(in, 1);
    else if (ok)
        ok = (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;
    const pid_t pid = ok ? fork() : -1;
    if (pid == 0)
        be_shell(line, parent, in[0], out[1], say[1]);
    const int why = errno;
    shut(&in[0]);
    shut(&out[1]);
    shut(&say[1]);
    p->pid = pid < 0 ? 0 : pid;
    p->in = in[1];
    p->out[0] = out[0];
    p->out[1] = say[0];
    p->start = seconds();
    if (pid > 0)
        return ASSAY_OK;
    shut(&p->in);
    shut(&p->out[0]);
    shut(&p->out[1]);
    return assay_fail(err, ASSAY_INTERNAL, "no process for a command: %s",
                      strerror(why));
}

/* False: nothing is there. */
static bool take(struct program *p, int which)
{
    char bytes[65536];
    ssize_t n = read(p->out[which], bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0)
        shut(&p->out[which]);
    else if (which == 0 && p->hear)
        p->hear(p->context, bytes, (size_t)n);
    else
        tail_add(&p->tail[which], bytes, (size_t)n);
    return n > 0;
}

static bool has_ended(struct program *p)
{
    if (!p->ended)
        p->ended = waitpid(p->pid, &p->status, WNOHANG) == p->pid;
    return p->ended;
}

bool program_listen(struct program *p, double until)
{
    enum { ROUNDS = 64, NAP_MS = 5 }; /* something it left may print for ever */
    struct pollfd fds[2] = { { p->out[0], POLLIN, 0 },
                             { p->out[1], POLLIN, 0 } };
    const double left = 1e3 * (until - seconds());
    poll(fds, 2, left < 1 ? 1 : left < NAP_MS ? (int)left : NAP_MS);
    const bool ended = has_ended(p); /* first: then all it said is there */
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < (ended ? ROUNDS : 1); i++)
            if (p->out[which] < 0 || !take(p, which))
                break;
    return !ended;
}

/* Helpers of a runtime may be about to end by themselves. */
static int count_left(const struct program *p)
{
    int left = kin_left(&p->before);
    for (int i = 0; left && i < 10; i++) {
        usleep(10000);
        left = kin_left(&p->before);
    }
    return left;
}

void program_stop(struct program *p, struct child_outcome *out)
{
    *out = (struct child_outcome){ .seconds = seconds() - p->start,
                                   .limit = p->limit };
    if (p->ended)
        p->left = count_left(p);
    kill(-p->pid, SIGKILL);
    if (!p->ended)
        kill(p->pid, SIGKILL); /* it may not have its group yet */
    if (!p->ended)
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    kin_end(&p->before);
    shut(&p->in);
    shut(&p->out[0]);
    shut(&p->out[1]);
    p->pid = 0;
    out->end = !p->ended                ? CHILD_TIMED_OUT
               : WIFSIGNALED(p->status) ? CHILD_KILLED
                                        : CHILD_EXITED;
    out->code = !p->ended                ? 0
                : WIFSIGNALED(p->status) ? WTERMSIG(p->status)
                                         : WEXITSTATUS(p->status);
    tail_lines(&p->tail[p->tail[1].n ? 1 : 0], out->output, sizeof out->output);
}
