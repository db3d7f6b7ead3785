/* SPDX-License-Identifier: MIT
 *
 * ref/n_eff.c against the definition in loops, and where the answer is known.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/n_eff.h"
#include "check_assay.h"
#include "check_values.h"

/* 1 / sum p^2 with p as softmax defines it. */
static double plain(const struct assay_problem *p, const float *q,
                    const float *k, int64_t b, int64_t h, int64_t i)
{
    double s[64], sum = 0, square = 0;
    int64_t n = 0;
    for (int64_t j = 0; j < p->nk; j++) {
        if (p->mask == ASSAY_MASK_CAUSAL && j > i + p->nk - p->nq)
            continue;
        double dot = 0;
        for (int64_t c = 0; c < p->dk; c++)
            dot += (double)q[((b * p->nq + i) * p->hq + h) * p->dk + c] *
                   k[((b * p->nk + j) * p->hk + h * p->hk / p->hq) * p->dk + c];
        s[n++] = exp(dot * p->softmax_scale);
        sum += s[n - 1];
    }
    for (int64_t j = 0; j < n; j++)
        square += s[j] / sum * (s[j] / sum);
    return n ? 1 / square : 0;
}

START_TEST(definition)
{
    const struct assay_problem p = {
        2, 6, 2, 19, 17, 13, 1, _i ? ASSAY_MASK_CAUSAL : ASSAY_MASK_NONE, 0.4
    };
    struct tensors t = tensors_new(&p, 4);
    double got[3][2 * 6 * 19];
    const int64_t every[3] = { 1, 5, 40 };
    for (int e = 0; e < 3; e++) {
        const struct assay_run run = { .threads = 1 + e };
        const int64_t rows = assay_n_eff_rows(&p, every[e]);
        ck_assert_int_eq(rows, e == 0 ? 19 : e == 1 ? 4 : 1);
        ck_assert_int_eq(
            assay_n_eff(&p, t.q, t.k, every[e], got[e], &run, NULL), ASSAY_OK);
        for (int64_t r = 0; r < 2 * 6 * rows; r++) {
            const int64_t i = r % rows * every[e], bh = r / rows;
            const double want = plain(&p, t.q, t.k, bh / 6, bh % 6, i);
            ck_assert_double_eq_tol(got[e][r], want, 1e-12 * (1 + want));
        }
    }
    ck_assert(got[0][0] == 0 || !_i); /* 19 queries, 17 keys: row 0 is empty */
    tensors_free(&t);
}
END_TEST

START_TEST(known)
{
    struct assay_problem p = { 1, 1, 1, 1, 4, 1, 1, ASSAY_MASK_NONE, 1 };
    const float q = 1;
    float k[4] = { 3, 3, 3, 3 };
    double n;
    ck_assert_int_eq(assay_n_eff(&p, &q, k, 1, &n, NULL, NULL), ASSAY_OK);
    ck_assert_double_eq(n, 4);
    k[2] = 5000; /* exp would be infinite */
    ck_assert_int_eq(assay_n_eff(&p, &q, k, 1, &n, NULL, NULL), ASSAY_OK);
    ck_assert_double_eq(n, 1);
    k[2] = -INFINITY;
    ck_assert_int_eq(assay_n_eff(&p, &q, k, 1, &n, NULL, NULL), ASSAY_OK);
    ck_assert_double_eq(n, 3);
    k[1] = NAN;
    ck_assert_int_eq(assay_n_eff(&p, &q, k, 1, &n, NULL, NULL), ASSAY_OK);
    ck_assert_double_nan(n);
    struct assay_error err = { 0 };
    ck_assert_int_eq(assay_n_eff(&p, &q, k, 0, &n, NULL, &err), ASSAY_USAGE);
    ck_assert(strstr(err.text, "every 0th") != NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("n_eff");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, definition, 0, 2);
    tcase_add_test(t, known);
    suite_add_tcase(s, t);
    return assay_check_main(s);
}
