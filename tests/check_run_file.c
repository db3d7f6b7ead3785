/* SPDX-License-Identifier: MIT
 *
 * golden/run_file.h: every field comes back to the bit, and a file that is not
 * what it says is refused with a sentence that names file, result and object.
 */
#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_assay.h"
#include "golden/recipe_file.h"
#include "golden/run_file.h"
#include "golden/run_json.h"
#include "golden/stored.h"
#include "made_set.h"

static const char good[] = "good.h5", bad[] = "bad.h5";

static const struct assay_problem problems[] = {
    { 2, 4, 2, 3, 5, 8, 6, ASSAY_MASK_CAUSAL, 0.25 },
    { 1, 3, 1, 7, 2, 4, 4, ASSAY_MASK_NONE, 1.0 / 3 },
    { 1, 1, 1, 0, 2, 4, 1, ASSAY_MASK_NONE, -1.5 },
};
enum { PROBLEMS = 3, RESULTS = 5 };

static const struct run_facts facts = {
    .set = "sets/h\xc3\xa4upter.h5",
    .set_content_hash = "0123456789abcdef0123456789abcdef",
    .set_command = NULL,
    .module = "/lib/m.so",
    .module_name = "m",
    .module_build = "",
    .module_device = "host",
    .driver = "module",
    .driver_option = "m.so",
    .timeout_option = NULL,
    .quarantine_option = "known.json",
    .repeat = "3",
    .limits_set = "{}",
    .limits_file = NULL,
    .limits_file_name = NULL,
    .limits_command = "lse=0.5",
};

/* ---- results that are drawn ---- */

static uint64_t state;

static uint64_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

/* Numbers, among them those that a copy through arithmetic would lose. */
static double number(void)
{
    static const uint64_t odd[] = {
        0x8000000000000000, /* -0 */
        1,                  /* the least subnormal */
        0x7ff0000000000000, /* inf */
        0xfff0000000000000, /* -inf */
        0x7ff8000000000abc, /* NaN with a payload */
        0xfff8000000000001,
    };
    double x = ldexp((double)draw() / 1e9, (int)(draw() % 200) - 100);
    if (draw() % 3 == 0)
        memcpy(&x, &odd[draw() % 6], sizeof x);
    return x;
}

static void fill_rows(struct assay_row *rows, int64_t n, int64_t dv)
{
    for (int64_t i = 0; i < n; i++) {
        struct assay_row *r = &rows[i];
        r->distance = number();
        r->norm_a = number();
        r->norm_b = number();
        r->dot = number();
        r->sum_abs = number();
        r->max_abs = number();
        r->max_a = number();
        r->max_b = number();
        r->max_c = (int64_t)(draw() % (uint64_t)(dv + 1)) - 1;
        r->mismatched_c = (int64_t)(draw() % (uint64_t)(dv + 1)) - 1;
        r->nonfinite_a = (int64_t)(draw() % (uint64_t)(dv + 1));
        r->nonfinite_b = (int64_t)(draw() % (uint64_t)(dv + 1));
        r->mismatched = (int64_t)(draw() % (uint64_t)(dv + 1));
    }
}

static void fill_doubles(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = number();
}

static void fill_floats(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)(draw() << 1 ^ draw());
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static void fill_sketch(struct sketch *s)
{
    const struct assay_problem *p = &s->problem;
    const int64_t rows = assay_problem_rows(p), heads = p->b * p->hq;
    fill_rows(s->ce, rows, p->dv);
    fill_rows(s->ex, rows, p->dv);
    fill_rows(s->cx, rows, p->dv);
    for (int64_t i = 0; i < rows; i++)
        s->beyond[i] = (struct assay_row_beyond){
            number(), number(), number(),
            (int64_t)(draw() % (uint64_t)(p->dv + 1)) - 1
        };
    double *const doubles[] = { s->lse_c, s->lse_e, s->lse_x };
    for (int i = 0; i < 3; i++)
        fill_doubles(doubles[i], rows);
    fill_floats(s->jitter_o, rows);
    fill_floats(s->jitter_lse, rows);
    fill_floats(s->jitter_gain, heads);
    fill_doubles(s->bar_o, heads);
    fill_doubles(s->bar_lse, heads);
    fill_doubles(s->unwritten, heads);
    s->guard_bytes = (int64_t)draw() << 30;
    s->input_bytes = 2;
    s->o_unwritten = rows > 0 ? 3 : 0;
    s->lse_unwritten = rows > 0 ? 4 : 0;
    s->runs = 7;
    s->runs_differ = 5;
    s->first_differs = 3;
    s->unwritten_at = (struct assay_place){ -1, -1, -1, -1 };
    if (rows > 0)
        s->unwritten_at = (struct assay_place){ 0, p->hq - 1, p->nq - 1, -1 };
    snprintf(s->guard_where, sizeof s->guard_where, "after o");
    snprintf(s->bits, sizeof s->bits, "%016llx%016llx",
             (unsigned long long)draw(), (unsigned long long)draw());
}

/* Result 1 delivers K and V of f6f8, whose K differs; 3 delivers all. */
static void fill_payloads(int result, struct sketch *s)
{
    struct scale_bytes *k = &s->payload[ASSAY_INPUT_K],
                       *v = &s->payload[ASSAY_INPUT_V];
    if (result != 1 && result != 3)
        return;
    *k = (struct scale_bytes){
        .there = true,
        .steps = { [BYTES_SCALES] = { .count = 2,
                                      .differ = 1,
                                      .first = 1,
                                      .first_set = 100,
                                      .first_candidate = 101,
                                      .left = 2,
                                      .bins[STEPS_MOST + 1] = 1 },
                   [BYTES_CODES] = { .count = 8,
                                     .differ = 4,
                                     .first = 2,
                                     .first_set = 1,
                                     .first_candidate = 33,
                                     .bins = { 1, 0, 0, 1 },
                                     .signs = 1,
                                     .classes = 1 },
                   [BYTES_PAST] = { .first = -1 } },
        .looks_like = "scale rule ceil or sage, not floor",
        .also = 2,
    };
    *v = (struct scale_bytes){
        .there = true,
        .steps = { [BYTES_SCALES] = { .count = result == 1 ? 4 : 1,
                                      .first = -1 },
                   [BYTES_CODES] = { .count = 8, .first = -1 },
                   [BYTES_PAST] = { .first = -1 } },
    };
    s->no_o = result == 1;
    s->payload_unwritten = 9;
    if (result == 1)
        return;
    s->payload[ASSAY_INPUT_Q] = *k; /* 7 tokens of 3 heads */
    s->payload[ASSAY_INPUT_Q].steps[BYTES_SCALES].count = 21;
    s->payload[ASSAY_INPUT_Q].steps[BYTES_CODES].count = 84;
}

/* The recipe of the user, and a built-in one in another form. */
static const struct assay_recipe *recipe_of(int i)
{
    static const char mine[] =
        "{\"quantizers\": [{\"name\": \"floor8\", \"like\": \"mxfp8\", "
        "\"rule\": \"floor\"}], \"recipes\": [{\"name\": \"mine\", "
        "\"like\": \"mxfp8\", \"q\": \"floor8\"}]}";
    const struct assay_recipe *r;
    struct assay_error err;
    if (i == 1)
        return assay_recipe_in_form(assay_recipe_find("f6f8"),
                                    ASSAY_SOFTMAX_GFX950_BYTE);
    if (i != 3)
        return assay_recipe_find("e4m3");
    ck_assert_msg(recipe_define("test", mine, &r, &err) == ASSAY_OK, "%s",
                  err.text);
    return r;
}

/* Result 2 has no kernel, 4 has no rows though they are asked for. */
static void made_result(int i, struct run_result *r)
{
    static const char *const names[] = { "gqa causal", "Wide", "Wide",
                                         "\xc3\xa9", "none" };
    const struct assay_problem *p = &problems[i == 4 ? 2 : i % 2];
    state = (uint64_t)i + 1;
    *r = (struct run_result){ .case_name = names[i],
                              .kernel = i == 2 ? "" : "attention.x",
                              .input = i == 2  ? NULL
                                       : i % 2 ? "packed"
                                               : "raw",
                              .verdict = i == 2 ? "unsupported" : "wrong",
                              .reason = i ? "because" : "",
                              .notes = i ? "" : "noted",
                              .recipe = recipe_of(i),
                              .problem = *p,
                              .seconds = i == 1 ? NAN : 0.1 * i,
                              .ran = i != 2 };
    if (!r->ran)
        return;
    ck_assert_int_eq(sketch_new(p, r->recipe, &r->sketch, NULL), ASSAY_OK);
    fill_sketch(&r->sketch);
    fill_payloads(i, &r->sketch);
}

static void write_to(const char *path)
{
    struct run_file_writer *w;
    struct assay_error err;
    ck_assert_msg(run_file_create(path, "assay validate x", &facts, &w, &err) ==
                      ASSAY_OK,
                  "%s", err.text);
    for (int i = 0; i < RESULTS; i++) {
        struct run_result r;
        made_result(i, &r);
        ck_assert_msg(run_file_add(w, &r, &err) == ASSAY_OK, "%s", err.text);
        sketch_free(&r.sketch);
    }
    ck_assert_msg(run_file_commit(w, &err) == ASSAY_OK, "%s", err.text);
}

static void setup(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    write_to(good);
}

/* ---- what comes back ---- */

#define SAME(a, b, n) ck_assert_mem_eq(a, b, (size_t)(n) * sizeof *(a))

static void same_payloads(const struct sketch *a, const struct sketch *b)
{
    for (int i = 0; i < ASSAY_INPUTS; i++) {
        const struct scale_bytes *x = &a->payload[i], *y = &b->payload[i];
        ck_assert_int_eq(x->there, y->there);
        ck_assert_mem_eq(x->steps, y->steps, sizeof x->steps);
        ck_assert_str_eq(x->looks_like, y->looks_like);
        ck_assert_int_eq(x->also, y->also);
    }
}

/* Whole structs: a member that the tables of columns forget is seen here. */
static void same_sketch(const struct sketch *a, const struct sketch *b)
{
    const struct assay_problem *p = &a->problem;
    const int64_t rows = assay_problem_rows(p), heads = p->b * p->hq;
    ck_assert_mem_eq(p, &b->problem, sizeof *p);
    ck_assert_ptr_eq(a->recipe, b->recipe);
    if (rows > 0) {
        SAME(a->ce, b->ce, rows);
        SAME(a->ex, b->ex, rows);
        SAME(a->cx, b->cx, rows);
        SAME(a->beyond, b->beyond, rows);
        SAME(a->lse_c, b->lse_c, rows);
        SAME(a->lse_e, b->lse_e, rows);
        SAME(a->lse_x, b->lse_x, rows);
        SAME(a->jitter_o, b->jitter_o, rows);
        SAME(a->jitter_lse, b->jitter_lse, rows);
    }
    SAME(a->jitter_gain, b->jitter_gain, heads);
    SAME(a->bar_o, b->bar_o, heads);
    SAME(a->bar_lse, b->bar_lse, heads);
    SAME(a->unwritten, b->unwritten, heads);
    ck_assert_int_eq(a->guard_bytes, b->guard_bytes);
    ck_assert_int_eq(a->input_bytes, b->input_bytes);
    ck_assert_int_eq(a->o_unwritten, b->o_unwritten);
    ck_assert_int_eq(a->lse_unwritten, b->lse_unwritten);
    ck_assert_int_eq(a->payload_unwritten, b->payload_unwritten);
    ck_assert_int_eq(a->no_o, b->no_o);
    ck_assert_int_eq(a->runs, b->runs);
    ck_assert_int_eq(a->runs_differ, b->runs_differ);
    ck_assert_int_eq(a->first_differs, b->first_differs);
    ck_assert_mem_eq(&a->unwritten_at, &b->unwritten_at,
                     sizeof a->unwritten_at);
    ck_assert_str_eq(a->guard_where, b->guard_where);
    ck_assert_str_eq(a->bits, b->bits);
    same_payloads(a, b);
}

START_TEST(comes_back)
{
    struct run_file *run;
    struct run_result a, b;
    struct assay_error err;
    ck_assert_msg(run_file_open(good, &run, &err) == ASSAY_OK, "%s", err.text);
    ck_assert_uint_eq(run_file_count(run), RESULTS);
    made_result(_i, &a);
    ck_assert_msg(run_file_read(run, (size_t)_i, &b, &err) == ASSAY_OK, "%s",
                  err.text);
    ck_assert_str_eq(a.case_name, b.case_name);
    ck_assert_str_eq(a.kernel, b.kernel);
    ck_assert_pstr_eq(a.input, b.input);
    ck_assert_str_eq(a.verdict, b.verdict);
    ck_assert_str_eq(a.reason, b.reason);
    ck_assert_str_eq(a.notes, b.notes);
    ck_assert_ptr_eq(a.recipe, b.recipe);
    ck_assert_mem_eq(&a.problem, &b.problem, sizeof a.problem);
    ck_assert_mem_eq(&a.seconds, &b.seconds, sizeof a.seconds);
    ck_assert_int_eq(a.ran, b.ran);
    if (a.ran)
        same_sketch(&a.sketch, &b.sketch);
    run_result_free(&b);
    ck_assert_int_eq(run_file_describe(run, (size_t)_i, &b, &err), ASSAY_OK);
    ck_assert_ptr_null(b.sketch.ce);
    ck_assert_str_eq(a.sketch.bits, b.sketch.bits);
    run_result_free(&b);
    ck_assert_int_eq(run_file_check(run, NULL, NULL, &err), ASSAY_OK);
    sketch_free(&a.sketch);
    run_file_close(run);
}
END_TEST

START_TEST(facts_come_back)
{
    struct run_file *run;
    ck_assert_int_eq(run_file_open(good, &run, NULL), ASSAY_OK);
    const struct run_facts *f = run_file_facts(run);
#define RUN_FACT(member, needed) ck_assert_pstr_eq(f->member, facts.member);
#include "golden/run_fact.def"
#undef RUN_FACT
    static const char *const keys[] = { "version", "command", "date",
                                        "host",    "cpu",     "blas" };
    for (int i = 0; i < 6; i++) {
        char *text = run_file_provenance(run, keys[i]);
        ck_assert_msg(text && *text, "%s", keys[i]);
        free(text);
    }
    ck_assert_ptr_null(run_file_provenance(run, "nothing"));
    run_file_close(run);
}
END_TEST

START_TEST(abandoned_leaves_the_old_file)
{
    struct stat before, after;
    struct run_file_writer *w;
    struct run_result r;
    ck_assert_int_eq(stat(good, &before), 0);
    ck_assert_int_eq(run_file_create(good, "x", &facts, &w, NULL), ASSAY_OK);
    made_result(0, &r);
    ck_assert_int_eq(run_file_add(w, &r, NULL), ASSAY_OK);
    sketch_free(&r.sketch);
    run_file_abandon(w);
    ck_assert_int_eq(stat(good, &after), 0);
    ck_assert_int_eq(before.st_ino, after.st_ino);
    ck_assert_int_eq(before.st_size, after.st_size);
    ck_assert_int_eq(system("! ls | grep -q tmp"), 0);
}
END_TEST

/* ---- files that lie ---- */

static void copy_good(long bytes)
{
    static char block[1 << 20];
    FILE *from = fopen(good, "rb"), *to = fopen(bad, "wb");
    ck_assert(from && to);
    size_t n = fread(block, 1, sizeof block, from);
    ck_assert_uint_lt(n, sizeof block);
    if (bytes >= 0 && (size_t)bytes < n)
        n = (size_t)bytes;
    ck_assert_uint_eq(fwrite(block, 1, n, to), n);
    fclose(from);
    ck_assert_int_eq(fclose(to), 0);
}

static enum assay_status read_bad(struct assay_error *err)
{
    struct run_file *run;
    enum assay_status st = run_file_open_unchecked(bad, &run, err);
    for (size_t i = 0; st == ASSAY_OK && i < run_file_count(run); i++) {
        struct run_result r;
        st = run_file_read(run, i, &r, err);
        run_result_free(&r);
    }
    run_file_close(run);
    return st;
}

/* Refused with a sentence that has the file and these words. */
static void expect(const char *what, const char *words)
{
    struct assay_error err = { 0 };
    enum assay_status st = read_bad(&err);
    ck_assert_msg(st == ASSAY_FORMAT, "%s: status %d: %s", what, (int)st,
                  err.text);
    ck_assert_msg(strstr(err.text, bad) && strstr(err.text, words),
                  "%s: no \"%s\" in \"%s\"", what, words, err.text);
}

/* A result of a copy, opened to be changed. */
static hid_t open_group(hid_t *file, const char *name)
{
    copy_good(-1);
    *file = H5Fopen(bad, H5F_ACC_RDWR, H5P_DEFAULT);
    ck_assert_int_ge(*file, 0);
    hid_t group = H5Gopen2(*file, name, H5P_DEFAULT);
    ck_assert_int_ge(group, 0);
    return group;
}

static hid_t open_result(hid_t *file)
{
    return open_group(file, "results/00000000");
}

static const char *const arrays[] = {
#define RUN_ARRAY(dataset, member, type, extent, columns) dataset,
#include "golden/run_array.def"
#undef RUN_ARRAY
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

START_TEST(one_bit)
{
    hid_t file, group = open_result(&file),
                set = H5Dopen2(group, arrays[_i], H5P_DEFAULT);
    hid_t type = H5Dget_type(set);
    const size_t n = (size_t)H5Dget_storage_size(set);
    unsigned char *bytes = malloc(n);
    ck_assert_uint_gt(n, 0);
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
    bytes[n / 2] ^= 1;
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
    free(bytes);
    H5Tclose(type);
    H5Dclose(set);
    H5Gclose(group);
    H5Fclose(file);
    expect(arrays[_i], "the data have changed");
    expect(arrays[_i], arrays[_i]);
}
END_TEST

/* A dataset in another shape or type, or none at all. */
START_TEST(other_shape)
{
    const hsize_t other[] = { 1, 2, 3 };
    for (int gone = 0; gone < 2; gone++) {
        hid_t file, group = open_result(&file);
        struct h5_shape shape = { 3, { other[0], other[1], other[2] } };
        const double zeros[6] = { 0 };
        ck_assert_int_ge(H5Ldelete(group, arrays[_i], H5P_DEFAULT), 0);
        if (!gone)
            ck_assert_int_eq(h5_write_data(bad, group, arrays[_i], H5_F64,
                                           &shape, NULL, zeros, NULL),
                             ASSAY_OK);
        H5Gclose(group);
        H5Fclose(file);
        expect(arrays[_i], arrays[_i]);
    }
}
END_TEST

static const struct lie {
    const char *key;
    int64_t integer;  /* where text is NULL */
    const char *text; /* "": the attribute is taken away */
    const char *words;
} lies[] = {
    { "batch", 3, NULL, "must be float64 [3, 4, 3, 13]" },
    { "batch", INT64_C(1) << 40, NULL, "rows/c_e" },
    { "seqlen_q", -1, NULL, "queries is -1" },
    { "head_dim_v", 1, NULL, "must be a whole number from" },
    { "ran", 2, NULL, "ran is 2, must be 0 to 1" },
    { "runs", -1, NULL, "runs is -1" },
    { "guard_bytes", -5, NULL, "guard_bytes is -5" },
    { "o_unwritten", 145, NULL, "o_unwritten is 145, must be 0 to 144" },
    { "lse_unwritten", 25, NULL, "lse_unwritten is 25, must be 0 to 24" },
    { "runs", 0, NULL, "runs is 0, must be 1 to" },
    { "runs", 5, NULL, "runs_differ is 5, must be 0 to 4" },
    { "runs_differ", 7, NULL, "runs_differ is 7, must be 0 to 6" },
    { "runs_differ", 0, NULL, "first_differs is 3, must be 0 to 0" },
    { "first_differs", 0, NULL, "first_differs is 0, must be 2 to 3" },
    { "first_differs", 4, NULL, "first_differs is 4, must be 2 to 3" },
    { "unwritten_row", 3, NULL, "unwritten_row is 3, must be -1 to 2" },
    { "unwritten_head", -2, NULL, "unwritten_head is -2" },
    { "no_o", 2, NULL, "no_o is 2, must be 0 to 1" },
    { "payload_unwritten", -1, NULL, "payload_unwritten is -1" },
    { "input", 0, "cooked", "input is \"cooked\"" },
    { "bits", 0, "0123", "is no hash" },
    { "bits", 0, "0123456789abcdef0123456789abcdef0", "33 characters" },
    { "guard_where", 0, "a place whose name has far too many letters",
      "guard_where has 43 characters" },
    { "recipe", 0, "nosuch", "recipe \"nosuch\" is not known" },
    { "softmax_form", 0, "soft", "softmax_form is \"soft\"" },
    { "mask", 0, "carnival", "mask \"carnival\"" },
    { "case", 0, "a\nb", "control character" },
    { "case", 0, "", "lacks the attribute case" },
    { "verdict", 0, "", "lacks the attribute verdict" },
    { "seconds", 0, "", "lacks the attribute seconds" },
    { "bits", 0, "", "lacks the attribute bits" },
    { "verdict", 7, NULL, "verdict is not a string" },
};
enum { LIES = sizeof lies / sizeof *lies };

START_TEST(attribute_lies)
{
    const struct lie *lie = &lies[_i];
    hid_t file, group = open_result(&file);
    ck_assert_int_ge(H5Adelete(group, lie->key), 0);
    if (!lie->text)
        ck_assert_int_eq(h5_write_int(bad, group, lie->key, lie->integer, NULL),
                         ASSAY_OK);
    else if (*lie->text)
        ck_assert_int_eq(h5_write_text(bad, group, lie->key, lie->text, NULL),
                         ASSAY_OK);
    H5Gclose(group);
    H5Fclose(file);
    expect(lie->key, lie->words);
}
END_TEST

/* Batch, head, row and channel go together; none only where all is written. */
static const struct {
    int64_t at[4], unwritten; /* of O and of LSE alike */
    bool right;
} places[] = {
    { { 1, 3, 2, 5 }, 1, true },      { { 1, 3, 2, -1 }, 1, true },
    { { 1, 3, -1, -1 }, 1, true },    { { -1, -1, -1, -1 }, 0, true },
    { { -1, -1, -1, -1 }, 1, false }, { { -1, 3, 2, 5 }, 1, false },
    { { -1, 3, -1, -1 }, 0, false },  { { 1, -1, -1, -1 }, 1, false },
    { { 1, -1, 2, -1 }, 1, false },   { { 1, 3, -1, 5 }, 1, false },
    { { -1, -1, 2, -1 }, 0, false },  { { -1, -1, -1, 5 }, 0, false },
};

START_TEST(unwritten_places)
{
    static const char *const keys[] = { "unwritten_batch", "unwritten_head",
                                        "unwritten_row",   "unwritten_channel",
                                        "o_unwritten",     "lse_unwritten" };
    struct assay_error err = { 0 };
    hid_t file, group = open_result(&file);
    for (int i = 0; i < 6; i++) {
        const int64_t x = i < 4 ? places[_i].at[i] : places[_i].unwritten;
        ck_assert_int_ge(H5Adelete(group, keys[i]), 0);
        ck_assert_int_eq(h5_write_int(bad, group, keys[i], x, NULL), ASSAY_OK);
    }
    H5Gclose(group);
    H5Fclose(file);
    if (places[_i].right)
        ck_assert_msg(read_bad(&err) == ASSAY_OK, "%s", err.text);
    else
        expect("place", "no place for");
}
END_TEST

/* Counts and channels that no row has, with every hash right. */
static const struct {
    int column; /* of rows/c_e */
    double value;
    const char *name;
} wrong_columns[] = {
    { 6, 6, "max_c" },           { 6, -2, "max_c" },
    { 6, NAN, "max_c" },         { 6, 1.5, "max_c" },
    { 9, -1, "nonfinite_a" },    { 10, 7, "nonfinite_b" },
    { 11, 1e300, "mismatched" }, { 12, INFINITY, "mismatched_c" },
};

START_TEST(column_lies)
{
    static double rows[2 * 4 * 3 * 13];
    const struct h5_shape shape = { 4, { 2, 4, 3, 13 } };
    char *names;
    hid_t file, group = open_result(&file);
    ck_assert_int_eq(
        h5_read_data(bad, group, "rows/c_e", H5_F64, &shape, rows, NULL),
        ASSAY_OK);
    ck_assert_int_eq(
        h5_read_data_text(bad, group, "rows/c_e", "columns", &names, NULL),
        ASSAY_OK);
    rows[5 * 13 + wrong_columns[_i].column] = wrong_columns[_i].value;
    H5Ldelete(group, "rows/c_e", H5P_DEFAULT);
    h5_write_data(bad, group, "rows/c_e", H5_F64, &shape, NULL, rows, NULL);
    h5_write_data_text(bad, group, "rows/c_e", "columns", names, NULL);
    free(names);
    H5Gclose(group);
    H5Fclose(file);
    expect(wrong_columns[_i].name, wrong_columns[_i].name);
    expect(wrong_columns[_i].name, "of row 5 is");
}
END_TEST

START_TEST(other_columns)
{
    hid_t file, group = open_result(&file),
                set = H5Dopen2(group, "rows/beyond", H5P_DEFAULT);
    H5Adelete(set, "columns");
    H5Dclose(set);
    H5Gclose(group);
    H5Fclose(file);
    expect("columns", "has the columns \"\", must have \"beyond rounding");
}
END_TEST

/* ---- payloads that lie, with every hash right ---- */

enum { STEPS_COLUMNS = 17 };
static const struct {
    int kind; /* scales, codes, tail codes */
    const char *column;
    double value;
    const char *words;
} wrong_steps[] = {
    { 0, "count", 3,
      "k: counts of its scales contradict each other: 1 of 3 "
      "differ, of a problem that has 2" },
    { 0, "differ", 3, "of its scales contradict" },
    { 0, "differ", 2, "of its scales contradict" },
    { 0, "differ", 0, "of its scales contradict" },
    { 0, "differ", -1, "of its scales contradict" },
    { 0, "+1", 0, "of its scales contradict" },
    { 0, "+1", NAN, "+1 of its scales is nan, no count" },
    { 0, "+1", 0.5, "+1 of its scales is 0.5, no count" },
    { 0, "first", -1, "of its scales contradict" },
    { 0, "first", 2, "of its scales contradict" },
    { 0, "first_set", 101, "of its scales contradict" },
    { 0, "first_candidate", 256, "of its scales contradict" },
    { 0, "left", 3, "of its scales contradict" },
    { 0, "left", 1e300, "left of its scales is 1e+300, no count" },
    { 1, "first_candidate", 64, "of its codes contradict" }, /* 6 bits */
    { 1, "first", 8, "of its codes contradict" },
    { 1, "-4", 9, "of its codes contradict" },
    { 1, "signs", 0, "of its codes contradict" },
    { 1, "classes", 2, "of its codes contradict" },
    { 1, "classes", -1, "of its codes contradict" },
    { 2, "count", 1, "of its tail codes contradict" },
    { 2, "first", 0, "of its tail codes contradict" },
    { 2, "first_set", 1, "of its tail codes contradict" },
};

static int column_of(const char *names, const char *name)
{
    int column = 0;
    for (const char *at = names;; column++) {
        const size_t n = strcspn(at, " ");
        if (n == strlen(name) && memcmp(at, name, n) == 0)
            return column;
        ck_assert_msg(at[n] != '\0', "%s has no %s", names, name);
        at += n + 1;
    }
}

START_TEST(step_lies)
{
    static const char k[] = "payloads/k";
    static double steps[3 * STEPS_COLUMNS];
    const struct h5_shape shape = { 2, { 3, STEPS_COLUMNS } };
    char *names;
    hid_t file, group = open_group(&file, "results/00000001");
    ck_assert_int_eq(h5_read_data(bad, group, k, H5_F64, &shape, steps, NULL),
                     ASSAY_OK);
    ck_assert_int_eq(h5_read_data_text(bad, group, k, "columns", &names, NULL),
                     ASSAY_OK);
    double *at = &steps[wrong_steps[_i].kind * STEPS_COLUMNS +
                        column_of(names, wrong_steps[_i].column)];
    ck_assert(*at != wrong_steps[_i].value);
    *at = wrong_steps[_i].value;
    H5Ldelete(group, k, H5P_DEFAULT);
    h5_write_data(bad, group, k, H5_F64, &shape, NULL, steps, NULL);
    h5_write_data_text(bad, group, k, "columns", names, NULL);
    free(names);
    H5Gclose(group);
    H5Fclose(file);
    expect(wrong_steps[_i].column, wrong_steps[_i].words);
}
END_TEST

/* JSON has every count, and the sentence that judge says. */
START_TEST(payloads_as_json)
{
    static const char want[] =
        "k: 1 of 2 scales differs by +1 octave, at batch 0, token 1, head 0, "
        "block 0: 0x65, should be 0x64; 4 of 8 codes differ (1 by 1 step, 1 by "
        "2 steps or more, 1 in sign alone, 1 in being finite, infinite or "
        "NaN), the first at batch 0, token 0, head 0, channel 2: 0x21, should "
        "be 0x1; nothing tried explains them, nearest is scale rule ceil or "
        "sage, not floor, for 60 %";
    struct run_result r;
    made_result(1, &r);
    json_t *all = run_rows_json(&r.sketch), *payloads, *k;
    payloads = json_object_get(all, "payloads");
    ck_assert_uint_eq(json_object_size(payloads), 2);
    k = json_object_get(payloads, "k");
    ck_assert_str_eq(json_string_value(json_object_get(k, "sentence")), want);
    ck_assert(json_is_null(json_object_get(k, "looks_like")));
    ck_assert_str_eq(json_string_value(json_object_get(k, "nearest")),
                     "scale rule ceil or sage, not floor");
    ck_assert_double_eq_tol(json_real_value(json_object_get(k, "explains")),
                            0.6, 1e-12);
    const json_t *codes = json_object_get(k, "codes");
    ck_assert_uint_eq(json_object_size(codes), STEPS_COLUMNS);
    ck_assert_int_eq(json_integer_value(json_object_get(codes, "-4")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(codes, "-1")), 1);
    ck_assert_int_eq(
        json_integer_value(json_object_get(codes, "first_candidate")), 33);
    ck_assert(json_is_null(
        json_object_get(json_object_get(payloads, "v"), "looks_like")));
    json_decref(all);
    sketch_free(&r.sketch);
}
END_TEST

static const struct lie payload_lies[] = {
    { "payloads", 0, "vk", "payloads is \"vk\", must be letters of qkv" },
    { "payloads", 0, "kk", "must be letters of qkv" },
    { "payloads", 0, "kvx", "must be letters of qkv" },
    { "payloads", 0, "qkv", "lacks the dataset q" },
    { "payloads/k_looks_like", 0, "", "lacks the attribute k_looks_like" },
    { "payloads/k_looks_like", 0,
      "0123456789012345678901234567890123456789012345678901234567890123456789"
      "0123456789012345678901234567890123456789012345678901234567",
      "k_looks_like has 128 characters, at most 127 are read" },
    { "payloads/v_looks_like", 0, "scale rule ceil",
      "payloads/v looks like \"scale rule ceil\" and 0 more, which" },
    { "payloads/v_also", 1, NULL, "payloads/v looks like \"\" and 1 more" },
    { "payloads/k_also", -1, NULL, "and -1 more, which its counts contradict" },
    { "payloads/k_also", 0, "", "lacks the attribute k_also" },
};

START_TEST(payload_attribute_lies)
{
    const struct lie *lie = &payload_lies[_i];
    const char *slash = strchr(lie->key, '/'),
               *key = slash ? slash + 1 : lie->key;
    hid_t file, group = open_group(&file, slash ? "results/00000001/payloads"
                                                : "results/00000001");
    ck_assert_int_ge(H5Adelete(group, key), 0);
    if (!lie->text)
        ck_assert_int_eq(h5_write_int(bad, group, key, lie->integer, NULL),
                         ASSAY_OK);
    else if (*lie->text)
        ck_assert_int_eq(h5_write_text(bad, group, key, lie->text, NULL),
                         ASSAY_OK);
    H5Gclose(group);
    H5Fclose(file);
    expect(lie->key, lie->words);
}
END_TEST

/* Records of before there were payloads. */
START_TEST(no_payloads_is_none)
{
    struct assay_error err = { 0 };
    struct run_file *run;
    struct run_result r;
    hid_t file, group = open_group(&file, "results/00000001");
    H5Adelete(group, "payloads");
    H5Adelete(group, "no_o");
    H5Adelete(group, "payload_unwritten");
    H5Gclose(group);
    H5Fclose(file);
    ck_assert_msg(read_bad(&err) == ASSAY_OK, "%s", err.text);
    ck_assert_int_eq(run_file_open_unchecked(bad, &run, &err), ASSAY_OK);
    ck_assert_int_eq(run_file_read(run, 1, &r, &err), ASSAY_OK);
    ck_assert(!r.sketch.payload[ASSAY_INPUT_K].there);
    ck_assert_int_eq(r.sketch.no_o, 0);
    ck_assert_int_eq(r.sketch.payload_unwritten, 0);
    run_result_free(&r);
    run_file_close(run);
}
END_TEST

/* No O and no payload is nothing. */
START_TEST(no_o_needs_payloads)
{
    hid_t file, group = open_group(&file, "results/00000001");
    H5Adelete(group, "payloads");
    H5Gclose(group);
    H5Fclose(file);
    expect("no_o", "no_o is 1 and no operand was delivered");
}
END_TEST

START_TEST(other_step_columns)
{
    hid_t file, group = open_group(&file, "results/00000001"),
                set = H5Dopen2(group, "payloads/v", H5P_DEFAULT);
    H5Adelete(set, "columns");
    H5Dclose(set);
    H5Gclose(group);
    H5Fclose(file);
    expect("columns", "payloads/v has the columns \"\", must have \"count "
                      "differ -4 ");
}
END_TEST

START_TEST(cut_short)
{
    struct stat info;
    ck_assert_int_eq(stat(good, &info), 0);
    for (long n = 0; n < info.st_size; n += info.st_size / 37 + 1) {
        copy_good(n);
        expect("cut", bad);
    }
    copy_good((long)info.st_size - 1);
    expect("cut", bad);
}
END_TEST

/* What no reading looks at is content all the same. */
START_TEST(content_is_hashed)
{
    struct assay_error err;
    struct run_file *run;
    hid_t file, group = open_result(&file);
    H5Adelete(group, "seconds");
    h5_write_real(bad, group, "seconds", 0.5, NULL);
    H5Gclose(group);
    H5Fclose(file);
    ck_assert_int_eq(read_bad(&err), ASSAY_OK);
    ck_assert_int_eq(run_file_open_unchecked(bad, &run, &err), ASSAY_OK);
    ck_assert_int_eq(run_file_check(run, NULL, NULL, &err), ASSAY_FORMAT);
    ck_assert_msg(strstr(err.text, "content hash"), "%s", err.text);
    run_file_close(run);
    err = (struct assay_error){ 0 };
    ck_assert_int_eq(run_file_open(bad, &run, &err), ASSAY_FORMAT);
    ck_assert_ptr_null(run);
    ck_assert_msg(strstr(err.text, "content hash"), "%s", err.text);
}
END_TEST

START_TEST(kinds)
{
    struct assay_error err;
    struct assay_set *set;
    struct run_file *run;
    made_write_all("set.h5");
    ck_assert_int_eq(stored_kind_of("set.h5"), STORED_SET);
    ck_assert_int_eq(stored_kind_of(good), STORED_RUN);
    ck_assert_int_eq(stored_kind_of("nosuch"), STORED_KINDS);
    ck_assert_int_eq(stored_kind_of("/dev/null"), STORED_KINDS);
    ck_assert_int_eq(run_file_open("set.h5", &run, &err), ASSAY_FORMAT);
    ck_assert_msg(strstr(err.text, "set.h5: is a golden set") &&
                      strstr(err.text, "not a run record"),
                  "%s", err.text);
    ck_assert_ptr_null(run);
    ck_assert_int_eq(assay_set_open(good, &set, &err), ASSAY_FORMAT);
    ck_assert_msg(strstr(err.text, "good.h5: is a run record") &&
                      strstr(err.text, "not a golden set"),
                  "%s", err.text);
    remove("set.h5");
}
END_TEST

START_TEST(newer_version)
{
    copy_good(-1);
    hid_t file = H5Fopen(bad, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Adelete(file, "format_version");
    h5_write_int(bad, file, "format_version", 2, NULL);
    H5Fclose(file);
    expect("version", "format version 2, this program reads version 1; make "
                      "the run record anew with `assay validate`");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run file");
    TCase *tests = tcase_create("run file");
    made_enter();
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_loop_test(tests, comes_back, 0, RESULTS);
    tcase_add_test(tests, facts_come_back);
    tcase_add_test(tests, abandoned_leaves_the_old_file);
    tcase_add_loop_test(tests, one_bit, 0, ARRAYS);
    tcase_add_loop_test(tests, other_shape, 0, ARRAYS);
    tcase_add_loop_test(tests, attribute_lies, 0, LIES);
    tcase_add_loop_test(tests, unwritten_places, 0,
                        sizeof places / sizeof *places);
    tcase_add_loop_test(tests, column_lies, 0,
                        sizeof wrong_columns / sizeof *wrong_columns);
    tcase_add_test(tests, other_columns);
    tcase_add_loop_test(tests, step_lies, 0,
                        sizeof wrong_steps / sizeof *wrong_steps);
    tcase_add_loop_test(tests, payload_attribute_lies, 0,
                        sizeof payload_lies / sizeof *payload_lies);
    tcase_add_test(tests, no_payloads_is_none);
    tcase_add_test(tests, no_o_needs_payloads);
    tcase_add_test(tests, payloads_as_json);
    tcase_add_test(tests, other_step_columns);
    tcase_add_test(tests, cut_short);
    tcase_add_test(tests, content_is_hashed);
    tcase_add_test(tests, kinds);
    tcase_add_test(tests, newer_version);
    suite_add_tcase(suite, tests);
    int code = assay_check_main(suite);
    made_leave();
    return code;
}
