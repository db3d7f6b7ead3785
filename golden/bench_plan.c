/* SPDX-License-Identifier: MIT
 *
 * The lines of each topic of bench.def, and what they and their bases run.
 */
#include <stdio.h>
#include <string.h>

#include "assay/block.h"
#include "assay/memory.h"
#include "assay/metrics.h"
#include "golden/bench.h"
#include "golden/clock.h"

/* ---- bases ---- */

static enum assay_status base_exact(struct bench *b, const void *what,
                                    double *took, struct assay_error *err)
{
    const struct assay_run run = { .threads = b->threads };
    const double start = seconds();
    (void)what;
    enum assay_status st =
        assay_attention_f32(&b->p, b->q, b->k, b->v, b->o, b->lse, &run, err);
    *took = seconds() - start;
    return st;
}

static int64_t k_elems(const struct bench *b)
{
    return b->p.b * b->p.nk * b->p.hk * b->p.dk;
}

static void multiply_copy(int64_t n, const float *restrict x, float *restrict y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * 1.5f;
}

static enum assay_status base_copy(struct bench *b, const void *what,
                                   double *took, struct assay_error *err)
{
    const double start = seconds();
    (void)what, (void)err;
    multiply_copy(k_elems(b), b->k, b->copy);
    *took = seconds() - start;
    return ASSAY_OK;
}

/* ---- attention, recipes ---- */

static enum assay_status run_f64(struct bench *b, const void *what,
                                 double *took, struct assay_error *err)
{
    const struct assay_run run = { .threads = b->threads };
    const double start = seconds();
    (void)what;
    enum assay_status st =
        assay_attention_f64(&b->p, b->q, b->k, b->v, b->o64, b->lse, &run, err);
    *took = seconds() - start;
    return st;
}

static enum assay_status plan_attention(struct bench *b,
                                        struct assay_error *err)
{
    return bench_add(b, BENCH_attention, "exact f64", run_f64, NULL, err);
}

static enum assay_status run_quantize(struct bench *b, const void *what,
                                      double *took, struct assay_error *err)
{
    struct assay_payloads payloads;
    const double start = seconds();
    enum assay_status st = assay_recipe_quantize(what, &b->p, NULL, NULL, b->q,
                                                 b->k, b->v, &payloads, err);
    *took = seconds() - start;
    assay_payloads_free(&payloads);
    return st;
}

static enum assay_status emulate(struct bench *b, const void *what,
                                 const struct assay_jitter *jitter,
                                 double *took, struct assay_error *err)
{
    const struct assay_run run = { .threads = b->threads };
    struct assay_payloads payloads;
    enum assay_status st = assay_recipe_quantize(what, &b->p, NULL, NULL, b->q,
                                                 b->k, b->v, &payloads, err);
    const double start = seconds();
    if (st == ASSAY_OK)
        st = assay_recipe_emulate(what, &b->p, &payloads, b->other, b->lse,
                                  jitter, &run, err);
    *took = seconds() - start;
    assay_payloads_free(&payloads);
    return st;
}

static enum assay_status run_emulate(struct bench *b, const void *what,
                                     double *took, struct assay_error *err)
{
    return emulate(b, what, NULL, took, err);
}

static enum assay_status run_jitter(struct bench *b, const void *what,
                                    double *took, struct assay_error *err)
{
    return emulate(b, what, &b->jitter, took, err);
}

/* A line for each recipe; one that is not defined for the shape is left out. */
static enum assay_status each_recipe(struct bench *b, enum bench_topic_id topic,
                                     bench_run run, struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < b->n_recipes; i++) {
        const struct assay_recipe *r = b->recipes[i];
        char name[56];
        snprintf(name, sizeof name, "%s@%s", r->name,
                 assay_softmax_get(r->softmax)->name);
        if (assay_recipe_check(r, &b->p, NULL) == ASSAY_OK)
            st = bench_add(b, topic, name, run, r, err);
    }
    return st;
}

static enum assay_status plan_recipes(struct bench *b, struct assay_error *err)
{
    return each_recipe(b, BENCH_recipes, run_emulate, err);
}

static enum assay_status plan_jitter(struct bench *b, struct assay_error *err)
{
    return each_recipe(b, BENCH_jitter, run_jitter, err);
}

static enum assay_status plan_quantizers(struct bench *b,
                                         struct assay_error *err)
{
    return each_recipe(b, BENCH_quantizers, run_quantize, err);
}

/* ---- formats ---- */

static struct assay_blocks blocks_of(const struct bench *b,
                                     const struct assay_format *format)
{
    return (struct assay_blocks){
        .format = format,
        .rule = assay_scale_rule_get(ASSAY_SCALE_RULE_FLOOR),
        .rounding = ASSAY_NEAREST_EVEN,
        .overflow = ASSAY_SATURATE,
        .block = 32,
        .outer = k_elems(b) / b->p.dk,
        .length = b->p.dk,
        .inner = 1,
    };
}

static enum assay_status run_round(struct bench *b, const void *what,
                                   double *took, struct assay_error *err)
{
    const struct assay_blocks blocks = blocks_of(b, what);
    const double start = seconds();
    (void)err;
    assay_blocks_round(&blocks, b->k, b->copy);
    *took = seconds() - start;
    return ASSAY_OK;
}

static enum assay_status run_encode(struct bench *b, const void *what,
                                    double *took, struct assay_error *err)
{
    const struct assay_blocks blocks = blocks_of(b, what);
    const double start = seconds();
    (void)err;
    assay_blocks_encode(&blocks, b->k, b->codes, b->scales);
    *took = seconds() - start;
    return ASSAY_OK;
}

static enum assay_status run_decode(struct bench *b, const void *what,
                                    double *took, struct assay_error *err)
{
    const struct assay_blocks blocks = blocks_of(b, what);
    (void)err;
    assay_blocks_encode(&blocks, b->k, b->codes, b->scales);
    const double start = seconds();
    assay_blocks_decode(&blocks, b->codes, b->scales, b->copy);
    *took = seconds() - start;
    return ASSAY_OK;
}

static enum assay_status plan_formats(struct bench *b, struct assay_error *err)
{
    static const struct {
        const char *name;
        bench_run run;
    } works[] = { { "round", run_round },
                  { "encode", run_encode },
                  { "decode", run_decode } };
    enum assay_status st = ASSAY_OK;
    for (int id = 0; id < ASSAY_FORMATS; id++) {
        const struct assay_format *f =
            assay_format_get((enum assay_format_id)id);
        if (f->bits > 8 || f->top == ASSAY_TOP_POWER)
            continue;
        for (size_t i = 0; i < 3 && st == ASSAY_OK; i++) {
            char name[56];
            snprintf(name, sizeof name, "%s %s", works[i].name, f->name);
            st = bench_add(b, BENCH_formats, name, works[i].run, f, err);
        }
    }
    return st;
}

/* ---- metrics ---- */

/* Elements of an answer at least: 32 MB, so that three are no cache's. */
static const int64_t STREAM = 8 << 20;

static enum assay_status base_answers(struct bench *b, const void *what,
                                      double *took, struct assay_error *err)
{
    const struct bench_answers *a = &b->answers;
    const int64_t n = assay_problem_o_elems(&a->p);
    const double start = seconds();
    (void)what, (void)err;
    memcpy(a->copy, a->c, (size_t)n * sizeof *a->c);
    memcpy(a->copy + n, a->e, (size_t)n * sizeof *a->e);
    memcpy(a->copy + 2 * n, a->x, (size_t)n * sizeof *a->x);
    *took = seconds() - start;
    return ASSAY_OK;
}

static void distance(const struct bench_answers *a,
                     const struct assay_row *rows)
{
    struct assay_distance out;
    assay_distance(&a->p, rows, a->lse, a->lse, 0, a->p.hq, &out);
}

/* All that a case is judged by; what is the bound, or NULL. */
static enum assay_status run_metrics(struct bench *b, const void *what,
                                     double *took, struct assay_error *err)
{
    const struct bench_answers *a = &b->answers;
    const double start = seconds();
    (void)err;
    assay_rows_measure(&a->p, assay_format_get(ASSAY_BF16), a->c, a->e, a->x,
                       what, a->ce, a->ex, a->cx, a->beyond);
    distance(a, a->ce);
    distance(a, a->ex);
    distance(a, a->cx);
    *took = seconds() - start;
    return ASSAY_OK;
}

/* An answer near b's, and one rounded, again and again. */
static void fill_answers(const struct bench *b, int64_t n)
{
    const struct bench_answers *a = &b->answers;
    const int64_t once = assay_problem_o_elems(&b->p);
    for (int64_t i = 0; i < n; i++) {
        a->x[i] = b->o[i % once];
        a->e[i] = a->x[i] * (1 + (float)(i % 7) * 0x1p-10f);
        a->bound[i] = 0x1p-8f;
    }
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SATURATE, (size_t)n, a->e, a->c);
    memset(a->copy, 0, 3 * (size_t)n * sizeof *a->copy);
    for (int64_t r = 0; r < assay_problem_rows(&a->p); r++)
        a->lse[r] = b->lse[r % assay_problem_rows(&b->p)];
}

static enum assay_status new_answers(struct bench_answers *a,
                                     struct assay_error *err)
{
    const int64_t n = assay_problem_o_elems(&a->p),
                  rows = assay_problem_rows(&a->p);
    const struct {
        int64_t count;
        size_t bytes;
        void *at;
    } all[] = {
        { n, sizeof *a->c, &a->c },
        { n, sizeof *a->e, &a->e },
        { n, sizeof *a->x, &a->x },
        { n, sizeof *a->bound, &a->bound },
        { n, 3 * sizeof *a->copy, &a->copy },
        { rows, sizeof *a->lse, &a->lse },
        { rows, sizeof *a->ce, &a->ce },
        { rows, sizeof *a->ex, &a->ex },
        { rows, sizeof *a->cx, &a->cx },
        { rows, sizeof *a->beyond, &a->beyond },
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof all / sizeof *all; i++)
        st = assay_alloc("three answers", all[i].count, all[i].bytes, all[i].at,
                         err);
    return st;
}

static enum assay_status plan_metrics(struct bench *b, struct assay_error *err)
{
    struct bench_answers *a = &b->answers;
    const int64_t once = assay_problem_o_elems(&b->p) / b->p.b,
                  enough = (STREAM + once - 1) / once;
    enum assay_status st;
    a->p = b->p;
    a->p.b = enough > b->p.b ? enough : b->p.b;
    if ((st = new_answers(a, err)) != ASSAY_OK)
        return st;
    fill_answers(b, assay_problem_o_elems(&a->p));
    if ((st = bench_add(b, BENCH_metrics, "rows and distances", run_metrics,
                        NULL, err)) != ASSAY_OK)
        return st;
    return bench_add(b, BENCH_metrics, "and a bound", run_metrics, a->bound,
                     err);
}

/* ---- the table ---- */

static const char base_name_exact[] = "exact f32",
                  base_name_copy[] = "a copy of K",
                  base_name_answers[] = "a copy of the three";

static const struct bench_topic topics[] = {
#define BENCH(id, base, limit, about) \
    { #id, base_name_##base, about, base_##base, limit, plan_##id },
#include "golden/bench.def"
#undef BENCH
};

static const char *const names[] = {
#define BENCH(id, ...) #id,
#include "golden/bench.def"
#undef BENCH
};

const struct names names_benches = { "benchmark", BENCH_TOPICS, names };

const struct bench_topic *bench_topic_get(enum bench_topic_id id)
{
    return &topics[id];
}
