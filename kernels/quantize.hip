/* SPDX-License-Identifier: MIT
 *
 * The e4m3 recipe's own quantizer, see quantize.h.
 */
#include "quantize.h"

#include "element.h"

#include <math.h>

namespace {

constexpr int kThreads = 64;
constexpr int64_t kMaxBlocks = 256;
constexpr size_t kAlign = 256;

struct QuantizeArgs {
    TensorArgs from;
    int64_t rows, tokens, heads, head_dim;
    uint8_t *payload; /* contiguous */
    unsigned *amax;   /* bits of a float that is not negative */
    float *scale;
};

/* The start of the workspace: one entry each for q, k and v. */
struct Scales {
    unsigned amax[3];
    float scale[3];
};

__device__ const uint16_t *row_words(const QuantizeArgs &a, int64_t row)
{
    const int64_t h = row % a.heads, token = row / a.heads % a.tokens;
    const int64_t b = row / a.heads / a.tokens;
    return (const uint16_t *)a.from.data + a.from.offset(b, token, h);
}

/* fmaxf passes over NaN: one bad element must not cost the others their
 * scale. The bits of floats that are not negative sort as the floats do. */
__global__ void amax_kernel(QuantizeArgs a)
{
    float amax = 0.0f;
    for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
        const uint16_t *words = row_words(a, row);
        for (int64_t c = threadIdx.x; c < a.head_dim; c += kThreads)
            amax = fmaxf(amax, fabsf(f32_from_bf16(words[c])));
    }
    atomicMax(a.amax, bits_from_f32(amax));
}

__global__ void encode_kernel(QuantizeArgs a)
{
    const float nominal = f32_from_bits(*a.amax) / 448.0f;
    const float scale = nominal > 0.0f ? nominal : 1.0f;
    const float inverse = 1.0f / scale;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *a.scale = scale;
    for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
        const uint16_t *words = row_words(a, row);
        for (int64_t c = threadIdx.x; c < a.head_dim; c += kThreads)
            a.payload[row * a.head_dim + c] =
                e4m3_from_f32(f32_from_bf16(words[c]) * inverse);
    }
}

size_t align(int64_t bytes)
{
    return ((size_t)bytes + kAlign - 1) / kAlign * kAlign;
}

void quantize_tensor(const QuantizeArgs &a, hipStream_t stream)
{
    const int64_t blocks = a.rows < kMaxBlocks ? a.rows : kMaxBlocks;
    const unsigned grid = blocks > 0 ? (unsigned)blocks : 1;
    assay_launch(amax_kernel, grid, kThreads, stream, a);
    assay_launch(encode_kernel, grid, kThreads, stream, a);
}

} // namespace

size_t assay_quantize_bytes(const AttentionArgs &a)
{
    return align(sizeof(Scales)) +
           align(a.batch * a.seqlen_q * a.heads_q * a.head_dim) +
           2 * align(a.batch * a.seqlen_k * a.heads_kv * a.head_dim);
}

void assay_quantize(AttentionArgs *a, void *workspace, hipStream_t stream)
{
    const int64_t head_dim = a->head_dim;
    Scales *scales = (Scales *)workspace;
    uint8_t *payload = (uint8_t *)workspace + align(sizeof(Scales));
    TensorArgs *tensors[3] = {&a->q, &a->k, &a->v};
    (void)hipMemsetAsync(scales, 0, sizeof(Scales), stream);
    for (int x = 0; x < 3; x++) {
        const int64_t tokens = x == 0 ? a->seqlen_q : a->seqlen_k;
        const int64_t heads = x == 0 ? a->heads_q : a->heads_kv;
        const int64_t rows = a->batch * tokens * heads;
        quantize_tensor({*tensors[x], rows, tokens, heads, head_dim, payload,
                         &scales->amax[x], &scales->scale[x]},
                        stream);
        *tensors[x] = {payload, &scales->scale[x], tokens * heads * head_dim,
                       heads * head_dim, head_dim};
        payload += align(rows * head_dim);
    }
}
