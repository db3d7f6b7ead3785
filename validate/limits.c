/* SPDX-License-Identifier: MIT */
#include "validate/limits.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/names.h"
#include "golden/select.h"
#include "validate/judge.h"

enum { KEY_LIMIT = 0x6c00, KEY_LIMITS };

static const struct argp_option keys[] = {
    { "limit", KEY_LIMIT, "GATE=VALUE", 0,
      "limit of a gate, for every result; `assay list gates`", 0 },
    { "limits", KEY_LIMITS, "FILE", 0,
      "limits with reasons, JSON; below --limit, above the golden set's", 0 },
    { 0 },
};

static enum assay_status find_gate(const char *name, enum gate *out,
                                   struct assay_error *err)
{
    const char *names[GATES];
    const struct names all = { "gate", GATES, names };
    int index = 0;
    for (int g = 0; g < GATES; g++)
        names[g] = gate_get((enum gate)g)->name;
    enum assay_status st = names_find(&all, name, &index, err);
    *out = (enum gate)index;
    return st;
}

/* strtod() would take a space, a plus or a word before a number. */
static bool begins(const char *text)
{
    return isdigit((unsigned char)*text) ||
           (*text == '.' && isdigit((unsigned char)text[1]));
}

/* What counts has no room: one write out of bounds is one too many. */
static enum assay_status check_open(enum gate gate, double value,
                                    struct assay_error *err)
{
    const struct gate_row *row = gate_get(gate);
    return row->limit == 0 && value > 0
               ? assay_fail(err, ASSAY_USAGE,
                            "the limit of %s is 0 and cannot be %g: nothing of "
                            "what it counts is allowed",
                            row->name, value)
               : ASSAY_OK;
}

/* One "GATE=VALUE", of the command line or of a record. */
static enum assay_status read_limit(const char *text, enum gate *gate,
                                    double *value, struct assay_error *err)
{
    char name[32];
    char *end = NULL;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || equals - text >= (int)sizeof name)
        return assay_fail(err, ASSAY_USAGE, "must be GATE=VALUE, not \"%.60s\"",
                          text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    enum assay_status st = find_gate(name, gate, err);
    if (st != ASSAY_OK)
        return st;
    *value = strtod(equals + 1, &end);
    if (!begins(equals + 1) || *end || !(*value >= 0) || !isfinite(*value))
        return assay_fail(err, ASSAY_USAGE,
                          "the limit of %s must be a number, 0 or more, not "
                          "\"%.40s\"",
                          name, equals + 1);
    return check_open(*gate, *value, err);
}

static void parse_limit(struct limits *limits, const char *arg,
                        struct argp_state *state)
{
    struct assay_error why;
    enum gate gate;
    double value;
    if (read_limit(arg, &gate, &value, &why) == ASSAY_OK)
        limits->command[gate] = value;
    else
        argp_error(state, "--limit: %s", why.text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct limits *limits = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *limits = (struct limits){ 0 };
        for (int g = 0; g < GATES; g++)
            limits->command[g] = NAN;
        return 0;
    case KEY_LIMIT: parse_limit(limits, arg, state); return 0;
    case KEY_LIMITS: limits->path = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp limits_argp = { keys, parse, NULL, NULL, NULL, NULL, NULL };

bool limits_asked(const struct limits *limits)
{
    bool any = limits->path;
    for (int g = 0; g < GATES; g++)
        any |= !isnan(limits->command[g]);
    return any;
}

/* Gates that this program does not know would be lost in silence. A golden set
 * and a record may bring limits of another program along. */
static enum assay_status check_gates(const struct limits_list *list,
                                     struct assay_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        enum gate gate;
        struct assay_error why;
        const struct limits_entry *e = &list->entries[i];
        if (find_gate(e->gate, &gate, &why) != ASSAY_OK ||
            check_open(gate, e->limit, &why) != ASSAY_OK)
            return assay_fail(err, ASSAY_USAGE, "%s: entry %zu: %s", list->from,
                              i + 1, why.text);
    }
    return ASSAY_OK;
}

enum assay_status limits_load(struct limits *limits,
                              const struct assay_set *set,
                              struct assay_error *err)
{
    char *text = NULL;
    enum assay_status st = ASSAY_OK;
    if (limits->path)
        st = limits_read(limits->path, &limits->file, err);
    if (st == ASSAY_OK)
        st = check_gates(&limits->file, err);
    if (st == ASSAY_OK && set)
        st = assay_set_limits(set, &text, err);
    if (st == ASSAY_OK && text)
        st = limits_parse(assay_set_path(set), text, &limits->set, err);
    if (st == ASSAY_OK)
        st = check_gates(&limits->set, err);
    free(text);
    return st;
}

/* Of 17 digits the fewest that are read as the same number. */
void limits_word(enum gate gate, double value, char text[LIMITS_WORD])
{
    char number[32];
    int digits = 1;
    do
        snprintf(number, sizeof number, "%.*g", digits, value);
    while (strtod(number, NULL) != value && ++digits <= 17);
    snprintf(text, LIMITS_WORD, "%s=%s", gate_get(gate)->name, number);
}

enum assay_status limits_command_text(const struct limits *limits, char **text,
                                      struct assay_error *err)
{
    char all[GATES * (LIMITS_WORD + 1)] = "", word[LIMITS_WORD];
    size_t at = 0;
    *text = NULL;
    for (int g = 0; g < GATES; g++) {
        if (isnan(limits->command[g]))
            continue;
        limits_word((enum gate)g, limits->command[g], word);
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", at ? "," : "",
                               word);
    }
    return at == 0 || (*text = strdup(all))
               ? ASSAY_OK
               : assay_fail(err, ASSAY_MEMORY, "no memory for limits");
}

/* Of a record; the command line's own goes before it. */
static enum assay_status take_command(struct limits *limits, const char *item,
                                      const char *path, struct assay_error *err)
{
    struct assay_error why;
    enum gate gate;
    double value;
    if (read_limit(item, &gate, &value, &why) != ASSAY_OK)
        return assay_fail(err, ASSAY_FORMAT, "%s: limits_command: %s", path,
                          why.text);
    if (isnan(limits->command[gate]))
        limits->command[gate] = value;
    return ASSAY_OK;
}

static enum assay_status take_commands(struct limits *limits, const char *text,
                                       const char *path,
                                       struct assay_error *err)
{
    char *copy = strdup(text), *rest = copy, *item;
    enum assay_status st =
        copy ? ASSAY_OK : assay_fail(err, ASSAY_MEMORY, "no memory for limits");
    while (st == ASSAY_OK && (item = strsep(&rest, ",")))
        st = take_command(limits, item, path, err);
    free(copy);
    return st;
}

enum assay_status limits_load_run(struct limits *limits,
                                  const struct run_facts *facts,
                                  const char *path, struct assay_error *err)
{
    const bool own = !limits->path;
    enum assay_status st = limits_load(limits, NULL, err);
    if (st == ASSAY_OK && own && facts->limits_file)
        st = limits_parse(facts->limits_file_name ? facts->limits_file_name
                                                  : path,
                          facts->limits_file, &limits->file, err);
    if (own && facts->limits_file)
        limits->path = facts->limits_file_name;
    if (st == ASSAY_OK && own && facts->limits_command)
        st = take_commands(limits, facts->limits_command, path, err);
    if (st == ASSAY_OK && facts->limits_set)
        st = limits_parse(facts->set, facts->limits_set, &limits->set, err);
    if (st == ASSAY_OK)
        st = check_gates(&limits->file, err);
    return st == ASSAY_OK ? check_gates(&limits->set, err) : st;
}

void limits_free(struct limits *limits)
{
    limits_list_free(&limits->file);
    limits_list_free(&limits->set);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool limit_same(const struct limit *a, const struct limit *b)
{
    return a->value == b->value && a->source == b->source &&
           same_text(a->reason, b->reason) && same_text(a->date, b->date);
}

bool limits_entry_fits(const struct limits_entry *e, const struct result *r)
{
    return select_has(e->recipe, r->recipe->name) &&
           select_has(e->cases, r->case_name) &&
           select_has(e->kernel, r->kernel);
}

static void take(const struct limits_list *list, enum limit_source source,
                 const struct result *r, struct limit out[GATES])
{
    for (size_t i = 0; i < list->count; i++) {
        const struct limits_entry *e = &list->entries[i];
        enum gate gate;
        if (limits_entry_fits(e, r) &&
            find_gate(e->gate, &gate, NULL) == ASSAY_OK)
            out[gate] = (struct limit){ e->limit, source, e->reason, e->date };
    }
}

void limits_of(const struct limits *limits, const struct result *r,
               struct limit out[GATES])
{
    limits_default(out);
    take(&limits->set, LIMIT_SET, r, out);
    take(&limits->file, LIMIT_FILE, r, out);
    for (int g = 0; g < GATES; g++)
        if (!isnan(limits->command[g]))
            out[g] = (struct limit){ limits->command[g], LIMIT_COMMAND_LINE,
                                     NULL, NULL };
}
