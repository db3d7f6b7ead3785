/* SPDX-License-Identifier: MIT
 *
 * What is kept of a candidate C beside the emulated answer E and the exact
 * answer X: figures of rows. All gates are judged from a sketch, so a run that
 * kept it can be judged again without a kernel.
 */
#ifndef ASSAY_SKETCH_H
#define ASSAY_SKETCH_H

#include "assay/metrics.h"
#include "golden/scale_bytes.h"
#include "golden/set.h"

/* What a kernel left behind. */
struct candidate {
    const float *o;          /* values, [b, nq, hq, dv] */
    bool no_o;               /* none was delivered: o and lse are what a
                                perfect kernel makes of the payloads */
    const double *lse;       /* [b, hq, nq]; NULL: not delivered */
    bool saved;              /* in memory that was not ours: no guards, no
                                poison, nothing known of them */
    int64_t guard_bytes;     /* changed outside the buffers */
    const char *guard_where; /* the first: "after o"; static, or NULL */
    int64_t input_bytes;     /* inputs changed */
    size_t workspace;        /* bytes that the kernel asked for */
    double traffic;          /* bytes a second that were copied beside it */
    int64_t o_unwritten;     /* elements that still hold the poison */
    int64_t lse_unwritten;
    struct assay_place unwritten_at; /* the first */
    const double *unwritten;         /* [b, hq]: both; NULL: none anywhere */
    int64_t runs, runs_differ;       /* repeated runs, and with other bits */
    int64_t first_differs;           /* the first such, from 1 on */
    int64_t payload_unwritten;       /* codes and scales, the same */
    /* what a quantizer made, where there is one to judge; an operand without
     * a format was not delivered. NULL: none. */
    const struct assay_payloads *payloads;
    struct assay_payloads *delivered; /* the same, where it is the candidate's
                                         own; or NULL */
};

/* What it is held against. An answer made elsewhere may lack LSE and jitter. */
struct yardstick {
    const struct assay_problem *problem;
    const struct assay_answer *e;
    const struct assay_exact *x; /* NULL: there is none */
    const struct assay_case *c;  /* for what explains payloads; NULL: it is not
                                    looked for in values */
};

/* What a yardstick does not know; bits. Without an exact answer ex, cx and the
 * bars are 0 and lse_x is NaN; without a jitter that of O is 0, for O has its
 * rounding beside it, and that of LSE is what rounding to binary32 costs;
 * without an LSE there is no_lse. */
enum sketch_lack {
    SKETCH_LACKS_EXACT = 1,
    SKETCH_LACKS_JITTER = 2,
    SKETCH_LACKS_LSE = 4,
    SKETCH_LACKS_ALL = 7
};

/* Rows are [b, hq, nq], heads [b, hq]. */
struct sketch {
    struct assay_problem problem;
    const struct assay_recipe *recipe;
    struct assay_row *ce, *ex, *cx; /* C against E, E against X, C against X */
    struct assay_row_beyond *beyond;
    double *lse_c, *lse_e, *lse_x; /* lse_c is lse_e where no_lse */
    float *jitter_o, *jitter_lse;  /* rows */
    float *jitter_gain;            /* heads */
    double *bar_o, *bar_lse;       /* heads */
    double *unwritten;             /* heads */
    /* as in struct candidate */
    int64_t guard_bytes, input_bytes, o_unwritten, lse_unwritten;
    char guard_where[32];
    struct assay_place unwritten_at;
    int64_t runs, runs_differ, first_differs;
    struct scale_bytes payload[ASSAY_INPUTS];
    int64_t payload_unwritten;
    int64_t no_o, no_lse, saved; /* 1: yes */
    int64_t lacks;               /* of enum sketch_lack */
    char
        bits[33]; /* XXH3-128 of O and LSE in their words, for comparing runs */
};

/* Counts another run, whose o and lse are `next`: its bits must be those of
 * the first, which counts itself (runs is 1). What it changed that was not its
 * own is added; what it did not write differs, since the poison does. */
void candidate_add_run(const struct assay_problem *p, struct candidate *first,
                       const struct candidate *next);

/* Free with sketch_free, also after a failure. */
enum assay_status sketch_make(const struct yardstick *against,
                              const struct candidate *c, struct sketch *out,
                              struct assay_error *err);
/* Memory for all rows and heads of a problem, zeroed. */
enum assay_status sketch_new(const struct assay_problem *p,
                             const struct assay_recipe *recipe,
                             struct sketch *out, struct assay_error *err);
void sketch_free(struct sketch *s);

#endif
