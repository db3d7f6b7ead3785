/* SPDX-License-Identifier: MIT
 *
 * assay bench: speed of the reference beside its limits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "assay/problem_line.h"
#include "config.h"
#include "golden/bench.h"
#include "golden/csv.h"
#include "golden/json.h"
#include "golden/select.h"
#include "golden/sheet.h"
#include "golden/verb.h"

enum form { FORM_TABLE, FORM_MARKDOWN, FORM_CSV, FORM_JSON };

struct options {
    const char *shape, *recipe;
    char **topics;
    int n_topics, pairs, threads;
    enum form form;
};

enum { KEY_SHAPE = 256, KEY_RECIPE, KEY_PAIRS, KEY_FORMAT, KEY_THREADS };

static const struct argp_option keys[] = {
    { "shape", KEY_SHAPE, "LINE", 0, "default h1,s4096,d128", 0 },
    { "recipe", KEY_RECIPE, "LIST", 0,
      "names and globs, in another softmax form with @FORM behind; default "
      "every recipe in its own form, and those of AITER's gfx950 kernels",
      0 },
    { "pairs", KEY_PAIRS, "N", 0, "how often each is measured; default 7", 0 },
    { "format", KEY_FORMAT, "table|markdown|csv|json", 0, "default table", 0 },
    { "threads", KEY_THREADS, "N", 0, "default 1", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const forms[] = { "table", "markdown", "csv", "json" };
    struct options *o = state->input;
    switch (key) {
    case KEY_SHAPE: o->shape = arg; break;
    case KEY_RECIPE: o->recipe = arg; break;
    case KEY_PAIRS:
        o->pairs = (int)verb_integer(state, "--pairs", arg, 1, 10000);
        break;
    case KEY_FORMAT:
        o->form = (enum form)verb_word(state, "--format", arg, forms, 4);
        break;
    case KEY_THREADS:
        o->threads = (int)verb_integer(state, "--threads", arg, 1, 4096);
        break;
    case ARGP_KEY_ARGS:
        o->topics = state->argv + state->next;
        o->n_topics = state->argc - state->next;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* The topics and what they are, behind the options. */
static char *help_filter(int key, const char *text, void *input)
{
    char *out = NULL;
    size_t size;
    FILE *to;
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC || !(to = open_memstream(&out, &size)))
        return (char *)text;
    fputs("Topics:\n", to);
    for (int t = 0; t < BENCH_TOPICS; t++) {
        const struct bench_topic *topic =
            bench_topic_get((enum bench_topic_id)t);
        fprintf(to, "  %-11s%s, beside %s\n", topic->name, topic->about,
                topic->base);
    }
    fprintf(to, "\n%s", text);
    return fclose(to) == 0 ? out : (char *)text;
}

static const struct argp argp = {
    keys,
    parse,
    "[TOPIC...]",
    "Measures speed, as times a base that runs in turns with it, by median "
    "and quartiles, beside the limit where there is one. Without a topic, "
    "all.\v"
    "Example:\n"
    "  assay bench recipes\n"
    "  assay bench recipes --recipe 'fp8@gfx950-u32' --shape h1,s16384,d128\n"
    "  assay bench formats metrics --format csv",
    NULL,
    help_filter,
    NULL
};

/* ---- what is asked for ---- */

/* Recipes in the softmax forms of AITER's gfx950 kernels, beside their own. */
static const char all_forms[] =
    "*,i8fp8@gfx950-u32,fp8@gfx950-u32,mxfp8@gfx950-u32,f8f6@gfx950-u32,"
    "f6f8@gfx950-byte,f6f4@gfx950-byte,mxfp6@fp6p,mxfp4@fp6p";

static enum assay_status choose(const struct options *o, struct bench *b,
                                struct assay_error *err)
{
    struct assay_problem_line line;
    enum assay_status st = assay_problem_parse(o->shape, &line, err);
    const struct recipe_selection selection = { o->recipe, NULL, all_forms,
                                                false };
    int topic;
    if (st == ASSAY_OK && (line.name[0] || line.seeded))
        st = assay_fail(err, ASSAY_USAGE,
                        "a benchmark's inputs are normal, seed 0; --shape "
                        "takes sizes, not \"%.60s\"",
                        o->shape);
    b->p = line.problem;
    if (st == ASSAY_OK && (b->p.nq < 1 || b->p.nk < 1))
        st = assay_fail(err, ASSAY_SHAPE,
                        "a benchmark needs at least one query and one key, "
                        "not \"%.60s\"",
                        o->shape);
    for (int i = 0; st == ASSAY_OK && i < o->n_topics; i++) {
        st = names_find(&names_benches, o->topics[i], &topic, err);
        if (st == ASSAY_OK)
            b->topics[topic] = true;
    }
    for (int t = 0; o->n_topics == 0 && t < BENCH_TOPICS; t++)
        b->topics[t] = true;
    if (st == ASSAY_OK)
        st = select_recipes(&selection, b->recipes, &b->n_recipes, err);
    return st;
}

/* ---- reports ---- */

static double limit_of(const struct bench_line *line)
{
    const double limit = bench_topic_get(line->topic)->limit;
    return limit > 0 ? limit : NAN;
}

static bool print_topic(const struct bench *b, bool markdown,
                        enum bench_topic_id id)
{
    static const struct column columns[] = {
        { "NAME", COLUMN_TEXT },    { "MS", COLUMN_NUMBER },
        { "RATIO", COLUMN_NUMBER }, { "LOW", COLUMN_NUMBER },
        { "HIGH", COLUMN_NUMBER },  { "LIMIT", COLUMN_NUMBER },
        { "WITHIN", COLUMN_TEXT },
    };
    const struct bench_topic *topic = bench_topic_get(id);
    struct sheet s;
    char title[160];
    snprintf(title, sizeof title, "%s: %s, times %s", topic->name, topic->about,
             topic->base);
    sheet_begin(&s, stdout, markdown, title, columns,
                sizeof columns / sizeof *columns);
    for (size_t i = 0; i < b->n; i++) {
        const struct bench_line *line = &b->lines[i];
        if (line->topic != id)
            continue;
        sheet_cell(&s, "%s", line->name);
        sheet_number(&s, "%.3f", 1e3 * line->seconds.median);
        sheet_number(&s, "%.2f", line->ratio.median);
        sheet_number(&s, "%.2f", line->ratio.low);
        sheet_number(&s, "%.2f", line->ratio.high);
        sheet_number(&s, "%.2f", limit_of(line));
        sheet_cell(&s, "%s",
                   topic->limit == 0       ? "-"
                   : bench_is_within(line) ? "yes"
                                           : "no");
    }
    return sheet_end(&s);
}

static void shape_text(const struct bench *b, char text[ASSAY_LINE_MAX])
{
    const struct assay_problem_line line = { .problem = b->p };
    assay_problem_line(&line, text);
}

static bool print_tables(const struct bench *b, bool markdown)
{
    static const char *const held[] = { "OPENBLAS_CORETYPE",
                                        "OPENBLAS_L2_SIZE" };
    char shape[ASSAY_LINE_MAX];
    bool ok = true;
    shape_text(b, shape);
    printf("%s, core %s; %s; threads: %d; pairs: %d\n", assay_blas_name(),
           assay_blas_core(), shape, b->threads, b->pairs);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        if (getenv(held[i]))
            printf("note: %s is set, so BLAS does not choose for itself\n",
                   held[i]);
    puts("RATIO: median over pairs that ran in turns; LOW, HIGH: quartiles\n");
    for (int t = 0; t < BENCH_TOPICS; t++)
        if (b->topics[t])
            ok &= print_topic(b, markdown, (enum bench_topic_id)t);
    return ok;
}

static bool print_csv(const struct bench *b)
{
    static const char *const keys_of[] = { "topic",     "name",         "base",
                                           "seconds",   "base_seconds", "ratio",
                                           "ratio_low", "ratio_high",   "limit",
                                           "within" };
    struct csv csv = { .out = stdout };
    for (size_t i = 0; i < sizeof keys_of / sizeof *keys_of; i++)
        csv_text(&csv, keys_of[i]);
    csv_end_line(&csv);
    for (size_t i = 0; i < b->n; i++) {
        const struct bench_line *line = &b->lines[i];
        const struct bench_topic *topic = bench_topic_get(line->topic);
        csv_text(&csv, topic->name);
        csv_text(&csv, line->name);
        csv_text(&csv, topic->base);
        csv_number(&csv, line->seconds.median);
        csv_number(&csv, line->base_seconds.median);
        csv_number(&csv, line->ratio.median);
        csv_number(&csv, line->ratio.low);
        csv_number(&csv, line->ratio.high);
        csv_number(&csv, limit_of(line));
        csv_text(&csv, bench_is_within(line) ? "yes" : "no");
        csv_end_line(&csv);
    }
    return true;
}

static json_t *line_json(const struct bench_line *line)
{
    const struct bench_topic *topic = bench_topic_get(line->topic);
    json_t *out = json_object();
    json_object_set_new(out, "topic", json_string(topic->name));
    json_object_set_new(out, "name", json_string(line->name));
    json_object_set_new(out, "base", json_string(topic->base));
    json_object_set_new(out, "seconds", json_number(line->seconds.median));
    json_object_set_new(out, "base_seconds",
                        json_number(line->base_seconds.median));
    json_object_set_new(out, "ratio", json_number(line->ratio.median));
    json_object_set_new(out, "ratio_low", json_number(line->ratio.low));
    json_object_set_new(out, "ratio_high", json_number(line->ratio.high));
    json_object_set_new(out, "limit",
                        topic->limit > 0 ? json_number(topic->limit)
                                         : json_null());
    json_object_set_new(out, "within", json_boolean(bench_is_within(line)));
    return out;
}

static bool print_json(const struct bench *b)
{
    json_t *out = json_object(), *list = json_array();
    char shape[ASSAY_LINE_MAX];
    shape_text(b, shape);
    json_object_set_new(out, "schema", json_string("assay-bench/1"));
    json_object_set_new(out, "version", json_string(PACKAGE_VERSION));
    json_object_set_new(out, "blas", json_text(assay_blas_name()));
    json_object_set_new(out, "blas_core", json_text(assay_blas_core()));
    json_object_set_new(out, "shape", json_string(shape));
    json_object_set_new(out, "threads", json_integer(b->threads));
    json_object_set_new(out, "pairs", json_integer(b->pairs));
    for (size_t i = 0; i < b->n; i++)
        json_array_append_new(list, line_json(&b->lines[i]));
    json_object_set_new(out, "lines", list);
    return json_print(out, stdout) == 0;
}

static enum assay_status bench(const struct options *o, struct bench *b,
                               struct assay_error *err)
{
    struct progress progress;
    enum assay_status st;
    if ((st = assay_blas_check(err)) != ASSAY_OK ||
        (st = choose(o, b, err)) != ASSAY_OK ||
        (st = bench_open(b, err)) != ASSAY_OK)
        return st;
    progress_begin(&progress, "bench");
    st = bench_measure(b, progress_step, &progress, err);
    progress_end(&progress);
    if (st != ASSAY_OK)
        return st;
    const bool ok = o->form == FORM_CSV ? print_csv(b)
                    : o->form == FORM_JSON
                        ? print_json(b)
                        : print_tables(b, o->form == FORM_MARKDOWN);
    if (!ok && !ferror(stdout))
        return assay_fail(err, ASSAY_MEMORY, "no memory for a report");
    return ASSAY_OK;
}

int verb_bench(int argc, char **argv)
{
    struct options o = { .shape = "h1,s4096,d128", .pairs = 7, .threads = 1 };
    const struct assay_recipe *recipes[SELECT_RECIPES_MOST];
    struct assay_error err;
    verb_parse(&argp, argc, argv, &o);
    struct bench b = { .pairs = o.pairs,
                       .threads = o.threads,
                       .recipes = recipes };
    enum assay_status st = bench(&o, &b, &err);
    bench_close(&b);
    return st == ASSAY_OK ? verb_end("bench", 0) : verb_fail("bench", &err);
}
