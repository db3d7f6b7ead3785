/* SPDX-License-Identifier: MIT
 *
 * Charts whose values are points or lines: distributions, scatters, steps.
 */
#include <math.h>
#include <stdlib.h>

#include "golden/gnuplot.h"
#include "golden/plot_script.h"

enum { WIDTH = 860 };

static void no_memory(const struct plot_script *s)
{
    fputs(" There was no memory for all of it.", s->caption);
}

static size_t longest(const struct plot_group *groups, size_t n)
{
    size_t most = 0;
    for (size_t g = 0; g < n; g++)
        most = groups[g].n > most ? groups[g].n : most;
    return most;
}

/* ---- distribution ---- */

/* Names of n rows, the first on top. */
static void row_names(FILE *script, const struct plot_group *groups, size_t n)
{
    fputs("set ytics (", script);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : "", script);
        gnuplot_text(script, groups[i].name, PLOT_NAME);
        fprintf(script, " %zu", i);
    }
    fprintf(script, ")\nset yrange [%zu.5:-0.5]\n", n - 1);
}

/* The points of a row, spread over its height in an order that looks random
 * and is not (steps of the golden ratio). */
static void put_points(struct plot_script *s, const struct plot_group *g,
                       size_t row)
{
    size_t step;
    bool *drawn = plot_thin(g->values, g->n, &step);
    for (size_t i = 0; drawn && i < g->n; i++)
        if (drawn[i] && plot_shows(s->frame->log, g->values[i]))
            fprintf(s->script, "%.9g %.3f\n", g->values[i],
                    (double)row +
                        0.5 * (fmod((double)i * 0.6180339887, 1) - 0.5));
    if (!drawn)
        no_memory(s);
    free(drawn);
}

/* Of n > 0 numbers in falling order, by nearest rank from below. */
static double quantile(const double *values, const size_t *order, size_t n,
                       double share)
{
    const size_t rank = (size_t)fmax(1, ceil(share * (double)n));
    return values[order[n - rank]];
}

/* "median row lower upper" of what can be shown of a group. */
static void put_box(struct plot_script *s, const struct plot_group *g,
                    size_t row)
{
    double *shown = calloc(g->n + 1, sizeof *shown);
    size_t n = 0;
    for (size_t i = 0; shown && i < g->n; i++)
        if (plot_shows(s->frame->log, g->values[i]))
            shown[n++] = g->values[i];
    size_t *order = shown ? plot_order(shown, n) : NULL;
    if (order && n > 0)
        fprintf(s->script, "%.9g %zu %.9g %.9g\n",
                quantile(shown, order, n, 0.5), row,
                quantile(shown, order, n, 0.25),
                quantile(shown, order, n, 0.75));
    if (!order)
        no_memory(s);
    free(order);
    free(shown);
}

/* A line from the top to the bottom of n rows, and its name above. */
static void put_mark(struct plot_script *s, size_t n)
{
    fprintf(s->script,
            "set arrow from %.9g, %zu.5 to %.9g, -0.5 nohead dt 2 lw 1.5 lc "
            "%s\nset label ",
            s->frame->mark, n - 1, s->frame->mark,
            plot_colour(PAGE_COLOUR_bad));
    gnuplot_text(s->script, s->frame->mark_name, PLOT_NAME);
    fprintf(s->script, " at %.9g, -0.5 center offset 0, 0.7 tc %s noenhanced\n",
            s->frame->mark, plot_colour(PAGE_COLOUR_bad));
}

void plot_distribution(struct html *h, const struct plot_frame *frame,
                       const struct plot_group *groups, size_t n)
{
    struct plot_span span = { .log = frame->log };
    struct plot_script s;
    for (size_t g = 0; g < n; g++)
        for (size_t i = 0; i < groups[g].n; i++)
            plot_span_add(&span, groups[g].values[i]);
    const bool mark =
        span.shown && frame->mark_name && plot_shows(frame->log, frame->mark);
    if (mark) /* the line is no value, but has its place */
        plot_span_add(&span, frame->mark);
    if (!plot_begin(&s, h, frame, &span, WIDTH,
                    (mark ? 110 : 90) + 34 * (int)n))
        return;
    fputs(" Points are values, boxes go from the lower to the upper quartile, "
          "the bar is the median.",
          s.caption);
    if (longest(groups, n) > PLOT_POINTS)
        fprintf(s.caption,
                " Of more than %d points in a row the %d largest are there "
                "and an even part of the rest.",
                PLOT_POINTS, PLOT_POINTS / 4);
    fputs("$points << EOD\n", s.script);
    for (size_t g = 0; g < n; g++)
        put_points(&s, &groups[g], g);
    fputs("EOD\n$boxes << EOD\n", s.script);
    for (size_t g = 0; g < n; g++)
        put_box(&s, &groups[g], g);
    fputs("EOD\nset grid noytics\n", s.script);
    row_names(s.script, groups, n);
    plot_axis(&s, "x", &span, frame->of);
    if (mark)
        put_mark(&s, n);
    fprintf(
        s.script,
        "plot $points using 1:2 with points pt 7 ps 0.4 lc %s, $boxes using "
        "1:2:3:4:($2-0.36):($2+0.36) with boxxyerror fc %s fs transparent "
        "solid "
        "0.15 border lc %s, $boxes using 1:($2-0.36):(0):(0.72) with "
        "vectors nohead lw 3 lc %s\n",
        plot_colour(PAGE_COLOUR_series1), plot_colour(PAGE_COLOUR_series1),
        plot_colour(PAGE_COLOUR_ink), plot_colour(PAGE_COLOUR_ink));
    plot_end(&s);
}

/* ---- scatter ---- */

/* What is drawn: pairs of which both can be shown, with their classes. */
struct pairs {
    double *x, *y, *far;
    unsigned char *class;
    size_t n;
};

static bool pairs_alloc(struct pairs *p, size_t n)
{
    *p = (struct pairs){ calloc(n + 1, sizeof *p->x),
                         calloc(n + 1, sizeof *p->y),
                         calloc(n + 1, sizeof *p->far), calloc(n + 1, 1), 0 };
    return p->x && p->y && p->far && p->class;
}

static void pairs_free(struct pairs *p)
{
    free(p->x);
    free(p->y);
    free(p->far);
    free(p->class);
}

static void keep_shown(struct pairs *p, const double *reference,
                       const double *candidate, size_t n,
                       const struct plot_classes *classes,
                       struct plot_span *span)
{
    for (size_t i = 0; i < n; i++) {
        if (!plot_shows(false, reference[i]) ||
            !plot_shows(false, candidate[i])) {
            span->not_finite++;
            continue;
        }
        plot_span_add(span, reference[i]);
        plot_span_add(span, candidate[i]);
        p->x[p->n] = reference[i];
        p->y[p->n] = candidate[i];
        p->far[p->n] = fabs(candidate[i] - reference[i]);
        p->class[p->n++] = classes->of ? classes->of[i] : 0;
    }
}

/* A block for each class; how many points of each are drawn. */
static void put_pairs(struct plot_script *s, const struct pairs *p,
                      const struct plot_classes *classes,
                      size_t counts[PLOT_CLASSES])
{
    size_t step = 1;
    bool *drawn = plot_thin(p->far, p->n, &step);
    if (step > 1)
        fprintf(s->caption,
                " Of %zu points these are the %d farthest from the line and "
                "one in %zu of the rest.",
                p->n, PLOT_POINTS / 4, step);
    for (size_t c = 0; c < classes->n; c++) {
        fprintf(s->script, "$pairs%zu << EOD\n", c);
        for (size_t i = 0; drawn && i < p->n; i++)
            if (drawn[i] && p->class[i] == c) {
                fprintf(s->script, "%.9g %.9g\n", p->x[i], p->y[i]);
                counts[c]++;
            }
        fputs("EOD\n", s->script);
    }
    if (!drawn)
        no_memory(s);
    free(drawn);
}

/* Dots, crosses and squares: told apart without colour too. */
static void plot_pairs(struct plot_script *s,
                       const struct plot_classes *classes,
                       const size_t counts[PLOT_CLASSES])
{
    static const char *const signs[PLOT_CLASSES] = { "pt 7 ps 0.4",
                                                     "pt 2 ps 0.7",
                                                     "pt 4 ps 0.7" };
    fprintf(s->script,
            "set grid\nset size square\nset samples 2\n"
            "set key above left Left reverse horizontal\n"
            "plot x with lines lw 1.2 lc %s",
            plot_colour(PAGE_COLOUR_dim));
    for (size_t c = 0; c < classes->n; c++) {
        if (counts[c] == 0)
            continue;
        fprintf(s->script, ", $pairs%zu using 1:2 with points %s lc %s", c,
                signs[c],
                plot_colour((enum page_colour)(PAGE_COLOUR_series1 + (int)c)));
        fputs(classes->names ? " title " : "", s->script);
        if (classes->names)
            gnuplot_text(s->script, classes->names[c], PLOT_NAME);
    }
    fputc('\n', s->script);
}

void plot_scatter(struct html *h, const struct plot_frame *frame,
                  const double *reference, const double *candidate, size_t n,
                  const struct plot_classes *classes)
{
    static const struct plot_classes one = { NULL, NULL, 1 };
    struct plot_span span = { 0 };
    struct plot_script s;
    struct pairs p;
    size_t counts[PLOT_CLASSES] = { 0 };
    const bool have = pairs_alloc(&p, n);
    classes = classes ? classes : &one;
    if (have)
        keep_shown(&p, reference, candidate, n, classes, &span);
    if (plot_begin(&s, h, frame, &span, 620, 560)) {
        put_pairs(&s, &p, classes, counts);
        fputs(" On the line the two are the same.", s.caption);
        plot_axis(&s, "x", &span, frame->across);
        plot_axis(&s, "y", &span, frame->of);
        plot_pairs(&s, classes, counts);
        plot_end(&s);
    }
    pairs_free(&p);
}

/* ---- steps ---- */

/* A step for each `every` values, at the first of them; a gap where none of
 * them can be shown. */
static void put_steps(struct plot_script *s, const struct plot_group *g,
                      size_t number, size_t every)
{
    double worst = (double)NAN;
    fprintf(s->script, "$steps%zu << EOD\n", number);
    for (size_t i = 0; i < g->n; i += every) {
        worst = -INFINITY;
        for (size_t j = i; j < i + every && j < g->n; j++)
            if (plot_shows(s->frame->log, g->values[j]))
                worst = fmax(worst, g->values[j]);
        if (isfinite(worst))
            fprintf(s->script, "%zu %.9g\n", i, worst);
        else
            fputc('\n', s->script);
    }
    if (isfinite(worst)) /* the last step has a width too */
        fprintf(s->script, "%zu %.9g\n", g->n, worst);
    fputs("EOD\n", s->script);
}

static void plot_lines(struct plot_script *s, const struct plot_group *groups,
                       size_t n, double limit)
{
    fputs("plot ", s->script);
    for (size_t g = 0; g < n; g++) {
        fprintf(s->script, "%s$steps%zu using 1:2 with steps lw 1.3 lc %s",
                g ? ", " : "", g,
                plot_colour((enum page_colour)(PAGE_COLOUR_series1 + (int)g)));
        fputs(n > 1 ? " title " : "", s->script);
        if (n > 1)
            gnuplot_text(s->script, groups[g].name, PLOT_KEY);
    }
    if (!isnan(limit))
        fprintf(s->script,
                ", %.9g with lines dt 2 lw 2 lc %s title 'limit %.4g'", limit,
                plot_colour(PAGE_COLOUR_ink), limit);
    fputc('\n', s->script);
}

void plot_steps(struct html *h, const struct plot_frame *frame,
                const struct plot_group *groups, size_t n, double limit)
{
    struct plot_span span = { .log = frame->log };
    struct plot_script s;
    const size_t most = longest(groups, n),
                 every = (most + PLOT_STEPS - 1) / PLOT_STEPS;
    if (n > PAGE_SERIES)
        n = PAGE_SERIES;
    for (size_t g = 0; g < n; g++)
        for (size_t i = 0; i < groups[g].n; i++)
            plot_span_add(&span, groups[g].values[i]);
    if (!plot_begin(&s, h, frame, &span, WIDTH, 360))
        return;
    if (plot_shows(frame->log, limit))
        plot_span_add(&span, limit);
    else
        limit = (double)NAN;
    if (every > 1)
        fprintf(s.caption, " Each step is the largest of %zu values.", every);
    for (size_t g = 0; g < n; g++)
        put_steps(&s, &groups[g], g, every);
    plot_axis(&s, "y", &span, frame->of);
    fputs("set grid ytics\nset key above left Left reverse horizontal\n"
          "set xlabel ",
          s.script);
    gnuplot_text(s.script, frame->across ? frame->across : "", PLOT_LABEL);
    fprintf(s.script, "\nset xrange [0:%zu]\n", most > 0 ? most : 1);
    plot_lines(&s, groups, n, limit);
    plot_end(&s);
}
