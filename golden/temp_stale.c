/* SPDX-License-Identifier: MIT */
#include "golden/temp_stale.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number in BASE.<pid>.tmp as temp_file_begin writes it; 0 in others. */
static pid_t pid_in(const char *name, const char *base)
{
    const size_t n = strlen(base);
    if (strncmp(name, base, n) != 0 || name[n] != '.')
        return 0;
    const char *digits = name + n + 1;
    const size_t count = strspn(digits, "0123456789");
    if (count < 1 || count > 9 || *digits == '0' ||
        strcmp(digits + count, ".tmp") != 0)
        return 0;
    return (pid_t)atol(digits);
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static void remove_one(int folder, const char *name)
{
    struct stat info;
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

void temp_stale_remove(const char *final)
{
    char folder[PATH_MAX], file[PATH_MAX];
    if (strlen(final) >= sizeof folder)
        return;
    DIR *dir = opendir(dirname(strcpy(folder, final)));
    if (!dir)
        return;
    const char *base = basename(strcpy(file, final));
    for (struct dirent *e; (e = readdir(dir));) {
        const pid_t pid = pid_in(e->d_name, base);
        if (pid > 0 && is_gone(pid))
            remove_one(dirfd(dir), e->d_name);
    }
    closedir(dir);
}
