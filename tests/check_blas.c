/* SPDX-License-Identifier: MIT
 *
 * ref/blas.c: the BLAS of this machine passes the start-up check and has a
 * name.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/blas.h"
#include "check_assay.h"

START_TEST(passes)
{
    struct assay_error err = { 0 };
    enum assay_status st = assay_blas_check(&err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
    ck_assert_int_eq(assay_blas_check(NULL), ASSAY_OK);
}
END_TEST

START_TEST(has_a_name)
{
    printf("# has_a_name: %s, core %s\n", assay_blas_name(), assay_blas_core());
    ck_assert_uint_gt(strlen(assay_blas_name()), 0);
    ck_assert_uint_gt(strlen(assay_blas_core()), 0);
    /* asked again, the same text */
    const char *first = strdup(assay_blas_name());
    ck_assert_str_eq(assay_blas_name(), first);
    free((void *)first);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blas");
    TCase *c = tcase_create("blas");
    tcase_add_test(c, passes);
    tcase_add_test(c, has_a_name);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
