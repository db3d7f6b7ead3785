/* SPDX-License-Identifier: MIT
 *
 * ref/audit.c: each figure again by plain loops on random problems, clipped
 * values that are counted by hand, stages that cost nothing where they do
 * nothing.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "assay/audit.h"
#include "assay/format.h"
#include "check_assay.h"
#include "check_values.h"

static const struct assay_problem shapes[] = {
    { 1, 2, 1, 37, 70, 64, 64, ASSAY_MASK_NONE, 0.125 },
    { 2, 4, 2, 33, 133, 128, 32, ASSAY_MASK_CAUSAL, 0.09 },
    { 1, 1, 1, 5, 3, 32, 32, ASSAY_MASK_NONE, 0.2 },
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

struct audited {
    const struct assay_recipe *recipe;
    const struct assay_problem *p;
    struct tensors in;
    struct assay_payloads payloads;
    float *exact_o, *o;
    double *exact_lse, *lse;
    struct assay_audit audit;
};

static struct assay_answered exact_of(const struct audited *x)
{
    return (struct assay_answered){ x->exact_o, x->exact_lse };
}

/* Inputs are bf16 words; K has a common direction where the seed is odd. */
static void make_inputs(struct audited *x, uint64_t seed, float size)
{
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    const struct assay_problem *p = x->p;
    x->in = tensors_new(p, seed);
    for (int64_t i = 0; i < assay_problem_k_elems(p) && seed % 2; i++)
        x->in.k[i] += 3 * values_normal(seed, (uint64_t)(i % p->dk));
    float *all[] = { x->in.q, x->in.k, x->in.v };
    const int64_t n[] = { assay_problem_q_elems(p), assay_problem_k_elems(p),
                          assay_problem_v_elems(p) };
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < n[a]; i++) {
            float v = all[a][i] * size;
            assay_format_round(bf16, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 1, &v,
                               &all[a][i]);
        }
}

static void audit(struct audited *x)
{
    const struct assay_problem *p = x->p;
    const size_t n = (size_t)assay_problem_o_elems(p),
                 rows = (size_t)assay_problem_rows(p);
    struct assay_error err = { 0 };
    x->exact_o = must_alloc(n, sizeof *x->exact_o);
    x->o = must_alloc(n, sizeof *x->o);
    x->exact_lse = must_alloc(rows, sizeof *x->exact_lse);
    x->lse = must_alloc(rows, sizeof *x->lse);
    ck_assert_msg(
        assay_attention_f32(p, x->in.q, x->in.k, x->in.v, x->exact_o,
                            x->exact_lse, NULL, &err) == ASSAY_OK &&
            assay_recipe_quantize(x->recipe, p, NULL, NULL, x->in.q, x->in.k,
                                  x->in.v, &x->payloads, &err) == ASSAY_OK &&
            assay_recipe_emulate(x->recipe, p, &x->payloads, x->o, x->lse, NULL,
                                 NULL, &err) == ASSAY_OK &&
            assay_audit_recipe(x->recipe, p, NULL, x->in.q, x->in.k, x->in.v,
                               &x->payloads, exact_of(x),
                               (struct assay_answered){ x->o, x->lse },
                               &x->audit, &err) == ASSAY_OK,
        "%s", err.text);
}

static struct audited audited_new(int recipe, int shape, uint64_t seed)
{
    struct audited x = { .recipe =
                             assay_recipe_get((enum assay_recipe_id)recipe),
                         .p = &shapes[shape] };
    make_inputs(&x, seed, 1);
    audit(&x);
    return x;
}

static void audited_free(struct audited *x)
{
    tensors_free(&x->in);
    assay_payloads_free(&x->payloads);
    free(x->exact_o);
    free(x->exact_lse);
    free(x->o);
    free(x->lse);
}

static void near(double is, double want, double part, const char *what,
                 const struct audited *x)
{
    ck_assert_msg(
        fabs(is - want) <= part * fabs(want) || (isnan(is) && isnan(want)),
        "%s of %s: %.17g, not %.17g", what, x->recipe->name, is, want);
}

/* ---- distances ---- */

START_TEST(distances)
{
    struct audited x =
        audited_new(_i % ASSAY_RECIPES, _i / ASSAY_RECIPES, (uint64_t)_i);
    const struct assay_distance *d = &x.audit.distance;
    const int64_t n = assay_problem_o_elems(x.p),
                  rows = assay_problem_rows(x.p);
    double error = 0, size = 0, own = 0, dot = 0, mae = 0, top = 0, worst = 1;
    double lse_top = 0, lse_sum = 0;
    for (int64_t r = 0; r < n / x.p->dv; r++) {
        double rdot = 0, ra = 0, rb = 0;
        for (int64_t i = r * x.p->dv; i < (r + 1) * x.p->dv; i++) {
            const double a = x.o[i], b = x.exact_o[i];
            error += (a - b) * (a - b);
            mae += fabs(a - b);
            top = fmax(top, fabs(a - b));
            rdot += a * b;
            ra += a * a;
            rb += b * b;
        }
        worst = fmin(worst, rdot / sqrt(ra * rb));
        dot += rdot;
        own += ra;
        size += rb;
    }
    for (int64_t r = 0; r < rows; r++) {
        lse_top = fmax(lse_top, fabs(x.lse[r] - x.exact_lse[r]));
        lse_sum += fabs(x.lse[r] - x.exact_lse[r]);
    }
    near(d->rel_l2, sqrt(error / size), 1e-9, "relative L2", &x);
    near(d->mae, mae / (double)n, 1e-9, "MAE", &x);
    near(d->max_error, top, 0, "max error", &x);
    near(d->cosine, dot / sqrt(own * size), 1e-12, "cosine", &x);
    near(d->worst_row_cosine, worst, 1e-12, "worst row", &x);
    near(d->lse_max, lse_top, 0, "LSE max", &x);
    near(d->lse_mean, lse_sum / (double)rows, 1e-9, "LSE mean", &x);
    audited_free(&x);
}
END_TEST

/* ---- operands ---- */

/* Scale of element (bi, si, hi, c), by the shapes of scale.def. */
static double scale_at(const struct assay_payload *x, int64_t bi, int64_t si,
                       int64_t hi, int64_t c)
{
    const struct assay_tensor *t = &x->tensor;
    const int64_t row = (bi * t->s + si) * t->h + hi;
    int64_t block;
    switch (x->scale) {
    case ASSAY_SCALE_NONE: return 1;
    case ASSAY_SCALE_TENSOR: return x->scales[0];
    case ASSAY_SCALE_CHANNEL: return x->scales[(bi * t->h + hi) * t->d + c];
    case ASSAY_SCALE_BLOCK:
        return ldexp(1, x->e8m0[row * ((t->d + 31) / 32) + c / 32] - 127);
    case ASSAY_SCALE_BLOCK_TOKENS:
        block = 2 * (si / 64) + assay_token_slot(t->order, (int)(si % 64)) / 32;
        return ldexp(
            1, x->e8m0[((bi * t->h + hi) * 4 * ((t->s + 127) / 128) + block) *
                           t->d +
                       c] -
                   127);
    default: ck_abort_msg("a scale of kind %d", (int)x->scale);
    }
}

/* Past the largest by more than half of its step: 464, 7.75, 7 and so on. */
static double clipped_past(const struct assay_format *f)
{
    switch ((int)f->id) {
    case ASSAY_E4M3FN: return 464;
    case ASSAY_E4M3FNUZ: return 248;
    case ASSAY_E2M3: return 7.75;
    case ASSAY_E2M1: return 7;
    case ASSAY_INT8: return 127.5;
    default: return INFINITY;
    }
}

static double plain_clipped(const struct assay_payload *x, const float *seen)
{
    const struct assay_tensor *t = &x->tensor;
    const double past = clipped_past(x->format);
    int64_t at = 0, n = 0;
    for (int64_t b = 0; b < t->b; b++)
        for (int64_t s = 0; s < t->s; s++)
            for (int64_t h = 0; h < t->h; h++)
                for (int64_t c = 0; c < t->d; c++)
                    n += fabs((double)seen[at++]) / scale_at(x, b, s, h, c) >
                         past;
    return (double)n / (double)at;
}

static int by_value(const void *a, const void *b)
{
    return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* Bytes that hold a token, sorted. */
static void plain_bytes(const struct assay_payload *x,
                        const struct assay_e8m0 *is, const char *name)
{
    const struct assay_tensor *t = &x->tensor;
    uint8_t *bytes = must_alloc((size_t)x->n_scales + 1, 1);
    int64_t n = 0, blocks = 4 * ((t->s + 127) / 128);
    for (int64_t i = 0; x->e8m0 && i < x->n_scales; i++) {
        bool any = x->scale == ASSAY_SCALE_BLOCK;
        const int64_t block = i / t->d % blocks;
        for (int f = 0; f < 32 && !any; f++)
            any = block / 2 * 64 + assay_token(t->order, (int)(block % 2), f) <
                  t->s;
        if (any)
            bytes[n++] = x->e8m0[i];
    }
    qsort(bytes, (size_t)n, 1, by_value);
    int distinct = n > 0;
    for (int64_t i = 1; i < n; i++)
        distinct += bytes[i] != bytes[i - 1];
    ck_assert_msg(is->total == n && is->distinct == distinct,
                  "%s: %lld bytes, %d distinct; not %lld, %d", name,
                  (long long)is->total, is->distinct, (long long)n, distinct);
    if (n > 0)
        ck_assert_msg(is->min == bytes[0] && is->max == bytes[n - 1] &&
                          is->median == bytes[(n - 1) / 2],
                      "%s: %d %d %d, not %d %d %d", name, is->min, is->median,
                      is->max, bytes[0], bytes[(n - 1) / 2], bytes[n - 1]);
    free(bytes);
}

static double plain_round_trip(const struct audited *x,
                               const struct assay_payload *payload,
                               enum assay_quantizer_id how, float mult,
                               const float *mean, const float *input)
{
    float *back = must_alloc((size_t)payload->count, sizeof *back);
    struct assay_error err = { 0 };
    double error = 0, size = 0;
    ck_assert_msg(assay_payload_inputs(payload, assay_quantizer_get(how), mult,
                                       mean, back, &err) == ASSAY_OK,
                  "%s: %s", x->recipe->name, err.text);
    for (int64_t i = 0; i < payload->count; i++) {
        error += pow((double)back[i] - input[i], 2);
        const struct assay_tensor *t = &payload->tensor;
        const double off =
            mean ? mean[(i / t->d / t->h / t->s * t->h + i / t->d % t->h) *
                            t->d +
                        i % t->d]
                 : 0;
        size += pow(input[i] - off, 2);
    }
    free(back);
    return sqrt(error / size);
}

static void check_operand(const struct audited *x, const char *name,
                          const struct assay_payload *payload,
                          enum assay_quantizer_id id, float mult,
                          const float *mean, const float *input,
                          const struct assay_audit_operand *is)
{
    const struct assay_quantizer *how = assay_quantizer_get(id);
    const struct assay_tensor *t = &payload->tensor;
    float *seen = must_alloc((size_t)payload->count, sizeof *seen);
    const struct assay_operand from = { t->b,  t->s, t->h, t->d,
                                        input, mean, mult };
    struct assay_error err = { 0 };
    if (how->prepares)
        ck_assert(assay_operand_prepare(assay_rotation_order_get(how->prepare),
                                        assay_format_get(ASSAY_BF16), &from,
                                        seen, &err) == ASSAY_OK);
    near(is->clipped, plain_clipped(payload, how->prepares ? seen : input),
         1e-12, name, x);
    near(is->round_trip, plain_round_trip(x, payload, id, mult, mean, input),
         1e-9, name, x);
    plain_bytes(payload, &is->e8m0, name);
    free(seen);
}

START_TEST(operands)
{
    struct audited x =
        audited_new(_i % ASSAY_RECIPES, _i / ASSAY_RECIPES, (uint64_t)_i);
    const struct assay_recipe *r = x.recipe;
    const float mult = r->scale_applied == ASSAY_APPLIED_Q
                           ? assay_fold_multiplier(x.p->softmax_scale)
                           : 1;
    check_operand(&x, "q", &x.payloads.q, r->q, mult, NULL, x.in.q, &x.audit.q);
    check_operand(&x, "k", &x.payloads.k, r->k, 1, x.payloads.k_mean, x.in.k,
                  &x.audit.k);
    check_operand(&x, "v", &x.payloads.v, r->v, 1, NULL, x.in.v, &x.audit.v);
    if (x.audit.v.round_trip == 0)
        ck_assert(isnan(x.audit.v_amplification));
    else
        near(x.audit.v_amplification,
             x.audit.distance.rel_l2 / x.audit.v.round_trip, 1e-12,
             "V amplification", &x);
    audited_free(&x);
}
END_TEST

/* Of shapes[1], whose V has 133 tokens and so 8 blocks a channel. */
static const struct {
    enum assay_recipe_id recipe;
    double q, k, v;
} widths[] = {
    { ASSAY_RECIPE_BF16, 16, 16, 16 },
    { ASSAY_RECIPE_I8FP8, 8 + 32.0 / 33792, 8 + 32.0 / 68096,
      8 + 32.0 / 17024 },
    { ASSAY_RECIPE_MXFP8, 8.25, 8.25, 8 + 32.0 / 17024 },
    { ASSAY_RECIPE_F6F8, 6.25, 6.25, 8 + 32.0 / 133 },
    { ASSAY_RECIPE_MXFP6, 6.25, 6.25, 6 + 64.0 / 133 },
    { ASSAY_RECIPE_MXFP4, 4.25, 4.25, 4 + 64.0 / 133 },
};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

START_TEST(bits)
{
    struct audited x = audited_new((int)widths[_i].recipe, 1, 1);
    near(x.audit.q.bits, widths[_i].q, 1e-12, "bits of Q", &x);
    near(x.audit.k.bits, widths[_i].k, 1e-12, "bits of K", &x);
    near(x.audit.v.bits, widths[_i].v, 1e-12, "bits of V", &x);
    audited_free(&x);
}
END_TEST

/* A plain cast to e4m3fn: 448 is the largest, 464 the last that rounds to it.
 * 1/160 of Q is one element. */
START_TEST(clipped_by_hand)
{
    static const float v[] = { 448, 464, 466, -466, 1e6F, -448, INFINITY, NAN };
    struct audited x = { .recipe = assay_recipe_get(ASSAY_RECIPE_MLA_FP8),
                         .p = &shapes[2] };
    make_inputs(&x, 3, 1);
    x.in.q[1] = 466;
    for (int i = 0; i < 8; i++)
        x.in.v[i] = v[i];
    audit(&x);
    ck_assert_double_eq(x.audit.q.clipped, 1.0 / 160);
    ck_assert_double_eq(x.audit.k.clipped, 0);
    ck_assert_double_eq(x.audit.v.clipped, 4.0 / 96); /* infinity saturates */
    ck_assert(x.audit.q.e8m0.total == 0 && x.audit.q.e8m0.distinct == 0);
    audited_free(&x);
}
END_TEST

/* ---- stages ---- */

static struct assay_stage_costs costs_of(const struct audited *x)
{
    struct assay_stage_costs out;
    struct assay_error err = { 0 };
    ck_assert_msg(assay_audit_stages(x->recipe, x->p, x->in.q, x->in.k, x->in.v,
                                     &x->payloads, exact_of(x), NULL, &out,
                                     &err) == ASSAY_OK,
                  "%s", err.text);
    return out;
}

/* Binary32 sums. */
static const double SUMS = 2e-6;

static void costs_nothing(const struct audited *x, struct assay_cost c,
                          const char *stage)
{
    ck_assert_msg(c.rel_l2 <= SUMS && c.lse_max <= 16 * SUMS,
                  "%s of %s: %g, %g nats", stage, x->recipe->name, c.rel_l2,
                  c.lse_max);
}

/* bf16 words in bf16 lose nothing, so only P and the output cost. */
START_TEST(stages_of_bf16)
{
    struct audited x = audited_new(ASSAY_RECIPE_BF16, _i, 8);
    const struct assay_stage_costs c = costs_of(&x);
    costs_nothing(&x, c.only[ASSAY_STAGE_Q], "q");
    costs_nothing(&x, c.only[ASSAY_STAGE_K], "k");
    costs_nothing(&x, c.only[ASSAY_STAGE_V], "v");
    costs_nothing(&x, c.only[ASSAY_STAGE_SOFTMAX], "softmax");
    ck_assert_double_gt(c.only[ASSAY_STAGE_P].rel_l2, 1e-5);
    ck_assert_double_gt(c.only[ASSAY_STAGE_OUT].rel_l2, 1e-4);
    ck_assert(c.only[ASSAY_STAGE_OUT].lse_max <= 16 * SUMS);
    /* without the output's rounding it is the emulation */
    near(c.all_but[ASSAY_STAGE_OUT].rel_l2, x.audit.distance.rel_l2, 1e-2,
         "all but out", &x);
    near(c.all_but[ASSAY_STAGE_OUT].lse_max, x.audit.distance.lse_max, 1e-2,
         "all but out, LSE", &x);
    audited_free(&x);
}
END_TEST

/* V never moves LSE, and all stages but the output are the emulation. */
START_TEST(stages_of_all)
{
    struct audited x = audited_new(_i % ASSAY_RECIPES, _i / ASSAY_RECIPES, 5);
    const struct assay_stage_costs c = costs_of(&x);
    const struct assay_cost v = c.only[ASSAY_STAGE_V],
                            out = c.all_but[ASSAY_STAGE_OUT];
    ck_assert_msg(v.lse_max <= 16 * SUMS, "%s: V moves LSE by %g",
                  x.recipe->name, v.lse_max);
    ck_assert_msg(v.rel_l2 >= x.audit.v.round_trip / 100,
                  "%s: V costs %g of a round trip of %g", x.recipe->name,
                  v.rel_l2, x.audit.v.round_trip);
    ck_assert_msg(fabs(out.rel_l2 - x.audit.distance.rel_l2) <=
                      0.02 * x.audit.distance.rel_l2 + SUMS,
                  "%s: %g all but the output, %g emulated", x.recipe->name,
                  out.rel_l2, x.audit.distance.rel_l2);
    audited_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("audit");
    TCase *c = tcase_create("figures");
    tcase_add_loop_test(c, distances, 0, N_SHAPES * ASSAY_RECIPES);
    tcase_add_loop_test(c, operands, 0, N_SHAPES * ASSAY_RECIPES);
    tcase_add_loop_test(c, bits, 0, N_WIDTHS);
    tcase_add_test(c, clipped_by_hand);
    tcase_add_loop_test(c, stages_of_bf16, 0, N_SHAPES);
    tcase_add_loop_test(c, stages_of_all, 0, N_SHAPES * ASSAY_RECIPES);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
