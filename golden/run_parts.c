/* SPDX-License-Identifier: MIT */
#include "golden/run_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/input.h"
#include "golden/run_facts.h"
#include "golden/temp_file.h"

enum { DIGITS = 8 };
static const char ending[] = ".h5";

struct run_parts {
    char final[PATH_MAX], path[PATH_MAX];
    int lock;
};

const char *run_parts_path(const struct run_parts *parts)
{
    return parts->path;
}

static bool part_path(const char *folder, size_t at, char to[PATH_MAX])
{
    int n = snprintf(to, PATH_MAX, "%s/%0*zu%s", folder, DIGITS, at, ending);
    return n > 0 && n < PATH_MAX;
}

/* ---- what is in a folder ---- */

static bool part_number(const char *name, size_t *at)
{
    if (strspn(name, "0123456789") != DIGITS || strcmp(name + DIGITS, ending))
        return false;
    *at = strtoul(name, NULL, 10);
    return true;
}

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Numbers in order; free *out. */
static enum assay_status list_parts(const char *path, size_t **out, size_t *n,
                                    struct assay_error *err)
{
    DIR *dir = opendir(path);
    size_t space = 0, at;
    *out = NULL;
    *n = 0;
    if (!dir)
        return assay_fail(err, ASSAY_FILE, "%s: cannot be read: %s",
                          input_path(path).s, strerror(errno));
    for (struct dirent *e; (e = readdir(dir));) {
        if (!part_number(e->d_name, &at))
            continue;
        if (*n == space) {
            space = space ? 2 * space : 64;
            size_t *grown = realloc(*out, space * sizeof **out);
            if (!grown) {
                closedir(dir);
                return assay_fail(err, ASSAY_MEMORY, "no memory for names");
            }
            *out = grown;
        }
        (*out)[(*n)++] = at;
    }
    closedir(dir);
    if (*n)
        qsort(*out, *n, sizeof **out, by_number);
    return ASSAY_OK;
}

bool run_parts_any(const struct run_parts *parts, size_t *at)
{
    size_t *list, n;
    struct assay_error ignored;
    const bool any =
        list_parts(parts->path, &list, &n, &ignored) == ASSAY_OK && n > 0;
    if (any)
        *at = list[0];
    free(list);
    return any;
}

bool run_parts_has(const struct run_parts *parts, size_t at)
{
    char path[PATH_MAX];
    return part_path(parts->path, at, path) && access(path, F_OK) == 0;
}

bool run_parts_is(const char *path)
{
    struct stat info;
    size_t *list, n = 0;
    struct assay_error ignored;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return false;
    const bool is = list_parts(path, &list, &n, &ignored) == ASSAY_OK && n > 0;
    free(list);
    return is;
}

/* ---- beginning and end ---- */

static enum assay_status make_folder(const struct run_parts *parts, bool resume,
                                     struct assay_error *err)
{
    if (mkdir(parts->path, 0777) == 0 || (errno == EEXIST && resume))
        return ASSAY_OK;
    if (errno == EEXIST)
        return assay_fail(err, ASSAY_USAGE,
                          "%s: is left of a run that did not end, or another "
                          "run is at it; --resume goes on with it, or remove "
                          "it",
                          input_path(parts->path).s);
    return assay_fail(err, ASSAY_FILE, "%s: cannot be made: %s",
                      input_path(parts->path).s, strerror(errno));
}

/* A lock ends with the processes that have it. */
static enum assay_status lock_folder(struct run_parts *parts,
                                     struct assay_error *err)
{
    parts->lock = open(parts->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parts->lock >= 0 && flock(parts->lock, LOCK_EX | LOCK_NB) == 0)
        return ASSAY_OK;
    const int why = errno;
    if (parts->lock >= 0)
        close(parts->lock);
    parts->lock = -1;
    return why == EWOULDBLOCK
               ? assay_fail(err, ASSAY_USAGE, "%s: another run is at it",
                            input_path(parts->path).s)
               : assay_fail(err, ASSAY_FILE, "%s: cannot be locked: %s",
                            input_path(parts->path).s, strerror(why));
}

/* A link would be followed, and what it names read or replaced. */
static enum assay_status check_part_file(const char *folder, size_t at,
                                         struct assay_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    if (!part_path(folder, at, path))
        return assay_fail(err, ASSAY_FILE, "%.200s...: name is too long",
                          folder);
    if (lstat(path, &info) != 0)
        return assay_fail(err, ASSAY_FILE, "%s: cannot be read: %s",
                          input_path(path).s, strerror(errno));
    if (S_ISREG(info.st_mode))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FILE,
                      "%s: is %s, a part of a run record is a regular file; "
                      "remove it",
                      input_path(path).s,
                      S_ISLNK(info.st_mode) ? "a symbolic link"
                                            : "no regular file");
}

static enum assay_status check_part_files(const char *folder,
                                          struct assay_error *err)
{
    size_t *list, n;
    enum assay_status st = list_parts(folder, &list, &n, err);
    for (size_t i = 0; st == ASSAY_OK && i < n; i++)
        st = check_part_file(folder, list[i], err);
    free(list);
    return st;
}

enum assay_status run_parts_open(const char *path, bool resume,
                                 struct run_parts **out,
                                 struct assay_error *err)
{
    *out = NULL;
    struct run_parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a run record");
    int n =
        snprintf(parts->path, sizeof parts->path, "%s" RUN_PARTS_SUFFIX, path);
    if (n < 0 || (size_t)n >= sizeof parts->path) {
        free(parts);
        return assay_fail(err, ASSAY_FILE, "%.200s...: name is too long", path);
    }
    memcpy(parts->final, path, strlen(path) + 1);
    enum assay_status st = temp_file_try(path, err);
    if (st == ASSAY_OK)
        st = make_folder(parts, resume, err);
    parts->lock = -1;
    if (st == ASSAY_OK)
        st = lock_folder(parts, err);
    if (st == ASSAY_OK)
        st = check_part_files(parts->path, err);
    if (st != ASSAY_OK) {
        run_parts_close(parts);
        return st;
    }
    *out = parts;
    return ASSAY_OK;
}

void run_parts_close(struct run_parts *parts)
{
    if (!parts)
        return;
    if (parts->lock >= 0) {
        rmdir(parts->path); /* where nothing is in it */
        close(parts->lock);
    }
    free(parts);
}

/* Parts, and what a run that was killed had begun. */
static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));)
        if (strspn(e->d_name, "0123456789") == DIGITS)
            unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    rmdir(path);
}

/* ---- parts ---- */

enum assay_status run_parts_add(struct run_parts *parts, size_t at,
                                const char *command,
                                const struct run_facts *facts,
                                const struct run_result *r,
                                struct assay_error *err)
{
    char path[PATH_MAX];
    struct run_file_writer *w;
    if (!part_path(parts->path, at, path))
        return assay_fail(err, ASSAY_FILE, "%.200s...: name is too long",
                          parts->path);
    enum assay_status st = run_file_create(path, command, facts, &w, err);
    if (st != ASSAY_OK)
        return st;
    if ((st = run_file_add(w, r, err)) != ASSAY_OK) {
        run_file_abandon(w);
        return st;
    }
    return run_file_commit(w, err);
}

static enum assay_status read_part(const char *folder, size_t at,
                                   struct run_file **out,
                                   struct assay_error *err)
{
    char path[PATH_MAX];
    *out = NULL;
    enum assay_status st = check_part_file(folder, at, err);
    if (st == ASSAY_OK && part_path(folder, at, path))
        st = run_file_open(path, out, err);
    if (st != ASSAY_OK || run_file_count(*out) == 1)
        return st;
    st = assay_fail(err, ASSAY_FORMAT,
                    "%s: has %zu results, one is expected in a part",
                    input_path(path).s, run_file_count(*out));
    run_file_close(*out);
    *out = NULL;
    return st;
}

enum assay_status run_parts_read(const struct run_parts *parts, size_t at,
                                 struct run_file **out, struct assay_error *err)
{
    return read_part(parts->path, at, out, err);
}

/* ---- together ---- */

/* The run that parts are to be of; a program's build is that of the first
 * which tells it. */
struct one_run {
    struct run_file *first;
    struct run_facts facts; /* of it */
    char build[256];
};

static enum assay_status check_part(struct one_run *run, const char *folder,
                                    size_t at, const struct run_file *part,
                                    struct assay_error *err)
{
    const struct run_facts *facts = run_file_facts(part);
    struct run_facts_other other;
    if (run_facts_differ(&run->facts, facts, &other))
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: result %zu is of another run than those before: "
                          "its %s is \"%.60s\", theirs is \"%.60s\"; remove "
                          "it, or let --resume make it again",
                          input_path(folder).s, at, other.key, other.b,
                          other.a);
    if (!run->facts.module_build[0]) {
        snprintf(run->build, sizeof run->build, "%s", facts->module_build);
        run->facts.module_build = run->build;
    }
    return ASSAY_OK;
}

/* `run` NULL: it was checked where it was taken. */
static enum assay_status copy_part(const char *folder, size_t at,
                                   struct one_run *run,
                                   struct run_file_writer *to,
                                   struct assay_error *err)
{
    struct run_file *part;
    struct run_result r;
    enum assay_status st = read_part(folder, at, &part, err);
    if (st == ASSAY_OK && run)
        st = check_part(run, folder, at, part, err);
    if (st == ASSAY_OK && (st = run_file_read(part, 0, &r, err)) == ASSAY_OK) {
        st = run_file_add(to, &r, err);
        run_result_free(&r);
    }
    run_file_close(part);
    return st;
}

enum assay_status run_parts_join(struct run_parts *parts, size_t count,
                                 const char *command,
                                 const struct run_facts *facts,
                                 struct assay_error *err)
{
    struct run_file_writer *w;
    enum assay_status st =
        run_file_create(parts->final, command, facts, &w, err);
    if (st != ASSAY_OK)
        return st;
    for (size_t i = 0; st == ASSAY_OK && i < count; i++)
        st = copy_part(parts->path, i, NULL, w, err);
    if (st != ASSAY_OK) {
        run_file_abandon(w);
        return st;
    }
    st = run_file_commit(w, err);
    if (st == ASSAY_OK)
        remove_folder(parts->path);
    return st;
}

/* The facts are those of the first part. */
static enum assay_status begin_gather(const char *path, size_t first, size_t n,
                                      const char *to, struct one_run *run,
                                      struct run_file_writer **w,
                                      struct assay_error *err)
{
    char many[24];
    enum assay_status st = read_part(path, first, &run->first, err);
    if (st != ASSAY_OK)
        return st;
    run->facts = *run_file_facts(run->first);
    struct run_facts facts = run->facts;
    char *command = run_file_provenance(run->first, "command");
    snprintf(many, sizeof many, "%zu", n);
    facts.unfinished = many;
    st = run_file_create(to, command ? command : "", &facts, w, err);
    free(command);
    return st;
}

enum assay_status run_parts_gather(const char *path, const char *to,
                                   struct assay_error *err)
{
    size_t *list, n;
    struct one_run run = { 0 };
    struct run_file_writer *w = NULL;
    enum assay_status st = list_parts(path, &list, &n, err);
    if (st == ASSAY_OK && n == 0)
        st = assay_fail(err, ASSAY_FORMAT, "%s: has no results",
                        input_path(path).s);
    if (st == ASSAY_OK)
        st = begin_gather(path, list[0], n, to, &run, &w, err);
    for (size_t i = 0; st == ASSAY_OK && i < n; i++)
        st = copy_part(path, list[i], &run, w, err);
    run_file_close(run.first);
    free(list);
    if (st == ASSAY_OK)
        return run_file_commit(w, err);
    run_file_abandon(w);
    return st;
}
