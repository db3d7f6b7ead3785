/* SPDX-License-Identifier: MIT */
#include "ref/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Whether a format prints a floating point number. */
static bool has_real(const char *format)
{
    while ((format = strchr(format, '%')) != NULL) {
        format += 1 + strspn(format + 1, " +-#0123456789.*lhjzt");
        if (*format && strchr("aefgAEFG", *format))
            return true;
        format += *format != '\0';
    }
    return false;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* "-nan" that stands by itself, and "+nan" of a format with a sign. */
void assay_text_unsign_nan(const char *format, char *text)
{
    if (!has_real(format))
        return;
    for (char *at = text; (at = strpbrk(at, "-+")) != NULL;)
        if (strncmp(at + 1, "nan", 3) == 0 && !in_word(at[4]) &&
            (at == text || !in_word(at[-1])))
            memmove(at, at + 1, strlen(at));
        else
            at++;
}
