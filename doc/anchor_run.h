/* SPDX-License-Identifier: MIT
 *
 * Made inputs, their exact answer, and what a recipe's answer is off by, as
 * ROCm/aiter's bench_sage measures it: both answers rounded to bf16, cosine
 * and mean over all elements of all heads.
 */
#ifndef ANCHOR_RUN_H
#define ANCHOR_RUN_H

#include "assay/audit.h"
#include "assay/distribution.h"

/* Queries 0, every, 2 every, ... of a made head group, all its keys. */
struct anchor_inputs {
    struct assay_problem all, p; /* before and after queries were left out */
    int64_t every;
    float *q_all, *q, *k, *v;
    float *o; /* exact */
    double *lse;
};

struct anchor_figures {
    double mae, max_error, cosine; /* of bf16 words */
    double lse_max, lse_bias;      /* nats: largest |error|, mean error */
    /* Errors of O before it is rounded, over V's own round trip: of V alone
     * quantized; of what V adds to the rest of the recipe; of all. */
    double v_only, v_added, v_all;
};

/* One batch of h heads, s tokens, 128 channels. All of these end the program
 * with a sentence where they fail. */
struct anchor_inputs anchor_inputs_new(const char *distribution, int64_t h,
                                       int64_t s, int64_t every, uint64_t seed);
void anchor_inputs_exact(struct anchor_inputs *in);
void anchor_inputs_free(struct anchor_inputs *in);

double anchor_n_eff(const struct anchor_inputs *in); /* mean of rows */

/* A recipe by name, "name@form" for another softmax form; those of June 2026
 * are among them (anchor_run.c). V's part costs two more emulations. */
struct anchor_figures anchor_measure(const struct anchor_inputs *in,
                                     const char *recipe, bool v_part);

#endif
