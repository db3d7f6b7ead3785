/* SPDX-License-Identifier: MIT
 *
 * golden/h5.h and golden/tensors.h on files that somebody else wrote: text of
 * every kind, chunks that were never written, locks.
 */
#include <check.h>
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/memory.h"
#include "check_assay.h"
#include "golden/h5.h"
#include "golden/tensors.h"
#include "made_set.h"

static const char path[] = "other.h5";

static hid_t create(void)
{
    h5_init();
    hid_t id = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(id, 0);
    return id;
}

/* ---- B57: text ---- */

enum { UNWRITTEN = -2, VARIABLE = -1 };

static const struct {
    const char *what, *bytes;
    int size; /* of the type, or of enum above */
    H5T_str_t pad;
    H5T_cset_t set;
    const char *text;
} texts[] = {
    { "fixed, no terminator", "1234", 4, H5T_STR_NULLPAD, H5T_CSET_ASCII,
      "1234" },
    { "fixed, padded", "1234\0\0\0", 7, H5T_STR_NULLPAD, H5T_CSET_ASCII,
      "1234" },
    { "fixed, terminated", "1234", 5, H5T_STR_NULLTERM, H5T_CSET_ASCII,
      "1234" },
    { "fixed, spaces", "1234  ", 6, H5T_STR_SPACEPAD, H5T_CSET_ASCII, "1234" },
    { "fixed, empty", "\0", 1, H5T_STR_NULLPAD, H5T_CSET_ASCII, "" },
    { "fixed, UTF-8", "h\303\266rsaal", 8, H5T_STR_NULLPAD, H5T_CSET_UTF8,
      "h\303\266rsaal" },
    { "variable", "abc", VARIABLE, H5T_STR_NULLTERM, H5T_CSET_UTF8, "abc" },
    { "variable, empty", "", VARIABLE, H5T_STR_NULLTERM, H5T_CSET_UTF8, "" },
    { "variable, UTF-8", "h\303\266rsaal", VARIABLE, H5T_STR_NULLTERM,
      H5T_CSET_UTF8, "h\303\266rsaal" },
    { "variable, never written", NULL, UNWRITTEN, H5T_STR_NULLTERM,
      H5T_CSET_UTF8, "" },
};

static void write_text(hid_t at, int i)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    ck_assert_int_ge(H5Tset_size(type, texts[i].size < 0
                                           ? H5T_VARIABLE
                                           : (size_t)texts[i].size),
                     0);
    H5Tset_strpad(type, texts[i].pad);
    H5Tset_cset(type, texts[i].set);
    hid_t a = H5Acreate2(at, "layout", type, space, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(a, 0);
    if (texts[i].size != UNWRITTEN)
        ck_assert_int_ge(H5Awrite(a, type,
                                  texts[i].size < 0
                                      ? (const void *)&texts[i].bytes
                                      : texts[i].bytes),
                         0);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
}

START_TEST(B57_strings)
{
    struct assay_error err = { 0 };
    char *text = NULL;
    hid_t id = create();
    write_text(id, _i);
    H5Fclose(id);
    ck_assert_int_eq(h5_open_file(path, &id, &err), ASSAY_OK);
    ck_assert_msg(h5_read_text(path, id, "layout", &text, &err) == ASSAY_OK,
                  "%s: %s", texts[_i].what, err.text);
    ck_assert_msg(strcmp(text, texts[_i].text) == 0, "%s: \"%s\"",
                  texts[_i].what, text);
    free(text);
    H5Fclose(id);
    /* the same as metadata of tensors */
    struct tensors *t;
    ck_assert_msg(tensors_open(path, NULL, &t, &err) == ASSAY_OK, "%s",
                  err.text);
    ck_assert_str_eq(tensors_metadata(t, "layout"), texts[_i].text);
    tensors_close(t);
}
END_TEST

/* Three texts of a variable length, of which one was written: no tensor, and
 * no pointer to follow. */
START_TEST(B57_string_dataset)
{
    struct assay_error err = { 0 };
    const char *one = "x";
    const hsize_t three = 3, first = 1, zero = 0;
    hid_t id = create(), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    hid_t space = H5Screate_simple(1, &three, NULL),
          memory = H5Screate_simple(1, &first, NULL),
          set = H5Dcreate2(id, "x.q", type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &zero, NULL, &first, NULL);
    ck_assert_int_ge(H5Dwrite(set, type, memory, space, H5P_DEFAULT, &one), 0);
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(id);
    struct tensors *t;
    ck_assert_int_eq(tensors_open(path, NULL, &t, &err), ASSAY_FORMAT);
    ck_assert_msg(strstr(err.text, path) && strstr(err.text, "x.q"), "%s",
                  err.text);
}
END_TEST

/* ---- B58: chunks ---- */

enum fill { FILL_DEFAULT, FILL_UNDEFINED, FILL_77 };

static const struct {
    const char *what;
    enum fill fill;
    hsize_t size, written, grown; /* elements; chunks have four */
    bool whole;
} chunks[] = {
    { "half, default fill", FILL_DEFAULT, 8, 4, 8, false },
    { "half, no fill", FILL_UNDEFINED, 8, 4, 8, false },
    { "half, fill 77", FILL_77, 8, 4, 8, false },
    { "nothing", FILL_77, 8, 0, 8, false },
    { "whole", FILL_DEFAULT, 8, 8, 8, true },
    { "whole, the last chunk reaches past the end", FILL_77, 5, 5, 5, true },
    { "grown by a chunk", FILL_77, 5, 5, 9, false },
};

static void write_chunks(int i)
{
    const hsize_t chunk = 4, zero = 0, most = H5S_UNLIMITED;
    const float values[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, fill = 77;
    hid_t id = create(), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    if (chunks[i].fill != FILL_DEFAULT)
        H5Pset_fill_value(list, H5T_IEEE_F32LE,
                          chunks[i].fill == FILL_77 ? &fill : NULL);
    hid_t space = H5Screate_simple(1, &chunks[i].size, &most),
          set = H5Dcreate2(id, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, list,
                           H5P_DEFAULT);
    ck_assert_int_ge(set, 0);
    if (chunks[i].written > 0) {
        hid_t memory = H5Screate_simple(1, &chunks[i].written, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &zero, NULL,
                            &chunks[i].written, NULL);
        ck_assert_int_ge(
            H5Dwrite(set, H5T_IEEE_F32LE, memory, space, H5P_DEFAULT, values),
            0);
        H5Sclose(memory);
    }
    if (chunks[i].grown > chunks[i].size)
        ck_assert_int_ge(H5Dset_extent(set, &chunks[i].grown), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(list);
    H5Fclose(id);
}

/* What was never written is refused before it is read; the rest is exact. */
START_TEST(B58_chunks)
{
    struct assay_error err = { 0 };
    struct tensors *t = NULL;
    write_chunks(_i);
    enum assay_status st = tensors_open(path, NULL, &t, &err);
    if (!chunks[_i].whole) {
        ck_assert_msg(st == ASSAY_FORMAT && strstr(err.text, path) &&
                          strstr(err.text, "stored"),
                      "%s: %d %s", chunks[_i].what, (int)st, err.text);
        return;
    }
    float *x;
    ck_assert_msg(st == ASSAY_OK, "%s: %s", chunks[_i].what, err.text);
    ck_assert_int_eq(tensors_get(t, 0)->shape[0], (int64_t)chunks[_i].size);
    ck_assert_int_eq(tensors_read(t, 0, &x, &err), ASSAY_OK);
    for (hsize_t i = 0; i < chunks[_i].size; i++)
        ck_assert_float_eq(x[i], (float)(i + 1));
    assay_free(x);
    tensors_close(t);
}
END_TEST

/* ---- B59: locks ---- */

/* A process that has a file open until it is told otherwise. */
struct holder {
    pid_t pid;
    int to, from;
};

static struct holder hold(const char *file, unsigned how)
{
    int to[2], from[2];
    char c;
    ck_assert(pipe(to) == 0 && pipe(from) == 0);
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(to[1]);
        hid_t id = H5Fopen(file, how, H5P_DEFAULT);
        if (id < 0 || write(from[1], "x", 1) != 1)
            _exit(1);
        (void)!read(to[0], &c, 1);
        H5Fclose(id);
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    ck_assert_int_eq(read(from[0], &c, 1), 1);
    return (struct holder){ pid, to[1], from[0] };
}

static void let_go(struct holder h)
{
    int status;
    ck_assert_int_eq(write(h.to, "x", 1), 1); /* later ones have the pipe too */
    close(h.to);
    close(h.from);
    ck_assert_int_eq(waitpid(h.pid, &status, 0), h.pid);
    ck_assert_int_eq(status, 0);
}

START_TEST(B59_writer)
{
    struct assay_error err = { 0 };
    struct assay_set *set;
    made_write_all(path);
    struct holder writer = hold(path, H5F_ACC_RDWR);
    ck_assert_int_eq(assay_set_open(path, &set, &err), ASSAY_FILE);
    ck_assert_ptr_null(set);
    ck_assert_msg(strstr(err.text, path) && strstr(err.text, "locked") &&
                      strstr(err.text, "HDF5_USE_FILE_LOCKING=FALSE"),
                  "%s", err.text);
    let_go(writer);
    ck_assert_msg(made_read(path, 1, &err) == ASSAY_OK, "%s", err.text);
}
END_TEST

START_TEST(B59_readers)
{
    enum { READERS = 5 };
    struct assay_error err = { 0 };
    struct holder readers[READERS];
    made_write_all(path);
    for (int i = 0; i < READERS; i++)
        readers[i] = hold(path, H5F_ACC_RDONLY);
    ck_assert_msg(made_read(path, 1, &err) == ASSAY_OK, "%s", err.text);
    for (int i = 0; i < READERS; i++)
        let_go(readers[i]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("h5");
    TCase *c = tcase_create("others");
    suite_add_tcase(s, c);
    tcase_add_loop_test(c, B57_strings, 0, sizeof texts / sizeof *texts);
    tcase_add_test(c, B57_string_dataset);
    tcase_add_loop_test(c, B58_chunks, 0, sizeof chunks / sizeof *chunks);
    tcase_add_test(c, B59_writer);
    tcase_add_test(c, B59_readers);
    made_enter();
    unsetenv("HDF5_USE_FILE_LOCKING");
    int status = assay_check_main(s);
    made_leave();
    return status;
}
