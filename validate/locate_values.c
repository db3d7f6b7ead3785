/* SPDX-License-Identifier: MIT
 *
 * What stands where O is wrong: each row of pattern.def is a guess at C from E,
 * and what it leaves of a row's squared difference, over the channels that are
 * wrong, is held against all of it.
 */
#include "validate/locate_scene.h"

#include <math.h>

enum {
    HEAD_ROWS = 8, /* sampled rows of a head that is looked for elsewhere */
    SEARCHED_ROWS = 16
};

/* Among many rows some are near any other: what is looked for in all of them
 * must be the same but for rounding. */
static const double SAME = 0.99;

/* Squared difference of a row over the channels that are wrong. */
static double difference(const struct scene *s, struct assay_place at)
{
    const float *c = scene_row(s, s->in->c, at);
    const float *e = scene_row(s, s->in->e, at);
    double sum = 0;
    for (int64_t i = 0; i < s->p->dv; i++)
        if (s->channel_in[i])
            sum += ((double)c[i] - e[i]) * ((double)c[i] - e[i]);
    return sum;
}

/* What a guess leaves of it; more than `most` where that is passed, which
 * ends long searches early. */
static double left(const struct scene *s, struct assay_place at, struct guess g,
                   double most)
{
    const float *c = scene_row(s, s->in->c, at);
    double sum = 0;
    for (int64_t i = 0; i < s->p->dv && !(sum > most); i++) {
        int64_t from =
            i + g.turn < s->p->dv ? i + g.turn : i + g.turn - s->p->dv;
        double d = c[i] - g.gain * g.row[from];
        if (s->channel_in[i])
            sum += d * d;
    }
    return sum;
}

double locate_explained(const struct scene *s, struct assay_place at,
                        struct guess g)
{
    double all = difference(s, at);
    double part = 1 - left(s, at, g, all) / all;
    return all > 0 && part > 0 ? part : 0; /* NaN explains nothing */
}

/* Mean over the sampled rows of what guesses explain. `of` makes a guess for a
 * row; rows without one do not count, unless most have none. */
static double mean_explained(const struct scene *s,
                             struct guess (*of)(const struct scene *s,
                                                struct assay_place at,
                                                int64_t k),
                             int64_t k)
{
    double sum = 0;
    int64_t rows = 0;
    for (int64_t n = 0; n < s->sampled; n++) {
        struct assay_place at = scene_sampled(s, n);
        struct guess g = of(s, at, k);
        if (!g.row)
            continue;
        rows++;
        sum += locate_explained(s, at, g);
    }
    return 2 * rows < s->sampled || rows == 0 ? 0 : sum / (double)rows;
}

static struct guess of_shifted_row(const struct scene *s, struct assay_place at,
                                   int64_t k)
{
    at.i += k;
    if (at.i < 0 || at.i >= s->p->nq)
        return (struct guess){ 0 };
    return (struct guess){ scene_e_row(s, at), 1, 0 };
}

static struct guess of_turned_channels(const struct scene *s,
                                       struct assay_place at, int64_t k)
{
    return (struct guess){ scene_e_row(s, at), 1, k };
}

/* The memory of [b, nq, hq, dv] taken for [b, hq, nq, dv]. */
static struct guess of_layout(const struct scene *s, struct assay_place at,
                              int64_t k)
{
    int64_t flat = at.i * s->p->hq + at.h + k;
    struct assay_place from = { at.b, flat / s->p->nq, flat % s->p->nq, -1 };
    return (struct guess){ scene_e_row(s, from), 1, 0 };
}

/* -- values that need no other row -- */

static bool find_lse_only(const struct scene *s, struct pattern *found)
{
    for (int64_t r = 0; r < assay_problem_rows(s->p); r++)
        if (scene_o_fails(s, r))
            return false;
    *found = (struct pattern){ .id = s->in->lse_unwritten >= s->failing
                                         ? PATTERN_LSE_UNWRITTEN
                                         : PATTERN_LSE_ONLY,
                               .explained = 1 };
    return true;
}

/* What is counted is all rows that fail, not a sample. */
static bool find_not_finite(const struct scene *s, struct pattern *found)
{
    int64_t elements = 0, rows = 0, wrong = 0;
    for (int64_t r = 0; r < assay_problem_rows(s->p); r++) {
        if (!scene_o_fails(s, r))
            continue;
        struct assay_place at = assay_row_place(s->p, r);
        const float *c = scene_row(s, s->in->c, at), *e = scene_e_row(s, at);
        int64_t here = 0;
        for (int64_t i = 0; i < s->p->dv; i++)
            here += !isfinite(c[i]) && !assay_same_class(c[i], e[i]);
        elements += here;
        rows += here > 0;
        wrong++;
    }
    *found =
        (struct pattern){ elements <= s->in->unwritten ? PATTERN_NOT_WRITTEN
                                                       : PATTERN_NOT_FINITE,
                          elements,
                          0,
                          0,
                          0,
                          (double)rows / (double)wrong };
    return found->explained >= LOCATE_COVERS;
}

/* One value in all of the sampled rows: 0 is told as such. */
static bool find_constant(const struct scene *s, struct pattern *found)
{
    int64_t same = 0, all = 0, first = 0;
    while (!s->channel_in[first])
        first++;
    float value = scene_row(s, s->in->c, scene_sampled(s, 0))[first];
    for (int64_t n = 0; n < s->sampled; n++) {
        const float *c = scene_row(s, s->in->c, scene_sampled(s, n));
        for (int64_t i = 0; i < s->p->dv; i++) {
            same += s->channel_in[i] && c[i] == value;
            all += s->channel_in[i];
        }
    }
    *found = (struct pattern){ value == 0 ? PATTERN_ZEROS : PATTERN_CONSTANT,
                               0,
                               0,
                               0,
                               value,
                               (double)same / (double)all };
    return all >= LOCATE_VALUES && found->explained >= LOCATE_COVERS;
}

/* -- answers that belong elsewhere -- */

static bool find_rows_shifted(const struct scene *s, struct pattern *found)
{
    static const int64_t shifts[] = { 1, 2, 3, 16, 32, 64, 128, 256 };
    *found = (struct pattern){ .id = PATTERN_ROWS_SHIFTED };
    for (size_t n = 0; n < 2 * sizeof shifts / sizeof *shifts; n++) {
        int64_t k = n % 2 ? -shifts[n / 2] : shifts[n / 2];
        double part = mean_explained(s, of_shifted_row, k);
        if (part > found->explained) {
            found->a = k;
            found->explained = part;
        }
    }
    return found->explained >= LOCATE_EXPLAINS;
}

static bool find_channels_shifted(const struct scene *s, struct pattern *found)
{
    const int64_t dv = s->p->dv;
    *found = (struct pattern){ .id = PATTERN_CHANNELS_SHIFTED, .b = dv };
    for (int64_t k = 1; k < dv && s->channels >= LOCATE_CHANNELS; k++) {
        double part = mean_explained(s, of_turned_channels, k);
        if (part > found->explained) {
            found->a = k;
            found->explained = part;
        }
    }
    return found->explained >= LOCATE_EXPLAINS;
}

static bool find_layout(const struct scene *s, struct pattern *found)
{
    *found = (struct pattern){ .id = PATTERN_LAYOUT };
    found->explained = mean_explained(s, of_layout, 0);
    return found->explained >= LOCATE_EXPLAINS;
}

/* Mean over up to HEAD_ROWS rows of the sample from n on, all of one head,
 * explained by head g of batch b. */
static double head_explained(const struct scene *s, int64_t n, int64_t b,
                             int64_t g)
{
    const int64_t head = s->sample[n] / s->p->nq;
    double sum = 0;
    int64_t rows = 0;
    for (;
         n < s->sampled && rows < HEAD_ROWS && s->sample[n] / s->p->nq == head;
         n++, rows++) {
        struct assay_place at = scene_sampled(s, n), from = at;
        from.b = b;
        from.h = g;
        sum += locate_explained(s, at,
                                (struct guess){ scene_e_row(s, from), 1, 0 });
    }
    return sum / (double)rows;
}

/* The head of the same batch (or the same head of another batch) whose answer
 * this one holds. */
static double best_source(const struct scene *s, int64_t n, bool batches,
                          int64_t *source)
{
    struct assay_place at = scene_sampled(s, n);
    double best = -1;
    for (int64_t g = 0; g < (batches ? s->p->b : s->p->hq); g++) {
        if (g == (batches ? at.b : at.h))
            continue;
        double part = batches ? head_explained(s, n, g, at.h)
                              : head_explained(s, n, at.b, g);
        if (part > best) {
            best = part;
            *source = g;
        }
    }
    return best;
}

/* What heads and their sources have in common. */
struct sources {
    int64_t heads, a, b;            /* how many, the first and its source */
    bool same, turned, mutual, two; /* in all of them */
};

static void add_source(struct sources *all, int64_t h, int64_t g, int64_t n)
{
    if (all->heads++ == 0)
        *all = (struct sources){ 1, h, g, true, true, true, true };
    all->same &= g == all->b;
    all->turned &= (g - h + n) % n == (all->b - all->a + n) % n;
    all->mutual &= (h == all->a && g == all->b) || (h == all->b && g == all->a);
    all->two |= h == all->b;
}

static bool find_heads(const struct scene *s, bool batches,
                       struct pattern *found)
{
    const int64_t heads = batches ? s->p->b : s->p->hq;
    struct sources all = { 0 };
    double sum = 0;
    bool other = false;
    if (heads < 2)
        return false;
    for (int64_t n = 0, g = 0; n < s->sampled;) {
        const int64_t head = s->sample[n] / s->p->nq;
        struct assay_place at = scene_sampled(s, n);
        sum += best_source(s, n, batches, &g);
        add_source(&all, batches ? at.b : at.h, g, heads);
        other |= (batches ? at.b : at.h) == all.b;
        while (n < s->sampled && s->sample[n] / s->p->nq == head)
            n++;
    }
    const double part = sum / (double)all.heads;
    if (batches)
        *found =
            (struct pattern){ PATTERN_BATCH_COPIED, all.a, all.b, 0, 0, part };
    else if (all.mutual && other)
        *found =
            (struct pattern){ PATTERN_HEADS_SWAPPED, all.a, all.b, 0, 0, part };
    else if (all.same)
        *found = (struct pattern){ PATTERN_HEAD_COPIED, all.b, 0, 0, 0, part };
    else if (all.turned)
        *found = (struct pattern){ PATTERN_HEADS_SHIFTED,
                                   (all.b - all.a + heads) % heads,
                                   heads,
                                   0,
                                   0,
                                   part };
    else
        *found =
            (struct pattern){ PATTERN_HEADS_MIXED, all.a, all.b, 0, 0, part };
    return part >= LOCATE_EXPLAINS;
}

/* The row of E, of any head and batch, that explains row `at` best. */
static double search_row(const struct scene *s, struct assay_place at,
                         struct assay_place *from)
{
    const double all = difference(s, at);
    double least = all;
    for (int64_t r = 0; r < assay_problem_rows(s->p); r++) {
        struct assay_place here = assay_row_place(s->p, r);
        double rest =
            left(s, at, (struct guess){ scene_e_row(s, here), 1, 0 }, least);
        if (rest < least) {
            least = rest;
            *from = here;
        }
    }
    return all > 0 && least < all ? 1 - least / all : 0;
}

/* Rows of the sample, spread evenly, each looked for in all of E. */
static bool find_stale(const struct scene *s, struct pattern *found)
{
    struct assay_place at[2] = { { 0 } }, from[2] = { { 0 } };
    const int64_t most =
        s->sampled < SEARCHED_ROWS ? s->sampled : SEARCHED_ROWS;
    double sum = 0;
    if (s->channels < LOCATE_CHANNELS)
        return false;
    for (int64_t n = 0; n < most; n++) {
        at[n % 2] = scene_sampled(s, n * s->sampled / most);
        sum += search_row(s, at[n % 2], &from[n % 2]);
    }
    const bool swapped = s->sampled == 2 && at[0].b == at[1].b &&
                         at[0].h == at[1].h && from[0].i == at[1].i &&
                         from[1].i == at[0].i && from[0].h == at[1].h &&
                         from[1].h == at[0].h;
    *found = swapped ? (struct pattern){ PATTERN_ROWS_SWAPPED,
                                         at[0].i,
                                         at[1].i,
                                         0,
                                         0,
                                         0 }
                     : (struct pattern){ PATTERN_STALE, from[0].b, from[0].h,
                                         from[0].i,     0,         0 };
    found->explained = sum / (double)most;
    return found->explained >= SAME;
}

void locate_values(const struct scene *s, struct location *out)
{
    struct pattern *found = &out->found[PATTERN_KIND_VALUES];
    if (find_lse_only(s, found) || find_not_finite(s, found) ||
        find_constant(s, found) || locate_gain(s, out) ||
        locate_gain_head(s, out) || find_rows_shifted(s, found) ||
        find_heads(s, false, found) || find_heads(s, true, found) ||
        find_layout(s, found) || find_channels_shifted(s, found) ||
        find_stale(s, found) || locate_gain_row(s, out))
        return;
    *found = (struct pattern){ .id = PATTERN_NONE };
}
