/* SPDX-License-Identifier: MIT
 *
 * A module of plain quantizers for e4m3, mxfp8 and mxfp4, right ones and wrong
 * ones. It has kernel.h and nothing else of the project: rotations, rules and
 * roundings are written here again, in binary64 where binary32 is not asked
 * for. Source: ROCm/aiter csrc/kernels/mha_v4_quant.cu.
 */
#include <assay/kernel.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 256, BLOCK = 32, FRAME = 64 };

/* What is done to every operand that it can be done to. */
#define FAULTS                                                   \
    X(right, "no fault")                                         \
    X(ties_away, "ties away from zero")                          \
    X(truncates, "codes rounded toward zero")                    \
    X(rule, "another scale rule")                                \
    X(nibbles, "codes of a pair swapped")                        \
    X(transposed, "scales of blocks before tokens")              \
    X(heads_first, "codes of heads before tokens")               \
    X(late, "each scale the one of the place before")            \
    X(stale, "scales three times too large, codes go with them") \
    X(no_scales, "scales never written")                         \
    X(last_token, "codes of the last token never written")       \
    X(nan_at_top, "NaN where the largest value is reached")      \
    X(flushes, "subnormal codes become zero")                    \
    X(one_code, "one code a step off")                           \
    X(no_mean, "K with its mean")                                \
    X(past_end, "one byte past the end of V's codes")            \
    X(racy, "another code in every run")

enum fault {
#define X(id, about) FAULT_##id,
    FAULTS
#undef X
};

struct operand {
    const struct assay_kernel_tensor *from;
    const struct assay_kernel_payload *to;
    const float *mean; /* [b, h, d], or NULL */
    float multiplier;  /* after the rotation; 1: none */
    int64_t b, s, h, d;
    int rotates, is_v;
    enum fault fault;
    float *x; /* what is quantized, [b, s, h, d] */
};

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float to_bf16(float x)
{
    const uint32_t bits = bits_of(x);
    return float_of((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}

/* ---- values ---- */

static void rotate(const struct operand *o, float *x)
{
    const float unit = (float)(1 / sqrt((double)o->d));
    for (int64_t stride = 1; stride < o->d; stride *= 2)
        for (int64_t i = 0; i < o->d; i++)
            if (!(i & stride)) {
                const float a = x[i], b = x[i + stride];
                x[i] = a + b;
                x[i + stride] = a - b;
            }
    for (int64_t i = 0; i < o->d; i++) {
        x[i] *= unit;
        if (o->to->format == ASSAY_KERNEL_E4M3FN) /* rounded twice */
            x[i] = to_bf16(x[i]);
        x[i] = to_bf16(x[i] * o->multiplier);
    }
}

static int prepare(struct operand *o)
{
    const uint16_t *words = o->from->data;
    o->x = malloc((size_t)(o->b * o->s * o->h * o->d) * sizeof *o->x + 1);
    if (!o->x)
        return 1;
    float *x = o->x;
    for (int64_t r = 0; r < o->b * o->s * o->h; r++, x += o->d) {
        const int64_t h = r % o->h, s = r / o->h % o->s, b = r / o->h / o->s;
        const uint16_t *row = words + b * o->from->stride[0] +
                              s * o->from->stride[1] + h * o->from->stride[2];
        for (int64_t c = 0; c < o->d; c++) {
            x[c] = float_of((uint32_t)row[c] << 16);
            if (o->mean && o->fault != FAULT_no_mean)
                x[c] -= o->mean[(b * o->h + h) * o->d + c];
        }
        if (o->rotates)
            rotate(o, x);
    }
    return 0;
}

/* ---- scales ---- */

static int is_e8m0(const struct operand *o)
{
    return o->to->scale_mode == ASSAY_KERNEL_SCALE_E8M0_PER_1X32;
}

static int64_t blocks(const struct operand *o)
{
    return o->is_v ? (o->s + 127) / 128 * 4 : (o->d + BLOCK - 1) / BLOCK;
}

static int64_t n_scales(const struct operand *o)
{
    return !is_e8m0(o) ? 1
           : o->is_v   ? o->b * o->h * blocks(o) * o->d
                       : o->b * o->s * o->h * blocks(o);
}

static int64_t scale_at(const struct operand *o, int64_t i)
{
    const int64_t c = i % o->d, h = i / o->d % o->h, s = i / o->d / o->h % o->s,
                  b = i / o->d / o->h / o->s,
                  fp6p = 2 * (s / FRAME) + s / 4 % 2,
                  block = o->to->token_order ? fp6p : s / BLOCK;
    return !is_e8m0(o) ? 0
           : o->is_v   ? ((b * o->h + h) * blocks(o) + block) * o->d + c
                       : ((b * o->s + s) * o->h + h) * blocks(o) + c / BLOCK;
}

static int exponent(float x)
{
    return (int)(bits_of(x) >> 23 & 255);
}

static uint8_t e8m0_of(const struct operand *o, float amax)
{
    const int floors = o->fault == FAULT_rule;
    int e;
    if (o->is_v) {
        amax = fmaxf(amax, 1e-12f);
        e = exponent(amax) - 2 +
            (!floors && (bits_of(amax) & 0x7fffff) > 0x400000);
    } else if (o->to->format == ASSAY_KERNEL_E4M3FN)
        e = exponent(float_of(bits_of(amax) + (floors ? 0 : 0x200000))) - 8;
    else if (floors)
        e = exponent(amax) - 2;
    else
        e = exponent(float_of(bits_of(amax / 6.0f) + 0x7fffff));
    if (o->fault == FAULT_stale)
        e += 3;
    return (uint8_t)(e < 0 ? 0 : e);
}

static float f32_of(const struct operand *o, float amax)
{
    const float scale =
        o->fault == FAULT_rule ? amax * (1 / 448.0f) : amax / 448.0f;
    return (scale > 0 ? scale : 1) * (o->fault == FAULT_stale ? 3 : 1);
}

/* ---- codes ---- */

/* Magnitude of v on the grid of a format, in its least steps. */
static unsigned encode(const struct operand *o, double v)
{
    const int is_e4m3 = o->to->format == ASSAY_KERNEL_E4M3FN,
              mantissa = is_e4m3 ? 3 : 1, least = is_e4m3 ? -6 : 0;
    const double most = is_e4m3 ? 448 : 6;
    double a = fabs(v), n;
    int e;
    frexp(a, &e);
    e = a == 0 || e - 1 < least ? least : e - 1;
    const double steps = ldexp(a, mantissa - e);
    n = o->fault == FAULT_truncates   ? floor(steps)
        : o->fault == FAULT_ties_away ? floor(steps + 0.5)
        : o->is_v && !is_e4m3         ? ceil(steps - 0.5) /* ties to 0 */
                                      : nearbyint(steps);
    if (o->fault == FAULT_nan_at_top && is_e4m3 &&
        ldexp(n, e - mantissa) >= most)
        return 0x7f;
    if (ldexp(n, e - mantissa) > most) {
        e = is_e4m3 ? 8 : 2;
        n = ldexp(most, mantissa - e);
    }
    /* n is below 2 * 2^mantissa, or that: the next octave's first */
    unsigned code = (unsigned)n + ((unsigned)(e - least) << mantissa);
    if (o->fault == FAULT_flushes && code < 1u << mantissa)
        code = 0;
    return code | (signbit(v) ? is_e4m3 ? 0x80u : 8u : 0u);
}

static double scaled(const struct operand *o, int64_t i)
{
    const int64_t at = scale_at(o, i);
    if (is_e8m0(o))
        return ldexp(o->x[i], 127 - ((uint8_t *)o->to->scales)[at]);
    return o->x[i] * (1 / ((float *)o->to->scales)[at]);
}

/* ---- faults of the whole ---- */

static void swap_axes(uint8_t *x, int64_t outer, int64_t m, int64_t n,
                      int64_t inner)
{
    const size_t bytes = (size_t)(outer * m * n * inner);
    uint8_t *copy = malloc(bytes + 1), *to = x;
    memcpy(copy, x, bytes);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++, to += inner)
                memcpy(to, copy + ((o * m + i) * n + j) * inner, (size_t)inner);
    free(copy);
}

static void spoil(const struct operand *o)
{
    struct timespec now;
    uint8_t *codes = o->to->codes, *scales = o->to->scales;
    const int64_t n = o->b * o->s * o->h * o->d;
    switch (o->fault) {
    case FAULT_nibbles:
        for (int64_t i = 0; i + 1 < n; i += 2) {
            const uint8_t a = codes[i];
            codes[i] = codes[i + 1];
            codes[i + 1] = a;
        }
        break;
    case FAULT_heads_first: swap_axes(codes, o->b, o->s, o->h, o->d); break;
    case FAULT_transposed:
        if (is_e8m0(o) && o->is_v)
            swap_axes(scales, o->b * o->h, blocks(o), o->d, 1);
        else if (is_e8m0(o))
            swap_axes(scales, o->b, o->s * o->h, blocks(o), 1);
        break;
    case FAULT_late:
        if (is_e8m0(o))
            memmove(scales + 1, scales, (size_t)n_scales(o) - 1);
        break;
    case FAULT_one_code:
        if (o->is_v)
            codes[n / 2] ^= 1;
        break;
    case FAULT_past_end:
        if (o->is_v)
            codes[n] = 0;
        break;
    case FAULT_racy:
        timespec_get(&now, TIME_UTC);
        codes[n / 3] ^= (uint8_t)(1 + now.tv_nsec / 100 % 7);
        break;
    default: break;
    }
}

/* ---- an operand, a job ---- */

static int quantize(struct operand *o)
{
    const int64_t n = o->b * o->s * o->h * o->d, scales = n_scales(o);
    float *amax = calloc((size_t)scales + 1, sizeof *amax);
    if (!amax || prepare(o)) {
        free(amax);
        return 1;
    }
    for (int64_t i = 0; i < n; i++)
        amax[scale_at(o, i)] = fmaxf(amax[scale_at(o, i)], fabsf(o->x[i]));
    struct assay_kernel_payload own = *o->to, *to = &own;
    if (o->fault == FAULT_no_scales)
        to->scales = malloc((size_t)scales * sizeof *amax);
    for (int64_t i = 0; i < scales; i++)
        if (is_e8m0(o))
            ((uint8_t *)to->scales)[i] = e8m0_of(o, amax[i]);
        else
            ((float *)to->scales)[i] = f32_of(o, amax[i]);
    const struct assay_kernel_payload *given = o->to;
    o->to = to;
    const int64_t end = o->fault == FAULT_last_token ? n - o->h * o->d : n;
    for (int64_t i = 0; i < end; i++)
        ((uint8_t *)to->codes)[i] = (uint8_t)encode(o, scaled(o, i));
    spoil(o);
    if (o->fault == FAULT_no_scales)
        free(to->scales);
    o->to = given;
    free(amax);
    free(o->x);
    return 0;
}

static int launch(enum fault fault, const struct assay_kernel_job *j)
{
    const int rotates = j->q_out.scale_mode == ASSAY_KERNEL_SCALE_E8M0_PER_1X32;
    const float folded =
        rotates ? (float)(j->softmax_scale * 1.4426950408889634) : 1;
    struct operand q = { &j->q,    &j->q_out,   NULL,       folded,
                         j->batch, j->seqlen_q, j->heads_q, j->head_dim_qk,
                         rotates,  0,           fault,      NULL };
    struct operand k = { &j->k,    &j->k_out,   j->k_mean,   1,
                         j->batch, j->seqlen_k, j->heads_kv, j->head_dim_qk,
                         rotates,  0,           fault,       NULL };
    struct operand v = { &j->v,    &j->v_out,   NULL,        1,
                         j->batch, j->seqlen_k, j->heads_kv, j->head_dim_v,
                         0,        1,           fault,       NULL };
    return quantize(&q) || quantize(&k) || quantize(&v);
}

static int supports(const struct assay_kernel_job *j, char *why, size_t n)
{
    if (j->size < sizeof *j || j->o.data || j->lse || !j->q_out.format ||
        j->q.format != ASSAY_KERNEL_BF16 || j->input != ASSAY_KERNEL_RAW ||
        j->head_dim_qk > MOST)
        return snprintf(why, n, "q %d to %d is another job", (int)j->q.format,
                        (int)j->q_out.format),
               1;
    return 0;
}

#define X(id, about)                                                           \
    static int launch_##id(const struct assay_kernel_job *j, char *why,        \
                           size_t n)                                           \
    {                                                                          \
        return launch(FAULT_##id, j) ? (snprintf(why, n, "no memory"), 1) : 0; \
    }
FAULTS
#undef X

#define ROW(id, recipe, about)                   \
    { #id "." #recipe,                           \
      #recipe,                                   \
      "",                                        \
      about,                                     \
      ASSAY_KERNEL_RAW | ASSAY_KERNEL_QUANTIZER, \
      supports,                                  \
      NULL,                                      \
      launch_##id },

static const struct assay_kernel kernels[] = {
#define X(id, about)      \
    ROW(id, e4m3, about)  \
    ROW(id, mxfp8, about) \
    ROW(id, mxfp4, about)
    FAULTS
#undef X
};

static const struct assay_kernel_module module = {
    ASSAY_KERNEL_ABI, ASSAY_KERNEL_HOST,
    "quantizers",     NULL,
    sizeof *kernels,  sizeof kernels / sizeof *kernels,
    kernels,
};

const struct assay_kernel_module *assay_module(void)
{
    return &module;
}
