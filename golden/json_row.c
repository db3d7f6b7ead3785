/* SPDX-License-Identifier: MIT */
#include "golden/json_row.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "golden/text.h"

void json_row_wrong(struct json_row *r, const char *format, ...)
{
    char text[400];
    va_list args;
    if (r->st != ASSAY_OK)
        return;
    va_start(args, format);
    text_print_args(text, sizeof text, format, args);
    va_end(args);
    r->st =
        assay_fail(r->err, ASSAY_USAGE, "%s: %s: %s", r->where, r->what, text);
}

const char *json_row_text(struct json_row *r, const char *key)
{
    const json_t *value = json_object_get(r->object, key);
    if (!value)
        return NULL;
    if (!json_is_string(value) ||
        strlen(json_string_value(value)) != json_string_length(value)) {
        json_row_wrong(r, "%s is no text", key);
        return NULL;
    }
    return json_string_value(value);
}

char *json_row_copy(struct json_row *r, const char *key)
{
    const char *text = json_row_text(r, key);
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy && r->st == ASSAY_OK)
        r->st = assay_fail(r->err, ASSAY_MEMORY, "no memory for %s", r->where);
    return copy;
}

char *json_row_needed(struct json_row *r, const char *key)
{
    const char *text = json_row_text(r, key);
    if (!text)
        json_row_wrong(r, "it has no %s", key);
    else if (text_is_blank(text))
        json_row_wrong(r, "its %s is blank", key);
    return json_row_copy(r, key);
}

void json_row_date(struct json_row *r, char date[11])
{
    const char *text = json_row_text(r, "date");
    if (!text)
        json_row_wrong(r, "it has no date");
    else if (!text_is_day(text))
        json_row_wrong(r, "its date \"%.40s\" is no day YYYY-MM-DD", text);
    else
        memcpy(date, text, 11);
}

void json_row_flag(struct json_row *r, const char *key, bool *out)
{
    const json_t *value = json_object_get(r->object, key);
    if (value && !json_is_boolean(value))
        json_row_wrong(r, "%s is neither true nor false", key);
    else if (value)
        *out = json_is_true(value);
}

void json_row_check_keys(struct json_row *r, const struct names *keys)
{
    const char *key;
    json_t *value;
    struct assay_error why;
    int index;
    json_object_foreach ((json_t *)(uintptr_t)r->object, key, value)
        if (names_find(keys, key, &index, &why) != ASSAY_OK)
            json_row_wrong(r, "%s", why.text);
}

enum assay_status json_rows(const char *where, const json_t *file,
                            const char *schema, const char *key,
                            const json_t **rows, struct assay_error *err)
{
    const char *const keys[] = { "schema", key };
    const struct names names = NAMES("key", keys);
    struct json_row r = { where, "the file", file, ASSAY_OK, err };
    if (!json_is_object(file))
        return assay_fail(err, ASSAY_USAGE, "%s: no JSON object", where);
    json_row_check_keys(&r, &names);
    const char *text = json_row_text(&r, "schema");
    *rows = json_object_get(file, key);
    if (r.st == ASSAY_OK && (!text || strcmp(text, schema) != 0))
        json_row_wrong(&r, "its schema is \"%.40s\", must be \"%s\"",
                       text ? text : "", schema);
    if (r.st == ASSAY_OK && !json_is_array(*rows))
        json_row_wrong(&r, "it has no array \"%s\"", key);
    return r.st;
}

struct json_row json_row_of(const char *where, const json_t *rows, size_t i,
                            const struct names *keys, struct assay_error *err)
{
    struct json_row r = { where, "", json_array_get(rows, i), ASSAY_OK, err };
    snprintf(r.what, sizeof r.what, "entry %zu", i + 1);
    if (json_is_object(r.object))
        json_row_check_keys(&r, keys);
    else
        json_row_wrong(&r, "it is no object");
    return r;
}

enum assay_status json_read_file(const char *path, json_t **out,
                                 struct assay_error *err)
{
    enum { MOST = 1 << 20 };
    json_error_t why;
    char *text = NULL;
    size_t n = 0;
    enum assay_status st = ASSAY_OK;
    *out = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        st = assay_fail(err, ASSAY_FILE, "%s: cannot be opened: %s", path,
                        strerror(errno));
    else if (!(text = malloc(MOST)))
        st = assay_fail(err, ASSAY_MEMORY, "no memory for %s", path);
    else if ((n = fread(text, 1, MOST, file)) == MOST)
        st = assay_fail(err, ASSAY_USAGE, "%s: longer than %d bytes", path,
                        MOST - 1);
    else if (ferror(file))
        st = assay_fail(err, ASSAY_FILE, "%s: cannot be read: %s", path,
                        strerror(errno));
    if (file)
        fclose(file);
    if (st == ASSAY_OK &&
        !(*out = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why)))
        st = assay_fail(err, ASSAY_USAGE, "%s: line %d: %s", path, why.line,
                        why.text);
    free(text);
    return st;
}
