/* SPDX-License-Identifier: MIT */
#include "golden/sheet.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "golden/text.h"
#include "golden/utf8.h"

static void markdown_head(FILE *out, const struct column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs("| ", out);
        for (const char *c = columns[i].name; *c; c++)
            fputc(tolower((unsigned char)*c), out);
        fputc(' ', out);
    }
    fputs("|\n", out);
    for (size_t i = 0; i < n; i++)
        fputs(columns[i].flags & COLUMN_NUMBER ? "|---:" : "|---", out);
    fputs("|\n", out);
}

void sheet_begin(struct sheet *s, FILE *out, bool markdown, const char *title,
                 const struct column *columns, size_t n)
{
    *s = (struct sheet){
        .out = out, .columns = n, .column = n, .markdown = markdown
    };
    if (title)
        fprintf(out, "%s%s\n%s", markdown ? "### " : "", title,
                markdown ? "\n" : "");
    if (markdown) {
        markdown_head(out, columns, n);
        return;
    }
    s->table = table_new(columns, n);
    s->failed = !s->table;
}

void sheet_open(struct sheet *s, const struct sheet_to *to, const char *title,
                const struct column *columns, size_t n)
{
    if (!to->html) {
        sheet_begin(s, to->out, to->markdown, title, columns, n);
        return;
    }
    if (title)
        html_heading(to->html, title);
    *s = (struct sheet){
        .out = to->html->out, .columns = n, .column = n, .html = to->html
    };
    html_table_begin(to->html, columns, n);
}

/* The cell that came last; its text may be gone. */
static void put_last(struct sheet *s)
{
    if (s->last && s->to[0])
        html_cell_link(s->html, s->colour, s->here, s->to, s->last);
    else if (s->last)
        html_cell(s->html, s->colour, "%s", s->last);
    free(s->last);
    s->last = NULL;
    s->to[0] = '\0';
    s->colour = COLOUR_NONE;
}

/* Of Markdown with GitHub's extensions: emphasis, code, links, HTML and its
 * entities, tables, struck-out text and formulas. */
static const char MARKUP[] = "\\`*_[]<>&|~$";

void sheet_text(FILE *out, bool markdown, const char *text)
{
    char *plain = utf8_shown(text);
    if (!plain)
        return;
    for (const char *c = plain; *c; c++)
        fprintf(out, markdown && strchr(MARKUP, *c) ? "\\%c" : "%c", *c);
    free(plain);
}

static void cell(struct sheet *s, const char *text)
{
    if (s->html) {
        put_last(s);
        s->last = strdup(text);
        s->failed |= !s->last;
        return;
    }
    if (s->column == s->columns) {
        s->column = 0;
        if (s->table)
            table_row(s->table);
    }
    if (s->table)
        table_text(s->table, s->column, text);
    s->column++;
    if (!s->markdown)
        return;
    fputs("| ", s->out);
    sheet_text(s->out, true, text);
    fputs(s->column == s->columns ? " |\n" : " ", s->out);
}

void sheet_cell(struct sheet *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_new_args(format, args);
    va_end(args);
    s->failed |= !text;
    cell(s, text ? text : "");
    free(text);
}

void sheet_number(struct sheet *s, const char *format, double value)
{
    char text[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, value);
#pragma GCC diagnostic pop
    sheet_cell(s, "%s", isnan(value) ? "-" : text);
}

void sheet_colour(struct sheet *s, enum colour colour)
{
    if (s->html)
        s->colour = colour;
    else if (s->table)
        table_colour(s->table, s->column - 1, colour);
}

void sheet_link(struct sheet *s, const char *here, const char *to)
{
    snprintf(s->here, sizeof s->here, "%s", here);
    snprintf(s->to, sizeof s->to, "%s", s->html ? to : "");
}

bool sheet_end(struct sheet *s)
{
    if (s->table && !table_print(s->table, s->out))
        s->failed = true;
    s->table = NULL;
    if (s->html) {
        put_last(s);
        html_table_end(s->html);
        return !s->failed;
    }
    fputc('\n', s->out);
    return !s->failed;
}
