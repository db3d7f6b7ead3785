/* SPDX-License-Identifier: MIT */
#include "validate/case_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/safetensors_write.h"

enum { HEAD, Q, K, V, K_MEAN, PIECES };

static enum assay_status make_head(const struct driver_run *r,
                                   struct case_file *f, struct assay_error *err)
{
    const struct assay_problem *p = &r->c->problem;
    const enum assay_safetensors_dtype_id type =
        safetensors_dtype_of(r->c->format);
    const struct assay_recipe *recipe = r->answer->recipe;
    const struct safetensors_part parts[] = {
        { "q", type, 4, { p->b, p->nq, p->hq, p->dk } },
        { "k", type, 4, { p->b, p->nk, p->hk, p->dk } },
        { "v", type, 4, { p->b, p->nk, p->hk, p->dv } },
        { "k_mean", ASSAY_SAFETENSORS_F32, 3, { p->b, p->hk, p->dk } },
    };
    const float *k_mean = r->answer->payloads.k_mean;
    const size_t n_parts = k_mean ? 4 : 3;
    char scale[40], run[16];
    snprintf(scale, sizeof scale, "%.17g", p->softmax_scale);
    snprintf(run, sizeof run, "%u", r->number);
    const struct safetensors_note notes[] = {
        { "format", "assay-case" },
        { "version", "1" },
        { "case", r->c->name },
        { "recipe", recipe->name },
        { "softmax_form", assay_softmax_get(recipe->softmax)->name },
        { "softmax_scale", scale },
        { "causal", p->mask == ASSAY_MASK_CAUSAL ? "true" : "false" },
        { "run", run },
    };
    f->piece[Q].bytes = r->c->q;
    f->piece[K].bytes = r->c->k;
    f->piece[V].bytes = r->c->v;
    f->piece[K_MEAN].bytes = k_mean;
    for (size_t i = 0; i < n_parts; i++)
        f->piece[Q + i].n = safetensors_part_bytes(&parts[i]);
    enum assay_status st =
        safetensors_head(parts, n_parts, notes, sizeof notes / sizeof *notes,
                         &f->head, &f->piece[HEAD].n, err);
    f->piece[HEAD].bytes = f->head;
    return st;
}

/* False with errno. */
static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t m = write(fd, bytes, n);
        if (m < 0 && errno == EINTR)
            continue;
        if (m <= 0)
            return false;
        bytes += m;
        n -= (size_t)m;
    }
    return true;
}

enum assay_status case_file_write(const char *path, const struct driver_run *r,
                                  struct case_file *out,
                                  struct assay_error *err)
{
    *out = (struct case_file){ .path = path };
    enum assay_status st = make_head(r, out, err);
    if (st != ASSAY_OK)
        return st;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool ok = fd >= 0;
    for (int i = 0; ok && i < PIECES; i++)
        ok = write_all(fd, out->piece[i].bytes, out->piece[i].n);
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_FILE, "%.300s: cannot be written: %s",
                           path, strerror(why));
}

/* Of a piece that begins at `at`; what cannot be read differs. */
static int64_t differing(int fd, int64_t at, const unsigned char *was, size_t n)
{
    unsigned char is[65536];
    int64_t changed = 0;
    while (n) {
        const size_t some = n < sizeof is ? n : sizeof is;
        ssize_t m = pread(fd, is, some, at);
        if (m < 0 && errno == EINTR)
            continue;
        if (m <= 0)
            return changed + (int64_t)n;
        for (ssize_t i = 0; i < m; i++)
            changed += is[i] != was[i];
        was += m;
        at += m;
        n -= (size_t)m;
    }
    return changed;
}

int64_t case_file_changed(const struct case_file *file, bool *gone)
{
    struct stat info;
    int64_t changed = 0, at = 0;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *gone = fd < 0;
    for (int i = 0; i < PIECES; i++) {
        changed +=
            fd < 0 ? (int64_t)file->piece[i].n
                   : differing(fd, at, file->piece[i].bytes, file->piece[i].n);
        at += (int64_t)file->piece[i].n;
    }
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > at)
        changed += info.st_size - at;
    if (fd >= 0)
        close(fd);
    return changed;
}

void case_file_free(struct case_file *file)
{
    free(file->head);
    *file = (struct case_file){ 0 };
}
