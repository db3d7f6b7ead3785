/* SPDX-License-Identifier: MIT
 *
 * Emulation against outputs of real kernels: what AITER's public gfx950 code
 * objects gave on captured heads, executed on AMD's emulator of the
 * instruction set. Nobody here wrote those kernels.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/recipe.h"
#include "check_assay.h"
#include "check_values.h"
#include "golden/safetensors.h"

static const struct output {
    const char *file, *recipe;
    enum assay_softmax form;
} outputs[] = {
    { "tiles11", "fp8", ASSAY_SOFTMAX_GFX950_U32 },
    { "tiles11", "i8fp8", ASSAY_SOFTMAX_GFX950_U32 },
    { "tiles11", "mxfp8", ASSAY_SOFTMAX_GFX950_U32 },
    { "tiles11", "f8f6", ASSAY_SOFTMAX_GFX950_U32 },
    { "tiles11", "f6f8", ASSAY_SOFTMAX_GFX950_BYTE },
    { "tiles11", "f6f4", ASSAY_SOFTMAX_GFX950_BYTE },
    { "ragged", "fp8", ASSAY_SOFTMAX_GFX950_U32 },
    { "ragged", "i8fp8", ASSAY_SOFTMAX_GFX950_U32 },
    { "ragged", "mxfp8", ASSAY_SOFTMAX_GFX950_U32 },
};
enum { N_OUTPUTS = sizeof outputs / sizeof *outputs };

/* A tensor [head, token, channel] of bf16 as [token, head, channel]. */
static float *read_heads(const char *path, const char *name, int64_t shape[3])
{
    struct assay_safetensors *file;
    const struct assay_safetensors_tensor *t;
    struct assay_error err;
    if (assay_safetensors_open(path, &file, &err) != ASSAY_OK ||
        assay_safetensors_find(file, name, &t, &err) != ASSAY_OK)
        ck_abort_msg("%s", err.text);
    uint16_t *words = must_alloc(t->bytes, 1);
    if (assay_safetensors_read(file, t, words, t->bytes, &err) != ASSAY_OK)
        ck_abort_msg("%s", err.text);
    memcpy(shape, t->shape, 3 * sizeof *shape);
    float *x = must_alloc(t->bytes / 2, sizeof *x);
    for (int64_t h = 0; h < shape[0]; h++)
        for (int64_t s = 0; s < shape[1]; s++)
            assay_format_decode(assay_format_get(ASSAY_BF16), (size_t)shape[2],
                                words + (h * shape[1] + s) * shape[2],
                                x + (s * shape[0] + h) * shape[2]);
    free(words);
    assay_safetensors_close(file);
    return x;
}

START_TEST(words_agree)
{
    const struct output *x = &outputs[_i];
    char in[512], out[512], name[64];
    int64_t q[3], k[3], v[3], o[3];
    snprintf(in, sizeof in, "%s/kernel-outputs/%s.safetensors",
             assay_shared_dir(), x->file);
    snprintf(out, sizeof out, "%s/kernel-outputs/%s.gfx950.safetensors",
             assay_shared_dir(), x->file);
    snprintf(name, sizeof name, "%s.layer3.%s.o", x->file, x->recipe);
    float *tq = read_heads(in, "layer3.q", q),
          *tk = read_heads(in, "layer3.k", k),
          *tv = read_heads(in, "layer3.v", v), *want = read_heads(out, name, o);
    const struct assay_problem p = {
        1, q[0], k[0], q[1], k[1], q[2], v[2], ASSAY_MASK_NONE, 1 / sqrt(128)
    };
    const int64_t n = assay_problem_o_elems(&p);
    const struct assay_recipe *recipe =
        assay_recipe_in_form(assay_recipe_find(x->recipe), x->form);
    float *got = must_alloc((size_t)n, sizeof *got);
    double *lse = must_alloc((size_t)assay_problem_rows(&p), sizeof *lse);
    struct assay_payloads payloads;
    struct assay_error err;
    if (assay_recipe_quantize(recipe, &p, NULL, NULL, tq, tk, tv, &payloads,
                              &err) != ASSAY_OK ||
        assay_recipe_emulate(recipe, &p, &payloads, got, lse, NULL, NULL,
                             &err) != ASSAY_OK)
        ck_abort_msg("%s", err.text);
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, (size_t)n, got, got);
    int64_t same = 0, far = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t steps =
            assay_format_steps(assay_format_get(ASSAY_BF16),
                               bits_of(want[i]) >> 16, bits_of(got[i]) >> 16);
        same += steps == 0;
        far += steps < -1 || steps > 1;
    }
    fflush(stdout);
    printf("# %s %s: %.4f %% of %lld words the same, %lld more than a step "
           "off\n",
           x->file, x->recipe, 100. * (double)same / (double)n, (long long)n,
           (long long)far);
    ck_assert_int_eq(far, 0);
    ck_assert(same >= n - n / 1000);
    assay_payloads_free(&payloads);
    free(tq);
    free(tk);
    free(tv);
    free(want);
    free(got);
    free(lse);
}
END_TEST

int main(void)
{
    if (!assay_shared_dir()) {
        puts("1..0 # SKIP no folder of shared kernel outputs");
        return 0;
    }
    Suite *suite = suite_create("kernel outputs");
    TCase *tc = tcase_create("gfx950");
    tcase_add_loop_test(tc, words_agree, 0, N_OUTPUTS);
    suite_add_tcase(suite, tc);
    return assay_check_main(suite);
}
