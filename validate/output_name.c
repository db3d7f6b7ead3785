/* SPDX-License-Identifier: MIT */
#include "validate/output_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const parts[OUTPUT_PARTS] = {
    "o", "lse", "q", "q_scale", "k", "k_scale", "v", "v_scale"
};

const char *output_part_name(enum output_part part)
{
    return parts[part];
}

enum assay_status output_cases_read(const struct assay_set *set,
                                    struct output_cases *out,
                                    struct assay_error *err)
{
    const size_t n = assay_set_count(set);
    enum assay_status st = ASSAY_OK;
    *out = (struct output_cases){ calloc(n + 1, sizeof *out->list), 0 };
    if (!out->list)
        return assay_fail(err, ASSAY_MEMORY, "no memory for cases");
    for (size_t i = 0; st == ASSAY_OK && i < n; i++) {
        struct output_case *one = &out->list[i];
        struct assay_case about;
        st = assay_set_describe(set, i, &about, err);
        if (st != ASSAY_OK)
            break;
        one->name = assay_set_case_name(set, i);
        one->problem = about.problem;
        assay_case_free(&about);
        out->count++;
        st = assay_set_recipes(set, i, &one->recipes, &one->n_recipes, err);
    }
    return st;
}

void output_cases_free(struct output_cases *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->list[i].recipes);
    free(c->list);
    *c = (struct output_cases){ 0 };
}

/* RECIPE or RECIPE@FORM. */
static bool match_recipe(const struct output_case *c, char *text,
                         struct output_name *out)
{
    char *sign = strrchr(text, '@');
    out->form = "";
    if (sign) {
        const struct assay_softmax_form *form = assay_softmax_find(sign + 1);
        if (!form)
            return false;
        out->form = form->name;
        *sign = '\0';
    }
    for (size_t r = 0; r < c->n_recipes; r++)
        if (strcmp(c->recipes[r]->name, text) == 0) {
            out->recipe = c->recipes[r];
            return true;
        }
    return false;
}

/* What stands between the case and the part, which may have dots as both have:
 * `rest` has room for what recipe and form can be. */
static bool between(const char *name, size_t n, const char *case_name,
                    char rest[96])
{
    const size_t head = strlen(case_name);
    if (n <= head + 1 || n - head - 1 >= 96 || name[head] != '.' ||
        strncmp(name, case_name, head) != 0)
        return false;
    snprintf(rest, 96, "%.*s", (int)(n - head - 1), name + head + 1);
    return true;
}

bool output_name_part(const char *name, enum output_part *part, size_t *base)
{
    const char *dot = strrchr(name, '.');
    int i = 0;
    while (dot && i < OUTPUT_PARTS && strcmp(dot + 1, parts[i]) != 0)
        i++;
    if (!dot || i == OUTPUT_PARTS)
        return false;
    *part = (enum output_part)i;
    *base = (size_t)(dot - name);
    return true;
}

const char *output_name_meant(const char *name)
{
    static const struct {
        const char *said;
        enum output_part part;
    } others[] = {
        { "out", OUTPUT_O },
        { "output", OUTPUT_O },
        { "softmax_lse", OUTPUT_LSE },
        { "logsumexp", OUTPUT_LSE },
    };
    enum output_part part;
    size_t base;
    const char *dot = strrchr(name, '.');
    if (!dot || output_name_part(name, &part, &base))
        return NULL;
    for (int i = 0; i < OUTPUT_PARTS; i++)
        if (strcasecmp(dot + 1, parts[i]) == 0)
            return parts[i];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(dot + 1, others[i].said) == 0)
            return parts[others[i].part];
    return NULL;
}

bool output_name_is_input(const struct output_cases *c, const char *name)
{
    enum output_part part;
    size_t base;
    if (!output_name_part(name, &part, &base) || part == OUTPUT_O ||
        part == OUTPUT_LSE)
        return false;
    for (size_t i = 0; i < c->count; i++)
        if (strlen(c->list[i].name) == base &&
            strncmp(c->list[i].name, name, base) == 0)
            return true;
    return false;
}

bool output_name_match(const struct output_cases *c, const char *name,
                       struct output_name *out)
{
    enum output_part part;
    char rest[96];
    size_t base;
    if (!output_name_part(name, &part, &base))
        return false;
    for (size_t i = 0; i < c->count; i++) {
        *out = (struct output_name){ .at = i, .part = part };
        if (between(name, base, c->list[i].name, rest) &&
            match_recipe(&c->list[i], rest, out))
            return true;
    }
    return false;
}
