/* SPDX-License-Identifier: MIT
 *
 * Rules of gates that go over rows: a row at a time, and a head's rows
 * together. Distances are in jitters, the golden's error bar at the least.
 * Formulas: doc/gates.md, sections 3, 4 and 6.
 */
#include <math.h>

#include "validate/gates.h"

double judge_allowance(double jitters, double bar)
{
    return jitters > 0 && bar > jitters ? bar : jitters;
}

/* What limit 1 allows a row. */
static double allowance(enum gate gate, double jitter, double bar)
{
    return judge_allowance(gate_get(gate)->factor * jitter, bar);
}

static double allowed(struct judging *j, enum gate gate, double jitter,
                      double bar, struct assay_place at, const char *unit)
{
    if (jitter > 0)
        gate_check_bar(j, gate, gate_get(gate)->factor * jitter, bar, at, unit);
    return allowance(gate, jitter, bar);
}

/* A row that is not finite is the finite gate's. */
static bool row_judged(const struct sketch *s, int64_t r)
{
    return s->ce[r].nonfinite_b == 0;
}

bool gate_row_sees_keys(const struct sketch *s, int64_t r)
{
    return s->lse_e[r] != -INFINITY &&
           assay_problem_visible(&s->problem, r % s->problem.nq) > 0;
}

static bool lse_judged(const struct sketch *s, int64_t r)
{
    return assay_same_class(s->lse_c[r], s->lse_e[r]) && isfinite(s->lse_e[r]);
}

double judge_row_bar(const struct sketch *s, int64_t bh)
{
    return s->bar_o[bh] * sqrt((double)s->problem.dv);
}

double judge_lse_off(double c, double e)
{
    const double ulp = assay_format_ulp(assay_format_get(ASSAY_F32), (float)e),
                 d = c - e;
    return fabs(d) <= ulp ? 0 : d - copysign(ulp, d);
}

static double lse_off(const struct sketch *s, int64_t r)
{
    return judge_lse_off(s->lse_c[r], s->lse_e[r]);
}

void gate_rule_BOUND(struct judging *j)
{
    const struct sketch *s = j->s;
    if (gate_lacks(j, GATE_BOUND, SKETCH_LACKS_JITTER))
        return;
    for (int64_t r = 0; r < assay_problem_rows(&s->problem); r++) {
        const struct assay_row_beyond *x = &s->beyond[r];
        struct assay_place at = assay_row_place(&s->problem, r);
        at.c = x->bound_c;
        if (row_judged(s, r) && gate_offer(j, GATE_BOUND, x->bound_part, at))
            gate_note(j, GATE_BOUND,
                      "an element is %.3g times the most that any legal kernel "
                      "is off",
                      x->bound_part);
    }
}

void gate_rule_BUILD(struct judging *j)
{
    const struct sketch *s = j->s;
    for (int64_t r = 0; r < assay_problem_rows(&s->problem); r++) {
        const struct assay_place at = assay_row_place(&s->problem, r);
        const int64_t bh = r / s->problem.nq;
        if (!row_judged(s, r))
            continue;
        const double d = s->beyond[r].beyond,
                     most = allowed(j, GATE_BUILD, (double)s->jitter_o[r],
                                    judge_row_bar(s, bh), at, "");
        if (gate_offer(j, GATE_BUILD, part_used(d, most), at))
            gate_note(j, GATE_BUILD,
                      "the row is %.2e off (L2, its rounding taken off), %.2e "
                      "is allowed, its norm is %.2e",
                      d, gate_allows(j, GATE_BUILD, most), s->ce[r].norm_b);
    }
}

void gate_rule_LSE(struct judging *j)
{
    const struct sketch *s = j->s;
    if (gate_lacks_lse(j, GATE_LSE))
        return;
    for (int64_t r = 0; r < assay_problem_rows(&s->problem); r++) {
        const struct assay_place at = assay_row_place(&s->problem, r);
        if (!lse_judged(s, r))
            continue;
        const double most = allowed(j, GATE_LSE, (double)s->jitter_lse[r],
                                    s->bar_lse[r / s->problem.nq], at, " nats");
        if (gate_offer(j, GATE_LSE, part_used(fabs(lse_off(s, r)), most), at))
            gate_note(j, GATE_LSE, "%.6f nats, should be %.6f within %.1e",
                      s->lse_c[r], s->lse_e[r], gate_allows(j, GATE_LSE, most));
    }
}

double judge_row_used(const struct sketch *s, const struct gate_result *gates,
                      int64_t r)
{
    const struct assay_row_beyond *x = &s->beyond[r];
    if (s->ce[r].mismatched)
        return NAN;
    if (!row_judged(s, r))
        return 0;
    const double most = allowance(GATE_BUILD, (double)s->jitter_o[r],
                                  judge_row_bar(s, r / s->problem.nq));
    return assay_worst(
        part_used(part_used(x->beyond, most), gates[GATE_BUILD].limit.value),
        part_used(x->bound_part, gates[GATE_BOUND].limit.value));
}

double judge_row_used_lse(const struct sketch *s,
                          const struct gate_result *gates, int64_t r)
{
    if (!assay_same_class(s->lse_c[r], s->lse_e[r]))
        return NAN;
    if (!lse_judged(s, r))
        return 0;
    const double most = allowance(GATE_LSE, (double)s->jitter_lse[r],
                                  s->bar_lse[r / s->problem.nq]);
    return part_used(part_used(fabs(lse_off(s, r)), most),
                     gates[GATE_LSE].limit.value);
}

/* ---- a head's rows together ---- */

/* A row's distance in jitters, 0 where both are; the bar counts as a jitter. */
static double jitters(double d, double jitter, double bar, double factor)
{
    return part_used(d, jitter > 0 ? fmax(jitter, bar / factor) : jitter);
}

struct means {
    int64_t n;
    double sum, square;
};

static void add(struct means *m, double x)
{
    m->n++;
    m->sum += x;
    m->square += x * x;
}

static struct means lse_means(const struct sketch *s, int64_t bh)
{
    struct means m = { 0 };
    const double factor = gate_get(GATE_LSE)->factor;
    for (int64_t r = bh * s->problem.nq; r < (bh + 1) * s->problem.nq; r++)
        if (lse_judged(s, r))
            add(&m, jitters(lse_off(s, r), (double)s->jitter_lse[r],
                            s->bar_lse[bh], factor));
    return m;
}

static struct means build_means(const struct sketch *s, int64_t bh)
{
    struct means m = { 0 };
    const double factor = gate_get(GATE_BUILD)->factor;
    for (int64_t r = bh * s->problem.nq; r < (bh + 1) * s->problem.nq; r++)
        if (row_judged(s, r) && gate_row_sees_keys(s, r))
            add(&m, jitters(s->beyond[r].beyond, (double)s->jitter_o[r],
                            judge_row_bar(s, bh), factor));
    return m;
}

static void offer_mean(struct judging *j, enum gate gate, int64_t bh, int64_t n,
                       double value, const char *what)
{
    const struct assay_problem *p = &j->s->problem;
    const struct assay_place at = { bh / p->hq, bh % p->hq, -1, -1 };
    if (n == 0)
        return;
    const double most = gate_factor(gate, n);
    if (gate_offer(j, gate, part_used(value, most), at))
        gate_note(j, gate, "%s %.3g jitters over %lld rows, %.2f are allowed",
                  what, value, (long long)n, gate_allows(j, gate, most));
}

/* Without a jitter there is no mean in jitters: `build` and `lse` allow no row
 * anything then. */
void gate_rule_BUILD_RMS(struct judging *j)
{
    if (gate_lacks(j, GATE_BUILD_RMS, SKETCH_LACKS_JITTER))
        return;
    for (int64_t bh = 0; bh < j->s->problem.b * j->s->problem.hq; bh++) {
        const struct means m = build_means(j->s, bh);
        offer_mean(j, GATE_BUILD_RMS, bh, m.n, sqrt(m.square / (double)m.n),
                   "O is off by a mean of");
    }
}

void gate_rule_LSE_RMS(struct judging *j)
{
    if (gate_lacks_lse(j, GATE_LSE_RMS) ||
        gate_lacks(j, GATE_LSE_RMS, SKETCH_LACKS_JITTER))
        return;
    for (int64_t bh = 0; bh < j->s->problem.b * j->s->problem.hq; bh++) {
        const struct means m = lse_means(j->s, bh);
        offer_mean(j, GATE_LSE_RMS, bh, m.n, sqrt(m.square / (double)m.n),
                   "LSE is off by a mean of");
    }
}

void gate_rule_LSE_MEAN(struct judging *j)
{
    if (gate_lacks_lse(j, GATE_LSE_MEAN) ||
        gate_lacks(j, GATE_LSE_MEAN, SKETCH_LACKS_JITTER))
        return;
    for (int64_t bh = 0; bh < j->s->problem.b * j->s->problem.hq; bh++) {
        const struct means m = lse_means(j->s, bh);
        offer_mean(j, GATE_LSE_MEAN, bh, m.n, fabs(m.sum) / (double)m.n,
                   "LSE is moved one way by");
    }
}
