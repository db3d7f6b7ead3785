/* SPDX-License-Identifier: MIT
 *
 * The right kernels of the host module against attention written out here in
 * double, once plainly and once with the recipe's roundings.
 */
#include "check_assay.h"

#include "assay/kernel.h"
#include "element.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILE 64

/* As ck_assert_msg, which writes to a file each time it holds. */
#define demand(holds, ...)             \
    do {                               \
        if (!(holds))                  \
            ck_abort_msg(__VA_ARGS__); \
    } while (0)

enum recipe { BF16, E4M3_RAW, E4M3_PACKED, N_RECIPES };
enum layout { PLAIN, PADDED, HEADS_OUTSIDE, N_LAYOUTS };

struct problem {
    bool causal;
    int b, nq, nk, hq, hk, d;
    enum layout layout;
    bool bf16_out;
    bool nan_last_key; /* in k and v, of every sequence and head */
    int amax_step;     /* amax of q, k and v is 2 + amax_step / 64 */
};

/* A tensor in a buffer whose gaps are NaN, and its values. */
struct tensor {
    struct assay_kernel_tensor view;
    size_t elem, bytes;
    int n[4];
    double *value; /* [b, token, head, channel], contiguous */
    float scale;
};

struct result {
    struct tensor o;
    float *lse;
};

static const struct assay_kernel_module *module;

static void open_module(void)
{
    void *file = dlopen(ASSAY_MODULE_DIR "/assay-host.so", RTLD_NOW);
    ck_assert_msg(file != NULL, "%s", dlerror());
    const struct assay_kernel_module *(*get)(void);
    void *symbol = dlsym(file, "assay_module");
    ck_assert_ptr_nonnull(symbol);
    memcpy(&get, &symbol, sizeof get);
    module = get();
}

static const struct assay_kernel *find(const char *name)
{
    for (size_t i = 0; i < module->kernel_count; i++)
        if (!strcmp(module->kernels[i].name, name))
            return &module->kernels[i];
    ck_abort_msg("no kernel %s", name);
}

static int64_t at(const struct tensor *t, int b, int i, int h)
{
    const int64_t *s = t->view.stride;
    return b * s[0] + i * s[1] + h * s[2];
}

static double *value(const struct tensor *t, int b, int i, int h)
{
    return t->value + (((int64_t)b * t->n[1] + i) * t->n[2] + h) * t->n[3];
}

static struct tensor tensor_new(int b, int tokens, int heads, int d,
                                enum layout layout,
                                enum assay_kernel_format format)
{
    struct tensor t = {.n = {b, tokens, heads, d}, .scale = 1.0f};
    const int gap = layout == PLAIN ? 0 : 24;
    const int token = layout == HEADS_OUTSIDE ? d + gap : heads * d + gap;
    const int head = layout == HEADS_OUTSIDE ? tokens * token : d;
    const int batch = heads * tokens * (d + gap) + gap;
    t.view = (struct assay_kernel_tensor){
        .format = format, .stride = {batch, token, head, 1}};
    t.elem = format == ASSAY_KERNEL_F32      ? 4
             : format == ASSAY_KERNEL_E4M3FN ? 1
                                             : 2;
    t.bytes = ((size_t)b * batch + 64) * t.elem;
    t.view.data = malloc(t.bytes);
    memset(t.view.data, 0xff, t.bytes);
    t.value = calloc((size_t)b * tokens * heads * d + 1, sizeof *t.value);
    return t;
}

static void tensor_free(struct tensor *t)
{
    free(t->view.data);
    free(t->value);
}

static float random_f32(uint32_t seed, uint32_t i)
{
    uint64_t x = ((uint64_t)seed << 32 | i) * 0x9e3779b97f4a7c15u + 1;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    return (float)(x >> 40) * 0x1p-22f - 2.0f;
}

/* Fills with bf16 words or with the e4m3 recipe's payloads of those words;
 * value gets what the recipe makes of them either way. */
static struct tensor input_new(const struct problem *p, enum recipe recipe,
                               uint32_t seed, int tokens, int heads, bool nan)
{
    const bool packed = recipe == E4M3_PACKED;
    struct tensor t =
        tensor_new(p->b, tokens, heads, p->d, p->layout,
                   packed ? ASSAY_KERNEL_E4M3FN : ASSAY_KERNEL_BF16);
    const int n = p->b * tokens * heads * p->d;
    float amax = 0;
    for (int x = 0; x < n; x++) {
        const bool last = x / (heads * p->d) % tokens == tokens - 1;
        t.value[x] = nan && last
                         ? NAN
                         : f32_from_bf16(bf16_from_f32(random_f32(seed, x)));
        if (x == 0 && p->amax_step)
            t.value[x] = 2 + p->amax_step / 64.0;
        amax = fmaxf(amax, fabsf((float)t.value[x]));
    }
    if (recipe != BF16 && amax / 448.0f > 0)
        t.scale = amax / 448.0f;
    const float inverse = 1.0f / t.scale;
    for (int x = 0; x < n; x++) {
        const int row = x / p->d, b = row / heads / tokens;
        const int64_t to =
            at(&t, b, row / heads % tokens, row % heads) + x % p->d;
        const uint8_t code = e4m3_from_f32((float)t.value[x] * inverse);
        if (packed)
            ((uint8_t *)t.view.data)[to] = code;
        else
            ((uint16_t *)t.view.data)[to] = bf16_from_f32((float)t.value[x]);
        if (recipe != BF16)
            t.value[x] = f32_from_e4m3(code) * (double)t.scale;
    }
    return t;
}

static float output(const struct result *r, int b, int i, int h, int c)
{
    const int64_t x = at(&r->o, b, i, h) + c;
    return r->o.view.format == ASSAY_KERNEL_F32
               ? ((float *)r->o.view.data)[x]
               : f32_from_bf16(((uint16_t *)r->o.view.data)[x]);
}

static void result_free(struct result *r)
{
    tensor_free(&r->o);
    free(r->lse);
}

static struct result run(const struct problem *p, enum recipe recipe,
                         struct tensor *q, struct tensor *k, struct tensor *v)
{
    const struct assay_kernel *kernel =
        find(recipe == BF16 ? "attention.bf16" : "attention.e4m3");
    struct result r = {
        .o = tensor_new(p->b, p->nq, p->hq, p->d, p->layout,
                        p->bf16_out ? ASSAY_KERNEL_BF16 : ASSAY_KERNEL_F32)};
    const size_t n_lse = (size_t)p->b * p->hq * p->nq;
    r.lse = malloc(n_lse * sizeof *r.lse + 1);
    memset(r.lse, 0xff, n_lse * sizeof *r.lse);
    struct tensor *inputs[] = {q, k, v};
    for (int x = 0; x < 3 && recipe == E4M3_PACKED; x++) {
        inputs[x]->view.scale_mode = ASSAY_KERNEL_SCALE_F32_PER_TENSOR;
        inputs[x]->view.scale = &inputs[x]->scale;
    }
    struct assay_kernel_job job = {
        .size = sizeof job,
        .input = recipe == E4M3_PACKED ? ASSAY_KERNEL_PACKED
                                       : ASSAY_KERNEL_RAW,
        .mask = p->causal ? ASSAY_KERNEL_MASK_CAUSAL : ASSAY_KERNEL_MASK_NONE,
        .batch = p->b, .seqlen_q = p->nq, .seqlen_k = p->nk,
        .heads_q = p->hq, .heads_kv = p->hk,
        .head_dim_qk = p->d, .head_dim_v = p->d,
        .softmax_scale = 1 / sqrt(p->d),
        .q = q->view, .k = k->view, .v = v->view, .o = r.o.view,
        .lse = r.lse,
    };
    char reason[100] = "";
    ck_assert_msg(!kernel->supports(&job, reason, sizeof reason), "%s",
                  reason);
    job.workspace_bytes = kernel->workspace_bytes(&job);
    job.workspace = aligned_alloc(256, (job.workspace_bytes + 511) / 256 * 256);
    memset(job.workspace, 0xff, job.workspace_bytes);
    ck_assert_msg(!kernel->launch(&job, reason, sizeof reason), "%s", reason);
    free(job.workspace);
    return r;
}

/* One row of attention, exactly and as the recipe rounds. */
struct row {
    double o[128], exact[128], gauge[128], lse;
    double top; /* largest |p v| / l: what one P that rounds the other way */
    int visible;
};

static float round_p(enum recipe recipe, double p)
{
    return recipe == BF16 ? f32_from_bf16(bf16_from_f32((float)p))
                          : f32_from_e4m3(e4m3_from_f32((float)p));
}

static void row_compute(const struct problem *p, enum recipe recipe,
                        const double *q, const struct tensor *k,
                        const struct tensor *v, int b, int i, int kv,
                        struct row *row)
{
    double s[512], m = -INFINITY, l = 0, max = -INFINITY, sum = 0;
    int n = p->causal ? i + p->nk - p->nq + 1 : p->nk;
    n = n < 0 ? 0 : n > p->nk ? p->nk : n;
    memset(row, 0, sizeof *row);
    row->visible = n;
    for (int j = 0; j < n; j++) {
        s[j] = 0;
        for (int c = 0; c < p->d; c++)
            s[j] += q[c] * value(k, b, j, kv)[c];
        s[j] *= 1 / sqrt(p->d) * 1.4426950408889634;
        max = fmax(max, s[j]);
    }
    for (int j = 0; j < n; j++) {
        if (j % TILE == 0) {
            const double before = m;
            for (int x = j; x < n && x < j + TILE; x++)
                m = fmax(m, s[x]);
            l *= exp2(before - m);
            for (int c = 0; c < p->d; c++)
                row->o[c] *= exp2(before - m);
        }
        const double weight = round_p(recipe, exp2(s[j] - m));
        const double exact = exp2(s[j] - max);
        l += weight;
        sum += exact;
        for (int c = 0; c < p->d; c++) {
            const double x = value(v, b, j, kv)[c];
            row->o[c] += weight * x;
            row->exact[c] += exact * x;
            row->gauge[c] += exact * fabs(x);
            row->top = fmax(row->top, exact * fabs(x));
        }
    }
    for (int c = 0; c < p->d && n; c++) {
        row->o[c] /= l;
        row->exact[c] /= sum;
        row->gauge[c] /= sum;
    }
    row->top /= n ? sum : 1;
    row->lse = n ? log(2) * (m + log2(l)) : -INFINITY;
}

/* Every element within what a P that rounds the other way explains, and nine
 * in ten within fp32 noise of the recipe. */
static void compare(const struct problem *p, enum recipe recipe,
                    const struct tensor *q, const struct tensor *k,
                    const struct tensor *v, const struct result *r)
{
    const double step = recipe == BF16 ? 0x1p-7 : 0x1p-3;
    const double out = p->bf16_out ? 0x1p-8 : 0;
    static struct row row;
    int off = 0, total = 0;
    for (int x = 0; x < p->b * p->nq * p->hq; x++) {
        const int h = x % p->hq, i = x / p->hq % p->nq, b = x / p->hq / p->nq;
        row_compute(p, recipe, value(q, b, i, h), k, v, b, i,
                    h / (p->hq / p->hk), &row);
        const float lse = r->lse[((int64_t)b * p->hq + h) * p->nq + i];
        const bool nan = p->nan_last_key && row.visible == p->nk;
        if (row.visible == 0)
            ck_assert(lse == -INFINITY);
        else
            ck_assert_msg(nan ? isnan(lse) : fabs(lse - row.lse) < step / 8,
                          "lse %d %d %d: %g, not %g", b, i, h, lse, row.lse);
        for (int c = 0; c < p->d; c++, total++) {
            const float o = output(r, b, i, h, c);
            if (nan || row.visible == 0) {
                demand(nan ? isnan(o) : bits_from_f32(o) == 0,
                       "o %d %d %d %d: %g", b, i, h, c, o);
                continue;
            }
            const double noise = 1e-5 * row.gauge[c] + out * fabs(row.o[c]);
            const double error = fabs(o - row.o[c]);
            off += !(error <= noise);
            demand(error <= noise + step * row.top,
                   "o %d %d %d %d: %g, not %g", b, i, h, c, o, row.o[c]);
            demand(recipe != BF16 || fabs(o - row.exact[c]) <=
                                         0x1p-8 * row.gauge[c] + noise,
                   "o %d %d %d %d: %g, exactly %g", b, i, h, c, o,
                   row.exact[c]);
        }
    }
    ck_assert_msg(off * 10 <= total, "%d of %d are off", off, total);
}

/* Padding of o still holds what it held. */
static void check_gaps(const struct problem *p, const struct result *r)
{
    const struct tensor *o = &r->o;
    unsigned char *data = o->view.data;
    for (int x = 0; x < p->b * p->nq * p->hq; x++)
        memset(data + o->elem * at(o, x / p->hq / p->nq, x / p->hq % p->nq,
                                   x % p->hq),
               0xff, o->elem * p->d);
    for (size_t x = 0; x < o->bytes; x++)
        demand(data[x] == 0xff, "byte %zu of o was written", x);
}

static void inputs_new(const struct problem *p, enum recipe recipe,
                       struct tensor in[3])
{
    const bool nan = p->nan_last_key;
    in[0] = input_new(p, recipe, 1, p->nq, p->hq, false);
    in[1] = input_new(p, recipe, 2, p->nk, p->hk, nan);
    in[2] = input_new(p, recipe, 3, p->nk, p->hk, nan);
}

static void inputs_free(struct tensor in[3])
{
    for (int x = 0; x < 3; x++)
        tensor_free(&in[x]);
}

static const struct problem problems[] = {
    /* causal b   nq   nk hq hk    d  layout     bf16   nan  amax */
    {false, 1,   1,   1, 1, 1,  64, PLAIN, false, false, 0},
    {false, 2,  63,  65, 2, 2,  64, PLAIN, false, false, 0},
    {true,  2,  64,  64, 2, 1, 128, PLAIN, false, false, 0},
    {true,  1,  65,  63, 1, 1,  64, PLAIN, false, false, 0}, /* dead rows */
    {true,  1, 130,   1, 2, 2,  64, PADDED, true, false, 0}, /* dead tiles */
    {true,  1,  33, 130, 2, 1,  64, HEADS_OUTSIDE, false, false, 0},
    {true,  1,   1, 200, 1, 1, 128, PLAIN, true, false, 0},
    {true,  2, 130, 130, 8, 2,  64, HEADS_OUTSIDE, true, false, 0},
    {false, 1,  70,  64, 8, 2, 128, PADDED, false, false, 0},
    {false, 2,  40,   0, 2, 1,  64, PLAIN, false, false, 0},
    {true,  1,  40,   0, 2, 1, 128, PADDED, true, false, 0},
    {true,  2,  65,  65, 2, 1,  64, PADDED, false, true, 0},
    {true,  1,  70, 129, 2, 2, 128, HEADS_OUTSIDE, false, true, 0},
    {true,  1, 129,  70, 1, 1,  64, PLAIN, true, true, 0},
    {false, 0,   5,   5, 1, 1,  64, PLAIN, false, false, 0},
    {false, 1,   0,   5, 1, 1,  64, PLAIN, false, false, 0},
};
#define N_PROBLEMS ((int)(sizeof problems / sizeof problems[0]))

START_TEST(matches_double)
{
    const struct problem *p = &problems[_i / N_RECIPES];
    const enum recipe recipe = _i % N_RECIPES;
    struct tensor in[3];
    inputs_new(p, recipe, in);
    struct result r = run(p, recipe, &in[0], &in[1], &in[2]);
    compare(p, recipe, &in[0], &in[1], &in[2], &r);
    check_gaps(p, &r);
    result_free(&r);
    inputs_free(in);
}
END_TEST

static void assert_same(const struct problem *p, const struct result *a,
                        const struct result *b)
{
    ck_assert(!memcmp(a->o.view.data, b->o.view.data, a->o.bytes));
    ck_assert(!memcmp(a->lse, b->lse,
                      sizeof *a->lse * p->b * p->hq * p->nq));
}

/* For some values of amax, x / scale and x * (1 / scale) give other codes. */
START_TEST(raw_equals_packed)
{
    const struct problem sweep = {.b = 1, .nq = 32, .nk = 32, .hq = 1,
                                  .hk = 1, .d = 64,
                                  .amax_step = _i - N_PROBLEMS + 1};
    const struct problem *p = _i < N_PROBLEMS ? &problems[_i] : &sweep;
    struct tensor raw[3], packed[3];
    inputs_new(p, E4M3_RAW, raw);
    inputs_new(p, E4M3_PACKED, packed);
    struct result a = run(p, E4M3_RAW, &raw[0], &raw[1], &raw[2]);
    struct result b = run(p, E4M3_PACKED, &packed[0], &packed[1], &packed[2]);
    assert_same(p, &a, &b);
    result_free(&a);
    result_free(&b);
    inputs_free(raw);
    inputs_free(packed);
}
END_TEST

START_TEST(wave_changes_nothing)
{
    const struct problem *p = &problems[_i];
    for (enum recipe recipe = BF16; recipe < N_RECIPES; recipe++) {
        struct tensor in[3];
        inputs_new(p, recipe, in);
        setenv("ASSAY_HOST_WAVE", "32", 1);
        struct result a = run(p, recipe, &in[0], &in[1], &in[2]);
        setenv("ASSAY_HOST_WAVE", "64", 1);
        struct result b = run(p, recipe, &in[0], &in[1], &in[2]);
        assert_same(p, &a, &b);
        result_free(&a);
        result_free(&b);
        inputs_free(in);
    }
}
END_TEST

/* Keys whose score is -infinity fill the first tile; the rest decide. */
START_TEST(first_tile_may_be_empty)
{
    const struct problem p = {.b = 1, .nq = 3, .nk = 2 * TILE, .hq = 1,
                              .hk = 1, .d = 64};
    const struct problem half = {.b = 1, .nq = 3, .nk = TILE, .hq = 1,
                                 .hk = 1, .d = 64};
    struct tensor all[3], rest[3];
    inputs_new(&p, BF16, all);
    inputs_new(&half, BF16, rest);
    for (int i = 0; i < p.nq; i++)
        ((uint16_t *)all[0].view.data)[at(&all[0], 0, i, 0)] = 0x3f80;
    for (int j = 0; j < TILE; j++)
        ((uint16_t *)all[1].view.data)[at(&all[1], 0, j, 0)] = 0xff80;
    const size_t row = p.d * sizeof(uint16_t);
    memcpy(rest[0].view.data, all[0].view.data, p.nq * row);
    for (int x = 1; x < 3; x++)
        memcpy(rest[x].view.data, (char *)all[x].view.data + TILE * row,
               TILE * row);
    struct result a = run(&p, BF16, &all[0], &all[1], &all[2]);
    struct result b = run(&half, BF16, &rest[0], &rest[1], &rest[2]);
    assert_same(&p, &a, &b);
    ck_assert(isfinite(a.lse[0]));
    result_free(&a);
    result_free(&b);
    inputs_free(all);
    inputs_free(rest);
}
END_TEST

struct job {
    const struct problem *p;
    struct tensor in[3];
    struct result r;
};

static void *run_job(void *arg)
{
    struct job *job = arg;
    job->r = run(job->p, BF16, &job->in[0], &job->in[1], &job->in[2]);
    return NULL;
}

START_TEST(threads_do_not_meet)
{
    const struct problem *p = &problems[7];
    struct job job[3];
    pthread_t thread[3];
    for (int x = 0; x < 3; x++) {
        job[x].p = p;
        inputs_new(p, BF16, job[x].in);
        ck_assert(!pthread_create(&thread[x], NULL, run_job, &job[x]));
    }
    for (int x = 0; x < 3; x++)
        pthread_join(thread[x], NULL);
    for (int x = 0; x < 3; x++) {
        compare(p, BF16, &job[x].in[0], &job[x].in[1], &job[x].in[2],
                &job[x].r);
        inputs_free(job[x].in);
    }
    for (int x = 0; x < 3; x++)
        result_free(&job[x].r);
}
END_TEST

START_TEST(says_no)
{
    const struct assay_kernel *bf16 = find("attention.bf16");
    const struct assay_kernel_tensor t = {.format = ASSAY_KERNEL_BF16,
                                          .stride = {0, 0, 0, 1}};
    const struct assay_kernel_job good = {
        .size = sizeof good, .input = ASSAY_KERNEL_RAW, .batch = 1,
        .seqlen_q = 3, .seqlen_k = 3, .heads_q = 4, .heads_kv = 2,
        .head_dim_qk = 64, .head_dim_v = 64, .softmax_scale = 1,
        .q = t, .k = t, .v = t, .o = t};
    struct assay_kernel_job bad[8];
    for (int x = 0; x < 8; x++)
        bad[x] = good;
    bad[0].input = ASSAY_KERNEL_PACKED;
    bad[1].head_dim_v = 128;
    bad[2].head_dim_qk = bad[2].head_dim_v = 96;
    bad[3].heads_kv = 3;
    bad[4].k.stride[3] = 2;
    bad[5].v.format = ASSAY_KERNEL_F16;
    bad[6].q.scale_mode = ASSAY_KERNEL_SCALE_F32_PER_TENSOR;
    bad[7].workload = 99;
    char reason[80] = "";
    ck_assert_int_eq(bf16->supports(&good, reason, sizeof reason), 0);
    for (int x = 0; x < 8; x++) {
        reason[0] = '\0';
        ck_assert_msg(bf16->supports(&bad[x], reason, sizeof reason) != 0,
                      "bad[%d]", x);
        ck_assert_msg(reason[0] != '\0', "bad[%d]", x);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tc = tcase_create("attention");
    tcase_add_unchecked_fixture(tc, open_module, NULL);
    tcase_add_loop_test(tc, matches_double, 0, N_PROBLEMS * N_RECIPES);
    tcase_add_loop_test(tc, raw_equals_packed, 0,
                        N_PROBLEMS + 127);
    tcase_add_loop_test(tc, wave_changes_nothing, 0, N_PROBLEMS);
    tcase_add_test(tc, first_tile_may_be_empty);
    tcase_add_test(tc, threads_do_not_meet);
    tcase_add_test(tc, says_no);
    suite_add_tcase(suite, tc);
    return assay_check_main(suite);
}
