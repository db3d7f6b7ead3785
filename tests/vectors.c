/* SPDX-License-Identifier: MIT */
#include "vectors.h"

#include <check.h>
#include <hdf5.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "check_assay.h"
#include "check_values.h"

static bool path_of(const char *file, char path[PATH_MAX])
{
    const char *shared = assay_shared_dir();
    if (!shared)
        return false;
    int n = snprintf(path, PATH_MAX, "%s/vectors/%s", shared, file);
    return n > 0 && n < PATH_MAX && access(path, R_OK) == 0;
}

bool vectors_present(const char *file)
{
    char path[PATH_MAX];
    if (path_of(file, path))
        return true;
    printf("# %s skipped: not in a shared folder with vectors/\n", file);
    return false;
}

static void read_open(hid_t set, const char *file, const char *name,
                      struct vector *out)
{
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    hsize_t dims[H5S_MAX_RANK];
    out->rank = H5Sget_simple_extent_dims(space, dims, NULL);
    if (out->rank < 0 || out->rank > 4)
        ck_abort_msg("%s: %s has rank %d", file, name, out->rank);
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = dims[i];
    out->size = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
    out->bytes = must_alloc(out->size, 1);
    if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->bytes) < 0)
        ck_abort_msg("%s: %s cannot be read", file, name);
    H5Tclose(type);
    H5Sclose(space);
}

void vector_read(const char *file, const char *name, struct vector *out)
{
    char path[PATH_MAX];
    *out = (struct vector){ 0 };
    if (!path_of(file, path))
        ck_abort_msg("%s is not in a shared folder with vectors/", file);
    hid_t in = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = in < 0 ? -1 : H5Dopen2(in, name, H5P_DEFAULT);
    if (set < 0)
        ck_abort_msg("%s has no %s", path, name);
    read_open(set, file, name, out);
    H5Dclose(set);
    H5Fclose(in);
}
