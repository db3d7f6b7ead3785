/* SPDX-License-Identifier: MIT
 *
 * A module of plain kernels for packed payloads, one for each recipe of MHA
 * v4 in the nominal form. It has kernel.h and nothing else of the project:
 * what formats, scale modes, blocks and orders mean is written here again, in
 * binary64 and without thought of speed.
 */
#include <assay/kernel.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TENSOR ASSAY_KERNEL_SCALE_F32_PER_TENSOR
#define CHANNEL ASSAY_KERNEL_SCALE_F32_PER_CHANNEL
#define E8M0 ASSAY_KERNEL_SCALE_E8M0_PER_1X32

enum { FRAME = 64, MOST = 256 };

struct place {
    int64_t b, token, head, channel;
};

static double small(unsigned code, int exponents, int mantissa, int bias)
{
    const int e = (int)(code >> mantissa) & ((1 << exponents) - 1);
    const int m = (int)code & ((1 << mantissa) - 1);
    double x = e ? ldexp((1 << mantissa) + m, e - bias - mantissa)
                 : ldexp(m, 1 - bias - mantissa);
    return code >> (exponents + mantissa) & 1 ? -x : x;
}

static double code_value(const struct assay_kernel_tensor *t, struct place at)
{
    const int64_t i = at.b * t->stride[0] + at.token * t->stride[1] +
                      at.head * t->stride[2] + at.channel;
    const uint8_t *bytes = t->data;
    uint32_t bits;
    float word;
    switch (t->format) {
    case ASSAY_KERNEL_BF16:
        bits = (uint32_t)((const uint16_t *)t->data)[i] << 16;
        memcpy(&word, &bits, sizeof word);
        return word;
    case ASSAY_KERNEL_INT8: return ((const int8_t *)t->data)[i];
    case ASSAY_KERNEL_E4M3FN: return small(bytes[i], 4, 3, 7);
    case ASSAY_KERNEL_E2M3: return small(bytes[i], 2, 3, 1);
    default: return small(bytes[i], 2, 1, 1);
    }
}

/* Of a tensor of `tokens` and `heads`, `width` channels wide. */
static double scale_at(const struct assay_kernel_tensor *t, struct place at,
                       int64_t tokens, int64_t heads, int64_t width, int is_v)
{
    const float *f = t->scale;
    const uint8_t *bytes = t->scale;
    const int64_t groups = (width + 31) / 32, blocks = (tokens + 127) / 128 * 4;
    const int64_t block = 2 * (at.token / 64) + at.token / 4 % 2;
    switch (t->scale_mode) {
    case TENSOR: return f[0];
    case CHANNEL: return f[(at.b * heads + at.head) * width + at.channel];
    case E8M0:
        at.token = (at.b * tokens + at.token) * heads + at.head;
        return ldexp(
            1,
            bytes[is_v ? ((at.b * heads + at.head) * blocks + block) * width +
                             at.channel
                       : at.token * groups + at.channel / 32] -
                127);
    default: return 1;
    }
}

/* x >= 0 to a grid of that many mantissa bits, nearest even. */
static double grid(double x, int mantissa, int least, double most)
{
    int e;
    frexp(x, &e);
    const double step = ldexp(1, (e - 1 > least ? e - 1 : least) - mantissa);
    return fmin(nearbyint(x / step) * step, most);
}

struct contract {
    const char *name, *recipe;
    int32_t q, v, q_scale, v_scale;
    int scale_in_q;
};

/* P of one frame: e4m3 or bf16 as it is, or e2m3 in blocks of 32 keys whose
 * scale is floor(log2(amax)) - 2. */
static void round_p(const struct contract *c, double p[FRAME])
{
    for (int parity = 0; parity < 2 && c->v_scale == E8M0; parity++) {
        double most = 0;
        int e;
        for (int i = 0; i < FRAME; i++)
            most = i / 4 % 2 == parity ? fmax(most, p[i]) : most;
        frexp(most, &e);
        for (int i = 0; i < FRAME && most > 0; i++)
            if (i / 4 % 2 == parity)
                p[i] = ldexp(grid(ldexp(p[i], 3 - e), 3, 0, 7.5), e - 3);
    }
    for (int i = 0; i < FRAME && c->v_scale != E8M0; i++)
        p[i] = c->v == ASSAY_KERNEL_BF16 ? grid(p[i], 7, -126, 1)
                                         : grid(p[i], 3, -6, 448);
}

static double score(const struct assay_kernel_job *j, struct place q,
                    struct place k)
{
    double dot = 0;
    for (int64_t c = 0; c < j->head_dim_qk; c++) {
        q.channel = k.channel = c;
        dot += code_value(&j->q, q) * code_value(&j->k, k) *
               scale_at(&j->q, q, j->seqlen_q, j->heads_q, j->head_dim_qk, 0) *
               scale_at(&j->k, k, j->seqlen_k, j->heads_kv, j->head_dim_qk, 0);
    }
    return dot;
}

static void add_pv(const struct assay_kernel_job *j, struct place at, double p,
                   double *acc)
{
    for (at.channel = 0; at.channel < j->head_dim_v; at.channel++)
        acc[at.channel] +=
            p * code_value(&j->v, at) *
            scale_at(&j->v, at, j->seqlen_k, j->heads_kv, j->head_dim_v, 1);
}

static uint16_t to_bf16(double x)
{
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void row(const struct contract *c, const struct assay_kernel_job *j,
                struct place q)
{
    const double unit =
        c->scale_in_q ? 1 : j->softmax_scale * 1.4426950408889634;
    const int64_t end =
        j->mask ? q.token + 1 + j->seqlen_k - j->seqlen_q : j->seqlen_k;
    struct place kv = { q.b, 0, q.head / (j->heads_q / j->heads_kv), 0 };
    double m = -INFINITY, l = 0, p[FRAME], acc[MOST] = { 0 };
    for (int64_t from = 0; from < end; from += FRAME) {
        double top = m;
        for (int i = 0; i < FRAME; i++) {
            kv.token = from + i;
            p[i] = kv.token < end ? unit * score(j, q, kv) : -INFINITY;
            top = fmax(top, p[i]);
        }
        const double rescale = exp2(m - top);
        m = top, l *= rescale;
        for (int i = 0; i < FRAME; i++)
            p[i] = exp2(p[i] - m);
        for (int64_t e = 0; e < j->head_dim_v; e++)
            acc[e] *= rescale;
        round_p(c, p);
        for (int i = 0; i < FRAME && from + i < end; i++) {
            kv.token = from + i;
            l += p[i];
            add_pv(j, kv, p[i], acc);
        }
    }
    uint16_t *o = (uint16_t *)j->o.data + q.b * j->o.stride[0] +
                  q.token * j->o.stride[1] + q.head * j->o.stride[2];
    for (int64_t e = 0; e < j->head_dim_v; e++)
        o[e] = to_bf16(l > 0 ? acc[e] / l : 0);
    j->lse[(q.b * j->heads_q + q.head) * j->seqlen_q + q.token] =
        l > 0 ? (float)((m + log2(l)) * 0.6931471805599453) : -INFINITY;
}

enum {
    BF16 = ASSAY_KERNEL_BF16,
    INT8 = ASSAY_KERNEL_INT8,
    E4M3 = ASSAY_KERNEL_E4M3FN,
    E2M3 = ASSAY_KERNEL_E2M3,
    E2M1 = ASSAY_KERNEL_E2M1
};

/* X(recipe, q and k, v, scale of q and k, of v, softmax scale in q) */
#define CONTRACTS                           \
    X(bf16, BF16, BF16, 0, 0, 0)            \
    X(bf16fp8, BF16, E4M3, 0, TENSOR, 0)    \
    X(i8fp8, INT8, E4M3, TENSOR, TENSOR, 0) \
    X(fp8, E4M3, E4M3, TENSOR, TENSOR, 0)   \
    X(mxfp8, E4M3, E4M3, E8M0, TENSOR, 1)   \
    X(f8f6, E4M3, E2M3, TENSOR, E8M0, 0)    \
    X(f6f8, E2M3, E4M3, E8M0, CHANNEL, 1)   \
    X(mxfp6, E2M3, E2M3, E8M0, E8M0, 1)     \
    X(f6f4, E2M3, E2M1, E8M0, E8M0, 1)      \
    X(mxfp4, E2M1, E2M1, E8M0, E8M0, 1)

static int supports(const struct contract *c, const struct assay_kernel_job *j,
                    char *why, size_t n)
{
    if (j->input != ASSAY_KERNEL_PACKED || j->q.format != c->q ||
        j->k.format != c->q || j->v.format != c->v ||
        j->q.scale_mode != c->q_scale || j->k.scale_mode != c->q_scale ||
        j->v.scale_mode != c->v_scale || j->o.format != BF16 ||
        j->head_dim_v > MOST) {
        snprintf(why, n, "q %d/%d, k %d/%d, v %d/%d, o %d is another job",
                 j->q.format, j->q.scale_mode, j->k.format, j->k.scale_mode,
                 j->v.format, j->v.scale_mode, j->o.format);
        return 1;
    }
    return 0;
}

static int launch(const struct contract *c, const struct assay_kernel_job *j)
{
    for (int64_t r = 0; r < j->batch * j->heads_q * j->seqlen_q; r++)
        row(c, j,
            (struct place){ r / j->seqlen_q / j->heads_q, r % j->seqlen_q,
                            r / j->seqlen_q % j->heads_q, 0 });
    return 0;
}

#define X(id, q, v, q_scale, v_scale, in_q)                                 \
    static const struct contract of_##id = { "plain." #id, #id,     q,   v, \
                                             q_scale,      v_scale, in_q }; \
    static int supports_##id(const struct assay_kernel_job *j, char *why,   \
                             size_t n)                                      \
    {                                                                       \
        return supports(&of_##id, j, why, n);                               \
    }                                                                       \
    static int launch_##id(const struct assay_kernel_job *j, char *why,     \
                           size_t n)                                        \
    {                                                                       \
        (void)why, (void)n;                                                 \
        return launch(&of_##id, j);                                         \
    }
CONTRACTS
#undef X

static const struct assay_kernel kernels[] = {
#define X(id, ...)                 \
    { "plain." #id,                \
      #id,                         \
      "nominal",                   \
      "plain loops over payloads", \
      ASSAY_KERNEL_PACKED,         \
      supports_##id,               \
      NULL,                        \
      launch_##id },
    CONTRACTS
#undef X
};

static const struct assay_kernel_module module = {
    ASSAY_KERNEL_ABI, ASSAY_KERNEL_HOST,
    "plain",          NULL,
    sizeof *kernels,  sizeof kernels / sizeof *kernels,
    kernels,
};

const struct assay_kernel_module *assay_module(void)
{
    return &module;
}
