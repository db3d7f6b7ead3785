/* SPDX-License-Identifier: MIT
 *
 * assay import: heads into a set without answers, or with answers made
 * elsewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/import.h"
#include "golden/select.h"
#include "golden/temp_file.h"
#include "golden/term.h"
#include "golden/verb.h"

struct options {
    const char *out, *answers, *layout, *recipe, *recipe_file, *maker;
    struct source_options source;
};

enum { KEY_ANSWERS = 256, KEY_LAYOUT, KEY_RECIPE, KEY_RECIPE_FILE, KEY_MAKER };

static const struct argp_option keys[] = {
    { "output", 'o', "FILE", 0, "golden set to write (required)", 0 },
    { "answers", KEY_ANSWERS, "FILE", 0,
      "answers made elsewhere: CASE.RECIPE.o, and CASE.RECIPE.lse if there is "
      "one, of a safetensors or an HDF5 file, a folder of .npy, or one .npy",
      0 },
    { "answers-layout", KEY_LAYOUT, "AXES", 0,
      "axes of O among them: hsd, shd, bhsd, bshd; default the file's metadata "
      "\"layout\", else hsd",
      0 },
    { "recipe", KEY_RECIPE, "LIST", 0,
      "what the answers are of: recipes, in another softmax form with @FORM "
      "behind",
      0 },
    { "recipe-file", KEY_RECIPE_FILE, "FILE", 0,
      "recipes of one's own, in JSON as `assay list recipes` gives it", 0 },
    { "maker", KEY_MAKER, "TEXT", 0,
      "who made the answers; default the file's metadata maker, or kernel, "
      "build and device",
      0 },
    { 0 },
};

static void check(struct argp_state *state, const struct options *o)
{
    const char *of_answers = o->recipe        ? "--recipe"
                             : o->recipe_file ? "--recipe-file"
                             : o->maker       ? "--maker"
                             : o->layout      ? "--answers-layout"
                                              : NULL;
    source_check(state, &o->source);
    if (!o->out)
        argp_error(state, "no output named; use -o SET.h5");
    if (!o->answers && of_answers)
        argp_error(state,
                   "%s is for answers made elsewhere; --answers is "
                   "missing",
                   of_answers);
    if (o->answers && !o->recipe && !o->recipe_file)
        argp_error(state, "of which recipe are the answers? use --recipe "
                          "NAME[@FORM]");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': verb_output(state, arg, &o->out); break;
    case KEY_ANSWERS: o->answers = arg; break;
    case KEY_LAYOUT: o->layout = arg; break;
    case KEY_RECIPE: o->recipe = arg; break;
    case KEY_RECIPE_FILE: o->recipe_file = arg; break;
    case KEY_MAKER: o->maker = arg; break;
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->source; break;
    case ARGP_KEY_ARGS:
        o->source.files = state->argv + state->next;
        o->source.n_files = state->argc - state->next;
        break;
    case ARGP_KEY_END: check(state, o); break;
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
    "Makes a set of captured heads, of tensors X.q, X.k and X.v of each file, "
    "without answers, which `assay generate SET.h5 -o NEW.h5` adds; or with "
    "answers made elsewhere, which kernels can be held against: what is known "
    "of them alone is judged, and reports say what is not known.\v"
    "Example:\n"
    "  assay import heads.safetensors -o heads.h5\n"
    "  assay import layer0.*.npy --mask causal -o layer0.h5\n"
    "  assay import heads.safetensors --answers theirs.safetensors \\\n"
    "      --recipe mxfp8@gfx950-u32 --maker 'build 7 on gfx950' -o theirs.h5",
    children,
    NULL,
    NULL
};

/* As it would be typed, without folders and without -o. */
static char *command_text(const struct options *o)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("assay import", out);
    source_print(&o->source, out);
    if (o->answers)
        fprintf(out, " --answers %s", basename(o->answers));
    if (o->layout)
        fprintf(out, " --answers-layout %s", o->layout);
    if (o->recipe)
        fprintf(out, " --recipe %s", o->recipe);
    if (o->recipe_file)
        fprintf(out, " --recipe-file %s", basename(o->recipe_file));
    if (o->maker)
        fprintf(out, " --maker \"%s\"", o->maker);
    return fclose(out) == 0 ? text : NULL;
}

struct import {
    const struct options *o;
    struct import_options options;
    const struct assay_recipe *recipes[ASSAY_RECIPES_MAX];
    struct source *source;
    struct import_answers *answers; /* or NULL */
    struct assay_set_writer *writer;
};

static enum assay_status open_answers(struct import *m, struct assay_error *err)
{
    const struct options *o = m->o;
    const struct recipe_selection selection = { o->recipe, o->recipe_file, NULL,
                                                true };
    enum assay_status st;
    if (!o->answers)
        return ASSAY_OK;
    st = select_recipes(&selection, m->recipes, &m->options.n_recipes, err);
    m->options.file = o->answers;
    m->options.layout = o->layout;
    m->options.maker = o->maker;
    m->options.recipes = m->recipes;
    if (st == ASSAY_OK)
        st = import_open(&m->options, m->source, &m->answers, err);
    return st;
}

static enum assay_status do_case(struct import *m, size_t i,
                                 struct assay_error *err)
{
    struct assay_answer answers[ASSAY_RECIPES_MAX] = { 0 };
    struct assay_inputs in = { 0 };
    struct assay_case c;
    const size_t n = m->answers ? m->options.n_recipes : 0;
    enum assay_status st = source_read(m->source, i, NULL, &c, err);
    if (st != ASSAY_OK)
        return st;
    if (n > 0)
        st = assay_case_values(&c, &in, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++)
        st = import_read(m->answers, i, r, &c, &in, &answers[r], err);
    if (st == ASSAY_OK)
        st = assay_set_add(m->writer, &c, NULL, answers, n, err);
    for (size_t r = 0; r < n; r++)
        assay_answer_free(&answers[r]);
    assay_inputs_free(&in);
    assay_case_free(&c);
    return st;
}

static void say_done(const struct import *m, const char *hash)
{
    const size_t n = source_count(m->source);
    term_printf(stderr, "%s: %zu case%s", m->o->out, n, plural((int64_t)n));
    if (m->answers) {
        term_printf(stderr,
                    ", answers of %zu recipe%s made by %s, content %s\n",
                    m->options.n_recipes, plural((int64_t)m->options.n_recipes),
                    import_maker(m->answers), hash);
    } else
        term_printf(stderr, " without answers, content %s\n", hash);
}

static enum assay_status import(struct import *m, struct assay_error *err)
{
    const char *const inputs[] = { m->o->answers, m->o->recipe_file };
    char hash[SET_HASH_CHARS + 1];
    enum assay_status st;
    if ((st = temp_file_check_inputs(m->o->out, inputs, 2, err)) != ASSAY_OK ||
        (st = source_open(&m->o->source, m->o->out, &m->source, err)) !=
            ASSAY_OK ||
        (st = open_answers(m, err)) != ASSAY_OK)
        return st;
    char *command = command_text(m->o);
    if (!command)
        return assay_fail(err, ASSAY_MEMORY, "no memory for the command");
    const struct assay_provenance provenance = { command, NULL };
    st = assay_set_create(m->o->out, &provenance, &m->writer, err);
    free(command);
    if (st != ASSAY_OK)
        return st;
    for (size_t i = 0; st == ASSAY_OK && i < source_count(m->source); i++)
        st = do_case(m, i, err);
    if (st != ASSAY_OK) {
        assay_set_abandon(m->writer);
        return st;
    }
    st = assay_set_commit(m->writer, hash, err);
    if (st == ASSAY_OK)
        say_done(m, hash);
    return st;
}

int verb_import(int argc, char **argv)
{
    struct options o = { 0 };
    struct assay_error err;
    verb_parse(&argp, argc, argv, &o);
    struct import m = { .o = &o };
    enum assay_status st = import(&m, &err);
    import_close(m.answers);
    source_close(m.source);
    free((void *)o.source.shapes);
    return st == ASSAY_OK ? verb_end("import", 0) : verb_fail("import", &err);
}
