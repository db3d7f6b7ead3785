/* SPDX-License-Identifier: MIT */
#include "golden/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void csv_text(struct csv *csv, const char *text)
{
    const char *quote = strpbrk(text, ",\"\r\n") ? "\"" : "";
    printf("%s%s", csv->begun ? "," : "", quote);
    for (const char *c = text; *c; c++)
        printf(*c == '"' ? "\"\"" : "%c", *c);
    fputs(quote, stdout);
    csv->begun = true;
}

void csv_number(struct csv *csv, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    csv_text(csv, isnan(value) ? "nan" : text);
}

void csv_end_line(struct csv *csv)
{
    putchar('\n');
    csv->begun = false;
}
