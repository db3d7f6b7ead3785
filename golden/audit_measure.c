/* SPDX-License-Identifier: MIT
 *
 * The figures of one case: each recipe, alone and behind each transport.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/n_eff.h"
#include "golden/answers.h"
#include "golden/audit_figure.h"
#include "golden/term.h"

struct measuring {
    const struct audit_options *options;
    const struct assay_case *c;
    const struct audit_held *held;
    const struct assay_run *run;
    struct assay_inputs in;
    struct assay_exact exact;
    struct audit_case *out;
};

void audit_case_free(struct audit_case *c)
{
    for (size_t i = 0; i < c->n; i++) {
        assay_free(c->results[i].heads);
        free(c->results[i].costs);
    }
    free(c->results);
    free(c->name);
    free(c->source);
    assay_free(c->n_eff);
    *c = (struct audit_case){ 0 };
}

/* Two answers that are both NaN are alike, but there is nothing to rank a
 * recipe by: no figures where the exact answer of heads h0 .. h1 - 1 is not
 * finite. */
static void void_not_finite(const struct measuring *m, int64_t h0, int64_t h1,
                            struct assay_distance *d)
{
    const struct assay_problem *p = &m->c->problem;
    bool lse = true;
    if (d->nonfinite_b > 0)
        d->cosine = d->worst_row_cosine = d->mae = d->max_error = d->rel_l2 =
            d->norm_ratio = NAN;
    for (int64_t r = 0; r < assay_problem_rows(p); r++)
        if (r / p->nq % p->hq >= h0 && r / p->nq % p->hq < h1 &&
            assay_problem_visible(p, r % p->nq) > 0)
            lse &= isfinite(m->exact.lse[r]);
    if (!lse)
        d->lse_max = d->lse_mean = NAN;
}

/* Distances of every query head; batches count as one. */
static enum assay_status measure_heads(const struct measuring *m,
                                       struct assay_answered of,
                                       struct audit_result *out,
                                       struct assay_error *err)
{
    const struct assay_problem *p = &m->c->problem;
    struct assay_row *rows = NULL;
    enum assay_status st;
    if ((st = assay_alloc("row figures", assay_problem_rows(p), sizeof *rows,
                          &rows, err)) != ASSAY_OK ||
        (st = assay_alloc("head figures", p->hq, sizeof *out->heads,
                          &out->heads, err)) != ASSAY_OK)
        goto out;
    assay_rows_compare(p, of.o, m->exact.o, rows);
    for (int64_t h = 0; h < p->hq; h++) {
        assay_distance(p, rows, of.lse, m->exact.lse, h, h + 1, &out->heads[h]);
        void_not_finite(m, h, h + 1, &out->heads[h]);
    }
    assay_distance(p, rows, of.lse, m->exact.lse, 0, p->hq,
                   &out->figures.distance);
    void_not_finite(m, 0, p->hq, &out->figures.distance);
    if (isnan(out->figures.distance.rel_l2))
        out->figures.v_amplification = NAN;
out:
    assay_free(rows);
    return st;
}

/* ---- a recipe alone ---- */

/* Whether the set has this recipe's emulated answer, in this softmax form: one
 * made elsewhere says what somebody's kernel costs, not the recipe. */
static enum assay_status is_held(const struct measuring *m,
                                 const struct assay_recipe *recipe, bool *held,
                                 struct assay_error *err)
{
    const struct assay_recipe **have = NULL;
    size_t n = 0;
    *held = false;
    if (!m->held)
        return ASSAY_OK;
    enum assay_status st =
        assay_set_recipes(m->held->set, m->held->index, &have, &n, err);
    for (size_t i = 0; st == ASSAY_OK && i < n; i++) {
        char *maker = NULL;
        if (strcmp(have[i]->name, recipe->name) != 0 ||
            have[i]->softmax != recipe->softmax)
            continue;
        st =
            assay_set_maker(m->held->set, m->held->index, have[i], &maker, err);
        *held |= st == ASSAY_OK && !maker;
        free(maker);
    }
    free(have);
    return st;
}

static enum assay_status get_answer(const struct measuring *m,
                                    const struct assay_recipe *recipe,
                                    struct assay_answer *out,
                                    struct assay_error *err)
{
    const struct assay_problem *p = &m->c->problem;
    bool held;
    enum assay_status st = is_held(m, recipe, &held, err);
    *out = (struct assay_answer){ 0 };
    if (st != ASSAY_OK)
        return st;
    if (!held)
        return answers_emulated(recipe, p, &m->in, m->run, out, err);
    st = assay_set_read_answer(m->held->set, m->held->index, p, recipe, out,
                               err);
    return st == ASSAY_OK ? assay_answer_lse_shift(m->c, out, err) : st;
}

static enum assay_status measure_stages(const struct measuring *m,
                                        const struct assay_answer *answer,
                                        struct audit_result *out,
                                        struct assay_error *err)
{
    out->costs = calloc(1, sizeof *out->costs);
    if (!out->costs)
        return assay_fail(err, ASSAY_MEMORY, "no memory for stages");
    return assay_audit_stages(
        answer->recipe, &m->c->problem, m->in.q, m->in.k, m->in.v,
        &answer->payloads, (struct assay_answered){ m->exact.o, m->exact.lse },
        m->run, out->costs, err);
}

static enum assay_status measure_recipe(const struct measuring *m,
                                        const struct assay_recipe *recipe,
                                        struct audit_result *out,
                                        struct assay_error *err)
{
    struct assay_answer answer;
    enum assay_status st = get_answer(m, recipe, &answer, err);
    if (st == ASSAY_OK)
        answers_warn("audit", m->c, audit_recipe_name(recipe).s, answer.o,
                     answer.lse, " (a kernel of the recipe gives the same)");
    const struct assay_answered emulated = { answer.o, answer.lse },
                                exact = { m->exact.o, m->exact.lse };
    if (st == ASSAY_OK)
        st = assay_audit_recipe(recipe, &m->c->problem, m->in.format, m->in.q,
                                m->in.k, m->in.v, &answer.payloads, exact,
                                emulated, &out->figures, err);
    if (st == ASSAY_OK)
        st = measure_heads(m, emulated, out, err);
    if (st == ASSAY_OK && m->options->stages)
        st = measure_stages(m, &answer, out, err);
    assay_answer_free(&answer);
    return st;
}

/* ---- behind a transport ---- */

static enum assay_status measure_transport(const struct measuring *m,
                                           struct audit_result *out,
                                           struct assay_error *err)
{
    const struct assay_problem *p = &m->c->problem;
    float *o = NULL;
    double *lse = NULL, bits[ASSAY_ROLES];
    enum assay_status st;
    if ((st = assay_alloc("output", assay_problem_o_elems(p), sizeof *o, &o,
                          err)) == ASSAY_OK &&
        (st = assay_alloc("LSE", assay_problem_rows(p), sizeof *lse, &lse,
                          err)) == ASSAY_OK &&
        (st = audit_transport_answer(out->transport, out->recipe, p, &m->in,
                                     m->run, o, lse, bits, err)) == ASSAY_OK) {
        out->figures.q.bits = bits[ASSAY_ROLE_Q];
        out->figures.k.bits = bits[ASSAY_ROLE_K];
        out->figures.v.bits = bits[ASSAY_ROLE_V];
        st = measure_heads(m, (struct assay_answered){ o, lse }, out, err);
    }
    assay_free(o);
    assay_free(lse);
    return st;
}

/* ---- a case ---- */

static void say_skipped(const struct measuring *m, const char *what,
                        const char *name, const struct assay_error *why)
{
    term_printf(stderr, "assay audit: %s: %s %s skipped: %s\n", m->c->name,
                what, name, why->text);
}

static struct audit_result *add_result(const struct measuring *m,
                                       const struct assay_recipe *recipe,
                                       const struct audit_transport *by)
{
    struct audit_result *one = &m->out->results[m->out->n++];
    *one = (struct audit_result){ .recipe = recipe, .transport = by };
    return one;
}

/* All recipes behind one transport. Why it does not fit is told once. */
static enum assay_status measure_behind(const struct measuring *m,
                                        const struct audit_transport *by,
                                        struct assay_error *err)
{
    const struct audit_options *o = m->options;
    const struct assay_problem *p = &m->c->problem;
    struct assay_error why;
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < o->n_recipes; i++) {
        if (!audit_transport_serves(by, o->recipes[i]) ||
            assay_recipe_check(o->recipes[i], p, &why) != ASSAY_OK)
            continue;
        if (!audit_transport_fits(by, o->recipes[i], p, m->in.format, &why)) {
            say_skipped(m, "transport", by->name, &why);
            return ASSAY_OK;
        }
        st = measure_transport(m, add_result(m, o->recipes[i], by), err);
    }
    return st;
}

static enum assay_status measure_all(const struct measuring *m,
                                     struct assay_error *err)
{
    const struct audit_options *o = m->options;
    struct assay_error why;
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < o->n_recipes; i++)
        if (assay_recipe_check(o->recipes[i], &m->c->problem, &why) == ASSAY_OK)
            st = measure_recipe(m, o->recipes[i],
                                add_result(m, o->recipes[i], NULL), err);
        else
            say_skipped(m, "recipe", o->recipes[i]->name, &why);
    for (size_t t = 0; st == ASSAY_OK && t < o->n_transports; t++)
        st = measure_behind(m, &o->transports[t], err);
    return st;
}

/* How far sampled rows are apart: all rows, where that is not too much work.
 * tiebreak repeats every six queries, so a step with a factor 2 or 3 would see
 * some of its gaps only. */
static int64_t step_of(const struct assay_problem *p)
{
    const double work = (double)assay_problem_rows(p) * (double)p->nk *
                        (double)p->dk / AUDIT_N_EFF_WORK;
    int64_t every = work > 1 ? (int64_t)work + 1 : 1;
    while (every > 1 && (every % 2 == 0 || every % 3 == 0))
        every++;
    return every;
}

/* Mean over the sampled rows of all batches that see a key. */
static enum assay_status measure_n_eff(const struct measuring *m,
                                       struct assay_error *err)
{
    const struct assay_problem *p = &m->c->problem;
    const int64_t every = step_of(p), rows = assay_n_eff_rows(p, every);
    double *each = NULL;
    enum assay_status st;
    if ((st = assay_alloc("n_eff", p->hq, sizeof *m->out->n_eff, &m->out->n_eff,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("n_eff of rows", p->b * p->hq * rows, sizeof *each,
                          &each, err)) != ASSAY_OK)
        return st;
    m->out->n_eff_every = every;
    st = assay_n_eff(p, m->in.q, m->in.k, every, each, m->run, err);
    for (int64_t h = 0; st == ASSAY_OK && h < p->hq; h++) {
        double sum = 0;
        int64_t n = 0;
        for (int64_t r = 0; r < p->b * rows; r++)
            if (assay_problem_visible(p, r % rows * every) > 0) {
                sum += each[(r / rows * p->hq + h) * rows + r % rows];
                n++;
            }
        m->out->n_eff[h] = n > 0 ? sum / (double)n : (double)NAN;
    }
    assay_free(each);
    return st;
}

static enum assay_status get_exact(struct measuring *m, struct assay_error *err)
{
    const struct assay_problem *p = &m->c->problem;
    return m->held && assay_set_has_exact(m->held->set, m->held->index)
               ? assay_set_read_exact(m->held->set, m->held->index, p,
                                      &m->exact, err)
               : answers_exact_only(p, &m->in, m->options->f64, m->run,
                                    &m->exact, err);
}

enum assay_status audit_measure(const struct audit_options *options,
                                const struct assay_case *c,
                                const struct audit_held *held,
                                const struct assay_run *run,
                                struct audit_case *out, struct assay_error *err)
{
    struct measuring m = { options, c, held, run, { 0 }, { 0 }, out };
    enum assay_status st = assay_case_values(c, &m.in, err);
    if (st != ASSAY_OK)
        return st;
    out->problem = c->problem;
    out->word = c->format->name;
    out->name = strdup(c->name);
    out->source = strdup(c->source ? c->source : "");
    out->results = calloc(options->n_recipes * (options->n_transports + 1) + 1,
                          sizeof *out->results);
    if (!out->name || !out->source || !out->results)
        st = assay_fail(err, ASSAY_MEMORY, "no memory for %s's figures",
                        c->name);
    if (st == ASSAY_OK && (st = get_exact(&m, err)) == ASSAY_OK)
        answers_warn("audit", c, "exact", m.exact.o, m.exact.lse,
                     held || options->f64 ? "" : ANSWERS_TRY_F64);
    if (st == ASSAY_OK && (st = measure_n_eff(&m, err)) == ASSAY_OK)
        st = measure_all(&m, err);
    assay_exact_free(&m.exact);
    assay_inputs_free(&m.in);
    return st;
}
