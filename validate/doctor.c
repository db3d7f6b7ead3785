/* SPDX-License-Identifier: MIT
 *
 * Rows that are wrong are looked at, each hypothesis is held against them, and
 * the simplest of those that explain them is told.
 */
#include "validate/doctor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/term.h"
#include "validate/doctor_predict.h"
#include "validate/doctor_scale.h"
#include "validate/judge.h"

static const struct cause_row causes[] = {
#define ASSAY_CAUSE(id, kind, formula, name, advice) { name, advice },
#include "validate/doctor.def"
#undef ASSAY_CAUSE
};

const struct cause_row *cause_get(enum cause cause)
{
    return &causes[cause];
}

/* C - E is to shrink by this; causes that leave no more than so many times
 * what the best of them leaves are as good. */
static const double SHRINKS = 10, AS_GOOD = 3;

/* What binary32 does to an LSE by the way, relative to 1 and to the LSE. */
static const double BINARY32 = 0x1p-20;

struct looking {
    const struct doctor_input *in;
    const struct assay_problem *p;
    int64_t h0, h1, per_head; /* rows looked at, of each head at most */
    struct doctor_row *rows;
    int64_t n, heads; /* of rows; heads that they are of */
    int64_t least;    /* rows of the head that has the fewest */
    int64_t classes[CAUSES];
    struct hypothesis hypotheses[DOCTOR_HYPOTHESES];
    int n_hypotheses;
    struct guess *guesses; /* [hypothesis, row] */
    double *work;          /* numbers of rows, or of keys */
    float *q, *k;          /* values of the codes */
    struct doctor_scores scores;
};

/* ---- which rows ---- */

static bool is_wrong(const struct doctor_input *in, int64_t r)
{
    const double c = in->lse_c[r], e = in->lse_e[r];
    return isfinite(c) && isfinite(e) &&
           !(fabs(judge_lse_off(c, e)) <=
             ASSAY_JITTERS_LSE * (double)in->jitter_lse[r]);
}

/* What the class of C alone says is wrong; RIGHT for nothing. */
static enum cause class_of(double c, double e)
{
    if (assay_same_class(c, e))
        return CAUSE_RIGHT;
    if (e == -INFINITY)
        return isnan(c)   ? CAUSE_EMPTY_NAN
               : isinf(c) ? CAUSE_EMPTY_PLUS_INF
               : c == 0   ? CAUSE_EMPTY_ZERO
                          : CAUSE_EMPTY_FINITE;
    if (!isfinite(e))
        return CAUSE_UNEXPLAINED;
    return isnan(c) ? CAUSE_NAN : c > 0 ? CAUSE_PLUS_INF : CAUSE_MINUS_INF;
}

static void take_row(struct looking *l, int64_t r)
{
    const struct doctor_input *in = l->in;
    struct doctor_row *f = &l->rows[l->n++];
    *f = (struct doctor_row){ .at = assay_row_place(l->p, r),
                              .r = r,
                              .c = in->lse_c[r],
                              .e = in->lse_e[r],
                              .x = in->lse_x ? in->lse_x[r] : NAN,
                              .jitter = (double)in->jitter_lse[r],
                              .m = NAN,
                              .all = NAN,
                              .noise = NAN,
                              .other = -1 };
    if (in->payloads && in->payloads->lse_shift)
        f->shift = (double)in->payloads->lse_shift[r];
    f->l = f->e - f->shift;
    f->keys = assay_problem_visible(l->p, f->at.i);
    f->visible = (double)f->keys;
}

/* Counts what is wrong in head (b, h), and takes a part of its rows. */
static void take_head(struct looking *l, int64_t b, int64_t h,
                      struct diagnosis *out)
{
    const int64_t first = (b * l->p->hq + h) * l->p->nq, had = l->n;
    int64_t wrong = 0, classes = 0, seen = 0;
    for (int64_t r = first; r < first + l->p->nq; r++) {
        enum cause class = class_of(l->in->lse_c[r], l->in->lse_e[r]);
        wrong += is_wrong(l->in, r);
        classes += class != CAUSE_RIGHT;
        l->classes[class]++;
    }
    const int64_t take = wrong < l->per_head ? wrong : l->per_head;
    for (int64_t r = first; r < first + l->p->nq; r++) {
        int64_t next = l->n - had;
        if (next < take && is_wrong(l->in, r) &&
            seen++ == (take > 1 ? next * (wrong - 1) / (take - 1) : 0))
            take_row(l, r);
    }
    out->wrong += wrong;
    out->not_finite += classes;
    out->heads += wrong + classes > 0;
    l->heads += take > 0;
    if (take > 0 && (l->heads == 1 || take < l->least))
        l->least = take;
}

/* Least squares of C on E, about the means. */
static void fit_line(const struct looking *l, struct diagnosis *out)
{
    double n = 0, c = 0, e = 0, ce = 0, ee = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t b = 0; b < l->p->b; b++)
            for (int64_t r = (b * l->p->hq + l->h0) * l->p->nq;
                 r < (b * l->p->hq + l->h1) * l->p->nq; r++) {
                double y = l->in->lse_c[r], x = l->in->lse_e[r];
                if (!isfinite(x) || !isfinite(y))
                    continue;
                n += pass == 0;
                c += pass == 0 ? y : 0;
                e += pass == 0 ? x : 0;
                ce += pass == 1 ? (y - c) * (x - e) : 0;
                ee += pass == 1 ? (x - e) * (x - e) : 0;
            }
        c /= pass == 0 && n > 0 ? n : 1;
        e /= pass == 0 && n > 0 ? n : 1;
    }
    /* E that varies by its own rounding only has no slope */
    out->slope = ee > n * BINARY32 * BINARY32 * (1 + e * e) ? ce / ee : 1;
    out->offset = c - out->slope * e;
}

/* ---- what is found from C itself ---- */

/* The lower median; sorts x. */
static double median(int64_t n, double *x)
{
    assay_sort(n, x);
    return x[(n - 1) / 2];
}

/* The head of the same batch whose E is nearest to C in these rows. */
static void find_other(struct looking *l, int64_t from, int64_t to)
{
    const struct assay_place at = l->rows[from].at;
    double best = INFINITY;
    int64_t by = 0;
    for (int64_t h = 0; h < l->p->hq; h++) {
        double sum = 0;
        for (int64_t n = from; n < to; n++) {
            double d = l->rows[n].c -
                       l->in->lse_e[l->rows[n].r + (h - at.h) * l->p->nq];
            sum += d * d;
        }
        if (h != at.h && sum < best) {
            best = sum;
            by = (h - at.h) * l->p->nq;
        }
    }
    for (int64_t n = from; n < to; n++)
        l->rows[n].other = by ? l->rows[n].r + by : -1;
}

static void fit_head(struct looking *l, int64_t from, int64_t to)
{
    for (int64_t n = from; n < to; n++)
        l->work[n - from] = l->rows[n].c - l->rows[n].e;
    const double offset = median(to - from, l->work);
    for (int64_t n = from; n < to; n++)
        l->rows[n].head_offset = offset;
    find_other(l, from, to);
}

static struct doctor_fit fit_constants(struct looking *l)
{
    struct doctor_fit fit = { NAN, NAN, NAN, NAN, NAN };
    double ce = 0, ee = 0;
    for (int64_t from = 0, to; from < l->n; from = to) {
        const struct assay_place at = l->rows[from].at;
        for (to = from;
             to < l->n && l->rows[to].at.h == at.h && l->rows[to].at.b == at.b;
             to++)
            ;
        fit_head(l, from, to);
    }
    for (int64_t n = 0; n < l->n; n++) {
        l->work[n] = l->rows[n].c - l->rows[n].e;
        ce += l->rows[n].c * l->rows[n].e;
        ee += l->rows[n].e * l->rows[n].e;
    }
    if (l->n >= DOCTOR_ROWS_LEAST)
        fit = (struct doctor_fit){ median(l->n, l->work), ce / ee, NAN, NAN,
                                   NAN };
    if (l->least >= DOCTOR_ROWS_LEAST)
        fit.head_offset = 0;
    return fit;
}

/* ---- scores ---- */

static enum assay_status values_of(const struct assay_payload *payload,
                                   float **out, struct assay_error *err)
{
    enum assay_status st =
        assay_alloc("decoded codes", payload->count, sizeof **out, out, err);
    if (st == ASSAY_OK)
        assay_payload_values(payload, *out);
    return st;
}

/* Scores of a row in nats, as the kernel has them: without the K mean. Q and K
 * are both rotated, or neither is. */
static void score_row(struct looking *l, struct doctor_row *f,
                      struct doctor_scores *scores)
{
    const struct assay_problem *p = l->p;
    const struct assay_softmax_form *form =
        assay_softmax_get(l->in->recipe->softmax);
    const double by = l->in->recipe->scale_applied == ASSAY_APPLIED_Q
                          ? M_LN2 /* of log2 e, which is folded into Q */
                          : p->softmax_scale;
    const int64_t q = assay_row_offset(p->nq, p->hq, p->dk, f->at.b, f->at.i,
                                       f->at.h),
                  k = assay_row_offset(p->nk, p->hk, p->dk, f->at.b, 0,
                                       f->at.h / (p->hq / p->hk));
    /* a form that fixes the maximum has that of the first tile */
    const int64_t of =
        form->kind == ASSAY_KIND_ONLINE || f->keys < form->key_tile
            ? f->keys
            : form->key_tile;
    scores->folded_by = NAN;
    scores->q = q;
    scores->k = l->k + k;
    if (doctor_rounds_again(l->in))
        doctor_score_folded(l->in, p->softmax_scale, p->nk, scores, scores->s);
    else
        doctor_score(p, l->q + q, scores->k, by, p->nk, scores->s);
    f->m = -INFINITY;
    for (int64_t j = 0; j < of; j++)
        f->m = scores->s[j] > f->m ? scores->s[j] : f->m;
    f->all = assay_logsumexp(f->keys, scores->s);
    f->noise = fabs(f->l - f->all);
}

/* How many rows a scale is found from: fewer where there are many keys. */
static int64_t scale_rows(const struct looking *l)
{
    const int64_t all = (INT64_C(1) << 20) / l->p->nk,
                  n = all < DOCTOR_SCALE_ROWS ? all : DOCTOR_SCALE_ROWS,
                  most = n > DOCTOR_ROWS_LEAST ? n : DOCTOR_ROWS_LEAST;
    return l->n < most ? l->n : most;
}

/* Another softmax scale, from some of the rows. */
static enum assay_status fit_scale(struct looking *l, struct doctor_fit *fit,
                                   struct assay_error *err)
{
    const int64_t nk = l->p->nk, n = scale_rows(l);
    struct doctor_scale_row rows[DOCTOR_SCALE_ROWS];
    double *s;
    if (n < DOCTOR_ROWS_LEAST)
        return ASSAY_OK;
    enum assay_status st =
        assay_alloc("scores of some rows", n * nk, sizeof *s, &s, err);
    if (st != ASSAY_OK)
        return st;
    for (int64_t i = 0; i < n; i++) {
        struct doctor_row *f = &l->rows[i * (l->n - 1) / (n - 1)];
        score_row(l, f, &l->scores);
        memcpy(s + i * nk, l->scores.s, (size_t)nk * sizeof *s);
        rows[i] = (struct doctor_scale_row){ s + i * nk, f->keys,
                                             f->c - f->shift, f->shift };
    }
    fit->scale = doctor_scale_find(rows, n, 0, l->work);
    if (l->in->payloads->lse_shift)
        fit->scale_shift = doctor_scale_find(rows, n, 1, l->work);
    assay_free(s);
    return ASSAY_OK;
}

/* ---- which hypothesis ---- */

static double rms(double sum, int64_t n)
{
    return n > 0 ? sqrt(sum / (double)n) : 0;
}

/* What hypothesis i leaves of C - E; infinite where it does not explain it. */
static double leaves(struct looking *l, int i)
{
    const struct guess *g = l->guesses + i * l->n;
    double left = 0, was = 0, may = 0;
    int64_t said = 0;
    for (int64_t n = 0; n < l->n; n++) {
        const struct doctor_row *f = &l->rows[n];
        if (isnan(g[n].value))
            continue;
        double d = f->c - g[n].value, large = fmax(fabs(f->e), fabs(f->c)),
               m = g[n].slack + ASSAY_JITTERS_LSE * f->jitter +
                   BINARY32 * (1 + large);
        left += d * d;
        was += (f->c - f->e) * (f->c - f->e);
        may += m * m;
        l->work[said] = fabs(d);
        l->work[l->n + said++] = m;
    }
    if (4 * said < 3 * l->n ||
        !(median(said, l->work) <= median(said, l->work + l->n)) ||
        !(left <= may) || !(left * SHRINKS * SHRINKS <= was))
        return INFINITY;
    return rms(left, said);
}

/* A scale that was found goes before a named one that is further from it than
 * this and leaves more than so many times as much; of those found the roundest
 * that is as good. */
static const double NAMED_NEAR = 0.01, NAMED_GOOD = 1.5, ROUND_GOOD = 1.2;

static int nearer_scale(const struct looking *l, const double *left, int i)
{
    const double scale = doctor_scale_of(l->in, &l->hypotheses[i]);
    double best = INFINITY, found = NAN;
    for (int k = 0; !isnan(scale) && k < l->n_hypotheses; k++)
        if (l->hypotheses[k].cause == CAUSE_SCALE_OTHER && left[k] < best) {
            best = left[k];
            found = l->hypotheses[k].v;
        }
    if (isnan(found) || (l->hypotheses[i].cause != CAUSE_SCALE_OTHER &&
                         (fabs(scale / found - 1) <= NAMED_NEAR ||
                          left[i] <= NAMED_GOOD * best + BINARY32)))
        return i;
    for (int k = 0; k < l->n_hypotheses; k++)
        if (l->hypotheses[k].cause == CAUSE_SCALE_OTHER &&
            left[k] <= ROUND_GOOD * best + BINARY32)
            return k;
    return i;
}

/* The hypothesis to tell; -1 for none. */
static int choose(struct looking *l, struct diagnosis *out)
{
    double left[DOCTOR_HYPOTHESES], best = INFINITY, was = 0, e = 0;
    for (int i = 0; i < l->n_hypotheses; i++) {
        left[i] = leaves(l, i);
        best = left[i] < best ? left[i] : best;
    }
    for (int64_t n = 0; n < l->n; n++) {
        was += (l->rows[n].c - l->rows[n].e) * (l->rows[n].c - l->rows[n].e);
        e += l->rows[n].e * l->rows[n].e;
    }
    out->was = out->left = rms(was, l->n);
    for (int i = 0; isfinite(best) && i < l->n_hypotheses; i++)
        if (left[i] <= AS_GOOD * best + BINARY32 * (1 + rms(e, l->n))) {
            const int told = nearer_scale(l, left, i);
            out->left = left[told];
            return told;
        }
    return -1;
}

/* ---- what is said ---- */

static void fill_name(struct diagnosis *out, const char *name, const char *what)
{
    const char *place = strstr(name, "%s");
    if (place)
        snprintf(out->name, sizeof out->name, "%.*s%s%s", (int)(place - name),
                 name, what, place + 2);
    else
        snprintf(out->name, sizeof out->name, "%s", name);
}

/* What the line leaves of C - E, rms over the rows looked at. */
static double line_leaves(const struct looking *l, const struct diagnosis *out)
{
    double sum = 0;
    for (int64_t n = 0; n < l->n; n++) {
        const double d =
            l->rows[n].c - (out->slope * l->rows[n].e + out->offset);
        sum += d * d;
    }
    return rms(sum, l->n);
}

/* Cause, numbers, and classes that are wrong beside it. */
static void say(const struct looking *l, const struct hypothesis *h,
                struct diagnosis *out)
{
    char what[64];
    snprintf(what, sizeof what, "%s", h ? h->what : "");
    if (out->cause == CAUSE_HEAD)
        snprintf(what, sizeof what, "%" PRId64 " in place of %" PRId64,
                 assay_row_place(l->p, l->rows[0].other).h, l->rows[0].at.h);
    fill_name(out, causes[out->cause].name, what);
    snprintf(out->text, sizeof out->text, "%s: %s", out->name,
             causes[out->cause].advice);
    if (l->n > 0)
        text_append(out->text, sizeof out->text,
                    h ? " (%" PRId64 " row%s, %.2g nats off, %.1g left)"
                      : " (%" PRId64 " row%s, %.2g nats off)",
                    out->wrong, plural(out->wrong), out->was, out->left);
    if (!h && l->n > 0 && line_leaves(l, out) * SHRINKS <= out->was)
        text_append(out->text, sizeof out->text,
                    "; it is about %.4g times the right one %+.4g", out->slope,
                    out->offset);
    for (int c = CAUSE_NAN; c < CAUSES; c++)
        if (l->classes[c] > 0 && (enum cause)c == out->cause && l->n == 0)
            text_append(out->text, sizeof out->text, " (%" PRId64 " row%s)",
                        l->classes[c], plural(l->classes[c]));
        else if (l->classes[c] > 0)
            text_append(out->text, sizeof out->text, "; %s (%" PRId64 " row%s)",
                        causes[c].name, l->classes[c], plural(l->classes[c]));
}

static void conclude(struct looking *l, struct diagnosis *out)
{
    const int i = l->n > 0 ? choose(l, out) : -1;
    const struct hypothesis *h = i < 0 ? NULL : &l->hypotheses[i];
    out->cause = h ? h->cause : l->n > 0 ? CAUSE_UNEXPLAINED : CAUSE_RIGHT;
    out->rows = l->n;
    for (int c = CAUSES - 1; l->n == 0 && c > CAUSE_RIGHT; c--)
        if (l->classes[c] > 0)
            out->cause = (enum cause)c;
    say(l, h, out);
}

/* ---- all of it ---- */

static enum assay_status scores_new(struct looking *l, struct assay_error *err)
{
    enum assay_status st;
    if ((st = values_of(&l->in->payloads->q, &l->q, err)) != ASSAY_OK ||
        (st = values_of(&l->in->payloads->k, &l->k, err)) != ASSAY_OK ||
        (st = assay_alloc("scores", l->p->nk, sizeof *l->scores.s, &l->scores.s,
                          err)) != ASSAY_OK)
        return st;
    return assay_alloc("a row of Q", l->p->dk, sizeof *l->scores.prepared,
                       &l->scores.prepared, err);
}

static enum assay_status guess_all(struct looking *l, struct assay_error *err)
{
    struct doctor_fit fit = fit_constants(l);
    const bool scores = doctor_has_scores(l->in);
    enum assay_status st = scores ? scores_new(l, err) : ASSAY_OK;
    if (st == ASSAY_OK && scores)
        st = fit_scale(l, &fit, err);
    l->n_hypotheses = doctor_hypotheses(l->in, &fit, l->hypotheses);
    if (st == ASSAY_OK)
        st = assay_alloc("guesses", l->n_hypotheses * l->n, sizeof *l->guesses,
                         &l->guesses, err);
    l->scores.work = l->work;
    for (int64_t n = 0; st == ASSAY_OK && n < l->n; n++) {
        if (scores)
            score_row(l, &l->rows[n], &l->scores);
        for (int i = 0; i < l->n_hypotheses; i++)
            l->guesses[i * l->n + n] =
                doctor_guess(l->in, &l->hypotheses[i], &l->rows[n], &l->scores);
    }
    return st;
}

static int64_t rows_per_head(const struct looking *l)
{
    const struct assay_problem *p = l->p;
    const double row = (double)(p->b * (l->h1 - l->h0)) * (double)p->nk *
                       (double)p->dk,
                 all = (double)DOCTOR_PRODUCTS / (row > 1 ? row : 1);
    return !doctor_has_scores(l->in) || all >= DOCTOR_ROWS ? DOCTOR_ROWS
           : all < DOCTOR_ROWS_LEAST                       ? DOCTOR_ROWS_LEAST
                                                           : (int64_t)all;
}

enum assay_status doctor_look(const struct doctor_input *in, int64_t h0,
                              int64_t h1, struct diagnosis *out,
                              struct assay_error *err)
{
    const struct assay_problem *p = in->p;
    struct looking l = { .in = in, .p = p, .h0 = h0, .h1 = h1 };
    enum assay_status st;
    if (h0 < 0 || h1 > p->hq || h0 >= h1)
        return assay_fail(err, ASSAY_SHAPE,
                          "heads %" PRId64 " to %" PRId64
                          " are to be looked at, there are %" PRId64,
                          h0, h1 - 1, p->hq);
    *out = (struct diagnosis){ .cause = CAUSE_RIGHT };
    l.per_head = rows_per_head(&l);
    int64_t most = p->b * (h1 - h0) * (p->nq < l.per_head ? p->nq : l.per_head);
    if ((st = assay_alloc("rows", most, sizeof *l.rows, &l.rows, err)) !=
            ASSAY_OK ||
        (st = assay_alloc("figures", 2 * most > p->nk ? 2 * most : p->nk,
                          sizeof *l.work, &l.work, err)) != ASSAY_OK)
        goto out;
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t h = h0; h < h1; h++)
            take_head(&l, b, h, out);
    fit_line(&l, out);
    if (l.n > 0)
        st = guess_all(&l, err);
    if (st == ASSAY_OK)
        conclude(&l, out);
out:
    assay_free(l.rows);
    assay_free(l.work);
    assay_free(l.guesses);
    assay_free(l.q);
    assay_free(l.k);
    assay_free(l.scores.s);
    assay_free(l.scores.prepared);
    return st;
}
