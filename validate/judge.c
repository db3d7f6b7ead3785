/* SPDX-License-Identifier: MIT
 *
 * Every rule accepts in the positive: a NaN fails.
 */
#include "validate/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "assay/memory.h"

static const struct verdict_row verdicts[] = {
#define ASSAY_VERDICT(id, name, code) { name, code },
#include "validate/verdict.def"
#undef ASSAY_VERDICT
};

static const struct gate_row gate_rows[] = {
#define ASSAY_GATE(id, name, limit, factor, verdict, rule) \
    { name, limit, factor, VERDICT_##verdict, rule },
#include "validate/gate.def"
#undef ASSAY_GATE
};

const struct verdict_row *verdict_get(enum verdict verdict)
{
    return &verdicts[verdict];
}

const struct gate_row *gate_get(enum gate gate)
{
    return &gate_rows[gate];
}

struct judging {
    const struct assay_problem *p;
    const struct assay_format *out_format;
    const struct candidate *c;
    const struct assay_answer *e;
    struct assay_row *rows; /* C against E */
    uint32_t *heads; /* [b, hq], bits of the gates that failed there */
    struct gate_result *gates;
};

/* Offers a value to a gate; the worst stays, a NaN is worse than anything.
 * True where the note is now this value's to write. */
static bool offer(struct judging *j, enum gate gate, double value,
                  struct assay_place at)
{
    struct gate_result *g = &j->gates[gate];
    if (!(value <= gate_rows[gate].limit)) {
        g->pass = false;
        if (at.h >= 0)
            j->heads[at.b * j->p->hq + at.h] |= 1u << gate;
    }
    if (isnan(g->value) || value <= g->value)
        return false;
    g->value = value;
    g->at = at;
    return true;
}

static void note(struct judging *j, enum gate gate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note(struct judging *j, enum gate gate, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(j->gates[gate].note, sizeof j->gates[gate].note, format, args);
    va_end(args);
}

static void judge_integrity(struct judging *j)
{
    const struct candidate *c = j->c;
    const struct assay_place nowhere = { -1, -1, -1, -1 };
    int64_t unwritten = c->o_unwritten + c->lse_unwritten;
    double value = (double)(c->guard_bytes + c->input_bytes + unwritten);
    offer(j, GATE_INTEGRITY, value, unwritten > 0 ? c->unwritten_at : nowhere);
    if (value > 0)
        note(j, GATE_INTEGRITY,
             "%" PRId64 " guard bytes%s%s and %" PRId64 " input bytes changed, "
             "%" PRId64 " outputs and %" PRId64 " LSE not written",
             c->guard_bytes, c->guard_where ? " " : "",
             c->guard_where ? c->guard_where : "", c->input_bytes,
             c->o_unwritten, c->lse_unwritten);
}

static const char *class_name(double x)
{
    return isnan(x) ? "NaN" : isinf(x) ? x > 0 ? "+inf" : "-inf" : "finite";
}

/* Counts per row would let many rows with one NaN look mild: one count. */
static void judge_finite(struct judging *j)
{
    const struct assay_problem *p = j->p;
    int64_t bad = 0;
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        struct assay_place at = assay_row_place(p, r);
        at.c = j->rows[r].mismatched_c;
        bool lse = !assay_same_class(j->c->lse[r], j->e->lse[r]);
        if (!j->rows[r].mismatched && !lse)
            continue;
        if (bad == 0 && !j->rows[r].mismatched)
            note(j, GATE_FINITE, "LSE is %s, should be %s",
                 class_name(j->c->lse[r]), class_name(j->e->lse[r]));
        else if (bad == 0)
            note(j, GATE_FINITE, "O differs in class");
        if (bad == 0)
            j->gates[GATE_FINITE].at = at;
        bad += j->rows[r].mismatched + lse;
        j->heads[at.b * p->hq + at.h] |= 1u << GATE_FINITE;
    }
    j->gates[GATE_FINITE].value = (double)bad;
    j->gates[GATE_FINITE].pass = bad == 0;
}

static void judge_dead_rows(struct judging *j)
{
    const struct assay_problem *p = j->p;
    int64_t bad = 0;
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        if (j->e->lse[r] != -INFINITY)
            continue;
        struct assay_place at = assay_row_place(p, r);
        bool right = j->c->lse[r] == -INFINITY && j->rows[r].norm_a == 0 &&
                     j->rows[r].nonfinite_a == 0;
        if (!right && offer(j, GATE_DEAD_ROWS, (double)++bad, at) && bad == 1)
            note(j, GATE_DEAD_ROWS, "norm of O is %g, LSE is %g",
                 j->rows[r].norm_a, j->c->lse[r]);
    }
}

/* L2 of what the output format does not explain: half an ulp of rounding to
 * nearest, and one more, which truncation or a second rounding costs. */
static const double OUTPUT_ULPS = 1.5;

static double beyond_rounding(const struct judging *j, const float *c,
                              const float *e)
{
    double sum = 0;
    for (int64_t i = 0; i < j->p->dv; i++) {
        float large = fabsf(c[i]) > fabsf(e[i]) ? c[i] : e[i];
        double d = fabs((double)c[i] - e[i]) -
                   OUTPUT_ULPS * assay_format_ulp(j->out_format, large);
        sum += d > 0 ? d * d : 0; /* classes are the finite gate's */
    }
    return sqrt(sum);
}

static double part_used(double value, double allowed)
{
    return value == 0 ? 0 : value / allowed;
}

static void judge_rows(struct judging *j)
{
    const struct assay_problem *p = j->p;
    for (int64_t r = 0; r < assay_problem_rows(p); r++) {
        struct assay_place at = assay_row_place(p, r);
        int64_t o = assay_row_offset(p->nq, p->hq, p->dv, at.b, at.i, at.h);
        double d = beyond_rounding(j, j->c->o + o, j->e->o + o);
        double allowed = gate_rows[GATE_BUILD].factor * j->e->jitter.o[r];
        /* a row that is not finite is the finite gate's */
        if (j->rows[r].nonfinite_b == 0 &&
            offer(j, GATE_BUILD, part_used(d, allowed), at))
            note(j, GATE_BUILD,
                 "the row is %.2e off (L2, its rounding taken off), %.2e is "
                 "allowed, its norm is %.2e",
                 d, allowed, j->rows[r].norm_b);
        double c = j->c->lse[r], e = j->e->lse[r];
        if (!assay_same_class(c, e) || !isfinite(e))
            continue; /* the finite gate's */
        d = fabs(c - e) -
            assay_format_ulp(assay_format_get(ASSAY_F32), (float)e);
        allowed = gate_rows[GATE_LSE].factor * j->e->jitter.lse[r];
        if (offer(j, GATE_LSE, part_used(d > 0 ? d : 0, allowed), at))
            note(j, GATE_LSE, "%.6f nats, should be %.6f within %.1e", c, e,
                 allowed);
    }
}

static void judge_gain(struct judging *j)
{
    const struct assay_problem *p = j->p;
    const double half = assay_format_epsilon(j->out_format) / 2;
    const double step = assay_format_ulp(j->out_format, 0);
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        double a2 = 0, b2 = 0;
        for (int64_t r = bh * p->nq; r < (bh + 1) * p->nq; r++) {
            a2 += j->rows[r].norm_a * j->rows[r].norm_a;
            b2 += j->rows[r].norm_b * j->rows[r].norm_b;
        }
        double ratio = b2 > 0 ? sqrt(a2 / b2) : a2 > 0 ? INFINITY : 1;
        double allowed =
            gate_rows[GATE_GAIN].factor * j->e->jitter.gain[bh] + half;
        if (b2 > 0) /* outputs below the format's normal range */
            allowed += step / 2 * sqrt((double)(p->nq * p->dv) / b2);
        struct assay_place at = { bh / p->hq, bh % p->hq, -1, -1 };
        if (offer(j, GATE_GAIN, part_used(fabs(ratio - 1), allowed), at))
            note(j, GATE_GAIN, "norm ratio %.6f, should be 1 within %.1e",
                 ratio, allowed);
    }
}

/* A failed integrity gate has three faces. */
static enum verdict integrity_verdict(const struct candidate *c, int64_t rows)
{
    if (c->guard_bytes > 0 || c->input_bytes > 0)
        return VERDICT_OUT_OF_BOUNDS;
    return c->lse_unwritten == rows ? VERDICT_MISSING : VERDICT_UNWRITTEN;
}

static void place_text(struct assay_place at, char *text, size_t n)
{
    text[0] = '\0';
    if (at.h >= 0 && at.i >= 0)
        snprintf(text, n,
                 " at batch %" PRId64 ", head %" PRId64 ", row %" PRId64, at.b,
                 at.h, at.i);
    else if (at.h >= 0)
        snprintf(text, n, " at batch %" PRId64 ", head %" PRId64, at.b, at.h);
}

static void append(struct result *out, const char *text, const char *more)
{
    size_t n = strlen(out->reason);
    snprintf(out->reason + n, sizeof out->reason - n, "%s%s", text, more);
}

/* The gravest verdict of the failed gates, the reason it gives, and the names
 * of the other gates that fail. */
static void conclude(const struct judging *j, struct result *out)
{
    int told = -1;
    out->verdict = VERDICT_PASS;
    for (int g = 0; g < GATES; g++) {
        const struct gate_result *gate = &j->gates[g];
        if (gate->pass)
            continue;
        enum verdict v = g == GATE_INTEGRITY
                             ? integrity_verdict(j->c, assay_problem_rows(j->p))
                             : gate_rows[g].verdict;
        if (v < out->verdict) {
            char place[96];
            place_text(gate->at, place, sizeof place);
            told = g;
            out->verdict = v;
            snprintf(out->reason, sizeof out->reason, "%s gate%s: %s",
                     gate_rows[g].name, place, gate->note);
        }
    }
    for (int g = 0, n = 0; g < GATES; g++)
        if (!j->gates[g].pass && g != told)
            append(out, n++ ? ", " : "; also fails: ", gate_rows[g].name);
    for (int64_t bh = 0; bh < j->p->b * j->p->hq; bh++)
        out->heads_failed += j->heads[bh] != 0;
}

/* A kernel much nearer to the exact answer than its recipe is may be right for
 * another contract. */
static void suspect_form(struct result *out)
{
    if (out->verdict == VERDICT_WRONG &&
        out->total.lse_max < 0.5 * out->recipe_distance.lse_max &&
        out->total.rel_l2 <= out->recipe_distance.rel_l2 + 0.01)
        append(out, "; its LSE is nearer to the exact answer than the recipe's",
               ": another softmax form?");
}

/* A lost LSE or a write out of bounds is the kernel's in every head. */
static void spread_integrity(struct judging *j)
{
    const struct assay_problem *p = j->p;
    if (!j->gates[GATE_INTEGRITY].pass &&
        integrity_verdict(j->c, assay_problem_rows(p)) != VERDICT_UNWRITTEN)
        for (int64_t bh = 0; bh < p->b * p->hq; bh++)
            j->heads[bh] |= 1u << GATE_INTEGRITY;
}

static enum assay_status distances(const struct judging *j,
                                   const struct assay_exact *x,
                                   struct result *out, struct assay_error *err)
{
    const struct assay_problem *p = j->p;
    const struct candidate *c = j->c;
    struct assay_row *rows;
    enum assay_status st = assay_alloc("row figures", assay_problem_rows(p),
                                       sizeof *rows, &rows, err);
    if (st != ASSAY_OK)
        return st;
    assay_distance(p, c->o, j->e->o, j->rows, c->lse, j->e->lse, 0, p->hq,
                   &out->build);
    assay_rows_compare(p, j->e->o, x->o, rows);
    assay_distance(p, j->e->o, x->o, rows, j->e->lse, x->lse, 0, p->hq,
                   &out->recipe_distance);
    assay_rows_compare(p, c->o, x->o, rows);
    assay_distance(p, c->o, x->o, rows, c->lse, x->lse, 0, p->hq, &out->total);
    assay_free(rows);
    return ASSAY_OK;
}

enum assay_status judge(const struct assay_problem *p,
                        const struct assay_recipe *recipe,
                        const struct candidate *c, const struct assay_answer *e,
                        const struct assay_exact *x, struct result *out,
                        struct assay_error *err)
{
    struct judging j = { .p = p,
                         .out_format = assay_format_get(recipe->out_format),
                         .c = c,
                         .e = e,
                         .gates = out->gates };
    enum assay_status st;
    const int64_t heads = p->b * p->hq;
    for (int g = 0; g < GATES; g++)
        out->gates[g] =
            (struct gate_result){ .pass = true, .at = { -1, -1, -1, -1 } };
    if ((st = assay_alloc("row figures", assay_problem_rows(p), sizeof *j.rows,
                          &j.rows, err)) != ASSAY_OK)
        return st;
    if ((st = assay_alloc("head flags", heads, sizeof *j.heads, &j.heads,
                          err)) != ASSAY_OK)
        goto out;
    memset(j.heads, 0, (size_t)heads * sizeof *j.heads);
    assay_rows_compare(p, c->o, e->o, j.rows);
    judge_integrity(&j);
    judge_finite(&j);
    judge_dead_rows(&j);
    judge_rows(&j);
    judge_gain(&j);
    spread_integrity(&j);
    out->judged = true;
    out->heads = heads;
    conclude(&j, out);
    if (out->head_gates)
        memcpy(out->head_gates, j.heads, (size_t)heads * sizeof *j.heads);
    st = distances(&j, x, out, err);
    suspect_form(out);
out:
    assay_free(j.rows);
    assay_free(j.heads);
    return st;
}
