/* SPDX-License-Identifier: MIT */
#include "validate/heat.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "assay/memory.h"

enum { LABEL = 14, LEAST_WIDTH = 40 };

static const struct shade {
    const char *plain, *block;
    double most;
    const char *legend;
} shades[] = {
#define SHADE(plain, block, most, legend) { plain, block, most, legend },
#include "validate/heat.def"
#undef SHADE
};
enum { SHADES = sizeof shades / sizeof *shades };

const char *heat_kind_name(enum heat_kind kind)
{
    return kind == HEAT_HEADS_BY_ROWS ? "heads-by-queries"
                                      : "queries-by-channels";
}

enum heat_kind heat_kind_for(const struct location *location)
{
    enum pattern_id id = location->found[PATTERN_KIND_CHANNELS].id;
    return id == PATTERN_NONE || id == PATTERN_CHANNELS_ALL
               ? HEAT_HEADS_BY_ROWS
               : HEAT_ROWS_BY_CHANNELS;
}

int64_t heat_columns_in(int width)
{
    return (width > LEAST_WIDTH ? width : LEAST_WIDTH) - LABEL - 2;
}

/* The least power of two in whose steps `count` fits `most`. */
static int64_t power_step(int64_t count, int64_t most)
{
    int64_t step = 1;
    while ((count + step - 1) / step > most)
        step *= 2;
    return step;
}

/* C - E of an element beyond what its rounding may cost. */
static double beyond(const struct locate_input *in, int64_t at)
{
    const float top = fmaxf(fabsf(in->c[at]), fabsf(in->e[at]));
    const double d = fabs((double)in->c[at] - in->e[at]),
                 rounding =
                     in->out && isfinite(d)
                         ? ASSAY_OUTPUT_ULPS * assay_format_ulp(in->out, top)
                         : 0;
    return d > rounding ? d - rounding : isnan(d) ? d : 0;
}

/* Parts of a row by channels: its part used times the L2 of what differs in a
 * cell over that of all that differs; NaN where a class does. part [columns]
 * is spare. */
static void add_channels(const struct locate_input *in, int64_t r,
                         const struct heat *h, double *part)
{
    const struct assay_problem *p = in->p;
    const struct assay_place at = assay_row_place(p, r);
    const int64_t o = assay_row_offset(p->nq, p->hq, p->dv, at.b, at.i, at.h);
    double *cell = &h->value[at.i / h->row_step * h->columns];
    double all = 0;
    memset(part, 0, (size_t)h->columns * sizeof *part);
    for (int64_t i = 0; i < p->dv; i++) {
        const double d = beyond(in, o + i);
        if (!assay_same_class(in->c[o + i], in->e[o + i]))
            part[i / h->column_step] = NAN;
        else if (isfinite(d)) {
            part[i / h->column_step] += d * d;
            all += d * d;
        }
    }
    for (int64_t c = 0; c < h->columns; c++) {
        double used = isnan(part[c]) ? NAN : 0;
        /* a part used that is NaN is that of another cell */
        if (part[c] > 0 && in->used_o[r] > 0)
            used = in->used_o[r] * sqrt(part[c] / all);
        cell[c] = assay_worst(cell[c], used);
    }
}

static void fill(const struct locate_input *in, const struct heat *h,
                 double *spare)
{
    for (int64_t r = 0; r < assay_problem_rows(in->p); r++) {
        int64_t i = r % in->p->nq, head = r / in->p->nq;
        if (h->kind == HEAT_ROWS_BY_CHANNELS) {
            add_channels(in, r, h, spare);
            continue;
        }
        double *cell =
            &h->value[head / h->row_step * h->columns + i / h->column_step];
        *cell = assay_worst(*cell, locate_row_used(in, r));
    }
}

enum assay_status heat_new(const struct assay_problem *p, enum heat_kind kind,
                           int64_t rows, int64_t columns, struct heat *out,
                           struct assay_error *err)
{
    const int64_t heads = p->b * p->hq;
    struct heat h = { .kind = kind, .heads = p->hq };
    if (rows < 1 || columns < 1)
        return assay_fail(err, ASSAY_USAGE,
                          "a heat map of %" PRId64 " by %" PRId64
                          " cells has no cell",
                          rows, columns);
    if (kind == HEAT_HEADS_BY_ROWS) {
        h.row_count = heads;
        h.column_count = p->nq;
        h.row_step = (heads + rows - 1) / rows;
        h.column_step = power_step(p->nq, columns);
    } else {
        h.row_count = p->nq;
        h.column_count = p->dv;
        h.row_step = power_step(p->nq, rows);
        h.column_step = power_step(p->dv, columns);
    }
    h.rows = (h.row_count + h.row_step - 1) / h.row_step;
    h.columns = (h.column_count + h.column_step - 1) / h.column_step;
    /* a row more, which heat_make() works in */
    const int64_t cells = (h.rows + 1) * h.columns;
    enum assay_status st =
        assay_alloc("heat map", cells, sizeof *h.value, &h.value, err);
    for (int64_t i = 0; st == ASSAY_OK && i < cells; i++)
        h.value[i] = 0;
    *out = h;
    return st;
}

enum assay_status heat_make(const struct locate_input *in, enum heat_kind kind,
                            int64_t rows, int64_t columns, struct heat *out,
                            struct assay_error *err)
{
    const enum assay_status st = heat_new(in->p, kind, rows, columns, out, err);
    if (st == ASSAY_OK)
        fill(in, out, out->value + out->rows * out->columns);
    return st;
}

void heat_narrow(struct heat *h, int64_t columns)
{
    while (h->columns > columns && h->columns > 1) {
        const int64_t from = h->columns;
        h->columns = (from + 1) / 2;
        h->column_step *= 2;
        for (int64_t r = 0; r < h->rows; r++)
            for (int64_t c = 0; c < h->columns; c++) {
                const double *two = &h->value[r * from + 2 * c];
                h->value[r * h->columns + c] =
                    2 * c + 1 < from ? assay_worst(two[0], two[1]) : two[0];
            }
    }
}

void heat_free(struct heat *heat)
{
    assay_free(heat->value);
    heat->value = NULL;
}

static const struct shade *shade_of(double x)
{
    int i = 0;
    while (i < SHADES - 1 && !(x <= shades[i].most))
        i++;
    return isnan(x) ? &shades[SHADES - 1] : &shades[i];
}

static void print_label(const struct heat *h, int64_t row, FILE *out)
{
    const int64_t first = row * h->row_step;
    int64_t last = first + h->row_step - 1;
    char text[64];
    if (last >= h->row_count)
        last = h->row_count - 1;
    if (h->kind == HEAT_HEADS_BY_ROWS && h->row_count > h->heads &&
        first == last)
        snprintf(text, sizeof text, "b%" PRId64 " head %" PRId64,
                 first / h->heads, first % h->heads);
    else if (h->kind == HEAT_HEADS_BY_ROWS && h->row_count > h->heads)
        snprintf(text, sizeof text,
                 "b%" PRId64 ".%" PRId64 "-b%" PRId64 ".%" PRId64,
                 first / h->heads, first % h->heads, last / h->heads,
                 last % h->heads);
    else if (first == last)
        snprintf(text, sizeof text, "%s %" PRId64,
                 h->kind == HEAT_HEADS_BY_ROWS ? "head" : "row", first);
    else
        snprintf(text, sizeof text, "%" PRId64 "-%" PRId64, first, last);
    fprintf(out, "%*s ", LABEL - 1, text);
}

/* Words of the legend, wrapped. */
static void print_legend(bool blocks, int width, FILE *out)
{
    int used = 0;
    for (int i = 0; i < SHADES; i++) {
        const struct shade *s = &shades[i];
        int need = (int)strlen(s->legend) + 6; /* "'#' ", a comma, a space */
        bool wrap = used > 0 && used + need > width;
        if (i > 0)
            fputs(wrap ? ",\n" : ", ", out);
        used = wrap ? need : used + need;
        fprintf(out, "'%s' %s", blocks ? s->block : s->plain, s->legend);
    }
    fputc('\n', out);
}

static void print_title(const struct heat *h, int width, FILE *out)
{
    static const char title[] = "Worst part used of what is allowed:";
    const bool heads = h->kind == HEAT_HEADS_BY_ROWS;
    char axes[64];
    int n = snprintf(axes, sizeof axes, "%s down, %s across",
                     heads ? "heads" : "rows", heads ? "rows" : "channels");
    if (h->column_step > 1)
        n += snprintf(axes + n, sizeof axes - (size_t)n,
                      " (%" PRId64 " a column)", h->column_step);
    fprintf(out, "%s%c%s\n", title, n + (int)sizeof title > width ? '\n' : ' ',
            axes);
}

bool heat_print(const struct heat *h, bool blocks, int width, FILE *out)
{
    const int last = snprintf(NULL, 0, "%" PRId64, h->column_count - 1);
    print_title(h, width, out);
    for (int64_t r = 0; r < h->rows; r++) {
        print_label(h, r, out);
        fputc('|', out);
        for (int64_t c = 0; c < h->columns; c++) {
            const struct shade *s = shade_of(h->value[r * h->columns + c]);
            fputs(blocks ? s->block : s->plain, out);
        }
        fputs("|\n", out);
    }
    fprintf(out, "%*s0", LABEL + 1, "");
    if (h->columns > last + 1)
        fprintf(out, "%*" PRId64, (int)h->columns - 1, h->column_count - 1);
    fputc('\n', out);
    print_legend(blocks, width < LEAST_WIDTH ? LEAST_WIDTH : width, out);
    return fflush(out) == 0 && !ferror(out);
}
