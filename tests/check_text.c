/* SPDX-License-Identifier: MIT
 *
 * A NaN is "nan" in every kind of text, whatever its sign; other signs, and
 * what only looks like one, stay. What cannot be seen in a name is shown.
 */
#include "check_assay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/error.h"
#include "golden/sheet.h"
#include "golden/term.h"
#include "golden/text.h"
#include "golden/utf8.h"

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

/* What terminals obey, what turns writing around, what has no width; and what
 * is no UTF-8, or looks like one of these. */
START_TEST(what_is_hidden_is_shown)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        { "", "" },
        { "a b/\u00e9\u4e2d\U0001f600.h5", "a b/\u00e9\u4e2d\U0001f600.h5" },
        { "\x1b[31m\x07\t\n\x7f", "\\x1b[31m\\x07\\x09\\x0a\\x7f" },
        { "\xc2\x85\xc2\x9b|", "\\u0085\\u009b|" },
        { "\u202a\u202e\u2066\u2069", "\\u202a\\u202e\\u2066\\u2069" },
        { "\u200b\u200d\u2060\ufeff", "\\u200b\\u200d\\u2060\\ufeff" },
        { "\U000e0041", "\\U000e0041" },
        { "\xff\xc3(\xe2\x80", "\\xff\\xc3(\\xe2\\x80" },
        { "\\x1b \\u202e \\", "\\x1b \\u202e \\" },
    };
    char *text = utf8_shown(rows[_i].text);
    ck_assert_str_eq(text, rows[_i].shown);
    free(text);
    ck_assert_int_eq(sizeof rows / sizeof *rows, 9);
}
END_TEST

START_TEST(a_line_is_a_line)
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    ck_assert(term_printf(to, "%s: %g", "a\nb", nan_of(-1)));
    ck_assert(term_printf(to, "%s\n", "\x1b\n"));
    ck_assert_int_eq(fclose(to), 0);
    ck_assert_str_eq(out, "a\\x0ab: nan\\x1b\\x0a\n");
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
    tcase_add_loop_test(tests, what_is_hidden_is_shown, 0, 9);
    tcase_add_test(tests, a_line_is_a_line);
    suite_add_tcase(suite, tests);
    return assay_check_main(suite);
}
