/* SPDX-License-Identifier: MIT
 *
 * Mutations of what a kernel writes: O, LSE and the bytes beside them.
 */
#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "validate/mutation.h"

enum { QUERY_TILE = 128, CHANNELS = 32 };

#define UNUSED(err) (void)(err)

static const struct assay_problem *problem(const struct mutant *m)
{
    return &m->s->c->problem;
}

static int64_t heads(const struct mutant *m)
{
    return problem(m)->b * problem(m)->hq;
}

/* Row i of head bh, in O. */
static float *row(struct mutant *m, int64_t bh, int64_t i)
{
    return m->o + mutant_row(m, bh * problem(m)->nq + i);
}

static const float *good_row(const struct mutant *m, int64_t bh, int64_t i)
{
    return m->s->e->o + mutant_row(m, bh * problem(m)->nq + i);
}

static double norm(const struct mutant *m, const float *x)
{
    double sum = 0;
    for (int64_t c = 0; c < problem(m)->dv; c++)
        sum += (double)x[c] * x[c];
    return sqrt(sum);
}

/* The last query tile; of a short head, its second half. */
static int64_t last_tile(const struct mutant *m)
{
    const int64_t nq = problem(m)->nq;
    const int64_t first = nq > 0 ? (nq - 1) / QUERY_TILE * QUERY_TILE : 0;
    return first > 0 ? first : nq / 2;
}

static void zero_rows(struct mutant *m, int64_t bh, int64_t first, int64_t end,
                      int64_t step)
{
    for (int64_t i = first; i < end; i += step)
        memset(row(m, bh, i), 0, (size_t)problem(m)->dv * sizeof(float));
}

/* Rows first to end of a head take another head's answer. */
static void copy_rows(struct mutant *m, int64_t to, int64_t from, int64_t first,
                      int64_t end, bool lse)
{
    const int64_t nq = problem(m)->nq;
    for (int64_t i = first; i < end; i++) {
        memcpy(row(m, to, i), good_row(m, from, i),
               (size_t)problem(m)->dv * sizeof(float));
        if (lse)
            m->lse[to * nq + i] = m->s->e->lse[from * nq + i];
    }
}

static void scale(struct mutant *m, double by)
{
    for (int64_t i = 0; i < assay_problem_o_elems(problem(m)); i++)
        m->o[i] = (float)(m->o[i] * by);
}

/* ---- O: values ---- */

MUTATE(zero)
{
    (void)strength, UNUSED(err);
    memset(m->o, 0, (size_t)assay_problem_o_elems(problem(m)) * sizeof *m->o);
    return ASSAY_OK;
}

MUTATE(sign)
{
    (void)strength, UNUSED(err);
    scale(m, -1);
    return ASSAY_OK;
}

MUTATE(gain)
{
    UNUSED(err);
    scale(m, 1 - strength);
    return ASSAY_OK;
}

MUTATE(gain_up)
{
    UNUSED(err);
    scale(m, 1 + strength);
    return ASSAY_OK;
}

MUTATE(bias)
{
    const int64_t dv = problem(m)->dv, rows = assay_problem_rows(problem(m));
    UNUSED(err);
    for (int64_t r = 0; r < rows; r++) {
        float *x = m->o + mutant_row(m, r);
        double by = strength * norm(m, x) / sqrt((double)dv);
        for (int64_t c = 0; c < dv; c++)
            x[c] = (float)(x[c] + by);
    }
    return ASSAY_OK;
}

/* Each element goes up or down by a part of the row's RMS, by a bit of a hash
 * of its place (the finalizer of MurmurHash3). */
static void add_noise(struct mutant *m, int64_t r, double part)
{
    const int64_t dv = problem(m)->dv;
    const int64_t at = mutant_row(m, r);
    const double by = part * norm(m, m->o + at) / sqrt((double)dv);
    for (int64_t c = 0; c < dv; c++) {
        uint64_t x = (uint64_t)(at + c) + 1;
        x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
        x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
        m->o[at + c] = (float)(m->o[at + c] + (x >> 63 ? by : -by));
    }
}

MUTATE(noise)
{
    UNUSED(err);
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++)
        add_noise(m, r, strength);
    return ASSAY_OK;
}

MUTATE(noise_row)
{
    const int64_t nq = problem(m)->nq;
    UNUSED(err);
    for (int64_t bh = 0; nq > 0 && bh < heads(m); bh++)
        add_noise(m, bh * nq + nq / 2, strength);
    return ASSAY_OK;
}

/* Rounds to steps of 2^bits ulp. */
MUTATE(coarse)
{
    const struct assay_format *out =
        assay_format_get(m->s->e->recipe->out_format);
    const double ulps = exp2(round(strength));
    UNUSED(err);
    for (int64_t i = 0; i < assay_problem_o_elems(problem(m)); i++) {
        double step = ulps * assay_format_ulp(out, m->o[i]);
        m->o[i] = isfinite(m->o[i]) ? (float)(nearbyint(m->o[i] / step) * step)
                                    : m->o[i];
    }
    return ASSAY_OK;
}

MUTATE(spike)
{
    const int64_t nq = problem(m)->nq;
    UNUSED(err);
    for (int64_t bh = 0; nq > 0 && bh < heads(m); bh++)
        row(m, bh, nq / 2)[problem(m)->dv / 2] += (float)strength;
    return ASSAY_OK;
}

MUTATE(nan_one)
{
    (void)strength;
    return mutate_spike(m, NAN, err);
}

MUTATE(inf_one)
{
    (void)strength;
    return mutate_spike(m, INFINITY, err);
}

MUTATE(nan_share)
{
    const int64_t every = (int64_t)round(1 / strength);
    UNUSED(err);
    for (int64_t i = 0; i < assay_problem_o_elems(problem(m)); i += every)
        m->o[i] = NAN;
    return ASSAY_OK;
}

/* ---- O: rows, tiles, heads, channels ---- */

MUTATE(row_zero)
{
    const int64_t middle = problem(m)->nq / 2;
    (void)strength, UNUSED(err);
    for (int64_t bh = 0; problem(m)->nq > 0 && bh < heads(m); bh++)
        zero_rows(m, bh, middle, middle + 1, 1);
    return ASSAY_OK;
}

MUTATE(rows_zero)
{
    const int64_t every = (int64_t)round(1 / strength);
    UNUSED(err);
    for (int64_t bh = 0; bh < heads(m); bh++)
        zero_rows(m, bh, every - 1, problem(m)->nq, every);
    return ASSAY_OK;
}

/* Of the 16 rows after row i the one that is most unlike it. */
static int64_t most_unlike(const struct mutant *m, int64_t bh, int64_t i)
{
    const float *x = good_row(m, bh, i);
    int64_t found = i + 1;
    double most = -1;
    for (int64_t k = i + 1; k < problem(m)->nq && k <= i + 16; k++) {
        const float *y = good_row(m, bh, k);
        double d2 = 0;
        for (int64_t c = 0; c < problem(m)->dv; c++)
            d2 += ((double)x[c] - y[c]) * ((double)x[c] - y[c]);
        if (d2 > most) {
            most = d2;
            found = k;
        }
    }
    return found;
}

MUTATE(rows_swapped)
{
    const int64_t i = problem(m)->nq / 2;
    const size_t bytes = (size_t)problem(m)->dv * sizeof(float);
    (void)strength, UNUSED(err);
    m->applies = problem(m)->nq > i + 1;
    for (int64_t bh = 0; m->applies && bh < heads(m); bh++) {
        const int64_t other = most_unlike(m, bh, i);
        memcpy(row(m, bh, i), good_row(m, bh, other), bytes);
        memcpy(row(m, bh, other), good_row(m, bh, i), bytes);
    }
    return ASSAY_OK;
}

MUTATE(rows_shifted)
{
    const int64_t nq = problem(m)->nq;
    (void)strength, UNUSED(err);
    m->applies = nq > 1;
    for (int64_t bh = 0; bh < heads(m); bh++)
        for (int64_t i = 1; i < nq; i++) {
            memcpy(row(m, bh, i), good_row(m, bh, i - 1),
                   (size_t)problem(m)->dv * sizeof(float));
            m->lse[bh * nq + i] = m->s->e->lse[bh * nq + i - 1];
        }
    return ASSAY_OK;
}

MUTATE(tile_zero)
{
    (void)strength, UNUSED(err);
    for (int64_t bh = 0; bh < heads(m); bh++)
        zero_rows(m, bh, last_tile(m), problem(m)->nq, 1);
    return ASSAY_OK;
}

MUTATE(tile_stale)
{
    (void)strength, UNUSED(err);
    m->applies = heads(m) > 1;
    for (int64_t bh = 0; bh < heads(m); bh++)
        copy_rows(m, bh, (bh + 1) % heads(m), last_tile(m), problem(m)->nq,
                  true);
    return ASSAY_OK;
}

/* The validator's poison is a NaN in every format. */
MUTATE(tile_unwritten)
{
    const int64_t first = last_tile(m), dv = problem(m)->dv;
    (void)strength, UNUSED(err);
    for (int64_t bh = 0; bh < heads(m); bh++)
        for (int64_t i = first; i < problem(m)->nq; i++)
            for (int64_t c = 0; c < dv; c++)
                row(m, bh, i)[c] = NAN;
    for (int64_t bh = 0; bh < heads(m); bh++)
        m->unwritten[bh] = (double)((problem(m)->nq - first) * dv);
    m->left.o_unwritten = heads(m) * (problem(m)->nq - first) * dv;
    m->left.unwritten_at = (struct assay_place){ 0, 0, first, 0 };
    return ASSAY_OK;
}

MUTATE(stale)
{
    (void)strength, UNUSED(err);
    m->applies = heads(m) > 1;
    for (int64_t bh = 0; bh < heads(m); bh++)
        copy_rows(m, bh, (bh + 1) % heads(m), 0, problem(m)->nq, true);
    return ASSAY_OK;
}

MUTATE(heads_swapped)
{
    (void)strength, UNUSED(err);
    m->applies = heads(m) > 1;
    for (int64_t bh = 0; bh + 1 < heads(m); bh += 2) {
        copy_rows(m, bh, bh + 1, 0, problem(m)->nq, false);
        copy_rows(m, bh + 1, bh, 0, problem(m)->nq, false);
    }
    return ASSAY_OK;
}

MUTATE(head_zero)
{
    (void)strength, UNUSED(err);
    zero_rows(m, heads(m) / 2, 0, problem(m)->nq, 1);
    return ASSAY_OK;
}

MUTATE(block_zero)
{
    const int64_t dv = problem(m)->dv;
    const int64_t n = dv > CHANNELS ? CHANNELS : (dv + 1) / 2;
    (void)strength, UNUSED(err);
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++)
        memset(m->o + mutant_row(m, r) + dv - n, 0, (size_t)n * sizeof(float));
    return ASSAY_OK;
}

MUTATE(block_rotated)
{
    const int64_t dv = problem(m)->dv, n = dv > CHANNELS ? CHANNELS : dv;
    (void)strength, UNUSED(err);
    m->applies = n > 1;
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++) {
        float *x = m->o + mutant_row(m, r), first = x[0];
        memmove(x, x + 1, (size_t)(n - 1) * sizeof *x);
        x[n - 1] = first;
    }
    return ASSAY_OK;
}

/* ---- bytes ---- */

MUTATE(guard)
{
    UNUSED(err);
    m->left.guard_bytes = (int64_t)strength;
    m->left.guard_where = "after o";
    return ASSAY_OK;
}

MUTATE(input)
{
    UNUSED(err);
    m->left.input_bytes = (int64_t)strength;
    return ASSAY_OK;
}

/* ---- a second run ---- */

static void round_out(struct mutant *m, enum assay_rounding rounding)
{
    assay_format_round(assay_format_get(m->s->e->recipe->out_format), rounding,
                       ASSAY_SPECIAL, (size_t)assay_problem_o_elems(problem(m)),
                       m->o, m->o);
    m->rounded = true;
}

/* The last bit of a word. */
static float other_bit(const struct assay_format *format, float x)
{
    const uint32_t code =
        assay_format_encode_one(format, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, x);
    return assay_format_decode_one(format, code ^ 1);
}

/* Runs that left what the mutant has, but for the middle element of O, or of
 * LSE, or nothing. */
static enum assay_status run_again(struct mutant *m, bool in_o, bool in_lse,
                                   struct assay_error *err)
{
    const int64_t n = assay_problem_o_elems(problem(m));
    const int64_t rows = assay_problem_rows(problem(m));
    float *o = NULL;
    double *lse = NULL;
    enum assay_status st = assay_alloc("a second O", n, sizeof *o, &o, err);
    if (st == ASSAY_OK)
        st = assay_alloc("a second LSE", rows, sizeof *lse, &lse, err);
    m->applies = n > 0;
    if (st == ASSAY_OK && m->applies) {
        round_out(m, ASSAY_NEAREST_EVEN);
        for (int64_t r = 0; r < rows; r++)
            lse[r] = m->lse[r] = (float)m->lse[r];
        memcpy(o, m->o, (size_t)n * sizeof *o);
        if (in_o)
            o[n / 2] = other_bit(assay_format_get(m->s->e->recipe->out_format),
                                 o[n / 2]);
        if (in_lse)
            lse[rows / 2] =
                other_bit(assay_format_get(ASSAY_F32), (float)lse[rows / 2]);
        m->left.o = m->o;
        m->left.lse = m->lse;
        m->left.runs = 1;
        candidate_add_run(problem(m), &m->left,
                          &(struct candidate){ .o = o, .lse = lse });
    }
    assay_free(o);
    assay_free(lse);
    return st;
}

MUTATE(repeat_o)
{
    (void)strength;
    return run_again(m, true, false, err);
}

MUTATE(repeat_lse)
{
    (void)strength;
    return run_again(m, false, true, err);
}

MUTATE(repeated)
{
    (void)strength;
    return run_again(m, false, false, err);
}

/* ---- LSE ---- */

MUTATE(lse_missing)
{
    const int64_t rows = assay_problem_rows(problem(m));
    (void)strength, UNUSED(err);
    for (int64_t r = 0; r < rows; r++)
        m->lse[r] = NAN;
    for (int64_t bh = 0; bh < heads(m); bh++)
        m->unwritten[bh] = (double)problem(m)->nq;
    m->left.lse_unwritten = rows;
    m->left.unwritten_at = (struct assay_place){ 0, 0, 0, -1 };
    return ASSAY_OK;
}

MUTATE(lse_base_2)
{
    (void)strength, UNUSED(err);
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++)
        m->lse[r] /= M_LN2;
    return ASSAY_OK;
}

MUTATE(lse_offset)
{
    UNUSED(err);
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++)
        m->lse[r] += strength;
    return ASSAY_OK;
}

MUTATE(lse_constant)
{
    UNUSED(err);
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++) {
        int64_t seen = assay_problem_visible(problem(m), r % problem(m)->nq);
        if (seen > 0)
            m->lse[r] = log((double)seen) + strength;
    }
    return ASSAY_OK;
}

MUTATE(lse_zero)
{
    (void)strength, UNUSED(err);
    memset(m->lse, 0, (size_t)assay_problem_rows(problem(m)) * sizeof *m->lse);
    return ASSAY_OK;
}

MUTATE(lse_rotated)
{
    const int64_t rows = assay_problem_rows(problem(m));
    (void)strength, UNUSED(err);
    m->applies = heads(m) > 1;
    for (int64_t r = 0; r < rows; r++)
        m->lse[r] = m->s->e->lse[(r + problem(m)->nq) % rows];
    return ASSAY_OK;
}

MUTATE(lse_no_mean)
{
    const float *shift = m->s->e->payloads.lse_shift;
    (void)strength, UNUSED(err);
    m->applies = shift != NULL;
    for (int64_t r = 0; shift && r < assay_problem_rows(problem(m)); r++)
        m->lse[r] -= (double)shift[r];
    return ASSAY_OK;
}

MUTATE(lse_exact)
{
    (void)strength, UNUSED(err);
    memcpy(m->lse, m->s->x->lse,
           (size_t)assay_problem_rows(problem(m)) * sizeof *m->lse);
    return ASSAY_OK;
}

MUTATE(exact)
{
    memcpy(m->o, m->s->x->o,
           (size_t)assay_problem_o_elems(problem(m)) * sizeof *m->o);
    return mutate_lse_exact(m, strength, err);
}

/* ---- rows that see no key ---- */

static bool is_dead(const struct mutant *m, int64_t r)
{
    return m->s->e->lse[r] == -INFINITY;
}

MUTATE(dead_lse)
{
    UNUSED(err);
    m->applies = false;
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++)
        if (is_dead(m, r)) {
            m->applies = true;
            m->lse[r] = strength;
        }
    return ASSAY_OK;
}

MUTATE(dead_o)
{
    UNUSED(err);
    m->applies = false;
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++)
        if (is_dead(m, r)) {
            m->applies = true;
            m->o[mutant_row(m, r)] = (float)strength;
        }
    return ASSAY_OK;
}

/* V's scales are a factor of O. */

MUTATE(v_scale_doubled)
{
    (void)strength, UNUSED(err);
    m->applies = m->s->e->payloads.v.scale != ASSAY_SCALE_NONE;
    scale(m, 2);
    return ASSAY_OK;
}

/* ---- honest ---- */

MUTATE(as_emulated)
{
    (void)m, (void)strength, UNUSED(err);
    return ASSAY_OK;
}

MUTATE(truncated)
{
    (void)strength, UNUSED(err);
    round_out(m, ASSAY_TOWARD_ZERO);
    return ASSAY_OK;
}

/* Away from zero: towards it, the step below a power of two is half as large.
 */
MUTATE(one_ulp)
{
    const struct assay_format *out =
        assay_format_get(m->s->e->recipe->out_format);
    UNUSED(err);
    round_out(m, ASSAY_NEAREST_EVEN);
    for (int64_t r = 0; r < assay_problem_rows(problem(m)); r++) {
        if (is_dead(m, r)) /* exactly zero */
            continue;
        float *x = m->o + mutant_row(m, r);
        for (int64_t c = 0; c < problem(m)->dv; c++)
            if ((r * problem(m)->dv + c) % (int64_t)strength == 0)
                x[c] += copysignf((float)assay_format_ulp(out, x[c]), x[c]);
    }
    return ASSAY_OK;
}
