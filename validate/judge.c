/* SPDX-License-Identifier: MIT
 *
 * From a sketch to a verdict: gates, the gravest verdict of those that fail,
 * and the three distances.
 */
#include "validate/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/gates.h"
#include "validate/picture.h"
#include "validate/quarantine.h"

static const struct verdict_row verdicts[] = {
#define ASSAY_VERDICT(id, name, code) { name, code },
#include "validate/verdict.def"
#undef ASSAY_VERDICT
};

static const struct gate_row gate_rows[] = {
#define ASSAY_GATE(id, name, limit, factor, one, verdict, rule) \
    { name, limit, factor, one, VERDICT_##verdict, rule },
#include "validate/gate.def"
#undef ASSAY_GATE
};

static const char *const sources[] = {
#define LIMIT_SOURCE(id, name) name,
#include "validate/limit_source.def"
#undef LIMIT_SOURCE
};

static void (*const rules[])(struct judging *) = {
#define ASSAY_GATE(id, ...) gate_rule_##id,
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

const char *limit_source_name(enum limit_source source)
{
    return sources[source];
}

void limits_default(struct limit limits[GATES])
{
    for (int g = 0; g < GATES; g++)
        limits[g] =
            (struct limit){ gate_rows[g].limit, LIMIT_DEFAULT, NULL, NULL };
}

enum assay_status result_keep_rows(struct result *r, struct sketch *sketch,
                                   struct assay_error *err)
{
    r->rows = malloc(sizeof *r->rows);
    if (!r->rows)
        return assay_fail(err, ASSAY_MEMORY, "no memory for the rows");
    *r->rows = *sketch;
    *sketch = (struct sketch){ 0 };
    return ASSAY_OK;
}

bool result_failed(const struct result *r)
{
    const int code = verdict_get(r->verdict)->code;
    return code != 0 && code != EXIT_NOTHING_RAN;
}

void result_free(struct result *r)
{
    if (r->rows)
        sketch_free(r->rows);
    free(r->rows);
    r->rows = NULL;
    explanation_free(r->why);
    r->why = NULL;
    picture_free(r->picture);
    r->picture = NULL;
    quarantine_entry_free(r->recorded);
    free(r->recorded);
    r->recorded = NULL;
    free(r->case_name);
    assay_free(r->heads_gates);
    r->case_name = NULL;
    r->heads_gates = NULL;
}

/* A failed integrity gate has three faces. */
static enum verdict integrity_verdict(const struct sketch *s)
{
    if (s->guard_bytes > 0 || s->input_bytes > 0)
        return VERDICT_OUT_OF_BOUNDS;
    return s->lse_unwritten == assay_problem_rows(&s->problem) && !s->no_o
               ? VERDICT_MISSING
               : VERDICT_UNWRITTEN;
}

void judge_place_text(struct assay_place at, char *text, size_t n)
{
    text[0] = '\0';
    if (at.h >= 0 && at.i >= 0)
        snprintf(text, n,
                 " at batch %" PRId64 ", head %" PRId64 ", row %" PRId64, at.b,
                 at.h, at.i);
    else if (at.h >= 0)
        snprintf(text, n, " at batch %" PRId64 ", head %" PRId64, at.b, at.h);
}

/* What differs in payloads is the cause of what differs in O: it is told
 * whichever gate gave the verdict. */
static void tell_payloads(const struct sketch *s, const char *before,
                          bool alone, struct result *out)
{
    if (alone)
        out->reason[0] = '\0';
    for (int i = 0; i < ASSAY_INPUTS; i++) {
        if (scale_bytes_differ(&s->payload[i]) == 0)
            continue;
        text_append(out->reason, sizeof out->reason, "%s", before);
        scale_bytes_tell(s->recipe, &s->problem, (enum assay_input)i,
                         &s->payload[i], out->reason, sizeof out->reason);
        before = "; ";
    }
}

/* Of a quantizer these alone are its own. */
static bool is_of_quantizer(enum gate gate)
{
    return gate == GATE_INTEGRITY || gate == GATE_REPEAT ||
           gate == GATE_SCALE_BYTES;
}

/* Its bytes decide; what the other gates say of the O that a perfect kernel
 * makes of them is told: it sets a tie apart from a scale that is off. */
static void tell_consequence(const struct result *r, char *text, size_t size)
{
    int n = 0;
    for (int g = 0; g < GATES; g++)
        if (!r->gates[g].pass && !is_of_quantizer((enum gate)g))
            text_append(text, size, "%s%s",
                        n++ ? ", "
                            : "; what a perfect kernel makes of them fails ",
                        gate_rows[g].name);
    if (n == 0)
        text_append(text, size,
                    "; what a perfect kernel makes of them passes the other "
                    "gates");
}

static enum verdict verdict_of(const struct sketch *s, enum gate gate)
{
    const bool of_lse = gate == GATE_LSE || gate == GATE_LSE_RMS ||
                        gate == GATE_LSE_MEAN || gate == GATE_TOTAL_LSE;
    if (gate == GATE_INTEGRITY)
        return integrity_verdict(s);
    return s->no_lse && of_lse ? VERDICT_MISSING : gate_rows[gate].verdict;
}

/* The gravest verdict of the failed gates, the reason it gives, and the names
 * of the other gates that fail. */
static void conclude(const struct sketch *s, struct result *out)
{
    int told = -1;
    out->verdict = VERDICT_PASS;
    for (int g = 0; g < GATES; g++) {
        const struct gate_result *gate = &out->gates[g];
        if (gate->pass)
            continue;
        const enum verdict v = verdict_of(s, (enum gate)g);
        if (s->no_o && !is_of_quantizer((enum gate)g))
            continue;
        if (v < out->verdict) {
            char place[96];
            judge_place_text(gate->at, place, sizeof place);
            told = g;
            out->verdict = v;
            snprintf(out->reason, sizeof out->reason, "%s gate%s: %s",
                     gate_rows[g].name, place, gate->note);
        }
    }
    if (told == GATE_SCALE_BYTES)
        tell_payloads(s, "scale-bytes gate: ", true, out);
    for (int g = 0, n = 0; g < GATES; g++)
        if (!out->gates[g].pass && g != told &&
            (!s->no_o || is_of_quantizer((enum gate)g)))
            text_append(out->reason, sizeof out->reason, "%s%s",
                        n++ ? ", " : "; also fails: ", gate_rows[g].name);
    if (!out->gates[GATE_SCALE_BYTES].pass && told != GATE_SCALE_BYTES)
        tell_payloads(s, "; payloads: ", false, out);
    if (s->no_o && !out->gates[GATE_SCALE_BYTES].pass &&
        !(s->lacks & SKETCH_LACKS_JITTER)) /* made elsewhere */
        tell_consequence(out, out->reason, sizeof out->reason);
    for (int64_t bh = 0; bh < out->heads; bh++)
        out->heads_failed += out->heads_gates[bh] != 0;
}

/* A kernel much nearer to the exact answer than its recipe is may be right for
 * another contract. */
static void suspect_form(struct result *out)
{
    if (out->verdict == VERDICT_WRONG && out->gates[GATE_SCALE_BYTES].pass &&
        !(out->lacks & SKETCH_LACKS_JITTER) &&
        out->total.lse_max < 0.5 * out->recipe_distance.lse_max &&
        out->total.rel_l2 <= out->recipe_distance.rel_l2 + 0.01)
        text_append(out->reason, sizeof out->reason,
                    "; its LSE is nearer to the exact answer than the "
                    "recipe's: another softmax form?");
}

/* What fails without a place is the kernel's in every head: runs that differ,
 * the distance of the whole, a write out of bounds, a lost LSE. */
static void spread_to_heads(const struct sketch *s, struct result *out)
{
    uint32_t all = 0;
    for (int g = 0; g < GATES; g++)
        if (!out->gates[g].pass &&
            (g == GATE_INTEGRITY ? integrity_verdict(s) != VERDICT_UNWRITTEN
                                 : out->gates[g].at.h < 0))
            all |= 1u << g;
    if (s->payload_unwritten > 0 && !out->gates[GATE_INTEGRITY].pass)
        all |= 1u << GATE_INTEGRITY;
    for (int64_t bh = 0; bh < out->heads; bh++)
        out->heads_gates[bh] |= all;
}

static void add_note(struct result *out, const char *text)
{
    if (!strstr(out->notes, text))
        text_append(out->notes, sizeof out->notes, "%s%s",
                    out->notes[0] ? "; " : "", text);
}

/* What could not be judged, and why. Not twice, when a record is judged
 * again. */
static void tell_unknown(const struct sketch *s, struct result *out)
{
    if (s->lacks & SKETCH_LACKS_JITTER)
        add_note(out,
                 "no jitter (`assay generate` adds one): rounding alone is "
                 "allowed, no bound");
    if (s->lacks & SKETCH_LACKS_EXACT)
        add_note(out, "no exact answer: no twin");
    if (s->lacks & SKETCH_LACKS_LSE)
        add_note(out, "the answer has no LSE");
    else if (s->no_lse)
        add_note(out, "no LSE was delivered, its gates are not judged");
}

void judge_tell_maker(const char *maker, struct result *out)
{
    if (!maker)
        return;
    text_append(out->notes, sizeof out->notes, "%sheld against an answer by ",
                out->notes[0] ? "; " : "");
    const size_t at = strlen(out->notes);
    text_append(out->notes, sizeof out->notes, "%.40s%s", maker,
                strlen(maker) > 40 ? "..." : "");
    term_plain(out->notes + at);
}

/* A pass that says little is told: rows whose right answer is not finite are
 * held to its classes alone. Not twice, when a record is judged again. */
static void tell_blind(const struct sketch *s, struct result *out)
{
    const int64_t rows = assay_problem_rows(&s->problem);
    int64_t blind = 0;
    for (int64_t r = 0; r < rows; r++)
        blind += s->ce[r].nonfinite_b > 0;
    if (blind > 0 && !strstr(out->notes, "judged by its class"))
        text_append(out->notes, sizeof out->notes,
                    "%sthe right O of %" PRId64 " of %" PRId64
                    " rows is not finite and judged by its class alone",
                    out->notes[0] ? "; " : "", blind, rows);
}

/* Of rows that other kernels may be off by any amount in nothing is judged: a
 * pass is none of theirs. Those whose answer is not finite are told above. */
static void tell_boundless(const struct sketch *s, struct result *out)
{
    static const char what[] = "cannot be judged: legal kernels differ without "
                               "bound there";
    const int64_t rows = assay_problem_rows(&s->problem);
    int64_t o = 0, lse = 0;
    for (int64_t r = 0; r < rows; r++) {
        o += s->ce[r].nonfinite_b == 0 && isinf(s->jitter_o[r]);
        lse += isfinite(s->lse_e[r]) && isinf(s->jitter_lse[r]);
    }
    if (o + lse == 0 || strstr(out->notes, what))
        return;
    text_append(out->notes, sizeof out->notes, "%s", out->notes[0] ? "; " : "");
    if (o > 0)
        text_append(out->notes, sizeof out->notes,
                    "%" PRId64 " of %" PRId64 " rows of O%s", o, rows,
                    lse > 0 ? " and " : "");
    if (lse > 0)
        text_append(out->notes, sizeof out->notes,
                    "%" PRId64 " of %" PRId64 " rows of LSE", lse, rows);
    text_append(out->notes, sizeof out->notes, " %s", what);
}

static void no_distance(struct assay_distance *d)
{
    static const struct assay_place nowhere = { -1, -1, -1, -1 };
    *d = (struct assay_distance){ 0 };
#define DISTANCE_FIGURE(of, member, about) d->member = NAN;
#define DISTANCE_COUNT(of, member, about)
#define DISTANCE_PLACE(of, member, about) d->member = nowhere;
#include "golden/distance_figure.def"
}

static void distances(const struct sketch *s, struct result *out)
{
    const struct assay_problem *p = &s->problem;
    const double *lse_c = s->no_lse ? NULL : s->lse_c,
                 *lse_e = s->lacks & SKETCH_LACKS_LSE ? NULL : s->lse_e;
    assay_distance(p, s->ce, lse_c, s->lse_e, 0, p->hq, &out->build);
    if (s->lacks & SKETCH_LACKS_EXACT) {
        no_distance(&out->recipe_distance);
        no_distance(&out->total);
        return;
    }
    assay_distance(p, s->ex, lse_e, s->lse_x, 0, p->hq, &out->recipe_distance);
    assay_distance(p, s->cx, lse_c, s->lse_x, 0, p->hq, &out->total);
}

enum assay_status judge_sketch(const struct sketch *s,
                               const struct limit limits[GATES],
                               struct result *out, struct assay_error *err)
{
    const int64_t heads = s->problem.b * s->problem.hq;
    enum assay_status st =
        assay_alloc("gates of heads", heads, sizeof *out->heads_gates,
                    &out->heads_gates, err);
    if (st != ASSAY_OK)
        return st;
    memset(out->heads_gates, 0, (size_t)heads * sizeof *out->heads_gates);
    distances(s, out);
    struct judging j = {
        s,        &out->total, out->gates, out->heads_gates, { .any = false },
        ASSAY_OK, err
    };
    for (int g = 0; g < GATES; g++) {
        out->gates[g] = (struct gate_result){ .pass = true,
                                              .limit = limits[g],
                                              .at = { -1, -1, -1, -1 } };
        rules[g](&j);
    }
    out->judged = true;
    out->no_lse = s->no_lse != 0;
    out->no_o = s->no_o != 0;
    memcpy(out->payload, s->payload, sizeof out->payload);
    out->lacks = (unsigned)s->lacks;
    out->heads = heads;
    spread_to_heads(s, out);
    conclude(s, out);
    suspect_form(out);
    tell_unknown(s, out);
    tell_blind(s, out);
    tell_boundless(s, out);
    return j.st == ASSAY_OK && j.below.any ? gate_below_bar(&j, out, err)
                                           : j.st;
}

enum assay_status judge(const struct yardstick *against,
                        const struct candidate *c, struct result *out,
                        struct assay_error *err)
{
    struct limit limits[GATES];
    struct sketch sketch;
    enum assay_status st = sketch_make(against, c, &sketch, err);
    if (st != ASSAY_OK)
        return st;
    limits_default(limits);
    st = judge_sketch(&sketch, limits, out, err);
    sketch_free(&sketch);
    return st;
}
