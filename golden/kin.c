/* SPDX-License-Identifier: MIT */
#include "golden/kin.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The fields after the name, which may hold anything; false: it is gone. */
static bool read_stat(int pid, char *state, int *parent)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        fclose(f);
    line[n] = '\0';
    const char *end = strrchr(line, ')');
    return end && sscanf(end + 1, " %c %d", state, parent) == 2;
}

static bool is_kin(const struct kin *kin, int pid)
{
    for (int i = 0; i < kin->count; i++)
        if (kin->pid[i] == pid)
            return true;
    return false;
}

/* Calls `each` with every child that was not there before; how many. */
static int look(const struct kin *before, bool with_dead,
                void (*each)(int pid, void *context), void *context)
{
    int found = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *d; all && (d = readdir(all));) {
        char state;
        int pid = atoi(d->d_name), parent = 0;
        if (pid <= 0 || !read_stat(pid, &state, &parent) ||
            parent != getpid() || (!with_dead && state == 'Z') ||
            is_kin(before, pid))
            continue;
        found++;
        if (each)
            each(pid, context);
    }
    if (all)
        closedir(all);
    return found;
}

static void add(int pid, void *context)
{
    struct kin *kin = context;
    if (kin->count < KIN_MAX)
        kin->pid[kin->count++] = pid;
}

struct kin kin_now(void)
{
    const struct kin none = { .count = 0 };
    struct kin kin = none;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    look(&none, true, add, &kin);
    return kin;
}

int kin_left(const struct kin *before)
{
    return look(before, false, NULL, NULL);
}

static void end(int pid, void *context)
{
    (void)context;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

void kin_end(const struct kin *before)
{
    for (int rounds = 0; rounds < 100; rounds++)
        if (look(before, true, end, NULL) == 0)
            break;
}
