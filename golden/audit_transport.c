/* SPDX-License-Identifier: MIT */
#include "golden/audit_transport.h"

#include <inttypes.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/operand.h"
#include "assay/smooth.h"

/* What is being done: one case behind one transport. */
struct trip {
    const struct audit_transport *by;
    const struct assay_recipe *recipe;
    const struct assay_problem *p;
    const struct assay_inputs *in;
    const struct assay_run *run;
    struct assay_transport how;
    float *o;
    double *lse;
};

static struct assay_transport how_of(const struct audit_transport *t,
                                     const struct assay_recipe *recipe,
                                     const struct assay_problem *p)
{
    struct assay_transport how = { 0 };
    if (t->profile) {
        how = assay_transport_of(t->profile, t->ranks, p->softmax_scale);
        how.order = recipe->order; /* a softmax form may fix it */
        how.compact = true;
    } else {
        how.qk = how.v = t->codec->id;
        how.ranks = t->ranks;
        how.multiple = 1;
        how.rotated = ASSAY_ROTATED_NEVER;
    }
    return how;
}

bool audit_transport_serves(const struct audit_transport *t,
                            const struct assay_recipe *recipe)
{
    return !t->profile || strcmp(t->profile->recipe, recipe->name) == 0;
}

bool audit_transport_fits(const struct audit_transport *t,
                          const struct assay_recipe *recipe,
                          const struct assay_problem *p,
                          const struct assay_format *word,
                          struct assay_error *err)
{
    const struct assay_transport how = how_of(t, recipe, p);
    if (assay_transport_check(&how, err) != ASSAY_OK)
        return false;
    if (p->dk != ASSAY_TRANSPORT_WIDTH || p->dv != ASSAY_TRANSPORT_WIDTH)
        assay_fail(err, ASSAY_SHAPE,
                   "transport is for heads 128 wide, not %" PRId64
                   " and %" PRId64,
                   p->dk, p->dv);
    else if (p->nq < 1 || p->nk < 1)
        assay_fail(err, ASSAY_SHAPE, "there are no tokens to transport");
    else if (p->hq % t->ranks != 0 || p->hk % t->ranks != 0)
        assay_fail(err, ASSAY_SHAPE,
                   "%" PRId64 " query and %" PRId64
                   " key heads cannot go to %d ranks, which hold whole heads",
                   p->hq, p->hk, t->ranks);
    else if (word->id != ASSAY_BF16)
        assay_fail(err, ASSAY_SHAPE, "transport takes bf16, not %s",
                   word->name);
    else if (t->profile && p->mask != ASSAY_MASK_NONE &&
             assay_transport_rank_tokens(&how, p->nq) * t->ranks != p->nq)
        assay_fail(err, ASSAY_SHAPE,
                   "%" PRId64 " queries are padded on %d ranks, and a causal "
                   "mask would be that of the padding",
                   p->nq, t->ranks);
    else
        return true;
    return false;
}

/* ---- native: values arrive ---- */

static enum assay_status pass_values(const struct trip *t, enum assay_role role,
                                     int64_t tokens, int64_t heads,
                                     const float *x, float *y,
                                     struct assay_error *err)
{
    const struct assay_exchange back = {
        t->how.ranks, tokens, assay_transport_rank_tokens(&t->how, tokens),
        heads, ASSAY_TRANSPORT_WIDTH * sizeof *x
    };
    enum assay_status st = ASSAY_OK;
    for (int64_t b = 0; b < t->p->b; b++) {
        const int64_t at = b * tokens * heads * ASSAY_TRANSPORT_WIDTH;
        for (int rank = 0; st == ASSAY_OK && rank < t->how.ranks; rank++) {
            struct assay_arrival arrival;
            st = assay_transport_send(&t->how, role, rank, tokens, heads,
                                      x + at, &arrival, err);
            if (st == ASSAY_OK)
                assay_exchange_return(&back, rank, arrival.values, y + at);
            assay_arrival_free(&arrival);
        }
    }
    return st;
}

static enum assay_status native_answer(const struct trip *t,
                                       struct assay_error *err)
{
    const struct assay_problem *p = t->p;
    const int64_t nq = p->b * p->nq * p->hq * p->dk,
                  nk = p->b * p->nk * p->hk * p->dk;
    struct assay_payloads payloads = { 0 };
    float *q = NULL, *k = NULL, *v = NULL;
    enum assay_status st;
    if ((st = assay_alloc("received Q", nq, sizeof *q, &q, err)) == ASSAY_OK &&
        (st = assay_alloc("received K", nk, sizeof *k, &k, err)) == ASSAY_OK &&
        (st = assay_alloc("received V", nk, sizeof *v, &v, err)) == ASSAY_OK &&
        (st = pass_values(t, ASSAY_ROLE_Q, p->nq, p->hq, t->in->q, q, err)) ==
            ASSAY_OK &&
        (st = pass_values(t, ASSAY_ROLE_K, p->nk, p->hk, t->in->k, k, err)) ==
            ASSAY_OK &&
        (st = pass_values(t, ASSAY_ROLE_V, p->nk, p->hk, t->in->v, v, err)) ==
            ASSAY_OK &&
        (st = assay_recipe_quantize(t->recipe, p, t->in->format, NULL, q, k, v,
                                    &payloads, err)) == ASSAY_OK)
        st = assay_recipe_emulate(t->recipe, p, &payloads, t->o, t->lse, NULL,
                                  t->run, err);
    assay_payloads_free(&payloads);
    assay_free(q);
    assay_free(k);
    assay_free(v);
    return st;
}

/* ---- packed: operands arrive, a rank's heads at a time ---- */

/* Of one batch: K without its mean, and what that takes off the LSE. */
struct smoothed {
    const float *q, *v;
    float *k, *delta;
    int64_t b;
};

/* The answer of the heads that a rank holds, into their places. */
static enum assay_status rank_answer(const struct trip *t,
                                     const struct smoothed *x, int rank,
                                     const struct assay_payloads *payloads,
                                     struct assay_error *err)
{
    const struct assay_problem *p = t->p;
    const int64_t heads = p->hq / t->how.ranks;
    struct assay_problem own = *p;
    own.b = 1;
    own.hq = heads;
    own.hk = p->hk / t->how.ranks;
    own.nq = payloads->q.tensor.s;
    float *o = NULL;
    double *lse = NULL;
    enum assay_status st;
    if ((st = assay_alloc("a rank's output", assay_problem_o_elems(&own),
                          sizeof *o, &o, err)) == ASSAY_OK &&
        (st = assay_alloc("a rank's LSE", assay_problem_rows(&own), sizeof *lse,
                          &lse, err)) == ASSAY_OK)
        st = assay_recipe_emulate(t->recipe, &own, payloads, o, lse, NULL,
                                  t->run, err);
    if (st == ASSAY_OK) {
        const struct assay_exchange back = {
            t->how.ranks, p->nq, assay_transport_rank_tokens(&t->how, p->nq),
            p->hq, (size_t)p->dv * sizeof *o
        };
        assay_exchange_return(&back, rank, o,
                              t->o + x->b * p->nq * p->hq * p->dv);
        for (int64_t h = 0; h < heads; h++)
            memcpy(t->lse + ((x->b * p->hq) + rank * heads + h) * p->nq,
                   lse + h * own.nq, (size_t)p->nq * sizeof *lse);
    }
    assay_free(o);
    assay_free(lse);
    return st;
}

static enum assay_status one_rank(const struct trip *t,
                                  const struct smoothed *x, int rank,
                                  struct assay_error *err)
{
    const struct assay_problem *p = t->p;
    const struct {
        enum assay_role role;
        int64_t tokens, heads;
        const float *x;
    } roles[ASSAY_ROLES] = {
        { ASSAY_ROLE_Q, p->nq, p->hq, x->q },
        { ASSAY_ROLE_K, p->nk, p->hk, x->k },
        { ASSAY_ROLE_V, p->nk, p->hk, x->v },
    };
    struct assay_arrival arrived[ASSAY_ROLES] = { 0 };
    enum assay_status st = ASSAY_OK;
    for (int i = 0; st == ASSAY_OK && i < ASSAY_ROLES; i++)
        st = assay_transport_send(&t->how, roles[i].role, rank, roles[i].tokens,
                                  roles[i].heads, roles[i].x, &arrived[i], err);
    if (st == ASSAY_OK) {
        const struct assay_payloads payloads = { .q = arrived[0].payload,
                                                 .k = arrived[1].payload,
                                                 .v = arrived[2].payload };
        st = rank_answer(t, x, rank, &payloads, err);
    }
    for (int i = 0; i < ASSAY_ROLES; i++)
        assay_arrival_free(&arrived[i]);
    return st;
}

/* K's mean over all tokens is taken off before K travels; `one` is the problem
 * of one batch. */
static enum assay_status take_mean(const struct trip *t,
                                   const struct assay_problem *one,
                                   const float *k, struct smoothed *x,
                                   struct assay_error *err)
{
    struct assay_k_mean to = { 0 };
    enum assay_status st = assay_alloc("a K mean", one->hk * one->dk,
                                       sizeof *to.mean, &to.mean, err);
    if (st == ASSAY_OK)
        st = assay_k_mean_compute(one, k, ASSAY_SMOOTHING_GATED, &to, err);
    if (st == ASSAY_OK)
        st = assay_k_mean_lse_delta(
            one, assay_recipe_lse_word(t->recipe, t->in->format), x->q, to.mean,
            x->delta, err);
    const struct assay_operand from = { 1, one->nk, one->hk, one->dk,
                                        k, to.mean, 1 };
    if (st == ASSAY_OK)
        st = assay_operand_prepare(
            assay_rotation_order_get(ASSAY_ROTATION_UNROTATED), t->in->format,
            &from, x->k, err);
    assay_free(to.mean);
    return st;
}

static enum assay_status one_batch(const struct trip *t, struct smoothed *x,
                                   struct assay_error *err)
{
    struct assay_problem one = *t->p;
    one.b = 1;
    const int64_t q_elems = one.nq * one.hq * one.dk,
                  k_elems = one.nk * one.hk * one.dk;
    const float *k = t->in->k + x->b * k_elems;
    enum assay_status st = ASSAY_OK;
    x->q = t->in->q + x->b * q_elems;
    x->v = t->in->v + x->b * k_elems;
    if (t->recipe->smooth)
        st = take_mean(t, &one, k, x, err);
    else
        memcpy(x->k, k, (size_t)k_elems * sizeof *k);
    for (int rank = 0; st == ASSAY_OK && rank < t->how.ranks; rank++)
        st = one_rank(t, x, rank, err);
    for (int64_t r = 0;
         st == ASSAY_OK && t->recipe->smooth && r < one.hq * one.nq; r++)
        t->lse[x->b * one.hq * one.nq + r] += (double)x->delta[r];
    return st;
}

static enum assay_status packed_answer(const struct trip *t,
                                       struct assay_error *err)
{
    const struct assay_problem *p = t->p;
    struct smoothed x = { 0 };
    enum assay_status st;
    if ((st = assay_alloc("K without its mean", p->nk * p->hk * p->dk,
                          sizeof *x.k, &x.k, err)) == ASSAY_OK)
        st = assay_alloc("an LSE shift", p->hq * p->nq, sizeof *x.delta,
                         &x.delta, err);
    for (; st == ASSAY_OK && x.b < p->b; x.b++)
        st = one_batch(t, &x, err);
    assay_free(x.k);
    assay_free(x.delta);
    return st;
}

enum assay_status audit_transport_answer(const struct audit_transport *t,
                                         const struct assay_recipe *recipe,
                                         const struct assay_problem *p,
                                         const struct assay_inputs *in,
                                         const struct assay_run *run, float *o,
                                         double *lse, double bits[3],
                                         struct assay_error *err)
{
    const struct trip trip = { t, recipe, p, in, run, how_of(t, recipe, p),
                               o, lse };
    for (int role = 0; role < ASSAY_ROLES; role++)
        bits[role] = assay_transport_bits(&trip.how, (enum assay_role)role);
    return t->profile ? packed_answer(&trip, err) : native_answer(&trip, err);
}
