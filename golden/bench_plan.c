/* SPDX-License-Identifier: MIT
 *
 * The lines of each topic of bench.def, and what they and their bases run.
 */
#include <stdio.h>

#include "assay/block.h"
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

static enum assay_status run_metrics(struct bench *b, const void *what,
                                     double *took, struct assay_error *err)
{
    struct assay_distance distance;
    const double start = seconds();
    (void)what, (void)err;
    assay_rows_compare(&b->p, b->o, b->other, b->rows);
    assay_distance(&b->p, b->rows, b->lse, b->lse, 0, b->p.hq,
                   &distance);
    *took = seconds() - start;
    return ASSAY_OK;
}

static enum assay_status plan_metrics(struct bench *b, struct assay_error *err)
{
    return bench_add(b, BENCH_metrics, "rows and distance", run_metrics, NULL,
                     err);
}

/* ---- the table ---- */

static const char base_name_exact[] = "exact f32",
                  base_name_copy[] = "a copy of K";

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
