/* SPDX-License-Identifier: MIT */
#include "golden/sheet.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void markdown_head(const struct column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs("| ", stdout);
        for (const char *c = columns[i].name; *c; c++)
            putchar(tolower((unsigned char)*c));
        putchar(' ');
    }
    puts("|");
    for (size_t i = 0; i < n; i++)
        fputs(columns[i].flags & COLUMN_NUMBER ? "|---:" : "|---", stdout);
    puts("|");
}

void sheet_begin(struct sheet *s, bool markdown, const char *title,
                 const struct column *columns, size_t n)
{
    *s = (struct sheet){ .columns = n, .column = n, .markdown = markdown };
    printf("%s%s\n%s", markdown ? "### " : "", title, markdown ? "\n" : "");
    if (markdown) {
        markdown_head(columns, n);
        return;
    }
    s->table = table_new(columns, n);
    s->failed = !s->table;
}

/* What Markdown would read something into is escaped. */
static void markdown_cell(const struct sheet *s, char *text)
{
    term_plain(text);
    fputs("| ", stdout);
    for (const char *c = text; *c; c++)
        printf(strchr("|\\`*_<", *c) ? "\\%c" : "%c", *c);
    fputs(s->column + 1 == s->columns ? " |\n" : " ", stdout);
}

void sheet_cell(struct sheet *s, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (s->column == s->columns) {
        s->column = 0;
        if (s->table)
            table_row(s->table);
    }
    if (s->table)
        table_text(s->table, s->column, text);
    if (s->markdown)
        markdown_cell(s, text);
    s->column++;
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

bool sheet_end(struct sheet *s)
{
    if (s->table && !table_print(s->table, stdout))
        s->failed = true;
    s->table = NULL;
    putchar('\n');
    return !s->failed;
}
