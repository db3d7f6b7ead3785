/* SPDX-License-Identifier: MIT */
#include "golden/csv.h"

#include <math.h>
#include <string.h>

#include "golden/utf8.h"

/* Programs for tables take a cell that begins so for a formula, and run it; in
 * some languages in wide letters too. */
static bool begins_formula(const char *text)
{
    if (strcmp(text, "-") == 0)
        return false;
    text +=
        strspn(text, "'"); /* so that one is taken off again, and no other */
    switch (utf8_next(&text)) {
    case '=':
    case '+':
    case '-':
    case '@':
    case 0xff1d:
    case 0xff0b:
    case 0xff0d:
    case 0xff20: return true;
    default: return false;
    }
}

static void put(struct csv *csv, const char *mark, const char *text)
{
    const char *quote = strpbrk(text, ",\"") ? "\"" : "";
    uint32_t code;
    fprintf(csv->out, "%s%s%s", csv->begun ? "," : "", quote, mark);
    for (const char *c = text, *next = c; (code = utf8_next(&next)) != 0;
         c = next)
        if (code == UTF8_NONE || utf8_hidden(code))
            fputc('?', csv->out);
        else
            fprintf(csv->out, "%.*s%s", (int)(next - c), c,
                    code == '"' ? "\"" : "");
    fputs(quote, csv->out);
    csv->begun = true;
}

void csv_text(struct csv *csv, const char *text)
{
    put(csv, begins_formula(text) ? "'" : "", text);
}

void csv_word(struct csv *csv, const char *text)
{
    csv_text(csv, text && *text ? text : "-");
}

void csv_number(struct csv *csv, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    put(csv, "", isnan(value) ? "nan" : text);
}

void csv_end_line(struct csv *csv)
{
    fputc('\n', csv->out);
    csv->begun = false;
}
