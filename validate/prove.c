/* SPDX-License-Identifier: MIT */
#include "validate/prove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/select.h"

/* Rooms for one subject: what a mutation made, and each head's figures. */
struct bench {
    struct subject s;
    const struct limit *limits; /* of GATES */
    float *o;
    double *lse;
    double *unwritten; /* [b, hq] */
    double *moved;     /* [b, hq]: the worst row, as a part of what is honest */
    const uint32_t *gates; /* [b, hq], the result's */
    bool *swept;           /* [b, hq]: observable at the largest strength */
    struct result result;
};

static void bench_free(struct bench *b)
{
    subject_free(&b->s);
    assay_free(b->o);
    assay_free(b->lse);
    assay_free(b->moved);
    assay_free(b->unwritten);
    result_free(&b->result);
    assay_free(b->swept);
}

static int64_t heads_of(const struct bench *b)
{
    return b->s.c->problem.b * b->s.c->problem.hq;
}

static const struct assay_format *out_of(const struct bench *b)
{
    return assay_format_get(b->s.e->recipe->out_format);
}

static void round_to(const struct bench *b, const float *from, float *to)
{
    assay_format_round(out_of(b), ASSAY_NEAREST_EVEN, ASSAY_SPECIAL,
                       (size_t)assay_problem_o_elems(&b->s.c->problem), from,
                       to);
}

static enum assay_status bench_new(struct bench *b, struct assay_error *err)
{
    const struct assay_problem *p = &b->s.c->problem;
    const int64_t n = assay_problem_o_elems(p), rows = assay_problem_rows(p);
    enum assay_status st;
    if ((st = subject_begin(&b->s, err)) != ASSAY_OK ||
        (st = assay_alloc("a mutant's O", n, sizeof *b->o, &b->o, err)) !=
            ASSAY_OK ||
        (st = assay_alloc("a mutant's LSE", rows, sizeof *b->lse, &b->lse,
                          err)) != ASSAY_OK ||
        (st = assay_alloc("head figures", heads_of(b), sizeof *b->moved,
                          &b->moved, err)) != ASSAY_OK ||
        (st = assay_alloc("head figures", heads_of(b), sizeof *b->unwritten,
                          &b->unwritten, err)) != ASSAY_OK ||
        (st = assay_alloc("head figures", heads_of(b), sizeof *b->swept,
                          &b->swept, err)) != ASSAY_OK)
        return st;
    return ASSAY_OK;
}

/* ---- one mutation at one strength ---- */

static bool differ(const void *a, const void *b, int64_t count, size_t bytes)
{
    return count > 0 && a && memcmp(a, b, (size_t)count * bytes) != 0;
}

/* Whether a byte of what was delivered is another; the gate counts steps. */
static bool payloads_moved(const struct assay_payloads *ours,
                           const struct assay_payloads *delivered)
{
    struct assay_payloads a = *ours, b;
    if (!delivered)
        return false;
    b = *delivered;
    for (int i = 0; i < ASSAY_INPUTS; i++) {
        const struct assay_payload *x = assay_payloads_at(&a,
                                                          (enum assay_input)i),
                                   *y = assay_payloads_at(&b,
                                                          (enum assay_input)i);
        if (differ(x->codes, y->codes, x->count,
                   assay_format_bytes(x->format)) ||
            differ(x->scales, y->scales, x->n_scales, sizeof *x->scales) ||
            differ(x->e8m0, y->e8m0, x->n_scales, 1) ||
            differ(x->past, y->past, x->n_scales, 1))
            return true;
    }
    return false;
}

/* How far the mutant's worst row is off as a part of what honest kernels are,
 * rounding taken off. Not of the gates' limits: a gate that lets more through
 * lets mutations escape. */
static void see(struct bench *b, const struct candidate *left,
                const struct sketch *s)
{
    const int64_t nq = s->problem.nq;
    const bool bytes = left->guard_bytes || left->input_bytes ||
                       left->runs_differ ||
                       payloads_moved(&b->s.e->payloads, left->payloads);
    for (int64_t bh = 0; bh < heads_of(b); bh++)
        b->moved[bh] = bytes ? INFINITY : 0;
    for (int64_t r = 0; r < assay_problem_rows(&s->problem); r++) {
        double o = INFINITY, lse = INFINITY, *moved = &b->moved[r / nq];
        if (s->ce[r].mismatched == 0)
            o = part_used(
                s->beyond[r].beyond,
                judge_allowance(ASSAY_JITTERS_O * (double)s->jitter_o[r],
                                judge_row_bar(s, r / nq)));
        if (assay_same_class(s->lse_c[r], s->lse_e[r]))
            lse = isfinite(s->lse_e[r])
                      ? part_used(fabs(judge_lse_off(s->lse_c[r], s->lse_e[r])),
                                  judge_allowance(ASSAY_JITTERS_LSE *
                                                      (double)s->jitter_lse[r],
                                                  s->bar_lse[r / nq]))
                      : 0;
        *moved = assay_worst(*moved, assay_worst(o, lse));
    }
}

static enum assay_status judge_mutant(struct bench *b,
                                      const struct candidate *left,
                                      struct assay_error *err)
{
    const struct yardstick against = { &b->s.c->problem, b->s.e, b->s.x, NULL };
    struct sketch sketch;
    enum assay_status st = sketch_make(&against, left, &sketch, err);
    if (st != ASSAY_OK)
        return st;
    see(b, left, &sketch);
    result_free(&b->result);
    b->result = (struct result){ .case_name = strdup(b->s.c->name),
                                 .recipe = b->s.e->recipe,
                                 .problem = b->s.c->problem };
    st = b->result.case_name
             ? judge_sketch(&sketch, b->limits, &b->result, err)
             : assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    b->gates = b->result.heads_gates;
    sketch_free(&sketch);
    return st;
}

/* O and LSE as a kernel stores them. */
static void finish(const struct bench *b, struct mutant *m)
{
    if (!m->rounded)
        round_to(b, m->o, m->o);
    for (int64_t r = 0; r < assay_problem_rows(&b->s.c->problem); r++)
        m->lse[r] = (float)m->lse[r];
    m->left.o = m->o;
    m->left.lse = m->lse;
}

/* Fills the bench's moved and gates. */
static enum assay_status try(struct bench *b, const struct mutation *mutation,
                             double strength, bool *applies,
                             struct assay_error *err)
{
    const struct assay_problem *p = &b->s.c->problem;
    const struct assay_answer *e = b->s.e;
    struct mutant m = { .s = &b->s,
                        .o = b->o,
                        .lse = b->lse,
                        .unwritten = b->unwritten,
                        .left.unwritten_at = { -1, -1, -1, -1 },
                        .left.unwritten = b->unwritten,
                        .applies = true };
    memset(m.unwritten, 0, (size_t)heads_of(b) * sizeof *m.unwritten);
    memcpy(m.o, e->o, (size_t)assay_problem_o_elems(p) * sizeof *m.o);
    memcpy(m.lse, e->lse, (size_t)assay_problem_rows(p) * sizeof *m.lse);
    enum assay_status st = mutation->apply(&m, strength, err);
    *applies = m.applies;
    if (st == ASSAY_OK && m.applies) {
        finish(b, &m);
        st = judge_mutant(b, &m.left, err);
    }
    mutant_free(&m);
    return st;
}

/* What a gate sees can be seen, by whatever it looks at. */
static bool is_observable(const struct bench *b, int64_t bh)
{
    return !(b->moved[bh] <= 1) || b->gates[bh] != 0;
}

/* How far an honest variant is from each limit. */
static void keep_used(const struct result *r, struct proof *out)
{
    for (int g = 0; g < GATES; g++) {
        const struct gate_result *x = &r->gates[g];
        const double limit = x->limit.value;
        if (x->judged)
            out->used[g] = isnan(x->value) ? INFINITY
                           : limit > 0     ? x->value / limit
                                           : x->value;
    }
}

static void count(const struct bench *b, bool honest, struct proof *out)
{
    const struct assay_problem *p = &b->s.c->problem;
    out->heads = heads_of(b);
    out->escaped_at = (struct assay_place){ -1, -1, -1, -1 };
    for (int64_t bh = 0; bh < out->heads; bh++) {
        const double moved = b->moved[bh];
        out->observable += is_observable(b, bh);
        if (!is_observable(b, bh) && !honest) {
            out->unseen_moved = assay_worst(out->unseen_moved, moved);
            continue;
        }
        out->rejected += b->gates[bh] != 0;
        for (int g = 0; g < GATES; g++)
            out->by[g] += b->gates[bh] >> g & 1;
        if (b->gates[bh] == 0 && !honest &&
            (out->escaped_at.h < 0 || moved > out->escaped_moved)) {
            out->escaped_moved = moved;
            out->escaped_at =
                (struct assay_place){ bh / p->hq, bh % p->hq, -1, -1 };
        }
    }
    if (honest)
        keep_used(&b->result, out);
    if (honest && out->rejected > 0)
        text_append(out->reason, sizeof out->reason, "%s", b->result.reason);
}

/* ---- the smallest strength that is rejected ---- */

enum { SWEEP_STEPS = 64 }; /* in equal ratios; bisected in six tries */

struct sweep {
    struct bench *b;
    const struct mutation *mutation;
    bool known[SWEEP_STEPS + 1];
    uint32_t every[SWEEP_STEPS + 1]; /* gates that reject every head, and bit
                                        GATES if each head is by some gate */
};

static double strength_at(const struct mutation *m, int step)
{
    const double x =
        m->least * pow(m->most / m->least, (double)step / SWEEP_STEPS);
    const bool whole =
        strcmp(m->unit, "keys") == 0 || strcmp(m->unit, "bits") == 0;
    return whole ? round(x) : x;
}

static enum assay_status look(struct sweep *s, int step,
                              struct assay_error *err)
{
    bool applies, any = step < SWEEP_STEPS;
    if (s->known[step])
        return ASSAY_OK;
    enum assay_status st =
        try(s->b, s->mutation, strength_at(s->mutation, step), &applies, err);
    uint32_t every = (2u << GATES) - 1;
    for (int64_t bh = 0; st == ASSAY_OK && applies && bh < heads_of(s->b);
         bh++) {
        const uint32_t gates = s->b->gates[bh];
        if (step == SWEEP_STEPS)
            any |= s->b->swept[bh] = is_observable(s->b, bh);
        if (s->b->swept[bh])
            every &= gates | (gates ? 1u << GATES : 0);
    }
    s->every[step] = applies && any ? every : 0;
    s->known[step] = true;
    return st;
}

static enum assay_status sweep(struct bench *b, const struct mutation *m,
                               struct proof *out, struct assay_error *err)
{
    struct sweep s = { .b = b, .mutation = m };
    enum assay_status st = look(&s, SWEEP_STEPS, err);
    out->swept = true;
    for (int g = 0; st == ASSAY_OK && g <= GATES; g++) {
        int low = -1, high = SWEEP_STEPS;
        out->least[g] = NAN;
        if (!(s.every[SWEEP_STEPS] >> g & 1))
            continue;
        while (st == ASSAY_OK && high - low > 1) {
            const int middle = low + (high - low) / 2;
            st = look(&s, middle, err);
            if (s.every[middle] >> g & 1)
                high = middle;
            else
                low = middle;
        }
        out->least[g] = strength_at(m, high);
    }
    return st;
}

/* ---- all mutations of a subject, all subjects of a set ---- */

static enum assay_status new_proof(struct prove_run *run, struct proof **out,
                                   struct assay_error *err)
{
    if (run->count == run->space) {
        size_t space = run->space ? 2 * run->space : 256;
        struct proof *grown = realloc(run->proofs, space * sizeof *grown);
        if (!grown)
            return assay_fail(err, ASSAY_MEMORY, "no memory for results");
        run->proofs = grown;
        run->space = space;
    }
    *out = &run->proofs[run->count++];
    **out = (struct proof){ .escaped_at = { -1, -1, -1, -1 } };
    for (int g = 0; g < GATES; g++)
        (*out)->used[g] = NAN;
    return ASSAY_OK;
}

static enum assay_status one_mutation(struct prove_run *run, struct bench *b,
                                      enum mutation_id id,
                                      struct assay_error *err)
{
    const struct mutation *m = mutation_get(id);
    struct proof *out = NULL;
    enum assay_status st = new_proof(run, &out, err);
    if (st != ASSAY_OK)
        return st;
    out->mutation = id;
    out->subject = run->n_subjects - 1;
    st = try(b, m, m->strength, &out->applies, err);
    if (st != ASSAY_OK || !out->applies)
        return st;
    count(b, m->expect == MUTATION_HONEST, out);
    return run->options->sweep && m->most > 0 ? sweep(b, m, out, err) : st;
}

/* Progress over all cases; a recipe counts once. */
struct place {
    struct progress progress;
    int64_t done, total;
};

/* The limits of what is to come. */
static void next_subject(struct prove_run *run, size_t i, struct bench *b)
{
    struct prove_subject *next = &run->subjects[run->n_subjects++];
    const struct result like = { .case_name = b->s.c->name,
                                 .recipe = b->s.e->recipe };
    *next = (struct prove_subject){ .case_index = i, .recipe = like.recipe };
    limits_of(run->options->limits, &like, next->limits);
    b->limits = next->limits;
}

static enum assay_status one_recipe(struct prove_run *run, size_t i,
                                    struct bench *b, struct place *place,
                                    struct assay_error *err)
{
    enum assay_status st = bench_new(b, err);
    next_subject(run, i, b);
    for (int m = 0; st == ASSAY_OK && m < MUTATIONS; m++)
        if (select_has(run->options->mutations,
                       mutation_get((enum mutation_id)m)->name)) {
            st = one_mutation(run, b, (enum mutation_id)m, err);
            progress_step(&place->progress, place->done * MUTATIONS + m,
                          place->total * MUTATIONS);
        }
    place->done++;
    bench_free(b);
    return st;
}

/* What is mutated must be known whole. */
static enum assay_status check_whole(const struct prove_run *run,
                                     const char *name,
                                     const struct assay_answer *e,
                                     struct assay_error *err)
{
    if (e->lse && e->jitter.o)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: the answers of %s to %s were made elsewhere and "
                      "have no %s to prove gates with",
                      assay_set_path(run->set), e->recipe->name, name,
                      e->lse ? "jitter" : "LSE");
}

static enum assay_status one_case(struct prove_run *run, size_t i,
                                  struct place *place, struct assay_error *err)
{
    const struct assay_run threads = { .threads = run->options->threads };
    const struct assay_recipe **recipes = NULL;
    struct assay_case c = { 0 };
    struct assay_exact x = { 0 };
    size_t n = 0;
    enum assay_status st = assay_set_read_case(run->set, i, &c, err);
    if (st == ASSAY_OK)
        st = assay_set_read_exact(run->set, i, &c.problem, &x, err);
    if (st == ASSAY_OK)
        st = assay_set_recipes(run->set, i, &recipes, &n, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
        struct assay_answer e = { 0 };
        struct bench b = { .s = {
                               .c = &c, .e = &e, .x = &x, .run = &threads } };
        if (!select_has(run->options->recipes, recipes[r]->name))
            continue;
        st =
            assay_set_read_answer(run->set, i, &c.problem, recipes[r], &e, err);
        if (st == ASSAY_OK)
            st = check_whole(run, c.name, &e, err);
        if (st == ASSAY_OK)
            st = assay_answer_lse_shift(&c, &e, err);
        if (st == ASSAY_OK)
            st = one_recipe(run, i, &b, place, err);
        assay_answer_free(&e);
    }
    free(recipes);
    assay_exact_free(&x);
    assay_case_free(&c);
    return st;
}

/* Names that are asked for must be there; counts the work. */
static enum assay_status check(struct prove_run *run, struct place *place,
                               struct assay_error *err)
{
    const char *names[ASSAY_RECIPES_MAX];
    bool have[ASSAY_RECIPES_MAX] = { 0 };
    size_t n_names = 0;
    enum assay_status st = select_check(run->options->cases, "case", run->cases,
                                        run->n_cases, err);
    for (size_t i = 0; st == ASSAY_OK && i < run->n_cases; i++) {
        const struct assay_recipe **recipes = NULL;
        size_t n = 0;
        st = assay_set_recipes(run->set, i, &recipes, &n, err);
        for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
            if (!have[recipes[r]->id])
                names[n_names++] = recipes[r]->name;
            have[recipes[r]->id] = true;
            place->total += select_has(run->options->cases, run->cases[i]) &&
                            select_has(run->options->recipes, recipes[r]->name);
        }
        free(recipes);
    }
    if (st == ASSAY_OK)
        st = select_check(run->options->recipes, "recipe", names, n_names, err);
    if (st == ASSAY_OK && run->options->mutations)
        st = select_names(run->options->mutations, &names_mutations, err);
    return st;
}

enum assay_status prove_set(struct assay_set *set,
                            const struct prove_options *options,
                            struct prove_run *run, struct assay_error *err)
{
    struct place place = { 0 };
    *run = (struct prove_run){ .options = options,
                               .set = set,
                               .n_cases = assay_set_count(set) };
    run->cases = calloc(run->n_cases + 1, sizeof *run->cases);
    if (!run->cases)
        return assay_fail(err, ASSAY_MEMORY, "no memory for names");
    for (size_t i = 0; i < run->n_cases; i++)
        run->cases[i] = assay_set_case_name(set, i);
    enum assay_status st = assay_set_need_answers(set, err);
    if (st == ASSAY_OK)
        st = check(run, &place, err);
    run->subjects = calloc((size_t)place.total + 1, sizeof *run->subjects);
    if (st == ASSAY_OK && !run->subjects)
        st = assay_fail(err, ASSAY_MEMORY, "no memory for limits");
    progress_begin(&place.progress, "mutations");
    for (size_t i = 0; st == ASSAY_OK && i < run->n_cases; i++)
        if (select_has(options->cases, run->cases[i]))
            st = one_case(run, i, &place, err);
    progress_end(&place.progress);
    return st;
}

void prove_free(struct prove_run *run)
{
    free(run->proofs);
    free(run->subjects);
    free(run->cases);
}

int64_t proof_bad(const struct proof *proof)
{
    const enum mutation_expect expect = mutation_get(proof->mutation)->expect;
    if (!proof->applies || expect == MUTATION_TOLD)
        return 0;
    return expect == MUTATION_HONEST ? proof->rejected
                                     : proof->observable - proof->rejected;
}
