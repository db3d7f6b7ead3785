/* SPDX-License-Identifier: MIT
 *
 * Golden sets: golden/set.h. A set that is read whole and written again is read
 * the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "golden/limits.h"
#include "tests/fuzz/fuzz_h5.h"

enum { MOST_ANSWERS = 64 };

/* All of a case. */
struct whole {
    struct assay_case c;
    struct assay_exact exact;
    bool has_exact;
    struct assay_answer answers[MOST_ANSWERS];
    size_t n;
};

static void whole_free(struct whole *w)
{
    for (size_t r = 0; r < w->n; r++)
        assay_answer_free(&w->answers[r]);
    assay_exact_free(&w->exact);
    assay_case_free(&w->c);
}

static void touch_exact(const struct assay_problem *p,
                        const struct assay_exact *e)
{
    const size_t n = (size_t)assay_problem_o_elems(p),
                 heads = (size_t)(p->b * p->hq);
    fuzz_touch(e->o, n * sizeof *e->o);
    fuzz_touch(e->o64, n * sizeof *e->o64);
    fuzz_touch(e->lse, (size_t)assay_problem_rows(p) * sizeof *e->lse);
    fuzz_touch(e->bar_o, heads * sizeof *e->bar_o);
    fuzz_touch(e->bar_lse, heads * sizeof *e->bar_lse);
}

static void touch_payload(const struct assay_payload *p)
{
    fuzz_touch(p->codes, (size_t)p->count * assay_format_bytes(p->format));
    fuzz_touch(p->scales, (size_t)p->n_scales * sizeof *p->scales);
    fuzz_touch(p->e8m0, (size_t)p->n_scales);
    fuzz_touch(p->past, (size_t)p->n_scales);
}

static void touch_answer(const struct assay_problem *p,
                         const struct assay_answer *a)
{
    const size_t n = (size_t)assay_problem_o_elems(p),
                 rows = (size_t)assay_problem_rows(p);
    const struct assay_jitter *j = &a->jitter;
    touch_payload(&a->payloads.q);
    touch_payload(&a->payloads.k);
    touch_payload(&a->payloads.v);
    fuzz_touch(a->payloads.k_mean,
               (size_t)(p->b * p->hk * p->dk) * sizeof *a->payloads.k_mean);
    fuzz_touch(a->o, n * sizeof *a->o);
    fuzz_touch(a->lse, rows * sizeof *a->lse);
    fuzz_touch(j->o, rows * sizeof *j->o);
    fuzz_touch(j->lse, rows * sizeof *j->lse);
    fuzz_touch(j->gain, (size_t)(p->b * p->hq) * sizeof *j->gain);
    fuzz_touch(j->bound, n * sizeof *j->bound);
    fuzz_touch_text(a->recipe->name);
    fuzz_touch_text(a->maker);
}

static uint64_t digest_of(const struct whole *w)
{
    const struct assay_problem *p = &w->c.problem;
    fuzz_digest();
    fuzz_touch_case(&w->c);
    if (w->has_exact)
        touch_exact(p, &w->exact);
    for (size_t r = 0; r < w->n; r++)
        touch_answer(p, &w->answers[r]);
    return fuzz_digest();
}

/* What is made of inputs and answers before they are used. */
static void use(struct whole *w)
{
    struct assay_inputs in;
    struct assay_error err;
    fuzz_require_ok(assay_case_values(&w->c, &in, &err), &err);
    assay_inputs_free(&in);
    for (size_t r = 0; r < w->n; r++)
        fuzz_require_ok(assay_answer_lse_shift(&w->c, &w->answers[r], &err),
                        &err);
}

static enum assay_status read_answers(const struct assay_set *set, size_t i,
                                      struct whole *w, struct assay_error *err)
{
    const struct assay_recipe **recipes;
    size_t n;
    char *maker;
    enum assay_status st = assay_set_recipes(set, i, &recipes, &n, err);
    for (size_t r = 0; st == ASSAY_OK && r < n && r < MOST_ANSWERS; r++) {
        st = assay_set_maker(set, i, recipes[r], &maker, err);
        if (st != ASSAY_OK)
            break;
        fuzz_touch_text(maker);
        free(maker);
        st = assay_set_read_answer(set, i, &w->c.problem, recipes[r],
                                   &w->answers[r], err);
        w->n += st == ASSAY_OK;
    }
    free(recipes);
    return st;
}

static enum assay_status read_whole(const struct assay_set *set, size_t i,
                                    struct whole *w, struct assay_error *err)
{
    struct assay_case described;
    *w = (struct whole){ .has_exact = assay_set_has_exact(set, i) };
    fuzz_touch_text(assay_set_case_name(set, i));
    enum assay_status st = assay_set_describe(set, i, &described, err);
    if (st == ASSAY_OK)
        fuzz_touch_case(&described);
    assay_case_free(&described);
    if (st == ASSAY_OK)
        st = assay_set_read_case(set, i, &w->c, err);
    if (st == ASSAY_OK && w->has_exact)
        st = assay_set_read_exact(set, i, &w->c.problem, &w->exact, err);
    if (st == ASSAY_OK)
        st = read_answers(set, i, w, err);
    fuzz_check_refusal(st, err);
    return st;
}

/* Writes the case alone; what is read of it must be the same. */
static void write_again(const struct whole *w)
{
    char path[4096];
    const struct assay_provenance provenance = { .command = "again" };
    struct assay_set_writer *writer;
    struct assay_set *set;
    struct assay_error err;
    struct whole again;
    snprintf(path, sizeof path, "%s", fuzz_path("out.h5"));
    const uint64_t first = digest_of(w);
    fuzz_require_ok(assay_set_create(path, &provenance, &writer, &err), &err);
    fuzz_require_ok(assay_set_add(writer, &w->c,
                                  w->has_exact ? &w->exact : NULL, w->answers,
                                  w->n, &err),
                    &err);
    fuzz_require_ok(assay_set_commit(writer, NULL, &err), &err);
    fuzz_require_ok(assay_set_open(path, &set, &err), &err);
    fuzz_require_ok(read_whole(set, 0, &again, &err), &err);
    fuzz_require(digest_of(&again) == first, "a case came back changed");
    whole_free(&again);
    assay_set_close(set);
}

static void count_each(void *context, const char *name, const char *wrong)
{
    fuzz_touch_text(name);
    fuzz_touch_text(wrong);
    ++*(size_t *)context;
}

static void read_head(const struct assay_set *set)
{
    struct limits_list list = { 0 };
    struct assay_error err;
    size_t n = 0;
    char *text, *command = assay_set_provenance(set, "command");
    fuzz_touch_text(command);
    free(command);
    enum assay_status st = assay_set_limits(set, &text, &err);
    fuzz_check_refusal(st, &err);
    if (st == ASSAY_OK && text)
        fuzz_check_refusal(limits_parse("set", text, &list, &err), &err);
    limits_list_free(&list);
    free(text);
    fuzz_touch_int(assay_set_has_answers(set));
    fuzz_check_refusal(assay_set_need_answers(set, &err), &err);
    fuzz_check_refusal(assay_set_check(set, count_each, &n, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_set *set;
    struct assay_error err;
    enum assay_status st =
        assay_set_open_unchecked(fuzz_file("in.h5", data, size), &set, &err);
    fuzz_check_refusal(st, &err);
    if (st == ASSAY_OK)
        read_head(set);
    for (size_t i = 0; st == ASSAY_OK && i < assay_set_count(set); i++) {
        struct whole w;
        if (read_whole(set, i, &w, &err) == ASSAY_OK) {
            use(&w);
            write_again(&w);
        }
        whole_free(&w);
    }
    assay_set_close(set);
    fuzz_all_closed();
    fuzz_forget_recipes();
    fuzz_forget_quantizers();
    fuzz_digest();
    return 0;
}
