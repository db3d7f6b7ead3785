/* SPDX-License-Identifier: MIT */
#include "golden/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/input.h"
#include "golden/temp_stale.h"

static char unfinished[TEMP_FILES][PATH_MAX];
static volatile sig_atomic_t have_unfinished[TEMP_FILES];

static void on_signal(int number)
{
    for (int i = 0; i < TEMP_FILES; i++)
        if (have_unfinished[i])
            unlink(unfinished[i]);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
    struct sigaction act = { .sa_handler = on_signal }, old;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ending[i], &act, NULL);
}

enum assay_status temp_file_check_input(const char *final, const char *input,
                                        struct assay_error *err)
{
    struct stat i, j;
    if (!final || !input || stat(final, &i) != 0 || stat(input, &j) != 0 ||
        i.st_dev != j.st_dev || i.st_ino != j.st_ino)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_USAGE,
                      "%s: is to be read, so it cannot be the output",
                      input_path(final).s);
}

enum assay_status temp_file_check_inputs(const char *final,
                                         const char *const inputs[], size_t n,
                                         struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < n; i++)
        st = temp_file_check_input(final, inputs[i], err);
    return st;
}

/* What is not there yet is told by its folder and its name. */
static bool is_one_file(const char *a, const char *b)
{
    struct stat i, j;
    char in_a[PATH_MAX], in_b[PATH_MAX], room[PATH_MAX];
    const bool there = stat(a, &i) == 0;
    if (there != (stat(b, &j) == 0))
        return false;
    if (there)
        return i.st_dev == j.st_dev && i.st_ino == j.st_ino;
    const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
    if (strcmp(name_a ? name_a + 1 : a, name_b ? name_b + 1 : b) != 0 ||
        strlen(a) >= sizeof room || strlen(b) >= sizeof room)
        return false;
    return realpath(dirname(strcpy(room, a)), in_a) &&
           realpath(dirname(strcpy(room, b)), in_b) && strcmp(in_a, in_b) == 0;
}

enum assay_status temp_file_check_apart(const char *final, const char *other,
                                        struct assay_error *err)
{
    if (!final || !other || !is_one_file(final, other))
        return ASSAY_OK;
    const struct input_path a = input_path(final), b = input_path(other);
    return assay_fail(err, ASSAY_USAGE,
                      "%s and %s are one file, and cannot be two outputs", a.s,
                      b.s);
}

enum assay_status temp_file_begin(const char *final, struct temp_file *file,
                                  struct assay_error *err)
{
    struct stat info;
    if (!*final) /* the temporary name would be a good one */
        return assay_fail(err, ASSAY_FILE,
                          "\"\": cannot be written: a file needs a name");
    char real[PATH_MAX];
    if (lstat(final, &info) == 0 && S_ISLNK(info.st_mode)) {
        if (!realpath(final, real))
            return assay_fail(err, ASSAY_FILE, "%s: is a link to nothing: %s",
                              input_path(final).s, strerror(errno));
        final = real; /* a rename would replace the link */
    }
    int n = snprintf(file->path, sizeof file->path, "%s.%ld.tmp", final,
                     (long)getpid());
    if (n < 0 || (size_t)n >= sizeof file->path)
        return assay_fail(err, ASSAY_FILE, "%.200s...: name is too long",
                          final);
    strcpy(file->final, final);
    for (file->slot = 0; have_unfinished[file->slot];)
        if (++file->slot == TEMP_FILES)
            return assay_fail(err, ASSAY_INTERNAL,
                              "%.200s: more than %d outputs at a time", final,
                              TEMP_FILES);
    if (stat(final, &info) == 0 && !S_ISREG(info.st_mode))
        return assay_fail(err, ASSAY_FILE,
                          "%s: is there and is not a regular file",
                          input_path(final).s);
    int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return assay_fail(err, ASSAY_FILE, "%s: cannot be written: %s",
                          input_path(final).s, strerror(errno));
    close(fd);
    unlink(file->path); /* the writer makes it anew */
    temp_stale_remove(final);
    strcpy(unfinished[file->slot], file->path);
    have_unfinished[file->slot] = 1;
    watch_signals();
    return ASSAY_OK;
}

enum assay_status temp_file_try(const char *final, struct assay_error *err)
{
    struct temp_file file;
    enum assay_status st =
        final ? temp_file_begin(final, &file, err) : ASSAY_OK;
    if (final && st == ASSAY_OK)
        temp_file_abandon(&file);
    return st;
}

enum assay_status temp_file_write(const struct temp_file *file,
                                  const void *bytes, size_t n,
                                  struct assay_error *err)
{
    const char *from = bytes;
    int fd = open(file->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    bool ok = fd >= 0;
    while (ok && n) {
        ssize_t m = write(fd, from, n);
        if (m < 0 && errno == EINTR)
            continue;
        ok = m > 0;
        from += ok ? m : 0;
        n -= ok ? (size_t)m : 0;
    }
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_FILE, "%s: cannot be written: %s",
                           file->final, strerror(why));
}

static enum assay_status unfinished_file(struct temp_file *file,
                                         struct assay_error *err)
{
    enum assay_status st =
        assay_fail(err, ASSAY_FILE, "%s: cannot be finished: %s",
                   input_path(file->final).s, strerror(errno));
    temp_file_abandon(file);
    return st;
}

enum assay_status temp_file_sync(struct temp_file *file,
                                 struct assay_error *err)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    int ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0 && close(fd) != 0)
        ok = 0;
    return ok ? ASSAY_OK : unfinished_file(file, err);
}

enum assay_status temp_file_commit(struct temp_file *file,
                                   struct assay_error *err)
{
    enum assay_status st = temp_file_sync(file, err);
    if (st != ASSAY_OK)
        return st;
    if (rename(file->path, file->final) != 0)
        return unfinished_file(file, err);
    have_unfinished[file->slot] = 0;
    return ASSAY_OK;
}

void temp_file_abandon(struct temp_file *file)
{
    unlink(file->path);
    have_unfinished[file->slot] = 0;
}

enum assay_status temp_file_print(const char *final,
                                  bool (*print)(const void *what, FILE *out),
                                  const void *what, struct assay_error *err)
{
    struct temp_file file;
    if (!final)
        return print(what, stdout) || ferror(stdout)
                   ? ASSAY_OK
                   : assay_fail(err, ASSAY_MEMORY, "no memory for the report");
    enum assay_status st = temp_file_begin(final, &file, err);
    if (st != ASSAY_OK)
        return st;
    FILE *out = fopen(file.path, "we");
    bool ok = out && print(what, out);
    int why = errno;
    if (out && fclose(out) != 0) {
        ok = false;
        why = errno;
    }
    if (ok)
        return temp_file_commit(&file, err);
    temp_file_abandon(&file);
    return assay_fail(err, ASSAY_FILE, "%s: cannot be written: %s", final,
                      strerror(why));
}
