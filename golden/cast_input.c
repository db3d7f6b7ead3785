/* SPDX-License-Identifier: MIT
 *
 * The input of a cast: what its elements are, its shape, its scales.
 */
#include <inttypes.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/cast_file.h"

/* What no packing exceeds, in bytes of one element: interleaved6 makes 24 of
 * a row of one. Whatever is made of a shape that is counted by it fits. */
enum { WIDEST = 32 };

const struct npy_type *cast_file_type(const struct assay_format *format)
{
    switch (format->id) {
    case ASSAY_F32: return npy_type_get(NPY_F4);
    case ASSAY_F16: return npy_type_get(NPY_F2);
    case ASSAY_BF16: return npy_type_get(NPY_U2);
    case ASSAY_INT8: return npy_type_get(NPY_I1);
    default: return npy_type_get(NPY_U1);
    }
}

/* The type itself, or unsigned words as wide. */
static enum assay_status check_type(const struct cast_file *f,
                                    struct assay_error *err)
{
    const struct npy_type *is = f->input.npy.type;
    const struct npy_type *want = cast_file_type(f->cast.from);
    const bool is_unsigned =
        is->id == NPY_U1 || is->id == NPY_U2 || is->id == NPY_U4;
    if (f->input.raw || is == want || (is_unsigned && is->bytes == want->bytes))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT,
                      "holds %s, but %s is read from %s; --from says what the "
                      "input is",
                      is->descr, f->cast.from->name, want->descr);
}

/* ---- shape ---- */

/* The packing of the input, if it has one. */
static const struct assay_packing *packed(const struct cast_file *f)
{
    return f->cast.to ? NULL : f->packing;
}

static size_t row_bytes(const struct cast_file *f, int64_t width)
{
    return packed(f) ? assay_packing_bytes(f->packing, (size_t)width)
                     : (size_t)width * assay_format_bytes(f->cast.from);
}

/* Elements in the bytes of a row, which must be whole words or groups. */
static enum assay_status elements_of(const struct cast_file *f, int64_t bytes,
                                     int64_t *elements, struct assay_error *err)
{
    const struct assay_packing *p = packed(f);
    const int64_t unit = (int64_t)row_bytes(f, p ? p->group : 1);
    *elements = bytes / unit * (p ? p->group : 1);
    if (bytes % unit == 0)
        return ASSAY_OK;
    if (p)
        return assay_fail(err, ASSAY_SHAPE,
                          "a row of %" PRId64 " bytes is no whole number of "
                          "groups of %s (%" PRId64 " bytes); --row or --shape "
                          "tells how many codes it has",
                          bytes, p->name, unit);
    return assay_fail(err, ASSAY_SHAPE,
                      "%" PRId64 " bytes are no whole number of %s words of "
                      "%" PRId64 " bytes",
                      bytes, f->cast.from->name, unit);
}

/* The shape of the file, its last axis in elements. */
static enum assay_status shape_of_file(struct cast_file *f,
                                       struct assay_error *err)
{
    const struct npy *in = &f->input.npy;
    f->rank = in->rank ? in->rank : 1;
    f->shape[0] = 1;
    memcpy(f->shape, in->shape, (size_t)in->rank * sizeof *f->shape);
    if (!f->input.raw && !packed(f))
        return ASSAY_OK;
    int64_t *last = &f->shape[f->rank - 1];
    return elements_of(f, *last, last, err);
}

/* Rows of f->row elements: how many there are follows from the bytes. */
static enum assay_status shape_of_rows(struct cast_file *f, int64_t bytes,
                                       struct assay_error *err)
{
    int64_t count;
    enum assay_status st = npy_count(1, &f->row, WIDEST, &count, err);
    if (st != ASSAY_OK)
        return st;
    const int64_t row = (int64_t)row_bytes(f, f->row);
    f->rank = 2;
    f->shape[0] = bytes / row;
    f->shape[1] = f->row;
    if (bytes % row)
        return assay_fail(err, ASSAY_SHAPE,
                          "%" PRId64 " bytes are no whole number of rows of "
                          "%" PRId64 " elements (%" PRId64 " bytes)",
                          bytes, f->row, row);
    return ASSAY_OK;
}

static enum assay_status find_shape(struct cast_file *f,
                                    struct assay_error *err)
{
    const struct npy *in = &f->input.npy;
    const int64_t bytes = in->count * (int64_t)in->type->bytes;
    enum assay_status st = ASSAY_OK;
    f->rank = f->want_rank;
    memcpy(f->shape, f->want, sizeof f->shape);
    if (f->row)
        st = shape_of_rows(f, bytes, err);
    else if (!f->want_rank)
        st = shape_of_file(f, err);
    if (st == ASSAY_OK)
        st = npy_count(f->rank, f->shape, WIDEST, &f->elems, err);
    if (st != ASSAY_OK)
        return st;
    const int64_t width = f->shape[f->rank - 1];
    const int64_t need =
        width ? f->elems / width * (int64_t)row_bytes(f, width) : 0;
    if (need != bytes)
        return assay_fail(err, ASSAY_SHAPE,
                          "has %" PRId64 " bytes; shape %s of %s%s%s needs "
                          "%" PRId64,
                          bytes, npy_shape_text(f->rank, f->shape).s,
                          f->cast.from->name, packed(f) ? " in " : "",
                          packed(f) ? f->packing->name : "", need);
    return ASSAY_OK;
}

/* [outer, length, inner] around the axis of the blocks. */
static enum assay_status find_axis(struct cast_file *f, struct assay_error *err)
{
    struct cast *c = &f->cast;
    const int axis = f->axis < 0 ? f->axis + f->rank : f->axis;
    if (axis < 0 || axis >= f->rank)
        return assay_fail(err, ASSAY_SHAPE, "axis %d: shape %s has %d", f->axis,
                          npy_shape_text(f->rank, f->shape).s, f->rank);
    f->axis = axis;
    c->outer = c->inner = 1;
    for (int i = 0; i < axis; i++)
        c->outer *= f->shape[i];
    c->length = f->shape[axis];
    for (int i = axis + 1; i < f->rank; i++)
        c->inner *= f->shape[i];
    enum assay_status st = cast_check(c, err);
    if (st == ASSAY_OK)
        f->n_scales = cast_scales(c);
    return st;
}

/* ---- reading ---- */

/* Codes of a packed input, one a byte, in place of its bytes. */
static enum assay_status unpack(struct cast_file *f, struct assay_error *err)
{
    uint8_t *codes;
    const int64_t width = f->shape[f->rank - 1];
    enum assay_status st = assay_alloc("codes", f->elems, 1, &codes, err);
    if (st != ASSAY_OK)
        return st;
    if (f->elems)
        assay_unpack_rows(f->packing, (size_t)(f->elems / width), (size_t)width,
                          f->input.npy.data, codes);
    array_free(&f->input);
    f->input.npy.data = codes;
    return ASSAY_OK;
}

void cast_file_scales(const struct cast_file *f, struct npy *out)
{
    *out = (struct npy){ .type = npy_type_get(NPY_U1), .rank = f->rank };
    memcpy(out->shape, f->shape, sizeof f->shape);
    if (f->cast.block) {
        const int64_t n = f->shape[f->axis], block = f->cast.block;
        out->shape[f->axis] = n / block + (n % block != 0);
        out->count = f->n_scales;
    }
}

static enum assay_status read_scales(struct cast_file *f,
                                     struct assay_error *err)
{
    struct npy want;
    const struct npy *have = &f->input_scales.npy;
    enum assay_status st = array_read(f->scales, &f->input_scales, err);
    if (st != ASSAY_OK)
        return st;
    cast_file_scales(f, &want);
    if (have->type != want.type)
        return assay_fail(err, ASSAY_FORMAT, "%s: holds %s, scales are %s",
                          f->scales, have->type->descr, want.type->descr);
    const bool same = have->rank == want.rank &&
                      memcmp(have->shape, want.shape, sizeof want.shape) == 0;
    if (f->input_scales.raw ? have->count == want.count : same)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_SHAPE,
                      "%s: has scales %s; blocks of %" PRId64 " along axis %d "
                      "of %s need %s",
                      f->scales, npy_shape_text(have->rank, have->shape).s,
                      f->cast.block, f->axis,
                      npy_shape_text(f->rank, f->shape).s,
                      npy_shape_text(want.rank, want.shape).s);
}

enum assay_status cast_file_read(struct cast_file *f, struct assay_error *err)
{
    enum assay_status st = array_read(f->in, &f->input, err);
    if (st != ASSAY_OK)
        return st;
    if ((st = check_type(f, err)) != ASSAY_OK ||
        (st = find_shape(f, err)) != ASSAY_OK ||
        (st = find_axis(f, err)) != ASSAY_OK)
        return assay_fail_in(err, st, "%s", array_name(f->in));
    st = packed(f)
             ? unpack(f, err)
             : cast_check_codes(f->cast.from, f->elems, f->input.npy.data, err);
    if (st != ASSAY_OK)
        return assay_fail_in(err, st, "%s", array_name(f->in));
    return f->cast.block && !f->cast.to ? read_scales(f, err) : st;
}

void cast_file_free(struct cast_file *f)
{
    array_free(&f->input);
    array_free(&f->input_scales);
}
