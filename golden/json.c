/* SPDX-License-Identifier: MIT */
#include "golden/json.h"

#include <math.h>
#include <string.h>

json_t *json_number(double value)
{
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
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

int json_print(json_t *value, FILE *out)
{
    int status =
        value ? json_dumpf(value, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17))
              : -1;
    json_decref(value);
    return status == 0 && fputc('\n', out) != EOF && fflush(out) == 0 ? 0 : -1;
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

json_t *json_distance(const struct assay_distance *d)
{
    const struct {
        const char *key;
        double value;
    } figures[] = {
        { "cosine", d->cosine },
        { "worst_row_cosine", d->worst_row_cosine },
        { "mae", d->mae },
        { "max_error", d->max_error },
        { "rel_l2", d->rel_l2 },
        { "norm_ratio", d->norm_ratio },
        { "lse_max_nats", d->lse_max },
        { "lse_mean_nats", d->lse_mean },
    };
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        json_object_set_new(out, figures[i].key, json_number(figures[i].value));
    json_object_set_new(out, "nonfinite", json_integer(d->nonfinite_a));
    json_object_set_new(out, "nonfinite_reference",
                        json_integer(d->nonfinite_b));
    json_object_set_new(out, "worst_row_at", json_place(&d->worst_row));
    json_object_set_new(out, "max_error_at", json_place(&d->max_at));
    json_object_set_new(out, "max_error_value", json_number(d->max_a));
    json_object_set_new(out, "max_error_reference", json_number(d->max_b));
    json_object_set_new(out, "lse_max_at", json_place(&d->lse_at));
    return out;
}
