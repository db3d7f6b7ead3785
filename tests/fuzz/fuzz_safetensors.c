/* SPDX-License-Identifier: MIT
 *
 * safetensors files, as such, as tensors, and as captured heads or exported
 * cases: golden/safetensors.h, tensors.h and heads.h. What is read and written
 * again is read the same.
 */
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/heads.h"
#include "golden/safetensors_write.h"
#include "golden/temp_file.h"
#include "golden/tensors.h"
#include "tests/fuzz/fuzz.h"

/* Words of tensor i; assay_free. */
static void *words_of(const struct assay_safetensors *file, size_t i,
                      const struct assay_safetensors_tensor **tensor)
{
    struct assay_error err;
    void *data;
    fuzz_require_ok(assay_safetensors_get(file, i, tensor, &err), &err);
    fuzz_require_ok(
        assay_alloc("words", (int64_t)(*tensor)->bytes, 1, &data, &err), &err);
    fuzz_require_ok(
        assay_safetensors_read(file, *tensor, data, (*tensor)->bytes, &err),
        &err);
    return data;
}

static uint64_t digest_of(const struct assay_safetensors *file)
{
    for (size_t i = 0; i < assay_safetensors_count(file); i++) {
        const struct assay_safetensors_tensor *t, *found;
        struct assay_error err;
        void *data = words_of(file, i, &t);
        fuzz_require_ok(assay_safetensors_find(file, t->name, &found, &err),
                        &err);
        fuzz_require(found == t, "a tensor is found as another");
        fuzz_touch_text(t->name);
        fuzz_touch_text(t->dtype->name);
        fuzz_touch_int(t->rank);
        fuzz_touch(t->shape, (size_t)t->rank * sizeof *t->shape);
        fuzz_touch(data, t->bytes);
        assay_free(data);
    }
    return fuzz_digest();
}

static void write_to(const struct temp_file *to,
                     const struct assay_safetensors *file)
{
    const size_t n = assay_safetensors_count(file);
    struct safetensors_part *parts = calloc(n + 1, sizeof *parts);
    struct assay_error err;
    char *head;
    size_t bytes;
    fuzz_require(parts != NULL, "no memory");
    for (size_t i = 0; i < n; i++) {
        const struct assay_safetensors_tensor *t;
        fuzz_require_ok(assay_safetensors_get(file, i, &t, &err), &err);
        parts[i] = (struct safetensors_part){ .name = t->name,
                                              .dtype = t->dtype->id,
                                              .rank = t->rank };
        memcpy(parts[i].shape, t->shape, sizeof t->shape);
        fuzz_require(safetensors_part_bytes(&parts[i]) == t->bytes,
                     "a tensor to be written has other bytes");
    }
    fuzz_require_ok(safetensors_head(parts, n, NULL, 0, &head, &bytes, &err),
                    &err);
    fuzz_require_ok(temp_file_write(to, head, bytes, &err), &err);
    for (size_t i = 0; i < n; i++) {
        const struct assay_safetensors_tensor *t;
        void *data = words_of(file, i, &t);
        fuzz_require_ok(temp_file_write(to, data, t->bytes, &err), &err);
        assay_free(data);
    }
    free(head);
    free(parts);
}

static void write_again(const struct assay_safetensors *file)
{
    struct temp_file to;
    struct assay_safetensors *again;
    struct assay_error err;
    const uint64_t first = digest_of(file);
    fuzz_require_ok(temp_file_begin(fuzz_path("out.safetensors"), &to, &err),
                    &err);
    write_to(&to, file);
    fuzz_require_ok(assay_safetensors_open(to.path, &again, &err), &err);
    fuzz_require(digest_of(again) == first, "a file came back changed");
    assay_safetensors_close(again);
    temp_file_abandon(&to);
}

static void as_tensors(const char *path)
{
    static const char *const keys[] = { "layout", "source",        "cases",
                                        "causal", "softmax_scale", "format",
                                        "maker" };
    struct tensors *t;
    struct assay_error err;
    enum assay_status st = tensors_open(path, NULL, &t, &err);
    fuzz_check_refusal(st, &err);
    for (size_t i = 0; st == ASSAY_OK && i < tensors_count(t); i++) {
        const struct tensor *one = tensors_get(t, i);
        void *data;
        fuzz_touch_text(tensor_shape_text(one->rank, one->shape).s);
        fuzz_require_ok(tensors_read(t, i, &data, &err), &err);
        fuzz_touch(data, one->bytes);
        assay_free(data);
    }
    for (size_t i = 0; st == ASSAY_OK && i < sizeof keys / sizeof *keys; i++)
        fuzz_touch_text(tensors_metadata(t, keys[i]));
    tensors_close(t);
}

static void as_heads(const char *path, const struct heads_options *options)
{
    struct heads *heads;
    struct assay_error err;
    enum assay_status st = heads_open(path, options, &heads, &err);
    fuzz_check_refusal(st, &err);
    for (size_t i = 0; st == ASSAY_OK && i < heads_count(heads); i++) {
        struct assay_case c;
        fuzz_touch_text(heads_case_name(heads, i));
        fuzz_touch_problem(heads_problem(heads, i));
        enum assay_status read = heads_read(heads, i, &c, &err);
        fuzz_check_refusal(read, &err);
        if (read == ASSAY_OK)
            fuzz_touch_case(&c);
        assay_case_free(&c);
    }
    heads_close(heads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct heads_options plain = { 0 },
                               told = { .layout = "bhsd",
                                        .has_mask = true,
                                        .mask = ASSAY_MASK_CAUSAL,
                                        .has_scale = true };
    const char *path = fuzz_file("in.safetensors", data, size);
    struct assay_safetensors *file;
    struct assay_error err;
    enum assay_status st = assay_safetensors_open(path, &file, &err);
    fuzz_check_refusal(st, &err);
    as_tensors(path);
    as_heads(path, &plain);
    as_heads(path, &told);
    fuzz_digest();
    if (st == ASSAY_OK)
        write_again(file);
    assay_safetensors_close(file);
    return 0;
}
