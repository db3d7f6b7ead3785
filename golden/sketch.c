/* SPDX-License-Identifier: MIT */
#include "golden/sketch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "assay/memory.h"

struct payload_words {
    const void *words;
    size_t bytes;
};

enum assay_status sketch_new(const struct assay_problem *p,
                             const struct assay_recipe *recipe,
                             struct sketch *out, struct assay_error *err)
{
    const int64_t rows = assay_problem_rows(p), heads = p->b * p->hq;
    const struct {
        int64_t count;
        size_t bytes;
        void *at;
    } all[] = {
        { rows, sizeof *out->ce, &out->ce },
        { rows, sizeof *out->ex, &out->ex },
        { rows, sizeof *out->cx, &out->cx },
        { rows, sizeof *out->beyond, &out->beyond },
        { rows, sizeof *out->lse_c, &out->lse_c },
        { rows, sizeof *out->lse_e, &out->lse_e },
        { rows, sizeof *out->lse_x, &out->lse_x },
        { rows, sizeof *out->jitter_o, &out->jitter_o },
        { rows, sizeof *out->jitter_lse, &out->jitter_lse },
        { heads, sizeof *out->jitter_gain, &out->jitter_gain },
        { heads, sizeof *out->bar_o, &out->bar_o },
        { heads, sizeof *out->bar_lse, &out->bar_lse },
        { heads, sizeof *out->unwritten, &out->unwritten },
    };
    enum assay_status st = ASSAY_OK;
    *out = (struct sketch){ .problem = *p, .recipe = recipe };
    for (size_t i = 0; st == ASSAY_OK && i < sizeof all / sizeof *all; i++) {
        void *memory;
        st = assay_alloc("row figures", all[i].count, all[i].bytes, &memory,
                         err);
        if (st == ASSAY_OK) {
            memset(memory, 0, (size_t)all[i].count * all[i].bytes);
            memcpy(all[i].at, &memory, sizeof memory);
        }
    }
    if (st != ASSAY_OK)
        sketch_free(out);
    return st;
}

void sketch_free(struct sketch *s)
{
    void *const all[] = { s->ce,         s->ex,          s->cx,    s->beyond,
                          s->lse_c,      s->lse_e,       s->lse_x, s->jitter_o,
                          s->jitter_lse, s->jitter_gain, s->bar_o, s->bar_lse,
                          s->unwritten };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assay_free(all[i]);
    *s = (struct sketch){ 0 };
}

/* Words of what there is of an operand: codes, scales. */
static int words_of_operand(const struct assay_payload *x,
                            struct payload_words all[2])
{
    const bool e8m0 = x->e8m0 != NULL;
    if (!x->format)
        return 0;
    all[0] =
        (struct payload_words){ x->codes, (size_t)x->count *
                                              assay_format_bytes(x->format) };
    all[1] = (struct payload_words){ e8m0 ? (const void *)x->e8m0 : x->scales,
                                     (size_t)x->n_scales *
                                         (e8m0 ? 1 : sizeof *x->scales) };
    return x->n_scales > 0 ? 2 : 1;
}

static bool same_operand(const struct assay_payload *a,
                         const struct assay_payload *b)
{
    struct payload_words x[2], y[2];
    const int n = words_of_operand(a, x);
    bool same = n == words_of_operand(b, y);
    for (int i = 0; same && i < n; i++)
        same = x[i].bytes == y[i].bytes &&
               memcmp(x[i].words, y[i].words, x[i].bytes) == 0;
    return same;
}

static bool same_payloads(const struct assay_payloads *a,
                          const struct assay_payloads *b)
{
    return !a || !b ||
           (same_operand(&a->q, &b->q) && same_operand(&a->k, &b->k) &&
            same_operand(&a->v, &b->v));
}

void candidate_add_run(const struct assay_problem *p, struct candidate *first,
                       const struct candidate *next)
{
    const size_t n = (size_t)assay_problem_o_elems(p),
                 rows = (size_t)assay_problem_rows(p);
    const bool same =
        (n == 0 || !first->o || !next->o ||
         memcmp(first->o, next->o, n * sizeof *next->o) == 0) &&
        (rows == 0 || !first->lse || !next->lse ||
         memcmp(first->lse, next->lse, rows * sizeof *next->lse) == 0) &&
        same_payloads(first->payloads, next->payloads);
    if (first->guard_bytes == 0 && next->guard_bytes > 0)
        first->guard_where = next->guard_where;
    first->guard_bytes += next->guard_bytes;
    first->input_bytes += next->input_bytes;
    first->runs++;
    if (!same && first->runs_differ++ == 0)
        first->first_differs = first->runs;
}

static void hash_payloads(const struct assay_payloads *x, XXH3_state_t *state)
{
    const struct assay_payload *const all[] = { &x->q, &x->k, &x->v };
    struct payload_words words[2];
    for (int i = 0; i < ASSAY_INPUTS; i++)
        for (int j = 0, n = words_of_operand(all[i], words); j < n; j++)
            XXH3_128bits_update(state, words[j].words, words[j].bytes);
}

/* Of O and LSE, and of payloads: two builds that leave the same bits have the
 * same. */
static void hash_bits(const struct assay_problem *p, const struct candidate *c,
                      char hex[33])
{
    XXH3_state_t *state = XXH3_createState();
    XXH128_hash_t hash = { 0 };
    if (state && XXH3_128bits_reset(state) == XXH_OK) {
        XXH3_128bits_update(state, c->o,
                            (size_t)assay_problem_o_elems(p) * sizeof *c->o);
        if (c->lse)
            XXH3_128bits_update(state, c->lse,
                                (size_t)assay_problem_rows(p) * sizeof *c->lse);
        if (c->payloads)
            hash_payloads(c->payloads, state);
        hash = XXH3_128bits_digest(state);
    }
    XXH3_freeState(state);
    snprintf(hex, 33, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

/* What the quantizer of an operand sees, and what of it explains the bytes. */
static enum assay_status
explain(const struct yardstick *against, enum assay_input input,
        const struct assay_payload *s, const struct assay_payload *c,
        struct scale_bytes *out, struct assay_error *err)
{
    const struct assay_recipe *recipe = against->e->recipe;
    const struct assay_quantizer *how = assay_recipe_quantizer(recipe, input);
    struct assay_inputs in;
    if (!against->c)
        return scale_bytes_explain(how, NULL, s, c, out, err);
    enum assay_status st = assay_case_values(against->c, &in, err);
    float *const all[ASSAY_INPUTS] = { in.q, in.k, in.v };
    float *x = all[input];
    if (st == ASSAY_OK)
        st =
            assay_recipe_prepare(recipe, against->problem, in.format,
                                 against->e->payloads.k_mean, input, x, x, err);
    if (st == ASSAY_OK)
        st = scale_bytes_explain(how, x, s, c, out, err);
    assay_inputs_free(&in);
    return st;
}

static enum assay_status compare_payloads(const struct yardstick *against,
                                          const struct candidate *c,
                                          struct sketch *out,
                                          struct assay_error *err)
{
    struct assay_payloads theirs, ours = against->e->payloads;
    enum assay_status st = ASSAY_OK;
    if (!c->payloads)
        return ASSAY_OK;
    theirs = *c->payloads;
    for (int i = 0; st == ASSAY_OK && i < ASSAY_INPUTS; i++) {
        const enum assay_input input = (enum assay_input)i;
        const struct assay_payload *s = assay_payloads_at(&ours, input),
                                   *x = assay_payloads_at(&theirs, input);
        if (!x->format)
            continue;
        st = scale_bytes_compare(assay_input_name(input), s, x,
                                 &out->payload[i], err);
        if (st == ASSAY_OK && scale_bytes_differ(&out->payload[i]) > 0)
            st = explain(against, input, s, x, &out->payload[i], err);
    }
    return st;
}

/* The right LSE of who has none: rows that see no key are known. */
static void fill_lse(const struct assay_problem *p,
                     const struct assay_answer *e, double *lse)
{
    const size_t rows = (size_t)assay_problem_rows(p);
    if (e->lse)
        memcpy(lse, e->lse, rows * sizeof *lse);
    for (size_t r = 0; !e->lse && r < rows; r++)
        lse[r] =
            assay_problem_visible(p, (int64_t)r % p->nq) > 0 ? 0 : -INFINITY;
}

static void forget_rows(int64_t n, struct assay_row *rows)
{
    for (int64_t r = 0; r < n; r++)
        rows[r] = (struct assay_row){ .max_c = -1, .mismatched_c = -1 };
}

/* Rows and LSE; x NULL: of C and E alone. */
static void measure(const struct yardstick *against, const struct candidate *c,
                    struct sketch *out)
{
    const struct assay_problem *p = against->problem;
    const struct assay_answer *e = against->e;
    const struct assay_exact *x = against->x;
    const int64_t rows = assay_problem_rows(p);
    assay_rows_measure(p, assay_format_get(e->recipe->out_format), c->o, e->o,
                       x ? x->o : e->o, e->jitter.bound, out->ce, out->ex,
                       out->cx, out->beyond);
    fill_lse(p, e, out->lse_e);
    memcpy(out->lse_c, c->lse && e->lse ? c->lse : out->lse_e,
           (size_t)rows * sizeof *out->lse_c);
    if (x)
        memcpy(out->lse_x, x->lse, (size_t)rows * sizeof *x->lse);
    for (int64_t r = 0; !x && r < rows; r++)
        out->lse_x[r] = NAN;
    if (x)
        return;
    forget_rows(rows, out->ex);
    forget_rows(rows, out->cx);
}

/* What binary32 alone may part two LSE of one sum of n weights by, in nats:
 * HACKING.md on answers made elsewhere. */
static double lse_rounding(double lse, int64_t n)
{
    const double u = 0x1p-24, keys = (double)n;
    return 4 * 2 * u * (fabs(lse) + log(keys)) + 2 * u * sqrt(keys);
}

/* The gates allow ASSAY_JITTERS_LSE times what is here. */
static void fill_lse_rounding(const struct yardstick *against,
                              struct sketch *out)
{
    const struct assay_problem *p = against->problem;
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        const int64_t n = assay_problem_visible(p, r % p->nq);
        if (n > 0 && isfinite(out->lse_e[r]))
            out->jitter_lse[r] =
                (float)(lse_rounding(out->lse_e[r], n) / ASSAY_JITTERS_LSE);
    }
}

/* Jitters and bars, 0 where they are not known but for rounding of LSE. */
static void fill_yardstick(const struct yardstick *against, struct sketch *out)
{
    const struct assay_problem *p = against->problem;
    const struct assay_jitter *j = &against->e->jitter;
    const struct assay_exact *x = against->x;
    const size_t rows = (size_t)assay_problem_rows(p),
                 heads = (size_t)(p->b * p->hq);
    if (j->o) {
        memcpy(out->jitter_o, j->o, rows * sizeof *j->o);
        memcpy(out->jitter_lse, j->lse, rows * sizeof *j->lse);
        memcpy(out->jitter_gain, j->gain, heads * sizeof *j->gain);
    } else if (against->e->lse)
        fill_lse_rounding(against, out);
    if (x) {
        memcpy(out->bar_o, x->bar_o, heads * sizeof *x->bar_o);
        memcpy(out->bar_lse, x->bar_lse, heads * sizeof *x->bar_lse);
    }
    out->lacks = (x ? 0 : SKETCH_LACKS_EXACT) |
                 (j->o ? 0 : SKETCH_LACKS_JITTER) |
                 (against->e->lse ? 0 : SKETCH_LACKS_LSE);
}

enum assay_status sketch_make(const struct yardstick *against,
                              const struct candidate *c, struct sketch *out,
                              struct assay_error *err)
{
    const struct assay_problem *p = against->problem;
    const struct assay_answer *e = against->e;
    const size_t heads = (size_t)(p->b * p->hq);
    enum assay_status st = sketch_new(p, e->recipe, out, err);
    if (st != ASSAY_OK)
        return st;
    measure(against, c, out);
    fill_yardstick(against, out);
    if (c->unwritten)
        memcpy(out->unwritten, c->unwritten, heads * sizeof *c->unwritten);
    out->guard_bytes = c->guard_bytes;
    out->input_bytes = c->input_bytes;
    out->o_unwritten = c->o_unwritten;
    out->lse_unwritten = c->lse_unwritten;
    snprintf(out->guard_where, sizeof out->guard_where, "%s",
             c->guard_where ? c->guard_where : "");
    out->unwritten_at = c->unwritten_at;
    out->runs = c->runs;
    out->runs_differ = c->runs_differ;
    out->first_differs = c->first_differs;
    out->payload_unwritten = c->payload_unwritten;
    out->no_o = c->no_o;
    out->no_lse = !c->lse || !e->lse;
    out->saved = c->saved;
    hash_bits(p, c, out->bits);
    st = compare_payloads(against, c, out, err);
    if (st != ASSAY_OK)
        sketch_free(out);
    return st;
}
