/* SPDX-License-Identifier: MIT
 *
 * Puts mutations of known-good answers before the gates, and keeps what each
 * did in each head.
 */
#ifndef ASSAY_PROVE_H
#define ASSAY_PROVE_H

#include "golden/json.h"
#include "golden/sheet.h"
#include "golden/term.h"
#include "validate/limits.h"
#include "validate/mutation.h"

/* One mutation of one recipe's answer on one case. Counts are of heads. A head
 * is observable where a row of O or an LSE moved by more than honest kernels
 * do (ASSAY_JITTERS_O and ASSAY_JITTERS_LSE times its jitter, beside what
 * rounding costs), where its class changed, or where a gate rejects it. */
struct proof {
    enum mutation_id mutation;
    size_t subject; /* in the run's subjects */
    bool applies;
    int64_t heads, observable;
    int64_t rejected;  /* of the observable: by any gate; HONEST: of all */
    int64_t by[GATES]; /* the same for each gate */
    struct assay_place escaped_at; /* the observable head that no gate rejects
                                      and that moved most; h = -1 */
    double escaped_moved; /* there, as a part of what honest kernels do */
    double unseen_moved;  /* the same, most in heads not observable */
    char reason[320];     /* HONEST: why it is rejected */
    /* HONEST: the part used of each gate's limit, the value itself where that
     * is 0, infinite for a NaN; NaN: not judged */
    double used[GATES];
    /* with a sweep: the smallest strength from which on every head is
     * rejected, by each gate and (at GATES) by any; NaN where that is not so
     * even at the largest. */
    double least[GATES + 1];
    bool swept;
};

/* One recipe's answer on one case, and what the gates allow there. */
struct prove_subject {
    size_t case_index; /* in the run's cases */
    const struct assay_recipe *recipe;
    struct limit limits[GATES];
};

struct prove_options {
    const char *recipes, *cases, *mutations; /* lists, or NULL */
    const struct limits *limits; /* entries for a kernel are of no use here */
    bool sweep;
    int threads;
};

struct prove_run {
    const struct prove_options *options;
    struct assay_set *set;
    const char **cases; /* names; the set's */
    size_t n_cases;
    struct prove_subject *subjects;
    size_t n_subjects;
    struct proof *proofs;
    size_t count, space;
};

/* How many observable heads of a required mutation no gate rejects, or how
 * many heads of an honest variant some gate does. */
int64_t proof_bad(const struct proof *proof);

/* All mutations on all cases and recipes asked for. ASSAY_USAGE for a name
 * that the set or the table does not have, or a limit below the golden's own
 * error bar. Free with prove_free, also after a
 * failure. */
enum assay_status prove_set(struct assay_set *set,
                            const struct prove_options *options,
                            struct prove_run *run, struct assay_error *err);
void prove_free(struct prove_run *run);

/* Whether a gate has a limit in any answer; true for GATES, which is any gate.
 */
bool prove_has_limit(const struct prove_run *run, int gate);

/* Who set which limit; false when that failed. */
bool prove_limits(const struct prove_run *run, const struct sheet_to *to);
json_t *prove_limits_json(const struct prove_run *run);

/* Each prints all; false when that failed or memory ran out. */
bool prove_table(const struct prove_run *run, bool markdown, FILE *to);
bool prove_csv(const struct prove_run *run, FILE *to);
bool prove_json(const struct prove_run *run, FILE *to);
/* The command line is told; NULL: out of memory. */
bool prove_html(const struct prove_run *run, const char *command, FILE *to);

#endif
