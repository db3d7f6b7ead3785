/* SPDX-License-Identifier: MIT
 *
 * What a report says of limits that are not the default, and of entries of
 * limits and quarantine files that are for none of its results.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/select.h"
#include "golden/term.h"
#include "validate/alike.h"
#include "validate/quarantine.h"
#include "validate/report.h"

static const struct limit *limit_of(const void *report, size_t i, int gate)
{
    const struct report *r = report;
    return r->results[i].judged ? &r->results[i].gates[gate].limit : NULL;
}

static bool print_limit(const struct report *r, size_t i, int gate,
                        size_t judged, bool again, FILE *out)
{
    const struct result *one = &r->results[i];
    const struct limit *l = &one->gates[gate].limit;
    char word[LIMITS_WORD];
    if (!one->judged || l->source == LIMIT_DEFAULT)
        return false;
    const size_t n = alike_limits(limit_of, r, r->count, i, gate);
    if (n == 0)
        return false;
    limits_word((enum gate)gate, l->value, word);
    *strchr(word, '=') = ' ';
    fprintf(out, "%s%s (%s", again ? "; " : "", word,
            limit_source_name(l->source));
    if (n < judged)
        fprintf(out, ", %zu of %zu results", n, judged);
    if (l->date && l->reason)
        fprintf(out, ", %s: %s", l->date, l->reason);
    fputc(')', out);
    return true;
}

char *report_limits(const struct report *r)
{
    char *text = NULL;
    size_t size, judged = 0;
    bool any = false;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < r->count; i++)
        judged += r->results[i].judged;
    for (int g = 0; g < GATES; g++)
        for (size_t i = 0; i < r->count; i++)
            any |= print_limit(r, i, g, judged, any, out);
    if (fclose(out) == 0 && any)
        return text;
    free(text);
    return NULL;
}

/* ---- entries that are for no result ---- */

enum { TOLD = 5 };

/* One note of a file: which entries, and the first few by what they select. */
struct note {
    const char *from;
    size_t count, size;
    char *text;
    FILE *out; /* in memory; NULL: no memory */
};

static void begin(struct note *n, const char *from)
{
    *n = (struct note){ .from = from };
    n->out = open_memstream(&n->text, &n->size);
}

static void entry(struct note *n, size_t i, const char *const *selects)
{
    static const char *const keys[] = { "gate", "recipe", "case", "kernel",
                                        "verdict" };
    const char *before = " (";
    if (!n->out || ++n->count > TOLD)
        return;
    if (n->count == 1)
        fprintf(n->out, "%s: ", n->from);
    fprintf(n->out, "%sentry %zu", n->count > 1 ? ", " : "", i + 1);
    for (int k = 0; k < 5; k++)
        if (selects[k]) {
            fprintf(n->out, "%s%s %s", before, keys[k], selects[k]);
            before = ", ";
        }
    if (before[0] == ',')
        fputc(')', n->out);
}

static void end(struct note *n, const char *one, const char *many)
{
    if (n->count > TOLD)
        fprintf(n->out, " and %zu more", n->count - TOLD);
    if (n->out && fclose(n->out) == 0 && n->count > 0) {
        term_printf(stderr, "%s %s\n", n->text, n->count == 1 ? one : many);
    }
    free(n->text);
}

static void unused_limits(const struct report *r)
{
    const struct limits_list *list = &r->limits->file;
    struct note n;
    begin(&n, list->from);
    for (size_t i = 0; i < list->count; i++) {
        const struct limits_entry *e = &list->entries[i];
        bool used = false;
        for (size_t k = 0; !used && k < r->count; k++)
            used = limits_entry_fits(e, &r->results[k]);
        if (!used)
            entry(&n, i,
                  (const char *const[]){ e->gate, e->recipe, e->cases,
                                         e->kernel, NULL });
    }
    end(&n, "fits no result", "fit no result");
}

static void unused_known(const struct report *r, const struct quarantine *q)
{
    struct note n;
    begin(&n, r->quarantine_option);
    for (size_t i = 0; i < q->count; i++) {
        const struct quarantine_entry *e = &q->entries[i];
        bool used = false;
        for (size_t k = 0; !used && k < r->count; k++)
            used = quarantine_fits(e, &r->results[k]);
        if (!used)
            entry(&n, i,
                  (const char *const[]){ NULL, e->recipe, e->cases, e->kernel,
                                         e->verdict });
    }
    end(&n, "fits no result", "fit no result");
}

void report_unused(const struct report *r, const struct quarantine *q)
{
    if (r->limits)
        unused_limits(r);
    unused_known(r, q);
}

void report_unused_kernels(const struct limits_list *list)
{
    struct note n;
    begin(&n, list->from);
    for (size_t i = 0; i < list->count; i++) {
        const struct limits_entry *e = &list->entries[i];
        if (e->kernel)
            entry(
                &n, i,
                (const char *const[]){ e->gate, NULL, NULL, e->kernel, NULL });
    }
    end(&n, "is for a kernel and not used here",
        "are for kernels and not used here");
}
