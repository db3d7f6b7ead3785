/* SPDX-License-Identifier: MIT */
#include "golden/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

bool text_is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* Digits where they belong, and a day that the calendar has. */
bool text_is_day(const char *text)
{
    static const char form[] = "dddd-dd-dd";
    struct tm day = { 0 }, real;
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9'
                           : text[i] != form[i])
            return false;
    if (!strptime(text, "%Y-%m-%d", &day))
        return false;
    real = day;
    timegm(&real);
    return real.tm_mon == day.tm_mon && real.tm_mday == day.tm_mday;
}

bool text_is_link(const char *text)
{
    return strstr(text, "://");
}
