/* SPDX-License-Identifier: MIT
 *
 * Arrays of .npy files, and such a file as tensors: golden/npy.h and
 * golden/tensors.h. What is read and written again is read the same.
 */
#include "assay/memory.h"
#include "golden/npy.h"
#include "golden/tensors.h"
#include "tests/fuzz/fuzz.h"

static void touch(const struct npy *npy)
{
    fuzz_touch_text(npy->type->descr);
    fuzz_touch_int(npy->rank);
    fuzz_touch(npy->shape, (size_t)npy->rank * sizeof *npy->shape);
    fuzz_touch(npy->data, (size_t)npy->count * npy->type->bytes);
    fuzz_touch_text(npy_shape_text(npy->rank, npy->shape).s);
}

static void write_again(const struct npy *npy)
{
    struct temp_file file;
    struct assay_error err;
    struct npy again;
    touch(npy);
    const uint64_t first = fuzz_digest();
    fuzz_require_ok(temp_file_begin(fuzz_path("out.npy"), &file, &err), &err);
    fuzz_require_ok(npy_write(&file, npy, &err), &err);
    fuzz_require_ok(npy_read(file.path, &again, &err), &err);
    touch(&again);
    fuzz_require(fuzz_digest() == first, "an array came back changed");
    assay_free(again.data);
    temp_file_abandon(&file);
}

static void as_tensors(const char *path)
{
    struct tensors *t;
    struct assay_error err;
    enum assay_status st = tensors_open(path, NULL, &t, &err);
    fuzz_check_refusal(st, &err);
    for (size_t i = 0; st == ASSAY_OK && i < tensors_count(t); i++) {
        void *data;
        fuzz_require_ok(tensors_read(t, i, &data, &err), &err);
        fuzz_touch(data, tensors_get(t, i)->bytes);
        assay_free(data);
    }
    tensors_close(t);
    fuzz_digest();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("in.npy", data, size);
    struct assay_error err;
    struct npy npy;
    enum assay_status st = npy_read(path, &npy, &err);
    fuzz_check_refusal(st, &err);
    as_tensors(path);
    if (st == ASSAY_OK)
        write_again(&npy);
    assay_free(npy.data);
    return 0;
}
