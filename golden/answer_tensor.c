/* SPDX-License-Identifier: MIT */
#include "golden/answer_tensor.h"

#include <string.h>

#include "assay/memory.h"

enum assay_status answer_axes_find(const struct tensors *file,
                                   const char *option, const char *value,
                                   struct answer_axes *out,
                                   struct assay_error *err)
{
    const char *told = tensors_metadata(file, "layout");
    out->option = option;
    out->told = value || told;
    enum assay_status st = layout_parse(value  ? value
                                        : told ? told
                                               : "hsd",
                                        &out->layout, err);
    return st == ASSAY_OK || value
               ? st
               : assay_fail_in(err, ASSAY_FORMAT, "%s: metadata",
                               tensors_path(file));
}

static bool ends_with(const char *text, const char *tail)
{
    const size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

bool answer_tensor_wanted(const char *name)
{
    return (ends_with(name, ".o") || ends_with(name, ".lse")) &&
           !ends_with(name, ".exact.o") && !ends_with(name, ".exact.lse");
}

const struct assay_format *answer_tensor_format(const struct tensor *t,
                                                const struct assay_recipe *r)
{
    const struct assay_format *own = assay_format_get(r->out_format);
    switch (t->type) {
    case TENSOR_BF16: return assay_format_get(ASSAY_BF16);
    case TENSOR_F16: return assay_format_get(ASSAY_F16);
    case TENSOR_F32: return assay_format_get(ASSAY_F32);
    case TENSOR_WORD: return assay_format_bytes(own) == 2 ? own : NULL;
    default: return NULL;
    }
}

enum assay_status answer_tensor_check_o(const struct tensor *t,
                                        const struct answer_axes *axes,
                                        const struct assay_problem *p,
                                        const struct assay_recipe *r,
                                        struct assay_error *err)
{
    const struct assay_format *own = assay_format_get(r->out_format),
                              *is = answer_tensor_format(t, r);
    const int64_t want[4] = { p->b, p->nq, p->hq, p->dv };
    int64_t size[4];
    char fits[128];
    if (is != own && t->type != TENSOR_F32)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s is %s; outputs of %s are %s, or F32", t->name,
                          t->type_name, r->name, own->name);
    if (!axes->told && t->rank == 4)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s has 4 axes; say %s bhsd or bshd", t->name,
                          axes->option);
    enum assay_status st =
        layout_sizes(&axes->layout, t->name, t->rank, t->shape, size, err);
    if (st != ASSAY_OK || memcmp(size, want, sizeof want) == 0)
        return st;
    layout_fitting(t->rank, t->shape, want, fits, sizeof fits);
    return assay_fail(
        err, ASSAY_FORMAT,
        "%s of shape %s is as %s [batch, token, head, channel] %s, the case "
        "has %s; %s%s",
        t->name, tensor_shape_text(t->rank, t->shape).s, axes->layout.axes,
        tensor_shape_text(4, size).s, tensor_shape_text(4, want).s,
        fits[0] ? "it would fit as " : "it fits in no order of axes", fits);
}

enum assay_status answer_tensor_check_lse(const struct tensor *t,
                                          const struct assay_problem *p,
                                          struct assay_error *err)
{
    const int64_t want[3] = { p->b, p->hq, p->nq };
    const int more = t->rank == 2 && p->b == 1; /* [h, s] */
    if (t->type != TENSOR_F32 && t->type != TENSOR_F64)
        return assay_fail(err, ASSAY_FORMAT, "%s is %s; an LSE is F32 or F64",
                          t->name, t->type_name);
    if (t->rank + more == 3 &&
        memcmp(t->shape, want + more, (size_t)t->rank * sizeof *want) == 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT,
                      "%s has shape %s, the LSE of the case is "
                      "[batch, head, token] %s",
                      t->name, tensor_shape_text(t->rank, t->shape).s,
                      tensor_shape_text(3, want).s);
}

enum assay_status answer_tensor_read_o(const struct tensors *file, size_t i,
                                       const struct answer_axes *axes,
                                       const struct assay_problem *p,
                                       const struct assay_recipe *r,
                                       float **out, struct assay_error *err)
{
    const struct tensor *t = tensors_get(file, i);
    const struct assay_format *is = answer_tensor_format(t, r);
    const size_t n = (size_t)assay_problem_o_elems(p);
    void *raw = NULL, *words = NULL;
    enum assay_status st = tensors_read(file, i, &raw, err);
    if (st == ASSAY_OK)
        st = assay_alloc("o", (int64_t)t->bytes, 1, &words, err);
    if (st == ASSAY_OK)
        st = assay_alloc("o", (int64_t)n, sizeof **out, out, err);
    if (st == ASSAY_OK) {
        layout_to_bshd(&axes->layout, t->shape, assay_format_bytes(is), raw,
                       words);
        assay_format_decode(is, n, words, *out);
    }
    assay_free(raw);
    assay_free(words);
    return st;
}

enum assay_status answer_tensor_read_lse(const struct tensors *file, size_t i,
                                         const struct assay_problem *p,
                                         double **out, struct assay_error *err)
{
    const size_t n = (size_t)assay_problem_rows(p);
    void *raw;
    enum assay_status st = tensors_read(file, i, &raw, err);
    if (st != ASSAY_OK)
        return st;
    if (tensors_get(file, i)->type == TENSOR_F64) {
        *out = raw;
        return ASSAY_OK;
    }
    st = assay_alloc("lse", (int64_t)n, sizeof **out, out, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++)
        (*out)[r] = (double)((const float *)raw)[r];
    assay_free(raw);
    return st;
}
