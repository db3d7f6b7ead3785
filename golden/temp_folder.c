/* SPDX-License-Identifier: MIT */
#include "golden/temp_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/child.h"

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *at)
{
    (void)info, (void)type, (void)at;
    remove(path);
    return 0;
}

/* Again and again: what was just killed may have been about to make a file. */
static void remove_tree(const char *path)
{
    enum { OPEN_FOLDERS = 16, ROUNDS = 100 };
    for (int i = 0; i < ROUNDS && access(path, F_OK) == 0; i++) {
        nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
        if (access(path, F_OK) == 0)
            usleep(10000);
    }
}

/* Out of reach of Ctrl-C, and without files of ours: a lock or a pipe would
 * outlive us with it. */
_Noreturn static void keep(const struct temp_folder *folder, int end)
{
    char byte;
    setsid();
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_IGN);
    dup2(end, STDIN_FILENO);
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
        ;
    if (*folder->group > 0)
        kill(-*folder->group, SIGKILL);
    remove_tree(folder->path);
    _exit(0);
}

static enum assay_status make(struct temp_folder *folder,
                              struct assay_error *err)
{
    const char *in = getenv("TMPDIR");
    char real[PATH_MAX];
    if (!in || !*in)
        in = "/tmp";
    if (!realpath(in, real))
        return assay_fail(err, ASSAY_FILE, "%.200s: no folder can be made: %s",
                          in, strerror(errno));
    int n =
        snprintf(folder->path, sizeof folder->path, "%s/assay-XXXXXX", real);
    if (n < 0 || (size_t)n >= sizeof folder->path || !mkdtemp(folder->path))
        return assay_fail(err, ASSAY_FILE, "%.200s: no folder can be made: %s",
                          in,
                          (size_t)n >= sizeof folder->path ? "name is too long"
                                                           : strerror(errno));
    return ASSAY_OK;
}

/* False with errno: there is none. */
static bool start_keeper(struct temp_folder *folder)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        keep(folder, ends[0]);
    }
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return false;
    }
    folder->hold = ends[1];
    folder->keeper = pid;
    return true;
}

enum assay_status temp_folder_new(struct temp_folder *folder,
                                  struct assay_error *err)
{
    *folder = (struct temp_folder){ 0 };
    enum assay_status st =
        child_share(sizeof *folder->group, &folder->group, err);
    if (st == ASSAY_OK)
        st = make(folder, err);
    if (st == ASSAY_OK && !start_keeper(folder)) {
        st = assay_fail(err, ASSAY_INTERNAL, "no process to keep %.200s: %s",
                        folder->path, strerror(errno));
        rmdir(folder->path);
    }
    if (st != ASSAY_OK) {
        child_unshare(folder->group, sizeof *folder->group);
        *folder = (struct temp_folder){ 0 };
    }
    return st;
}

bool temp_folder_is(const struct temp_folder *folder)
{
    struct stat info;
    return lstat(folder->path, &info) == 0 && S_ISDIR(info.st_mode) &&
           info.st_uid == geteuid();
}

enum assay_status temp_folder_restore(const struct temp_folder *folder,
                                      struct assay_error *err)
{
    if (temp_folder_is(folder))
        return ASSAY_OK;
    unlink(folder->path);
    return mkdir(folder->path, 0700) == 0
               ? ASSAY_OK
               : assay_fail(err, ASSAY_FILE,
                            "%.200s: the program removed it, and it cannot be "
                            "made again: %s",
                            folder->path, strerror(errno));
}

void temp_folder_guard(struct temp_folder *folder, int group)
{
    *folder->group = group;
}

void temp_folder_remove(struct temp_folder *folder)
{
    if (!folder->keeper)
        return;
    close(folder->hold);
    while (waitpid(folder->keeper, NULL, 0) < 0 && errno == EINTR)
        ;
    child_unshare(folder->group, sizeof *folder->group);
    *folder = (struct temp_folder){ 0 };
}
