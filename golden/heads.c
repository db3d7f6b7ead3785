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
#include "golden/tensors.h"
#include "golden/term.h"

struct head {
    char *name;         /* of the case */
    const json_t *told; /* of it alone, in an exported file; or NULL */
    const struct assay_format *format;
    struct assay_problem problem;
    size_t part[3]; /* q, k, v: tensors of the file */
};

struct heads {
    char *path, *source;
    char *about; /* the path without a slash at its end */
    bool alone;  /* three files of .npy, no file that holds heads */
    struct tensors *file;
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
    free(h->about);
    tensors_close(h->file);
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
    const char *told = tensors_metadata(h->file, "layout");
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
                                    const struct tensor *t, int64_t size[4],
                                    struct assay_error *err)
{
    if (!h->layout_told && t->rank == 4)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s has 4 axes; say --layout bhsd or bshd",
                          h->path, t->name);
    enum assay_status st =
        layout_sizes(&h->layout, t->name, t->rank, t->shape, size, err);
    return st == ASSAY_OK ? st : assay_fail_in(err, st, "%s", h->path);
}

/* Heads are floats. NumPy and HDF5 have a type for all of them but bf16, which
 * is what 16-bit words are. */
static const struct assay_format *format_of(enum tensor_type type)
{
    switch (type) {
    case TENSOR_BF16:
    case TENSOR_WORD: return assay_format_get(ASSAY_BF16);
    case TENSOR_F16: return assay_format_get(ASSAY_F16);
    case TENSOR_F32: return assay_format_get(ASSAY_F32);
    default: return NULL;
    }
}

static const struct tensor *part_of(const struct heads *h,
                                    const struct head *head, int part)
{
    return tensors_get(h->file, head->part[part]);
}

static enum assay_status find_format(const struct heads *h, struct head *head,
                                     struct assay_error *err)
{
    const struct tensor *q = part_of(h, head, 0), *k = part_of(h, head, 1),
                        *v = part_of(h, head, 2);
    if (strcmp(k->type_name, q->type_name) != 0 ||
        strcmp(v->type_name, q->type_name) != 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s is %s, %s %s and %s %s: q, k and v must be "
                          "of one type",
                          h->path, q->name, q->type_name, k->name, k->type_name,
                          v->name, v->type_name);
    head->format = format_of(q->type);
    if (head->format)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: %s is %s, heads are BF16, F16 or F32", h->path,
                      q->name, q->type_name);
}

static enum assay_status find_sizes(const struct heads *h, struct head *head,
                                    struct assay_error *err)
{
    struct assay_problem *p = &head->problem;
    const struct tensor *of_q = part_of(h, head, 0),
                        *of_k = part_of(h, head, 1),
                        *of_v = part_of(h, head, 2);
    int64_t q[4], k[4], v[4];
    enum assay_status st;
    if ((st = part_sizes(h, of_q, q, err)) != ASSAY_OK ||
        (st = part_sizes(h, of_k, k, err)) != ASSAY_OK ||
        (st = part_sizes(h, of_v, v, err)) != ASSAY_OK)
        return st;
    if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] ||
        k[3] != q[3])
        return assay_fail(
            err, ASSAY_FORMAT,
            "%s: as [batch, token, head, channel] %s is [%" PRId64 ", %" PRId64
            ", %" PRId64 ", %" PRId64 "], %s [%" PRId64 ", %" PRId64
            ", %" PRId64 ", %" PRId64 "] and %s [%" PRId64 ", %" PRId64
            ", %" PRId64 ", %" PRId64 "], which do not fit together",
            h->path, of_q->name, q[0], q[1], q[2], q[3], of_k->name, k[0], k[1],
            k[2], k[3], of_v->name, v[0], v[1], v[2], v[3]);
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
    const char *causal = tensors_metadata(h->file, "causal");
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
    const char *text = tensors_metadata(h->file, "softmax_scale");
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

/* "<file stem>.<X>", of files of .npy the X alone, with '/' of either replaced:
 * it parts groups in HDF5. */
static char *case_name(const struct heads *h, const char *q_name)
{
    const char *file = basename(h->about), *dot = strrchr(file, '.');
    const int stem = (int)(dot && dot > file ? dot - file : (long)strlen(file)),
              x = (int)strlen(q_name) - 2;
    char *name = NULL;
    const int n = h->alone
                      ? asprintf(&name, "%.*s", x, q_name)
                      : asprintf(&name, "%.*s.%.*s", stem, file, x, q_name);
    if (n < 0)
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

static enum assay_status find_part(const struct heads *h, const char *q_name,
                                   int part, size_t *out,
                                   struct assay_error *err)
{
    char *name = strdup(q_name);
    enum assay_status st = ASSAY_OK;
    if (!name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    strcpy(name + strlen(name) - 2, parts[part]);
    if (!tensors_find(h->file, name, out))
        st = assay_fail(err, ASSAY_FORMAT, "%s: has %s and no %s", h->path,
                        q_name, name);
    free(name);
    return st;
}

/* Tensor `q` of the file; `name` of the case, NULL: made of the tensor's. */
static enum assay_status add_head(struct heads *h, size_t q, const char *name,
                                  const json_t *told,
                                  const struct heads_options *options,
                                  struct assay_error *err)
{
    struct head *head = &h->head[h->count];
    struct assay_problem *p = &head->problem;
    const char *q_name = tensors_get(h->file, q)->name;
    enum assay_status st;
    *head = (struct head){ .part = { q }, .told = told };
    head->name = name ? strdup(name) : case_name(h, q_name);
    if (!head->name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a case name");
    h->count++;
    if ((st = check_name(h, head->name, err)) == ASSAY_OK &&
        (st = find_part(h, q_name, 1, &head->part[1], err)) == ASSAY_OK &&
        (st = find_part(h, q_name, 2, &head->part[2], err)) == ASSAY_OK &&
        (st = find_format(h, head, err)) == ASSAY_OK &&
        (st = find_sizes(h, head, err)) == ASSAY_OK &&
        (st = find_mask(h, options, told, &p->mask, err)) == ASSAY_OK &&
        (st = find_scale(h, options, told, p->dk, &p->softmax_scale, err)) ==
            ASSAY_OK &&
        (st = assay_problem_check(p, err)) != ASSAY_OK)
        st = assay_fail_in(err, ASSAY_FORMAT, "%s: %.*s", h->path,
                           (int)strlen(q_name) - 2, q_name);
    return st;
}

/* The cases of an exported file: answers and payloads may stand beside them. */
static enum assay_status add_cases(struct heads *h,
                                   const struct heads_options *options,
                                   struct assay_error *err)
{
    const char *name;
    json_t *told;
    enum assay_status st =
        heads_cases_read(tensors_metadata(h->file, "cases"), &h->cases, err);
    if (st != ASSAY_OK)
        return assay_fail_in(err, st, "%s: metadata", h->path);
    h->head = calloc(json_object_size(h->cases), sizeof *h->head);
    if (!h->head)
        return assay_fail(err, ASSAY_MEMORY, "no memory for heads");
    json_object_foreach (h->cases, name, told) {
        char *text = NULL;
        size_t q = 0;
        if (st != ASSAY_OK)
            continue;
        if (asprintf(&text, "%s.q", name) < 0)
            return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
        st = tensors_find(h->file, text, &q)
                 ? add_head(h, q, name, told, options, err)
                 : assay_fail(err, ASSAY_FORMAT,
                              "%s: none of its %zu tensors is named \"%.90s\"",
                              h->path, tensors_count(h->file), text);
        free(text);
    }
    return st;
}

static bool is_exported(const struct heads *h)
{
    const char *format = tensors_metadata(h->file, "format");
    return format && strcmp(format, HEADS_CASES_FORMAT) == 0;
}

/* What there is instead, of whatever name. */
static enum assay_status no_heads(const struct heads *h,
                                  struct assay_error *err)
{
    struct tensors *all;
    enum assay_status st = tensors_open(h->path, NULL, &all, err);
    if (st != ASSAY_OK)
        return st;
    const size_t n = tensors_count(all);
    st = assay_fail(err, ASSAY_FORMAT,
                    "%s: has %zu tensors and none named X.q, as layer0.q "
                    "is; the first is named \"%.60s\"",
                    h->path, n, n ? tensors_get(all, 0)->name : "");
    tensors_close(all);
    return st;
}

static enum assay_status add_heads(struct heads *h,
                                   const struct heads_options *options,
                                   struct assay_error *err)
{
    const size_t n = tensors_count(h->file);
    h->head = calloc(n + 1, sizeof *h->head);
    if (!h->head)
        return assay_fail(err, ASSAY_MEMORY, "no memory for heads");
    for (size_t i = 0; i < n; i++) {
        if (!ends_with(tensors_get(h->file, i)->name, parts[0]))
            continue;
        enum assay_status st = add_head(h, i, NULL, NULL, options, err);
        if (st != ASSAY_OK)
            return st;
    }
    return h->count > 0 ? ASSAY_OK : no_heads(h, err);
}

static bool wanted(const char *name)
{
    return ends_with(name, parts[0]) || ends_with(name, parts[1]) ||
           ends_with(name, parts[2]);
}

/* What says where the heads are from, without folders. */
static enum assay_status find_source(struct heads *h, struct assay_error *err)
{
    const char *about = tensors_metadata(h->file, "source");
    if (asprintf(&h->source, "%s%s%s", basename(h->about), about ? ": " : "",
                 about ? about : "") >= 0)
        return ASSAY_OK;
    h->source = NULL;
    return assay_fail(err, ASSAY_MEMORY, "no memory for a source");
}

static enum assay_status open_heads(struct heads *h,
                                    const struct heads_options *options,
                                    struct assay_error *err)
{
    enum assay_status st;
    h->alone = tensors_is_head(h->path);
    if ((st = h->alone
                  ? tensors_open_head(h->path, &h->file, err)
                  : tensors_open(h->path, wanted, &h->file, err)) != ASSAY_OK ||
        (st = find_source(h, err)) != ASSAY_OK ||
        (st = find_layout(h, options->layout, err)) != ASSAY_OK)
        return st;
    return is_exported(h) ? add_cases(h, options, err)
                          : add_heads(h, options, err);
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
    if (!h || !(h->path = strdup(path)) || !(h->about = strdup(path))) {
        heads_close(h);
        return assay_fail(err, ASSAY_MEMORY, "no memory for heads");
    }
    for (size_t n = strlen(h->about); n > 1 && h->about[n - 1] == '/';)
        h->about[--n] = '\0';
    st = open_heads(h, options, err);
    if (st != ASSAY_OK) {
        heads_close(h);
        return st;
    }
    *out = h;
    return ASSAY_OK;
}

static enum assay_status check_finite(const struct heads *h,
                                      const struct tensor *t,
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
    const struct tensor *t = part_of(h, head, part);
    const size_t bytes = assay_format_bytes(head->format);
    int64_t size[4];
    char *raw = NULL, *words = NULL;
    enum assay_status st;
    if ((st = part_sizes(h, t, size, err)) != ASSAY_OK ||
        (st = assay_alloc(t->name, (int64_t)t->bytes, 1, &words, err)) !=
            ASSAY_OK ||
        (st = tensors_read(h->file, head->part[part], &raw, err)) != ASSAY_OK)
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
