/* SPDX-License-Identifier: MIT
 *
 * Faults planted in answers of several shapes, and what localisation calls
 * them. Answers come from loops of this file; every other output is an honest
 * one, off by bf16's rounding and a noise of a thousandth.
 */
#include "check_assay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/format.h"
#include "validate/heat.h"
#include "validate/locate.h"

enum { ALL = -1 }; /* of a last head, row or channel: up to the end */

/* -- answers -- */

static const struct assay_problem shapes[] = {
    { 1, 4, 2, 256, 256, 32, 64, ASSAY_MASK_CAUSAL, 0.2 },
    { 2, 6, 3, 77, 131, 24, 40, ASSAY_MASK_NONE, 0.3 },
    { 2, 8, 2, 150, 210, 16, 48, ASSAY_MASK_CAUSAL, 0.4 },
    { 1, 1, 1, 601, 300, 16, 32, ASSAY_MASK_NONE, 0.3 },
    { 1, 8, 8, 40, 30, 16, 17, ASSAY_MASK_CAUSAL, 0.3 }, /* dead rows */
    { 1, 2, 1, 1, 1030, 64, 128, ASSAY_MASK_NONE, 0.15 },
};

struct world {
    struct assay_problem p;
    float *q, *k, *v, *e, *c;
    double *used_o, *used_lse;
};

static unsigned state;

static double uniform(void) /* -1 to 1 */
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 23) - 1;
}

static float *made(int64_t n, double size)
{
    float *x = malloc((size_t)n * sizeof *x);
    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(size * (uniform() + uniform() + uniform()));
    return x;
}

static int64_t place(const struct world *w, int64_t b, int64_t i, int64_t h)
{
    return ((b * w->p.nq + i) * w->p.hq + h) * w->p.dv;
}

/* How a row is computed; all zero but scale is right. */
struct way {
    int64_t more, tile; /* keys seen: so many more, in whole tiles (down if
                           negative) */
    bool top_left, no_mask;
    double scale;
    int64_t v_shift, kv_more, zeros; /* keys of zeros counted too */
    int64_t first, last;             /* keys counted factor times */
    double factor;
    bool v_only;             /* but not in the sum of weights */
    int64_t online;          /* key tiles of an online softmax, which */
    bool o_stays, sum_stays; /* does not rescale these */
};

static const struct way right = { .scale = 1, .last = -1 };

static int64_t keys_seen(const struct world *w, int64_t i, struct way way)
{
    int64_t n = w->p.nk;
    if (w->p.mask == ASSAY_MASK_CAUSAL && !way.no_mask)
        n = i + 1 + (way.top_left ? 0 : w->p.nk - w->p.nq);
    n += way.more;
    if (way.tile > 0)
        n = (n + way.tile - 1) / way.tile * way.tile;
    if (way.tile < 0)
        n = n / -way.tile * -way.tile;
    return n < 0 ? 0 : n > w->p.nk ? w->p.nk : n;
}

static void row(const struct world *w, int64_t b, int64_t i, int64_t h,
                struct way way, double *o)
{
    const struct assay_problem *p = &w->p;
    const int64_t kv = (h / (p->hq / p->hk) + way.kv_more) % p->hk;
    const float *q = w->q + ((b * p->nq + i) * p->hq + h) * p->dk;
    double sum = (double)way.zeros;
    memset(o, 0, (size_t)p->dv * sizeof *o);
    for (int64_t j = 0; j < keys_seen(w, i, way); j++) {
        const float *k = w->k + ((b * p->nk + j) * p->hk + kv) * p->dk;
        double s = 0;
        for (int64_t c = 0; c < p->dk; c++)
            s += (double)q[c] * k[c];
        s = exp(s * p->softmax_scale * way.scale);
        const double f = j >= way.first && j <= way.last ? way.factor : 1;
        sum += way.v_only ? s : f * s;
        s *= f;
        int64_t from = j + way.v_shift;
        for (int64_t c = 0; c < p->dv && from >= 0 && from < p->nk; c++)
            o[c] += s * w->v[((b * p->nk + from) * p->hk + kv) * p->dv + c];
    }
    for (int64_t c = 0; c < p->dv && sum > 0; c++)
        o[c] /= sum;
}

static double score(const struct world *w, int64_t b, int64_t i, int64_t h,
                    int64_t j)
{
    const struct assay_problem *p = &w->p;
    const float *q = w->q + ((b * p->nq + i) * p->hq + h) * p->dk,
                *k = w->k +
                     ((b * p->nk + j) * p->hk + h / (p->hq / p->hk)) * p->dk;
    double s = 0;
    for (int64_t c = 0; c < p->dk; c++)
        s += (double)q[c] * k[c];
    return s * p->softmax_scale;
}

/* As a kernel goes over key tiles, with a running maximum. */
static void online_row(const struct world *w, int64_t b, int64_t i, int64_t h,
                       struct way way, double *o)
{
    const struct assay_problem *p = &w->p;
    const int64_t keys = keys_seen(w, i, way), kv = h / (p->hq / p->hk);
    double top = -INFINITY, sum = 0;
    memset(o, 0, (size_t)p->dv * sizeof *o);
    for (int64_t first = 0; first < keys; first += way.online) {
        const int64_t end =
            first + way.online < keys ? first + way.online : keys;
        const double before = top;
        for (int64_t j = first; j < end; j++)
            top = fmax(top, score(w, b, i, h, j));
        sum *= way.sum_stays ? 1 : exp(before - top);
        for (int64_t c = 0; c < p->dv; c++)
            o[c] *= way.o_stays ? 1 : exp(before - top);
        for (int64_t j = first; j < end; j++) {
            const double s = exp(score(w, b, i, h, j) - top);
            sum += s;
            for (int64_t c = 0; c < p->dv; c++)
                o[c] += s * w->v[((b * p->nk + j) * p->hk + kv) * p->dv + c];
        }
    }
    for (int64_t c = 0; c < p->dv && sum > 0; c++)
        o[c] /= sum;
}

/* A float near x: the noise of an emulation. */
static float near(double x)
{
    return (float)(x * (1 + 1e-3 * uniform()));
}

static float word(double x)
{
    float in = (float)x, out;
    assay_format_round(assay_format_get(ASSAY_BF16), ASSAY_NEAREST_EVEN,
                       ASSAY_SPECIAL, 1, &in, &out);
    return out;
}

static void answer(const struct world *w, struct way way, float *o)
{
    double x[128];
    for (int64_t b = 0; b < w->p.b; b++)
        for (int64_t i = 0; i < w->p.nq; i++)
            for (int64_t h = 0; h < w->p.hq; h++) {
                (way.online ? online_row : row)(w, b, i, h, way, x);
                for (int64_t c = 0; c < w->p.dv; c++)
                    o[place(w, b, i, h) + c] = near(x[c]);
            }
}

static struct world world_make(int shape)
{
    struct world w = { .p = shapes[shape] };
    state = 12345u + (unsigned)shape;
    w.q = made(assay_problem_q_elems(&w.p), 1);
    w.k = made(assay_problem_k_elems(&w.p), 1);
    w.v = made(assay_problem_v_elems(&w.p), 1);
    w.e = made(assay_problem_o_elems(&w.p), 0);
    w.c = made(assay_problem_o_elems(&w.p), 0);
    w.used_o = calloc((size_t)assay_problem_rows(&w.p), sizeof *w.used_o);
    w.used_lse = calloc((size_t)assay_problem_rows(&w.p), sizeof *w.used_lse);
    answer(&w, right, w.e);
    for (int64_t i = 0; i < assay_problem_o_elems(&w.p); i++)
        w.c[i] = word(near(w.e[i]));
    return w;
}

static void world_free(struct world *w)
{
    free(w->q);
    free(w->k);
    free(w->v);
    free(w->e);
    free(w->c);
    free(w->used_o);
    free(w->used_lse);
}

/* A row may be off by a hundredth of its norm. */
static void judge_rows(struct world *w)
{
    for (int64_t r = 0; r < assay_problem_rows(&w->p); r++) {
        int64_t bh = r / w->p.nq;
        int64_t o = place(w, bh / w->p.hq, r % w->p.nq, bh % w->p.hq);
        double d = 0, n = 0;
        for (int64_t c = 0; c < w->p.dv; c++) {
            double x = (double)w->c[o + c] - w->e[o + c];
            d += x * x;
            n += (double)w->e[o + c] * w->e[o + c];
        }
        w->used_o[r] = d == 0 ? 0 : sqrt(d / n) / 0.01;
    }
}

static struct locate_input input_of(const struct world *w, bool keys)
{
    return (struct locate_input){ .p = &w->p,
                                  .c = w->c,
                                  .e = w->e,
                                  .used_o = w->used_o,
                                  .used_lse = w->used_lse,
                                  .q = keys ? w->q : NULL,
                                  .k = keys ? w->k : NULL,
                                  .v = keys ? w->v : NULL,
                                  .softmax_scale = w->p.softmax_scale };
}

static struct location located(const struct world *w, bool keys)
{
    struct locate_input in = input_of(w, keys);
    struct location out;
    ck_assert_int_eq(locate(&in, &out, NULL), ASSAY_OK);
    return out;
}

/* -- faults -- */

struct span {
    int64_t first, last, step, run; /* every step-th and run - 1 more */
};

#define EVERY        \
    {                \
        0, ALL, 1, 1 \
    }

static bool inside(struct span s, int64_t x)
{
    int64_t n = x - s.first;
    return x >= s.first && (s.last == ALL || x <= s.last) && n % s.step < s.run;
}

enum value {
    NOISE, /* nothing that could be guessed */
    NANS,
    ZERO,
    ONES,
    TIMES,      /* x */
    TIMES_HEAD, /* 1.1 + 0.2 h */
    TIMES_ROW,
    FROM_ROW,  /* i + x */
    FROM_HEAD, /* (h + x) % hq */
    SWAP_HEAD, /* with h xor x */
    COPY_HEAD, /* x */
    FROM_BATCH,
    FROM_CHANNEL, /* (c + x) % dv */
    FROM_MEMORY,  /* [b, hq, nq, dv] */
    FROM_ELSEWHERE,
    SWAP_ROW, /* with x - i */
    LSE
};

struct fault {
    int shape;
    int64_t batch; /* ALL: all */
    struct span heads, rows, channels;
    enum value value;
    double x;
    /* what is expected: ids, and a, b, c of the kind asked about */
    enum pattern_kind kind;
    enum pattern_id id;
    int64_t a, b, c;
    enum pattern_id heads_id, rows_id, channels_id, values_id;
    const char *sentence; /* of it, or NULL */
};

static double planted(const struct world *w, const struct fault *f, int64_t b,
                      int64_t i, int64_t h, int64_t c)
{
    const struct assay_problem *p = &w->p;
    const int64_t x = (int64_t)f->x;
    const double e = w->e[place(w, b, i, h) + c];
    const int64_t flat = i * p->hq + h;
    switch (f->value) {
    case NOISE: return e + 0.3 * uniform() + 0.1;
    case NANS: return NAN;
    case ZERO: return 0;
    case ONES: return f->x;
    case TIMES: return f->x * e;
    case TIMES_HEAD: return (1.1 + 0.2 * (double)h) * e;
    case TIMES_ROW: return (0.35 + 0.1 * (double)(i * 7 % 11)) * e;
    case FROM_ROW:
        return i + x < 0 || i + x >= p->nq ? e
                                           : w->e[place(w, b, i + x, h) + c];
    case FROM_HEAD: return w->e[place(w, b, i, (h + x) % p->hq) + c];
    case SWAP_HEAD: return w->e[place(w, b, i, h ^ x) + c];
    case COPY_HEAD: return w->e[place(w, b, i, x) + c];
    case FROM_BATCH: return w->e[place(w, (b + 1) % p->b, i, h) + c];
    case FROM_CHANNEL: return w->e[place(w, b, i, h) + (c + x) % p->dv];
    case FROM_MEMORY: return w->e[place(w, b, flat % p->nq, flat / p->nq) + c];
    case FROM_ELSEWHERE:
        return w
            ->e[place(w, (b + 1) % p->b, (i * 5 + 3) % p->nq, (h + i) % p->hq) +
                c];
    case SWAP_ROW: return w->e[place(w, b, x - i, h) + c];
    case LSE: return e;
    }
    return e;
}

static void plant(struct world *w, const struct fault *f)
{
    for (int64_t b = 0; b < w->p.b; b++)
        for (int64_t h = 0; h < w->p.hq; h++)
            for (int64_t i = 0; i < w->p.nq; i++) {
                if ((f->batch != ALL && b != f->batch) ||
                    !inside(f->heads, h) || !inside(f->rows, i))
                    continue;
                if (f->value == LSE)
                    w->used_lse[(b * w->p.hq + h) * w->p.nq + i] = 7;
                for (int64_t c = 0; c < w->p.dv; c++)
                    if (inside(f->channels, c))
                        w->c[place(w, b, i, h) + c] =
                            word(planted(w, f, b, i, h, c));
            }
}

#define K(kind) PATTERN_KIND_##kind
#define P(id) PATTERN_##id
#define EVERYWHERE P(HEADS_ALL), P(ROWS_ALL), P(CHANNELS_ALL)
/* clang-format off */
static const struct fault faults[] = {
    /* rows */
    { 0, ALL, EVERY, EVERY, EVERY, NOISE, 0, K(ROWS), P(ROWS_ALL), 0, 0, 0,
      EVERYWHERE, P(NONE),
      "every row in every head (1024 of 1024 rows fail)" },
    { 2, ALL, EVERY, { 149, 149, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROW_LAST), 149, 0, 0, P(HEADS_ALL), P(ROW_LAST), P(CHANNELS_ALL),
      P(NONE), "the last row (149) in every head" },
    { 0, ALL, { 1, 1, 1, 1 }, { 77, 77, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROW_ONE), 77, 0, 0, P(HEADS_ONE), P(ROW_ONE), P(CHANNELS_ALL),
      P(NONE), "row 77 in head 1 (1 of 1024 rows fails)" },
    { 3, ALL, EVERY, { 0, 127, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_FIRST_TILE), 0, 127, 128, P(HEADS_ALL), P(ROWS_FIRST_TILE),
      P(CHANNELS_ALL), P(NONE), "the first tile of 128 rows (0 to 127)" },
    { 3, ALL, EVERY, { 512, ALL, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_LAST_TILE), 512, 600, 128, P(HEADS_ALL), P(ROWS_LAST_TILE),
      P(CHANNELS_ALL), P(NONE), "the last tile of 128 rows (512 to 600)" },
    { 1, ALL, EVERY, { 64, ALL, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_LAST_TILE), 64, 76, 64, P(HEADS_ALL), P(ROWS_LAST_TILE),
      P(CHANNELS_ALL), P(NONE), NULL },
    { 3, ALL, EVERY, { 256, 383, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_TILE), 256, 383, 128, P(HEADS_ALL), P(ROWS_TILE),
      P(CHANNELS_ALL), P(NONE), NULL },
    { 0, ALL, EVERY, { 0, 50, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_FEW_KEYS), 0, 50, 51, P(HEADS_ALL), P(ROWS_FEW_KEYS),
      P(CHANNELS_ALL), P(NONE),
      "rows 0 to 50, which see at most 51 keys," },
    { 3, ALL, EVERY, { 0, 199, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_UP_TO), 0, 199, 300, P(HEADS_ALL), P(ROWS_UP_TO),
      P(CHANNELS_ALL), P(NONE), "rows up to 199" },
    { 2, ALL, EVERY, { 70, ALL, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_FROM), 70, 149, 210, P(HEADS_ALL), P(ROWS_FROM),
      P(CHANNELS_ALL), P(NONE), "rows from 70 on" },
    { 3, ALL, EVERY, { 100, 333, 1, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_RANGE), 100, 333, 300, P(HEADS_ALL), P(ROWS_RANGE),
      P(CHANNELS_ALL), P(NONE), NULL },
    { 0, ALL, EVERY, { 3, ALL, 16, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_NTH), 16, 3, 243, P(HEADS_ALL), P(ROWS_NTH), P(CHANNELS_ALL),
      P(NONE),
      "every 16th row from row 3 to 243 in every head (64 of 1024 rows fail)" },
    { 3, ALL, EVERY, { 13, ALL, 251, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_NTH), 251, 13, 515, P(HEADS_ALL), P(ROWS_NTH), P(CHANNELS_ALL),
      P(NONE), NULL },
    { 0, ALL, EVERY, { 131, ALL, 7, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_NTH), 7, 131, 250, P(HEADS_ALL), P(ROWS_NTH), P(CHANNELS_ALL),
      P(NONE), NULL },
    { 1, ALL, EVERY, { 1, ALL, 2, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_NTH), 2, 1, 75, P(HEADS_ALL), P(ROWS_NTH), P(CHANNELS_ALL),
      P(NONE), "every other row from row 1 to 75" },
    { 0, ALL, EVERY, { 20, ALL, 32, 12 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_PHASES), 32, 20, 31, P(HEADS_ALL), P(ROWS_PHASES),
      P(CHANNELS_ALL), P(NONE), "rows 20 to 31 of each 32 rows" },
    { 3, ALL, EVERY, { 62, ALL, 64, 3 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_EDGES), 64, 2, 1, P(HEADS_ALL), P(ROWS_EDGES), P(CHANNELS_ALL),
      P(NONE), NULL },
    { 0, ALL, { 2, 2, 1, 1 }, { 31, 90, 59, 1 }, EVERY, NOISE, 0, K(ROWS),
      P(ROWS_TWO), 31, 90, 0, P(HEADS_ONE), P(ROWS_TWO), P(CHANNELS_ALL),
      P(NONE), "rows 31 and 90 in head 2" },
    { 4, ALL, EVERY, EVERY, EVERY, NOISE, 0, K(ROWS), P(ROWS_ALL), 0, 0, 0,
      EVERYWHERE, P(NONE), NULL },
    /* heads */
    { 2, ALL, { 5, 5, 1, 1 }, EVERY, EVERY, NOISE, 0, K(HEADS),
      P(HEADS_ONE), 5, 0, 0, P(HEADS_ONE), P(ROWS_ALL), P(CHANNELS_ALL),
      P(NONE), "every row in head 5 (300 of 2400 rows fail)" },
    { 2, 1, { 5, 5, 1, 1 }, EVERY, EVERY, NOISE, 0, K(HEADS), P(HEADS_ONE),
      5, 0, 0, P(HEADS_ONE), P(ROWS_ALL), P(CHANNELS_ALL), P(NONE),
      "every row in head 5 of batch 1 (150 of 2400 rows fail)" },
    { 2, ALL, { 4, 7, 1, 1 }, EVERY, EVERY, NOISE, 0, K(HEADS),
      P(HEADS_GROUP), 4, 7, 1, P(HEADS_GROUP), P(ROWS_ALL), P(CHANNELS_ALL),
      P(NONE), "heads 4 to 7, the group of KV head 1" },
    { 2, ALL, { 1, ALL, 2, 1 }, EVERY, EVERY, NOISE, 0, K(HEADS),
      P(HEADS_NTH), 2, 1, 0, P(HEADS_NTH), P(ROWS_ALL), P(CHANNELS_ALL),
      P(NONE), "every other head from head 1 on" },
    { 1, ALL, { 2, ALL, 3, 1 }, EVERY, EVERY, NOISE, 0, K(HEADS),
      P(HEADS_NTH), 3, 2, 0, P(HEADS_NTH), P(ROWS_ALL), P(CHANNELS_ALL),
      P(NONE), NULL },
    { 2, ALL, { 3, 5, 1, 1 }, EVERY, EVERY, NOISE, 0, K(HEADS),
      P(HEADS_RANGE), 3, 5, 0, P(HEADS_RANGE), P(ROWS_ALL), P(CHANNELS_ALL),
      P(NONE), NULL },
    { 2, 0, EVERY, EVERY, EVERY, NOISE, 0, K(HEADS), P(HEADS_ALL), 0, 0, 0,
      EVERYWHERE, P(NONE), "every row in every head of batch 0" },
    { 2, ALL, { 1, 4, 3, 1 }, EVERY, EVERY, NOISE, 0, K(HEADS),
      P(HEADS_SOME), 2, 8, 0, P(HEADS_SOME), P(ROWS_ALL), P(CHANNELS_ALL),
      P(NONE), "in 2 of 8 heads" },
    /* channels */
    { 0, ALL, EVERY, EVERY, { 32, 63, 1, 1 }, NOISE, 0, K(CHANNELS),
      P(CHANNELS_BLOCK), 32, 63, 0, P(HEADS_ALL), P(ROWS_ALL),
      P(CHANNELS_BLOCK), P(NONE),
      "in the column block of channels 32 to 63" },
    { 0, ALL, { 3, 3, 1, 1 }, { 9, 9, 1, 1 }, { 32, 63, 1, 1 }, NOISE, 0,
      K(CHANNELS), P(CHANNELS_BLOCK), 32, 63, 0, P(HEADS_ONE), P(ROW_ONE),
      P(CHANNELS_BLOCK), P(NONE), NULL },
    { 2, ALL, EVERY, EVERY, { 13, 13, 1, 1 }, NOISE, 0, K(CHANNELS),
      P(CHANNEL_ONE), 13, 13, 0, P(HEADS_ALL), P(ROWS_ALL), P(CHANNEL_ONE),
      P(NONE), "in channel 13" },
    { 1, ALL, EVERY, EVERY, { 35, ALL, 1, 1 }, NOISE, 0, K(CHANNELS),
      P(CHANNELS_FROM), 35, 39, 0, P(HEADS_ALL), P(ROWS_ALL),
      P(CHANNELS_FROM), P(NONE), "in channels from 35 on" },
    { 1, ALL, EVERY, EVERY, { 7, ALL, 1, 1 }, NOISE, 0, K(CHANNELS),
      P(CHANNELS_FROM), 7, 39, 0, P(HEADS_ALL), P(ROWS_ALL),
      P(CHANNELS_FROM), P(NONE), NULL },
    { 1, ALL, EVERY, EVERY, { 0, 9, 1, 1 }, NOISE, 0, K(CHANNELS),
      P(CHANNELS_UP_TO), 0, 9, 0, P(HEADS_ALL), P(ROWS_ALL),
      P(CHANNELS_UP_TO), P(NONE), NULL },
    { 2, ALL, EVERY, EVERY, { 11, 37, 1, 1 }, NOISE, 0, K(CHANNELS),
      P(CHANNELS_RANGE), 11, 37, 0, P(HEADS_ALL), P(ROWS_ALL),
      P(CHANNELS_RANGE), P(NONE), NULL },
    { 0, ALL, EVERY, EVERY, { 1, ALL, 4, 1 }, NOISE, 0, K(CHANNELS),
      P(CHANNELS_NTH), 4, 1, 0, P(HEADS_ALL), P(ROWS_ALL), P(CHANNELS_NTH),
      P(NONE), "in every 4th channel from channel 1 on" },
    { 0, ALL, EVERY, EVERY, { 1, ALL, 4, 1 }, ZERO, 0, K(CHANNELS),
      P(CHANNELS_NTH), 4, 1, 0, P(HEADS_ALL), P(ROWS_ALL), P(CHANNELS_NTH),
      P(ZEROS), NULL },
    { 0, ALL, { 0, 0, 1, 1 }, { 128, 191, 1, 1 }, { 0, 31, 1, 1 }, NANS, 0,
      K(CHANNELS), P(CHANNELS_BLOCK), 0, 31, 0, P(HEADS_ONE), P(ROWS_TILE),
      P(CHANNELS_BLOCK), P(NOT_FINITE), NULL },
    /* values */
    { 0, ALL, EVERY, { 0, ALL, 16, 1 }, EVERY, LSE, 0, K(VALUES),
      P(LSE_ONLY), 0, 0, 0, P(HEADS_ALL), P(ROWS_NTH), P(NONE), P(LSE_ONLY),
      "O is right, LSE is not" },
    { 2, ALL, { 6, 6, 1, 1 }, { 100, 109, 1, 1 }, { 5, 5, 1, 1 }, NANS, 0,
      K(VALUES), P(NOT_FINITE), 20, 0, 0, P(HEADS_ONE), P(ROWS_RANGE),
      P(CHANNEL_ONE), P(NOT_FINITE),
      "O is NaN or infinite in 20 elements there" },
    { 0, ALL, EVERY, { 5, ALL, 16, 1 }, EVERY, ZERO, 0, K(VALUES), P(ZEROS),
      0, 0, 0, P(HEADS_ALL), P(ROWS_NTH), P(CHANNELS_ALL), P(ZEROS),
      "every 16th row from row 5 to 245 in every head: O is 0" },
    { 1, ALL, EVERY, EVERY, { 32, ALL, 1, 1 }, ZERO, 0, K(VALUES), P(ZEROS),
      0, 0, 0, P(HEADS_ALL), P(ROWS_ALL), P(CHANNELS_FROM), P(ZEROS),
      NULL },
    { 4, ALL, EVERY, EVERY, EVERY, ZERO, 0, K(VALUES), P(ZEROS), 0, 0, 0,
      EVERYWHERE, P(ZEROS), NULL },
    { 1, ALL, EVERY, EVERY, EVERY, ONES, 0.5, K(VALUES), P(CONSTANT), 0, 0,
      0, EVERYWHERE, P(CONSTANT), "O is 0.5 everywhere" },
    { 2, ALL, EVERY, EVERY, EVERY, TIMES, -1, K(VALUES), P(SIGN), 0, 0, 0,
      EVERYWHERE, P(SIGN), "O has the wrong sign" },
    { 0, ALL, EVERY, EVERY, EVERY, TIMES, 0.72, K(VALUES), P(GAIN), 0, 0, 0,
      EVERYWHERE, P(GAIN), NULL },
    { 3, ALL, EVERY, { 7, 7, 1, 1 }, EVERY, TIMES, 1.5, K(VALUES), P(GAIN),
      0, 0, 0, P(HEADS_ALL), P(ROW_ONE), P(CHANNELS_ALL), P(GAIN), NULL },
    { 2, ALL, EVERY, EVERY, EVERY, TIMES_HEAD, 0, K(VALUES), P(GAIN_HEAD),
      7, 0, 0, EVERYWHERE, P(GAIN_HEAD), NULL },
    { 1, ALL, EVERY, EVERY, EVERY, TIMES_ROW, 0, K(VALUES), P(GAIN_ROW), 0,
      0, 0, P(HEADS_ALL), P(ROWS_ALL), P(CHANNELS_ALL), P(GAIN_ROW), NULL },
    { 1, ALL, EVERY, EVERY, EVERY, FROM_ROW, 1, K(VALUES), P(ROWS_SHIFTED),
      1, 0, 0, EVERYWHERE, P(ROWS_SHIFTED),
      "row i holds the answer of row i+1" },
    { 3, ALL, EVERY, EVERY, EVERY, FROM_ROW, -3, K(VALUES), P(ROWS_SHIFTED),
      -3, 0, 0, EVERYWHERE, P(ROWS_SHIFTED), NULL },
    { 3, ALL, EVERY, { 128, 255, 1, 1 }, EVERY, FROM_ROW, -128, K(VALUES),
      P(ROWS_SHIFTED), -128, 0, 0, P(HEADS_ALL), P(ROWS_TILE),
      P(CHANNELS_ALL), P(ROWS_SHIFTED), NULL },
    { 0, ALL, { 2, 3, 1, 1 }, EVERY, EVERY, SWAP_HEAD, 1, K(VALUES),
      P(HEADS_SWAPPED), 2, 3, 0, P(HEADS_GROUP), P(ROWS_ALL),
      P(CHANNELS_ALL), P(HEADS_SWAPPED), "heads 2 and 3 are swapped" },
    { 2, ALL, { 6, 6, 1, 1 }, EVERY, EVERY, COPY_HEAD, 2, K(VALUES),
      P(HEAD_COPIED), 2, 0, 0, P(HEADS_ONE), P(ROWS_ALL), P(CHANNELS_ALL),
      P(HEAD_COPIED), "every row in head 6: O is the answer of head 2" },
    { 1, ALL, EVERY, EVERY, EVERY, FROM_HEAD, 2, K(VALUES),
      P(HEADS_SHIFTED), 2, 6, 0, EVERYWHERE, P(HEADS_SHIFTED), NULL },
    { 1, ALL, EVERY, EVERY, EVERY, SWAP_HEAD, 1, K(VALUES), P(HEADS_MIXED),
      0, 1, 0, EVERYWHERE, P(HEADS_MIXED), NULL },
    { 1, 1, EVERY, EVERY, EVERY, FROM_BATCH, 0, K(VALUES), P(BATCH_COPIED),
      1, 0, 0, EVERYWHERE, P(BATCH_COPIED),
      "batch 1 holds the answer of batch 0" },
    { 1, ALL, EVERY, EVERY, EVERY, FROM_MEMORY, 0, K(VALUES), P(LAYOUT), 0,
      0, 0, EVERYWHERE, P(LAYOUT), NULL },
    { 0, ALL, EVERY, EVERY, EVERY, FROM_CHANNEL, 1, K(VALUES),
      P(CHANNELS_SHIFTED), 1, 64, 0, EVERYWHERE, P(CHANNELS_SHIFTED),
      NULL },
    { 0, ALL, { 1, 1, 1, 1 }, { 40, 90, 50, 1 }, EVERY, SWAP_ROW, 130,
      K(VALUES), P(ROWS_SWAPPED), 40, 90, 0, P(HEADS_ONE), P(ROWS_TWO),
      P(CHANNELS_ALL), P(ROWS_SWAPPED),
      "rows 40 and 90 in head 1: rows 40 and 90 are swapped" },
    { 1, 0, { 0, 0, 1, 1 }, { 10, 10, 1, 1 }, EVERY, FROM_ELSEWHERE, 0,
      K(VALUES), P(STALE), 1, 4, 53, P(HEADS_ONE), P(ROW_ONE),
      P(CHANNELS_ALL), P(STALE),
      "the worst that of batch 1, head 4, row 53" },
};
/* clang-format on */

static void show(const struct location *l)
{
    for (int k = 1; k < PATTERN_KINDS; k++)
        fprintf(stderr, "# %s %ld %ld %ld %g %.3f\n",
                pattern_get(l->found[k].id)->name, (long)l->found[k].a,
                (long)l->found[k].b, (long)l->found[k].c, l->found[k].x,
                l->found[k].explained);
    fprintf(stderr, "# %s\n", l->sentence);
}

START_TEST(fault_is_named)
{
    const struct fault *f = &faults[_i];
    struct world w = world_make(f->shape);
    plant(&w, f);
    judge_rows(&w);
    struct location l = located(&w, false);
    const struct pattern *found = &l.found[f->kind];
    if (found->id != f->id)
        show(&l);
    ck_assert_str_eq(pattern_get(found->id)->name, pattern_get(f->id)->name);
    if (found->a != f->a || found->b != f->b || found->c != f->c)
        show(&l);
    ck_assert_int_eq(found->a, f->a);
    ck_assert_int_eq(found->b, f->b);
    ck_assert_int_eq(found->c, f->c);
    const enum pattern_id ids[] = { f->heads_id, f->rows_id, f->channels_id,
                                    f->values_id };
    for (int k = 0; k < 4; k++) {
        if (l.found[PATTERN_KIND_HEADS + k].id != ids[k])
            show(&l);
        ck_assert_str_eq(pattern_get(l.found[PATTERN_KIND_HEADS + k].id)->name,
                         pattern_get(ids[k])->name);
    }
    ck_assert_msg(!f->sentence || strstr(l.sentence, f->sentence), "%s",
                  l.sentence);
    world_free(&w);
}
END_TEST

/* -- keys -- */

struct key_fault {
    int shape;
    struct way way;
    enum pattern_id id;
    int64_t a, b;
    double x, within; /* its number, and how near */
    const char *sentence;
};

/* clang-format off */
static const struct key_fault key_faults[] = {
    { 1, { .scale = 1, .more = -1, .last = -1 }, P(KEY_LAST_OUT), 0, 0, 0,
      0, "the last key is left out" },
    /* the least tile that says it */
    { 3, { .scale = 1, .tile = -128, .last = -1 }, P(KEYS_END_OUT), 44, 64,
      0, 0,
      "the last 44 keys, those past whole tiles of 64, are left out" },
    { 0, { .scale = 1, .more = -1, .last = -1 }, P(MASK_SHORT), 0, 0, 0, 0,
      "diagonal band: the mask is one key too short" },
    { 2, { .scale = 1, .more = 1, .last = -1 }, P(MASK_LONG), 0, 0, 0, 0,
      NULL },
    { 0, { .scale = 1, .tile = -32, .last = -1 }, P(MASK_DOWN), 32, 0, 0, 0,
      NULL },
    { 0, { .scale = 1, .tile = 64, .last = -1 }, P(MASK_UP), 64, 0, 0, 0,
      NULL },
    { 0, { .scale = 1, .no_mask = true, .last = -1 }, P(MASK_NONE), 0, 0, 0,
      0, NULL },
    { 2, { .scale = 1, .top_left = true, .last = -1 }, P(MASK_TOP_LEFT), 0,
      0, 0, 0, NULL },
    { 1, { .scale = 1, .zeros = 61, .last = -1 }, P(PADDING), 61, 0, 0, 0,
      "as if 61 keys of zeros were counted too" },
    { 0, { .scale = 1, .v_shift = 1, .last = -1 }, P(V_SHIFTED), 1, 0, 0, 0,
      "key j meets row j+1 of V" },
    { 1, { .scale = 1, .v_shift = -1, .last = -1 }, P(V_SHIFTED), -1, 0, 0,
      0, NULL },
    { 1, { .scale = 1.1, .last = -1 }, P(SCALE), 0, 0, 1.1, 0.005,
      "times as large (+10 %)" },
    { 2, { .scale = 1.4142, .last = -1 }, P(SCALE), 0, 0, 1.4142, 0.01,
      NULL },
    { 1, { .scale = 0.3, .last = -1 }, P(SCALE_TWICE), 0, 0, 0.3, 0, NULL },
    { 2, { .scale = 2.5, .last = -1 }, P(SCALE_MISSING), 0, 0, 2.5, 0,
      NULL },
    { 1, { .scale = 1.442695, .last = -1 }, P(SCALE_LOG2E), 0, 0, 1.442695,
      1e-6, NULL },
    { 0, { .scale = 0.6931472, .last = -1 }, P(SCALE_LN2), 0, 0, 0.6931472,
      1e-6, NULL },
    { 0, { .scale = 0.5, .last = -1 }, P(SCALE), 0, 0, 0.5, 0.01, NULL },
    { 1, { .scale = 1, .kv_more = 1, .last = -1 }, P(KV_HEAD), -1, -1, 0, 0,
      "head 0 used K and V of KV head 1 instead of 0, head 1 KV head 1 "
      "instead of 0, head 2 KV head 2 instead of 1, head 3 KV head 2 instead "
      "of 1, and 2 more, which explains" },
    { 0, { .online = 64, .o_stays = true, .sum_stays = true }, P(RESCALE),
      64, 0, 0, 0, "neither O nor its sum is rescaled where the maximum rises, "
      "in key tiles of 64, which explains" },
    { 1, { .online = 1, .o_stays = true, .sum_stays = true }, P(RESCALE),
      1, 0, 0, 0, NULL },
    { 2, { .online = 32, .o_stays = true }, P(RESCALE_O), 32, 0, 0, 0,
      "in key tiles of 32, its sum is, which explains" },
    { 5, { .online = 256, .o_stays = true }, P(RESCALE_O), 256, 0, 0, 0, NULL },
    { 3, { .online = 16, .sum_stays = true }, P(RESCALE_SUM), 16, 0, 0, 0,
      "in key tiles of 16, O is, which explains" },
    { 0, { .online = 128, .sum_stays = true }, P(RESCALE_SUM), 128, 0, 0, 0,
      NULL },
    { 5, { .scale = 1, .first = 77, .last = 77, .factor = 30 }, P(KEY_ONE),
      77, 77, 30, 2, "key 77 is counted too much (factor" },
    { 1, { .scale = 1, .first = 100, .last = 100, .factor = 0 }, P(KEY_ONE),
      100, 100, 0, 0.05, "key 100 is counted too little (factor 0)" },
    { 3, { .scale = 1, .first = 128, .last = 191, .factor = 0 },
      P(KEYS_RANGE), 128, 191, 0, 0.03,
      "keys 128 to 191 are counted too little (factor 0)" },
    { 5, { .scale = 1, .first = 512, .last = 767, .factor = 2 },
      P(KEYS_RANGE), 512, 767, 2, 0.05,
      "keys 512 to 767 are counted too much (factor" },
    { 3,
      { .scale = 1, .first = 192, .last = 255, .factor = 0, .v_only = true },
      P(V_RANGE), 192, 255, 0, 0.03,
      "V of keys 192 to 255 is counted too little" },
};
/* clang-format on */

START_TEST(key_fault_is_named)
{
    const struct key_fault *f = &key_faults[_i];
    struct world w = world_make(f->shape);
    answer(&w, f->way, w.c);
    for (int64_t i = 0; i < assay_problem_o_elems(&w.p); i++)
        w.c[i] = word(w.c[i]);
    judge_rows(&w);
    struct location l = located(&w, true);
    const struct pattern *found = &l.found[PATTERN_KIND_KEYS];
    if (found->id != f->id || (f->a >= 0 && found->a != f->a))
        show(&l);
    ck_assert_str_eq(pattern_get(found->id)->name, pattern_get(f->id)->name);
    if (f->a >= 0)
        ck_assert_int_eq(found->a, f->a);
    if (f->b >= 0)
        ck_assert_int_eq(found->b, f->b);
    ck_assert_msg(fabs(found->x - f->x) <= f->within, "%g", found->x);
    ck_assert(found->explained >= 0.9 && found->explained <= 1);
    ck_assert_msg(!f->sentence || strstr(l.sentence, f->sentence), "%s",
                  l.sentence);
    world_free(&w);
}
END_TEST

/* Noise has no keys at fault, in any shape. */
START_TEST(noise_names_no_keys)
{
    const struct fault noise = { .batch = ALL,
                                 .heads = EVERY,
                                 .rows = EVERY,
                                 .channels = EVERY,
                                 .value = NOISE };
    struct world w = world_make(_i);
    plant(&w, &noise);
    judge_rows(&w);
    struct location l = located(&w, true);
    ck_assert_str_eq(pattern_get(l.found[PATTERN_KIND_KEYS].id)->name, "none");
    ck_assert_str_eq(pattern_get(l.found[PATTERN_KIND_VALUES].id)->name,
                     "none");
    world_free(&w);
}
END_TEST

START_TEST(honest_answer_has_no_place)
{
    struct world w = world_make(_i);
    judge_rows(&w);
    struct location l = located(&w, true);
    ck_assert_int_eq(l.failing, 0);
    ck_assert_str_eq(l.sentence, "no row fails");
    for (int k = 0; k < PATTERN_KINDS; k++)
        ck_assert_int_eq(l.found[k].id, PATTERN_NONE);
    ck_assert(l.row.used > 0 && l.row.used < 1);
    world_free(&w);
}
END_TEST

/* A stray failure far from the pattern does not hide it. */
START_TEST(stray_rows_hide_nothing)
{
    struct world w = world_make(0);
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = EVERY,
                               .rows = { 3, ALL, 8, 1 },
                               .channels = EVERY,
                               .value = ZERO });
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = { 1, 1, 1, 1 },
                               .rows = { 101, 120, 19, 1 },
                               .channels = EVERY,
                               .value = NOISE });
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_int_eq(l.found[PATTERN_KIND_ROWS].id, PATTERN_ROWS_NTH);
    ck_assert_int_eq(l.found[PATTERN_KIND_ROWS].a, 8);
    ck_assert_int_eq(l.found[PATTERN_KIND_VALUES].id, PATTERN_ZEROS);
    ck_assert_msg(strstr(l.sentence, "(130 of 1024 rows fail, 98 % of them"),
                  "%s", l.sentence);
    world_free(&w);
}
END_TEST

START_TEST(stray_row_widens_no_range)
{
    struct world w = world_make(3);
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = EVERY,
                               .rows = { 101, 300, 1, 1 },
                               .channels = EVERY,
                               .value = NOISE });
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = EVERY,
                               .rows = { 420, 420, 1, 1 },
                               .channels = EVERY,
                               .value = NOISE });
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_int_eq(l.found[PATTERN_KIND_ROWS].id, PATTERN_ROWS_RANGE);
    ck_assert_int_eq(l.found[PATTERN_KIND_ROWS].a, 101);
    ck_assert_int_eq(l.found[PATTERN_KIND_ROWS].b, 300);
    world_free(&w);
}
END_TEST

/* One gain of all rows is what it is beside a row that is wrong in another
 * way, however large that is; and that row is told. */
START_TEST(odd_row_beside_a_gain)
{
    static const struct {
        enum value value;
        enum pattern_id id;
        const char *words;
    } gains[] = {
        { TIMES, PATTERN_GAIN,
          ": O is 1.05 times what it should be, but row "
          "17 of head 1 is not explained (" },
        { TIMES_HEAD, PATTERN_GAIN_HEAD,
          "times a gain of each head (2.501 "
          "in head 7), but row 17 of head 1 " },
        { TIMES_ROW, PATTERN_GAIN_ROW,
          "times a gain of each row (0.3495 in the "
          "worst), but row 17 of head 1 is not" },
    };
    struct world w = world_make(4);
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = EVERY,
                               .rows = EVERY,
                               .channels = EVERY,
                               .value = gains[_i].value,
                               .x = 1.05 });
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = { 1, 1, 1, 1 },
                               .rows = { 17, 17, 1, 1 },
                               .channels = EVERY,
                               .value = NOISE });
    for (int64_t c = 0; c < w.p.dv; c++)
        w.c[place(&w, 0, 17, 1) + c] *= 30;
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_str_eq(pattern_get(l.found[PATTERN_KIND_VALUES].id)->name,
                     pattern_get(gains[_i].id)->name);
    ck_assert_msg(strstr(l.sentence, gains[_i].words), "%s", l.sentence);
    ck_assert_int_eq(l.odd.rows, 1);
    /* a second one, and both are counted */
    for (int64_t c = 0; c < w.p.dv; c++)
        w.c[place(&w, 0, 33, 6) + c] = w.c[place(&w, 0, 17, 1) + c];
    judge_rows(&w);
    l = located(&w, false);
    ck_assert_msg(strstr(l.sentence, ", but 2 of 240 rows looked at are not "
                                     "explained, the first is row 17 of head "
                                     "1 ("),
                  "%s", l.sentence);
    world_free(&w);
}
END_TEST

/* Head 1 of one batch and head 2 of the other are no pattern. */
START_TEST(batches_that_differ)
{
    struct world w = world_make(1);
    for (int64_t b = 0; b < 2; b++)
        plant(&w, &(struct fault){ .batch = b,
                                   .heads = { b + 1, b + 1, 1, 1 },
                                   .rows = EVERY,
                                   .channels = EVERY,
                                   .value = NOISE });
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_int_eq(l.batch, -1);
    ck_assert_int_eq(l.found[PATTERN_KIND_HEADS].id, PATTERN_HEADS_SOME);
    ck_assert_int_eq(l.found[PATTERN_KIND_HEADS].a, 2);
    ck_assert_int_eq(l.found[PATTERN_KIND_HEADS].b, 12);
    world_free(&w);
}
END_TEST

/* A channel of V that is far larger than the others is not why. */
START_TEST(large_channel_hides_no_other)
{
    struct world w = world_make(2);
    for (int64_t i = 7; i < assay_problem_v_elems(&w.p); i += w.p.dv)
        w.v[i] *= 300;
    answer(&w, right, w.e);
    answer(&w, right, w.c);
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = EVERY,
                               .rows = EVERY,
                               .channels = EVERY,
                               .value = TIMES,
                               .x = 0.9 });
    w.c[place(&w, 0, 33, 1) + 5] = w.e[place(&w, 0, 33, 1) + 5] = NAN;
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_str_eq(pattern_get(l.found[PATTERN_KIND_CHANNELS].id)->name,
                     "every channel");
    world_free(&w);
}
END_TEST

/* A head with one failing row is none of the failing heads. */
START_TEST(stray_row_adds_no_head)
{
    struct world w = world_make(2);
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = { 5, 5, 1, 1 },
                               .rows = EVERY,
                               .channels = EVERY,
                               .value = NOISE });
    plant(&w, &(struct fault){ .batch = 1,
                               .heads = { 2, 2, 1, 1 },
                               .rows = { 9, 9, 1, 1 },
                               .channels = EVERY,
                               .value = NOISE });
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_int_eq(l.found[PATTERN_KIND_HEADS].id, PATTERN_HEADS_ONE);
    ck_assert_int_eq(l.found[PATTERN_KIND_HEADS].a, 5);
    ck_assert_int_eq(l.found[PATTERN_KIND_ROWS].id, PATTERN_ROWS_ALL);
    world_free(&w);
}
END_TEST

/* Two rows in three, drawn, are most of them; one in six is few. */
START_TEST(rows_without_a_pattern)
{
    static const enum pattern_id ids[] = { PATTERN_ROWS_SCATTERED,
                                           PATTERN_ROWS_MOST };
    struct world w = world_make(3);
    for (int64_t i = 0; i < w.p.nq; i++)
        if (uniform() < (_i ? 0.33 : -0.67))
            plant(&w, &(struct fault){ .batch = ALL,
                                       .heads = EVERY,
                                       .rows = { i, i, 1, 1 },
                                       .channels = EVERY,
                                       .value = NOISE });
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_str_eq(pattern_get(l.found[PATTERN_KIND_ROWS].id)->name,
                     pattern_get(ids[_i])->name);
    ck_assert(l.found[PATTERN_KIND_ROWS].explained == 1);
    world_free(&w);
}
END_TEST

/* Under a causal mask the last row alone sees the last key. */
START_TEST(last_key_under_a_mask)
{
    struct world w = world_make(0);
    double o[128];
    for (int64_t h = 0; h < w.p.hq; h++) {
        struct way way = right;
        way.more = -1;
        row(&w, 0, w.p.nq - 1, h, way, o);
        for (int64_t c = 0; c < w.p.dv; c++)
            w.c[place(&w, 0, w.p.nq - 1, h) + c] = word(o[c]);
    }
    judge_rows(&w);
    struct location l = located(&w, true);
    ck_assert_str_eq(pattern_get(l.found[PATTERN_KIND_KEYS].id)->name,
                     "last key left out");
    world_free(&w);
}
END_TEST

/* The worst of everything, from one fault known by hand. */
START_TEST(worst_places)
{
    struct world w = world_make(2);
    plant(&w, &(struct fault){ .batch = 1,
                               .heads = { 3, 3, 1, 1 },
                               .rows = { 140, 140, 1, 1 },
                               .channels = { 32, 47, 1, 1 },
                               .value = NOISE });
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_int_eq(l.head.at.b, 1);
    ck_assert_int_eq(l.head.at.h, 3);
    ck_assert_int_eq(l.row.at.b, 1);
    ck_assert_int_eq(l.row.at.h, 3);
    ck_assert_int_eq(l.row.at.i, 140);
    ck_assert_int_eq(l.tile.at.i, 128);
    ck_assert_int_eq(l.block.at.c, 32);
    ck_assert(l.row.used == w.used_o[(8 + 3) * 150 + 140]);
    ck_assert(l.head.used == l.row.used && l.tile.used == l.row.used);
    ck_assert(l.row.share > 0.9 && l.row.share <= l.head.share);
    ck_assert(l.block.share > 0.9 && l.block.share <= 1);
    world_free(&w);
}
END_TEST

/* NaN and infinities anywhere, in E too, give no NaN and no pattern of keys. */
START_TEST(values_that_are_not_finite)
{
    static const float bad[] = { NAN, INFINITY, -INFINITY };
    struct world w = world_make(1);
    for (int64_t i = 0; i < assay_problem_o_elems(&w.p); i += 7)
        w.c[i] = bad[i % 3];
    for (int64_t i = 0; i < assay_problem_o_elems(&w.p); i += 91)
        w.e[i] = bad[i / 7 % 3];
    w.k[5] = NAN;
    judge_rows(&w);
    struct location l = located(&w, true);
    ck_assert_int_eq(l.failing, 2 * 6 * 77);
    ck_assert_int_eq(l.found[PATTERN_KIND_VALUES].id, PATTERN_NOT_FINITE);
    ck_assert_int_eq(l.found[PATTERN_KIND_KEYS].id, PATTERN_NONE);
    ck_assert(isnan(l.row.used) && isnan(l.head.used) && isnan(l.tile.used));
    ck_assert(l.row.share >= 0 && l.block.share >= 0);
    world_free(&w);
}
END_TEST

/* The worst is the NaN, though it comes late, among rows that fail less. */
START_TEST(nan_is_the_worst)
{
    struct world w = world_make(2);
    judge_rows(&w);
    w.used_o[(8 + 3) * 150 + 140] = NAN;
    w.used_o[1499] = 1e30;
    struct location l = located(&w, false);
    ck_assert_int_eq(l.row.at.b, 1);
    ck_assert_int_eq(l.row.at.h, 3);
    ck_assert_int_eq(l.row.at.i, 140);
    ck_assert_int_eq(l.head.at.b, 1);
    ck_assert_int_eq(l.head.at.h, 3);
    ck_assert_int_eq(l.tile.at.i, 128);
    world_free(&w);
}
END_TEST

/* The same NaN in both answers is no difference, and hides no channels. */
START_TEST(equal_nan_is_right)
{
    struct world w = world_make(0);
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = EVERY,
                               .rows = { 0, ALL, 2, 1 },
                               .channels = { 16, 31, 1, 1 },
                               .value = NOISE });
    judge_rows(&w);
    w.c[place(&w, 0, 33, 1) + 5] = w.e[place(&w, 0, 33, 1) + 5] = NAN;
    w.c[place(&w, 0, 34, 1) + 6] = w.e[place(&w, 0, 34, 1) + 6] = NAN;
    struct location l = located(&w, true);
    ck_assert_int_eq(l.found[PATTERN_KIND_CHANNELS].id, PATTERN_CHANNELS_BLOCK);
    ck_assert_int_eq(l.found[PATTERN_KIND_CHANNELS].a, 16);
    ck_assert_int_eq(l.block.at.c, 0);
    ck_assert(l.block.share > 0.9);
    world_free(&w);
}
END_TEST

/* Every other row has an infinity; the others still tell what keys do. */
START_TEST(finite_rows_tell_the_keys)
{
    struct world w = world_make(1);
    answer(&w, (struct way){ .scale = 1, .more = -1, .last = -1 }, w.c);
    for (int64_t i = 0; i < w.p.nq; i += 2)
        for (int64_t h = 0; h < w.p.hq; h++)
            w.c[place(&w, 0, i, h)] = w.c[place(&w, 1, i, h)] = INFINITY;
    judge_rows(&w);
    ck_assert(isinf(w.used_o[0]));
    struct location l = located(&w, true);
    ck_assert_str_eq(pattern_get(l.found[PATTERN_KIND_KEYS].id)->name,
                     "last key left out");
    world_free(&w);
}
END_TEST

/* A NaN in K says nothing about rows that it makes NaN; others are judged. */
START_TEST(nan_in_keys_is_survived)
{
    struct world w = world_make(1);
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = EVERY,
                               .rows = EVERY,
                               .channels = EVERY,
                               .value = NOISE });
    w.k[5] = NAN;
    w.v[7] = INFINITY;
    judge_rows(&w);
    struct location l = located(&w, true);
    ck_assert_int_eq(l.found[PATTERN_KIND_KEYS].id, PATTERN_NONE);
    world_free(&w);
}
END_TEST

START_TEST(no_rows_at_all)
{
    struct world w = world_make(0);
    w.p.nq = 0;
    struct location l = located(&w, true);
    ck_assert_str_eq(l.sentence, "no row fails");
    ck_assert_int_eq(l.row.at.i, -1);
    world_free(&w);
}
END_TEST

/* -- sentences and heat maps -- */

START_TEST(sentences)
{
    static const struct {
        struct pattern found;
        const char *text;
    } cases[] = {
        { { P(ROWS_NTH), 2, 1, 9, 0, 1 }, "every other row from row 1 to 9" },
        { { P(ROWS_NTH), 3, 1, 9, 0, 1 }, "every 3rd row from row 1 to 9" },
        { { P(ROWS_NTH), 11, 1, 9, 0, 1 }, "every 11th row from row 1 to 9" },
        { { P(ROWS_NTH), 101, 1, 9, 0, 1 }, "every 101st row from row 1 to 9" },
        { { P(ROWS_NTH), 212, 1, 9, 0, 1 }, "every 212th row from row 1 to 9" },
        { { P(ROWS_SHIFTED), -2, 0, 0, 0, 1 },
          "row i holds the answer of row i-2" },
        { { P(SCALE), 0, 0, 0, 1.01, 1 },
          "as if the softmax scale were 1.01 times as large (+1 %)" },
        { { P(KEY_ONE), 4, 4, 0, 0, 1 },
          "key 4 is counted too little (factor 0)" },
        { { P(GAIN), 0, 0, 0, 0.72, 1 }, "O is 0.72 times what it should be" },
        { { P(NONE), 0, 0, 0, 0, 0 }, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128], small[8];
        pattern_text(&cases[i].found, text, sizeof text);
        ck_assert_str_eq(text, cases[i].text);
        pattern_text(&cases[i].found, small, sizeof small);
        ck_assert(strlen(small) < sizeof small);
    }
}
END_TEST

static char *printed(const struct heat *h, bool blocks, int width)
{
    static char text[16384];
    FILE *f = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert(heat_print(h, blocks, width, f));
    fclose(f);
    return text;
}

START_TEST(heat_of_heads)
{
    struct world w = world_make(0);
    struct heat h;
    for (int64_t r = 0; r < 4 * 256; r++)
        w.used_o[r] = 0.2;
    w.used_o[1 * 256 + 17] = 50; /* head 1, cell 17 / 8 */
    w.used_o[3 * 256 + 255] = NAN;
    w.used_lse[2 * 256 + 8] = 1.5;
    struct locate_input in = input_of(&w, false);
    ck_assert_int_eq(heat_make(&in, HEAT_HEADS_BY_ROWS, 24, 40, &h, NULL),
                     ASSAY_OK);
    ck_assert_int_eq(h.rows, 4);
    ck_assert_int_eq(h.columns, 32);
    ck_assert_int_eq(h.column_step, 8);
    ck_assert(h.value[32 + 2] == 50 && h.value[2 * 32 + 1] == 1.5);
    ck_assert(isnan(h.value[3 * 32 + 31]) && h.value[0] == 0.2);
    const char *text = printed(&h, false, 60);
    ck_assert_msg(strstr(text, "       head 1 |  #                             "
                               "|\n"),
                  "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "head 2 | -  "));
    ck_assert_ptr_nonnull(strstr(text, "  N|\n"));
    ck_assert_ptr_nonnull(strstr(text, "'#' up to 100 times"));
    ck_assert_ptr_nonnull(strstr(printed(&h, true, 60), "|  ▓ "));
    heat_free(&h);
    world_free(&w);
}
END_TEST

START_TEST(heat_of_channels)
{
    struct world w = world_make(2);
    struct heat h;
    plant(&w, &(struct fault){ .batch = ALL,
                               .heads = EVERY,
                               .rows = { 64, 79, 1, 1 },
                               .channels = { 16, 31, 1, 1 },
                               .value = ZERO });
    judge_rows(&w);
    struct location l = located(&w, false);
    ck_assert_int_eq(heat_kind_for(&l), HEAT_ROWS_BY_CHANNELS);
    struct locate_input in = input_of(&w, false);
    ck_assert_int_eq(heat_make(&in, HEAT_ROWS_BY_CHANNELS, 24, 12, &h, NULL),
                     ASSAY_OK);
    ck_assert_int_eq(h.row_step, 8);
    ck_assert_int_eq(h.rows, 19);
    ck_assert_int_eq(h.column_step, 4);
    for (int64_t r = 0; r < h.rows; r++)
        for (int64_t c = 0; c < h.columns; c++)
            ck_assert_int_eq(h.value[r * h.columns + c] > 1,
                             (r == 8 || r == 9) && c >= 4 && c < 8);
    heat_free(&h);

    /* other channels of these rows are an ulp off, as a rounding may be */
    for (int64_t i = 64; i < 80; i++)
        for (int64_t c = 0; c < w.p.dv; c++) {
            float *o = &w.c[place(&w, 0, i, 3) + c];
            if (c < 16 || c >= 32)
                *o = word(w.e[place(&w, 0, i, 3) + c] * (1 + 0x1p-8f));
        }
    in.out = assay_format_get(ASSAY_BF16);
    judge_rows(&w);
    ck_assert_int_eq(heat_make(&in, HEAT_ROWS_BY_CHANNELS, 24, 12, &h, NULL),
                     ASSAY_OK);
    for (int64_t r = 8; r < 10; r++)
        for (int64_t c = 0; c < h.columns; c++)
            ck_assert_int_eq(h.value[r * h.columns + c] > 0, c >= 4 && c < 8);
    heat_free(&h);
    in.out = NULL;
    w.c[place(&w, 1, 17, 3) + 46] = NAN;
    judge_rows(&w);
    ck_assert_int_eq(heat_make(&in, HEAT_ROWS_BY_CHANNELS, 24, 12, &h, NULL),
                     ASSAY_OK);
    for (int64_t r = 0; r < h.rows; r++)
        for (int64_t c = 0; c < h.columns; c++)
            ck_assert_int_eq(isnan(h.value[r * h.columns + c]),
                             r == 2 && c == 11);
    heat_free(&h);
    world_free(&w);
}
END_TEST

/* No line is longer than asked for, many heads share lines, and a map needs a
 * cell. */
START_TEST(heat_fits)
{
    static const int widths[] = { 40, 61, 80, 200 };
    struct world w = world_make(2);
    struct heat h;
    struct assay_error err;
    judge_rows(&w);
    struct locate_input in = input_of(&w, false);
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
            ck_assert_int_eq(heat_make(&in, (enum heat_kind)kind, 5,
                                       heat_columns_in(widths[i]), &h, NULL),
                             ASSAY_OK);
            ck_assert_int_le(h.rows, 5);
            char *text = printed(&h, false, widths[i]);
            for (char *line = strtok(text, "\n"); line;
                 line = strtok(NULL, "\n"))
                ck_assert_msg(strlen(line) <= (size_t)widths[i], "%s", line);
            heat_free(&h);
        }
    ck_assert_int_eq(heat_make(&in, HEAT_HEADS_BY_ROWS, 0, 9, &h, &err),
                     ASSAY_USAGE);
    ck_assert_str_eq(err.text, "a heat map of 0 by 9 cells has no cell");
    world_free(&w);
}
END_TEST

int main(void)
{
    const int n_faults = sizeof faults / sizeof *faults;
    const int n_keys = sizeof key_faults / sizeof *key_faults;
    const int n_shapes = sizeof shapes / sizeof *shapes;
    Suite *suite = suite_create("locate");
    TCase *t = tcase_create("locate");
    tcase_add_loop_test(t, fault_is_named, 0, n_faults);
    tcase_add_loop_test(t, key_fault_is_named, 0, n_keys);
    tcase_add_loop_test(t, noise_names_no_keys, 0, n_shapes);
    tcase_add_loop_test(t, honest_answer_has_no_place, 0, n_shapes);
    tcase_add_test(t, stray_rows_hide_nothing);
    tcase_add_test(t, stray_row_widens_no_range);
    tcase_add_loop_test(t, odd_row_beside_a_gain, 0, 3);
    tcase_add_test(t, batches_that_differ);
    tcase_add_test(t, stray_row_adds_no_head);
    tcase_add_test(t, large_channel_hides_no_other);
    tcase_add_loop_test(t, rows_without_a_pattern, 0, 2);
    tcase_add_test(t, last_key_under_a_mask);
    tcase_add_test(t, worst_places);
    tcase_add_test(t, values_that_are_not_finite);
    tcase_add_test(t, nan_is_the_worst);
    tcase_add_test(t, equal_nan_is_right);
    tcase_add_test(t, finite_rows_tell_the_keys);
    tcase_add_test(t, nan_in_keys_is_survived);
    tcase_add_test(t, no_rows_at_all);
    tcase_add_test(t, sentences);
    tcase_add_test(t, heat_of_heads);
    tcase_add_test(t, heat_of_channels);
    tcase_add_test(t, heat_fits);
    suite_add_tcase(suite, t);
    return assay_check_main(suite);
}
