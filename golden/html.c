/* SPDX-License-Identifier: MIT */
#include "golden/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "golden/colour.h"
#include "golden/text.h"
#include "golden/utf8.h"

/* ---- text ---- */

void html_text(FILE *out, const char *text)
{
    for (uint32_t c; (c = utf8_next(&text)) != 0;) {
        char bytes[5];
        utf8_put(c, bytes);
        switch (c) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default:
            if (utf8_hidden(c))
                fprintf(out, "\\u{%" PRIx32 "}", c);
            else
                fputs(bytes, out);
        }
    }
}

static void formatted(FILE *out, const char *format, va_list args)
{
    char *text = text_new_args(format, args);
    html_text(out, text ? text : "(no memory for a text)");
    free(text);
}

/* By enum colour. */
static const char *const looks[] = { "", "good", "bad", "dim" };

/* ---- the page ---- */

static const struct page_colour_row colours[] = {
#define ASSAY_COLOUR(name, light, dark) { #name, light, dark },
#include "golden/colour.def"
#undef ASSAY_COLOUR
};

const struct page_colour_row *page_colour_get(int colour)
{
    return &colours[colour];
}

static void style_colours(FILE *out, bool dark)
{
    fputs(":root{", out);
    for (int i = 0; i < PAGE_COLOURS; i++)
        fprintf(out, "--%s:#%06x;", colours[i].name,
                dark ? colours[i].dark : colours[i].light);
    fputs("}", out);
}

/* No colour but by its name; print is light whatever the screen is. */
static const char *const style[] = {
    ":root{color-scheme:light dark}",
    "body{margin:2rem auto;max-width:100rem;padding:0 1rem;",
    "background:var(--paper);color:var(--ink);",
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}",
    "h1{font-size:1.5rem;margin:0 0 .5rem}",
    "h2{font-size:1.1rem;margin:2.2rem 0 .4rem;padding-top:.5rem;",
    "border-top:1px solid var(--rule)}",
    "h2::first-letter,h3::first-letter{text-transform:uppercase}",
    "h3{font-size:.95rem;margin:1.4rem 0 .3rem}",
    "pre{font-size:.8rem;background:var(--wash);padding:.4rem .7rem}",
    "details{margin:.5rem 0}details[open]>summary{font-weight:600}",
    "p{margin:.4rem 0;max-width:48rem;overflow-wrap:anywhere}",
    "p.origin{color:var(--dim);font-size:.85rem;margin:0;max-width:none}",
    "p.origin b{font-weight:600;margin-right:.4em}",
    ".wide{overflow:auto;max-height:85vh;margin:.6rem 0}",
    "table{border-collapse:collapse;font-size:.85rem;",
    "font-variant-numeric:tabular-nums}",
    "th,td{text-align:left;vertical-align:top;padding:.22rem .45rem;",
    "white-space:nowrap;border-bottom:1px solid var(--rule)}",
    "th{position:sticky;top:0;background:var(--wash);font-weight:600;",
    "white-space:normal;vertical-align:bottom;",
    "font-size:.75rem;letter-spacing:.02em}",
    /* the first column stays where a wide table scrolls */
    "th:first-child,td:first-child{position:sticky;left:0;z-index:1;",
    "background:var(--paper)}",
    "thead th{z-index:2}",
    "thead th:first-child{z-index:3;background:var(--wash)}",
    ".number{text-align:right}",
    ".long{white-space:normal;overflow-wrap:anywhere;min-width:12rem}",
    ".good{color:var(--good)}.bad{color:var(--bad);font-weight:600}",
    ".dim{color:var(--dim)}",
    "a{color:inherit;scroll-margin-top:4rem}",
    "a:target{outline:2px solid var(--series1);outline-offset:2px}",
    "td.share{text-align:center;color:var(--ink);background:",
    "color-mix(in srgb,var(--series1) var(--part),transparent)}",
    "figure{margin:1rem 0;max-width:56rem}",
    "figure svg{display:block;width:100%;height:auto}",
    "figure svg *{font-family:inherit}",
    "figcaption{font-size:.85rem;color:var(--dim)}",
    "figcaption b{color:var(--ink)}",
    "summary{cursor:pointer;overflow-wrap:anywhere}",
    "@media (max-width:40rem){.long{min-width:7rem}}",
    "@media print{body{max-width:none;margin:0;font-size:11px}",
    ".wide{overflow:visible;max-height:none}",
    "th,th:first-child,td:first-child{position:static}",
    "td{white-space:normal}figure,tr{break-inside:avoid}",
    "h2{break-after:avoid}}",
};

void html_begin(struct html *h, FILE *out, const char *title)
{
    *h = (struct html){ .out = out, .plot_seconds = 30 };
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          out);
    html_text(out, title);
    fputs("</title>\n<style>\n", out);
    style_colours(out, false);
    fputs("\n@media screen and (prefers-color-scheme:dark){", out);
    style_colours(out, true);
    fputs("}\n", out);
    for (size_t i = 0; i < sizeof style / sizeof *style; i++)
        fprintf(out, "%s\n", style[i]);
    fputs("</style>\n</head>\n<body>\n<h1>", out);
    html_text(out, title);
    fputs("</h1>\n", out);
}

void html_origin(struct html *h, const char *name, const char *value)
{
    fputs("<p class=\"origin\"><b>", h->out);
    html_text(h->out, name);
    fputs("</b>", h->out);
    html_text(h->out, value);
    fputs("</p>\n", h->out);
}

void html_section(struct html *h, const char *anchor, const char *heading,
                  const char *paragraph)
{
    fputs("<h2 id=\"", h->out);
    html_text(h->out, anchor);
    fputs("\">", h->out);
    html_text(h->out, heading);
    fputs("</h2>\n", h->out);
    if (paragraph)
        html_note(h, COLOUR_NONE, "%s", paragraph);
}

void html_note(struct html *h, enum colour look, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(h->out, "<p class=\"%s\">", looks[look]);
    formatted(h->out, format, args);
    fputs("</p>\n", h->out);
    va_end(args);
}

static void put_link(FILE *out, const char *here, const char *to,
                     const char *text)
{
    fprintf(out, "<a id=\"%s\" href=\"#%s\">", here, to);
    html_text(out, text);
    fputs("</a>", out);
}

void html_link(struct html *h, const char *here, const char *to,
               const char *text)
{
    fputs("<p>", h->out);
    put_link(h->out, here, to, text);
    fputs("</p>\n", h->out);
}

void html_heading(struct html *h, const char *heading)
{
    fputs("<h3>", h->out);
    html_text(h->out, heading);
    fputs("</h3>\n", h->out);
}

void html_code(struct html *h, const char *text)
{
    fputs("<pre class=\"wide\" tabindex=\"0\">", h->out);
    html_text(h->out, text);
    fputs("</pre>\n", h->out);
}

void html_details_begin(struct html *h, const char *summary, bool open)
{
    fprintf(h->out, "<details%s><summary>", open ? " open=\"\"" : "");
    html_text(h->out, summary);
    fputs("</summary>\n", h->out);
}

void html_details_end(struct html *h)
{
    fputs("</details>\n", h->out);
}

void html_end(struct html *h)
{
    fputs("</body>\n</html>\n", h->out);
}

/* ---- tables ---- */

static const char *column_class(const struct column *column)
{
    return column->flags & COLUMN_NUMBER ? "number"
           : column->flags & COLUMN_LONG ? "long"
                                         : "";
}

void html_table_begin(struct html *h, const struct column *columns, size_t n)
{
    h->columns = columns;
    h->n_columns = h->column = n;
    /* a box that scrolls can be reached by the keyboard */
    fputs("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>", h->out);
    for (size_t i = 0; i < n; i++) {
        fprintf(h->out, "<th scope=\"col\" class=\"%s\">",
                column_class(&columns[i]));
        html_text(h->out, columns[i].name);
        fputs("</th>", h->out);
    }
    fputs("</tr></thead>\n<tbody>\n", h->out);
}

static void end_row(struct html *h)
{
    if (h->column > 0 && h->column == h->n_columns)
        fputs("</tr>\n", h->out);
}

/* The start of the next cell, without the end of its class. */
static void open_cell(struct html *h, const char *look)
{
    if (h->column == h->n_columns) {
        h->column = 0;
        fputs("<tr>", h->out);
    }
    fprintf(h->out, "<td class=\"%s%s%s\"",
            column_class(&h->columns[h->column]), *look ? " " : "", look);
    h->column++;
}

static void close_cell(struct html *h)
{
    fputs("</td>", h->out);
    end_row(h);
}

void html_cell(struct html *h, enum colour look, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    open_cell(h, looks[look]);
    fputc('>', h->out);
    formatted(h->out, format, args);
    close_cell(h);
    va_end(args);
}

void html_cell_link(struct html *h, enum colour look, const char *here,
                    const char *to, const char *text)
{
    open_cell(h, looks[look]);
    fputc('>', h->out);
    put_link(h->out, here, to, text);
    close_cell(h);
}

void html_number(struct html *h, enum colour look, const char *format,
                 double value)
{
    char text[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, value);
#pragma GCC diagnostic pop
    html_cell(h, look, "%s", isnan(value) ? "nan" : text);
}

void html_share(struct html *h, int64_t n, int64_t m)
{
    if (m <= 0) {
        html_cell(h, COLOUR_DIM, "-");
        return;
    }
    html_shaded(h, (double)n / (double)m, COLOUR_NONE, "%" PRId64 "/%" PRId64,
                n, m);
}

void html_shaded(struct html *h, double share, enum colour look,
                 const char *format, ...)
{
    char class[24];
    va_list args;
    va_start(args, format);
    snprintf(class, sizeof class, "share%s%s", *looks[look] ? " " : "",
             looks[look]);
    open_cell(h, class);
    fprintf(h->out, " style=\"--part:%.0f%%\">", 60 * fmin(fmax(share, 0), 1));
    formatted(h->out, format, args);
    close_cell(h);
    va_end(args);
}

void html_table_end(struct html *h)
{
    while (h->column < h->n_columns) /* a row that was left short */
        html_cell(h, COLOUR_DIM, "%s", "");
    fputs("</tbody></table></div>\n", h->out);
    h->columns = NULL;
    h->n_columns = h->column = 0;
}
