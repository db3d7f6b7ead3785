/* SPDX-License-Identifier: MIT */
#include "golden/heads.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "assay/memory.h"
#include "golden/heads_cases.h"
#include "golden/layout.h"
#include "golden/safetensors_write.h"
#include "golden/term.h"

struct head {
    char *name;         /* of the case */
    const json_t *told; /* of it alone, in an exported file; or NULL */
    const struct assay_format *format;
    struct assay_problem problem;
    const struct assay_safetensors_tensor *part[3]; /* q, k, v */
};

struct heads {
    char *path, *source;
    struct assay_safetensors *file;
    struct layout layout;
    bool layout_told;
    json_t *cases; /* of an exported file, or NULL */
    struct head *head;
    size_t count;
};

static const char *const parts[] = { ".q", ".k", ".v" };

void heads_close(struct heads *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->count; i++)
        free(h->head[i].name);
    free(h->head);
    free(h->source);
    json_decref(h->cases);
    free(h->path);
    assay_safetensors_close(h->file);
    free(h);
}

size_t heads_count(const struct heads *h)
{
    return h->count;
}

const char *heads_case_name(const struct heads *h, size_t i)
{
    return h->head[i].name;
}

const struct assay_problem *heads_problem(const struct heads *h, size_t i)
{
    return &h->head[i].problem;
}

static bool ends_with(const char *text, const char *tail)
{
    size_t n = strlen(text), m = strlen(tail);
    return n > m && strcmp(text + n - m, tail) == 0;
}

/* The option, or what the file says, or hsd; four axes must be told. */
static enum assay_status find_layout(struct heads *h, const char *option,
                                     struct assay_error *err)
{
    const char *told = assay_safetensors_metadata(h->file, "layout");
    h->layout_told = option || told;
    enum assay_status st = layout_parse(option ? option
                                        : told ? told
                                               : "hsd",
                                        &h->layout, err);
    return st == ASSAY_OK || option
               ? st
               : assay_fail_in(err, ASSAY_FORMAT, "%s: metadata", h->path);
}

/* Sizes [b, s, h, d] of one part. */
static enum assay_status part_sizes(const struct heads *h,
                                    const struct assay_safetensors_tensor *t,
                                    int64_t size[4], struct assay_error *err)
{
    if (!h->layout_told && t->rank == 4)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s has 4 axes; say --layout bhsd or bshd",
                          h->path, t->name);
    enum assay_status st =
        layout_sizes(&h->layout, t->name, t->rank, t->shape, size, err);
    return st == ASSAY_OK ? st : assay_fail_in(err, st, "%s", h->path);
}

static enum assay_status find_format(const struct heads *h, struct head *head,
                                     struct assay_error *err)
{
    const struct assay_safetensors_tensor *q = head->part[0],
                                          *k = head->part[1],
                                          *v = head->part[2];
    if (k->dtype != q->dtype || v->dtype != q->dtype)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s is %s, %s %s and %s %s: q, k and v must be "
                          "of one type",
                          h->path, q->name, q->dtype->name, k->name,
                          k->dtype->name, v->name, v->dtype->name);
    head->format = safetensors_float(q->dtype);
    if (head->format)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: %s is %s, heads are BF16, F16 or F32", h->path,
                      q->name, q->dtype->name);
}

static enum assay_status find_sizes(const struct heads *h, struct head *head,
                                    struct assay_error *err)
{
    struct assay_problem *p = &head->problem;
    int64_t q[4], k[4], v[4];
    enum assay_status st;
    if ((st = part_sizes(h, head->part[0], q, err)) != ASSAY_OK ||
        (st = part_sizes(h, head->part[1], k, err)) != ASSAY_OK ||
        (st = part_sizes(h, head->part[2], v, err)) != ASSAY_OK)
        return st;
    if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] ||
        k[3] != q[3])
        return assay_fail(
            err, ASSAY_FORMAT,
            "%s: as [batch, token, head, channel] %s is [%" PRId64 ", %" PRId64
            ", %" PRId64 ", %" PRId64 "], %s [%" PRId64 ", %" PRId64
            ", %" PRId64 ", %" PRId64 "] and %s [%" PRId64 ", %" PRId64
            ", %" PRId64 ", %" PRId64 "], which do not fit together",
            h->path, head->part[0]->name, q[0], q[1], q[2], q[3],
            head->part[1]->name, k[0], k[1], k[2], k[3], head->part[2]->name,
            v[0], v[1], v[2], v[3]);
    p->b = q[0];
    p->nq = q[1];
    p->hq = q[2];
    p->dk = q[3];
    p->nk = k[1];
    p->hk = k[2];
    p->dv = v[3];
    return ASSAY_OK;
}

static enum assay_status find_mask(const struct heads *h,
                                   const struct heads_options *options,
                                   const json_t *told, enum assay_mask *mask,
                                   struct assay_error *err)
{
    const char *causal = assay_safetensors_metadata(h->file, "causal");
    *mask = options->mask;
    if (told && !options->has_mask)
        *mask = heads_cases_mask(told);
    if (told || options->has_mask)
        return ASSAY_OK;
    if (!causal)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: metadata do not say whether the heads are "
                          "causal; use --mask none or --mask causal",
                          h->path);
    *mask =
        strcasecmp(causal, "true") == 0 ? ASSAY_MASK_CAUSAL : ASSAY_MASK_NONE;
    if (strcasecmp(causal, "true") != 0 && strcasecmp(causal, "false") != 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: metadata say causal \"%.40s\", not true or "
                          "false",
                          h->path, causal);
    return ASSAY_OK;
}

static enum assay_status find_scale(const struct heads *h,
                                    const struct heads_options *options,
                                    const json_t *told, int64_t dk,
                                    double *scale, struct assay_error *err)
{
    const char *text = assay_safetensors_metadata(h->file, "softmax_scale");
    char *end;
    *scale = options->scale;
    if (told && !options->has_scale)
        *scale = heads_cases_scale(told);
    if (told || options->has_scale)
        return ASSAY_OK;
    *scale = assay_problem_default_scale(dk);
    if (!text)
        return ASSAY_OK;
    *scale = strtod(text, &end);
    if (end == text || *end || !isfinite(*scale))
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: metadata say softmax_scale \"%.40s\", not a "
                          "finite number",
                          h->path, text);
    return ASSAY_OK;
}

/* "<file stem>.<X>", with '/' of either replaced: it parts groups in HDF5. */
static char *case_name(const char *path, const char *q_name)
{
    const char *file = basename(path);
    const char *dot = strrchr(file, '.');
    int stem = (int)(dot && dot > file ? dot - file : (long)strlen(file));
    int x = (int)strlen(q_name) - 2;
    char *name = NULL;
    if (asprintf(&name, "%.*s.%.*s", stem, file, x, q_name) < 0)
        return NULL;
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '.';
    return name;
}

/* Case names are typed, printed and made into paths. */
static enum assay_status check_name(const struct heads *h, const char *name,
                                    struct assay_error *err)
{
    enum { LONGEST = 255 };
    if (strlen(name) > LONGEST)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: a case would be named %.40s... of %zu bytes, at "
                          "most %d are allowed",
                          h->path, name, strlen(name), LONGEST);
    for (const char *c = name; *c; c++)
        if (term_is_control(c))
            return assay_fail(err, ASSAY_FORMAT,
                              "%s: a case would be named %s, with a control "
                              "character in it",
                              h->path, name);
    return ASSAY_OK;
}

static enum assay_status find_part(const struct heads *h,
                                   const struct assay_safetensors_tensor *q,
                                   int part,
                                   const struct assay_safetensors_tensor **out,
                                   struct assay_error *err)
{
    struct assay_error ignored;
    char *name = strdup(q->name);
    if (!name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    strcpy(name + strlen(name) - 2, parts[part]);
    enum assay_status st = assay_safetensors_find(h->file, name, out, &ignored);
    if (st != ASSAY_OK)
        st = assay_fail(err, ASSAY_FORMAT, "%s: has %s and no %s", h->path,
                        q->name, name);
    free(name);
    return st;
}

static enum assay_status add_head(struct heads *h,
                                  const struct assay_safetensors_tensor *q,
                                  const char *name, const json_t *told,
                                  const struct heads_options *options,
                                  struct assay_error *err)
{
    struct head *head = &h->head[h->count];
    struct assay_problem *p = &head->problem;
    enum assay_status st;
    *head = (struct head){ .part = { q }, .told = told };
    head->name = name ? strdup(name) : case_name(h->path, q->name);
    if (!head->name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a case name");
    h->count++;
    if ((st = check_name(h, head->name, err)) == ASSAY_OK &&
        (st = find_part(h, q, 1, &head->part[1], err)) == ASSAY_OK &&
        (st = find_part(h, q, 2, &head->part[2], err)) == ASSAY_OK &&
        (st = find_format(h, head, err)) == ASSAY_OK &&
        (st = find_sizes(h, head, err)) == ASSAY_OK &&
        (st = find_mask(h, options, told, &p->mask, err)) == ASSAY_OK &&
        (st = find_scale(h, options, told, p->dk, &p->softmax_scale, err)) ==
            ASSAY_OK &&
        (st = assay_problem_check(p, err)) != ASSAY_OK)
        st = assay_fail_in(err, ASSAY_FORMAT, "%s: %.*s", h->path,
                           (int)strlen(q->name) - 2, q->name);
    return st;
}

/* The cases of an exported file: answers and payloads may stand beside them. */
static enum assay_status add_cases(struct heads *h,
                                   const struct heads_options *options,
                                   struct assay_error *err)
{
    const char *name;
    json_t *told;
    enum assay_status st = heads_cases_read(
        assay_safetensors_metadata(h->file, "cases"), &h->cases, err);
    if (st != ASSAY_OK)
        return assay_fail_in(err, st, "%s: metadata", h->path);
    h->head = calloc(json_object_size(h->cases), sizeof *h->head);
    if (!h->head)
        return assay_fail(err, ASSAY_MEMORY, "no memory for heads");
    json_object_foreach (h->cases, name, told) {
        const struct assay_safetensors_tensor *q = NULL;
        char *text = NULL;
        if (st == ASSAY_OK && asprintf(&text, "%s.q", name) < 0)
            return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
        if (st == ASSAY_OK)
            st = assay_safetensors_find(h->file, text, &q, err);
        if (st == ASSAY_OK)
            st = add_head(h, q, name, told, options, err);
        free(text);
    }
    return st;
}

static bool is_exported(const struct heads *h)
{
    const char *format = assay_safetensors_metadata(h->file, "format");
    return format && strcmp(format, HEADS_CASES_FORMAT) == 0;
}

static enum assay_status add_heads(struct heads *h,
                                   const struct heads_options *options,
                                   struct assay_error *err)
{
    size_t n = assay_safetensors_count(h->file);
    h->head = calloc(n + 1, sizeof *h->head);
    if (!h->head)
        return assay_fail(err, ASSAY_MEMORY, "no memory for heads");
    for (size_t i = 0; i < n; i++) {
        const struct assay_safetensors_tensor *t;
        enum assay_status st = assay_safetensors_get(h->file, i, &t, err);
        if (st == ASSAY_OK && ends_with(t->name, parts[0]))
            st = add_head(h, t, NULL, NULL, options, err);
        if (st != ASSAY_OK)
            return st;
    }
    const struct assay_safetensors_tensor *t;
    const char *first = "";
    if (n > 0 && assay_safetensors_get(h->file, 0, &t, NULL) == ASSAY_OK)
        first = t->name;
    if (h->count == 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: has %zu tensors and none named X.q, as layer0.q "
                          "is; the first is named \"%.60s\"",
                          h->path, n, first);
    return ASSAY_OK;
}

enum assay_status heads_open(const char *path,
                             const struct heads_options *options,
                             struct heads **out, struct assay_error *err)
{
    struct layout layout;
    *out = NULL;
    enum assay_status st = options->layout
                               ? layout_parse(options->layout, &layout, err)
                               : ASSAY_OK;
    if (st != ASSAY_OK)
        return st;
    struct heads *h = calloc(1, sizeof *h);
    if (!h || !(h->path = strdup(path))) {
        free(h);
        return assay_fail(err, ASSAY_MEMORY, "no memory for heads");
    }
    st = assay_safetensors_open(path, &h->file, err);
    if (st == ASSAY_OK) {
        const char *about = assay_safetensors_metadata(h->file, "source");
        if (asprintf(&h->source, "%s%s%s", basename(path), about ? ": " : "",
                     about ? about : "") < 0) {
            h->source = NULL;
            st = assay_fail(err, ASSAY_MEMORY, "no memory for a source");
        }
    }
    if (st == ASSAY_OK)
        st = find_layout(h, options->layout, err);
    if (st == ASSAY_OK)
        st = is_exported(h) ? add_cases(h, options, err)
                            : add_heads(h, options, err);
    if (st != ASSAY_OK) {
        heads_close(h);
        return st;
    }
    *out = h;
    return ASSAY_OK;
}

static enum assay_status check_finite(const struct heads *h,
                                      const struct assay_safetensors_tensor *t,
                                      const struct assay_format *format,
                                      const int64_t size[4], const void *words,
                                      struct assay_error *err)
{
    enum { BLOCK = 4096 };
    float values[BLOCK];
    int64_t bad = 0, first = -1, n = size[0] * size[1] * size[2] * size[3];
    size_t bytes = assay_format_bytes(format);
    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t m = n - at < BLOCK ? n - at : BLOCK;
        assay_format_decode(format, (size_t)m,
                            (const char *)words + (size_t)at * bytes, values);
        for (int64_t i = 0; i < m; i++)
            if (!isfinite(values[i]) && bad++ == 0)
                first = at + i;
    }
    if (bad == 0)
        return ASSAY_OK;
    int64_t d = first % size[3], head = first / size[3] % size[2],
            s = first / size[3] / size[2] % size[1];
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: %s has %" PRId64 " of %" PRId64
                      " values that are not finite, the first at head %" PRId64
                      ", token %" PRId64 ", channel %" PRId64,
                      h->path, t->name, bad, n, head, s, d);
}

static enum assay_status read_part(const struct heads *h,
                                   const struct head *head, int part,
                                   void **out, struct assay_error *err)
{
    const struct assay_safetensors_tensor *t = head->part[part];
    const size_t bytes = assay_format_bytes(head->format);
    int64_t size[4];
    char *raw = NULL, *words = NULL;
    enum assay_status st;
    if ((st = part_sizes(h, t, size, err)) != ASSAY_OK ||
        (st = assay_alloc(t->name, (int64_t)t->bytes, 1, &raw, err)) !=
            ASSAY_OK ||
        (st = assay_alloc(t->name, (int64_t)t->bytes, 1, &words, err)) !=
            ASSAY_OK ||
        (st = assay_safetensors_read(h->file, t, raw, t->bytes, err)) !=
            ASSAY_OK)
        goto out;
    layout_to_bshd(&h->layout, t->shape, bytes, raw, words);
    st = check_finite(h, t, head->format, size, words, err);
out:
    assay_free(raw);
    *out = words;
    return st;
}

enum assay_status heads_read(const struct heads *h, size_t i,
                             struct assay_case *out, struct assay_error *err)
{
    const struct head *head = &h->head[i];
    enum assay_status st;
    *out = (struct assay_case){
        .problem = head->problem,
        .format = head->format,
        .name = strdup(head->name),
        .source =
            strdup(head->told ? heads_cases_source(head->told) : h->source)
    };
    if (!out->name || !out->source)
        st = assay_fail(err, ASSAY_MEMORY, "no memory for a case");
    else if ((st = read_part(h, head, 0, &out->q, err)) == ASSAY_OK &&
             (st = read_part(h, head, 1, &out->k, err)) == ASSAY_OK)
        st = read_part(h, head, 2, &out->v, err);
    if (st != ASSAY_OK)
        assay_case_free(out);
    return st;
}
