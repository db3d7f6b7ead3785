/* SPDX-License-Identifier: MIT
 *
 * ref/pack.c: bytes known from reports and specifications, and every packing
 * against a definition written here the other way round: for each bit of each
 * byte, which bit of which element it is.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/pack.h"
#include "check_assay.h"
#include "check_values.h"

enum { MOST = 200, GUARD = 0xa5 };

/* Written again on purpose: the table under test has these too. */
static const struct spec {
    enum assay_packing_id id;
    const char *name;
    size_t bits, bytes_5, bytes_32, bytes_33;
} specs[] = {
    { ASSAY_PACKING_BYTES, "bytes", 8, 5, 32, 33 },
    { ASSAY_PACKING_NIBBLES, "nibbles", 4, 3, 16, 17 },
    { ASSAY_PACKING_STREAM6, "stream6", 6, 4, 24, 25 },
    { ASSAY_PACKING_INTERLEAVED6, "interleaved6", 6, 24, 24, 48 },
};
enum { N_SPECS = sizeof specs / sizeof *specs };

_Static_assert(N_SPECS == (int)ASSAY_PACKINGS, "a packing without a test");

/* Element that a field holds. */
static size_t element_of(const struct spec *s, size_t field)
{
    if (s->id != ASSAY_PACKING_INTERLEAVED6)
        return field;
    return field / 32 * 32 + field % 2 * 16 + field % 32 / 2;
}

static void draw_codes(uint64_t seed, size_t n, uint8_t *codes)
{
    for (size_t i = 0; i < n; i++)
        codes[i] = (uint8_t)values_bits(seed, i);
}

START_TEST(rows)
{
    const struct spec *s = &specs[_i];
    const struct assay_packing *p = assay_packing_get(s->id);
    ck_assert_int_eq(p->id, s->id);
    ck_assert_str_eq(p->name, s->name);
    ck_assert_uint_eq(p->bits, s->bits);
    ck_assert_ptr_eq(assay_packing_find(s->name), p);
    ck_assert_ptr_nonnull(p->about);
    ck_assert_uint_eq(assay_packing_bytes(p, 0), 0);
    ck_assert_uint_eq(assay_packing_bytes(p, 5), s->bytes_5);
    ck_assert_uint_eq(assay_packing_bytes(p, 32), s->bytes_32);
    ck_assert_uint_eq(assay_packing_bytes(p, 33), s->bytes_33);
    /* the pattern repeats, and past 2^32 too */
    size_t group = (size_t)p->group, large = (size_t)1 << 40;
    ck_assert_uint_eq(assay_packing_bytes(p, group) * 8, group * s->bits);
    ck_assert_uint_eq(assay_packing_bytes(p, large), large / 8 * s->bits);
    ck_assert_ptr_null(assay_packing_find("nibble"));
}
END_TEST

/* triton #5197, tilelang #2704: element 0 went into the high nibble.
 * cutlass #2382, onnx #8349: four 6-bit values in three bytes is no layout
 * until it says which. */
static const struct known {
    const char *what;
    enum assay_packing_id id;
    size_t n, n_bytes;
    uint8_t codes[8], bytes[24];
} knowns[] = {
    { "0.5, 6, -1, 1.5 in E2M1",
      ASSAY_PACKING_NIBBLES,
      4,
      2,
      { 0x1, 0x7, 0xa, 0x3 },
      { 0x71, 0x3a } },
    { "an odd number of nibbles",
      ASSAY_PACKING_NIBBLES,
      3,
      2,
      { 0x1, 0x7, 0xa },
      { 0x71, 0x0a } },
    { "four FP6 codes",
      ASSAY_PACKING_STREAM6,
      4,
      3,
      { 0x01, 0x02, 0x03, 0x04 },
      { 0x81, 0x30, 0x10 } },
    { "1, -0.5, 7.5, 0.125, -1.5 in E2M3",
      ASSAY_PACKING_STREAM6,
      5,
      4,
      { 0x08, 0x24, 0x1f, 0x01, 0x2c },
      { 0x08, 0xf9, 0x05, 0x2c } },
    { "1, -0.5, 28, 0.0625 in E3M2",
      ASSAY_PACKING_STREAM6,
      4,
      3,
      { 0x0c, 0x28, 0x1f, 0x01 },
      { 0x0c, 0xfa, 0x05 } },
    /* elements 0 to 4 are fields 0, 2, 4, 6, 8; the others are zero */
    { "five interleaved",
      ASSAY_PACKING_INTERLEAVED6,
      5,
      24,
      { 0x01, 0x02, 0x03, 0x04, 0x3f },
      { 0x01, 0x20, 0x00, 0x03, 0x40, 0x00, 0x3f } },
    { "bits above a code",
      ASSAY_PACKING_NIBBLES,
      2,
      1,
      { 0xf1, 0xe7 },
      { 0x71 } },
    { "whole bytes",
      ASSAY_PACKING_BYTES,
      2,
      2,
      { 0xf1, 0x7e },
      { 0xf1, 0x7e } },
};
enum { N_KNOWNS = sizeof knowns / sizeof *knowns };

START_TEST(known_bytes)
{
    const struct known *k = &knowns[_i];
    const struct assay_packing *p = assay_packing_get(k->id);
    uint8_t bytes[24], codes[8];
    printf("# known_bytes: %s\n", k->what);
    memset(bytes, GUARD, sizeof bytes);
    ck_assert_uint_eq(assay_packing_bytes(p, k->n), k->n_bytes);
    assay_pack(p, k->n, k->codes, bytes);
    ck_assert_mem_eq(bytes, k->bytes, k->n_bytes);
    assay_unpack(p, k->n, k->bytes, codes);
    for (size_t i = 0; i < k->n; i++)
        ck_assert_uint_eq(codes[i], k->codes[i] & ((1u << p->bits) - 1));
}
END_TEST

/* tt-metal #51971 is about values; that every code comes back is here. */
START_TEST(every_code)
{
    const struct assay_packing *p = assay_packing_get(specs[_i].id);
    uint8_t codes[256], bytes[256], back[256];
    size_t n = (size_t)1 << p->bits;
    for (size_t i = 0; i < n; i++)
        codes[i] = (uint8_t)i;
    assay_pack(p, n, codes, bytes);
    assay_unpack(p, n, bytes, back);
    ck_assert_mem_eq(back, codes, n);
}
END_TEST

static void check_bits(const struct spec *s, size_t n, const uint8_t *codes,
                       const uint8_t *bytes, size_t n_bytes)
{
    for (size_t bit = 0; bit < 8 * n_bytes; bit++) {
        size_t element = element_of(s, bit / s->bits);
        int got = bytes[bit / 8] >> bit % 8 & 1;
        int want = element < n ? codes[element] >> bit % s->bits & 1 : 0;
        if (got != want)
            ck_abort_msg("%s of %zu: bit %zu of byte %zu is %d, bit %zu of "
                         "element %zu",
                         s->name, n, bit % 8, bit / 8, got, bit % s->bits,
                         element);
    }
}

START_TEST(every_length)
{
    const struct spec *s = &specs[_i];
    const struct assay_packing *p = assay_packing_get(s->id);
    for (size_t n = 0; n <= MOST; n++) {
        uint8_t codes[MOST + 1], bytes[2 * MOST], back[MOST + 1];
        size_t n_bytes = assay_packing_bytes(p, n);
        draw_codes(n, n, codes);
        memset(bytes, GUARD, sizeof bytes);
        memset(back, GUARD, sizeof back);
        assay_pack(p, n, codes, bytes);
        check_bits(s, n, codes, bytes, n_bytes);
        ck_assert_uint_eq(bytes[n_bytes], GUARD);
        assay_unpack(p, n, bytes, back);
        for (size_t i = 0; i < n; i++)
            ck_assert_uint_eq(back[i], codes[i] & ((1u << s->bits) - 1));
        ck_assert_uint_eq(back[n], GUARD);
    }
}
END_TEST

/* Buffers of the very length, for the sanitizers to see a step past it. */
START_TEST(no_byte_further)
{
    const struct assay_packing *p = assay_packing_get(specs[_i].id);
    for (size_t n = 1; n <= 70; n++) {
        size_t n_bytes = assay_packing_bytes(p, n);
        uint8_t *codes = malloc(n), *bytes = malloc(n_bytes);
        ck_assert(codes && bytes);
        memset(codes, 0xff, n);
        assay_pack(p, n, codes, bytes);
        assay_unpack(p, n, bytes, codes);
        for (size_t i = 0; i < n; i++)
            ck_assert_uint_eq(codes[i], (1u << p->bits) - 1);
        free(codes);
        free(bytes);
    }
}
END_TEST

START_TEST(rows_stay_apart)
{
    enum { ROWS = 3, WIDTH = 37 };
    const struct assay_packing *p = assay_packing_get(specs[_i].id);
    size_t step = assay_packing_bytes(p, WIDTH);
    uint8_t codes[ROWS * WIDTH], back[ROWS * WIDTH], bytes[ROWS * 48], row[48];
    draw_codes(7, sizeof codes, codes);
    for (size_t i = 0; i < sizeof codes; i++)
        codes[i] &= (uint8_t)((1u << p->bits) - 1);
    assay_pack_rows(p, ROWS, WIDTH, codes, bytes);
    for (size_t r = 0; r < ROWS; r++) {
        assay_pack(p, WIDTH, codes + r * WIDTH, row);
        ck_assert_mem_eq(bytes + r * step, row, step);
    }
    assay_unpack_rows(p, ROWS, WIDTH, bytes, back);
    ck_assert_mem_eq(back, codes, sizeof codes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pack");
    TCase *c = tcase_create("pack");
    tcase_add_loop_test(c, rows, 0, N_SPECS);
    tcase_add_loop_test(c, known_bytes, 0, N_KNOWNS);
    tcase_add_loop_test(c, every_code, 0, N_SPECS);
    tcase_add_loop_test(c, every_length, 0, N_SPECS);
    tcase_add_loop_test(c, no_byte_further, 0, N_SPECS);
    tcase_add_loop_test(c, rows_stay_apart, 0, N_SPECS);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
