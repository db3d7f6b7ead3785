/* SPDX-License-Identifier: MIT
 *
 * The blocked engine, written once for both widths. The includer defines
 * REAL, GEMM, EXP2, ROUND_P(job, n, p) and load(), and calls engine().
 *
 * A row keeps m (the maximum so far, in log2 units), l (the sum of P, in
 * double) and acc (the sum of P times V). P is relative to m at the time its
 * tile is done, which is what fixes the rounding of a narrow P.
 */

struct rows {
    REAL *s;   /* [BLOCKED_QUERY_TILE][key_tile] scores, then P */
    REAL *acc; /* [BLOCKED_QUERY_TILE][dv] */
    REAL *q;   /* [BLOCKED_QUERY_TILE][dk], for load() */
    REAL *kv;  /* [key_tile][dk or dv], for load() */
    REAL *m, *base, *alpha;
    double *l;
};

static void rows_free(struct rows *w)
{
    assay_free(w->s);
    assay_free(w->acc);
    assay_free(w->q);
    assay_free(w->kv);
    assay_free(w->m);
    assay_free(w->l);
}

static enum assay_status rows_new(const struct blocked_job *job, struct rows *w,
                                  struct assay_error *err)
{
    const int64_t n = BLOCKED_QUERY_TILE, kt = job->key_tile;
    enum assay_status st;
    *w = (struct rows){ 0 };
    if ((st = assay_alloc("a score tile", n * kt, sizeof *w->s, &w->s, err)) !=
            ASSAY_OK ||
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
            ASSAY_OK) {
        rows_free(w);
        return st;
    }
    w->base = w->m + n;
    w->alpha = w->base + n;
    return ASSAY_OK;
}

/* Lanes fix the order of a reduction, whatever registers the compiler uses.
 * A NaN never wins here; it reaches the result through the sum of P. */
ASSAY_CLONES
static REAL row_max(int64_t n, const REAL *restrict x)
{
    REAL lane[16], top = -INFINITY;
    int64_t j = 0;
    for (int u = 0; u < 16; u++)
        lane[u] = -INFINITY;
    for (; j + 16 <= n; j += 16)
        for (int u = 0; u < 16; u++)
            lane[u] = x[j + u] > lane[u] ? x[j + u] : lane[u];
    for (; j < n; j++)
        top = x[j] > top ? x[j] : top;
    for (int u = 0; u < 16; u++)
        top = lane[u] > top ? lane[u] : top;
    return top;
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
static void row_shift(int64_t n, REAL *restrict x, REAL by)
{
    for (int64_t j = 0; j < n; j++)
        x[j] -= by;
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

/* S to P in place, and the new row state. */
static void softmax_tile(const struct blocked_job *job, struct rows *w,
                         struct block at, int64_t j0, int64_t n)
{
    const struct assay_problem *p = job->p;
    for (int r = 0; r < at.rows; r++) {
        int64_t v = visible_in_tile(p, at.i0 + r, j0, n);
        REAL top = row_max(v, w->s + r * job->key_tile);
        REAL m = top > w->m[r] ? top : w->m[r];
        w->base[r] = m == -INFINITY ? 0 : m;
        w->alpha[r] = w->m[r] - w->base[r];
        w->m[r] = m;
    }
    EXP2(at.rows, w->alpha);
    for (int r = 0; r < at.rows; r++) {
        REAL *s = w->s + r * job->key_tile;
        int64_t v = visible_in_tile(p, at.i0 + r, j0, n);
        row_shift(v, s, w->base[r]);
        EXP2(v, s);
        if (job->p_format)
            ROUND_P(job, v, s);
        w->l[r] = w->l[r] * (double)w->alpha[r] + row_sum(v, s);
        for (int64_t j = v; j < n; j++)
            s[j] = 0;
        if (w->alpha[r] != 1)
            for (int64_t c = 0; c < p->dv; c++)
                w->acc[r * p->dv + c] *= w->alpha[r];
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

/* acc += P V. A tile whose rows see different keys goes row by row where V
 * is not finite: zero times NaN must not reach a row that does not see it. */
static void add_values(const struct blocked_job *job, struct rows *w,
                       struct block at, int64_t j0, int64_t n)
{
    const struct assay_problem *p = job->p;
    const int width = (int)p->dv;
    int step;
    const REAL *v = load(job->v + assay_row_offset(p->nk, p->hk, p->dv, at.b,
                                                   j0, at.h / (p->hq / p->hk)),
                         n, p->dv, p->hk, w->kv, &step);
    bool ragged = visible_in_tile(p, at.i0, j0, n) < n;
    if (!ragged || !has_special(n, p->dv, step, v)) {
        GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)at.rows, width,
             (int)n, 1, w->s, (int)job->key_tile, v, step, 1, w->acc, width);
        return;
    }
    for (int r = 0; r < at.rows; r++) {
        int see = (int)visible_in_tile(p, at.i0 + r, j0, n);
        if (see > 0)
            GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, width, see, 1,
                 w->s + r * job->key_tile, (int)job->key_tile, v, step, 1,
                 w->acc + r * p->dv, width);
    }
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
                l == 0 ? -INFINITY : M_LN2 * ((double)w->m[r] + log2(l));
        if (!job->o)
            continue;
        REAL *o = (REAL *)job->o +
                  assay_row_offset(p->nq, p->hq, p->dv, at.b, at.i0 + r, at.h);
        for (int64_t c = 0; c < p->dv; c++)
            o[c] = l == 0 ? 0
                          : (REAL)((double)w->acc[r * p->dv + c] *
                                   (job->value_scale * over));
    }
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
    for (int64_t j0 = 0; j0 < seen; j0 += job->key_tile) {
        int64_t n = seen - j0 < job->key_tile ? seen - j0 : job->key_tile;
        const REAL *k =
            load(job->k + assay_row_offset(p->nk, p->hk, p->dk, at.b, j0,
                                           at.h / (p->hq / p->hk)),
                 n, p->dk, p->hk, w->kv, &k_step);
        GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, (int)at.rows, (int)n,
             (int)p->dk, (REAL)job->score_scale, q, q_step, k, k_step, 0, w->s,
             (int)job->key_tile);
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
