/* SPDX-License-Identifier: MIT
 *
 * Answers of programs that run a kernel; see validate/case_file.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/safetensors_write.h"
#include "golden/term.h"
#include "validate/case_file.h"
#include "validate/delivered.h"

struct reading {
    struct assay_safetensors *file;
    const struct assay_safetensors_tensor *o, *lse; /* NULL: none */
    const struct assay_safetensors_tensor *codes[ASSAY_INPUTS],
        *scales[ASSAY_INPUTS];
    struct assay_error *err;
};

static void copy_fact(const struct reading *r, const char *key, char *text,
                      size_t size)
{
    const char *said = assay_safetensors_metadata(r->file, key);
    snprintf(text, size, "%s", said ? said : "");
    term_plain(text);
}

static void read_facts(const struct reading *r, struct answer_facts *facts)
{
    const char *said = assay_safetensors_metadata(r->file, "seconds");
    char *end = NULL;
    copy_fact(r, "kernel", facts->kernel, sizeof facts->kernel);
    copy_fact(r, "device", facts->device, sizeof facts->device);
    copy_fact(r, "build", facts->build, sizeof facts->build);
    copy_fact(r, "softmax_form", facts->softmax_form,
              sizeof facts->softmax_form);
    facts->seconds = said ? strtod(said, &end) : 0;
    if (said && (end == said || *end || !(facts->seconds > 0) ||
                 !isfinite(facts->seconds)))
        facts->seconds = 0;
}

static void shape_text(int rank, const int64_t *shape, char *text, size_t size)
{
    text[0] = '\0';
    for (int a = 0; a < rank; a++)
        text_append(text, size, "%s%" PRId64, a ? ", " : "", shape[a]);
}

static enum assay_status check_shape(const struct reading *r,
                                     const struct assay_safetensors_tensor *t,
                                     int rank, const int64_t *shape)
{
    char is[200], should[200];
    bool same = t->rank == rank;
    for (int a = 0; same && a < rank; a++)
        same = t->shape[a] == shape[a];
    if (same)
        return ASSAY_OK;
    shape_text(t->rank, t->shape, is, sizeof is);
    shape_text(rank, shape, should, sizeof should);
    return assay_fail(r->err, ASSAY_FORMAT, "the answer's %s is [%s], not [%s]",
                      t->name, is, should);
}

static enum assay_status check_types(const struct reading *r)
{
    if (r->o && !safetensors_float(r->o->dtype))
        return assay_fail(r->err, ASSAY_FORMAT,
                          "the answer's o is %s, not BF16, F16 or F32",
                          r->o->dtype->name);
    if (r->lse && r->lse->dtype->id != ASSAY_SAFETENSORS_F32 &&
        r->lse->dtype->id != ASSAY_SAFETENSORS_F64)
        return assay_fail(r->err, ASSAY_FORMAT,
                          "the answer's lse is %s, not F32 or F64",
                          r->lse->dtype->name);
    return ASSAY_OK;
}

static const struct assay_safetensors_tensor *
find(const struct reading *r, const char *name, const char *end)
{
    const struct assay_safetensors_tensor *t;
    char full[24];
    snprintf(full, sizeof full, "%s%s", name, end);
    return assay_safetensors_find(r->file, full, &t, NULL) == ASSAY_OK ? t
                                                                       : NULL;
}

static enum assay_status find_tensors(struct reading *r,
                                      const struct assay_recipe *recipe,
                                      const struct assay_problem *p)
{
    bool any = false;
    const int64_t o[] = { p->b, p->nq, p->hq, p->dv },
                  lse[] = { p->b, p->hq, p->nq };
    r->o = find(r, "o", "");
    r->lse = find(r, "lse", "");
    for (int i = 0; i < ASSAY_INPUTS; i++) {
        r->codes[i] = find(r, assay_input_name((enum assay_input)i), "");
        r->scales[i] = find(r, assay_input_name((enum assay_input)i), "_scale");
        any |= r->codes[i] && delivered_is_made(recipe, (enum assay_input)i);
    }
    if (!r->o && (!any || r->lse))
        return assay_fail(r->err, ASSAY_FORMAT,
                          "the answer has %zu tensors and none named o",
                          assay_safetensors_count(r->file));
    enum assay_status st = check_types(r);
    if (st == ASSAY_OK && r->o)
        st = check_shape(r, r->o, 4, o);
    return st == ASSAY_OK && r->lse ? check_shape(r, r->lse, 3, lse) : st;
}

/* Words of a tensor; the caller's to assay_free. */
static enum assay_status read_words(const struct reading *r,
                                    const struct assay_safetensors_tensor *t,
                                    void *out)
{
    void *words;
    enum assay_status st =
        assay_alloc(t->name, (int64_t)t->bytes, 1, &words, r->err);
    if (st == ASSAY_OK)
        st = assay_safetensors_read(r->file, t, words, t->bytes, r->err);
    memcpy(out, &words, sizeof words);
    return st;
}

static enum assay_status read_o(const struct reading *r, int64_t n,
                                struct candidate *out)
{
    void *words = NULL;
    float *o = NULL;
    enum assay_status st = read_words(r, r->o, &words);
    if (st == ASSAY_OK)
        st = assay_alloc("an output", n, sizeof *o, &o, r->err);
    if (st == ASSAY_OK)
        assay_format_decode(safetensors_float(r->o->dtype), (size_t)n, words,
                            o);
    assay_free(words);
    out->o = o;
    return st;
}

static enum assay_status read_lse(const struct reading *r, int64_t rows,
                                  struct candidate *out)
{
    void *words = NULL;
    double *lse = NULL;
    if (!r->lse)
        return ASSAY_OK;
    enum assay_status st = read_words(r, r->lse, &words);
    if (st == ASSAY_OK)
        st = assay_alloc("an LSE", rows, sizeof *lse, &lse, r->err);
    for (int64_t i = 0; st == ASSAY_OK && i < rows; i++)
        lse[i] = r->lse->dtype->id == ASSAY_SAFETENSORS_F64
                     ? ((const double *)words)[i]
                     : (double)((const float *)words)[i];
    assay_free(words);
    out->lse = lse;
    return st;
}

static struct delivered_tensor
delivered(const struct assay_safetensors_tensor *t)
{
    return (struct delivered_tensor){ t->name, t->dtype->name, t->rank,
                                      t->shape };
}

static enum assay_status read_part(const struct reading *r,
                                   const struct driver_run *run,
                                   struct delivered_part part,
                                   struct assay_payload *to)
{
    const struct assay_safetensors_tensor *from =
        part.scales ? r->scales[part.input] : r->codes[part.input];
    void *words = NULL;
    if (!from)
        return ASSAY_OK;
    const struct delivered_tensor t = delivered(from);
    enum assay_status st = delivered_check(run->answer->recipe,
                                           &run->c->problem, part, &t, r->err);
    if (st != ASSAY_OK)
        return assay_fail_in(r->err, st, "the answer");
    st = read_words(r, from, &words);
    if (st == ASSAY_OK)
        delivered_take(part, &t, words, to);
    assay_free(words);
    return st;
}

/* Codes and scales go together where the recipe has both. */
static enum assay_status check_pair(const struct reading *r,
                                    const struct driver_run *run,
                                    enum assay_input input)
{
    const bool scaled =
        assay_recipe_quantizer(run->answer->recipe, input)->scale !=
        ASSAY_SCALE_NONE;
    const char *name = assay_input_name(input);
    if (r->codes[input] && !r->scales[input] && scaled)
        return assay_fail(r->err, ASSAY_FORMAT,
                          "the answer has %s and no %s_scale", name, name);
    if (r->scales[input] && !r->codes[input])
        return assay_fail(r->err, ASSAY_FORMAT,
                          "the answer has %s_scale and no %s", name, name);
    return ASSAY_OK;
}

static enum assay_status read_payloads(const struct reading *r,
                                       const struct driver_run *run,
                                       struct candidate *out)
{
    enum assay_status st = ASSAY_OK;
    for (int i = 0; st == ASSAY_OK && i < ASSAY_INPUTS; i++) {
        const enum assay_input input = (enum assay_input)i;
        st = check_pair(r, run, input);
        if (st != ASSAY_OK || !r->codes[i])
            continue;
        if (!out->delivered && (st = delivered_new(out, r->err)) != ASSAY_OK)
            break;
        struct assay_payload *to = assay_payloads_at(out->delivered, input);
        st = delivered_room(run->answer->recipe, &run->c->problem, input, to,
                            r->err);
        if (st == ASSAY_OK)
            st = read_part(r, run, (struct delivered_part){ input, false }, to);
        if (st == ASSAY_OK)
            st = read_part(r, run, (struct delivered_part){ input, true }, to);
    }
    return st;
}

/* The gates allow for the rounding of the recipe's own output format. */
static void note_format(const struct reading *r, const struct driver_run *run,
                        struct answer_facts *facts)
{
    const struct assay_format *is = safetensors_float(r->o->dtype),
                              *should = assay_format_get(
                                  run->answer->recipe->out_format);
    if (is != should)
        snprintf(facts->note, sizeof facts->note,
                 "o is %s and judged as it is, the recipe's output is %s",
                 is->name, should->name);
}

enum assay_status answer_file_read(const char *path, const struct driver_run *r,
                                   struct candidate *out,
                                   struct answer_facts *facts,
                                   struct assay_error *err)
{
    const struct assay_problem *p = &r->c->problem;
    struct reading reading = { .err = err };
    *out =
        (struct candidate){ .saved = true, .unwritten_at = { -1, -1, -1, -1 } };
    *facts = (struct answer_facts){ 0 };
    enum assay_status st = assay_safetensors_open(path, &reading.file, err);
    if (st != ASSAY_OK)
        return st;
    read_facts(&reading, facts);
    st = find_tensors(&reading, r->answer->recipe, p);
    if (st == ASSAY_OK && reading.o)
        st = read_o(&reading, assay_problem_o_elems(p), out);
    if (st == ASSAY_OK)
        st = read_lse(&reading, assay_problem_rows(p), out);
    if (st == ASSAY_OK)
        st = read_payloads(&reading, r, out);
    if (st == ASSAY_OK && reading.o)
        note_format(&reading, r, facts);
    assay_safetensors_close(reading.file);
    return st;
}
