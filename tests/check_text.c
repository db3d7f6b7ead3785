/* SPDX-License-Identifier: MIT
 *
 * A NaN is "nan" in every kind of text, whatever its sign; other signs, and
 * what only looks like one, stay.
 */
#include "check_assay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/error.h"
#include "golden/sheet.h"
#include "golden/text.h"

static double nan_of(int sign)
{
    return copysign((double)NAN, sign);
}

START_TEST(nan_has_no_sign)
{
    char text[80];
    for (int sign = -1; sign <= 1; sign += 2) {
        const double x = nan_of(sign);
        text_print(text, sizeof text, "%g, %.2e;%5.1f %+.3g", x, x, x, x);
        ck_assert_str_eq(text,
                         sign < 0 ? "nan, nan; nan nan" : "nan, nan;  nan nan");
        text_print(text, sizeof text, "%s", "off ");
        text_append(text, sizeof text, "(%.2g)", x);
        ck_assert_str_eq(text, "off (nan)");
    }
}
END_TEST

START_TEST(other_signs_stay)
{
    char text[80];
    text_print(text, sizeof text, "%g %+g %g %d", -1.5, 2.0, -INFINITY, -3);
    ck_assert_str_eq(text, "-1.5 +2 -inf -3");
    /* a name that looks like one, alone and beside a number */
    text_print(text, sizeof text, "%s %d", "-nan", 1);
    ck_assert_str_eq(text, "-nan 1");
    text_print(text, sizeof text, "%s %g %%", "x-nan_y -nano", nan_of(-1));
    ck_assert_str_eq(text, "x-nan_y -nano nan %");
}
END_TEST

START_TEST(errors_and_cells)
{
    struct assay_error err;
    struct sheet s;
    char *out = NULL;
    size_t size;
    static const struct column columns[] = { { "X", COLUMN_TEXT } };
    assay_fail(&err, ASSAY_SHAPE, "scale is %g", nan_of(-1));
    ck_assert_str_eq(err.text, "scale is nan");
    FILE *to = open_memstream(&out, &size);
    sheet_begin(&s, to, true, NULL, columns, 1);
    sheet_cell(&s, "%.3g", nan_of(-1));
    ck_assert(sheet_end(&s));
    fclose(to);
    ck_assert_ptr_nonnull(strstr(out, "| nan |"));
    free(out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, nan_has_no_sign);
    tcase_add_test(tests, other_signs_stay);
    tcase_add_test(tests, errors_and_cells);
    suite_add_tcase(suite, tests);
    return assay_check_main(suite);
}
