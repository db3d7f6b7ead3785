/* SPDX-License-Identifier: MIT */
#include "made_set.h"

#include <check.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/memory.h"

static char folder[PATH_MAX];

static const struct {
    const char *name;
    enum assay_format_id format;
    bool f64;
    int n_answers;
    struct assay_problem problem;
} specs[MADE_CASES] = {
    /*                                b hq hk nq nk dk dv */
    { "gqa causal",
      ASSAY_BF16,
      false,
      4,
      { 2, 4, 2, 3, 5, 8, 8, ASSAY_MASK_CAUSAL, 0.25 } },
    { "Wide",
      ASSAY_F16,
      true,
      1,
      { 1, 2, 1, 4, 3, 6, 10, ASSAY_MASK_NONE, 1.0 / 3 } },
    { "f32.unscaled",
      ASSAY_F32,
      false,
      0,
      { 1, 1, 1, 2, 2, 4, 1, ASSAY_MASK_NONE, 0 } },
    { "no keys",
      ASSAY_F16,
      false,
      2,
      { 1, 3, 3, 2, 0, 4, 4, ASSAY_MASK_CAUSAL, -1.5 } },
};

static uint64_t state;

static uint64_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static void *bytes_of(int64_t n, size_t bytes)
{
    unsigned char *out;
    ck_assert_int_eq(assay_alloc("test", n, bytes, &out, NULL), ASSAY_OK);
    for (size_t i = 0; i < (size_t)n * bytes; i++)
        out[i] = (unsigned char)draw();
    return out;
}

/* Numbers, among them those that a copy through arithmetic would lose. */
static float *floats(int64_t n)
{
    static const float odd[] = { -0.0f, 1e-45f, INFINITY, -INFINITY, 0 };
    float *out = bytes_of(n, sizeof *out);
    for (int64_t i = 0; i < n; i++)
        out[i] = draw() % 4 ? (float)draw() / 3e9f : odd[draw() % 5];
    return out;
}

/* The same among those of bf16, which a set stores in 16 bits. */
static float *bf16_floats(int64_t n)
{
    float *out = floats(n);
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, (size_t)n, out, out);
    return out;
}

static double *doubles(int64_t n)
{
    static const double odd[] = { -0.0, 5e-324, INFINITY, -INFINITY, 0 };
    double *out = bytes_of(n, sizeof *out);
    for (int64_t i = 0; i < n; i++)
        out[i] = draw() % 4 ? (double)draw() / 3e9 : odd[draw() % 5];
    return out;
}

/* Of these, the first few are in a case; they have every kind of scale that a
 * recipe has. In the order of the table, as they are read. */
static const struct {
    enum assay_recipe_id recipe;
    enum assay_softmax form;
} made_recipes[] = {
    { ASSAY_RECIPE_BF16, ASSAY_SOFTMAX_NOMINAL },
    { ASSAY_RECIPE_E4M3, ASSAY_SOFTMAX_NOMINAL },
    { ASSAY_RECIPE_F6F8, ASSAY_SOFTMAX_GFX950_BYTE },
    { ASSAY_RECIPE_MXFP4, ASSAY_SOFTMAX_NOMINAL },
};

static int64_t scales_of(enum assay_scale scale, const struct assay_tensor *t)
{
    switch (scale) {
    case ASSAY_SCALE_NONE: return 0;
    case ASSAY_SCALE_CHANNEL: return t->b * t->h * t->d;
    case ASSAY_SCALE_BLOCK: return t->b * t->s * t->h * ((t->d + 31) / 32);
    case ASSAY_SCALE_BLOCK_TOKENS:
        return t->b * t->h * ((t->s + 127) / 128 * 4) * t->d;
    default: return 1;
    }
}

static struct assay_payload payload(enum assay_quantizer_id id,
                                    struct assay_tensor tensor)
{
    const struct assay_quantizer *how = assay_quantizer_get(id);
    const struct assay_format *f = assay_format_get(how->format);
    const int64_t count = tensor.b * tensor.s * tensor.h * tensor.d;
    struct assay_payload out = { .format = f,
                                 .scale = how->scale,
                                 .tensor = tensor,
                                 .count = count,
                                 .codes =
                                     bytes_of(count, assay_format_bytes(f)) };
    out.n_scales = scales_of(how->scale, &tensor);
    if (how->scale == ASSAY_SCALE_TENSOR || how->scale == ASSAY_SCALE_CHANNEL)
        out.scales = floats(out.n_scales);
    if (how->scale == ASSAY_SCALE_BLOCK ||
        how->scale == ASSAY_SCALE_BLOCK_TOKENS)
        out.e8m0 = bytes_of(out.n_scales, 1);
    if (how->scale == ASSAY_SCALE_BLOCK_TOKENS)
        out.past = bytes_of(out.n_scales, 1);
    return out;
}

void made_answer_init(const struct assay_problem *p,
                      const struct assay_recipe *r, struct assay_answer *out)
{
    const int64_t rows = assay_problem_rows(p);
    *out = (struct assay_answer){
        .recipe = r,
        .payloads = {
            payload(r->q, (struct assay_tensor){ p->b, p->nq, p->hq, p->dk,
                                                 r->order, 0 }),
            payload(r->k, (struct assay_tensor){ p->b, p->nk, p->hk, p->dk,
                                                 r->order, 0 }),
            payload(r->v, (struct assay_tensor){ p->b, p->nk, p->hk, p->dv,
                                                 r->order, 0 }),
            r->smooth ? floats(p->b * p->hk * p->dk) : NULL,
            NULL,
        },
        .o = floats(assay_problem_o_elems(p)),
        .lse = doubles(rows),
        .jitter = { floats(rows), floats(rows), floats(p->b * p->hq),
                    bf16_floats(assay_problem_o_elems(p)) },
    };
}

void made_case_init(int i, struct made_case *out)
{
    const struct assay_problem *p = &specs[i].problem;
    const struct assay_format *format = assay_format_get(specs[i].format);
    const size_t bytes = assay_format_bytes(format);
    const int64_t n = assay_problem_o_elems(p), heads = p->b * p->hq;
    state = (uint64_t)i + 1;
    *out = (struct made_case){
        .c = { .name = strdup(specs[i].name),
               .source = strdup(i ? "made for a t\xc3\xa9st" : ""),
               .problem = *p,
               .format = format,
               .q = bytes_of(assay_problem_q_elems(p), bytes),
               .k = bytes_of(assay_problem_k_elems(p), bytes),
               .v = bytes_of(assay_problem_v_elems(p), bytes) },
        .exact = { .o64 = specs[i].f64 ? doubles(n) : NULL,
                   .lse = doubles(assay_problem_rows(p)),
                   .bar_o = doubles(heads),
                   .bar_lse = doubles(heads) },
    };
    out->exact.o = floats(n);
    for (int64_t j = 0; specs[i].f64 && j < n; j++)
        out->exact.o[j] = (float)out->exact.o64[j];
    for (int r = 0; r < specs[i].n_answers; r++)
        made_answer_init(
            p,
            assay_recipe_in_form(assay_recipe_get(made_recipes[r].recipe),
                                 made_recipes[r].form),
            &out->answers[r]);
}

void made_case_free(struct made_case *m)
{
    for (int r = 0; r < ASSAY_RECIPES; r++)
        assay_answer_free(&m->answers[r]);
    assay_exact_free(&m->exact);
    assay_case_free(&m->c);
}

void made_enter(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/assay-set-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        perror(folder);
        exit(99);
    }
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

void made_leave(void)
{
    if (chdir("/") == 0)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void made_write(const char *path, const int *order, int n,
                char hash[SET_HASH_CHARS + 1])
{
    struct assay_provenance provenance = { .command = "test" };
    struct assay_set_writer *w;
    struct assay_error err = { 0 };
    ck_assert_msg(assay_set_create(path, &provenance, &w, &err) == ASSAY_OK,
                  "%s", err.text);
    for (int i = 0; i < n; i++) {
        struct made_case m;
        made_case_init(order[i], &m);
        ck_assert_msg(assay_set_add(w, &m.c, &m.exact, m.answers,
                                    (size_t)specs[order[i]].n_answers,
                                    &err) == ASSAY_OK,
                      "%s", err.text);
        made_case_free(&m);
    }
    ck_assert_msg(assay_set_commit(w, hash, &err) == ASSAY_OK, "%s", err.text);
}

void made_write_all(const char *path)
{
    static const int order[] = { 0, 1, 2, 3 };
    made_write(path, order, MADE_CASES, NULL);
}

static enum assay_status read_answers(const struct assay_set *set, size_t i,
                                      const struct assay_problem *p,
                                      struct assay_error *err)
{
    const struct assay_recipe **recipes;
    size_t n;
    enum assay_status st = assay_set_recipes(set, i, &recipes, &n, err);
    for (size_t r = 0; st == ASSAY_OK && r < n; r++) {
        struct assay_answer answer;
        st = assay_set_read_answer(set, i, p, recipes[r], &answer, err);
        assay_answer_free(&answer);
    }
    free(recipes);
    return st;
}

enum assay_status made_read(const char *path, int check,
                            struct assay_error *err)
{
    struct assay_set *set;
    enum assay_status st = assay_set_open_unchecked(path, &set, err);
    for (size_t i = 0; st == ASSAY_OK && i < assay_set_count(set); i++) {
        struct assay_case c;
        struct assay_exact exact = { 0 };
        st = assay_set_read_case(set, i, &c, err);
        if (st == ASSAY_OK)
            st = assay_set_read_exact(set, i, &c.problem, &exact, err);
        if (st == ASSAY_OK)
            st = read_answers(set, i, &c.problem, err);
        assay_exact_free(&exact);
        assay_case_free(&c);
    }
    if (st == ASSAY_OK && check)
        st = assay_set_check(set, NULL, NULL, err);
    assay_set_close(set);
    return st;
}
