/* SPDX-License-Identifier: MIT
 *
 * One attention problem: its sizes, mask and scale. The short names are used
 * everywhere: b batch, hq query heads, hk key (and value) heads, nq queries,
 * nk keys, dk width of a query and a key, dv width of a value. Tensors are
 * [b, token, head, channel] (BSHD), contiguous; LSE is [b, hq, nq].
 */
#ifndef ASSAY_PROBLEM_H
#define ASSAY_PROBLEM_H

#include <stdint.h>

#include "assay/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Causal is bottom-right: query i sees key j iff j <= i + nk - nq. */
enum assay_mask {
#define ASSAY_MASK(id, name, about) ASSAY_MASK_##id,
#include "assay/mask.def"
#undef ASSAY_MASK
    ASSAY_MASKS
};

struct assay_problem {
    int64_t b, hq, hk, nq, nk, dk, dv;
    enum assay_mask mask;
    double softmax_scale; /* as it is; 0 is legal and means equal weights */
};

/* ASSAY_SHAPE with a sentence unless every size is usable: b, hq, hk, dk and
 * dv at least 1, nq and nk at least 0, hq a multiple of hk, a finite scale,
 * and element counts and leading dimensions that fit their types. A tensor
 * without tokens has at most 2^20 channels of all heads: sizes of a file that
 * no data stand behind ask for memory. */
ASSAY_API enum assay_status assay_problem_check(const struct assay_problem *p,
                                                struct assay_error *err);

/* 1/sqrt(dk): what "no scale given" means, never a value in itself. */
ASSAY_API double assay_problem_default_scale(int64_t dk);

/* Element counts of the tensors; LSE has one per row. */
ASSAY_API int64_t assay_problem_q_elems(const struct assay_problem *p);
ASSAY_API int64_t assay_problem_k_elems(const struct assay_problem *p);
ASSAY_API int64_t assay_problem_v_elems(const struct assay_problem *p);
ASSAY_API int64_t assay_problem_o_elems(const struct assay_problem *p);
ASSAY_API int64_t assay_problem_rows(const struct assay_problem *p);

/* How many keys, from key 0, query i sees: 0 to nk. */
ASSAY_API int64_t assay_problem_visible(const struct assay_problem *p,
                                        int64_t i);

/* Row (b, h, i) of a BSHD tensor with `heads` heads of `width` channels
 * starts at this element; 64-bit all the way (offsets pass 2^31). */
ASSAY_API int64_t assay_row_offset(int64_t tokens, int64_t heads, int64_t width,
                                   int64_t b, int64_t token, int64_t head);

/* Name of a mask, and back; ASSAY_MASKS for an unknown name. */
ASSAY_API const char *assay_mask_name(enum assay_mask mask);
ASSAY_API enum assay_mask assay_mask_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
