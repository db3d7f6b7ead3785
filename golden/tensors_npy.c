/* SPDX-License-Identifier: MIT
 *
 * Tensors in .npy files: one, or a folder of them with their metadata in
 * metadata.json. A file is read whole to be looked at, and again when its words
 * are wanted: what is kept meanwhile is its shape.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/npy.h"
#include "golden/tensors_form.h"

enum { MOST_METADATA = 1 << 24 }; /* bytes */

static enum tensor_type type_of(enum npy_type_id id)
{
    switch (id) {
    case NPY_F2: return TENSOR_F16;
    case NPY_F4: return TENSOR_F32;
    case NPY_F8: return TENSOR_F64;
    case NPY_U2: return TENSOR_WORD;
    default: return TENSOR_OTHER;
    }
}

/* The file of a tensor of a folder; of the one file, "" is its name. */
static char *file_of(const struct tensors *t, const char *name)
{
    char *path = NULL;
    if (!*name)
        return strdup(t->path);
    return asprintf(&path, "%s/%s.npy", t->path, name) < 0 ? NULL : path;
}

static enum assay_status read_file(const struct tensors *t, const char *name,
                                   struct npy *out, struct assay_error *err)
{
    char *path = file_of(t, name);
    enum assay_status st =
        path ? npy_read(path, out, err)
             : assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    free(path);
    return st;
}

static enum assay_status read_words(const struct tensors *t, size_t i,
                                    void *data, struct assay_error *err)
{
    const struct tensor *one = &t->list[i];
    struct npy npy = { 0 };
    enum assay_status st = read_file(t, one->name, &npy, err);
    if (st != ASSAY_OK)
        return st;
    if ((size_t)npy.count * npy.type->bytes == one->bytes)
        memcpy(data, npy.data, one->bytes);
    else
        st = assay_fail(err, ASSAY_FILE,
                        "%s: %.100s has changed while it was read", t->path,
                        one->name);
    assay_free(npy.data);
    return st;
}

static enum assay_status add(struct tensors *t, const char *name,
                             struct assay_error *err)
{
    struct npy npy = { 0 };
    enum assay_status st = read_file(t, name, &npy, err);
    if (st != ASSAY_OK)
        return st;
    struct tensor one = { .type = type_of(npy.type->id),
                          .type_name = npy.type->descr,
                          .rank = npy.rank };
    for (int a = 0; a < npy.rank && a < TENSOR_MAX_RANK; a++)
        one.shape[a] = npy.shape[a];
    assay_free(npy.data);
    return tensors_add(t, name, &one, npy.type->bytes, err);
}

enum assay_status tensors_open_npy(struct tensors *t, struct assay_error *err)
{
    enum assay_status st = tensors_room(t, 1, err);
    t->read = read_words;
    return st == ASSAY_OK ? add(t, "", err) : st;
}

/* The path X.q.npy becomes that of the folder that the three lie in. */
enum assay_status tensors_open_three(struct tensors *t, struct assay_error *err)
{
    static const char *const parts[] = { "q", "k", "v" };
    const char *file = basename(t->path);
    const int x = (int)strlen(file) - (int)strlen(".q.npy");
    char *folder = NULL, *stem = NULL;
    enum assay_status st = tensors_room(t, 3, err);
    t->read = read_words;
    if (asprintf(&stem, "%.*s", x, file) < 0 ||
        asprintf(&folder, "%.*s", (int)(file - t->path), t->path) < 0) {
        free(stem);
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    }
    free(t->path);
    t->path = *folder ? folder : strdup(".");
    if (!*folder)
        free(folder);
    for (int i = 0; st == ASSAY_OK && i < 3; i++) {
        char *name = NULL;
        st = t->path && asprintf(&name, "%s.%s", stem, parts[i]) >= 0
                 ? add(t, name, err)
                 : assay_fail(err, ASSAY_MEMORY, "no memory for a name");
        free(name);
    }
    free(stem);
    return st;
}

static int is_npy(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".npy") == 0;
}

static enum assay_status read_metadata(struct tensors *t,
                                       struct assay_error *err)
{
    char *path = NULL;
    json_error_t why;
    const char *key;
    json_t *value;
    enum assay_status st = ASSAY_OK;
    if (asprintf(&path, "%s/metadata.json", t->path) < 0)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    FILE *in = fopen(path, "re");
    free(path);
    if (!in)
        return ASSAY_OK;
    char *text = malloc(MOST_METADATA);
    const size_t n = text ? fread(text, 1, MOST_METADATA, in) : 0;
    fclose(in);
    t->metadata = text && n < MOST_METADATA
                      ? json_loadb(text, n, JSON_REJECT_DUPLICATES, &why)
                      : NULL;
    free(text);
    if (!json_is_object(t->metadata))
        return assay_fail(err, ASSAY_FORMAT,
                          "%s/metadata.json: is no JSON object of less than "
                          "%d bytes",
                          t->path, MOST_METADATA);
    json_object_foreach (t->metadata, key, value) {
        if (!json_is_string(value))
            st = assay_fail(err, ASSAY_FORMAT,
                            "%s/metadata.json: \"%.60s\" is no string", t->path,
                            key);
    }
    return st;
}

enum assay_status tensors_open_folder(struct tensors *t,
                                      struct assay_error *err)
{
    struct dirent **entries = NULL;
    const int n = scandir(t->path, &entries, is_npy, alphasort);
    enum assay_status st =
        n < 0 ? assay_fail(err, ASSAY_FILE, "%s: cannot be listed", t->path)
              : tensors_room(t, (size_t)n, err);
    t->read = read_words;
    if (st == ASSAY_OK)
        st = read_metadata(t, err);
    for (int i = 0; i < n; i++) {
        char *name = entries[i]->d_name;
        name[strlen(name) - 4] = '\0';
        if (st == ASSAY_OK && tensors_wants(t, name))
            st = add(t, name, err);
        free(entries[i]);
    }
    free(entries);
    return st;
}
