/* SPDX-License-Identifier: MIT */
#include "golden/array.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "assay/memory.h"
#include "golden/input.h"

bool array_is_npy(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".npy") == 0;
}

bool array_is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *array_name(const char *path)
{
    return array_is_stream(path) ? "standard input" : path;
}

/* Doubles its room as it reads. */
static enum assay_status read_stream(struct npy *out, struct assay_error *err)
{
    int64_t room = 0;
    for (;;) {
        if (out->count == room) {
            char *grown;
            room = room ? 2 * room : 1 << 16;
            enum assay_status st =
                assay_alloc("standard input", room, 1, &grown, err);
            if (st != ASSAY_OK)
                return st;
            if (out->count)
                memcpy(grown, out->data, (size_t)out->count);
            assay_free(out->data);
            out->data = grown;
        }
        ssize_t n = read(STDIN_FILENO, (char *)out->data + out->count,
                         (size_t)(room - out->count));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return assay_fail(err, ASSAY_FILE, "cannot be read: %s",
                              strerror(errno));
        if (n == 0)
            return ASSAY_OK;
        out->count += n;
    }
}

static enum assay_status read_raw(const char *path, struct npy *out,
                                  struct assay_error *err)
{
    int fd;
    enum assay_status st = input_open(path, &fd, &out->count, err);
    if (st == ASSAY_OK)
        st = assay_alloc("file", out->count, 1, &out->data, err);
    if (st == ASSAY_OK)
        st = input_read_at(fd, 0, out->data, (size_t)out->count, err);
    if (fd >= 0)
        close(fd);
    return st;
}

/* Containers that somebody took for raw words. */
static enum assay_status refuse_container(const struct npy *x,
                                          struct assay_error *err)
{
    static const struct {
        const char *magic, *what;
    } known[] = {
        { "\x93NUMPY", "an .npy file; give it that suffix" },
        { "PK\3\4", "a zip or .npz archive, which is not read" },
        { "\x89HDF\r\n", "an HDF5 file, which is not read" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = strlen(known[i].magic);
        if (x->count >= (int64_t)n && memcmp(x->data, known[i].magic, n) == 0)
            return assay_fail(err, ASSAY_FORMAT, "begins like %s",
                              known[i].what);
    }
    return ASSAY_OK;
}

enum assay_status array_read(const char *path, struct array *out,
                             struct assay_error *err)
{
    *out = (struct array){ .raw = !array_is_npy(path) };
    if (!out->raw)
        return npy_read(path, &out->npy, err);
    out->npy.type = npy_type_get(NPY_U1);
    out->npy.rank = 1;
    enum assay_status st = array_is_stream(path)
                               ? read_stream(&out->npy, err)
                               : read_raw(path, &out->npy, err);
    out->npy.shape[0] = out->npy.count;
    if (st == ASSAY_OK)
        st = refuse_container(&out->npy, err);
    if (st == ASSAY_OK)
        return st;
    return assay_fail_in(err, st, "%s", input_path(array_name(path)).s);
}

void array_free(struct array *a)
{
    assay_free(a->npy.data);
    a->npy.data = NULL;
}

enum assay_status array_write(const char *path, const struct npy *npy,
                              struct temp_file *file, struct assay_error *err)
{
    enum assay_status st = temp_file_begin(path, file, err);
    if (st != ASSAY_OK)
        return st;
    st = array_is_npy(path)
             ? npy_write(file, npy, err)
             : temp_file_write(file, npy->data,
                               (size_t)npy->count * npy->type->bytes, err);
    if (st != ASSAY_OK)
        temp_file_abandon(file);
    return st;
}
