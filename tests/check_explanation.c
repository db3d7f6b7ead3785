/* SPDX-License-Identifier: MIT
 *
 * golden/explanation.c: what a run record says of a wrong output comes back to
 * the bit; what it cannot say is refused with a sentence, and what it can is
 * told without harm, however odd. Every hash is right.
 */
#include <check.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_assay.h"
#include "assay/memory.h"
#include "golden/h5.h"
#include "golden/run_file.h"
#include "made_set.h"
#include "validate/explain.h"
#include "validate/report_explain.h"

static const char good[] = "good.h5", bad[] = "bad.h5";

/* heads by rows: 6 heads in 3 steps of 2, 100 queries in 25 of 4 */
static const struct assay_problem problem = { 2, 3, 1,  100,
                                              7, 8, 33, ASSAY_MASK_NONE,
                                              1 };
enum { ROWS = 3, COLUMNS = 25, CELLS = ROWS * COLUMNS };

/* Every member another, and some that arithmetic would change. */
static void made(struct explanation *e)
{
    int n = 0;
    const double odd[] = { 1.0 / 3, -0.0, INFINITY, 0x1p-1074 };
#define EXPLANATION_TEXT(member, bytes)           \
    memset(e->member, 'a' + n++ % 26, bytes - 1); \
    e->member[bytes - 1] = '\0';
#define EXPLANATION_COUNT(member) e->member = INT64_MAX - n++;
#define EXPLANATION_REAL(member) e->member = odd[n++ % 4];
#include "golden/explanation.def"
    e->map_kind = 0;
    e->map_rows = ROWS;
    e->map_columns = COLUMNS;
    e->map_row_step = 2;
    e->map_column_step = 4;
    e->map_row_count = 6;
    e->map_column_count = 100;
    for (int i = 0; i < CELLS; i++)
        e->map[i] = odd[i % 4] + i;
    e->map[0] = NAN;
    e->map[1] = -1;
    e->map[2] = 1e308;
}

static struct explanation *new_one(void)
{
    struct explanation *e;
    ck_assert_int_eq(explanation_new(&e, NULL), ASSAY_OK);
    /* as assay_free() frees */
    ck_assert_int_eq(assay_alloc("map", CELLS, sizeof *e->map, &e->map, NULL),
                     ASSAY_OK);
    made(e);
    return e;
}

static void setup(void)
{
    static const struct run_facts facts = { .set = "s",
                                            .set_content_hash = "h",
                                            .driver = "module",
                                            .module = "m",
                                            .module_name = "m",
                                            .module_build = "b",
                                            .module_device = "host" };
    const struct assay_recipe *recipe = assay_recipe_find("bf16");
    struct run_result r = { .case_name = "c",
                            .kernel = "k",
                            .verdict = "wrong",
                            .reason = "",
                            .notes = "",
                            .recipe = recipe,
                            .problem = problem,
                            .ran = true,
                            .why = new_one() };
    struct run_file_writer *w;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    ck_assert_int_eq(sketch_new(&problem, recipe, &r.sketch, NULL), ASSAY_OK);
    r.sketch.runs = 1;
    r.sketch.unwritten_at = (struct assay_place){ -1, -1, -1, -1 };
    strcpy(r.sketch.bits, "0123456789abcdef0123456789abcdef");
    ck_assert_int_eq(run_file_create(good, "x", &facts, &w, NULL), ASSAY_OK);
    ck_assert_int_eq(run_file_add(w, &r, NULL), ASSAY_OK);
    ck_assert_int_eq(run_file_commit(w, NULL), ASSAY_OK);
    sketch_free(&r.sketch);
    explanation_free(r.why);
}

START_TEST(comes_back)
{
    struct run_file *run;
    struct run_result r;
    struct explanation *want = new_one();
    ck_assert_int_eq(run_file_open(good, &run, NULL), ASSAY_OK);
    ck_assert_int_eq(run_file_describe(run, 0, &r, NULL), ASSAY_OK);
    ck_assert_ptr_nonnull(r.why);
#define EXPLANATION_TEXT(member, bytes) \
    ck_assert_str_eq(r.why->member, want->member);
#define EXPLANATION_COUNT(member) ck_assert_int_eq(r.why->member, want->member);
#define EXPLANATION_REAL(member) \
    ck_assert_mem_eq(&r.why->member, &want->member, sizeof want->member);
#include "golden/explanation.def"
    ck_assert_mem_eq(r.why->map, want->map, CELLS * sizeof *want->map);
    explanation_free(want);
    run_result_free(&r);
    run_file_close(run);
}
END_TEST

/* ---- records that lie ---- */

static hid_t open_bad(hid_t *file)
{
    ck_assert_int_eq(system("cp good.h5 bad.h5"), 0);
    *file = H5Fopen(bad, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t group = H5Gopen2(*file, "results/00000000/explanation", H5P_DEFAULT);
    ck_assert_int_ge(group, 0);
    return group;
}

static void close_bad(hid_t file, hid_t group)
{
    char hex[H5_HASH_CHARS + 1];
    ck_assert_int_eq(h5_content_hash(bad, file, "results", hex, NULL),
                     ASSAY_OK);
    H5Adelete(file, "content_hash");
    ck_assert_int_eq(h5_write_text(bad, file, "content_hash", hex, NULL),
                     ASSAY_OK);
    if (group >= 0)
        H5Gclose(group);
    ck_assert_int_ge(H5Fclose(file), 0);
}

/* All that reports do with what was read. */
static void tell(const struct explanation *e)
{
    struct explained_line lines[EXPLAINED_LINES];
    struct heat heat;
    FILE *nowhere = fopen("/dev/null", "w");
    json_t *json = report_explanation_json(e);
    ck_assert(nowhere && json);
    for (size_t i = 0, n = report_explained(e, lines); i < n; i++)
        fprintf(nowhere, "%s: %s\n", lines[i].name, lines[i].text);
    ck_assert_int_eq(json_dumpf(json, nowhere, 0), 0);
    json_decref(json);
    for (int64_t columns = 1; columns < 70; columns += 23)
        if (explanation_heat(e, &problem, columns, &heat)) {
            ck_assert(heat_print(&heat, columns % 2, 40, nowhere));
            heat_free(&heat);
        }
    fclose(nowhere);
}

/* words NULL: read and told. */
static void expect(const char *what, const char *words)
{
    struct assay_error err = { 0 };
    struct run_file *run;
    struct run_result r = { 0 };
    enum assay_status st = run_file_open(bad, &run, &err);
    if (st == ASSAY_OK)
        st = run_file_read(run, 0, &r, &err);
    if (st == ASSAY_OK && r.why)
        tell(r.why);
    run_result_free(&r);
    run_file_close(run);
    if (!words)
        ck_assert_msg(st == ASSAY_OK, "%s: %d: %s", what, (int)st, err.text);
    else
        ck_assert_msg(st == ASSAY_FORMAT && strstr(err.text, bad) &&
                          strstr(err.text, words),
                      "%s: status %d, no \"%s\" in \"%s\"", what, (int)st,
                      words, err.text);
}

static const struct member {
    const char *name;
    char kind;    /* text, count or real */
    size_t bytes; /* of a text and its end */
} members[] = {
#define EXPLANATION_TEXT(member, bytes) { #member, 't', bytes },
#define EXPLANATION_COUNT(member) { #member, 'c', 0 },
#define EXPLANATION_REAL(member) { #member, 'r', 0 },
#include "golden/explanation.def"
#define MAP_SIZE(member) { "map_" #member, 'c', 0 },
#include "golden/explanation_map.def"
#undef MAP_SIZE
    { "map_rows", 'c', 0 },
    { "map_columns", 'c', 0 },
};
enum { MEMBERS = sizeof members / sizeof *members };

/* No member, one of another kind, a text without end. */
START_TEST(another_kind)
{
    const struct member *m = &members[_i];
    static const char *const wrong[] = { "is not a string", "is not an integer",
                                         "is not a float" };
    char text[1024], words[96];
    hid_t file, group = open_bad(&file);
    ck_assert_int_ge(H5Adelete(group, m->name), 0);
    close_bad(file, group);
    snprintf(words, sizeof words, "lacks the attribute %s", m->name);
    expect(m->name, words);

    group = open_bad(&file);
    H5Adelete(group, m->name);
    if (m->kind == 'r')
        h5_write_int(bad, group, m->name, 1, NULL);
    else
        h5_write_real(bad, group, m->name, NAN, NULL);
    close_bad(file, group);
    snprintf(words, sizeof words, "%s %s", m->name,
             wrong[m->kind == 't'   ? 0
                   : m->kind == 'c' ? 1
                                    : 2]);
    expect(m->name, words);
    if (m->kind != 't')
        return;

    group = open_bad(&file);
    memset(text, 'x', m->bytes);
    text[m->bytes] = '\0';
    H5Adelete(group, m->name);
    h5_write_text(bad, group, m->name, text, NULL);
    close_bad(file, group);
    snprintf(words, sizeof words, "%s has %zu characters, at most %zu are read",
             m->name, m->bytes, m->bytes - 1);
    expect(m->name, words);
}
END_TEST

/* Figures that no output has, and texts that would turn a terminal around. */
START_TEST(odd_values)
{
    const struct member *m = &members[_i];
    static const int64_t counts[] = { INT64_MIN, -1, 0, INT64_MAX };
    static const double reals[] = { NAN, -INFINITY, 1e308, -0.0 };
    static const char *const texts[] = { "", "\x1b[2J\xff%n%s\r\n", "\xe2\x80",
                                         "<script>&\"'" };
    for (int i = 0; i < 4 && strncmp(m->name, "map_", 4) != 0; i++) {
        hid_t file, group = open_bad(&file);
        H5Adelete(group, m->name);
        if (m->kind == 't')
            h5_write_text(bad, group, m->name, texts[i], NULL);
        else if (m->kind == 'c')
            h5_write_int(bad, group, m->name, counts[i], NULL);
        else
            h5_write_real(bad, group, m->name, reals[i], NULL);
        close_bad(file, group);
        expect(m->name, NULL);
    }
}
END_TEST

static const struct size {
    const char *name;
    int64_t value;
    const char *words; /* NULL: read and told */
} sizes[] = {
    { "map_rows", -1, "a map of -1 by 25 cells" },
    { "map_rows", 0, NULL }, /* there is no map */
    { "map_rows", 2, "a map of 2 by 25 cells" },
    { "map_rows", 4, "a map of 4 by 25 cells" },
    { "map_rows", INT64_MAX, "a map of" },
    { "map_columns", INT64_MIN, "a map of" },
    { "map_columns", 0, "a map of 3 by 0 cells" },
    { "map_columns", 24, "a map of 3 by 24 cells" },
    { "map_columns", 65, "a map of 3 by 65 cells" },
    { "map_kind", 1, "a map of" },
    { "map_kind", 2, "a map of" },
    { "map_kind", -1, "a map of" },
    { "map_row_step", 0, "a map of" },
    { "map_row_step", -2, "a map of" },
    { "map_row_step", INT64_MAX, "a map of" },
    { "map_row_step", 1, "a map of" },
    { "map_column_step", 0, "a map of" },
    { "map_column_step", INT64_MIN, "a map of" },
    { "map_column_step", 3, "a map of" },
    { "map_row_count", 5, "a map of" },
    { "map_row_count", INT64_MAX, "a map of" },
    { "map_column_count", 0, "a map of" },
    { "map_column_count", 97, "a map of" },
};
enum { SIZES = sizeof sizes / sizeof *sizes };

START_TEST(map_sizes)
{
    hid_t file, group = open_bad(&file);
    H5Adelete(group, sizes[_i].name);
    h5_write_int(bad, group, sizes[_i].name, sizes[_i].value, NULL);
    close_bad(file, group);
    expect(sizes[_i].name, sizes[_i].words);
}
END_TEST

/* Step and size go together, the data do not. */
START_TEST(map_data)
{
    const struct h5_shape other = { 2, { COLUMNS, ROWS } };
    static const double zeros[CELLS];
    for (int gone = 0; gone < 3; gone++) {
        hid_t file, group = open_bad(&file);
        if (gone < 2)
            H5Ldelete(group, "map", H5P_DEFAULT);
        if (gone == 0)
            h5_write_data(bad, group, "map", H5_F64, &other, NULL, zeros, NULL);
        if (gone == 2) {
            H5Adelete(group, "map_rows");
            H5Adelete(group, "map_row_step");
            h5_write_int(bad, group, "map_rows", 6, NULL);
            h5_write_int(bad, group, "map_row_step", 1, NULL);
        }
        close_bad(file, group);
        expect("map", gone == 1   ? "lacks the dataset map"
                      : gone == 0 ? "map is float64 [25, 3], must be"
                                  : "map is float64 [3, 25], must be");
    }
}
END_TEST

/* The mark and the group go together. */
START_TEST(mark)
{
    static const struct {
        int64_t mark;
        bool gone;
        const char *words;
    } all[] = {
        { 0, false, NULL },
        { 0, true, NULL },
        { 1, true, "lacks the group explanation" },
        { 2, false, "explained is 2, must be 0 or 1" },
        { -1, true, "explained is -1, must be 0 or 1" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        hid_t file, group = open_bad(&file),
                    result = H5Gopen2(file, "results/00000000", H5P_DEFAULT);
        H5Gclose(group);
        if (all[i].gone)
            H5Ldelete(result, "explanation", H5P_DEFAULT);
        H5Adelete(result, "explained");
        h5_write_int(bad, result, "explained", all[i].mark, NULL);
        close_bad(file, result);
        expect("explained", all[i].words);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("explanation");
    TCase *tests = tcase_create("explanation");
    made_enter();
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, comes_back);
    tcase_add_loop_test(tests, another_kind, 0, MEMBERS);
    tcase_add_loop_test(tests, odd_values, 0, MEMBERS);
    tcase_add_loop_test(tests, map_sizes, 0, SIZES);
    tcase_add_test(tests, map_data);
    tcase_add_test(tests, mark);
    suite_add_tcase(suite, tests);
    int code = assay_check_main(suite);
    made_leave();
    return code;
}
