/* SPDX-License-Identifier: MIT */
#include "validate/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/term.h"

static const char *const names[] = {
#define COMMAND_VALUE(id, name, about) name,
#include "validate/command_value.def"
#undef COMMAND_VALUE
};

const char *command_value_name(enum command_value value)
{
    return names[value];
}

/* Where a shell is in a line. */
struct reader {
    const char *at;
    char quote; /* ', " or 0 */
};

/* The value that stands here, or COMMAND_VALUES. */
static enum command_value value_here(const char *at)
{
    int i = COMMAND_VALUES;
    if (*at == '{')
        for (i = 0; i < COMMAND_VALUES; i++) {
            const size_t n = strlen(names[i]);
            if (strncmp(at + 1, names[i], n) == 0 && at[n + 1] == '}')
                break;
        }
    return (enum command_value)i;
}

/* Bytes of the line that the shell sees as they are, from `at` on: one, or two
 * where the first takes the second's meaning. */
static size_t step(struct reader *r)
{
    const char c = *r->at;
    const bool pair = (c == '\\' && r->quote != '\'') || c == '$';
    if ((c == '\'' || c == '"') && (!r->quote || r->quote == c))
        r->quote = r->quote ? 0 : c;
    return pair && r->at[1] && (c != '$' || r->at[1] == '{') ? 2 : 1;
}

bool command_line_has(const char *line, enum command_value value)
{
    struct reader r = { line, 0 };
    for (; *r.at; r.at += step(&r))
        if (value_here(r.at) == value)
            return true;
    return false;
}

static bool is_plain(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789"
                                "_./=+-,:@%";
    return *text && text[strspn(text, plain)] == '\0';
}

static void print_value(const char *text, FILE *out)
{
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

static enum assay_status fill(const char *line,
                              const char *const values[COMMAND_VALUES],
                              FILE *out, struct assay_error *err)
{
    struct reader r = { line, 0 };
    while (*r.at) {
        const enum command_value v = value_here(r.at);
        if (v == COMMAND_VALUES) {
            const size_t n = step(&r);
            fwrite(r.at, 1, n, out);
            r.at += n;
            continue;
        }
        if (r.quote && !is_plain(values[v])) {
            char text[128];
            snprintf(text, sizeof text, "%s", values[v]);
            term_plain(text);
            return assay_fail(err, ASSAY_USAGE,
                              "--exec: {%s} stands in quotes, but its value %s "
                              "needs quotes of its own",
                              names[v], text);
        }
        print_value(values[v], out);
        r.at += strlen(names[v]) + 2;
    }
    return ASSAY_OK;
}

enum assay_status command_line_fill(const char *line,
                                    const char *const values[COMMAND_VALUES],
                                    char **out, struct assay_error *err)
{
    size_t size;
    *out = NULL;
    FILE *to = open_memstream(out, &size);
    if (!to)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a command line");
    enum assay_status st = fill(line, values, to, err);
    bool ok = !ferror(to);
    if ((fclose(to) != 0 || !ok) && st == ASSAY_OK)
        st = assay_fail(err, ASSAY_MEMORY, "no memory for a command line");
    if (st != ASSAY_OK) {
        free(*out);
        *out = NULL;
    }
    return st;
}

/* What starts programs, options, assignments and values. */
static bool is_no_program(const char *word, size_t n)
{
    static const char *const starters[] = { "env",  "exec",   "sh",     "bash",
                                            "nice", "python", "python3" };
    if (*word == '-' || *word == '{' || memchr(word, '=', n))
        return true;
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
        const size_t m = strlen(starters[i]);
        const bool last = n >= m && memcmp(word + n - m, starters[i], m) == 0;
        if (last && (n == m || word[n - m - 1] == '/'))
            return true;
    }
    return false;
}

void command_line_name(const char *line, char *name, size_t size)
{
    static const char spaces[] = " \t\n";
    const char *word = line + strspn(line, spaces);
    size_t n = strcspn(word, spaces);
    while (n && is_no_program(word, n)) {
        word += n + strspn(word + n, spaces);
        n = strcspn(word, spaces);
    }
    for (size_t i = n; i-- > 0;)
        if (word[i] == '/' && i + 1 < n) {
            word += i + 1;
            n -= i + 1;
            break;
        }
    snprintf(name, size, "%.*s", (int)(n ? n : 7), n ? word : "command");
    term_plain(name);
}
