/* SPDX-License-Identifier: MIT
 *
 * Drivers of kernels that a program of somebody else's runs, one process for
 * each case (exec) or one for all (serve). Files are those of
 * validate/case_file.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/clock.h"
#include "golden/temp_folder.h"
#include "golden/term.h"
#include "validate/case_file.h"
#include "validate/command_line.h"
#include "validate/served.h"

enum { EXIT_UNSUPPORTED = 77 };

struct command {
    struct driver_info info;
    struct temp_folder folder;
    struct served served; /* exec uses its program alone */
    char in[PATH_MAX], out[PATH_MAX];
};

/* What came of a run before its answer is read. */
struct ending {
    bool done; /* there should be an answer */
    struct result *result;
};

static void guard(void *context, int group)
{
    temp_folder_guard(&((struct command *)context)->folder, group);
}

/* A shell tells a signal that ended what it ran as a status. */
static void describe(const struct child_outcome *end, char *text, size_t size)
{
    enum { BASE = 128, SIGNALS = 31 };
    struct child_outcome o = *end;
    if (o.end == CHILD_EXITED && o.code > BASE && o.code <= BASE + SIGNALS) {
        o.end = CHILD_KILLED;
        o.code -= BASE;
    }
    child_describe(&o, text, size);
}

/* It came to an end without an answer, or in exec by it. */
static void ended(const struct command *c, const struct child_outcome *end,
                  const char *when, struct ending *e)
{
    struct result *r = e->result;
    char how[400];
    if (end->end == CHILD_EXITED && end->code == EXIT_UNSUPPORTED) {
        r->verdict = VERDICT_UNSUPPORTED;
        tail_line(&c->served.program.tail[1], r->reason, sizeof r->reason);
        if (!r->reason[0])
            snprintf(r->reason, sizeof r->reason, "no reason given");
        return;
    }
    describe(end, how, sizeof how);
    r->verdict = end->end == CHILD_TIMED_OUT ? VERDICT_HANG : VERDICT_CRASH;
    snprintf(r->reason, sizeof r->reason, "the program%s %.300s", when, how);
}

/* Of repeated runs each may have the same to say. */
static void add_note(struct result *r, const char *text)
{
    if (!strstr(r->notes, text))
        text_append(r->notes, sizeof r->notes, "%s%s", r->notes[0] ? "; " : "",
                    text);
}

static void note_left(const struct command *c, struct result *r)
{
    const int left = c->served.program.left;
    char text[64];
    snprintf(text, sizeof text, "it left %d process%s running, ended now", left,
             left == 1 ? "" : "es");
    if (left)
        add_note(r, text);
}

static enum assay_status run_exec(struct command *c, const struct driver_run *r,
                                  struct ending *e, struct assay_error *err)
{
    char run[16], *line;
    snprintf(run, sizeof run, "%u", r->number);
    const struct assay_recipe *recipe = r->answer->recipe;
    const char *const values[COMMAND_VALUES] = {
        [COMMAND_IN] = c->in,
        [COMMAND_OUT] = c->out,
        [COMMAND_CASE] = r->c->name,
        [COMMAND_RECIPE] = recipe->name,
        [COMMAND_FORM] = assay_softmax_get(recipe->softmax)->name,
        [COMMAND_RUN] = run,
    };
    struct program *p = &c->served.program;
    struct child_outcome end;
    enum assay_status st = command_line_fill(c->info.path, values, &line, err);
    if (st == ASSAY_OK)
        st = program_start(p, line, false, err);
    free(line);
    if (st != ASSAY_OK)
        return st;
    guard(c, p->pid);
    const double until = seconds() + r->timeout_s;
    p->limit = r->timeout_s;
    while (program_listen(p, until) && seconds() < until)
        ;
    program_stop(p, &end);
    guard(c, 0);
    note_left(c, e->result);
    e->done = end.end == CHILD_EXITED && end.code == 0;
    if (!e->done)
        ended(c, &end, "", e);
    return ASSAY_OK;
}

static enum assay_status run_serve(struct command *c,
                                   const struct driver_run *r, struct ending *e,
                                   struct assay_error *err)
{
    const struct served_listener listener = { guard, c };
    struct served_answer answer;
    struct result *result = e->result;
    enum assay_status st = served_ask(&c->served, c->info.path, c->in, c->out,
                                      r->timeout_s, &listener, &answer, err);
    if (st != ASSAY_OK)
        return st;
    if (!c->served.program.pid)
        guard(c, 0);
    e->done = answer.end == SERVED_OK;
    switch (answer.end) {
    case SERVED_OK: break;
    case SERVED_UNSUPPORTED:
        result->verdict = VERDICT_UNSUPPORTED;
        snprintf(result->reason, sizeof result->reason, "%s", answer.reason);
        break;
    case SERVED_FAILED:
        result->verdict = VERDICT_CRASH;
        snprintf(result->reason, sizeof result->reason,
                 "the program says that it failed: %s", answer.reason);
        break;
    case SERVED_BAD:
        result->verdict = VERDICT_CRASH;
        snprintf(result->reason, sizeof result->reason,
                 "the program's answer is none: %s", answer.reason);
        break;
    case SERVED_LONG:
        result->verdict = VERDICT_CRASH;
        snprintf(result->reason, sizeof result->reason,
                 "the program gave no answer: a line of more than %d bytes is "
                 "none",
                 (int)SERVED_LINE);
        break;
    case SERVED_ENDED: ended(c, &answer.child, " gave no answer:", e); break;
    case SERVED_DEAF:
        result->verdict = VERDICT_CRASH;
        snprintf(result->reason, sizeof result->reason,
                 "the program has closed its stdin and runs on%s%s",
                 answer.child.output[0] ? ", last said " : "",
                 answer.child.output);
        break;
    }
    return ASSAY_OK;
}

/* The first answer's words are those of reports. The program's name is that of
 * its kernel in every result, also in those that have no answer; what an answer
 * calls it is told beside. */
static void take_facts(struct command *c, const struct answer_facts *facts,
                       struct result *result)
{
    struct driver_info *info = &c->info;
    char note[96];
    if (!info->where[0])
        snprintf(info->where, sizeof info->where, "%s", facts->device);
    if (!info->build[0])
        snprintf(info->build, sizeof info->build, "%s", facts->build);
    snprintf(note, sizeof note, "its kernel is %s", facts->kernel);
    if (facts->kernel[0] && strcmp(facts->kernel, info->kernels[0].name) != 0)
        add_note(result, note);
    result->seconds = facts->seconds;
}

/* No answer that can be judged. The folder's name says nothing to anybody. */
static void tell_missing(const struct command *c, bool served, const char *why,
                         struct result *r)
{
    const size_t n = strlen(c->out);
    r->verdict = VERDICT_MISSING;
    if (!temp_folder_is(&c->folder))
        snprintf(r->reason, sizeof r->reason,
                 "the program came to a good end and removed the folder of its "
                 "files");
    else if (access(c->out, F_OK) != 0)
        snprintf(r->reason, sizeof r->reason,
                 "the program %s and left no output file",
                 served ? "answered \"ok\"" : "came to a good end");
    else if (strncmp(why, c->out, n) == 0 && strncmp(why + n, ": ", 2) == 0)
        snprintf(r->reason, sizeof r->reason, "the output file %s",
                 why + n + 2);
    else
        snprintf(r->reason, sizeof r->reason, "%.300s", why);
}

static enum assay_status read_back(struct command *c, bool served,
                                   const struct driver_run *r,
                                   const struct case_file *file, bool *ran,
                                   struct candidate *out, struct result *result,
                                   struct assay_error *err)
{
    const char *form = assay_softmax_get(r->answer->recipe->softmax)->name;
    struct answer_facts facts;
    struct assay_error why;
    bool gone;
    enum assay_status st = answer_file_read(c->out, r, out, &facts, &why);
    take_facts(c, &facts, result);
    add_note(result, facts.note);
    if (st == ASSAY_MEMORY)
        return assay_fail(err, st, "%s", why.text);
    if (st != ASSAY_OK) {
        tell_missing(c, served, why.text, result);
        return ASSAY_OK;
    }
    if (facts.softmax_form[0] && strcmp(facts.softmax_form, form) != 0) {
        result->verdict = VERDICT_UNSUPPORTED;
        snprintf(result->reason, sizeof result->reason,
                 "the kernel's softmax form is %s, the set's answers are for "
                 "%s",
                 facts.softmax_form, form);
        return ASSAY_OK;
    }
    *ran = true;
    out->input_bytes = case_file_changed(file, &gone);
    if (gone)
        add_note(result, "the program removed its input file");
    return ASSAY_OK;
}

static enum assay_status run(struct driver *d, const struct driver_run *r,
                             bool *ran, struct candidate *out,
                             struct result *result, struct assay_error *err)
{
    struct command *c = d->own;
    struct ending e = { .result = result };
    struct case_file file = { 0 };
    *ran = false;
    *out = (struct candidate){ 0 };
    snprintf(c->in, sizeof c->in, "%s/%u.in.safetensors", c->folder.path,
             r->number);
    snprintf(c->out, sizeof c->out, "%s/%u.out.safetensors", c->folder.path,
             r->number);
    enum assay_status st = temp_folder_restore(&c->folder, err);
    if (st == ASSAY_OK)
        st = case_file_write(c->in, r, &file, err);
    if (st == ASSAY_OK)
        st = d->kind == DRIVER_EXEC ? run_exec(c, r, &e, err)
                                    : run_serve(c, r, &e, err);
    if (st == ASSAY_OK && e.done)
        st = read_back(c, d->kind == DRIVER_SERVE, r, &file, ran, out, result,
                       err);
    case_file_free(&file);
    unlink(c->in);
    unlink(c->out);
    return st;
}

static void close_command(struct driver *d)
{
    struct command *c = d->own;
    served_stop(&c->served);
    if (c->folder.keeper)
        temp_folder_guard(&c->folder, 0);
    temp_folder_remove(&c->folder);
    free(c);
}

static enum assay_status open_command(const char *line, struct driver *out,
                                      struct assay_error *err)
{
    if (out->device)
        return assay_fail(err, ASSAY_USAGE,
                          "--device %.40s: is for modules, a program picks its "
                          "own",
                          out->device);
    struct command *c = calloc(1, sizeof *c);
    if (!c)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a driver");
    struct driver_kernel *k = &c->info.kernels[0];
    out->run = run;
    out->close = close_command;
    out->own = c;
    out->info = &c->info;
    if ((size_t)snprintf(c->info.path, sizeof c->info.path, "%s", line) >=
        sizeof c->info.path)
        return assay_fail(err, ASSAY_USAGE,
                          "a command of %zu characters: at most %zu are taken",
                          strlen(line), sizeof c->info.path - 1);
    command_line_name(line, c->info.name, sizeof c->info.name);
    memcpy(k->name, c->info.name, sizeof k->name);
    strcpy(k->recipe, "*");
    k->inputs = ASSAY_KERNEL_RAW;
    c->info.count = 1;
    return temp_folder_new(&c->folder, err);
}

enum assay_status driver_open_EXEC(const char *what, double timeout_s,
                                   struct driver *out, struct assay_error *err)
{
    (void)timeout_s; /* each run says it again */
    const bool in = command_line_has(what, COMMAND_IN),
               to = command_line_has(what, COMMAND_OUT);
    if (!in || !to)
        return assay_fail(err, ASSAY_USAGE,
                          "--exec: the command has no %s%s%s: a program is "
                          "told its files by {in} and {out}",
                          in ? "" : "{in}", !in && !to ? " and no " : "",
                          to ? "" : "{out}");
    return open_command(what, out, err);
}

enum assay_status driver_open_SERVE(const char *what, double timeout_s,
                                    struct driver *out, struct assay_error *err)
{
    (void)timeout_s;
    for (int v = 0; v < COMMAND_VALUES; v++)
        if (command_line_has(what, (enum command_value)v))
            return assay_fail(err, ASSAY_USAGE,
                              "--serve: {%s} has no value there: a served "
                              "program is told its files on stdin",
                              command_value_name((enum command_value)v));
    return open_command(what, out, err);
}
