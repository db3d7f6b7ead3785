/* SPDX-License-Identifier: MIT */
#include "golden/heads_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "golden/json.h"

/* ---- writing ---- */

void heads_cases_add(json_t *cases, const struct assay_case *c)
{
    json_t *one = json_object();
    json_object_set_new(one, "causal",
                        json_boolean(c->problem.mask == ASSAY_MASK_CAUSAL));
    json_object_set_new(one, "softmax_scale",
                        json_real(c->problem.softmax_scale));
    json_object_set_new(one, "source", json_text(c->source));
    json_object_set_new(one, "recipes", json_object());
    json_object_set_new(cases, c->name, one);
}

void heads_cases_add_recipe(json_t *cases, const char *case_name,
                            const char *recipe, const char *form)
{
    json_object_set_new(
        json_object_get(json_object_get(cases, case_name), "recipes"), recipe,
        json_string(form));
}

/* Whether the member is the same in all cases; *value is that of the first. */
static bool same(const json_t *cases, const char *key, json_t **value)
{
    const char *name;
    json_t *one;
    *value = NULL;
    json_object_foreach ((json_t *)cases, name, one) {
        json_t *of = json_object_get(one, key);
        if (*value && !json_equal(*value, of))
            return false;
        *value = of;
    }
    return *value != NULL;
}

enum assay_status heads_cases_metadata(const json_t *cases,
                                       const char *set_hash, json_t *metadata,
                                       struct assay_error *err)
{
    char *text = json_dumps(cases, JSON_COMPACT), number[40];
    json_t *value;
    int bad = !text;
    bad |= json_object_set_new(metadata, "format",
                               json_string(HEADS_CASES_FORMAT));
    bad |= json_object_set_new(metadata, "version", json_string("1"));
    bad |=
        json_object_set_new(metadata, "generator", json_string(PACKAGE_STRING));
    bad |= json_object_set_new(metadata, "layout", json_string("bshd"));
    bad |=
        json_object_set_new(metadata, "set_content_hash", json_text(set_hash));
    if (text)
        bad |= json_object_set_new(metadata, "cases", json_string(text));
    if (same(cases, "causal", &value))
        bad |= json_object_set_new(
            metadata, "causal",
            json_string(json_is_true(value) ? "true" : "false"));
    if (same(cases, "softmax_scale", &value)) {
        snprintf(number, sizeof number, "%.17g", json_real_value(value));
        bad |=
            json_object_set_new(metadata, "softmax_scale", json_string(number));
    }
    free(text);
    return bad ? assay_fail(err, ASSAY_MEMORY, "no memory for metadata")
               : ASSAY_OK;
}

/* ---- reading ---- */

static enum assay_status check(const char *name, const json_t *one,
                               struct assay_error *err)
{
    const json_t *causal = json_object_get(one, "causal"),
                 *scale = json_object_get(one, "softmax_scale"),
                 *source = json_object_get(one, "source");
    if (!json_is_boolean(causal) || !json_is_number(scale) ||
        !isfinite(json_number_value(scale)) || !json_is_string(source))
        return assay_fail(err, ASSAY_FORMAT,
                          "\"cases\": %.80s lacks causal (true or false), "
                          "softmax_scale (a number) or source (a text)",
                          name);
    if (!*name || strchr(name, '/'))
        return assay_fail(err, ASSAY_FORMAT,
                          "\"cases\": the name \"%.80s\" is empty or has a / "
                          "in it",
                          name);
    return ASSAY_OK;
}

enum assay_status heads_cases_read(const char *text, json_t **cases,
                                   struct assay_error *err)
{
    json_error_t why;
    const char *name;
    json_t *one;
    enum assay_status st = ASSAY_OK;
    *cases = text ? json_loads(text, JSON_REJECT_DUPLICATES, &why) : NULL;
    if (!json_is_object(*cases) || json_object_size(*cases) == 0)
        st = assay_fail(err, ASSAY_FORMAT,
                        "format is " HEADS_CASES_FORMAT
                        " and \"cases\" is no JSON object of cases");
    else
        json_object_foreach (*cases, name, one) {
            if (st == ASSAY_OK)
                st = check(name, one, err);
        }
    if (st == ASSAY_OK)
        return st;
    json_decref(*cases);
    *cases = NULL;
    return st;
}

enum assay_mask heads_cases_mask(const json_t *one)
{
    return json_is_true(json_object_get(one, "causal")) ? ASSAY_MASK_CAUSAL
                                                        : ASSAY_MASK_NONE;
}

double heads_cases_scale(const json_t *one)
{
    return json_number_value(json_object_get(one, "softmax_scale"));
}

const char *heads_cases_source(const json_t *one)
{
    return json_string_value(json_object_get(one, "source"));
}
