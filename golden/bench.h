/* SPDX-License-Identifier: MIT
 *
 * Speed as times a base that runs in turns with it: a noisy machine disturbs
 * both alike, and ratios travel where absolute figures do not.
 */
#ifndef ASSAY_BENCH_H
#define ASSAY_BENCH_H

#include "assay/metrics.h"
#include "assay/recipe.h"
#include "golden/names.h"

enum bench_topic_id {
#define BENCH(id, ...) BENCH_##id,
#include "golden/bench.def"
#undef BENCH
    BENCH_TOPICS
};

struct bench;

/* Does the work once; *took is in seconds, what must be prepared left out. */
typedef enum assay_status (*bench_run)(struct bench *b, const void *what,
                                       double *took, struct assay_error *err);

struct bench_topic {
    const char *name, *base, *about;
    bench_run run_base;
    double limit; /* 0: none */
    enum assay_status (*plan)(struct bench *b, struct assay_error *err);
};

/* Median and quartiles over pairs. */
struct bench_spread {
    double low, median, high;
};

struct bench_line {
    enum bench_topic_id topic;
    char name[56];
    bench_run run;
    const void *what; /* for run */
    struct bench_spread ratio, seconds, base_seconds;
};

/* Three answers, as many batches of the shape as memory has to stream. */
struct bench_answers {
    struct assay_problem p;
    float *c, *e, *x, *bound, *copy;
    double *lse;
    struct assay_row *ce, *ex, *cx;
    struct assay_row_beyond *beyond;
};

struct bench {
    struct assay_problem p;
    int threads, pairs;
    const struct assay_recipe **recipes; /* of recipes, jitter, quantizers */
    size_t n_recipes;
    bool topics[BENCH_TOPICS]; /* those asked for */

    /* bench_open() to bench_close() */
    float *q, *k, *v, *o, *other, *copy;
    double *lse, *o64;
    uint8_t *codes, *scales;
    struct assay_jitter jitter;
    struct bench_answers answers; /* of the metrics */
    struct bench_line *lines;
    size_t n;
};

extern const struct names names_benches;
const struct bench_topic *bench_topic_get(enum bench_topic_id id);

/* Fills inputs, and plans the lines of the topics; then measures all lines,
 * pair by pair, with progress(context, done, total). Close also after a
 * failure. */
enum assay_status bench_open(struct bench *b, struct assay_error *err);
enum assay_status bench_measure(struct bench *b,
                                void (*progress)(void *, int64_t, int64_t),
                                void *context, struct assay_error *err);
void bench_close(struct bench *b);

/* Plans a line; in bench.c, for the plans. */
enum assay_status bench_add(struct bench *b, enum bench_topic_id topic,
                            const char *name, bench_run run, const void *what,
                            struct assay_error *err);

/* Whether the line keeps its topic's limit; true where there is none. */
bool bench_is_within(const struct bench_line *line);

#endif
