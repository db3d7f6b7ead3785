/* SPDX-License-Identifier: MIT
 *
 * Rules of gates. Every one accepts in the positive: a NaN fails. Formulas:
 * doc/gates.md, section 6.
 */
#include "validate/gates.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden/text.h"
#include "golden/term.h"

static void mark(struct judging *j, enum gate gate, int64_t bh)
{
    j->heads_gates[bh] |= 1u << gate;
}

bool gate_offer(struct judging *j, enum gate gate, double value,
                struct assay_place at)
{
    struct gate_result *g = &j->gates[gate];
    g->judged = true;
    if (!(value <= g->limit.value)) {
        g->pass = false;
        if (at.h >= 0)
            mark(j, gate, at.b * j->s->problem.hq + at.h);
    }
    if (isnan(g->value) || value <= g->value)
        return false;
    g->value = value;
    g->at = at;
    return true;
}

void gate_note(struct judging *j, enum gate gate, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_print_args(j->gates[gate].note, sizeof j->gates[gate].note, format,
                    args);
    va_end(args);
}

void gate_check_bar(struct judging *j, enum gate gate, double allowed,
                    double bar, struct assay_place at, const char *unit)
{
    const struct limit *l = &j->gates[gate].limit;
    struct below_bar *b = &j->below;
    if (l->source == LIMIT_DEFAULT || l->value * allowed >= bar)
        return;
    if (!b->any || (b->gate == gate && bar / allowed > b->bar / b->allowed))
        *b = (struct below_bar){ true, gate, allowed, bar, at, unit };
}

/* Three digits, upwards: it must be taken as it is printed. */
static double least_limit(double allowed, double bar)
{
    const double least = bar / allowed, step = pow(10, floor(log10(least)) - 2);
    double n = ceil(least / step);
    char text[32];
    do
        snprintf(text, sizeof text, "%.3g", n++ * step);
    while (strtod(text, NULL) * allowed < bar);
    return strtod(text, NULL);
}

enum assay_status gate_below_bar(const struct judging *j,
                                 const struct result *r,
                                 struct assay_error *err)
{
    const struct below_bar *b = &j->below;
    const struct limit *l = &j->gates[b->gate].limit;
    char place[96], least[64] = "no limit can be met there";
    judge_place_text(b->at, place, sizeof place);
    if (isfinite(b->bar / b->allowed))
        snprintf(least, sizeof least, "the least that it may be there is %.3g",
                 least_limit(b->allowed, b->bar));
    return assay_fail(err, ASSAY_USAGE,
                      "the limit %g of gate %s (%s) allows %.2e%s%s in case "
                      "%s, recipe %s, where the golden's own error bar is "
                      "%.2e: %s",
                      l->value, gate_get(b->gate)->name,
                      limit_source_name(l->source), l->value * b->allowed,
                      b->unit, place, r->case_name ? r->case_name : "?",
                      r->recipe->name, b->bar, least);
}

double part_used(double value, double allowed)
{
    return value == 0 ? 0 : value / allowed;
}

double gate_allows(const struct judging *j, enum gate gate, double one)
{
    return j->gates[gate].limit.value * one;
}

double gate_factor(enum gate gate, int64_t n)
{
    const struct gate_row *g = gate_get(gate);
    return g->factor + (g->one - g->factor) / sqrt((double)n);
}

static const struct assay_place nowhere = { -1, -1, -1, -1 };

void gate_rule_INTEGRITY(struct judging *j)
{
    const struct sketch *s = j->s;
    /* not as integers: those of a record may be as large as they are */
    const double unwritten = (double)s->o_unwritten + (double)s->lse_unwritten,
                 value = (double)s->guard_bytes + (double)s->input_bytes +
                         unwritten;
    if (s->saved && value == 0)
        return;
    gate_offer(j, GATE_INTEGRITY, value,
               unwritten > 0 ? s->unwritten_at : nowhere);
    for (int64_t bh = 0; bh < s->problem.b * s->problem.hq; bh++)
        if (!j->gates[GATE_INTEGRITY].pass && s->unwritten[bh] > 0)
            mark(j, GATE_INTEGRITY, bh);
    if (value > 0)
        gate_note(j, GATE_INTEGRITY,
                  "%" PRId64 " guard bytes%s%s and %" PRId64
                  " input bytes changed, %" PRId64 " outputs and %" PRId64
                  " LSE not written",
                  s->guard_bytes, s->guard_where[0] ? " " : "", s->guard_where,
                  s->input_bytes, s->o_unwritten, s->lse_unwritten);
}

bool gate_lacks(struct judging *j, enum gate gate, enum sketch_lack what)
{
    const struct limit *l = &j->gates[gate].limit;
    if (!(j->s->lacks & what))
        return false;
    if (l->source != LIMIT_DEFAULT && j->st == ASSAY_OK)
        j->st = assay_fail(j->err, ASSAY_USAGE,
                           "gate %s has a limit (%s) and cannot be judged: the "
                           "set has no %s",
                           gate_get(gate)->name, limit_source_name(l->source),
                           what == SKETCH_LACKS_EXACT    ? "exact answer"
                           : what == SKETCH_LACKS_JITTER ? "jitter"
                                                         : "LSE");
    return true;
}

bool gate_lacks_lse(struct judging *j, enum gate gate)
{
    struct gate_result *g = &j->gates[gate];
    if (gate_lacks(j, gate, SKETCH_LACKS_LSE))
        return true;
    if (!j->s->no_lse)
        return false;
    if (g->limit.source == LIMIT_DEFAULT)
        return true;
    g->judged = true;
    g->pass = false;
    g->value = NAN;
    gate_note(j, gate, "a limit is set for it and no LSE was delivered");
    return true;
}

void gate_rule_REPEAT(struct judging *j)
{
    const struct sketch *s = j->s;
    if (s->runs < 2)
        return;
    if (gate_offer(j, GATE_REPEAT, (double)s->runs_differ, nowhere) &&
        s->runs_differ > 0)
        gate_note(j, GATE_REPEAT,
                  "%" PRId64 " of %" PRId64 " repeated runs left other bits, "
                  "the first was run %" PRId64,
                  s->runs_differ, s->runs - 1, s->first_differs);
}

static const char *class_name(double x)
{
    return isnan(x) ? "NaN" : isinf(x) ? x > 0 ? "+inf" : "-inf" : "finite";
}

/* Counts per row would let many rows with one NaN look mild: one count. */
void gate_rule_FINITE(struct judging *j)
{
    const struct sketch *s = j->s;
    int64_t bad = 0;
    struct gate_result *g = &j->gates[GATE_FINITE];
    for (int64_t r = 0; r < assay_problem_rows(&s->problem); r++) {
        struct assay_place at = assay_row_place(&s->problem, r);
        at.c = s->ce[r].mismatched_c;
        bool lse = !assay_same_class(s->lse_c[r], s->lse_e[r]);
        if (!s->ce[r].mismatched && !lse)
            continue;
        if (bad == 0 && !s->ce[r].mismatched)
            gate_note(j, GATE_FINITE, "LSE is %s, should be %s",
                      class_name(s->lse_c[r]), class_name(s->lse_e[r]));
        else if (bad == 0)
            gate_note(j, GATE_FINITE, "O differs in class");
        if (bad == 0)
            g->at = at;
        bad += s->ce[r].mismatched + lse;
        j->heads_gates[at.b * s->problem.hq + at.h] |= 1u << GATE_FINITE;
    }
    g->judged = true;
    g->value = (double)bad;
    g->pass = g->value <= g->limit.value;
}

void gate_rule_DEAD_ROWS(struct judging *j)
{
    const struct sketch *s = j->s;
    int64_t bad = 0;
    for (int64_t r = 0; r < assay_problem_rows(&s->problem); r++) {
        if (s->lse_e[r] != -INFINITY)
            continue;
        struct assay_place at = assay_row_place(&s->problem, r);
        bool right = s->lse_c[r] == -INFINITY && s->ce[r].norm_a == 0 &&
                     s->ce[r].nonfinite_a == 0;
        bad += !right;
        if (gate_offer(j, GATE_DEAD_ROWS, right ? 0 : (double)bad,
                       right ? nowhere : at) &&
            bad == 1)
            gate_note(j, GATE_DEAD_ROWS, "norm of O is %g, LSE is %g",
                      s->ce[r].norm_a, s->lse_c[r]);
    }
}

/* "k: 2 scales, 9 codes" of what differs; reasons have whole sentences */
void gate_rule_SCALE_BYTES(struct judging *j)
{
    const struct scale_bytes *all = j->s->payload;
    char text[sizeof j->gates->note] = "";
    bool there = false;
    double differ = 0;
    for (int i = 0; i < ASSAY_INPUTS; i++) {
        int told = 0;
        there |= all[i].there;
        differ += scale_bytes_differ(&all[i]);
        for (int k = 0; k < BYTE_KINDS; k++) {
            const struct byte_steps *b = &all[i].steps[k];
            if (b->differ == 0)
                continue;
            if (told++ == 0)
                text_append(text, sizeof text, "%s%s: ", text[0] ? "; " : "",
                            assay_input_name((enum assay_input)i));
            text_append(text, sizeof text, "%s%" PRId64 " %s%s",
                        told > 1 ? ", " : "", b->differ,
                        byte_kind_name((enum byte_kind)k), plural(b->differ));
        }
    }
    if (there && gate_offer(j, GATE_SCALE_BYTES, differ, nowhere) && differ > 0)
        gate_note(j, GATE_SCALE_BYTES, "%s", text);
}

/* Norms are compared, so that a head of zeros is judged like any other. What
 * rounding may take off a norm is an ulp in every element, which truncation
 * comes near where all elements have nearly the same value; 1.5 in a single
 * one, and so on with the root of their number. */
void gate_rule_GAIN(struct judging *j)
{
    const struct sketch *s = j->s;
    const struct assay_problem *p = &s->problem;
    const double more = (ASSAY_OUTPUT_ULPS - 1) / sqrt((double)(p->nq * p->dv)),
                 ulps = (1 + more) / ASSAY_OUTPUT_ULPS;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        double a2 = 0, b2 = 0, noise2 = 0, rounding2 = 0;
        for (int64_t r = bh * p->nq; r < (bh + 1) * p->nq; r++) {
            a2 += s->ce[r].norm_a * s->ce[r].norm_a;
            b2 += s->ce[r].norm_b * s->ce[r].norm_b;
            noise2 += (double)s->jitter_o[r] * (double)s->jitter_o[r];
            rounding2 += s->beyond[r].rounding * s->beyond[r].rounding;
        }
        if (b2 < noise2) /* sums cancel: the norm is that of the noise */
            continue;
        const double a = sqrt(a2), b = sqrt(b2),
                     gain = b > 0 ? (double)s->jitter_gain[bh] * b : 0,
                     allowed = gate_get(GATE_GAIN)->factor * gain +
                               ulps * sqrt(rounding2);
        const struct assay_place at = { bh / p->hq, bh % p->hq, -1, -1 };
        if (gate_offer(j, GATE_GAIN, part_used(fabs(a - b), allowed), at))
            gate_note(j, GATE_GAIN, "norm %.6g, should be %.6g within %.1e", a,
                      b, gate_allows(j, GATE_GAIN, allowed));
    }
}

static double worst_bar(const struct assay_problem *p, const double *bar)
{
    double worst = 0;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++)
        worst = assay_worst(worst, bar[bh]);
    return worst;
}

/* ---- the whole distance to the exact answer, where somebody limits it ---- */

static void total(struct judging *j, enum gate gate, double value,
                  struct assay_place at, double bar, const char *unit)
{
    if (j->gates[gate].limit.value < 0 ||
        gate_lacks(j, gate, SKETCH_LACKS_EXACT))
        return;
    gate_check_bar(j, gate, 1, bar, nowhere, unit);
    if (gate_offer(j, gate, value, at))
        gate_note(j, gate, "%.3e%s from the exact answer", value, unit);
}

void gate_rule_TOTAL_L2(struct judging *j)
{
    const struct sketch *s = j->s;
    const struct assay_problem *p = &s->problem;
    double norm2 = 0;
    for (int64_t r = 0; r < assay_problem_rows(p); r++)
        norm2 += s->cx[r].norm_b * s->cx[r].norm_b;
    const double bar = part_used(worst_bar(p, s->bar_o) *
                                     sqrt((double)assay_problem_o_elems(p)),
                                 sqrt(norm2));
    total(j, GATE_TOTAL_L2, j->total->rel_l2, nowhere, bar, "");
}

/* The figure is the worst head's; others may be too far off as well. */
static void mark_head(struct judging *j, enum gate gate, int64_t r,
                      double value)
{
    const double limit = j->gates[gate].limit.value;
    if (limit >= 0 && !(value <= limit))
        mark(j, gate, r / j->s->problem.nq);
}

void gate_rule_TOTAL_MAX(struct judging *j)
{
    for (int64_t r = 0; r < assay_problem_rows(&j->s->problem); r++)
        mark_head(j, GATE_TOTAL_MAX, r, j->s->cx[r].max_abs);
    total(j, GATE_TOTAL_MAX, j->total->max_error, j->total->max_at,
          worst_bar(&j->s->problem, j->s->bar_o), "");
}

void gate_rule_TOTAL_LSE(struct judging *j)
{
    if (gate_lacks_lse(j, GATE_TOTAL_LSE))
        return;
    for (int64_t r = 0; r < assay_problem_rows(&j->s->problem); r++)
        mark_head(j, GATE_TOTAL_LSE, r,
                  j->s->lse_c[r] == j->s->lse_x[r] /* infinities too */
                      ? 0
                      : fabs(j->s->lse_c[r] - j->s->lse_x[r]));
    total(j, GATE_TOTAL_LSE, j->total->lse_max, j->total->lse_at,
          worst_bar(&j->s->problem, j->s->bar_lse), " nats");
}
