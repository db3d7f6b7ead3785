/* SPDX-License-Identifier: MIT
 *
 * Sums that are not brought to a new maximum: of O and of weights, or of one of
 * them. With w_j the right weights, w'_j those that stay too large,
 *   both: sum w' v / sum w',  O alone: sum w' v / sum w,  the sum alone:
 *   sum w v / sum w'.
 */
#include "validate/locate_keys.h"

#include <math.h>
#include <string.h>

#include "validate/rescale.h"

enum { BOTH, O_ALONE, SUM_ALONE, FORGOTTEN };

static const enum pattern_id forgotten[FORGOTTEN] = { PATTERN_RESCALE,
                                                      PATTERN_RESCALE_O,
                                                      PATTERN_RESCALE_SUM };

/* O by sums that stay too large into k->change, whose weights are w' in
 * k->spare; how many times as large as the right one their sum is. */
static double stale_answer(const struct keys *k, const struct key_row *row,
                           int64_t tile)
{
    const int64_t dv = k->p->dv;
    double sum = 0;
    rescale_lifts(tile, row->visible, row->score, k->spare);
    memset(k->change, 0, (size_t)dv * sizeof *k->change);
    for (int64_t j = 0; j < row->visible; j++) {
        const double w = exp(row->score[j] + k->spare[j] - row->lse);
        const float *v = keys_v(k, row->at, j, keys_right_way(k, row).kv);
        sum += w;
        for (int64_t c = 0; c < dv; c++)
            k->change[c] += w * v[c];
    }
    return sum;
}

/* Adds what each way to forget explains of a row. */
static void add_row(const struct keys *k, const struct key_row *row,
                    int64_t tile, double sums[FORGOTTEN])
{
    const int64_t dv = k->p->dv;
    const double larger = stale_answer(k, row, tile);
    for (int how = 0; how < FORGOTTEN; how++) {
        for (int64_t c = 0; c < dv; c++)
            k->slope[c] = (how == BOTH      ? k->change[c] / larger
                           : how == O_ALONE ? k->change[c]
                                            : row->o[c] / larger) -
                          row->o[c];
        sums[how] += keys_explained(k, row, k->slope);
    }
}

/* Of the tiles the one that explains most: they differ by little. */
void locate_rescale(const struct keys *k, struct pattern *best)
{
    static const int64_t tiles[] = RESCALE_TILES;
    struct pattern most[FORGOTTEN] = { 0 };
    for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
        double sums[FORGOTTEN] = { 0 };
        for (int64_t n = 0; n < k->n; n++)
            add_row(k, &k->row[n], tiles[t], sums);
        for (int how = 0; how < FORGOTTEN; how++) {
            const double explained = sums[how] / (double)k->n;
            if (explained > most[how].explained)
                most[how] = (struct pattern){ forgotten[how], tiles[t], 0, 0, 0,
                                              explained };
        }
    }
    for (int how = 0; how < FORGOTTEN; how++)
        keys_offer(k, best, most[how]);
}
