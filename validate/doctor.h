/* SPDX-License-Identifier: MIT
 *
 * LSE doctor: why a candidate's LSE is wrong. Each row of doctor.def says what
 * C would be after one mistake; the mistake that gives the C there is, within
 * the jitter, is the cause. Pure; no I/O.
 */
#ifndef ASSAY_DOCTOR_H
#define ASSAY_DOCTOR_H

#include "assay/recipe.h"

enum cause {
#define ASSAY_CAUSE(id, ...) CAUSE_##id,
#include "validate/doctor.def"
#undef ASSAY_CAUSE
    CAUSES
};

struct cause_row {
    const char *name, *advice;
};
const struct cause_row *cause_get(enum cause cause);

/* All arrays of LSE are [b, hq, nq], in nats. */
struct doctor_input {
    const struct assay_problem *p;
    const struct assay_recipe *recipe;
    /* Codes of q and k give the scores as the kernel has them; without them
     * (NULL here or in q or k), causes that need scores are not tried.
     * lse_shift NULL: no K mean was taken off. */
    const struct assay_payloads *payloads;
    /* Inputs [b, nq, hq, dk] and the format that they were words of (NULL:
     * bf16): what another softmax scale makes of Q where it is folded into it.
     * q NULL: only scales on the scores are tried. */
    const float *q;
    const struct assay_format *word;
    const double *lse_c, *lse_e;
    const double *lse_x;     /* exact; NULL: not known */
    const float *jitter_lse; /* of E */
};

struct diagnosis {
    enum cause cause;
    double slope, offset; /* least squares of C on E over all finite rows of
                             the heads; 1 and the mean of C - E where E does
                             not vary */
    double was;           /* rms of C - E in the rows looked at, nats */
    double left;          /* rms of what the cause leaves there */
    int64_t wrong;      /* finite rows with C - E beyond the default lse gate */
    int64_t rows;       /* those of them that were looked at */
    int64_t not_finite; /* other rows whose class is wrong */
    int64_t heads;      /* heads that have wrong rows of either kind */
    char text[200];     /* cause, advice and numbers, for people */
};

/* Rows looked at: those that are wrong, up to DOCTOR_ROWS a head, evenly, first
 * and last among them; fewer, but at least DOCTOR_ROWS_LEAST, where scores
 * would take more than DOCTOR_PRODUCTS products in all. */
#define DOCTOR_ROWS 64
#define DOCTOR_ROWS_LEAST 4
#define DOCTOR_PRODUCTS (INT64_C(1) << 31)

/* Looks at heads h0 .. h1 - 1 of all batches. Finite rows come before those of
 * a wrong class, and those before rows that see no key; the text mentions the
 * others. A cause must leave at most a tenth of C - E, and no more than what
 * the jitter, binary32 and the rounding of P let pass (rms and median). Of
 * causes that leave about the same the first row is told. A constant that is
 * found from C needs DOCTOR_ROWS_LEAST rows; two at once (slope and offset)
 * are figures, never a cause. ASSAY_SHAPE for heads that are not there. */
enum assay_status doctor_look(const struct doctor_input *in, int64_t h0,
                              int64_t h1, struct diagnosis *out,
                              struct assay_error *err);

#endif
