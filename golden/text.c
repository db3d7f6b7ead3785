/* SPDX-License-Identifier: MIT */
#include "golden/text.h"

#include <stdio.h>
#include <string.h>

#include "ref/text.h"

void text_print_args(char *text, size_t size, const char *format, va_list args)
{
    if (size == 0)
        return;
    vsnprintf(text, size, format, args);
    assay_text_unsign_nan(format, text);
}

void text_print(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_print_args(text, size, format, args);
    va_end(args);
}

void text_append(char *text, size_t size, const char *format, ...)
{
    const size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    text_print_args(text + n, size - n, format, args);
    va_end(args);
}

char *text_new_args(const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        return NULL;
    assay_text_unsign_nan(format, text);
    return text;
}
