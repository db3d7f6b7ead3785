/* SPDX-License-Identifier: MIT
 *
 * ref/error.c and ref/memory.c: sentences that fit, however long, and sizes
 * that do not.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "assay/error.h"
#include "assay/memory.h"
#include "check_assay.h"

static const struct {
    enum assay_status status;
    int number, exit_code;
} statuses[] = {
    { ASSAY_OK, 0, 0 },     { ASSAY_USAGE, 1, 2 },     { ASSAY_FILE, 2, 2 },
    { ASSAY_FORMAT, 3, 2 }, { ASSAY_SHAPE, 4, 2 },     { ASSAY_MEMORY, 5, 99 },
    { ASSAY_KERNEL, 6, 3 }, { ASSAY_INTERNAL, 7, 99 },
};
enum { N_STATUSES = sizeof statuses / sizeof *statuses };

/* Numbers are fixed for good, and each has a text of its own. */
START_TEST(status_rows)
{
    for (int i = 0; i < N_STATUSES; i++) {
        ck_assert_int_eq(statuses[i].status, statuses[i].number);
        ck_assert_int_eq(assay_status_exit(statuses[i].status),
                         statuses[i].exit_code);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(assay_status_text(statuses[i].status),
                             assay_status_text(statuses[j].status));
    }
    ck_assert_str_eq(assay_status_text((enum assay_status)N_STATUSES),
                     "unknown status");
    ck_assert_int_eq(assay_status_exit((enum assay_status)N_STATUSES), 99);
}
END_TEST

START_TEST(sentences)
{
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_fail(&err, ASSAY_SHAPE, "%d is %s", 3, "odd"),
                     ASSAY_SHAPE);
    ck_assert_str_eq(err.text, "3 is odd");
    ck_assert_int_eq(err.status, ASSAY_SHAPE);
    ck_assert_int_eq(assay_fail_in(&err, ASSAY_FILE, "case %s", "a"),
                     ASSAY_FILE);
    ck_assert_str_eq(err.text, "case a: 3 is odd");
    ck_assert_int_eq(err.status, ASSAY_FILE);
    ck_assert_int_eq(assay_fail(NULL, ASSAY_USAGE, "x"), ASSAY_USAGE);
    ck_assert_int_eq(assay_fail_in(NULL, ASSAY_USAGE, "x"), ASSAY_USAGE);
}
END_TEST

/* Around the size of the text: cut, ended, and nothing written behind it. */
START_TEST(long_sentences)
{
    struct {
        struct assay_error err;
        char guard[8];
    } x;
    char context[600], old[600];
    memset(context, 'c', sizeof context);
    memset(old, 'o', sizeof old);
    context[599] = old[599] = '\0';
    for (int n = 505; n <= 520; n++)
        for (int m = 500; m <= 520; m++) {
            memset(&x, '#', sizeof x);
            assay_fail(&x.err, ASSAY_FILE, "%.*s", m, old);
            ck_assert_uint_eq(strlen(x.err.text), (size_t)(m < 511 ? m : 511));
            assay_fail_in(&x.err, ASSAY_FILE, "%.*s", n, context);
            ck_assert_uint_eq(strlen(x.err.text), 511);
            ck_assert_uint_eq(strspn(x.err.text, "c"),
                              (size_t)(n < 511 ? n : 511));
            ck_assert_mem_eq(x.guard, "########", 8);
        }
}
END_TEST

START_TEST(memory)
{
    struct assay_error err = { 0 };
    double *x = NULL;
    ck_assert_int_eq(assay_alloc("x", 5, sizeof *x, &x, &err), ASSAY_OK);
    ck_assert_uint_eq((uintptr_t)x % 64, 0);
    memset(x, 0, 5 * sizeof *x);
    assay_free(x);
    x = NULL;
    ck_assert_int_eq(assay_alloc("none", 0, sizeof *x, &x, &err), ASSAY_OK);
    ck_assert_ptr_nonnull(x);
    assay_free(x);
    assay_free(NULL);
}
END_TEST

START_TEST(too_much_memory)
{
    static const int64_t counts[] = { -1, INT64_MIN, INT64_MAX,
                                      INT64_MAX / 8 + 1, INT64_MAX / 8 };
    void *x;
    /* 2^60 times 16 is 0 in 64 bits */
    ck_assert_int_eq(assay_alloc("x", (int64_t)1 << 60, 16, &x, NULL),
                     ASSAY_MEMORY);
    for (int i = 0; i < 5; i++) {
        struct assay_error err = { 0 };
        char number[32];
        ck_assert_int_eq(assay_alloc("scores", counts[i], 8, &x, &err),
                         ASSAY_MEMORY);
        snprintf(number, sizeof number, "scores: %lld x 8",
                 (long long)counts[i]);
        ck_assert_msg(strstr(err.text, number) != NULL, "\"%s\" lacks \"%s\"",
                      err.text, number);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error");
    TCase *c = tcase_create("error");
    tcase_add_test(c, status_rows);
    tcase_add_test(c, sentences);
    tcase_add_test(c, long_sentences);
    tcase_add_test(c, memory);
    tcase_add_test(c, too_much_memory);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
