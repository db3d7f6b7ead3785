/* SPDX-License-Identifier: MIT */
#include "validate/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/verb.h"

static const struct {
    const char *name, *about;
} likenesses[] = {
#define ASSAY_LIKENESS(id, name, about) { name, about },
#include "validate/likeness.def"
#undef ASSAY_LIKENESS
};

static const struct compare_figure figures[] = {
#define COMPARE_FIGURE(id, key, name, member, from) { key, name, from },
#include "validate/compare_figure.def"
#undef COMPARE_FIGURE
};

const char *likeness_name(enum likeness likeness)
{
    return likenesses[likeness].name;
}

const char *likeness_about(enum likeness likeness)
{
    return likenesses[likeness].about;
}

const struct compare_figure *compare_figure_get(int figure)
{
    return &figures[figure];
}

const struct run_result *compared_result(const struct compared *c)
{
    return c->a.result ? c->a.result : c->b.result;
}

bool compared_moved(const struct compared *c)
{
    return !compared_alone(c) && c->a.verdict != c->b.verdict;
}

bool compared_alone(const struct compared *c)
{
    return !c->a.result || !c->b.result;
}

static bool ran(enum verdict v)
{
    return verdict_get(v)->code != EXIT_NOTHING_RAN;
}

bool compared_nothing(const struct comparison *c)
{
    bool a = false, b = false;
    for (size_t i = 0; i < c->count; i++) {
        const struct compared *pair = &c->pairs[i];
        const bool x = pair->a.result && ran(pair->a.verdict),
                   y = pair->b.result && ran(pair->b.verdict);
        if (x && y)
            return false;
        a |= x;
        b |= y;
    }
    return a && b;
}

bool compared_worse(const struct compared *c)
{
    if (compared_alone(c))
        return c->a.result ? ran(c->a.verdict)
                           : ran(c->b.verdict) && c->b.verdict != VERDICT_PASS;
    if (c->a.verdict == VERDICT_PASS)
        return c->b.verdict != VERDICT_PASS;
    return ran(c->a.verdict) && ran(c->b.verdict) &&
           c->b.verdict < c->a.verdict;
}

/* ---- one pair ---- */

static enum assay_status measure(const struct comparison *c, bool of_b,
                                 size_t at, const char *kernel,
                                 struct compared_side *side,
                                 struct assay_error *err)
{
    const struct run_file *run = of_b ? c->b : c->a;
    struct run_result r;
    struct assay_distance d;
    enum assay_status st = record_verdict(side->result, &side->verdict, err);
    side->own = side->verdict;
    if (st == ASSAY_OK && side->result->ran &&
        (st = run_file_read(run, at, &r, err)) == ASSAY_OK) {
        const struct sketch *s = &r.sketch;
        st = compare_judge(c, &r, of_b, kernel, side, err);
        assay_distance(&s->problem, s->ce, s->no_lse ? NULL : s->lse_c,
                       s->lse_e, 0, s->problem.hq, &d);
#define COMPARE_FIGURE(id, key, name, member, from) \
    side->figures[COMPARE_##id] = d.member;
#include "validate/compare_figure.def"
#undef COMPARE_FIGURE
        run_result_free(&r);
    }
    return st == ASSAY_OK ? st
                          : assay_fail_in(err, st, "%s", run_file_path(run));
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static double change(double from, double a, double b)
{
    const double x = fabs(a - from), y = fabs(b - from);
    if (same(a, b))
        return 0;
    if (isnan(a) || isnan(b) || x == 0)
        return INFINITY;
    return (y - x) / x;
}

static void conclude(struct compared *c)
{
    const struct run_result *a = c->a.result, *b = c->b.result;
    bool equal = true;
    c->ratio = NAN;
    for (int f = 0; f < COMPARE_FIGURES; f++) {
        const double x = c->a.figures[f], y = c->b.figures[f];
        const bool both = a && b && a->ran && b->ran;
        c->change[f] = both ? change(figures[f].from, x, y) : (double)NAN;
        equal &= same(x, y);
    }
    if (!a || !b) {
        c->likeness = a ? LIKENESS_ONLY_A : LIKENESS_ONLY_B;
        return;
    }
    if (a->seconds > 0 && b->seconds > 0)
        c->ratio = b->seconds / a->seconds;
    c->likeness = !a->ran || !b->ran ? LIKENESS_NEITHER
                  : strcmp(a->sketch.bits, b->sketch.bits) == 0 ? LIKENESS_BITS
                  : equal ? LIKENESS_FIGURES
                          : LIKENESS_CHANGED;
}

static enum assay_status add_pair(struct comparison *c, size_t a, size_t b,
                                  struct assay_error *err)
{
    struct compared *pair = &c->pairs[c->count++];
    enum assay_status st = ASSAY_OK;
    *pair = (struct compared){ 0 };
    for (int f = 0; f < COMPARE_FIGURES; f++)
        pair->a.figures[f] = pair->b.figures[f] = NAN;
    if (a != SIZE_MAX)
        pair->a.result = &c->list_a.results[a];
    if (b != SIZE_MAX)
        pair->b.result = &c->list_b.results[b];
    const char *kernel =
        (pair->b.result ? pair->b.result : pair->a.result)->kernel;
    if (a != SIZE_MAX)
        st = measure(c, false, c->list_a.at[a], kernel, &pair->a, err);
    if (st == ASSAY_OK && b != SIZE_MAX)
        st = measure(c, true, c->list_b.at[b], kernel, &pair->b, err);
    conclude(pair);
    c->counts[pair->likeness]++;
    return st;
}

/* ---- matching ---- */

struct key {
    const struct run_result *result;
    size_t at; /* in its list */
    bool ignore_kernel;
};

static int by_key(const struct key *x, const struct key *y)
{
    const struct run_result *a = x->result, *b = y->result;
    int d = strcmp(a->case_name, b->case_name);
    if (d == 0)
        d = strcmp(a->recipe->name, b->recipe->name);
    if (d == 0 && !x->ignore_kernel)
        d = strcmp(a->kernel, b->kernel);
    return d != 0 ? d
                  : strcmp(a->input ? a->input : "", b->input ? b->input : "");
}

static int by_key_and_place(const void *x, const void *y)
{
    const struct key *a = x, *b = y;
    const int d = by_key(a, b);
    return d != 0 ? d : (a->at > b->at) - (a->at < b->at);
}

static struct key *sorted_keys(const struct record_list *list,
                               bool ignore_kernel)
{
    struct key *keys = calloc(list->count + 1, sizeof *keys);
    for (size_t i = 0; keys && i < list->count; i++)
        keys[i] = (struct key){ &list->results[i], i, ignore_kernel };
    if (keys && list->count > 0)
        qsort(keys, list->count, sizeof *keys, by_key_and_place);
    return keys;
}

/* of_a[i]: the result of B that is A's result i, or SIZE_MAX. */
static void match(const struct key *a, size_t n_a, const struct key *b,
                  size_t n_b, size_t *of_a, bool *b_has)
{
    for (size_t i = 0, j = 0; i < n_a; i++) {
        while (j < n_b && by_key(&b[j], &a[i]) < 0)
            j++;
        of_a[a[i].at] = SIZE_MAX;
        if (j < n_b && by_key(&b[j], &a[i]) == 0) {
            of_a[a[i].at] = b[j].at;
            b_has[b[j++].at] = true;
        }
    }
}

/* Where kernels have other names, one of each run is compared. */
static enum assay_status check_one_kernel(const struct run_file *run,
                                          const struct key *keys, size_t n,
                                          struct assay_error *err)
{
    size_t i = 1, kernels = 2;
    while (i < n &&
           (by_key(&keys[i - 1], &keys[i]) != 0 ||
            strcmp(keys[i - 1].result->kernel, keys[i].result->kernel) == 0))
        i++;
    if (i >= n)
        return ASSAY_OK;
    const struct run_result *a = keys[i - 1].result, *b = keys[i].result;
    while (i + 1 < n && by_key(&keys[i], &keys[i + 1]) == 0) {
        kernels +=
            strcmp(keys[i].result->kernel, keys[i + 1].result->kernel) != 0;
        i++;
    }
    return assay_fail(err, ASSAY_USAGE,
                      "%.100s has %zu kernels for %.60s, %.31s (%.63s, "
                      "%.63s%s); --kernel selects the one that "
                      "--ignore-kernel compares",
                      run_file_path(run), kernels, a->case_name,
                      a->recipe->name, a->kernel, b->kernel,
                      kernels > 2 ? ", ..." : "");
}

static enum assay_status pair_all(struct comparison *c, bool ignore_kernel,
                                  struct assay_error *err)
{
    const size_t n_a = c->list_a.count, n_b = c->list_b.count;
    struct key *a = sorted_keys(&c->list_a, ignore_kernel),
               *b = sorted_keys(&c->list_b, ignore_kernel);
    size_t *of_a = calloc(n_a + 1, sizeof *of_a);
    bool *b_has = calloc(n_b + 1, sizeof *b_has);
    enum assay_status st = ASSAY_OK;
    c->pairs = calloc(n_a + n_b + 1, sizeof *c->pairs);
    if (!a || !b || !of_a || !b_has || !c->pairs)
        st = assay_fail(err, ASSAY_MEMORY, "no memory for pairs");
    if (st == ASSAY_OK && ignore_kernel)
        st = check_one_kernel(c->a, a, n_a, err);
    if (st == ASSAY_OK && ignore_kernel)
        st = check_one_kernel(c->b, b, n_b, err);
    if (st == ASSAY_OK)
        match(a, n_a, b, n_b, of_a, b_has);
    for (size_t i = 0; st == ASSAY_OK && i < n_a; i++)
        st = add_pair(c, i, of_a[i], err);
    for (size_t j = 0; st == ASSAY_OK && j < n_b; j++)
        if (!b_has[j])
            st = add_pair(c, SIZE_MAX, j, err);
    free(a);
    free(b);
    free(of_a);
    free(b_has);
    return st;
}

/* ---- times ---- */

static struct compared_times *times_of(struct comparison *c,
                                       const struct assay_recipe *recipe)
{
    for (size_t i = 0; i < c->recipes; i++)
        if (c->times[i].recipe == recipe)
            return &c->times[i];
    c->times[c->recipes] =
        (struct compared_times){ .recipe = recipe, .least = INFINITY };
    return &c->times[c->recipes++];
}

static enum assay_status add_times(struct comparison *c,
                                   struct assay_error *err)
{
    c->times = calloc(c->count + 1, sizeof *c->times);
    if (!c->times)
        return assay_fail(err, ASSAY_MEMORY, "no memory for times");
    for (size_t i = 0; i < c->count; i++) {
        const struct compared *pair = &c->pairs[i];
        if (isnan(pair->ratio))
            continue;
        struct compared_times *t = times_of(c, pair->a.result->recipe);
        t->pairs++;
        t->seconds_a += pair->a.result->seconds;
        t->seconds_b += pair->b.result->seconds;
        t->mean += log(pair->ratio);
        t->least = fmin(t->least, pair->ratio);
        t->largest = fmax(t->largest, pair->ratio);
    }
    for (size_t i = 0; i < c->recipes; i++)
        c->times[i].mean = exp(c->times[i].mean / (double)c->times[i].pairs);
    return ASSAY_OK;
}

static enum assay_status check_sets(const struct run_file *a,
                                    const struct run_file *b,
                                    struct assay_error *err)
{
    const struct run_facts *x = run_file_facts(a), *y = run_file_facts(b);
    return strcmp(x->set_content_hash, y->set_content_hash) == 0
               ? ASSAY_OK
               : assay_fail(err, ASSAY_USAGE,
                            "%.100s is of the golden set %.32s and %.100s of "
                            "%.32s; --force compares them all the same",
                            run_file_path(a), x->set_content_hash,
                            run_file_path(b), y->set_content_hash);
}

enum assay_status compare_runs(const struct run_file *a,
                               const struct run_file *b,
                               const struct compare_options *options,
                               struct comparison *out, struct assay_error *err)
{
    *out = (struct comparison){ .a = a, .b = b };
    struct record_list *const lists[] = { &out->list_a, &out->list_b };
    enum assay_status st = options->force ? ASSAY_OK : check_sets(a, b, err);
    if (st == ASSAY_OK && (st = compare_load_limits(out, err)) == ASSAY_OK &&
        (st = record_list(a, &out->list_a, err)) == ASSAY_OK &&
        (st = record_list(b, &out->list_b, err)) == ASSAY_OK &&
        (st = record_select(&options->selection, lists, 2, err)) == ASSAY_OK &&
        (st = pair_all(out, options->ignore_kernel, err)) == ASSAY_OK)
        st = add_times(out, err);
    return st;
}

void compare_free(struct comparison *c)
{
    record_list_free(&c->list_a);
    record_list_free(&c->list_b);
    for (size_t i = 0; i < c->count; i++) {
        free(c->pairs[i].a.reason);
        free(c->pairs[i].b.reason);
    }
    limits_free(&c->limits_a);
    limits_free(&c->limits_b);
    free(c->pairs);
    free(c->times);
    *c = (struct comparison){ 0 };
}

/* ---- orders ---- */

struct ranked {
    const struct compared *pair;
    double rank; /* the largest first */
};

static double rank_of(const struct compared *c, int order)
{
    if (order == COMPARE_BY_SECONDS)
        return c->ratio;
    if (order >= COMPARE_BY_CHANGE) {
        const double x = fabs(c->change[order - COMPARE_BY_CHANGE]);
        return x > 0 ? x : (double)NAN;
    }
    if (!(order == COMPARE_BY_LOSS ? compared_alone(c) : compared_moved(c)))
        return NAN;
    return compared_worse(c) +
           (compared_worse(c) && c->a.verdict == VERDICT_PASS);
}

static int by_rank(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->rank != b->rank)
        return a->rank < b->rank ? 1 : -1;
    return (a->pair > b->pair) - (a->pair < b->pair);
}

enum assay_status compare_sorted(const struct comparison *c, int order,
                                 size_t most, const struct compared ***out,
                                 size_t *count, struct assay_error *err)
{
    struct ranked *all = calloc(c->count + 1, sizeof *all);
    size_t n = 0;
    *count = 0;
    *out = calloc(c->count + 1, sizeof **out);
    if (!all || !*out) {
        free(all);
        return assay_fail(err, ASSAY_MEMORY, "no memory for an order");
    }
    for (size_t i = 0; i < c->count; i++) {
        all[n] = (struct ranked){ &c->pairs[i], rank_of(&c->pairs[i], order) };
        n += !isnan(all[n].rank);
    }
    if (n > 0)
        qsort(all, n, sizeof *all, by_rank);
    while (*count < n && *count < most) {
        (*out)[*count] = all[*count].pair;
        ++*count;
    }
    free(all);
    return ASSAY_OK;
}
