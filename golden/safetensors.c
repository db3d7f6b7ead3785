/* SPDX-License-Identifier: MIT
 *
 * The reader of safetensors files.
 *
 * Inner functions say what is wrong; each caller puts the place in front, so
 * a message reads `path: tensor "name": what`.
 */
#include "golden/safetensors_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/input.h"

/* ---- all tensors together ---- */

static int by_name(const void *left, const void *right)
{
    const struct safetensors_entry *a = left, *b = right;
    return strcmp(a->tensor.name, b->tensor.name);
}

/* The name last, so that the message does not hang on the sort. */
static int by_place(const void *left, const void *right)
{
    const struct safetensors_entry *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return by_name(left, right);
}

static int name_against(const void *name, const void *entry)
{
    return strcmp(name, ((const struct safetensors_entry *)entry)->tensor.name);
}

/* The furthest end against the size of the file. */
static enum assay_status check_end(const struct assay_safetensors *file,
                                   struct assay_error *err)
{
    const char *name = "";
    int64_t end = 0;
    for (size_t i = 0; i < file->n_entries; i++)
        if (file->entries[i].end > end) {
            end = file->entries[i].end;
            name = file->entries[i].tensor.name;
        }
    if (end > file->data_bytes)
        return assay_fail(err, ASSAY_FORMAT,
                          "tensor \"%s\": ends at byte %" PRId64 " of the "
                          "data, but %" PRId64 " bytes follow the header; "
                          "%" PRId64 " bytes are missing",
                          safetensors_show(name).s, end, file->data_bytes,
                          end - file->data_bytes);
    if (end < file->data_bytes)
        return assay_fail(err, ASSAY_FORMAT,
                          "%" PRId64 " bytes are left over: the tensors end "
                          "at byte %" PRId64 " of the data, but %" PRId64
                          " bytes follow the header",
                          file->data_bytes - end, end, file->data_bytes);
    return ASSAY_OK;
}

/* Each tensor must begin where the one before ends. */
static enum assay_status check_joints(const struct assay_safetensors *file,
                                      struct assay_error *err)
{
    const char *before = "";
    int64_t end = 0;
    for (size_t i = 0; i < file->n_entries; i++) {
        const struct safetensors_entry *e = &file->entries[i];
        const char *name = e->tensor.name;
        if (e->begin > end)
            return assay_fail(err, ASSAY_FORMAT,
                              "tensor \"%s\": begins at byte %" PRId64 " of "
                              "the data, but bytes %" PRId64 " to %" PRId64
                              " belong to no tensor",
                              safetensors_show(name).s, e->begin, end,
                              e->begin);
        if (e->begin < end)
            return assay_fail(err, ASSAY_FORMAT,
                              "tensor \"%s\": begins at byte %" PRId64 " of "
                              "the data and overlaps tensor \"%s\", which "
                              "ends at byte %" PRId64,
                              safetensors_show(name).s, e->begin,
                              safetensors_show(before).s, end);
        before = name;
        end = e->end;
    }
    return ASSAY_OK;
}

static enum assay_status check_layout(struct assay_safetensors *file,
                                      struct assay_error *err)
{
    qsort(file->entries, file->n_entries, sizeof *file->entries, by_place);
    enum assay_status st = check_end(file, err);
    if (st == ASSAY_OK)
        st = check_joints(file, err);
    qsort(file->entries, file->n_entries, sizeof *file->entries, by_name);
    for (size_t i = 0; i < file->n_entries; i++)
        file->entries[i].tensor.index = i;
    return st;
}

/* ---- the interface ---- */

static enum assay_status open_all(struct assay_safetensors *file,
                                  const char *path, struct assay_error *err)
{
    int64_t file_bytes = 0;
    enum assay_status st = input_open(path, &file->fd, &file_bytes, err);
    if (st == ASSAY_OK)
        st = safetensors_read_header(file, file_bytes, err);
    return st == ASSAY_OK ? check_layout(file, err) : st;
}

enum assay_status assay_safetensors_open(const char *path,
                                         struct assay_safetensors **file,
                                         struct assay_error *err)
{
    enum assay_status st;
    *file = NULL;
    struct assay_safetensors *f = calloc(1, sizeof *f);
    if (f) {
        f->fd = -1;
        f->path = strdup(path);
    }
    if (!f || !f->path) {
        st = assay_fail(err, ASSAY_MEMORY, "out of memory");
        goto out;
    }
    st = open_all(f, path, err);
    if (st != ASSAY_OK)
        goto out;
    *file = f;
    f = NULL;
out:
    assay_safetensors_close(f);
    if (st != ASSAY_OK)
        assay_fail_in(err, st, "%s", input_path(path).s);
    return st;
}

void assay_safetensors_close(struct assay_safetensors *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    json_decref(file->root);
    free(file->entries);
    free(file->path);
    free(file);
}

const char *assay_safetensors_metadata(const struct assay_safetensors *file,
                                       const char *key)
{
    json_t *metadata = json_object_get(file->root, SAFETENSORS_METADATA);
    return json_string_value(json_object_get(metadata, key));
}

size_t assay_safetensors_count(const struct assay_safetensors *file)
{
    return file->n_entries;
}

enum assay_status
assay_safetensors_get(const struct assay_safetensors *file, size_t index,
                      const struct assay_safetensors_tensor **tensor,
                      struct assay_error *err)
{
    *tensor = NULL;
    if (index >= file->n_entries)
        return assay_fail(err, ASSAY_USAGE,
                          "%s: has %zu tensors, so none of index %zu",
                          input_path(file->path).s, file->n_entries, index);
    *tensor = &file->entries[index].tensor;
    return ASSAY_OK;
}

enum assay_status
assay_safetensors_find(const struct assay_safetensors *file, const char *name,
                       const struct assay_safetensors_tensor **tensor,
                       struct assay_error *err)
{
    const struct safetensors_entry *e =
        bsearch(name, file->entries, file->n_entries, sizeof *e, name_against);
    *tensor = e ? &e->tensor : NULL;
    if (!e)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: none of its %zu tensors is named \"%s\"",
                          input_path(file->path).s, file->n_entries,
                          safetensors_show(name).s);
    return ASSAY_OK;
}

enum assay_status
assay_safetensors_read(const struct assay_safetensors *file,
                       const struct assay_safetensors_tensor *tensor,
                       void *buffer, size_t buffer_bytes,
                       struct assay_error *err)
{
    if (tensor->index >= file->n_entries ||
        &file->entries[tensor->index].tensor != tensor)
        return assay_fail(
            err, ASSAY_USAGE, "%s: tensor \"%s\" is not of this file",
            input_path(file->path).s, safetensors_show(tensor->name).s);
    if (buffer_bytes != tensor->bytes)
        return assay_fail(
            err, ASSAY_SHAPE, "%s: tensor \"%s\" has %zu bytes, the buffer %zu",
            input_path(file->path).s, safetensors_show(tensor->name).s,
            tensor->bytes, buffer_bytes);
    int64_t at = file->data_begin + file->entries[tensor->index].begin;
    enum assay_status st =
        input_read_at(file->fd, at, buffer, buffer_bytes, err);
    if (st != ASSAY_OK)
        return assay_fail_in(err, st, "%s: tensor \"%s\"",
                             input_path(file->path).s,
                             safetensors_show(tensor->name).s);
    return ASSAY_OK;
}