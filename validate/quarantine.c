/* SPDX-License-Identifier: MIT */
#include "validate/quarantine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/json_row.h"
#include "golden/select.h"
#include "golden/text.h"
#include "golden/verb.h"

static const char *const entry_keys[] = { "kernel",  "case",    "recipe",
                                          "verdict", "tracker", "reason",
                                          "date" };
static const struct names entry_key_names = NAMES("key", entry_keys);

enum assay_status quarantine_check_verdict(const char *name,
                                           struct assay_error *err)
{
    const char *names[VERDICTS];
    const struct names all = { "verdict", VERDICTS, names };
    int index;
    for (int v = 0; v < VERDICTS; v++)
        names[v] = verdict_get((enum verdict)v)->name;
    enum assay_status st = names_find(&all, name, &index, err);
    if (st != ASSAY_OK)
        return st;
    if (verdict_get((enum verdict)index)->code == 0)
        return assay_fail(err, ASSAY_USAGE, "its verdict %s is no failure",
                          name);
    if (verdict_get((enum verdict)index)->code == EXIT_NOTHING_RAN)
        return assay_fail(err, ASSAY_USAGE,
                          "its verdict %s is no failure of a kernel", name);
    return ASSAY_OK;
}

static void read_entry(struct json_row *r, struct quarantine_entry *e)
{
    struct assay_error why;
    e->tracker = json_row_needed(r, "tracker");
    e->reason = json_row_needed(r, "reason");
    json_row_date(r, e->date);
    e->kernel = json_row_copy(r, "kernel");
    e->cases = json_row_copy(r, "case");
    e->recipe = json_row_copy(r, "recipe");
    e->verdict = json_row_copy(r, "verdict");
    if (e->tracker && !text_is_link(e->tracker))
        json_row_wrong(r, "its tracker \"%.60s\" is no link", e->tracker);
    if (e->verdict && quarantine_check_verdict(e->verdict, &why) != ASSAY_OK)
        json_row_wrong(r, "%s", why.text);
}

enum assay_status quarantine_read(const char *path, struct quarantine *out,
                                  struct assay_error *err)
{
    const json_t *rows;
    json_t *file;
    *out = (struct quarantine){ 0 };
    enum assay_status st = json_read_file(path, &file, err);
    if (st == ASSAY_OK)
        st = json_rows(path, file, "assay-quarantine/1", "known", &rows, err);
    const size_t n = st == ASSAY_OK ? json_array_size(rows) : 0;
    if (n > 0 && !(out->entries = calloc(n, sizeof *out->entries)))
        st = assay_fail(err, ASSAY_MEMORY, "no memory for known failures");
    while (st == ASSAY_OK && out->count < n) {
        struct json_row r =
            json_row_of(path, rows, out->count, &entry_key_names, err);
        read_entry(&r, &out->entries[out->count++]);
        st = r.st;
    }
    json_decref(file);
    return st;
}

enum assay_status quarantine_recorded(const struct run_known *known,
                                      struct quarantine_entry **out,
                                      struct assay_error *err)
{
    struct quarantine_entry *e = calloc(1, sizeof *e);
    *out = e;
    if (e) {
        e->tracker = strdup(known->tracker);
        e->reason = strdup(known->reason);
        e->verdict = known->verdict ? strdup(known->verdict) : NULL;
    }
    if (!e || !e->tracker || !e->reason || (known->verdict && !e->verdict))
        return assay_fail(err, ASSAY_MEMORY, "no memory for a known failure");
    snprintf(e->date, sizeof e->date, "%s", known->date);
    return ASSAY_OK;
}

void quarantine_entry_free(struct quarantine_entry *e)
{
    if (!e)
        return;
    free(e->kernel);
    free(e->cases);
    free(e->recipe);
    free(e->verdict);
    free(e->tracker);
    free(e->reason);
}

void quarantine_free(struct quarantine *q)
{
    for (size_t i = 0; i < q->count; i++)
        quarantine_entry_free(&q->entries[i]);
    free(q->entries);
    *q = (struct quarantine){ 0 };
}

bool quarantine_fits(const struct quarantine_entry *e, const struct result *r)
{
    return select_has(e->kernel, r->kernel) &&
           select_has(e->cases, r->case_name) &&
           select_has(e->recipe, r->recipe->name) &&
           (!result_failed(r) || !e->verdict ||
            strcmp(e->verdict, verdict_get(r->verdict)->name) == 0);
}

const struct quarantine_entry *quarantine_find(const struct quarantine *q,
                                               const struct result *r)
{
    const struct quarantine_entry *found = NULL;
    for (size_t i = 0; i < q->count; i++)
        if (quarantine_fits(&q->entries[i], r))
            found = &q->entries[i];
    return found;
}

bool result_is_known(const struct result *r)
{
    return r->known && result_failed(r);
}

bool result_passed_unexpectedly(const struct result *r)
{
    return r->known && r->verdict == VERDICT_PASS;
}
