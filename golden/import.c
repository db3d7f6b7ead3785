/* SPDX-License-Identifier: MIT */
#include "golden/import.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/term.h"
#include "golden/verb.h"

/* Tensors of one case and recipe; -1: none. */
struct found {
    ptrdiff_t o, lse;
};

struct import_answers {
    const struct import_options *options;
    const struct source *source;
    struct tensors *file;
    struct answer_axes axes;
    char *maker;
    struct found *found; /* [case, recipe] */
    bool *used;          /* tensors */
};

void import_close(struct import_answers *a)
{
    if (!a)
        return;
    tensors_close(a->file);
    free(a->maker);
    free(a->found);
    free(a->used);
    free(a);
}

const char *import_maker(const struct import_answers *a)
{
    return a->maker;
}

static struct found *found_at(const struct import_answers *a, size_t i,
                              size_t r)
{
    return &a->found[i * a->options->n_recipes + r];
}

/* ---- who made them ---- */

static enum assay_status check_maker(const char *text, const char *from,
                                     struct assay_error *err)
{
    enum { LONGEST = 200 };
    if (strlen(text) > LONGEST)
        return assay_fail(err, ASSAY_USAGE,
                          "%s: the maker \"%.40s...\" has %zu bytes, at most "
                          "%d are kept",
                          from, text, strlen(text), LONGEST);
    for (const char *c = text; *c; c++)
        if (term_is_control(c))
            return assay_fail(err, ASSAY_USAGE,
                              "%s: the maker \"%.40s\" has a control character "
                              "in it",
                              from, text);
    return ASSAY_OK;
}

/* --maker, or what the file says of itself. */
static enum assay_status find_maker(struct import_answers *a,
                                    struct assay_error *err)
{
    static const char *const keys[] = { "kernel", "build", "device" };
    const char *told = a->options->maker;
    char text[1024] = "";
    if (!told)
        told = tensors_metadata(a->file, "maker");
    for (size_t k = 0; !told && k < sizeof keys / sizeof *keys; k++) {
        const char *part = tensors_metadata(a->file, keys[k]);
        if (part && *part)
            text_append(text, sizeof text, "%s%s", text[0] ? ", " : "", part);
    }
    told = told ? told : text;
    if (!told[strspn(told, " \t\r\n")])
        return assay_fail(err, ASSAY_USAGE,
                          "%s: nobody says who made the answers; use --maker "
                          "TEXT",
                          a->options->file);
    a->maker = strdup(told);
    return a->maker ? check_maker(told, a->options->file, err)
                    : assay_fail(err, ASSAY_MEMORY, "no memory for a name");
}

/* ---- which tensor is what ---- */

/* CASE.RECIPE.LAST, or CASE.RECIPE@FORM.LAST; *at is -1 where there is none of
 * either name. */
static enum assay_status find_one(struct import_answers *a, const char *name,
                                  const struct assay_recipe *r,
                                  const char *last, ptrdiff_t *at,
                                  struct assay_error *err)
{
    const char *form = assay_softmax_get(r->softmax)->name;
    char *names[2] = { NULL, NULL };
    size_t i;
    enum assay_status st = ASSAY_OK;
    *at = -1;
    if (asprintf(&names[0], "%s.%s.%s", name, r->name, last) < 0)
        names[0] = NULL;
    if (asprintf(&names[1], "%s.%s@%s.%s", name, r->name, form, last) < 0)
        names[1] = NULL;
    if (!names[0] || !names[1])
        st = assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    for (int n = 0; st == ASSAY_OK && n < 2; n++) {
        if (!tensors_find(a->file, names[n], &i))
            continue;
        if (*at >= 0)
            st = assay_fail(err, ASSAY_FORMAT, "%s: has both %s and %s",
                            a->options->file, names[0], names[1]);
        *at = (ptrdiff_t)i;
        a->used[i] = true;
    }
    free(names[0]);
    free(names[1]);
    return st;
}

static enum assay_status lacks(const struct import_answers *a, const char *name,
                               const struct assay_recipe *r, const char *last,
                               struct assay_error *err)
{
    const size_t n = tensors_count(a->file);
    char others[200] = "; no tensor of it ends in .o or .lse";
    if (strcmp(last, "lse") == 0)
        snprintf(others, sizeof others, ", other cases have one");
    else if (n > 0)
        snprintf(others, sizeof others,
                 "; its first answer is named \"%.100s\"",
                 tensors_get(a->file, 0)->name);
    return assay_fail(err, ASSAY_FORMAT, "%s: has no %s.%s.%s%s",
                      a->options->file, name, r->name, last, others);
}

/* The one array of a file that has no names, where one answer is wanted. */
static bool is_nameless(const struct import_answers *a)
{
    return tensors_count(a->file) == 1 && !*tensors_get(a->file, 0)->name;
}

static enum assay_status find_nameless(struct import_answers *a,
                                       struct assay_error *err)
{
    const size_t n = source_count(a->source) * a->options->n_recipes;
    if (n != 1)
        return assay_fail(err, ASSAY_USAGE,
                          "%s: is one array without a name and %zu answers are "
                          "wanted; give a folder of CASE.RECIPE.o.npy",
                          a->options->file, n);
    a->found[0] = (struct found){ 0, -1 };
    a->used[0] = true;
    return ASSAY_OK;
}

static enum assay_status find_all(struct import_answers *a,
                                  struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    if (is_nameless(a))
        return find_nameless(a, err);
    for (size_t r = 0; r < a->options->n_recipes; r++) {
        const struct assay_recipe *recipe = a->options->recipes[r];
        size_t with_lse = 0;
        for (size_t i = 0; st == ASSAY_OK && i < source_count(a->source); i++) {
            const char *name = source_name(a->source, i);
            struct found *f = found_at(a, i, r);
            if ((st = find_one(a, name, recipe, "o", &f->o, err)) != ASSAY_OK ||
                (st = find_one(a, name, recipe, "lse", &f->lse, err)) !=
                    ASSAY_OK)
                return st;
            with_lse += f->lse >= 0;
            if (f->o < 0)
                return lacks(a, name, recipe, "o", err);
        }
        for (size_t i = 0; with_lse > 0 && i < source_count(a->source); i++)
            if (found_at(a, i, r)->lse < 0)
                return lacks(a, source_name(a->source, i), recipe, "lse", err);
    }
    return st;
}

static void say_left_out(const struct import_answers *a)
{
    const size_t all = tensors_count(a->file);
    size_t n = 0, first = 0;
    char text[512];
    for (size_t i = all; i-- > 0;)
        if (!a->used[i]) {
            n++;
            first = i;
        }
    if (n == 0)
        return;
    snprintf(text, sizeof text,
             "%.200s: %zu tensor%s left out: no case has that name or recipe; "
             "the first is \"%.100s\"",
             a->options->file, n, n == 1 ? " is" : "s are",
             tensors_get(a->file, first)->name);
    verb_say("import", text);
}

static enum assay_status check_all(const struct import_answers *a,
                                   struct assay_error *err)
{
    struct assay_error why;
    for (size_t i = 0; i < source_count(a->source); i++)
        for (size_t r = 0; r < a->options->n_recipes; r++) {
            const struct assay_problem *p = source_problem(a->source, i);
            const struct assay_recipe *recipe = a->options->recipes[r];
            const struct found *f = found_at(a, i, r);
            enum assay_status st = assay_recipe_check(recipe, p, &why);
            if (st != ASSAY_OK)
                return assay_fail(err, st, "%s: %s", source_name(a->source, i),
                                  why.text);
            st = answer_tensor_check_o(tensors_get(a->file, (size_t)f->o),
                                       &a->axes, p, recipe, err);
            if (st == ASSAY_OK && f->lse >= 0)
                st = answer_tensor_check_lse(
                    tensors_get(a->file, (size_t)f->lse), p, err);
            if (st != ASSAY_OK)
                return assay_fail_in(err, st, "%s", a->options->file);
        }
    return ASSAY_OK;
}

enum assay_status import_open(const struct import_options *options,
                              const struct source *source,
                              struct import_answers **out,
                              struct assay_error *err)
{
    const size_t n = source_count(source) * options->n_recipes;
    struct import_answers *a = calloc(1, sizeof *a);
    enum assay_status st;
    *out = a;
    if (!a)
        return assay_fail(err, ASSAY_MEMORY, "no memory for answers");
    a->options = options;
    a->source = source;
    st = tensors_open(options->file, answer_tensor_wanted, &a->file, err);
    if (st != ASSAY_OK)
        return st;
    a->found = calloc(n + 1, sizeof *a->found);
    a->used = calloc(tensors_count(a->file) + 1, sizeof *a->used);
    if (!a->found || !a->used)
        return assay_fail(err, ASSAY_MEMORY, "no memory for answers");
    if ((st = find_maker(a, err)) != ASSAY_OK ||
        (st = answer_axes_find(a->file, "--answers-layout", options->layout,
                               &a->axes, err)) != ASSAY_OK ||
        (st = find_all(a, err)) != ASSAY_OK ||
        (st = check_all(a, err)) != ASSAY_OK)
        return st;
    say_left_out(a);
    return ASSAY_OK;
}

/* ---- whether they can be answers ---- */

static enum assay_status check_o(const struct assay_problem *p, const float *o,
                                 struct assay_error *err)
{
    const int64_t n = assay_problem_o_elems(p);
    int64_t bad = 0, first = 0, dead = -1;
    for (int64_t i = n; i-- > 0;)
        if (!isfinite(o[i])) {
            bad++;
            first = i;
        } else if (o[i] != 0 &&
                   assay_problem_visible(p, i / p->dv / p->hq % p->nq) == 0)
            dead = i;
    const int64_t at = bad > 0 ? first : dead, h = at / p->dv % p->hq,
                  token = at / p->dv / p->hq % p->nq;
    if (bad > 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "O has %" PRId64 " of %" PRId64
                          " values that are not finite, the first at head "
                          "%" PRId64 ", token %" PRId64 ", channel %" PRId64,
                          bad, n, h, token, at % p->dv);
    return dead < 0 ? ASSAY_OK
                    : assay_fail(err, ASSAY_FORMAT,
                                 "O is %g at head %" PRId64 ", token %" PRId64
                                 ", which sees no key and has 0",
                                 o[dead], h, token);
}

static enum assay_status check_lse(const struct assay_problem *p,
                                   const double *lse, struct assay_error *err)
{
    for (int64_t r = 0; lse && r < assay_problem_rows(p); r++) {
        const bool dead = assay_problem_visible(p, r % p->nq) == 0;
        if (dead ? lse[r] == -INFINITY : isfinite(lse[r]))
            continue;
        char value[40];
        text_print(value, sizeof value, "%g", lse[r]);
        return assay_fail(err, ASSAY_FORMAT,
                          "LSE is %s at head %" PRId64 ", token %" PRId64
                          ", which %s",
                          value, r / p->nq % p->hq, r % p->nq,
                          dead ? "sees no key and has -inf"
                               : "sees keys and has a finite one");
    }
    return ASSAY_OK;
}

/* How far an answer is from the exact one, over some rows of a head. */
struct off {
    double square, norm2, lse;
    int64_t rows;
};

/* One row in binary64; `x` has room for the row of O, `s` for the scores. */
static double exact_row(const struct assay_problem *p,
                        const struct assay_inputs *in, int64_t b, int64_t h,
                        int64_t i, double *s, double *x)
{
    const int64_t n = assay_problem_visible(p, i), kv = h / (p->hq / p->hk);
    const float *q = in->q + assay_row_offset(p->nq, p->hq, p->dk, b, i, h);
    double top = -INFINITY, sum = 0;
    memset(x, 0, (size_t)p->dv * sizeof *x);
    for (int64_t t = 0; t < n; t++) {
        const float *k =
            in->k + assay_row_offset(p->nk, p->hk, p->dk, b, t, kv);
        s[t] = 0;
        for (int64_t c = 0; c < p->dk; c++)
            s[t] += (double)q[c] * (double)k[c];
        s[t] *= p->softmax_scale;
        top = fmax(top, s[t]);
    }
    for (int64_t t = 0; t < n; t++) {
        const float *v =
            in->v + assay_row_offset(p->nk, p->hk, p->dv, b, t, kv);
        const double weight = exp(s[t] - top);
        sum += weight;
        for (int64_t c = 0; c < p->dv; c++)
            x[c] += weight * (double)v[c];
    }
    for (int64_t c = 0; c < p->dv; c++)
        x[c] /= sum;
    return top + log(sum);
}

static void add_row(const struct assay_problem *p, const struct assay_answer *a,
                    int64_t b, int64_t h, int64_t i, double lse,
                    const double *x, struct off *off)
{
    const float *o = a->o + assay_row_offset(p->nq, p->hq, p->dv, b, i, h);
    for (int64_t c = 0; c < p->dv; c++) {
        off->square += ((double)o[c] - x[c]) * ((double)o[c] - x[c]);
        off->norm2 += x[c] * x[c];
    }
    if (a->lse)
        off->lse += fabs(a->lse[(b * p->hq + h) * p->nq + i] - lse);
    off->rows++;
}

/* What no recipe costs, and answers of other heads exceed: relative L2 of some
 * rows of a head together (of others it is near 1.4), and their LSE, which a
 * logarithm to the base 2 moves as far. */
static const double FAR_O = 0.9, FAR_LSE = 2;
enum { ROWS_LOOKED_AT = 8 };

static enum assay_status check_head(const struct assay_problem *p,
                                    const struct assay_inputs *in,
                                    const struct assay_answer *a, int64_t b,
                                    int64_t h, double *s, double *x,
                                    struct assay_error *err)
{
    const int64_t step = p->nq > ROWS_LOOKED_AT ? p->nq / ROWS_LOOKED_AT : 1;
    struct off off = { 0 };
    for (int64_t i = p->nq - 1; i >= 0; i -= step) {
        if (assay_problem_visible(p, i) == 0)
            continue;
        const double lse = exact_row(p, in, b, h, i, s, x);
        add_row(p, a, b, h, i, lse, x, &off);
    }
    const double o = off.norm2 > 0 ? sqrt(off.square / off.norm2) : 0,
                 lse = off.rows > 0 ? off.lse / (double)off.rows : 0;
    if (o > FAR_O)
        return assay_fail(err, ASSAY_FORMAT,
                          "O of head %" PRId64 " is no answer to its inputs: "
                          "%" PRId64 " rows are %.2f (relative L2) from the "
                          "exact answer",
                          h, off.rows, o);
    if (lse > FAR_LSE)
        return assay_fail(err, ASSAY_FORMAT,
                          "LSE of head %" PRId64 " is no natural logarithm of "
                          "its inputs: over %" PRId64 " rows it is off by a "
                          "mean of %.2f nats",
                          h, off.rows, lse);
    return ASSAY_OK;
}

static enum assay_status check_fit(const struct assay_problem *p,
                                   const struct assay_inputs *in,
                                   const struct assay_answer *a,
                                   struct assay_error *err)
{
    double *s = NULL, *x = NULL;
    enum assay_status st;
    if ((st = assay_alloc("scores", p->nk, sizeof *s, &s, err)) == ASSAY_OK)
        st = assay_alloc("a row", p->dv, sizeof *x, &x, err);
    for (int64_t bh = 0; st == ASSAY_OK && bh < p->b * p->hq; bh++)
        st = check_head(p, in, a, bh / p->hq, bh % p->hq, s, x, err);
    assay_free(s);
    assay_free(x);
    return st;
}

enum assay_status import_read(const struct import_answers *a, size_t i,
                              size_t r, const struct assay_case *c,
                              const struct assay_inputs *in,
                              struct assay_answer *out, struct assay_error *err)
{
    const struct assay_problem *p = &c->problem;
    const struct assay_recipe *recipe = a->options->recipes[r];
    const struct found *f = found_at(a, i, r);
    enum assay_status st;
    *out = (struct assay_answer){ .recipe = recipe, .maker = strdup(a->maker) };
    if (!out->maker)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    if ((st = answer_tensor_read_o(a->file, (size_t)f->o, &a->axes, p, recipe,
                                   &out->o, err)) != ASSAY_OK ||
        (f->lse >= 0 &&
         (st = answer_tensor_read_lse(a->file, (size_t)f->lse, p, &out->lse,
                                      err)) != ASSAY_OK))
        return st;
    if ((st = check_o(p, out->o, err)) != ASSAY_OK ||
        (st = check_lse(p, out->lse, err)) != ASSAY_OK ||
        (st = check_fit(p, in, out, err)) != ASSAY_OK)
        return assay_fail_in(err, st, "%s: %s, recipe %s", a->options->file,
                             c->name, recipe->name);
    return assay_recipe_quantize(recipe, p, in->format, NULL, in->q, in->k,
                                 in->v, &out->payloads, err);
}
