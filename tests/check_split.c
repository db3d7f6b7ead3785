/* SPDX-License-Identifier: MIT
 *
 * ref/split.c against lists of keys dealt out one by one.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "assay/split.h"
#include "check_assay.h"

enum { MOST = 40 };

/* Ranks that own the keys: round-robin cards are dealt; contiguous ranks take
 * nk / ranks keys each, and the first ones one more. */
static void deal(const struct assay_split *s, int *owner)
{
    int key = 0;
    if (s->kind == ASSAY_SPLIT_ROUND_ROBIN) {
        for (int rank = 0; key < s->nk;
             rank = rank + 1 == s->ranks ? 0 : rank + 1)
            owner[key++] = rank;
        return;
    }
    for (int rank = 0; rank < s->ranks; rank++) {
        int n = (int)(s->nk / s->ranks) + (rank < s->nk % s->ranks);
        while (n-- > 0)
            owner[key++] = rank;
    }
    ck_assert_int_eq(key, s->nk);
}

static void check_split(const struct assay_split *s)
{
    int owner[MOST];
    ck_assert_int_eq(assay_split_check(s, NULL), ASSAY_OK);
    deal(s, owner);
    for (int64_t rank = 0; rank < s->ranks; rank++) {
        int64_t n = 0;
        for (int64_t key = 0; key <= s->nk; key++) {
            ck_assert_int_eq(assay_split_visible(s, rank, key), n);
            if (key == s->nk || owner[key] != rank)
                continue;
            ck_assert_int_eq(assay_split_key(s, rank, n), key);
            ck_assert_int_eq(assay_split_rank(s, key), rank);
            ck_assert_int_eq(assay_split_index(s, key), n);
            n++;
        }
        ck_assert_int_eq(assay_split_count(s, rank), n);
    }
}

START_TEST(keys_dealt)
{
    for (int64_t nk = 0; nk <= MOST; nk++)
        for (int64_t ranks = 1; ranks <= 9; ranks++) {
            struct assay_split s = { (enum assay_split_kind)_i, nk, ranks };
            check_split(&s);
        }
}
END_TEST

/* ROCm/aiter's own case: 13 keys, 8 queries, 7 ranks; query 0 is at position
 * 5 and sees keys 0 to 5, none of which is on rank 6. */
START_TEST(query_without_a_key)
{
    const struct assay_split s = { ASSAY_SPLIT_ROUND_ROBIN, 13, 7 };
    for (int64_t rank = 0; rank < 7; rank++)
        ck_assert_int_eq(assay_split_visible(&s, rank, 6), rank < 6);
    ck_assert_int_eq(assay_split_count(&s, 6), 1);
    ck_assert_int_eq(assay_split_count(&s, 5), 2);
}
END_TEST

START_TEST(large)
{
    const struct assay_split s = { ASSAY_SPLIT_CONTIGUOUS, INT64_MAX, 8 };
    const int64_t each = INT64_MAX / 8; /* and 7 over */
    ck_assert_int_eq(assay_split_key(&s, 7, 0), 7 * each + 7);
    ck_assert_int_eq(assay_split_count(&s, 7), each);
    ck_assert_int_eq(assay_split_rank(&s, INT64_MAX - 1), 7);
    ck_assert_int_eq(assay_split_index(&s, INT64_MAX - 1), each - 1);
}
END_TEST

START_TEST(what_is_refused)
{
    const struct {
        struct assay_split s;
        const char *text;
    } bad[] = {
        { { ASSAY_SPLITS, 1, 1 }, "split 2 is not known" },
        { { ASSAY_SPLIT_CONTIGUOUS, -1, 1 }, "-1 keys cannot go to 1 ranks" },
        { { ASSAY_SPLIT_ROUND_ROBIN, 4, 0 }, "4 keys cannot go to 0 ranks" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct assay_error err = { 0 };
        ck_assert_int_eq(assay_split_check(&bad[i].s, &err), ASSAY_SHAPE);
        ck_assert_str_eq(err.text, bad[i].text);
    }
}
END_TEST

START_TEST(names)
{
    ck_assert_str_eq(assay_split_name(ASSAY_SPLIT_CONTIGUOUS), "contiguous");
    ck_assert_str_eq(assay_split_name(ASSAY_SPLIT_ROUND_ROBIN), "round-robin");
    ck_assert_str_eq(assay_split_about(ASSAY_SPLIT_ROUND_ROBIN),
                     "key j is on rank j % ranks");
    for (int i = 0; i < ASSAY_SPLITS; i++)
        ck_assert_int_eq(
            assay_split_find(assay_split_name((enum assay_split_kind)i)), i);
    ck_assert_int_eq(assay_split_find("zigzag"), ASSAY_SPLITS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split");
    TCase *c = tcase_create("split");
    tcase_add_loop_test(c, keys_dealt, 0, ASSAY_SPLITS);
    tcase_add_test(c, query_without_a_key);
    tcase_add_test(c, large);
    tcase_add_test(c, what_is_refused);
    tcase_add_test(c, names);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
