/* SPDX-License-Identifier: MIT
 *
 * The header of a safetensors file: its length, its JSON, and each tensor by
 * itself.
 */
#include "golden/safetensors_header.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/input.h"

static const struct assay_safetensors_dtype dtypes[] = {
#define ASSAY_SAFETENSORS_DTYPE(id, name, bits) \
    { ASSAY_SAFETENSORS_##id, name, bits },
#include "safetensors_dtype.def"
#undef ASSAY_SAFETENSORS_DTYPE
};

/* ---- words for messages ---- */

/* C0, DEL, and the two bytes of a C1 control: terminals obey them. */
static bool is_control(const unsigned char *c, unsigned char before)
{
    return *c < 0x20 || *c == 0x7f ||
           (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) ||
           (before == 0xc2 && *c >= 0x80 && *c < 0xa0);
}

static struct safetensors_text show_words(const char *words, size_t limit)
{
    struct safetensors_text t;
    size_t n = 0, whole = 0;
    unsigned char before = 0;
    for (const unsigned char *c = (const unsigned char *)words; *c; c++) {
        if ((*c & 0xc0) != 0x80)
            whole = n;
        if (n > limit) {
            snprintf(t.s + whole, sizeof t.s - whole, "...");
            return t;
        }
        if (is_control(c, before) || *c == '"' || *c == '\\')
            n += (size_t)snprintf(t.s + n, sizeof t.s - n, "\\x%02x", *c);
        else
            t.s[n++] = (char)*c;
        before = *c;
    }
    t.s[n] = 0;
    return t;
}

struct safetensors_text safetensors_show(const char *words)
{
    return show_words(words, 72);
}

static struct safetensors_text
show_shape(const struct assay_safetensors_tensor *tensor)
{
    struct safetensors_text t = { "[" };
    size_t n = 1;
    for (int i = 0; i < tensor->rank; i++)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, "%s%" PRId64,
                              i ? ", " : "", tensor->shape[i]);
    snprintf(t.s + n, sizeof t.s - n, "]");
    return t;
}

static struct safetensors_text show_dtypes(void)
{
    struct safetensors_text t = { "" };
    size_t n = 0;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, "%s%s", i ? " " : "",
                              dtypes[i].name);
    return t;
}

static const char *kind(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a real number";
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_NULL: return "null";
    }
    return "nothing known";
}

/* ---- header ---- */

static enum assay_status read_length(int fd, int64_t file_bytes,
                                     size_t *header_bytes,
                                     struct assay_error *err)
{
    if (file_bytes < 8)
        return assay_fail(err, ASSAY_FORMAT,
                          "is %" PRId64 " bytes long, but a safetensors file "
                          "begins with 8 bytes of header length",
                          file_bytes);
    unsigned char raw[8];
    enum assay_status st = input_read_at(fd, 0, raw, sizeof raw, err);
    if (st != ASSAY_OK)
        return st;
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--)
        n = n << 8 | raw[i];
    if (n == 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "header length is 0; the least is 2, for {}");
    if (n > ASSAY_SAFETENSORS_MAX_HEADER_BYTES)
        return assay_fail(err, ASSAY_FORMAT,
                          "header length %" PRIu64 " is above the format's "
                          "limit of %d bytes; is this a safetensors file?",
                          n, ASSAY_SAFETENSORS_MAX_HEADER_BYTES);
    if (n > (uint64_t)file_bytes - 8)
        return assay_fail(err, ASSAY_FORMAT,
                          "header of %" PRIu64 " bytes runs past the end: "
                          "%" PRId64 " bytes follow the length, %" PRIu64
                          " are missing",
                          n, file_bytes - 8, n - ((uint64_t)file_bytes - 8));
    *header_bytes = (size_t)n;
    return ASSAY_OK;
}

static enum assay_status parse(const char *header, size_t bytes, json_t **root,
                               struct assay_error *err)
{
    json_error_t why;
    *root = json_loadb(header, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
                       &why);
    /* jansson leaves the text empty when it fails to allocate */
    if (!*root &&
        (!*why.text || json_error_code(&why) == json_error_out_of_memory))
        return assay_fail(err, ASSAY_MEMORY, "out of memory for the header");
    if (!*root)
        return assay_fail(
            err, ASSAY_FORMAT, "header is not %s: line %d, column %d: %s",
            json_error_code(&why) == json_error_invalid_utf8 ? "UTF-8" : "JSON",
            why.line, why.column, show_words(why.text, 180).s);
    if (!json_is_object(*root))
        return assay_fail(err, ASSAY_FORMAT, "header is %s, not an object",
                          kind(*root));
    if (*header != '{')
        return assay_fail(err, ASSAY_FORMAT,
                          "header begins with byte 0x%02x, not with {",
                          (unsigned char)*header);
    return ASSAY_OK;
}

static enum assay_status read_json(struct assay_safetensors *file, size_t bytes,
                                   struct assay_error *err)
{
    char *header = malloc(bytes);
    if (!header)
        return assay_fail(err, ASSAY_MEMORY,
                          "out of memory for a header of %zu bytes", bytes);
    enum assay_status st = input_read_at(file->fd, 8, header, bytes, err);
    if (st == ASSAY_OK)
        st = parse(header, bytes, &file->root, err);
    free(header);
    return st;
}

static enum assay_status check_metadata(json_t *metadata,
                                        struct assay_error *err)
{
    if (!json_is_object(metadata))
        return assay_fail(err, ASSAY_FORMAT,
                          SAFETENSORS_METADATA
                          " is %s, not an object of strings",
                          kind(metadata));
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value) if (
        !json_is_string(value)) return assay_fail(err, ASSAY_FORMAT,
                                                  SAFETENSORS_METADATA
                                                  " \"%s\" is %s, not a string",
                                                  safetensors_show(key).s,
                                                  kind(value));
    return ASSAY_OK;
}

/* ---- one tensor ---- */

static enum assay_status check_keys(json_t *object, struct assay_error *err)
{
    static const char *const keys[] = { "dtype", "shape", "data_offsets" };
    const size_t n_keys = sizeof keys / sizeof *keys;
    if (!json_is_object(object))
        return assay_fail(err, ASSAY_FORMAT, "is %s, not an object",
                          kind(object));
    for (size_t i = 0; i < n_keys; i++)
        if (!json_object_get(object, keys[i]))
            return assay_fail(err, ASSAY_FORMAT, "lacks \"%s\"", keys[i]);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (i < n_keys && strcmp(key, keys[i]))
            i++;
        if (i == n_keys)
            return assay_fail(err, ASSAY_FORMAT, "has an unknown key \"%s\"",
                              safetensors_show(key).s);
    }
    return ASSAY_OK;
}

static enum assay_status
read_dtype(const json_t *value, const struct assay_safetensors_dtype **dtype,
           struct assay_error *err)
{
    if (!json_is_string(value))
        return assay_fail(err, ASSAY_FORMAT, "dtype is %s, not a string",
                          kind(value));
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (!strcmp(dtypes[i].name, json_string_value(value))) {
            *dtype = &dtypes[i];
            return ASSAY_OK;
        }
    return assay_fail(err, ASSAY_FORMAT, "dtype \"%s\" is unknown; known: %s",
                      safetensors_show(json_string_value(value)).s,
                      show_dtypes().s);
}

/* An array of integers, none negative; `what` names it. */
static enum assay_status read_integers(const json_t *array, const char *what,
                                       int64_t *out, struct assay_error *err)
{
    size_t i;
    json_t *value;
    json_array_foreach(array, i, value)
    {
        if (!json_is_integer(value))
            return assay_fail(err, ASSAY_FORMAT,
                              "%s[%zu] is %s, not an integer", what, i,
                              kind(value));
        if (json_integer_value(value) < 0)
            return assay_fail(err, ASSAY_FORMAT,
                              "%s[%zu] is negative: %" JSON_INTEGER_FORMAT,
                              what, i, json_integer_value(value));
        out[i] = json_integer_value(value);
    }
    return ASSAY_OK;
}

static enum assay_status read_shape(const json_t *value,
                                    struct assay_safetensors_tensor *tensor,
                                    struct assay_error *err)
{
    if (!json_is_array(value))
        return assay_fail(err, ASSAY_FORMAT, "shape is %s, not an array",
                          kind(value));
    size_t rank = json_array_size(value);
    if (rank > ASSAY_SAFETENSORS_MAX_RANK)
        return assay_fail(err, ASSAY_FORMAT,
                          "shape has %zu dimensions, at most %d are read", rank,
                          ASSAY_SAFETENSORS_MAX_RANK);
    tensor->rank = (int)rank;
    return read_integers(value, "shape", tensor->shape, err);
}

static enum assay_status read_offsets(const json_t *value,
                                      struct safetensors_entry *e,
                                      struct assay_error *err)
{
    if (!json_is_array(value))
        return assay_fail(err, ASSAY_FORMAT, "data_offsets is %s, not an array",
                          kind(value));
    if (json_array_size(value) != 2)
        return assay_fail(err, ASSAY_FORMAT,
                          "data_offsets has %zu numbers, not 2",
                          json_array_size(value));
    int64_t ends[2];
    enum assay_status st = read_integers(value, "data_offsets", ends, err);
    if (st != ASSAY_OK)
        return st;
    if (ends[0] > ends[1])
        return assay_fail(err, ASSAY_FORMAT,
                          "data_offsets [%" PRId64 ", %" PRId64
                          "] are reversed",
                          ends[0], ends[1]);
    e->begin = ends[0];
    e->end = ends[1];
    return ASSAY_OK;
}

/* Checks shape times dtype against the offsets and sets the bytes. */
static enum assay_status check_size(struct safetensors_entry *e,
                                    struct assay_error *err)
{
    struct assay_safetensors_tensor *t = &e->tensor;
    /* A zero must not hide an overflow: users multiply in other orders. */
    int64_t bits = t->dtype->bits;
    bool empty = false, over = false;
    for (int i = 0; i < t->rank; i++) {
        empty |= t->shape[i] == 0;
        over |= t->shape[i] && __builtin_mul_overflow(bits, t->shape[i], &bits);
    }
    if (over)
        return assay_fail(err, ASSAY_FORMAT,
                          "shape %s of %s is more than 2^63 bits",
                          show_shape(t).s, t->dtype->name);
    if (empty)
        bits = 0;
    if (bits % 8)
        return assay_fail(err, ASSAY_FORMAT,
                          "shape %s of %s is %" PRId64
                          " bits, which are not whole bytes",
                          show_shape(t).s, t->dtype->name, bits);
    int64_t bytes = bits / 8;
    if (e->end - e->begin != bytes ||
        __builtin_add_overflow(bytes, 0, &t->bytes))
        return assay_fail(err, ASSAY_FORMAT,
                          "data_offsets [%" PRId64 ", %" PRId64 "] hold "
                          "%" PRId64 " bytes, but shape %s of %s is %" PRId64
                          " bytes",
                          e->begin, e->end, e->end - e->begin, show_shape(t).s,
                          t->dtype->name, bytes);
    return ASSAY_OK;
}

static enum assay_status read_entry(json_t *object, struct safetensors_entry *e,
                                    struct assay_error *err)
{
    enum assay_status st = check_keys(object, err);
    if (st == ASSAY_OK)
        st =
            read_dtype(json_object_get(object, "dtype"), &e->tensor.dtype, err);
    if (st == ASSAY_OK)
        st = read_shape(json_object_get(object, "shape"), &e->tensor, err);
    if (st == ASSAY_OK)
        st = read_offsets(json_object_get(object, "data_offsets"), e, err);
    if (st == ASSAY_OK)
        st = check_size(e, err);
    return st;
}

static enum assay_status read_entries(struct assay_safetensors *file,
                                      struct assay_error *err)
{
    /* one more than needed at most, and never calloc(0) */
    file->entries =
        calloc(json_object_size(file->root) + 1, sizeof *file->entries);
    if (!file->entries)
        return assay_fail(err, ASSAY_MEMORY, "out of memory for %zu tensors",
                          json_object_size(file->root));
    const char *name;
    json_t *value;
    json_object_foreach(file->root, name, value)
    {
        enum assay_status st;
        if (!strcmp(name, SAFETENSORS_METADATA)) {
            st = check_metadata(value, err);
            if (st != ASSAY_OK)
                return st;
            continue;
        }
        struct safetensors_entry *e = &file->entries[file->n_entries];
        e->tensor.name = name;
        st = read_entry(value, e, err);
        if (st != ASSAY_OK)
            return assay_fail_in(err, st, "tensor \"%s\"",
                                 safetensors_show(name).s);
        file->n_entries++;
    }
    return ASSAY_OK;
}

enum assay_status safetensors_read_header(struct assay_safetensors *file,
                                          int64_t file_bytes,
                                          struct assay_error *err)
{
    size_t header_bytes = 0;
    enum assay_status st =
        read_length(file->fd, file_bytes, &header_bytes, err);
    if (st == ASSAY_OK)
        st = read_json(file, header_bytes, err);
    if (st != ASSAY_OK)
        return st;
    file->data_begin = 8 + (int64_t)header_bytes;
    file->data_bytes = file_bytes - file->data_begin;
    return read_entries(file, err);
}
