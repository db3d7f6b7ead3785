/* SPDX-License-Identifier: MIT */
#include "golden/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/term.h"

json_t *json_number(double value)
{
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

json_t *json_optional(double value)
{
    return isnan(value) ? json_null() : json_number(value);
}

json_t *json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    char *plain = strdup(text);
    if (!plain)
        return NULL;
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(plain);
    free(plain);
    return value;
}

json_t *json_plain(const char *text)
{
    char *plain = strdup(text);
    if (!plain)
        return NULL;
    term_plain(plain);
    json_t *value = json_string(plain);
    free(plain);
    return value;
}

static int print(json_t *value, FILE *out, size_t flags)
{
    int status =
        value ? json_dumpf(value, out,
                           flags | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17))
              : -1;
    json_decref(value);
    return status == 0 && fputc('\n', out) != EOF && fflush(out) == 0 ? 0 : -1;
}

int json_print(json_t *value, FILE *out)
{
    return print(value, out, JSON_INDENT(2));
}

int json_print_line(json_t *value, FILE *out)
{
    return print(value, out, JSON_COMPACT);
}

json_t *json_problem(const struct assay_problem *p)
{
    json_t *out = json_object();
#define SET_SIZE(key, field) \
    json_object_set_new(out, key, json_integer(p->field));
#include "golden/set_size.def"
#undef SET_SIZE
    json_object_set_new(out, "mask", json_string(assay_mask_name(p->mask)));
    json_object_set_new(out, "softmax_scale", json_number(p->softmax_scale));
    return out;
}

json_t *json_place(const struct assay_place *at)
{
    if (at->h < 0)
        return json_null();
    json_t *out = json_object();
    json_object_set_new(out, "batch", json_integer(at->b));
    json_object_set_new(out, "head", json_integer(at->h));
    if (at->i >= 0)
        json_object_set_new(out, "row", json_integer(at->i));
    if (at->c >= 0)
        json_object_set_new(out, "channel", json_integer(at->c));
    return out;
}

json_t *json_distance(const struct assay_distance *d, bool has_lse)
{
    json_t *out = json_object();
#define DISTANCE_FIGURE(key, member, about) \
    json_object_set_new(out, key, json_number(d->member));
#define DISTANCE_COUNT(key, member, about) \
    json_object_set_new(out, key, json_integer(d->member));
#define DISTANCE_PLACE(key, member, about) \
    json_object_set_new(out, key, json_place(&d->member));
#include "golden/distance_figure.def"
    if (!has_lse) {
        json_object_set_new(out, "lse_max_nats", json_null());
        json_object_set_new(out, "lse_mean_nats", json_null());
    }
    return out;
}
