/* SPDX-License-Identifier: MIT
 *
 * Private: rows of answers, one against another, in vectors of WIDE doubles.
 * metrics_rows.c includes this once for each WIDE (LANES, or half of them),
 * with NAMED() for the names and TARGET for the machine. Element c of a row is
 * summed in lane c % LANES, and lanes are added 4, then 2, then 1 apart, so all
 * widths give the same bits.
 */

/* gcc 12 keeps sums in registers only where they are vectors. */
typedef double NAMED(wide) __attribute__((vector_size(WIDE * 8)));
typedef int64_t NAMED(wide_bits) __attribute__((vector_size(WIDE * 8)));
#define wide NAMED(wide)
#define wide_bits NAMED(wide_bits)
enum { NAMED(PARTS) = LANES / WIDE };
#define PARTS NAMED(PARTS)

/* The largest in each lane, and the first channel that has it. */
struct NAMED(largest) {
    wide x, c;
};

struct NAMED(sums) {
    wide of[SUMS][PARTS];
    struct NAMED(largest) max[MAXIMA][PARTS];
};

/* Values of one part of a block. */
INLINE void NAMED(load)(const float *x, wide *y)
{
#if WIDE == 8
    *y = (wide){ x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] };
#else
    *y = (wide){ x[0], x[1], x[2], x[3] };
#endif
}

/* Where a mask is set, yes, else no. Not a function: in one of its own gcc 12
 * makes exclusive ors of it, which are slower. A mask is one comparison and
 * chooses by itself: gcc 12 takes combined ones lane by lane. */
#define CHOOSE(mask, yes, no) \
    ((wide)(((mask) & (wide_bits)(yes)) | (~(mask) & (wide_bits)(no))))
#define WHERE(mask, x) ((wide)((mask) & (wide_bits)(x)))
#define DISTANCE(x, y) ((wide)((wide_bits)((x) - (y)) & INT64_MAX))

/* Only a larger one wins, so the first stays. */
INLINE void NAMED(add_largest)(const wide *x, const wide *c,
                               struct NAMED(largest) * s)
{
    const wide_bits above = *x > s->x;
    s->x = CHOOSE(above, *x, s->x);
    s->c = CHOOSE(above, *c, s->c);
}

INLINE void NAMED(add_pair)(const wide *a, const wide *b, const wide *c, int u,
                            enum pair pair, struct NAMED(sums) * s)
{
    const wide d = DISTANCE(*a, *b);
    s->of[D2 + pair][u] += d * d;
    s->of[DOT + pair][u] += *a * *b;
    s->of[ABS + pair][u] += d;
    NAMED(add_largest)(&d, c, &s->max[pair][u]);
}

/* What rounding allows, and what it leaves. */
INLINE void NAMED(leave)(const wide *c, const wide *e,
                         const struct rounding *by, const double *ulps,
                         wide *allowed, wide *rest)
{
    wide factor;
    const wide least = (wide){ 0 } + by->least, d = DISTANCE(*c, *e),
               other = WHERE(by->exponent, *e);
    wide top = WHERE(by->exponent, *c);
    wide_bits mask = (wide_bits)other > (wide_bits)top;
    top = CHOOSE(mask, other, top);
    mask = (wide_bits)least > (wide_bits)top;
    top = CHOOSE(mask, least, top);
    memcpy(&factor, ulps, sizeof factor);
    *allowed = factor * top;
    *rest = d - *allowed;
    mask = *rest > 0;
    *rest = WHERE(mask, *rest);
}

/* The part of a bound that is used; one not above 0 allows nothing. */
INLINE void NAMED(part)(const wide *rest, const float *bound, wide *part)
{
    wide b;
    NAMED(load)(bound, &b);
    const wide_bits allows = b > 0, left = *rest > 0;
    const wide ratio = *rest / WHERE(allows, b);
    *part = WHERE(left, ratio);
}

/* ---- lanes ---- */

/* Level by level, lanes of two vectors meet in the halves of one, so that WIDE
 * vectors end as one, a result of each. */
static const struct {
    wide_bits low, high;
} NAMED(FOLDS)[] = {
#if WIDE == 8
    { { 0, 1, 2, 3, 8, 9, 10, 11 }, { 4, 5, 6, 7, 12, 13, 14, 15 } },
    { { 0, 1, 4, 5, 8, 9, 12, 13 }, { 2, 3, 6, 7, 10, 11, 14, 15 } },
    { { 0, 2, 4, 6, 8, 10, 12, 14 }, { 1, 3, 5, 7, 9, 11, 13, 15 } },
#else
    { { 0, 1, 4, 5 }, { 2, 3, 6, 7 } },
    { { 0, 2, 4, 6 }, { 1, 3, 5, 7 } },
#endif
};
#define FOLDS NAMED(FOLDS)
#define LEVELS (sizeof FOLDS / sizeof *FOLDS)

#ifdef __clang__ /* has no __builtin_shuffle */
INLINE wide NAMED(shuffle)(wide a, wide b, wide_bits from)
{
    wide out;
    for (int i = 0; i < WIDE; i++)
        out[i] = from[i] < WIDE ? a[from[i]] : b[from[i] - WIDE];
    return out;
}
#define SHUFFLE NAMED(shuffle)
#else
#define SHUFFLE __builtin_shuffle
#endif

INLINE void NAMED(add_lanes)(wide sums[SUMS][PARTS], double *out)
{
    for (int g = 0; g < SUMS; g += WIDE) {
        wide x[WIDE];
        for (int i = 0; i < WIDE; i++)
            x[i] = PARTS == 1 ? sums[g + i][0]
                              : sums[g + i][0] + sums[g + i][PARTS - 1];
        for (size_t l = 0; l < LEVELS; l++)
            for (int i = 0; i < WIDE >> (l + 1); i++)
                x[i] = SHUFFLE(x[2 * i], x[2 * i + 1], FOLDS[l].low) +
                       SHUFFLE(x[2 * i], x[2 * i + 1], FOLDS[l].high);
        memcpy(out + g, x, sizeof *x);
    }
}

/* The better of two in each lane; of equals the lower channel. */
INLINE void NAMED(better)(const struct NAMED(largest) * a,
                          const struct NAMED(largest) * b,
                          struct NAMED(largest) * s)
{
    const wide_bits above = b->x > a->x, same = b->x == a->x,
                    before = b->c < a->c;
    const wide x = CHOOSE(above, b->x, a->x),
               first = CHOOSE(before, b->c, a->c),
               c = CHOOSE(above, b->c, a->c);
    s->x = x;
    s->c = CHOOSE(same, first, c);
}

INLINE void NAMED(best_lanes)(struct NAMED(largest) max[MAXIMA][PARTS],
                              double *value, double *channel)
{
    struct NAMED(largest) s[WIDE], low, high;
    for (int i = 0; i < WIDE; i++)
        if (PARTS == 1)
            s[i] = max[i % MAXIMA][0];
        else
            NAMED(better)(&max[i][0], &max[i][PARTS - 1], &s[i]);
    for (size_t l = 0; l < LEVELS; l++)
        for (int i = 0; i < WIDE >> (l + 1); i++) {
            const struct NAMED(largest) *a = &s[2 * i], *b = a + 1;
            low.x = SHUFFLE(a->x, b->x, FOLDS[l].low);
            low.c = SHUFFLE(a->c, b->c, FOLDS[l].low);
            high.x = SHUFFLE(a->x, b->x, FOLDS[l].high);
            high.c = SHUFFLE(a->c, b->c, FOLDS[l].high);
            NAMED(better)(&low, &high, &s[i]);
        }
    memcpy(value, &s[0].x, MAXIMA * sizeof *value);
    memcpy(channel, &s[0].c, MAXIMA * sizeof *channel);
}

/* ---- rows ---- */

INLINE void NAMED(begin)(struct NAMED(sums) * s, wide at[PARTS])
{
    const wide none = { 0 };
    for (int u = 0; u < PARTS; u++) {
        for (int k = 0; k < WIDE; k++)
            at[u][k] = u * WIDE + k;
        for (int i = 0; i < SUMS; i++)
            s->of[i][u] = none;
        for (int i = 0; i < PAIRS; i++) {
            s->max[i][u].x = none - 1; /* below any distance */
            s->max[i][u].c = none;
        }
        s->max[PART][u].x = none; /* a part of nothing has no channel */
        s->max[PART][u].c = none - 1;
    }
}

INLINE void NAMED(step)(wide at[PARTS])
{
    for (int u = 0; u < PARTS; u++)
        at[u] += LANES;
}

INLINE void NAMED(end)(struct NAMED(sums) * s, struct figures *out)
{
    NAMED(add_lanes)(s->of, out->of);
    NAMED(best_lanes)(s->max, out->max, out->max_c);
}

INLINE void NAMED(add_two)(const float *a, const float *b, const wide *at,
                           struct NAMED(sums) * s)
{
    for (int u = 0; u < PARTS; u++) {
        wide x, y;
        NAMED(load)(a + u * WIDE, &x);
        NAMED(load)(b + u * WIDE, &y);
        s->of[C2][u] += x * x;
        s->of[E2][u] += y * y;
        NAMED(add_pair)(&x, &y, &at[u], u, CE, s);
    }
}

INLINE void NAMED(add_three)(const struct answers *of, int64_t i,
                             const struct rounding *by, const wide *at,
                             struct NAMED(sums) * s)
{
    for (int u = 0; u < PARTS; u++, i += WIDE) {
        wide c, e, x, allowed, rest;
        NAMED(load)(of->c + i, &c);
        NAMED(load)(of->e + i, &e);
        NAMED(load)(of->x + i, &x);
        s->of[C2][u] += c * c;
        s->of[E2][u] += e * e;
        s->of[X2][u] += x * x;
        NAMED(add_pair)(&c, &e, &at[u], u, CE, s);
        NAMED(add_pair)(&e, &x, &at[u], u, EX, s);
        NAMED(add_pair)(&c, &x, &at[u], u, CX, s);
        NAMED(leave)(&c, &e, by, by->ulps + u * WIDE, &allowed, &rest);
        s->of[ROUND2][u] += allowed * allowed;
        s->of[REST2][u] += rest * rest;
        if (of->bound) {
            NAMED(part)(&rest, of->bound + i, &rest);
            NAMED(add_largest)(&rest, &at[u], &s->max[PART][u]);
        }
    }
}

TARGET
static void NAMED(sum_two)(int64_t n, const float *a, const float *b,
                           struct figures *out)
{
    struct NAMED(sums) s;
    wide at[PARTS];
    int64_t i = 0;
    NAMED(begin)(&s, at);
    for (; i + LANES <= n; i += LANES) {
        NAMED(add_two)(a + i, b + i, at, &s);
        NAMED(step)(at);
    }
    if (i < n) {
        float rest_a[LANES], rest_b[LANES];
        pad(n - i, a + i, rest_a);
        pad(n - i, b + i, rest_b);
        NAMED(add_two)(rest_a, rest_b, at, &s);
    }
    NAMED(end)(&s, out);
}

INLINE void NAMED(sum)(int64_t n, const struct answers *of,
                       const struct rounding *by, struct figures *out)
{
    struct NAMED(sums) s;
    wide at[PARTS];
    int64_t i = 0;
    NAMED(begin)(&s, at);
    for (; i + LANES <= n; i += LANES) {
        NAMED(add_three)(of, i, by, at, &s);
        NAMED(step)(at);
    }
    if (i < n) {
        float pads[4][LANES];
        const struct answers rest = pad_all(of, i, n, pads);
        const struct rounding rest_by = pad_rounding(by, n - i);
        NAMED(add_three)(&rest, 0, &rest_by, at, &s);
    }
    NAMED(end)(&s, out);
}

/* Without a bound a loop of its own. */
TARGET
static void NAMED(sum_three)(int64_t n, const struct answers *of,
                             const struct rounding *by, struct figures *out)
{
    const struct answers alone = { of->c, of->e, of->x, NULL };
    if (of->bound)
        NAMED(sum)(n, of, by, out);
    else
        NAMED(sum)(n, &alone, by, out);
}

#undef wide
#undef wide_bits
#undef PARTS
#undef CHOOSE
#undef WHERE
#undef DISTANCE
#undef FOLDS
#undef SHUFFLE
#undef LEVELS
