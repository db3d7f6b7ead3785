/* SPDX-License-Identifier: MIT
 *
 * Lines of --exec and what a shell makes of them, and the ends of streams that
 * are kept. What the drivers do with them is in tests/command.test.
 */
#include "check_assay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/safetensors_write.h"
#include "validate/command_line.h"
#include "validate/program.h"

static const char *const values[COMMAND_VALUES] = {
    [COMMAND_IN] = "/tmp/a-b/1.in",
    [COMMAND_OUT] = "/tmp/a b/it's \"$HOME\" \\`x`",
    [COMMAND_CASE] = "-n",
    [COMMAND_RECIPE] = "",
    [COMMAND_FORM] = "gfx950-u32",
    [COMMAND_RUN] = "7",
};

static void check_fill(const char *line, const char *want)
{
    struct assay_error err = { 0 };
    char *got;
    enum assay_status st = command_line_fill(line, values, &got, &err);
    ck_assert_int_eq(st, want ? ASSAY_OK : ASSAY_USAGE);
    if (want)
        ck_assert_str_eq(got, want);
    else
        ck_assert_ptr_nonnull(strstr(err.text, "stands in quotes"));
    free(got);
}

START_TEST(values_are_put_in)
{
    check_fill("", "");
    check_fill("run {in}{in} --n={run}",
               "run /tmp/a-b/1.in/tmp/a-b/1.in --n=7");
    check_fill("'{in}' \"{in}\"", "'/tmp/a-b/1.in' \"/tmp/a-b/1.in\"");
    check_fill("x {recipe} y", "x '' y");
    /* no value of ours */
    check_fill("${in} \\{in} {inn} { in } {} {in",
               "${in} \\{in} {inn} { in } {} {in");
    check_fill("awk '{print $1}' $x{run} $", "awk '{print $1}' $x7 $");
    /* quotes that quote each other, and that a backslash does not end */
    check_fill("\"'\" {run} '\"' {run} '\\' {run}", "\"'\" 7 '\"' 7 '\\' 7");
    check_fill("'{out}'", NULL);
    check_fill("\"\\\"{out}\"", NULL);
    check_fill("\"'{out}'\"", NULL);
}
END_TEST

/* The shell gives every value back as it was. */
START_TEST(a_shell_reads_values_as_they_are)
{
    char *line, got[200] = "";
    struct assay_error err = { 0 };
    ck_assert_int_eq(
        command_line_fill("printf '%s|%s' {out} {recipe}", values, &line, &err),
        ASSAY_OK);
    FILE *f = popen(line, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(got, sizeof got, f));
    ck_assert_int_eq(pclose(f), 0);
    ck_assert_str_eq(got, "/tmp/a b/it's \"$HOME\" \\`x`|");
    free(line);
}
END_TEST

START_TEST(a_line_has_values)
{
    ck_assert(command_line_has("a {in}", COMMAND_IN));
    ck_assert(command_line_has("a '{in}'", COMMAND_IN));
    ck_assert(command_line_has("'\\'{in}", COMMAND_IN));
    ck_assert(!command_line_has("a {in}", COMMAND_OUT));
    ck_assert(!command_line_has("a ${in} \\{in} {in", COMMAND_IN));
}
END_TEST

START_TEST(a_line_has_a_name)
{
    static const struct {
        const char *line, *name;
    } cases[] = {
        { "./run {in} {out}", "run" },
        { "  /usr/bin/env A=b python3 -u  dir/run.py {in}", "run.py" },
        { "python3 -m {in} {out}", "command" },
        { "", "command" },
        { "exec sh", "command" },
        { "finish {in}", "finish" }, /* no sh */
        { "dir/ {in}", "dir/" },
        { "a\033b\n{in}", "a?b" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64];
        command_line_name(cases[i].line, name, sizeof name);
        ck_assert_str_eq(name, cases[i].name);
    }
}
END_TEST

static void say(struct tail *tail, const char *text)
{
    tail_add(tail, text, strlen(text));
}

START_TEST(the_end_of_a_stream_is_kept)
{
    static struct tail tail;
    static char much[3 * TAIL_BYTES + 5];
    char text[40];
    tail.n = 0;
    tail_line(&tail, text, sizeof text);
    ck_assert_str_eq(text, "");
    memset(much, 'x', sizeof much - 1);
    for (int i = 0; i < 5; i++)
        say(&tail, much + i);
    say(&tail, "\r\none\ntwo\tand \033\nthree\n\n \n");
    ck_assert_uint_eq(tail.n, TAIL_BYTES);
    tail_line(&tail, text, sizeof text);
    ck_assert_str_eq(text, "three");
    tail_lines(&tail, text, sizeof text);
    ck_assert_str_eq(text, "one | two and ? | three");
    /* a line that is too long is cut at its end */
    say(&tail, "\nbegin ");
    say(&tail, much + sizeof much - 101);
    tail_lines(&tail, text, sizeof text);
    ck_assert_uint_lt(strlen(text), sizeof text);
    ck_assert_int_eq(strncmp(text, "begin xxxx", 10), 0);
    ck_assert_uint_ge(strlen(text), sizeof text - 5);
}
END_TEST

/* By the format's own words: length, JSON, data at a multiple of 8. */
START_TEST(the_head_of_a_file)
{
    const struct safetensors_part parts[] = {
        { "o", ASSAY_SAFETENSORS_BF16, 4, { 1, 2, 3, 4 } },
        { "lse", ASSAY_SAFETENSORS_F64, 3, { 1, 3, 2 } },
    };
    const struct safetensors_note notes[] = { { "a", "b \"c\"" } };
    static const char want[] = "{\"__metadata__\":{\"a\":\"b \\\"c\\\"\"},"
                               "\"o\":{\"dtype\":\"BF16\",\"shape\":[1,2,3,4],"
                               "\"data_offsets\":[0,48]},"
                               "\"lse\":{\"dtype\":\"F64\",\"shape\":[1,3,2],"
                               "\"data_offsets\":[48,96]}}";
    char *head;
    size_t n;
    ck_assert_int_eq(safetensors_head(parts, 2, notes, 1, &head, &n, NULL),
                     ASSAY_OK);
    ck_assert_uint_eq(n % 8, 0);
    ck_assert_uint_ge(n, 8 + sizeof want - 1);
    ck_assert_uint_lt(n, 8 + sizeof want - 1 + 8);
    ck_assert_uint_eq((unsigned char)head[0] + 256u * (unsigned char)head[1],
                      n - 8);
    ck_assert_mem_eq(head + 2, "\0\0\0\0\0", 6);
    ck_assert_mem_eq(head + 8, want, sizeof want - 1);
    for (size_t i = 8 + sizeof want - 1; i < n; i++)
        ck_assert_int_eq(head[i], ' ');
    free(head);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("command");
    TCase *tests = tcase_create("command");
    tcase_add_test(tests, values_are_put_in);
    tcase_add_test(tests, a_shell_reads_values_as_they_are);
    tcase_add_test(tests, a_line_has_values);
    tcase_add_test(tests, a_line_has_a_name);
    tcase_add_test(tests, the_end_of_a_stream_is_kept);
    tcase_add_test(tests, the_head_of_a_file);
    suite_add_tcase(suite, tests);
    return assay_check_main(suite);
}
