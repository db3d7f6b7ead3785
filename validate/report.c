/* SPDX-License-Identifier: MIT
 *
 * What all reports share: the head, exit code, counts, and the command that
 * repeats a result.
 */
#include "validate/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "config.h"
#include "golden/provenance.h"
#include "golden/select.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/quarantine.h"

static const struct report_format formats[] = {
#define ASSAY_REPORT(name, begin, one, end, about) \
    { name, begin, one, end, about },
#include "validate/report.def"
#undef ASSAY_REPORT
};

enum { FORMATS = sizeof formats / sizeof *formats };

int report_format_count(void)
{
    return FORMATS;
}

const char report_format_names[] =
#define ASSAY_REPORT(name, begin, one, end, about) "|" name
#include "validate/report.def"
#undef ASSAY_REPORT
    ;

bool report_format_has_rows(const struct report_format *format)
{
    return format->end == report_json || format->end == report_jsonl_end;
}

bool report_format_has_pictures(const struct report_format *format)
{
    return format->end == report_html;
}

const struct report_format *report_format_get(int i)
{
    return &formats[i];
}

const struct report_format *report_format_parse(struct argp_state *state,
                                                const char *arg)
{
    const char *names[FORMATS];
    for (int i = 0; i < FORMATS; i++)
        names[i] = formats[i].name;
    return &formats[verb_word(state, "--format", arg, names, FORMATS)];
}

void report_run_fill(struct report *report, const struct assay_set *set,
                     char *command)
{
    struct report_run *run = &report->run;
    provenance_date(run->date, sizeof run->date);
    provenance_host(run->host, sizeof run->host);
    provenance_cpu(run->cpu, sizeof run->cpu);
    run->command = command;
    run->set_command = set ? assay_set_provenance(set, "command") : NULL;
}

void report_run_free(struct report *report)
{
    free(report->run.command);
    free(report->run.set_command);
    report->run.command = report->run.set_command = NULL;
}

void report_facts(const struct report *r,
                  struct report_fact facts[REPORT_FACTS])
{
    const struct report_run *run = &r->run;
    const struct report_fact all[REPORT_FACTS] = {
        { "version", PACKAGE_VERSION },
        { "date", run->date },
        { "command", run->command ? run->command : "not said" },
        { "host", run->host },
        { "cpu", run->cpu },
        { "blas", assay_blas_name() },
        { "blas_core", assay_blas_core() },
        { "set", r->set_path },
        { "set_content_hash", r->set_hash },
        { "set_command", run->set_command ? run->set_command : "not said" },
        { "driver", driver_get(r->driver)->name },
        { "module", r->module->path },
        { "module_name", r->module->name },
        { "module_build", r->module->build[0] ? r->module->build : "not said" },
        { "module_device", r->module->where },
    };
    memcpy(facts, all, sizeof all);
}

double report_seconds(const struct result *one)
{
    return one->seconds > 0 ? one->seconds : NAN;
}

bool report_gate_judged(const struct result *one, enum gate gate)
{
    return one->judged && one->gates[gate].judged;
}

double report_gate_limit(const struct result *one, enum gate gate)
{
    const double limit = one->gates[gate].limit.value;
    return one->judged && limit >= 0 ? limit : NAN;
}

const char *report_gate_limit_from(const struct result *one, enum gate gate)
{
    return isnan(report_gate_limit(one, gate))
               ? NULL
               : limit_source_name(one->gates[gate].limit.source);
}

int report_exit(const struct report *r)
{
    bool wrong = false, ended = true, ran = false;
    for (size_t i = 0; i < r->count; i++) {
        int code = verdict_get(r->results[i].verdict)->code;
        const bool known = result_is_known(&r->results[i]);
        wrong |= !known && code == EXIT_WRONG;
        ended &= known || code != assay_status_exit(ASSAY_KERNEL);
        ran |= known || code == 0;
    }
    if (wrong)
        return EXIT_WRONG;
    if (!ended)
        return assay_status_exit(ASSAY_KERNEL);
    return ran ? 0 : EXIT_NOTHING_RAN;
}

static void add(char *text, size_t size, size_t count, const char *what)
{
    if (count > 0)
        text_append(text, size, ", %zu %s", count, what);
}

void report_counts(const struct report *r, char *text, size_t size)
{
    size_t counts[VERDICTS] = { 0 }, known = 0, unexpected = 0;
    snprintf(text, size, "%zu result%s", r->count, plural((int64_t)r->count));
    for (size_t i = 0; i < r->count; i++) {
        counts[r->results[i].verdict]++;
        known += result_is_known(&r->results[i]);
        unexpected += result_passed_unexpectedly(&r->results[i]);
    }
    for (int v = VERDICTS - 1; v >= 0; v--)
        add(text, size, counts[v], verdict_get((enum verdict)v)->name);
    add(text, size, known, "known before");
    add(text, size, unexpected, "passed unexpectedly");
}

size_t report_limit_words(const struct limits *limits,
                          char text[GATES][LIMITS_WORD], const char **argv)
{
    size_t n = 0;
    for (int g = 0; limits && g < GATES; g++) {
        if (isnan(limits->command[g]))
            continue;
        limits_word((enum gate)g, limits->command[g], text[g]);
        argv[n++] = "--limit";
        argv[n++] = text[g];
    }
    if (limits && limits->path) {
        argv[n++] = "--limits";
        argv[n++] = limits->path;
    }
    return n;
}

/* Options that change the verdict. */
static size_t repeat_limits(const struct report *r, struct repeat *out,
                            size_t n)
{
    n += report_limit_words(r->limits, out->limits, out->argv + n);
    if (r->quarantine_option) {
        out->argv[n++] = "--quarantine";
        out->argv[n++] = r->quarantine_option;
    }
    if (r->runs > 1) {
        snprintf(out->runs, sizeof out->runs, "%ld", r->runs);
        out->argv[n++] = "--repeat";
        out->argv[n++] = out->runs;
    }
    return n;
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
    if (r->driver_option) {
        snprintf(out->driver, sizeof out->driver, "--%s",
                 driver_get(r->driver)->name);
        argv[n++] = out->driver;
        argv[n++] = r->driver_option;
    }
    if (r->layout_option) {
        argv[n++] = "--layout";
        argv[n++] = r->layout_option;
    }
    if (r->device_option) {
        argv[n++] = "--device";
        argv[n++] = r->device_option;
    }
    /* a program has one kernel, of its name */
    if (one->kernel[0] && r->driver != DRIVER_EXEC &&
        r->driver != DRIVER_SERVE) {
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
    if (r->memory_limit_option) {
        argv[n++] = "--memory-limit";
        argv[n++] = r->memory_limit_option;
    }
    return repeat_limits(r, out, n);
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

char *report_line(const char *const *words, size_t n)
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
    return report_line(repeat.argv, n);
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
    char *line = report_line(words, (size_t)argc + 1);
    free(words);
    return line;
}
