/* SPDX-License-Identifier: MIT */
#include "golden/svg.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "golden/colour.h"
#include "golden/html.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { DEPTH = 64 };

struct piece {
    const char *at;
    size_t n;
};

struct reader {
    const char *at, *end;
    FILE *out;
    int number, depth, skipped; /* skipped: depth of what is left out, or 0 */
    struct piece open[DEPTH];
    const char *title;
    struct assay_error *err;
};

static bool is(struct piece p, const char *word)
{
    return p.n == strlen(word) && memcmp(p.at, word, p.n) == 0;
}

static bool among(struct piece p, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is(p, words[i]))
            return true;
    return false;
}

static const char *const shapes[] = {
    "svg",  "g",   "defs",    "path", "rect",  "circle",   "ellipse",
    "line", "use", "polygon", "text", "tspan", "polyline",
};
/* Of no use here: names of plots, and filters that no text asks for. */
static const char *const left_out[] = { "title", "desc", "filter" };

static const char *const attributes[] = {
    "viewBox",
    "id",
    "class",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "dx",
    "dy",
    "width",
    "height",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
    "d",
    "points",
    "transform",
    "fill",
    "fill-opacity",
    "fill-rule",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-linecap",
    "color",
    "font-size",
    "stroke-linejoin",
    "font-weight",
    "text-anchor",
    "font-style",
    "font-family",
    "shape-rendering",
    "xlink:href",
};

static enum assay_status fail(const struct reader *r, const char *what,
                              struct piece p)
{
    return assay_fail(r->err, ASSAY_FORMAT,
                      "the drawing has %s at byte %zu from its end: \"%.*s\"",
                      what, (size_t)(r->end - p.at), (int)(p.n < 40 ? p.n : 40),
                      p.at);
}

/* ---- attributes ---- */

/* The colour of a value "#rrggbb", "rgb(r, g, b)" or "black"; -1: none. */
static long colour_of(struct piece value)
{
    char text[40];
    unsigned r, g, b;
    if (value.n >= sizeof text)
        return -1;
    memcpy(text, value.at, value.n);
    text[value.n] = '\0';
    if (strcmp(text, "black") == 0)
        return page_colour_get(PAGE_COLOUR_ink)->light;
    if (sscanf(text, "rgb(%u ,%u ,%u )", &r, &g, &b) != 3 &&
        sscanf(text, "#%2x%2x%2x", &r, &g, &b) != 3)
        return -1;
    return (long)((r & 255) << 16 | (g & 255) << 8 | (b & 255));
}

static bool put_colour(FILE *out, struct piece value)
{
    const long colour = colour_of(value);
    for (int i = 0; colour >= 0 && i < PAGE_COLOURS; i++)
        if (page_colour_get(i)->light == (unsigned long)colour) {
            fprintf(out, "var(--%s)", page_colour_get(i)->name);
            return true;
        }
    return false;
}

/* Writes name="value"; a value cannot end its quotes, for it has none. */
static enum assay_status put_attribute(const struct reader *r,
                                       struct piece name, struct piece value)
{
    const bool link = is(name, "xlink:href");
    if (!among(name, attributes, COUNT(attributes)))
        return ASSAY_OK;
    if (memchr(value.at, '<', value.n) || memchr(value.at, '"', value.n) ||
        memmem(value.at, value.n, "url(", 4) ||
        (link && (value.n == 0 || *value.at != '#')))
        return fail(r, "a value of an attribute that leads elsewhere", value);
    fprintf(r->out, " %.*s=\"", (int)name.n, name.at);
    if (link)
        fprintf(r->out, "#p%d-%.*s", r->number, (int)value.n - 1, value.at + 1);
    else if (is(name, "id"))
        fprintf(r->out, "p%d-%.*s", r->number, (int)value.n, value.at);
    else if (!put_colour(r->out, value))
        for (size_t i = 0; i < value.n; i++)
            fputc(isspace((unsigned char)value.at[i]) ? ' ' : value.at[i],
                  r->out);
    fputc('"', r->out);
    return ASSAY_OK;
}

static void spaces(struct reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
}

static struct piece word(struct reader *r)
{
    struct piece p = { r->at, 0 };
    while (r->at < r->end &&
           (isalnum((unsigned char)*r->at) || strchr(":-_", *r->at)))
        r->at++;
    p.n = (size_t)(r->at - p.at);
    return p;
}

/* All of a tag behind its name, up to > or />. */
static enum assay_status put_attributes(struct reader *r)
{
    for (spaces(r); r->at < r->end && *r->at != '>' && *r->at != '/';
         spaces(r)) {
        const struct piece name = word(r);
        spaces(r);
        if (name.n == 0 || r->at == r->end || *r->at++ != '=')
            return fail(r, "an attribute without a value", name);
        spaces(r);
        const char quote = r->at < r->end ? *r->at : '\0';
        if (quote != '"' && quote != '\'')
            return fail(r, "a value without quotes", name);
        const char *begin = ++r->at;
        const char *end = memchr(begin, quote, (size_t)(r->end - begin));
        if (!end)
            return fail(r, "a value without an end", name);
        r->at = end + 1;
        enum assay_status st = ASSAY_OK;
        if (!r->skipped)
            st = put_attribute(r, name,
                               (struct piece){ begin, (size_t)(end - begin) });
        if (st != ASSAY_OK)
            return st;
    }
    return ASSAY_OK;
}

/* ---- elements ---- */

static void name_it(const struct reader *r)
{
    fputs(" xmlns=\"http://www.w3.org/2000/svg\" "
          "xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
          "role=\"img\" aria-label=\"",
          r->out);
    html_text(r->out, r->title);
    fputc('"', r->out);
}

static enum assay_status end_tag(struct reader *r)
{
    const struct piece name = word(r);
    spaces(r);
    if (r->at == r->end || *r->at++ != '>' || r->depth == 0 ||
        r->open[r->depth - 1].n != name.n ||
        memcmp(r->open[r->depth - 1].at, name.at, name.n) != 0)
        return fail(r, "an end that fits no begin", name);
    if (!r->skipped)
        fprintf(r->out, "</%.*s>%s", (int)name.n, name.at,
                is(name, "text") ? "" : "\n");
    if (r->skipped == r->depth)
        r->skipped = 0;
    r->depth--;
    return ASSAY_OK;
}

static enum assay_status begin_tag(struct reader *r)
{
    const struct piece name = word(r);
    const bool skip = among(name, left_out, COUNT(left_out));
    if (r->depth == DEPTH)
        return fail(r, "elements too deep in each other", name);
    if (!r->skipped && !skip && !among(name, shapes, COUNT(shapes)))
        return fail(r, "an element that is no shape", name);
    if ((r->depth == 0) != is(name, "svg"))
        return fail(r, "an element in the wrong place", name);
    r->open[r->depth++] = name;
    if (!r->skipped && skip)
        r->skipped = r->depth;
    if (!r->skipped)
        fprintf(r->out, "<%.*s", (int)name.n, name.at);
    if (!r->skipped && r->depth == 1)
        name_it(r);
    enum assay_status st = put_attributes(r);
    if (st != ASSAY_OK)
        return st;
    const bool empty = r->at < r->end && *r->at == '/';
    r->at += empty;
    if (r->at == r->end || *r->at++ != '>')
        return fail(r, "a tag without an end", name);
    if (!r->skipped)
        fputs(empty ? "/>" : ">", r->out);
    if (empty && r->skipped == r->depth)
        r->skipped = 0;
    r->depth -= empty;
    return ASSAY_OK;
}

/* Text is the program's, escaped by it: entities stay, a bare > is harmless. */
static void put_text(struct reader *r)
{
    const char *begin = r->at;
    spaces(r);
    const char *stop = memchr(r->at, '<', (size_t)(r->end - r->at));
    const bool blank = stop == r->at;
    stop = stop ? stop : r->end;
    if (!blank && !r->skipped)
        fwrite(begin, (size_t)(stop - begin), 1, r->out);
    r->at = stop;
}

enum assay_status svg_embed(const char *svg, size_t n, int number,
                            const char *title, FILE *out,
                            struct assay_error *err)
{
    struct reader r = { .at = strstr(svg, "<svg"),
                        .end = svg + n,
                        .out = out,
                        .number = number,
                        .title = title,
                        .err = err };
    if (!r.at)
        return assay_fail(err, ASSAY_FORMAT, "%zu bytes that hold no SVG", n);
    do {
        const char *begin = r.at++;
        enum assay_status st;
        if (r.at < r.end && *r.at == '/') {
            r.at++;
            st = end_tag(&r);
        } else {
            st = begin_tag(&r);
        }
        if (st != ASSAY_OK)
            return st;
        if (r.depth > 0)
            put_text(&r);
        if (r.at == r.end && r.depth > 0)
            return fail(&r, "no end", (struct piece){ begin, 0 });
    } while (r.depth > 0);
    return ASSAY_OK;
}
