/* SPDX-License-Identifier: MIT
 *
 * Vectors of an independent implementation, ml_dtypes: codes to the byte, and
 * all values. Needs the shared folder.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/format.h"
#include "check_assay.h"
#include "check_values.h"

static void *read_whole(const char *format, const char *what, size_t *bytes)
{
    const char *folder = assay_shared_dir();
    char path[4096];
    FILE *from;
    if (!folder)
        return NULL;
    snprintf(path, sizeof path, "%s/formats/%s.%s", folder, format, what);
    if (!(from = fopen(path, "rb")))
        return NULL;
    ck_assert_int_eq(fseek(from, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(from);
    rewind(from);
    void *data = must_alloc(*bytes, 1);
    ck_assert_uint_eq(fread(data, 1, *bytes, from), *bytes);
    fclose(from);
    return data;
}

static const enum assay_format_id with_vectors[] = {
    ASSAY_E4M3FN, ASSAY_E4M3FNUZ, ASSAY_E5M2, ASSAY_E5M2FNUZ,
    ASSAY_E2M3,   ASSAY_E3M2,     ASSAY_E2M1, ASSAY_E8M0,
};
enum { VECTORS = sizeof with_vectors / sizeof *with_vectors };

/* Its e8m0 gives 1 for these, which lie below 1.5 * 2^-127. */
static bool known_fault(enum assay_format_id id, float x, uint8_t code)
{
    static const uint32_t words[] = { 0x408322, 0x47577e, 0x51c87f,
                                      0x57cf35, 0x5ffffe, 0x5fffff };
    for (int i = 0; id == ASSAY_E8M0 && i < 6; i++)
        if (bits_of(x) == words[i])
            return code == 1;
    return false;
}

static void check_vectors(const struct assay_format *f, size_t n,
                          const float *x, const uint8_t *want)
{
    uint8_t *got = must_alloc(n, 1);
    int faults = 0;
    assay_format_encode(f, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, n, x, got);
    for (size_t i = 0; i < n; i++)
        if (known_fault(f->id, x[i], want[i]) && got[i] == 0)
            faults++;
        else if (got[i] != want[i])
            ck_abort_msg("%s: %a gives %02x, not %02x", f->name, x[i], got[i],
                         want[i]);
    ck_assert_int_eq(faults, f->id == ASSAY_E8M0 ? 6 : 0);
    free(got);
}

START_TEST(ml_dtypes)
{
    const struct assay_format *f = assay_format_get(with_vectors[_i]);
    size_t n, n_codes, n_values;
    float *x = read_whole(f->name, "input.f32", &n);
    uint8_t *want = read_whole(f->name, "code.u8", &n_codes);
    float *values = read_whole(f->name, "decode.f32", &n_values);
    if (!x || !want || !values) {
        printf("# ml_dtypes %s skipped: no shared folder with formats/\n",
               f->name);
        free(x), free(want), free(values);
        return;
    }
    n /= sizeof *x;
    ck_assert_uint_eq(n, n_codes);
    ck_assert_uint_gt(n, 1000);
    check_vectors(f, n, x, want);
    ck_assert_uint_eq(n_values, sizeof *values << f->bits);
    for (uint32_t c = 0; c < 1u << f->bits; c++) {
        uint8_t code = (uint8_t)c;
        float y;
        assay_format_decode(f, 1, &code, &y);
        if (!same_float(y, values[c]))
            ck_abort_msg("%s %02x decodes to %a, not %a", f->name, c, y,
                         values[c]);
    }
    printf("# ml_dtypes %s: %zu inputs\n", f->name, n);
    free(x), free(want), free(values);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format vectors");
    TCase *c = tcase_create("vectors");
    tcase_add_loop_test(c, ml_dtypes, 0, VECTORS);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
