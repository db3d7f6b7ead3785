/* SPDX-License-Identifier: MIT */
#include "golden/verb.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/term.h"

void verb_say(const char *verb, const char *sentence)
{
    term_printf(stderr, "assay %s: %s\n", verb, sentence);
}

const char *verb_program = "assay";

void verb_limit_threads(void)
{
    if (omp_get_max_threads() > VERB_MOST_THREADS)
        omp_set_num_threads(VERB_MOST_THREADS);
}

/* verb_fail or verb_end has said how stdout ended. */
static bool ended;
static const char *watched;
static pid_t program;

static int end_stdout(const char *verb, int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    fprintf(stderr, "assay %s: standard output cannot be written: %s\n", verb,
            strerror(errno));
    return assay_status_exit(ASSAY_FILE);
}

/* argp exits by itself once it has printed a help. A child's stdout is for its
 * parent to judge. */
static void at_exit(void)
{
    if (!ended && getpid() == program && end_stdout(watched, 0) != 0)
        _exit(assay_status_exit(ASSAY_FILE));
}

void verb_watch_stdout(const char *verb)
{
    watched = verb;
    program = getpid();
    atexit(at_exit);
}

int verb_fail(const char *verb, const struct assay_error *err)
{
    ended = true;
    fflush(stdout);
    verb_say(verb, err->text);
    return assay_status_exit(err->status);
}

int verb_end(const char *verb, int exit_code)
{
    ended = true;
    return end_stdout(verb, exit_code);
}

static ssize_t put_shown(void *to, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        const size_t line = end ? (size_t)(end - bytes) - at : n - at;
        term_printf(to, end ? "%.*s\n" : "%.*s", (int)line, bytes + at);
        at += line + (end != NULL);
    }
    return (ssize_t)n;
}

/* argp and getopt write to the stderr that they find. */
void verb_parse(const struct argp *argp, int argc, char **argv, void *options)
{
    FILE *own = stderr,
         *shown = fopencookie(own, "w",
                              (cookie_io_functions_t){ .write = put_shown });
    if (shown) {
        setvbuf(shown, NULL, _IOLBF, BUFSIZ);
        stderr = shown;
    }
    argp_parse(argp, argc, argv, 0, NULL, options);
    stderr = own;
    if (shown)
        fclose(shown);
}

/* strtod() and strtol() would take a space or a plus before a number. */
static bool begins(const char *text)
{
    return isdigit((unsigned char)*text) || *text == '-' || *text == '.';
}

double verb_number(struct argp_state *state, const char *option,
                   const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (!begins(text) || *end || end == text || !isfinite(value))
        argp_error(state, "%s takes a finite number, not \"%s\"", option, text);
    return value;
}

long verb_integer(struct argp_state *state, const char *option,
                  const char *text, long least, long most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (!begins(text) || end == text || *end || errno || value < least ||
        value > most)
        argp_error(state, "%s takes a whole number from %ld to %ld, not \"%s\"",
                   option, least, most, text);
    return value;
}

int verb_word(struct argp_state *state, const char *option, const char *text,
              const char *const *words, int count)
{
    char all[256] = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i ? ", " : "", words[i]);
    }
    argp_error(state, "%s is one of %s, not \"%s\"", option, all, text);
    return -1;
}

void verb_output(struct argp_state *state, const char *arg, const char **out)
{
    if (*out)
        argp_error(state, "-o %s and -o %s: one of them at a time", *out, arg);
    *out = arg;
}

error_t verb_one_set(int key, char *arg, struct argp_state *state,
                     const char **file)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*file)
            argp_error(state, "one golden set at a time");
        *file = arg;
        return 0;
    case ARGP_KEY_END:
        if (!*file)
            argp_error(state, "no golden set named");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}
