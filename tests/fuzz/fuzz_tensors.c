/* SPDX-License-Identifier: MIT
 *
 * HDF5 files of somebody else, as tensors and as captured heads:
 * golden/tensors.h and heads.h.
 */
#include "assay/memory.h"
#include "golden/heads.h"
#include "golden/tensors.h"
#include "tests/fuzz/fuzz_h5.h"

static void as_tensors(const char *path)
{
    static const char *const keys[] = { "layout",        "source", "causal",
                                        "softmax_scale", "maker",  "seconds" };
    struct tensors *t;
    struct assay_error err;
    enum assay_status st = tensors_open(path, NULL, &t, &err);
    fuzz_check_refusal(st, &err);
    for (size_t i = 0; st == ASSAY_OK && i < tensors_count(t); i++) {
        const struct tensor *one = tensors_get(t, i);
        void *data;
        fuzz_touch_text(one->name);
        fuzz_touch_text(tensor_shape_text(one->rank, one->shape).s);
        enum assay_status read = tensors_read(t, i, &data, &err);
        fuzz_check_refusal(read, &err);
        if (read != ASSAY_OK)
            continue;
        fuzz_touch(data, one->bytes);
        assay_free(data);
    }
    for (size_t i = 0; st == ASSAY_OK && i < sizeof keys / sizeof *keys; i++)
        fuzz_touch_text(tensors_metadata(t, keys[i]));
    tensors_close(t);
    fuzz_all_closed();
}

static void as_heads(const char *path)
{
    const struct heads_options options = { .has_mask = true };
    struct heads *heads;
    struct assay_error err;
    enum assay_status st = heads_open(path, &options, &heads, &err);
    fuzz_check_refusal(st, &err);
    for (size_t i = 0; st == ASSAY_OK && i < heads_count(heads); i++) {
        struct assay_case c;
        enum assay_status read = heads_read(heads, i, &c, &err);
        fuzz_check_refusal(read, &err);
        if (read == ASSAY_OK)
            fuzz_touch_case(&c);
        assay_case_free(&c);
    }
    heads_close(heads);
    fuzz_all_closed();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("in.h5", data, size);
    as_tensors(path);
    as_heads(path);
    fuzz_digest();
    return 0;
}
