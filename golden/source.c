/* SPDX-License-Identifier: MIT */
#include "golden/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/made.h"
#include "golden/names.h"
#include "golden/select.h"
#include "golden/stored.h"
#include "golden/temp_file.h"
#include "golden/term.h"
#include "golden/verb.h"

/* ---- options ---- */

enum {
    KEY_LAYOUT = 0x4000,
    KEY_MASK,
    KEY_SCALE,
    KEY_DIST,
    KEY_SHAPE,
    KEY_SEED,
    KEY_INPUTS
};

static const struct argp_option keys[] = {
    { NULL, 0, NULL, 0, "Heads of files:", 1 },
    { "layout", KEY_LAYOUT, "AXES", 0,
      "axes of the tensors, outermost first: hsd, shd, bhsd, bshd; default the "
      "file's metadata, else hsd",
      1 },
    { "mask", KEY_MASK, "none|causal", 0, "instead of the file's metadata", 1 },
    { "softmax-scale", KEY_SCALE, "X", 0,
      "instead of the file's metadata or 1/sqrt(head size)", 1 },
    { NULL, 0, NULL, 0, "Heads that are made, in place of files:", 2 },
    { "shape", KEY_SHAPE, "LINE", 0,
      "b1,hq4,hk2,q257,k257,d128 and, where wanted, dv64, causal, scale=X, "
      "dist=NAME, seed=N; h4 is hq4,hk4 and s257 is q257,k257; may be given "
      "several times",
      2 },
    { "dist", KEY_DIST, "LIST", 0,
      "distributions of the inputs, names and globs, or all; `assay list "
      "distributions` lists them",
      2 },
    { "seed", KEY_SEED, "N", 0, "of the random numbers; default 0", 2 },
    { "inputs", KEY_INPUTS, "bf16|f16|f32", 0,
      "format that made inputs are rounded to; default bf16", 2 },
    { 0 },
};

static void add_shape(struct argp_state *state, struct source_options *o,
                      const char *line)
{
    const char **all =
        realloc((void *)o->shapes, (o->n_shapes + 1) * sizeof *all);
    if (!all)
        argp_failure(state, 4, 0, "no memory for shapes");
    all[o->n_shapes++] = line;
    o->shapes = all;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const masks[] = { "none", "causal" };
    static const char *const words[] = { "bf16", "f16", "f32" };
    static const enum assay_format_id formats[] = { ASSAY_BF16, ASSAY_F16,
                                                    ASSAY_F32 };
    struct source_options *o = state->input;
    switch (key) {
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
    case KEY_DIST: o->dist = arg; break;
    case KEY_SHAPE: add_shape(state, o, arg); break;
    case KEY_SEED:
        o->seeded = true;
        o->seed = (uint64_t)verb_integer(state, "--seed", arg, 0, INT64_MAX);
        break;
    case KEY_INPUTS:
        o->word = assay_format_get(
            formats[verb_word(state, "--inputs", arg, words, 3)]);
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp source_argp = { keys, parse, NULL, NULL, NULL, NULL, NULL };

void source_check(struct argp_state *state, const struct source_options *o)
{
    const bool made = o->n_shapes > 0;
    if (!made && (o->dist || o->seeded || o->word))
        argp_error(state, "%s is for heads that are made; --shape is missing",
                   o->dist     ? "--dist"
                   : o->seeded ? "--seed"
                               : "--inputs");
    if (!made && o->n_files == 0)
        argp_error(state, "no captured heads named, and no --shape");
    if (made && o->n_files > 0)
        argp_error(state, "heads are read from files or made by --shape, not "
                          "both");
    if (made && (o->heads.layout || o->heads.has_mask || o->heads.has_scale))
        argp_error(state, "%s is for files; a shape has words for it",
                   o->heads.layout     ? "--layout"
                   : o->heads.has_mask ? "--mask"
                                       : "--softmax-scale");
}

void source_print(const struct source_options *o, FILE *out)
{
    for (int i = 0; i < o->n_files; i++)
        fprintf(out, " %s", basename(o->files[i]));
    if (o->dist)
        fprintf(out, " --dist %s", o->dist);
    for (size_t i = 0; i < o->n_shapes; i++)
        fprintf(out, " --shape %s", o->shapes[i]);
    if (o->seeded)
        fprintf(out, " --seed %" PRIu64, o->seed);
    if (o->word)
        fprintf(out, " --inputs %s", o->word->name);
    if (o->heads.layout)
        fprintf(out, " --layout %s", o->heads.layout);
    if (o->heads.has_mask)
        fprintf(out, " --mask %s", assay_mask_name(o->heads.mask));
    if (o->heads.has_scale)
        fprintf(out, " --softmax-scale %.17g", o->heads.scale);
}

/* ---- the source ---- */

/* A case is head `index` of a file, or case `index` of a set, or is made. */
struct entry {
    const struct heads *heads;
    const struct assay_set *set;
    size_t index;
    struct made *made;
    struct assay_problem problem; /* of a set's */
};

struct source {
    struct heads **heads;    /* one per file, or NULL */
    struct assay_set **sets; /* the same */
    int n_files;
    struct entry *entries;
    size_t n;
};

size_t source_count(const struct source *s)
{
    return s->n;
}

const char *source_name(const struct source *s, size_t i)
{
    const struct entry *e = &s->entries[i];
    return e->made  ? e->made->name
           : e->set ? assay_set_case_name(e->set, e->index)
                    : heads_case_name(e->heads, e->index);
}

const struct assay_problem *source_problem(const struct source *s, size_t i)
{
    const struct entry *e = &s->entries[i];
    return e->made  ? &e->made->line.problem
           : e->set ? &e->problem
                    : heads_problem(e->heads, e->index);
}

const struct assay_set *source_set(const struct source *s, size_t i,
                                   size_t *index)
{
    *index = s->entries[i].index;
    return s->entries[i].set;
}

enum assay_status source_read(const struct source *s, size_t i,
                              const struct assay_run *run,
                              struct assay_case *out, struct assay_error *err)
{
    const struct entry *e = &s->entries[i];
    return e->made  ? made_read(e->made, run, out, err)
           : e->set ? assay_set_read_case(e->set, e->index, out, err)
                    : heads_read(e->heads, e->index, out, err);
}

/* `from` is what the entry is said to come from. */
static enum assay_status add_entry(struct source *s, struct entry entry,
                                   const char *from, struct assay_error *err)
{
    struct entry *all = realloc(s->entries, (s->n + 1) * sizeof *all);
    if (!all)
        return assay_fail(err, ASSAY_MEMORY, "no memory for cases");
    s->entries = all;
    s->entries[s->n] = entry;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(source_name(s, i), source_name(s, s->n)) == 0)
            return assay_fail(err, ASSAY_USAGE,
                              "%.200s: a second case named %s", from,
                              source_name(s, i));
    s->n++;
    return ASSAY_OK;
}

/* The cases of a set, which has said all of them itself. */
static enum assay_status add_set(struct source *s, const char *path,
                                 struct assay_set **set,
                                 struct assay_error *err)
{
    enum assay_status st = assay_set_open(path, set, err);
    for (size_t n = 0; st == ASSAY_OK && n < assay_set_count(*set); n++) {
        struct assay_case about;
        st = assay_set_describe(*set, n, &about, err);
        if (st != ASSAY_OK)
            break;
        st = add_entry(
            s,
            (struct entry){ .set = *set, .index = n, .problem = about.problem },
            path, err);
        assay_case_free(&about);
    }
    return st;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* A glob of a shell names X.k.npy and X.v.npy too, which X.q.npy stands for. */
static bool is_said(const struct source_options *o, int at)
{
    const size_t n = strlen(o->files[at]), end = strlen("q.npy");
    if (!ends_in(o->files[at], ".k.npy") && !ends_in(o->files[at], ".v.npy"))
        return false;
    for (int i = 0; i < o->n_files; i++)
        if (strlen(o->files[i]) == n && ends_in(o->files[i], ".q.npy") &&
            strncmp(o->files[i], o->files[at], n - end) == 0)
            return true;
    return false;
}

static enum assay_status check_no_set(const struct source_options *o,
                                      const char *path, struct assay_error *err)
{
    if (!o->heads.layout && !o->heads.has_mask && !o->heads.has_scale)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_USAGE,
                      "%s: is a golden set, which says itself what %s would",
                      path,
                      o->heads.layout     ? "--layout"
                      : o->heads.has_mask ? "--mask"
                                          : "--softmax-scale");
}

static enum assay_status add_file(struct source *s,
                                  const struct source_options *o, int i,
                                  struct assay_error *err)
{
    const char *path = o->files[i];
    const enum stored_kind kind = stored_kind_of(path);
    enum assay_status st;
    if (kind == STORED_RUN)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: is a run record; heads are in files of tensors "
                          "or in golden sets",
                          path);
    if (kind == STORED_SET)
        return (st = check_no_set(o, path, err)) == ASSAY_OK
                   ? add_set(s, path, &s->sets[i], err)
                   : st;
    st = heads_open(path, &o->heads, &s->heads[i], err);
    for (size_t n = 0; st == ASSAY_OK && n < heads_count(s->heads[i]); n++)
        st = add_entry(s, (struct entry){ .heads = s->heads[i], .index = n },
                       path, err);
    return st;
}

static enum assay_status add_files(struct source *s,
                                   const struct source_options *o,
                                   const char *out, struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (int i = 0; st == ASSAY_OK && i < o->n_files; i++) {
        st = temp_file_check_input(out, o->files[i], err);
        if (st == ASSAY_OK && !is_said(o, i))
            st = add_file(s, o, i, err);
    }
    return st;
}

static enum assay_status add_made(struct source *s,
                                  const struct assay_problem_line *line,
                                  const struct assay_format *word,
                                  const char *from, struct assay_error *err)
{
    struct made *made = calloc(1, sizeof *made);
    if (!made)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a case");
    enum assay_status st = made_check(line, word, made, err);
    if (st == ASSAY_OK)
        st = add_entry(s, (struct entry){ .made = made }, from, err);
    if (st != ASSAY_OK)
        free(made);
    return st;
}

/* The options keep what was typed: a set's command line can be run again. */
static const char *dist_globs(const struct source_options *o)
{
    return o->dist && strcmp(o->dist, "all") == 0 ? "*" : o->dist;
}

/* A shape in each of the distributions that a list selects. One that cannot be
 * made in it is told and left out, if others can. */
static enum assay_status add_distributions(struct source *s, const char *list,
                                           struct assay_problem_line *line,
                                           const struct assay_format *word,
                                           const char *text,
                                           struct assay_error *err)
{
    struct assay_error why[ASSAY_DISTRIBUTIONS];
    const size_t before = s->n;
    int failed = 0;
    for (int i = 0; i < names_distributions.count; i++) {
        if (!select_has(list, names_distributions.names[i]))
            continue;
        snprintf(line->name, sizeof line->name, "%s",
                 names_distributions.names[i]);
        enum assay_status st = add_made(s, line, word, text, &why[failed]);
        failed += st == ASSAY_SHAPE;
        if (st != ASSAY_OK && st != ASSAY_SHAPE)
            return assay_fail(err, st, "%s", why[failed].text);
    }
    for (int i = 0; s->n > before && i < failed; i++)
        term_printf(stderr, "assay: shape %s: left out: %s\n", text,
                    why[i].text);
    return s->n > before ? ASSAY_OK
                         : assay_fail(err, ASSAY_SHAPE, "%s", why[0].text);
}

/* One shape, in each of the distributions. */
static enum assay_status add_shape_cases(struct source *s,
                                         const struct source_options *o,
                                         const char *text,
                                         struct assay_error *err)
{
    const struct assay_format *word =
        o->word ? o->word : assay_format_get(ASSAY_BF16);
    struct assay_problem_line line;
    enum assay_status st = assay_problem_parse(text, &line, err);
    if (st != ASSAY_OK)
        return st;
    if ((line.name[0] && o->dist) || (line.seeded && o->seeded))
        return assay_fail(err, ASSAY_USAGE,
                          "the shape \"%.200s\" has a %s of its own; leave out "
                          "%s",
                          text, line.name[0] && o->dist ? "dist" : "seed",
                          line.name[0] && o->dist ? "--dist" : "--seed");
    if (!line.name[0] && !o->dist)
        return assay_fail(err, ASSAY_USAGE,
                          "the shape \"%.200s\" has no distribution; use "
                          "--dist NAME or the word dist=NAME",
                          text);
    line.seed = line.seeded ? line.seed : o->seed;
    line.seeded = true;
    if (line.name[0])
        return add_made(s, &line, word, text, err);
    return add_distributions(s, dist_globs(o), &line, word, text, err);
}

enum assay_status source_open(const struct source_options *o, const char *out,
                              struct source **source, struct assay_error *err)
{
    struct source *s = calloc(1, sizeof *s);
    *source = s;
    if (s)
        s->heads = calloc((size_t)o->n_files + 1, sizeof *s->heads);
    if (s)
        s->sets = calloc((size_t)o->n_files + 1, sizeof *s->sets);
    if (!s || !s->heads || !s->sets)
        return assay_fail(err, ASSAY_MEMORY, "no memory for file names");
    s->n_files = o->n_files;
    enum assay_status st = add_files(s, o, out, err);
    if (st == ASSAY_OK && o->dist)
        st = select_names(dist_globs(o), &names_distributions, err);
    for (size_t i = 0; st == ASSAY_OK && i < o->n_shapes; i++)
        st = add_shape_cases(s, o, o->shapes[i], err);
    return st;
}

void source_close(struct source *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free(s->entries[i].made);
    for (int i = 0; s->heads && i < s->n_files; i++)
        heads_close(s->heads[i]);
    for (int i = 0; s->sets && i < s->n_files; i++)
        assay_set_close(s->sets[i]);
    free(s->entries);
    free(s->heads);
    free(s->sets);
    free(s);
}
