/* SPDX-License-Identifier: MIT
 *
 * What all reports share: exit code, counts, and the command that repeats a
 * result.
 */
#include "validate/report.h"

#include <stdlib.h>
#include <string.h>

#include "golden/select.h"
#include "golden/temp_file.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/quarantine.h"

int report_exit(const struct report *r)
{
    bool wrong = false, ended = true, ran = false;
    for (size_t i = 0; i < r->count; i++) {
        int code = verdict_get(r->results[i].verdict)->code;
        if (result_is_known(&r->results[i]))
            continue;
        wrong |= code == EXIT_WRONG;
        ended &= code != assay_status_exit(ASSAY_KERNEL);
        ran |= code == 0;
    }
    if (wrong)
        return EXIT_WRONG;
    if (!ended)
        return assay_status_exit(ASSAY_KERNEL);
    return ran ? 0 : EXIT_NOTHING_RAN;
}

void report_counts(const struct report *r, char *text, size_t size)
{
    size_t counts[VERDICTS] = { 0 };
    int at = snprintf(text, size, "%zu result%s", r->count,
                      plural((int64_t)r->count));
    for (size_t i = 0; i < r->count; i++)
        counts[r->results[i].verdict]++;
    for (int v = VERDICTS - 1; v >= 0; v--)
        if (counts[v] > 0 && at > 0 && (size_t)at < size)
            at += snprintf(text + at, size - (size_t)at, ", %zu %s", counts[v],
                           verdict_get((enum verdict)v)->name);
}

size_t report_repeat(const struct report *r, const struct result *one,
                     struct repeat *out)
{
    size_t n = 0;
    const char **argv = out->argv;
    argv[n++] = verb_program;
    argv[n++] = "validate";
    argv[n++] = r->set_path;
    argv[n++] = "--case";
    select_quote(one->case_name, out->case_name, sizeof out->case_name);
    argv[n++] = out->case_name;
    argv[n++] = "--recipe";
    argv[n++] = one->recipe->name;
    if (r->module_option) {
        argv[n++] = "--module";
        argv[n++] = r->module_option;
    }
    if (one->kernel[0]) {
        argv[n++] = "--kernel";
        select_quote(one->kernel, out->kernel, sizeof out->kernel);
        argv[n++] = out->kernel;
    }
    if (one->input) {
        argv[n++] = "--input";
        argv[n++] = one->input;
    }
    if (r->timeout_option) {
        argv[n++] = "--timeout";
        argv[n++] = r->timeout_option;
    }
    return n;
}

/* Quoted where a shell would read something into it. */
static void print_word(const char *word, FILE *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789_./=+-,:";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

static char *line_of(const char *const *words, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        fputs(i ? " " : "", out);
        print_word(words[i], out);
    }
    bool ok = !ferror(out);
    if (fclose(out) == 0 && ok)
        return text;
    free(text);
    return NULL;
}

char *report_repeat_line(const struct report *r, const struct result *one)
{
    struct repeat repeat;
    size_t n = report_repeat(r, one, &repeat);
    return line_of(repeat.argv, n);
}

char *report_command(const char *verb, int argc, char *const *argv)
{
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return NULL;
    words[0] = verb_program;
    words[1] = verb; /* argv[0] is both */
    for (int i = 1; i < argc; i++)
        words[i + 1] = argv[i];
    char *line = line_of(words, (size_t)argc + 1);
    free(words);
    return line;
}

static bool print_table(const void *report, FILE *out)
{
    return report_table(report, out);
}

static bool print_json(const void *report, FILE *out)
{
    return report_json(report, out);
}

enum assay_status report_write(const struct report *r, bool json,
                               const char *path, struct assay_error *err)
{
    return temp_file_print(path, json ? print_json : print_table, r, err);
}
