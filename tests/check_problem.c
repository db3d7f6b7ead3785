/* SPDX-License-Identifier: MIT
 *
 * ref/problem.c: what is refused and with which numbers, who sees what, and
 * offsets past 2^31.
 */
#include <check.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "assay/problem.h"
#include "check_assay.h"

static struct assay_problem good(void)
{
    return (struct assay_problem){ 2,    8,  2,  100,
                                   200,  64, 32, ASSAY_MASK_CAUSAL,
                                   0.125 };
}

static void accepted(const struct assay_problem *p)
{
    struct assay_error err = { 0 };
    enum assay_status st = assay_problem_check(p, &err);
    ck_assert_msg(st == ASSAY_OK, "refused: %s", err.text);
    ck_assert_int_eq(err.status, ASSAY_OK);
}

static void refused(const struct assay_problem *p, const char *sentence)
{
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_problem_check(p, &err), ASSAY_SHAPE);
    ck_assert_int_eq(err.status, ASSAY_SHAPE);
    ck_assert_msg(strstr(err.text, sentence) != NULL, "\"%s\" lacks \"%s\"",
                  err.text, sentence);
    ck_assert_int_eq(assay_problem_check(p, NULL), ASSAY_SHAPE);
}

START_TEST(good_ones)
{
    struct assay_problem p = good();
    accepted(&p);
    p.nq = p.nk = 0; /* no tokens: nothing to do, not an error */
    accepted(&p);
    p = good();
    p.softmax_scale = 0; /* 0 is a scale, not "unset" */
    accepted(&p);
    p.softmax_scale = -1;
    accepted(&p);
    p = (struct assay_problem){ 1, 1, 1, 1, 1, 1, 1, ASSAY_MASK_NONE, 1 };
    accepted(&p);
}
END_TEST

static int64_t *field(struct assay_problem *p, int i)
{
    int64_t *const fields[] = { &p->b,  &p->hq, &p->hk, &p->nq,
                                &p->nk, &p->dk, &p->dv };
    return fields[i];
}

START_TEST(sizes)
{
    static const char *const names[] = {
        "batch", "query heads",         "key heads",   "queries",
        "keys",  "query and key width", "value width",
    };
    const bool may_be_zero = _i == 3 || _i == 4;
    char sentence[80];
    for (int64_t size = -2; size <= 0; size++) {
        struct assay_problem p = good();
        *field(&p, _i) = size;
        snprintf(sentence, sizeof sentence,
                 "%s is %" PRId64 ", must be at least %d", names[_i], size,
                 may_be_zero ? 0 : 1);
        if (size == 0 && may_be_zero)
            accepted(&p);
        else
            refused(&p, sentence);
    }
    struct assay_problem p = good();
    *field(&p, _i) = INT64_MIN;
    refused(&p, "-9223372036854775808");
}
END_TEST

/* ONNXim #33; HipKittens #22; fla #1029. */
START_TEST(head_counts)
{
    struct assay_problem p = good();
    p.hq = 33;
    p.hk = 2;
    refused(&p, "33 query heads are no multiple of 2 key heads");
    p.hq = 3;
    refused(&p, "3 query heads are no multiple of 2 key heads");
    p.hq = 2;
    p.hk = 4;
    refused(&p, "2 query heads are no multiple of 4 key heads");
    p.hk = 0;
    refused(&p, "key heads is 0");
    p.hq = 28;
    p.hk = 4;
    accepted(&p);
    p.hq = p.hk = 12;
    accepted(&p);
}
END_TEST

START_TEST(scale_and_mask)
{
    struct assay_problem p = good();
    p.softmax_scale = NAN;
    refused(&p, "nan, not finite");
    p.softmax_scale = INFINITY;
    refused(&p, "inf, not finite");
    p.softmax_scale = -INFINITY;
    refused(&p, "-inf, not finite");
    p = good();
    p.mask = ASSAY_MASKS;
    refused(&p, "mask 2 is not known");
}
END_TEST

/* Each of the four tensors, by the factor that only it has in excess. */
START_TEST(products)
{
    const int64_t big = (int64_t)1 << 40;
    struct assay_problem p = good();
    p.nq = big;
    p.b = 1 << 20;
    refused(&p, "q of [1048576, 1099511627776, 8, 64] is too large");
    p = good();
    p.nk = big;
    p.b = 1 << 20;
    refused(&p, "k of [1048576, 1099511627776, 2, 64] is too large");
    /* v alone: K of width 1 fits by a factor of 64 */
    p = (struct assay_problem){ 1, 1, 1, 1, big, 1, 1 << 21, 0, 1 };
    refused(&p, "v of [1, 1099511627776, 1, 2097152] is too large");
    p = (struct assay_problem){ 1, 1, 1, big, 1, 1, 1 << 21, 0, 1 };
    refused(&p, "o of [1, 1099511627776, 1, 2097152] is too large");
    /* elements fit an int64, bytes of double do not */
    p = (struct assay_problem){ 1, 1, 1, big, 1, 1 << 20, 1, 0, 1 };
    refused(&p, "too large to address");
    p.dk = 1 << 19;
    accepted(&p);
}
END_TEST

/* Sizes beside a 0 are those of what has no token: heads and channels that
 * nothing stands behind. */
START_TEST(no_tokens)
{
    const int64_t most = 1 << 20;
    struct assay_problem p = { most, 1, 1, 0, 0, 1, 1, 0, 1 };
    accepted(&p);
    p.b = most + 1;
    refused(&p, "q of [1048577, 0, 1, 1] has no tokens");
    p.b = (int64_t)1 << 62;
    refused(&p, "too large to address");
    p = (struct assay_problem){ 1, most + 1, 1, 0, 5, 1, 1, 0, 1 };
    refused(&p, "q of [1, 0, 1048577, 1] has no tokens");
    p = (struct assay_problem){ 1, 1, 1, 5, 0, most + 1, 1, 0, 1 };
    refused(&p, "k of [1, 0, 1, 1048577] has no tokens");
    p = (struct assay_problem){ 1, 1, 1, 5, 0, 1, most + 1, 0, 1 };
    refused(&p, "v of [1, 0, 1, 1048577] has no tokens");
}
END_TEST

/* A step from token to token is an int of BLAS. */
START_TEST(row_steps)
{
    struct assay_problem p = good();
    p.b = 1;
    p.nq = p.nk = 1;
    p.hq = 1 << 16;
    p.hk = 1;
    p.dk = (1 << 15) - 1;
    accepted(&p);
    p.dk = 1 << 15;
    refused(&p, "q has 65536 heads of 32768 channels");
    p.dk = 64;
    p.dv = 1 << 15;
    refused(&p, "o has 65536 heads of 32768 channels");
    p.hk = 1 << 16;
    refused(&p, "v has 65536 heads of 32768 channels");
    p.dk = INT_MAX;
    p.hk = p.hq = 1;
    p.dv = 1;
    accepted(&p);
    p.dk = (int64_t)INT_MAX + 1;
    refused(&p, "2147483648 channels");
}
END_TEST

START_TEST(counts)
{
    struct assay_problem p = good();
    ck_assert_int_eq(assay_problem_q_elems(&p), 2 * 100 * 8 * 64);
    ck_assert_int_eq(assay_problem_k_elems(&p), 2 * 200 * 2 * 64);
    ck_assert_int_eq(assay_problem_v_elems(&p), 2 * 200 * 2 * 32);
    ck_assert_int_eq(assay_problem_o_elems(&p), 2 * 100 * 8 * 32);
    ck_assert_int_eq(assay_problem_rows(&p), 2 * 8 * 100);
    /* past 2^31 */
    p = (struct assay_problem){ 3, 64, 8, 131072, 131072, 128, 128, 0, 1 };
    ck_assert_int_eq(assay_problem_q_elems(&p), 3221225472);
    ck_assert_int_eq(assay_problem_o_elems(&p), 3221225472);
}
END_TEST

/* The definition, counted key by key. */
START_TEST(visible)
{
    for (int64_t nq = 0; nq < 12; nq++)
        for (int64_t nk = 0; nk < 12; nk++)
            for (int64_t i = 0; i < nq; i++) {
                struct assay_problem p = good();
                int64_t sees = 0;
                p.nq = nq;
                p.nk = nk;
                for (int64_t j = 0; j < nk; j++)
                    sees += j <= i + nk - nq;
                ck_assert_int_eq(assay_problem_visible(&p, i), sees);
                p.mask = ASSAY_MASK_NONE;
                ck_assert_int_eq(assay_problem_visible(&p, i), nk);
            }
}
END_TEST

/* NATTEN #347; SageAttention #386; comfy-kitchen #178. */
START_TEST(offsets)
{
    /* last element = start of the last head's row + width - 1 */
    ck_assert_int_eq(assay_row_offset(1 << 22, 16, 64, 0, 2097151, 15) + 63,
                     2147483647);
    ck_assert_int_eq(assay_row_offset(1 << 22, 16, 64, 0, 2097152, 0),
                     2147483648);
    ck_assert_int_eq(assay_row_offset(1 << 22, 16, 64, 0, 2097152, 15) + 63,
                     2147484671);
    /* heads 0 to 55 of a fused QKV of 168 heads: step 21504 */
    ck_assert_int_eq(assay_row_offset(100000, 168, 128, 0, 99864, 55) + 127,
                     2147482623);
    ck_assert_int_eq(assay_row_offset(100000, 168, 128, 0, 99865, 55) + 127,
                     2147504127);
    /* and by batch */
    ck_assert_int_eq(assay_row_offset(100000, 168, 128, 5, 7, 3),
                     ((5 * INT64_C(100000) + 7) * 168 + 3) * 128);
}
END_TEST

START_TEST(default_scale)
{
    ck_assert(assay_problem_default_scale(64) == 0.125);
    ck_assert(assay_problem_default_scale(1) == 1);
    /* a root and a quotient: two roundings, so within two units of 2^-53 */
    ck_assert_double_eq_tol(assay_problem_default_scale(128),
                            0.08838834764831845, 0.0884 * 0x1p-52);
}
END_TEST

START_TEST(mask_names)
{
    for (int i = 0; i < ASSAY_MASKS; i++)
        ck_assert_int_eq(assay_mask_find(assay_mask_name((enum assay_mask)i)),
                         i);
    ck_assert_str_eq(assay_mask_name(ASSAY_MASK_CAUSAL), "causal");
    ck_assert_int_eq(assay_mask_find("none"), ASSAY_MASK_NONE);
    ck_assert_int_eq(assay_mask_find("Causal"), ASSAY_MASKS);
    ck_assert_int_eq(assay_mask_find(""), ASSAY_MASKS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem");
    TCase *c = tcase_create("check");
    tcase_add_test(c, good_ones);
    tcase_add_loop_test(c, sizes, 0, 7);
    tcase_add_test(c, head_counts);
    tcase_add_test(c, scale_and_mask);
    tcase_add_test(c, products);
    tcase_add_test(c, no_tokens);
    tcase_add_test(c, row_steps);
    suite_add_tcase(suite, c);

    c = tcase_create("geometry");
    tcase_add_test(c, counts);
    tcase_add_test(c, visible);
    tcase_add_test(c, offsets);
    tcase_add_test(c, default_scale);
    tcase_add_test(c, mask_names);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
