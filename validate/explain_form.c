/* SPDX-License-Identifier: MIT
 *
 * A right kernel that is held against another softmax form fails in most of its
 * heads, by little in each row. Its own form, tried, lets them pass.
 */
#include "validate/explain_form.h"

#include <inttypes.h>
#include <stdio.h>

#include "golden/answers.h"
#include "golden/term.h"
#include "validate/judge.h"

static const double MOST_WORK = 0x1p35;

/* What is wrong with a head in another form than the set's. */
static const uint32_t of_rows = 1u << GATE_FINITE | 1u << GATE_DEAD_ROWS |
                                1u << GATE_BUILD | 1u << GATE_BUILD_RMS |
                                1u << GATE_GAIN | 1u << GATE_LSE |
                                1u << GATE_LSE_RMS;

static int64_t heads_fitting(const struct result *r)
{
    int64_t n = 0;
    for (int64_t bh = 0; bh < r->heads; bh++)
        n += (r->heads_gates[bh] & of_rows) == 0;
    return n;
}

static bool worth_trying(const struct explain_input *in)
{
    const struct assay_problem *p = &in->c->problem;
    const double work = (double)p->b * (double)p->hq * (double)p->nq *
                        (double)p->nk * (double)(p->dk + p->dv);
    return in->result->verdict == VERDICT_WRONG &&
           !(in->sketch->lacks & SKETCH_LACKS_JITTER) &&
           in->result->gates[GATE_SCALE_BYTES].pass && work <= MOST_WORK &&
           2 * in->result->heads_failed >= in->result->heads;
}

/* What fits a form of one part fits one of any parts. */
static bool is_wide(enum assay_softmax form)
{
    return assay_softmax_get(form)->walk == ASSAY_WALK_PARTS;
}

/* The frozen maximum of fp6p is a model of kernels whose P is FP6. */
static bool is_for(const struct assay_recipe *recipe, enum assay_softmax form)
{
    return form != ASSAY_SOFTMAX_FP6P ||
           assay_format_get(recipe->p_format)->bits == 6;
}

/* How many heads fit one form. */
static enum assay_status try_form(const struct explain_input *in,
                                  const struct assay_inputs *inputs,
                                  const struct assay_recipe *recipe, int64_t *n,
                                  struct assay_error *err)
{
    struct assay_answer answer = { 0 };
    struct result r = { .problem = in->c->problem, .recipe = recipe };
    const struct yardstick against = { &in->c->problem, &answer, in->exact,
                                       NULL };
    struct candidate outputs = *in->candidate;
    outputs.payloads = NULL; /* of the own form: V may be in another order */
    enum assay_status st =
        answers_recipe(recipe, &in->c->problem, inputs, NULL, &answer, err);
    if (st != ASSAY_OK)
        return st;
    st = judge(&against, &outputs, &r, err);
    if (st == ASSAY_OK)
        *n = heads_fitting(&r);
    result_free(&r);
    assay_answer_free(&answer);
    return st;
}

/* "2 of 2 heads fit whole-sum-down (whole-sum-split too); ..." */
static void tell_form(const struct explain_input *in, const char *wide,
                      int64_t most, int64_t most_wide, struct explanation *e)
{
    const bool alone = *wide && (!e->form[0] || most_wide > most);
    if (alone)
        snprintf(e->form, sizeof e->form, "%s", wide);
    if (!e->form[0])
        return;
    e->form_heads = alone ? most_wide : most;
    snprintf(e->form_fits, sizeof e->form_fits,
             "%" PRId64 " of %" PRId64 " heads fit %s", e->form_heads,
             in->result->heads, e->form);
    if (!alone && *wide && most_wide == most)
        text_append(e->form_fits, sizeof e->form_fits, " (%s too)", wide);
    text_append(e->form_fits, sizeof e->form_fits,
                "; the set's answers are for %s",
                assay_softmax_get(in->answer->recipe->softmax)->name);
}

enum assay_status explain_form(const struct explain_input *in,
                               struct explanation *e, struct assay_error *err)
{
    const struct assay_recipe *own = in->answer->recipe;
    struct assay_inputs inputs = { 0 };
    const int64_t fit_own = heads_fitting(in->result);
    int64_t n, most = fit_own, most_wide = 0;
    const char *wide = "";
    if (!worth_trying(in))
        return ASSAY_OK;
    enum assay_status st = assay_case_values(in->c, &inputs, err);
    for (int f = 0; st == ASSAY_OK && f < ASSAY_SOFTMAXES; f++) {
        const enum assay_softmax form = (enum assay_softmax)f;
        const struct assay_recipe *other = assay_recipe_in_form(own, form);
        if (!is_for(own, form) || assay_recipe_same(other, own) ||
            (st = try_form(in, &inputs, other, &n, err)) != ASSAY_OK ||
            n <= fit_own || 2 * n < in->result->heads)
            continue;
        if (is_wide(form)) {
            wide = assay_softmax_get(form)->name;
            most_wide = n;
        } else if (n >= most) {
            if (n > most)
                e->form[0] = '\0';
            text_append(e->form, sizeof e->form, "%s%s", e->form[0] ? ", " : "",
                        assay_softmax_get(form)->name);
            most = n;
        }
    }
    if (st == ASSAY_OK)
        tell_form(in, wide, most, most_wide, e);
    assay_inputs_free(&inputs);
    return st;
}
