/* SPDX-License-Identifier: MIT
 *
 * Emulated recipes on the shared vectors, O and LSE of an independent
 * implementation: the nominal form of all MHA recipes, and the gfx950 forms.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/recipe.h"
#include "check_assay.h"
#include "check_values.h"
#include "recipe_run.h"
#include "vectors.h"

static const char *const files[] = { "head_lm_dev.h5", "head_mlm_dev.h5",
                                     "synthetic_zeros.h5",
                                     "synthetic_powers.h5" };
enum { N_FILES = sizeof files / sizeof *files };

static const struct row {
    const char *recipe;
    enum assay_softmax gfx950; /* ASSAY_SOFTMAX_NOMINAL: not in the vectors */
} emulated[] = {
    { "bf16", ASSAY_SOFTMAX_NOMINAL },     { "bf16fp8", ASSAY_SOFTMAX_NOMINAL },
    { "i8fp8", ASSAY_SOFTMAX_GFX950_U32 }, { "fp8", ASSAY_SOFTMAX_GFX950_U32 },
    { "mxfp8", ASSAY_SOFTMAX_GFX950_U32 }, { "f8f6", ASSAY_SOFTMAX_GFX950_U32 },
    { "f6f8", ASSAY_SOFTMAX_GFX950_BYTE }, { "mxfp6", ASSAY_SOFTMAX_NOMINAL },
    { "f6f4", ASSAY_SOFTMAX_GFX950_BYTE }, { "mxfp4", ASSAY_SOFTMAX_NOMINAL },
};
enum { N_EMULATED = sizeof emulated / sizeof *emulated };

struct inputs {
    struct assay_problem p;
    float *q, *k, *v;
    struct vector rows;
};

static float *words(const char *file, const char *name, struct vector *shape)
{
    vector_read(file, name, shape);
    const size_t n = shape->size / 2;
    float *x = must_alloc(n, sizeof *x);
    assay_format_decode(assay_format_get(ASSAY_BF16), n, shape->bytes, x);
    free(shape->bytes);
    return x;
}

static struct inputs inputs_of(const char *file)
{
    struct inputs in;
    struct vector q, k, v;
    in.q = words(file, "q.words", &q);
    in.k = words(file, "k.words", &k);
    in.v = words(file, "v.words", &v);
    in.p = (struct assay_problem){ (int64_t)q.dims[0],
                                   (int64_t)q.dims[2],
                                   (int64_t)k.dims[2],
                                   (int64_t)q.dims[1],
                                   (int64_t)k.dims[1],
                                   128,
                                   128,
                                   strcmp(file, "head_lm_dev.h5") == 0
                                       ? ASSAY_MASK_CAUSAL
                                       : ASSAY_MASK_NONE,
                                   1 / sqrt(128) };
    vector_read(file, "rows", &in.rows);
    return in;
}

static int64_t row_number(const struct vector *rows, size_t i)
{
    return rows->size / rows->dims[0] == 8 ? ((const int64_t *)rows->bytes)[i]
                                           : ((const int32_t *)rows->bytes)[i];
}

/* What binary32 scores and sums leave open, O relative, LSE in nats. A P on a
 * rounding boundary may flip: few rows, and by little. */
#define O_BAR 1e-5
#define LSE_BAR 1e-4
#define LSE_FLIP 0.02
#define FLIPPED_ROWS 0.01

struct off {
    double o, lse;
    double jitters_o, jitters_lse;
    int64_t flipped; /* rows whose LSE is off by more than the bar */
};

/* Rows are within one jitter; a tenth more, since the jitter may be that of a
 * variant that took the very same turn. */
#define JITTERS 1.1

static struct off compare(const char *file, const char *stem,
                          const struct inputs *in, const float *o,
                          const double *lse, const struct assay_jitter *jitter)
{
    const struct assay_problem *p = &in->p;
    char name[96];
    struct vector want_o, want_lse;
    double d2 = 0, n2 = 0;
    struct off off = { 0 };
    snprintf(name, sizeof name, "%s.o", stem);
    vector_read(file, name, &want_o);
    snprintf(name, sizeof name, "%s.lse", stem);
    vector_read(file, name, &want_lse);
    const int64_t count = (int64_t)in->rows.dims[0];
    for (int64_t i = 0; i < count; i++)
        for (int64_t h = 0; h < p->hq; h++) {
            const int64_t at = row_number(&in->rows, (size_t)i);
            double row2 = 0;
            for (int64_t c = 0; c < p->dv; c++) {
                double w =
                    ((const float *)want_o.bytes)[(i * p->hq + h) * p->dv + c];
                double g = o[(at * p->hq + h) * p->dv + c];
                row2 += (g - w) * (g - w);
                n2 += w * w;
            }
            d2 += row2;
            off.jitters_o = fmax(
                off.jitters_o, part_of(sqrt(row2), jitter->o[h * p->nq + at]));
        }
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        const double want = ((const double *)want_lse.bytes)[r];
        double d = fabs(lse[r] - want);
        off.lse = fmax(off.lse, d);
        off.jitters_lse = fmax(off.jitters_lse, part_of(d, jitter->lse[r]));
        off.flipped += !(d <= LSE_BAR + 0x1p-22 * fabs(want));
    }
    off.o = n2 > 0 ? sqrt(d2 / n2) : sqrt(d2);
    free(want_o.bytes);
    free(want_lse.bytes);
    return off;
}

static void check_one(const char *file, const struct row *e,
                      enum assay_softmax form, const char *family)
{
    struct inputs in = inputs_of(file);
    const struct assay_recipe *recipe =
        assay_recipe_in_form(assay_recipe_find(e->recipe), form);
    struct assay_payloads payloads =
        payloads_of(recipe, &in.p, in.q, in.k, in.v);
    struct assay_jitter jitter = jitter_new(&in.p);
    struct emulated got = emulate_jitter(recipe, &in.p, &payloads, 1, &jitter);
    char stem[64];
    snprintf(stem, sizeof stem, "%s.%s", family, e->recipe);
    struct off off = compare(file, stem, &in, got.o, got.lse, &jitter);
    printf("# %s %s: O %.2g (%.2f jitters), LSE %.2g (%.2f), %d rows flipped\n",
           file, stem, off.o, off.jitters_o, off.lse, off.jitters_lse,
           (int)off.flipped);
    fflush(stdout);
    ck_assert(off.o <= O_BAR);
    ck_assert(off.lse <= LSE_FLIP);
    ck_assert(off.jitters_o <= JITTERS && off.jitters_lse <= JITTERS);
    ck_assert((double)off.flipped <=
              FLIPPED_ROWS * (double)assay_problem_rows(&in.p));
    assay_payloads_free(&payloads);
    emulated_free(&got);
    jitter_free(&jitter);
    free(in.q);
    free(in.k);
    free(in.v);
    free(in.rows.bytes);
}

START_TEST(nominal)
{
    if (vectors_present(files[_i]))
        for (int e = 0; e < N_EMULATED; e++)
            check_one(files[_i], &emulated[e], ASSAY_SOFTMAX_NOMINAL,
                      "nominal");
}
END_TEST

START_TEST(gfx950)
{
    if (vectors_present("head_mlm_dev.h5"))
        for (int e = 0; e < N_EMULATED; e++)
            if (emulated[e].gfx950 != ASSAY_SOFTMAX_NOMINAL)
                check_one("head_mlm_dev.h5", &emulated[e], emulated[e].gfx950,
                          "gfx950");
}
END_TEST

int main(void)
{
    if (!assay_shared_dir()) {
        puts("1..0 # SKIP no folder of shared vectors");
        return 0;
    }
    Suite *suite = suite_create("recipe vectors");
    TCase *tc = tcase_create("vectors");
    tcase_add_loop_test(tc, nominal, 0, N_FILES);
    tcase_add_test(tc, gfx950);
    suite_add_tcase(suite, tc);
    return assay_check_main(suite);
}
