/* SPDX-License-Identifier: MIT
 *
 * Two run records side by side.
 */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include "validate/record.h"

enum likeness {
#define ASSAY_LIKENESS(id, name, about) LIKENESS_##id,
#include "validate/likeness.def"
#undef ASSAY_LIKENESS
    LIKENESSES
};
const char *likeness_name(enum likeness likeness);
const char *likeness_about(enum likeness likeness);

enum {
#define COMPARE_FIGURE(id, key, name, member, from) COMPARE_##id,
#include "validate/compare_figure.def"
#undef COMPARE_FIGURE
    COMPARE_FIGURES
};
struct compare_figure {
    const char *key, *name;
    double from;
};
const struct compare_figure *compare_figure_get(int figure);

/* One result in both runs. Its verdict is what its rows say by the limits of
 * run B, whichever side it is; that of what has no rows is the record's. */
struct compared_side {
    const struct run_result *result; /* NULL: only the other run has it */
    enum verdict verdict;
    char *reason; /* of that verdict; NULL: none */
    /* what its rows say by the limits of its own run; result->verdict differs
     * where a record was edited, or judged by another assay */
    enum verdict own;
    double figures[COMPARE_FIGURES]; /* NaN where it did not run */
};
struct compared {
    struct compared_side a, b;
    enum likeness likeness;
    /* B less A over A, of the distance from where a figure is counted: 0 for
     * equal ones, infinite where one is NaN or A's is 0; NaN where one of the
     * two did not run */
    double change[COMPARE_FIGURES];
    double ratio; /* seconds of B over A's; NaN */
};

/* Ratios of seconds of one recipe. */
struct compared_times {
    const struct assay_recipe *recipe;
    size_t pairs;
    double seconds_a, seconds_b; /* in all */
    double mean, least, largest; /* the geometric mean */
};

struct comparison {
    const struct run_file *a, *b;
    struct limits limits_a, limits_b;  /* of the two runs */
    struct record_list list_a, list_b; /* those that are selected */
    struct compared *pairs; /* in the order of A, then what only B has */
    size_t count;
    size_t counts[LIKENESSES];
    struct compared_times *times;
    size_t recipes; /* in times */
};

struct compare_options {
    struct record_selection selection;
    bool ignore_kernel; /* match whatever kernels are called, one of a run */
    bool force;         /* also of different golden sets */
};

/* Matches results by case, recipe, kernel and input; several that are the same
 * in that, in their order. ASSAY_USAGE where the golden sets differ. Free with
 * compare_free, also after a failure. */
enum assay_status compare_runs(const struct run_file *a,
                               const struct run_file *b,
                               const struct compare_options *options,
                               struct comparison *out, struct assay_error *err);
void compare_free(struct comparison *c);

/* What a pair is called by: A's result, or B's where A has none. */
const struct run_result *compared_result(const struct compared *c);

/* Judges what was read of a side, by the limits of B for a kernel of that name
 * and by its own. */
enum assay_status compare_judge(const struct comparison *c,
                                const struct run_result *read, bool of_b,
                                const char *kernel, struct compared_side *side,
                                struct assay_error *err);
/* The limits of both runs, into *c. */
enum assay_status compare_load_limits(struct comparison *c,
                                      struct assay_error *err);
/* Says on stderr, once a record, where it has a verdict that its own rows and
 * limits do not bear out. */
void compare_tell_recorded(const struct comparison *c);

/* Whether both runs have it, with different verdicts; whether only one has. */
bool compared_moved(const struct compared *c);
bool compared_alone(const struct compared *c);
/* Whether B is worse: A passed and B does not, both ran and B's verdict is the
 * graver, what ran in A is missing in B, or what B alone has does not pass. */
bool compared_worse(const struct compared *c);
/* Both runs ran something, and no result has its like in the other. */
bool compared_nothing(const struct comparison *c);

/* Pairs in an order of their own, at most `most`; free() *out. */
enum compare_order {
    COMPARE_BY_VERDICT, /* that moved: from pass first, then worse ones */
    COMPARE_BY_LOSS,    /* that one run alone has: what ran in A first */
    COMPARE_BY_SECONDS, /* that have a ratio: the slowest first */
    COMPARE_BY_CHANGE   /* + a figure; that changed: the largest first */
};
enum assay_status compare_sorted(const struct comparison *c, int order,
                                 size_t most, const struct compared ***out,
                                 size_t *count, struct assay_error *err);

/* -- reports -- */
enum compare_form {
    COMPARE_TABLE,
    COMPARE_MARKDOWN,
    COMPARE_CSV,
    COMPARE_JSON,
    COMPARE_HTML
};
struct compare_report {
    const struct comparison *c;
    enum compare_form form;
    size_t worst;        /* rows of largest changes and slowest results */
    const char *command; /* or NULL: not said */
};
/* Prints a struct compare_report; false when that failed. */
bool compare_print(const void *report, FILE *out);

#endif
