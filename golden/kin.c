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

static struct kin look(bool with_dead)
{
    struct kin kin = { .count = 0 };
    DIR *all = opendir("/proc");
    for (struct dirent *d; all && (d = readdir(all)) && kin.count < KIN_MAX;) {
        char state;
        int pid = atoi(d->d_name), parent = 0;
        if (pid <= 0)
            continue;
        if (read_stat(pid, &state, &parent) && parent == getpid() &&
            (with_dead || state != 'Z'))
            kin.pid[kin.count++] = pid;
    }
    if (all)
        closedir(all);
    return kin;
}

struct kin kin_now(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return look(true);
}

static bool is_kin(const struct kin *kin, int pid)
{
    for (int i = 0; i < kin->count; i++)
        if (kin->pid[i] == pid)
            return true;
    return false;
}

int kin_left(const struct kin *before)
{
    const struct kin now = look(false);
    int left = 0;
    for (int i = 0; i < now.count; i++)
        left += !is_kin(before, now.pid[i]);
    return left;
}

void kin_end(const struct kin *before)
{
    for (int found = 1, rounds = 0; found && rounds < 100; rounds++) {
        const struct kin now = look(true);
        found = 0;
        for (int i = 0; i < now.count; i++)
            if (!is_kin(before, now.pid[i])) {
                found = 1;
                kill(now.pid[i], SIGKILL);
                waitpid(now.pid[i], NULL, 0);
            }
    }
}
