/* SPDX-License-Identifier: MIT */
#include "golden/show_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/metrics.h"
#include "golden/json.h"
#include "golden/limits.h"
#include "golden/select.h"
#include "golden/set.h"
#include "golden/term.h"

/* What is shown of one recipe of one case. */
struct shown {
    const struct assay_recipe *recipe;
    struct assay_distance distance; /* emulated against exact */
    bool compared; /* there is an exact answer; lse: and an LSE */
    bool lse;
    double jitter_lse; /* largest over rows; below 0: not known */
    char *maker;       /* NULL: assay */
};

struct shown_case {
    struct assay_case about;
    bool exact, f64;
    double bar_o, bar_lse; /* largest over heads */
    struct shown recipes[ASSAY_RECIPES_MAX];
    size_t n_recipes;
};

static double largest(int64_t n, const double *x)
{
    double top = 0;
    for (int64_t i = 0; i < n && !isnan(top); i++)
        top = assay_worst(top, x[i]);
    return top;
}

static enum assay_status compare(const struct assay_problem *p,
                                 const struct assay_answer *a,
                                 const struct assay_exact *e, struct shown *out,
                                 struct assay_error *err)
{
    struct assay_row *rows;
    enum assay_status st = assay_alloc("row figures", assay_problem_rows(p),
                                       sizeof *rows, &rows, err);
    if (st != ASSAY_OK)
        return st;
    assay_rows_compare(p, a->o, e->o, rows);
    assay_distance(p, rows, a->lse, e->lse, 0, p->hq, &out->distance);
    out->compared = true;
    assay_free(rows);
    return ASSAY_OK;
}

/* e NULL: the case has no exact answer. */
static enum assay_status measure(const struct assay_problem *p,
                                 struct assay_answer *a,
                                 const struct assay_exact *e, struct shown *out,
                                 struct assay_error *err)
{
    const int64_t n = assay_problem_rows(p);
    *out = (struct shown){ .recipe = a->recipe,
                           .lse = a->lse != NULL,
                           .maker = a->maker,
                           .jitter_lse = a->jitter.lse ? 0 : -1 };
    a->maker = NULL;
    for (int64_t i = 0; a->jitter.lse && i < n && !isnan(out->jitter_lse); i++)
        out->jitter_lse = assay_worst(out->jitter_lse, a->jitter.lse[i]);
    return e ? compare(p, a, e, out, err) : ASSAY_OK;
}

static enum assay_status read_recipes(const struct assay_set *set, size_t i,
                                      const struct assay_exact *e,
                                      struct shown_case *out,
                                      struct assay_error *err)
{
    const struct assay_problem *p = &out->about.problem;
    const struct assay_recipe **recipes;
    size_t n;
    enum assay_status st = assay_set_recipes(set, i, &recipes, &n, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
        struct assay_answer answer;
        st = assay_set_read_answer(set, i, p, recipes[r], &answer, err);
        if (st == ASSAY_OK)
            st = measure(p, &answer, e, &out->recipes[out->n_recipes++], err);
        assay_answer_free(&answer);
    }
    free(recipes);
    return st;
}

static void free_case(struct shown_case *c)
{
    for (size_t i = 0; i < c->n_recipes; i++)
        free(c->recipes[i].maker);
    assay_case_free(&c->about);
}

static enum assay_status read_case(const struct assay_set *set, size_t i,
                                   struct shown_case *out,
                                   struct assay_error *err)
{
    struct assay_exact exact = { 0 };
    *out = (struct shown_case){ .exact = assay_set_has_exact(set, i) };
    enum assay_status st = assay_set_describe(set, i, &out->about, err);
    if (st != ASSAY_OK)
        return st;
    const struct assay_problem *p = &out->about.problem;
    if (out->exact &&
        (st = assay_set_read_exact(set, i, p, &exact, err)) == ASSAY_OK) {
        out->f64 = exact.o64 != NULL;
        out->bar_o = largest(p->b * p->hq, exact.bar_o);
        out->bar_lse = largest(p->b * p->hq, exact.bar_lse);
    }
    if (st == ASSAY_OK)
        st = read_recipes(set, i, out->exact ? &exact : NULL, out, err);
    assay_exact_free(&exact);
    if (st != ASSAY_OK)
        free_case(out);
    return st;
}

static const char *const provenance[] = { "generator", "version",   "command",
                                          "blas",      "blas_core", "cpu",
                                          "compiler",  "flags",     "date" };

enum { N_PROVENANCE = sizeof provenance / sizeof *provenance };

static void print_limit(const struct limits_entry *e, const char *before)
{
    const struct {
        const char *key, *value;
    } selects[] = { { "recipe", e->recipe },
                    { "case", e->cases },
                    { "kernel", e->kernel } };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    fprintf(out, "%s%s %g", before, e->gate, e->limit);
    before = " for ";
    for (int i = 0; i < 3; i++)
        if (selects[i].value) {
            fprintf(out, "%s%s %s", before, selects[i].key, selects[i].value);
            before = ", ";
        }
    fprintf(out, " (%s: %s)", e->date, e->reason);
    if (fclose(out) == 0)
        term_printf(stdout, "%s\n", text);
    free(text);
}

/* A line for each limit that the set brings along. */
static void print_limits(const struct limits_list *limits)
{
    for (size_t i = 0; i < limits->count; i++)
        print_limit(&limits->entries[i], i ? "        " : "limits: ");
}

/* A figure, or a dash where there is none. */
static void cell(struct table *t, size_t column, bool known, const char *format,
                 double x)
{
    char text[40];
    if (!known)
        snprintf(text, sizeof text, "-");
    else
        text_print(text, sizeof text, format, x);
    table_text(t, column, text);
}

static bool print_exact(const struct shown_case *cases, size_t n)
{
    static const struct column about[] = {
        { "CASE", COLUMN_LONG },    { "PROBLEM", COLUMN_LONG },
        { "INPUTS", COLUMN_TEXT },  { "EXACT", COLUMN_TEXT },
        { "BAR O", COLUMN_NUMBER }, { "BAR LSE", COLUMN_NUMBER },
    };
    struct table *t = table_new(about, 6);
    printf("\nexact answers (bars: largest error, against sums of twice the "
           "width)\n");
    for (size_t i = 0; t && i < n; i++) {
        const struct shown_case *c = &cases[i];
        char *line = assay_case_line(&c->about.problem);
        table_row(t);
        table_text(t, 0, c->about.name);
        table_text(t, 1, line ? line : "");
        table_text(t, 2, c->about.format->name);
        table_text(t, 3, !c->exact ? "-" : c->f64 ? "f64" : "f32");
        cell(t, 4, c->exact, "%.1e", c->bar_o);
        cell(t, 5, c->exact, "%.1e", c->bar_lse);
        free(line);
    }
    return t && table_print(t, stdout);
}

static void recipe_row(struct table *t, const char *name, const struct shown *s)
{
    const struct assay_distance *d = &s->distance;
    table_row(t);
    table_text(t, 0, name);
    table_text(t, 1, s->recipe->name);
    table_text(t, 2, assay_recipe_promise_name(s->recipe));
    table_text(t, 3, assay_softmax_get(s->recipe->softmax)->name);
    cell(t, 4, s->compared, "%.8f", d->cosine);
    cell(t, 5, s->compared, "%.6f", d->worst_row_cosine);
    cell(t, 6, s->compared, "%.2e", d->mae);
    cell(t, 7, s->compared, "%.2e", d->max_error);
    cell(t, 8, s->compared, "%.2e", d->rel_l2);
    cell(t, 9, s->compared && s->lse, "%.2e", d->lse_max);
    cell(t, 10, !(s->jitter_lse < 0), "%.2e", s->jitter_lse);
}

/* A line for each answer that assay did not make. */
static void print_makers(const struct shown_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < cases[i].n_recipes; j++) {
            const struct shown *s = &cases[i].recipes[j];
            if (!s->maker)
                continue;
            term_printf(stdout, "%s, %s: made elsewhere, by %s%s%s\n",
                        cases[i].about.name, s->recipe->name, s->maker,
                        s->lse ? "" : "; no LSE",
                        s->jitter_lse < 0 ? "; no jitter" : "");
        }
}

static bool print_recipes(const struct shown_case *cases, size_t n)
{
    static const struct column recipe[] = {
        { "CASE", COLUMN_LONG },
        { "RECIPE", COLUMN_TEXT },
        { "PROMISE", COLUMN_TEXT },
        { "FORM", COLUMN_EXTRA },
        { "COSINE", COLUMN_NUMBER },
        { "WORST ROW", COLUMN_NUMBER },
        { "MAE", COLUMN_EXTRA | COLUMN_NUMBER },
        { "MAX ERROR", COLUMN_EXTRA | COLUMN_NUMBER },
        { "REL L2", COLUMN_EXTRA | COLUMN_NUMBER },
        { "LSE NATS", COLUMN_NUMBER },
        { "JITTER LSE", COLUMN_NUMBER },
    };
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += cases[i].n_recipes;
    if (all == 0)
        return printf("\nno recipes: imported without answers\n") > 0;
    struct table *t = table_new(recipe, 11);
    printf("\nrecipes: emulated - exact (jitter: what another legal "
           "kernel may differ by)\n");
    for (size_t i = 0; t && i < n; i++)
        for (size_t j = 0; j < cases[i].n_recipes; j++)
            recipe_row(t, cases[i].about.name, &cases[i].recipes[j]);
    const bool ok = t && table_print(t, stdout);
    print_makers(cases, n);
    return ok;
}

static bool print_tables(const struct assay_set *set,
                         const struct limits_list *limits,
                         const struct shown_case *cases, size_t n)
{
    term_printf(stdout, "%s: golden set, %zu case%s, content %s\n",
                assay_set_path(set), assay_set_count(set),
                plural((int64_t)assay_set_count(set)), assay_set_hash(set));
    for (size_t i = 0; i < N_PROVENANCE; i++) {
        char *text = assay_set_provenance(set, provenance[i]);
        term_printf(stdout, "  %-10s %s\n", provenance[i],
                    text ? text : "not said");
        free(text);
    }
    print_limits(limits);
    const bool ok = print_exact(cases, n);
    return print_recipes(cases, n) && ok;
}

static json_t *case_json(const struct shown_case *c)
{
    json_t *out = json_object(), *recipes = json_object();
    json_object_set_new(out, "name", json_plain(c->about.name));
    json_object_set_new(out, "source", json_text(c->about.source));
    json_object_set_new(out, "problem", json_problem(&c->about.problem));
    json_object_set_new(out, "inputs", json_string(c->about.format->name));
    json_object_set_new(out, "exact",
                        c->exact ? json_string(c->f64 ? "f64" : "f32")
                                 : json_null());
    json_object_set_new(out, "error_bar_o",
                        c->exact ? json_number(c->bar_o) : json_null());
    json_object_set_new(out, "error_bar_lse_nats",
                        c->exact ? json_number(c->bar_lse) : json_null());
    for (size_t i = 0; i < c->n_recipes; i++) {
        const struct shown *s = &c->recipes[i];
        json_t *r = json_object();
        json_object_set_new(
            r, "softmax_form",
            json_string(assay_softmax_get(s->recipe->softmax)->name));
        json_object_set_new(r, "promise",
                            json_string(assay_recipe_promise_name(s->recipe)));
        json_object_set_new(r, "distance",
                            s->compared ? json_distance(&s->distance, true)
                                        : json_null());
        json_object_set_new(r, "jitter_lse_nats",
                            s->jitter_lse < 0 ? json_null()
                                              : json_number(s->jitter_lse));
        if (s->maker)
            json_object_set_new(r, "maker", json_text(s->maker));
        json_object_set_new(recipes, s->recipe->name, r);
    }
    json_object_set_new(out, "recipes", recipes);
    return out;
}

static bool print_json(const struct assay_set *set,
                       const struct limits_list *limits,
                       const struct shown_case *cases, size_t n)
{
    json_t *out = json_object(), *from = json_object(), *list = json_array();
    json_object_set_new(out, "schema", json_string("assay-set/1"));
    json_object_set_new(out, "file", json_text(assay_set_path(set)));
    json_object_set_new(out, "content_hash", json_text(assay_set_hash(set)));
    for (size_t i = 0; i < N_PROVENANCE; i++) {
        char *text = assay_set_provenance(set, provenance[i]);
        if (text)
            json_object_set_new(from, provenance[i], json_text(text));
        free(text);
    }
    json_object_set_new(out, "provenance", from);
    json_t *file = limits->text ? json_loads(limits->text, 0, NULL) : NULL;
    if (file)
        json_object_set(out, "limits", json_object_get(file, "limits"));
    json_decref(file);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, case_json(&cases[i]));
    json_object_set_new(out, "cases", list);
    return json_print(out, stdout) == 0;
}

static enum assay_status read_limits(const struct assay_set *set,
                                     struct limits_list *out,
                                     struct assay_error *err)
{
    char *text;
    enum assay_status st = assay_set_limits(set, &text, err);
    if (st == ASSAY_OK && text)
        st = limits_parse(assay_set_path(set), text, out, err);
    free(text);
    return st;
}

enum assay_status show_set(const char *path, const char *selected, bool json,
                           struct assay_error *err)
{
    struct assay_set *set;
    struct limits_list limits = { 0 };
    struct shown_case *cases = NULL;
    size_t n = 0;
    enum assay_status st = assay_set_open(path, &set, err);
    if (st != ASSAY_OK)
        return st;
    size_t count = assay_set_count(set);
    const char **names = calloc(count + 1, sizeof *names);
    cases = calloc(count + 1, sizeof *cases);
    if (!names || !cases) {
        st = assay_fail(err, ASSAY_MEMORY, "no memory for cases");
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        names[i] = assay_set_case_name(set, i);
    st = select_check(selected, "case", names, count, err);
    if (st == ASSAY_OK)
        st = read_limits(set, &limits, err);
    for (size_t i = 0; st == ASSAY_OK && i < count; i++)
        if (select_has(selected, names[i]) &&
            (st = read_case(set, i, &cases[n], err)) == ASSAY_OK)
            n++;
    if (st == ASSAY_OK)
        json ? print_json(set, &limits, cases, n)
             : print_tables(set, &limits, cases, n);
out:
    limits_list_free(&limits);
    for (size_t i = 0; i < n; i++)
        free_case(&cases[i]);
    free(cases);
    free(names);
    assay_set_close(set);
    return st;
}
