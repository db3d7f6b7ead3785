/* SPDX-License-Identifier: MIT
 *
 * The twin rule: a kernel may be at most twice as far from the exact answer as
 * the emulated recipe is, plus rounding and jitter. FlashAttention's tests
 * compare with a twin in low precision in that way (hopper/test_flash_attn.py
 * of Dao-AILab/flash-attention), but on the largest element alone. Formulas:
 * doc/gates.md, section 7.
 */
#include <math.h>
#include <stdlib.h>

#include "assay/memory.h"
#include "validate/gates.h"

static const double QUANTILES[] = { 0.5, 0.9, 0.99, 1 };

/* |C - X| of a head's rows, and what is allowed. */
struct twins {
    double *c, *most;
    int64_t n;
    double c2, ex2, rest2; /* sums of squares */
};

static void add_pair(struct twins *t, double c, double ex, double rest)
{
    const double factor = gate_get(GATE_TWIN)->factor;
    t->c[t->n] = c;
    t->most[t->n++] = factor * ex + rest;
    t->c2 += c * c;
    t->ex2 += ex * ex;
    t->rest2 += rest * rest;
}

static void offer_twins(struct judging *j, struct twins *t,
                        struct assay_place at, const char *what)
{
    const double factor = gate_get(GATE_TWIN)->factor;
    if (t->n == 0)
        return;
    double most = factor * sqrt(t->ex2) + sqrt(t->rest2);
    if (gate_offer(j, GATE_TWIN, part_used(sqrt(t->c2), most), at))
        gate_note(j, GATE_TWIN,
                  "%s of the head is %.2e from the exact answer, %.2e is "
                  "allowed",
                  what, sqrt(t->c2), gate_allows(j, GATE_TWIN, most));
    assay_sort(t->n, t->c);
    assay_sort(t->n, t->most);
    for (size_t q = 0; q < sizeof QUANTILES / sizeof *QUANTILES; q++) {
        const int64_t i = (int64_t)ceil(QUANTILES[q] * (double)t->n) - 1;
        if (gate_offer(j, GATE_TWIN, part_used(t->c[i], t->most[i]), at))
            gate_note(j, GATE_TWIN,
                      "%s at %g %% of the rows is %.2e from the exact answer, "
                      "%.2e is allowed",
                      what, 100 * QUANTILES[q], t->c[i],
                      gate_allows(j, GATE_TWIN, t->most[i]));
    }
}

/* Rows that are not finite are the finite gate's, those without keys
 * dead-rows'. */
static void collect(const struct sketch *s, int64_t bh, bool lse,
                    struct twins *t)
{
    t->n = 0;
    t->c2 = t->ex2 = t->rest2 = 0;
    for (int64_t r = bh * s->problem.nq; r < (bh + 1) * s->problem.nq; r++) {
        const double x = s->lse_x[r];
        if (!gate_row_sees_keys(s, r))
            continue;
        if (!lse && !s->ce[r].mismatched && !s->cx[r].mismatched &&
            s->ex[r].nonfinite_a == 0)
            add_pair(t, s->cx[r].distance, s->ex[r].distance,
                     s->beyond[r].rounding + judge_row_bar(s, bh) +
                         ASSAY_JITTERS_O * (double)s->jitter_o[r]);
        else if (lse && isfinite(s->lse_c[r]) && isfinite(s->lse_e[r]) &&
                 isfinite(x))
            add_pair(t, fabs(s->lse_c[r] - x), fabs(s->lse_e[r] - x),
                     assay_format_ulp(assay_format_get(ASSAY_F32), (float)x) +
                         s->bar_lse[bh] +
                         ASSAY_JITTERS_LSE * (double)s->jitter_lse[r]);
    }
}

void gate_rule_TWIN(struct judging *j)
{
    const struct assay_problem *p = &j->s->problem;
    struct twins t = { 0 };
    enum assay_status st;
    if (gate_lacks(j, GATE_TWIN, SKETCH_LACKS_EXACT))
        return;
    if ((st = assay_alloc("a head's rows", p->nq, sizeof *t.c, &t.c, j->err)) !=
            ASSAY_OK ||
        (st = assay_alloc("a head's rows", p->nq, sizeof *t.most, &t.most,
                          j->err)) != ASSAY_OK)
        j->st = st;
    for (int64_t bh = 0; st == ASSAY_OK && bh < p->b * p->hq; bh++) {
        const struct assay_place at = { bh / p->hq, bh % p->hq, -1, -1 };
        collect(j->s, bh, false, &t);
        offer_twins(j, &t, at, "O");
        if (j->s->lacks & SKETCH_LACKS_LSE)
            continue;
        collect(j->s, bh, true, &t);
        offer_twins(j, &t, at, "LSE");
    }
    assay_free(t.c);
    assay_free(t.most);
}
