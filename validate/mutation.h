/* SPDX-License-Identifier: MIT
 *
 * Mutations: what is done to a known-good answer to see which gates notice,
 * rows of mutation.def.
 */
#ifndef ASSAY_MUTATION_H
#define ASSAY_MUTATION_H

#include "golden/names.h"
#include "golden/set.h"
#include "validate/judge.h"

enum mutation_id {
#define ASSAY_MUTATION(id, ...) MUTATION_##id,
#include "validate/mutation.def"
#undef ASSAY_MUTATION
    MUTATIONS
};

enum mutation_expect { MUTATION_REQUIRED, MUTATION_TOLD, MUTATION_HONEST };

/* A known-good answer: one recipe on one case of a golden set. */
struct subject {
    const struct assay_case *c;
    const struct assay_answer *e; /* with payloads.lse_shift */
    const struct assay_exact *x;
    struct assay_payload v; /* of e, its codes as binary32 values; a scale of
                               the tensor or of channels stays a scale */
    const struct assay_run *run;
};

/* Fills the subject's v; free it with subject_free, also after a failure. */
enum assay_status subject_begin(struct subject *s, struct assay_error *err);
void subject_free(struct subject *s);

enum { MUTANT_ARRAYS = 4 };

/* What a mutation makes. It begins as the emulated answer. */
struct mutant {
    const struct subject *s;
    float *o; /* before it is rounded to the output format, unless `rounded` */
    double *lse;
    double *unwritten;     /* [b, hq], zeros; left.unwritten */
    struct candidate left; /* counts of bytes, elements, runs; not o and lse */
    struct assay_payloads payloads; /* left.payloads, of the answer's arrays and
                                       of these: */
    void *owned[MUTANT_ARRAYS];
    int n_owned;
    bool rounded;
    bool applies; /* false: this subject has nothing to mutate so */
};

/* Frees what a mutation allocated. */
void mutant_free(struct mutant *m);

struct mutation {
    const char *name;
    enum mutation_expect expect;
    double strength, least, most;
    const char *unit;
    enum assay_status (*apply)(struct mutant *m, double strength,
                               struct assay_error *err);
    const char *about;
};

const struct mutation *mutation_get(enum mutation_id id);
extern const struct names names_mutations;
const char *mutation_expect_name(enum mutation_expect expect);

/* "1 key", "0.01 nats"; empty where it has none. */
void mutation_strength_text(const struct mutation *m, double strength,
                            char *text, size_t size);

/* Where row r of [b, hq, nq] begins in O. */
static inline int64_t mutant_row(const struct mutant *m, int64_t r)
{
    const struct assay_problem *p = &m->s->c->problem;
    const struct assay_place at = assay_row_place(p, r);
    return assay_row_offset(p->nq, p->hq, p->dv, at.b, at.i, at.h);
}

/* How a mutation is written: o and lse are changed in place. */
#define MUTATE(how)                                                   \
    enum assay_status mutate_##how(struct mutant *m, double strength, \
                                   struct assay_error *err)

#define ASSAY_MUTATION(id, name, how, ...) MUTATE(how);
#include "validate/mutation.def"
#undef ASSAY_MUTATION

#endif
