/* SPDX-License-Identifier: MIT
 *
 * golden/npy.c: every kind of bad file gets its status and its sentence, good
 * ones of all three versions are read to the byte, and what is written has
 * the bytes that NumPy 1.24 writes. Files are made here, in TMPDIR.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/memory.h"
#include "check_assay.h"
#include "golden/npy.h"

static char path[PATH_MAX]; /* the file under test */

static void make_path(void)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/check_npy-XXXXXX",
             folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_made(void)
{
    unlink(path);
}

static void write_bytes(const void *bytes, size_t n)
{
    FILE *to = fopen(path, "wb");
    ck_assert_ptr_nonnull(to);
    ck_assert_uint_eq(fwrite(bytes, 1, n, to), n);
    ck_assert_int_eq(fclose(to), 0);
}

/* A file of that version, header text as it is, and bytes of data. */
static void write_npy(int major, const char *header, const void *data,
                      size_t bytes)
{
    static unsigned char all[1 << 16];
    size_t n = 0, length = strlen(header);
    memcpy(all, "\x93NUMPY", 6);
    all[6] = (unsigned char)major;
    all[7] = 0;
    for (n = 8; n < (major > 1 ? 12 : 10); n++)
        all[n] = (unsigned char)(length >> 8 * (n - 8));
    memcpy(all + n, header, length);
    n += length;
    if (bytes)
        memcpy(all + n, data, bytes);
    write_bytes(all, n + bytes);
}

/* The record must be "path: sentence". */
static void expect_bad(enum assay_status status, const char *sentence)
{
    char want[PATH_MAX + 600];
    struct npy npy;
    struct assay_error err = { 0 };
    enum assay_status st = npy_read(path, &npy, &err);
    snprintf(want, sizeof want, "%s: %s", path, sentence);
    ck_assert_str_eq(err.text, want);
    ck_assert_int_eq(st, status);
    ck_assert_ptr_null(npy.data);
    ck_assert_int_eq(npy_read(path, &npy, NULL), status);
}

static void expect_good(struct npy *npy)
{
    struct assay_error err = { 0 };
    enum assay_status st = npy_read(path, npy, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
}

#define HEADER(descr, order, shape) \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"
#define PLAIN(shape) HEADER("|u1", "False", shape)

static const float one_to_six[6] = { 1, 2, 3, 4, 5, 6 };

/* ---- good files ---- */

/* B60: [[1, 2, 3], [4, 5, 6]] as NumPy writes it, the data at byte 128. */
START_TEST(versions)
{
    char header[256];
    struct npy npy;
    const int length = _i > 1 ? 116 : 118;
    snprintf(header, sizeof header, "%-*s\n", length - 1,
             HEADER("<f4", "False", "(2, 3)"));
    write_npy(_i, header, one_to_six, sizeof one_to_six);
    expect_good(&npy);
    ck_assert_int_eq(npy.type->id, NPY_F4);
    ck_assert_int_eq(npy.rank, 2);
    ck_assert_int_eq(npy.shape[0], 2);
    ck_assert_int_eq(npy.shape[1], 3);
    ck_assert_int_eq(npy.count, 6);
    ck_assert_mem_eq(npy.data, one_to_six, sizeof one_to_six);
    assay_free(npy.data);
}
END_TEST

static const struct good {
    const char *header;
    int rank;
    int64_t shape[3];
    size_t bytes;
} goods[] = {
    { PLAIN("()"), 0, { 0 }, 1 },
    { PLAIN("(3,)"), 1, { 3 }, 3 },
    { PLAIN("(3L, 2L)"), 2, { 3, 2 }, 6 },
    { PLAIN("(1,2,3,)"), 3, { 1, 2, 3 }, 6 },
    { PLAIN("(0,)"), 1, { 0 }, 0 },
    { PLAIN("(2, 0, 7)"), 3, { 2, 0, 7 }, 0 },
    { PLAIN("(  4 ,\t2 )") " \n \n", 2, { 4, 2 }, 8 },
    { "{\"shape\": (5,), \"descr\":\"|u1\",\"fortran_order\":False}",
      1,
      { 5 },
      5 },
};

START_TEST(good_headers)
{
    const struct good *g = &goods[_i];
    struct npy npy;
    write_npy(1, g->header, "abcdefgh", g->bytes);
    expect_good(&npy);
    ck_assert_int_eq(npy.rank, g->rank);
    for (int i = 0; i < g->rank; i++)
        ck_assert_int_eq(npy.shape[i], g->shape[i]);
    ck_assert_int_eq(npy.count, (int64_t)g->bytes);
    ck_assert_mem_eq(npy.data, "abcdefgh", g->bytes);
    assay_free(npy.data);
}
END_TEST

/* Types and their bytes; the table of the code is not asked. */
static const struct {
    const char *descr;
    enum npy_type_id id;
    size_t bytes;
} types[] = {
    { "<f4", NPY_F4, 4 }, { "<f2", NPY_F2, 2 }, { "|u1", NPY_U1, 1 },
    { "|i1", NPY_I1, 1 }, { "<u2", NPY_U2, 2 }, { "<u4", NPY_U4, 4 },
    { "<f8", NPY_F8, 8 },
};

START_TEST(good_types)
{
    char header[128];
    struct npy npy;
    snprintf(header, sizeof header, HEADER("%s", "False", "(3,)"),
             types[_i].descr);
    write_npy(1, header, one_to_six, 3 * types[_i].bytes);
    expect_good(&npy);
    ck_assert_int_eq(npy.type->id, types[_i].id);
    assay_free(npy.data);
    ck_assert_uint_eq(sizeof types / sizeof *types, NPY_TYPES);
}
END_TEST

/* ---- bad files ---- */

START_TEST(not_files)
{
    remove_made();
    expect_bad(ASSAY_FILE, "cannot be opened: No such file or directory");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    expect_bad(ASSAY_FILE, "is a directory, not a regular file");
    rmdir(path);
}
END_TEST

START_TEST(fronts)
{
    const char *no = "does not begin with \\x93NUMPY, so it is no .npy file";
    write_bytes("", 0);
    expect_bad(ASSAY_FORMAT, no);
    write_bytes("\x93NUMP", 5);
    expect_bad(ASSAY_FORMAT, no);
    write_bytes("PK\3\4 an .npz file ", 18);
    expect_bad(ASSAY_FORMAT, no);
    write_bytes("\x93NUMPY", 6);
    expect_bad(ASSAY_FORMAT,
               "is 6 bytes long, too short for the length of a header");
    write_bytes("\x93NUMPY\1\0v", 9);
    expect_bad(ASSAY_FORMAT,
               "is 9 bytes long, too short for the length of a header");
    write_bytes("\x93NUMPY\2\0tt\0", 11);
    expect_bad(ASSAY_FORMAT,
               "is 11 bytes long, too short for the length of a header");
    write_bytes("\x93NUMPY\1\0v\0{'des", 15);
    expect_bad(ASSAY_FORMAT, "header of 118 bytes runs past the end: 5 bytes "
                             "follow its length");
    write_bytes("\x93NUMPY\3\0\377\377\377\377{", 13);
    expect_bad(ASSAY_FORMAT, "header of 4294967295 bytes runs past the end: 1 "
                             "bytes follow its length");
    write_bytes("\x93NUMPY\4\0v\0\0\0", 12);
    expect_bad(ASSAY_FORMAT, "is of version 4.0; 1.0, 2.0 and 3.0 are read");
    write_bytes("\x93NUMPY\0\0v\0\0\0", 12);
    expect_bad(ASSAY_FORMAT, "is of version 0.0; 1.0, 2.0 and 3.0 are read");
    write_bytes("\x93NUMPY\1\1v\0\0\0", 12);
    expect_bad(ASSAY_FORMAT, "is of version 1.1; 1.0, 2.0 and 3.0 are read");
}
END_TEST

START_TEST(long_header)
{
    size_t n = 12 + (1 << 20) + 1;
    char *all = calloc(n, 1);
    ck_assert_ptr_nonnull(all);
    memcpy(all, "\x93NUMPY\2\0\1\0\20\0{}", 14);
    write_bytes(all, n);
    free(all);
    expect_bad(ASSAY_FORMAT,
               "header of 1048577 bytes is above the limit of 1048576");
}
END_TEST

#define AT(what, n) \
    "header has no " what " at character " #n " of its dictionary"

static const struct bad {
    const char *header, *sentence;
} bads[] = {
    { "", AT("{", 0) },
    { "\n", AT("{", 1) },
    { "[]", AT("{", 0) },
    { "{}", "header lacks descr" },
    { "{'descr': '<f4'}", "header lacks fortran_order" },
    { "{'descr': '<f4', 'fortran_order': False}", "header lacks shape" },
    { "{'descr': '<f4'", AT(", or }", 15) },
    { "{'descr': '<f4',", AT("string", 16) },
    { "{'descr' '<f4'}", AT(":", 9) },
    { "{'descr': <f4}", AT("string", 10) },
    { "{'descr': '<f4}", AT("'", 15) },
    { "{descr: '<f4'}", AT("string", 1) },
    { "{'descr': '<f4', 'descr': '<f4'}", "header has descr twice" },
    { "{'shape': (1,), 'shape': (1,)}", "header has shape twice" },
    { "{'fortran_order': False, 'fortran_order': False}",
      "header has fortran_order twice" },
    { "{'colour': 'blue'}",
      "header has the key \"colour\" beside descr, fortran_order and shape" },
    { "{'de\\scr': '<f4'}",
      "header has an odd or long string at character 4 of its dictionary" },
    { "{'d\033[31m': '<f4'}",
      "header has an odd or long string at character 3 of its dictionary" },
    { "{'d\303\251': '<f4'}",
      "header has an odd or long string at character 3 of its dictionary" },
    { "{'descr': '<f4<f4<f4<f4<f4<f4'}",
      "header has an odd or long string at character 26 of its dictionary" },
    { HEADER(">f4", "False", "(2, 3)"),
      "element type >f4 is big-endian, only little-endian is read" },
    { HEADER("<i8", "False", "(2, 3)"),
      "element type \"<i8\" is not one of <f4, <f2, |u1, |i1, <u2, <u4, "
      "<f8; bf16 words are <u2, narrow codes |u1" },
    { HEADER("<V1", "False", "(2, 3)"),
      "element type \"<V1\" is not one of <f4, <f2, |u1, |i1, <u2, <u4, "
      "<f8; bf16 words are <u2, narrow codes |u1" },
    { HEADER("", "False", "(2, 3)"),
      "element type \"\" is not one of <f4, <f2, |u1, |i1, <u2, <u4, "
      "<f8; bf16 words are <u2, narrow codes |u1" },
    { "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}",
      "elements are structures, only plain types are read" },
    { HEADER("<f4", "True", "(2, 3)"),
      "is in Fortran order, only C order is read" },
    { HEADER("<f4", "1", "(2, 3)"), "fortran_order is neither True nor False" },
    { HEADER("<f4", "Falsehood", "(2, 3)"), AT(", or }", 39) },
    { PLAIN("2"), AT("(", 50) },
    { PLAIN("[2]"), AT("(", 50) },
    { PLAIN("(3)"), "shape (3) is no tuple: the comma is missing" },
    { PLAIN("(2 3)"), AT(", or )", 53) },
    { PLAIN("(2,,3)"),
      "shape has no size at character 53 of the header's dictionary" },
    { PLAIN("(,)"),
      "shape has no size at character 51 of the header's dictionary" },
    { PLAIN("(-1,)"),
      "shape has no size at character 51 of the header's dictionary" },
    { PLAIN("(1e3,)"), AT(", or )", 52) },
    { PLAIN("(0x10,)"), AT(", or )", 52) },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3",
      AT(", or )", 55) },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (2,",
      "shape has no size at character 53 of the header's dictionary" },
    { PLAIN("(9223372036854775808,)"),
      "shape has a size past 9223372036854775807" },
    { PLAIN("(99999999999999999999999,)"),
      "shape has a size past 9223372036854775807" },
    { PLAIN("(4294967296, 4294967296)"),
      "shape (4294967296, 4294967296) times 1 bytes is more than can be "
      "counted" },
    /* 0 elements, but 2^64 in the other axes */
    { PLAIN("(4294967296, 0, 4294967296)"),
      "shape (4294967296, 0, 4294967296) times 1 bytes is more than can be "
      "counted" },
    { HEADER("<f4", "False", "(2305843009213693952,)"),
      "shape (2305843009213693952,) times 4 bytes is more than can be "
      "counted" },
    { PLAIN("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
            "1)"),
      "has more than 32 axes" },
    { PLAIN("(2, 3)") "x",
      "header has more after its dictionary, at character 59" },
    { PLAIN("(2, 3)") "{}",
      "header has more after its dictionary, at character 59" },
};

START_TEST(bad_headers)
{
    struct assay_error err = { 0 };
    struct npy npy;
    write_npy(1, bads[_i].header, one_to_six, sizeof one_to_six);
    enum assay_status st = npy_read(path, &npy, &err);
    ck_assert_msg(st != ASSAY_OK, "taken: %s", bads[_i].header);
    expect_bad(st, bads[_i].sentence);
    ck_assert_int_eq(assay_status_exit(st), 2);
}
END_TEST

/* No byte of a dictionary may be cut or NUL. */
START_TEST(cut_headers)
{
    char header[] = HEADER("<f4", "False", "(2, 3)");
    struct npy npy;
    for (size_t n = strlen(header); n-- > 0;) {
        char c = header[n];
        header[n] = '\0';
        write_npy(1, header, one_to_six, sizeof one_to_six);
        ck_assert_int_eq(npy_read(path, &npy, NULL), ASSAY_FORMAT);
        header[n] = c;
        ck_assert_int_eq(npy_parse(header, n, &npy, NULL), ASSAY_FORMAT);
    }
    ck_assert_int_eq(npy_parse(header, sizeof header, &npy, NULL),
                     ASSAY_FORMAT);
    ck_assert_int_eq(npy_parse(header, sizeof header - 1, &npy, NULL),
                     ASSAY_OK);
}
END_TEST

START_TEST(wrong_sizes)
{
    write_npy(1, HEADER("<f4", "False", "(2, 3)"), one_to_six, 23);
    expect_bad(ASSAY_FORMAT, "shape (2, 3) of <f4 needs 24 bytes, 23 follow "
                             "the header");
    write_npy(1, HEADER("<f4", "False", "(2, 3)"), "", 0);
    expect_bad(ASSAY_FORMAT, "shape (2, 3) of <f4 needs 24 bytes, 0 follow "
                             "the header");
    write_npy(1, HEADER("<f4", "False", "(5,)"), one_to_six, 24);
    expect_bad(ASSAY_FORMAT, "4 bytes are left over: shape (5,) of <f4 needs "
                             "20, 24 follow the header");
    write_npy(1, HEADER("|u1", "False", "(0, 9)"), "x", 1);
    expect_bad(ASSAY_FORMAT, "1 bytes are left over: shape (0, 9) of |u1 "
                             "needs 0, 1 follow the header");
    /* found before anything is allocated */
    write_npy(1, PLAIN("(1099511627776, 1048576)"), one_to_six, 24);
    expect_bad(ASSAY_FORMAT, "shape (1099511627776, 1048576) of |u1 needs "
                             "1152921504606846976 bytes, 24 follow the header");
}
END_TEST

/* ---- writing ---- */

static void expect_written(const struct npy *npy, const void *bytes, size_t n)
{
    static unsigned char have[1 << 12];
    struct temp_file file;
    struct assay_error err = { 0 };
    ck_assert_int_eq(temp_file_begin(path, &file, &err), ASSAY_OK);
    ck_assert_int_eq(npy_write(&file, npy, &err), ASSAY_OK);
    ck_assert_int_eq(temp_file_commit(&file, &err), ASSAY_OK);
    FILE *from = fopen(path, "rb");
    ck_assert_ptr_nonnull(from);
    ck_assert_uint_eq(fread(have, 1, sizeof have, from), n);
    fclose(from);
    ck_assert_mem_eq(have, bytes, n);
}

START_TEST(written)
{
    char want[256];
    struct npy npy = { .type = npy_type_get(NPY_F4),
                       .rank = 2,
                       .shape = { 2, 3 },
                       .count = 6,
                       .data = (void *)one_to_six };
    memcpy(want, "\x93NUMPY\1\0v\0", 10);
    snprintf(want + 10, sizeof want - 10, "%-117s\n",
             HEADER("<f4", "False", "(2, 3)"));
    memcpy(want + 128, one_to_six, 24);
    expect_written(&npy, want, 152);
    npy.rank = 1;
    npy.shape[0] = 6;
    snprintf(want + 10, sizeof want - 10, "%-117s\n",
             HEADER("<f4", "False", "(6,)"));
    memcpy(want + 128, one_to_six, 24);
    expect_written(&npy, want, 152);
    npy.type = npy_type_get(NPY_I1);
    npy.rank = 0;
    npy.count = 1;
    snprintf(want + 10, sizeof want - 10, "%-117s\n",
             HEADER("|i1", "False", "()"));
    memcpy(want + 128, one_to_six, 1);
    expect_written(&npy, want, 129);
}
END_TEST

/* The longest header there can be, read again. */
START_TEST(widest)
{
    struct npy npy = { .type = npy_type_get(NPY_U1), .rank = NPY_MAX_RANK };
    struct npy back;
    struct temp_file file;
    struct assay_error err = { 0 };
    npy.shape[3] = INT64_MAX;
    for (int i = 0; i < NPY_MAX_RANK; i++)
        npy.shape[i] = i == 3 ? 1000000000000000000 : i == 31 ? 0 : 1;
    ck_assert_int_eq(temp_file_begin(path, &file, &err), ASSAY_OK);
    ck_assert_int_eq(npy_write(&file, &npy, &err), ASSAY_OK);
    ck_assert_int_eq(temp_file_commit(&file, &err), ASSAY_OK);
    expect_good(&back);
    ck_assert_int_eq(back.rank, NPY_MAX_RANK);
    ck_assert_mem_eq(back.shape, npy.shape, sizeof npy.shape);
    ck_assert_int_eq(back.count, 0);
    assay_free(back.data);
}
END_TEST

/* ---- suite ---- */

int main(void)
{
    Suite *suite = suite_create("npy");
    TCase *t = tcase_create("read");
    tcase_add_checked_fixture(t, make_path, remove_made);
    tcase_add_loop_test(t, versions, 1, 4);
    tcase_add_loop_test(t, good_headers, 0, sizeof goods / sizeof *goods);
    tcase_add_loop_test(t, good_types, 0, NPY_TYPES);
    tcase_add_test(t, not_files);
    tcase_add_test(t, fronts);
    tcase_add_test(t, long_header);
    tcase_add_loop_test(t, bad_headers, 0, sizeof bads / sizeof *bads);
    tcase_add_test(t, cut_headers);
    tcase_add_test(t, wrong_sizes);
    tcase_add_test(t, written);
    tcase_add_test(t, widest);
    suite_add_tcase(suite, t);
    return assay_check_main(suite);
}
