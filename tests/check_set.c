/* SPDX-License-Identifier: MIT
 *
 * golden/set.h: what is written comes back to the bit, whoever else reads;
 * strings of every kind are read; locks are told. Bad files are
 * check_set_bad.c's.
 */
#include <check.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_assay.h"
#include "golden/set.h"
#include "made_set.h"

static const char file[] = "set.h5";

static struct assay_set *open_good(const char *path)
{
    struct assay_set *set;
    struct assay_error err = { 0 };
    ck_assert_msg(assay_set_open(path, &set, &err) == ASSAY_OK, "%s", err.text);
    return set;
}

/* ---- what was written ---- */

#define SAME(a, b, n) ck_assert_mem_eq(a, b, (size_t)(n) * sizeof *(a))

static void same_case(const struct assay_case *a, const struct assay_case *b)
{
    const struct assay_problem *p = &a->problem;
    const int64_t bytes = (int64_t)assay_format_bytes(a->format);
    ck_assert_str_eq(a->name, b->name);
    ck_assert_str_eq(a->source, b->source);
    ck_assert_ptr_eq(a->format, b->format);
    ck_assert_int_eq(p->b, b->problem.b);
    ck_assert_int_eq(p->hq, b->problem.hq);
    ck_assert_int_eq(p->hk, b->problem.hk);
    ck_assert_int_eq(p->nq, b->problem.nq);
    ck_assert_int_eq(p->nk, b->problem.nk);
    ck_assert_int_eq(p->dk, b->problem.dk);
    ck_assert_int_eq(p->dv, b->problem.dv);
    ck_assert_int_eq(p->mask, b->problem.mask);
    SAME(&p->softmax_scale, &b->problem.softmax_scale, 1);
    SAME((char *)a->q, b->q, assay_problem_q_elems(p) * bytes);
    SAME((char *)a->k, b->k, assay_problem_k_elems(p) * bytes);
    SAME((char *)a->v, b->v, assay_problem_v_elems(p) * bytes);
}

static void same_exact(const struct assay_problem *p,
                       const struct assay_exact *a, const struct assay_exact *b)
{
    ck_assert_int_eq(a->o64 != NULL, b->o64 != NULL);
    SAME(a->o, b->o, assay_problem_o_elems(p));
    if (a->o64)
        SAME(a->o64, b->o64, assay_problem_o_elems(p));
    SAME(a->lse, b->lse, assay_problem_rows(p));
    SAME(a->bar_o, b->bar_o, p->b * p->hq);
    SAME(a->bar_lse, b->bar_lse, p->b * p->hq);
}

static void same_payload(const struct assay_payload *a,
                         const struct assay_payload *b)
{
    ck_assert_ptr_eq(a->format, b->format);
    ck_assert_int_eq(a->scale, b->scale);
    ck_assert_int_eq(a->count, b->count);
    ck_assert_int_eq(a->n_scales, b->n_scales);
    SAME((char *)a->codes, b->codes,
         a->count * (int64_t)assay_format_bytes(a->format));
    ck_assert_int_eq(a->tensor.order, b->tensor.order);
    ck_assert(!a->scales == !b->scales && !a->e8m0 == !b->e8m0 &&
              !a->past == !b->past);
    if (a->scales)
        SAME(a->scales, b->scales, a->n_scales);
    if (a->e8m0)
        SAME(a->e8m0, b->e8m0, a->n_scales);
    if (a->past)
        SAME(a->past, b->past, a->n_scales);
}

static void same_answer(const struct assay_problem *p,
                        const struct assay_answer *a,
                        const struct assay_answer *b)
{
    const int64_t rows = assay_problem_rows(p);
    ck_assert_ptr_eq(a->recipe, b->recipe);
    same_payload(&a->payloads.q, &b->payloads.q);
    same_payload(&a->payloads.k, &b->payloads.k);
    same_payload(&a->payloads.v, &b->payloads.v);
    ck_assert(!a->payloads.k_mean == !b->payloads.k_mean);
    if (a->payloads.k_mean)
        SAME(a->payloads.k_mean, b->payloads.k_mean, p->b * p->hk * p->dk);
    SAME(a->o, b->o, assay_problem_o_elems(p));
    SAME(a->lse, b->lse, rows);
    SAME(a->jitter.o, b->jitter.o, rows);
    SAME(a->jitter.lse, b->jitter.lse, rows);
    SAME(a->jitter.gain, b->jitter.gain, p->b * p->hq);
    SAME(a->jitter.bound, b->jitter.bound, assay_problem_o_elems(p));
}

static void same_answers(const struct assay_set *set, size_t i,
                         const struct made_case *m)
{
    const struct assay_problem *p = &m->c.problem;
    const struct assay_recipe **recipes;
    size_t n, want = 0;
    while (want < ASSAY_RECIPES && m->answers[want].recipe)
        want++;
    ck_assert_int_eq(assay_set_recipes(set, i, &recipes, &n, NULL), ASSAY_OK);
    ck_assert_uint_eq(n, want);
    for (size_t r = 0; r < n; r++) {
        struct assay_answer answer;
        ck_assert_int_eq(
            assay_set_read_answer(set, i, p, recipes[r], &answer, NULL),
            ASSAY_OK);
        same_answer(p, &m->answers[r], &answer);
        assay_answer_free(&answer);
    }
    free(recipes);
}

static size_t find_case(const struct assay_set *set, const char *name)
{
    for (size_t i = 0; i < assay_set_count(set); i++)
        if (strcmp(assay_set_case_name(set, i), name) == 0)
            return i;
    ck_abort_msg("no case %s", name);
    return 0;
}

START_TEST(comes_back)
{
    struct made_case m;
    struct assay_case c, about;
    struct assay_exact exact;
    struct assay_error err = { 0 };
    made_write_all(file);
    struct assay_set *set = open_good(file);
    ck_assert_uint_eq(assay_set_count(set), MADE_CASES);
    made_case_init(_i, &m);
    size_t i = find_case(set, m.c.name);
    ck_assert_msg(assay_set_describe(set, i, &about, &err) == ASSAY_OK, "%s",
                  err.text);
    ck_assert_ptr_null(about.q);
    ck_assert_str_eq(about.source, m.c.source);
    ck_assert_msg(assay_set_read_case(set, i, &c, &err) == ASSAY_OK, "%s",
                  err.text);
    same_case(&m.c, &c);
    ck_assert_msg(assay_set_read_exact(set, i, &c.problem, &exact, &err) ==
                      ASSAY_OK,
                  "%s", err.text);
    same_exact(&c.problem, &m.exact, &exact);
    same_answers(set, i, &m);
    ck_assert_msg(assay_set_check(set, NULL, NULL, &err) == ASSAY_OK, "%s",
                  err.text);
    assay_exact_free(&exact);
    assay_case_free(&c);
    assay_case_free(&about);
    made_case_free(&m);
    assay_set_close(set);
}
END_TEST

/* Case 0 with one answer, written and read. */
static void one_answer_comes_back(const struct assay_recipe *recipe)
{
    struct assay_provenance provenance = { .command = "test" };
    struct assay_set_writer *w;
    struct assay_error err = { 0 };
    struct made_case m;
    made_case_init(0, &m);
    for (int r = 0; r < ASSAY_RECIPES; r++)
        assay_answer_free(&m.answers[r]);
    made_answer_init(&m.c.problem, recipe, &m.answers[0]);
    ck_assert_int_eq(assay_set_create(file, &provenance, &w, NULL), ASSAY_OK);
    ck_assert_msg(assay_set_add(w, &m.c, &m.exact, m.answers, 1, &err) ==
                      ASSAY_OK,
                  "%s", err.text);
    ck_assert_int_eq(assay_set_commit(w, NULL, NULL), ASSAY_OK);
    struct assay_set *set = open_good(file);
    same_answers(set, 0, &m);
    ck_assert_msg(assay_set_check(set, NULL, NULL, &err) == ASSAY_OK, "%s",
                  err.text);
    assay_set_close(set);
    made_case_free(&m);
}

START_TEST(every_form_comes_back)
{
    const struct assay_recipe *recipe =
        assay_recipe_get((enum assay_recipe_id)_i);
    for (int form = 0; form < ASSAY_SOFTMAXES; form++)
        one_answer_comes_back(
            assay_recipe_in_form(recipe, (enum assay_softmax)form));
}
END_TEST

START_TEST(provenance_is_kept)
{
    made_write_all(file);
    struct assay_set *set = open_good(file);
    char *command = assay_set_provenance(set, "command");
    ck_assert_str_eq(command, "test");
    ck_assert_ptr_null(assay_set_provenance(set, "nothing"));
    free(command);
    assay_set_close(set);
}
END_TEST

static void *bytes_of_file(const char *path, long *n)
{
    FILE *from = fopen(path, "rb");
    ck_assert_ptr_nonnull(from);
    fseek(from, 0, SEEK_END);
    *n = ftell(from);
    rewind(from);
    void *bytes = malloc((size_t)*n + 1);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)*n, from), (size_t)*n);
    fclose(from);
    return bytes;
}

/* The hash is of the content; the bytes are of the order too, and both are
 * the same again for the same order. */
START_TEST(order_does_not_count)
{
    static const int orders[][MADE_CASES] = { { 0, 1, 2, 3 },
                                              { 3, 2, 1, 0 },
                                              { 2, 0, 3, 1 } };
    char hash[3][SET_HASH_CHARS + 1], again[SET_HASH_CHARS + 1];
    char less[SET_HASH_CHARS + 1];
    const char *before = "";
    for (int i = 0; i < 3; i++) {
        made_write(file, orders[i], MADE_CASES, hash[i]);
        ck_assert_str_eq(hash[i], hash[0]);
    }
    struct assay_set *set = open_good(file);
    ck_assert_str_eq(assay_set_hash(set), hash[0]);
    for (size_t i = 0; i < MADE_CASES; i++) {
        ck_assert_str_gt(assay_set_case_name(set, i), before);
        before = assay_set_case_name(set, i);
    }
    ck_assert_int_eq(assay_set_check(set, NULL, NULL, NULL), ASSAY_OK);
    assay_set_close(set);
    setenv("SOURCE_DATE_EPOCH", "1", 1);
    made_write("one.h5", orders[2], MADE_CASES, again);
    made_write("two.h5", orders[2], MADE_CASES, again);
    long n, m;
    void *one = bytes_of_file("one.h5", &n), *two = bytes_of_file("two.h5", &m);
    ck_assert_int_eq(n, m);
    ck_assert_mem_eq(one, two, (size_t)n);
    made_write(file, orders[0], MADE_CASES - 1, less);
    ck_assert_str_ne(less, hash[0]);
    free(one);
    free(two);
}
END_TEST

/* ---- words in the file, as another program sees them ---- */

static void expect_words(hid_t in, const char *name, hid_t type,
                         const char *format, const void *want, size_t bytes)
{
    char text[16] = "";
    hid_t set = H5Dopen2(in, name, H5P_DEFAULT);
    ck_assert_msg(set >= 0, "%s", name);
    hid_t own = H5Dget_type(set);
    ck_assert_msg(H5Tequal(own, type) > 0, "%s: type", name);
    ck_assert_uint_eq(H5Dget_storage_size(set), bytes);
    void *got = malloc(bytes + 1);
    ck_assert_int_ge(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, got), 0);
    ck_assert_mem_eq(got, want, bytes);
    hid_t at = H5Aopen(set, "format", H5P_DEFAULT), string = H5Aget_type(at);
    ck_assert_uint_eq(H5Tget_size(string), strlen(format));
    H5Aread(at, string, text);
    ck_assert_str_eq(text, format);
    free(got);
    H5Tclose(string);
    H5Aclose(at);
    H5Tclose(own);
    H5Dclose(set);
}

/* All words there are, so that none can be narrowed, widened or canonised on
 * the way: subnormals, both infinities, every NaN. */
START_TEST(words_are_ours)
{
    static uint16_t words[65536];
    static uint8_t codes[65536];
    struct made_case m;
    struct assay_set_writer *w;
    struct assay_provenance provenance = { .command = "test" };
    const enum assay_format_id format = _i ? ASSAY_BF16 : ASSAY_F16;
    for (int i = 0; i < 65536; i++) {
        words[i] = (uint16_t)i;
        codes[i] = (uint8_t)i;
    }
    made_case_init(0, &m);
    struct assay_problem *p = &m.c.problem;
    *p = (struct assay_problem){
        1, 1, 1, 512, 512, 128, 128, ASSAY_MASK_NONE, 1
    };
    void *old[] = { m.c.q, m.c.k, m.c.v, m.answers[1].payloads.q.codes };
    m.c.format = assay_format_get(format);
    m.c.q = m.c.k = m.c.v = words;
    m.answers[1].payloads.q.codes = codes;
    m.answers[1].payloads.q.count = 65536;
    ck_assert_int_eq(assay_set_create(file, &provenance, &w, NULL), ASSAY_OK);
    /* only q, k, v and the one payload are of the size said */
    float *o = calloc(65536, sizeof *o);
    double *d = calloc(65536, sizeof *d);
    struct assay_exact exact = { o, NULL, d, d, d };
    struct assay_answer answer = { .recipe = m.answers[1].recipe,
                                   .payloads = m.answers[1].payloads,
                                   .o = o,
                                   .lse = d,
                                   .jitter = { o, o, o, o } };
    answer.payloads.k.codes = answer.payloads.v.codes = codes;
    ck_assert_int_eq(assay_set_add(w, &m.c, &exact, &answer, 1, NULL),
                     ASSAY_OK);
    ck_assert_int_eq(assay_set_commit(w, NULL, NULL), ASSAY_OK);
    hid_t id = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t group = H5Gopen2(id, "cases/gqa causal", H5P_DEFAULT);
    ck_assert_int_ge(group, 0);
    expect_words(group, "q", H5T_STD_U16LE, m.c.format->name, words,
                 sizeof words);
    expect_words(group, "recipes/e4m3/q", H5T_STD_U8LE, "e4m3fn", codes,
                 sizeof codes);
    H5Gclose(group);
    H5Fclose(id);
    m.c.q = old[0];
    m.c.k = old[1];
    m.c.v = old[2];
    m.answers[1].payloads.q.codes = old[3];
    made_case_free(&m);
    free(o);
    free(d);
}
END_TEST

/* ---- how a payload was made, for those who decode it ---- */

static const struct {
    const char *at, *name, *want;
    size_t bytes; /* of the dataset */
} said[] = {
    { "e4m3", "promise", "arithmetic", 0 },
    { "mxfp4", "promise", "statistical", 0 },
    { "f6f8", "promise", "arithmetic", 0 },
    { "mxfp4", "softmax_form", "nominal", 0 },
    { "f6f8", "softmax_form", "gfx950-byte", 0 },
    { "bf16/q", "quantizer", "bf16", 2 * 3 * 4 * 8 * 2 },
    { "e4m3/q_scale", "format", "tensor", 4 },
    { "e4m3/q_scale", "rule", "divide-recip", 4 },
    { "f6f8/v", "quantizer", "fp8chan", 2 * 5 * 2 * 8 },
    { "f6f8/v_scale", "format", "channel", 2 * 2 * 8 * 4 },
    { "f6f8/k_scale", "format", "block", 2 * 5 * 2 * 1 },
    { "f6f8/k_scale", "rule", "aiter-mxfp6", 2 * 5 * 2 * 1 },
    { "f6f8/k_mean", "xxh3_128", NULL, 2 * 2 * 8 * 4 },
    { "mxfp4/k", "quantizer", "mxfp4", 2 * 5 * 2 * 8 },
    { "mxfp4/v", "quantizer", "mxfp4-v", 2 * 5 * 2 * 8 },
    { "mxfp4/v_scale", "format", "block-tokens", 2 * 2 * 4 * 8 },
    { "mxfp4/v_scale", "rule", "aiter-mxfp4-v", 2 * 2 * 4 * 8 },
    { "mxfp4/v_scale", "token_order", "fp6p", 2 * 2 * 4 * 8 },
    { "mxfp4/v_past", "format", "e2m1", 2 * 2 * 4 * 8 },
};

START_TEST(it_is_said_how)
{
    char text[64] = "";
    made_write_all(file);
    hid_t id = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t group = H5Gopen2(id, "cases/gqa causal/recipes", H5P_DEFAULT);
    hid_t object = H5Oopen(group, said[_i].at, H5P_DEFAULT);
    ck_assert_msg(object >= 0, "%s", said[_i].at);
    hid_t at = H5Aopen(object, said[_i].name, H5P_DEFAULT);
    ck_assert_msg(at >= 0, "%s of %s", said[_i].name, said[_i].at);
    hid_t string = H5Aget_type(at);
    ck_assert_uint_lt(H5Tget_size(string), sizeof text);
    H5Aread(at, string, text);
    if (said[_i].want)
        ck_assert_str_eq(text, said[_i].want);
    if (said[_i].bytes)
        ck_assert_uint_eq(H5Dget_storage_size(object), said[_i].bytes);
    H5Tclose(string);
    H5Aclose(at);
    H5Oclose(object);
    H5Gclose(group);
    H5Fclose(id);
}
END_TEST

/* ---- strings ---- */

static const struct {
    const char *what;
    size_t size; /* 0: variable length */
    H5T_str_t pad;
    H5T_cset_t set;
    const char *bytes; /* NULL: never written */
    const char *want;
} strings[] = {
    { "fixed, unterminated", 4, H5T_STR_NULLPAD, H5T_CSET_ASCII, "1234",
      "1234" },
    { "fixed, full, terminated by its size", 4, H5T_STR_NULLTERM,
      H5T_CSET_ASCII, "1234", "1234" },
    { "fixed, padded", 8, H5T_STR_NULLPAD, H5T_CSET_UTF8, "12\0\0\0\0\0",
      "12" },
    { "space padded", 8, H5T_STR_SPACEPAD, H5T_CSET_ASCII, "1 34    ", "1 34" },
    { "only spaces", 3, H5T_STR_SPACEPAD, H5T_CSET_ASCII, "   ", "" },
    { "fixed, empty", 1, H5T_STR_NULLPAD, H5T_CSET_ASCII, "", "" },
    { "variable", 0, H5T_STR_NULLTERM, H5T_CSET_ASCII, "abc", "abc" },
    { "variable, empty", 0, H5T_STR_NULLTERM, H5T_CSET_ASCII, "", "" },
    { "variable, UTF-8", 0, H5T_STR_NULLTERM, H5T_CSET_UTF8,
      "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
    { "variable, never written", 0, H5T_STR_NULLTERM, H5T_CSET_UTF8, NULL, "" },
};

static void put_string(hid_t at, const char *name, size_t size, H5T_str_t pad,
                       H5T_cset_t set, const char *bytes)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, size ? size : H5T_VARIABLE);
    H5Tset_strpad(type, pad);
    H5Tset_cset(type, set);
    H5Adelete(at, name);
    hid_t id = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(id, 0);
    if (bytes)
        ck_assert_int_ge(
            H5Awrite(id, type, size ? (const void *)bytes : &bytes), 0);
    H5Aclose(id);
    H5Sclose(space);
    H5Tclose(type);
}

START_TEST(strings_are_read)
{
    struct assay_case c;
    struct assay_error err = { 0 };
    made_write_all(file);
    hid_t id = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t group = H5Gopen2(id, "cases/Wide", H5P_DEFAULT);
    put_string(group, "source", strings[_i].size, strings[_i].pad,
               strings[_i].set, strings[_i].bytes);
    /* one that is compared, not only passed on */
    put_string(group, "mask", strings[_i].size ? 8 : 0, strings[_i].pad,
               strings[_i].set,
               strings[_i].pad == H5T_STR_SPACEPAD ? "none    " : "none\0\0\0");
    H5Gclose(group);
    H5Fclose(id);
    struct assay_set *set; /* the hash of other words is not the file's */
    ck_assert_msg(assay_set_open_unchecked(file, &set, &err) == ASSAY_OK, "%s",
                  err.text);
    ck_assert_msg(assay_set_describe(set, find_case(set, "Wide"), &c, &err) ==
                      ASSAY_OK,
                  "%s: %s", strings[_i].what, err.text);
    ck_assert_msg(strcmp(c.source, strings[_i].want) == 0, "%s: \"%s\"",
                  strings[_i].what, c.source);
    assay_case_free(&c);
    assay_set_close(set);
}
END_TEST

/* ---- others at the same file ---- */

/* Opens the file in another process until this one closes the pipe. */
static pid_t hold(unsigned flags, int *let_go)
{
    int ready[2], done[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(done), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(done[1]);
        hid_t id = H5Fopen(file, flags, H5P_DEFAULT);
        byte = id >= 0 ? 'y' : 'n';
        ssize_t n = write(ready[1], &byte, 1);
        n += read(done[0], &byte, 1);
        H5Fclose(id);
        _exit(n < 0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'y');
    close(ready[0]);
    close(ready[1]);
    close(done[0]);
    *let_go = done[1];
    return pid;
}

START_TEST(two_readers)
{
    struct assay_error err = { 0 };
    int let_go;
    made_write_all(file);
    pid_t pid = hold(H5F_ACC_RDONLY, &let_go);
    struct assay_set *set = open_good(file), *other = open_good(file);
    ck_assert_int_eq(assay_set_check(set, NULL, NULL, NULL), ASSAY_OK);
    ck_assert_msg(made_read(file, 1, &err) == ASSAY_OK, "%s", err.text);
    assay_set_close(set);
    ck_assert_int_eq(assay_set_check(other, NULL, NULL, NULL), ASSAY_OK);
    assay_set_close(other);
    close(let_go);
    waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(beside_a_writer)
{
    struct assay_error err = { 0 };
    int let_go;
    made_write_all(file);
    pid_t pid = hold(H5F_ACC_RDWR, &let_go);
    enum assay_status st = made_read(file, 0, &err);
    close(let_go);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(st, ASSAY_FILE);
    ck_assert_ptr_eq(strstr(err.text, file), err.text);
    ck_assert_ptr_nonnull(strstr(err.text, "HDF5_USE_FILE_LOCKING"));
    ck_assert_msg(made_read(file, 1, &err) == ASSAY_OK, "%s", err.text);
}
END_TEST

/* ---- the writer ---- */

START_TEST(abandoned)
{
    struct assay_provenance provenance = { .command = "test" };
    struct assay_set_writer *w;
    struct assay_error err = { 0 };
    struct made_case m;
    long n, after;
    made_write_all(file);
    void *before = bytes_of_file(file, &n);
    made_case_init(0, &m);
    ck_assert_int_eq(assay_set_create(file, &provenance, &w, NULL), ASSAY_OK);
    ck_assert_int_eq(assay_set_add(w, &m.c, &m.exact, m.answers, 2, NULL),
                     ASSAY_OK);
    /* the same name again is refused, and the writer can still be ended */
    ck_assert_int_eq(assay_set_add(w, &m.c, &m.exact, m.answers, 2, &err),
                     ASSAY_FILE);
    ck_assert_ptr_eq(strstr(err.text, file), err.text);
    ck_assert_ptr_nonnull(strstr(err.text, m.c.name));
    assay_set_abandon(w);
    assay_set_abandon(NULL);
    void *now = bytes_of_file(file, &after);
    ck_assert_int_eq(n, after);
    ck_assert_mem_eq(before, now, (size_t)n);
    ck_assert_int_eq(system("ls *.tmp >/dev/null 2>&1"), 2 << 8);
    made_case_free(&m);
    free(before);
    free(now);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("set");
    TCase *c = tcase_create("set");
    suite_add_tcase(s, c);
    tcase_add_loop_test(c, comes_back, 0, MADE_CASES);
    tcase_add_loop_test(c, every_form_comes_back, 0, ASSAY_RECIPES);
    tcase_add_loop_test(c, it_is_said_how, 0, sizeof said / sizeof *said);
    tcase_add_test(c, provenance_is_kept);
    tcase_add_test(c, order_does_not_count);
    tcase_add_loop_test(c, words_are_ours, 0, 2);
    tcase_add_loop_test(c, strings_are_read, 0,
                        sizeof strings / sizeof *strings);
    tcase_add_test(c, two_readers);
    tcase_add_test(c, beside_a_writer);
    tcase_add_test(c, abandoned);
    made_enter();
    int status = assay_check_main(s);
    made_leave();
    return status;
}
