/* SPDX-License-Identifier: MIT
 *
 * Tables are libsmartcols'; the progress bar is a line on stderr.
 */
#include "golden/term.h"

#include "golden/clock.h"
#include "golden/utf8.h"

#include <inttypes.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

void progress_begin(struct progress *p, const char *label)
{
    const char *kind = getenv("TERM");
    *p = (struct progress){ .start = seconds() };
    snprintf(p->label, sizeof p->label, "%s", label);
    term_plain(p->label);
    p->on = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
}

static void print_bar(const struct progress *p, double elapsed, int64_t done,
                      int64_t total)
{
    enum { WIDTH = 24 };
    struct winsize size = { .ws_col = 80 };
    char bar[WIDTH + 1];
    int full = (int)(WIDTH * done / total);
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    int left = rate > 0 ? (int)((double)(total - done) / rate + 0.5) : 0;
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    int label = size.ws_col > 70 ? size.ws_col - 62 : 8;
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(WIDTH - full));
    bar[WIDTH] = '\0';
    fprintf(stderr,
            "\r\033[K%-*.*s [%s] %" PRId64 "/%" PRId64 "  %.3g/s  %d:%02d left",
            label, label, p->label, bar, done, total, rate, left / 60,
            left % 60);
    fflush(stderr);
}

void progress_step(void *context, int64_t done, int64_t total)
{
    struct progress *p = context;
    if (!p->on || total <= 0)
        return;
    double now = seconds();
    if (now - p->shown < 0.1 && done < total)
        return;
    p->shown = now;
    print_bar(p, now - p->start, done, total);
}

void progress_end(struct progress *p)
{
    if (p->on && p->shown > 0)
        fputs("\r\033[K", stderr);
    p->on = false;
}

enum { MAX_COLUMNS = 32, LEAST_LONG = 12 };

struct table {
    struct libscols_table *own;
    struct libscols_line *line;
    size_t n;
    int flags[MAX_COLUMNS];     /* of enum column_flags */
    size_t widths[MAX_COLUMNS]; /* of the widest cell so far */
    bool failed;
};

bool term_is_control(const char *c)
{
    unsigned char first = (unsigned char)c[0], next = (unsigned char)c[!!first];
    return first < 0x20 || first == 0x7f ||
           (first == 0xc2 && next >= 0x80 && next < 0xa0);
}

void term_plain(char *text)
{
    const char *from = text;
    char *to = text;
    for (;;) {
        const char *first = from;
        const uint32_t c = utf8_next(&from);
        if (c == 0)
            break;
        if (c == UTF8_NONE || utf8_hidden(c))
            *to++ = '?';
        else
            while (first < from)
                *to++ = *first++;
    }
    *to = '\0';
}

bool term_printf(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_new_args(format, args);
    va_end(args);
    const size_t n = strlen(format);
    const bool ends = n > 0 && format[n - 1] == '\n';
    if (text && ends)
        text[strlen(text) - 1] = '\0';
    char *shown = text ? utf8_shown(text) : NULL;
    const bool ok = shown && fprintf(out, "%s%s", shown, ends ? "\n" : "") >= 0;
    free(shown);
    free(text);
    return ok;
}

int term_width(FILE *out)
{
    struct winsize size;
    return isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0
               ? size.ws_col
               : 0;
}

/* The first of them that is set counts, as for the C library. It is not asked:
 * a locale of its own could change how numbers are written. */
bool term_utf8(FILE *out)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char *locale = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!locale || !*locale)
            locale = getenv(names[i]);
    return isatty(fileno(out)) && locale &&
           (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

bool term_colour(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(fileno(out)) && !(no && *no) && kind &&
           strcmp(kind, "dumb") != 0;
}

struct table *table_new(const struct column *columns, size_t n)
{
    struct table *t = calloc(1, sizeof *t);
    if (!t || !(t->own = scols_new_table())) {
        free(t);
        return NULL;
    }
    t->n = n;
    t->failed = n > MAX_COLUMNS;
    for (size_t i = 0; i < n && !t->failed; i++) {
        int flags = columns[i].flags & COLUMN_NUMBER ? SCOLS_FL_RIGHT : 0;
        t->flags[i] = columns[i].flags;
        t->widths[i] = strlen(columns[i].name);
        if (!scols_table_new_column(t->own, columns[i].name, 0, flags))
            t->failed = true;
    }
    return t;
}

void table_row(struct table *t)
{
    t->line = scols_table_new_line(t->own, NULL);
    t->failed |= !t->line;
}

/* Cells that a byte takes: libsmartcols writes what it cannot show, and a
 * backslash that could be taken for its own, as \xNN. */
static size_t cells(const char *c)
{
    unsigned char byte = (unsigned char)*c;
    return byte < 0x20 || byte >= 0x7f || (byte == '\\' && c[1] == 'x') ? 4 : 1;
}

static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += cells(text);
    return n;
}

void table_text(struct table *t, size_t column, const char *text)
{
    size_t n = width_of(text);
    if (t->failed || scols_line_set_data(t->line, column, text) != 0)
        t->failed = true;
    else if (n > t->widths[column])
        t->widths[column] = n;
}

void table_printf(struct table *t, size_t column, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    text_print_args(text, sizeof text, format, args);
    va_end(args);
    table_text(t, column, text);
}

void table_colour(struct table *t, size_t column, enum colour colour)
{
    static const char *const names[] = {
        [COLOUR_NONE] = NULL,
        [COLOUR_GOOD] = "green",
        [COLOUR_BAD] = "red",
        [COLOUR_DIM] = "gray",
    };
    struct libscols_cell *cell =
        t->failed ? NULL : scols_line_get_cell(t->line, column);
    if (cell && names[colour])
        scols_cell_set_color(cell, names[colour]);
}

/* Head and tail of a text that is too long: case names differ at the end. Prose
 * is read from its head. */
static void shorten(struct libscols_line *line, size_t column, size_t width,
                    bool prose)
{
    struct libscols_cell *cell = scols_line_get_cell(line, column);
    const char *text = cell ? scols_cell_get_data(cell) : NULL;
    char cut[512];
    if (!text || width_of(text) <= width || width >= sizeof cut)
        return;
    const char *tail = text + strlen(text);
    const size_t most = prose ? width : 2 + (width - 2) / 3;
    size_t head = 0, used = 2;
    while (used + cells(text + head) <= most)
        used += cells(text + head++);
    while (!prose && used + cells(tail - 1) <= width)
        used += cells(--tail);
    snprintf(cut, sizeof cut, "%.*s..%s", (int)head, text, tail);
    scols_cell_set_data(cell, cut);
}

/* Takes from the widest long column until all fits. */
static void cut_long(struct table *t, size_t need, size_t have)
{
    for (; need > have; need--) {
        size_t widest = t->n;
        for (size_t i = 0; i < t->n; i++)
            if ((t->flags[i] & COLUMN_LONG) &&
                (widest == t->n || t->widths[i] > t->widths[widest]))
                widest = i;
        if (widest == t->n || t->widths[widest] <= LEAST_LONG)
            break;
        t->widths[widest]--;
    }
    for (size_t l = 0; l < scols_table_get_nlines(t->own); l++)
        for (size_t i = 0; i < t->n; i++)
            if ((t->flags[i] & COLUMN_LONG))
                shorten(scols_table_get_line(t->own, l), i, t->widths[i],
                        (t->flags[i] & COLUMN_PROSE) == COLUMN_PROSE);
}

/* Leaves out extra columns, the last first, until the rest fits beside long
 * texts cut to LEAST_LONG; then cuts those as far as needed. */
static void fit(struct table *t, FILE *out)
{
    const size_t width = (size_t)term_width(out);
    if (width == 0)
        return;
    size_t need = t->n - 1, spare = 0;
    for (size_t i = 0; i < t->n; i++) {
        need += t->widths[i];
        if ((t->flags[i] & COLUMN_LONG) && t->widths[i] > LEAST_LONG)
            spare += t->widths[i] - LEAST_LONG;
    }
    for (size_t i = t->n; i-- > 0 && need > width + spare;)
        if ((t->flags[i] & COLUMN_EXTRA)) {
            struct libscols_column *c = scols_table_get_column(t->own, i);
            scols_column_set_flags(c, SCOLS_FL_HIDDEN);
            need -= t->widths[i] + 1;
        }
    cut_long(t, need, width);
}

bool table_print(struct table *t, FILE *out)
{
    bool ok = !t->failed;
    if (ok)
        fit(t, out);
    scols_table_set_stream(t->own, out);
    scols_table_enable_colors(t->own, term_colour(out));
    if (ok)
        ok = scols_print_table(t->own) == 0 && fflush(out) == 0;
    scols_unref_table(t->own);
    free(t);
    return ok;
}
