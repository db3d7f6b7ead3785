/* SPDX-License-Identifier: MIT
 *
 * Charts in a page, drawn by gnuplot as inline SVG. Where there is no gnuplot
 * the page says so once, and has its tables. A chart says in its caption what
 * it leaves out: zeros on a logarithmic axis, what is not finite, points that
 * were thinned. Arrays stay the caller's.
 */
#ifndef ASSAY_PLOT_H
#define ASSAY_PLOT_H

#include "golden/html.h"

enum {
    PLOT_POINTS = 4000,  /* of a scatter, and of each group */
    PLOT_STEPS = 1500,   /* of a line */
    PLOT_ROWS = 64,      /* of a heat map */
    PLOT_CHANNELS = 128, /* its columns */
};

struct plot_frame {
    const char *title;
    const char *of;      /* what values are, with a unit: "LSE, nats" */
    const char *across;  /* what stands on the other axis; NULL: nothing */
    const char *caption; /* sentences in front of the chart's own; NULL */
    bool log;            /* the axis, or colours, of values */
    /* distributions: a line at the value `mark`, with its name; NULL: none */
    double mark;
    const char *mark_name;
};

/* n values under a name. */
struct plot_group {
    const char *name;
    const double *values;
    size_t n;
};

/* For each group its values as points, a box from the lower to the upper
 * quartile and the median, by nearest rank. Of more than PLOT_POINTS the
 * largest quarter is drawn, and every so many-th of the rest. */
void plot_distribution(struct html *h, const struct plot_frame *frame,
                       const struct plot_group *groups, size_t n);

/* Bars, one of each series in each group: values[group * n_series + series];
 * at most PAGE_SERIES series. `across` is not used. */
void plot_bars(struct html *h, const struct plot_frame *frame,
               const char *const *groups, size_t n_groups,
               const char *const *series, size_t n_series,
               const double *values);

/* n points (reference, candidate) beside the line where they are the same.
 * `of` is the candidate, `across` the reference. Of more than PLOT_POINTS the
 * quarter farthest from the line is drawn, and every so many-th of the rest.
 * frame->log is not used. A class of points has a colour and a sign of its
 * own; of[i] is that of point i, below n <= PLOT_CLASSES. of NULL: one. */
enum { PLOT_CLASSES = 3 };
struct plot_classes {
    const unsigned char *of;
    const char *const *names;
    size_t n;
};
void plot_scatter(struct html *h, const struct plot_frame *frame,
                  const double *reference, const double *candidate, size_t n,
                  const struct plot_classes *classes);

/* Values over 0, 1, 2, ..., as steps, and a line at `limit` (NaN: none); at
 * most PAGE_SERIES groups. Of more than PLOT_STEPS each step is the largest of
 * so many. */
void plot_steps(struct html *h, const struct plot_frame *frame,
                const struct plot_group *groups, size_t n, double limit);

/* values[row * columns + column] as colours, row 0 on top. NaN and infinity
 * have a colour of their own. Where there are more than PLOT_ROWS or
 * PLOT_CHANNELS a cell is the largest of so many. Names are those of rows and
 * columns; NULL: numbers. `across` is what columns are, `down` what rows. */
struct plot_matrix {
    const double *values;
    size_t rows, columns;
    const char *const *row_names, *const *column_names;
    const char *down;
};
void plot_heat(struct html *h, const struct plot_frame *frame,
               const struct plot_matrix *matrix);

#endif
