/* SPDX-License-Identifier: MIT
 *
 * Files, groups, names and attributes.
 */
#include "golden/h5.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A lying type must not ask for memory. */
enum { MAX_TEXT_BYTES = 1 << 20 };

void h5_init(void)
{
    /* after a failed write, closing at exit can only repeat the failure */
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* The system's own words where it was the system that failed: libhdf5's go on
 * about descriptors and buffers. */
static herr_t innermost(unsigned n, const H5E_error2_t *e, void *out)
{
    static const char key[] = "errno = ";
    const char *number = e->desc ? strstr(e->desc, key) : NULL;
    const int why = number ? atoi(number + strlen(key)) : 0;
    (void)n;
    *(const char **)out = why ? strerror(why) : e->desc ? e->desc : "";
    return 1;
}

enum assay_status h5_fail(struct assay_error *err, const char *path,
                          const char *what)
{
    const char *why = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &why);
    enum assay_status st =
        assay_fail(err, ASSAY_FILE, "%s: %s: %s", path, what, why);
    H5Eclear2(H5E_DEFAULT);
    return st;
}

/* Creation list of an object without the times that would make two equal
 * runs differ. */
static hid_t timeless(hid_t class)
{
    hid_t list = H5Pcreate(class);
    if (list >= 0)
        H5Pset_obj_track_times(list, false);
    return list;
}

enum assay_status h5_create_file(const char *path, hid_t *file,
                                 struct assay_error *err)
{
    hid_t creation = timeless(H5P_FILE_CREATE);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    enum assay_status st = ASSAY_OK;
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
    errno = 0;
    *file = H5Fcreate(path, H5F_ACC_EXCL, creation, access);
    if (*file < 0)
        st = errno ? assay_fail(err, ASSAY_FILE, "%s: cannot be created: %s",
                                path, strerror(errno))
                   : h5_fail(err, path, "cannot be created");
    H5Pclose(creation);
    H5Pclose(access);
    return st;
}

enum assay_status h5_open_file(const char *path, hid_t *file,
                               struct assay_error *err)
{
    struct stat info;
    *file = -1;
    if (stat(path, &info) != 0 || access(path, R_OK) != 0)
        return assay_fail(err, ASSAY_FILE, "%s: cannot be opened: %s", path,
                          strerror(errno));
    if (!S_ISREG(info.st_mode))
        return assay_fail(err, ASSAY_FILE, "%s: is not a regular file", path);
    errno = 0;
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*file >= 0)
        return ASSAY_OK;
    if (errno == EAGAIN || errno == EACCES)
        return assay_fail(err, ASSAY_FILE,
                          "%s: is locked by another process that writes it "
                          "(HDF5_USE_FILE_LOCKING=FALSE ignores locks)",
                          path);
    H5Eclear2(H5E_DEFAULT);
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: is not a whole HDF5 file (%lld bytes)", path,
                      (long long)info.st_size);
}

enum assay_status h5_create_group(const char *path, hid_t in, const char *name,
                                  hid_t *group, struct assay_error *err)
{
    hid_t creation = timeless(H5P_GROUP_CREATE);
    *group = H5Gcreate2(in, name, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    return *group < 0 ? h5_fail(err, path, name) : ASSAY_OK;
}

enum link { LINK_NONE, LINK_ELSEWHERE, LINK_HARD };

/* Every step is looked at before it is taken: following a link to another
 * file would open that file, which may be a FIFO. */
static enum link follow(hid_t in, const char *name)
{
    char prefix[512];
    H5L_info_t link;
    size_t n = strlen(name);
    if (n == 0 || n >= sizeof prefix)
        return LINK_NONE;
    for (size_t i = 1; i <= n; i++)
        if (name[i] == '/' || name[i] == '\0') {
            memcpy(prefix, name, i);
            prefix[i] = '\0';
            if (H5Lexists(in, prefix, H5P_DEFAULT) <= 0 ||
                H5Lget_info(in, prefix, &link, H5P_DEFAULT) < 0) {
                H5Eclear2(H5E_DEFAULT);
                return LINK_NONE;
            }
            if (link.type != H5L_TYPE_HARD)
                return LINK_ELSEWHERE;
        }
    return LINK_HARD;
}

bool h5_has_link(hid_t in, const char *name)
{
    return follow(in, name) != LINK_NONE;
}

enum assay_status h5_check_link(const char *path, hid_t in, const char *name,
                                H5O_type_t kind, struct assay_error *err)
{
    H5O_info_t object;
    const char *kind_name = kind == H5O_TYPE_GROUP ? "group" : "dataset";
    switch (follow(in, name)) {
    case LINK_NONE:
        return assay_fail(err, ASSAY_FORMAT, "%s: lacks the %s %s", path,
                          kind_name, name);
    case LINK_ELSEWHERE:
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s is a link to elsewhere, not a %s", path, name,
                          kind_name);
    case LINK_HARD: break;
    }
    if (H5Oget_info_by_name(in, name, &object, H5P_DEFAULT) < 0 ||
        object.type != kind)
        return assay_fail(err, ASSAY_FORMAT, "%s: %s is not a %s", path, name,
                          kind_name);
    return ASSAY_OK;
}

enum assay_status h5_open_group(const char *path, hid_t in, const char *name,
                                hid_t *group, struct assay_error *err)
{
    *group = -1;
    enum assay_status st = h5_check_link(path, in, name, H5O_TYPE_GROUP, err);
    if (st != ASSAY_OK)
        return st;
    *group = H5Gopen2(in, name, H5P_DEFAULT);
    return *group < 0 ? h5_fail(err, path, name) : ASSAY_OK;
}

void h5_close_group(hid_t *id)
{
    if (*id >= 0)
        H5Gclose(*id);
    *id = -1;
}

struct names {
    char **names;
    size_t count;
};

static herr_t add_name(hid_t in, const char *name, const H5L_info_t *info,
                       void *out)
{
    struct names *list = out;
    (void)in;
    (void)info;
    char **grown =
        realloc(list->names, (list->count + 1) * sizeof *list->names);
    if (!grown)
        return -1;
    list->names = grown;
    list->names[list->count] = strdup(name);
    return list->names[list->count] ? (list->count++, 0) : -1;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum assay_status h5_list(const char *path, hid_t group, char ***names,
                          size_t *count, struct assay_error *err)
{
    struct names list = { 0 };
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_name,
                   &list) < 0) {
        h5_free_names(list.names, list.count);
        *names = NULL;
        *count = 0;
        return h5_fail(err, path, "cannot list a group");
    }
    if (list.count)
        qsort(list.names, list.count, sizeof *list.names, by_bytes);
    *names = list.names;
    *count = list.count;
    return ASSAY_OK;
}

void h5_free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static enum assay_status write_attribute(const char *path, hid_t at,
                                         const char *name, hid_t type,
                                         const void *value,
                                         struct assay_error *err)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute =
        H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    enum assay_status st = ok ? ASSAY_OK : h5_fail(err, path, name);
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    return st;
}

enum assay_status h5_write_text(const char *path, hid_t at, const char *name,
                                const char *text, struct assay_error *err)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    size_t n = strlen(text);
    H5Tset_size(type, n + !n);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    enum assay_status st = write_attribute(path, at, name, type, text, err);
    H5Tclose(type);
    return st;
}

enum assay_status h5_replace_text(const char *path, hid_t at, const char *name,
                                  const char *text, struct assay_error *err)
{
    if (h5_has_attribute(at, name) && H5Adelete(at, name) < 0)
        return h5_fail(err, path, name);
    return h5_write_text(path, at, name, text, err);
}

enum assay_status h5_write_int(const char *path, hid_t at, const char *name,
                               int64_t value, struct assay_error *err)
{
    return write_attribute(path, at, name, H5T_STD_I64LE, &value, err);
}

enum assay_status h5_write_real(const char *path, hid_t at, const char *name,
                                double value, struct assay_error *err)
{
    return write_attribute(path, at, name, H5T_IEEE_F64LE, &value, err);
}

bool h5_has_attribute(hid_t at, const char *name)
{
    const bool has = H5Aexists(at, name) > 0;
    H5Eclear2(H5E_DEFAULT);
    return has;
}

/* Opens a scalar attribute and its type. */
static enum assay_status open_attribute(const char *path, hid_t at,
                                        const char *name, hid_t *attribute,
                                        hid_t *type, struct assay_error *err)
{
    *attribute = *type = -1;
    if (!h5_has_attribute(at, name))
        return assay_fail(err, ASSAY_FORMAT, "%s: lacks the attribute %s", path,
                          name);
    *attribute = H5Aopen(at, name, H5P_DEFAULT);
    if (*attribute < 0)
        return h5_fail(err, path, name);
    hid_t space = H5Aget_space(*attribute);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    *type = H5Aget_type(*attribute);
    if (count != 1)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: attribute %s holds %lld values, not one", path,
                          name, (long long)count);
    return ASSAY_OK;
}

static void close_attribute(hid_t attribute, hid_t type)
{
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
}

static bool read_variable_text(hid_t attribute, hid_t type, char **text)
{
    char *own = NULL;
    hid_t space = H5Aget_space(attribute);
    bool ok = H5Aread(attribute, type, &own) >= 0;
    if (ok) {
        *text = strdup(own ? own : ""); /* never written: NULL */
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, &own);
    }
    H5Sclose(space);
    return ok && *text;
}

enum assay_status h5_read_text(const char *path, hid_t at, const char *name,
                               char **text, struct assay_error *err)
{
    hid_t attribute, type;
    *text = NULL;
    enum assay_status st =
        open_attribute(path, at, name, &attribute, &type, err);
    if (st == ASSAY_OK && H5Tget_class(type) != H5T_STRING)
        st = assay_fail(err, ASSAY_FORMAT, "%s: attribute %s is not a string",
                        path, name);
    if (st == ASSAY_OK && H5Tis_variable_str(type) > 0) {
        if (!read_variable_text(attribute, type, text))
            st = h5_fail(err, path, name);
    } else if (st == ASSAY_OK) {
        size_t n = H5Tget_size(type);
        if (n > MAX_TEXT_BYTES) {
            st = assay_fail(err, ASSAY_FORMAT,
                            "%s: attribute %s is a string of %zu bytes, at "
                            "most %d are read",
                            path, name, n, MAX_TEXT_BYTES);
            goto out;
        }
        *text = calloc(n + 1, 1); /* a padded string has no terminator */
        if (!*text || H5Aread(attribute, type, *text) < 0)
            st = h5_fail(err, path, name);
        else if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
            while (n > 0 && (*text)[n - 1] == ' ')
                (*text)[--n] = '\0';
    }
out:
    close_attribute(attribute, type);
    if (st != ASSAY_OK) {
        free(*text);
        *text = NULL;
    }
    return st;
}

static enum assay_status read_number(const char *path, hid_t at,
                                     const char *name, H5T_class_t class,
                                     hid_t memory, void *value,
                                     struct assay_error *err)
{
    hid_t attribute, type;
    enum assay_status st =
        open_attribute(path, at, name, &attribute, &type, err);
    if (st == ASSAY_OK &&
        (H5Tget_class(type) != class || H5Tget_size(type) > 8))
        st = assay_fail(err, ASSAY_FORMAT, "%s: attribute %s is not %s", path,
                        name, class == H5T_INTEGER ? "an integer" : "a float");
    if (st == ASSAY_OK && H5Aread(attribute, memory, value) < 0)
        st = h5_fail(err, path, name);
    close_attribute(attribute, type);
    return st;
}

enum assay_status h5_read_int(const char *path, hid_t at, const char *name,
                              int64_t *value, struct assay_error *err)
{
    return read_number(path, at, name, H5T_INTEGER, H5T_NATIVE_INT64, value,
                       err);
}

enum assay_status h5_read_real(const char *path, hid_t at, const char *name,
                               double *value, struct assay_error *err)
{
    return read_number(path, at, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value,
                       err);
}
