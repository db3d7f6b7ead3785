/* SPDX-License-Identifier: MIT
 *
 * The driver of outputs made elsewhere. All but their words is looked at before
 * anything is judged, so that a bad file costs nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/term.h"
#include "validate/outputs.h"

/* ---- one output ---- */

/* Whether binary32 holds a value of `format` throughout. */
static bool is_rounded(const struct assay_format *format, size_t n,
                       const float *x, struct assay_error *err)
{
    float *rounded;
    if (assay_alloc("values", (int64_t)n, sizeof *rounded, &rounded, err) !=
        ASSAY_OK)
        return false;
    assay_format_round(format, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, n, x,
                       rounded);
    bool same = true;
    for (size_t i = 0; same && i < n; i++)
        same = rounded[i] == x[i] || isnan(x[i]);
    assay_free(rounded);
    return same;
}

static enum assay_status read_o(const struct outputs *o, ptrdiff_t at,
                                const struct driver_run *r, float **out,
                                struct result *result, struct assay_error *err)
{
    const struct tensor *t = tensors_get(o->file, (size_t)at);
    const struct assay_problem *p = &r->c->problem;
    const struct assay_recipe *recipe = r->answer->recipe;
    const struct assay_format *is = answer_tensor_format(t, recipe),
                              *own = assay_format_get(recipe->out_format);
    enum assay_status st = answer_tensor_read_o(o->file, (size_t)at, &o->axes,
                                                p, recipe, out, err);
    if (st == ASSAY_OK && is != own &&
        !is_rounded(own, (size_t)assay_problem_o_elems(p), *out, err))
        snprintf(result->notes, sizeof result->notes,
                 "o is %s, not rounded to %s: judged as it is, what %s "
                 "rounds off allowed",
                 is->name, own->name, own->name);
    return st;
}

/* Of the kernel on the case; a plain "seconds" is of the file's one output. */
static void read_seconds(const struct driver *d, const struct driver_run *r,
                         struct result *result)
{
    const struct outputs *o = d->own;
    const struct driver_kernel *k = &d->info->kernels[r->kernel];
    char key[512], *end;
    snprintf(key, sizeof key, "%.255s.%s%s%s.seconds", r->c->name, k->recipe,
             k->softmax_form[0] ? "@" : "", k->softmax_form);
    const char *text = tensors_metadata(o->file, key);
    if (!text && o->count == 1)
        text = tensors_metadata(o->file, "seconds");
    const double seconds = text ? strtod(text, &end) : 0;
    if (text && end != text && !*end && isfinite(seconds) && seconds > 0)
        result->seconds = seconds;
}

/* False, with the verdict, where a tensor that is asked for is not there. */
static bool is_there(const struct driver *d, const struct driver_run *r,
                     const struct output *one, struct result *result)
{
    const struct outputs *o = d->own;
    const struct driver_kernel *k = &d->info->kernels[r->kernel];
    const bool o_there = one && one->part[OUTPUT_O] != NOT_THERE,
               lse_there = one && one->part[OUTPUT_LSE] != NOT_THERE;
    if (o_there && (lse_there || !o->has_lse[r->kernel]))
        return true;
    result->verdict = VERDICT_MISSING;
    snprintf(result->reason, sizeof result->reason,
             "%.60s has no tensor %.120s.%s%s%s.%s%s", d->info->name,
             r->c->name, k->recipe, k->softmax_form[0] ? "@" : "",
             k->softmax_form, output_part_name(o_there ? OUTPUT_LSE : OUTPUT_O),
             o_there ? ", other cases have one" : "");
    term_plain(result->reason);
    return false;
}

/* The name without folder and ending. */
static void stem_of(const char *path, char *text, size_t size)
{
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", path);
    size_t n = strlen(copy);
    while (n > 1 && copy[n - 1] == '/')
        copy[--n] = '\0';
    const char *file = basename(copy), *dot = strrchr(file, '.');
    snprintf(text, size, "%.*s",
             (int)(dot && dot > file ? (size_t)(dot - file) : strlen(file)),
             file);
    term_plain(text);
}

static enum assay_status run(struct driver *d, const struct driver_run *r,
                             bool *ran, struct candidate *out,
                             struct result *result, struct assay_error *err)
{
    struct outputs *o = d->own;
    size_t at = 0;
    *out = (struct candidate){ .saved = true };
    *ran = false;
    while (at < o->cases.count &&
           strcmp(o->cases.list[at].name, r->c->name) != 0)
        at++;
    const struct output *one = outputs_find(o, at, r->kernel);
    if (!is_there(d, r, one, result))
        return ASSAY_OK;
    float *values = NULL;
    double *lse = NULL;
    enum assay_status st =
        read_o(o, one->part[OUTPUT_O], r, &values, result, err);
    if (st == ASSAY_OK && one->part[OUTPUT_LSE] != NOT_THERE)
        st = answer_tensor_read_lse(o->file, (size_t)one->part[OUTPUT_LSE],
                                    &r->c->problem, &lse, err);
    out->o = values;
    out->lse = lse;
    *ran = st == ASSAY_OK;
    read_seconds(d, r, result);
    return st;
}

static void close_outputs(struct driver *d)
{
    struct outputs *o = d->own;
    if (o) {
        tensors_close(o->file);
        output_cases_free(&o->cases);
        free(o->list);
    }
    free(o);
    free(d->info);
}

enum assay_status driver_open_OUTPUTS(const char *what, double timeout_s,
                                      struct driver *out,
                                      struct assay_error *err)
{
    struct outputs *o = calloc(1, sizeof *o);
    struct driver_info *info = calloc(1, sizeof *info);
    (void)timeout_s;
    out->run = run;
    out->bind = outputs_bind;
    out->close = close_outputs;
    out->own = o;
    out->info = info;
    if (!o || !info)
        return assay_fail(err, ASSAY_MEMORY, "no memory for outputs");
    enum assay_status st =
        tensors_open(what, answer_tensor_wanted, &o->file, err);
    if (st != ASSAY_OK)
        return st;
    snprintf(info->path, sizeof info->path, "%s", what);
    stem_of(what, info->name, sizeof info->name);
    outputs_tell(o, "build", "", info->build, sizeof info->build);
    outputs_tell(o, "device", "not said", info->where, sizeof info->where);
    return ASSAY_OK;
}
