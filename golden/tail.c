/* SPDX-License-Identifier: MIT */
#include "golden/tail.h"

#include <stdio.h>
#include <string.h>

#include "golden/term.h"

void tail_add(struct tail *tail, const char *bytes, size_t n)
{
    tail->total += n;
    if (n >= TAIL_BYTES) {
        bytes += n - TAIL_BYTES;
        n = TAIL_BYTES;
    }
    const size_t room = TAIL_BYTES - tail->n;
    if (n > room) {
        tail->n -= n - room;
        memmove(tail->text, tail->text + (n - room), tail->n);
    }
    memcpy(tail->text + tail->n, bytes, n);
    tail->n += n;
}

/* The last lines from *from on, of at most `most` bytes and `lines` lines, but
 * one at least; *end is behind them, without the line's end. */
static void last_lines(const struct tail *tail, size_t most, int lines,
                       size_t *from, size_t *end)
{
    size_t n = tail->n;
    while (n > 0 && strchr("\n\r ", tail->text[n - 1]))
        n--;
    size_t begin = n;
    for (size_t at = n; at-- > 0 && lines > 0;) {
        if (at > 0 && tail->text[at - 1] != '\n')
            continue;
        if (begin != n && n - at > most)
            break;
        begin = at;
        lines--;
    }
    *from = begin;
    *end = n;
}

static void copy_lines(const struct tail *tail, int lines, char *text,
                       size_t size)
{
    size_t from, end, at = 0;
    last_lines(tail, size - size / 8, lines, &from, &end);
    for (; from < end && at + 4 < size; from++) {
        const char c = tail->text[from];
        if (c == '\n' && from > 0)
            at += (size_t)snprintf(text + at, size - at, " | ");
        else if (c == '\t')
            text[at++] = ' ';
        else if (c != '\0' && c != '\r')
            text[at++] = c;
    }
    text[at] = '\0';
    term_plain(text);
}

void tail_line(const struct tail *tail, char *text, size_t size)
{
    copy_lines(tail, 1, text, size);
}

void tail_lines(const struct tail *tail, char *text, size_t size)
{
    copy_lines(tail, 8, text, size);
}
