/* SPDX-License-Identifier: MIT */
#include "validate/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/names.h"
#include "golden/select.h"
#include "golden/verb.h"
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

static void parse_limit(struct limits *limits, const char *arg,
                        struct argp_state *state)
{
    const char *equals = strchr(arg, '=');
    char name[32] = "";
    struct assay_error why;
    enum gate gate;
    if (!equals || equals == arg || equals - arg >= (int)sizeof name) {
        argp_error(state, "--limit takes GATE=VALUE, not \"%s\"", arg);
        return;
    }
    memcpy(name, arg, (size_t)(equals - arg));
    if (find_gate(name, &gate, &why) != ASSAY_OK) {
        argp_error(state, "--limit: %s", why.text);
        return;
    }
    double value = verb_number(state, "--limit", equals + 1);
    if (!(value >= 0) || !isfinite(value))
        argp_error(state, "--limit: a limit is 0 or more, not %s", equals + 1);
    limits->command[gate] = value;
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

/* Gates that this program does not know would be lost in silence. */
static enum assay_status check_gates(const struct limits_list *list,
                                     struct assay_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        enum gate gate;
        struct assay_error why;
        if (find_gate(list->entries[i].gate, &gate, &why) != ASSAY_OK)
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

void limits_free(struct limits *limits)
{
    limits_list_free(&limits->file);
    limits_list_free(&limits->set);
}

static void take(const struct limits_list *list, enum limit_source source,
                 const struct result *r, struct limit out[GATES])
{
    for (size_t i = 0; i < list->count; i++) {
        const struct limits_entry *e = &list->entries[i];
        enum gate gate;
        if (select_has(e->recipe, r->recipe->name) &&
            select_has(e->cases, r->case_name) &&
            select_has(e->kernel, r->kernel) &&
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
