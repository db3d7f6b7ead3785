/* SPDX-License-Identifier: MIT
 *
 * Private to what a proof says: what its tables and its page share.
 */
#ifndef ASSAY_PROVE_REPORT_H
#define ASSAY_PROVE_REPORT_H

#include "golden/sheet.h"
#include "validate/prove.h"

/* By its number; honest ones are told apart from the rest. */
const struct mutation *prove_mutation(int i);
bool prove_is_honest(int i);

/* A mutation over all cases and recipes. */
struct prove_sum {
    int64_t subjects, heads, observable, rejected, by[GATES];
    double unseen_moved;
    double least[GATES + 1]; /* the worst */
    double used[GATES];      /* the worst; NaN: not judged */
    bool swept;
};
struct prove_sum prove_sum_of(const struct prove_run *run, int mutation);

struct prove_totals {
    int mutations, variants;
    int64_t observable, rejected, unseen, honest_heads, honest_rejected;
};
struct prove_totals prove_totals_of(const struct prove_run *run);
/* "60 mutations: 226 of 226 heads rejected, ..."; free(). NULL: out of memory.
 */
char *prove_totals_text(const struct prove_totals *t);

/* Columns of a matrix: some, one for each gate, some more. */
struct prove_columns {
    struct column column[GATES + 8];
    char gates[GATES][24];
    size_t n;
};
void prove_add_column(struct prove_columns *c, const char *name, int flags);
void prove_add_gates(const struct prove_run *run, struct prove_columns *c);

/* What is wrong with a proof of which proof_bad() is not 0, in one line without
 * its end, and the command that repeats it: free(); NULL: out of memory. */
char *prove_bad_text(const struct prove_run *run, const struct proof *x);
char *prove_repeat(const struct prove_run *run, const struct proof *x);

/* The table of --sweep; nothing where there was none. */
bool prove_resolution(const struct prove_run *run, const struct sheet_to *to);
bool prove_any_swept(const struct prove_run *run);

#endif
