/* SPDX-License-Identifier: MIT */
#include "validate/probe_made.h"

#include <string.h>

#include "assay/memory.h"
#include "golden/answers.h"

/* A case of that shape with room for its inputs. */
static enum assay_status new_case(const struct assay_case *like,
                                  const struct assay_problem *p,
                                  struct assay_case *out,
                                  struct assay_error *err)
{
    const size_t word = assay_format_bytes(like->format);
    enum assay_status st;
    *out = (struct assay_case){ .problem = *p, .format = like->format };
    out->name = strdup(like->name);
    out->source = strdup("made for a probe");
    if (!out->name || !out->source)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    if ((st = assay_alloc("q", assay_problem_q_elems(p), word, &out->q, err)) ==
            ASSAY_OK &&
        (st = assay_alloc("k", assay_problem_k_elems(p), word, &out->k, err)) ==
            ASSAY_OK)
        st = assay_alloc("v", assay_problem_v_elems(p), word, &out->v, err);
    return st;
}

/* Of a tensor [b, tokens, heads, width], so many bytes a token. */
static void reverse(const void *from, int64_t b, int64_t tokens, int64_t bytes,
                    void *to)
{
    for (int64_t i = 0; i < b; i++)
        for (int64_t t = 0; t < tokens; t++)
            memcpy((char *)to + (i * tokens + tokens - 1 - t) * bytes,
                   (const char *)from + (i * tokens + t) * bytes,
                   (size_t)bytes);
}

enum assay_status probe_made_other(const struct assay_case *c,
                                   struct assay_case *out,
                                   struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    const int64_t word = (int64_t)assay_format_bytes(c->format);
    enum assay_status st = new_case(c, p, out, err);
    if (st != ASSAY_OK)
        return st;
    reverse(c->q, p->b, p->nq, p->hq * p->dk * word, out->q);
    reverse(c->k, p->b, p->nk, p->hk * p->dk * word, out->k);
    reverse(c->v, p->b, p->nk, p->hk * p->dv * word, out->v);
    unsigned char *v = out->v;
    for (int64_t i = 0; i < assay_problem_v_elems(p); i++)
        v[i * word + word - 1] ^= 0x80; /* the sign, in the last byte */
    return ASSAY_OK;
}

enum assay_status probe_made_cut(const struct assay_case *c, int64_t tokens,
                                 struct assay_case *out,
                                 struct assay_error *err)
{
    struct assay_problem p = c->problem;
    const size_t word = assay_format_bytes(c->format);
    p.b = 1;
    p.nq = p.nq < tokens ? p.nq : tokens;
    p.nk = p.nk < tokens ? p.nk : tokens;
    enum assay_status st = new_case(c, &p, out, err);
    if (st != ASSAY_OK)
        return st;
    memcpy(out->q, c->q, (size_t)assay_problem_q_elems(&p) * word);
    memcpy(out->k, c->k, (size_t)assay_problem_k_elems(&p) * word);
    memcpy(out->v, c->v, (size_t)assay_problem_v_elems(&p) * word);
    return ASSAY_OK;
}

static void join(const void *a, const void *b, int64_t elems, size_t word,
                 void *to)
{
    memcpy(to, a, (size_t)elems * word);
    memcpy((char *)to + (size_t)elems * word, b, (size_t)elems * word);
}

enum assay_status probe_made_joined(const struct assay_case *a,
                                    const struct assay_case *b,
                                    struct assay_case *out,
                                    struct assay_error *err)
{
    struct assay_problem p = a->problem;
    const size_t word = assay_format_bytes(a->format);
    p.b *= 2;
    enum assay_status st = assay_problem_check(&p, err);
    if (st == ASSAY_OK)
        st = new_case(a, &p, out, err);
    if (st != ASSAY_OK)
        return st;
    join(a->q, b->q, assay_problem_q_elems(&a->problem), word, out->q);
    join(a->k, b->k, assay_problem_k_elems(&a->problem), word, out->k);
    join(a->v, b->v, assay_problem_v_elems(&a->problem), word, out->v);
    return ASSAY_OK;
}

enum assay_status probe_made_payloads(const struct assay_case *c,
                                      const struct assay_recipe *recipe,
                                      struct assay_answer *answer,
                                      struct assay_error *err)
{
    struct assay_inputs in;
    *answer = (struct assay_answer){ .recipe = recipe };
    enum assay_status st = assay_case_values(c, &in, err);
    if (st == ASSAY_OK)
        st = assay_recipe_quantize(recipe, &c->problem, in.format, NULL, in.q,
                                   in.k, in.v, &answer->payloads, err);
    if (st == ASSAY_OK)
        st = assay_answer_lse_shift(c, answer, err);
    assay_inputs_free(&in);
    return st;
}

enum assay_status probe_made_answer(const struct assay_case *c,
                                    const struct assay_recipe *recipe,
                                    struct assay_exact *exact,
                                    struct assay_answer *answer,
                                    struct assay_error *err)
{
    const struct assay_run run = { .threads = 1 };
    struct assay_inputs in;
    *answer = (struct assay_answer){ 0 };
    *exact = (struct assay_exact){ 0 };
    enum assay_status st = assay_case_values(c, &in, err);
    if (st == ASSAY_OK)
        st = answers_exact(&c->problem, &in, false, &run, exact, err);
    if (st == ASSAY_OK)
        st = answers_recipe(recipe, &c->problem, &in, &run, answer, err);
    if (st == ASSAY_OK)
        st = assay_answer_lse_shift(c, answer, err);
    assay_inputs_free(&in);
    return st;
}
