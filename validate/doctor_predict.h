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
    bool folded;    /* SCALED: before Q was quantized, not on the scores */
};

/* What C is by a hypothesis, and how far it may be off beside C's own jitter
 * and rounding; value NAN: nothing is said of this row. */
struct guess {
    double value, slack;
};

enum { DOCTOR_HYPOTHESES = 256 };

/* A row's scores in nats, of all keys, and what they are made of: where its Q
 * begins, the values of K's codes from its key 0 on; memory for nk doubles and
 * dk values. */
struct doctor_scores {
    double *s, *work;
    int64_t q;
    const float *k;
    float *prepared;
    double folded_by, folded_lse; /* what was folded into Q last; NAN: none */
};

/* Constants found from C; NAN: too few rows. */
struct doctor_fit {
    double offset, factor, head_offset;
    double scale, scale_shift; /* of scores; of them and the K mean's part */
};

/* Whether there are codes to make scores from. */
bool doctor_has_scores(const struct doctor_input *in);

/* Those that can be tried with this input, in the order of doctor.def, at
 * most DOCTOR_HYPOTHESES; their number. */
int doctor_hypotheses(const struct doctor_input *in,
                      const struct doctor_fit *fit, struct hypothesis *out);

/* How many times the right softmax scale a hypothesis is; NAN: it is not of
 * the scale. */
double doctor_scale_of(const struct doctor_input *in,
                       const struct hypothesis *h);

/* Whether the softmax scale changes Q's codes in a way that can be done again:
 * it is folded into a Q of blocks, whose input is known; or the kernel rounds
 * Q's codes once more, as gfx950 kernels of per-tensor fp8 do. */
bool doctor_can_fold(const struct doctor_input *in);
bool doctor_rounds_again(const struct doctor_input *in);

/* The row's scores with that scale in Q's codes, into s; false where that
 * fails. */
bool doctor_score_folded(const struct doctor_input *in, double scale,
                         int64_t keys, const struct doctor_scores *scores,
                         double *s);

/* Scores of a row of values of Q's codes against the values at k, into s,
 * times `by`. */
void doctor_score(const struct assay_problem *p, const float *q, const float *k,
                  double by, int64_t keys, double *s);

/* scores is not looked at where there are none. */
struct guess doctor_guess(const struct doctor_input *in,
                          const struct hypothesis *h,
                          const struct doctor_row *f,
                          struct doctor_scores *scores);

/* Of formulas: C where it is E rounded to format v, an enum assay_format_id,
 * else NAN; LSE with v more keys of score 0; the row at whose place row r
 * would be had LSE been [b, nq, hq]. */
double doctor_rounded(const struct doctor_row *f, double v);
double doctor_padded(const struct doctor_row *f, double v);
int64_t doctor_transposed(const struct assay_problem *p, int64_t r);

#endif
