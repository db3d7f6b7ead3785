/* SPDX-License-Identifier: MIT */
#include "golden/csv.h"

#include <math.h>
#include <string.h>

#include "golden/utf8.h"

void csv_text(struct csv *csv, const char *text)
{
    const char *quote = strpbrk(text, ",\"") ? "\"" : "";
    uint32_t code;
    fprintf(csv->out, "%s%s", csv->begun ? "," : "", quote);
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
