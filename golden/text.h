/* SPDX-License-Identifier: MIT
 *
 * Texts by formats of printf. The sign of a NaN means nothing, and glibc prints
 * it: here a number that is no number is always "nan".
 */
#ifndef ASSAY_TEXT_H
#define ASSAY_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in a room of `size` bytes; what has no room is cut off. */
void text_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void text_print_args(char *text, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
/* The same behind the text that is there. */
void text_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same in a room of its own; free(). NULL: out of memory. */
char *text_new_args(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

/* Whether there is nothing to be read in it; whether it is a day that the
 * calendar has, as YYYY-MM-DD; whether it is a link. */
bool text_is_blank(const char *text);
bool text_is_day(const char *text);
bool text_is_link(const char *text);

/* The "s" of n things: 1 block, 2 blocks. */
static inline const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

#endif
