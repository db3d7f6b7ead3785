/* SPDX-License-Identifier: MIT
 *
 * assay audit: what recipes cost on captured heads, on the cases of a golden
 * set, or on made inputs.
 */
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "golden/audit.h"
#include "golden/names.h"
#include "golden/select.h"
#include "golden/source.h"
#include "golden/temp_file.h"
#include "golden/term.h"
#include "golden/verb.h"

enum form { FORM_TABLE, FORM_MARKDOWN, FORM_CSV, FORM_JSON, FORM_HTML };

struct options {
    struct source_options source;
    const char *recipe, *recipe_file, *cases, *transport, *output;
    enum form form;
    bool stages, f64;
    int ranks, worst, threads;
};

enum {
    KEY_RECIPE = 256,
    KEY_RECIPE_FILE,
    KEY_CASE,
    KEY_STAGES,
    KEY_PRECISION,
    KEY_TRANSPORT,
    KEY_RANKS,
    KEY_WORST,
    KEY_FORMAT,
    KEY_THREADS
};

static const struct argp_option keys[] = {
    { "recipe", KEY_RECIPE, "LIST", 0,
      "names and globs, in another softmax form with @FORM behind; all is the "
      "ten of MHA v4; default all, or what a golden set holds",
      0 },
    { "recipe-file", KEY_RECIPE_FILE, "FILE", 0,
      "recipes of one's own, in JSON as `assay list recipes` gives it; all of "
      "them unless --recipe names some",
      0 },
    { "case", KEY_CASE, "LIST", 0, "only these cases, names and globs", 0 },
    { "stages", KEY_STAGES, NULL, 0,
      "which stage costs what: each alone, and all but it; twelve more "
      "emulations of each recipe",
      0 },
    { "precision", KEY_PRECISION, "f32|f64", 0,
      "sums of the exact answer; default f32, or what a golden set has", 0 },
    { "transport", KEY_TRANSPORT, "LIST", 0,
      "what the recipe costs behind these codecs or profiles, names and globs, "
      "or all; `assay list transports` lists them",
      0 },
    { "ranks", KEY_RANKS, "2|4|8", 0, "of the transport; default 2", 0 },
    { "worst", KEY_WORST, "N", 0,
      "tell the N worst heads of each recipe; default 3", 0 },
    { "format", KEY_FORMAT, "table|markdown|csv|json|html", 0,
      "default table; csv and json have full precision and every head: csv "
      "with the figures of the whole case (V amplification, operands, stages) "
      "on each of its lines, json with the histograms of E8M0 scales; html is "
      "a "
      "page of one file, with plots where gnuplot is installed",
      0 },
    { "output", 'o', "FILE", 0, "write here, not to standard output", 0 },
    { "threads", KEY_THREADS, "N", 0,
      "default one a core; the result does not depend on it", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = { "table", "markdown", "csv", "json",
                                         "html" };
    static const char *const precisions[] = { "f32", "f64" };
    static const char *const ranks[] = { "2", "4", "8" };
    struct options *o = state->input;
    switch (key) {
    case KEY_RECIPE: o->recipe = arg; break;
    case KEY_RECIPE_FILE: o->recipe_file = arg; break;
    case KEY_CASE: o->cases = arg; break;
    case KEY_STAGES: o->stages = true; break;
    case KEY_PRECISION:
        o->f64 = verb_word(state, "--precision", arg, precisions, 2) == 1;
        break;
    case KEY_TRANSPORT:
        o->transport = strcmp(arg, "all") == 0 ? "*" : arg;
        break;
    case KEY_RANKS:
        o->ranks = 2 << verb_word(state, "--ranks", arg, ranks, 3);
        break;
    case KEY_WORST:
        o->worst = (int)verb_integer(state, "--worst", arg, 0, 1000);
        break;
    case KEY_FORMAT:
        o->form = (enum form)verb_word(state, "--format", arg, forms, 5);
        break;
    case 'o': verb_output(state, arg, &o->output); break;
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
        if (o->ranks && !o->transport)
            argp_error(state, "--ranks is for a --transport, and there is "
                              "none");
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
    "FILE.safetensors...\nSET.h5\n--dist NAME --shape LINE",
    "Audits recipes: how far a perfect kernel of each is from the exact answer "
    "on captured heads, on the cases of a golden set or on made inputs; what "
    "the operands lose, and which recipe is the best of them.\v"
    "Example:\n"
    "  assay audit data/lm_causal_gqa.safetensors\n"
    "  assay audit heads.h5 --recipe mxfp8,mxfp4 --stages\n"
    "  assay audit --dist peaked --shape h8,s2048,d128 --recipe 'mx*'\n"
    "  assay audit capture.safetensors --transport mxfp8,mxfp8-e4m3 \\\n"
    "      --ranks 2 --format csv",
    children,
    NULL,
    NULL
};

struct audit {
    const struct options *o;
    const struct assay_recipe *recipes[SELECT_RECIPES_MOST];
    struct audit_transport
        transports[ASSAY_TRANSPORT_CODECS + ASSAY_TRANSPORT_PROFILES];
    struct audit_options options;
    struct assay_set *set;
    struct source *source;
    struct audit_case *cases;
    size_t n;
    char *command;
};

/* ---- what is asked for ---- */

static enum assay_status choose_transports(struct audit *a,
                                           struct assay_error *err)
{
    const struct names *names = &names_transports;
    enum assay_status st = ASSAY_OK;
    a->options.transports = a->transports;
    if (!a->o->transport)
        return ASSAY_OK;
    st = select_names(a->o->transport, names, err);
    for (int i = 0; st == ASSAY_OK && i < names->count; i++) {
        const struct audit_transport t = {
            .name = names->names[i],
            .codec = assay_transport_codec_find(names->names[i]),
            .profile = assay_transport_profile_find(names->names[i]),
            .ranks = a->o->ranks ? a->o->ranks : 2,
        };
        /* codecs of V alone are only in profiles */
        if (select_has(a->o->transport, t.name) &&
            (t.profile || t.codec->native != ASSAY_QUANTIZERS))
            a->transports[a->options.n_transports++] = t;
    }
    if (st == ASSAY_OK && a->options.n_transports == 0)
        st = assay_fail(err, ASSAY_USAGE,
                        "%s is for V alone, in packed profiles; `assay list "
                        "transport-profiles` lists those",
                        a->o->transport);
    return st;
}

/* A golden set is told apart by its content, whatever its name. */
static bool is_set(const char *path)
{
    static const char magic[] = "\x89HDF\r\n\x1a\n";
    char begin[sizeof magic - 1];
    FILE *file = fopen(path, "rb");
    const bool is = file && fread(begin, sizeof begin, 1, file) == 1 &&
                    memcmp(begin, magic, sizeof begin) == 0;
    if (file)
        fclose(file);
    return is;
}

static enum assay_status open_inputs(struct audit *a, struct assay_error *err)
{
    const struct source_options *o = &a->o->source;
    int sets = 0;
    for (int i = 0; i < o->n_files; i++)
        sets += is_set(o->files[i]);
    if (sets == 0)
        return source_open(o, NULL, &a->source, err);
    if (o->n_files > 1)
        return assay_fail(err, ASSAY_USAGE,
                          "a golden set is audited alone, not with %d other "
                          "files",
                          o->n_files - 1);
    if (o->heads.layout || o->heads.has_mask || o->heads.has_scale)
        return assay_fail(err, ASSAY_USAGE,
                          "%s is for captured heads; %s is a golden set, which "
                          "says it itself",
                          o->heads.layout     ? "--layout"
                          : o->heads.has_mask ? "--mask"
                                              : "--softmax-scale",
                          o->files[0]);
    if (a->o->f64)
        return assay_fail(err, ASSAY_USAGE,
                          "--precision is for exact answers that are computed; "
                          "%s has them",
                          o->files[0]);
    return assay_set_open(o->files[0], &a->set, err);
}

static size_t case_count(const struct audit *a)
{
    return a->set ? assay_set_count(a->set) : source_count(a->source);
}

static const char *case_name(const struct audit *a, size_t i)
{
    return a->set ? assay_set_case_name(a->set, i) : source_name(a->source, i);
}

static enum assay_status check_cases(const struct audit *a,
                                     struct assay_error *err)
{
    const size_t n = case_count(a);
    const char **names = calloc(n + 1, sizeof *names);
    if (!names)
        return assay_fail(err, ASSAY_MEMORY, "no memory for case names");
    for (size_t i = 0; i < n; i++)
        names[i] = case_name(a, i);
    enum assay_status st = select_check(a->o->cases, "case", names, n, err);
    free(names);
    return st;
}

/* All recipes of a set, each once. */
static enum assay_status held_recipes(struct audit *a, struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < case_count(a); i++) {
        const struct assay_recipe **have = NULL;
        size_t n = 0;
        st = assay_set_recipes(a->set, i, &have, &n, err);
        for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
            bool there = false;
            for (size_t j = 0; j < a->options.n_recipes; j++)
                there |= a->recipes[j] == have[r];
            if (!there && a->options.n_recipes < SELECT_RECIPES_MOST)
                a->recipes[a->options.n_recipes++] = have[r];
        }
        free(have);
    }
    return st;
}

static enum assay_status choose(struct audit *a, struct assay_error *err)
{
    enum assay_status st;
    a->options.recipes = a->recipes;
    a->options.stages = a->o->stages;
    a->options.f64 = a->o->f64;
    if ((st = choose_transports(a, err)) != ASSAY_OK ||
        (st = open_inputs(a, err)) != ASSAY_OK ||
        (st = check_cases(a, err)) != ASSAY_OK)
        return st;
    /* reading what a set holds makes its own recipes known */
    if (a->set && (st = held_recipes(a, err)) != ASSAY_OK)
        return st;
    if (a->options.n_recipes > 0 && !a->o->recipe && !a->o->recipe_file)
        return ASSAY_OK;
    const struct recipe_selection selection = { a->o->recipe, a->o->recipe_file,
                                                "all", false };
    return select_recipes(&selection, a->recipes, &a->options.n_recipes, err);
}

/* ---- the work ---- */

static enum assay_status do_case(struct audit *a, size_t i,
                                 struct assay_error *err)
{
    struct progress progress;
    const struct assay_run run = { .threads = a->o->threads,
                                   .progress = progress_step,
                                   .context = &progress };
    const struct audit_held held = { a->set, i };
    struct assay_case c = { 0 };
    progress_begin(&progress, case_name(a, i));
    enum assay_status st = a->set ? assay_set_read_case(a->set, i, &c, err)
                                  : source_read(a->source, i, &run, &c, err);
    if (st == ASSAY_OK)
        st = audit_measure(&a->options, &c, a->set ? &held : NULL, &run,
                           &a->cases[a->n++], err);
    progress_end(&progress);
    assay_case_free(&c);
    return st;
}

static enum assay_status do_all(struct audit *a, struct assay_error *err)
{
    const size_t n = case_count(a);
    size_t results = 0;
    enum assay_status st = ASSAY_OK;
    a->cases = calloc(n + 1, sizeof *a->cases);
    if (!a->cases)
        return assay_fail(err, ASSAY_MEMORY, "no memory for cases");
    for (size_t i = 0; st == ASSAY_OK && i < n; i++)
        if (select_has(a->o->cases, case_name(a, i)))
            st = do_case(a, i, err);
    for (size_t i = 0; i < a->n; i++)
        results += a->cases[i].n;
    if (st == ASSAY_OK && results == 0)
        st = assay_fail(err, ASSAY_SHAPE,
                        "no chosen recipe is defined for any case");
    return st;
}

/* What was measured is told first; then it is an error. */
static enum assay_status check_transports(const struct audit *a,
                                          struct assay_error *err)
{
    bool any = a->options.n_transports == 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t r = 0; r < a->cases[i].n; r++)
            any |= a->cases[i].results[r].transport != NULL;
    return any ? ASSAY_OK
               : assay_fail(err, ASSAY_SHAPE,
                            "no transport of \"%s\" serves a chosen recipe on "
                            "any case",
                            a->o->transport);
}

static char *command_text(const struct options *o)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("assay audit", out);
    source_print(&o->source, out);
    if (o->recipe)
        fprintf(out, " --recipe %s", o->recipe);
    if (o->recipe_file)
        fprintf(out, " --recipe-file %s", o->recipe_file);
    if (o->cases)
        fprintf(out, " --case %s", o->cases);
    if (o->stages)
        fputs(" --stages", out);
    if (o->f64)
        fputs(" --precision f64", out);
    if (o->transport)
        fprintf(out, " --transport %s --ranks %d", o->transport,
                o->ranks ? o->ranks : 2);
    return fclose(out) == 0 ? text : NULL;
}

static bool print(const void *what, FILE *out)
{
    const struct audit *a = what;
    const struct audit_report report = { a->command, a->cases, a->n,
                                         &a->options, a->o->worst };
    switch (a->o->form) {
    case FORM_CSV: return audit_print_csv(&report, out);
    case FORM_JSON: return audit_print_json(&report, out);
    case FORM_HTML: return audit_print_html(&report, out);
    default:
        return audit_print_tables(&report, a->o->form == FORM_MARKDOWN, out);
    }
}

/* Minutes of work should not end at a name that cannot be written. */
static enum assay_status check_output(const struct options *o,
                                      struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    if (!o->output)
        return st;
    st = temp_file_check_inputs(o->output, (const char *const *)o->source.files,
                                (size_t)o->source.n_files, err);
    if (st == ASSAY_OK)
        st = temp_file_check_input(o->output, o->recipe_file, err);
    return st == ASSAY_OK ? temp_file_try(o->output, err) : st;
}

static enum assay_status report(const struct audit *a, struct assay_error *err)
{
    if (!a->command)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a report");
    enum assay_status st = temp_file_print(a->o->output, print, a, err);
    if (st != ASSAY_OK && a->o->output)
        audit_print_tables(&(struct audit_report){ a->command, a->cases, a->n,
                                                   &a->options, a->o->worst },
                           false, stdout);
    return st;
}

static enum assay_status audit(struct audit *a, struct assay_error *err)
{
    enum assay_status st;
    if ((st = assay_blas_check(err)) != ASSAY_OK ||
        (st = check_output(a->o, err)) != ASSAY_OK ||
        (st = choose(a, err)) != ASSAY_OK || (st = do_all(a, err)) != ASSAY_OK)
        return st;
    a->command = command_text(a->o);
    if ((st = report(a, err)) != ASSAY_OK)
        return st;
    return check_transports(a, err);
}

int verb_audit(int argc, char **argv)
{
    struct options o = { .worst = 3 };
    struct assay_error err;
    verb_parse(&argp, argc, argv, &o);
    struct audit a = { .o = &o };
    enum assay_status st = audit(&a, &err);
    for (size_t i = 0; i < a.n; i++)
        audit_case_free(&a.cases[i]);
    free(a.cases);
    free(a.command);
    source_close(a.source);
    assay_set_close(a.set);
    free((void *)o.source.shapes);
    return st == ASSAY_OK ? verb_end("audit", 0) : verb_fail("audit", &err);
}
