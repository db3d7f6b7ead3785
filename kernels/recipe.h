/* SPDX-License-Identifier: MIT
 *
 * The recipes as traits: what the words of q, k and v are, how P is rounded
 * and where scales enter. Both keep their tiles in bf16, which holds every
 * e4m3fn value.
 */
#ifndef ASSAY_KERNELS_RECIPE_H
#define ASSAY_KERNELS_RECIPE_H

#include "assay/kernel.h"
#include "attention_args.h"
#include "element.h"

struct Bf16Recipe {
    using Word = uint16_t;
    static constexpr bool kQuantized = false;
    static constexpr unsigned kInputs = ASSAY_KERNEL_RAW;

    static __device__ uint16_t tile_word(Word word) { return word; }
    static __device__ uint16_t round_p(float p) { return bf16_from_f32(p); }

    static __device__ float score_scale(const AttentionArgs &a)
    {
        return (float)a.scale_log2e;
    }

    static __device__ float normalize(const AttentionArgs &, float acc, float l)
    {
        return acc / l;
    }
};

struct E4m3Recipe {
    using Word = uint8_t;
    static constexpr bool kQuantized = true;
    static constexpr unsigned kInputs = ASSAY_KERNEL_RAW | ASSAY_KERNEL_PACKED;

    static __device__ uint16_t tile_word(Word word)
    {
        return bf16_from_f32(f32_from_e4m3(word));
    }

    static __device__ uint16_t round_p(float p)
    {
        return tile_word(e4m3_from_f32(p));
    }

    /* In double, so that the product is rounded once. */
    static __device__ float score_scale(const AttentionArgs &a)
    {
        return (float)(a.scale_log2e * *a.q.scale * *a.k.scale);
    }

    static __device__ float normalize(const AttentionArgs &a, float acc,
                                      float l)
    {
        return acc * *a.v.scale / l;
    }
};

#endif
