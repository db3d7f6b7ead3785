/* SPDX-License-Identifier: MIT
 *
 * Results as a page of one file: verdicts first, then why results failed and
 * where, then what heads and rows look like over all results.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/verb.h"
#include "validate/quarantine.h"
#include "validate/report_draw.h"
#include "validate/report_explain.h"

enum { DRAWN = 16, OPEN = 24 }; /* failing results at most */

struct page {
    const struct report *r;
    struct html html;
    struct sheet_to to;
    bool ok;
};

static void name_of(const struct result *one, char *text, size_t size)
{
    snprintf(text, size, "%s, %s, %s%s%s", one->case_name, one->recipe->name,
             one->kernel, one->input ? " " : "", one->input ? one->input : "");
}

/* ---- all gates in short ---- */

/* The one limit that all results have, or "several". */
static void limit_cells(struct sheet *s, const struct report *r, enum gate g)
{
    const struct result *first = NULL;
    bool several = false;
    for (size_t i = 0; i < r->count; i++) {
        const struct result *one = &r->results[i];
        if (!one->judged)
            continue;
        if (!first)
            first = one;
        several |= one->gates[g].limit.value != first->gates[g].limit.value ||
                   one->gates[g].limit.source != first->gates[g].limit.source;
    }
    const char *from = first ? report_gate_limit_from(first, g) : NULL;
    if (several) {
        sheet_cell(s, "several");
        sheet_cell(s, "several");
        return;
    }
    sheet_number(s, "%.4g", first ? report_gate_limit(first, g) : (double)NAN);
    sheet_cell(s, "%s", from ? from : "-");
}

static void put_gates(struct page *p)
{
    static const struct column columns[] = {
        { "GATE", COLUMN_TEXT },     { "LIMIT", COLUMN_NUMBER },
        { "SET BY", COLUMN_TEXT },   { "JUDGED", COLUMN_NUMBER },
        { "FAILED", COLUMN_NUMBER }, { "WORST", COLUMN_NUMBER },
        { "RULE", COLUMN_PROSE },
    };
    struct sheet s;
    html_section(&p->html, "gates", "gates",
                 "WORST: the largest value over all results, which the limit "
                 "is for.");
    sheet_open(&s, &p->to, NULL, columns, sizeof columns / sizeof *columns);
    for (int g = 0; g < GATES; g++) {
        int64_t judged = 0, wrong = 0;
        double worst = (double)NAN;
        for (size_t i = 0; i < p->r->count; i++) {
            const struct result *one = &p->r->results[i];
            if (!report_gate_judged(one, (enum gate)g))
                continue;
            worst = judged ? assay_worst(worst, one->gates[g].value)
                           : one->gates[g].value;
            judged++;
            wrong += !one->gates[g].pass;
        }
        sheet_cell(&s, "%s", gate_get((enum gate)g)->name);
        limit_cells(&s, p->r, (enum gate)g);
        sheet_cell(&s, "%" PRId64, judged);
        sheet_cell(&s, "%" PRId64, wrong);
        sheet_colour(&s, wrong ? COLOUR_BAD : COLOUR_NONE);
        if (judged)
            sheet_cell(&s, "%.3g", worst);
        else
            sheet_cell(&s, "-");
        sheet_cell(&s, "%s", gate_get((enum gate)g)->rule);
    }
    p->ok &= sheet_end(&s);
}

/* ---- failing results ---- */

static void place_cell(struct sheet *s, const struct assay_place *at)
{
    char text[96] = "-";
    size_t n = 0;
    const struct {
        const char *what;
        int64_t value;
    } parts[] = { { "batch ", at->b },
                  { ", head ", at->h },
                  { ", row ", at->i },
                  { ", channel ", at->c } };
    for (size_t i = 0; at->h >= 0 && i < 4; i++)
        if (parts[i].value >= 0)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRId64,
                                  parts[i].what, parts[i].value);
    sheet_cell(s, "%s", text);
}

static void put_failed_gates(struct page *p, const struct result *one)
{
    static const struct column columns[] = {
        { "GATE", COLUMN_TEXT },     { "VALUE", COLUMN_NUMBER },
        { "LIMIT", COLUMN_NUMBER },  { "LIMIT SET BY", COLUMN_TEXT },
        { "WORST AT", COLUMN_TEXT }, { "WHAT IS THERE", COLUMN_PROSE },
    };
    struct sheet s;
    sheet_open(&s, &p->to, NULL, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < GATES; i++) {
        const enum gate g = (enum gate)i;
        const struct gate_result *x = &one->gates[g];
        if (!x->judged || x->pass)
            continue;
        sheet_cell(&s, "%s", gate_get(g)->name);
        sheet_colour(&s, COLOUR_BAD);
        sheet_cell(&s, "%.4g", x->value);
        sheet_number(&s, "%.4g", report_gate_limit(one, g));
        sheet_cell(
            &s, "%s%s%s%s%s", report_gate_limit_from(one, g),
            x->limit.reason ? ": " : "", x->limit.reason ? x->limit.reason : "",
            x->limit.date ? ", " : "", x->limit.date ? x->limit.date : "");
        place_cell(&s, &x->at);
        sheet_cell(&s, "%s", x->note[0] ? x->note : "-");
    }
    p->ok &= sheet_end(&s);
}

/* Where it is wrong, and what makes its LSE so. */
static void put_explanation(struct html *h, const struct result *one)
{
    struct explained_line lines[EXPLAINED_LINES];
    const size_t n = report_explained(one->why, lines);
    for (size_t i = 0; i < n; i++)
        html_note(h, COLOUR_NONE, "%s: %s", lines[i].name, lines[i].text);
}

static void put_failure(struct page *p, size_t i, bool open, bool draw)
{
    const struct result *one = &p->r->results[i];
    const struct report_places places = report_places(p->r, i);
    struct html *h = &p->html;
    char what[1400], name[1300];
    name_of(one, name, sizeof name);
    snprintf(what, sizeof what, "%s%s: %s", verdict_get(one->verdict)->name,
             result_is_known(one) ? ", known" : "", name);
    html_details_begin(h, what, open);
    /* in here, not on the summary: going to it opens what is closed */
    html_link(h, places.why, places.row, "its row in the table of verdicts");
    html_note(h, COLOUR_NONE, "%s", one->reason);
    if (result_is_known(one))
        html_note(h, COLOUR_DIM, "Known: %s, %s.", one->known->tracker,
                  one->known->reason);
    if (one->judged) {
        html_note(h, COLOUR_NONE, "%" PRId64 " of %" PRId64 " heads fail%s.",
                  one->heads_failed, one->heads,
                  one->heads_failed == 1 ? "s" : "");
        put_explanation(h, one);
        put_failed_gates(p, one);
    }
    char *line = report_repeat_line(p->r, one);
    html_note(h, COLOUR_DIM, "To repeat it:");
    html_code(h, line ? line : "");
    p->ok &= line != NULL;
    free(line);
    if (draw && one->picture)
        p->ok &= report_draw_failure(one, name, h);
    html_details_end(h);
}

/* Whether it is the worst failing case of its kernel and recipe; the first of
 * several that are alike. */
static bool stands_for_its_kernel(const struct report *r, size_t i)
{
    const struct result *one = &r->results[i];
    for (size_t j = 0; j < r->count; j++) {
        const struct result *other = &r->results[j];
        if (!result_failed(other) || other->recipe != one->recipe ||
            strcmp(other->kernel, one->kernel) != 0)
            continue;
        const double a = one->judged ? report_used(one) : INFINITY,
                     b = other->judged ? report_used(other) : INFINITY;
        if (!isnan(a) && (isnan(b) || b > a))
            return false;
        if (j < i && (a == b || (isnan(a) && isnan(b))))
            return false;
    }
    return true;
}

static void put_failures(struct page *p)
{
    const struct report *r = p->r;
    size_t failures = 0, drawn = 0, shown = 0;
    for (size_t i = 0; i < r->count; i++)
        failures += result_failed(&r->results[i]);
    if (failures == 0)
        return;
    html_section(&p->html, "failures", "what failed, and where",
                 "The worst case of each kernel is open and drawn; the others "
                 "open with a click. A gate's value must be at most its "
                 "limit.");
    for (size_t i = 0; i < r->count; i++) {
        const struct result *one = &r->results[i];
        if (!result_failed(one))
            continue;
        const bool worst = stands_for_its_kernel(r, i);
        const bool draw = worst && one->picture && drawn < DRAWN;
        const bool open = draw || (worst && !one->picture && shown < OPEN) ||
                          failures <= DRAWN;
        put_failure(p, i, open, draw);
        drawn += draw;
        shown += open;
    }
    if (drawn == DRAWN)
        html_note(&p->html, COLOUR_DIM,
                  "Maps are drawn for the first %d kernels that fail.", DRAWN);
}

/* ---- what did not run ---- */

static void put_not_run(struct page *p)
{
    static const struct column columns[] = {
        { "VERDICT", COLUMN_TEXT }, { "CASES", COLUMN_NUMBER },
        { "RECIPE", COLUMN_TEXT },  { "KERNEL", COLUMN_TEXT },
        { "WHY", COLUMN_PROSE },
    };
    struct sheet s;
    bool any = false;
    for (size_t i = 0; i < p->r->count; i++) {
        const struct result *one = &p->r->results[i];
        if (verdict_get(one->verdict)->code != EXIT_NOTHING_RAN)
            continue;
        const size_t cases = report_cases_alike(p->r, i);
        if (cases == 0)
            continue;
        if (!any) {
            html_section(&p->html, "not-run", "what did not run", NULL);
            sheet_open(&s, &p->to, NULL, columns,
                       sizeof columns / sizeof *columns);
        }
        any = true;
        sheet_cell(&s, "%s", verdict_get(one->verdict)->name);
        sheet_cell(&s, "%zu", cases);
        sheet_cell(&s, "%s", one->recipe->name);
        sheet_cell(&s, "%s", one->kernel[0] ? one->kernel : "-");
        sheet_cell(&s, "%s", one->reason);
    }
    if (any)
        p->ok &= sheet_end(&s);
}

/* ---- notes ---- */

/* Lines that another report writes to a stream, each a paragraph. */
static void put_lines(struct page *p,
                      void (*say)(const struct report *r, FILE *out))
{
    char *text = NULL, *at, *end;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out)
        say(p->r, out);
    if (!out || fclose(out) != 0 || !text) {
        p->ok = false;
        free(text);
        return;
    }
    for (at = text; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = '\0';
        if (*at)
            html_note(&p->html, COLOUR_NONE, "%s", at);
    }
    free(text);
}

static void put_notes(struct page *p)
{
    size_t n;
    const char *const *legend = report_legend(p->r, &n);
    char *limits = report_limits(p->r);
    html_section(&p->html, "notes", "notes", NULL);
    if (limits)
        html_note(&p->html, COLOUR_NONE, "limits: %s", limits);
    free(limits);
    put_lines(p, report_promises);
    for (size_t i = 0; i < p->r->count; i++) {
        const struct result *one = &p->r->results[i];
        char name[1300];
        name_of(one, name, sizeof name);
        if (one->notes[0])
            html_note(&p->html, COLOUR_NONE, "%s: %s", name, one->notes);
        if (result_passed_unexpectedly(one))
            html_note(&p->html, COLOUR_NONE,
                      "%s: passed, but is a known failure: %s", name,
                      one->known->tracker);
    }
    put_lines(p, report_coverage);
    for (size_t i = 0; i < n; i++)
        html_note(&p->html, COLOUR_DIM, "%s", legend[i]);
}

/* ---- the page ---- */

static void put_payloads(struct page *p)
{
    char text[256];
    if (!report_payload_counts(p->r, text, sizeof text))
        return;
    html_section(&p->html, "payloads", "codes and scales",
                 "Those that differ, by steps of their format along its number "
                 "line: octaves of E8M0, ulps of binary32; -4 and +4 stand for "
                 "more, too.");
    html_note(&p->html, COLOUR_NONE, "%s", text);
    p->ok &= report_payloads(p->r, &p->to);
}

static void put_head(struct page *p)
{
    struct report_fact facts[REPORT_FACTS];
    char counts[256], title[200];
    snprintf(title, sizeof title, "assay %s: %s", p->r->verb,
             p->r->module->name);
    html_begin(&p->html, p->to.out, title);
    report_facts(p->r, facts);
    report_counts(p->r, counts, sizeof counts);
    html_note(&p->html,
              report_exit(p->r) == 0                  ? COLOUR_GOOD
              : report_exit(p->r) == EXIT_NOTHING_RAN ? COLOUR_NONE
                                                      : COLOUR_BAD,
              "%s", counts);
    for (int i = 0; i < REPORT_FACTS; i++)
        html_origin(&p->html, facts[i].key, facts[i].text);
}

bool report_html(const struct report *r, FILE *out)
{
    struct page p = { .r = r, .ok = true };
    p.to = (struct sheet_to){ out, false, &p.html };
    bool judged = false;
    for (size_t i = 0; i < r->count; i++)
        judged |= r->results[i].picture != NULL;
    put_head(&p);
    html_section(&p.html, "verdicts", "verdicts", NULL);
    p.ok &= report_results(r, &p.to);
    put_gates(&p);
    put_failures(&p);
    put_payloads(&p);
    put_not_run(&p);
    if (judged) {
        html_section(&p.html, "heads", "errors of heads", NULL);
        p.ok &= report_worst(r, &p.to) && report_draw_heads(r, &p.html);
        html_section(&p.html, "lse", "log-sum-exp of rows", NULL);
        p.ok &= report_draw_lse(r, &p.html);
    }
    put_notes(&p);
    html_end(&p.html);
    return p.ok && fflush(out) == 0 && !ferror(out);
}
