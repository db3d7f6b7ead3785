/* SPDX-License-Identifier: MIT */
#include "check_assay.h"

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/child.h"

static void return_42(void *shared)
{
    *(int *)shared = 42;
}

static void exit_3(void *shared)
{
    (void)shared;
    puts("a farewell\nlast \x1b words");
    fflush(stdout);
    _exit(3);
}

static void exit_113(void *shared)
{
    (void)shared;
    _exit(113);
}

static void print_much(void *shared)
{
    static const char line[] =
        "0123456789abcdef0123456789abcdef0123456789abcde\n";
    for (int i = 0; i < *(int *)shared; i++)
        if (write(i & 1 ? STDERR_FILENO : STDOUT_FILENO, line,
                  sizeof line - 1) != sizeof line - 1)
            _exit(1);
    if (write(STDOUT_FILENO, "last words", 10) != 10)
        _exit(1);
}

static void crash(void *shared)
{
    (void)shared;
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would make it an exit */
    raise(SIGSEGV);
}

static void hang(void *shared)
{
    (void)shared;
    for (;;)
        pause();
}

/* Leaves a process of its own behind, and its number. */
static void orphan(void *shared)
{
    pid_t pid = fork();
    if (pid == 0)
        hang(NULL);
    *(int *)shared = (int)pid;
}

static struct child_outcome run(void (*work)(void *), void *context,
                                double timeout)
{
    struct child_outcome out;
    struct assay_error err;
    ck_assert_int_eq(child_run(work, context, timeout, &out, &err), ASSAY_OK);
    return out;
}

START_TEST(returns_and_shares)
{
    int *shared;
    ck_assert_int_eq(child_share(sizeof *shared, &shared, NULL), ASSAY_OK);
    ck_assert_int_eq(*shared, 0);
    ck_assert_int_eq(run(return_42, shared, 60).end, CHILD_RETURNED);
    ck_assert_int_eq(*shared, 42);
    child_unshare(shared, sizeof *shared);
}
END_TEST

START_TEST(exit_is_told_apart)
{
    char text[200];
    struct child_outcome out = run(exit_3, NULL, 60);
    ck_assert_int_eq(out.end, CHILD_EXITED);
    ck_assert_int_eq(out.code, 3);
    ck_assert_str_eq(out.output, "last ? words");
    child_describe(&out, text, sizeof text);
    ck_assert_str_eq(text, "exited with status 3, last said \"last ? words\"");
    out = run(exit_113, NULL, 60);
    child_describe(&out, text, sizeof text);
    ck_assert_str_eq(text, "exited with status 113");
}
END_TEST

/* More than a pipe holds, and than is kept. */
START_TEST(output_is_taken_and_counted)
{
    int lines = 100000;
    struct child_outcome out = run(print_much, &lines, 60);
    ck_assert_int_eq(out.end, CHILD_RETURNED);
    ck_assert_uint_eq(out.printed, 48 * 100000 + 10);
    ck_assert_str_eq(out.output, "last words");
}
END_TEST

START_TEST(signal_is_named)
{
    char text[200];
    struct child_outcome out = run(crash, NULL, 60);
    ck_assert_int_eq(out.end, CHILD_KILLED);
    ck_assert_int_eq(out.code, SIGSEGV);
    child_describe(&out, text, sizeof text);
    ck_assert_str_eq(text, "killed by signal 11 (Segmentation fault)");
}
END_TEST

START_TEST(hang_ends_at_the_deadline)
{
    struct child_outcome out = run(hang, NULL, 0.2);
    ck_assert_int_eq(out.end, CHILD_TIMED_OUT);
    ck_assert(out.seconds >= 0.2);
    ck_assert(out.seconds < 20);
}
END_TEST

START_TEST(nothing_is_left_behind)
{
    int *shared;
    ck_assert_int_eq(child_share(sizeof *shared, &shared, NULL), ASSAY_OK);
    run(orphan, shared, 60);
    ck_assert(*shared > 1);
    int alive = 0;
    for (int i = 0; i < 500 && (alive = kill(*shared, 0) == 0); i++) {
        /* init may need a moment to collect it; a zombie is dead */
        char path[64], state = '?';
        snprintf(path, sizeof path, "/proc/%d/stat", *shared);
        FILE *f = fopen(path, "r");
        if (!f)
            alive = 0;
        else if (fscanf(f, "%*d %*s %c", &state) == 1 && state == 'Z')
            alive = 0;
        if (f)
            fclose(f);
        if (!alive)
            break;
        usleep(10000);
    }
    ck_assert(!alive);
    child_unshare(shared, sizeof *shared);
}
END_TEST

/* The same, in a session of its own. */
static void daemon_of_its_own(void *shared)
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        hang(NULL);
    }
    usleep(100000);
    *(int *)shared = (int)pid;
}

START_TEST(nor_a_daemon_but_older_children_live)
{
    int *shared;
    ck_assert_int_eq(child_share(sizeof *shared, &shared, NULL), ASSAY_OK);
    pid_t older = fork();
    if (older == 0)
        hang(NULL);
    run(daemon_of_its_own, shared, 60);
    ck_assert(*shared > 1);
    ck_assert(kill(*shared, 0) != 0);
    ck_assert_int_eq(waitpid(older, NULL, WNOHANG), 0);
    kill(older, SIGKILL);
    ck_assert_int_eq(waitpid(older, NULL, 0), older);
    child_unshare(shared, sizeof *shared);
}
END_TEST

static void note_rounding(void *shared)
{
    *(int *)shared = fegetround();
}

START_TEST(child_has_the_default_environment)
{
    int *shared;
    ck_assert_int_eq(child_share(sizeof *shared, &shared, NULL), ASSAY_OK);
    fesetround(FE_UPWARD);
    run(note_rounding, shared, 60);
    fesetround(FE_TONEAREST);
    ck_assert_int_eq(*shared, FE_TONEAREST);
    child_unshare(shared, sizeof *shared);
}
END_TEST

static void read_a_byte(void *shared)
{
    char byte;
    *(int *)shared = (int)read(STDIN_FILENO, &byte, 1);
}

/* What waits on stdin is for whoever comes after. */
START_TEST(child_takes_nothing_of_stdin)
{
    int *shared, ends[2];
    char byte = 'x';
    ck_assert_int_eq(child_share(sizeof *shared, &shared, NULL), ASSAY_OK);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], &byte, 1), 1);
    ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    run(read_a_byte, shared, 60);
    ck_assert_int_eq(*shared, 0);
    ck_assert_int_eq(read(STDIN_FILENO, &byte, 1), 1);
    child_unshare(shared, sizeof *shared);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("child");
    TCase *tests = tcase_create("child");
    tcase_add_test(tests, returns_and_shares);
    tcase_add_test(tests, exit_is_told_apart);
    tcase_add_test(tests, output_is_taken_and_counted);
    tcase_add_test(tests, signal_is_named);
    tcase_add_test(tests, hang_ends_at_the_deadline);
    tcase_add_test(tests, nothing_is_left_behind);
    tcase_add_test(tests, nor_a_daemon_but_older_children_live);
    tcase_add_test(tests, child_has_the_default_environment);
    tcase_add_test(tests, child_takes_nothing_of_stdin);
    suite_add_tcase(suite, tests);
    return assay_check_main(suite);
}
