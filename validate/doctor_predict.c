/* SPDX-License-Identifier: MIT
 *
 * Formulas of doctor.def, and the numbers that are tried in them.
 */
#include "validate/doctor_predict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum kind {
    KIND_CLASS,
    KIND_LSE,
    KIND_EXACT,
    KIND_SHIFT,
    KIND_MAX,
    KIND_SCORES,
    KIND_SCALED,
    KIND_KEYS,
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
#define ASSAY_CAUSE(id, kind, formula, ...)                                    \
    case CAUSE_##id: return (double)(formula);
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
    vsnprintf(h->what, sizeof h->what, what, args);
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

static void add_numbers(struct list *list, enum cause cause, const int *from,
                        int n)
{
    for (int i = 0; i < n; i++)
        add(list, cause, from[i], "%d", from[i]);
}

/* The numbers that are tried in a cause's formula. */
static void add_variants(struct list *list, enum cause cause,
                         const struct doctor_input *in,
                         const struct doctor_fit *fit)
{
    static const int widths[] = { 16, 32, 48, 64, 72, 80, 96, 112,
                                  128, 192, 256, 512, 576 };
    static const int tiles[] = { 16, 32, 64, 128, 256 };
    switch (cause) {
    case CAUSE_ROUNDED:
        add(list, cause, ASSAY_BF16, "bf16");
        add(list, cause, ASSAY_F16, "f16");
        break;
    case CAUSE_OFFSET_NAMED: add_offsets(list, in->p); break;
    case CAUSE_SCALE_WIDTH:
        add_numbers(list, cause, widths, sizeof widths / sizeof *widths);
        break;
    case CAUSE_TILE_LESS:
        add_numbers(list, cause, tiles, sizeof tiles / sizeof *tiles);
        break;
    case CAUSE_PADDING: add_padding(list, in->p); break;
    case CAUSE_OFFSET: add(list, cause, fit->offset, "%.6g", fit->offset); break;
    case CAUSE_FACTOR: add(list, cause, fit->factor, "%.6g", fit->factor); break;
    case CAUSE_OFFSET_HEADS: add(list, cause, fit->head_offset, "%s", ""); break;
    default: add(list, cause, 0, "%s", "");
    }
}

/* Where a K mean was taken off, its part may have the wrong scale too. */
static void add_shifted(struct list *list, const struct doctor_input *in,
                        enum cause cause, int first)
{
    if (kinds[cause] != KIND_SCALED || !in->payloads->lse_shift)
        return;
    for (int i = first, end = list->n; i < end; i++) {
        struct hypothesis h = list->at[i];
        add(list, cause, h.v, "%s", h.what);
        list->at[list->n - 1].shift_too = true;
    }
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
        add_shifted(&list, in, (enum cause)c, first);
    }
    return list.n;
}

/* Rounding P does to a sum of other scores about what it does to these; where
 * the scale is folded into Q, another scale gives other codes, which do to the
 * LSE what quantizing did. */
static struct guess guess_scaled(const struct doctor_input *in,
                                 const struct hypothesis *h,
                                 const struct doctor_row *f, const double *s,
                                 double *work)
{
    const double by = formula(h->cause, in->p, f, h->v),
                 more = fabs(by) > 1 ? fabs(by) : 1;
    struct guess g = { .slack = more * f->noise };
    for (int64_t j = 0; j < f->keys; j++)
        work[j] = by * s[j];
    g.value = assay_logsumexp(f->keys, work) +
              (h->shift_too ? by * f->shift : f->shift);
    g.slack +=
        assay_format_epsilon(assay_format_get(in->recipe->p_format)) / 2;
    if (in->recipe->scale_applied == ASSAY_APPLIED_Q && !isnan(f->x))
        g.slack += more * fabs(f->e - f->x);
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

/* The LSE of another row has that row's own jitter. */
static struct guess guess_place(const struct doctor_input *in, double row)
{
    if (row < 0)
        return (struct guess){ NAN, 0 };
    const int64_t r = (int64_t)row;
    return (struct guess){ in->lse_e[r],
                           ASSAY_JITTERS_LSE * (double)in->jitter_lse[r] };
}

/* The K mean's part is rounded to words; another order of its sum may move it
 * by one ulp. */
static const double WORD_EPSILON = 0x1p-7;

struct guess doctor_guess(const struct doctor_input *in,
                          const struct hypothesis *h,
                          const struct doctor_row *f, const double *s,
                          double *work)
{
    const double value = kinds[h->cause] == KIND_SCALED
                             ? 0
                             : formula(h->cause, in->p, f, h->v);
    switch (kinds[h->cause]) {
    case KIND_SHIFT:
        return (struct guess){ value, WORD_EPSILON * fabs(f->shift) };
    case KIND_MAX: return (struct guess){ value + f->shift, 2 * f->noise };
    case KIND_SCORES: return (struct guess){ value + f->shift, 0 };
    case KIND_SCALED: return guess_scaled(in, h, f, s, work);
    case KIND_KEYS: return guess_keys(value, f, s);
    case KIND_PLACE: return guess_place(in, value);
    default: return (struct guess){ value, 0 };
    }
}
