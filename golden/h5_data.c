/* SPDX-License-Identifier: MIT
 *
 * Datasets: written whole, hashed, and believed only when hash, shape and
 * storage agree.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/h5.h"

static const struct {
    size_t bytes;
    const char *name;
} types[] = {
    [H5_U8] = { 1, "uint8" },    [H5_I8] = { 1, "int8" },
    [H5_U16] = { 2, "uint16" },  [H5_U32] = { 4, "uint32" },
    [H5_F32] = { 4, "float32" }, [H5_F64] = { 8, "float64" },
};

enum { N_TYPES = sizeof types / sizeof *types };

/* The library's types are run-time values, so no table can hold them. */
static hid_t file_type(enum h5_type type)
{
    switch (type) {
    case H5_U8: return H5T_STD_U8LE;
    case H5_I8: return H5T_STD_I8LE;
    case H5_U16: return H5T_STD_U16LE;
    case H5_U32: return H5T_STD_U32LE;
    case H5_F32: return H5T_IEEE_F32LE;
    case H5_F64: return H5T_IEEE_F64LE;
    }
    return -1;
}

size_t h5_type_bytes(enum h5_type type)
{
    return types[type].bytes;
}

const char *h5_type_name(enum h5_type type)
{
    return types[type].name;
}

int64_t h5_shape_count(const struct h5_shape *shape)
{
    int64_t n = 1;
    for (int i = 0; i < shape->rank; i++)
        n *= (int64_t)shape->dims[i];
    return n;
}

/* The library can make the groups on the way, but then they keep the time. */
static enum assay_status make_groups(const char *path, hid_t in,
                                     const char *name, struct assay_error *err)
{
    char prefix[256];
    enum assay_status st = ASSAY_OK;
    for (const char *c = name; st == ASSAY_OK && (c = strchr(c, '/')); c++) {
        hid_t group = -1;
        snprintf(prefix, sizeof prefix, "%.*s", (int)(c - name), name);
        if (H5Lexists(in, prefix, H5P_DEFAULT) <= 0)
            st = h5_create_group(path, in, prefix, &group, err);
        h5_close_group(&group);
    }
    return st;
}

static enum assay_status write_new(const char *path, hid_t in, const char *name,
                                   enum h5_type type,
                                   const struct h5_shape *shape,
                                   const void *data, hid_t *set,
                                   struct assay_error *err)
{
    *set = -1;
    enum assay_status st = make_groups(path, in, name, err);
    if (st != ASSAY_OK)
        return st;
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(shape->rank, shape->dims, NULL);
    H5Pset_obj_track_times(creation, false);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    *set = H5Dcreate2(in, name, file_type(type), space, H5P_DEFAULT, creation,
                      H5P_DEFAULT);
    bool ok = *set >= 0 && (h5_shape_count(shape) == 0 ||
                            H5Dwrite(*set, file_type(type), H5S_ALL, H5S_ALL,
                                     H5P_DEFAULT, data) >= 0);
    st = ok ? ASSAY_OK : h5_fail(err, path, name);
    H5Sclose(space);
    H5Pclose(creation);
    return st;
}

enum assay_status h5_write_data(const char *path, hid_t in, const char *name,
                                enum h5_type type, const struct h5_shape *shape,
                                const char *format, const void *data,
                                struct assay_error *err)
{
    char hex[H5_HASH_CHARS + 1];
    hid_t set = -1;
    size_t bytes = (size_t)h5_shape_count(shape) * types[type].bytes;
    enum assay_status st =
        write_new(path, in, name, type, shape, data, &set, err);
    h5_hash(data, bytes, hex);
    if (st == ASSAY_OK)
        st = h5_write_text(path, set, H5_HASH_NAME, hex, err);
    if (st == ASSAY_OK && format)
        st = h5_write_text(path, set, "format", format, err);
    if (set >= 0)
        H5Dclose(set);
    return st;
}

static enum assay_status open_data(const char *path, hid_t in, const char *name,
                                   hid_t *set, struct assay_error *err)
{
    *set = -1;
    enum assay_status st = h5_check_link(path, in, name, H5O_TYPE_DATASET, err);
    if (st != ASSAY_OK)
        return st;
    *set = H5Dopen2(in, name, H5P_DEFAULT);
    return *set < 0 ? h5_fail(err, path, name) : ASSAY_OK;
}

static enum assay_status shape_of(const char *path, const char *name, hid_t set,
                                  struct h5_shape *shape,
                                  struct assay_error *err)
{
    hid_t space = H5Dget_space(set);
    enum assay_status st = ASSAY_OK;
    shape->rank = H5Sget_simple_extent_ndims(space);
    if (H5Sget_simple_extent_type(space) == H5S_NULL || shape->rank < 0 ||
        shape->rank > H5_MAX_RANK)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: %s has %d dimensions, this reads 0 to %d", path,
                        name, shape->rank, H5_MAX_RANK);
    else
        H5Sget_simple_extent_dims(space, shape->dims, NULL);
    H5Sclose(space);
    return st;
}

/* Golden data lie in the file itself: external and virtual storage would read
 * whatever the file names. Deflate may come once, since each turn grows the
 * data up to 1032-fold. */
static enum assay_status check_creation(const char *path, const char *name,
                                        hid_t set, struct assay_error *err)
{
    hid_t creation = H5Dget_create_plist(set);
    H5D_layout_t layout = H5Pget_layout(creation);
    int filters = H5Pget_nfilters(creation), deflates = 0, unknown = 0;
    bool inside = layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED ||
                  layout == H5D_COMPACT;
    inside = inside && H5Pget_external_count(creation) == 0;
    for (int i = 0; i < filters; i++) {
        unsigned flags, config;
        size_t n = 0;
        H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)i, &flags, &n,
                                             NULL, 0, NULL, &config);
        deflates += filter == H5Z_FILTER_DEFLATE;
        unknown += filter != H5Z_FILTER_DEFLATE &&
                   filter != H5Z_FILTER_SHUFFLE &&
                   filter != H5Z_FILTER_FLETCHER32;
    }
    H5Pclose(creation);
    if (!inside)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s keeps its data outside of the file", path,
                          name);
    if (unknown || deflates > 1)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s has a filter other than shuffle, fletcher32 "
                          "and one deflate",
                          path, name);
    return ASSAY_OK;
}

/* Storage must hold every element: a chunk that was never written reads as
 * zeros, and a lying header asks for memory that no file stands behind.
 * Deflate shrinks at most 1032-fold. */
static enum assay_status check_storage(const char *path, const char *name,
                                       hid_t set, const struct h5_shape *shape,
                                       size_t elem_bytes,
                                       struct assay_error *err)
{
    hsize_t bytes = elem_bytes, size = 0;
    for (int i = 0; i < shape->rank; i++)
        if (__builtin_mul_overflow(bytes, shape->dims[i], &bytes) ||
            bytes > INT64_MAX)
            return assay_fail(err, ASSAY_FORMAT,
                              "%s: %s is too large to address", path, name);
    hid_t creation = H5Dget_create_plist(set);
    int filters = H5Pget_nfilters(creation);
    H5Pclose(creation);
    hid_t file = H5Iget_file_id(set);
    H5Fget_filesize(file, &size);
    H5Fclose(file);
    hsize_t stored = H5Dget_storage_size(set);
    hsize_t most = filters > 0 ? 1032 * stored : stored;
    if (stored > size || most < bytes)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s should hold %" PRIuHSIZE
                          " bytes and has %" PRIuHSIZE " stored",
                          path, name, bytes, stored);
    return ASSAY_OK;
}

static enum assay_status info_of(const char *path, const char *name, hid_t set,
                                 enum h5_type *type, struct h5_shape *shape,
                                 struct assay_error *err)
{
    hid_t own = H5Dget_type(set);
    int t = 0;
    while (t < N_TYPES && H5Tequal(own, file_type((enum h5_type)t)) <= 0)
        t++;
    H5Tclose(own);
    if (t == N_TYPES)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s has an element type that golden sets do not "
                          "use",
                          path, name);
    *type = (enum h5_type)t;
    enum assay_status st = check_creation(path, name, set, err);
    if (st == ASSAY_OK)
        st = shape_of(path, name, set, shape, err);
    return st == ASSAY_OK
               ? check_storage(path, name, set, shape, types[t].bytes, err)
               : st;
}

enum assay_status h5_data_info(const char *path, hid_t in, const char *name,
                               enum h5_type *type, struct h5_shape *shape,
                               struct assay_error *err)
{
    hid_t set;
    enum assay_status st = open_data(path, in, name, &set, err);
    if (st == ASSAY_OK)
        st = info_of(path, name, set, type, shape, err);
    if (set >= 0)
        H5Dclose(set);
    return st;
}

static void describe(enum h5_type type, const struct h5_shape *shape,
                     char *text, size_t n)
{
    int at = snprintf(text, n, "%s [", types[type].name);
    for (int i = 0; i < shape->rank && at > 0 && (size_t)at < n; i++)
        at += snprintf(text + at, n - (size_t)at, "%s%" PRIuHSIZE,
                       i ? ", " : "", shape->dims[i]);
    if (at > 0 && (size_t)at < n)
        snprintf(text + at, n - (size_t)at, "]");
}

static bool same_shape(const struct h5_shape *a, const struct h5_shape *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i];
    return same;
}

static enum assay_status read_whole(const char *path, const char *name,
                                    hid_t set, enum h5_type type, size_t bytes,
                                    void *data, struct assay_error *err)
{
    memset(data, 0xa5, bytes); /* a part that is not read must not look right */
    return bytes == 0 || H5Dread(set, file_type(type), H5S_ALL, H5S_ALL,
                                 H5P_DEFAULT, data) >= 0
               ? ASSAY_OK
               : h5_fail(err, path, name);
}

static enum assay_status read_data(const char *path, hid_t in, const char *name,
                                   enum h5_type type,
                                   const struct h5_shape *shape, bool hashed,
                                   void *data, struct assay_error *err)
{
    const size_t bytes = (size_t)h5_shape_count(shape) * types[type].bytes;
    enum h5_type own_type;
    struct h5_shape own;
    char want[160], has[160];
    hid_t set;
    enum assay_status st = open_data(path, in, name, &set, err);
    if (st == ASSAY_OK)
        st = info_of(path, name, set, &own_type, &own, err);
    if (st == ASSAY_OK && (own_type != type || !same_shape(&own, shape))) {
        describe(type, shape, want, sizeof want);
        describe(own_type, &own, has, sizeof has);
        st = assay_fail(err, ASSAY_FORMAT, "%s: %s is %s, must be %s", path,
                        name, has, want);
    }
    if (st == ASSAY_OK)
        st = read_whole(path, name, set, type, bytes, data, err);
    if (st == ASSAY_OK && hashed)
        st = h5_check_hash(path, name, set, data, bytes, err);
    if (set >= 0)
        H5Dclose(set);
    return st;
}

enum assay_status h5_read_data(const char *path, hid_t in, const char *name,
                               enum h5_type type, const struct h5_shape *shape,
                               void *data, struct assay_error *err)
{
    return read_data(path, in, name, type, shape, true, data, err);
}

enum assay_status h5_read_bare(const char *path, hid_t in, const char *name,
                               enum h5_type type, const struct h5_shape *shape,
                               void *data, struct assay_error *err)
{
    return read_data(path, in, name, type, shape, false, data, err);
}

enum assay_status h5_data_format(const char *path, hid_t in, const char *name,
                                 char **format, struct assay_error *err)
{
    hid_t set;
    *format = NULL;
    enum assay_status st = open_data(path, in, name, &set, err);
    if (st == ASSAY_OK)
        st = h5_read_text(path, set, "format", format, err);
    if (set >= 0)
        H5Dclose(set);
    return st;
}

enum assay_status h5_write_data_text(const char *path, hid_t in,
                                     const char *name, const char *key,
                                     const char *text, struct assay_error *err)
{
    hid_t set;
    enum assay_status st = open_data(path, in, name, &set, err);
    if (st == ASSAY_OK)
        st = h5_write_text(path, set, key, text, err);
    if (set >= 0)
        H5Dclose(set);
    return st;
}

enum assay_status h5_read_data_text(const char *path, hid_t in,
                                    const char *name, const char *key,
                                    char **text, struct assay_error *err)
{
    hid_t set;
    *text = NULL;
    enum assay_status st = open_data(path, in, name, &set, err);
    if (st == ASSAY_OK && H5Aexists(set, key) > 0)
        st = h5_read_text(path, set, key, text, err);
    if (set >= 0)
        H5Dclose(set);
    return st;
}
