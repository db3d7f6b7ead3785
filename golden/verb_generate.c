/* SPDX-License-Identifier: MIT
 *
 * assay generate: captured heads to a golden set.
 */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "golden/answers.h"
#include "golden/heads.h"
#include "golden/select.h"
#include "golden/temp_file.h"
#include "golden/term.h"
#include "golden/verb.h"

struct options {
    const char *out, *recipe;
    struct heads_options heads;
    bool f64;
    int threads;
    char **files;
    int n_files;
};

enum {
    KEY_RECIPE = 256,
    KEY_PRECISION,
    KEY_LAYOUT,
    KEY_MASK,
    KEY_SCALE,
    KEY_THREADS
};

static const struct argp_option keys[] = {
    { "output", 'o', "FILE", 0, "golden set to write (required)", 0 },
    { "recipe", KEY_RECIPE, "LIST", 0,
      "recipes to emulate: names and globs, in another softmax form with "
      "@FORM behind; all is the ten of MHA v4; default bf16,e4m3",
      0 },
    { "precision", KEY_PRECISION, "f32|f64", 0,
      "sums of the exact answer; default f32", 0 },
    { "layout", KEY_LAYOUT, "AXES", 0,
      "axes of the tensors, outermost first: hsd (default), shd, bhsd, bshd",
      0 },
    { "mask", KEY_MASK, "none|causal", 0, "instead of the file's metadata", 0 },
    { "softmax-scale", KEY_SCALE, "X", 0,
      "instead of the file's metadata or 1/sqrt(head size)", 0 },
    { "threads", KEY_THREADS, "N", 0,
      "default one a core; the result does not depend on it", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const precisions[] = { "f32", "f64" };
    static const char *const masks[] = { "none", "causal" };
    struct options *o = state->input;
    switch (key) {
    case 'o': o->out = arg; break;
    case KEY_RECIPE: o->recipe = arg; break;
    case KEY_PRECISION:
        o->f64 = verb_word(state, "--precision", arg, precisions, 2) == 1;
        break;
    case KEY_LAYOUT: o->heads.layout = arg; break;
    case KEY_MASK:
        o->heads.has_mask = true;
        o->heads.mask = verb_word(state, "--mask", arg, masks, 2) == 1
                            ? ASSAY_MASK_CAUSAL
                            : ASSAY_MASK_NONE;
        break;
    case KEY_SCALE:
        o->heads.has_scale = true;
        o->heads.scale = verb_number(state, "--softmax-scale", arg);
        break;
    case KEY_THREADS:
        o->threads = (int)verb_integer(state, "--threads", arg, 1, 4096);
        break;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->n_files = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        if (o->n_files == 0)
            argp_error(state, "no captured heads named");
        if (!o->out)
            argp_error(state, "no output named; use -o SET.h5");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    keys,
    parse,
    "FILE.safetensors...",
    "Makes a golden set from captured heads: for tensors X.q, X.k and X.v of "
    "each file, the exact answer with its error bar, and what a perfect kernel "
    "of each recipe gives, with its jitter.\v"
    "Example:\n"
    "  assay generate data/lm_causal_gqa.safetensors -o heads.h5\n"
    "  assay generate capture.safetensors --layout bshd --mask causal "
    "--recipe bf16 --precision f64 -o set.h5\n"
    "  assay generate capture.safetensors --recipe fp8@gfx950-u32,mxfp8 \\\n"
    "      -o set.h5",
    NULL,
    NULL,
    NULL
};

/* Verb, options and file names, without folders and without -o, so that the
 * same request gives the same bytes wherever it is run. */
static char *command_text(const struct options *o)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("assay generate", out);
    for (int i = 0; i < o->n_files; i++) {
        const char *slash = strrchr(o->files[i], '/');
        fprintf(out, " %s", slash ? slash + 1 : o->files[i]);
    }
    if (o->recipe)
        fprintf(out, " --recipe %s", o->recipe);
    fprintf(out, " --precision %s", o->f64 ? "f64" : "f32");
    if (o->heads.layout)
        fprintf(out, " --layout %s", o->heads.layout);
    if (o->heads.has_mask)
        fprintf(out, " --mask %s", assay_mask_name(o->heads.mask));
    if (o->heads.has_scale)
        fprintf(out, " --softmax-scale %.17g", o->heads.scale);
    return fclose(out) == 0 ? text : NULL;
}

struct generate {
    const struct options *o;
    const struct assay_recipe *recipes[ASSAY_RECIPES];
    size_t n_recipes;
    struct heads **heads; /* one per file */
    struct assay_set_writer *writer;
};

/* All files are opened before anything is computed: a bad last file must not
 * cost the work on the others. */
static enum assay_status open_all(struct generate *g, struct assay_error *err)
{
    enum assay_status st;
    for (int i = 0; i < g->o->n_files; i++) {
        st = temp_file_check_input(g->o->out, g->o->files[i], err);
        if (st != ASSAY_OK)
            return st;
        st = heads_open(g->o->files[i], &g->o->heads, &g->heads[i], err);
        if (st != ASSAY_OK)
            return st;
        for (size_t n = 0; n < heads_count(g->heads[i]); n++)
            for (int j = 0; j <= i; j++)
                for (size_t m = 0; m < (j < i ? heads_count(g->heads[j]) : n);
                     m++)
                    if (strcmp(heads_case_name(g->heads[i], n),
                               heads_case_name(g->heads[j], m)) == 0)
                        return assay_fail(
                            err, ASSAY_USAGE, "%s: a second case named %s",
                            g->o->files[i], heads_case_name(g->heads[i], n));
    }
    return ASSAY_OK;
}

/* How many values are no numbers; -inf is one where a row sees no key. */
static int64_t not_finite(const struct assay_problem *p, const float *o,
                          const double *lse)
{
    int64_t bad = 0;
    for (int64_t i = 0; i < assay_problem_o_elems(p); i++)
        bad += !isfinite(o[i]);
    for (int64_t r = 0; r < assay_problem_rows(p); r++)
        bad += assay_problem_visible(p, r % p->nq) > 0 && !isfinite(lse[r]);
    return bad;
}

/* Legal, and worth knowing: such rows say little about a kernel. */
static void warn_not_finite(const struct assay_case *c, const char *answer,
                            const float *o, const double *lse,
                            const char *advice)
{
    int64_t bad = not_finite(&c->problem, o, lse);
    if (bad > 0)
        fprintf(stderr,
                "assay generate: %s: the %s answer has %" PRId64
                " values of O and LSE that are not finite%s\n",
                c->name, answer, bad, advice);
}

/* The recipes that are defined for a head; the others are told. */
static size_t applicable(const struct generate *g, const char *name,
                         const struct assay_problem *p,
                         const struct assay_recipe *out[ASSAY_RECIPES])
{
    struct assay_error why;
    size_t n = 0;
    for (size_t i = 0; i < g->n_recipes; i++)
        if (assay_recipe_check(g->recipes[i], p, &why) == ASSAY_OK)
            out[n++] = g->recipes[i];
        else
            fprintf(stderr,
                    "assay generate: recipe %s skipped for head %s: %s\n",
                    g->recipes[i]->name, name, why.text);
    if (n == 0)
        fprintf(stderr, "assay generate: head %s skipped: no recipe is left\n",
                name);
    return n;
}

/* Before anything is computed: whether any recipe is defined for any head. */
static enum assay_status check_any(const struct generate *g,
                                   struct assay_error *err)
{
    struct assay_error why = { 0 }, one;
    for (int f = 0; f < g->o->n_files; f++)
        for (size_t n = 0; n < heads_count(g->heads[f]); n++)
            for (size_t i = 0; i < g->n_recipes; i++) {
                enum assay_status st = assay_recipe_check(
                    g->recipes[i], heads_problem(g->heads[f], n), &one);
                if (st == ASSAY_OK)
                    return ASSAY_OK;
                if (why.status == ASSAY_OK)
                    assay_fail(&why, st, "%s: %s",
                               heads_case_name(g->heads[f], n), one.text);
            }
    return assay_fail(err, ASSAY_SHAPE,
                      "no chosen recipe is defined for any head: %s", why.text);
}

static enum assay_status do_case(struct generate *g, struct assay_case *c,
                                 const struct assay_recipe *const *recipes,
                                 size_t n, struct assay_error *err)
{
    struct assay_inputs in;
    struct assay_exact exact = { 0 };
    struct assay_answer answers[ASSAY_RECIPES] = { 0 };
    struct progress progress;
    struct assay_run run = { .threads = g->o->threads,
                             .progress = progress_step,
                             .context = &progress };
    enum assay_status st = assay_case_values(c, &in, err);
    if (st != ASSAY_OK)
        return st;
    progress_begin(&progress, c->name);
    st = answers_exact(&c->problem, &in, g->o->f64, &run, &exact, err);
    for (size_t i = 0; st == ASSAY_OK && i < n; i++)
        st = answers_recipe(recipes[i], &c->problem, &in, &run, &answers[i],
                            err);
    progress_end(&progress);
    if (st == ASSAY_OK) {
        warn_not_finite(c, "exact", exact.o, exact.lse,
                        g->o->f64 ? ""
                                  : " (scores may overflow binary32; try "
                                    "--precision f64)");
        for (size_t i = 0; i < n; i++)
            warn_not_finite(c, recipes[i]->name, answers[i].o, answers[i].lse,
                            " (a kernel of the recipe gives the same)");
    }
    if (st == ASSAY_OK)
        st = assay_set_add(g->writer, c, &exact, answers, n, err);
    for (size_t i = 0; i < n; i++)
        assay_answer_free(&answers[i]);
    assay_exact_free(&exact);
    assay_inputs_free(&in);
    return st;
}

/* The problem is told: a wrong layout shows in it. */
static void say_done(const struct assay_case *c)
{
    char *line = assay_case_line(&c->problem);
    fprintf(stderr, "%s: done, %s\n", c->name, line ? line : "");
    free(line);
}

static enum assay_status do_head(struct generate *g, const struct heads *from,
                                 size_t i, size_t *count,
                                 struct assay_error *err)
{
    const struct assay_recipe *recipes[ASSAY_RECIPES];
    struct assay_case c;
    size_t n = applicable(g, heads_case_name(from, i), heads_problem(from, i),
                          recipes);
    if (n == 0)
        return ASSAY_OK;
    enum assay_status st = heads_read(from, i, &c, err);
    if (st != ASSAY_OK)
        return st;
    st = do_case(g, &c, recipes, n, err);
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
    for (int i = 0; st == ASSAY_OK && i < g->o->n_files; i++)
        for (size_t n = 0; st == ASSAY_OK && n < heads_count(g->heads[i]); n++)
            st = do_head(g, g->heads[i], n, count, err);
    return st;
}

static enum assay_status generate(struct generate *g, struct assay_error *err)
{
    char hash[SET_HASH_CHARS + 1];
    size_t count = 0;
    enum assay_status st;
    if ((st = assay_blas_check(err)) != ASSAY_OK ||
        (st = select_recipes(g->o->recipe, g->recipes, &g->n_recipes, err)) !=
            ASSAY_OK ||
        (st = open_all(g, err)) != ASSAY_OK ||
        (st = check_any(g, err)) != ASSAY_OK)
        return st;
    char *command = command_text(g->o);
    if (!command)
        return assay_fail(err, ASSAY_MEMORY, "no memory for the command");
    struct assay_provenance provenance = { command };
    st = assay_set_create(g->o->out, &provenance, &g->writer, err);
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
        fprintf(stderr,
                "%s: %zu cases, %zu recipes, content %s (%s, core %s)\n",
                g->o->out, count, g->n_recipes, hash, assay_blas_name(),
                assay_blas_core());
    return st;
}

int verb_generate(int argc, char **argv)
{
    struct options o = { 0 };
    struct assay_error err;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    struct generate g = { .o = &o };
    g.heads = calloc((size_t)o.n_files, sizeof *g.heads);
    enum assay_status st =
        g.heads ? generate(&g, &err)
                : assay_fail(&err, ASSAY_MEMORY, "no memory for file names");
    for (int i = 0; g.heads && i < o.n_files; i++)
        heads_close(g.heads[i]);
    free(g.heads);
    return st == ASSAY_OK ? 0 : verb_fail("generate", &err);
}
