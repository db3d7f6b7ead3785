/* SPDX-License-Identifier: MIT */
#include "validate/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "golden/text.h"

static const struct probe_row rows[] = {
#define ASSAY_PROBE(id, name, about) { #name, about, probe_##name },
#include "validate/probe.def"
#undef ASSAY_PROBE
};

const struct probe_row *probe_get(enum probe_id probe)
{
    return &rows[probe];
}

const char *probe_outcome_name(enum probe_outcome outcome)
{
    static const char *const names[PROBE_OUTCOMES] = { "clean", "found",
                                                       "crashed", "unsupported",
                                                       "not-run" };
    return names[outcome];
}

struct driver_run probe_plan(const struct probe_subject *s)
{
    const struct probe_kernel *k = &s->kernels[s->own];
    return (struct driver_run){ .kernel = k->kernel,
                                .input = k->input,
                                .c = s->c,
                                .answer = k->answer,
                                .timeout_s = s->timeout_s };
}

/* Verdicts of a run that did not come to an end. */
static enum probe_outcome outcome_of(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_OUT_OF_BOUNDS: return PROBE_FOUND;
    case VERDICT_CRASH:
    case VERDICT_HANG: return PROBE_CRASHED;
    case VERDICT_UNSUPPORTED: return PROBE_UNSUPPORTED;
    default: return PROBE_NOT_RUN;
    }
}

enum assay_status probe_launch(const struct probe_subject *s,
                               struct driver_run *run, bool *ran,
                               struct candidate *out, struct probe_finding *f,
                               struct assay_error *err)
{
    struct result result = { 0 };
    run->number = (*s->number)++;
    enum assay_status st =
        s->driver->run(s->driver, run, ran, out, &result, err);
    if (st != ASSAY_OK)
        return st;
    if (*ran) {
        f->runs++;
    } else if (f->outcome != PROBE_FOUND) {
        f->outcome = outcome_of(result.verdict);
        if (f->outcome == PROBE_UNSUPPORTED)
            text_print(f->text, sizeof f->text, "%s", result.reason);
        else
            text_print(f->text, sizeof f->text, "run %" PRId64 ": %s",
                       f->runs + 1, result.reason);
    }
    return ASSAY_OK;
}

static void hash_output(const struct assay_problem *p,
                        const struct candidate *c, uint64_t hash[2])
{
    const XXH128_hash_t o =
        XXH3_128bits(c->o, (size_t)assay_problem_o_elems(p) * sizeof *c->o);
    const XXH128_hash_t all = XXH3_128bits_withSeed(
        c->lse, (size_t)assay_problem_rows(p) * sizeof *c->lse,
        o.low64 ^ o.high64);
    hash[0] = all.low64;
    hash[1] = all.high64;
}

/* The first element that differs, O before LSE. */
static void say_where(const struct assay_problem *p, const struct candidate *a,
                      const struct candidate *b, char *text, size_t size)
{
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        const struct assay_place at = assay_row_place(p, r);
        const int64_t row =
            assay_row_offset(p->nq, p->hq, p->dv, at.b, at.i, at.h);
        for (int64_t c = 0; c < p->dv; c++)
            if (memcmp(&a->o[row + c], &b->o[row + c], sizeof *a->o) != 0) {
                text_print(text, size,
                           "O[batch %" PRId64 ", head %" PRId64 ", row %" PRId64
                           ", channel %" PRId64 "] was %.9g and is %.9g",
                           at.b, at.h, at.i, c, (double)a->o[row + c],
                           (double)b->o[row + c]);
                return;
            }
        if (memcmp(&a->lse[r], &b->lse[r], sizeof *a->lse) != 0) {
            text_print(text, size,
                       "LSE[batch %" PRId64 ", head %" PRId64 ", row %" PRId64
                       "] was %.9g and is %.9g",
                       at.b, at.h, at.i, a->lse[r], b->lse[r]);
            return;
        }
    }
}

enum assay_status probe_outputs_add(struct probe_outputs *o,
                                    struct candidate *next,
                                    struct probe_finding *f,
                                    struct assay_error *err)
{
    uint64_t hash[2];
    hash_output(o->problem, next, hash);
    int64_t i = 0;
    while (i < f->outputs && memcmp(o->hashes[i], hash, sizeof hash) != 0)
        i++;
    if (i == o->space) {
        const int64_t space = o->space ? 2 * o->space : 8;
        uint64_t(*grown)[2] =
            realloc(o->hashes, (size_t)space * sizeof *o->hashes);
        if (!grown)
            return assay_fail(err, ASSAY_MEMORY,
                              "no memory for hashes of %" PRId64 " outputs",
                              space);
        o->hashes = grown;
        o->space = space;
    }
    memcpy(o->hashes[i], hash, sizeof hash);
    if (i > 0 && !o->differs) {
        o->differs = f->runs;
        say_where(o->problem, &o->first, next, o->where, sizeof o->where);
    }
    if (i == f->outputs && f->outputs++ == 0)
        o->first = *next;
    else
        candidate_free(next);
    *next = (struct candidate){ 0 };
    return ASSAY_OK;
}

enum assay_status probe_outputs_run(struct probe_outputs *o,
                                    const struct probe_subject *s,
                                    struct driver_run *run, bool *ran,
                                    struct probe_finding *f,
                                    struct assay_error *err)
{
    struct candidate left;
    enum assay_status st = probe_launch(s, run, ran, &left, f, err);
    if (st == ASSAY_OK && *ran)
        st = probe_outputs_add(o, &left, f, err);
    candidate_free(&left);
    return st;
}

void probe_outputs_end(struct probe_outputs *o, const char *when,
                       struct probe_finding *f)
{
    if (o->differs) {
        f->outcome = PROBE_FOUND;
        text_print(f->text, sizeof f->text,
                   "%" PRId64 " distinct outputs in %" PRId64
                   " runs%s; run %" PRId64 ": %s",
                   f->outputs, f->runs, when, o->differs, o->where);
    }
    candidate_free(&o->first);
    free(o->hashes);
    *o = (struct probe_outputs){ 0 };
}

bool probe_no_workspace(const struct candidate *left, struct probe_finding *f)
{
    if (left->workspace > 0)
        return false;
    f->outcome = PROBE_NOT_RUN;
    text_print(f->text, sizeof f->text, "the kernel asks for no workspace");
    return true;
}
