/* SPDX-License-Identifier: MIT
 *
 * What came of one kernel on one case.
 */
#ifndef ASSAY_RESULT_H
#define ASSAY_RESULT_H

#include "assay/metrics.h"
#include "assay/recipe.h"
#include "golden/explanation.h"
#include "golden/scale_bytes.h"

enum verdict {
#define ASSAY_VERDICT(id, name, code) VERDICT_##id,
#include "validate/verdict.def"
#undef ASSAY_VERDICT
    VERDICTS
};

enum gate {
#define ASSAY_GATE(id, ...) GATE_##id,
#include "validate/gate.def"
#undef ASSAY_GATE
    GATES
};

enum limit_source {
#define LIMIT_SOURCE(id, name) LIMIT_##id,
#include "validate/limit_source.def"
#undef LIMIT_SOURCE
    LIMIT_SOURCES
};

struct verdict_row {
    const char *name;
    int code;
};
const struct verdict_row *verdict_get(enum verdict verdict);

struct gate_row {
    const char *name;
    double limit, factor, one;
    enum verdict verdict;
    const char *rule;
};
const struct gate_row *gate_get(enum gate gate);

/* C against E, E against X, C against X. */
enum distance_kind {
    DISTANCE_BUILD,
    DISTANCE_RECIPE,
    DISTANCE_TOTAL,
    DISTANCES
};

/* A limit and where it came from; below 0: the gate has none. */
struct limit {
    double value;
    enum limit_source source;
    const char *reason, *date; /* of a limits file, its texts; or NULL */
};

/* "command line", ... */
const char *limit_source_name(enum limit_source source);

struct gate_result {
    bool judged; /* there was something to judge, and a limit */
    bool pass;   /* true where it was not judged */
    double value;
    struct limit limit;    /* value must be at most this; a NaN fails */
    struct assay_place at; /* the worst; i = -1 where there is none */
    char note[160];        /* numbers of the worst, for people */
};

struct sketch;
struct picture; /* validate/picture.h */

/* A known failure that this result is; see validate/quarantine.h. */
struct quarantine_entry;

/* Room for sentences of three payloads beside what a gate says. */
enum { RESULT_REASON = 320 + SCALE_BYTES_TEXT };

struct result {
    char *case_name; /* the result's, as heads */
    struct assay_problem problem;
    const struct assay_recipe *recipe;
    char kernel[64];   /* empty where the module has none for the recipe */
    const char *input; /* "raw", "packed", "saved"; NULL with no kernel */
    enum verdict verdict;
    double seconds;             /* of the launch, without loading and copying */
    char reason[RESULT_REASON]; /* of a verdict that is not pass */
    char notes[256];            /* what does not change the verdict */
    bool judged;                /* gates and distances hold something */
    bool no_lse;                /* but nothing of an LSE: none was delivered */
    unsigned lacks;             /* of enum sketch_lack: what the set lacks */
    struct gate_result gates[GATES];
    uint32_t *heads_gates; /* [b, hq] bit g: gate g fails there; or NULL */
    int64_t heads, heads_failed;
    struct assay_distance build, recipe_distance, total;
    const struct quarantine_entry *known; /* or NULL */
    struct quarantine_entry *recorded; /* the same, the result's own; or NULL */
    struct explanation *why; /* of a verdict that is not pass; or NULL */
    struct sketch *rows;     /* kept for a report that tells them; or NULL */
    struct picture *picture; /* the same for one that draws */
};

/* Takes what a sketch holds, which is empty then. ASSAY_MEMORY. */
enum assay_status result_keep_rows(struct result *r, struct sketch *sketch,
                                   struct assay_error *err);

/* Its kernel was wrong, crashed or hung: neither passed nor could not run. */
bool result_failed(const struct result *r);

/* Frees what the result owns. */
void result_free(struct result *r);

#endif
