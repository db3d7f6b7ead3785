/* SPDX-License-Identifier: MIT
 *
 * What a proof says of limits: how large each was, and who set it.
 */
#include <math.h>
#include <string.h>

#include "golden/html.h"
#include "golden/json.h"
#include "golden/sheet.h"
#include "validate/alike.h"
#include "validate/prove.h"

bool prove_has_limit(const struct prove_run *run, int gate)
{
    bool any = gate == GATES ||
               (run->n_subjects == 0 && gate_get((enum gate)gate)->limit >= 0);
    for (size_t i = 0; gate < GATES && i < run->n_subjects; i++)
        any |= run->subjects[i].limits[gate].value >= 0;
    return any;
}

static const struct limit *limit_of(const void *run, size_t i, int gate)
{
    const struct prove_run *of = run;
    const struct limit *l = &of->subjects[i].limits[gate];
    return l->value < 0 ? NULL : l;
}

/* A line for each limit of a gate, with how many answers it is for. */
static void gate_rows(const struct prove_run *run, int g, struct sheet *s)
{
    for (size_t i = 0; i < run->n_subjects; i++) {
        const struct limit *l = limit_of(run, i, g);
        const size_t count = alike_limits(limit_of, run, run->n_subjects, i, g);
        if (count == 0)
            continue;
        sheet_cell(s, "%s", gate_get((enum gate)g)->name);
        sheet_number(s, "%g", l->value);
        sheet_cell(s, "%s", limit_source_name(l->source));
        sheet_cell(s, "%zu of %zu", count, run->n_subjects);
        sheet_cell(s, "%s", l->date ? l->date : "-");
        sheet_cell(s, "%s", l->reason ? l->reason : "-");
    }
}

bool prove_limits(const struct prove_run *run, const struct sheet_to *to)
{
    static const struct column columns[] = {
        { "GATE", COLUMN_TEXT }, { "LIMIT", COLUMN_NUMBER },
        { "FROM", COLUMN_TEXT }, { "ANSWERS", COLUMN_TEXT },
        { "DATE", COLUMN_TEXT }, { "REASON", COLUMN_PROSE },
    };
    struct sheet s;
    bool all_default = true;
    for (size_t i = 0; i < run->n_subjects; i++)
        for (int g = 0; g < GATES; g++)
            all_default &= run->subjects[i].limits[g].source == LIMIT_DEFAULT;
    if (all_default) {
        if (to->html)
            html_note(to->html, COLOUR_NONE, "the default of every gate");
        else
            fputs("limits: the default of every gate\n\n", to->out);
        return true;
    }
    sheet_open(&s, to, "limits: who set each, and for how many of the answers",
               columns, sizeof columns / sizeof *columns);
    for (int g = 0; g < GATES; g++)
        gate_rows(run, g, &s);
    return sheet_end(&s);
}

static json_t *limit_json(const struct limit *l)
{
    json_t *out = json_object();
    json_object_set_new(out, "limit",
                        l->value < 0 ? json_null() : json_number(l->value));
    json_object_set_new(
        out, "limit_from",
        l->value < 0 ? json_null() : json_string(limit_source_name(l->source)));
    if (l->reason)
        json_object_set_new(out, "limit_reason", json_text(l->reason));
    if (l->date)
        json_object_set_new(out, "limit_date", json_text(l->date));
    return out;
}

json_t *prove_limits_json(const struct prove_run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->n_subjects; i++) {
        const struct prove_subject *x = &run->subjects[i];
        json_t *one = json_object(), *gates = json_object();
        json_object_set_new(one, "case", json_plain(run->cases[x->case_index]));
        json_object_set_new(one, "recipe", json_string(x->recipe->name));
        for (int g = 0; g < GATES; g++)
            json_object_set_new(gates, gate_get((enum gate)g)->name,
                                limit_json(&x->limits[g]));
        json_object_set_new(one, "gates", gates);
        json_array_append_new(list, one);
    }
    return list;
}
