/* SPDX-License-Identifier: MIT
 *
 * Mutations of a problem against plain loops over the keys that a row then
 * sees: bf16 on small heads, so that what is left is the rounding of P.
 */
#include "check_assay.h"

#include <math.h>
#include <string.h>

#include "golden/answers.h"
#include "validate/mutation.h"

enum { HQ = 4, HK = 2, D = 16, MOST = 40, ELEMS = MOST * HQ * D };

/* fewer, as many and more queries than keys; without a mask */
static const struct assay_problem problems[] = {
    { 1, HQ, HK, 20, 24, D, D, ASSAY_MASK_CAUSAL, 0.25 },
    { 1, HQ, HK, 24, 24, D, D, ASSAY_MASK_CAUSAL, 0.25 },
    { 1, HQ, HK, 30, 24, D, D, ASSAY_MASK_CAUSAL, 0.25 },
    { 1, HQ, HK, 20, 24, D, D, ASSAY_MASK_NONE, 0.25 },
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static float q[ELEMS], k[ELEMS], v[ELEMS], o[ELEMS];
static double lse[MOST * HQ];
static struct assay_case c;
static struct assay_exact x;
static struct assay_answer e;
static struct subject s;
static struct mutant m;

static float word(int i, int salt)
{
    float y, from = (float)((i * 37 + salt * 101 + i / 7 * 13) % 61 - 30) / 16;
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, 1, &from, &y);
    return y;
}

static void begin(int problem)
{
    for (int i = 0; i < ELEMS; i++) {
        q[i] = word(i, 1);
        k[i] = word(i, 2);
        v[i] = word(i, 3);
    }
    struct assay_inputs in = { q, k, v, assay_format_get(ASSAY_BF16) };
    c.problem = problems[problem];
    ck_assert_int_eq(answers_exact_only(&c.problem, &in, false, NULL, &x, NULL),
                     ASSAY_OK);
    ck_assert_int_eq(answers_recipe(assay_recipe_find("bf16"), &c.problem, &in,
                                    NULL, &e, NULL),
                     ASSAY_OK);
    s = (struct subject){ .c = &c, .e = &e, .x = &x };
    ck_assert_int_eq(subject_begin(&s, NULL), ASSAY_OK);
}

static void end(void)
{
    subject_free(&s);
    assay_exact_free(&x);
    assay_answer_free(&e);
}

static void mutate(enum mutation_id id, double strength)
{
    m = (struct mutant){ .s = &s, .o = o, .lse = lse, .applies = true };
    memcpy(o, e.o, (size_t)assay_problem_o_elems(&c.problem) * sizeof *o);
    memcpy(lse, e.lse, (size_t)assay_problem_rows(&c.problem) * sizeof *lse);
    ck_assert_int_eq(mutation_get(id)->apply(&m, strength, NULL), ASSAY_OK);
}

/* What a row should be: the key whose K and V stand for key j, or -1 where it
 * is not seen; the key head; the factor of the scores. */
struct wanted {
    int (*k_of)(int i, int j, int n);
    int (*v_of)(int i, int j, int n);
    int (*head)(int h);
    double scale;
    int n;
};

static int visible(int i)
{
    const struct assay_problem *p = &c.problem;
    int n =
        p->mask == ASSAY_MASK_NONE ? (int)p->nk : i + 1 + (int)(p->nk - p->nq);
    return n < 0 ? 0 : n > p->nk ? (int)p->nk : n;
}

static int as_is(int i, int j, int n)
{
    (void)n;
    return j < visible(i) ? j : -1;
}

static int own_head(int h)
{
    return h / (HQ / HK);
}

static double dot(int i, int h, int j, int kv)
{
    double sum = 0;
    for (int d = 0; d < D; d++)
        sum += (double)q[(i * HQ + h) * D + d] * k[(j * HK + kv) * D + d];
    return sum;
}

static void check_row(const struct wanted *w, int i, int h)
{
    const struct assay_problem *p = &c.problem;
    const int kv = w->head ? w->head(h) : own_head(h);
    double sum = 0, want[D] = { 0 };
    for (int j = 0; j < p->nk; j++) {
        const int at = (w->k_of ? w->k_of : as_is)(i, j, w->n);
        const int value = (w->v_of   ? w->v_of
                           : w->k_of ? w->k_of
                                     : as_is)(i, j, w->n);
        if (at < 0)
            continue;
        const double weight = exp(p->softmax_scale * (w->scale ? w->scale : 1) *
                                  dot(i, h, at, kv));
        sum += weight;
        for (int d = 0; d < D; d++)
            want[d] += weight * v[(value * HK + kv) * D + d];
    }
    const double got = lse[h * p->nq + i];
    if (sum == 0)
        ck_assert_msg(got == -INFINITY, "row %d of head %d is not dead", i, h);
    else
        ck_assert_msg(fabs(got - log(sum)) < 4e-3,
                      "LSE of row %d of head %d is %g, should be %g", i, h, got,
                      log(sum));
    for (int d = 0; d < D; d++) {
        const double y = o[(i * HQ + h) * D + d];
        const double z = sum > 0 ? want[d] / sum : 0;
        ck_assert_msg(fabs(y - z) < 1e-2,
                      "row %d of head %d, channel %d: %g, should be %g", i, h,
                      d, y, z);
    }
}

static void check(const struct wanted *w)
{
    ck_assert(m.applies);
    for (int i = 0; i < c.problem.nq; i++)
        for (int h = 0; h < HQ; h++)
            check_row(w, i, h);
}

static int without_last(int i, int j, int n)
{
    return j < c.problem.nk - n ? as_is(i, j, n) : -1;
}

static int without_first(int i, int j, int n)
{
    return j >= n ? as_is(i, j, n) : -1;
}

START_TEST(keys_are_dropped)
{
    static const int counts[] = { 1, 3, 8 };
    begin(_i);
    for (int t = 0; t < 3; t++) {
        mutate(MUTATION_LAST_KEY, counts[t]);
        check(&(struct wanted){ .k_of = without_last, .n = counts[t] });
        mutate(MUTATION_FIRST_KEY, counts[t]);
        check(&(struct wanted){ .k_of = without_first, .n = counts[t] });
    }
    mutate(MUTATION_TAIL_LARGE, 0.1);
    check(&(struct wanted){ .k_of = without_last, .n = 3 });
    mutate(MUTATION_LAST_KEY, (double)c.problem.nk);
    ck_assert(!m.applies);
    end();
}
END_TEST

static int next_key(int i, int j, int n)
{
    if (j >= visible(i))
        return -1;
    return j + n < c.problem.nk ? j + n : (int)c.problem.nk - 1;
}

static int modulo(int h)
{
    return h % HK;
}

static int next_head(int h)
{
    return (own_head(h) + 1) % HK;
}

START_TEST(places_heads_and_scale)
{
    begin(_i);
    mutate(MUTATION_V_SHIFTED, 1);
    check(&(struct wanted){ .v_of = next_key, .n = 1 });
    mutate(MUTATION_K_SHIFTED, 1);
    check(&(struct wanted){ .k_of = next_key, .v_of = as_is, .n = 1 });
    mutate(MUTATION_GQA_MODULO, 0);
    check(&(struct wanted){ .head = modulo });
    mutate(MUTATION_GQA_NEXT, 0);
    check(&(struct wanted){ .head = next_head });
    mutate(MUTATION_SCALE_UP, 0.25);
    check(&(struct wanted){ .scale = 1.25 });
    mutate(MUTATION_SCALE_TWICE, 0);
    check(&(struct wanted){ .scale = 0.25 });
    mutate(MUTATION_SCALE_NONE, 0);
    check(&(struct wanted){ .scale = 4 });
    mutate(MUTATION_V_SCALE_TWO, 0);
    ck_assert(!m.applies); /* bf16 has no scales */
    end();
}
END_TEST

/* Keys that a causal row sees with its edge moved by n, or top-left. */
static int moved(int i, int j, int n)
{
    return j < i + 1 + n + c.problem.nk - c.problem.nq ? j : -1;
}

static int top_left(int i, int j, int n)
{
    (void)n;
    return j <= i ? j : -1;
}

static int unmasked(int i, int j, int n)
{
    (void)i, (void)n;
    return j;
}

START_TEST(masks)
{
    begin(_i);
    const bool causal = c.problem.mask == ASSAY_MASK_CAUSAL;
    mutate(MUTATION_MASK_ADDED, 0);
    ck_assert_int_eq(m.applies, !causal);
    if (!causal)
        check(&(struct wanted){ .k_of = moved, .n = 0 });
    mutate(MUTATION_MASK_MORE, 1);
    ck_assert_int_eq(m.applies, causal);
    if (causal) {
        check(&(struct wanted){ .k_of = moved, .n = 1 });
        mutate(MUTATION_MASK_LESS, 1);
        check(&(struct wanted){ .k_of = moved, .n = -1 });
        mutate(MUTATION_MASK_MISSING, 0);
        check(&(struct wanted){ .k_of = unmasked });
        mutate(MUTATION_MASK_TOP_LEFT, 0);
        ck_assert_int_eq(m.applies, c.problem.nq != c.problem.nk);
        if (m.applies)
            check(&(struct wanted){ .k_of = top_left });
    }
    end();
}
END_TEST

/* Maximum of the scores of keys first to stop - 1 that row i sees. */
static double maximum(int i, int h, int first, int stop)
{
    double most = -INFINITY;
    for (int j = first; j < stop && j < visible(i); j++)
        most = fmax(most, c.problem.softmax_scale * dot(i, h, j, own_head(h)));
    return most;
}

/* O and LSE of all rows as two tiles of keys leave them, in double. */
static void check_no_rescale(enum mutation_id mutation, bool o_stays,
                             bool sum_stays, int half)
{
    double want[D];
    mutate(mutation, 0.5);
    for (int r = 0; r < HQ * (int)c.problem.nq; r++) {
        const int i = r % (int)c.problem.nq, h = r / (int)c.problem.nq;
        const double first = maximum(i, h, 0, half),
                     all = maximum(i, h, 0, 2 * half);
        double sum = 0, weights = 0;
        if (visible(i) <= half)
            continue;
        memset(want, 0, sizeof want);
        for (int j = 0; j < visible(i); j++) {
            const double score = c.problem.softmax_scale *
                                 dot(i, h, j, own_head(h)),
                         right = exp(score - all),
                         stays = j < half ? exp(score - first) : right;
            sum += sum_stays ? stays : right;
            weights += o_stays ? stays : right;
            for (int d = 0; d < D; d++)
                want[d] += (o_stays ? stays : right) *
                           v[(j * HK + own_head(h)) * D + d];
        }
        const double wanted = all + log(sum);
        ck_assert_msg(fabs(lse[r] - wanted) < 4e-3, "row %d: LSE %g, not %g", i,
                      lse[r], wanted);
        for (int d = 0; d < D; d++) {
            const double y = o[(i * HQ + h) * D + d], z = want[d] / sum;
            ck_assert_msg(fabs(y - z) < 1e-2 * (1 + weights / sum),
                          "row %d of head %d: O %g, not %g", i, h, y, z);
        }
    }
}

START_TEST(maxima)
{
    begin(_i);
    const int nq = (int)c.problem.nq, half = (int)c.problem.nk / 2;
    for (int r = 0; r < HQ * nq; r++) {
        const int i = r % nq, h = r / nq;
        const double all = maximum(i, h, 0, (int)c.problem.nk);
        if (r == 0)
            mutate(MUTATION_LSE_NO_SUM, 0);
        if (isfinite(all))
            ck_assert_msg(fabs(lse[r] - all) < 1e-4, "row %d: %g, not %g", i,
                          lse[r], all);
    }
    mutate(MUTATION_LSE_NO_MAX, 0);
    for (int r = 0; r < HQ * nq; r++)
        if (visible(r % nq) > 0)
            ck_assert(fabs(lse[r] + maximum(r % nq, r / nq, 0, nq + half * 2) -
                           e.lse[r]) < 1e-4);
    check_no_rescale(MUTATION_NO_RESCALE, true, true, half);
    check_no_rescale(MUTATION_NO_RESCALE_O, true, false, half);
    check_no_rescale(MUTATION_NO_RESCALE_SUM, false, true, half);
    mutate(MUTATION_NO_RESCALE, 0.5);
    for (int r = 0; r < HQ * nq; r++) {
        const int i = r % nq, h = r / nq;
        const double rise =
            maximum(i, h, half, half * 2) - maximum(i, h, 0, half);
        const bool same = lse[r] == e.lse[r] || /* -inf, too */
                          fabs(lse[r] - e.lse[r]) < 1e-9;
        if (visible(i) > half && fabs(rise) > 1e-3)
            ck_assert_msg(same == (rise < 0), "row %d rises by %g", i, rise);
        else if (visible(i) <= half)
            ck_assert(same);
    }
    end();
}
END_TEST

START_TEST(tables_are_sane)
{
    int by[3] = { 0 };
    for (int i = 0; i < MUTATIONS; i++) {
        const struct mutation *row = mutation_get((enum mutation_id)i);
        by[row->expect]++;
        ck_assert(row->about[0]);
        ck_assert(row->most == 0 ||
                  (row->least > 0 && row->most > row->least &&
                   row->strength >= row->least && row->strength <= row->most));
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(row->name, names_mutations.names[j]);
    }
    ck_assert_int_ge(by[MUTATION_REQUIRED], 30);
    ck_assert_int_ge(by[MUTATION_HONEST], 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mutation");
    TCase *tests = tcase_create("mutation");
    tcase_add_loop_test(tests, keys_are_dropped, 0, PROBLEMS);
    tcase_add_loop_test(tests, places_heads_and_scale, 0, PROBLEMS);
    tcase_add_loop_test(tests, masks, 0, PROBLEMS);
    tcase_add_loop_test(tests, maxima, 0, PROBLEMS);
    tcase_add_test(tests, tables_are_sane);
    suite_add_tcase(suite, tests);
    return assay_check_main(suite);
}
