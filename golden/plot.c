/* SPDX-License-Identifier: MIT */
#include "golden/plot_script.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/gnuplot.h"
#include "golden/svg.h"

/* ---- values ---- */

/* Logarithms and sums of what is drawn stay finite. */
static const double far = 1e300;

bool plot_shows(bool log, double value)
{
    return fabs(value) <= far && (!log || value >= 1 / far);
}

void plot_span_add(struct plot_span *span, double value)
{
    if (!isfinite(value) || fabs(value) > far) {
        span->not_finite++;
    } else if (span->log && value < 0) {
        span->negatives++;
    } else if (!plot_shows(span->log, value)) {
        span->zeros++;
    } else {
        span->least = span->shown ? fmin(span->least, value) : value;
        span->most = span->shown ? fmax(span->most, value) : value;
        span->shown++;
    }
}

struct ranked {
    double value;
    size_t at;
};

static int larger_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value) - (x->value > y->value)
                                : (x->at > y->at) - (x->at < y->at);
}

size_t *plot_order(const double *values, size_t n)
{
    struct ranked *ranked = calloc(n + 1, sizeof *ranked);
    size_t *order = calloc(n + 1, sizeof *order);
    if (!ranked || !order) {
        free(order);
        order = NULL;
    }
    for (size_t i = 0; order && i < n; i++)
        ranked[i] = (struct ranked){ values[i], i };
    if (order)
        qsort(ranked, n, sizeof *ranked, larger_first);
    for (size_t i = 0; order && i < n; i++)
        order[i] = ranked[i].at;
    free(ranked);
    return order;
}

bool *plot_thin(const double *worth, size_t n, size_t *step)
{
    const size_t first = PLOT_POINTS / 4, rest = PLOT_POINTS - first;
    bool *drawn = calloc(n + 1, sizeof *drawn);
    size_t *order = NULL;
    *step = n > PLOT_POINTS ? (n - first + rest - 1) / rest : 1;
    if (drawn && *step > 1 && !(order = plot_order(worth, n))) {
        free(drawn);
        return NULL;
    }
    for (size_t i = 0; drawn && i < n; i++)
        drawn[order ? order[i] : i] = i < first || (i - first) % *step == 0;
    free(order);
    return drawn;
}

/* ---- axes ---- */

const char *plot_colour(enum page_colour colour)
{
    static char texts[PAGE_COLOURS][24];
    snprintf(texts[colour], sizeof texts[colour], "rgb '#%06x'",
             page_colour_get((int)colour)->light);
    return texts[colour];
}

/* Ticks at powers of ten, where there are few of them also at 2 and 5 times
 * these; the range ends at the next of all these beyond the values, so it is
 * not empty where they are all the same. */
static void log_axis(FILE *out, const char *axis, const struct plot_span *span)
{
    static const double steps[] = { 1, 2, 5 };
    const int first = (int)floor(log10(span->least) - 1e-9),
              last = (int)ceil(log10(span->most) + 1e-9);
    const int every = (last - first) / 12 + 1, fine = last - first <= 3 ? 3 : 1;
    double from = pow(10, first), to = pow(10, last);
    const char *comma = "";
    fprintf(out, "set logscale %s\nset %stics (", axis, axis);
    for (int e = first; e <= last; e++)
        for (int i = 0; i < 3; i++) {
            const double tick = steps[i] * pow(10, e);
            if ((e - first) % every == 0 && i < fine) {
                fprintf(out,
                        tick > 0.9e-3 && tick < 1.1e4 ? "%s'%.3g' %.9g"
                                                      : "%s'%.0e' %.9g",
                        comma, tick, tick);
                comma = ", ";
            }
            from = tick < span->least ? tick : from;
            to = tick > span->most && tick < to ? tick : to;
        }
    fprintf(out, ")\nset %srange [%.9g:%.9g]\n", axis, from, to);
}

void plot_axis(struct plot_script *s, const char *axis,
               const struct plot_span *span, const char *label)
{
    const double air = span->most > span->least
                           ? (span->most - span->least) * 0.03
                           : fmax(fabs(span->most) * 0.1, 1e-6);
    if (span->log)
        log_axis(s->script, axis, span);
    else if (span->least == 0 && span->most > 0) /* bars stand on nought */
        fprintf(s->script, "set %srange [0:%.9g]\n", axis, span->most + air);
    else
        fprintf(s->script, "set %srange [%.9g:%.9g]\n", axis, span->least - air,
                span->most + air);
    fprintf(s->script, "set %slabel ", axis);
    gnuplot_text(s->script, label ? label : "", PLOT_LABEL);
    fputc('\n', s->script);
}

/* ---- from the frame to the figure ---- */

static void tell_left_out(FILE *caption, const struct plot_span *span)
{
    const struct {
        size_t n;
        const char *what;
    } all[] = { { span->zeros, "zero" },
                { span->negatives, "negative" },
                { span->not_finite, "not finite" } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].n > 0)
            fprintf(caption, " %zu value%s %s %s and not drawn.", all[i].n,
                    plural((int64_t)all[i].n), all[i].n == 1 ? "is" : "are",
                    all[i].what);
}

static void figure(const struct plot_script *s, const char *drawing)
{
    struct html *h = s->h;
    fprintf(h->out,
            "<figure id=\"plot-%d\" style=\"max-width:%dpx\">%s<figcaption><b>",
            h->plots, s->width, drawing);
    html_text(h->out, s->frame->title);
    fputs(".</b> ", h->out);
    html_text(h->out, s->caption_text);
    fputs("</figcaption></figure>\n", h->out);
}

bool plot_begin(struct plot_script *s, struct html *h,
                const struct plot_frame *frame, const struct plot_span *span,
                int width, int height)
{
    *s = (struct plot_script){ .h = h, .frame = frame, .width = width };
    if (h->no_plots[0])
        return false;
    s->script = open_memstream(&s->script_text, &s->script_bytes);
    s->caption = open_memstream(&s->caption_text, &s->caption_bytes);
    if (!s->script || !s->caption) {
        html_note(h, COLOUR_BAD, "No memory for the plot \"%s\".",
                  frame->title);
        goto none;
    }
    if (span->shown == 0) {
        html_note(h, COLOUR_DIM,
                  "No plot \"%s\": none of its values can be drawn "
                  "(%zu zero, %zu negative, %zu not finite).",
                  frame->title, span->zeros, span->negatives, span->not_finite);
        goto none;
    }
    if (frame->caption)
        fprintf(s->caption, "%s", frame->caption);
    tell_left_out(s->caption, span);
    fprintf(s->script,
            "set encoding utf8\n"
            "set term svg size %d,%d dynamic noenhanced font 'Arial,12'\n"
            "set border 3 lc %s\nset tics nomirror scale 0.5 textcolor %s\n"
            "set grid lt 1 lw 0.7 lc %s\nset key noautotitle\n"
            "set datafile separator ' '\nset label noenhanced\n",
            width, height, plot_colour(PAGE_COLOUR_dim),
            plot_colour(PAGE_COLOUR_ink), plot_colour(PAGE_COLOUR_rule));
    return true;
none:
    plot_end(s);
    return false;
}

/* The drawing as it stands in the page, or NULL and a sentence why not. */
static char *embedded(struct html *h, const struct plot_frame *frame,
                      struct gnuplot_drawing *d)
{
    char *text = NULL;
    size_t bytes = 0;
    struct assay_error err = { 0 };
    FILE *out = open_memstream(&text, &bytes);
    enum assay_status st = ASSAY_MEMORY;
    if (out) {
        st = svg_embed(d->text, d->bytes, h->plots, frame->title, out, &err);
        if (fclose(out) != 0 && st == ASSAY_OK)
            st = ASSAY_MEMORY;
    }
    if (st == ASSAY_OK)
        return text;
    free(text);
    d->end = GNUPLOT_FAILED;
    snprintf(d->why, sizeof d->why, "%.190s",
             st == ASSAY_MEMORY ? "there is no memory for a plot" : err.text);
    return NULL;
}

static void draw(struct plot_script *s)
{
    struct html *h = s->h;
    struct gnuplot_drawing d =
        gnuplot_run(s->script_text, s->script_bytes, h->plot_seconds);
    char *drawing = NULL;
    h->plots++;
    if (d.end == GNUPLOT_DREW)
        drawing = embedded(h, s->frame, &d);
    if (drawing)
        figure(s, drawing);
    else if (d.end == GNUPLOT_FAILED)
        html_note(h, COLOUR_BAD, "No plot \"%s\": %s.", s->frame->title, d.why);
    if (d.end == GNUPLOT_ABSENT) {
        snprintf(h->no_plots, sizeof h->no_plots, "%s", d.why);
        html_note(h, COLOUR_BAD, "This page has tables and no plots: %s.",
                  d.why);
    }
    free(drawing);
    free(d.text);
}

void plot_end(struct plot_script *s)
{
    const bool ok = s->script && s->caption;
    const bool begun = ok && ftell(s->script) > 0;
    bool whole = ok;
    if (s->script)
        whole &= fclose(s->script) == 0;
    if (s->caption)
        whole &= fclose(s->caption) == 0;
    if (begun && whole)
        draw(s);
    else if (begun)
        html_note(s->h, COLOUR_BAD, "No memory for the plot \"%s\".",
                  s->frame->title);
    free(s->script_text);
    free(s->caption_text);
}
