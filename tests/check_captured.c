/* SPDX-License-Identifier: MIT
 *
 * Exact attention on captured heads against answers of an independent
 * implementation in binary64: every layer and head there is.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/attention.h"
#include "assay/format.h"
#include "check_assay.h"
#include "check_values.h"
#include "golden/safetensors.h"

/* What independent implementations of the same definition may differ by: in
 * nats, and in L2 of a head's rows relative to the right ones. */
static const struct {
    const char *name;
    double lse, o;
} modes[] = { { "f32", 2e-5, 1e-6 }, { "f64", 1e-11, 1e-11 } };

static const struct {
    const char *file, *layer;
    bool causal;
} layers[] = {
    { "lm_causal_gqa_dev_a", "layer0", true },
    { "lm_causal_gqa_dev_a", "layer2", true },
    { "lm_causal_gqa_dev_b", "layer5", true },
    { "mlm_bidir_mha_dev_a", "layer0", false },
    { "mlm_bidir_mha_dev_b", "layer3", false },
};

/* A tensor of a layer, read whole; its shape is checked. */
static void *read_tensor(const struct assay_safetensors *file,
                         const char *layer, const char *part, const char *dtype,
                         int rank, int64_t shape[])
{
    char name[64];
    const struct assay_safetensors_tensor *x;
    struct assay_error err = { 0 };
    snprintf(name, sizeof name, "%s.%s", layer, part);
    ck_assert_msg(assay_safetensors_find(file, name, &x, &err) == ASSAY_OK,
                  "%s", err.text);
    ck_assert_str_eq(x->dtype->name, dtype);
    ck_assert_int_eq(x->rank, rank);
    memcpy(shape, x->shape, (size_t)rank * sizeof *shape);
    void *data = must_alloc(x->bytes, 1);
    ck_assert_msg(assay_safetensors_read(file, x, data, x->bytes, &err) ==
                      ASSAY_OK,
                  "%s", err.text);
    return data;
}

/* [head, token, channel] in bf16 to [token, head, channel] in binary32. */
static float *read_bshd(const struct assay_safetensors *file, const char *layer,
                        const char *part, int64_t shape[3])
{
    uint16_t *words = read_tensor(file, layer, part, "BF16", 3, shape);
    const int64_t heads = shape[0], tokens = shape[1], width = shape[2];
    float *x = must_alloc((size_t)(heads * tokens * width), sizeof *x);
    for (int64_t h = 0; h < heads; h++)
        for (int64_t j = 0; j < tokens; j++)
            assay_format_decode(assay_format_get(ASSAY_BF16), (size_t)width,
                                words + (h * tokens + j) * width,
                                x + (j * heads + h) * width);
    free(words);
    return x;
}

struct layer {
    struct assay_problem p;
    struct tensors t;
    double *lse, *o; /* right answers: [head, token], [head, row, channel] */
    int32_t *rows;
    int64_t n_rows;
};

static void read_layer(const char *folder, int which, struct layer *x)
{
    char path[4096];
    struct assay_safetensors *file = NULL;
    struct assay_error err = { 0 };
    const char *layer = layers[which].layer;
    int64_t q[3], k[3], v[3], lse[2], rows[1], o[3];
    snprintf(path, sizeof path, "%s/captured/%s.safetensors", folder,
             layers[which].file);
    ck_assert_msg(assay_safetensors_open(path, &file, &err) == ASSAY_OK, "%s",
                  err.text);
    x->t.q = read_bshd(file, layer, "q", q);
    x->t.k = read_bshd(file, layer, "k", k);
    x->t.v = read_bshd(file, layer, "v", v);
    x->lse = read_tensor(file, layer, "ref_lse_f64", "F64", 2, lse);
    x->rows = read_tensor(file, layer, "ref_rows", "I32", 1, rows);
    x->o = read_tensor(file, layer, "ref_o_f64", "F64", 3, o);
    x->n_rows = rows[0];
    x->p = (struct assay_problem){
        .b = 1,
        .hq = q[0],
        .hk = k[0],
        .nq = q[1],
        .nk = k[1],
        .dk = q[2],
        .dv = v[2],
        .mask = layers[which].causal ? ASSAY_MASK_CAUSAL : ASSAY_MASK_NONE,
        .softmax_scale =
            strtod(assay_safetensors_metadata(file, "softmax_scale"), NULL),
    };
    ck_assert(x->p.softmax_scale > 0 && rows[0] > 0 && lse[1] == q[1]);
    ck_assert(o[0] == q[0] && o[1] == rows[0] && o[2] == v[2]);
    assay_safetensors_close(file);
}

static void attend(int mode, const struct layer *x, double *o, double *lse)
{
    const int64_t n = assay_problem_o_elems(&x->p);
    struct assay_error err = { 0 };
    enum assay_status st;
    if (mode == 1) {
        st = assay_attention_f64(&x->p, x->t.q, x->t.k, x->t.v, o, lse, NULL,
                                 &err);
    } else {
        float *narrow = must_alloc((size_t)n, sizeof *narrow);
        st = assay_attention_f32(&x->p, x->t.q, x->t.k, x->t.v, narrow, lse,
                                 NULL, &err);
        for (int64_t i = 0; i < n; i++)
            o[i] = narrow[i];
        free(narrow);
    }
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
}

static double head_lse(const struct layer *x, int64_t h, const double *lse)
{
    double worst = 0;
    for (int64_t i = 0; i < x->p.nq; i++) {
        double off = fabs(lse[h * x->p.nq + i] - x->lse[h * x->p.nq + i]);
        if (isnan(off))
            return NAN;
        worst = off > worst ? off : worst;
    }
    return worst;
}

static double head_o(const struct layer *x, int64_t h, const double *o)
{
    const struct assay_problem *p = &x->p;
    double d2 = 0, r2 = 0;
    for (int64_t n = 0; n < x->n_rows; n++)
        for (int64_t c = 0; c < p->dv; c++) {
            double right = x->o[(h * x->n_rows + n) * p->dv + c];
            double got =
                o[assay_row_offset(p->nq, p->hq, p->dv, 0, x->rows[n], h) + c];
            d2 += (got - right) * (got - right);
            r2 += right * right;
        }
    return sqrt(d2 / r2);
}

static void check_layer(const struct layer *x, int mode, const char *name)
{
    double *o = must_alloc((size_t)assay_problem_o_elems(&x->p), sizeof *o);
    double *lse = must_alloc((size_t)assay_problem_rows(&x->p), sizeof *lse);
    double worst_lse = 0, worst_o = 0;
    attend(mode, x, o, lse);
    for (int64_t h = 0; h < x->p.hq; h++) {
        double l = head_lse(x, h, lse), d = head_o(x, h, o);
        ck_assert_msg(l <= modes[mode].lse, "%s, head %d: LSE is off by %g",
                      name, (int)h, l);
        ck_assert_msg(d <= modes[mode].o, "%s, head %d: O is off by %g", name,
                      (int)h, d);
        worst_lse = l > worst_lse ? l : worst_lse;
        worst_o = d > worst_o ? d : worst_o;
    }
    printf("# %s, %s, %" PRId64 " heads: LSE within %.3g nats, O within %.3g\n",
           name, modes[mode].name, x->p.hq, worst_lse, worst_o);
    free(o);
    free(lse);
}

START_TEST(captured_layer)
{
    const char *folder = assay_shared_dir();
    char name[64];
    struct layer x;
    snprintf(name, sizeof name, "%s %s", layers[_i / 2].file,
             layers[_i / 2].layer);
    if (!folder) {
        printf("# %s skipped: no shared folder with captured/\n", name);
        return;
    }
    read_layer(folder, _i / 2, &x);
    check_layer(&x, _i % 2, name);
    tensors_free(&x.t);
    free(x.lse), free(x.o), free(x.rows);
}
END_TEST

int main(void)
{
    if (!assay_shared_dir()) {
        puts("1..0 # SKIP no folder of shared captured heads");
        return 0;
    }
    Suite *suite = suite_create("captured");
    TCase *c = tcase_create("captured");
    tcase_add_loop_test(c, captured_layer, 0,
                        2 * (int)(sizeof layers / sizeof *layers));
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
