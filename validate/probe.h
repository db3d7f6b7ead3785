/* SPDX-License-Identifier: MIT
 *
 * Faults that no single comparison sees: a row of probe.def each. A probe runs
 * one kernel on one case some times, under a condition that must not matter.
 */
#ifndef ASSAY_PROBE_H
#define ASSAY_PROBE_H

#include "validate/driver.h"

enum probe_id {
#define ASSAY_PROBE(id, ...) PROBE_##id,
#include "validate/probe.def"
#undef ASSAY_PROBE
    PROBES
};

enum probe_outcome {
    PROBE_CLEAN,
    PROBE_FOUND,
    PROBE_CRASHED,     /* or hung, where nothing worse was found */
    PROBE_UNSUPPORTED, /* by the kernel */
    PROBE_NOT_RUN,
    PROBE_OUTCOMES
};

/* A kernel that runs on a case. */
struct probe_kernel {
    size_t kernel;  /* index in the driver */
    unsigned input; /* one bit */
    const struct assay_answer *answer;
};

struct probe_subject {
    struct driver *driver;
    const struct assay_case *c;
    const struct assay_exact *exact;    /* NULL: there is none */
    const struct probe_kernel *kernels; /* all that run on the case */
    size_t count, own;                  /* the one that is probed */
    long runs;                          /* asked for */
    double timeout_s;
    unsigned *number; /* of the run, over all */
};

struct probe_finding {
    enum probe_id probe;
    char *case_name;
    const struct assay_recipe *recipe;
    char kernel[64];
    const char *input;
    enum probe_outcome outcome;
    int64_t runs, outputs; /* that came to an end; distinct ones */
    char text[512];        /* what was found, or why it did not run */
};

/* "clean", ... */
const char *probe_outcome_name(enum probe_outcome outcome);

struct probe_row {
    const char *name, *about;
    /* Fills outcome, runs, outputs and text, of which all but the text are 0
     * before: clean. Only what stands in assay's own way is an error. */
    enum assay_status (*run)(const struct probe_subject *s,
                             struct probe_finding *f, struct assay_error *err);
};
const struct probe_row *probe_get(enum probe_id probe);

/* ---- for probes ---- */

/* A run of the subject's kernel on its case. */
struct driver_run probe_plan(const struct probe_subject *s);

/* Runs it. Where it did not come to an end *ran is false and the finding says
 * why. *out is the caller's to candidate_free either way. */
enum assay_status probe_launch(const struct probe_subject *s,
                               struct driver_run *run, bool *ran,
                               struct candidate *out, struct probe_finding *f,
                               struct assay_error *err);

/* What runs left, whose bits must be alike. */
struct probe_outputs {
    const struct assay_problem *problem;
    struct candidate first;
    uint64_t (*hashes)[2];  /* distinct ones */
    int64_t space, differs; /* the first run that does, from 1 on; 0: none */
    char where[160];        /* its first other element */
};

/* Counts a candidate, which is empty then, in the finding too. */
enum assay_status probe_outputs_add(struct probe_outputs *o,
                                    struct candidate *next,
                                    struct probe_finding *f,
                                    struct assay_error *err);
/* probe_launch, and what came to an end is counted. */
enum assay_status probe_outputs_run(struct probe_outputs *o,
                                    const struct probe_subject *s,
                                    struct driver_run *run, bool *ran,
                                    struct probe_finding *f,
                                    struct assay_error *err);
/* If bits differ the finding says so; `when` is said of the runs. Frees. */
void probe_outputs_end(struct probe_outputs *o, const char *when,
                       struct probe_finding *f);

/* Runs whose bits must be alike, each after a launch of other data of the same
 * shape in the same process, but for the first where that is `alone`. Where
 * the workspace `stays`, all but the first find in theirs what other data left
 * in it. `when` is said of the runs. */
struct probe_after {
    bool alone, stays;
    const char *when;
};
enum assay_status probe_after_other(const struct probe_subject *s,
                                    const struct probe_after *how,
                                    struct probe_finding *f,
                                    struct assay_error *err);

/* A kernel without a workspace has nothing that is probed there. True: so it
 * is, and the finding says it. */
bool probe_no_workspace(const struct candidate *left, struct probe_finding *f);

/* The rows' functions. */
#define ASSAY_PROBE(id, name, about)                              \
    enum assay_status probe_##name(const struct probe_subject *s, \
                                   struct probe_finding *f,       \
                                   struct assay_error *err);
#include "validate/probe.def"
#undef ASSAY_PROBE

#endif
