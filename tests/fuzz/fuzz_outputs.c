/* SPDX-License-Identifier: MIT
 *
 * Outputs made elsewhere, as a safetensors file, against one small set: what
 * validate/driver_outputs.c binds and reads is judged. The set's case is named
 * "c" and has the recipes e4m3 and mxfp4.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/answers.h"
#include "tests/fuzz/fuzz.h"
#include "validate/delivered.h"
#include "validate/driver.h"
#include "validate/judge.h"

enum { ANSWERS = 2 };

static struct assay_set *set;
static struct assay_case c;
static struct assay_exact exact;
static struct assay_answer answers[ANSWERS];

static void *words(int64_t n)
{
    uint16_t *out = calloc((size_t)n, sizeof *out);
    fuzz_require(out != NULL, "no memory");
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint16_t)(0x3e80 + i * 37 % 101);
    return out;
}

static void make_case(void)
{
    static const char *const recipes[ANSWERS] = { "e4m3", "mxfp4" };
    const struct assay_run run = { .threads = 1 };
    struct assay_inputs in;
    struct assay_error err;
    c = (struct assay_case){ .name = strdup("c"),
                             .source = strdup("made"),
                             .problem = { 1, 2, 1, 2, 3, 4, 4,
                                          ASSAY_MASK_CAUSAL, 0.5 },
                             .format = assay_format_get(ASSAY_BF16) };
    c.q = words(assay_problem_q_elems(&c.problem));
    c.k = words(assay_problem_k_elems(&c.problem));
    c.v = words(assay_problem_v_elems(&c.problem));
    fuzz_require_ok(assay_case_values(&c, &in, &err), &err);
    fuzz_require_ok(answers_exact(&c.problem, &in, false, &run, &exact, &err),
                    &err);
    for (int r = 0; r < ANSWERS; r++)
        fuzz_require_ok(answers_recipe(assay_recipe_find(recipes[r]),
                                       &c.problem, &in, &run, &answers[r],
                                       &err),
                        &err);
    assay_inputs_free(&in);
}

static void make_set(void)
{
    char path[4096];
    const struct assay_provenance provenance = { .command = "made" };
    struct assay_set_writer *w;
    struct assay_error err;
    if (set)
        return;
    make_case();
    snprintf(path, sizeof path, "%s", fuzz_path("set.h5"));
    fuzz_require_ok(assay_set_create(path, &provenance, &w, &err), &err);
    fuzz_require_ok(assay_set_add(w, &c, &exact, answers, ANSWERS, &err), &err);
    fuzz_require_ok(assay_set_commit(w, NULL, &err), &err);
    fuzz_require_ok(assay_set_open(path, &set, &err), &err);
}

static void judge_one(struct driver *d, size_t kernel,
                      const struct assay_answer *answer)
{
    const struct driver_run run = {
        .kernel = kernel, .input = DRIVER_INPUT_SAVED, .c = &c, .answer = answer
    };
    const struct yardstick yard = {
        .problem = &c.problem, .e = answer, .x = &exact, .c = &c
    };
    struct result result = { .case_name = strdup("c"),
                             .problem = c.problem,
                             .recipe = answer->recipe };
    struct candidate candidate = { 0 };
    struct assay_error err;
    bool ran = false;
    enum assay_status st = d->run(d, &run, &ran, &candidate, &result, &err);
    fuzz_check_refusal(st, &err);
    if (st == ASSAY_OK && ran) {
        fuzz_require_ok(delivered_answer(&c, answer, &candidate, &err), &err);
        st = judge(&yard, &candidate, &result, &err);
        fuzz_check_refusal(st, &err);
    }
    candidate_free(&candidate);
    fuzz_touch_text(result.reason);
    fuzz_touch_text(result.notes);
    result_free(&result);
}

/* A kernel that tells no softmax form is judged by any. */
static bool is_of(const struct driver_kernel *k, const struct assay_recipe *r)
{
    return strcmp(k->recipe, r->name) == 0 &&
           (!*k->softmax_form ||
            strcmp(k->softmax_form, assay_softmax_get(r->softmax)->name) == 0);
}

static void run_all(struct driver *d)
{
    for (size_t k = 0; k < d->info->count; k++)
        for (int r = 0; r < ANSWERS; r++)
            if (is_of(&d->info->kernels[k], answers[r].recipe))
                judge_one(d, k, &answers[r]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct driver d = { 0 };
    struct assay_error err;
    make_set();
    const char *path = fuzz_file("in.safetensors", data, size);
    const struct driver_binding binding = { .set = set,
                                            .layout =
                                                size % 2 ? NULL : "bshd" };
    enum assay_status st = driver_open(DRIVER_OUTPUTS, path, NULL, 1, &d, &err);
    if (st == ASSAY_OK)
        st = d.bind(&d, &binding, &err);
    fuzz_check_refusal(st, &err);
    if (st == ASSAY_OK)
        run_all(&d);
    driver_close(&d);
    fuzz_digest();
    return 0;
}
