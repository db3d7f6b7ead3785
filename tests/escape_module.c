/* SPDX-License-Identifier: MIT
 *
 * Kernels that checkers elsewhere let pass, for escapes.test: the plain kernels
 * of packed_module.c, with something wrong done before or after. What must
 * change from run to run counts its loads in the file that ESCAPE_COUNT names.
 */
#define assay_module plain_module
#include "packed_module.c"
#undef assay_module

#include <stdlib.h>

static int64_t elems(const struct assay_kernel_job *j)
{
    return j->batch * j->seqlen_q * j->heads_q * j->head_dim_v;
}

static int64_t rows(const struct assay_kernel_job *j)
{
    return j->batch * j->heads_q * j->seqlen_q;
}

static uint16_t *o_of(const struct assay_kernel_job *j, int64_t token)
{
    return (uint16_t *)j->o.data + token * j->o.stride[1];
}

static float value_of(uint16_t word)
{
    const uint32_t bits = (uint32_t)word << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* How often it was called before, over all processes of a run. */
static long count(void)
{
    const char *path = getenv("ESCAPE_COUNT");
    FILE *f = path ? fopen(path, "ab") : NULL;
    long n = 0;
    if (!f)
        return 0;
    fseek(f, 0, SEEK_END);
    n = ftell(f);
    fputc('x', f);
    fclose(f);
    return n;
}

static int run(const struct contract *c, const struct assay_kernel_job *j)
{
    return launch(c, j);
}

/* ---- wrong outputs ---- */

/* Token rows of all heads, every n-th from `first` on. */
static void add_to_rows(const struct assay_kernel_job *j, int64_t first,
                        int64_t n, float x)
{
    for (int64_t i = first; i < j->batch * j->seqlen_q; i += n)
        for (int64_t c = 0; c < j->heads_q * j->head_dim_v; c++)
            o_of(j, i)[c] =
                to_bf16((double)value_of(o_of(j, i)[c]) + (double)x);
}

static int half_rows_1000(const struct contract *c,
                          const struct assay_kernel_job *j)
{
    run(c, j);
    add_to_rows(j, 0, 2, 1000);
    return 0;
}

static int plus_99(const struct contract *c, const struct assay_kernel_job *j)
{
    run(c, j);
    add_to_rows(j, 0, 1, 99);
    return 0;
}

static int nan_in_20(const struct contract *c, const struct assay_kernel_job *j)
{
    run(c, j);
    for (int64_t i = 0; i < elems(j); i += 20)
        ((uint16_t *)j->o.data)[i] = 0x7fc0;
    return 0;
}

static void set_last(const struct assay_kernel_job *j, uint16_t word)
{
    ((uint16_t *)j->o.data)[elems(j) - 1] = word;
}

static int one_inf(const struct contract *c, const struct assay_kernel_job *j)
{
    run(c, j);
    set_last(j, 0x7f80);
    return 0;
}

static int one_huge(const struct contract *c, const struct assay_kernel_job *j)
{
    run(c, j);
    set_last(j, to_bf16(1e35));
    return 0;
}

/* The end of the matrix, which a sample does not reach. */
static int last_element(const struct contract *c,
                        const struct assay_kernel_job *j)
{
    run(c, j);
    const uint16_t *last = (uint16_t *)j->o.data + elems(j) - 1;
    set_last(j, to_bf16((double)value_of(*last) + 0.5));
    return 0;
}

static int zeros(const struct contract *c, const struct assay_kernel_job *j)
{
    run(c, j);
    memset(j->o.data, 0, (size_t)elems(j) * 2);
    return 0;
}

static int sixth_rows_zero(const struct contract *c,
                           const struct assay_kernel_job *j)
{
    run(c, j);
    for (int64_t i = 5; i < j->batch * j->seqlen_q; i += 6)
        memset(o_of(j, i), 0, (size_t)j->o.stride[1] * 2);
    return 0;
}

static int one_row_zero(const struct contract *c,
                        const struct assay_kernel_job *j)
{
    run(c, j);
    memset(o_of(j, 17), 0, (size_t)j->head_dim_v * 2); /* of head 0 */
    return 0;
}

/* LSE in the base that other kernels return it in. */
static int lse_base_2(const struct contract *c,
                      const struct assay_kernel_job *j)
{
    run(c, j);
    for (int64_t r = 0; r < rows(j); r++)
        j->lse[r] *= 1.44269504f;
    return 0;
}

/* ---- what is left out ---- */

/* The job with outputs of its own, so that it leaves nothing. */
static int elsewhere(const struct contract *c, const struct assay_kernel_job *j,
                     int keep_o)
{
    struct assay_kernel_job own = *j;
    own.lse = calloc((size_t)rows(j), sizeof *own.lse);
    if (!keep_o)
        own.o.data = calloc((size_t)elems(j), 2);
    if (own.lse && own.o.data)
        run(c, &own);
    free(own.lse);
    if (!keep_o)
        free(own.o.data);
    return 0;
}

static int no_lse(const struct contract *c, const struct assay_kernel_job *j)
{
    return elsewhere(c, j, 1);
}

static int writes_nothing(const struct contract *c,
                          const struct assay_kernel_job *j)
{
    return elsewhere(c, j, 0);
}

/* All but the last query of every head. */
static int not_the_last_row(const struct contract *c,
                            const struct assay_kernel_job *j)
{
    for (int64_t h = 0; h < j->heads_q; h++)
        for (int64_t i = 0; i + 1 < j->seqlen_q; i++)
            row(c, j, (struct place){ 0, i, h, 0 });
    return 0;
}

/* Says what it finds in its outputs. */
static int shows_poison(const struct contract *c,
                        const struct assay_kernel_job *j)
{
    const char *path = getenv("ESCAPE_POISON");
    FILE *f = path ? fopen(path, "a") : NULL;
    uint32_t lse;
    int same = 1;
    memcpy(&lse, j->lse, sizeof lse);
    for (int64_t i = 0; i < elems(j); i++)
        same &= ((uint16_t *)j->o.data)[i] == ((uint16_t *)j->o.data)[0];
    for (int64_t r = 0; r < rows(j); r++)
        same &= memcmp(&j->lse[r], &lse, sizeof lse) == 0;
    if (f) {
        fprintf(f, "%04x %08x %d\n", ((uint16_t *)j->o.data)[0], lse, same);
        fclose(f);
    }
    return run(c, j);
}

/* ---- wrong problems ---- */

/* Makes V its own and is then right about that. */
static int own_inputs(const struct contract *c,
                      const struct assay_kernel_job *j)
{
    uint16_t *v = j->v.data;
    for (int64_t i = 0; i < j->batch * j->v.stride[0]; i++)
        v[i] = to_bf16(1.01 * (double)value_of(v[i]));
    return run(c, j);
}

static int unit_scales(const struct contract *c,
                       const struct assay_kernel_job *j)
{
    struct assay_kernel_job own = *j;
    own.q.scale_mode = own.k.scale_mode = own.v.scale_mode =
        ASSAY_KERNEL_SCALE_NONE;
    return run(c, &own);
}

static int default_scale(const struct contract *c,
                         const struct assay_kernel_job *j)
{
    struct assay_kernel_job own = *j;
    own.softmax_scale = 1 / sqrt((double)j->head_dim_qk);
    return run(c, &own);
}

/* The key before the last is the last. */
static int short_by_a_key(const struct contract *c,
                          const struct assay_kernel_job *j)
{
    struct assay_kernel_job own = *j;
    own.seqlen_k--;
    return run(c, &own);
}

/* A causal mask aligned to the first key: right where nq = nk. */
static int top_left(const struct contract *c, const struct assay_kernel_job *j)
{
    struct assay_kernel_job own = *j;
    own.seqlen_k = j->seqlen_q < j->seqlen_k ? j->seqlen_q : j->seqlen_k;
    return run(c, &own);
}

/* Another recipe's P under this one's name: nearer to the exact answer. */
static int p_in_bf16(const struct contract *c, const struct assay_kernel_job *j)
{
    struct contract other = *c;
    other.v = ASSAY_KERNEL_BF16;
    return run(&other, j);
}

/* ---- state ---- */

static int right_once(const struct contract *c,
                      const struct assay_kernel_job *j)
{
    return count() == 0 ? run(c, j) : zeros(c, j);
}

/* The mean of V over keys, summed in binary32 from the first key or from the
 * second: what q = 0 gives. */
static int mean_from(const struct contract *c, const struct assay_kernel_job *j,
                     int64_t first)
{
    run(c, j);
    for (int64_t e = 0; e < j->head_dim_v; e++) {
        float sum = 0;
        for (int64_t k = 0; k < j->seqlen_k; k++) {
            const struct place at = { 0, (first + k) % j->seqlen_k, 0, e };
            sum += (float)code_value(&j->v, at);
        }
        for (int64_t i = 0; i < j->seqlen_q; i++)
            o_of(j, i)[e] = to_bf16((double)sum / (double)j->seqlen_k);
    }
    return 0;
}

static int mean_from_0(const struct contract *c,
                       const struct assay_kernel_job *j)
{
    return mean_from(c, j, 0);
}

static int mean_from_1(const struct contract *c,
                       const struct assay_kernel_job *j)
{
    return mean_from(c, j, 1);
}

static int mean_from_any(const struct contract *c,
                         const struct assay_kernel_job *j)
{
    return mean_from(c, j, count() % 2);
}

/* ---- what a module says ---- */

static int no_kernel(const struct contract *c, const struct assay_kernel_job *j)
{
    (void)c, (void)j;
    return 5;
}

static int says_no(const struct assay_kernel_job *j, char *why, size_t n)
{
    (void)j;
    snprintf(why, n, "heuristic: no kernel for this shape");
    return 1;
}

/* X(kernel, recipe) */
#define KERNELS                                                              \
    X(run, bf16)                                                             \
    X(run, fp8)                                                              \
    X(half_rows_1000, bf16) X(plus_99, bf16) X(nan_in_20, bf16)              \
        X(one_inf, bf16) X(one_huge, bf16) X(last_element, bf16)             \
            X(zeros, bf16) X(sixth_rows_zero, bf16) X(one_row_zero, bf16)    \
                X(lse_base_2, bf16) X(no_lse, bf16) X(writes_nothing, bf16)  \
                    X(not_the_last_row, bf16) X(shows_poison, bf16)          \
                        X(own_inputs, bf16) X(unit_scales, fp8)              \
                            X(default_scale, bf16) X(short_by_a_key, bf16)   \
                                X(top_left, bf16) X(p_in_bf16, fp8)          \
                                    X(right_once, bf16) X(mean_from_0, bf16) \
                                        X(mean_from_1, bf16)                 \
                                            X(mean_from_any, bf16)           \
                                                X(no_kernel, bf16)

#define X(how, id)                                                         \
    static int launch_##how##_##id(const struct assay_kernel_job *j,       \
                                   char *why, size_t n)                    \
    {                                                                      \
        snprintf(why, n, "heuristic: cannot get a kernel, not supported"); \
        return how(&of_##id, j);                                           \
    }
KERNELS
#undef X

static struct assay_kernel wrong[] = {
#define X(how, id)                                                       \
    { #how "." #id,        #id,           "nominal", "wrong in one way", \
      ASSAY_KERNEL_PACKED, supports_##id, NULL,      launch_##how##_##id },
    KERNELS
#undef X
    { "says_no.bf16", "bf16", "nominal", "unsupported", ASSAY_KERNEL_PACKED,
      says_no, NULL, launch_run_bf16 },
};

static const struct assay_kernel_module wrong_module = {
    ASSAY_KERNEL_ABI,
    ASSAY_KERNEL_HOST,
    "escapes",
    NULL,
    sizeof *wrong,
    sizeof wrong / sizeof *wrong,
    wrong,
};

__attribute__((visibility("default"))) const struct assay_kernel_module *
assay_module(void)
{
    /* asked about one table, run with another */
    if (getenv("ESCAPE_OTHER") && count() > 0)
        wrong[0].name = "zeros.bf16";
    return &wrong_module;
}
