/* SPDX-License-Identifier: MIT
 *
 * Softmax forms of AITER's gfx950 MHA v4 objects of 2026-08-22, read from
 * their disassembly and held against their outputs: the score itself becomes
 * the bits of P, which is 2^x with a linear fraction (Schraudolph, Neural
 * Computation 11, 1999). The maximum is that of the first tile; where a later
 * score would overflow P's format, the row is rebased ("rollback").
 */
#include "softmax_coded.h"

#include <math.h>

#include "bits.h"

#define REAL float
#include "row_max.h"

/* U32: 2^23 an octave, so a whole number is a binary32. */
static const float U32_UNIT = 0x1p23f;
static const float U32_BIAS = 1064866816.0f; /* (127 - 0.05798) * 2^23 */
static const float U32_GATE = 1138753536.0f; /* the bits of 448 */
static const float U32_TOP = 2071986176.0f;  /* the bits of 2^120 */
static const float E4M3_MAX = 448;

/* BYTE: 8 an octave, so a whole number is an e4m3 code. */
static const float BYTE_UNIT = 8;
static const float BYTE_BIAS = 55.5361328125f;
static const float BYTE_GATE = 126.5f;

double softmax_unit(const struct assay_softmax_form *form)
{
    switch (form->kind) {
    case ASSAY_KIND_U32: return (double)U32_UNIT;
    case ASSAY_KIND_BYTE: return (double)BYTE_UNIT;
    default: return 1;
    }
}

/* The conversion saturates at 0 and takes NaN for 0. */
static inline float u32_value(float y)
{
    y = y > 0 ? y : 0;
    y = y < U32_TOP ? y : U32_TOP;
    return bits_f32((uint32_t)(int32_t)y);
}

ASSAY_CLONES
static void bits_of_scores(int64_t n, float start, float *s)
{
    for (int64_t j = 0; j < n; j++)
        s[j] = u32_value(s[j] + start);
}

ASSAY_CLONES
static void times(int64_t n, float by, float *s)
{
    for (int64_t j = 0; j < n; j++)
        s[j] *= by;
}

static void u32_row(int64_t n, float start, float off, float *s,
                    struct softmax_row *row)
{
    const float top = row_max(n, s) + start;
    bits_of_scores(n, start + off, s);
    const float most = u32_value(top);
    if (!(top > U32_GATE) || !(most > E4M3_MAX))
        return;
    row->alpha = 1 / most;
    row->m += log2f(most) * U32_UNIT;
    times(n, row->alpha, s);
}

/* An e4m3 code by value, 0 to 126; masks, since gcc makes branches of ?: here
 * and then no vectors. */
static inline float e4m3_value(uint32_t code)
{
    const uint32_t normal = (code << 20) + (120u << 23),
                   low = 0u - (uint32_t)(code < 8);
    const float small = (float)(int32_t)code * 0x1p-9f;
    return bits_f32((f32_bits(small) & low) | (normal & ~low));
}

ASSAY_CLONES
static void codes_of_scores(int64_t n, float start, float *s)
{
    for (int64_t j = 0; j < n; j++) {
        float y = s[j] + start;
        y = y > 0 ? y : 0;
        s[j] = y < 126 ? y : 126;
    }
    for (int64_t j = 0; j < n; j++) {
        float code = (s[j] + 0x1p23f) - 0x1p23f; /* nearest even */
        s[j] = e4m3_value((uint32_t)(int32_t)code);
    }
}

static void byte_row(bool nearest, int64_t n, float start, float off, float *s,
                     struct softmax_row *row)
{
    const float top = row_max(n, s) + start;
    float back = 0;
    if (top > BYTE_GATE) {
        back = top - BYTE_BIAS;
        row->m += back;
        row->alpha = exp2f(-back / BYTE_UNIT);
    }
    start = start - back + off;
    if (nearest)
        codes_of_scores(n, start, s);
    else
        for (int64_t j = 0; j < n; j++)
            s[j] = e4m3_value((uint32_t)fminf(126, fmaxf(0, s[j] + start)));
}

float softmax_start(const struct assay_softmax_form *form, float m)
{
    return (form->kind == ASSAY_KIND_U32 ? U32_BIAS : BYTE_BIAS) - m;
}

void softmax_coded_row(const struct assay_softmax_form *form, bool added,
                       float off, int64_t n, float *s, struct softmax_row *row)
{
    row->alpha = 1;
    if (!added) {
        row->m = row_max(n, s);
        row->alpha = 0; /* of sums that are zero */
        if (!isfinite(row->m))
            row->m = 0;
    }
    const float start = added ? 0 : softmax_start(form, row->m);
    if (form->kind == ASSAY_KIND_U32)
        u32_row(n, start, off, s, row);
    else
        byte_row(form->nearest, n, start, off, s, row);
}
