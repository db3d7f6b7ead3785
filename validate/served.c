/* SPDX-License-Identifier: MIT */
#include "validate/served.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/clock.h"
#include "golden/json.h"
#include "golden/term.h"

static void say_status(const json_t *status, struct served_answer *out)
{
    char *text = json_dumps(status, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(out->reason, sizeof out->reason,
             "status %.100s is not ok, unsupported or failed",
             text ? text : "");
    free(text);
}

/* An object that has a status is an answer, a good one or not. */
static void take_answer(const json_t *root, bool twice,
                        struct served_answer *out)
{
    static const char *const words[] = { "ok", "unsupported", "failed" };
    const json_t *status = json_object_get(root, "status");
    const char *word = json_string_value(status),
               *reason = json_string_value(json_object_get(root, "reason"));
    out->end = SERVED_BAD;
    for (int i = 0; word && !twice && i < 3; i++)
        if (strcmp(word, words[i]) == 0)
            out->end = (enum served_end)i;
    if (out->end != SERVED_BAD)
        snprintf(out->reason, sizeof out->reason, "%s",
                 reason && *reason ? reason : "no reason given");
    else if (twice)
        snprintf(out->reason, sizeof out->reason, "a key stands there twice");
    else
        say_status(status, out);
    term_plain(out->reason);
}

/* Whether a line is an answer. */
static bool read_answer(const char *line, size_t n, struct served_answer *out)
{
    json_t *root = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    const bool once = root != NULL;
    if (!once)
        root = json_loadb(line, n, 0, NULL);
    const bool found = json_object_get(root, "status") != NULL;
    if (found)
        take_answer(root, !once, out);
    json_decref(root);
    return found;
}

static void end_line(struct served *s)
{
    struct tail *tail = &s->program.tail[0];
    if (s->answer && !s->answered && !s->in_long &&
        read_answer(s->line, s->n, s->answer)) {
        s->answered = true;
    } else if (s->n) {
        tail_add(tail, s->line, s->n);
        tail_add(tail, "\n", 1);
    }
    s->n = 0;
}

static size_t skip_space(const char *line, size_t at, size_t n)
{
    while (at < n && isspace((unsigned char)line[at]))
        at++;
    return at;
}

/* An object with a key: what programs print besides is seldom that. */
static bool begins_as_answer(const char *line, size_t n)
{
    const size_t at = skip_space(line, 0, n);
    const size_t key = skip_space(line, at + 1, n);
    return key < n && line[at] == '{' && line[key] == '"';
}

/* A line that is too long for an answer is taken in pieces; one that was to be
 * an answer nevertheless will not be followed by another. */
static void cut_line(struct served *s)
{
    if (s->answer && !s->answered && !s->in_long &&
        begins_as_answer(s->line, s->n)) {
        s->answer->end = SERVED_LONG;
        s->answered = true;
    }
    s->in_long = true;
    end_line(s);
}

static void hear(void *context, const char *bytes, size_t n)
{
    struct served *s = context;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            end_line(s);
            s->in_long = false;
            continue;
        }
        if (s->n == SERVED_LINE)
            cut_line(s);
        s->line[s->n++] = bytes[i];
    }
}

static enum assay_status start(struct served *s, const char *line,
                               struct assay_error *err)
{
    s->program.hear = hear;
    s->program.context = s;
    s->n = 0;
    s->in_long = false;
    return program_start(&s->program, line, true, err);
}

static char *request(const char *in, const char *out)
{
    json_t *root = json_object();
    json_object_set_new(root, "in", json_text(in));
    json_object_set_new(root, "out", json_text(out));
    char *text = json_dumps(root, JSON_COMPACT), *line = NULL;
    json_decref(root);
    if (text && asprintf(&line, "%s\n", text) < 0)
        line = NULL;
    free(text);
    return line;
}

/* A pipe that nobody reads any more must not end us. False: it took nothing. */
static bool tell(const struct program *p, const char *line)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction old;
    const size_t n = strlen(line);
    sigaction(SIGPIPE, &ignore, &old);
    const ssize_t m = write(p->in, line, n);
    sigaction(SIGPIPE, &old, NULL);
    return m == (ssize_t)n;
}

static void listen_until(struct served *s, double until)
{
    while (!s->answered && program_listen(&s->program, until) &&
           seconds() < until)
        ;
}

/* The program runs. */
static void ask(struct served *s, const char *text, double until,
                struct served_answer *answer)
{
    enum { PATIENCE_S = 1 };
    s->program.start = seconds(); /* of the case */
    s->program.tail[0].n = s->program.tail[1].n = 0;
    s->answer = answer;
    s->answered = false;
    const bool told = tell(&s->program, text);
    const double soon = seconds() + PATIENCE_S;
    const double end = told || until < soon ? until : soon;
    s->program.limit = end - s->program.start;
    listen_until(s, end);
    s->answer = NULL;
    if (s->answered && answer->end != SERVED_LONG)
        return;
    program_stop(&s->program, &answer->child);
    if (s->answered)
        return;
    answer->end = !told && answer->child.end == CHILD_TIMED_OUT ? SERVED_DEAF
                                                                : SERVED_ENDED;
}

static bool went_in_peace(const struct served_answer *a)
{
    return a->end == SERVED_ENDED && a->child.end == CHILD_EXITED &&
           a->child.code == 0;
}

enum assay_status served_ask(struct served *s, const char *line, const char *in,
                             const char *out, double timeout_s,
                             const struct served_listener *listener,
                             struct served_answer *answer,
                             struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    char *text = request(in, out);
    if (!text)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a request");
    for (bool again = true; again && st == ASSAY_OK;) {
        *answer = (struct served_answer){ 0 };
        again = s->program.pid != 0;
        if (again) /* lines from before are no answer to what is asked now */
            program_listen(&s->program, 0);
        else if ((st = start(s, line, err)) == ASSAY_OK)
            listener->started(listener->context, s->program.pid);
        if (st == ASSAY_OK)
            ask(s, text, seconds() + timeout_s, answer);
        again = again && went_in_peace(answer);
    }
    free(text);
    return st;
}

void served_stop(struct served *s)
{
    enum { PATIENCE_S = 2 };
    struct child_outcome ignored;
    if (!s->program.pid)
        return;
    const double until = seconds() + PATIENCE_S;
    close(s->program.in);
    s->program.in = -1;
    while (program_listen(&s->program, until) && seconds() < until)
        ;
    program_stop(&s->program, &ignored);
}
