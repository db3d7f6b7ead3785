/* SPDX-License-Identifier: MIT
 *
 * Which channels are wrong in the rows that fail. A gate judges rows, so a
 * channel is known by its part of what is wrong: its squared difference over
 * its own squared norm in the whole answer (channels of V differ a lot in
 * size), or, where rows fail by class, its elements of another class.
 */
#include "validate/locate_scene.h"

#include <math.h>

/* A set is found if it holds this part of what is wrong. */
static const double COVERS = 0.98;
/* Few rows may leave a channel nearly right by chance: then no set of more
 * than half of the channels, or of few, is told from all of them. */
enum { FEW_ROWS = 8, FEW_CHANNELS = 16 };

static bool add_sampled_rows(struct scene *s, bool classes)
{
    bool any = false;
    for (int64_t n = 0; n < s->sampled; n++) {
        struct assay_place at = assay_row_place(s->p, s->sample[n]);
        const float *c = scene_row(s, s->in->c, at);
        const float *e = scene_row(s, s->in->e, at);
        for (int64_t i = 0; i < s->p->dv; i++) {
            double d = (double)c[i] - e[i];
            double wrong = classes       ? !assay_same_class(c[i], e[i])
                           : isfinite(d) ? d * d
                                         : 0;
            s->channel_share[i] += wrong;
            any |= wrong > 0;
        }
    }
    return any;
}

/* False where O is nowhere wrong. */
static bool fill_shares(struct scene *s)
{
    double norm = 0, sum = 0;
    if (!add_sampled_rows(s, true)) {
        if (!add_sampled_rows(s, false))
            return false;
        for (int64_t c = 0; c < s->p->dv; c++)
            norm += s->channel_norm[c] / (double)s->p->dv;
        for (int64_t c = 0; c < s->p->dv && norm > 0; c++)
            s->channel_share[c] /= s->channel_norm[c] + 1e-6 * norm;
    }
    for (int64_t c = 0; c < s->p->dv; c++)
        sum += s->channel_share[c];
    for (int64_t c = 0; c < s->p->dv; c++)
        s->channel_share[c] /= sum;
    return true;
}

static double share_of(const struct scene *s, int64_t first, int64_t last,
                       int64_t step)
{
    double sum = 0;
    for (int64_t c = first; c <= last && c < s->p->dv; c += step)
        sum += s->channel_share[c];
    return sum;
}

/* Whether a block of n channels holds what is wrong, in each quarter of it. */
static bool block_holds(const struct scene *s, int64_t first, int64_t n)
{
    if (share_of(s, first, first + n - 1, 1) < COVERS)
        return false;
    for (int64_t q = first; q < first + n; q += n / 4)
        if (share_of(s, q, q + n / 4 - 1, 1) < 0.03)
            return false;
    return true;
}

static bool find_block(const struct scene *s, int64_t most,
                       struct pattern *found)
{
    static const int64_t sizes[] = { 128, 64, LOCATION_BLOCK, 16 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int64_t c = 0; c + sizes[k] <= s->p->dv; c += sizes[k])
            if (sizes[k] <= most && block_holds(s, c, sizes[k])) {
                *found = (struct pattern){
                    PATTERN_CHANNELS_BLOCK, c, c + sizes[k] - 1, 0, 0, 1
                };
                return true;
            }
    return false;
}

/* The shortest range that holds what is wrong. */
static bool find_range(const struct scene *s, int64_t most,
                       struct pattern *found)
{
    const int64_t dv = s->p->dv;
    int64_t a = 0, b = dv - 1, first = 0;
    double sum = 0;
    for (int64_t last = 0; last < dv; last++) {
        sum += s->channel_share[last];
        while (first < last && sum - s->channel_share[first] >= COVERS)
            sum -= s->channel_share[first++];
        if (sum >= COVERS && last - first < b - a) {
            a = first;
            b = last;
        }
    }
    if (b - a + 1 > most)
        return false;
    enum pattern_id id = a == b        ? PATTERN_CHANNEL_ONE
                         : b == dv - 1 ? PATTERN_CHANNELS_FROM
                         : a == 0      ? PATTERN_CHANNELS_UP_TO
                                       : PATTERN_CHANNELS_RANGE;
    *found = (struct pattern){ id, a, b, 0, 0, 1 };
    return true;
}

/* The longest period whose channels hold what is wrong: n and its divisors
 * all do. */
static bool find_nth(const struct scene *s, struct pattern *found)
{
    for (int64_t n = s->p->dv / 2; n >= 2; n--)
        for (int64_t c = 0; c < n; c++)
            if (share_of(s, c, s->p->dv - 1, n) >= COVERS) {
                *found =
                    (struct pattern){ PATTERN_CHANNELS_NTH, n, c, 0, 0, 1 };
                return true;
            }
    return false;
}

static bool holds(const struct pattern *f, int64_t c)
{
    switch (f->id) {
    case PATTERN_CHANNEL_ONE: return c == f->a;
    case PATTERN_CHANNELS_NTH: return c % f->a == f->b;
    case PATTERN_CHANNELS_BLOCK:
    case PATTERN_CHANNELS_FROM:
    case PATTERN_CHANNELS_UP_TO:
    case PATTERN_CHANNELS_RANGE: return c >= f->a && c <= f->b;
    default: return true;
    }
}

void locate_channels(struct scene *s, struct location *out)
{
    struct pattern *found = &out->found[PATTERN_KIND_CHANNELS];
    const int64_t dv = s->p->dv;
    const bool few = s->sampled < FEW_ROWS;
    const int64_t most = few ? dv / 2 : dv - (dv + 9) / 10;
    bool wrong = fill_shares(s);
    *found =
        (struct pattern){ .id = wrong ? PATTERN_CHANNELS_ALL : PATTERN_NONE };
    if (wrong && !(few && dv < FEW_CHANNELS) && !find_block(s, most, found) &&
        !find_range(s, dv / 4, found) && !find_nth(s, found))
        find_range(s, most, found);
    found->explained = 0;
    for (int64_t c = 0; c < dv; c++) {
        s->channel_in[c] = holds(found, c);
        s->channels += s->channel_in[c];
        found->explained += s->channel_in[c] ? s->channel_share[c] : 0;
    }
}
