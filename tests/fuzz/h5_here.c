/* SPDX-License-Identifier: MIT
 *
 * What the harnesses of HDF5 files put in place of the program's own (--wrap
 * of the linker). A child reads a file first in the program, so that a crash
 * of libhdf5 is a sentence; here the reading itself is looked at. And every
 * change of data breaks their hash, behind which nothing would be seen.
 */
#include <hdf5.h>
#include <stdlib.h>

#include "golden/stored.h"
#include "tests/fuzz/fuzz_h5.h"

enum assay_status __wrap_stored_survives(const char *path,
                                         void (*try_all)(void *),
                                         struct assay_error *err);
enum assay_status __wrap_h5_check_hash(const char *path, const char *name,
                                       hid_t set, const void *data,
                                       size_t bytes, struct assay_error *err);

enum assay_status __wrap_stored_survives(const char *path,
                                         void (*try_all)(void *),
                                         struct assay_error *err)
{
    (void)path;
    (void)try_all;
    (void)err;
    return ASSAY_OK;
}

enum assay_status __wrap_h5_check_hash(const char *path, const char *name,
                                       hid_t set, const void *data,
                                       size_t bytes, struct assay_error *err)
{
    char *hash = NULL;
    enum assay_status st = h5_read_text(path, set, H5_HASH_NAME, &hash, err);
    free(hash);
    fuzz_touch(data, bytes);
    return st == ASSAY_OK ? st : assay_fail_in(err, st, "%s", name);
}

/* libhdf5 1.10 asks for what a file says, and loses memory where one is bad. */
#define SEEN __attribute__((visibility("default")))
SEEN const char *__asan_default_options(void);
SEEN const char *__lsan_default_suppressions(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5\n";
}

/* What our own code asks for has a limit here: libFuzzer's would be met by the
 * library. */
enum assay_status __wrap_assay_alloc(const char *what, int64_t count,
                                     size_t bytes, void *out,
                                     struct assay_error *err);
enum assay_status __real_assay_alloc(const char *what, int64_t count,
                                     size_t bytes, void *out,
                                     struct assay_error *err);

enum assay_status __wrap_assay_alloc(const char *what, int64_t count,
                                     size_t bytes, void *out,
                                     struct assay_error *err)
{
    enum { MOST = 1 << 30 };
    size_t all;
    fuzz_require(count >= 0 &&
                     !__builtin_mul_overflow((size_t)count, bytes, &all) &&
                     all <= MOST,
                 what);
    return __real_assay_alloc(what, count, bytes, out, err);
}

void fuzz_all_closed(void)
{
    fuzz_require(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0,
                 "an object of a file is open still");
}
