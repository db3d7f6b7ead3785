/* SPDX-License-Identifier: MIT
 *
 * Charts whose values are rectangles: bars and heat maps.
 */
#include <math.h>
#include <stdlib.h>

#include "golden/gnuplot.h"
#include "golden/plot_script.h"

enum { WIDTH = 860 };

/* ---- bars ---- */

enum { BAR = 9, GAP = 10 }; /* pixels */

static void group_names(FILE *script, const char *const *names, size_t n)
{
    fputs("set ytics (", script);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : "", script);
        gnuplot_text(script, names[i], PLOT_NAME);
        fprintf(script, " %zu", i);
    }
    fprintf(script, ") scale 0\nset yrange [%zu.5:-0.5]\n", n - 1);
}

/* "value row" of one series; rows of a group share its height but the gap. */
static void put_bars(struct plot_script *s, size_t n_groups, size_t n_series,
                     size_t series, const double *values)
{
    const double bar =
        BAR / (double)(BAR * n_series + GAP); /* of a group's height */
    fprintf(s->script, "$bars%zu << EOD\n", series);
    for (size_t g = 0; g < n_groups; g++) {
        const double value = values[g * n_series + series];
        if (plot_shows(s->frame->log, value))
            fprintf(s->script, "%.9g %.5f %.5f\n", value,
                    (double)g +
                        bar * ((double)series - (double)n_series / 2 + 0.5),
                    0.46 * bar);
    }
    /* a block with nothing in it would be an error */
    fputs("NaN NaN NaN\nEOD\n", s->script);
}

void plot_bars(struct html *h, const struct plot_frame *frame,
               const char *const *groups, size_t n_groups,
               const char *const *series, size_t n_series, const double *values)
{
    struct plot_span span = { .log = frame->log };
    struct plot_script s;
    for (size_t i = 0; i < n_groups * n_series; i++)
        plot_span_add(&span, values[i]);
    if (!span.log) {
        span.least = fmin(span.least, 0);
        span.most = fmax(span.most, 0);
    }
    if (!plot_begin(&s, h, frame, &span, WIDTH,
                    100 + (int)n_groups * (BAR * (int)n_series + GAP)))
        return;
    for (size_t i = 0; i < n_series; i++)
        put_bars(&s, n_groups, n_series, i, values);
    group_names(s.script, groups, n_groups);
    plot_axis(&s, "x", &span, frame->of);
    fputs("set grid noytics\nset style fill solid 1 noborder\n"
          "set key above left Left reverse horizontal\n"
          "plot ",
          s.script);
    for (size_t i = 0; i < n_series; i++) {
        fprintf(s.script,
                "%s$bars%zu using 1:2:(%.9g):1:($2-$3):($2+$3) with "
                "boxxyerror fc %s title ",
                i ? ", " : "", i, span.log ? span.least / 1000 : 0.0,
                plot_colour((enum page_colour)(PAGE_COLOUR_series1 +
                                               (int)(i % PAGE_SERIES))));
        gnuplot_text(s.script, series[i], PLOT_KEY);
    }
    fputc('\n', s.script);
    plot_end(&s);
}

/* ---- heat map ---- */

enum { THIN_ROWS = 20 }; /* as many are lower than a line of text */

/* Cells of a matrix of which each stands for several values. */
struct grid {
    const struct plot_matrix *m;
    size_t row_step, column_step;
};

/* The largest of a cell; NaN if any of it is not finite. */
static double cell(const struct grid *g, size_t row, size_t column)
{
    double worst = -INFINITY;
    for (size_t r = row; r < row + g->row_step && r < g->m->rows; r++)
        for (size_t c = column;
             c < column + g->column_step && c < g->m->columns; c++) {
            const double value = g->m->values[r * g->m->columns + c];
            if (!plot_shows(false, value))
                return (double)NAN;
            worst = fmax(worst, value);
        }
    return worst;
}

/* "column row value x x y y" of cells that can be shown, or of the others. */
static void put_cells(struct plot_script *s, const struct grid *g,
                      const char *name, bool shown)
{
    fprintf(s->script, "$%s << EOD\n", name);
    for (size_t r = 0; r < g->m->rows; r += g->row_step)
        for (size_t c = 0; c < g->m->columns; c += g->column_step) {
            const double value = cell(g, r, c);
            const size_t bottom = r + g->row_step, right = c + g->column_step;
            /* nought on a log scale is neither: the ground stays */
            if (shown ? plot_shows(s->frame->log, value) : isnan(value))
                fprintf(
                    s->script, "%zu %zu %.9g %.1f %.1f %.1f %.1f\n", c, r,
                    value, (double)c - 0.5,
                    (double)(right < g->m->columns ? right : g->m->columns) -
                        0.5,
                    (double)r - 0.5,
                    (double)(bottom < g->m->rows ? bottom : g->m->rows) - 0.5);
        }
    fputs("NaN NaN NaN NaN NaN NaN NaN\nEOD\n", s->script);
}

static void names_of(FILE *script, const char *axis, const char *const *names,
                     size_t n, size_t step)
{
    /* as many as can be read */
    const size_t room = *axis == 'y' ? 48 : 32,
                 least = *axis == 'y' && n >= THIN_ROWS ? 2 : 1,
                 most = (n + room - 1) / room,
                 every = most > least ? most : least;
    if (!names)
        return;
    fprintf(script, "set %stics %s (", axis,
            *axis == 'x' ? "rotate by 45 right" : "");
    for (size_t i = 0; i<n; i += every> step ? every : step) {
        fputs(i ? ", " : "", script);
        gnuplot_text(script, names[i], 24);
        fprintf(script, " %zu", i);
    }
    fputs(")\n", script);
}

/* Viridis: even steps of lightness, also for those who see fewer colours. */
static const char palette[] =
    "set palette maxcolors 64 defined (0 '#440154', 1 '#482878', 2 '#3e4a89', "
    "3 '#31688e', 4 '#26828e', 5 '#1f9e89', 6 '#35b779', 7 '#6ece58', "
    "8 '#b5de2b', 9 '#fde725')\n";

static void heat_axes(struct plot_script *s, const struct grid *g,
                      const struct plot_span *span)
{
    const struct plot_matrix *m = g->m;
    names_of(s->script, "x", m->column_names, m->columns, g->column_step);
    names_of(s->script, "y", m->row_names, m->rows, g->row_step);
    fprintf(s->script,
            "set xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n"
            "set tics out\nset xlabel ",
            m->columns - 1, m->rows - 1);
    gnuplot_text(s->script, s->frame->across ? s->frame->across : "",
                 PLOT_LABEL);
    fputs("\nset ylabel ", s->script);
    gnuplot_text(s->script, m->down ? m->down : "", PLOT_LABEL);
    fputc('\n', s->script);
    plot_axis(s, "cb", span, s->frame->of);
    fputs("set cblabel offset 2,0\n" /* clear of its numbers */
          "set rmargin 12\n",        /* room for it */
          s->script);
    fputs(palette, s->script);
}

void plot_heat(struct html *h, const struct plot_frame *frame,
               const struct plot_matrix *m)
{
    struct plot_span span = { .log = frame->log };
    struct plot_script s;
    const struct grid g = { m, (m->rows + PLOT_ROWS - 1) / PLOT_ROWS,
                            (m->columns + PLOT_CHANNELS - 1) / PLOT_CHANNELS };
    const size_t drawn = m->rows < PLOT_ROWS ? m->rows : PLOT_ROWS;
    const int height = (int)drawn * (drawn < THIN_ROWS ? 22 : 8);
    for (size_t i = 0; i < m->rows * m->columns; i++)
        plot_span_add(&span, m->values[i]);
    const size_t holes = span.shown ? span.not_finite : 0;
    const size_t bare = span.shown ? span.zeros : 0;
    span.not_finite -= holes; /* they are drawn */
    span.zeros -= bare;       /* they are told below */
    if (!plot_begin(&s, h, frame, &span, WIDTH,
                    100 + (height > 200 ? height : 200) +
                        (m->column_names ? 60 : 0)))
        return;
    if (g.row_step > 1 || g.column_step > 1)
        fprintf(s.caption, " Each cell is the largest of %zu x %zu values.",
                g.row_step, g.column_step);
    if (holes > 0)
        fprintf(s.caption,
                " Cells with one of the %zu value%s not finite are magenta.",
                holes, holes == 1 ? " that is" : "s that are");
    if (bare > 0)
        fprintf(s.caption, " Nothing is drawn for %zu value%s.", bare,
                bare == 1 ? " of zero" : "s of zero");
    put_cells(&s, &g, "cells", true);
    put_cells(&s, &g, "holes", false);
    heat_axes(&s, &g, &span);
    fprintf(s.script,
            "set style fill solid 1 noborder\nunset grid\n"
            "plot $cells using 1:2:4:5:6:7:3 with boxxyerror fc palette, "
            "$holes using 1:2:4:5:6:7 with boxxyerror fc %s\n",
            plot_colour(PAGE_COLOUR_none));
    plot_end(&s);
}
