/* SPDX-License-Identifier: MIT
 *
 * ref/jitter.c: what it says other legal kernels may differ by, held against
 * key tiles and sums that it has not seen, and against wrong kernels.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/merge.h"
#include "check_assay.h"
#include "check_values.h"

#include "golden/heads.h"
#include "plain_recipe.h"
#include "recipe_run.h"

static const double U32 = 0x1p-24;

/* What validate/gate.def allows of the jitter of gain. */
static const double JITTERS_GAIN = ASSAY_JITTERS_O;

static const struct assay_problem causal = { 1,   2,  1,  150,
                                             333, 32, 16, ASSAY_MASK_CAUSAL,
                                             0.2 };

START_TEST(jitter_changes_no_answer)
{
    const struct assay_problem *p = &causal;
    const struct assay_recipe *r = recipe_numbered(_i);
    struct assay_payloads x = random_payloads(r, p, 112);
    const size_t n = (size_t)assay_problem_rows(p);
    struct emulated plain = emulate(r, p, &x, 0);
    struct assay_jitter first = jitter_new(p);
    struct emulated e = emulate_jitter(r, p, &x, 1, &first);
    for (int threads = 1; threads <= 3; threads++) {
        struct assay_jitter j = jitter_new(p);
        struct emulated a = emulate_jitter(r, p, &x, threads, &j);
        ck_assert_mem_eq(a.o, plain.o,
                         (size_t)assay_problem_o_elems(p) * sizeof *a.o);
        ck_assert_mem_eq(a.lse, plain.lse, n * sizeof *a.lse);
        ck_assert_mem_eq(j.o, first.o, n * sizeof *j.o);
        ck_assert_mem_eq(j.lse, first.lse, n * sizeof *j.lse);
        ck_assert_mem_eq(j.gain, first.gain, 2 * sizeof *j.gain);
        emulated_free(&a);
        jitter_free(&j);
    }
    emulated_free(&plain);
    emulated_free(&e);
    jitter_free(&first);
    assay_payloads_free(&x);
}
END_TEST

/* Key 0 holds the maximum, so that no tile matters, and P of all others lies
 * just above a rounding boundary: a scale a few units of 2^-24 larger, well
 * within the noise of binary32, takes all of them down a step. The jitter must
 * know, though no variant of it goes there. */
START_TEST(boundaries_are_known)
{
    enum { NK = 200, DV = 4 };
    static const enum assay_recipe_id plain[] = { ASSAY_RECIPE_BF16,
                                                  ASSAY_RECIPE_E4M3 };
    const struct assay_recipe *r = assay_recipe_get(plain[_i]);
    const double half_step =
        assay_format_epsilon(assay_format_get(r->p_format)) / 2;
    const double boundary = 0.5 * (1 + half_step);
    /* 448 is its own code, with scale 1, in both recipes */
    struct assay_problem p = { 1,
                               1,
                               1,
                               1,
                               NK,
                               1,
                               DV,
                               ASSAY_MASK_NONE,
                               -log(boundary * (1 + 4 * U32)) / 448 / 448 };
    float q[1] = { 448 }, k[NK], v[NK * DV];
    values_fill(120, NK * DV, v);
    for (int j = 0; j < NK; j++)
        k[j] = j == 0 ? 0 : -448;
    struct assay_payloads x;
    ck_assert_int_eq(
        assay_recipe_quantize(r, &p, NULL, NULL, q, k, v, &x, NULL), ASSAY_OK);
    struct assay_jitter j = jitter_new(&p);
    struct emulated e = emulate_jitter(r, &p, &x, 1, &j);
    p.softmax_scale *= 1 + 16 * U32;
    struct emulated a = emulate(r, &p, &x, 0);
    double o = row_distance(&p, 0, a.o, e.o), lse = fabs(a.lse[0] - e.lse[0]);
    /* all NK - 1 went down one step, half_step each; 0.54 is about P */
    ck_assert_double_gt(lse, half_step / 0.54 * 0.9);
    ck_assert_double_le(lse, ASSAY_JITTERS_LSE * (double)j.lse[0]);
    ck_assert_double_gt(o, 0);
    ck_assert_double_le(o, ASSAY_JITTERS_O * (double)j.o[0]);
    emulated_free(&e);
    emulated_free(&a);
    jitter_free(&j);
    assay_payloads_free(&x);
}
END_TEST

/* Row n by a kernel whose scores of bits are an ulp off here and there. */
static void dithered_row(const struct plain_recipe *slow, int64_t n,
                         struct emulated *to)
{
    const struct assay_problem *p = slow->p;
    struct plain_row row = { .o = must_alloc((size_t)p->dv, sizeof *row.o) };
    plain_recipe_row(slow, n, &row);
    float *o = to->o + assay_row_offset(p->nq, p->hq, p->dv, n / p->nq / p->hq,
                                        n % p->nq, n / p->nq % p->hq);
    for (int64_t d = 0; d < p->dv; d++)
        o[d] = (float)row.o[d];
    to->lse[n] = row.lse;
    free(row.o);
}

/* The same where scores become bits of binary32, by an accumulator that holds
 * the bias: an ulp there is more than any noise of the product. Late keys lie
 * on a boundary of e4m3, or one of them has its row rebased. */
START_TEST(accumulators_are_known)
{
    enum { NQ = 32, NK = 256, DK = 128, DV = 4 };
    static const double bias = 1064866816, tie = 0x3f080000,
                        octaves = 8.9 * 0x1p23;
    const bool rebased = _i;
    const struct assay_recipe *r = assay_recipe_in_form(
        assay_recipe_get(ASSAY_RECIPE_BF16), ASSAY_SOFTMAX_GFX950_U32);
    const struct assay_problem p = {
        1,  1,  1,
        NQ, NK, DK,
        DV, 0,  (rebased ? octaves : bias - tie) * 0x1p-23 * M_LN2
    };
    float q[NQ * DK] = { 0 }, k[NK * DK] = { 0 }, v[NK * DV];
    values_fill(122, NK * DV, v);
    for (int i = 0; i < NQ; i++)
        q[i * DK] = 1;
    for (int j = 1; j < NK; j++)
        k[j * DK] = j < 128 && !rebased ? -64 : -1;
    if (rebased)
        k[200 * DK] = 1;
    struct assay_payloads x = payloads_of(r, &p, q, k, v);
    struct assay_jitter j = jitter_new(&p);
    struct emulated e = emulate_jitter(r, &p, &x, 1, &j),
                    a = emulate(r, &p, &x, 0);
    struct plain_recipe slow = plain_recipe_new(r, &p, &x, 128);
    slow.ulps = 123;
    double o = 0, lse = 0;
    for (int64_t n = 0; n < NQ; n++) {
        dithered_row(&slow, n, &a);
        o = fmax(o, part_of(row_distance(&p, n, a.o, e.o), j.o[n]));
        lse = fmax(lse, part_of(fabs(a.lse[n] - e.lse[n]), j.lse[n]));
    }
    printf("# accumulators: %.2f jitters of O, %.2f of LSE\n", o, lse);
    ck_assert(lse > 0 && lse <= ASSAY_JITTERS_LSE);
    ck_assert((o > 0 || rebased) && o <= ASSAY_JITTERS_O);
    plain_recipe_free(&slow);
    emulated_free(&e);
    emulated_free(&a);
    jitter_free(&j);
    assay_payloads_free(&x);
}
END_TEST

/* ---- captured heads ---- */

struct head {
    struct assay_case c;
    const struct assay_problem *p;
    const struct assay_recipe *r;
    int64_t rows;
    struct assay_payloads x;
    struct emulated e;
    struct assay_jitter j;
};

static void head_new(const struct assay_case *c, const struct assay_recipe *r,
                     struct head *h)
{
    struct assay_inputs in;
    ck_assert_int_eq(assay_case_values(c, &in, NULL), ASSAY_OK);
    *h = (struct head){ .c = *c,
                        .p = &c->problem,
                        .r = r,
                        .rows = assay_problem_rows(&c->problem),
                        .x = payloads_of(r, &c->problem, in.q, in.k, in.v),
                        .j = jitter_new(&c->problem) };
    h->e = emulate_jitter(r, h->p, &h->x, 1, &h->j);
    for (int64_t n = 0; n < h->rows; n++)
        ck_assert_msg(h->j.o[n] > 0 && h->j.lse[n] > 0 && isfinite(h->j.o[n]) &&
                          isfinite(h->j.lse[n]),
                      "row %d: jitter of O %g, of LSE %g", (int)n,
                      (double)h->j.o[n], (double)h->j.lse[n]);
    assay_inputs_free(&in);
}

static void head_free(struct head *h)
{
    emulated_free(&h->e);
    jitter_free(&h->j);
    assay_payloads_free(&h->x);
}

/* What some kernels did, in jitters. */
struct figures {
    double o, lse, gain;          /* the worst */
    double *far_o, *far_lse;      /* per row, the largest distance */
    int64_t beyond_o, beyond_lse; /* rows that the gates reject */
};

static struct figures figures_new(const struct head *h)
{
    struct figures f = { .far_o = must_alloc((size_t)h->rows, sizeof(double)),
                         .far_lse =
                             must_alloc((size_t)h->rows, sizeof(double)) };
    memset(f.far_o, 0, (size_t)h->rows * sizeof(double));
    memset(f.far_lse, 0, (size_t)h->rows * sizeof(double));
    return f;
}

static void figures_free(struct figures *f)
{
    free(f->far_o);
    free(f->far_lse);
}

static double head_norm(const struct assay_problem *p, int64_t bh,
                        const float *o)
{
    double sum = 0;
    for (int64_t i = 0; i < p->nq; i++) {
        double x =
            norm_of(p->dv, o + assay_row_offset(p->nq, p->hq, p->dv, bh / p->hq,
                                                i, bh % p->hq));
        sum += x * x;
    }
    return sqrt(sum);
}

/* Takes in one kernel's answer, and frees it. */
static void absorb(const struct head *h, struct emulated a, struct figures *f)
{
    for (int64_t n = 0; n < h->rows; n++) {
        double o = row_distance(h->p, n, a.o, h->e.o);
        double lse = a.lse[n] == h->e.lse[n] ? 0 : fabs(a.lse[n] - h->e.lse[n]);
        double part_o = part_of(o, h->j.o[n]);
        double part_lse = part_of(lse, h->j.lse[n]);
        f->far_o[n] = fmax(f->far_o[n], o);
        f->far_lse[n] = fmax(f->far_lse[n], lse);
        f->o = fmax(f->o, part_o);
        f->lse = fmax(f->lse, part_lse);
        f->beyond_o += !(part_o <= ASSAY_JITTERS_O);
        f->beyond_lse += !(part_lse <= ASSAY_JITTERS_LSE);
    }
    for (int64_t bh = 0; bh < h->p->b * h->p->hq; bh++)
        f->gain = fmax(f->gain, part_of(fabs(head_norm(h->p, bh, a.o) /
                                                 head_norm(h->p, bh, h->e.o) -
                                             1),
                                        h->j.gain[bh]));
    emulated_free(&a);
}

static void expect_honest(const struct head *h, const char *what,
                          const struct figures *f)
{
    printf("# %s %s %s: %s reach %.2f jitters of O, %.2f of LSE, %.2f of "
           "gain\n",
           h->c.name, h->r->name, form_name(h->r), what, f->o, f->lse, f->gain);
    fflush(stdout);
    ck_assert_msg(f->o <= ASSAY_JITTERS_O, "O: %g jitters", f->o);
    ck_assert_msg(f->lse <= ASSAY_JITTERS_LSE, "LSE: %g jitters", f->lse);
    ck_assert_msg(f->gain <= JITTERS_GAIN, "gain: %g jitters", f->gain);
}

/* The emulated tile, and a softmax scale one step of binary32 to either side,
 * as a kernel has that multiplies its scales in another order: only P on a
 * rounding boundary goes another way. */
static void check_scales(const struct head *h)
{
    struct figures f = figures_new(h);
    for (int step = -2; step <= 2; step++) {
        struct assay_problem p = *h->p;
        p.softmax_scale *= 1 + step * U32;
        absorb(h, emulate(h->r, &p, &h->x, 0), &f);
    }
    expect_honest(h, "other scales", &f);
    figures_free(&f);
}

/* Sums in binary64, or, where bits are made of scores, scores an ulp off after
 * each matrix instruction. Some rows: loops are slow. */
static void check_sums(const struct head *h, int64_t tile)
{
    struct plain_recipe slow = plain_recipe_new(h->r, h->p, &h->x, tile);
    struct figures f = figures_new(h);
    struct emulated a = emulate(h->r, h->p, &h->x, 0);
    slow.ulps = 121;
    for (int64_t n = 0; n < h->rows; n += 3) {
        dithered_row(&slow, n, &a);
        a.lse[n] += h->x.lse_shift ? h->x.lse_shift[n] : 0;
    }
    plain_recipe_free(&slow);
    absorb(h, a, &f);
    expect_honest(h, "other sums", &f);
    figures_free(&f);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int64_t n, double *x)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 2];
}

static double median_float(int64_t n, const float *x)
{
    double *y = must_alloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i];
    double m = median(n, y);
    free(y);
    return m;
}

/* Median jitter over median distance, of the rows that were moved by more than
 * what binary32 sums do: where the largest score comes first, tiles move
 * nothing. */
static double width(int64_t n, const float *jitter, const double *far)
{
    double *j = must_alloc((size_t)n, sizeof *j),
           *d = must_alloc((size_t)n, sizeof *d);
    int64_t moved = 0;
    for (int64_t i = 0; i < n; i++)
        if (far[i] > 1e-5) {
            j[moved] = jitter[i];
            d[moved++] = far[i];
        }
    const double of = moved < n / 8 ? NAN : median(moved, j) / median(moved, d);
    free(j);
    free(d);
    return of;
}

/* Key tiles that the jitter's own variants do not have. */
static const int64_t held_out[] = { 33,  40,  48,  56,  72,  88,
                                    112, 144, 176, 192, 208, 240 };
enum { N_HELD_OUT = sizeof held_out / sizeof *held_out };

static void check_tiles(const struct head *h)
{
    struct figures f = figures_new(h);
    for (int t = 0; t < N_HELD_OUT; t++)
        if (!h->r->p_blocks || held_out[t] % 64 == 0)
            absorb(h, emulate(h->r, h->p, &h->x, held_out[t]), &f);
    expect_honest(h, "held-out tiles", &f);
    double over_o = width(h->rows, h->j.o, f.far_o);
    double over_lse =
        median_float(h->rows, h->j.lse) / median(h->rows, f.far_lse);
    printf("# median jitter is %.1f (O) and %.1f (LSE) median distances\n",
           over_o, over_lse);
    /* nor is it so wide that nothing would be caught; P's blocks leave few
     * tiles to be far off, and sums of P before it is rounded hardly move */
    const double wide = h->r->p_blocks ? 60 : 30;
    ck_assert_msg(isnan(over_o) || over_o <= wide,
                  "O: median jitter is %g distances", over_o);
    ck_assert_msg(over_lse <= wide ||
                      assay_softmax_get(h->r->softmax)->whole_sum,
                  "LSE: median jitter is %g distances", over_lse);
    figures_free(&f);
}

/* ---- wrong kernels ---- */

/* A worst row is so many times what the gates allow. */
enum { FAR = 2 };

static void expect_wrong(const struct head *h, const char *what,
                         struct emulated a)
{
    struct figures f = figures_new(h);
    absorb(h, a, &f);
    printf("# %s %s %s: %s reaches %.0f jitters of O, %.0f of LSE, %.0f of "
           "gain; %.0f and %.0f %% of rows beyond\n",
           h->c.name, h->r->name, form_name(h->r), what, f.o, f.lse, f.gain,
           100. * (double)f.beyond_o / (double)h->rows,
           100. * (double)f.beyond_lse / (double)h->rows);
    fflush(stdout);
    ck_assert_int_gt(f.beyond_o + f.beyond_lse, 0);
    ck_assert(f.o >= FAR * ASSAY_JITTERS_O || f.lse >= FAR * ASSAY_JITTERS_LSE);
    figures_free(&f);
}

/* What the gates must see in a head, though not in each of its rows: where a
 * row is flat, or one key has it all, they are small. */
static void check_wrong(const struct head *h)
{
    const bool fixed =
        assay_softmax_get(h->r->softmax)->p_format != ASSAY_FORMATS;
    struct assay_recipe r = *h->r;
    struct assay_problem p = *h->p;
    r.p_blocks = false;
    r.p_format = ASSAY_F16;
    if (h->r->p_format != ASSAY_F16)
        expect_wrong(h, "P in f16", emulate(&r, &p, &h->x, 0));
    r = *h->r;
    r.softmax = h->r->softmax == ASSAY_SOFTMAX_WHOLE_SUM
                    ? ASSAY_SOFTMAX_NOMINAL
                    : ASSAY_SOFTMAX_WHOLE_SUM;
    expect_wrong(h, "another denominator", emulate(&r, &p, &h->x, 0));
    r.softmax = h->r->softmax == ASSAY_SOFTMAX_GFX950_U32
                    ? ASSAY_SOFTMAX_GFX950_BYTE
                    : ASSAY_SOFTMAX_GFX950_U32;
    if (fixed)
        expect_wrong(h, "another form", emulate(&r, &p, &h->x, 0));
    r = *h->r;
    r.order = ASSAY_TOKENS_CANONICAL;
    if (r.p_blocks)
        expect_wrong(h, "another order of blocks", emulate(&r, &p, &h->x, 0));
    /* u32 may round that away, when it quantizes Q once more */
    p.softmax_scale *= 1.005;
    if (r.scale_applied == ASSAY_APPLIED_KERNEL &&
        r.softmax != ASSAY_SOFTMAX_GFX950_U32)
        expect_wrong(h, "another softmax scale", emulate(h->r, &p, &h->x, 0));
}

static bool is_mha(const struct assay_recipe *r)
{
    for (int i = 0; i < N_MHA; i++)
        if (strcmp(mha_recipes[i], r->name) == 0)
            return true;
    return false;
}

/* Every head of data/ in turn, for recipes as they are and the MHA recipes in
 * all forms. */
static void each_head(int file, const struct assay_recipe *r,
                      void (*check)(const struct head *))
{
    if (r != assay_recipe_get(r->id) && !is_mha(r))
        return;
    static const char *const files[] = { "lm_causal_gqa", "mlm_bidir" };
    const struct heads_options options = { 0 };
    struct assay_error err = { 0 };
    struct heads *heads;
    char path[4096];
    snprintf(path, sizeof path, ASSAY_TOP_SRCDIR "/data/%s.safetensors",
             files[file]);
    ck_assert_msg(heads_open(path, &options, &heads, &err) == ASSAY_OK, "%s",
                  err.text);
    ck_assert_uint_eq(heads_count(heads), 2);
    for (size_t n = 0; n < heads_count(heads); n++) {
        struct assay_case c;
        struct head h;
        ck_assert_int_eq(heads_read(heads, n, &c, &err), ASSAY_OK);
        head_new(&c, r, &h);
        check(&h);
        head_free(&h);
        assay_case_free(&c);
    }
    heads_close(heads);
}

static void check_honest(const struct head *h)
{
    check_scales(h);
    if (assay_softmax_get(h->r->softmax)->kind == ASSAY_KIND_ONLINE)
        check_tiles(h);
    check_sums(h, assay_softmax_get(h->r->softmax)->kind == ASSAY_KIND_ONLINE
                      ? (h->r->p_blocks ? 192 : 80)
                      : 128);
}

START_TEST(honest_kernels)
{
    each_head(_i % 2, recipe_numbered(_i / 2), check_honest);
}
END_TEST

START_TEST(wrong_kernels)
{
    static const enum assay_softmax forms[] = { ASSAY_SOFTMAX_NOMINAL,
                                                ASSAY_SOFTMAX_WHOLE_SUM,
                                                ASSAY_SOFTMAX_GFX950_U32,
                                                ASSAY_SOFTMAX_GFX950_BYTE };
    each_head(_i % 2,
              assay_recipe_in_form(recipe_numbered(_i / 2 % ASSAY_RECIPES),
                                   forms[_i / 2 / ASSAY_RECIPES]),
              check_wrong);
}
END_TEST

/* Keys from `from` to `to` of a head in a form of its own, as a part. */
static struct emulated part_of_keys(const struct head *h,
                                    const struct assay_inputs *in,
                                    enum assay_softmax form, int64_t from,
                                    int64_t to)
{
    struct assay_problem p = *h->p;
    const int64_t row_k = p.hk * p.dk, row_v = p.hk * p.dv;
    p.nk = to - from;
    struct assay_payloads x = payloads_of(h->r, &p, in->q, in->k + from * row_k,
                                          in->v + from * row_v);
    struct emulated e = emulate(assay_recipe_in_form(h->r, form), &p, &x, 0);
    assay_payloads_free(&x);
    return e;
}

/* A kernel that cuts the keys of a head into parts of `width` keys, as split-KV
 * does it. */
static struct emulated split_kernel(const struct head *h,
                                    const struct assay_inputs *in,
                                    enum assay_softmax form, int64_t width)
{
    const struct assay_problem *p = h->p;
    const int64_t o_elems = assay_problem_o_elems(p), rows = h->rows;
    struct emulated all = { must_alloc((size_t)o_elems, sizeof *all.o),
                            must_alloc((size_t)rows, sizeof *all.lse) };
    double *o = must_alloc((size_t)(2 * o_elems), sizeof *o);
    double *lse = must_alloc((size_t)(2 * rows), sizeof *lse);
    const struct assay_partial parts[] = {
        { "", "", o, lse }, { "", "", o + o_elems, lse + rows }
    };
    for (int64_t from = 0; from < p->nk; from += width) {
        struct emulated e = part_of_keys(
            h, in, form, from, from + width < p->nk ? from + width : p->nk);
        double *to = o + (from ? o_elems : 0);
        for (int64_t i = 0; i < o_elems; i++)
            to[i] = (double)e.o[i];
        memcpy(lse + (from ? rows : 0), e.lse, (size_t)rows * sizeof *lse);
        emulated_free(&e);
        ck_assert_int_eq(
            assay_merge(p, from ? 2 : 1, parts, false, o, lse, NULL), ASSAY_OK);
    }
    for (int64_t i = 0; i < o_elems; i++)
        all.o[i] = (float)o[i];
    memcpy(all.lse, lse, (size_t)rows * sizeof *lse);
    free(o);
    free(lse);
    return all;
}

/* Every cut's kernel, walked either way in its parts. */
static void check_splits(const struct head *h)
{
    static const int64_t widths[] = { 64, 128, 320, 512 };
    struct assay_inputs in;
    struct figures f = figures_new(h);
    ck_assert_int_eq(assay_case_values(&h->c, &in, NULL), ASSAY_OK);
    for (int i = 0; i < 8; i++)
        absorb(h,
               split_kernel(h, &in,
                            i % 2 ? ASSAY_SOFTMAX_WHOLE_SUM_DOWN
                                  : ASSAY_SOFTMAX_WHOLE_SUM,
                            widths[i / 2]),
               &f);
    assay_inputs_free(&in);
    if (h->r->softmax == ASSAY_SOFTMAX_WHOLE_SUM_SPLIT) {
        expect_honest(h, "splits", &f);
    } else {
        printf("# %s %s: %d rows beyond\n", h->c.name, form_name(h->r),
               (int)f.beyond_o);
        ck_assert_int_gt(f.beyond_o, 0);
    }
    figures_free(&f);
}

/* Parts are legal in the form that has them, and seen in another. */
START_TEST(split_kernels)
{
    static const enum assay_softmax forms[] = { ASSAY_SOFTMAX_WHOLE_SUM_SPLIT,
                                                ASSAY_SOFTMAX_WHOLE_SUM };
    each_head(
        1, assay_recipe_in_form(assay_recipe_get(ASSAY_RECIPE_BF16), forms[_i]),
        check_splits);
}
END_TEST

enum made { NORMAL, INFINITE, APART };

/* Q, K and V times powers of two, elements of V of one size; one element of the
 * last key infinite, or Q and K without a channel in common. */
static void make_inputs(const int times[3], enum made how, float *const x[3])
{
    const struct assay_problem *p = &causal;
    const int64_t n[] = { assay_problem_q_elems(p), assay_problem_k_elems(p),
                          assay_problem_v_elems(p) };
    for (int i = 0; i < 3; i++) {
        values_fill(130 + (unsigned)i, (size_t)n[i], x[i]);
        for (int64_t at = 0; at < n[i]; at++) {
            const float one = i == 2 ? copysignf(1, x[i][at]) : x[i][at];
            const bool left_out = how == APART && i < 2 && (at + i) % 2;
            x[i][at] = left_out ? 0 : ldexpf(one, times[i]);
        }
    }
    if (how == INFINITE)
        x[1][(p->nk - 1) * p->hk * p->dk] = INFINITY;
}

/* bf16 on the causal problem. */
static enum assay_status scaled_jitter(const int times[3], enum made how,
                                       struct emulated *e,
                                       const struct assay_jitter *j,
                                       struct assay_error *err)
{
    const struct assay_recipe *r = assay_recipe_get(ASSAY_RECIPE_BF16);
    const struct assay_problem *p = &causal;
    float *x[] = {
        must_alloc((size_t)assay_problem_q_elems(p), sizeof **x),
        must_alloc((size_t)assay_problem_k_elems(p), sizeof **x),
        must_alloc((size_t)assay_problem_v_elems(p), sizeof **x),
    };
    struct assay_payloads codes;
    make_inputs(times, how, x);
    ck_assert_int_eq(
        assay_recipe_quantize(r, p, NULL, NULL, x[0], x[1], x[2], &codes, NULL),
        ASSAY_OK);
    e->o = must_alloc((size_t)assay_problem_o_elems(p), sizeof *e->o);
    e->lse = must_alloc((size_t)assay_problem_rows(p), sizeof *e->lse);
    const enum assay_status st =
        assay_recipe_emulate(r, p, &codes, e->o, e->lse, j, NULL, err);
    assay_payloads_free(&codes);
    for (int i = 0; i < 3; i++)
        free(x[i]);
    return st;
}

/* A norm of V may be beyond binary32 where no element is; what is linear in V
 * stays so. */
START_TEST(large_v_has_a_jitter)
{
    enum { MOST = 126 }; /* norms are four times that */
    static const int one[] = { 4, 0, 0 }, most[] = { 4, 0, MOST };
    struct emulated e, large;
    struct assay_jitter j = jitter_new(&causal), k = jitter_new(&causal);
    ck_assert_int_eq(scaled_jitter(one, NORMAL, &e, &j, NULL), ASSAY_OK);
    ck_assert_int_eq(scaled_jitter(most, NORMAL, &large, &k, NULL), ASSAY_OK);
    for (int64_t r = 0; r < assay_problem_rows(&causal); r++) {
        const double scaled = ldexp((double)k.o[r], -MOST);
        ck_assert_msg(fabs(scaled - (double)j.o[r]) <= 1e-5 * (double)j.o[r],
                      "row %d: %g, not %g", (int)r, scaled, (double)j.o[r]);
        ck_assert(k.lse[r] == j.lse[r] && j.o[r] > 0);
    }
    emulated_free(&e);
    emulated_free(&large);
    jitter_free(&j);
    jitter_free(&k);
}
END_TEST

/* Rows that do not see it are as if it were not there. */
START_TEST(masked_infinity_has_no_part)
{
    static const int one[3] = { 0 };
    struct emulated e;
    struct assay_jitter j = jitter_new(&causal);
    ck_assert_int_eq(scaled_jitter(one, INFINITE, &e, &j, NULL), ASSAY_OK);
    for (int64_t r = 0; r < assay_problem_rows(&causal); r++)
        if (r % causal.nq < causal.nq - 1)
            ck_assert_msg(isfinite(j.o[r]) && isfinite(j.lse[r]), "row %d",
                          (int)r);
    emulated_free(&e);
    jitter_free(&j);
}
END_TEST

/* Noise of scores as large as binary32 holds leaves an average of V. What is
 * beyond is refused: here Q and K are apart and a score is 0, but no such thing
 * is known of what a kernel adds up. */
START_TEST(overflow_is_refused)
{
    static const int large[] = { 64, 55, 0 }, larger[] = { 64, 100, 0 };
    struct assay_error err = { 0 };
    struct emulated e;
    struct assay_jitter j = jitter_new(&causal);
    ck_assert_int_eq(scaled_jitter(large, NORMAL, &e, &j, &err), ASSAY_OK);
    for (int64_t r = 0; r < assay_problem_rows(&causal); r++)
        ck_assert_msg(j.o[r] > 0 && j.o[r] < 1e3f && isfinite(j.lse[r]),
                      "row %d: %g, %g", (int)r, (double)j.o[r],
                      (double)j.lse[r]);
    emulated_free(&e);
    ck_assert_int_eq(scaled_jitter(larger, APART, &e, &j, &err), ASSAY_USAGE);
    ck_assert_msg(strstr(err.text, "products of Q and K are up to") &&
                      strstr(err.text, "e+49 nats, V up to 1"),
                  "%s", err.text);
    emulated_free(&e);
    jitter_free(&j);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe jitter");
    TCase *c = tcase_create("jitter");
    tcase_add_loop_test(c, jitter_changes_no_answer, 0,
                        ASSAY_RECIPES * ASSAY_SOFTMAXES);
    tcase_add_loop_test(c, boundaries_are_known, 0, 2);
    tcase_add_loop_test(c, accumulators_are_known, 0, 2);
    tcase_add_test(c, large_v_has_a_jitter);
    tcase_add_test(c, masked_infinity_has_no_part);
    tcase_add_test(c, overflow_is_refused);
    tcase_add_loop_test(c, honest_kernels, 0,
                        2 * ASSAY_RECIPES * ASSAY_SOFTMAXES);
    tcase_add_loop_test(c, wrong_kernels, 0, 2 * ASSAY_RECIPES * 4);
    tcase_add_loop_test(c, split_kernels, 0, 2);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
