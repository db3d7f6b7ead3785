/* SPDX-License-Identifier: MIT
 *
 * The blocked engine, written once for both widths. The includer defines
 * REAL, GEMM, EXP2, ROUND_P(job, n, p) and load(), and calls engine().
 *
 * A row keeps m (the maximum so far, in log2 units), l (the sum of P, in
 * double) and acc (the sum of P times V). P is relative to m at the time its
 * tile is done, which is what fixes the rounding of a narrow P.
 */

#include "row_max.h"

struct rows {
    REAL *s;   /* [BLOCKED_QUERY_TILE][key_tile] scores, then P */
    REAL *t;   /* products of a matrix instruction, where bits are made of S */
    REAL *acc; /* [BLOCKED_QUERY_TILE][dv] */
    REAL *q;   /* [BLOCKED_QUERY_TILE][dk], for load() */
    REAL *kv;  /* [key_tile][dk or dv], for load() and add_values() */
    REAL *m, *base, *alpha;
    float *pv; /* [BLOCKED_QUERY_TILE][dv] P V of a tile, where bits are made */
    float *p;  /* [BLOCKED_QUERY_TILE][key_tile] P in blocks, or made of bits */
    double *l;
};

static enum assay_softmax_kind kind_of(const struct blocked_job *job)
{
    return job->p_format ? job->form->kind : ASSAY_KIND_ONLINE;
}

static void rows_free(struct rows *w)
{
    assay_free(w->s);
    assay_free(w->t);
    assay_free(w->acc);
    assay_free(w->q);
    assay_free(w->kv);
    assay_free(w->m);
    assay_free(w->l);
    assay_free(w->p);
    assay_free(w->pv);
}

static enum assay_status rows_new(const struct blocked_job *job, struct rows *w,
                                  struct assay_error *err)
{
    const int64_t n = BLOCKED_QUERY_TILE, kt = job->key_tile;
    enum assay_status st;
    *w = (struct rows){ 0 };
    if ((st = assay_alloc("a score tile", n * kt, sizeof *w->s, &w->s, err)) !=
            ASSAY_OK ||
        (kind_of(job) >= ASSAY_KIND_U32 &&
         (st = assay_alloc("a score tile", n * kt, sizeof *w->t, &w->t, err)) !=
             ASSAY_OK) ||
        (st = assay_alloc("an output tile", n * job->p->dv, sizeof *w->acc,
                          &w->acc, err)) != ASSAY_OK ||
        (st = assay_alloc("a query tile", n * job->p->dk, sizeof *w->q, &w->q,
                          err)) != ASSAY_OK ||
        (st = assay_alloc(
             "a key tile",
             kt * (job->p->dk > job->p->dv ? job->p->dk : job->p->dv),
             sizeof *w->kv, &w->kv, err)) != ASSAY_OK ||
        (st = assay_alloc("row state", 3 * n, sizeof *w->m, &w->m, err)) !=
            ASSAY_OK ||
        (st = assay_alloc("row sums", n, sizeof *w->l, &w->l, err)) !=
            ASSAY_OK ||
        (kind_of(job) >= ASSAY_KIND_U32 &&
         (st = assay_alloc("P V of a tile", n * job->p->dv, sizeof *w->pv,
                           &w->pv, err)) != ASSAY_OK) ||
        (st = assay_alloc("P in binary32", n * kt, sizeof *w->p, &w->p, err)) !=
            ASSAY_OK) {
        rows_free(w);
        return st;
    }
    w->base = w->m + n;
    w->alpha = w->base + n;
    return ASSAY_OK;
}

ASSAY_CLONES
static double row_sum(int64_t n, const REAL *restrict x)
{
    double lane[16] = { 0 }, sum = 0;
    int64_t j = 0;
    for (; j + 16 <= n; j += 16)
        for (int u = 0; u < 16; u++)
            lane[u] += (double)x[j + u];
    for (; j < n; j++)
        sum += (double)x[j];
    for (int u = 0; u < 16; u++)
        sum += lane[u];
    return sum;
}

ASSAY_CLONES
static void row_scale(int64_t n, REAL *restrict x, REAL by)
{
    for (int64_t j = 0; j < n; j++)
        x[j] *= by;
}

ASSAY_CLONES
static void row_shift(int64_t n, REAL *restrict x, REAL by)
{
    for (int64_t j = 0; j < n; j++)
        x[j] -= by;
}

/* P of a tile in its blocks' order, rounded there, and back. */
static void round_blocks(const struct blocked_job *job, struct rows *w,
                         int64_t rows, int64_t n)
{
    const int64_t width = (n + ASSAY_FRAME - 1) / ASSAY_FRAME * ASSAY_FRAME;
    const struct assay_blocks blocks = blocked_p(job, rows, width);
    int slot[ASSAY_FRAME / 4]; /* four neighbours stay together */
    for (int c = 0; c < ASSAY_FRAME / 4; c++)
        slot[c] = assay_token_slot(job->order, 4 * c);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < width; j += 4)
            for (int u = 0; u < 4; u++)
                w->p[r * width + j / ASSAY_FRAME * ASSAY_FRAME +
                     slot[j % ASSAY_FRAME / 4] + u] =
                    (float)w->s[r * job->key_tile + j + u];
    assay_blocks_round(&blocks, w->p, w->p);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < width; j += 4)
            for (int u = 0; u < 4; u++)
                w->s[r * job->key_tile + j + u] =
                    w->p[r * width + j / ASSAY_FRAME * ASSAY_FRAME +
                         slot[j % ASSAY_FRAME / 4] + u];
}

struct block {
    int64_t b, h, i0, rows; /* queries i0 .. i0 + rows - 1 of one head */
};

static int64_t visible_in_tile(const struct assay_problem *p, int64_t i,
                               int64_t j0, int64_t n)
{
    int64_t v = assay_problem_visible(p, i) - j0;
    return v < 0 ? 0 : v > n ? n : v;
}

/* Whether a tile's scores become bits: every row sees all of a whole tile. */
static bool is_coded(const struct blocked_job *job, struct block at, int64_t j0,
                     int64_t n)
{
    return kind_of(job) >= ASSAY_KIND_U32 &&
           visible_in_tile(job->p, at.i0, j0, n) == job->key_tile;
}

/* The maximum that P of a tile is relative to. A frozen one moves where P
 * would pass 2^32, and in a tile that is not whole. */
static REAL new_max(const struct blocked_job *job, REAL m, REAL top, bool whole)
{
    if (kind_of(job) == ASSAY_KIND_FROZEN && whole && m != -INFINITY &&
        !(top - m > 32))
        return m;
    return top > m ? top : m;
}

/* One row of a tile by exact exp2: S to P. */
static void exact_row(const struct blocked_job *job, struct rows *w, int r,
                      int64_t v)
{
    REAL *s = w->s + r * job->key_tile;
    row_shift(v, s, w->base[r]);
    if (job->unit != 1)
        row_scale(v, s, (REAL)(1 / job->unit));
    EXP2(v, s);
}

/* The row states of a tile by exact exp2. */
static void exact_maxima(const struct blocked_job *job, struct rows *w,
                         struct block at, int64_t j0, int64_t n)
{
    for (int r = 0; r < at.rows; r++) {
        int64_t v = visible_in_tile(job->p, at.i0 + r, j0, n);
        REAL top = row_max(v, w->s + r * job->key_tile);
        REAL m = new_max(job, w->m[r], top, v == job->key_tile);
        w->base[r] = m == -INFINITY ? 0 : m;
        w->alpha[r] = (REAL)((w->m[r] - w->base[r]) / job->unit);
        w->m[r] = m;
    }
    EXP2(at.rows, w->alpha);
}

/* row_sum() of binary32. */
ASSAY_CLONES
static double narrow_sum(int64_t n, const float *restrict x)
{
    double lane[16] = { 0 }, sum = 0;
    int64_t j = 0;
    for (; j + 16 <= n; j += 16)
        for (int u = 0; u < 16; u++)
            lane[u] += (double)x[j + u];
    for (; j < n; j++)
        sum += (double)x[j];
    for (int u = 0; u < 16; u++)
        sum += lane[u];
    return sum;
}

/* One row of a whole tile in a form that makes bits of scores: to P in w->p,
 * and the new row state. */
static void coded_row(const struct blocked_job *job, struct rows *w, int r,
                      int64_t j0, int64_t v)
{
    float *p = w->p + r * job->key_tile;
    struct softmax_row row = { .m = (float)w->m[r] };
    softmax_coded_row(job->form, j0 > 0, 0, v, p, &row);
    if (job->form->kind != ASSAY_KIND_BYTE) /* made of codes of the format */
        assay_format_round(job->p_format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE,
                           (size_t)v, p, p);
    w->m[r] = row.m;
    w->l[r] = w->l[r] * (double)row.alpha + narrow_sum(v, p);
    if (row.alpha != 1)
        row_scale(job->p->dv, w->acc + r * job->p->dv, (REAL)row.alpha);
}

/* S to P in place, and the new row state. */
static void softmax_tile(const struct blocked_job *job, struct rows *w,
                         struct block at, int64_t j0, int64_t n)
{
    const bool whole_sum = job->p_format && job->form->whole_sum;
    if (is_coded(job, at, j0, n)) {
        for (int r = 0; r < at.rows; r++)
            coded_row(job, w, r, j0, n);
        return;
    }
    exact_maxima(job, w, at, j0, n);
    for (int r = 0; r < at.rows; r++) {
        REAL *s = w->s + r * job->key_tile;
        int64_t v = visible_in_tile(job->p, at.i0 + r, j0, n);
        exact_row(job, w, r, v);
        if (whole_sum)
            w->l[r] = w->l[r] * (double)w->alpha[r] + row_sum(v, s);
        if (job->p_format && !job->p_blocks)
            ROUND_P(job, v, s);
        for (int64_t j = v; j < job->key_tile; j++)
            s[j] = 0;
    }
    if (job->p_blocks)
        round_blocks(job, w, at.rows, n);
    for (int r = 0; r < at.rows; r++) {
        int64_t v = visible_in_tile(job->p, at.i0 + r, j0, n);
        if (!whole_sum)
            w->l[r] = w->l[r] * (double)w->alpha[r] +
                      row_sum(v, w->s + r * job->key_tile);
        if (w->alpha[r] != 1)
            for (int64_t c = 0; c < job->p->dv; c++)
                w->acc[r * job->p->dv + c] *= w->alpha[r];
    }
}

static bool has_special(int64_t rows, int64_t width, int64_t step,
                        const REAL *x)
{
    for (int64_t j = 0; j < rows; j++)
        for (int64_t c = 0; c < width; c++)
            if (!isfinite(x[j * step + c]))
                return true;
    return false;
}

/* Rows of one head from an input tensor, as the engine's REAL: in place, or
 * widened into `room`; *step is from row to row of what is returned. */
static const REAL *load(const float *from, int64_t rows, int64_t width,
                        int64_t heads, REAL *room, int *step);

/* A tile of V with zeros for what is not finite; `to` may be `v`. */
static void copy_finite(int64_t rows, int64_t width, int64_t step,
                        const REAL *v, REAL *to)
{
    for (int64_t j = 0; j < rows; j++)
        for (int64_t c = 0; c < width; c++)
            to[j * width + c] = isfinite(v[j * step + c]) ? v[j * step + c] : 0;
}

/* What copy_finite left out, for the rows that see it. */
static void add_special(const struct blocked_job *job, struct rows *w,
                        struct block at, const float *v, int64_t j0, int64_t n)
{
    const struct assay_problem *p = job->p;
    for (int64_t j = 0; j < n; j++)
        for (int64_t c = 0; c < p->dv; c++) {
            REAL x = v[j * p->hk * p->dv + c];
            if (isfinite(x))
                continue;
            for (int64_t r = 0; r < at.rows; r++)
                if (visible_in_tile(p, at.i0 + r, j0, n) > j)
                    w->acc[r * p->dv + c] += w->s[r * job->key_tile + j] * x;
        }
}

ASSAY_CLONES
static void narrow(int64_t n, const REAL *restrict x, float *restrict y)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = (float)x[j];
}

ASSAY_CLONES
static void add_to(int64_t n, const float *restrict x, REAL *restrict y)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += x[j];
}

/* The same where bits are made of scores: only those need wide sums; P V of a
 * tile is in binary32, as in the kernels and in half the time. */
static void add_narrow(const struct blocked_job *job, struct rows *w,
                       struct block at, int64_t j0, int64_t n, const float *v)
{
    const struct assay_problem *p = job->p;
    if (!is_coded(job, at, j0, n))
        narrow(at.rows * job->key_tile, w->s, w->p);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)at.rows,
                (int)p->dv, (int)n, 1, w->p, (int)job->key_tile, v,
                (int)(p->hk * p->dv), 0, w->pv, (int)p->dv);
    add_to(at.rows * p->dv, w->pv, w->acc);
}

/* acc += P V. Zero times NaN must not reach a row that does not see it, so in
 * a tile whose rows see different keys what is not finite is added apart. The
 * product keeps its shape: with another one a row would get other bits. */
static void add_values(const struct blocked_job *job, struct rows *w,
                       struct block at, int64_t j0, int64_t n)
{
    const struct assay_problem *p = job->p;
    const float *from = job->v + assay_row_offset(p->nk, p->hk, p->dv, at.b, j0,
                                                  at.h / (p->hq / p->hk));
    int step;
    if (kind_of(job) >= ASSAY_KIND_U32 &&
        visible_in_tile(p, at.i0, j0, n) == n) {
        add_narrow(job, w, at, j0, n, from);
        return;
    }
    const REAL *v = load(from, n, p->dv, p->hk, w->kv, &step);
    const bool special =
        visible_in_tile(p, at.i0, j0, n) < n && has_special(n, p->dv, step, v);
    if (special) {
        copy_finite(n, p->dv, step, v, w->kv);
        v = w->kv;
        step = (int)p->dv;
    }
    GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)at.rows, (int)p->dv,
         (int)n, 1, w->s, (int)job->key_tile, v, step, 1, w->acc, (int)p->dv);
    if (special)
        add_special(job, w, at, from, j0, n);
}

static void finish(const struct blocked_job *job, struct rows *w,
                   struct block at)
{
    const struct assay_problem *p = job->p;
    for (int r = 0; r < at.rows; r++) {
        int64_t row = (at.b * p->hq + at.h) * p->nq + at.i0 + r;
        double l = w->l[r], over = l == 0 ? 0 : 1 / l;
        if (job->lse)
            job->lse[row] =
                l == 0 ? -INFINITY
                       : M_LN2 * ((double)w->m[r] / job->unit + log2(l));
        if (!job->o)
            continue;
        REAL *o = (REAL *)job->o +
                  assay_row_offset(p->nq, p->hq, p->dv, at.b, at.i0 + r, at.h);
        const float *channel =
            job->channel_scale
                ? job->channel_scale +
                      (at.b * p->hk + at.h / (p->hq / p->hk)) * p->dv
                : NULL;
        for (int64_t c = 0; c < p->dv; c++) {
            double scale = job->value_scale * over;
            scale *= channel ? channel[c] : 1;
            o[c] = l == 0 ? 0 : (REAL)((double)w->acc[r * p->dv + c] * scale);
        }
    }
}

static void product(const struct blocked_job *job, int rows, int n, int d,
                    const REAL *q, int q_step, const REAL *k, int k_step,
                    REAL *to)
{
    GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, rows, n, d,
         (REAL)job->score_scale, q, q_step, k, k_step, 0, to,
         (int)job->key_tile);
}

ASSAY_CLONES
static void add_first(int64_t n, REAL start, const REAL *restrict t,
                      float *restrict p)
{
    for (int64_t j = 0; j < n; j++)
        p[j] = (float)(start + t[j]);
}

ASSAY_CLONES
static void add_next(int64_t n, const REAL *restrict t, float *restrict p)
{
    for (int64_t j = 0; j < n; j++)
        p[j] = (float)((REAL)p[j] + t[j]);
}

/* S of a tile whose scores become bits, into w->p. The accumulators start at
 * the bias and are binary32 after each matrix instruction, which sums its
 * channels whole: so near the bias a score is a multiple of 64. */
static void coded_scores(const struct blocked_job *job, struct rows *w,
                         struct block at, int64_t n, bool first, const REAL *q,
                         int q_step, const REAL *k, int k_step)
{
    const int d = (int)job->p->dk;
    for (int c = 0; c < d; c += job->dot_step) {
        int step = d - c < job->dot_step ? d - c : job->dot_step;
        product(job, (int)at.rows, (int)n, step, q + c, q_step, k + c, k_step,
                w->t);
        for (int64_t r = 0; r < at.rows; r++) {
            const REAL *t = w->t + r * job->key_tile;
            float *p = w->p + r * job->key_tile;
            if (c > 0)
                add_next(n, t, p);
            else
                add_first(
                    n,
                    first ? 0 : (REAL)softmax_start(job->form, (float)w->m[r]),
                    t, p);
        }
    }
}

/* Parts are left to the jitter. */
static bool is_down(const struct blocked_job *job)
{
    return job->form && job->form->walk == ASSAY_WALK_DOWN;
}

static void one_block(const struct blocked_job *job, struct rows *w,
                      struct block at)
{
    const struct assay_problem *p = job->p;
    const int64_t seen = assay_problem_visible(p, at.i0 + at.rows - 1);
    int q_step, k_step;
    const REAL *q =
        load(job->q + assay_row_offset(p->nq, p->hq, p->dk, at.b, at.i0, at.h),
             at.rows, p->dk, p->hq, w->q, &q_step);
    for (int r = 0; r < at.rows; r++) {
        w->m[r] = -INFINITY;
        w->l[r] = 0;
    }
    for (int64_t c = 0; c < at.rows * p->dv; c++)
        w->acc[c] = 0;
    const int64_t tiles = (seen + job->key_tile - 1) / job->key_tile;
    for (int64_t t = 0; t < tiles; t++) {
        const int64_t j0 = (is_down(job) ? tiles - 1 - t : t) * job->key_tile;
        int64_t n = seen - j0 < job->key_tile ? seen - j0 : job->key_tile;
        const REAL *k =
            load(job->k + assay_row_offset(p->nk, p->hk, p->dk, at.b, j0,
                                           at.h / (p->hq / p->hk)),
                 n, p->dk, p->hk, w->kv, &k_step);
        if (is_coded(job, at, j0, n))
            coded_scores(job, w, at, n, j0 == 0, q, q_step, k, k_step);
        else
            product(job, (int)at.rows, (int)n, (int)p->dk, q, q_step, k, k_step,
                    w->s);
        softmax_tile(job, w, at, j0, n);
        add_values(job, w, at, j0, n);
    }
    finish(job, w, at);
}

/* o of the job points to REAL. */
static enum assay_status engine(const struct blocked_job *job,
                                const struct assay_run *run,
                                struct assay_error *err)
{
    const struct assay_problem *p = job->p;
    const int64_t tiles = (p->nq + BLOCKED_QUERY_TILE - 1) / BLOCKED_QUERY_TILE;
    const int64_t units = p->b * p->hq * tiles;
    const int threads =
        run && run->threads > 0 ? run->threads : omp_get_max_threads();
    enum assay_status st = ASSAY_OK;
    int64_t done = 0;
    int blas = blas_one_thread();
#pragma omp parallel num_threads(threads)
    {
        struct rows w;
        struct assay_error mine;
        enum assay_status got = rows_new(job, &w, &mine);
        if (got != ASSAY_OK) {
#pragma omp critical(assay_blocked)
            {
                st = got;
                if (err)
                    *err = mine;
            }
        }
        /* long causal rows come last: start with them */
#pragma omp for schedule(dynamic, 1)
        for (int64_t u = 0; u < units; u++) {
            if (got != ASSAY_OK)
                continue;
            int64_t tile = tiles - 1 - u / (p->b * p->hq);
            int64_t bh = u % (p->b * p->hq), i0 = tile * BLOCKED_QUERY_TILE;
            int64_t rows = p->nq - i0;
            one_block(job, &w,
                      (struct block){ bh / p->hq, bh % p->hq, i0,
                                      rows < BLOCKED_QUERY_TILE
                                          ? rows
                                          : BLOCKED_QUERY_TILE });
            if (run && run->progress) {
#pragma omp critical(assay_blocked)
                run->progress(run->context, ++done, units);
            }
        }
        if (got == ASSAY_OK)
            rows_free(&w);
    }
    blas_restore_threads(blas);
    return st;
}
