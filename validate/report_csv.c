/* SPDX-License-Identifier: MIT
 *
 * Results as comma-separated values: a line for each, under one header. What
 * is not there is "nan", or "-" where a word would stand.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "config.h"
#include "golden/csv.h"
#include "validate/quarantine.h"
#include "validate/report.h"

/* "gate_dead_rows_value" */
static void gate_key(struct csv *csv, const char *name, const char *what)
{
    char key[80];
    snprintf(key, sizeof key, "gate_%s_%s", name, what);
    for (char *c = key; *c; c++)
        if (*c == '-')
            *c = '_';
    csv_text(csv, key);
}

static void distance_keys(struct csv *csv, const char *name)
{
    char key[80];
#define DISTANCE_FIGURE(of, member, about)        \
    snprintf(key, sizeof key, "%s_%s", name, of); \
    csv_text(csv, key);
#define DISTANCE_COUNT(of, member, about) DISTANCE_FIGURE(of, member, about)
#define DISTANCE_PLACE(of, member, about) DISTANCE_FIGURE(of, member, about)
#include "golden/distance_figure.def"
}

static void explanation_keys(struct csv *csv)
{
#define EXPLANATION_KEY(member) csv_text(csv, "explanation_" #member);
#define EXPLANATION_TEXT(member, bytes) EXPLANATION_KEY(member)
#define EXPLANATION_COUNT(member) EXPLANATION_KEY(member)
#define EXPLANATION_REAL(member) EXPLANATION_KEY(member)
#include "golden/explanation.def"
}

static void explanation(struct csv *csv, const struct explanation *e)
{
#define EXPLANATION_TEXT(member, bytes) csv_word(csv, e ? e->member : NULL);
#define EXPLANATION_COUNT(member) \
    csv_number(csv, e && e->member >= 0 ? (double)e->member : NAN);
#define EXPLANATION_REAL(member) csv_number(csv, e ? e->member : NAN);
#include "golden/explanation.def"
}

static void head(struct csv *csv)
{
    static const char *const first[] = {
        "version",     "set_content_hash", "module_name", "case",
        "recipe",      "softmax_form",     "promise",     "kernel",
        "input",       "verdict",          "reason",      "notes",
        "known",       "tracker",          "seconds",     "heads",
        "heads_failed"
    };
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        csv_text(csv, first[i]);
#define SET_SIZE(key, field) csv_text(csv, key);
#include "golden/set_size.def"
#undef SET_SIZE
    csv_text(csv, "mask");
    csv_text(csv, "softmax_scale");
    for (int g = 0; g < GATES; g++) {
        const char *name = gate_get((enum gate)g)->name;
        gate_key(csv, name, "value");
        gate_key(csv, name, "limit");
        gate_key(csv, name, "limit_from");
        gate_key(csv, name, "verdict");
        gate_key(csv, name, "at");
    }
    distance_keys(csv, "build");
    distance_keys(csv, "recipe");
    distance_keys(csv, "total");
    explanation_keys(csv);
    csv_word(csv, "repeat");
    csv_end_line(csv);
}

/* "batch=0 head=3 row=17 channel=5", as far as it is set. */
static void place(struct csv *csv, const struct assay_place *at)
{
    char text[128];
    int n = snprintf(text, sizeof text, "batch=%" PRId64 " head=%" PRId64,
                     at->b, at->h);
    if (at->i >= 0)
        n +=
            snprintf(text + n, sizeof text - (size_t)n, " row=%" PRId64, at->i);
    if (at->c >= 0)
        snprintf(text + n, sizeof text - (size_t)n, " channel=%" PRId64, at->c);
    csv_word(csv, at->h < 0 ? NULL : text);
}

static void gate(struct csv *csv, const struct result *r, enum gate g)
{
    static const struct assay_place nowhere = { -1, -1, -1, -1 };
    const struct gate_result *got = &r->gates[g];
    const bool judged = report_gate_judged(r, g);
    csv_number(csv, judged ? got->value : NAN);
    csv_number(csv, report_gate_limit(r, g));
    csv_word(csv, report_gate_limit_from(r, g));
    csv_text(csv, !judged ? "not-judged" : got->pass ? "pass" : "fail");
    place(csv, judged ? &got->at : &nowhere);
}

static void distance(struct csv *csv, bool there,
                     const struct assay_distance *d)
{
    static const struct assay_place nowhere = { -1, -1, -1, -1 };
#define DISTANCE_FIGURE(of, member, about) \
    csv_number(csv, there ? d->member : NAN);
#define DISTANCE_COUNT(of, member, about) \
    csv_number(csv, there ? (double)d->member : NAN);
#define DISTANCE_PLACE(of, member, about) \
    place(csv, there ? &d->member : &nowhere);
#include "golden/distance_figure.def"
}

static void line(struct csv *csv, const struct report *all,
                 const struct result *r)
{
    const struct assay_problem *p = &r->problem;
    const char *const words[] = { PACKAGE_VERSION,
                                  all->set_hash,
                                  all->module->name,
                                  r->case_name,
                                  r->recipe->name,
                                  assay_softmax_get(r->recipe->softmax)->name,
                                  assay_recipe_promise_name(r->recipe),
                                  r->kernel,
                                  r->input,
                                  verdict_get(r->verdict)->name,
                                  r->reason,
                                  r->notes,
                                  result_is_known(r)              ? "failure"
                                  : result_passed_unexpectedly(r) ? "pass"
                                                                  : NULL,
                                  r->known ? r->known->tracker : NULL };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        csv_word(csv, words[i]);
    csv_number(csv, report_seconds(r));
    csv_number(csv, (double)r->heads);
    csv_number(csv, (double)r->heads_failed);
#define SET_SIZE(key, field) csv_number(csv, (double)p->field);
#include "golden/set_size.def"
#undef SET_SIZE
    csv_text(csv, assay_mask_name(p->mask));
    csv_number(csv, p->softmax_scale);
    for (int g = 0; g < GATES; g++)
        gate(csv, r, (enum gate)g);
    distance(csv, r->judged, &r->build);
    const bool exact = r->judged && !(r->lacks & SKETCH_LACKS_EXACT);
    distance(csv, exact, &r->recipe_distance);
    distance(csv, exact, &r->total);
    explanation(csv, r->why);
}

bool report_csv(const struct report *r, FILE *out)
{
    struct csv csv = { .out = out };
    bool ok = true;
    head(&csv);
    for (size_t i = 0; i < r->count; i++) {
        char *repeat = report_repeat_line(r, &r->results[i]);
        ok &= repeat != NULL;
        line(&csv, r, &r->results[i]);
        csv_word(&csv, repeat);
        csv_end_line(&csv);
        free(repeat);
    }
    return fflush(out) == 0 && ok && !ferror(out);
}
