/* SPDX-License-Identifier: MIT
 *
 * Tensors of an HDF5 file that is none of ours: datasets of its root, and text
 * attributes there.
 */
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/stored.h"
#include "golden/tensors_form.h"

static enum tensor_type type_of(enum h5_type type)
{
    switch (type) {
    case H5_U16: return TENSOR_WORD;
    case H5_F32: return TENSOR_F32;
    case H5_F64: return TENSOR_F64;
    default: return TENSOR_OTHER;
    }
}

static enum assay_status info(const char *path, hid_t file, const char *name,
                              enum h5_type *type, struct tensor *out,
                              struct assay_error *err)
{
    struct h5_shape shape;
    enum assay_status st = h5_data_info(path, file, name, type, &shape, err);
    if (st != ASSAY_OK)
        return st;
    *out = (struct tensor){ .type = type_of(*type),
                            .type_name = h5_type_name(*type),
                            .rank = shape.rank };
    for (int a = 0; a < shape.rank; a++)
        out->shape[a] = (int64_t)shape.dims[a];
    return ASSAY_OK;
}

static enum assay_status read_dataset(const char *path, hid_t file,
                                      const char *name, void *data,
                                      struct assay_error *err)
{
    struct h5_shape shape;
    enum h5_type type;
    enum assay_status st = h5_data_info(path, file, name, &type, &shape, err);
    return st == ASSAY_OK
               ? h5_read_bare(path, file, name, type, &shape, data, err)
               : st;
}

static enum assay_status read_words(const struct tensors *t, size_t i,
                                    void *data, struct assay_error *err)
{
    hid_t file;
    enum assay_status st = h5_open_file(t->path, &file, err);
    if (st != ASSAY_OK)
        return st;
    st = read_dataset(t->path, file, t->list[i].name, data, err);
    H5Fclose(file);
    return st;
}

/* Attributes that mean something to somebody here. */
static void read_metadata(struct tensors *t, hid_t file)
{
    static const char *const keys[] = { "layout",        "kernel",  "build",
                                        "device",        "seconds", "causal",
                                        "softmax_scale", "source",  "maker" };
    struct assay_error ignored;
    t->metadata = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *text;
        if (!h5_has_attribute(file, keys[i]) ||
            h5_read_text(t->path, file, keys[i], &text, &ignored) != ASSAY_OK)
            continue;
        json_object_set_new(t->metadata, keys[i], json_string(text));
        free(text);
    }
}

static enum assay_status list(struct tensors *t, hid_t file,
                              struct assay_error *err)
{
    char **names;
    size_t n;
    enum assay_status st = h5_list(t->path, file, &names, &n, err);
    if (st == ASSAY_OK)
        st = tensors_room(t, n, err);
    for (size_t i = 0; st == ASSAY_OK && i < n; i++) {
        struct assay_error no_group;
        struct tensor one;
        enum h5_type type;
        if (!tensors_wants(t, names[i]) ||
            h5_check_link(t->path, file, names[i], H5O_TYPE_GROUP, &no_group) ==
                ASSAY_OK)
            continue;
        if ((st = info(t->path, file, names[i], &type, &one, err)) == ASSAY_OK)
            st = tensors_add(t, names[i], &one, h5_type_bytes(type), err);
    }
    h5_free_names(names, n);
    return st;
}

static enum assay_status open_file(struct tensors *t, struct assay_error *err)
{
    hid_t file;
    enum assay_status st = h5_open_file(t->path, &file, err);
    t->read = read_words;
    if (st != ASSAY_OK)
        return st;
    read_metadata(t, file);
    st = list(t, file, err);
    H5Fclose(file);
    return st;
}

/* All that is done with the file later, in a child first. */
static bool (*wanted_there)(const char *name);
static void try_all(void *path)
{
    struct tensors t = { .path = path, .wanted = wanted_there };
    struct assay_error err;
    enum assay_status st = open_file(&t, &err);
    for (size_t i = 0; st == ASSAY_OK && i < t.count; i++) {
        void *data;
        if (tensors_read(&t, i, &data, &err) == ASSAY_OK)
            assay_free(data);
    }
}

enum assay_status tensors_open_h5(struct tensors *t, struct assay_error *err)
{
    h5_init();
    wanted_there = t->wanted;
    enum assay_status st = stored_survives(t->path, try_all, err);
    return st == ASSAY_OK ? open_file(t, err) : st;
}
