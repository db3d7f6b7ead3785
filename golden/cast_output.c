/* SPDX-License-Identifier: MIT
 *
 * The output of a cast, and its scales.
 */
#include <stdio.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/cast_file.h"

/* Each row of codes by itself, in place of one code a byte. */
static enum assay_status pack(const struct cast_file *f, struct npy *out,
                              struct assay_error *err)
{
    int64_t *last = &out->shape[out->rank - 1];
    const int64_t width = *last, rows = width ? out->count / width : 0;
    uint8_t *bytes;
    *last = (int64_t)assay_packing_bytes(f->packing, (size_t)width);
    out->count = rows * *last;
    enum assay_status st =
        assay_alloc("packed codes", out->count, 1, &bytes, err);
    if (st != ASSAY_OK)
        return st;
    assay_pack_rows(f->packing, (size_t)rows, (size_t)width, out->data, bytes);
    assay_free(out->data);
    out->data = bytes;
    return ASSAY_OK;
}

static enum assay_status do_cast(struct cast_file *f, struct npy *out,
                                 struct npy *scales, struct assay_error *err)
{
    struct cast *c = &f->cast;
    struct progress progress;
    out->type = cast_file_type(c->to ? c->to : assay_format_get(ASSAY_F32));
    out->rank = f->rank;
    out->count = f->elems;
    memcpy(out->shape, f->shape, sizeof f->shape);
    cast_file_scales(f, scales);
    enum assay_status st =
        assay_alloc("output", f->elems, out->type->bytes, &out->data, err);
    if (st == ASSAY_OK)
        st = assay_alloc("scales", scales->count, 1, &scales->data, err);
    if (st != ASSAY_OK)
        return st;
    progress_begin(&progress, f->out);
    c->progress = &progress;
    if (c->to)
        st = cast_encode(c, f->input.npy.data, out->data, scales->data,
                         &f->counts, err);
    else
        cast_decode(c, f->input.npy.data, f->input_scales.npy.data, out->data);
    progress_end(&progress);
    c->progress = NULL;
    return st == ASSAY_OK && c->to && f->packing ? pack(f, out, err) : st;
}

/* OUT and its scales are both on disk before either takes its name, and OUT
 * comes first: where it cannot have it, the old pair stays. */
static enum assay_status commit_both(struct temp_file *out,
                                     struct temp_file *scales,
                                     struct assay_error *err)
{
    enum assay_status st = temp_file_sync(out, err);
    if (st != ASSAY_OK) {
        temp_file_abandon(scales);
        return st;
    }
    st = temp_file_sync(scales, err);
    if (st != ASSAY_OK) {
        temp_file_abandon(out);
        return st;
    }
    st = temp_file_commit(out, err);
    if (st == ASSAY_OK)
        return temp_file_commit(scales, err);
    temp_file_abandon(scales);
    return st;
}

/* Standard output is told of by verb_end. */
static enum assay_status write_files(const struct cast_file *f,
                                     const struct npy *out,
                                     const struct npy *scales,
                                     struct assay_error *err)
{
    const bool stream = array_is_stream(f->out),
               pair = f->cast.to && f->cast.block;
    struct temp_file file, scale_file;
    enum assay_status st = ASSAY_OK;
    if (!stream && (st = array_write(f->out, out, &file, err)) != ASSAY_OK)
        return st;
    if (pair &&
        (st = array_write(f->scales, scales, &scale_file, err)) != ASSAY_OK) {
        if (!stream)
            temp_file_abandon(&file);
        return st;
    }
    if (!stream)
        return pair ? commit_both(&file, &scale_file, err)
                    : temp_file_commit(&file, err);
    if (pair)
        st = temp_file_commit(&scale_file, err);
    if (st == ASSAY_OK)
        fwrite(out->data, out->type->bytes, (size_t)out->count, stdout);
    return st;
}

enum assay_status cast_file_write(struct cast_file *f, struct assay_error *err)
{
    struct npy out = { 0 }, scales = { 0 };
    enum assay_status st = do_cast(f, &out, &scales, err);
    if (st == ASSAY_OK)
        st = write_files(f, &out, &scales, err);
    assay_free(out.data);
    assay_free(scales.data);
    return st;
}
