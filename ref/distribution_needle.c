/* SPDX-License-Identifier: MIT
 *
 * needle: every query looks for one key, and where there are as many queries
 * as keys, and the scale is 1/sqrt(dk), every key is looked for: one that is
 * dropped, doubled or scaled wrongly moves that row, however long the context.
 * The second head of a group looks for the next key too, the third for the one
 * after that, so that heads differ, and a query that must not see all keys for
 * the first one behind its edge. Rows of V are independent, so a neighbour's is
 * told apart.
 */
#include <math.h>

#include "draw.h"

/* Queries are spread over the keys that they see evenly, the last at the last:
 * where nq = nk, causal or not, query i looks for key i. */
static int64_t target(const struct assay_problem *p, int64_t i)
{
    const int64_t seen = assay_problem_visible(p, i),
                  at = p->nq > 1 ? i * (p->nk - 1) / (p->nq - 1) : p->nk - 1;
    return at < seen ? at : seen > 0 ? seen - 1 : 0;
}

/* Adds the multiple of a key whose score with it is gap. */
static void look_for(const struct draw *draw, const struct draw_place *at,
                     int64_t j, float *x)
{
    const struct assay_problem *p = draw->p;
    const float *key =
        draw->of[DRAW_K].x + assay_row_offset(p->nk, p->hk, p->dk, at->b, j,
                                              at->h / (p->hq / p->hk));
    const double square = draw_dot(p->dk, key, key),
                 by = square > 0
                          ? draw->values.gap * sqrt((double)p->dk) / square
                          : 0;
    for (int64_t c = 0; c < p->dk; c++)
        x[c] += (float)(by * (double)key[c]);
}

static void needle_q_row(const struct draw *draw, const struct draw_operand *of,
                         const void *context, const struct draw_place *at,
                         float *x)
{
    const struct assay_problem *p = draw->p;
    const int64_t seen = assay_problem_visible(p, at->t),
                  key = target(p, at->t), n = at->h % (p->hq / p->hk);
    (void)context;
    for (int64_t c = 0; c < of->d; c++)
        x[c] = 0;
    if (p->nk == 0)
        return;
    look_for(draw, at, key, x);
    if (n > 0 && n < seen)
        look_for(draw, at, (key + n) % seen, x);
    if (seen > 0 && seen < p->nk)
        look_for(draw, at, seen, x);
}

void draw_needle(struct draw *draw)
{
    draw_rows(draw, DRAW_K, true, NULL, NULL);
    draw_rows(draw, DRAW_V, true, NULL, NULL);
    draw_rows(draw, DRAW_Q, false, needle_q_row, NULL);
}
