/* SPDX-License-Identifier: MIT */
#include "golden/npy.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/memory.h"
#include "golden/input.h"

static const unsigned char magic[6] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };

struct npy_header {
    int64_t begin, bytes; /* of the dictionary */
};

/* Magic, version and length. */
static enum assay_status read_front(int fd, int64_t file_bytes,
                                    struct npy_header *out,
                                    struct assay_error *err)
{
    unsigned char raw[12] = { 0 };
    size_t have = file_bytes < 12 ? (size_t)file_bytes : 12;
    enum assay_status st = input_read_at(fd, 0, raw, have, err);
    if (st != ASSAY_OK)
        return st;
    if (have < sizeof magic || memcmp(raw, magic, sizeof magic) != 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "does not begin with \\x93NUMPY, so it is no .npy "
                          "file");
    const bool wide = raw[6] > 1;
    out->begin = wide ? 12 : 10;
    if (file_bytes < out->begin)
        return assay_fail(err, ASSAY_FORMAT,
                          "is %" PRId64 " bytes long, too short for the "
                          "length of a header",
                          file_bytes);
    if (raw[6] < 1 || raw[6] > 3 || raw[7] != 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "is of version %d.%d; 1.0, 2.0 and 3.0 are read",
                          raw[6], raw[7]);
    out->bytes = raw[8] | raw[9] << 8;
    if (wide)
        out->bytes |= (int64_t)raw[10] << 16 | (int64_t)raw[11] << 24;
    if (out->bytes > file_bytes - out->begin)
        return assay_fail(err, ASSAY_FORMAT,
                          "header of %" PRId64 " bytes runs past the end: "
                          "%" PRId64 " bytes follow its length",
                          out->bytes, file_bytes - out->begin);
    if (out->bytes > NPY_MAX_HEADER_BYTES)
        return assay_fail(err, ASSAY_FORMAT,
                          "header of %" PRId64 " bytes is above the limit of "
                          "%d",
                          out->bytes, NPY_MAX_HEADER_BYTES);
    return ASSAY_OK;
}

static enum assay_status read_header(int fd, int64_t file_bytes,
                                     struct npy *out, int64_t *data_begin,
                                     struct assay_error *err)
{
    struct npy_header h = { 0 };
    enum assay_status st = read_front(fd, file_bytes, &h, err);
    if (st != ASSAY_OK)
        return st;
    char *text;
    st = assay_alloc("header", h.bytes, 1, &text, err);
    if (st != ASSAY_OK)
        return st;
    st = input_read_at(fd, h.begin, text, (size_t)h.bytes, err);
    if (st == ASSAY_OK)
        st = npy_parse(text, (size_t)h.bytes, out, err);
    assay_free(text);
    *data_begin = h.begin + h.bytes;
    return st;
}

static enum assay_status read_data(int fd, int64_t begin, int64_t have,
                                   struct npy *out, struct assay_error *err)
{
    int64_t bytes = out->count * (int64_t)out->type->bytes;
    if (bytes > have)
        return assay_fail(err, ASSAY_FORMAT,
                          "shape %s of %s needs %" PRId64 " bytes, %" PRId64
                          " follow the header",
                          npy_shape_text(out->rank, out->shape).s,
                          out->type->descr, bytes, have);
    if (bytes < have)
        return assay_fail(err, ASSAY_FORMAT,
                          "%" PRId64 " bytes are left over: shape %s of %s "
                          "needs %" PRId64 ", %" PRId64 " follow the header",
                          have - bytes, npy_shape_text(out->rank, out->shape).s,
                          out->type->descr, bytes, have);
    enum assay_status st = assay_alloc("array", bytes, 1, &out->data, err);
    return st == ASSAY_OK
               ? input_read_at(fd, begin, out->data, (size_t)bytes, err)
               : st;
}

enum assay_status npy_read(const char *path, struct npy *out,
                           struct assay_error *err)
{
    int fd;
    int64_t file_bytes, begin;
    *out = (struct npy){ 0 };
    enum assay_status st = input_open(path, &fd, &file_bytes, err);
    if (st == ASSAY_OK)
        st = read_header(fd, file_bytes, out, &begin, err);
    if (st == ASSAY_OK)
        st = read_data(fd, begin, file_bytes - begin, out, err);
    if (fd >= 0)
        close(fd);
    if (st == ASSAY_OK)
        return st;
    assay_free(out->data);
    out->data = NULL;
    return assay_fail_in(err, st, "%s", input_path(path).s);
}

enum assay_status npy_write(const struct temp_file *file, const struct npy *npy,
                            struct assay_error *err)
{
    enum { MOST = 1024, ALIGN = 64 }; /* 32 sizes of 19 digits need 800 */
    char head[MOST];
    size_t n = 10;
    n += (size_t)snprintf(head + n, MOST - n,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (",
                          npy->type->descr);
    for (int i = 0; i < npy->rank; i++)
        n += (size_t)snprintf(head + n, MOST - n, "%s%" PRId64, i ? ", " : "",
                              npy->shape[i]);
    n += (size_t)snprintf(head + n, MOST - n, "%s), }",
                          npy->rank == 1 ? "," : "");
    while ((n + 1) % ALIGN != 0)
        head[n++] = ' ';
    head[n++] = '\n';
    memcpy(head, magic, sizeof magic);
    head[6] = 1;
    head[7] = 0;
    head[8] = (char)((n - 10) & 0xff);
    head[9] = (char)((n - 10) >> 8);
    enum assay_status st = temp_file_write(file, head, n, err);
    if (st == ASSAY_OK)
        st = temp_file_write(file, npy->data,
                             (size_t)npy->count * npy->type->bytes, err);
    return st;
}
