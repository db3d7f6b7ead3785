/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[PATH_MAX - NAME_MAX - 2];

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_path(const char *name)
{
    static char path[PATH_MAX];
    const char *in = getenv("TMPDIR");
    if (!*folder) {
        snprintf(folder, sizeof folder, "%s/assay-fuzz-XXXXXX",
                 in && *in ? in : "/tmp");
        if (!mkdtemp(folder)) {
            perror(folder);
            exit(99);
        }
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
    const char *path = fuzz_path(name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0) {
        perror(path);
        exit(99);
    }
    return path;
}

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static const uint64_t basis = 0xcbf29ce484222325;
static uint64_t digest = 0xcbf29ce484222325;

void fuzz_touch(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; data && i < bytes; i++)
        digest = (digest ^ at[i]) * 0x100000001b3;
    digest = (digest ^ (data != NULL)) * 0x100000001b3;
}

void fuzz_touch_text(const char *text)
{
    fuzz_touch(text, text ? strlen(text) + 1 : 0);
}

void fuzz_touch_int(int64_t value)
{
    fuzz_touch(&value, sizeof value);
}

void fuzz_touch_problem(const struct assay_problem *p)
{
    const int64_t sizes[] = { p->b,  p->hq, p->hk, p->nq,
                              p->nk, p->dk, p->dv, p->mask };
    fuzz_touch(sizes, sizeof sizes);
    fuzz_touch(&p->softmax_scale, sizeof p->softmax_scale);
}

void fuzz_touch_case(const struct assay_case *c)
{
    const struct assay_problem *p = &c->problem;
    const size_t bytes = assay_format_bytes(c->format);
    fuzz_touch_text(c->name);
    fuzz_touch_text(c->source);
    fuzz_touch_problem(p);
    fuzz_touch_text(c->format->name);
    fuzz_touch(c->q, (size_t)assay_problem_q_elems(p) * bytes);
    fuzz_touch(c->k, (size_t)assay_problem_k_elems(p) * bytes);
    fuzz_touch(c->v, (size_t)assay_problem_v_elems(p) * bytes);
}

uint64_t fuzz_digest(void)
{
    const uint64_t out = digest;
    digest = basis;
    return out;
}

void fuzz_require(bool holds, const char *sentence)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", sentence);
    abort();
}

void fuzz_require_ok(enum assay_status st, const struct assay_error *err)
{
    fuzz_require(st == ASSAY_OK, err->text);
}

void fuzz_check_refusal(enum assay_status st, const struct assay_error *err)
{
    if (st == ASSAY_OK)
        return;
    fuzz_require(err->status == st, "a refusal has another status");
    fuzz_require(strnlen(err->text, sizeof err->text) < sizeof err->text,
                 "a sentence has no end");
    fuzz_require(*err->text != '\0', "a refusal says nothing");
    fuzz_require(st != ASSAY_INTERNAL, err->text);
}
