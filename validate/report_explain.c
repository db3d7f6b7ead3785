/* SPDX-License-Identifier: MIT */
#include "validate/report_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/term.h"
#include "validate/explain.h"

size_t report_explained(const struct explanation *e,
                        struct explained_line lines[EXPLAINED_LINES])
{
    size_t n = 0;
    if (e && e->where[0])
        lines[n++] = (struct explained_line){ "where", e->where };
    if (e && e->lse[0])
        lines[n++] = (struct explained_line){ "LSE", e->lse };
    if (e && e->form_fits[0])
        lines[n++] = (struct explained_line){ "softmax form", e->form_fits };
    return n;
}

/* ---- maps ---- */

static bool has_map(const struct result *one)
{
    return one->why && one->why->map;
}

static bool is_worse(double a, double b)
{
    return isnan(a) ? !isnan(b) : a > b;
}

/* Whether another result of the case has the map. */
static bool is_another_worse(const struct report *r, size_t i)
{
    const struct result *one = &r->results[i];
    for (size_t j = 0; j < r->count; j++) {
        const struct result *other = &r->results[j];
        if (j == i || !has_map(other) ||
            strcmp(other->case_name, one->case_name) != 0)
            continue;
        const double a = other->why->worst_row_used,
                     b = one->why->worst_row_used;
        if (is_worse(a, b) || (j < i && !is_worse(b, a)))
            return true;
    }
    return false;
}

enum { INDENT = 4, WIDTH = 80 }; /* where no terminal has one */

static bool print_indented(const struct heat *heat, int width, bool blocks,
                           FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *lines = open_memstream(&text, &size);
    bool ok = lines && heat_print(heat, blocks, width, lines);
    ok = lines && fclose(lines) == 0 && ok;
    for (char *rest = text, *line; ok && (line = strsep(&rest, "\n"));)
        if (*line)
            fprintf(out, "%*s%s\n", INDENT, "", line);
    free(text);
    return ok;
}

bool report_map(struct report_maps *maps, size_t i, FILE *out)
{
    const struct result *one = &maps->r->results[i];
    const int terminal = term_width(out),
              width = (terminal ? terminal : WIDTH) - INDENT;
    struct heat heat;
    if (!has_map(one))
        return true;
    if (maps->printed == REPORT_MAPS || is_another_worse(maps->r, i)) {
        maps->left_out++;
        return true;
    }
    if (!explanation_heat(one->why, &one->problem, heat_columns_in(width),
                          &heat))
        return false;
    maps->printed++;
    const bool ok = print_indented(&heat, width, term_utf8(out), out);
    heat_free(&heat);
    return ok;
}

/* ---- for programs ---- */

static json_t *count_json(int64_t count)
{
    return count < 0 ? json_null() : json_integer(count);
}

/* A list for each row of cells. */
static json_t *cells_json(const struct explanation *e)
{
    json_t *out = json_array();
    for (int64_t r = 0; r < e->map_rows; r++) {
        json_t *row = json_array();
        for (int64_t c = 0; c < e->map_columns; c++)
            json_array_append_new(row,
                                  json_number(e->map[r * e->map_columns + c]));
        json_array_append_new(out, row);
    }
    return out;
}

static void add_map(const struct explanation *e, json_t *out)
{
    json_object_set_new(out, "map_rows", json_integer(e->map_rows));
    json_object_set_new(out, "map_columns", json_integer(e->map_columns));
#define MAP_SIZE(member) \
    json_object_set_new(out, "map_" #member, json_integer(e->map_##member));
#include "golden/explanation_map.def"
#undef MAP_SIZE
    json_object_set_new(
        out, "map_kind",
        json_string(heat_kind_name(e->map_kind == 0 ? HEAT_HEADS_BY_ROWS
                                                    : HEAT_ROWS_BY_CHANNELS)));
    json_object_set_new(out, "map", cells_json(e));
}

json_t *report_explanation_json(const struct explanation *e)
{
    if (!e)
        return json_null();
    json_t *out = json_object();
#define EXPLANATION_TEXT(member, bytes) \
    json_object_set_new(out, #member, json_text(e->member));
#define EXPLANATION_COUNT(member) \
    json_object_set_new(out, #member, count_json(e->member));
#define EXPLANATION_REAL(member) \
    json_object_set_new(out, #member, json_optional(e->member));
#include "golden/explanation.def"
    if (e->worst_row >= 0)
        json_object_set_new(out, "worst_row_used",
                            json_number(e->worst_row_used));
    if (e->map)
        add_map(e, out);
    else
        json_object_set_new(out, "map", json_null());
    return out;
}
