/* SPDX-License-Identifier: MIT */
#include "golden/gnuplot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "golden/child.h"
#include "golden/utf8.h"

/* What a shell gives where there is no such program, and where it cannot be
 * run. */
enum { NO_PROGRAM = 127, NO_RUN = 126 };

/* No plot of a page is nearly as large. */
#define MOST_BYTES ((off_t)64 << 20)

/* Files in memory: a pipe could fill up and have both sides wait. */
struct files {
    int script, drawing;
};

static void work(void *context)
{
    const struct files *files = context;
    const struct rlimit size = { (rlim_t)MOST_BYTES, (rlim_t)MOST_BYTES };
    setrlimit(RLIMIT_FSIZE, &size);
    if (dup2(files->script, STDIN_FILENO) < 0 ||
        dup2(files->drawing, STDOUT_FILENO) < 0)
        _exit(NO_RUN);
    child_close_others(NULL, 0);
    execlp("gnuplot", "gnuplot", "-d", "-", (char *)NULL);
    _exit(errno == ENOENT ? NO_PROGRAM : NO_RUN);
}

static int file_of(const char *bytes, size_t n)
{
    int fd = memfd_create("script of a plot", MFD_CLOEXEC);
    while (fd >= 0 && n > 0) {
        const ssize_t m = write(fd, bytes, n);
        if (m > 0) {
            bytes += m;
            n -= (size_t)m;
        } else if (m == 0 || errno != EINTR) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static char *read_all(int fd, size_t *bytes)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    size_t n = 0;
    for (ssize_t m = 1; text && m > 0 && (off_t)n < size; n += (size_t)m) {
        m = pread(fd, text + n, (size_t)size - n, (off_t)n);
        if (m < 0)
            m = 0;
    }
    if (text)
        text[n] = '\0';
    *bytes = n;
    return text;
}

/* How the child ended, and for what. */
static void judge(struct gnuplot_drawing *d, const struct child_outcome *how)
{
    char text[sizeof d->why - 20];
    if (how->end == CHILD_EXITED && how->code == 0) {
        d->end = GNUPLOT_DREW;
    } else if (how->end == CHILD_EXITED && how->code == NO_PROGRAM) {
        d->end = GNUPLOT_ABSENT;
        snprintf(d->why, sizeof d->why,
                 "gnuplot draws the plots, and there is none in PATH (Debian "
                 "package gnuplot-nox)");
    } else {
        d->end = how->end == CHILD_TIMED_OUT ||
                         (how->end == CHILD_EXITED && how->code == NO_RUN)
                     ? GNUPLOT_ABSENT
                     : GNUPLOT_FAILED;
        child_describe(how, text, sizeof text);
        snprintf(d->why, sizeof d->why, "gnuplot %s%s",
                 how->end == CHILD_TIMED_OUT ? "was " : "", text);
    }
}

struct gnuplot_drawing gnuplot_run(const char *script, size_t bytes,
                                   double timeout_s)
{
    struct gnuplot_drawing d = { .end = GNUPLOT_ABSENT };
    struct child_outcome how;
    struct assay_error err = { 0 };
    struct files files = { file_of(script, bytes),
                           memfd_create("a plot", MFD_CLOEXEC) };
    if (files.script < 0 || files.drawing < 0)
        snprintf(d.why, sizeof d.why, "there is no memory for a plot: %s",
                 strerror(errno));
    else if (child_run(work, &files, timeout_s, &how, &err) != ASSAY_OK)
        snprintf(d.why, sizeof d.why, "%.180s", err.text);
    else
        judge(&d, &how);
    if (d.end == GNUPLOT_DREW)
        d.text = read_all(files.drawing, &d.bytes);
    if (d.end == GNUPLOT_DREW && !d.text) {
        d.end = GNUPLOT_FAILED;
        snprintf(d.why, sizeof d.why, "there is no memory for a plot");
    }
    if (files.script >= 0)
        close(files.script);
    if (files.drawing >= 0)
        close(files.drawing);
    return d;
}

/* ---- text ---- */

static uint32_t plain(uint32_t c)
{
    static const struct {
        uint32_t c, alike;
    } alikes[] = {
        { '\'', 0x2019 }, { '"', 0x201d }, { '`', 0x2018 },
        { '\\', 0x2216 }, { '%', 0xff05 },
    };
    for (size_t i = 0; i < sizeof alikes / sizeof *alikes; i++)
        if (c == alikes[i].c)
            return alikes[i].alike;
    return utf8_hidden(c) ? UTF8_NONE : c;
}

void gnuplot_text(FILE *script, const char *text, size_t most)
{
    size_t n = 0, at = 0;
    for (const char *c = text; utf8_next(&c);)
        n++;
    const size_t head = n > most ? most / 2 : n,
                 tail = n > most ? n - (most - head - 1) : n;
    fputc('\'', script);
    for (uint32_t c; (c = utf8_next(&text)) != 0; at++) {
        char bytes[5];
        utf8_put(at == head ? 0x2026 : plain(c), bytes);
        if (at <= head || at >= tail)
            fputs(bytes, script);
    }
    fputc('\'', script);
}
