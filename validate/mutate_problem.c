/* SPDX-License-Identifier: MIT
 *
 * Mutations that need an emulation of their own: of a problem with other keys,
 * heads, mask or scales. Without jitter.
 */
#include <math.h>
#include <string.h>

#include "assay/memory.h"
#include "validate/edit.h"

enum { KEY_TILE = 128 };

static const struct assay_problem *problem(const struct mutant *m)
{
    return &m->s->c->problem;
}

static bool is_causal(const struct mutant *m)
{
    return problem(m)->mask == ASSAY_MASK_CAUSAL;
}

/* An answer beside the mutant's. */
struct answer {
    float *o;
    double *lse;
};

static void answer_free(struct answer *a)
{
    assay_free(a->o);
    assay_free(a->lse);
    *a = (struct answer){ 0 };
}

static enum assay_status answer_new(const struct assay_problem *p,
                                    struct answer *a, struct assay_error *err)
{
    *a = (struct answer){ 0 };
    enum assay_status st = assay_alloc("an answer", assay_problem_o_elems(p),
                                       sizeof *a->o, &a->o, err);
    if (st == ASSAY_OK)
        st = assay_alloc("an LSE", assay_problem_rows(p), sizeof *a->lse,
                         &a->lse, err);
    return st;
}

static void copy_row(const struct mutant *m, int64_t r, const float *o,
                     const double *lse, struct answer *to)
{
    const int64_t at = mutant_row(m, r);
    memcpy(to->o + at, o + at, (size_t)problem(m)->dv * sizeof *o);
    to->lse[r] = lse[r];
}

static int64_t seen(const struct mutant *m, int64_t r)
{
    return assay_problem_visible(problem(m), r % problem(m)->nq);
}

/* ---- keys left out ---- */

/* What is left of a problem: all keys but first to end - 1. With `maxima`, LSE
 * becomes the maximum of the scores, that of scores 2^20 times as large by
 * 2^20; O is then of no use. */
struct part {
    int64_t first, end;
    bool maxima;
};

static struct edit edit_of_part(const struct mutant *m, const struct part *part,
                                struct assay_error *err)
{
    struct edit e = edit_of(m->s, err);
    if (part->maxima) {
        e.recipe =
            *assay_recipe_in_form(m->s->e->recipe, ASSAY_SOFTMAX_NOMINAL);
        e.pay.lse_shift = NULL;
        edit_scale(&e, 0x1p20);
    }
    return e;
}

/* Rows whose last keys are among those left out see the keys before, without
 * a mask; those that end before see what they saw. */
static enum assay_status patch_rows(struct mutant *m, const struct part *part,
                                    struct answer *to, struct assay_error *err)
{
    const int64_t rows = assay_problem_rows(problem(m));
    struct answer whole = { 0 }, before = { 0 };
    const float *o = m->s->e->o;
    const double *lse = m->s->e->lse;
    struct edit e = edit_of_part(m, part, err);
    enum assay_status st = answer_new(problem(m), &before, err);
    if (st == ASSAY_OK && part->maxima)
        st = answer_new(problem(m), &whole, err);
    if (e.st == ASSAY_OK && st != ASSAY_OK)
        e.st = st;
    e.p.mask = ASSAY_MASK_NONE;
    edit_drop_keys(&e, part->first, e.p.nk);
    st = edit_run(&e, 0, before.o, before.lse);
    if (st == ASSAY_OK && part->maxima) {
        e = edit_of_part(m, part, err);
        st = edit_run(&e, 0, whole.o, whole.lse);
        o = whole.o;
        lse = whole.lse;
    }
    for (int64_t r = 0; st == ASSAY_OK && r < rows; r++)
        if (seen(m, r) <= part->first)
            copy_row(m, r, o, lse, to);
        else if (seen(m, r) < part->end)
            copy_row(m, r, before.o, before.lse, to);
    answer_free(&whole);
    answer_free(&before);
    return st;
}

static enum assay_status run_part(struct mutant *m, const struct part *part,
                                  struct answer *to, struct assay_error *err)
{
    struct edit e = edit_of_part(m, part, err);
    edit_drop_keys(&e, part->first, part->end);
    enum assay_status st = edit_run(&e, 0, to->o, to->lse);
    if (st == ASSAY_OK && is_causal(m) && part->end > part->first)
        st = patch_rows(m, part, to, err);
    for (int64_t r = 0;
         st == ASSAY_OK && part->maxima && r < assay_problem_rows(problem(m));
         r++)
        to->lse[r] *= 0x1p-20;
    return st;
}

static enum assay_status drop(struct mutant *m, int64_t first, int64_t end,
                              struct assay_error *err)
{
    const struct part part = { first, end, false };
    struct answer to = { m->o, m->lse };
    m->applies = first >= 0 && end <= problem(m)->nk && end > first &&
                 end - first < problem(m)->nk;
    return m->applies ? run_part(m, &part, &to, err) : ASSAY_OK;
}

MUTATE(last_keys)
{
    const int64_t nk = problem(m)->nk;
    return drop(m, nk - (int64_t)round(strength), nk, err);
}

MUTATE(last_share)
{
    const double n = ceil(strength * (double)problem(m)->nk);
    return mutate_last_keys(m, n, err);
}

MUTATE(first_keys)
{
    return drop(m, 0, (int64_t)round(strength), err);
}

MUTATE(middle_keys)
{
    const int64_t n = (int64_t)round(strength);
    const int64_t first = problem(m)->nk / 2 / KEY_TILE * KEY_TILE;
    return drop(m, first, first + n, err);
}

/* ---- K and V in other places ---- */

MUTATE(v_shifted)
{
    struct edit e = edit_of(m->s, err);
    edit_shift(&e, &e.pay.v, (int64_t)strength);
    return edit_run(&e, 0, m->o, m->lse);
}

MUTATE(k_shifted)
{
    struct edit e = edit_of(m->s, err);
    edit_shift(&e, &e.pay.k, (int64_t)strength);
    return edit_run(&e, 0, m->o, m->lse);
}

MUTATE(k_pairs)
{
    struct edit e = edit_of(m->s, err);
    struct assay_payload *k = &e.pay.k;
    const size_t bytes = assay_format_bytes(k->format);
    const uint8_t *from = k->codes;
    (void)strength;
    m->applies = problem(m)->dk % 2 == 0;
    if (!m->applies)
        return ASSAY_OK;
    uint8_t *to = edit_array(&e, k->count, bytes);
    for (int64_t i = 0; to && i < k->count; i++)
        memcpy(to + (size_t)i * bytes, from + (size_t)(i ^ 1) * bytes, bytes);
    if (to)
        k->codes = to;
    return edit_run(&e, 0, m->o, m->lse);
}

/* Query head h takes key head head(h). */
static enum assay_status other_heads(struct mutant *m, bool next,
                                     struct assay_error *err)
{
    const struct assay_problem *p = problem(m);
    struct edit e = edit_of(m->s, err);
    int64_t *head = edit_array(&e, p->hq, sizeof *head);
    for (int64_t h = 0; head && h < p->hq; h++)
        head[h] = next ? (h / (p->hq / p->hk) + 1) % p->hk : h % p->hk;
    if (head) {
        const struct edit_map map = { .heads = p->hq, .head = head };
        edit_gather(&e, &e.pay.k, &map);
        edit_gather(&e, &e.pay.v, &map);
        e.p.hk = p->hq;
    }
    return edit_run(&e, 0, m->o, m->lse);
}

MUTATE(gqa_modulo)
{
    (void)strength;
    m->applies = problem(m)->hk > 1 && problem(m)->hq > problem(m)->hk;
    return m->applies ? other_heads(m, false, err) : ASSAY_OK;
}

MUTATE(gqa_next)
{
    (void)strength;
    m->applies = problem(m)->hk > 1;
    return m->applies ? other_heads(m, true, err) : ASSAY_OK;
}

/* ---- softmax scale ---- */

static enum assay_status scaled(struct mutant *m, double by,
                                struct assay_error *err)
{
    struct edit e = edit_of(m->s, err);
    edit_scale(&e, by);
    return edit_run(&e, 0, m->o, m->lse);
}

MUTATE(scale_up)
{
    return scaled(m, 1 + strength, err);
}

MUTATE(scale_half_width)
{
    (void)strength;
    return scaled(m, M_SQRT2, err);
}

MUTATE(scale_twice)
{
    (void)strength;
    return scaled(m, problem(m)->softmax_scale, err);
}

MUTATE(scale_none)
{
    (void)strength;
    m->applies = problem(m)->softmax_scale != 0;
    return m->applies ? scaled(m, 1 / problem(m)->softmax_scale, err)
                      : ASSAY_OK;
}

/* What a per-tensor K is scaled by once more goes into the scores. */
MUTATE(k_scale_twice)
{
    const struct assay_payload *k = &m->s->e->payloads.k;
    (void)strength;
    m->applies = k->scale == ASSAY_SCALE_TENSOR;
    return m->applies ? scaled(m, (double)k->scales[0], err) : ASSAY_OK;
}

/* ---- mask ---- */

static enum assay_status masked(struct mutant *m, enum assay_mask mask,
                                struct answer *to, struct assay_error *err)
{
    struct edit e = edit_of(m->s, err);
    e.p.mask = mask;
    return edit_run(&e, 0, to->o, to->lse);
}

MUTATE(mask_missing)
{
    struct answer to = { m->o, m->lse };
    (void)strength;
    m->applies = is_causal(m);
    return m->applies ? masked(m, ASSAY_MASK_NONE, &to, err) : ASSAY_OK;
}

MUTATE(mask_added)
{
    struct answer to = { m->o, m->lse };
    (void)strength;
    m->applies = !is_causal(m);
    return m->applies ? masked(m, ASSAY_MASK_CAUSAL, &to, err) : ASSAY_OK;
}

MUTATE(mask_less)
{
    const int64_t n = (int64_t)strength;
    struct edit e = edit_of(m->s, err);
    m->applies = is_causal(m) && problem(m)->nk > n;
    if (!m->applies)
        return ASSAY_OK;
    edit_drop_keys(&e, e.p.nk - n, e.p.nk);
    return edit_run(&e, 0, m->o, m->lse);
}

/* The last rows already see the last key: they stay as they are. */
MUTATE(mask_more)
{
    const int64_t n = (int64_t)strength, rows = assay_problem_rows(problem(m));
    struct edit e = edit_of(m->s, err);
    struct answer to = { m->o, m->lse };
    m->applies = is_causal(m);
    if (!m->applies)
        return ASSAY_OK;
    edit_add_keys(&e, n);
    enum assay_status st = edit_run(&e, 0, m->o, m->lse);
    for (int64_t r = 0; st == ASSAY_OK && r < rows; r++)
        if (seen(m, r) + n > problem(m)->nk)
            copy_row(m, r, m->s->e->o, m->s->e->lse, &to);
    return st;
}

/* Row i sees keys 0 to i: with nk = nq the two masks are one. Where there are
 * fewer keys than queries, keys of zeros are added and the rows that would see
 * them see all keys. */
MUTATE(mask_top_left)
{
    const struct assay_problem *p = problem(m);
    const int64_t rows = assay_problem_rows(p);
    struct answer to = { m->o, m->lse }, all = { 0 };
    struct edit e = edit_of(m->s, err);
    enum assay_status st;
    (void)strength;
    m->applies = is_causal(m) && p->nq != p->nk;
    if (!m->applies)
        return ASSAY_OK;
    if (p->nq < p->nk)
        edit_drop_keys(&e, p->nq, p->nk);
    else
        edit_add_keys(&e, p->nq - p->nk);
    if ((st = edit_run(&e, 0, m->o, m->lse)) != ASSAY_OK || p->nq < p->nk)
        return st;
    st = answer_new(p, &all, err);
    if (st == ASSAY_OK)
        st = masked(m, ASSAY_MASK_NONE, &all, err);
    for (int64_t r = 0; st == ASSAY_OK && r < rows; r++)
        if (r % p->nq >= p->nk)
            copy_row(m, r, all.o, all.lse, &to);
    answer_free(&all);
    return st;
}

/* ---- scales and orders of payloads ---- */

/* V's values after its E8M0 bytes, and the order they are read in, changed. */
static enum assay_status decoded_v(struct mutant *m, struct edit *e,
                                   const struct assay_payload *v)
{
    float *values = edit_array(e, v->count, sizeof *values);
    if (values) {
        assay_payload_values(v, values);
        e->pay.v.codes = values;
    }
    return edit_run(e, 0, m->o, m->lse);
}

static uint8_t *copy_e8m0(struct edit *e, struct assay_payload *x)
{
    uint8_t *to = edit_array(e, x->n_scales, 1);
    if (to) {
        memcpy(to, x->e8m0, (size_t)x->n_scales);
        x->e8m0 = to;
    }
    return to;
}

MUTATE(v_scale_ignored)
{
    struct edit e = edit_of(m->s, err);
    struct assay_payload v = m->s->e->payloads.v;
    (void)strength;
    m->applies = v.scale != ASSAY_SCALE_NONE;
    if (v.scale == ASSAY_SCALE_BLOCK_TOKENS) {
        uint8_t *bytes = copy_e8m0(&e, &v);
        if (bytes)
            memset(bytes, 127, (size_t)v.n_scales); /* 2^0 */
        return decoded_v(m, &e, &v);
    }
    e.pay.v.scale = ASSAY_SCALE_NONE;
    return edit_run(&e, 0, m->o, m->lse);
}

MUTATE(v_scales_shifted)
{
    struct edit e = edit_of(m->s, err);
    const struct assay_payload *v = &m->s->e->payloads.v;
    const int64_t d = problem(m)->dv, by = (int64_t)strength;
    m->applies = v->scale == ASSAY_SCALE_CHANNEL && d > 1;
    if (!m->applies)
        return ASSAY_OK;
    float *to = edit_array(&e, v->n_scales, sizeof *to);
    for (int64_t i = 0; to && i < v->n_scales; i++)
        to[i] = v->scales[i / d * d + (i + by) % d];
    if (to)
        e.pay.v.scales = to;
    return edit_run(&e, 0, m->o, m->lse);
}

/* [b, h, blocks, d]: the first channel of the block in the middle. */
MUTATE(v_block_scale)
{
    struct edit e = edit_of(m->s, err);
    struct assay_payload v = m->s->e->payloads.v;
    const int64_t d = v.tensor.d, heads = v.tensor.b * v.tensor.h;
    m->applies = v.scale == ASSAY_SCALE_BLOCK_TOKENS && problem(m)->nk > 0;
    if (!m->applies)
        return ASSAY_OK;
    uint8_t *bytes = copy_e8m0(&e, &v);
    const int64_t block = problem(m)->nk / 2 / ASSAY_BLOCK_TOKENS;
    for (int64_t h = 0; bytes && h < heads; h++) {
        uint8_t *byte = bytes + (h * (v.n_scales / heads / d) + block) * d;
        *byte = (uint8_t)(*byte + (int)strength);
    }
    return decoded_v(m, &e, &v);
}

MUTATE(v_scale_order)
{
    struct edit e = edit_of(m->s, err);
    struct assay_payload v = m->s->e->payloads.v;
    (void)strength;
    m->applies = v.scale == ASSAY_SCALE_BLOCK_TOKENS &&
                 v.tensor.order != ASSAY_TOKENS_CANONICAL;
    v.tensor.order = ASSAY_TOKENS_CANONICAL;
    return m->applies ? decoded_v(m, &e, &v) : ASSAY_OK;
}

/* Codes lie in the recipe's order and are read as if token t stood at t. */
MUTATE(v_token_order)
{
    struct edit e = edit_of(m->s, err);
    const enum assay_token_order order = m->s->e->payloads.v.tensor.order;
    const int64_t n = problem(m)->nk;
    (void)strength;
    m->applies = m->s->e->payloads.v.scale == ASSAY_SCALE_BLOCK_TOKENS &&
                 order != ASSAY_TOKENS_CANONICAL;
    if (!m->applies)
        return ASSAY_OK;
    int64_t *token = edit_array(&e, n, sizeof *token);
    for (int64_t j = 0; token && j < n; j++) {
        const int slot = (int)(j % ASSAY_FRAME);
        token[j] = j - slot +
                   assay_token(order, slot / ASSAY_BLOCK_TOKENS,
                               slot % ASSAY_BLOCK_TOKENS);
        token[j] = token[j] < n ? token[j] : -1;
    }
    if (token)
        edit_gather(&e, &e.pay.v, &(struct edit_map){ .n = n, .token = token });
    return edit_run(&e, 0, m->o, m->lse);
}

/* [b, s, h, blocks]: the first block of the key in the middle. */
MUTATE(k_block_scale)
{
    struct edit e = edit_of(m->s, err);
    struct assay_payload *k = &e.pay.k;
    const struct assay_tensor *t = &k->tensor;
    m->applies = k->scale == ASSAY_SCALE_BLOCK && t->s > 0;
    if (!m->applies)
        return ASSAY_OK;
    uint8_t *bytes = copy_e8m0(&e, k);
    const int64_t blocks = k->n_scales / (t->b * t->s * t->h);
    for (int64_t bh = 0; bytes && bh < t->b * t->h; bh++) {
        int64_t row = (bh / t->h * t->s + t->s / 2) * t->h + bh % t->h;
        bytes[row * blocks] = (uint8_t)(bytes[row * blocks] + (int)strength);
    }
    return edit_run(&e, 0, m->o, m->lse);
}

/* ---- maxima, and LSE without a part of itself ---- */

static enum assay_status with_maxima(struct mutant *m, bool keep,
                                     struct assay_error *err)
{
    const float *shift = m->s->e->payloads.lse_shift;
    const int64_t rows = assay_problem_rows(problem(m));
    struct answer top;
    enum assay_status st = answer_new(problem(m), &top, err);
    if (st == ASSAY_OK)
        st = run_part(m, &(struct part){ 0, 0, true }, &top, err);
    for (int64_t r = 0; st == ASSAY_OK && r < rows; r++)
        if (isfinite(top.lse[r]))
            m->lse[r] = keep ? top.lse[r] + (shift ? (double)shift[r] : 0)
                             : m->lse[r] - top.lse[r];
    answer_free(&top);
    return st;
}

MUTATE(lse_no_max)
{
    (void)strength;
    return with_maxima(m, false, err);
}

MUTATE(lse_no_sum)
{
    (void)strength;
    return with_maxima(m, true, err);
}

MUTATE(lse_no_scale)
{
    enum assay_status st = mutate_scale_none(m, strength, err);
    memcpy(m->o, m->s->e->o,
           (size_t)assay_problem_o_elems(problem(m)) * sizeof *m->o);
    return st;
}

/* ---- two parts of the keys, put together wrongly ---- */

struct halves {
    struct answer part[2]; /* the first keys, the others */
};

static enum assay_status halves_new(struct mutant *m, double share,
                                    struct halves *x, struct assay_error *err)
{
    const int64_t nk = problem(m)->nk;
    const int64_t wanted = (int64_t)(share * (double)nk);
    const int64_t cut =
        wanted >= KEY_TILE ? wanted / KEY_TILE * KEY_TILE : wanted;
    const struct part parts[2] = { { cut, nk, false }, { 0, cut, false } };
    enum assay_status st = ASSAY_OK;
    *x = (struct halves){ 0 };
    m->applies = cut > 0 && cut < nk;
    for (int i = 0; m->applies && st == ASSAY_OK && i < 2; i++) {
        st = answer_new(problem(m), &x->part[i], err);
        if (st == ASSAY_OK)
            st = run_part(m, &parts[i], &x->part[i], err);
    }
    return st;
}

static void halves_free(struct halves *x)
{
    answer_free(&x->part[0]);
    answer_free(&x->part[1]);
}

/* O of a row from the parts by weights, over a sum of weights. */
static void put_together(struct mutant *m, const struct halves *x, int64_t r,
                         double w0, double w1, double sum)
{
    const int64_t at = mutant_row(m, r);
    for (int64_t c = at; c < at + problem(m)->dv; c++)
        m->o[c] = (float)((w0 * x->part[0].o[c] + w1 * x->part[1].o[c]) / sum);
}

/* Weights 2^LSE, or 1 each. */
static enum assay_status merge(struct mutant *m, double share, bool base_2,
                               struct assay_error *err)
{
    struct halves x;
    enum assay_status st = halves_new(m, share, &x, err);
    for (int64_t r = 0;
         st == ASSAY_OK && m->applies && r < assay_problem_rows(problem(m));
         r++) {
        const double a = x.part[0].lse[r], b = x.part[1].lse[r];
        if (!isfinite(a) || !isfinite(b))
            continue; /* one part alone has the row */
        const double w = base_2 ? exp((b - a) / M_LN2) : 1;
        put_together(m, &x, r, 1, w, 1 + w);
    }
    halves_free(&x);
    return st;
}

MUTATE(merge_base_2)
{
    return merge(m, strength, true, err);
}

MUTATE(merge_mean)
{
    return merge(m, strength, false, err);
}

enum forgotten { FORGET_O = 1, FORGET_SUM = 2 };

/* Where the maximum rises, what is forgotten of the first part is exp(m1 - m0)
 * too large beside that of the second. */
static void forget_rescale(struct mutant *m, const struct halves *x,
                           const struct halves *top, int what, int64_t r)
{
    const double rise = top->part[1].lse[r] - top->part[0].lse[r];
    if (!(rise > 0) || !isfinite(rise))
        return;
    const double a = x->part[0].lse[r], b = x->part[1].lse[r],
                 large = a + rise > b ? a + rise : b, right = exp(a - large),
                 stays = exp(a + rise - large),
                 sum = (what & FORGET_SUM ? stays : right) + exp(b - large);
    put_together(m, x, r, what & FORGET_O ? stays : right, exp(b - large), sum);
    if (what & FORGET_SUM)
        m->lse[r] = large + log(sum);
}

static enum assay_status without_rescale(struct mutant *m, double strength,
                                         int what, struct assay_error *err)
{
    struct halves x, top = { 0 };
    enum assay_status st = halves_new(m, strength, &x, err);
    const int64_t nk = problem(m)->nk;
    const int64_t half = (int64_t)(strength * (double)nk);
    const int64_t cut = half >= KEY_TILE ? half / KEY_TILE * KEY_TILE : half;
    const struct part parts[2] = { { cut, nk, true }, { 0, cut, true } };
    for (int i = 0; m->applies && st == ASSAY_OK && i < 2; i++) {
        st = answer_new(problem(m), &top.part[i], err);
        if (st == ASSAY_OK)
            st = run_part(m, &parts[i], &top.part[i], err);
    }
    for (int64_t r = 0;
         st == ASSAY_OK && m->applies && r < assay_problem_rows(problem(m));
         r++)
        forget_rescale(m, &x, &top, what, r);
    halves_free(&x);
    halves_free(&top);
    return st;
}

MUTATE(no_rescale)
{
    return without_rescale(m, strength, FORGET_O | FORGET_SUM, err);
}

MUTATE(no_rescale_o)
{
    return without_rescale(m, strength, FORGET_O, err);
}

MUTATE(no_rescale_sum)
{
    return without_rescale(m, strength, FORGET_SUM, err);
}

/* ---- another contract, and honest key tiles ---- */

MUTATE(whole_sum)
{
    struct edit e = edit_of(m->s, err);
    (void)strength;
    m->applies =
        assay_softmax_get(e.recipe.softmax)->kind == ASSAY_KIND_ONLINE &&
        !assay_softmax_get(e.recipe.softmax)->whole_sum;
    e.recipe.softmax = ASSAY_SOFTMAX_WHOLE_SUM;
    return m->applies ? edit_run(&e, 0, m->o, m->lse) : ASSAY_OK;
}

MUTATE(p_unrounded)
{
    struct edit e = edit_of(m->s, err);
    (void)strength;
    m->applies = assay_softmax_get(e.recipe.softmax)->kind == ASSAY_KIND_ONLINE;
    e.recipe.p_format = ASSAY_F32;
    e.recipe.p_blocks = false;
    return m->applies ? edit_run(&e, 0, m->o, m->lse) : ASSAY_OK;
}

MUTATE(key_tile)
{
    struct edit e = edit_of(m->s, err);
    const int64_t tile = (int64_t)strength;
    m->applies =
        assay_softmax_get(e.recipe.softmax)->kind == ASSAY_KIND_ONLINE &&
        (!e.recipe.p_blocks || tile % ASSAY_FRAME == 0);
    return m->applies ? edit_run(&e, tile, m->o, m->lse) : ASSAY_OK;
}
