/* SPDX-License-Identifier: MIT */
#include "golden/safetensors_write.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "golden/json.h"
#include "golden/safetensors_header.h"

static const int bits[] = {
#define ASSAY_SAFETENSORS_DTYPE(id, name, bits) bits,
#include "safetensors_dtype.def"
#undef ASSAY_SAFETENSORS_DTYPE
};

static const char *const names[] = {
#define ASSAY_SAFETENSORS_DTYPE(id, name, bits) name,
#include "safetensors_dtype.def"
#undef ASSAY_SAFETENSORS_DTYPE
};

static const struct {
    enum assay_safetensors_dtype_id dtype;
    enum assay_format_id format;
} floats[] = {
    { ASSAY_SAFETENSORS_BF16, ASSAY_BF16 },
    { ASSAY_SAFETENSORS_F16, ASSAY_F16 },
    { ASSAY_SAFETENSORS_F32, ASSAY_F32 },
};
enum { FLOATS = sizeof floats / sizeof *floats };

const struct assay_format *
safetensors_float(const struct assay_safetensors_dtype *dtype)
{
    for (int i = 0; i < FLOATS; i++)
        if (floats[i].dtype == dtype->id)
            return assay_format_get(floats[i].format);
    return NULL;
}

enum assay_safetensors_dtype_id
safetensors_dtype_of(const struct assay_format *format)
{
    int i = 0;
    while (i < FLOATS - 1 && assay_format_get(floats[i].format) != format)
        i++;
    return floats[i].dtype;
}

size_t safetensors_part_bytes(const struct safetensors_part *part)
{
    size_t n = 1;
    for (int a = 0; a < part->rank; a++)
        n *= (size_t)part->shape[a];
    return n * (size_t)bits[part->dtype] / 8;
}

static json_t *part_json(const struct safetensors_part *part, size_t *at)
{
    json_t *shape = json_array();
    for (int a = 0; a < part->rank; a++)
        json_array_append_new(shape, json_integer(part->shape[a]));
    const size_t begin = *at;
    *at += safetensors_part_bytes(part);
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", names[part->dtype],
                     "shape", shape, "data_offsets", (json_int_t)begin,
                     (json_int_t)*at);
}

/* NULL: out of memory. */
static char *header_text(const struct safetensors_part *parts, size_t n_parts,
                         const struct safetensors_note *notes, size_t n_notes)
{
    json_t *header = json_object(), *metadata = json_object();
    size_t at = 0;
    int bad = 0;
    for (size_t i = 0; i < n_notes; i++)
        bad |= json_object_set_new(metadata, notes[i].key,
                                   json_text(notes[i].text));
    bad |= json_object_set_new(header, SAFETENSORS_METADATA, metadata);
    for (size_t i = 0; i < n_parts; i++)
        bad |= json_object_set_new(header, parts[i].name,
                                   part_json(&parts[i], &at));
    char *text = bad ? NULL : json_dumps(header, JSON_COMPACT);
    json_decref(header);
    return text;
}

enum assay_status safetensors_head(const struct safetensors_part *parts,
                                   size_t n_parts,
                                   const struct safetensors_note *notes,
                                   size_t n_notes, char **head, size_t *bytes,
                                   struct assay_error *err)
{
    char *text = header_text(parts, n_parts, notes, n_notes);
    const size_t used = text ? strlen(text) : 0, room = (used + 7) / 8 * 8;
    const uint64_t length = htole64(room);
    *bytes = sizeof length + room;
    *head = text ? malloc(*bytes) : NULL;
    if (*head) {
        memcpy(*head, &length, sizeof length);
        memset(*head + sizeof length, ' ', room);
        memcpy(*head + sizeof length, text, used);
    }
    free(text);
    return *head ? ASSAY_OK
                 : assay_fail(err, ASSAY_MEMORY,
                              "no memory for a safetensors header");
}
