/* SPDX-License-Identifier: MIT */
#include "validate/topics.h"

#include "golden/term.h"
#include "golden/topic.h"
#include "validate/device_list.h"
#include "validate/mutation.h"

static struct topic_cell *next(struct topic_row *r, enum topic_kind kind)
{
    r->cells[r->n] = (struct topic_cell){ .kind = kind };
    return &r->cells[r->n++];
}

static void text(struct topic_row *r, const char *value)
{
    next(r, TOPIC_TEXT)->text = value;
}

/* Nothing where the row has no such number. */
static void real(struct topic_row *r, double value, bool has)
{
    next(r, has ? TOPIC_REAL : TOPIC_NOTHING)->real = value;
}

static const struct topic_column mutation_columns[] = {
    { "name", COLUMN_TEXT },
    { "expected", COLUMN_TEXT },
    { "strength", COLUMN_NUMBER },
    { "unit", COLUMN_TEXT },
    { "least", COLUMN_NUMBER | COLUMN_EXTRA },
    { "most", COLUMN_NUMBER | COLUMN_EXTRA },
    { "about", COLUMN_PROSE },
};

static void fill_mutation(int i, struct topic_row *r)
{
    const struct mutation *m = mutation_get((enum mutation_id)i);
    text(r, m->name);
    text(r, mutation_expect_name(m->expect));
    real(r, m->strength, m->strength != 0 || m->unit[0]);
    text(r, m->unit);
    real(r, m->least, m->most > 0);
    real(r, m->most, m->most > 0);
    text(r, m->about);
}

static const struct topic_column gate_columns[] = {
    { "name", COLUMN_TEXT },
    { "limit", COLUMN_NUMBER },
    { "factor", COLUMN_NUMBER | COLUMN_EXTRA },
    { "verdict", COLUMN_TEXT },
    { "about", COLUMN_PROSE },
};

static void fill_gate(int i, struct topic_row *r)
{
    const struct gate_row *g = gate_get((enum gate)i);
    text(r, g->name);
    real(r, g->limit, g->limit >= 0); /* no limit: told */
    real(r, g->factor, g->factor != 0);
    text(r, verdict_get(g->verdict)->name);
    text(r, g->rule);
}

static const struct topic_column verdict_columns[] = {
    { "name", COLUMN_TEXT },
    { "exit_status", COLUMN_NUMBER },
    { "about", COLUMN_PROSE },
};

static void fill_verdict(int i, struct topic_row *r)
{
    const struct verdict_row *v = verdict_get((enum verdict)i);
    text(r, v->name);
    next(r, TOPIC_INTEGER)->integer = v->code;
    text(r, v->code == 0    ? "the kernel is right"
            : v->code == 1  ? "the kernel is wrong"
            : v->code == 77 ? "nothing ran"
                            : "the kernel did not come to an end");
}

static const struct topic_column device_columns[] = {
    { "kind", COLUMN_TEXT },
    { "index", COLUMN_NUMBER },
    { "name", COLUMN_TEXT },
    { "arch", COLUMN_TEXT },
    { "memory_free", COLUMN_NUMBER },
    { "memory_total", COLUMN_NUMBER },
    { "driver", COLUMN_TEXT | COLUMN_EXTRA },
    { "runtime", COLUMN_TEXT | COLUMN_EXTRA },
    { "gb_per_s", COLUMN_NUMBER | COLUMN_EXTRA },
    { "note", COLUMN_PROSE },
};

static const struct device_list *found;

static int ask_devices(double timeout_s)
{
    found = device_list(timeout_s);
    return found->count;
}

static void text_or_nothing(struct topic_row *r, const char *value)
{
    next(r, value[0] ? TOPIC_TEXT : TOPIC_NOTHING)->text = value;
}

static void bytes(struct topic_row *r, size_t value)
{
    next(r, value ? TOPIC_BYTES : TOPIC_NOTHING)->integer = (long long)value;
}

static void fill_device(int i, struct topic_row *r)
{
    const struct device_entry *e = &found->entries[i];
    text(r, device_name(e->kind));
    next(r, e->index >= 0 ? TOPIC_INTEGER : TOPIC_NOTHING)->integer = e->index;
    text_or_nothing(r, e->facts.name);
    text_or_nothing(r, e->facts.arch);
    bytes(r, e->facts.memory_free);
    bytes(r, e->facts.memory_total);
    text_or_nothing(r, e->facts.driver);
    text_or_nothing(r, e->facts.runtime);
    real(r, e->facts.bandwidth / 1e9, e->facts.bandwidth > 0);
    text_or_nothing(r, e->note);
}

#define COLUMNS(array) sizeof(array) / sizeof *(array), array

static const struct topic topics[] = {
    { "mutations", "what `assay prove` does to right answers", MUTATIONS,
      COLUMNS(mutation_columns), fill_mutation, NULL },
    { "gates", "rules that a kernel's answer must meet", GATES,
      COLUMNS(gate_columns), fill_gate, NULL },
    { "verdicts", "what a kernel's run comes to, the gravest first", VERDICTS,
      COLUMNS(verdict_columns), fill_verdict, NULL },
    { "devices", "what kernels can run on here; drivers are asked", 0,
      COLUMNS(device_columns), fill_device, ask_devices },
};

void validate_topics(void)
{
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        topic_add(&topics[i]);
}
