/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "assay/memory.h"
#include "golden/safetensors_header.h"
#include "golden/tensors_form.h"
#include "golden/term.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tensor *)a)->name,
                  ((const struct tensor *)b)->name);
}

struct tensor_text tensor_shape_text(int rank, const int64_t *shape)
{
    struct tensor_text t = { "[" };
    for (int i = 0; i < rank; i++)
        text_append(t.s, sizeof t.s, "%s%" PRId64, i ? ", " : "", shape[i]);
    text_append(t.s, sizeof t.s, "]");
    return t;
}

enum assay_status tensors_room(struct tensors *t, size_t count,
                               struct assay_error *err)
{
    t->list = calloc(count + 1, sizeof *t->list);
    return t->list ? ASSAY_OK
                   : assay_fail(err, ASSAY_MEMORY, "no memory for %zu tensors",
                                count);
}

enum assay_status tensors_add(struct tensors *t, const char *name,
                              const struct tensor *tensor, size_t elem_bytes,
                              struct assay_error *err)
{
    struct tensor *one = &t->list[t->count];
    size_t bytes = elem_bytes;
    bool fits = tensor->rank >= 0 && tensor->rank <= TENSOR_MAX_RANK;
    for (int a = 0; fits && a < tensor->rank; a++)
        fits = tensor->shape[a] >= 0 &&
               !__builtin_mul_overflow(bytes, (size_t)tensor->shape[a], &bytes);
    if (!fits || bytes > INT64_MAX)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %.100s has %d axes, of which 0 to %d are read, "
                          "or a size that cannot be addressed",
                          t->path, name, tensor->rank, TENSOR_MAX_RANK);
    *one = *tensor;
    one->bytes = bytes;
    one->name = strdup(name);
    if (!one->name)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    t->count++;
    return ASSAY_OK;
}

/* A folder, or by the end of the name; anything else is read as safetensors,
 * which says what it is not. */
static enum assay_status open_form(struct tensors *t, struct assay_error *err)
{
    struct stat info;
    const size_t n = strlen(t->path);
    if (stat(t->path, &info) == 0 && S_ISDIR(info.st_mode))
        return tensors_open_folder(t, err);
    if (n > 4 && strcmp(t->path + n - 4, ".npy") == 0)
        return tensors_open_npy(t, err);
    if (n > 3 && strcmp(t->path + n - 3, ".h5") == 0)
        return tensors_open_h5(t, err);
    return tensors_open_safetensors(t, err);
}

bool tensors_wants(const struct tensors *t, const char *name)
{
    return !t->wanted || t->wanted(name);
}

static enum assay_status
open_as(const char *path, bool (*wanted)(const char *name),
        enum assay_status (*form)(struct tensors *t, struct assay_error *err),
        struct tensors **out, struct assay_error *err)
{
    struct tensors *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t || !(t->path = strdup(path))) {
        free(t);
        return assay_fail(err, ASSAY_MEMORY, "no memory for tensors");
    }
    t->wanted = wanted;
    enum assay_status st = form(t, err);
    if (st != ASSAY_OK) {
        tensors_close(t);
        return st;
    }
    qsort(t->list, t->count, sizeof *t->list, by_name);
    *out = t;
    return ASSAY_OK;
}

enum assay_status tensors_open(const char *path,
                               bool (*wanted)(const char *name),
                               struct tensors **out, struct assay_error *err)
{
    return open_as(path, wanted, open_form, out, err);
}

bool tensors_is_head(const char *path)
{
    static const char ending[] = ".q.npy";
    const char *file = basename(path);
    const size_t n = strlen(file), m = strlen(ending);
    return n > m && strcmp(file + n - m, ending) == 0;
}

enum assay_status tensors_open_head(const char *path, struct tensors **out,
                                    struct assay_error *err)
{
    return open_as(path, NULL, tensors_open_three, out, err);
}

void tensors_close(struct tensors *t)
{
    if (!t)
        return;
    if (t->close)
        t->close(t);
    for (size_t i = 0; i < t->count; i++)
        free(t->list[i].name);
    free(t->list);
    json_decref(t->metadata);
    free(t->path);
    free(t);
}

const char *tensors_path(const struct tensors *t)
{
    return t->path;
}

size_t tensors_count(const struct tensors *t)
{
    return t->count;
}

const struct tensor *tensors_get(const struct tensors *t, size_t i)
{
    return &t->list[i];
}

bool tensors_find(const struct tensors *t, const char *name, size_t *i)
{
    const struct tensor key = { .name = (char *)(uintptr_t)name };
    const struct tensor *found =
        bsearch(&key, t->list, t->count, sizeof *t->list, by_name);
    if (found)
        *i = (size_t)(found - t->list);
    return found != NULL;
}

const char *tensors_metadata(const struct tensors *t, const char *key)
{
    return json_string_value(json_object_get(t->metadata, key));
}

enum assay_status tensors_read(const struct tensors *t, size_t i, void *out,
                               struct assay_error *err)
{
    void *data;
    enum assay_status st =
        assay_alloc("a tensor", (int64_t)t->list[i].bytes, 1, &data, err);
    if (st != ASSAY_OK)
        return st;
    st = t->read(t, i, data, err);
    if (st == ASSAY_OK)
        memcpy(out, &data, sizeof data);
    else
        assay_free(data);
    return st;
}

/* ---- safetensors ---- */

static enum assay_status read_safetensors(const struct tensors *t, size_t i,
                                          void *data, struct assay_error *err)
{
    const struct assay_safetensors_tensor *tensor;
    enum assay_status st =
        assay_safetensors_find(t->own, t->list[i].name, &tensor, err);
    return st == ASSAY_OK ? assay_safetensors_read(t->own, tensor, data,
                                                   t->list[i].bytes, err)
                          : st;
}

static void close_safetensors(struct tensors *t)
{
    assay_safetensors_close(t->own);
}

static enum tensor_type type_of(enum assay_safetensors_dtype_id dtype)
{
    switch (dtype) {
    case ASSAY_SAFETENSORS_BF16: return TENSOR_BF16;
    case ASSAY_SAFETENSORS_F16: return TENSOR_F16;
    case ASSAY_SAFETENSORS_F32: return TENSOR_F32;
    case ASSAY_SAFETENSORS_F64: return TENSOR_F64;
    case ASSAY_SAFETENSORS_U16: return TENSOR_WORD;
    default: return TENSOR_OTHER;
    }
}

enum assay_status tensors_open_safetensors(struct tensors *t,
                                           struct assay_error *err)
{
    struct assay_safetensors *file;
    enum assay_status st = assay_safetensors_open(t->path, &file, err);
    t->own = file;
    t->read = read_safetensors;
    t->close = close_safetensors;
    if (st != ASSAY_OK)
        return st;
    t->metadata =
        json_deep_copy(json_object_get(file->root, SAFETENSORS_METADATA));
    const size_t n = assay_safetensors_count(file);
    st = tensors_room(t, n, err);
    for (size_t i = 0; st == ASSAY_OK && i < n; i++) {
        const struct assay_safetensors_tensor *from;
        if ((st = assay_safetensors_get(file, i, &from, err)) != ASSAY_OK)
            break;
        if (!tensors_wants(t, from->name))
            continue;
        struct tensor one = { .type = type_of(from->dtype->id),
                              .type_name = from->dtype->name,
                              .rank = from->rank };
        memcpy(one.shape, from->shape, sizeof one.shape);
        if ((st = tensors_add(t, from->name, &one, 1, err)) == ASSAY_OK)
            t->list[t->count - 1].bytes =
                from->bytes; /* elements may be less than one */
    }
    return st;
}
