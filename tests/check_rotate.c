/* SPDX-License-Identifier: MIT
 *
 * ref/rotate.c: against the matrix of its definition, against a butterfly in
 * plain loops to the bit, and where every step is exact. Norms: QuaRot #14,
 * #10.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/rotate.h"
#include "check_assay.h"
#include "check_values.h"

static void rotate(int64_t n, int64_t rows, const float *x, int64_t means,
                   const float *mean, float *y)
{
    struct assay_error err = { 0 };
    if (assay_rotate(n, rows, x, means, mean, y, &err) != ASSAY_OK)
        ck_abort_msg("n = %" PRId64 ": %s", n, err.text);
}

static float *values_new(uint64_t seed, int64_t n)
{
    float *x = must_alloc((size_t)n, sizeof *x);
    values_fill(seed, (size_t)n, x);
    return x;
}

static int log2_of(int64_t n)
{
    return n > 1 ? 1 + log2_of(n / 2) : 0;
}

static int sign(int64_t i, int64_t j)
{
    return __builtin_parityll((unsigned long long)(i & j)) ? -1 : 1;
}

/* 2^-k or sqrt(1/2) 2^-k, nearest in binary32. */
static float norm_of(int64_t n)
{
    const int l = log2_of(n);
    return ldexpf(l % 2 ? float_of(0x3f3504f3) : 1, -(l / 2));
}

/* The definition as the kernel's source has it, one row, in place. */
static void plain(int64_t n, float norm, float *y)
{
    for (int64_t stride = 1; stride < n; stride *= 2)
        for (int64_t i = 0; i < n; i++)
            if (!(i & stride)) {
                volatile float low = y[i] + y[i + stride];
                volatile float high = y[i] - y[i + stride];
                y[i] = low;
                y[i + stride] = high;
            }
    for (int64_t i = 0; i < n; i++)
        y[i] *= norm;
}

/* ---- the definition ---- */

START_TEST(four_channels)
{
    const float x[4] = { 1, 2, 3, 4 }, y[4] = { 4, -1, 0, 2 };
    const float right[4] = { 5, -1, -2, 0 };
    float rx[4], ry[4], back[4];
    rotate(4, 1, x, 1, NULL, rx);
    rotate(4, 1, y, 1, NULL, ry);
    ck_assert_mem_eq(rx, right, sizeof right);
    double norm = 0, dot = 0;
    for (int i = 0; i < 4; i++) {
        norm += (double)rx[i] * rx[i];
        dot += (double)rx[i] * ry[i];
    }
    ck_assert(sqrt(norm) == 5.4772255750516611 && dot == 10);
    rotate(4, 1, rx, 1, NULL, back);
    ck_assert_mem_eq(back, x, sizeof x);
}
END_TEST

/* |error| <= ((1 + u)^(L + 2) - 1) / sqrt(n) * sum |x|: a value passes L =
 * log2(n) sums, one multiplication, and a rounded constant. */
static void check_matrix(int64_t n, const float *x, const float *y)
{
    const double u = 0x1p-24, root = sqrt((double)n);
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs((double)x[i]);
    const double bound = expm1((log2_of(n) + 2) * log1p(u)) * sum / root;
    for (int64_t j = 0; j < n; j++) {
        double right = 0;
        for (int64_t i = 0; i < n; i++)
            right += sign(i, j) * (double)x[i];
        right /= root;
        if (!(fabs(y[j] - right) <= bound))
            ck_abort_msg("n = %" PRId64 ", channel %" PRId64 ": %.9g, not %.9g",
                         n, j, y[j], right);
    }
}

START_TEST(is_the_matrix)
{
    enum { ROWS = 5 };
    const int64_t n = (int64_t)1 << _i;
    float *x = values_new(1, ROWS * n);
    float *y = must_alloc((size_t)(ROWS * n), sizeof *y);
    rotate(n, ROWS, x, 1, NULL, y);
    for (int64_t r = 0; r < ROWS; r++)
        check_matrix(n, x + r * n, y + r * n);
    free(x);
    free(y);
}
END_TEST

/* Integers whose sums binary32 holds: only the multiplication rounds. */
START_TEST(integers_are_exact)
{
    const int64_t n = (int64_t)1 << _i;
    float *x = must_alloc((size_t)n, sizeof *x);
    float *y = must_alloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(int)(values_bits(2, (uint64_t)i) % 4001) - 2000;
    rotate(n, 1, x, 1, NULL, y);
    for (int64_t j = 0; j < n; j++) {
        int64_t right = 0;
        for (int64_t i = 0; i < n; i++)
            right += sign(i, j) * (int64_t)x[i];
        ck_assert(y[j] == (float)right * norm_of(n));
    }
    if (_i % 2 == 0) { /* 1/sqrt(n) is a power of two: nothing rounds */
        rotate(n, 1, y, 1, NULL, y);
        ck_assert_mem_eq(x, y, (size_t)n * sizeof *x);
    }
    free(x);
    free(y);
}
END_TEST

START_TEST(unit_vectors)
{
    enum { N = 128 };
    float x[N * N] = { 0 }, y[N * N];
    for (int i = 0; i < N; i++)
        x[i * N + i] = 1;
    rotate(N, N, x, 1, NULL, y);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            ck_assert_uint_eq(bits_of(y[i * N + j]),
                              sign(i, j) < 0 ? 0xbdb504f3u : 0x3db504f3u);
}
END_TEST

/* Each error is at most g |x| (above, and Cauchy-Schwarz), so that of a row is
 * at most g sqrt(n) |x|. */
START_TEST(norms_and_products_stay)
{
    enum { ROWS = 64 };
    const int64_t n = (int64_t)1 << _i;
    const double g = expm1((_i + 2) * log1p(0x1p-24)) * sqrt((double)n);
    float *x = values_new(3, (ROWS + 1) * n);
    float *y = must_alloc((size_t)((ROWS + 1) * n), sizeof *y);
    rotate(n, ROWS + 1, x, 1, NULL, y);
    for (int64_t r = 0; r < ROWS; r++) {
        double xx = 0, yy = 0, next = 0, dot = 0, rotated = 0;
        for (int64_t at = r * n; at < (r + 1) * n; at++) {
            xx += (double)x[at] * x[at];
            yy += (double)y[at] * y[at];
            next += (double)x[at + n] * x[at + n];
            dot += (double)x[at] * x[at + n];
            rotated += (double)y[at] * y[at + n];
        }
        ck_assert(fabs(sqrt(yy) - sqrt(xx)) <= 1.01 * g * sqrt(xx));
        ck_assert(fabs(rotated - dot) <= 2.02 * g * sqrt(xx * next));
    }
    free(x);
    free(y);
}
END_TEST

/* ---- to the bit ---- */

/* Finite values of every size, subnormals and zeros of both signs. */
static void fill_wild(uint64_t seed, int64_t n, float *x)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t b = values_bits(seed, (uint64_t)i);
        uint32_t e = 0x3f800000u + (b % 24 << 23) - (12u << 23);
        x[i] = b % 7 == 0   ? float_of(b & 0x80000000u)
               : b % 7 == 1 ? float_of(b & 0x800fffffu)
                            : float_of((b & 0x807fffffu) | e);
    }
}

static void same_row(int64_t n, int64_t row, const float *got,
                     const float *right)
{
    for (int64_t i = 0; i < n; i++)
        if (!same_float(got[i], right[i]))
            ck_abort_msg("n = %" PRId64 ", row %" PRId64 ", channel %" PRId64
                         ": %a, not %a",
                         n, row, i, got[i], right[i]);
}

START_TEST(same_bits_as_plain_loops)
{
    enum { ROWS = 7, MEANS = 3 };
    const int64_t n = (int64_t)1 << _i;
    float *x = must_alloc((size_t)(ROWS * n), sizeof *x);
    float *y = must_alloc((size_t)(ROWS * n), sizeof *y);
    float *mean = values_new(5, MEANS * n);
    float *right = must_alloc((size_t)n, sizeof *right);
    for (int with_mean = 0; with_mean < 2; with_mean++) {
        fill_wild(4, ROWS * n, x);
        rotate(n, ROWS, x, MEANS, with_mean ? mean : NULL, y);
        for (int64_t r = 0; r < ROWS; r++) {
            for (int64_t i = 0; i < n; i++)
                right[i] = with_mean ? x[r * n + i] - mean[r % MEANS * n + i]
                                     : x[r * n + i];
            plain(n, norm_of(n), right);
            same_row(n, r, y + r * n, right);
        }
        rotate(n, ROWS, x, MEANS, with_mean ? mean : NULL, x); /* in place */
        ck_assert_mem_eq(x, y, (size_t)(ROWS * n) * sizeof *x);
    }
    free(x), free(y), free(mean), free(right);
}
END_TEST

/* ---- what is not finite, and what is refused ---- */

START_TEST(bad_values_stay_in_their_row)
{
    enum { ROWS = 5, BAD = 2 };
    const float bad[] = { NAN, INFINITY, -INFINITY, 0x1.fep127f };
    const int64_t n = (int64_t)1 << _i;
    float *x = values_new(6, ROWS * n);
    float *clean = must_alloc((size_t)(ROWS * n), sizeof *clean);
    float *y = must_alloc((size_t)(ROWS * n), sizeof *y);
    rotate(n, ROWS, x, 1, NULL, clean);
    for (int k = 0; k < 4; k++) {
        const bool large = isfinite(bad[k]); /* a sum overflows, if there is */
        x[BAD * n + n / 3] = bad[k];
        x[BAD * n + n / 2] = large ? bad[k] : x[BAD * n + n / 2];
        rotate(n, ROWS, x, 1, NULL, y);
        for (int64_t i = 0; i < n && !large; i++)
            ck_assert(isnan(bad[k]) ? isnan(y[BAD * n + i])
                                    : isinf(y[BAD * n + i]));
        if (large && n > 1)
            ck_assert(!isfinite(y[BAD * n]));
        memcpy(y + BAD * n, clean + BAD * n, (size_t)n * sizeof *y);
        ck_assert_mem_eq(y, clean, (size_t)(ROWS * n) * sizeof *y);
    }
    free(x), free(clean), free(y);
}
END_TEST

static void refused(int64_t n, int64_t rows, int64_t means, const char *text)
{
    struct assay_error err = { 0 };
    const float x[1] = { 1 };
    float y[1] = { 7 };
    ck_assert_int_eq(assay_rotate(n, rows, x, means, x, y, &err), ASSAY_SHAPE);
    ck_assert_msg(strstr(err.text, text), "'%s' lacks '%s'", err.text, text);
    ck_assert(y[0] == 7);
}

START_TEST(what_is_refused)
{
    char text[64];
    for (int64_t n = -3; n <= 1025; n++)
        if (n < 1 || __builtin_popcountll((unsigned long long)n) != 1) {
            snprintf(text, sizeof text, "a rotation of %" PRId64 " channels",
                     n);
            refused(n, 0, 1, text);
        }
    refused(65536, 1, 1, "a rotation of 65536 channels, must be a power");
    refused(INT64_MIN, 1, 1, "a rotation of -9223372036854775808 channels");
    refused((int64_t)1 << 62, 1, 1, "must be a power of two from 1 to 32768");
    refused(1, -1, 1, "-1 rows of 1 channels cannot be addressed");
    refused(2, (int64_t)1 << 60, 1, "cannot be addressed");
    refused(1, 1, 0, "0 mean rows, must be at least 1");
    ck_assert_int_eq(assay_rotate(3, 1, NULL, 1, NULL, NULL, NULL),
                     ASSAY_SHAPE);
    rotate(128, 0, NULL, 1, NULL, NULL); /* no rows are fine */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rotate");
    TCase *c = tcase_create("rotate");
    tcase_add_test(c, four_channels);
    tcase_add_loop_test(c, is_the_matrix, 0, 13);
    tcase_add_loop_test(c, integers_are_exact, 0, 13);
    tcase_add_test(c, unit_vectors);
    tcase_add_loop_test(c, norms_and_products_stay, 0, 11);
    tcase_add_loop_test(c, same_bits_as_plain_loops, 0, 16);
    tcase_add_loop_test(c, bad_values_stay_in_their_row, 0, 11);
    tcase_add_test(c, what_is_refused);
    suite_add_tcase(suite, c);
    return assay_check_main(suite);
}
