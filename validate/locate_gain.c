/* SPDX-License-Identifier: MIT
 *
 * Gains: C is E times a number. A few rows that are wrong in another way must
 * not move the number that the others have in common, so that rows far from
 * the median gain have no part in it.
 */
#include "validate/locate_scene.h"

#include <math.h>

#include "assay/metrics.h"

/* The sums that a least-squares gain is made of. */
struct gain_sums {
    double ce, ee;
};

static void add_gain(const struct scene *s, struct assay_place at,
                     struct gain_sums *sums)
{
    const float *c = scene_row(s, s->in->c, at);
    const float *e = scene_row(s, s->in->e, at);
    for (int64_t i = 0; i < s->p->dv; i++)
        if (s->channel_in[i] && isfinite(c[i]) && isfinite(e[i])) {
            sums->ce += (double)c[i] * e[i];
            sums->ee += (double)e[i] * e[i];
        }
}

static double gain_of(struct gain_sums sums)
{
    return sums.ee > 0 ? sums.ce / sums.ee : 1;
}

static double row_gain(const struct scene *s, struct assay_place at)
{
    struct gain_sums sums = { 0 };
    add_gain(s, at, &sums);
    return gain_of(sums);
}

/* How a gain fits rows. */
struct fit {
    double all, rest; /* sums of what it explains: of all rows, and of those
                         that are not odd */
    int64_t rows, odd;
    struct assay_place first; /* of the odd */
};

/* A row that the gain does not explain, and what it leaves fails by itself. */
static bool is_odd(const struct scene *s, int64_t n, double part)
{
    return part < LOCATE_EXPLAINS &&
           !(s->in->used_o[s->sample[n]] * sqrt(1 - part) <= 1);
}

static bool add_row(const struct scene *s, int64_t n, double gain,
                    struct fit *fit)
{
    const struct assay_place at = scene_sampled(s, n);
    const double part =
        locate_explained(s, at, (struct guess){ scene_e_row(s, at), gain, 0 });
    const bool odd = is_odd(s, n, part);
    if (odd && fit->odd++ == 0)
        fit->first = at;
    fit->rows++;
    fit->all += part;
    fit->rest += odd ? 0 : part;
    return !odd;
}

/* Mean of what it explains. Few odd rows do not count, for they are told. */
static double fit_explains(const struct fit *fit)
{
    const double rows = (double)fit->rows, odd = (double)fit->odd,
                 most =
                     rows >= LOCATE_VALUES ? fmax(1, LOCATE_FALSE * rows) : 0;
    return odd <= most ? fit->rest / (rows - odd) : fit->all / rows;
}

static bool state(const struct fit *fit, struct pattern pattern,
                  struct location *out)
{
    pattern.explained = fit_explains(fit);
    if (!(pattern.explained >= LOCATE_EXPLAINS))
        return false;
    out->found[PATTERN_KIND_VALUES] = pattern;
    out->odd.rows = fit->odd;
    out->odd.looked_at = fit->rows;
    out->odd.first = fit->first;
    return true;
}

/* The least-squares gain of rows n to end of the sample that the median of
 * their own gains explains; the median where that is none. */
static double common_gain(const struct scene *s, int64_t n, int64_t end)
{
    double gains[LOCATE_SAMPLE];
    struct gain_sums sums = { 0 };
    struct fit unused = { 0 };
    for (int64_t i = n; i < end; i++)
        gains[i - n] = row_gain(s, scene_sampled(s, i));
    assay_sort(end - n, gains);
    const double median = gains[(end - n) / 2];
    for (int64_t i = n; i < end; i++)
        if (add_row(s, i, median, &unused))
            add_gain(s, scene_sampled(s, i), &sums);
    return sums.ee > 0 ? gain_of(sums) : median;
}

bool locate_gain(const struct scene *s, struct location *out)
{
    struct fit fit = { 0 };
    if (s->sampled * s->channels < LOCATE_VALUES)
        return false;
    const double gain = common_gain(s, 0, s->sampled);
    const bool sign = fabs(gain + 1) < 0.01;
    for (int64_t n = 0; n < s->sampled; n++)
        add_row(s, n, gain, &fit);
    return state(
        &fit,
        (struct pattern){ .id = sign ? PATTERN_SIGN : PATTERN_GAIN, .x = gain },
        out);
}

/* The sample goes from head to head in order. */
bool locate_gain_head(const struct scene *s, struct location *out)
{
    struct pattern found = { .id = PATTERN_GAIN_HEAD };
    struct fit fit = { 0 };
    double far = 0;
    for (int64_t n = 0, end; n < s->sampled; n = end) {
        const int64_t head = s->sample[n] / s->p->nq;
        for (end = n; end < s->sampled && s->sample[end] / s->p->nq == head;)
            end++;
        if ((end - n) * s->channels < LOCATE_VALUES || end - n < 2)
            return false;
        const double gain = common_gain(s, n, end);
        for (int64_t i = n; i < end; i++)
            add_row(s, i, gain, &fit);
        if (fabs(gain - 1) > far) {
            far = fabs(gain - 1);
            found.a = head % s->p->hq;
            found.x = gain;
        }
    }
    return state(&fit, found, out);
}

/* The gain that is told is of a row that it explains. */
bool locate_gain_row(const struct scene *s, struct location *out)
{
    struct pattern found = { .id = PATTERN_GAIN_ROW };
    struct fit fit = { 0 };
    double far = 0;
    if (s->channels < LOCATE_CHANNELS)
        return false;
    for (int64_t n = 0; n < s->sampled; n++) {
        const double gain = row_gain(s, scene_sampled(s, n));
        if (add_row(s, n, gain, &fit) && fabs(gain - 1) > far) {
            far = fabs(gain - 1);
            found.x = gain;
        }
    }
    return far > 0 && state(&fit, found, out);
}
