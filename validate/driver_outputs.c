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

static enum assay_status read_part(const struct outputs *o,
                                   const struct output *one,
                                   enum output_part part,
                                   struct assay_payload *to,
                                   struct assay_error *err)
{
    const ptrdiff_t at = one->part[part];
    void *words = NULL;
    if (at == NOT_THERE)
        return ASSAY_OK;
    const struct delivered_tensor t = outputs_payload(o, at);
    enum assay_status st = tensors_read(o->file, (size_t)at, &words, err);
    if (st == ASSAY_OK)
        delivered_take(outputs_part(part), &t, words, to);
    assay_free(words);
    return st;
}

static enum assay_status read_payloads(const struct outputs *o,
                                       const struct output *one,
                                       const struct driver_run *r,
                                       struct candidate *out,
                                       struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (int i = 0; st == ASSAY_OK && i < ASSAY_INPUTS; i++) {
        const enum assay_input input = (enum assay_input)i;
        if (one->part[output_codes(input)] == NOT_THERE)
            continue;
        if (!out->delivered && (st = delivered_new(out, err)) != ASSAY_OK)
            break;
        struct assay_payload *to = assay_payloads_at(out->delivered, input);
        st = delivered_room(r->answer->recipe, &r->c->problem, input, to, err);
        if (st == ASSAY_OK)
            st = read_part(o, one, output_codes(input), to, err);
        if (st == ASSAY_OK)
            st = read_part(o, one, output_scales(input), to, err);
    }
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

/* What is asked for and not there: what other cases have, O where nothing says
 * what it is to be, scales of codes and codes of scales. OUTPUT_PARTS: none. */
static enum output_part what_lacks(const struct outputs *o,
                                   const struct driver_run *r,
                                   const struct output *one)
{
    const bool *has = o->has[r->kernel];
    for (int i = 0; i < OUTPUT_PARTS; i++)
        if (has[i] && (!one || one->part[i] == NOT_THERE))
            return (enum output_part)i;
    for (int i = 0; i < ASSAY_INPUTS; i++) {
        const enum assay_input input = (enum assay_input)i;
        const enum output_part codes = output_codes(input),
                               scales = output_scales(input);
        if (has[codes] && !has[scales] &&
            assay_recipe_quantizer(r->answer->recipe, input)->scale !=
                ASSAY_SCALE_NONE)
            return scales;
        if (has[scales] && !has[codes])
            return codes;
    }
    const bool codes = has[OUTPUT_Q] || has[OUTPUT_K] || has[OUTPUT_V];
    return has[OUTPUT_O] || (codes && !has[OUTPUT_LSE]) ? OUTPUT_PARTS
                                                        : OUTPUT_O;
}

/* False, with the verdict, where a tensor that is asked for is not there. */
static bool is_there(const struct driver *d, const struct driver_run *r,
                     const struct output *one, struct result *result)
{
    const struct outputs *o = d->own;
    const struct driver_kernel *k = &d->info->kernels[r->kernel];
    const enum output_part lacks = what_lacks(o, r, one);
    if (lacks == OUTPUT_PARTS)
        return true;
    result->verdict = VERDICT_MISSING;
    snprintf(result->reason, sizeof result->reason,
             "%.60s has no tensor %.120s.%s%s%s.%s%s", d->info->name,
             r->c->name, k->recipe, k->softmax_form[0] ? "@" : "",
             k->softmax_form, output_part_name(lacks),
             lacks != OUTPUT_O && o->has[r->kernel][lacks]
                 ? ", other cases have one"
                 : "");
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
    enum assay_status st = ASSAY_OK;
    if (one->part[OUTPUT_O] != NOT_THERE)
        st = read_o(o, one->part[OUTPUT_O], r, &values, result, err);
    if (st == ASSAY_OK && one->part[OUTPUT_LSE] != NOT_THERE)
        st = answer_tensor_read_lse(o->file, (size_t)one->part[OUTPUT_LSE],
                                    &r->c->problem, &lse, err);
    out->o = values;
    out->lse = lse;
    if (st == ASSAY_OK)
        st = read_payloads(o, one, r, out, err);
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
    enum assay_status st = tensors_open(what, outputs_wanted, &o->file, err);
    if (st != ASSAY_OK)
        return st;
    snprintf(info->path, sizeof info->path, "%s", what);
    stem_of(what, info->name, sizeof info->name);
    outputs_tell(o, "build", "", info->build, sizeof info->build);
    outputs_tell(o, "device", "not said", info->where, sizeof info->where);
    return ASSAY_OK;
}
