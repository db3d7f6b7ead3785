/* SPDX-License-Identifier: MIT
 *
 * Kernels that each do one bad thing to whoever runs them, for torture.test,
 * with a right one after each. All that come to an end leave right outputs,
 * apart from what their name says.
 */
#define assay_module plain_module
#include "packed_module.c"
#undef assay_module

#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/prctl.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

typedef const struct assay_kernel_job job;

static int run(job *j)
{
    return launch(&of_bf16, j);
}

/* ---- ends ---- */

static int good(job *j)
{
    return run(j);
}

static int segfaults(job *j)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
    return run(j);
}

static int aborts(job *j)
{
    (void)j;
    fputs("the last words\n", stderr);
    abort();
}

static int divides(job *j)
{
    raise(SIGFPE); /* not every processor traps a division */
    return run(j);
}

static int kills_itself(job *j)
{
    kill(getpid(), SIGKILL);
    return run(j);
}

static int kills_its_group(job *j)
{
    kill(0, SIGKILL);
    return run(j);
}

static int exits(job *j)
{
    run(j);
    exit(0);
}

static int exits_113(job *j)
{
    run(j);
    _exit(113);
}

static void *leave(void *nothing)
{
    (void)nothing;
    _exit(0);
}

static int exits_in_a_thread(job *j)
{
    pthread_t thread;
    run(j);
    if (pthread_create(&thread, NULL, leave, NULL) == 0)
        pthread_join(thread, NULL);
    return 0;
}

static int returns_an_error(job *j)
{
    run(j);
    return 5;
}

static jmp_buf gone;

/* A frame far below any that is there when `gone` is used. */
static __attribute__((noinline)) int mark(void)
{
    volatile char room[16384];
    room[0] = 0;
    return setjmp(gone) + room[0];
}

static int jumps_out(job *j)
{
    mark();
    run(j);
    longjmp(gone, 1);
}

/* ---- does not end ---- */

static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static int spins(job *j)
{
    volatile int on = 1;
    run(j);
    block_signals();
    while (on)
        ;
    return 0;
}

static int sleeps(job *j)
{
    run(j);
    block_signals();
    while (j)
        pause();
    return 0;
}

static int stops(job *j)
{
    raise(SIGSTOP);
    return run(j);
}

/* ---- takes what is not its own ---- */

/* Of a bounded number, so that a broken limit does not end the machine. */
static int eats_memory(job *j)
{
    enum { PIECE = 1 << 20, MOST = 4096 };
    for (int i = 0; i < MOST; i++) {
        char *p = malloc(PIECE);
        if (!p)
            abort();
        memset(p, 1, PIECE);
    }
    return run(j);
}

static void tell_pid(void)
{
    const char *path = getenv("TORTURE_PIDS");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
    }
}

static void stay(void)
{
    for (int i = 0; i < 600; i++)
        sleep(1);
    _exit(0);
}

static int forks(job *j)
{
    for (int i = 0; i < 300; i++)
        if (fork() == 0) {
            tell_pid();
            stay();
        }
    return run(j);
}

static int leave_a_daemon(void)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0)
        return 1;
    if (fork() == 0) {
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        setsid();
        if (fork() != 0)
            _exit(0);
        tell_pid();
        prctl(PR_SET_NAME, "a) Z 1"); /* as it might be of another state */
        close(ready[0]);
        close(ready[1]);
        stay();
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 0) /* until it is on its own */
        return 1;
    close(ready[0]);
    return 0;
}

static int leaves_a_daemon(job *j)
{
    return leave_a_daemon() || run(j);
}

static int leaves_it_and_sleeps(job *j)
{
    return leave_a_daemon() || sleeps(j);
}

static int flushes_to_zero(job *j)
{
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    return run(j);
}

static int rounds_up(job *j)
{
    run(j);
    fesetround(FE_UPWARD);
    return 0;
}

static int prints(job *j)
{
    printf("\n{\"results\": \"forged\"}\n");
    fflush(stdout);
    fclose(stdout);
    return run(j);
}

static int prints_much(job *j)
{
    static char line[1 << 16];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 1024; i++)
        fwrite(line, 1, sizeof line, i & 1 ? stderr : stdout);
    puts("the end");
    fflush(stdout);
    return run(j);
}

static int changes_folder(job *j)
{
    return chdir("/") == 0 ? run(j) : 1;
}

static int closes_all(job *j)
{
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    return run(j);
}

/* What it prints is told; what else is open is none of its business. */
static int writes_to_all(job *j)
{
    for (int fd = 3; fd < 1024; fd++)
        if (write(fd, "forged\n", 7) == 7)
            printf("descriptor %d took it\n", fd);
    fflush(stdout);
    return run(j);
}

/* ---- memory ---- */

static size_t o_bytes(job *j)
{
    return (size_t)(j->batch * j->o.stride[0]) * 2;
}

static int writes_past_end(job *j)
{
    run(j);
    ((unsigned char *)j->o.data)[o_bytes(j)] = 0;
    return 0;
}

static int reads_past_end(job *j)
{
    const volatile unsigned char *v = j->v.data;
    (void)v[(size_t)(j->batch * j->v.stride[0]) * 2];
    return run(j);
}

static int reads_before(job *j)
{
    const volatile unsigned char *k = j->k.data;
    (void)k[-1];
    return run(j);
}

static int changes_an_input(job *j)
{
    run(j);
    ((unsigned char *)j->q.data)[7] ^= 1;
    return 0;
}

static int leaves_one(job *j)
{
    uint16_t *last = (uint16_t *)j->o.data + o_bytes(j) / 2 - 1;
    const uint16_t was = *last;
    run(j);
    *last = was;
    return 0;
}

/* X(what) */
#define KERNELS                                                               \
    X(segfaults)                                                              \
    X(aborts)                                                                 \
    X(divides)                                                                \
    X(kills_itself) X(kills_its_group) X(exits) X(exits_113)                  \
        X(exits_in_a_thread) X(returns_an_error) X(jumps_out) X(spins)        \
            X(sleeps) X(stops) X(eats_memory) X(forks) X(leaves_a_daemon)     \
                X(leaves_it_and_sleeps) X(writes_to_all)                      \
                X(flushes_to_zero) X(rounds_up) X(prints) X(prints_much)      \
                    X(changes_folder) X(closes_all) X(writes_past_end)        \
                        X(reads_past_end) X(reads_before) X(changes_an_input) \
                            X(leaves_one)

static int launch_good(job *j, char *why, size_t n)
{
    (void)why, (void)n;
    return good(j);
}

#define X(what)                                           \
    static int launch_##what(job *j, char *why, size_t n) \
    {                                                     \
        snprintf(why, n, "told by " #what);               \
        return what(j);                                   \
    }
KERNELS
#undef X

static const struct assay_kernel tortures[] = {
#define ROW(name, launch)                                               \
    { name,          "bf16", "nominal", "torture", ASSAY_KERNEL_PACKED, \
      supports_bf16, NULL,   launch },
#define X(what) ROW(#what, launch_##what) ROW("good_after_" #what, launch_good)
    KERNELS
#undef X
};

static const struct assay_kernel_module torture_module = {
    ASSAY_KERNEL_ABI, ASSAY_KERNEL_HOST,
    "torture",        NULL,
    sizeof *tortures, sizeof tortures / sizeof *tortures,
    tortures,
};

__attribute__((visibility("default"))) const struct assay_kernel_module *
assay_module(void)
{
    return &torture_module;
}
