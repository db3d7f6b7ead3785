/* SPDX-License-Identifier: MIT
 *
 * Gates and limits on sketches made by hand: each is the only one that sees
 * what it is there for.
 */
#include "check_assay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/judge.h"
#include "validate/limits.h"
#include "validate/quarantine.h"

enum { ROWS = 64, HEADS = 2 };

static struct sketch sketch;
static struct result result;
static struct limit limits[GATES];

/* Two heads of 64 rows; C is E, E is 0.1 from X, a jitter is 0.01 of O and
 * 0.001 nats. */
static void setup(void)
{
    const struct assay_problem p = { .b = 1,
                                     .hq = HEADS,
                                     .hk = 1,
                                     .nq = ROWS,
                                     .nk = 64,
                                     .dk = 16,
                                     .dv = 16,
                                     .mask = ASSAY_MASK_NONE,
                                     .softmax_scale = 0.25 };
    ck_assert_int_eq(sketch_new(&p, assay_recipe_find("bf16"), &sketch, NULL),
                     ASSAY_OK);
    for (int r = 0; r < HEADS * ROWS; r++) {
        const struct assay_row near = {
            .norm_a = 1, .norm_b = 1, .dot = 1, .max_c = 0, .mismatched_c = -1
        };
        sketch.ce[r] = sketch.ex[r] = sketch.cx[r] = near;
        sketch.ex[r].distance = sketch.cx[r].distance = 0.1;
        sketch.jitter_o[r] = 0.01f;
        sketch.jitter_lse[r] = 0.001f;
        sketch.lse_c[r] = sketch.lse_e[r] = sketch.lse_x[r] = 1;
        sketch.beyond[r].bound_c = -1;
    }
    for (int h = 0; h < HEADS; h++) {
        sketch.jitter_gain[h] = 0.001f;
        sketch.bar_o[h] = sketch.bar_lse[h] = 1e-6;
    }
    result = (struct result){ .recipe = sketch.recipe, .case_name = NULL };
    limits_default(limits);
}

static void teardown(void)
{
    sketch_free(&sketch);
    result_free(&result);
}

static enum assay_status judged(struct assay_error *err)
{
    result_free(&result);
    result = (struct result){ .recipe = sketch.recipe };
    return judge_sketch(&sketch, limits, &result, err);
}

/* The one gate that fails in head 1 and nowhere else, -1 for none. */
static int failing(void)
{
    int one = -1;
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert_uint_eq(result.heads_gates[0], 0);
    for (int g = 0; g < GATES; g++)
        if (!result.gates[g].pass) {
            ck_assert_int_eq(one, -1);
            ck_assert_uint_eq(result.heads_gates[1], 1u << g);
            ck_assert(result.reason[0]);
            one = g;
        }
    ck_assert_int_eq(result.verdict, one < 0 ? VERDICT_PASS : VERDICT_WRONG);
    return one;
}

START_TEST(nothing_is_wrong)
{
    ck_assert_int_eq(failing(), -1);
    ck_assert(!result.gates[GATE_REPEAT].judged);
    ck_assert(!result.gates[GATE_TOTAL_L2].judged);
    ck_assert(!result.gates[GATE_DEAD_ROWS].judged);
    ck_assert(result.gates[GATE_TWIN].judged);
    ck_assert(result.gates[GATE_TWIN].value > 0.3);
    ck_assert_int_eq(result.gates[GATE_LSE].limit.source, LIMIT_DEFAULT);
}
END_TEST

START_TEST(many_rows_a_little_off_fail_as_a_whole)
{
    sketch.beyond[ROWS + 5].beyond = 0.015;
    ck_assert_int_eq(failing(), -1);
    for (int i = 0; i < ROWS; i++)
        sketch.beyond[ROWS + i].beyond = 0.015;
    ck_assert_int_eq(failing(), GATE_BUILD_RMS);
}
END_TEST

START_TEST(lse_off_both_ways_fails_as_a_whole)
{
    sketch.lse_c[ROWS + 5] += 0.002;
    ck_assert_int_eq(failing(), -1);
    for (int i = 0; i < ROWS; i++)
        sketch.lse_c[ROWS + i] = 1 + (i % 2 ? 0.002 : -0.002);
    ck_assert_int_eq(failing(), GATE_LSE_RMS);
}
END_TEST

START_TEST(lse_off_one_way_fails_by_its_mean)
{
    for (int i = 0; i < ROWS; i++)
        sketch.lse_c[ROWS + i] += 0.00145;
    ck_assert_int_eq(failing(), GATE_LSE_MEAN);
}
END_TEST

/* Of one row the means allow what a row may be off. */
START_TEST(a_single_row_may_be_what_a_row_may_be)
{
    for (int i = 1; i < ROWS; i++)
        sketch.lse_e[ROWS + i] = sketch.lse_c[ROWS + i] =
            sketch.lse_x[ROWS + i] = -INFINITY;
    for (int i = 1; i < ROWS; i++)
        sketch.ce[ROWS + i].norm_a = sketch.ce[ROWS + i].norm_b = 0;
    sketch.lse_c[ROWS] += 0.0039;
    ck_assert_int_eq(failing(), -1);
    ck_assert(result.gates[GATE_DEAD_ROWS].judged);
    sketch.lse_c[ROWS] += 0.0002;
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert(!result.gates[GATE_LSE].pass &&
              !result.gates[GATE_LSE_MEAN].pass);
}
END_TEST

/* Rows first .. ROWS - 1 of a head see no key, and are right. */
static void make_dead(int head, int first)
{
    for (int r = head * ROWS + first; r < (head + 1) * ROWS; r++) {
        sketch.lse_e[r] = sketch.lse_c[r] = sketch.lse_x[r] = -INFINITY;
        sketch.ce[r].norm_a = sketch.ce[r].norm_b = 0;
        sketch.ex[r].distance = sketch.cx[r].distance = 0;
        sketch.jitter_o[r] = sketch.jitter_lse[r] = 0;
    }
}

/* What fails 48 rows together does so where other rows see no key. */
START_TEST(rows_without_keys_hide_nothing)
{
    enum { ALIVE = ROWS - 16 };
    static const struct {
        enum gate gate;
        double beyond, lse, total;
    } off[] = {
        { GATE_BUILD_RMS, 0.0125, 0, 0 },
        { GATE_LSE_RMS, 0, 0.00175, 0 },
        { GATE_LSE_MEAN, 0, 0.00145, 0 },
        { GATE_TWIN, 0, 0, 0.25 },
    };
    const bool both_ways = off[_i].gate == GATE_LSE_RMS;
    make_dead(1, ALIVE);
    for (int i = 0; i < ALIVE; i++) {
        const int r = ROWS + i;
        sketch.beyond[r].beyond = off[_i].beyond;
        sketch.lse_c[r] += (both_ways && i % 2 ? -1 : 1) * off[_i].lse;
        /* the median of these, but not of all rows */
        if (off[_i].total > 0 && i >= 20)
            sketch.cx[r].distance = i < 28 ? off[_i].total : 0.6;
        if (off[_i].total > 0 && i >= 28)
            sketch.ex[r].distance = 0.6;
    }
    ck_assert_int_eq(failing(), off[_i].gate);
}
END_TEST

/* An infinite jitter lets anything pass: it is told, once. */
START_TEST(rows_without_bound_are_told)
{
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert_str_eq(result.notes, "");
    for (int i = 0; i < 3; i++)
        sketch.jitter_o[ROWS + i] = INFINITY;
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert_str_eq(result.notes,
                     "3 of 128 rows of O cannot be judged: legal kernels "
                     "differ without bound there");
    sketch.jitter_lse[5] = INFINITY;
    sketch.ce[ROWS].nonfinite_b = 1; /* by its class, which is told */
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert_msg(strstr(result.notes,
                         "; 2 of 128 rows of O and 1 of 128 rows of LSE cannot "
                         "be judged: legal kernels differ without bound there"),
                  "%s", result.notes);
}
END_TEST

START_TEST(an_element_beyond_its_bound_fails)
{
    sketch.beyond[ROWS + 7].bound_part = 1;
    sketch.beyond[ROWS + 7].bound_c = 3;
    ck_assert_int_eq(failing(), -1);
    sketch.beyond[ROWS + 7].bound_part = 1.01;
    ck_assert_int_eq(failing(), GATE_BOUND);
    ck_assert_int_eq(result.gates[GATE_BOUND].at.i, 7);
    ck_assert_int_eq(result.gates[GATE_BOUND].at.c, 3);
}
END_TEST

/* B53: where sums cancel, another order of them gives another norm, of which
 * only the noise is left. */
START_TEST(a_norm_that_is_noise_has_no_gain)
{
    for (int i = 0; i < ROWS; i++) {
        sketch.ce[ROWS + i].norm_a = 0.02;
        sketch.ce[ROWS + i].norm_b = 0.005;
    }
    ck_assert_int_eq(failing(), -1);
    for (int i = 0; i < ROWS; i++)
        sketch.ce[ROWS + i].norm_b = 0;
    ck_assert_int_eq(failing(), -1);
    for (int i = 0; i < ROWS; i++)
        sketch.ce[ROWS + i].norm_b = 0.011; /* a jitter is 0.01 */
    ck_assert_int_eq(failing(), GATE_GAIN);
    for (int i = 0; i < ROWS; i++) {
        sketch.ce[ROWS + i].norm_b = 0;
        sketch.jitter_o[ROWS + i] = 0; /* zero is the one right answer */
    }
    ck_assert_int_eq(failing(), GATE_GAIN);
}
END_TEST

/* One row in a hundred far off hides in the whole, three times as far off in
 * most rows hides behind one. */
START_TEST(twins_are_compared_whole_and_by_quantiles)
{
    for (int i = 0; i < ROWS; i++)
        sketch.cx[ROWS + i].distance = 0.3;
    ck_assert_int_eq(failing(), GATE_TWIN);
    sketch.ex[ROWS].distance = 100;
    sketch.cx[ROWS].distance = 100;
    ck_assert_int_eq(failing(), GATE_TWIN);
    ck_assert_ptr_nonnull(strstr(result.gates[GATE_TWIN].note, "at 50 %"));
    for (int i = 1; i < ROWS; i++)
        sketch.cx[ROWS + i].distance = 0.2;
    ck_assert_int_eq(failing(), -1);
    sketch.lse_x[ROWS + 9] = 1.1;
    sketch.lse_c[ROWS + 9] = sketch.lse_e[ROWS + 9] = 1;
    ck_assert_int_eq(failing(), -1);
    sketch.lse_e[ROWS + 9] = sketch.lse_c[ROWS + 9] = 1.2;
    sketch.jitter_lse[ROWS + 9] = 1;
    ck_assert_int_eq(failing(), -1);
}
END_TEST

START_TEST(twin_of_lse)
{
    for (int i = 0; i < ROWS; i++) {
        sketch.lse_x[ROWS + i] = 0.999;
        sketch.lse_c[ROWS + i] = 1.0075;
        sketch.jitter_lse[ROWS + i] = 0.001f;
    }
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert(!result.gates[GATE_TWIN].pass);
    ck_assert_ptr_nonnull(strstr(result.gates[GATE_TWIN].note, "LSE"));
}
END_TEST

START_TEST(repeated_runs_must_agree)
{
    sketch.runs = 3;
    ck_assert_int_eq(failing(), -1);
    ck_assert(result.gates[GATE_REPEAT].judged);
    sketch.runs_differ = 1;
    sketch.first_differs = 2;
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert_int_eq(result.verdict, VERDICT_WRONG);
    ck_assert_ptr_nonnull(strstr(result.reason, "run 2"));
}
END_TEST

/* Half the jitter is not asked for where the golden itself is not that sure. */
START_TEST(nothing_below_the_error_bar_is_asked)
{
    for (int i = 0; i < ROWS; i++)
        sketch.jitter_lse[ROWS + i] = 1e-9f;
    sketch.lse_c[ROWS + 3] += 1e-6;
    ck_assert_int_eq(failing(), -1);
    struct assay_error err;
    limits[GATE_LSE] = (struct limit){ 1e-5, LIMIT_FILE, "why", "2026-01-01" };
    ck_assert_int_eq(judged(&err), ASSAY_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "limits file"));
    ck_assert_ptr_nonnull(strstr(err.text, "1.00e-06"));
    limits_default(limits);
    limits[GATE_TOTAL_MAX] =
        (struct limit){ 1e-7, LIMIT_COMMAND_LINE, NULL, NULL };
    ck_assert_int_eq(judged(&err), ASSAY_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "command line"));
}
END_TEST

START_TEST(total_gates_hold_where_asked_for)
{
    sketch.cx[ROWS + 4].max_abs = 0.5;
    limits[GATE_TOTAL_L2] = (struct limit){ 0.2, LIMIT_SET, "w", "2026-01-01" };
    limits[GATE_TOTAL_LSE].value = 0.2;
    ck_assert_int_eq(failing(), -1);
    ck_assert(result.gates[GATE_TOTAL_L2].judged);
    ck_assert_double_eq_tol(result.gates[GATE_TOTAL_L2].value, 0.1, 1e-12);
    limits[GATE_TOTAL_MAX].value = 0.4;
    ck_assert_int_eq(failing(), GATE_TOTAL_MAX);
    /* every head beyond the limit, not the worst alone */
    sketch.cx[4].max_abs = 0.45;
    sketch.lse_c[5] = sketch.lse_e[5] = 1.4;
    sketch.lse_c[ROWS + 5] = sketch.lse_e[ROWS + 5] = 1.5;
    sketch.lse_c[6] = sketch.lse_e[6] = sketch.lse_x[6] = -(double)INFINITY;
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert_int_eq(result.heads_failed, HEADS);
    for (int h = 0; h < HEADS; h++)
        ck_assert(result.heads_gates[h] >> GATE_TOTAL_MAX & 1 &&
                  result.heads_gates[h] >> GATE_TOTAL_LSE & 1);
    limits_default(limits);
    limits[GATE_TOTAL_L2].value = 0.05;
    ck_assert_int_eq(judged(NULL), ASSAY_OK);
    ck_assert_int_eq(result.verdict, VERDICT_WRONG);
    ck_assert_int_eq(result.heads_failed, HEADS);
}
END_TEST

/* ---- files ---- */

static char path[] = "/tmp/check_gates-XXXXXX";

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

#define ENTRY(more)                                                 \
    "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"lse\"," \
    "\"limit\":2,\"reason\":\"r\",\"date\":\"2026-12-02\"" more "}]}"

START_TEST(the_last_entry_that_fits_holds)
{
    struct limits l = { .path = path };
    struct limit out[GATES];
    for (int g = 0; g < GATES; g++)
        l.command[g] = NAN;
    write_file(ENTRY("},{\"gate\":\"lse\",\"limit\":3,\"recipe\":\"bf*\","
                     "\"case\":\"a,b\",\"reason\":\"r3\","
                     "\"date\":\"2026-12-02\""));
    ck_assert_int_eq(limits_load(&l, NULL, NULL), ASSAY_OK);
    struct result r = { .recipe = assay_recipe_find("bf16"), .case_name = "b" };
    limits_of(&l, &r, out);
    ck_assert(out[GATE_LSE].value == 3);
    ck_assert_int_eq(out[GATE_LSE].source, LIMIT_FILE);
    ck_assert_str_eq(out[GATE_LSE].reason, "r3");
    ck_assert_int_eq(out[GATE_BUILD].source, LIMIT_DEFAULT);
    r.case_name = "c";
    limits_of(&l, &r, out);
    ck_assert(out[GATE_LSE].value == 2);
    ck_assert_int_eq(limits_parse("set", ENTRY(""), &l.set, NULL), ASSAY_OK);
    l.set.entries[0].limit = 7;
    limits_of(&l, &r, out);
    ck_assert(out[GATE_LSE].value == 2); /* the file's before the set's */
    limits_list_free(&l.file);
    limits_of(&l, &r, out);
    ck_assert(out[GATE_LSE].value == 7);
    ck_assert_int_eq(out[GATE_LSE].source, LIMIT_SET);
    l.command[GATE_LSE] = 5;
    limits_of(&l, &r, out);
    ck_assert(out[GATE_LSE].value == 5);
    ck_assert_int_eq(out[GATE_LSE].source, LIMIT_COMMAND_LINE);
    limits_free(&l);
}
END_TEST

static const struct {
    const char *text, *says;
} bad_limits[] = {
    { "{}", "schema" },
    { "[]", "object" },
    { "{\"schema\":\"assay-limits/1\"}", "no array" },
    { "{\"schema\":\"assay-limits/2\",\"limits\":[]}", "assay-limits/2" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[1]}", "entry 1" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"lse\","
      "\"limit\":2,\"date\":\"2026-12-02\"}]}",
      "no reason" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"lse\","
      "\"limit\":2,\"reason\":\" \",\"date\":\"2026-12-02\"}]}",
      "blank" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"lse\","
      "\"limit\":2,\"reason\":\"r\"}]}",
      "no date" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"lse\","
      "\"limit\":2,\"reason\":\"r\",\"date\":\"2026-13-02\"}]}",
      "YYYY-MM-DD" },
    { ENTRY(",\"limt\":1"), "limt" },
    { ENTRY(",\"limit\":1"), "duplicate" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"lsee\","
      "\"limit\":2,\"reason\":\"r\",\"date\":\"2026-12-02\"}]}",
      "lsee" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"integrity\","
      "\"limit\":0.5,\"reason\":\"r\",\"date\":\"2026-12-02\"}]}",
      "entry 1: the limit of integrity is 0 and cannot be 0.5" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"lse\","
      "\"limit\":-1,\"reason\":\"r\",\"date\":\"2026-12-02\"}]}",
      "0 or more" },
    { "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":\"lse\","
      "\"limit\":\"2\",\"reason\":\"r\",\"date\":\"2026-12-02\"}]}",
      "no number" },
};

/* What counts is not loosened, from whatever level. */
START_TEST(gates_that_count_stay_at_0)
{
    static const enum gate count[] = { GATE_INTEGRITY, GATE_REPEAT, GATE_FINITE,
                                       GATE_DEAD_ROWS };
    char command[64], entry[256];
    for (size_t g = 0; g < sizeof count / sizeof *count; g++)
        for (size_t i = 0; i < 3; i++) {
            struct limits l = { 0 };
            struct assay_error err;
            struct run_facts f = { .set = "s", .limits_file_name = "f" };
            const char **const level[] = { &f.limits_command, &f.limits_file,
                                           &f.limits_set };
            for (int k = 0; k < GATES; k++)
                l.command[k] = NAN;
            snprintf(command, sizeof command, "lse=2,%s=1e9",
                     gate_get(count[g])->name);
            snprintf(entry, sizeof entry,
                     "{\"schema\":\"assay-limits/1\",\"limits\":[{\"gate\":"
                     "\"%s\",\"limit\":1,\"reason\":\"r\","
                     "\"date\":\"2026-12-02\"}]}",
                     gate_get(count[g])->name);
            *level[i] = i == 0 ? command : entry;
            ck_assert_int_ne(limits_load_run(&l, &f, "run", &err), ASSAY_OK);
            ck_assert_ptr_nonnull(strstr(err.text, "is 0 and cannot be"));
            limits_free(&l);
        }
}
END_TEST

START_TEST(limits_are_told_as_they_were_given)
{
    char word[LIMITS_WORD];
    limits_word(GATE_LSE, 0.2, word);
    ck_assert_str_eq(word, "lse=0.2");
    limits_word(GATE_LSE, 1.0 / 3, word);
    ck_assert(strtod(word + 4, NULL) == 1.0 / 3);
    limits_word(GATE_BUILD, 1e9, word);
    ck_assert_str_eq(word, "build=1e+09");
    limits_word(GATE_FINITE, 0, word);
    ck_assert_str_eq(word, "finite=0");
}
END_TEST

START_TEST(a_bad_limits_file_is_refused)
{
    struct limits l = { .path = path };
    struct assay_error err;
    write_file(bad_limits[_i].text);
    ck_assert_int_eq(limits_load(&l, NULL, &err), ASSAY_USAGE);
    ck_assert_msg(strstr(err.text, bad_limits[_i].says), "%s", err.text);
    ck_assert_msg(strstr(err.text, path), "%s", err.text);
    limits_free(&l);
}
END_TEST

START_TEST(known_failures_do_not_fail_and_passes_are_told)
{
    struct quarantine q;
    write_file("{\"schema\":\"assay-quarantine/1\",\"known\":[{\"case\":\"a*\","
               "\"verdict\":\"wrong\",\"tracker\":\"https://x.org/1\","
               "\"reason\":\"r\",\"date\":\"2026-12-02\"}]}");
    ck_assert_int_eq(quarantine_read(path, &q, NULL), ASSAY_OK);
    struct result r = { .recipe = assay_recipe_find("bf16"),
                        .case_name = "ab",
                        .verdict = VERDICT_WRONG };
    r.known = quarantine_find(&q, &r);
    ck_assert(result_is_known(&r) && !result_passed_unexpectedly(&r));
    r.verdict = VERDICT_CRASH; /* another failure than the known one */
    r.known = quarantine_find(&q, &r);
    ck_assert(!result_is_known(&r));
    r.verdict = VERDICT_PASS;
    r.known = quarantine_find(&q, &r);
    ck_assert(!result_is_known(&r) && result_passed_unexpectedly(&r));
    r.case_name = "b";
    ck_assert_ptr_null(quarantine_find(&q, &r));
    quarantine_free(&q);
}
END_TEST

static const struct {
    const char *entry, *says;
} bad_known[] = {
    { "\"reason\":\"r\",\"date\":\"2026-12-02\"", "tracker" },
    { "\"tracker\":\"soon\",\"reason\":\"r\",\"date\":\"2026-12-02\"",
      "no link" },
    { "\"tracker\":\"https://x\",\"date\":\"2026-12-02\"", "reason" },
    { "\"tracker\":\"https://x\",\"reason\":\"r\",\"date\":\"2026-12-02\","
      "\"verdict\":\"pass\"",
      "no failure" },
    { "\"tracker\":\"https://x\",\"reason\":\"r\",\"date\":\"2026-12-02\","
      "\"verdict\":\"worng\"",
      "wrong" },
};

START_TEST(a_bad_quarantine_file_is_refused)
{
    struct quarantine q;
    struct assay_error err;
    char text[512];
    snprintf(text, sizeof text,
             "{\"schema\":\"assay-quarantine/1\",\"known\":[{%s}]}",
             bad_known[_i].entry);
    write_file(text);
    ck_assert_int_eq(quarantine_read(path, &q, &err), ASSAY_USAGE);
    ck_assert_msg(strstr(err.text, bad_known[_i].says), "%s", err.text);
    quarantine_free(&q);
}
END_TEST

#define COUNT(a) ((int)(sizeof a / sizeof *a))

int main(void)
{
    Suite *suite = suite_create("gates");
    TCase *tests = tcase_create("gates");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nothing_is_wrong);
    tcase_add_test(tests, many_rows_a_little_off_fail_as_a_whole);
    tcase_add_test(tests, lse_off_both_ways_fails_as_a_whole);
    tcase_add_test(tests, lse_off_one_way_fails_by_its_mean);
    tcase_add_loop_test(tests, rows_without_keys_hide_nothing, 0, 4);
    tcase_add_test(tests, rows_without_bound_are_told);
    tcase_add_test(tests, a_single_row_may_be_what_a_row_may_be);
    tcase_add_test(tests, an_element_beyond_its_bound_fails);
    tcase_add_test(tests, a_norm_that_is_noise_has_no_gain);
    tcase_add_test(tests, twins_are_compared_whole_and_by_quantiles);
    tcase_add_test(tests, twin_of_lse);
    tcase_add_test(tests, repeated_runs_must_agree);
    tcase_add_test(tests, nothing_below_the_error_bar_is_asked);
    tcase_add_test(tests, total_gates_hold_where_asked_for);
    tcase_add_test(tests, the_last_entry_that_fits_holds);
    tcase_add_test(tests, gates_that_count_stay_at_0);
    tcase_add_test(tests, limits_are_told_as_they_were_given);
    tcase_add_loop_test(tests, a_bad_limits_file_is_refused, 0,
                        COUNT(bad_limits));
    tcase_add_test(tests, known_failures_do_not_fail_and_passes_are_told);
    tcase_add_loop_test(tests, a_bad_quarantine_file_is_refused, 0,
                        COUNT(bad_known));
    suite_add_tcase(suite, tests);
    int fd = mkstemp(path);
    if (fd < 0)
        return 99;
    close(fd);
    int code = assay_check_main(suite);
    unlink(path);
    return code;
}
