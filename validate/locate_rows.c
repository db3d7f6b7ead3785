/* SPDX-License-Identifier: MIT
 *
 * Which heads and which rows fail. A set of rows fits if it holds 95 % of the
 * failing ones and at most 5 % of it do not fail; the first that fits wins, in
 * the order of pattern.def.
 */
#include "validate/locate_scene.h"

enum { LONGEST_PERIOD = 256, LEAST_HITS = 3 };

/* -- heads -- */

/* The heads [hq] that fail in each of the batches that fail; false where
 * batches differ, or some fail and some do not. *batch: the only one. */
static const bool *same_in_batches(const struct scene *s, int64_t *batch)
{
    const struct assay_problem *p = s->p;
    int64_t failing = 0, first = -1;
    *batch = -1;
    for (int64_t b = 0; b < p->b; b++) {
        bool any = false;
        for (int64_t h = 0; h < p->hq; h++)
            any |= s->head_in[b * p->hq + h];
        failing += any;
        first = any && first < 0 ? b : first;
    }
    const bool *set = s->head_in + first * p->hq;
    if (failing == 1 && p->b > 1)
        *batch = first;
    if (failing == 1)
        return set;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++)
        if (s->head_in[bh] != set[bh % p->hq])
            return NULL;
    return set;
}

static struct pattern heads_pattern(const struct assay_problem *p,
                                    const bool *set)
{
    const int64_t group = p->hq / p->hk;
    int64_t n = 0, a = -1, b = -1, step = 0;
    bool even = true;
    for (int64_t h = 0; h < p->hq; h++) {
        if (!set[h])
            continue;
        if (n == 1)
            step = h - a;
        even &= n == 0 || h - b == step;
        a = n++ == 0 ? h : a;
        b = h;
    }
    if (n == p->hq)
        return (struct pattern){ .id = PATTERN_HEADS_ALL };
    if (n == 1)
        return (struct pattern){ PATTERN_HEADS_ONE, a, 0, 0, 0, 1 };
    if (n == group && a % group == 0 && b == a + group - 1)
        return (struct pattern){ PATTERN_HEADS_GROUP, a, b, a / group, 0, 1 };
    if (b - a + 1 == n)
        return (struct pattern){ PATTERN_HEADS_RANGE, a, b, 0, 0, 1 };
    if (even && a < step && b + step >= p->hq)
        return (struct pattern){ PATTERN_HEADS_NTH, step, a, 0, 0, 1 };
    return (struct pattern){ PATTERN_HEADS_SOME, n, p->hq, 0, 0, 1 };
}

/* A head belongs if it has a 20th of the failing rows of the worst one. */
void locate_heads(struct scene *s, struct location *out)
{
    const int64_t heads = s->p->b * s->p->hq;
    struct pattern *found = &out->found[PATTERN_KIND_HEADS];
    int64_t most = 0, in = 0, covered = 0;
    for (int64_t bh = 0; bh < heads; bh++)
        most = s->head_fails[bh] > most ? s->head_fails[bh] : most;
    for (int64_t bh = 0; bh < heads; bh++) {
        s->head_in[bh] =
            (double)s->head_fails[bh] > LOCATE_FALSE * (double)most;
        in += s->head_in[bh];
        covered += s->head_in[bh] ? s->head_fails[bh] : 0;
    }
    const bool *set = same_in_batches(s, &out->batch);
    if (set)
        *found = heads_pattern(s->p, set);
    else
        *found = (struct pattern){ PATTERN_HEADS_SOME, in, heads, 0, 0, 1 };
    found->explained = (double)covered / (double)s->failing;
}

/* -- rows -- */

/* A set of rows: those i of first .. last whose (i - first) % period is below
 * `run`. first may be negative: a period that begins before row 0. */
struct rows {
    int64_t first, last, period, run;
};

struct fit {
    int64_t covered, size;
    bool fits;
};

static struct fit fit_of(const struct scene *s, struct rows set)
{
    struct fit f = { 0 };
    for (int64_t i = set.first < 0 ? 0 : set.first; i <= set.last; i++)
        if ((i - set.first) % set.period < set.run) {
            f.covered += s->row_fails[i];
            f.size += s->row_lives[i];
        }
    f.fits = f.size > 0 &&
             (double)f.covered >= LOCATE_COVERS * (double)s->failing &&
             (double)(f.size - f.covered) <= LOCATE_FALSE * (double)f.size;
    return f;
}

static struct rows range(int64_t first, int64_t last)
{
    return (struct rows){ first, last, 1, 1 };
}

/* The range that gains most: failing rows less those that do not fail. */
static struct rows best_range(const struct scene *s)
{
    struct rows best = range(0, 0);
    int64_t most = INT64_MIN, sum = 0, first = 0;
    for (int64_t i = 0; i < s->p->nq; i++) {
        if (sum <= 0) {
            sum = 0;
            first = i;
        }
        sum += 2 * s->row_fails[i] - s->row_lives[i];
        if (sum > most) {
            most = sum;
            best = range(first, i);
        }
    }
    return best;
}

static bool accept(const struct scene *s, struct rows set, struct pattern *out,
                   struct pattern as)
{
    struct fit f = fit_of(s, set);
    if (!f.fits)
        return false;
    *out = as;
    out->explained = (double)f.covered / (double)s->failing;
    return true;
}

/* The tile that the middle of the range is in. */
static bool accept_tile(const struct scene *s, struct rows best,
                        struct pattern *out)
{
    static const int64_t sizes[] = { LOCATION_TILE, 64, 256, 32, 16 };
    const int64_t nq = s->p->nq;
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        int64_t size = sizes[t];
        int64_t a = (best.first + best.last) / 2 / size * size;
        int64_t b = a + size < nq ? a + size - 1 : nq - 1;
        enum pattern_id id = a == 0        ? PATTERN_ROWS_FIRST_TILE
                             : b == nq - 1 ? PATTERN_ROWS_LAST_TILE
                                           : PATTERN_ROWS_TILE;
        /* a short last tile of one row is the last row */
        if (a < b && accept(s, range(a, b), out,
                            (struct pattern){ id, a, b, size, 0, 1 }))
            return true;
    }
    return false;
}

static bool accept_range(const struct scene *s, struct pattern *out)
{
    const struct assay_problem *p = s->p;
    const struct rows best = best_range(s);
    const int64_t a = best.first, b = best.last, last = p->nq - 1;
    const int64_t keys = assay_problem_visible(p, b);
    int64_t live = 0; /* the first row that sees a key */
    while (live < last && assay_problem_visible(p, live) == 0)
        live++;
    if (accept(s, range(0, last), out,
               (struct pattern){ .id = PATTERN_ROWS_ALL }))
        return true;
    if (a == b)
        return accept(
            s, best, out,
            (struct pattern){ a == last ? PATTERN_ROW_LAST : PATTERN_ROW_ONE, a,
                              0, 0, 0, 1 });
    if (accept_tile(s, best, out))
        return true;
    enum pattern_id id = a > live && b < last ? PATTERN_ROWS_RANGE
                         : a > live           ? PATTERN_ROWS_FROM
                         : p->mask == ASSAY_MASK_CAUSAL && keys <= p->nk / 4
                             ? PATTERN_ROWS_FEW_KEYS
                             : PATTERN_ROWS_UP_TO;
    return accept(s, best, out, (struct pattern){ id, a, b, keys, 0, 1 });
}

/* -- rows that come again -- */

/* The fullest phase of a period among rows first .. last. */
static int64_t best_phase(const struct scene *s, int64_t first, int64_t last,
                          int64_t period)
{
    int64_t count[LONGEST_PERIOD] = { 0 }, best = 0;
    for (int64_t i = first; i <= last; i++)
        count[(i - first) % period] += s->row_fails[i];
    for (int64_t k = 1; k < period; k++)
        best = count[k] > count[best] ? k : best;
    return best;
}

static int64_t different_rows(const struct scene *s, struct rows set)
{
    int64_t n = 0;
    for (int64_t i = set.first; i <= set.last; i += set.period)
        n += s->row_fails[i] > 0;
    return n;
}

static bool accept_nth(const struct scene *s, int64_t first, int64_t last,
                       struct pattern *out)
{
    for (int64_t k = 2; k <= LONGEST_PERIOD; k++) {
        int64_t from = first + best_phase(s, first, last, k);
        struct rows set = { from, last, k, 1 };
        if (different_rows(s, set) < LEAST_HITS)
            continue;
        int64_t to = from + (last - from) / k * k;
        if (accept(s, set, out,
                   (struct pattern){ PATTERN_ROWS_NTH, k, from, to, 0, 1 }))
            return true;
    }
    return false;
}

/* The run of phases, around the end of a period too, that gains most. */
static struct rows best_run(const struct scene *s, int64_t period)
{
    int64_t gain[LONGEST_PERIOD] = { 0 }, most = INT64_MIN;
    struct rows best = { 0 };
    for (int64_t i = 0; i < s->p->nq; i++)
        gain[i % period] += 2 * s->row_fails[i] - s->row_lives[i];
    for (int64_t from = 0; from < period; from++) {
        int64_t sum = 0;
        for (int64_t n = 1; n < period; n++) {
            sum += gain[(from + n - 1) % period];
            if (sum > most) {
                most = sum;
                best = (struct rows){ from, s->p->nq - 1, period, n };
            }
        }
    }
    return best;
}

/* Part of each tile, or both sides of its edges. */
static bool accept_run(const struct scene *s, struct pattern *out)
{
    for (int64_t k = 4; k <= LONGEST_PERIOD && 2 * k <= s->p->nq; k *= 2) {
        struct rows run = best_run(s, k);
        int64_t after = run.first + run.run - k; /* of the next tile's rows */
        struct pattern as = { PATTERN_ROWS_PHASES,     k, run.first,
                              run.first + run.run - 1, 0, 1 };
        if (after > 0) {
            as = (struct pattern){
                PATTERN_ROWS_EDGES, k, k - run.first, after, 0, 1
            };
            run.first -= k;
        }
        if (accept(s, run, out, as))
            return true;
    }
    return false;
}

/* What is said of rows without a pattern. */
static struct pattern scattered(const struct scene *s, int64_t first,
                                int64_t last)
{
    struct fit all = fit_of(s, range(0, s->p->nq - 1));
    int64_t different = 0;
    for (int64_t i = first; i <= last; i++)
        different += s->row_fails[i] > 0;
    enum pattern_id id = different == 2               ? PATTERN_ROWS_TWO
                         : 2 * all.covered > all.size ? PATTERN_ROWS_MOST
                                                      : PATTERN_ROWS_SCATTERED;
    return (struct pattern){
        id, first, last, 0, 0, (double)all.covered / (double)s->failing
    };
}

/* A row that sees no key can hardly be wrong: it counts where it is. */
static void count_rows(struct scene *s)
{
    const struct assay_problem *p = s->p;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++)
        for (int64_t i = 0; s->head_in[bh] && i < p->nq; i++) {
            bool fails = s->fails[bh * p->nq + i];
            s->row_fails[i] += fails;
            s->row_lives[i] += fails || assay_problem_visible(p, i) > 0;
        }
}

void locate_rows(struct scene *s, struct location *out)
{
    struct pattern *found = &out->found[PATTERN_KIND_ROWS];
    int64_t first = -1, last = -1;
    count_rows(s);
    for (int64_t i = 0; i < s->p->nq; i++)
        if (s->row_fails[i] > 0) {
            first = first < 0 ? i : first;
            last = i;
        }
    if (accept_range(s, found) || accept_nth(s, 0, s->p->nq - 1, found) ||
        accept_nth(s, first, last, found) || accept_run(s, found))
        return;
    *found = scattered(s, first, last);
}
