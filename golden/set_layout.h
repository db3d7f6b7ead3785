/* SPDX-License-Identifier: MIT
 *
 * What writing and reading a golden set share: names, shapes and word types.
 */
#ifndef ASSAY_SET_LAYOUT_H
#define ASSAY_SET_LAYOUT_H

#include "golden/h5.h"
#include "golden/set.h"

/* The attribute of a recipe's group that says who made its answer. */
#define SET_MAKER "maker"

static inline struct h5_shape shape4(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (struct h5_shape){
        4, { (hsize_t)a, (hsize_t)b, (hsize_t)c, (hsize_t)d }
    };
}

static inline struct h5_shape shape_q(const struct assay_problem *p)
{
    return shape4(p->b, p->nq, p->hq, p->dk);
}

static inline struct h5_shape shape_k(const struct assay_problem *p)
{
    return shape4(p->b, p->nk, p->hk, p->dk);
}

static inline struct h5_shape shape_v(const struct assay_problem *p)
{
    return shape4(p->b, p->nk, p->hk, p->dv);
}

static inline struct h5_shape shape_o(const struct assay_problem *p)
{
    return shape4(p->b, p->nq, p->hq, p->dv);
}

static inline struct h5_shape shape_rows(const struct assay_problem *p)
{
    return (struct h5_shape){
        3, { (hsize_t)p->b, (hsize_t)p->hq, (hsize_t)p->nq }
    };
}

static inline struct h5_shape shape_heads(const struct assay_problem *p)
{
    return (struct h5_shape){ 2, { (hsize_t)p->b, (hsize_t)p->hq } };
}

/* Scales of a payload [b, s, h, d], as of scale.def. */
static inline struct h5_shape shape_scales(enum assay_scale scale,
                                           const struct h5_shape *of)
{
    const struct assay_tensor t = { .b = (int64_t)of->dims[0],
                                    .s = (int64_t)of->dims[1],
                                    .h = (int64_t)of->dims[2],
                                    .d = (int64_t)of->dims[3] };
    int64_t sizes[ASSAY_SCALE_AXES];
    struct h5_shape out = { assay_scale_sizes(scale, &t, sizes), { 0 } };
    for (int i = 0; i < out.rank; i++)
        out.dims[i] = (hsize_t)sizes[i];
    return out;
}

static inline bool is_e8m0(enum assay_scale scale)
{
    return scale == ASSAY_SCALE_BLOCK || scale == ASSAY_SCALE_BLOCK_TOKENS;
}

static inline struct h5_shape shape_k_mean(const struct assay_problem *p)
{
    return (struct h5_shape){
        3, { (hsize_t)p->b, (hsize_t)p->hk, (hsize_t)p->dk }
    };
}

/* Words of an element format; floats of 32 bits are stored as floats. */
static inline enum h5_type type_of_codes(const struct assay_format *format)
{
    switch (format->id) {
    case ASSAY_F32: return H5_F32;
    case ASSAY_INT8: return H5_I8;
    default: return format->bits == 16 ? H5_U16 : H5_U8;
    }
}

#endif
