/* SPDX-License-Identifier: MIT
 *
 * What a proof says: tables, Markdown, CSV and JSON ("assay-prove/1").
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/csv.h"
#include "golden/json.h"
#include "golden/select.h"
#include "golden/sheet.h"
#include "golden/verb.h"
#include "validate/prove_report.h"
#include "validate/report.h"

struct prove_sum prove_sum_of(const struct prove_run *run, int mutation)
{
    struct prove_sum s = { 0 };
    for (int g = 0; g < GATES; g++)
        s.used[g] = NAN;
    for (size_t i = 0; i < run->count; i++) {
        const struct proof *x = &run->proofs[i];
        if ((int)x->mutation != mutation || !x->applies)
            continue;
        s.subjects++;
        s.heads += x->heads;
        s.observable += x->observable;
        s.rejected += x->rejected;
        s.unseen_moved = assay_worst(s.unseen_moved, x->unseen_moved);
        for (int g = 0; g < GATES; g++) {
            s.by[g] += x->by[g];
            if (!isnan(x->used[g]))
                s.used[g] = fmax(s.used[g], x->used[g]);
        }
        for (int g = 0; g <= GATES && x->swept; g++)
            s.least[g] = assay_worst(s.least[g], x->least[g]);
        s.swept |= x->swept;
    }
    return s;
}

const struct mutation *prove_mutation(int i)
{
    return mutation_get((enum mutation_id)i);
}

bool prove_is_honest(int i)
{
    return prove_mutation(i)->expect == MUTATION_HONEST;
}

/* ---- tables ---- */

void prove_add_column(struct prove_columns *c, const char *name, int flags)
{
    c->column[c->n++] = (struct column){ name, flags };
}

/* A gate without a limit is asked for by one. */
void prove_add_gates(const struct prove_run *run, struct prove_columns *c)
{
    for (int g = 0; g < GATES; g++) {
        if (!prove_has_limit(run, g))
            continue;
        const char *name = gate_get((enum gate)g)->name;
        size_t n = 0;
        for (; name[n] && n + 1 < sizeof c->gates[g]; n++)
            c->gates[g][n] =
                name[n] == '-' ? ' ' : (char)toupper((unsigned char)name[n]);
        c->gates[g][n] = '\0';
        prove_add_column(c, c->gates[g], COLUMN_NUMBER);
    }
}

static void strength_cell(struct sheet *s, const struct mutation *m)
{
    char text[48];
    mutation_strength_text(m, m->strength, text, sizeof text);
    sheet_cell(s, "%s", text);
}

static bool matrix(const struct prove_run *run, bool markdown, FILE *to)
{
    struct prove_columns c = { .n = 0 };
    struct sheet s;
    prove_add_column(&c, "MUTATION", COLUMN_TEXT);
    prove_add_column(&c, "STRENGTH", COLUMN_EXTRA);
    prove_add_column(&c, "HEADS", COLUMN_NUMBER);
    prove_add_column(&c, "SEEN", COLUMN_NUMBER);
    prove_add_gates(run, &c);
    prove_add_column(&c, "ESCAPED", COLUMN_NUMBER);
    prove_add_column(&c, "UNSEEN MOVED", COLUMN_NUMBER);
    sheet_begin(&s, to, markdown,
                "mutations: heads in which each can be seen, and in which each "
                "gate rejects it",
                c.column, c.n);
    for (int m = 0; m < MUTATIONS; m++) {
        const struct prove_sum x = prove_sum_of(run, m);
        if (prove_is_honest(m) || x.subjects == 0)
            continue;
        sheet_cell(&s, "%s%s", prove_mutation(m)->name,
                   prove_mutation(m)->expect == MUTATION_TOLD ? " (told)" : "");
        strength_cell(&s, prove_mutation(m));
        sheet_cell(&s, "%" PRId64, x.heads);
        sheet_cell(&s, "%" PRId64, x.observable);
        for (int g = 0; g < GATES; g++)
            if (prove_has_limit(run, g))
                sheet_cell(&s, "%" PRId64, x.by[g]);
        sheet_cell(&s, "%" PRId64, x.observable - x.rejected);
        sheet_number(&s, "%.2g",
                     x.observable < x.heads ? x.unseen_moved : (double)NAN);
    }
    return sheet_end(&s);
}

static bool honest(const struct prove_run *run, bool markdown, FILE *to)
{
    struct prove_columns c = { .n = 0 };
    struct sheet s;
    prove_add_column(&c, "HONEST", COLUMN_TEXT);
    prove_add_column(&c, "HEADS", COLUMN_NUMBER);
    prove_add_gates(run, &c);
    prove_add_column(&c, "REJECTED", COLUMN_NUMBER);
    prove_add_column(&c, "ABOUT", COLUMN_PROSE);
    sheet_begin(&s, to, markdown,
                "honest variants: heads that each gate rejects", c.column, c.n);
    for (int m = 0; m < MUTATIONS; m++) {
        const struct prove_sum x = prove_sum_of(run, m);
        if (!prove_is_honest(m) || x.subjects == 0)
            continue;
        sheet_cell(&s, "%s", prove_mutation(m)->name);
        sheet_cell(&s, "%" PRId64, x.heads);
        for (int g = 0; g < GATES; g++)
            if (prove_has_limit(run, g))
                sheet_cell(&s, "%" PRId64, x.by[g]);
        sheet_cell(&s, "%" PRId64, x.rejected);
        sheet_cell(&s, "%s", prove_mutation(m)->about);
    }
    return sheet_end(&s);
}

bool prove_any_swept(const struct prove_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->proofs[i].applies && run->proofs[i].swept)
            return true;
    return false;
}

bool prove_resolution(const struct prove_run *run, const struct sheet_to *to)
{
    struct prove_columns c = { .n = 0 };
    struct sheet s;
    prove_add_column(&c, "MUTATION", COLUMN_TEXT);
    prove_add_column(&c, "UNIT", COLUMN_TEXT);
    prove_add_column(&c, "STATED", COLUMN_NUMBER);
    prove_add_gates(run, &c);
    prove_add_column(&c, "ANY", COLUMN_NUMBER);
    if (!prove_any_swept(run))
        return true;
    sheet_open(
        &s, to,
        to->html ? NULL
                 : "resolution: the smallest strength that is rejected in all "
                   "heads where the largest can be seen; worst over cases and "
                   "recipes",
        c.column, c.n);
    for (int m = 0; m < MUTATIONS; m++) {
        const struct prove_sum x = prove_sum_of(run, m);
        if (!x.swept)
            continue;
        sheet_cell(&s, "%s", prove_mutation(m)->name);
        sheet_cell(&s, "%s", prove_mutation(m)->unit);
        sheet_number(&s, "%.3g", prove_mutation(m)->strength);
        for (int g = 0; g <= GATES; g++)
            if (prove_has_limit(run, g))
                sheet_number(&s, "%.2g", x.least[g]);
    }
    return sheet_end(&s);
}

static const struct prove_subject *subject_of(const struct prove_run *run,
                                              const struct proof *x)
{
    return &run->subjects[x->subject];
}

static const char *case_of(const struct prove_run *run, const struct proof *x)
{
    return run->cases[subject_of(run, x)->case_index];
}

static const char *recipe_of(const struct prove_run *run, const struct proof *x)
{
    return subject_of(run, x)->recipe->name;
}

/* The command that repeats one proof; free(). NULL: out of memory. */
char *prove_repeat(const struct prove_run *run, const struct proof *x)
{
    const struct limits *limits = run->options->limits;
    const char *argv[16 + 2 * GATES];
    char name[1024], limit[GATES][LIMITS_WORD];
    size_t n = 0;
    select_quote(case_of(run, x), name, sizeof name);
    argv[n++] = verb_program;
    argv[n++] = "prove";
    argv[n++] = assay_set_path(run->set);
    argv[n++] = "--case";
    argv[n++] = name;
    argv[n++] = "--recipe";
    argv[n++] = recipe_of(run, x);
    argv[n++] = "--mutation";
    argv[n++] = mutation_get(x->mutation)->name;
    n += report_limit_words(limits, limit, argv + n);
    return report_line(argv, n);
}

char *prove_bad_text(const struct prove_run *run, const struct proof *x)
{
    const char *name = case_of(run, x), *recipe = recipe_of(run, x),
               *mutation = mutation_get(x->mutation)->name;
    char *text;
    const int n =
        mutation_get(x->mutation)->expect == MUTATION_HONEST
            ? asprintf(&text,
                       "%s, %s: %s is honest and rejected in %" PRId64
                       " of %" PRId64 " heads: %s",
                       name, recipe, mutation, x->rejected, x->heads, x->reason)
            : asprintf(&text,
                       "%s, %s: %s escapes in %" PRId64 " of %" PRId64
                       " heads where it can be seen, at most at head %" PRId64
                       ", %.3g times what honest kernels move",
                       name, recipe, mutation, proof_bad(x), x->observable,
                       x->escaped_at.h, x->escaped_moved);
    return n < 0 ? NULL : text;
}

/* One line for what is wrong, and one that repeats it. */
static void print_bad(const struct prove_run *run, const struct proof *x,
                      FILE *to)
{
    char *text = prove_bad_text(run, x), *again = prove_repeat(run, x);
    fprintf(to, "%s\n    %s\n", text ? text : "out of memory",
            again ? again : "out of memory");
    free(text);
    free(again);
}

struct prove_totals prove_totals_of(const struct prove_run *run)
{
    struct prove_totals t = { 0 };
    for (int m = 0; m < MUTATIONS; m++) {
        const struct prove_sum x = prove_sum_of(run, m);
        if (prove_is_honest(m)) {
            t.variants += x.subjects > 0;
            t.honest_heads += x.heads;
            t.honest_rejected += x.rejected;
        } else if (prove_mutation(m)->expect == MUTATION_REQUIRED) {
            t.mutations += x.subjects > 0;
            t.observable += x.observable;
            t.rejected += x.rejected;
            t.unseen += x.heads - x.observable;
        }
    }
    return t;
}

char *prove_totals_text(const struct prove_totals *t)
{
    char *text;
    const int n = asprintf(
        &text,
        "%d mutation%s: %" PRId64 " of %" PRId64 " heads rejected, %" PRId64
        " escaped, %" PRId64 " not observable; %d honest variant%s: %" PRId64
        " of %" PRId64 " heads rejected",
        t->mutations, plural(t->mutations), t->rejected, t->observable,
        t->observable - t->rejected, t->unseen, t->variants,
        plural(t->variants), t->honest_rejected, t->honest_heads);
    return n < 0 ? NULL : text;
}

bool prove_table(const struct prove_run *run, bool markdown, FILE *to)
{
    const struct prove_totals t = prove_totals_of(run);
    bool ok = prove_limits(run, &(struct sheet_to){ to, markdown, NULL });
    ok &= matrix(run, markdown, to);
    ok &= honest(run, markdown, to);
    ok &= prove_resolution(run, &(struct sheet_to){ to, markdown, NULL });
    fputs("(told): a kernel may do so; what the gates make of it decides "
          "nothing.\n",
          to);
    fputs("SEEN: heads in which a row of O or an LSE moves by more than in "
          "honest kernels;\nUNSEEN MOVED: the most in the other heads, as a "
          "part of that\n",
          to);
    for (size_t i = 0; i < run->count; i++)
        if (proof_bad(&run->proofs[i]) > 0)
            print_bad(run, &run->proofs[i], to);
    char *totals = prove_totals_text(&t);
    ok &= totals != NULL;
    fprintf(to, "\n%s\n", totals ? totals : "out of memory");
    free(totals);
    return fflush(to) == 0 && ok;
}

/* ---- programs ---- */

static void csv_head(struct csv *csv)
{
    static const char *const titles[] = {
        "case",     "recipe",        "mutation",     "expected",
        "strength", "unit",          "heads",        "observable",
        "rejected", "escaped_moved", "unseen_moved", "swept"
    };
    char text[64];
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        csv_text(csv, titles[i]);
    for (int g = 0; g < GATES; g++)
        csv_text(csv, gate_get((enum gate)g)->name);
    for (int g = 0; g <= GATES; g++) {
        snprintf(text, sizeof text, "least_%s",
                 g < GATES ? gate_get((enum gate)g)->name : "any");
        csv_text(csv, text);
    }
    for (int g = 0; g < GATES; g++) {
        snprintf(text, sizeof text, "limit_%s", gate_get((enum gate)g)->name);
        csv_text(csv, text);
        snprintf(text, sizeof text, "limit_from_%s",
                 gate_get((enum gate)g)->name);
        csv_text(csv, text);
    }
    csv_end_line(csv);
}

static void csv_line(struct csv *csv, const struct prove_run *run,
                     const struct proof *x)
{
    const struct mutation *m = mutation_get(x->mutation);
    csv_word(csv, case_of(run, x));
    csv_word(csv, recipe_of(run, x));
    csv_word(csv, m->name);
    csv_word(csv, mutation_expect_name(m->expect));
    csv_number(csv, m->strength);
    csv_word(csv, m->unit);
    csv_number(csv, (double)x->heads);
    csv_number(csv, (double)x->observable);
    csv_number(csv, (double)x->rejected);
    csv_number(csv, x->escaped_moved);
    csv_number(csv, x->unseen_moved);
    csv_word(csv, x->swept ? "yes" : "no");
    for (int g = 0; g < GATES; g++)
        csv_number(csv, (double)x->by[g]);
    for (int g = 0; g <= GATES; g++)
        csv_number(csv, x->swept ? x->least[g] : (double)NAN);
    for (int g = 0; g < GATES; g++) {
        const struct limit *l = &subject_of(run, x)->limits[g];
        csv_number(csv, l->value < 0 ? (double)NAN : l->value);
        csv_word(csv, l->value < 0 ? NULL : limit_source_name(l->source));
    }
    csv_end_line(csv);
}

bool prove_csv(const struct prove_run *run, FILE *to)
{
    struct csv csv = { .out = to };
    csv_head(&csv);
    for (size_t i = 0; i < run->count; i++)
        if (run->proofs[i].applies)
            csv_line(&csv, run, &run->proofs[i]);
    return fflush(to) == 0 && !ferror(to);
}

static json_t *by_gate(const struct proof *x, bool least)
{
    json_t *out = json_object();
    for (int g = 0; g < GATES + least; g++)
        json_object_set_new(
            out, g < GATES ? gate_get((enum gate)g)->name : "any",
            least ? json_optional(x->least[g]) : json_integer(x->by[g]));
    return out;
}

static json_t *proof_json(const struct prove_run *run, const struct proof *x)
{
    const struct mutation *m = mutation_get(x->mutation);
    json_t *out = json_object();
    json_object_set_new(out, "case", json_plain(case_of(run, x)));
    json_object_set_new(out, "recipe", json_string(recipe_of(run, x)));
    json_object_set_new(out, "mutation", json_string(m->name));
    json_object_set_new(out, "expected",
                        json_string(mutation_expect_name(m->expect)));
    json_object_set_new(out, "strength", json_number(m->strength));
    json_object_set_new(out, "unit", json_string(m->unit));
    json_object_set_new(out, "applies", json_boolean(x->applies));
    if (!x->applies)
        return out;
    json_object_set_new(out, "heads", json_integer(x->heads));
    json_object_set_new(out, "observable", json_integer(x->observable));
    json_object_set_new(out, "rejected", json_integer(x->rejected));
    json_object_set_new(out, "rejected_by", by_gate(x, false));
    json_object_set_new(out, "escaped_at", json_place(&x->escaped_at));
    json_object_set_new(out, "escaped_moved", json_number(x->escaped_moved));
    json_object_set_new(out, "unseen_moved", json_number(x->unseen_moved));
    json_object_set_new(out, "reason", json_text(x->reason));
    json_object_set_new(out, "least_rejected",
                        x->swept ? by_gate(x, true) : json_null());
    char *again = prove_repeat(run, x);
    json_object_set_new(out, "repeat", again ? json_text(again) : json_null());
    free(again);
    return out;
}

bool prove_json(const struct prove_run *run, FILE *to)
{
    const struct prove_totals t = prove_totals_of(run);
    json_t *all = json_object(), *totals = json_object(), *list = json_array();
    json_object_set_new(all, "schema", json_string("assay-prove/1"));
    json_object_set_new(all, "version", json_string(PACKAGE_VERSION));
    json_object_set_new(all, "set", json_text(assay_set_path(run->set)));
    json_object_set_new(all, "set_content_hash",
                        json_text(assay_set_hash(run->set)));
    json_object_set_new(totals, "mutations", json_integer(t.mutations));
    json_object_set_new(totals, "observable", json_integer(t.observable));
    json_object_set_new(totals, "rejected", json_integer(t.rejected));
    json_object_set_new(totals, "escaped",
                        json_integer(t.observable - t.rejected));
    json_object_set_new(totals, "not_observable", json_integer(t.unseen));
    json_object_set_new(totals, "honest_heads", json_integer(t.honest_heads));
    json_object_set_new(totals, "honest_rejected",
                        json_integer(t.honest_rejected));
    json_object_set_new(all, "totals", totals);
    json_object_set_new(all, "limits", prove_limits_json(run));
    for (size_t i = 0; i < run->count; i++)
        json_array_append_new(list, proof_json(run, &run->proofs[i]));
    json_object_set_new(all, "proofs", list);
    return json_print(all, to) == 0;
}
