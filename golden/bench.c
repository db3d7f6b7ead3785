/* SPDX-License-Identifier: MIT */
#include "golden/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/distribution.h"
#include "assay/memory.h"
#include "assay/metrics.h"

enum assay_status bench_add(struct bench *b, enum bench_topic_id topic,
                            const char *name, bench_run run, const void *what,
                            struct assay_error *err)
{
    struct bench_line *more = realloc(b->lines, (b->n + 1) * sizeof *b->lines);
    if (!more)
        return assay_fail(err, ASSAY_MEMORY, "no memory for benchmarks");
    b->lines = more;
    more[b->n] =
        (struct bench_line){ .topic = topic, .run = run, .what = what };
    snprintf(more[b->n++].name, sizeof more->name, "%s", name);
    return ASSAY_OK;
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static enum assay_status buffers_new(struct bench *b, struct assay_error *err)
{
    const struct assay_problem *p = &b->p;
    const int64_t q = p->b * p->nq * p->hq * p->dk,
                  k = p->b * p->nk * p->hk * p->dk,
                  v = p->b * p->nk * p->hk * p->dv,
                  o = assay_problem_o_elems(p), rows = assay_problem_rows(p);
    const struct {
        int64_t count;
        size_t bytes;
        void *at;
    } all[] = {
        { q, sizeof *b->q, &b->q },
        { k, sizeof *b->k, &b->k },
        { v, sizeof *b->v, &b->v },
        { o, sizeof *b->o, &b->o },
        { o, sizeof *b->other, &b->other },
        { largest(k, o), sizeof *b->copy, &b->copy },
        { rows, sizeof *b->lse, &b->lse },
        { o, sizeof *b->o64, &b->o64 },
        { k, 1, &b->codes },
        { k, 1, &b->scales },
        { rows, sizeof *b->jitter.o, &b->jitter.o },
        { rows, sizeof *b->jitter.lse, &b->jitter.lse },
        { p->b * p->hq, sizeof *b->jitter.gain, &b->jitter.gain },
        { o, sizeof *b->jitter.bound, &b->jitter.bound },
        { rows, sizeof *b->rows, &b->rows },
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof all / sizeof *all; i++)
        st = assay_alloc("a benchmark", all[i].count, all[i].bytes, all[i].at,
                         err);
    if (st == ASSAY_OK)
        memset(b->other, 0, (size_t)o * sizeof *b->other);
    return st;
}

enum assay_status bench_open(struct bench *b, struct assay_error *err)
{
    const struct assay_distribution *normal =
        assay_distribution_get(ASSAY_DISTRIBUTION_NORMAL);
    const struct assay_run run = { .threads = b->threads };
    enum assay_status st;
    if ((st = assay_problem_check(&b->p, err)) != ASSAY_OK ||
        (st = buffers_new(b, err)) != ASSAY_OK ||
        (st = assay_distribution_fill(normal, NULL, &b->p, 0,
                                      assay_format_get(ASSAY_BF16), b->q, b->k,
                                      b->v, &run, err)) != ASSAY_OK ||
        (st = assay_attention_f32(&b->p, b->q, b->k, b->v, b->o, b->lse, &run,
                                  err)) != ASSAY_OK)
        return st;
    for (int t = 0; st == ASSAY_OK && t < BENCH_TOPICS; t++)
        if (b->topics[t])
            st = bench_topic_get((enum bench_topic_id)t)->plan(b, err);
    return st;
}

void bench_close(struct bench *b)
{
    void *const all[] = { b->q,           b->k,
                          b->v,           b->o,
                          b->other,       b->copy,
                          b->lse,         b->o64,
                          b->codes,       b->scales,
                          b->jitter.o,    b->jitter.lse,
                          b->jitter.gain, b->jitter.bound,
                          b->rows };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assay_free(all[i]);
    free(b->lines);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct bench_spread spread_of(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    return (struct bench_spread){ x[(n - 1) / 4],
                                  (x[(n - 1) / 2] + x[n / 2]) / 2,
                                  x[n - 1 - (n - 1) / 4] };
}

/* Round by round, so that what disturbs a while does not hit one line alone. */
static enum assay_status take_pairs(struct bench *b, double *base, double *took,
                                    void (*progress)(void *, int64_t, int64_t),
                                    void *context, struct assay_error *err)
{
    const int64_t total = (int64_t)b->n * b->pairs;
    enum assay_status st = ASSAY_OK;
    int64_t done = 0;
    for (int pair = 0; st == ASSAY_OK && pair < b->pairs; pair++)
        for (size_t i = 0; st == ASSAY_OK && i < b->n; i++) {
            const struct bench_line *line = &b->lines[i];
            const size_t at = i * (size_t)b->pairs + (size_t)pair;
            st =
                bench_topic_get(line->topic)->run_base(b, NULL, &base[at], err);
            if (st == ASSAY_OK)
                st = line->run(b, line->what, &took[at], err);
            progress(context, ++done, total);
        }
    return st;
}

enum assay_status bench_measure(struct bench *b,
                                void (*progress)(void *, int64_t, int64_t),
                                void *context, struct assay_error *err)
{
    const size_t pairs = (size_t)b->pairs, total = b->n * pairs;
    double *all = calloc(3 * total + 1, sizeof *all), *base = all;
    double *took = all + total, *ratio = took + total;
    if (!all)
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu times", total);
    enum assay_status st = take_pairs(b, base, took, progress, context, err);
    for (size_t i = 0; st == ASSAY_OK && i < total; i++)
        ratio[i] = base[i] > 0 ? took[i] / base[i] : 0;
    for (size_t i = 0; st == ASSAY_OK && i < b->n; i++) {
        b->lines[i].base_seconds = spread_of(base + i * pairs, b->pairs);
        b->lines[i].seconds = spread_of(took + i * pairs, b->pairs);
        b->lines[i].ratio = spread_of(ratio + i * pairs, b->pairs);
    }
    free(all);
    return st;
}

bool bench_is_within(const struct bench_line *line)
{
    const double limit = bench_topic_get(line->topic)->limit;
    return limit == 0 || line->ratio.median <= limit;
}
