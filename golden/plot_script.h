/* SPDX-License-Identifier: MIT
 *
 * Private to the charts: a script for gnuplot with its caption, from the
 * frame to the figure in the page.
 */
#ifndef ASSAY_PLOT_SCRIPT_H
#define ASSAY_PLOT_SCRIPT_H

#include "golden/colour.h"
#include "golden/plot.h"

/* What an axis has to show of values, and how many it cannot. */
struct plot_span {
    double least, most;
    bool log;
    size_t shown, zeros, negatives, not_finite; /* zeros: only with log */
};
void plot_span_add(struct plot_span *span, double value);
/* Whether a value can be shown there. */
bool plot_shows(bool log, double value);

enum { PLOT_LABEL = 44, PLOT_NAME = 32, PLOT_KEY = 20 }; /* characters */

struct plot_script {
    struct html *h;
    const struct plot_frame *frame;
    int width;
    FILE *script, *caption;
    char *script_text, *caption_text;
    size_t script_bytes, caption_bytes;
};

/* Starts a drawing of so many pixels; false where nothing is to be drawn: that
 * is told in the page. Data and plot commands go to s->script, sentences to
 * s->caption. */
bool plot_begin(struct plot_script *s, struct html *h,
                const struct plot_frame *frame, const struct plot_span *span,
                int width, int height);
/* The range, ticks and label of the axis "x", "y" or "cb" for the values; the
 * range is widened to end at a tick or to leave some air. */
void plot_axis(struct plot_script *s, const char *axis,
               const struct plot_span *span, const char *label);
/* 'rgb "#..."' of a colour. */
const char *plot_colour(enum page_colour colour);
/* Draws, and writes the figure. */
void plot_end(struct plot_script *s);

/* The order of n numbers, the largest first; NULL: out of memory. free(). */
size_t *plot_order(const double *values, size_t n);
/* Marks those of n points that are drawn: all, or of more than PLOT_POINTS the
 * quarter that is worth most and one in *step of the rest. NULL: out of
 * memory. free(). */
bool *plot_thin(const double *worth, size_t n, size_t *step);

#endif
