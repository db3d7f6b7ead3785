/* SPDX-License-Identifier: MIT
 *
 * golden/set.h on files that are not what they say: every object changed,
 * missing, or in the place of another is refused as ASSAY_FORMAT, with a
 * sentence that names file, case and object, and without asking for the
 * memory that a header claims.
 */
#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_assay.h"
#include "made_set.h"

static const char good[] = "good.h5", bad[] = "bad.h5";

/* ---- files ---- */

static void copy_good(void)
{
    char block[65536];
    size_t n;
    FILE *from = fopen(good, "rb"), *to = fopen(bad, "wb");
    ck_assert(from && to);
    while ((n = fread(block, 1, sizeof block, from)) > 0)
        ck_assert_uint_eq(fwrite(block, 1, n, to), n);
    fclose(from);
    ck_assert_int_eq(fclose(to), 0);
}

static hid_t open_copy(void)
{
    copy_good();
    hid_t id = H5Fopen(bad, H5F_ACC_RDWR, H5P_DEFAULT);
    ck_assert_int_ge(id, 0);
    return id;
}

/* Paths below /cases of all datasets, or of all objects. */
enum { MOST = 256 };
static char *objects[MOST];
static H5O_type_t kinds[MOST];
static int n_objects;

static herr_t add_object(hid_t in, const char *name, const H5O_info_t *info,
                         void *context)
{
    (void)in;
    (void)context;
    ck_assert_int_lt(n_objects, MOST);
    if (strcmp(name, ".") != 0) {
        kinds[n_objects] = info->type;
        objects[n_objects++] = strdup(name);
    }
    return 0;
}

static void setup(void)
{
    made_write_all(good);
    hid_t id = H5Fopen(good, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t cases = H5Gopen2(id, "cases", H5P_DEFAULT);
    n_objects = 0;
    ck_assert_int_ge(
        H5Ovisit(cases, H5_INDEX_NAME, H5_ITER_INC, add_object, NULL), 0);
    H5Gclose(cases);
    H5Fclose(id);
    ck_assert_int_gt(n_objects, 50);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static const char *last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum assay_status check_only(struct assay_error *err)
{
    struct assay_set *set;
    enum assay_status st = assay_set_open_unchecked(bad, &set, err);
    if (st == ASSAY_OK)
        st = assay_set_check(set, NULL, NULL, err);
    assay_set_close(set);
    return st;
}

/* Reading and checking both refuse, each for itself, with a sentence that has
 * the file, the case and the object's own name; what is sound by itself and
 * only another shape or type is another content to the check. */
static void expect(const char *what, const char *object)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(object, "/"), object);
    for (int check = 0; check < 2; check++) {
        struct assay_error err = { 0 };
        enum assay_status st =
            check ? check_only(&err) : made_read(bad, 0, &err);
        ck_assert_msg(st == ASSAY_FORMAT, "%s, %s, check %d: status %d: %s",
                      what, object, check, (int)st, err.text);
        ck_assert_int_eq(err.status, st);
        ck_assert_msg(
            strstr(err.text, bad) &&
                ((strstr(err.text, name) && strstr(err.text, last(object))) ||
                 (check && strstr(err.text, "content hash"))),
            "%s, %s, check %d: \"%s\"", what, object, check, err.text);
    }
}

/* ---- damage that only the hashes see ---- */

START_TEST(one_byte)
{
    for (int i = 0; i < n_objects; i++) {
        if (kinds[i] != H5O_TYPE_DATASET)
            continue;
        hid_t id = open_copy();
        hid_t cases = H5Gopen2(id, "cases", H5P_DEFAULT);
        hid_t set = H5Dopen2(cases, objects[i], H5P_DEFAULT);
        hid_t type = H5Dget_type(set);
        size_t n = (size_t)H5Dget_storage_size(set);
        if (n > 0) {
            unsigned char *bytes = malloc(n);
            H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
            bytes[n - 1] ^= 1;
            ck_assert_int_ge(
                H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes), 0);
            free(bytes);
        }
        H5Tclose(type);
        H5Dclose(set);
        H5Gclose(cases);
        H5Fclose(id);
        if (n > 0)
            expect("the data have changed", objects[i]);
    }
}
END_TEST

/* Flips the last bit of every attribute in turn. A dataset's format and hash
 * are checked against the data, the rest by the content hash. */
static void flip_attribute(hid_t at, unsigned index, char *name, size_t size)
{
    char value[256] = "";
    H5Aget_name_by_idx(at, ".", H5_INDEX_NAME, H5_ITER_INC, index, name, size,
                       H5P_DEFAULT);
    hid_t id = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(id);
    size_t n = H5Tget_size(type);
    ck_assert_uint_le(n, sizeof value);
    H5Aread(id, type, value);
    value[H5Tget_class(type) == H5T_STRING ? n - 1 : 0] ^= 1;
    ck_assert_int_ge(H5Awrite(id, type, value), 0);
    H5Tclose(type);
    H5Aclose(id);
}

START_TEST(one_attribute)
{
    int seen = 0;
    for (int i = 0; i < n_objects; i++) {
        unsigned count = 1;
        for (unsigned a = 0; a < count; a++) {
            struct assay_error err = { 0 };
            char name[64] = "";
            H5O_info_t info;
            hid_t id = open_copy();
            hid_t cases = H5Gopen2(id, "cases", H5P_DEFAULT);
            hid_t object = H5Oopen(cases, objects[i], H5P_DEFAULT);
            H5Oget_info(object, &info);
            count = (unsigned)info.num_attrs;
            if (a < count)
                flip_attribute(object, a, name, sizeof name);
            H5Oclose(object);
            H5Gclose(cases);
            H5Fclose(id);
            if (a >= count)
                break;
            seen++;
            enum assay_status st = made_read(bad, 1, &err);
            ck_assert_msg(st == ASSAY_FORMAT && strstr(err.text, bad),
                          "%s of %s: %d %s", name, objects[i], (int)st,
                          err.text);
        }
    }
    ck_assert_int_gt(seen, 100);
}
END_TEST

START_TEST(an_object_more)
{
    struct assay_error err = { 0 };
    hid_t id = open_copy();
    hid_t group = H5Gcreate2(id, "cases/Wide/more", H5P_DEFAULT, H5P_DEFAULT,
                             H5P_DEFAULT);
    H5Gclose(group);
    H5Fclose(id);
    ck_assert_int_eq(made_read(bad, 0, &err), ASSAY_OK);
    ck_assert_int_eq(made_read(bad, 1, &err), ASSAY_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "content hash"));
    err = (struct assay_error){ 0 };
    struct assay_set *set;
    ck_assert_int_eq(assay_set_open(bad, &set, &err), ASSAY_FORMAT);
    ck_assert_ptr_null(set);
    ck_assert_ptr_nonnull(strstr(err.text, "content hash"));
}
END_TEST

START_TEST(case_renamed)
{
    struct assay_error err = { 0 };
    hid_t id = open_copy();
    ck_assert_int_ge(
        H5Lmove(id, "cases/Wide", id, "cases/wide", H5P_DEFAULT, H5P_DEFAULT),
        0);
    H5Fclose(id);
    ck_assert_int_eq(made_read(bad, 0, &err), ASSAY_OK);
    ck_assert_int_eq(made_read(bad, 1, &err), ASSAY_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "content hash"));
}
END_TEST

/* ---- objects that are not there, or something else ---- */

/* A case or a recipe may be absent; the count and the content hash tell. */
static int is_optional(const char *path)
{
    const char *slash = strchr(path, '/');
    return !slash ||
           (strncmp(slash, "/recipes/", 9) == 0 && !strchr(slash + 9, '/'));
}

/* To the check, what is missing is only another content. */
static void expect_missing(const char *object)
{
    struct assay_error err = { 0 };
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(object, "/"), object);
    ck_assert_int_eq(made_read(bad, 0, &err), ASSAY_FORMAT);
    ck_assert_msg(strstr(err.text, bad) && strstr(err.text, name) &&
                      strstr(err.text, last(object)) &&
                      strstr(err.text, "lacks"),
                  "%s: %s", object, err.text);
    ck_assert_int_eq(check_only(&err), ASSAY_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "content hash"));
}

START_TEST(missing)
{
    for (int i = 0; i < n_objects; i++) {
        struct assay_error err = { 0 };
        hid_t id = open_copy();
        hid_t cases = H5Gopen2(id, "cases", H5P_DEFAULT);
        ck_assert_int_ge(H5Ldelete(cases, objects[i], H5P_DEFAULT), 0);
        H5Gclose(cases);
        H5Fclose(id);
        if (is_optional(objects[i]))
            ck_assert_int_eq(made_read(bad, 1, &err), ASSAY_FORMAT);
        else if (kinds[i] == H5O_TYPE_DATASET ||
                 strcmp(last(objects[i]), "recipes") == 0)
            expect_missing(objects[i]);
        else
            ck_assert_int_eq(made_read(bad, 0, &err), ASSAY_FORMAT);
    }
}
END_TEST

static hid_t dataset(hid_t in, const char *name, hid_t type, hid_t space,
                     hid_t creation)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t set = H5Dcreate2(in, name, type, space, links, creation, H5P_DEFAULT);
    ck_assert_msg(set >= 0, "%s", name);
    H5Pclose(links);
    return set;
}

static hid_t replace(hid_t in, const char *name, hid_t type, int rank,
                     const hsize_t *dims, hid_t creation)
{
    hid_t space =
        rank < 0 ? H5Screate(H5S_NULL) : H5Screate_simple(rank, dims, NULL);
    hid_t set = dataset(in, name, type, space, creation);
    H5Sclose(space);
    return set;
}

struct place {
    hid_t file, in;
    const char *name;
    hid_t type; /* as it was */
    int rank;
    hsize_t dims[8];
    size_t bytes;
    void *data;
};

static void other_type(const struct place *p)
{
    hid_t other =
        H5Tequal(p->type, H5T_STD_U32LE) > 0 ? H5T_STD_U16LE : H5T_STD_U32LE;
    H5Dclose(replace(p->in, p->name, other, p->rank, p->dims, H5P_DEFAULT));
}

static void big_endian(const struct place *p)
{
    hid_t type = H5Tcopy(p->type);
    if (H5Tget_size(type) == 1)
        H5Tset_precision(type, 7);
    else
        H5Tset_order(type, H5T_ORDER_BE);
    H5Dclose(replace(p->in, p->name, type, p->rank, p->dims, H5P_DEFAULT));
    H5Tclose(type);
}

static hid_t early(void)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    return creation;
}

static void other_shape(const struct place *p)
{
    struct place q = *p;
    hid_t creation = early();
    q.dims[q.rank - 1]++;
    H5Dclose(replace(q.in, q.name, q.type, q.rank, q.dims, creation));
    H5Pclose(creation);
}

static void other_rank(const struct place *p)
{
    struct place q = *p;
    hid_t creation = early();
    q.dims[q.rank++] = 1;
    H5Dclose(replace(q.in, q.name, q.type, q.rank, q.dims, creation));
    H5Pclose(creation);
}

/* No storage stands behind it, whether the count can be a size or not. */
static void huge(const struct place *p)
{
    struct place q = *p;
    q.dims[0] = (hsize_t)1 << 44;
    H5Dclose(replace(q.in, q.name, q.type, q.rank, q.dims, H5P_DEFAULT));
}

static void too_huge(const struct place *p)
{
    const hsize_t dims[] = { (hsize_t)1 << 31, (hsize_t)1 << 31,
                             (hsize_t)1 << 31 };
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = { 1, 1, 1 };
    H5Pset_chunk(creation, 3, chunk);
    H5Dclose(replace(p->in, p->name, p->type, 3, dims, creation));
    H5Pclose(creation);
}

static void null_space(const struct place *p)
{
    H5Dclose(replace(p->in, p->name, p->type, -1, NULL, H5P_DEFAULT));
}

static void scalar(const struct place *p)
{
    hid_t space = H5Screate(H5S_SCALAR), creation = early();
    H5Dclose(dataset(p->in, p->name, p->type, space, creation));
    H5Pclose(creation);
    H5Sclose(space);
}

/* B58: a chunk that was never written reads as zeros, as the fill value, or
 * leaves the buffer as it was. */
static void one_chunk(const struct place *p, hid_t creation)
{
    struct place q = *p;
    hsize_t chunk[8], start[8] = { 0 }, count[8];
    for (int i = 0; i < q.rank; i++) {
        chunk[i] = count[i] = 1;
        q.dims[i] += q.dims[i] == 0;
    }
    H5Pset_chunk(creation, q.rank, chunk);
    hid_t set = replace(q.in, q.name, q.type, q.rank, q.dims, creation);
    if (H5Sget_simple_extent_npoints(H5Dget_space(set)) > 1) {
        const char zero[8] = { 0 };
        hid_t space = H5Dget_space(set),
              one = H5Screate_simple(q.rank, count, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        ck_assert_int_ge(H5Dwrite(set, q.type, one, space, H5P_DEFAULT, zero),
                         0);
        H5Sclose(one);
        H5Sclose(space);
    }
    H5Dclose(set);
    H5Pclose(creation);
}

static void chunk_missing(const struct place *p)
{
    one_chunk(p, H5Pcreate(H5P_DATASET_CREATE));
}

static void chunk_missing_no_fill(const struct place *p)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(creation, p->type, NULL);
    one_chunk(p, creation);
}

static void chunk_missing_filled(const struct place *p)
{
    const char fill[8] = { 77, 77, 77, 77, 77, 77, 77, 77 };
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(creation, p->type, fill);
    one_chunk(p, creation);
}

/* The very data and hash, but kept elsewhere. */
static void external_data(const struct place *p)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    FILE *raw = fopen("raw.bin", "wb");
    ck_assert_uint_eq(fwrite(p->data, 1, p->bytes, raw), p->bytes);
    fclose(raw);
    H5Pset_external(creation, "raw.bin", 0, p->bytes ? p->bytes : 1);
    H5Dclose(replace(p->in, p->name, p->type, p->rank, p->dims, creation));
    H5Pclose(creation);
}

static void virtual_data(const struct place *p)
{
    char source[256];
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(p->rank, p->dims, NULL);
    snprintf(source, sizeof source, "cases/%s", p->name);
    if (p->bytes > 0)
        H5Pset_virtual(creation, space, good, source, space);
    H5Dclose(dataset(p->in, p->name, p->type, space, creation));
    H5Sclose(space);
    H5Pclose(creation);
}

static void soft_link(const struct place *p)
{
    H5Lcreate_soft("/cases/elsewhere", p->in, p->name, H5P_DEFAULT,
                   H5P_DEFAULT);
}

static void soft_link_to_itself(const struct place *p)
{
    H5Lcreate_soft(p->name, p->in, p->name, H5P_DEFAULT, H5P_DEFAULT);
}

static void external_link(const struct place *p)
{
    char target[256];
    snprintf(target, sizeof target, "/cases/%s", p->name);
    H5Lcreate_external(good, target, p->in, p->name, H5P_DEFAULT, H5P_DEFAULT);
}

static void group_in_place(const struct place *p)
{
    H5Gclose(H5Gcreate2(p->in, p->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

static void type_in_place(const struct place *p)
{
    hid_t type = H5Tcopy(H5T_STD_U16LE);
    H5Tcommit2(p->in, p->name, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(type);
}

static void string_data(const struct place *p)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Dclose(replace(p->in, p->name, type, p->rank, p->dims, H5P_DEFAULT));
    H5Tclose(type);
}

static const struct {
    const char *what;
    void (*put)(const struct place *p);
    int empty_too; /* also wrong for a dataset without elements */
} wrongs[] = {
    { "type", other_type, 1 },
    { "byte order", big_endian, 1 },
    { "shape", other_shape, 1 },
    { "rank", other_rank, 1 },
    { "huge", huge, 0 },
    { "too huge", too_huge, 1 },
    { "null space", null_space, 1 },
    { "scalar", scalar, 1 },
    { "chunk missing", chunk_missing, 1 },
    { "chunk missing, no fill", chunk_missing_no_fill, 1 },
    { "chunk missing, filled", chunk_missing_filled, 1 },
    { "external data", external_data, 0 },
    { "virtual data", virtual_data, 0 },
    { "soft link", soft_link, 1 },
    { "soft link to itself", soft_link_to_itself, 1 },
    { "external link", external_link, 1 },
    { "group", group_in_place, 1 },
    { "named type", type_in_place, 1 },
    { "strings", string_data, 1 },
};

/* The attributes stay as they were, so that nothing but the object tells. */
static void copy_attributes(hid_t from, hid_t in, const char *name)
{
    H5O_info_t info;
    hid_t to = H5Dopen2(in, name, H5P_DEFAULT);
    if (to < 0 || H5Oget_info(from, &info) < 0)
        return;
    for (hsize_t i = 0; i < info.num_attrs; i++) {
        char value[64];
        hid_t old = H5Aopen_by_idx(from, ".", H5_INDEX_NAME, H5_ITER_INC, i,
                                   H5P_DEFAULT, H5P_DEFAULT);
        hid_t type = H5Aget_type(old), space = H5Aget_space(old);
        char label[64];
        H5Aget_name(old, sizeof label, label);
        H5Aread(old, type, value);
        hid_t new =
            H5Acreate2(to, label, type, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(new, type, value);
        H5Aclose(new);
        H5Sclose(space);
        H5Tclose(type);
        H5Aclose(old);
    }
    H5Dclose(to);
}

START_TEST(something_else)
{
    for (int i = 0; i < n_objects; i++) {
        if (kinds[i] != H5O_TYPE_DATASET)
            continue;
        hid_t id = open_copy();
        hid_t cases = H5Gopen2(id, "cases", H5P_DEFAULT);
        hid_t old = H5Dopen2(cases, objects[i], H5P_DEFAULT);
        hid_t space = H5Dget_space(old);
        struct place p = { .file = id,
                           .in = cases,
                           .name = objects[i],
                           .type = H5Dget_type(old),
                           .bytes = H5Dget_storage_size(old) };
        p.data = malloc(p.bytes + 1);
        if (p.bytes > 0)
            H5Dread(old, p.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, p.data);
        hssize_t count = H5Sget_simple_extent_npoints(space);
        p.rank = H5Sget_simple_extent_dims(space, p.dims, NULL);
        H5Ldelete(cases, objects[i], H5P_DEFAULT);
        wrongs[_i].put(&p);
        copy_attributes(old, cases, objects[i]);
        free(p.data);
        H5Tclose(p.type);
        H5Sclose(space);
        H5Dclose(old);
        H5Gclose(cases);
        H5Fclose(id);
        if (count > 0 || wrongs[_i].empty_too)
            expect(wrongs[_i].what, objects[i]);
    }
}
END_TEST

/* A whole group in another place, and a FIFO behind an external link: merely
 * to look at it would wait for ever. */
START_TEST(groups_elsewhere)
{
    static const char *const groups[] = {
        "exact",
        "exact/error_bar",
        "recipes",
        "recipes/bf16/jitter",
    };
    ck_assert_int_eq(mkfifo("fifo.h5", 0600), 0);
    for (int i = 0; i < 8; i++) {
        struct assay_error err = { 0 };
        const char *name = groups[i / 2];
        hid_t id = open_copy();
        hid_t in = H5Gopen2(id, "cases/gqa causal", H5P_DEFAULT);
        ck_assert_int_ge(
            H5Lmove(in, name, id, "moved", H5P_DEFAULT, H5P_DEFAULT), 0);
        if (i % 2)
            H5Lcreate_external("fifo.h5", "/", in, name, H5P_DEFAULT,
                               H5P_DEFAULT);
        else
            H5Lcreate_soft("/moved", in, name, H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(in);
        H5Fclose(id);
        enum assay_status st = made_read(bad, 0, &err);
        ck_assert_msg(st == ASSAY_FORMAT && strstr(err.text, "gqa causal") &&
                          strstr(err.text, "link to elsewhere"),
                      "%s: %d %s", name, (int)st, err.text);
    }
    unlink("fifo.h5");
}
END_TEST

/* A group that holds itself, and few groups that look like 2^60: the check
 * must end. */
START_TEST(cycles)
{
    struct assay_error err = { 0 };
    for (int twins = 0; twins < 2; twins++) {
        char from[64] = "cases/Wide", to[64];
        hid_t id = open_copy();
        for (int i = 0; i < 14 && twins; i++) {
            char here[128] = "cases/Wide";
            for (int j = 0; j < i; j++)
                strcat(here, "/a");
            hid_t in = H5Gopen2(id, here, H5P_DEFAULT);
            H5Gclose(
                H5Gcreate2(in, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            for (int j = 0; j < 30; j++) {
                snprintf(to, sizeof to, "b%d", j);
                H5Lcreate_hard(in, "a", in, to, H5P_DEFAULT, H5P_DEFAULT);
            }
            H5Gclose(in);
        }
        if (!twins)
            H5Lcreate_hard(id, from, id, "cases/Wide/again", H5P_DEFAULT,
                           H5P_DEFAULT);
        H5Fclose(id);
        ck_assert_int_eq(made_read(bad, 1, &err), ASSAY_FORMAT);
        ck_assert_msg(strstr(err.text, bad) && strstr(err.text, "names"), "%s",
                      err.text);
    }
}
END_TEST

/* ---- attributes ---- */

enum kind { GONE, TEXT, INT, REAL, TWO, NONE };

static const struct {
    const char *at, *name;
    enum kind kind;
    const char *text;
    double number;
    const char *sentence;
} attributes[] = {
    { "/", "format", TEXT, "assay-silver", 0, "format is \"assay-silver\"" },
    { "/", "format", GONE, NULL, 0, "lacks the attribute format" },
    { "/", "format", INT, NULL, 1, "format is not a string" },
    { "/", "format_version", INT, NULL, 2, "version 2" },
    { "/", "format_version", TEXT, "1", 0, "is not an integer" },
    { "/", "format_version", TWO, NULL, 1, "holds 2 values" },
    { "/", "count", INT, NULL, 3, "says it has 3 cases and has 4" },
    { "/", "count", GONE, NULL, 0, "lacks the attribute count" },
    { "/", "content_hash", GONE, NULL, 0, "lacks the attribute content_hash" },
    { "cases/Wide", "workload", TEXT, "paged", 0, "workload is \"paged\"" },
    { "cases/Wide", "workload", NONE, NULL, 0, "holds 0 values" },
    { "cases/Wide", "layout", TEXT, "BHSD", 0, "layout is \"BHSD\"" },
    { "cases/Wide", "mask", TEXT, "holes", 0, "mask \"holes\"" },
    { "cases/Wide", "mask", GONE, NULL, 0, "lacks the attribute mask" },
    { "cases/Wide", "batch", REAL, NULL, NAN, "batch is not an integer" },
    { "cases/Wide", "batch", INT, NULL, 0, "batch is 0" },
    { "cases/Wide", "heads_q", INT, NULL, -1, "query heads is -1" },
    { "cases/Wide", "heads_kv", INT, NULL, 4, "no multiple of 4" },
    { "cases/Wide", "seqlen_q", INT, NULL, 0x1p62, "too large" },
    { "cases/Wide", "seqlen_k", INT, NULL, 0x1p40,
      "must be uint16 [1, 1099511627776, 1, 6]" },
    { "cases/Wide", "head_dim_qk", INT, NULL, 0x1p33, "BLAS row step" },
    { "cases/Wide", "head_dim_v", GONE, NULL, 0, "attribute head_dim_v" },
    { "cases/Wide", "softmax_scale", REAL, NULL, NAN, "scale is nan" },
    { "cases/Wide", "softmax_scale", REAL, NULL, INFINITY, "scale is inf" },
    { "cases/Wide", "softmax_scale", INT, NULL, 1, "is not a float" },
    { "cases/Wide", "source", GONE, NULL, 0, "lacks the attribute source" },
    { "cases/Wide/q", "format", TEXT, "f13", 0, "unknown format \"f13\"" },
    { "cases/Wide/k", "format", TEXT, "bf16", 0, "must be the same" },
    { "cases/Wide/v", "xxh3_128", GONE, NULL, 0, "attribute xxh3_128" },
    { "cases/Wide/recipes/bf16", "softmax_form", TEXT, "odd", 0,
      "softmax_form is \"odd\"" },
    { "cases/Wide/recipes/bf16", "softmax_form", GONE, NULL, 0,
      "lacks the attribute softmax_form" },
    { "cases/Wide/recipes/bf16/q", "format", TEXT, "f16", 0,
      "the recipe's payload is bf16" },
    { "cases/Wide/recipes/bf16/v", "quantizer", TEXT, "f16", 0,
      "v has the quantizer \"f16\", the recipe's is bf16" },
    { "cases/Wide/recipes/bf16/v", "quantizer", INT, NULL, 1,
      "quantizer is not a string" },
    { "cases/gqa causal/recipes/e4m3/k_scale", "rule", TEXT, "divide", 0,
      "k_scale has the rule \"divide\", the recipe's is divide-recip" },
    { "cases/gqa causal/recipes/mxfp4/k_scale", "rule", TEXT, "floor", 0,
      "k_scale has the rule \"floor\", the recipe's is aiter-mxfp4" },
    { "cases/gqa causal/recipes/mxfp4/v_scale", "token_order", TEXT,
      "canonical", 0,
      "v_scale has the token_order \"canonical\", the recipe's is fp6p" },
    /* another form has P in e4m3, and V's blocks in the other order */
    { "cases/gqa causal/recipes/mxfp4", "softmax_form", TEXT, "gfx950-byte", 0,
      "v_scale has the token_order \"fp6p\", the recipe's is canonical" },
};

START_TEST(attribute)
{
    struct assay_error err = { 0 };
    const char *text = attributes[_i].text ? attributes[_i].text : "";
    const hsize_t two = 2;
    const double reals[] = { attributes[_i].number, 0 };
    const int64_t ints[] = { isnan(reals[0]) ? 0 : (int64_t)reals[0], 0 };
    hid_t id = open_copy();
    hid_t at = H5Oopen(id, attributes[_i].at, H5P_DEFAULT);
    enum kind kind = attributes[_i].kind;
    ck_assert_int_ge(H5Adelete(at, attributes[_i].name), 0);
    if (kind != GONE) {
        hid_t type = H5Tcopy(kind == REAL                 ? H5T_IEEE_F64LE
                             : kind == INT || kind == TWO ? H5T_STD_I64LE
                                                          : H5T_C_S1);
        if (kind == TEXT)
            H5Tset_size(type, strlen(text));
        hid_t space = kind == TWO    ? H5Screate_simple(1, &two, NULL)
                      : kind == NONE ? H5Screate(H5S_NULL)
                                     : H5Screate(H5S_SCALAR);
        hid_t made = H5Acreate2(at, attributes[_i].name, type, space,
                                H5P_DEFAULT, H5P_DEFAULT);
        ck_assert_int_ge(made, 0);
        if (kind != NONE)
            H5Awrite(made, type,
                     kind == TEXT   ? (const void *)text
                     : kind == REAL ? (const void *)reals
                                    : ints);
        H5Aclose(made);
        H5Sclose(space);
        H5Tclose(type);
    }
    H5Oclose(at);
    H5Fclose(id);
    enum assay_status st = made_read(bad, 0, &err);
    ck_assert_msg(st == ASSAY_FORMAT && strstr(err.text, bad) &&
                      strstr(err.text, attributes[_i].sentence),
                  "%s of %s: %d %s", attributes[_i].name, attributes[_i].at,
                  (int)st, err.text);
    ck_assert_msg(!strchr(attributes[_i].at, 'W') || strstr(err.text, "Wide"),
                  "%s", err.text);
}
END_TEST

/* Sets of before there were these attributes are read. */
START_TEST(older)
{
    struct assay_error err = { 0 };
    hid_t id = open_copy();
    hid_t cases = H5Gopen2(id, "cases", H5P_DEFAULT);
    int gone = 0;
    for (int i = 0; i < n_objects; i++)
        for (size_t n = 0; n < 4; n++) {
            static const char *const names[] = { "quantizer", "rule",
                                                 "token_order", "promise" };
            hid_t at = H5Oopen(cases, objects[i], H5P_DEFAULT);
            if (H5Aexists(at, names[n]) > 0)
                gone += H5Adelete(at, names[n]) >= 0;
            H5Oclose(at);
        }
    H5Gclose(cases);
    H5Fclose(id);
    ck_assert_int_gt(gone, 30);
    ck_assert_msg(made_read(bad, 0, &err) == ASSAY_OK, "%s", err.text);
}
END_TEST

START_TEST(recipe_unknown)
{
    struct assay_error err = { 0 };
    hid_t id = open_copy();
    H5Lmove(id, "cases/Wide/recipes/bf16", id, "cases/Wide/recipes/bf17",
            H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(id);
    ck_assert_int_eq(made_read(bad, 0, &err), ASSAY_FORMAT);
    ck_assert_msg(strstr(err.text, bad) && strstr(err.text, "Wide") &&
                      strstr(err.text, "bf17"),
                  "%s", err.text);
}
END_TEST

/* ---- files that are none ---- */

static void expect_file(enum assay_status want, const char *sentence)
{
    struct assay_error err = { 0 };
    struct assay_set *set = (struct assay_set *)bad;
    enum assay_status st = assay_set_open_unchecked(bad, &set, &err);
    ck_assert_ptr_null(set);
    ck_assert_msg(st == want && strstr(err.text, bad) == err.text &&
                      strstr(err.text, sentence),
                  "%d %s", (int)st, err.text);
}

START_TEST(no_set)
{
    unlink(bad);
    expect_file(ASSAY_FILE, "No such file");
    mkdir(bad, 0700);
    expect_file(ASSAY_FILE, "not a regular file");
    rmdir(bad);
    mkfifo(bad, 0600);
    expect_file(ASSAY_FILE, "not a regular file");
    unlink(bad);
    fclose(fopen(bad, "w"));
    expect_file(ASSAY_FORMAT, "not a whole HDF5 file (0 bytes)");
    FILE *f = fopen(bad, "w");
    fputs("words", f);
    fclose(f);
    expect_file(ASSAY_FORMAT, "not a whole HDF5 file");
    unlink(bad);
    H5Fclose(H5Fcreate(bad, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    expect_file(ASSAY_FORMAT, "lacks the attribute format");
}
END_TEST

START_TEST(cut_short)
{
    struct stat info;
    stat(good, &info);
    for (off_t n = 0; n < info.st_size; n += n < 2048 ? 61 : 1021) {
        struct assay_error err = { 0 };
        copy_good();
        ck_assert_int_eq(truncate(bad, n), 0);
        enum assay_status st = made_read(bad, 1, &err);
        ck_assert_msg(st == ASSAY_FORMAT && strstr(err.text, bad),
                      "%ld bytes: %d %s", (long)n, (int)st, err.text);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("set, bad");
    TCase *c = tcase_create("bad");
    suite_add_tcase(s, c);
    tcase_add_checked_fixture(c, setup, NULL);
    tcase_add_test(c, one_byte);
    tcase_add_test(c, one_attribute);
    tcase_add_test(c, an_object_more);
    tcase_add_test(c, case_renamed);
    tcase_add_test(c, missing);
    tcase_add_loop_test(c, something_else, 0, sizeof wrongs / sizeof *wrongs);
    tcase_add_test(c, groups_elsewhere);
    tcase_add_test(c, cycles);
    tcase_add_loop_test(c, attribute, 0,
                        sizeof attributes / sizeof *attributes);
    tcase_add_test(c, older);
    tcase_add_test(c, recipe_unknown);
    tcase_add_test(c, no_set);
    tcase_add_test(c, cut_short);
    made_enter();
    int status = assay_check_main(s);
    made_leave();
    return status;
}
