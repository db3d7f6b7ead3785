/* SPDX-License-Identifier: MIT
 *
 * Private to the judge: the rule of each gate.
 */
#ifndef ASSAY_GATES_H
#define ASSAY_GATES_H

#include "validate/judge.h"

/* Where a limit that somebody set is furthest below the golden's error bar. */
struct below_bar {
    bool any;
    enum gate gate;
    double allowed, bar; /* what limit 1 allows there, and the error bar */
    struct assay_place at;
    const char *unit;
};

struct judging {
    const struct sketch *s;
    const struct assay_distance *total; /* C against X */
    struct gate_result *gates;
    uint32_t *heads_gates;  /* [b, hq] */
    struct below_bar below; /* of the first gate whose limit must not be */
    enum assay_status st;   /* of a rule that could not be tried */
    struct assay_error *err;
};

/* Each rule offers what it finds; a gate that it does not offer to is not
 * judged. Rows of gate.def. */
#define ASSAY_GATE(id, ...) void gate_rule_##id(struct judging *j);
#include "validate/gate.def"
#undef ASSAY_GATE

/* Offers a value; the worst stays, a NaN is worse than anything. True where
 * the note is now this value's to write. at.h is -1 where no head is to blame.
 */
bool gate_offer(struct judging *j, enum gate gate, double value,
                struct assay_place at);
void gate_note(struct judging *j, enum gate gate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks a limit against the golden's error bar: `allowed` is what limit 1
 * allows at a place, in the unit of `bar`. A limit of ours never gets here with
 * less; one that somebody set fails the whole judgement. */
void gate_check_bar(struct judging *j, enum gate gate, double allowed,
                    double bar, struct assay_place at, const char *unit);
/* The sentence of such a limit, with the least that it may be. */
enum assay_status gate_below_bar(const struct judging *j,
                                 const struct result *r,
                                 struct assay_error *err);

/* Without an LSE its gates have nothing to judge; a limit that somebody set
 * asks for one, and fails. */
bool gate_lacks_lse(struct judging *j, enum gate gate);

/* Whether the set does not know what a gate judges by, so that it judges
 * nothing. A limit that somebody set fails the whole judgement. */
bool gate_lacks(struct judging *j, enum gate gate, enum sketch_lack what);

/* Whether row r of [b, hq, nq] sees a key. One that sees none has a right
 * answer of its own, and belongs in no mean or quantile over rows. */
bool gate_row_sees_keys(const struct sketch *s, int64_t r);

/* What a gate's limit allows where limit 1 allows `one`, for its note. */
double gate_allows(const struct judging *j, enum gate gate, double one);

/* The factor for n rows together. */
double gate_factor(enum gate gate, int64_t n);

#endif
