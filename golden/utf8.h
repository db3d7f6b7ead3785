/* SPDX-License-Identifier: MIT
 *
 * Text that need not be UTF-8, one character at a time.
 */
#ifndef ASSAY_UTF8_H
#define ASSAY_UTF8_H

#include <stdbool.h>
#include <stdint.h>

enum { UTF8_NONE = 0xfffd }; /* what stands for a byte that is no UTF-8 */

/* The character at *text, which moves behind it; 0 at the end, where it stays.
 * UTF8_NONE for each byte that is no part of a character: overlong forms,
 * surrogates and what is above U+10FFFF are none. */
uint32_t utf8_next(const char **text);

/* Whether a character has no look of its own and changes that of others:
 * controls, what turns the direction of writing, spaces without width, and
 * what XML has no place for. */
bool utf8_hidden(uint32_t c);

/* A copy in which such characters, and bytes that are no UTF-8, stand as \x1b
 * or \u202e; what is shown already stays. free(). NULL: out of memory. */
char *utf8_shown(const char *text);

/* Writes a character as 1 to 4 bytes and a NUL; room for five. */
void utf8_put(uint32_t c, char *bytes);

#endif
