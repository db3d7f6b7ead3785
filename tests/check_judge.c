/* SPDX-License-Identifier: MIT
 *
 * Each gate against candidates made by hand from a small emulated answer.
 */
#include "check_assay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/answers.h"
#include "golden/recipe_file.h"
#include "validate/judge.h"

/* 2 heads, more queries than keys: rows 0 to 3 of each head see nothing. */
static const struct assay_problem problem = {
    .b = 1,
    .hq = 2,
    .hk = 1,
    .nq = 12,
    .nk = 8,
    .dk = 16,
    .dv = 16,
    .mask = ASSAY_MASK_CAUSAL,
    .softmax_scale = 0.25,
};

enum { ROWS = 2 * 12, ELEMS = ROWS * 16, DEAD = 4 };

static struct assay_exact exact;
static struct assay_answer answer;
static float o[ELEMS];
static double lse[ROWS];
static struct candidate candidate;

static float word(int i, int salt)
{
    float x = (float)((i * 37 + salt * 101) % 61 - 30) / 16, y;
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, 1, &x, &y);
    return y;
}

/* The honest candidate: the emulated answer in the output format. */
static void setup(void)
{
    float q[ELEMS], k[8 * 16], v[8 * 16];
    for (int i = 0; i < ELEMS; i++)
        q[i] = word(i, 1);
    for (int i = 0; i < 8 * 16; i++) {
        k[i] = word(i, 2);
        v[i] = word(i, 3);
    }
    struct assay_inputs in = { q, k, v, assay_format_get(ASSAY_BF16) };
    ck_assert_int_eq(answers_exact(&problem, &in, false, NULL, &exact, NULL),
                     ASSAY_OK);
    ck_assert_int_eq(answers_recipe(assay_recipe_find("bf16"), &problem, &in,
                                    NULL, &answer, NULL),
                     ASSAY_OK);
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, ELEMS, answer.o, o);
    for (int r = 0; r < ROWS; r++)
        lse[r] = (float)answer.lse[r];
    candidate = (struct candidate){ .o = o,
                                    .lse = lse,
                                    .unwritten_at = { -1, -1, -1, -1 } };
}

static void teardown(void)
{
    assay_exact_free(&exact);
    assay_answer_free(&answer);
}

static struct result judged(void)
{
    static struct result r;
    result_free(&r);
    r = (struct result){ .recipe = answer.recipe };
    ck_assert_int_eq(
        judge(&(struct yardstick){ &problem, &answer, &exact, NULL },
              &candidate, &r, NULL),
        ASSAY_OK);
    return r;
}

static float *row_of(int h, int i)
{
    return o + (i * 2 + h) * 16;
}

/* The one gate that fails, or -1 for none and -2 for more. A head of few rows
 * has the gates of its whole fail with that of a row: check_gates.c. */
static int failing(const struct result *r)
{
    int one = -1;
    for (int g = 0; g < GATES; g++)
        if (!r->gates[g].pass && g != GATE_BUILD_RMS && g != GATE_LSE_RMS &&
            g != GATE_LSE_MEAN && g != GATE_TWIN && g != GATE_BOUND)
            one = one == -1 ? g : -2;
    return one;
}

START_TEST(honest_passes)
{
    struct result r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    ck_assert_int_eq(failing(&r), -1);
    ck_assert_int_eq(r.heads, 2);
    ck_assert_int_eq(r.heads_failed, 0);
    ck_assert_str_eq(r.reason, "");
    ck_assert_int_eq(r.build.mismatched, 0);
    ck_assert(r.build.cosine > 0.9999);
    ck_assert(r.total.rel_l2 > r.recipe_distance.rel_l2);
}
END_TEST

START_TEST(one_ulp_passes_three_do_not)
{
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    float *x = row_of(1, 9);
    for (int c = 0; c < 16; c++)
        x[c] += copysignf((float)assay_format_ulp(bf16, x[c]), x[c]);
    struct result r = judged();
    ck_assert_int_eq(r.gates[GATE_BUILD].pass, 1);
    for (int c = 0; c < 16; c++)
        x[c] += copysignf(2 * (float)assay_format_ulp(bf16, x[c]), x[c]);
    r = judged();
    ck_assert_int_eq(r.gates[GATE_BUILD].pass, 0);
    ck_assert_int_eq(r.gates[GATE_BUILD].at.h, 1);
    ck_assert_int_eq(r.gates[GATE_BUILD].at.i, 9);
}
END_TEST

START_TEST(one_wrong_row_fails_the_build_gate)
{
    float *x = row_of(0, 10);
    float first = x[0];
    for (int c = 0; c < 15; c++)
        x[c] = x[c + 1];
    x[15] = first;
    struct result r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_WRONG);
    ck_assert_int_eq(failing(&r), GATE_BUILD);
    ck_assert_int_eq(r.heads_failed, 1);
    ck_assert_msg(strstr(r.reason, "build gate at batch 0, head 0, row 10"),
                  "%s", r.reason);
}
END_TEST

/* B46: the first, the last, one between, all; rows 4 and on see keys. */
START_TEST(b46_nan_anywhere_is_non_finite)
{
    static const struct {
        int from, to, h, i, c;
    } places[] = {
        { 4 * 32, 4 * 32 + 1, 0, 4, 0 },
        { ELEMS - 1, ELEMS, 1, 11, 15 },
        { ELEMS / 2, ELEMS / 2 + 1, 0, 6, 0 },
        { 0, ELEMS, 0, 0, 0 },
    };
    for (int i = places[_i].from; i < places[_i].to; i++)
        o[i] = NAN;
    struct result r = judged();
    const struct gate_result *g = &r.gates[GATE_FINITE];
    ck_assert_int_eq(r.verdict, VERDICT_NON_FINITE);
    ck_assert(g->value == places[_i].to - places[_i].from);
    ck_assert_int_eq(g->at.h, places[_i].h);
    ck_assert_int_eq(g->at.i, places[_i].i);
    ck_assert_int_eq(g->at.c, places[_i].c);
    ck_assert_int_eq(r.heads_failed, _i == 3 ? 2 : 1);
    ck_assert_int_eq(r.build.mismatched, places[_i].to - places[_i].from);
    ck_assert(isnan(r.build.mae) && isnan(r.build.max_error));
    ck_assert(isnan(r.total.cosine) && isnan(r.total.rel_l2));
}
END_TEST

/* Where the right answer is NaN too, a pass says how little it says. */
START_TEST(b46_an_answer_of_nan_is_told)
{
    ck_assert_str_eq(judged().notes, "");
    answer.o[0] = o[0] = NAN;
    answer.o[ELEMS - 1] = o[ELEMS - 1] = NAN;
    struct result r = judged();
    ck_assert_ptr_nonnull(
        strstr(r.notes, "the right O of 2 of 24 rows is not finite"));
}
END_TEST

START_TEST(dead_rows_are_exact)
{
    float *x = row_of(1, DEAD - 1);
    x[3] = 1e-30f;
    struct result r = judged();
    ck_assert_int_eq(r.gates[GATE_DEAD_ROWS].pass, 0);
    ck_assert_int_eq(r.gates[GATE_DEAD_ROWS].at.i, DEAD - 1);
    ck_assert_int_eq(r.verdict, VERDICT_WRONG);
    x[3] = 0;
    ck_assert_int_eq(judged().verdict, VERDICT_PASS);
    static const double bad[] = { 0, INFINITY, NAN, -1e30 };
    for (int i = 0; i < 4; i++) {
        /* a NaN's sign is told to nobody */
        lse[12 + DEAD - 1] = isnan(bad[i]) ? copysign(bad[i], -1) : bad[i];
        r = judged();
        if (isnan(bad[i]))
            ck_assert_str_eq(r.gates[GATE_DEAD_ROWS].note,
                             "norm of O is 0, LSE is nan");
        ck_assert_int_eq(r.gates[GATE_DEAD_ROWS].pass, 0);
        ck_assert_int_eq(r.gates[GATE_FINITE].pass, 0);
    }
}
END_TEST

START_TEST(gain_fails_the_gain_gate)
{
    for (int i = 0; i < ELEMS; i++)
        o[i] *= 0.99f;
    struct result r = judged();
    ck_assert_int_eq(r.gates[GATE_GAIN].pass, 0);
    ck_assert_int_eq(r.heads_failed, 2);
    ck_assert_int_eq(r.verdict, VERDICT_WRONG);
}
END_TEST

START_TEST(small_lse_shift_fails_the_lse_gate)
{
    lse[11] += 0.01;
    struct result r = judged();
    ck_assert_int_eq(failing(&r), GATE_LSE);
    ck_assert_int_eq(r.gates[GATE_LSE].at.h, 0);
    ck_assert_int_eq(r.gates[GATE_LSE].at.i, 11);
    lse[11] = NAN;
    ck_assert_int_eq(judged().verdict, VERDICT_NON_FINITE);
}
END_TEST

START_TEST(integrity_has_three_faces)
{
    candidate.guard_bytes = 1;
    ck_assert_int_eq(judged().verdict, VERDICT_OUT_OF_BOUNDS);
    candidate.guard_bytes = 0;
    candidate.input_bytes = 2;
    struct result r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_OUT_OF_BOUNDS);
    ck_assert_int_eq(r.heads_failed, 2);
    candidate.input_bytes = 0;
    candidate.o_unwritten = 1;
    ck_assert_int_eq(judged().verdict, VERDICT_UNWRITTEN);
    candidate.o_unwritten = 0;
    candidate.lse_unwritten = ROWS;
    ck_assert_int_eq(judged().verdict, VERDICT_MISSING);
    candidate.lse_unwritten = ROWS - 1;
    ck_assert_int_eq(judged().verdict, VERDICT_UNWRITTEN);
    /* each head that was not written in full fails, and no other */
    const double unwritten[] = { 0, ROWS - 1 };
    candidate.unwritten = unwritten;
    r = judged();
    ck_assert_int_eq(r.heads_failed, 1);
}
END_TEST

/* ---- payloads ---- */

/* The answer's own, K's codes apart so that they can be changed. */
static struct assay_payloads delivered(uint16_t codes[8 * 16])
{
    struct assay_payloads p = answer.payloads;
    ck_assert_int_eq(p.k.count, 8 * 16);
    memcpy(codes, p.k.codes, 8 * 16 * sizeof *codes);
    p.k.codes = codes;
    return p;
}

START_TEST(payloads_are_compared)
{
    uint16_t codes[8 * 16];
    const struct assay_payloads p = delivered(codes);
    ck_assert(!judged().gates[GATE_SCALE_BYTES].judged);
    candidate.payloads = &p;
    struct result r = judged();
    ck_assert(r.gates[GATE_SCALE_BYTES].judged);
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    codes[5 * 16 + 3] += codes[5 * 16 + 3] & 1 ? -1 : 1;
    r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_WRONG);
    ck_assert_int_eq(failing(&r), GATE_SCALE_BYTES);
    ck_assert(r.gates[GATE_SCALE_BYTES].value == 1);
    ck_assert_int_eq(r.heads_failed, 2);
    ck_assert_str_eq(r.gates[GATE_SCALE_BYTES].note, "k: 1 code");
    ck_assert_msg(strstr(r.reason, "scale-bytes gate: k: 1 of 128 codes "
                                   "differs by ") &&
                      strstr(r.reason, ", at batch 0, token 5, head 0, "
                                       "channel 3: "),
                  "%s", r.reason);
}
END_TEST

/* Whichever gate gives the verdict, what K was is said. */
START_TEST(payloads_are_told_with_any_verdict)
{
    static const char sentence[] = "k: 1 of 128 codes differs by ";
    uint16_t codes[8 * 16];
    const struct assay_payloads p = delivered(codes);
    candidate.payloads = &p;
    codes[0] ^= 1;
    memset(o, 0, sizeof o);
    struct result r = judged();
    ck_assert_msg(strstr(r.reason, "scale-bytes gate: k: ") == r.reason &&
                      strstr(r.reason, "; also fails: build"),
                  "%s", r.reason);
    o[ELEMS - 1] = NAN;
    r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_NON_FINITE);
    const char *at = strstr(r.reason, "; payloads: ");
    ck_assert_msg(at && strstr(at, sentence), "%s", r.reason);
}
END_TEST

START_TEST(operands_may_be_left_out)
{
    uint16_t codes[8 * 16];
    struct assay_payloads p = delivered(codes);
    struct result r = { .recipe = answer.recipe };
    struct assay_error err;
    candidate.payloads = &p;
    codes[0] ^= 1;
    p.k = (struct assay_payload){ 0 };
    ck_assert_int_eq(judged().verdict, VERDICT_PASS);
    p.q = p.v = p.k;
    ck_assert(!judged().gates[GATE_SCALE_BYTES].judged);
    p = delivered(codes);
    p.k.tensor.d = 8; /* another shape is no verdict of a kernel */
    p.k.count = 64;
    ck_assert_int_eq(
        judge(&(struct yardstick){ &problem, &answer, &exact, NULL },
              &candidate, &r, &err),
        ASSAY_SHAPE);
    result_free(&r);
}
END_TEST

/* Q, K and V by a recipe whose K has another rule: prepared as mxfp4 does it,
 * with the mean that the answer took off. */
START_TEST(the_rule_is_named)
{
    static const char floor_k[] =
        "{\"quantizers\": [{\"name\": \"k-floor\", \"like\": \"mxfp4\", "
        "\"rule\": \"floor\"}], \"recipes\": [{\"name\": \"floor\", "
        "\"like\": \"mxfp4\", \"k\": \"k-floor\"}]}";
    const struct assay_format *bf16 = assay_format_get(ASSAY_BF16);
    float q[ELEMS], k[8 * 16], v[8 * 16];
    uint16_t qw[ELEMS], kw[8 * 16], vw[8 * 16];
    const struct assay_recipe *other;
    struct assay_payloads theirs;
    struct assay_error err;
    struct result r = { .recipe = assay_recipe_find("mxfp4") };
    for (int i = 0; i < ELEMS; i++)
        q[i] = word(i, 1);
    for (int i = 0; i < 8 * 16; i++) {
        /* a mean that is taken off, and amax in many places of an octave */
        k[i] = word(i, 2) * (1 + (float)(i / 16) / 8) + 5;
        v[i] = word(i, 3);
    }
    assay_format_encode(bf16, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, ELEMS, q, qw);
    assay_format_encode(bf16, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 8 * 16, k, kw);
    assay_format_encode(bf16, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 8 * 16, v, vw);
    assay_format_decode(bf16, 8 * 16, kw, k);
    const struct assay_case c = {
        .problem = problem, .format = bf16, .q = qw, .k = kw, .v = vw
    };
    struct assay_inputs in = { q, k, v, bf16 };
    assay_answer_free(&answer);
    ck_assert_int_eq(
        answers_recipe(r.recipe, &problem, &in, NULL, &answer, &err), ASSAY_OK);
    ck_assert_msg(recipe_define("test", floor_k, &other, &err) == ASSAY_OK,
                  "%s", err.text);
    ck_assert_int_eq(assay_recipe_quantize(other, &problem, NULL, NULL, q, k, v,
                                           &theirs, &err),
                     ASSAY_OK);
    ck_assert(theirs.k_mean && theirs.k_mean[0] != 0);
    candidate.payloads = &theirs;
    ck_assert_int_eq(judge(&(struct yardstick){ &problem, &answer, &exact, &c },
                           &candidate, &r, &err),
                     ASSAY_OK);
    ck_assert(!r.gates[GATE_SCALE_BYTES].pass);
    ck_assert_msg(strstr(r.reason, "; looks like scale rule floor") &&
                      strstr(r.reason, ", not aiter-mxfp4: scales and codes "
                                       "agree under it"),
                  "%s", r.reason);
    result_free(&r);
    assay_payloads_free(&theirs);
}
END_TEST

START_TEST(all_zero_and_sign_fail)
{
    memset(o, 0, sizeof o);
    struct result r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_WRONG);
    ck_assert_int_eq(r.heads_failed, 2);
    ck_assert(r.build.cosine == 0);
    for (int i = 0; i < ELEMS; i++)
        o[i] = -answer.o[i];
    r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_WRONG);
    ck_assert(r.gates[GATE_GAIN].pass);
    ck_assert(!r.gates[GATE_BUILD].pass);
}
END_TEST

/* A jitter that is not a number must not open a gate. */
START_TEST(nan_jitter_fails)
{
    row_of(0, 8)[0] += 1;
    answer.jitter.o[8] = NAN;
    ck_assert(!judged().gates[GATE_BUILD].pass);
}
END_TEST

/* What a kernel does not deliver is not judged, unless somebody asks for it. */
START_TEST(no_lse)
{
    candidate.lse = NULL;
    struct result r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    for (int g = 0; g < GATES; g++)
        ck_assert_int_eq(r.gates[g].judged,
                         g != GATE_LSE && g != GATE_LSE_RMS &&
                             g != GATE_LSE_MEAN && g != GATE_REPEAT &&
                             g != GATE_SCALE_BYTES && g != GATE_TOTAL_L2 &&
                             g != GATE_TOTAL_MAX && g != GATE_TOTAL_LSE);
    ck_assert(isnan(r.build.lse_max) && isnan(r.total.lse_mean));
    ck_assert(r.recipe_distance.lse_max > 0);
    ck_assert(strstr(r.notes, "no LSE was delivered") != NULL);
    row_of(1, 9)[0] += 1;
    ck_assert_int_eq(judged().verdict, VERDICT_WRONG);
}
END_TEST

START_TEST(lse_that_a_limit_asks_for)
{
    static const enum gate gates[] = { GATE_LSE, GATE_LSE_RMS, GATE_LSE_MEAN,
                                       GATE_TOTAL_LSE };
    const struct yardstick against = { &problem, &answer, &exact, NULL };
    struct limit limits[GATES];
    struct sketch sketch;
    struct result r = { .recipe = answer.recipe };
    candidate.lse = NULL;
    ck_assert_int_eq(sketch_make(&against, &candidate, &sketch, NULL),
                     ASSAY_OK);
    limits_default(limits);
    limits[gates[_i]] = (struct limit){ 1, LIMIT_COMMAND_LINE, NULL, NULL };
    ck_assert_int_eq(judge_sketch(&sketch, limits, &r, NULL), ASSAY_OK);
    ck_assert_int_eq(r.verdict, VERDICT_MISSING);
    ck_assert_int_eq(r.heads_failed, 2);
    ck_assert_msg(strstr(r.reason, "no LSE was delivered") != NULL, "%s",
                  r.reason);
    sketch_free(&sketch);
    result_free(&r);
}
END_TEST

/* Of memory that was not ours nothing is known, but what is seen counts. */
START_TEST(saved_outputs)
{
    candidate.saved = true;
    struct result r = judged();
    ck_assert(!r.gates[GATE_INTEGRITY].judged);
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    candidate.input_bytes = 1;
    r = judged();
    ck_assert(r.gates[GATE_INTEGRITY].judged);
    ck_assert_int_eq(r.verdict, VERDICT_OUT_OF_BOUNDS);
}
END_TEST

/* A later run's harm is the result's too. */
START_TEST(harm_of_a_repeated_run)
{
    struct candidate next = candidate;
    candidate.runs = 1;
    candidate_add_run(&problem, &candidate, &next);
    ck_assert_int_eq(judged().verdict, VERDICT_PASS);
    next.input_bytes = _i == 0;
    next.guard_bytes = _i == 1;
    next.guard_where = "after o";
    candidate_add_run(&problem, &candidate, &next);
    struct result r = judged();
    ck_assert_int_eq(r.verdict, VERDICT_OUT_OF_BOUNDS);
    ck_assert_int_eq(strstr(r.reason, "after o") != NULL, _i == 1);
    ck_assert(r.gates[GATE_REPEAT].pass);
}
END_TEST

START_TEST(tables_are_sane)
{
    for (int v = 0; v < VERDICTS; v++) {
        const struct verdict_row *row = verdict_get((enum verdict)v);
        ck_assert(row->name[0]);
        ck_assert(row->code == 0 || row->code == 1 || row->code == 3 ||
                  row->code == 77);
    }
    for (int g = 0; g < GATES; g++) {
        const struct gate_row *row = gate_get((enum gate)g);
        ck_assert(row->name[0] && row->rule[0]);
        ck_assert((row->limit == 1) == (row->factor > 0));
        ck_assert(row->one >= row->factor);
        ck_assert_int_ne(row->verdict, VERDICT_PASS);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("judge");
    TCase *tests = tcase_create("judge");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, honest_passes);
    tcase_add_test(tests, one_ulp_passes_three_do_not);
    tcase_add_test(tests, one_wrong_row_fails_the_build_gate);
    tcase_add_loop_test(tests, b46_nan_anywhere_is_non_finite, 0, 4);
    tcase_add_test(tests, b46_an_answer_of_nan_is_told);
    tcase_add_test(tests, dead_rows_are_exact);
    tcase_add_test(tests, gain_fails_the_gain_gate);
    tcase_add_test(tests, small_lse_shift_fails_the_lse_gate);
    tcase_add_test(tests, integrity_has_three_faces);
    tcase_add_test(tests, payloads_are_compared);
    tcase_add_test(tests, payloads_are_told_with_any_verdict);
    tcase_add_test(tests, operands_may_be_left_out);
    tcase_add_test(tests, the_rule_is_named);
    tcase_add_test(tests, all_zero_and_sign_fail);
    tcase_add_test(tests, nan_jitter_fails);
    tcase_add_test(tests, no_lse);
    tcase_add_loop_test(tests, lse_that_a_limit_asks_for, 0, 4);
    tcase_add_test(tests, saved_outputs);
    tcase_add_loop_test(tests, harm_of_a_repeated_run, 0, 2);
    tcase_add_test(tests, tables_are_sane);
    suite_add_tcase(suite, tests);
    return assay_check_main(suite);
}
