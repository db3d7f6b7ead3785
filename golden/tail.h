/* SPDX-License-Identifier: MIT
 *
 * The end of what a process prints: however much that is, no more is kept.
 */
#ifndef ASSAY_TAIL_H
#define ASSAY_TAIL_H

#include <stddef.h>

/* The last bytes of a stream, zeroed at its beginning. */
enum { TAIL_BYTES = 4096 };
struct tail {
    char text[TAIL_BYTES];
    size_t n;
    size_t total; /* bytes that there were */
};
void tail_add(struct tail *tail, const char *bytes, size_t n);
/* Its last line, fit for a terminal. */
void tail_line(const struct tail *tail, char *text, size_t size);
/* As many of its last lines as there is room for, " | " between them. */
void tail_lines(const struct tail *tail, char *text, size_t size);

#endif
