/* SPDX-License-Identifier: MIT
 *
 * Codes and scales that a candidate delivers, whichever driver brings them.
 */
#ifndef ASSAY_DELIVERED_H
#define ASSAY_DELIVERED_H

#include "golden/sketch.h"

/* Payloads of the candidate's own, none there yet. ASSAY_MEMORY. */
enum assay_status delivered_new(struct candidate *c, struct assay_error *err);
void delivered_free(struct assay_payloads *delivered); /* NULL: nothing */

/* Room for an operand of a recipe, without codes of tokens past the last;
 * assay_payload_free, also after a failure. ASSAY_SHAPE, ASSAY_MEMORY. */
enum assay_status delivered_room(const struct assay_recipe *recipe,
                                 const struct assay_problem *p,
                                 enum assay_input input,
                                 struct assay_payload *out,
                                 struct assay_error *err);

/* Codes or scales of an operand, and a tensor of any form of file. */
struct delivered_part {
    enum assay_input input;
    bool scales;
};
struct delivered_tensor {
    const char *name, *type; /* as its form of file calls it */
    int rank;
    const int64_t *shape;
};

/* Whether it is what the recipe asks for on that problem: codes [batch, token,
 * head, channel] in the type that `assay export` writes or in plain bytes,
 * 4-bit ones a byte each or two in a byte, the even channel low; scales as of
 * scale.def. ASSAY_FORMAT with a sentence that begins with its name. */
enum assay_status delivered_check(const struct assay_recipe *recipe,
                                  const struct assay_problem *p,
                                  struct delivered_part part,
                                  const struct delivered_tensor *t,
                                  struct assay_error *err);

/* Whether a quantizer makes anything of an operand: where it has no scales and
 * is in words, codes are what was captured, and an echo of the inputs delivers
 * them too. */
bool delivered_is_made(const struct assay_recipe *recipe,
                       enum assay_input input);

/* Copies words of a checked tensor into room. */
void delivered_take(struct delivered_part part,
                    const struct delivered_tensor *t, const void *words,
                    struct assay_payload *to);

/* Binary32 or E8M0, whichever it has; NULL: none. */
void *delivered_scales(const struct assay_payload *x);

/* A candidate without O gets O and LSE that a perfect kernel of the recipe
 * makes of what was delivered, and of the recipe's own for the rest: so its
 * payloads are judged by what comes of them too; where the answer was made
 * elsewhere, that answer's. Nothing where there is an O.
 */
enum assay_status delivered_answer(const struct assay_case *c,
                                   const struct assay_answer *e,
                                   struct candidate *out,
                                   struct assay_error *err);

#endif
