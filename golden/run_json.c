/* SPDX-License-Identifier: MIT */
#include "golden/run_json.h"

#include <string.h>

#include "golden/run_layout.h"

static json_t *member_json(const struct run_column *c, const char *at)
{
    int64_t integer;
    double real;
    if (c->kind == RUN_REAL) {
        memcpy(&real, at, sizeof real);
        return json_number(real);
    }
    memcpy(&integer, at, sizeof integer);
    return json_integer(integer);
}

static json_t *values_json(const struct run_array *a, int64_t n,
                           const char *data)
{
    json_t *out = json_array();
    const struct run_columns *c = &a->columns;
    for (int64_t i = 0; i < n; i++) {
        for (size_t j = 0; j < c->count; j++)
            json_array_append_new(
                out, member_json(&c->column[j], data + (size_t)i * c->bytes +
                                                    c->column[j].offset));
        if (c->count == 0)
            json_array_append_new(
                out,
                json_number(a->type == H5_F32 ? (double)((const float *)data)[i]
                                              : ((const double *)data)[i]));
    }
    return out;
}

static json_t *array_json(const struct sketch *s, const struct run_array *a)
{
    const struct h5_shape shape = run_array_shape(&s->problem, a);
    json_t *out = json_object(), *sizes = json_array(), *names = json_array();
    const char *data;
    memcpy(&data, (const char *)s + a->offset, sizeof data);
    for (int i = 0; i < shape.rank; i++)
        json_array_append_new(sizes, json_integer((json_int_t)shape.dims[i]));
    for (size_t j = 0; j < a->columns.count; j++)
        json_array_append_new(names, json_string(a->columns.column[j].name));
    json_object_set_new(out, "shape", sizes);
    json_object_set_new(out, "columns", names);
    json_object_set_new(
        out, "values",
        values_json(a, run_extent_count(&s->problem, a->extent), data));
    return out;
}

json_t *run_rows_json(const struct sketch *s)
{
    json_t *out = json_object();
    for (int i = 0; i < RUN_ARRAYS; i++)
        json_object_set_new(out, run_arrays[i].name,
                            array_json(s, &run_arrays[i]));
#define RUN_ATTRIBUTE(member, least, most) \
    json_object_set_new(out, #member, json_integer(s->member));
#include "golden/run_count.def"
#undef RUN_ATTRIBUTE
    json_object_set_new(out, "lacks", json_integer(s->lacks));
    json_object_set_new(out, "guard_where", json_text(s->guard_where));
    json_object_set_new(out, "unwritten_at", json_place(&s->unwritten_at));
    json_object_set_new(out, "payloads", run_payload_json(s));
    json_object_set_new(out, "bits", json_text(s->bits));
    return out;
}
