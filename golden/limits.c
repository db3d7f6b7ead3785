/* SPDX-License-Identifier: MIT */
#include "golden/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/json_row.h"

static const char *const entry_keys[] = { "gate",   "limit",  "recipe", "case",
                                          "kernel", "reason", "date" };
static const struct names entry_key_names = NAMES("key", entry_keys);

static void read_entry(struct json_row *r, struct limits_entry *e)
{
    const json_t *limit = json_object_get(r->object, "limit");
    char *gate = json_row_needed(r, "gate");
    if (gate)
        snprintf(e->gate, sizeof e->gate, "%s", gate);
    free(gate);
    e->reason = json_row_needed(r, "reason");
    json_row_date(r, e->date);
    e->recipe = json_row_copy(r, "recipe");
    e->cases = json_row_copy(r, "case");
    e->kernel = json_row_copy(r, "kernel");
    if (!json_is_number(limit))
        json_row_wrong(r, limit ? "its limit is no number" : "it has no limit");
    e->limit = json_number_value(limit);
    if (!(e->limit >= 0) || !isfinite(e->limit))
        json_row_wrong(r, "its limit is %g, must be 0 or more", e->limit);
}

static enum assay_status read_entries(const json_t *file,
                                      struct limits_list *out,
                                      struct assay_error *err)
{
    const json_t *rows;
    enum assay_status st =
        json_rows(out->from, file, "assay-limits/1", "limits", &rows, err);
    const size_t n = st == ASSAY_OK ? json_array_size(rows) : 0;
    if (n > 0 && !(out->entries = calloc(n, sizeof *out->entries)))
        st = assay_fail(err, ASSAY_MEMORY, "no memory for limits");
    while (st == ASSAY_OK && out->count < n) {
        struct json_row r =
            json_row_of(out->from, rows, out->count, &entry_key_names, err);
        read_entry(&r, &out->entries[out->count++]);
        st = r.st;
    }
    out->text = st == ASSAY_OK ? json_dumps(file, JSON_COMPACT) : NULL;
    return st == ASSAY_OK && !out->text
               ? assay_fail(err, ASSAY_MEMORY, "no memory for limits")
               : st;
}

/* Takes the reference. */
static enum assay_status from_json(const char *from, json_t *file,
                                   struct limits_list *out,
                                   struct assay_error *err)
{
    *out = (struct limits_list){ .from = strdup(from) };
    enum assay_status st =
        out->from ? read_entries(file, out, err)
                  : assay_fail(err, ASSAY_MEMORY, "no memory for limits");
    json_decref(file);
    return st;
}

enum assay_status limits_read(const char *path, struct limits_list *out,
                              struct assay_error *err)
{
    json_t *file;
    *out = (struct limits_list){ 0 };
    enum assay_status st = json_read_file(path, &file, err);
    return st == ASSAY_OK ? from_json(path, file, out, err) : st;
}

enum assay_status limits_parse(const char *from, const char *text,
                               struct limits_list *out, struct assay_error *err)
{
    json_error_t why;
    json_t *file = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    *out = (struct limits_list){ 0 };
    return file ? from_json(from, file, out, err)
                : assay_fail(err, ASSAY_USAGE, "%s: %s", from, why.text);
}

void limits_list_free(struct limits_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->entries[i].recipe);
        free(list->entries[i].cases);
        free(list->entries[i].kernel);
        free(list->entries[i].reason);
    }
    free(list->entries);
    free(list->from);
    free(list->text);
    *list = (struct limits_list){ 0 };
}
