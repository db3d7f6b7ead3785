/* SPDX-License-Identifier: MIT
 *
 * Files of recipes: golden/recipe_file.h. A recipe's definition, as a set holds
 * it, is read as the same recipe; and what is let by is emulated.
 */
#include <stdlib.h>

#include "assay/memory.h"
#include "golden/answers.h"
#include "golden/recipe_file.h"
#include "tests/fuzz/fuzz.h"

static const struct assay_problem problem = { 1,   2,  1,  2,
                                              5,   32, 33, ASSAY_MASK_CAUSAL,
                                              0.25 };

static float *values(int64_t n)
{
    float *out;
    fuzz_require(assay_alloc("values", n, sizeof *out, &out, NULL) == ASSAY_OK,
                 "no memory");
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)(i * 37 % 101 - 50) / 16;
    return out;
}

static void emulate(const struct assay_recipe *recipe)
{
    const struct assay_run run = { .threads = 1 };
    struct assay_inputs in = { values(assay_problem_q_elems(&problem)),
                               values(assay_problem_k_elems(&problem)),
                               values(assay_problem_v_elems(&problem)),
                               assay_format_get(ASSAY_BF16) };
    struct assay_answer answer;
    struct assay_error err;
    fuzz_require_ok(answers_recipe(recipe, &problem, &in, &run, &answer, &err),
                    &err);
    fuzz_touch(answer.o,
               (size_t)assay_problem_o_elems(&problem) * sizeof *answer.o);
    assay_answer_free(&answer);
    assay_inputs_free(&in);
}

static void define_again(const struct assay_recipe *recipe)
{
    const struct assay_recipe *again;
    struct assay_error err;
    char *text = recipe_definition(recipe);
    fuzz_require(text != NULL, "a recipe has no definition");
    fuzz_require_ok(recipe_define("again", text, &again, &err), &err);
    fuzz_require(again == recipe, "a recipe came back as another");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct assay_recipe *recipes[ASSAY_RECIPES_MAX];
    struct assay_error err;
    size_t n;
    enum assay_status st =
        recipe_file_read(fuzz_file("in.json", data, size), recipes, &n, &err);
    fuzz_check_refusal(st, &err);
    for (size_t i = 0; st == ASSAY_OK && i < n; i++) {
        define_again(recipes[i]);
        if (i < 2)
            emulate(recipes[i]);
    }
    fuzz_forget_recipes();
    fuzz_forget_quantizers();
    fuzz_digest();
    return 0;
}
