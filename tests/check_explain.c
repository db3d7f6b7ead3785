/* SPDX-License-Identifier: MIT
 *
 * validate/explain.h where memory runs out, at each place in turn: it says so,
 * gives nothing and keeps nothing. Allocations of the program are wrapped by
 * the linker.
 */
#include "check_assay.h"

#include <errno.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/problem.h"
#include "golden/answers.h"
#include "validate/explain.h"
#include "validate/judge.h"

/* ---- allocations that fail ---- */

static long left = -1; /* that succeed; below 0: all */
static long asked;
static bool for_good; /* all that follow the one fail too */

static bool fails(void)
{
    asked++;
    if (left < 0)
        return false;
    if (left > 0)
        return left--, false;
    if (!for_good)
        left = -1;
    return true;
}

/* What is there of it; memory of others may be freed too. */
enum { LIVE = 4096 };
static void *live[LIVE];
static int n_live;

static void *add(void *memory)
{
    if (memory && n_live < LIVE)
        live[n_live++] = memory;
    return memory;
}

static void take(const void *memory)
{
    for (int i = n_live; memory && i-- > 0;)
        if (live[i] == memory) {
            live[i] = live[--n_live];
            return;
        }
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t n);
int __real_posix_memalign(void **out, size_t align, size_t n);
void __real_free(void *memory);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t n);
int __wrap_posix_memalign(void **out, size_t align, size_t n);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : add(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : add(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *memory, size_t n)
{
    if (fails())
        return NULL;
    take(memory);
    return add(__real_realloc(memory, n));
}

int __wrap_posix_memalign(void **out, size_t align, size_t n)
{
    if (fails())
        return ENOMEM;
    const int why = __real_posix_memalign(out, align, n);
    if (why == 0)
        add(*out);
    return why;
}

void __wrap_free(void *memory)
{
    take(memory);
    __real_free(memory);
}

/* ---- a kernel that is wrong in O and in the LSE ---- */

enum { MOST = 1 << 13 };
static uint16_t words[3][MOST];
static struct assay_case c;
static struct assay_exact exact;
static struct assay_answer answer;
static struct candidate candidate;
static struct sketch sketch;
static struct result result;
static float o[MOST];
static double lse[MOST];

/* words of small numbers of either sign */
static void fill(uint16_t *x, unsigned salt)
{
    for (unsigned i = 0, state = salt; i < MOST; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (uint16_t)(0x3f00u | (state >> 16 & 0x80ffu));
    }
}

/* A recipe that smooths K, so that the part of the LSE is looked for too. */
static void setup(void)
{
    struct assay_inputs in;
    struct assay_error err = { 0 };
    omp_set_num_threads(1);
    for (unsigned i = 0; i < 3; i++)
        fill(words[i], i + 1);
    c = (struct assay_case){ .problem = { 1, 4, 2, 40, 60, 32, 32,
                                          ASSAY_MASK_CAUSAL, 0.2 },
                             .format = assay_format_get(ASSAY_BF16),
                             .q = words[0],
                             .k = words[1],
                             .v = words[2] };
    const struct assay_problem *p = &c.problem;
    ck_assert_int_eq(assay_case_values(&c, &in, &err), ASSAY_OK);
    ck_assert_msg(answers_exact(p, &in, false, NULL, &exact, &err) ==
                          ASSAY_OK &&
                      answers_recipe(assay_recipe_find("mxfp4"), p, &in, NULL,
                                     &answer, &err) == ASSAY_OK,
                  "%s", err.text);
    assay_inputs_free(&in);
    for (int64_t i = 0; i < assay_problem_o_elems(p); i++)
        o[i] = i / (p->dv * p->hq) % 3 ? answer.o[i] : 0;
    for (int64_t i = 0; i < assay_problem_rows(p); i++)
        lse[i] = answer.lse[i] * 1.4426950408889634;
    candidate = (struct candidate){ .o = o, .lse = lse, .runs = 1 };
    const struct yardstick against = { p, &answer, &exact };
    result = (struct result){ .recipe = answer.recipe,
                              .problem = *p,
                              .case_name = strdup("made") };
    ck_assert_int_eq(sketch_make(&against, &candidate, &sketch, &err),
                     ASSAY_OK);
    ck_assert_int_eq(judge(&against, &candidate, &result, &err), ASSAY_OK);
    ck_assert_int_eq(result.verdict, VERDICT_WRONG);
}

static void teardown(void)
{
    left = -1;
    result_free(&result);
    sketch_free(&sketch);
    assay_answer_free(&answer);
    assay_exact_free(&exact);
}

static const struct explain_input *input(void)
{
    static struct explain_input in;
    in = (struct explain_input){ &c,         &answer, &exact,
                                 &candidate, &sketch, &result };
    return &in;
}

START_TEST(with_memory)
{
    struct explanation *e;
    struct assay_error err;
    ck_assert_int_eq(explain(input(), &e, &err), ASSAY_OK);
    ck_assert_msg(strstr(e->where, "every head: O is 0"), "%s", e->where);
    ck_assert_str_eq(e->lse_cause, "base 2");
    ck_assert_ptr_nonnull(e->map);
    explanation_free(e);
}
END_TEST

/* Each of the first allocations, then some: most are those of guesses at other
 * codes of Q, and a guess that cannot be made is one less. */
START_TEST(without_memory)
{
    struct explanation *e;
    struct assay_error err;
    ck_assert_int_eq(explain(input(), &e, &err), ASSAY_OK); /* warm */
    explanation_free(e);
    asked = 0;
    ck_assert_int_eq(explain(input(), &e, &err), ASSAY_OK);
    explanation_free(e);
    const long all = asked;
    const int before = n_live;
    int told = 0;
    ck_assert_int_gt(all, 20);
    for (long n = 0; n < all; n += 1 + n / 64) {
        err = (struct assay_error){ 0 };
        e = (struct explanation *)&err;
        left = n;
        for_good = _i;
        const enum assay_status st = explain(input(), &e, &err);
        left = -1;
        told += st == ASSAY_MEMORY;
        ck_assert_msg(st == ASSAY_MEMORY || (st == ASSAY_OK && e),
                      "%ld of %ld: status %d: %s", n, all, (int)st, err.text);
        if (st == ASSAY_MEMORY) {
            ck_assert_ptr_null(e);
            ck_assert_msg(strstr(err.text, "no memory for"), "%s", err.text);
        } else {
            ck_assert_str_eq(e->lse_cause, "base 2");
        }
        explanation_free(e);
        ck_assert_msg(n_live == before, "%ld of %ld: %d allocations kept", n,
                      all, n_live - before);
    }
    ck_assert_int_ge(told, 25);
    ck_assert_int_eq(result.verdict, VERDICT_WRONG);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("explain");
    TCase *tests = tcase_create("explain");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, with_memory);
    tcase_add_loop_test(tests, without_memory, 0, 2);
    suite_add_tcase(suite, tests);
    return assay_check_main(suite);
}
