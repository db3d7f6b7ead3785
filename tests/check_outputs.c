/* SPDX-License-Identifier: MIT
 *
 * Outputs of real kernels (data/gfx950, and in full where the shared folder is
 * there): they pass in their own softmax form, fail in the nominal one, and
 * every mutation of their words is rejected. Nobody here wrote those kernels,
 * and they deliver no LSE.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_assay.h"
#include "golden/answers.h"
#include "golden/heads.h"
#include "golden/tensors.h"
#include "validate/mutation.h"

static const struct output {
    const char *folder; /* NULL: the shared one */
    const char *inputs, *outputs, *case_name, *recipe;
    enum assay_softmax form;
} outputs[] = {
#define DATA(name, recipe, form)                                         \
    {                                                                    \
        "data/gfx950", name ".safetensors", name ".outputs.safetensors", \
            name ".layer3", recipe, ASSAY_SOFTMAX_GFX950_##form          \
    }
#define SHARED(name, recipe, form)                                             \
    {                                                                          \
        NULL, name ".safetensors", name ".gfx950.safetensors", name ".layer3", \
            recipe, ASSAY_SOFTMAX_GFX950_##form                                \
    }
    DATA("tiles", "mxfp8", U32),     DATA("tiles", "f6f8", BYTE),
    DATA("tiles", "f6f4", BYTE),     DATA("ragged", "mxfp8", U32),
    SHARED("tiles11", "fp8", U32),   SHARED("tiles11", "i8fp8", U32),
    SHARED("tiles11", "mxfp8", U32), SHARED("tiles11", "f8f6", U32),
    SHARED("tiles11", "f6f8", BYTE), SHARED("tiles11", "f6f4", BYTE),
    SHARED("ragged", "fp8", U32),    SHARED("ragged", "i8fp8", U32),
    SHARED("ragged", "mxfp8", U32),
};
enum { N_OUTPUTS = sizeof outputs / sizeof *outputs, N_DATA = 4 };

/* ---- what there is of one output ---- */

struct scene {
    struct assay_case c;
    struct assay_inputs in;
    struct assay_exact exact;
    struct assay_answer answer;
    float *kernel; /* its words, [b, nq, hq, dv] */
    size_t n;
};

#define MUST(call)                        \
    do {                                  \
        struct assay_error err;           \
        if ((call) != ASSAY_OK)           \
            ck_abort_msg("%s", err.text); \
    } while (0)

static void path_of(const struct output *x, const char *file, char path[512])
{
    if (x->folder)
        snprintf(path, 512, "%s/%s/%s", ASSAY_TOP_SRCDIR, x->folder, file);
    else
        snprintf(path, 512, "%s/kernel-outputs/%s", assay_shared_dir(), file);
}

static void read_case(const struct output *x, struct assay_case *c)
{
    const struct heads_options options = { 0 };
    struct heads *heads;
    char path[512];
    path_of(x, x->inputs, path);
    MUST(heads_open(path, &options, &heads, &err));
    MUST(heads_read(heads, 0, c, &err));
    heads_close(heads);
    ck_assert_str_eq(c->name, x->case_name);
}

/* [head, token, channel], written out again beside golden/layout.c. */
static float *read_kernel(const struct output *x, const struct assay_problem *p)
{
    struct tensors *file;
    char path[512], name[128];
    uint16_t *words = NULL;
    float *out = malloc((size_t)assay_problem_o_elems(p) * sizeof *out);
    path_of(x, x->outputs, path);
    snprintf(name, sizeof name, "%s.%s.o", x->case_name, x->recipe);
    MUST(tensors_open(path, NULL, &file, &err));
    for (size_t i = 0; i < tensors_count(file); i++)
        if (strcmp(tensors_get(file, i)->name, name) == 0)
            MUST(tensors_read(file, i, &words, &err));
    ck_assert_ptr_nonnull(words);
    for (int64_t h = 0; h < p->hq; h++)
        for (int64_t i = 0; i < p->nq; i++)
            assay_format_decode(assay_format_get(ASSAY_BF16), (size_t)p->dv,
                                words + (h * p->nq + i) * p->dv,
                                out + (i * p->hq + h) * p->dv);
    free(words);
    tensors_close(file);
    return out;
}

static struct scene begin(const struct output *x, enum assay_softmax form)
{
    const struct assay_recipe *recipe =
        assay_recipe_in_form(assay_recipe_find(x->recipe), form);
    struct scene s = { 0 };
    read_case(x, &s.c);
    s.n = (size_t)assay_problem_o_elems(&s.c.problem);
    s.kernel = read_kernel(x, &s.c.problem);
    MUST(assay_case_values(&s.c, &s.in, &err));
    MUST(answers_exact(&s.c.problem, &s.in, false, NULL, &s.exact, &err));
    MUST(answers_recipe(recipe, &s.c.problem, &s.in, NULL, &s.answer, &err));
    MUST(assay_answer_lse_shift(&s.c, &s.answer, &err));
    return s;
}

static void end(struct scene *s)
{
    assay_answer_free(&s->answer);
    assay_exact_free(&s->exact);
    assay_inputs_free(&s->in);
    assay_case_free(&s->c);
    free(s->kernel);
}

static enum verdict judge_words(const struct scene *s, const float *words)
{
    const struct candidate candidate = { .o = words, .saved = true };
    struct result r = { .recipe = s->answer.recipe };
    MUST(judge(
        &(struct yardstick){ &s->c.problem, &s->answer, &s->exact, &s->c },
        &candidate, &r, &err));
    const enum verdict verdict = r.verdict;
    result_free(&r);
    return verdict;
}

/* ---- tests ---- */

START_TEST(passes_in_its_own_form)
{
    const struct output *x = &outputs[_i];
    struct scene s = begin(x, x->form);
    ck_assert_int_eq(judge_words(&s, s.kernel), VERDICT_PASS);
    end(&s);
}
END_TEST

START_TEST(fails_in_the_nominal_form)
{
    const struct output *x = &outputs[_i];
    struct scene s = begin(x, ASSAY_SOFTMAX_NOMINAL);
    ck_assert_int_eq(judge_words(&s, s.kernel), VERDICT_WRONG);
    end(&s);
}
END_TEST

/* Rows that are off by more than a bf16 step of their norm: a step of each word
 * is what honest kernels differ by. */
static int64_t rows_moved(const struct scene *s, const float *o)
{
    const struct assay_problem *p = &s->c.problem;
    int64_t moved = 0;
    for (size_t i = 0; i < s->n; i += (size_t)p->dv) {
        double off = 0, norm = 0;
        for (size_t c = i; c < i + (size_t)p->dv; c++) {
            const double kernel = s->kernel[c], d = o[c] - kernel;
            off += d * d;
            norm += kernel * kernel;
        }
        moved += !(off <= norm / 256 / 256);
    }
    return moved;
}

/* What a mutation makes of the kernel's own words; false where it moves no
 * row. Mutations of the problem make their own. */
static bool mutate(const struct scene *s, const struct subject *subject,
                   const struct mutation *mutation, float *o)
{
    const int64_t heads = s->c.problem.b * s->c.problem.hq;
    double *lse =
        malloc((size_t)assay_problem_rows(&s->c.problem) * sizeof *lse);
    double *unwritten = calloc((size_t)heads, sizeof *unwritten);
    struct mutant m = { .s = subject,
                        .o = o,
                        .lse = lse,
                        .unwritten = unwritten,
                        .left.unwritten = unwritten,
                        .applies = true };
    memcpy(o, s->kernel, s->n * sizeof *o);
    memcpy(lse, s->answer.lse,
           (size_t)assay_problem_rows(&s->c.problem) * sizeof *lse);
    MUST(mutation->apply(&m, mutation->strength, &err));
    if (!m.rounded)
        assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                           ASSAY_SPECIAL, s->n, o, o);
    free(lse);
    free(unwritten);
    return m.applies && rows_moved(s, o) > 0;
}

START_TEST(every_mutation_is_rejected)
{
    const struct output *x = &outputs[_i];
    struct scene s = begin(x, x->form);
    /* the subject is the kernel's answer, so that whole rows and heads that
     * are moved about are its own */
    struct assay_answer own = s.answer;
    own.o = s.kernel;
    struct subject subject = { .c = &s.c, .e = &own, .x = &s.exact };
    float *o = malloc(s.n * sizeof *o);
    int tried = 0, escaped = 0;
    MUST(subject_begin(&subject, &err));
    for (int i = 0; i < MUTATIONS; i++) {
        const struct mutation *m = mutation_get((enum mutation_id)i);
        if (m->expect != MUTATION_REQUIRED || !mutate(&s, &subject, m, o))
            continue;
        tried++;
        if (judge_words(&s, o) != VERDICT_PASS)
            continue;
        escaped++;
        printf("# %s, %s: %s escapes, %lld rows moved\n", x->case_name,
               x->recipe, m->name, (long long)rows_moved(&s, o));
    }
    printf("# %s, %s: %d mutations, %d escape\n", x->case_name, x->recipe,
           tried, escaped);
    fflush(stdout);
    ck_assert_int_ge(tried, 40);
    ck_assert_int_eq(escaped, 0);
    free(o);
    subject_free(&subject);
    end(&s);
}
END_TEST

int main(void)
{
    const int n = assay_shared_dir() ? N_OUTPUTS : N_DATA;
    Suite *suite = suite_create("outputs");
    TCase *tc = tcase_create("gfx950");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, passes_in_its_own_form, 0, n);
    tcase_add_loop_test(tc, fails_in_the_nominal_form, 0, n);
    tcase_add_loop_test(tc, every_mutation_is_rejected, 0, n);
    suite_add_tcase(suite, tc);
    return assay_check_main(suite);
}
