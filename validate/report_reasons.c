/* SPDX-License-Identifier: MIT
 *
 * Lines for people, below the tables: what was promised, why results did not
 * pass, and what the cases cannot tell apart.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/sheet.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/alike.h"
#include "validate/quarantine.h"
#include "validate/explain.h"
#include "validate/report_explain.h"

struct lines {
    const struct report *r;
    FILE *out;
    bool markdown;
    struct report_maps maps;
};

static void say(const struct lines *l, const char *text)
{
    sheet_text(l->out, l->markdown, text);
}

/* "wrong: ", which a list of Markdown has in bold. */
static void say_head(const struct lines *l, const char *word)
{
    fputs(l->markdown ? "- **" : "", l->out);
    say(l, word);
    fputs(l->markdown ? "**: " : ": ", l->out);
}

static void say_repeat(const struct lines *l, const struct result *one)
{
    char *line = report_repeat_line(l->r, one);
    if (!line)
        return;
    /* code of Markdown is as it stands: no escapes */
    fputs(l->markdown ? "\n      " : "    repeat: ", l->out);
    sheet_text(l->out, false, line);
    fputs(l->markdown ? "\n\n" : "\n", l->out);
    free(line);
}

/* Whether two results did not run for the same reason. */
static bool alike(const struct result *a, const struct result *b)
{
    return a->verdict == b->verdict && a->recipe == b->recipe &&
           strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->reason, b->reason) == 0;
}

/* How many cases did not run for this reason; 0: an earlier line tells it. */
size_t report_cases_alike(const struct report *r, size_t i)
{
    const struct result *one = &r->results[i];
    const char *last = NULL;
    size_t n = 0;
    for (size_t j = 0; j < r->count; j++) {
        const struct result *other = &r->results[j];
        if (!alike(one, other))
            continue;
        if (j < i)
            return 0;
        if (!last || strcmp(last, other->case_name) != 0)
            n++;
        last = other->case_name;
    }
    return n;
}

/* Where it is wrong and what the LSE is. A record keeps that with the limits of
 * its run. */
static void say_explanation(const struct lines *l, const struct result *one)
{
    struct explained_line lines[EXPLAINED_LINES];
    const size_t n = report_explained(one->why, lines);
    const bool other = explanation_of_other_limits(one);
    for (size_t i = 0; i < n; i++) {
        fprintf(l->out, "%s%s%s: ", l->markdown ? "  " : "    ", lines[i].name,
                other && i == 0 ? ", by the limits of the run" : "");
        say(l, lines[i].text);
        fputc('\n', l->out);
    }
}

static void say_reason(struct lines *l, size_t i)
{
    const struct result *one = &l->r->results[i];
    const bool ran = verdict_get(one->verdict)->code != EXIT_NOTHING_RAN;
    const size_t cases = ran ? 1 : report_cases_alike(l->r, i);
    if (one->verdict == VERDICT_PASS || cases == 0)
        return;
    say_head(l, verdict_get(one->verdict)->name);
    if (cases == 1)
        say(l, one->case_name);
    else
        fprintf(l->out, "%zu cases", cases);
    fputs(", ", l->out);
    say(l, one->recipe->name);
    fputs(one->kernel[0] ? ", " : "", l->out);
    say(l, one->kernel);
    fputs(": ", l->out);
    say(l, one->reason);
    fputc('\n', l->out);
    if (one->judged)
        fprintf(l->out, "%s%" PRId64 " of %" PRId64 " head%s fail%s\n",
                l->markdown ? "  " : "    ", one->heads_failed, one->heads,
                plural(one->heads), one->heads_failed == 1 ? "s" : "");
    say_explanation(l, one);
    if (result_is_known(one)) {
        fputs(l->markdown ? "  known: " : "    known: ", l->out);
        say(l, one->known->tracker);
        fputs(", ", l->out);
        say(l, one->known->reason);
        fputc('\n', l->out);
    }
    if (ran)
        say_repeat(l, one);
    if (!l->markdown)
        report_map(&l->maps, i, l->out);
}

static void say_maps_left_out(const struct lines *l)
{
    const size_t n = l->maps.left_out;
    if (n == 0)
        return;
    say_head(l, "note");
    fprintf(l->out,
            "%zu more map%s: a case has that of its worst result, a report at "
            "most %d; `--case` and `--kernel` pick others\n",
            n, n == 1 ? " is left out" : "s are left out", REPORT_MAPS);
}

/* Of what fails by other limits alone there is no output to look at. */
static void say_places_unknown(const struct lines *l)
{
    int64_t n = 0;
    for (size_t i = 0; l->r->again && i < l->r->count; i++) {
        const struct result *one = &l->r->results[i];
        n += one->judged && one->verdict != VERDICT_PASS && !one->why &&
             !one->no_o;
    }
    if (n == 0)
        return;
    say_head(l, "note");
    fprintf(l->out,
            "%" PRId64 " result%s failed with no place told: places are "
            "only known of results that failed when they ran\n",
            n, plural(n));
}

static void say_note(const struct lines *l, const struct result *one,
                     const char *text)
{
    say_head(l, "note");
    say(l, one->case_name);
    fputs(", ", l->out);
    say(l, one->recipe->name);
    fputs(", ", l->out);
    say(l, one->kernel);
    fputs(": ", l->out);
    say(l, text);
    fputc('\n', l->out);
}

static void say_notes(const struct lines *l, const struct result *one)
{
    char text[512];
    if (one->notes[0])
        say_note(l, one, one->notes);
    if (!result_passed_unexpectedly(one))
        return;
    snprintf(text, sizeof text, "passed, but is a known failure: %s",
             one->known->tracker);
    say_note(l, one, text);
}

/* What the cases cannot tell apart. */
static void say_coverage(const struct lines *l)
{
    bool causal = false, rectangle = false, gqa = false;
    char payloads[256];
    for (size_t i = 0; i < l->r->count; i++) {
        const struct assay_problem *p = &l->r->results[i].problem;
        bool masked = p->mask == ASSAY_MASK_CAUSAL;
        causal |= masked;
        rectangle |= masked && p->nq != p->nk;
        gqa |= p->hq != p->hk && p->hk > 1;
    }
    if (report_payload_counts(l->r, payloads, sizeof payloads)) {
        say_head(l, "note");
        say(l, payloads);
        fputc('\n', l->out);
    }
    if (causal && !rectangle) {
        say_head(l, "note");
        fputs("no causal case has nq != nk, so top-left and bottom-right "
              "masks look the same\n",
              l->out);
    }
    if (!gqa) {
        say_head(l, "note");
        fputs("no case has several key heads for more query heads, so "
              "GQA is not tested\n",
              l->out);
    }
}

static const struct assay_recipe *recipe_of(const void *report, size_t i)
{
    const struct report *r = report;
    return r->results[i].recipe;
}

/* "promise: arithmetic e4m3, fp8; statistical bf16" */
static void say_promises(const struct lines *l)
{
    const char *before = "promise: ";
    for (int p = 0; p < ASSAY_PROMISES; p++) {
        bool any = false;
        for (size_t i = 0; i < l->r->count; i++) {
            const struct assay_recipe *recipe = l->r->results[i].recipe;
            if ((int)assay_recipe_promise(recipe) != p ||
                !alike_is_first(recipe_of, l->r, i))
                continue;
            if (!any)
                fprintf(l->out, "%s%s", before,
                        assay_promise_get((enum assay_promise)p)->name);
            fputs(any ? ", " : " ", l->out);
            say(l, recipe->name);
            before = "; ";
            any = true;
        }
    }
    fputs("\n\n", l->out);
}

void report_promises(const struct report *r, FILE *out)
{
    say_promises(&(struct lines){ .r = r, .out = out });
}

void report_coverage(const struct report *r, FILE *out)
{
    say_coverage(&(struct lines){ .r = r, .out = out });
}

void report_reasons(const struct report *r, bool markdown, FILE *out)
{
    struct lines l = { r, out, markdown, .maps.r = r };
    say_promises(&l);
    for (size_t i = 0; i < r->count; i++) {
        say_reason(&l, i);
        say_notes(&l, &r->results[i]);
    }
    say_maps_left_out(&l);
    say_places_unknown(&l);
    say_coverage(&l);
}
