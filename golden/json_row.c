/* SPDX-License-Identifier: MIT */
#include "golden/json_row.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void json_row_wrong(struct json_row *r, const char *format, ...)
{
    char text[400];
    va_list args;
    if (r->st != ASSAY_OK)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
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
