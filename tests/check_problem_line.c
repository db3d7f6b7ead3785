/* SPDX-License-Identifier: MIT
 *
 * ref/problem_line.c: what a line means, what is refused, there and back.
 */
#include <check.h>
#include <string.h>

#include "assay/problem_line.h"
#include "check_assay.h"

static const struct {
    const char *line, *full; /* full: as it is printed */
    struct assay_problem p;  /* scale 0: the default */
} good[] = {
    { "b1,hq4,hk2,q257,k257,d128",
      NULL,
      { 1, 4, 2, 257, 257, 128, 128, ASSAY_MASK_NONE, 0 } },
    { "b2,hq4,hk2,q1,k9,d192,dv128,causal",
      NULL,
      { 2, 4, 2, 1, 9, 192, 128, ASSAY_MASK_CAUSAL, 0 } },
    { "causal,d64,s100,h3",
      "b1,hq3,hk3,q100,k100,d64,causal",
      { 1, 3, 3, 100, 100, 64, 64, ASSAY_MASK_CAUSAL, 0 } },
    { "hq8,q5,d32",
      "b1,hq8,hk8,q5,k5,d32",
      { 1, 8, 8, 5, 5, 32, 32, ASSAY_MASK_NONE, 0 } },
    { "b1,hq1,hk1,q0,k0,d1",
      NULL,
      { 1, 1, 1, 0, 0, 1, 1, ASSAY_MASK_NONE, 0 } },
    { "b1,hq1,hk1,q1,k1,d2,scale=0.10000000000000001",
      NULL,
      { 1, 1, 1, 1, 1, 2, 2, ASSAY_MASK_NONE, 0.1 } },
    { "dv7,d7,h1,s2,scale=1e-3,b1",
      "b1,hq1,hk1,q2,k2,d7,scale=0.001",
      { 1, 1, 1, 2, 2, 7, 7, ASSAY_MASK_NONE, 0.001 } },
};

static void same_problem(const struct assay_problem *a,
                         const struct assay_problem *b)
{
    ck_assert_int_eq(a->b, b->b);
    ck_assert_int_eq(a->hq, b->hq);
    ck_assert_int_eq(a->hk, b->hk);
    ck_assert_int_eq(a->nq, b->nq);
    ck_assert_int_eq(a->nk, b->nk);
    ck_assert_int_eq(a->dk, b->dk);
    ck_assert_int_eq(a->dv, b->dv);
    ck_assert_int_eq(a->mask, b->mask);
    ck_assert(a->softmax_scale == b->softmax_scale);
}

START_TEST(means)
{
    struct assay_problem_line line, again;
    struct assay_problem want = good[_i].p;
    struct assay_error err = { 0 };
    char text[ASSAY_LINE_MAX];
    if (want.softmax_scale == 0)
        want.softmax_scale = assay_problem_default_scale(want.dk);
    ck_assert_msg(assay_problem_parse(good[_i].line, &line, &err) == ASSAY_OK,
                  "%s", err.text);
    same_problem(&line.problem, &want);
    ck_assert(!line.seeded && line.name[0] == 0);
    assay_problem_line(&line, text);
    if (strstr(good[_i].line, "1e-3") == NULL)
        ck_assert_str_eq(text, good[_i].full ? good[_i].full : good[_i].line);
    ck_assert_int_eq(assay_problem_parse(text, &again, NULL), ASSAY_OK);
    same_problem(&again.problem, &want);
}
END_TEST

START_TEST(name_and_seed)
{
    const char *text = "b1,hq1,hk1,q1,k1,d8,dist=k-common2,"
                       "seed=18446744073709551615";
    struct assay_problem_line line;
    char back[ASSAY_LINE_MAX];
    ck_assert_int_eq(assay_problem_parse(text, &line, NULL), ASSAY_OK);
    ck_assert_str_eq(line.name, "k-common2");
    ck_assert(line.seeded && line.seed == UINT64_MAX);
    assay_problem_line(&line, back);
    ck_assert_str_eq(back, text);
}
END_TEST

/* The longest line there is fits. */
START_TEST(longest)
{
    struct assay_problem_line line = { .seeded = true, .seed = UINT64_MAX };
    char text[ASSAY_LINE_MAX];
    const int64_t n = INT64_MAX;
    line.problem = (struct assay_problem){
        n, n, n, n, n, n, n - 1, ASSAY_MASK_CAUSAL, -1.2345678901234567e-300
    };
    memset(line.name, 'x', sizeof line.name - 1);
    assay_problem_line(&line, text);
    ck_assert(strstr(text, ",seed=18446744073709551615") != NULL);
}
END_TEST

static const struct {
    const char *line, *says;
    enum assay_status status;
} bad[] = {
    { "", "'' at character 1 is no word", ASSAY_USAGE },
    { "h1,s1,d8,", "'' at character 10 is no word", ASSAY_USAGE },
    { "h1,,s1,d8", "'' at character 4 is no word", ASSAY_USAGE },
    { "h1,s1,x8", "'x8' at character 7 is no word", ASSAY_USAGE },
    { "h1,s1,depth8", "'depth8' at character 7 is no word", ASSAY_USAGE },
    { "h1,s1,d8,h1", "'h1' at character 10 is there a second", ASSAY_USAGE },
    { "causal,h1,causal", "character 11 is there a second", ASSAY_USAGE },
    { "h1,s1,d", "'d' at character 7 has no value", ASSAY_USAGE },
    { "h1,s-1,d8", "'s-1' at character 4 has no value", ASSAY_USAGE },
    { "h1, s1,d8", "' s1' at character 4 is no word", ASSAY_USAGE },
    { "h1,s9223372036854775808,d8", "character 4 has no value", ASSAY_USAGE },
    { "seed=18446744073709551616", "character 1 has no value", ASSAY_USAGE },
    { "causally", "'causally' at character 1 has no value", ASSAY_USAGE },
    { "scale=nan", "character 1 has no value", ASSAY_USAGE },
    { "scale= 1", "character 1 has no value", ASSAY_USAGE },
    { "scale=1x", "character 1 has no value", ASSAY_USAGE },
    { "dist=A", "character 1 has no value", ASSAY_USAGE },
    { "dist=abcdefghijklmnopqrstuvwxyzabcdef", "has no value", ASSAY_USAGE },
    { "h2,hk1,s1,d8", "h sets hq and hk", ASSAY_USAGE },
    { "h2,s1,q1,d8", "s sets q and k", ASSAY_USAGE },
    { "s1,d8", "needs hq or h", ASSAY_USAGE },
    { "h1,d8", "needs q or s", ASSAY_USAGE },
    { "hk1,k2,hq1,d8", "needs q or s", ASSAY_USAGE },
    { "h1,s8", "needs d", ASSAY_USAGE },
    { "hq3,hk2,s1,d8", "3 query heads", ASSAY_SHAPE },
    { "h1,s1,d0", "width is 0", ASSAY_SHAPE },
};

START_TEST(refused)
{
    struct assay_problem_line line = { .seed = 5 };
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_problem_parse(bad[_i].line, &line, &err),
                     bad[_i].status);
    ck_assert_msg(strstr(err.text, bad[_i].says) != NULL, "%s: %s",
                  bad[_i].line, err.text);
    ck_assert_uint_eq(line.seed, 5);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("problem_line");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, means, 0, (int)(sizeof good / sizeof *good));
    tcase_add_test(t, name_and_seed);
    tcase_add_test(t, longest);
    tcase_add_loop_test(t, refused, 0, (int)(sizeof bad / sizeof *bad));
    suite_add_tcase(s, t);
    return assay_check_main(s);
}
