/* SPDX-License-Identifier: MIT
 *
 * Formulas of doctor.def, and the numbers that are tried in them.
 */
#include "validate/doctor_predict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden/text.h"
#include "validate/dot.h"
#include "validate/rescale.h"

/* Scales nearer to the right one than this are it. */
static const double OTHER_SCALE = 1e-3;

enum kind {
    KIND_CLASS,
    KIND_LSE,
    KIND_EXACT,
    KIND_SHIFT,
    KIND_MAX,
    KIND_SCORES,
    KIND_SCALED,
    KIND_KEYS,
    KIND_STALE,
    KIND_PLACE,
    KIND_FITTED
};

static const enum kind kinds[] = {
#define ASSAY_CAUSE(id, kind, ...) KIND_##kind,
#include "validate/doctor.def"
#undef ASSAY_CAUSE
};

/* The formula of a cause as a number; each has its own parts of f. */
static double formula(enum cause cause, const struct assay_problem *p,
                      const struct doctor_row *f, double v)
{
    (void)p, (void)v;
    switch (cause) {
#define ASSAY_CAUSE(id, kind, formula, ...) \
    case CAUSE_##id:                        \
        return (double)(formula);
#include "validate/doctor.def"
#undef ASSAY_CAUSE
    case CAUSES: break;
    }
    return NAN;
}

double doctor_rounded(const struct doctor_row *f, double v)
{
    const struct assay_format *to =
        assay_format_get((enum assay_format_id)(int)v);
    const float c = (float)f->c;
    float rounded;
    assay_format_round(to, ASSAY_NEAREST_EVEN, ASSAY_SPECIAL, 1, &c, &rounded);
    double allowed = assay_format_ulp(to, c) + ASSAY_JITTERS_LSE * f->jitter;
    return rounded == c && fabs(f->c - f->e) <= allowed ? f->c : NAN;
}

double doctor_padded(const struct doctor_row *f, double v)
{
    const double both[] = { f->l, log(v) };
    return assay_logsumexp(2, both) + f->shift;
}

int64_t doctor_transposed(const struct assay_problem *p, int64_t r)
{
    const int64_t n = p->hq * p->nq, at = r % n;
    return r - at + at % p->hq * p->nq + at / p->hq;
}

double doctor_scale_of(const struct doctor_input *in,
                       const struct hypothesis *h)
{
    return kinds[h->cause] == KIND_SCALED ? formula(h->cause, in->p, NULL, h->v)
                                          : (double)NAN;
}

bool doctor_has_scores(const struct doctor_input *in)
{
    return in->payloads && in->payloads->q.codes && in->payloads->k.codes;
}

static bool can_try(const struct doctor_input *in, enum cause cause)
{
    switch (kinds[cause]) {
    case KIND_CLASS: return false;
    case KIND_EXACT: return in->lse_x != NULL;
    case KIND_SHIFT: return in->payloads && in->payloads->lse_shift;
    case KIND_MAX:
    case KIND_SCORES:
    case KIND_SCALED:
    case KIND_KEYS: return doctor_has_scores(in);
    case KIND_STALE:
        return doctor_has_scores(in) &&
               assay_softmax_get(in->recipe->softmax)->kind ==
                   ASSAY_KIND_ONLINE;
    default: return true;
    }
}

struct list {
    struct hypothesis *at;
    int n;
};

__attribute__((format(printf, 4, 5))) static void
add(struct list *list, enum cause cause, double v, const char *what, ...)
{
    va_list args;
    if (list->n == DOCTOR_HYPOTHESES || isnan(v))
        return;
    struct hypothesis *h = &list->at[list->n++];
    *h = (struct hypothesis){ .cause = cause, .v = v };
    va_start(args, what);
    text_print_args(h->what, sizeof h->what, what, args);
    va_end(args);
}

static void add_offsets(struct list *list, const struct assay_problem *p)
{
    const struct {
        double value;
        const char *name;
    } offsets[] = {
#define ASSAY_OFFSET(value, name) { value, name },
#include "validate/doctor_offset.def"
#undef ASSAY_OFFSET
    };
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        add(list, CAUSE_OFFSET_NAMED, offsets[i].value, "%s", offsets[i].name);
        add(list, CAUSE_OFFSET_NAMED, -offsets[i].value, "-%s",
            offsets[i].name);
    }
}

/* A key of score 0 alone is the sink of softmax with one added to its sum. */
static void add_padding(struct list *list, const struct assay_problem *p)
{
    int64_t last = 1;
    if (p->mask != ASSAY_MASK_NONE)
        return; /* a causal mask leaves padding out */
    add(list, CAUSE_PADDING, 1, "1");
    for (int64_t tile = 16; tile <= 256; tile *= 2) {
        int64_t n = (tile - p->nk % tile) % tile;
        if (n > last)
            add(list, CAUSE_PADDING, (double)n, "%lld", (long long)n);
        last = n > last ? n : last;
    }
}

static void add_numbers(struct list *list, enum cause cause,
                        const int64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(list, cause, (double)from[i], "%lld", (long long)from[i]);
}

/* As it was found, and the round number beside it, which is likelier to have
 * been meant: Q's codes follow the least change of a scale. */
static void add_scale(struct list *list, double scale)
{
    const double digits[] = { 100, 1000 };
    if (!(fabs(scale - 1) >= OTHER_SCALE))
        return;
    for (size_t i = 0; i < 2; i++) {
        const double unit = pow(10, floor(log10(scale)) + 1) / digits[i],
                     round = rint(scale / unit) * unit;
        add(list, CAUSE_SCALE_OTHER, round, "%.4g", round);
    }
    add(list, CAUSE_SCALE_OTHER, scale, "%.4g", scale);
}

/* The numbers that are tried in a cause's formula. */
static void add_variants(struct list *list, enum cause cause,
                         const struct doctor_input *in,
                         const struct doctor_fit *fit)
{
    static const int64_t widths[] = { 16,  32,  48,  64,  72,  80, 96,
                                      112, 128, 192, 256, 512, 576 };
    static const int64_t tiles[] = { 16, 32, 64, 128, 256 },
                         stale[] = RESCALE_TILES;
    switch (cause) {
    case CAUSE_ROUNDED:
        add(list, cause, ASSAY_BF16, "bf16");
        add(list, cause, ASSAY_F16, "f16");
        break;
    case CAUSE_OFFSET_NAMED: add_offsets(list, in->p); break;
    case CAUSE_SCALE_WIDTH:
        add_numbers(list, cause, widths, sizeof widths / sizeof *widths);
        break;
    case CAUSE_SCALE_OTHER:
        add_scale(list, fit->scale);
        add_scale(list, fit->scale_shift);
        break;
    case CAUSE_TILE_LESS:
        add_numbers(list, cause, tiles, sizeof tiles / sizeof *tiles);
        break;
    case CAUSE_RESCALE:
        add_numbers(list, cause, stale, sizeof stale / sizeof *stale);
        break;
    case CAUSE_PADDING: add_padding(list, in->p); break;
    case CAUSE_OFFSET:
        add(list, cause, fit->offset, "%.4g", fit->offset);
        break;
    case CAUSE_FACTOR:
        add(list, cause, fit->factor, "%.4g", fit->factor);
        break;
    case CAUSE_OFFSET_HEADS:
        add(list, cause, fit->head_offset, "%s", "");
        break;
    default: add(list, cause, 0, "%s", "");
    }
}

/* Copies of hypotheses from `first` on, with one thing more. */
static void add_again(struct list *list, int first, bool shift_too, bool folded)
{
    for (int i = first, end = list->n; i < end; i++) {
        struct hypothesis h = list->at[i];
        add(list, h.cause, h.v, "%s", h.what);
        list->at[list->n - 1].shift_too = h.shift_too || shift_too;
        list->at[list->n - 1].folded = h.folded || folded;
    }
}

/* Another scale may have been in the K mean's part too, and in Q's codes. */
static void add_scaled(struct list *list, const struct doctor_input *in,
                       int first)
{
    if (in->payloads->lse_shift)
        add_again(list, first, true, false);
    if (doctor_can_fold(in))
        add_again(list, first, false, true);
}

int doctor_hypotheses(const struct doctor_input *in,
                      const struct doctor_fit *fit, struct hypothesis *out)
{
    struct list list = { out, 0 };
    for (int c = 0; c < CAUSES; c++) {
        const int first = list.n;
        if (!can_try(in, (enum cause)c))
            continue;
        add_variants(&list, (enum cause)c, in, fit);
        if (kinds[c] == KIND_SCALED)
            add_scaled(&list, in, first);
    }
    return list.n;
}

bool doctor_rounds_again(const struct doctor_input *in)
{
    return doctor_has_scores(in) &&
           assay_softmax_get(in->recipe->softmax)->kind == ASSAY_KIND_U32 &&
           in->recipe->scale_applied == ASSAY_APPLIED_KERNEL &&
           in->payloads->q.scale == ASSAY_SCALE_TENSOR &&
           in->payloads->k.scale == ASSAY_SCALE_TENSOR &&
           in->payloads->q.format->top != ASSAY_TOP_INTEGER &&
           assay_format_bytes(in->payloads->q.format) == 1;
}

bool doctor_can_fold(const struct doctor_input *in)
{
    return doctor_rounds_again(in) ||
           (doctor_has_scores(in) && in->q &&
            in->recipe->scale_applied == ASSAY_APPLIED_Q &&
            assay_quantizer_get(in->recipe->q)->scale == ASSAY_SCALE_BLOCK);
}

void doctor_score(const struct assay_problem *p, const float *q, const float *k,
                  double by, int64_t keys, double *s)
{
    for (int64_t j = 0; j < keys; j++)
        s[j] = by * dot(p->dk, q, k + j * p->hk * p->dk);
}

/* Q's values after the scale is folded in and they are quantized. */
static bool fold_again(const struct doctor_input *in, double scale,
                       const float *q, float *y)
{
    const struct assay_quantizer *how = assay_quantizer_get(in->recipe->q);
    const int64_t dk = in->p->dk;
    const struct assay_operand operand = {
        1, 1, 1, dk, q, NULL, assay_fold_multiplier(scale)
    };
    const struct assay_tensor row = { 1, 1, 1, dk, in->recipe->order, 0 };
    struct assay_payload codes;
    if (assay_operand_prepare(assay_rotation_order_get(how->prepare),
                              in->word ? in->word
                                       : assay_format_get(ASSAY_BF16),
                              &operand, y, NULL) != ASSAY_OK)
        return false;
    bool done = assay_quantize(how, &row, y, &codes, NULL) == ASSAY_OK;
    if (done)
        assay_payload_values(&codes, y);
    assay_payload_free(&codes);
    return done;
}

/* Q's codes times the fraction of all factors of a score, rounded to their
 * format again; what is left of the factors, per value of K. A score has units
 * of 2^-23 octaves there (ref/emulate.c). */
static double round_again(const struct doctor_input *in, double scale,
                          int64_t at, float *y)
{
    const struct assay_payload *q = &in->payloads->q;
    const float ks = in->payloads->k.scales[0];
    float c = (float)scale * q->scales[0];
    int exponent;
    c = c * ks * (float)M_LOG2E * 0x1p23f;
    const float fraction = frexpf(c, &exponent);
    assay_format_decode(q->format, (size_t)in->p->dk,
                        (const uint8_t *)q->codes + at, y);
    for (int64_t i = 0; i < in->p->dk; i++)
        y[i] *= fraction;
    assay_format_round(q->format, ASSAY_NEAREST_EVEN, ASSAY_SATURATE,
                       (size_t)in->p->dk, y, y);
    return ldexp(M_LN2, exponent - 23) / (double)ks;
}

bool doctor_score_folded(const struct doctor_input *in, double scale,
                         int64_t keys, const struct doctor_scores *scores,
                         double *s)
{
    double by = M_LN2; /* of log2 e, which is folded into Q */
    if (doctor_rounds_again(in))
        by = round_again(in, scale, scores->q, scores->prepared);
    else if (!fold_again(in, scale, in->q + scores->q, scores->prepared))
        return false;
    doctor_score(in->p, scores->prepared, scores->k, by, keys, s);
    return true;
}

/* How many times E - X other codes of Q may move an LSE. */
static const double FOLD_FAR = 4;

/* Rounding P does to a sum of other scores about what it does to these. What
 * other codes of Q do is no more than a few times what quantizing did, so they
 * are made only where the scale alone comes that near, or X is not known. */
static struct guess guess_scaled(const struct doctor_input *in,
                                 const struct hypothesis *h,
                                 const struct doctor_row *f,
                                 struct doctor_scores *scores)
{
    const double by = formula(h->cause, in->p, f, h->v),
                 more = fabs(by) > 1 ? fabs(by) : 1,
                 shift = h->shift_too ? by * f->shift : f->shift;
    const enum assay_format_id p_format = in->recipe->p_format;
    struct guess g = {
        .slack = more * f->noise +
                 assay_format_epsilon(assay_format_get(p_format)) / 2
    };
    if (fabs(by - 1) < OTHER_SCALE)
        return (struct guess){ NAN, 0 };
    for (int64_t j = 0; j < f->keys; j++)
        scores->work[j] = by * scores->s[j];
    g.value = assay_logsumexp(f->keys, scores->work) + shift;
    if (!h->folded)
        return g;
    if (fabs(f->c - g.value) >
        FOLD_FAR * more * fabs(f->e - f->x) + fabs(f->c - f->e))
        return (struct guess){ NAN, 0 };
    if (by != scores->folded_by) {
        scores->folded_by = by;
        scores->folded_lse = doctor_score_folded(in, by * in->p->softmax_scale,
                                                 f->keys, scores, scores->work)
                                 ? assay_logsumexp(f->keys, scores->work)
                                 : NAN;
    }
    g.value = scores->folded_lse + shift;
    return g;
}

static struct guess guess_keys(double keys, const struct doctor_row *f,
                               const double *s)
{
    if (keys < 0)
        return (struct guess){ NAN, 0 };
    return (struct guess){ f->e + assay_logsumexp((int64_t)keys, s) - f->all,
                           f->noise };
}

static struct guess guess_stale(double tile, const struct doctor_row *f,
                                const struct doctor_scores *scores)
{
    rescale_lifts((int64_t)tile, f->keys, scores->s, scores->work);
    for (int64_t j = 0; j < f->keys; j++)
        scores->work[j] += scores->s[j];
    return (struct guess){
        f->e + assay_logsumexp(f->keys, scores->work) - f->all, f->noise
    };
}

/* The LSE of another row has that row's own jitter. */
static struct guess guess_place(const struct doctor_input *in, double row)
{
    if (row < 0)
        return (struct guess){ NAN, 0 };
    const int64_t r = (int64_t)row;
    return (struct guess){ in->lse_e[r],
                           ASSAY_JITTERS_LSE * (double)in->jitter_lse[r] };
}

/* A sum without its log makes much of what an LSE may be off. */
static struct guess guess_max(const struct doctor_input *in,
                              const struct hypothesis *h,
                              const struct doctor_row *f, double value)
{
    struct doctor_row off = *f;
    off.l += ASSAY_JITTERS_LSE * f->jitter + f->noise;
    return (struct guess){
        value + f->shift,
        f->noise + fabs(formula(h->cause, in->p, &off, h->v) - value)
    };
}

/* The K mean's part is rounded to words; another order of its sum may move it
 * by one ulp. */
static const double WORD_EPSILON = 0x1p-7;

struct guess doctor_guess(const struct doctor_input *in,
                          const struct hypothesis *h,
                          const struct doctor_row *f,
                          struct doctor_scores *scores)
{
    const double value =
        kinds[h->cause] == KIND_SCALED ? 0 : formula(h->cause, in->p, f, h->v);
    switch (kinds[h->cause]) {
    case KIND_SHIFT:
        return (struct guess){ value, WORD_EPSILON * fabs(f->shift) };
    case KIND_MAX: return guess_max(in, h, f, value);
    case KIND_SCORES: return (struct guess){ value + f->shift, 0 };
    case KIND_SCALED: return guess_scaled(in, h, f, scores);
    case KIND_KEYS: return guess_keys(value, f, scores->s);
    case KIND_STALE: return guess_stale(value, f, scores);
    case KIND_PLACE: return guess_place(in, value);
    default: return (struct guess){ value, 0 };
    }
}
