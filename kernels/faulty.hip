/* SPDX-License-Identifier: MIT
 *
 * The kernels of faulty.def: the right kernel with hooks that break one thing.
 * Device hooks override NoFault's; host hooks run around the launch. For the
 * host only: some faults touch memory from the launching thread.
 */
#include "attention_run.h"

#include <cstring>
#include <unistd.h>

namespace fault {

struct right : NoFault {
    /* NULL, or why the fault would not show in this job. */
    static const char *problem(const assay_kernel_job *) { return nullptr; }

    static double softmax_scale(double scale) { return scale; }

    static int before(const assay_kernel_job *, char *, size_t) { return 0; }
    static void after(const assay_kernel_job *) {}
};

struct last_key : right {
    static const char *problem(const assay_kernel_job *job)
    {
        return job->seqlen_k == 0 ? "there is no key to forget" : nullptr;
    }

    static int64_t visible_keys(const AttentionArgs &a, int64_t visible)
    {
        return visible == a.seqlen_k ? visible - 1 : visible;
    }
};

struct mask_off_by_one : right {
    static const char *problem(const assay_kernel_job *job)
    {
        return job->mask == ASSAY_KERNEL_MASK_CAUSAL ? nullptr
                                                     : "there is no diagonal";
    }

    static int64_t visible_keys(const AttentionArgs &, int64_t visible)
    {
        return visible - 1;
    }
};

struct scale_twice : right {
    static const char *problem(const assay_kernel_job *job)
    {
        return job->softmax_scale == 1.0 ? "a scale of 1 can be applied twice"
                                         : nullptr;
    }

    static double softmax_scale(double scale) { return scale * scale; }
};

struct scale_missing : right {
    static const char *problem(const assay_kernel_job *job)
    {
        return job->softmax_scale == 1.0 ? "a scale of 1 need not be applied"
                                         : nullptr;
    }

    static double softmax_scale(double) { return 1.0; }
};

struct rows_shifted : right {
    static const char *problem(const assay_kernel_job *job)
    {
        return job->seqlen_q < 2 ? "there is no next query" : nullptr;
    }

    static void after(const assay_kernel_job *job)
    {
        const AttentionArgs a = attention_args(job);
        const size_t element = a.o_is_f32 ? sizeof(float) : sizeof(uint16_t);
        char *o = (char *)a.o.data;
        for (int64_t b = 0; b < a.batch; b++)
            for (int64_t i = 0; i + 1 < a.seqlen_q; i++)
                for (int64_t h = 0; h < a.heads_q; h++)
                    memcpy(o + element * a.o.offset(b, i, h),
                           o + element * a.o.offset(b, i + 1, h),
                           element * job->head_dim_v);
    }
};

struct one_row_zero : right {
    static float output(const AttentionArgs &a, const OutputPlace &at, float o)
    {
        return at.i == a.seqlen_q / 2 ? 0.0f : o;
    }
};

struct gain : right {
    static float output(const AttentionArgs &, const OutputPlace &, float o)
    {
        return o * 0.72f;
    }
};

struct lse_base2 : right {
    static float lse(float lse) { return lse * 1.44269504f; }
};

struct wrong_gqa_head : right {
    static const char *problem(const assay_kernel_job *job)
    {
        return job->heads_q == job->heads_kv || job->heads_kv == 1
                   ? "every grouping of these heads is the same"
                   : nullptr;
    }

    static int64_t kv_head(const AttentionArgs &a, int64_t h)
    {
        return h % a.heads_kv;
    }
};

struct one_nan : right {
    static float output(const AttentionArgs &a, const OutputPlace &at, float o)
    {
        return at.b == 0 && at.i == a.seqlen_q / 2 && at.h == a.heads_q - 1 &&
                       at.c == 5
                   ? NAN
                   : o;
    }
};

struct last_tile_unwritten : right {
    static bool writes_tile(const AttentionArgs &a, int64_t tile)
    {
        return tile != a.query_tiles - 1;
    }
};

struct no_lse : right {
    static constexpr bool kWritesLse = false;
};

bool is_empty(const assay_kernel_job *job)
{
    return job->batch == 0 || job->seqlen_q == 0;
}

struct writes_past_end : right {
    static void after(const assay_kernel_job *job)
    {
        if (is_empty(job))
            return;
        const AttentionArgs a = attention_args(job);
        const int64_t end =
            a.o.offset(a.batch - 1, a.seqlen_q - 1, a.heads_q - 1) +
            job->head_dim_v;
        if (a.o_is_f32)
            ((float *)a.o.data)[end] = 1.0f;
        else
            ((uint16_t *)a.o.data)[end] = bf16_from_f32(1.0f);
    }
};

struct changes_input : right {
    static void after(const assay_kernel_job *job)
    {
        if (!is_empty(job))
            *(uint8_t *)job->q.data ^= 1;
    }
};

struct crash : right {
    static int before(const assay_kernel_job *, char *, size_t)
    {
        volatile int *volatile nowhere = nullptr;
        *nowhere = 1;
        return 0;
    }
};

struct hang : right {
    static int before(const assay_kernel_job *, char *, size_t)
    {
        for (volatile bool forever = true; forever;)
            continue;
        return 0;
    }
};

struct exits : right {
    static int before(const assay_kernel_job *, char *, size_t) { _exit(7); }
};

struct refuses : right {
    static int before(const assay_kernel_job *, char *reason, size_t bytes)
    {
        return refuse(5, reason, bytes, "refused on purpose");
    }
};

/* Away from zero, and exactly one step: so the rounding to bf16 comes first.
 * Zeros, infinities and NaN stay. */
struct one_ulp : right {
    static float output(const AttentionArgs &a, const OutputPlace &at, float o)
    {
        const int64_t row = (at.b * a.seqlen_q + at.i) * a.heads_q + at.h;
        const float rounded =
            a.o_is_f32 ? o : f32_from_bf16(bf16_from_f32(o));
        if ((row * a.head_dim + at.c) % 97 || rounded == 0.0f ||
            !isfinite(rounded))
            return o;
        return f32_from_bits(bits_from_f32(rounded) + 0x10000u);
    }
};

template <class Recipe, class Fault>
int supports(const assay_kernel_job *job, char *reason, size_t reason_bytes)
{
    if (int code = attention_supports<Recipe>(job, reason, reason_bytes))
        return code;
    const char *problem = Fault::problem(job);
    return problem ? refuse(2, reason, reason_bytes, problem) : 0;
}

template <class Recipe, class Fault>
int launch(const assay_kernel_job *job, char *reason, size_t reason_bytes)
{
    int code = Fault::before(job, reason, reason_bytes);
    if (code == 0)
        code = attention_launch<Recipe, Fault>(
            job, Fault::softmax_scale(job->softmax_scale), reason,
            reason_bytes);
    if (code == 0)
        Fault::after(job);
    return code;
}

} // namespace fault

extern "C" size_t assay_faulty_bf16_workspace_bytes(const assay_kernel_job *job)
{
    return attention_workspace_bytes<Bf16Recipe>(job);
}

extern "C" size_t assay_faulty_e4m3_workspace_bytes(const assay_kernel_job *job)
{
    return attention_workspace_bytes<E4m3Recipe>(job);
}

#define FAULTY(id, recipe, Recipe)                                            \
    extern "C" int assay_faulty_##id##_##recipe##_supports(                   \
        const assay_kernel_job *job, char *reason, size_t reason_bytes)       \
    {                                                                         \
        return fault::supports<Recipe, fault::id>(job, reason, reason_bytes); \
    }                                                                         \
    extern "C" int assay_faulty_##id##_##recipe##_launch(                     \
        const assay_kernel_job *job, char *reason, size_t reason_bytes)       \
    {                                                                         \
        return fault::launch<Recipe, fault::id>(job, reason, reason_bytes);   \
    }

#define ASSAY_FAULT(id, about)   \
    FAULTY(id, bf16, Bf16Recipe) \
    FAULTY(id, e4m3, E4m3Recipe)
#include "faulty.def"
#undef ASSAY_FAULT
