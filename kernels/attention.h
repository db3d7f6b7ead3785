/* SPDX-License-Identifier: MIT
 *
 * Attention for one recipe and head dimension, in the nominal softmax form:
 *
 *   s2 = (q . k) * scale / ln 2         fp32
 *   m  = running max of s2 over key tiles of 64, ascending
 *   P  = round(exp2(s2 - m))            to the recipe's format
 *   l  = sum of the rounded P,  acc = sum of P * v,  both fp32, both
 *        multiplied by exp2(m_old - m_new) when a tile raises m
 *   O  = acc / l,  LSE = ln 2 * (m + log2 l)
 *
 * A block takes 32 queries of one head; four neighbouring lanes share a query.
 * In a tile lane x scores the keys x, x + 4, ... and then sums a quarter of
 * the channels over all keys. Keys that a query must not see are skipped,
 * never multiplied by zero: a NaN in them stays where it is.
 *
 * `Fault` is NoFault in all real kernels; tests override its hooks.
 */
#ifndef ASSAY_KERNELS_ATTENTION_H
#define ASSAY_KERNELS_ATTENTION_H

#include "attention_args.h"
#include "device.h"
#include "dot.h"
#include "element.h"

#include <math.h>

constexpr int kQueries = 32; /* of a block */
constexpr int kLanes = 4;    /* of a query; all in one wave */
constexpr int kKeys = 64;    /* of a tile: part of the softmax form */
constexpr int kThreads = kQueries * kLanes;
constexpr int kPad = 2; /* puts the same channel of 32 rows in 32 banks */

/* The parts that a wrong-on-purpose kernel may replace, all right. */
struct NoFault {
    static constexpr bool kWritesLse = true;

    static __device__ int64_t visible_keys(const AttentionArgs &,
                                           int64_t visible)
    {
        return visible;
    }

    static __device__ int64_t kv_head(const AttentionArgs &a, int64_t h)
    {
        return h / (a.heads_q / a.heads_kv);
    }

    static __device__ bool writes_tile(const AttentionArgs &, int64_t)
    {
        return true;
    }

    static __device__ float output(const AttentionArgs &, const OutputPlace &,
                                   float o)
    {
        return o;
    }

    static __device__ float lse(float lse) { return lse; }
};

/* How many keys, from the first on, query i sees. */
template <class Fault>
__device__ int64_t visible_keys(const AttentionArgs &a, int64_t i)
{
    int64_t n = a.seqlen_k;
    if (a.causal && i + a.seqlen_k - a.seqlen_q + 1 < n)
        n = i + a.seqlen_k - a.seqlen_q + 1;
    n = Fault::visible_keys(a, n);
    return n > 0 ? n : 0;
}

template <class Recipe, int D>
__device__ void load_rows(uint16_t (*tile)[D + kPad], const TensorArgs &from,
                          int64_t offset, int64_t rows)
{
    const auto *words = (const typename Recipe::Word *)from.data + offset;
    const int n = (int)rows * D;
    for (int x = threadIdx.x; x < n; x += kThreads)
        tile[x / D][x % D] =
            Recipe::tile_word(words[x / D * from.token_stride + x % D]);
}

/* A lane's part of a query's softmax. */
template <int D>
struct RowState {
    float m = -INFINITY;         /* max so far, in log2 units */
    float l = 0.0f;              /* this lane's share of the denominator */
    float acc[D / kLanes] = {};  /* this lane's channels */
};

/* Scores the tile's first n keys and leaves their P in p_row. */
template <class Recipe, int D>
__device__ void softmax_tile(RowState<D> &row, const uint16_t *q_row,
                             const uint16_t (*k_tile)[D + kPad],
                             uint16_t *p_row, int lane, int n, float scale)
{
    float s2[kKeys / kLanes];
    float m = row.m;
    for (int x = 0; x < kKeys / kLanes; x++) {
        const int j = lane + x * kLanes;
        s2[x] = j < n ? dot<D>(q_row, k_tile[j]) * scale : -INFINITY;
        m = fmaxf(m, s2[x]);
    }
    for (int mask = kLanes / 2; mask > 0; mask /= 2)
        m = fmaxf(m, __shfl_xor(m, mask, kLanes));

    /* While every score is -infinity, -infinity - m would be NaN. */
    const float base = m == -INFINITY ? 0.0f : m;
    const float rescale = exp2f(row.m - base);
    row.m = m;
    row.l *= rescale;
    for (int c = 0; c < D / kLanes; c++)
        row.acc[c] *= rescale;
    for (int x = 0; x < kKeys / kLanes; x++) {
        const int j = lane + x * kLanes;
        if (j < n) {
            p_row[j] = Recipe::round_p(exp2f(s2[x] - base));
            row.l += f32_from_bf16(p_row[j]);
        }
    }
}

template <class Recipe, int D, class Fault>
__device__ void store_row(const AttentionArgs &a, const RowState<D> &row,
                          float l, OutputPlace at, int lane, bool dead)
{
    const int64_t offset = a.o.offset(at.b, at.i, at.h);
    for (int c = 0; c < D / kLanes; c++) {
        at.c = lane * (D / kLanes) + c;
        float o = dead ? 0.0f : Recipe::normalize(a, row.acc[c], l);
        o = Fault::output(a, at, o);
        if (a.o_is_f32)
            ((float *)a.o.data)[offset + at.c] = o;
        else
            ((uint16_t *)a.o.data)[offset + at.c] = bf16_from_f32(o);
    }
    if (Fault::kWritesLse && lane == 0) {
        const float lse =
            dead ? -INFINITY : 0.693147181f * (row.m + log2f(l));
        a.lse[(at.b * a.heads_q + at.h) * a.seqlen_q + at.i] = Fault::lse(lse);
    }
}

template <class Recipe, int D, class Fault>
__global__ void __launch_bounds__(kThreads) attention_kernel(AttentionArgs a)
{
    __shared__ uint16_t q_tile[kQueries][D + kPad];
    __shared__ uint16_t k_tile[kKeys][D + kPad], v_tile[kKeys][D + kPad];
    __shared__ uint16_t p_tile[kQueries][kKeys];

    const int lane = threadIdx.x % kLanes, r = threadIdx.x / kLanes;
    const int64_t tile = blockIdx.x % a.query_tiles;
    const int64_t h = blockIdx.x / a.query_tiles % a.heads_q;
    const int64_t b = blockIdx.x / a.query_tiles / a.heads_q;
    const int64_t hk = Fault::kv_head(a, h);
    const int64_t first = tile * kQueries, i = first + r;
    const int64_t left = a.seqlen_q - first;
    const int64_t queries = left < kQueries ? left : kQueries;
    const int64_t visible = r < queries ? visible_keys<Fault>(a, i) : 0;
    const int64_t end = visible_keys<Fault>(a, first + queries - 1);
    const float scale = Recipe::score_scale(a);

    RowState<D> row;
    load_rows<Recipe, D>(q_tile, a.q, a.q.offset(b, first, h), queries);
    for (int64_t t = 0; t < end; t += kKeys) {
        const int64_t keys = end - t < kKeys ? end - t : kKeys;
        const int64_t seen = visible - t;
        const int n = seen < 0 ? 0 : seen < keys ? (int)seen : (int)keys;
        __syncthreads(); /* the last tile is read */
        load_rows<Recipe, D>(k_tile, a.k, a.k.offset(b, t, hk), keys);
        load_rows<Recipe, D>(v_tile, a.v, a.v.offset(b, t, hk), keys);
        __syncthreads();
        softmax_tile<Recipe, D>(row, q_tile[r], k_tile, p_tile[r], lane, n,
                                scale);
        __syncthreads(); /* P is whole */
        add_weighted_rows(row.acc, p_tile[r],
                          &v_tile[0][lane * (D / kLanes)], D + kPad, n);
    }

    float l = row.l;
    for (int mask = kLanes / 2; mask > 0; mask /= 2)
        l += __shfl_xor(l, mask, kLanes);
    if (r < queries && Fault::writes_tile(a, tile))
        store_row<Recipe, D, Fault>(a, row, l, {b, i, h, 0}, lane,
                                    visible == 0);
}

#endif
