/* SPDX-License-Identifier: MIT
 *
 * assay generate: captured heads, or an imported set, to a golden set.
 */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "assay/memory.h"
#include "golden/answers.h"
#include "golden/limits.h"
#include "golden/select.h"
#include "golden/source.h"
#include "golden/temp_file.h"
#include "golden/term.h"
#include "golden/verb.h"

struct options {
    const char *out, *recipe, *recipe_file, *limits;
    struct source_options source;
    bool f64;
    int threads;
};

enum {
    KEY_RECIPE = 256,
    KEY_RECIPE_FILE,
    KEY_LIMITS,
    KEY_PRECISION,
    KEY_THREADS
};

static const struct argp_option keys[] = {
    { "output", 'o', "FILE", 0, "golden set to write (required)", 0 },
    { "recipe", KEY_RECIPE, "LIST", 0,
      "recipes to emulate: names and globs, in another softmax form with "
      "@FORM behind; all is the ten of MHA v4; default bf16,e4m3",
      0 },
    { "recipe-file", KEY_RECIPE_FILE, "FILE", 0,
      "recipes of one's own, in JSON as `assay list recipes` gives it; all of "
      "them unless --recipe names some",
      0 },
    { "limits", KEY_LIMITS, "FILE", 0,
      "limits of gates with their reasons, JSON, that the set brings along",
      0 },
    { "precision", KEY_PRECISION, "f32|f64", 0,
      "sums of the exact answer; default f32", 0 },
    { "threads", KEY_THREADS, "N", 0,
      "default one a core; the result does not depend on it", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const precisions[] = { "f32", "f64" };
    struct options *o = state->input;
    switch (key) {
    case 'o': verb_output(state, arg, &o->out); break;
    case KEY_RECIPE: o->recipe = arg; break;
    case KEY_RECIPE_FILE: o->recipe_file = arg; break;
    case KEY_LIMITS: o->limits = arg; break;
    case KEY_PRECISION:
        o->f64 = verb_word(state, "--precision", arg, precisions, 2) == 1;
        break;
    case KEY_THREADS:
        o->threads = (int)verb_integer(state, "--threads", arg, 1, 4096);
        break;
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->source; break;
    case ARGP_KEY_ARGS:
        o->source.files = state->argv + state->next;
        o->source.n_files = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        source_check(state, &o->source);
        if (!o->out)
            argp_error(state, "no output named; use -o SET.h5");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = { { &source_argp, 0, NULL, 0 },
                                              { 0 } };

static const struct argp argp = {
    keys,
    parse,
    "FILE...\n--dist NAME --shape LINE",
    "Makes a golden set from captured heads: for tensors X.q, X.k and X.v of "
    "each file (safetensors, HDF5, a folder of .npy or X.q.npy), the exact "
    "answer with its error bar, and what a perfect kernel of each recipe "
    "gives, with its jitter. Heads can be made from random numbers too, or be "
    "those of a set: answers made elsewhere that it has (`assay import`) stay, "
    "and get a jitter.\v"
    "Example:\n"
    "  assay generate data/lm_causal_gqa.safetensors -o heads.h5\n"
    "  assay generate capture.safetensors --layout bshd --mask causal "
    "--recipe bf16 --precision f64 -o set.h5\n"
    "  assay generate capture.safetensors --recipe fp8@gfx950-u32,mxfp8 \\\n"
    "      -o set.h5\n"
    "  assay generate imported.h5 -o full.h5\n"
    "  assay generate --dist peaked --shape h8,s2048,d128 --recipe all \\\n"
    "      -o set.h5",
    children,
    NULL,
    NULL
};

/* What was asked for, without folders and without -o, so that the same request
 * gives the same bytes wherever it is run. */
static char *command_text(const struct options *o)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("assay generate", out);
    source_print(&o->source, out);
    if (o->recipe)
        fprintf(out, " --recipe %s", o->recipe);
    if (o->recipe_file)
        fprintf(out, " --recipe-file %s", basename(o->recipe_file));
    if (o->limits)
        fprintf(out, " --limits %s", basename(o->limits));
    fprintf(out, " --precision %s", o->f64 ? "f64" : "f32");
    return fclose(out) == 0 ? text : NULL;
}

/* The recipes of one case; those that `theirs` is set for have answers made
 * elsewhere, which the new set keeps. */
struct chosen {
    const struct assay_recipe *recipes[ASSAY_RECIPES_MAX];
    bool theirs[ASSAY_RECIPES_MAX];
    size_t n;
};

struct generate {
    const struct options *o;
    const struct assay_recipe *recipes[ASSAY_RECIPES_MAX];
    size_t n_recipes;
    struct source *source;
    struct assay_set_writer *writer;
    struct chosen theirs; /* recipes with answers made elsewhere, of any case */
};

/* Recipes that a set has answers made elsewhere for, in their forms. */
static enum assay_status add_theirs(const struct generate *g, size_t i,
                                    struct chosen *out, struct assay_error *err)
{
    const struct assay_recipe **have = NULL;
    size_t index, n = 0;
    const struct assay_set *set = source_set(g->source, i, &index);
    enum assay_status st =
        set ? assay_set_recipes(set, index, &have, &n, err) : ASSAY_OK;
    for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
        char *maker;
        st = assay_set_maker(set, index, have[r], &maker, err);
        if (st == ASSAY_OK && maker) {
            out->theirs[out->n] = true;
            out->recipes[out->n++] = have[r];
        }
        free(maker);
    }
    free(have);
    return st;
}

static bool is_chosen(const struct chosen *c, const struct assay_recipe *r)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->recipes[i]->id == r->id)
            return true;
    return false;
}

/* Those, and the recipes that are defined for a head; the others are told. */
static enum assay_status choose(const struct generate *g, size_t at,
                                struct chosen *out, struct assay_error *err)
{
    const char *name = source_name(g->source, at);
    struct assay_error why;
    *out = (struct chosen){ 0 };
    enum assay_status st = add_theirs(g, at, out, err);
    for (size_t i = 0; st == ASSAY_OK && i < g->n_recipes; i++)
        if (is_chosen(out, g->recipes[i]))
            continue;
        else if (assay_recipe_check(g->recipes[i],
                                    source_problem(g->source, at),
                                    &why) == ASSAY_OK)
            out->recipes[out->n++] = g->recipes[i];
        else
            term_printf(stderr,
                        "assay generate: recipe %s skipped for head %s: %s\n",
                        g->recipes[i]->name, name, why.text);
    if (st == ASSAY_OK && out->n == 0)
        term_printf(stderr,
                    "assay generate: head %s skipped: no recipe is left\n",
                    name);
    return st;
}

/* Which recipes an imported set has answers for is what is asked for, where
 * nothing else is. */
static enum assay_status keep_theirs(struct generate *g,
                                     struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < source_count(g->source); i++) {
        struct chosen c = { 0 };
        st = add_theirs(g, i, &c, err);
        for (size_t r = 0; r < c.n; r++)
            if (!is_chosen(&g->theirs, c.recipes[r]))
                g->theirs.recipes[g->theirs.n++] = c.recipes[r];
    }
    if (g->theirs.n > 0 && !g->o->recipe && !g->o->recipe_file)
        g->n_recipes = 0;
    return st;
}

/* Before anything is computed: whether any recipe is defined for any head. */
static enum assay_status check_any(const struct generate *g,
                                   struct assay_error *err)
{
    struct assay_error why = { 0 }, one;
    if (g->theirs.n > 0)
        return ASSAY_OK;
    for (size_t n = 0; n < source_count(g->source); n++)
        for (size_t i = 0; i < g->n_recipes; i++) {
            enum assay_status st = assay_recipe_check(
                g->recipes[i], source_problem(g->source, n), &one);
            if (st == ASSAY_OK)
                return ASSAY_OK;
            if (why.status == ASSAY_OK)
                assay_fail(&why, st, "%s: %s", source_name(g->source, n),
                           one.text);
        }
    return assay_fail(err, ASSAY_SHAPE,
                      "no chosen recipe is defined for any head: %s", why.text);
}

/* O and LSE made elsewhere in place of the emulated ones, whose jitter and
 * bound they take on. */
static enum assay_status take_theirs(const struct generate *g, size_t i,
                                     const struct assay_problem *p,
                                     struct assay_answer *answer,
                                     struct assay_error *err)
{
    struct assay_answer theirs;
    size_t index;
    const struct assay_set *set = source_set(g->source, i, &index);
    enum assay_status st =
        assay_set_read_answer(set, index, p, answer->recipe, &theirs, err);
    if (st != ASSAY_OK)
        return st;
    assay_free(answer->o);
    assay_free(answer->lse);
    answer->o = theirs.o;
    answer->lse = theirs.lse;
    answer->maker = theirs.maker;
    theirs.o = NULL;
    theirs.lse = NULL;
    theirs.maker = NULL;
    assay_answer_free(&theirs);
    return ASSAY_OK;
}

static enum assay_status
make_answers(struct generate *g, size_t i, const struct assay_case *c,
             const struct chosen *chosen, const struct assay_inputs *in,
             const struct assay_run *run, struct assay_answer *answers,
             struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t r = 0; st == ASSAY_OK && r < chosen->n; r++) {
        st = answers_recipe(chosen->recipes[r], &c->problem, in, run,
                            &answers[r], err);
        if (st == ASSAY_OK && chosen->theirs[r])
            st = take_theirs(g, i, &c->problem, &answers[r], err);
        if (st != ASSAY_OK)
            assay_fail_in(err, st, "%s, recipe %s", c->name,
                          chosen->recipes[r]->name);
    }
    return st;
}

static void warn_all(const struct generate *g, const struct assay_case *c,
                     const struct assay_exact *exact,
                     const struct chosen *chosen,
                     const struct assay_answer *answers)
{
    answers_warn("generate", c, "exact", exact->o, exact->lse,
                 g->o->f64 ? "" : ANSWERS_TRY_F64);
    for (size_t r = 0; r < chosen->n; r++)
        if (!chosen->theirs[r])
            answers_warn("generate", c, chosen->recipes[r]->name, answers[r].o,
                         answers[r].lse,
                         " (a kernel of the recipe gives the same)");
}

static enum assay_status do_case(struct generate *g, size_t i,
                                 const struct assay_case *c,
                                 const struct chosen *chosen,
                                 struct assay_error *err)
{
    struct assay_inputs in;
    struct assay_exact exact = { 0 };
    struct assay_answer answers[ASSAY_RECIPES_MAX] = { 0 };
    struct progress progress;
    struct assay_run run = { .threads = g->o->threads,
                             .progress = progress_step,
                             .context = &progress };
    enum assay_status st = assay_case_values(c, &in, err);
    if (st != ASSAY_OK)
        return st;
    progress_begin(&progress, c->name);
    st = answers_exact(&c->problem, &in, g->o->f64, &run, &exact, err);
    if (st == ASSAY_OK)
        st = make_answers(g, i, c, chosen, &in, &run, answers, err);
    progress_end(&progress);
    if (st == ASSAY_OK) {
        warn_all(g, c, &exact, chosen, answers);
        st = assay_set_add(g->writer, c, &exact, answers, chosen->n, err);
    }
    for (size_t r = 0; r < chosen->n; r++)
        assay_answer_free(&answers[r]);
    assay_exact_free(&exact);
    assay_inputs_free(&in);
    return st;
}

/* The problem is told: a wrong layout shows in it. */
static void say_done(const struct assay_case *c)
{
    char *line = assay_case_line(&c->problem);
    term_printf(stderr, "%s: done, %s\n", c->name, line ? line : "");
    free(line);
}

static enum assay_status do_head(struct generate *g, size_t i, size_t *count,
                                 struct assay_error *err)
{
    const struct assay_run run = { .threads = g->o->threads };
    struct chosen chosen;
    struct assay_case c;
    enum assay_status st = choose(g, i, &chosen, err);
    if (st != ASSAY_OK || chosen.n == 0)
        return st;
    st = source_read(g->source, i, &run, &c, err);
    if (st != ASSAY_OK)
        return st;
    st = do_case(g, i, &c, &chosen, err);
    if (st == ASSAY_OK) {
        say_done(&c);
        ++*count;
    }
    assay_case_free(&c);
    return st;
}

static enum assay_status do_all(struct generate *g, size_t *count,
                                struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < source_count(g->source); i++)
        st = do_head(g, i, count, err);
    return st;
}

static void say_end(const struct generate *g, size_t count, const char *hash)
{
    size_t n = g->theirs.n;
    for (size_t i = 0; i < g->n_recipes; i++)
        n += !is_chosen(&g->theirs, g->recipes[i]);
    term_printf(stderr, "%s: %zu case%s, %zu recipe%s", g->o->out, count,
                plural((int64_t)count), n, plural((int64_t)n));
    if (g->theirs.n > 0)
        term_printf(stderr, ", answers of %zu of them made elsewhere",
                    g->theirs.n);
    term_printf(stderr, ", content %s (%s, core %s)\n", hash, assay_blas_name(),
                assay_blas_core());
}

static enum assay_status generate(struct generate *g, struct assay_error *err)
{
    char hash[SET_HASH_CHARS + 1];
    /* what the built-in kernels have, if nothing is said */
    const struct recipe_selection selection = { g->o->recipe, g->o->recipe_file,
                                                "bf16,e4m3", true };
    const char *const inputs[] = { g->o->recipe_file, g->o->limits };
    size_t count = 0;
    enum assay_status st;
    if ((st = temp_file_check_inputs(g->o->out, inputs, 2, err)) != ASSAY_OK ||
        (st = assay_blas_check(err)) != ASSAY_OK ||
        (st = select_recipes(&selection, g->recipes, &g->n_recipes, err)) !=
            ASSAY_OK ||
        (st = source_open(&g->o->source, g->o->out, &g->source, err)) !=
            ASSAY_OK ||
        (st = keep_theirs(g, err)) != ASSAY_OK ||
        (st = check_any(g, err)) != ASSAY_OK)
        return st;
    char *command = command_text(g->o);
    struct limits_list limits = { 0 };
    if (!command)
        return assay_fail(err, ASSAY_MEMORY, "no memory for the command");
    if (g->o->limits)
        st = limits_read(g->o->limits, &limits, err);
    struct assay_provenance provenance = { command, limits.text };
    if (st == ASSAY_OK)
        st = assay_set_create(g->o->out, &provenance, &g->writer, err);
    limits_list_free(&limits);
    free(command);
    if (st != ASSAY_OK)
        return st;
    st = do_all(g, &count, err);
    if (st != ASSAY_OK) {
        assay_set_abandon(g->writer);
        return st;
    }
    st = assay_set_commit(g->writer, hash, err);
    if (st == ASSAY_OK)
        say_end(g, count, hash);
    return st;
}

int verb_generate(int argc, char **argv)
{
    struct options o = { 0 };
    struct assay_error err;
    verb_parse(&argp, argc, argv, &o);
    struct generate g = { .o = &o };
    enum assay_status st = generate(&g, &err);
    source_close(g.source);
    free((void *)o.source.shapes);
    return st == ASSAY_OK ? 0 : verb_fail("generate", &err);
}
