/* SPDX-License-Identifier: MIT
 *
 * golden/safetensors.c: every kind of bad file gets its status and its
 * sentence, every kind of good file is read to the byte. Files are made here,
 * in TMPDIR; larger real ones are read where the shared folder is there.
 */
#include <check.h>
#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_assay.h"
#include "golden/safetensors.h"

/* ---- files ---- */

static char made[PATH_MAX]; /* ours, so removed whatever happens */
static char path[PATH_MAX]; /* the file under test */

static void make_path(void)
{
    const char *folder = getenv("TMPDIR");
    snprintf(made, sizeof made, "%s/check_safetensors-XXXXXX",
             folder && *folder ? folder : "/tmp");
    int fd = mkstemp(made);
    ck_assert_int_ge(fd, 0);
    close(fd);
    memcpy(path, made, sizeof path);
}

static void remove_made(void)
{
    unlink(made);
}

static void write_bytes(const void *bytes, size_t n)
{
    FILE *to = fopen(path, "wb");
    ck_assert_ptr_nonnull(to);
    ck_assert_uint_eq(fwrite(bytes, 1, n, to), n);
    ck_assert_int_eq(fclose(to), 0);
}

/* A length, some bytes of header, some of data: byte i of the data is i. */
static void write_parts(uint64_t length, const void *header,
                        size_t header_bytes, size_t data_bytes)
{
    size_t n = 8 + header_bytes + data_bytes;
    unsigned char *bytes = malloc(n);
    ck_assert_ptr_nonnull(bytes);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + 8, header, header_bytes);
    for (size_t i = 0; i < data_bytes; i++)
        bytes[8 + header_bytes + i] = (unsigned char)i;
    write_bytes(bytes, n);
    free(bytes);
}

static void write_file(const char *header, size_t data_bytes)
{
    write_parts(strlen(header), header, strlen(header), data_bytes);
}

static struct assay_safetensors *open_good(void)
{
    struct assay_safetensors *file = NULL;
    struct assay_error err = { 0 };
    enum assay_status st = assay_safetensors_open(path, &file, &err);
    ck_assert_msg(st == ASSAY_OK, "%s", err.text);
    ck_assert_ptr_nonnull(file);
    return file;
}

/* The record must hold "path: sentence"; a * at the end stands for more. */
static void expect_text(const struct assay_error *err, const char *sentence)
{
    size_t n = strlen(path);
    ck_assert_msg(!strncmp(err->text, path, n)
                      && !strncmp(err->text + n, ": ", 2),
                  "does not begin with the path: %s", err->text);
    const char *got = err->text + n + 2;
    size_t stem = strlen(sentence);
    if (stem && sentence[stem - 1] == '*')
        ck_assert_msg(!strncmp(got, sentence, stem - 1),
                      "got:  %s\nwant: %s", got, sentence);
    else
        ck_assert_str_eq(got, sentence);
}

static void expect_bad(enum assay_status status, const char *sentence)
{
    struct assay_safetensors *file = (struct assay_safetensors *)path;
    struct assay_error err = { 0 };
    enum assay_status st = assay_safetensors_open(path, &file, &err);
    ck_assert_msg(st == status, "status %d, want %d, for: %s", (int)st,
                  (int)status, sentence);
    ck_assert_int_eq(err.status, st);
    ck_assert_ptr_null(file);
    expect_text(&err, sentence);
    ck_assert_int_eq(assay_safetensors_open(path, &file, NULL), status);
}

/* ---- bad files: what is no header at all ---- */

START_TEST(absent)
{
    remove_made();
    expect_bad(ASSAY_FILE, "cannot be opened: No such file or directory");
}
END_TEST

START_TEST(directory)
{
    remove_made();
    ck_assert_int_eq(mkdir(path, 0700), 0);
    expect_bad(ASSAY_FILE, "is a directory, not a regular file");
    rmdir(made);
}
END_TEST

START_TEST(fifo)
{
    remove_made();
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    expect_bad(ASSAY_FILE, "is a FIFO, not a regular file");
}
END_TEST

START_TEST(device)
{
    snprintf(path, sizeof path, "/dev/null");
    expect_bad(ASSAY_FILE, "is a character device, not a regular file");
}
END_TEST

START_TEST(empty_file)
{
    write_bytes("", 0);
    expect_bad(ASSAY_FORMAT, "is 0 bytes long, but a safetensors file begins "
                             "with 8 bytes of header length");
}
END_TEST

START_TEST(seven_bytes)
{
    write_bytes("\2\0\0\0\0\0\0", 7);
    expect_bad(ASSAY_FORMAT, "is 7 bytes long, but a safetensors file begins "
                             "with 8 bytes of header length");
}
END_TEST

START_TEST(length_zero)
{
    write_parts(0, "{}", 2, 0);
    expect_bad(ASSAY_FORMAT, "header length is 0; the least is 2, for {}");
}
END_TEST

START_TEST(length_above_limit)
{
    write_parts(100000001, "{}", 2, 0);
    expect_bad(ASSAY_FORMAT,
               "header length 100000001 is above the format's limit of "
               "100000000 bytes; is this a safetensors file?");
    write_parts(UINT64_MAX, "{}", 2, 0);
    expect_bad(ASSAY_FORMAT,
               "header length 18446744073709551615 is above the format's "
               "limit of 100000000 bytes; is this a safetensors file?");
}
END_TEST

START_TEST(length_past_end)
{
    write_parts(3, "{}", 2, 0);
    expect_bad(ASSAY_FORMAT, "header of 3 bytes runs past the end: 2 bytes "
                             "follow the length, 1 are missing");
    write_parts(100000000, "{}", 2, 0);
    expect_bad(ASSAY_FORMAT,
               "header of 100000000 bytes runs past the end: 2 bytes follow "
               "the length, 99999998 are missing");
}
END_TEST

/* ---- bad files: a header that says something wrong ---- */

#define T(dtype, shape, offsets)                                  \
    "{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" \
    offsets "}"
#define F32_4 T("\"F32\"", "[1]", "[0,4]")

static const struct bad {
    const char *header;
    size_t data_bytes;
    const char *sentence;
} bad[] = {
    /* JSON */
    { "{\"a\xff\":1}", 0,
      "header is not UTF-8: line 1, column 3: unable to decode byte 0xff*" },
    { "{\"a\":}", 0, "header is not JSON: line 1, column 6: *" },
    { "{\n\"a\":1,\n\"b\" 2}", 0, "header is not JSON: line 3, column 5: *" },
    { "{} {}", 0, "header is not JSON: line 1, column 4: *" },
    { "{\"a\\u0000b\":1}", 0, "header is not JSON: line 1, *" },
    { "     ", 0, "header is not JSON: line 1, *" },
    { "{\"a\":" F32_4 ",\"\\u0061\":" F32_4 "}", 4,
      "header is not JSON: line 1, *" },
    { "[]", 0, "header is an array, not an object" },
    { "\"{}\"", 0, "header is a string, not an object" },
    { "12345", 0, "header is an integer, not an object" },
    { " {}", 0, "header begins with byte 0x20, not with {" },

    /* metadata */
    { "{\"__metadata__\":[]}", 0,
      "__metadata__ is an array, not an object of strings" },
    { "{\"__metadata__\":null}", 0,
      "__metadata__ is null, not an object of strings" },
    { "{\"__metadata__\":{\"a\":\"b\",\"c\":4}}", 0,
      "__metadata__ \"c\" is an integer, not a string" },
    { "{\"__metadata__\":{\"a\":{}}}", 0,
      "__metadata__ \"a\" is an object, not a string" },

    /* the parts of an entry */
    { "{\"x\":7}", 0, "tensor \"x\": is an integer, not an object" },
    { "{\"x\":null}", 0, "tensor \"x\": is null, not an object" },
    { "{\"x\":{}}", 0, "tensor \"x\": lacks \"dtype\"" },
    { "{\"x\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4,
      "tensor \"x\": lacks \"shape\"" },
    { "{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4,
      "tensor \"x\": lacks \"data_offsets\"" },
    { "{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],"
      "\"stride\":[1]}}", 4, "tensor \"x\": has an unknown key \"stride\"" },
    { "{\"x\":" T("32", "[1]", "[0,4]") "}", 4,
      "tensor \"x\": dtype is an integer, not a string" },
    { "{\"x\":" T("\"F33\"", "[1]", "[0,4]") "}", 4,
      "tensor \"x\": dtype \"F33\" is unknown; known: F64 F32 F16 BF16 "
      "F8_E4M3 F8_E5M2 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ F4 F6_E2M3 F6_E3M2 "
      "I64 I32 I16 I8 U64 U32 U16 U8 BOOL C64" },
    { "{\"x\":" T("\"f32\"", "[1]", "[0,4]") "}", 4,
      "tensor \"x\": dtype \"f32\" is unknown; *" },
    { "{\"x\":" T("\"F32\"", "{}", "[0,4]") "}", 4,
      "tensor \"x\": shape is an object, not an array" },
    { "{\"x\":" T("\"F32\"", "[-1]", "[0,4]") "}", 4,
      "tensor \"x\": shape[0] is negative: -1" },
    { "{\"x\":" T("\"F32\"", "[1,1.0]", "[0,4]") "}", 4,
      "tensor \"x\": shape[1] is a real number, not an integer" },
    { "{\"x\":" T("\"F32\"", "[\"1\"]", "[0,4]") "}", 4,
      "tensor \"x\": shape[0] is a string, not an integer" },
    { "{\"x\":" T("\"F32\"", "[true]", "[0,4]") "}", 4,
      "tensor \"x\": shape[0] is true, not an integer" },
    { "{\"x\":" T("\"F32\"", "[9223372036854775808]", "[0,4]") "}", 4,
      "header is not JSON: line 1, *" },
    { "{\"x\":" T("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]") "}", 1,
      "tensor \"x\": shape has 9 dimensions, at most 8 are read" },
    { "{\"x\":" T("\"F32\"", "[1]", "4") "}", 4,
      "tensor \"x\": data_offsets is an integer, not an array" },
    { "{\"x\":" T("\"F32\"", "[1]", "[4]") "}", 4,
      "tensor \"x\": data_offsets has 1 numbers, not 2" },
    { "{\"x\":" T("\"F32\"", "[1]", "[0,4,8]") "}", 4,
      "tensor \"x\": data_offsets has 3 numbers, not 2" },
    { "{\"x\":" T("\"F32\"", "[1]", "[0,4.0]") "}", 4,
      "tensor \"x\": data_offsets[1] is a real number, not an integer" },
    { "{\"x\":" T("\"F32\"", "[1]", "[null,4]") "}", 4,
      "tensor \"x\": data_offsets[0] is null, not an integer" },
    { "{\"x\":" T("\"F32\"", "[1]", "[-4,0]") "}", 4,
      "tensor \"x\": data_offsets[0] is negative: -4" },

    /* sizes */
    { "{\"x\":" T("\"F32\"", "[1]", "[4,0]") "}", 4,
      "tensor \"x\": data_offsets [4, 0] are reversed" },
    { "{\"x\":" T("\"F32\"", "[2,3]", "[0,20]") "}", 20,
      "tensor \"x\": data_offsets [0, 20] hold 20 bytes, but shape [2, 3] of "
      "F32 is 24 bytes" },
    { "{\"x\":" T("\"F32\"", "[]", "[0,0]") "}", 0,
      "tensor \"x\": data_offsets [0, 0] hold 0 bytes, but shape [] of F32 "
      "is 4 bytes" },
    { "{\"x\":" T("\"F32\"", "[0,5]", "[0,20]") "}", 20,
      "tensor \"x\": data_offsets [0, 20] hold 20 bytes, but shape [0, 5] of "
      "F32 is 0 bytes" },
    { "{\"x\":" T("\"F4\"", "[3,5]", "[0,8]") "}", 8,
      "tensor \"x\": shape [3, 5] of F4 is 60 bits, which are not whole "
      "bytes" },
    { "{\"x\":" T("\"F6_E2M3\"", "[2]", "[0,2]") "}", 2,
      "tensor \"x\": shape [2] of F6_E2M3 is 12 bits, which are not whole "
      "bytes" },
    { "{\"x\":" T("\"U8\"", "[4294967296,4294967296]", "[0,0]") "}", 0,
      "tensor \"x\": shape [4294967296, 4294967296] of U8 is more than 2^63 "
      "bits" },
    { "{\"x\":" T("\"U8\"", "[1152921504606846976]", "[0,0]") "}", 0,
      "tensor \"x\": shape [1152921504606846976] of U8 is more than 2^63 "
      "bits" },
    { "{\"x\":" T("\"U8\"", "[0,4294967296,4294967296]", "[0,0]") "}", 0,
      "tensor \"x\": shape [0, 4294967296, 4294967296] of U8 is more than "
      "2^63 bits" },
    { "{\"x\":" T("\"U8\"", "[4294967296,4294967296,0]", "[0,0]") "}", 0,
      "tensor \"x\": shape [4294967296, 4294967296, 0] of U8 is more than "
      "2^63 bits" },

    /* places */
    { "{\"x\":" T("\"F32\"", "[4]", "[0,16]") "}", 13,
      "tensor \"x\": ends at byte 16 of the data, but 13 bytes follow the "
      "header; 3 bytes are missing" },
    { "{\"x\":" T("\"F32\"", "[1]",
                  "[9223372036854775803,9223372036854775807]") "}", 4,
      "tensor \"x\": ends at byte 9223372036854775807 of the data, but 4 "
      "bytes follow the header; 9223372036854775803 bytes are missing" },
    { "{\"y\":" T("\"F32\"", "[1]", "[4,8]") ",\"x\":" F32_4 "}", 0,
      "tensor \"y\": ends at byte 8 of the data, but 0 bytes follow the "
      "header; 8 bytes are missing" },
    { "{\"x\":" F32_4 "}", 5,
      "1 bytes are left over: the tensors end at byte 4 of the data, but 5 "
      "bytes follow the header" },
    { "{}", 3, "3 bytes are left over: the tensors end at byte 0 of the "
               "data, but 3 bytes follow the header" },
    { "{\"x\":" T("\"F32\"", "[1]", "[4,8]") "}", 8,
      "tensor \"x\": begins at byte 4 of the data, but bytes 0 to 4 belong "
      "to no tensor" },
    { "{\"z\":" T("\"F32\"", "[1]", "[7,11]") ",\"x\":" F32_4 "}", 11,
      "tensor \"z\": begins at byte 7 of the data, but bytes 4 to 7 belong "
      "to no tensor" },
    { "{\"z\":" T("\"F32\"", "[1]", "[3,7]") ",\"x\":" F32_4 "}", 7,
      "tensor \"z\": begins at byte 3 of the data and overlaps tensor \"x\", "
      "which ends at byte 4" },
    { "{\"y\":" F32_4 ",\"x\":" F32_4 "}", 4,
      "tensor \"y\": begins at byte 0 of the data and overlaps tensor "
      "\"x\", which ends at byte 4" },
    { "{\"x\":" T("\"U8\"", "[8]", "[0,8]") ",\"in\":"
      T("\"U8\"", "[2]", "[2,4]") "}", 8,
      "tensor \"in\": begins at byte 2 of the data and overlaps tensor "
      "\"x\", which ends at byte 8" },
    { "{\"x\":" T("\"U8\"", "[8]", "[0,8]") ",\"in\":"
      T("\"U8\"", "[0]", "[4,4]") "}", 8,
      "tensor \"in\": begins at byte 4 of the data and overlaps tensor "
      "\"x\", which ends at byte 8" },

    /* words that must not reach a terminal as they are */
    { "{\"\\u001b[2J\\u007f\\\"\\\\\\u009b\":7}", 0,
      "tensor \"\\x1b[2J\\x7f\\x22\\x5c\\xc2\\x9b\": is an integer, not an "
      "object" },
    { "{\"0123456789012345678901234567890123456789012345678901234567890123456"
      "78901\xc3\xa9\xc3\xa9" "abc\":7}", 0,
      "tensor \"01234567890123456789012345678901234567890123456789012345678901"
      "2345678901...\": is an integer, not an object" },
};

START_TEST(bad_header)
{
    write_file(bad[_i].header, bad[_i].data_bytes);
    expect_bad(ASSAY_FORMAT, bad[_i].sentence);
}
END_TEST

START_TEST(nested_deeply)
{
    const size_t n = 100000;
    char *header = malloc(n);
    ck_assert_ptr_nonnull(header);
    memset(header, '[', n);
    memcpy(header, "{\"x\":", 5);
    write_parts(n, header, n, 0);
    free(header);
    expect_bad(ASSAY_FORMAT, "header is not JSON: line 1, *");
}
END_TEST

START_TEST(long_path)
{
    remove_made();
    ck_assert_int_eq(mkdir(made, 0700), 0);
    int n = snprintf(path, sizeof path, "%s/%0200d", made, 7);
    write_bytes("", 0);
    struct assay_safetensors *file;
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_safetensors_open(path, &file, &err), ASSAY_FORMAT);
    char want[512];
    snprintf(want, sizeof want, "...%s: is 0 bytes long", path + n - 160);
    ck_assert_msg(!strncmp(err.text, want, strlen(want)), "%s", err.text);
    unlink(path);
    rmdir(made);
}
END_TEST

/* Each allocation of the JSON library fails once. Some that fail while it
 * reads a token it takes for bad JSON, so the status may be either. */
static int allocations_left;

static void *poor_malloc(size_t n)
{
    return allocations_left-- > 0 ? malloc(n) : NULL;
}

START_TEST(memory)
{
    write_file("{\"__metadata__\":{\"a\":\"b\"},\"x\":" F32_4 "}", 4);
    json_set_alloc_funcs(poor_malloc, free);
    enum assay_status st = ASSAY_MEMORY;
    int n = 0, n_memory = 0;
    for (; st != ASSAY_OK && n < 1000; n++) {
        struct assay_safetensors *file = NULL;
        allocations_left = n;
        st = assay_safetensors_open(path, &file, NULL);
        ck_assert_int_eq(file == NULL, st != ASSAY_OK);
        ck_assert(st == ASSAY_OK || st == ASSAY_MEMORY || st == ASSAY_FORMAT);
        n_memory += st == ASSAY_MEMORY;
        assay_safetensors_close(file);
    }
    json_set_alloc_funcs(malloc, free);
    ck_assert_int_eq(st, ASSAY_OK);
    ck_assert_int_gt(n_memory, 10);
}
END_TEST

/* ---- good files ---- */

START_TEST(no_tensors)
{
    write_file("{}      ", 0);
    struct assay_safetensors *file = open_good();
    ck_assert_uint_eq(assay_safetensors_count(file), 0);
    ck_assert_ptr_null(assay_safetensors_metadata(file, "a"));
    const struct assay_safetensors_tensor *tensor;
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_safetensors_get(file, 0, &tensor, &err),
                     ASSAY_USAGE);
    expect_text(&err, "has 0 tensors, so none of index 0");
    ck_assert_ptr_null(tensor);
    ck_assert_int_eq(assay_safetensors_find(file, "q", &tensor, &err),
                     ASSAY_FORMAT);
    expect_text(&err, "none of its 0 tensors is named \"q\"");
    ck_assert_ptr_null(tensor);
    assay_safetensors_close(file);
    assay_safetensors_close(NULL);
}
END_TEST

static const struct {
    const char *name;
    int bits;
} dtypes[] = {
#define ASSAY_SAFETENSORS_DTYPE(id, name, bits) { name, bits },
#include "golden/safetensors_dtype.def"
#undef ASSAY_SAFETENSORS_DTYPE
};

START_TEST(every_dtype)
{
    const int bits = dtypes[_i].bits;
    const size_t bytes = (size_t)bits * 12 / 8;
    char header[200];
    snprintf(header, sizeof header,
             "{\"x\":" T("\"%s\"", "[3,4]", "[0,%zu]") "}", dtypes[_i].name,
             bytes);
    write_file(header, bytes);
    struct assay_safetensors *file = open_good();
    const struct assay_safetensors_tensor *x;
    ck_assert_int_eq(assay_safetensors_find(file, "x", &x, NULL), ASSAY_OK);
    ck_assert_str_eq(x->dtype->name, dtypes[_i].name);
    ck_assert_int_eq((int)x->dtype->id, _i);
    ck_assert_int_eq(x->dtype->bits, bits);
    ck_assert_int_eq(x->rank, 2);
    ck_assert_int_eq(x->shape[0], 3);
    ck_assert_int_eq(x->shape[1], 4);
    ck_assert_uint_eq(x->bytes, bytes);
    unsigned char got[12 * 8];
    ck_assert_int_eq(assay_safetensors_read(file, x, got, bytes, NULL),
                     ASSAY_OK);
    for (size_t i = 0; i < bytes; i++)
        ck_assert_uint_eq(got[i], i);
    assay_safetensors_close(file);
}
END_TEST

/* Widths are facts of the formats, so they are typed again here. */
START_TEST(dtype_bits)
{
    static const char *const want = "F64 64 F32 32 F16 16 BF16 16 F8_E4M3 8 "
        "F8_E5M2 8 F8_E8M0 8 F8_E4M3FNUZ 8 F8_E5M2FNUZ 8 F4 4 F6_E2M3 6 "
        "F6_E3M2 6 I64 64 I32 32 I16 16 I8 8 U64 64 U32 32 U16 16 U8 8 "
        "BOOL 8 C64 64 ";
    char got[512];
    size_t n = 0;
    for (size_t i = 0; i < ASSAY_SAFETENSORS_N_DTYPES; i++)
        n += (size_t)snprintf(got + n, sizeof got - n, "%s %d ",
                              dtypes[i].name, dtypes[i].bits);
    ck_assert_str_eq(got, want);
}
END_TEST

START_TEST(scalar_and_empty)
{
    write_file("{\"s\":" T("\"F32\"", "[]", "[0,4]") ",\"e\":"
               T("\"F64\"", "[7,0,3]", "[4,4]") ",\"f\":"
               T("\"U8\"", "[2]", "[4,6]") ",\"first\":"
               T("\"U8\"", "[0]", "[0,0]") ",\"last\":"
               T("\"U8\"", "[0]", "[6,6]") "}", 6);
    struct assay_safetensors *file = open_good();
    const struct assay_safetensors_tensor *s, *e, *f;
    ck_assert_int_eq(assay_safetensors_find(file, "s", &s, NULL), ASSAY_OK);
    ck_assert_int_eq(assay_safetensors_find(file, "e", &e, NULL), ASSAY_OK);
    ck_assert_int_eq(assay_safetensors_find(file, "f", &f, NULL), ASSAY_OK);
    ck_assert_int_eq(s->rank, 0);
    ck_assert_uint_eq(s->bytes, 4);
    ck_assert_int_eq(e->rank, 3);
    ck_assert_int_eq(e->shape[0], 7);
    ck_assert_int_eq(e->shape[1], 0);
    ck_assert_int_eq(e->shape[2], 3);
    ck_assert_uint_eq(e->bytes, 0);
    ck_assert_int_eq(assay_safetensors_read(file, e, NULL, 0, NULL),
                     ASSAY_OK);
    unsigned char got[2];
    ck_assert_int_eq(assay_safetensors_read(file, f, got, 2, NULL), ASSAY_OK);
    ck_assert_uint_eq(got[0], 4);
    ck_assert_uint_eq(got[1], 5);
    assay_safetensors_close(file);
}
END_TEST

START_TEST(eight_dimensions)
{
    write_file("{\"x\":" T("\"U8\"", "[1,2,1,2,1,2,1,2]", "[0,16]") "}", 16);
    struct assay_safetensors *file = open_good();
    const struct assay_safetensors_tensor *x;
    ck_assert_int_eq(assay_safetensors_get(file, 0, &x, NULL), ASSAY_OK);
    ck_assert_int_eq(x->rank, 8);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(x->shape[i], 1 + i % 2);
    assay_safetensors_close(file);
}
END_TEST

START_TEST(metadata)
{
    write_file("{\"x\":" F32_4 ",\"__metadata__\":{\"softmax_scale\":"
               "\"0.125\",\"\":\"no name\",\"e\":\"\",\"u\":\"\\u00e9\"}}", 4);
    struct assay_safetensors *file = open_good();
    ck_assert_uint_eq(assay_safetensors_count(file), 1);
    ck_assert_str_eq(assay_safetensors_metadata(file, "softmax_scale"),
                     "0.125");
    ck_assert_str_eq(assay_safetensors_metadata(file, ""), "no name");
    ck_assert_str_eq(assay_safetensors_metadata(file, "e"), "");
    ck_assert_str_eq(assay_safetensors_metadata(file, "u"), "\xc3\xa9");
    ck_assert_ptr_null(assay_safetensors_metadata(file, "x"));
    ck_assert_ptr_null(assay_safetensors_metadata(file, "softmax"));
    assay_safetensors_close(file);
}
END_TEST

START_TEST(names_in_order)
{
    static const char *const want[] = { "", "A", "a/b/c", "a\"b\\", "layer0.q",
                                        "z\n", "\xc3\xa9" };
    const size_t n = sizeof want / sizeof *want;
    write_file("{\"\\u00e9\":" T("\"U8\"", "[1]", "[0,1]") ",\"layer0.q\":"
               T("\"U8\"", "[1]", "[1,2]") ",\"a\\\"b\\\\\":"
               T("\"U8\"", "[1]", "[3,4]") ",\"a/b/c\":"
               T("\"U8\"", "[1]", "[2,3]") ",\"\":"
               T("\"U8\"", "[1]", "[4,5]") ",\"z\\n\":"
               T("\"U8\"", "[1]", "[5,6]") ",\"A\":"
               T("\"U8\"", "[1]", "[6,7]") "}", 7);
    static const unsigned char place[] = { 4, 6, 2, 3, 1, 5, 0 };
    struct assay_safetensors *file = open_good();
    /* bytes sort a" before a/ */
    ck_assert_uint_eq(assay_safetensors_count(file), n);
    for (size_t i = 0; i < n; i++) {
        size_t w = i == 2 ? 3 : i == 3 ? 2 : i;
        const struct assay_safetensors_tensor *x, *same;
        ck_assert_int_eq(assay_safetensors_get(file, i, &x, NULL), ASSAY_OK);
        ck_assert_str_eq(x->name, want[w]);
        ck_assert_uint_eq(x->index, i);
        ck_assert_int_eq(assay_safetensors_find(file, want[w], &same, NULL),
                         ASSAY_OK);
        ck_assert_ptr_eq(same, x);
        unsigned char got;
        ck_assert_int_eq(assay_safetensors_read(file, x, &got, 1, NULL),
                         ASSAY_OK);
        ck_assert_uint_eq(got, place[w]);
    }
    assay_safetensors_close(file);
}
END_TEST

/* ---- reading ---- */

START_TEST(wrong_buffer)
{
    write_file("{\"x\":" F32_4 "}", 4);
    struct assay_safetensors *file = open_good();
    const struct assay_safetensors_tensor *x;
    ck_assert_int_eq(assay_safetensors_get(file, 0, &x, NULL), ASSAY_OK);
    unsigned char got[8];
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_safetensors_read(file, x, got, 3, &err),
                     ASSAY_SHAPE);
    expect_text(&err, "tensor \"x\" has 4 bytes, the buffer 3");
    ck_assert_int_eq(assay_safetensors_read(file, x, got, 8, &err),
                     ASSAY_SHAPE);
    expect_text(&err, "tensor \"x\" has 4 bytes, the buffer 8");
    assay_safetensors_close(file);
}
END_TEST

START_TEST(foreign_tensor)
{
    write_file("{\"x\":" F32_4 "}", 4);
    struct assay_safetensors *file = open_good(), *other = open_good();
    const struct assay_safetensors_tensor *x;
    ck_assert_int_eq(assay_safetensors_get(other, 0, &x, NULL), ASSAY_OK);
    unsigned char got[4];
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_safetensors_read(file, x, got, 4, &err),
                     ASSAY_USAGE);
    expect_text(&err, "tensor \"x\" is not of this file");
    assay_safetensors_close(other);
    assay_safetensors_close(file);
}
END_TEST

START_TEST(cut_while_open)
{
    static const char header[] = "{\"x\":" T("\"U8\"", "[9]", "[0,9]") "}";
    write_file(header, 9);
    struct assay_safetensors *file = open_good();
    const off_t keep = (off_t)(8 + strlen(header) + 4);
    ck_assert_int_eq(truncate(path, keep), 0);
    const struct assay_safetensors_tensor *x;
    ck_assert_int_eq(assay_safetensors_get(file, 0, &x, NULL), ASSAY_OK);
    unsigned char got[9];
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_safetensors_read(file, x, got, 9, &err),
                     ASSAY_FILE);
    char want[100];
    snprintf(want, sizeof want, "tensor \"x\": ends at byte %d, 5 bytes too "
             "soon; it was cut while it was read", (int)keep);
    expect_text(&err, want);
    assay_safetensors_close(file);
}
END_TEST

/* ---- real files, where there are some ---- */

static const struct {
    const char *name;
    const char *causal; /* NULL where the file does not say */
    size_t n_tensors;
    const char *tensor;
    const char *dtype;
    int rank;
    int64_t shape[3];
} real[] = {
    { "captured/lm_causal_gqa_dev_a", "true", 12, "layer2.q", "BF16", 3,
      { 8, 2048, 128 } },
    { "captured/lm_causal_gqa_dev_b", "true", 6, "layer5.ref_rows", "I32", 1,
      { 64 } },
    { "captured/mlm_bidir_mha_dev_a", "false", 6, "layer0.v", "BF16", 3,
      { 8, 1500, 128 } },
    { "captured/mlm_bidir_mha_dev_b", "false", 6, "layer3.ref_o_f64", "F64",
      3, { 8, 64, 128 } },
    { "kernel-outputs/ragged", NULL, 0, "layer3.k", "BF16", 3,
      { 3, 1500, 128 } },
    { "kernel-outputs/tiles11", NULL, 0, "layer3.q", "BF16", 3,
      { 3, 256, 128 } },
};

static void read_all(const struct assay_safetensors *file)
{
    for (size_t i = 0; i < assay_safetensors_count(file); i++) {
        const struct assay_safetensors_tensor *x;
        struct assay_error err = { 0 };
        ck_assert_int_eq(assay_safetensors_get(file, i, &x, NULL), ASSAY_OK);
        void *got = malloc(x->bytes + 1);
        ck_assert_ptr_nonnull(got);
        enum assay_status st
            = assay_safetensors_read(file, x, got, x->bytes, &err);
        ck_assert_msg(st == ASSAY_OK, "%s", err.text);
        free(got);
    }
}

START_TEST(real_file)
{
    const char *folder = assay_shared_dir();
    if (!folder) {
        printf("# real_file %d skipped: no shared folder\n", _i);
        return;
    }
    snprintf(path, sizeof path, "%s/%s.safetensors", folder, real[_i].name);
    struct assay_safetensors *file = open_good();
    if (real[_i].causal) {
        ck_assert_str_eq(assay_safetensors_metadata(file, "causal"),
                         real[_i].causal);
        ck_assert_str_eq(assay_safetensors_metadata(file, "softmax_scale"),
                         "0.08838834764831845");
        ck_assert_uint_eq(assay_safetensors_count(file), real[_i].n_tensors);
    }
    const struct assay_safetensors_tensor *x;
    ck_assert_int_eq(assay_safetensors_find(file, real[_i].tensor, &x, NULL),
                     ASSAY_OK);
    ck_assert_str_eq(x->dtype->name, real[_i].dtype);
    ck_assert_int_eq(x->rank, real[_i].rank);
    for (int i = 0; i < x->rank; i++)
        ck_assert_int_eq(x->shape[i], real[_i].shape[i]);
    read_all(file);
    assay_safetensors_close(file);
}
END_TEST

/* ---- the suite ---- */

static TCase *new_case(Suite *s, const char *name)
{
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, make_path, remove_made);
    suite_add_tcase(s, c);
    return c;
}

int main(void)
{
    Suite *s = suite_create("safetensors");
    TCase *c = new_case(s, "bad");
    tcase_add_test(c, absent);
    tcase_add_test(c, directory);
    tcase_add_test(c, fifo);
    tcase_add_test(c, device);
    tcase_add_test(c, empty_file);
    tcase_add_test(c, seven_bytes);
    tcase_add_test(c, length_zero);
    tcase_add_test(c, length_above_limit);
    tcase_add_test(c, length_past_end);
    tcase_add_loop_test(c, bad_header, 0, sizeof bad / sizeof *bad);
    tcase_add_test(c, nested_deeply);
    tcase_add_test(c, long_path);
    tcase_add_test(c, memory);

    c = new_case(s, "good");
    tcase_add_test(c, no_tensors);
    tcase_add_loop_test(c, every_dtype, 0, ASSAY_SAFETENSORS_N_DTYPES);
    tcase_add_test(c, dtype_bits);
    tcase_add_test(c, scalar_and_empty);
    tcase_add_test(c, eight_dimensions);
    tcase_add_test(c, metadata);
    tcase_add_test(c, names_in_order);

    c = new_case(s, "read");
    tcase_add_test(c, wrong_buffer);
    tcase_add_test(c, foreign_tensor);
    tcase_add_test(c, cut_while_open);
    tcase_add_loop_test(c, real_file, 0, sizeof real / sizeof *real);
    return assay_check_main(s);
}
