/* SPDX-License-Identifier: MIT */
#include "golden/made.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/names.h"

/* N, or xN,yM where two sizes differ. */
static void pair(char *out, size_t size, const char *both, int64_t n,
                 const char *first, const char *second, int64_t m)
{
    if (n == m)
        snprintf(out, size, ".%s%" PRId64, both, n);
    else
        snprintf(out, size, ".%s%" PRId64 ".%s%" PRId64, first, n, second, m);
}

/* The words of the line that matter, with points between: selections would
 * read something into commas. */
static void name_it(struct made *m)
{
    const struct assay_problem *p = &m->line.problem;
    char batch[32] = "", heads[64], tokens[64], width[64], scale[40] = "";
    if (p->b != 1)
        snprintf(batch, sizeof batch, ".b%" PRId64, p->b);
    if (p->softmax_scale != assay_problem_default_scale(p->dk))
        snprintf(scale, sizeof scale, ".scale%.17g", p->softmax_scale);
    pair(heads, sizeof heads, "h", p->hq, "hq", "hk", p->hk);
    pair(tokens, sizeof tokens, "s", p->nq, "q", "k", p->nk);
    pair(width, sizeof width, "d", p->dk, "d", "dv", p->dv);
    snprintf(m->name, sizeof m->name, "%s%s%s%s%s%s%s.seed%" PRIu64 "%s%s",
             m->distribution->name, batch, heads, tokens, width,
             p->mask == ASSAY_MASK_CAUSAL ? ".causal" : "", scale, m->line.seed,
             m->word->id == ASSAY_BF16 ? "" : ".",
             m->word->id == ASSAY_BF16 ? "" : m->word->name);
}

enum assay_status made_check(const struct assay_problem_line *line,
                             const struct assay_format *word, struct made *out,
                             struct assay_error *err)
{
    int index;
    enum assay_status st =
        names_find(&names_distributions, line->name, &index, err);
    if (st != ASSAY_OK)
        return st;
    *out = (struct made){ .distribution = assay_distribution_get(
                              (enum assay_distribution_id)index),
                          .line = *line,
                          .word = word };
    name_it(out);
    return assay_distribution_check(out->distribution, NULL, &line->problem,
                                    err);
}

static enum assay_status words_of(const struct assay_format *word, int64_t n,
                                  const float *values, void **out,
                                  struct assay_error *err)
{
    enum assay_status st = assay_alloc(
        "made words", n, (size_t)assay_format_bytes(word), out, err);
    if (st == ASSAY_OK)
        assay_format_encode(word, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, (size_t)n,
                            values, *out);
    return st;
}

static enum assay_status fill(const struct made *m, const struct assay_run *run,
                              struct assay_case *out, struct assay_error *err)
{
    const struct assay_problem *p = &m->line.problem;
    const int64_t nq = assay_problem_q_elems(p), nk = assay_problem_k_elems(p),
                  nv = assay_problem_v_elems(p);
    float *q = NULL, *k = NULL, *v = NULL;
    enum assay_status st;
    if ((st = assay_alloc("made Q", nq, sizeof *q, &q, err)) == ASSAY_OK &&
        (st = assay_alloc("made K", nk, sizeof *k, &k, err)) == ASSAY_OK &&
        (st = assay_alloc("made V", nv, sizeof *v, &v, err)) == ASSAY_OK &&
        (st = assay_distribution_fill(m->distribution, NULL, p, m->line.seed,
                                      m->word, q, k, v, run, err)) ==
            ASSAY_OK &&
        (st = words_of(m->word, nq, q, &out->q, err)) == ASSAY_OK &&
        (st = words_of(m->word, nk, k, &out->k, err)) == ASSAY_OK)
        st = words_of(m->word, nv, v, &out->v, err);
    assay_free(q);
    assay_free(k);
    assay_free(v);
    return st;
}

enum assay_status made_read(const struct made *made,
                            const struct assay_run *run, struct assay_case *out,
                            struct assay_error *err)
{
    char text[ASSAY_LINE_MAX];
    enum assay_status st;
    assay_problem_line(&made->line, text);
    *out = (struct assay_case){ .problem = made->line.problem,
                                .format = made->word,
                                .name = strdup(made->name),
                                .source = strdup(text) };
    if (!out->name || !out->source)
        st = assay_fail(err, ASSAY_MEMORY, "no memory for a case");
    else
        st = fill(made, run, out, err);
    if (st != ASSAY_OK)
        assay_case_free(out);
    return st;
}
