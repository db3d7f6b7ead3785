/* SPDX-License-Identifier: MIT */
#include "golden/csv.h"

#include <math.h>
#include <string.h>

void csv_text(struct csv *csv, const char *text)
{
    const char *quote = strpbrk(text, ",\"\r\n") ? "\"" : "";
    fprintf(csv->out, "%s%s", csv->begun ? "," : "", quote);
    for (const char *c = text; *c; c++)
        fprintf(csv->out, *c == '"' ? "\"\"" : "%c", *c);
    fputs(quote, csv->out);
    csv->begun = true;
}

void csv_word(struct csv *csv, const char *text)
{
    csv_text(csv, text && *text ? text : "-");
}

void csv_number(struct csv *csv, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    csv_text(csv, isnan(value) ? "nan" : text);
}

void csv_end_line(struct csv *csv)
{
    fputc('\n', csv->out);
    csv->begun = false;
}
