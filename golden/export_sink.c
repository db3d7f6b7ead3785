/* SPDX-License-Identifier: MIT */
#include "golden/export_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/json.h"
#include "golden/npy.h"

enum assay_status export_sink_new(const char *path, struct export_sink *sink,
                                  struct assay_error *err)
{
    static const char ending[] = ".safetensors";
    const size_t n = strlen(path), m = strlen(ending);
    *sink =
        (struct export_sink){ .path = strdup(path), .metadata = json_object() };
    if (!sink->path || !sink->metadata)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a file name");
    sink->folder = n > 0 && path[n - 1] == '/';
    if (sink->folder || (n > m && strcmp(path + n - m, ending) == 0))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_USAGE,
                      "%s: is neither a name that ends in .safetensors nor a "
                      "folder, which ends in /",
                      path);
}

enum assay_status export_sink_announce(struct export_sink *sink,
                                       const struct safetensors_part *part,
                                       struct assay_error *err)
{
    if (sink->count == sink->space) {
        const size_t space = sink->space ? 2 * sink->space : 64;
        struct safetensors_part *grown =
            realloc(sink->parts, space * sizeof *grown);
        if (!grown)
            return assay_fail(err, ASSAY_MEMORY, "no memory for tensors");
        sink->parts = grown;
        sink->space = space;
    }
    struct safetensors_part *one = &sink->parts[sink->count];
    *one = *part;
    one->name = strdup(part->name);
    if (!one->name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    sink->count++;
    for (size_t i = 0; i + 1 < sink->count; i++)
        if (strcmp(sink->parts[i].name, one->name) == 0)
            return assay_fail(err, ASSAY_FORMAT,
                              "%s: two tensors would be named %s", sink->path,
                              one->name);
    return ASSAY_OK;
}

static enum assay_status write_head(struct export_sink *sink,
                                    struct assay_error *err)
{
    struct safetensors_note *notes =
        calloc(json_object_size(sink->metadata) + 1, sizeof *notes);
    const char *key;
    json_t *value;
    char *head = NULL;
    size_t n = 0, bytes;
    if (!notes)
        return assay_fail(err, ASSAY_MEMORY, "no memory for metadata");
    json_object_foreach (sink->metadata, key, value)
        notes[n++] = (struct safetensors_note){ key, json_string_value(value) };
    enum assay_status st = safetensors_head(sink->parts, sink->count, notes, n,
                                            &head, &bytes, err);
    if (st == ASSAY_OK)
        st = temp_file_write(&sink->file, head, bytes, err);
    free(head);
    free(notes);
    return st;
}

enum assay_status export_sink_begin(struct export_sink *sink,
                                    struct assay_error *err)
{
    enum assay_status st;
    if (sink->folder && mkdir(sink->path, 0777) != 0)
        return assay_fail(err, ASSAY_FILE, "%s: cannot be made: %s", sink->path,
                          strerror(errno));
    sink->open = sink->folder;
    if (sink->folder)
        return ASSAY_OK;
    st = temp_file_begin(sink->path, &sink->file, err);
    if (st != ASSAY_OK)
        return st;
    sink->open = true;
    return write_head(sink, err);
}

/* As NumPy knows them: what it has no type for are words as wide. */
static enum npy_type_id npy_of(enum assay_safetensors_dtype_id dtype)
{
    switch (dtype) {
    case ASSAY_SAFETENSORS_F64: return NPY_F8;
    case ASSAY_SAFETENSORS_F32: return NPY_F4;
    case ASSAY_SAFETENSORS_F16: return NPY_F2;
    case ASSAY_SAFETENSORS_BF16:
    case ASSAY_SAFETENSORS_U16: return NPY_U2;
    case ASSAY_SAFETENSORS_I8: return NPY_I1;
    default: return NPY_U1;
    }
}

static char *file_in(const struct export_sink *sink, const char *name,
                     const char *ending)
{
    char *path = NULL;
    return asprintf(&path, "%s%s%s", sink->path, name, ending) < 0 ? NULL
                                                                   : path;
}

static enum assay_status write_npy(struct export_sink *sink,
                                   const struct safetensors_part *part,
                                   const void *words, struct assay_error *err)
{
    struct npy npy = { .type = npy_type_get(npy_of(part->dtype)),
                       .rank = part->rank,
                       .count = 1,
                       .data = (void *)words };
    char *path = file_in(sink, part->name, ".npy");
    struct temp_file file;
    if (!path)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    for (int a = 0; a < part->rank; a++)
        npy.count *= npy.shape[a] = part->shape[a];
    enum assay_status st = temp_file_begin(path, &file, err);
    free(path);
    if (st != ASSAY_OK)
        return st;
    st = npy_write(&file, &npy, err);
    if (st == ASSAY_OK)
        return temp_file_commit(&file, err);
    temp_file_abandon(&file);
    return st;
}

enum assay_status export_sink_add(struct export_sink *sink,
                                  const struct safetensors_part *part,
                                  const void *words, struct assay_error *err)
{
    const struct safetensors_part *want = &sink->parts[sink->added];
    if (sink->added == sink->count || strcmp(want->name, part->name) != 0 ||
        safetensors_part_bytes(want) != safetensors_part_bytes(part))
        return assay_fail(err, ASSAY_INTERNAL,
                          "%s: the set has changed while it was read",
                          sink->path);
    sink->added++;
    return sink->folder ? write_npy(sink, part, words, err)
                        : temp_file_write(&sink->file, words,
                                          safetensors_part_bytes(part), err);
}

static bool print_metadata(const void *what, FILE *out)
{
    const struct export_sink *sink = what;
    return json_print(json_incref(sink->metadata), out) == 0;
}

enum assay_status export_sink_commit(struct export_sink *sink,
                                     struct assay_error *err)
{
    enum assay_status st;
    if (sink->folder) {
        char *path = file_in(sink, "metadata", ".json");
        st = path ? temp_file_print(path, print_metadata, sink, err)
                  : assay_fail(err, ASSAY_MEMORY, "no memory for a name");
        free(path);
        sink->open = st != ASSAY_OK;
        return st;
    }
    sink->open = false; /* a failure removes it */
    return temp_file_commit(&sink->file, err);
}

static void remove_folder(struct export_sink *sink)
{
    for (size_t i = 0; i < sink->added; i++) {
        char *path = file_in(sink, sink->parts[i].name, ".npy");
        if (path)
            unlink(path);
        free(path);
    }
    rmdir(sink->path);
}

void export_sink_free(struct export_sink *sink)
{
    if (sink->open && sink->folder)
        remove_folder(sink);
    else if (sink->open)
        temp_file_abandon(&sink->file);
    for (size_t i = 0; i < sink->count; i++)
        free((void *)sink->parts[i].name);
    free(sink->parts);
    free(sink->path);
    json_decref(sink->metadata);
    *sink = (struct export_sink){ 0 };
}
