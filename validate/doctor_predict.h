/* SPDX-License-Identifier: MIT
 *
 * Private to the doctor: what C would be after a mistake.
 */
#ifndef ASSAY_DOCTOR_PREDICT_H
#define ASSAY_DOCTOR_PREDICT_H

#include "assay/metrics.h"
#include "validate/doctor.h"

/* One row that is looked at. m, all and noise are NAN without scores. */
struct doctor_row {
    struct assay_place at;
    int64_t r; /* of all in [b, hq, nq] */
    double c, e, x, jitter;
    double shift;       /* what the K mean took off; 0 */
    double l;           /* e - shift */
    double m;           /* maximum of scores that exp is taken from */
    double all;         /* LSE of scores, P not rounded */
    double noise;       /* |l - all|: what rounding P did, or Q again */
    double visible;     /* keys seen */
    int64_t keys;       /* the same */
    int64_t other;      /* row of the head that fits best; -1 */
    double head_offset; /* median of C - E in its head */
};

/* A cause with its number. */
struct hypothesis {
    enum cause cause;
    double v;
    char what[32];  /* v for people */
    bool shift_too; /* SCALED: the K mean's part has that scale too */
};

/* What C is by a hypothesis, and how far it may be off beside C's own jitter
 * and rounding; value NAN: nothing is said of this row. */
struct guess {
    double value, slack;
};

enum { DOCTOR_HYPOTHESES = 128 };

/* Constants found from C; NAN: too few rows. */
struct doctor_fit {
    double offset, factor, head_offset;
};

/* Whether there are codes to make scores from. */
bool doctor_has_scores(const struct doctor_input *in);

/* Those that can be tried with this input, in the order of doctor.def, at
 * most DOCTOR_HYPOTHESES; their number. */
int doctor_hypotheses(const struct doctor_input *in,
                      const struct doctor_fit *fit, struct hypothesis *out);

/* s: the row's scores in nats, of all keys; NULL without. work: nk doubles. */
struct guess doctor_guess(const struct doctor_input *in,
                          const struct hypothesis *h,
                          const struct doctor_row *f, const double *s,
                          double *work);

/* Of formulas: C where it is E rounded to format v, an enum assay_format_id,
 * else NAN; LSE with v more keys of score 0; the row at whose place row r
 * would be had LSE been [b, nq, hq]. */
double doctor_rounded(const struct doctor_row *f, double v);
double doctor_padded(const struct doctor_row *f, double v);
int64_t doctor_transposed(const struct assay_problem *p, int64_t r);

#endif
