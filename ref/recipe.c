/* SPDX-License-Identifier: MIT
 *
 * The tables of recipes, and their quantizers.
 */
#include "assay/recipe.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "assay/memory.h"
#include "assay/rotate.h"
#include "assay/smooth.h"

enum { NO, YES };
enum { ROUNDED, WHOLE };
/* what softmax.def calls the recipe's own format of P */
#define ASSAY_RECIPE ASSAY_FORMATS

static const struct assay_softmax_form softmaxes[] = {
#define ASSAY_SOFTMAX(id, name, kind, tile, sum, p, nearest, promise, about) \
    { ASSAY_SOFTMAX_##id,                                                    \
      name,                                                                  \
      ASSAY_KIND_##kind,                                                     \
      tile,                                                                  \
      (sum) == WHOLE,                                                        \
      ASSAY_##p,                                                             \
      nearest,                                                               \
      ASSAY_PROMISE_##promise,                                               \
      about },
#include "assay/softmax.def"
#undef ASSAY_SOFTMAX
};
#undef ASSAY_RECIPE

static const struct assay_recipe recipes[] = {
#define ASSAY_RECIPE(id, name, q, k, v, order, smooth, applied, p, blocks, \
                     out, form, promise, about)                            \
    { ASSAY_RECIPE_##id,                                                   \
      name,                                                                \
      ASSAY_QUANTIZER_##q,                                                 \
      ASSAY_QUANTIZER_##k,                                                 \
      ASSAY_QUANTIZER_##v,                                                 \
      ASSAY_TOKENS_##order,                                                \
      smooth,                                                              \
      ASSAY_APPLIED_##applied,                                             \
      ASSAY_##p,                                                           \
      blocks,                                                              \
      ASSAY_##out,                                                         \
      ASSAY_SOFTMAX_##form,                                                \
      ASSAY_PROMISE_##promise,                                             \
      about },
#include "assay/recipe.def"
#undef ASSAY_RECIPE
};

const struct assay_recipe *assay_recipe_get(enum assay_recipe_id id)
{
    return &recipes[id];
}

const struct assay_recipe *assay_recipe_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_RECIPES; i++)
        if (strcmp(recipes[i].name, name) == 0)
            return &recipes[i];
    return NULL;
}

const struct assay_softmax_form *assay_softmax_get(enum assay_softmax id)
{
    return &softmaxes[id];
}

const struct assay_softmax_form *assay_softmax_find(const char *name)
{
    for (size_t i = 0; i < ASSAY_SOFTMAXES; i++)
        if (strcmp(softmaxes[i].name, name) == 0)
            return &softmaxes[i];
    return NULL;
}

static const struct assay_way promises[] = {
#define ASSAY_PROMISE(id, name, about) { name, about },
#include "assay/promise.def"
#undef ASSAY_PROMISE
};

const struct assay_way *assay_promise_get(enum assay_promise promise)
{
    return &promises[promise];
}

enum assay_promise assay_recipe_promise(const struct assay_recipe *recipe)
{
    const struct assay_softmax_form *form = assay_softmax_get(recipe->softmax);
    if (form->p_format != ASSAY_FORMATS || form->promise > recipe->promise)
        return form->promise;
    return recipe->promise;
}

const char *assay_recipe_promise_name(const struct assay_recipe *recipe)
{
    return assay_promise_get(assay_recipe_promise(recipe))->name;
}

static struct assay_recipe in_form[ASSAY_RECIPES][ASSAY_SOFTMAXES];

static void fill_forms(void)
{
    for (int r = 0; r < ASSAY_RECIPES; r++)
        for (int f = 0; f < ASSAY_SOFTMAXES; f++) {
            struct assay_recipe *one = &in_form[r][f];
            *one = recipes[r];
            one->softmax = softmaxes[f].id;
            if (softmaxes[f].p_format == ASSAY_FORMATS)
                continue;
            one->p_format = softmaxes[f].p_format;
            one->p_blocks = false;
            one->order = ASSAY_TOKENS_CANONICAL;
        }
}

const struct assay_recipe *
assay_recipe_in_form(const struct assay_recipe *recipe, enum assay_softmax form)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (form == recipes[recipe->id].softmax)
        return &recipes[recipe->id];
    pthread_once(&once, fill_forms);
    return &in_form[recipe->id][form];
}

enum assay_status assay_recipe_check(const struct assay_recipe *recipe,
                                     const struct assay_problem *p,
                                     struct assay_error *err)
{
    const struct assay_quantizer *q = assay_quantizer_get(recipe->q);
    if (q->prepares && assay_rotation_order_get(q->prepare)->rotate &&
        ((p->dk & (p->dk - 1)) != 0 || p->dk > ASSAY_ROTATE_MAX))
        return assay_fail(err, ASSAY_SHAPE,
                          "%s rotates Q and K, for which a head width of "
                          "%" PRId64 " is no power of two",
                          recipe->name, p->dk);
    return assay_problem_check(p, err);
}

/* ---- quantize ---- */

struct quantizing {
    const struct assay_recipe *recipe;
    const struct assay_problem *p;
    const struct assay_format *word;
};

static enum assay_status prepare(const struct quantizing *z,
                                 const struct assay_quantizer *how,
                                 const struct assay_tensor *t, const float *x,
                                 const float *mean, float mult, float *y,
                                 struct assay_error *err)
{
    const struct assay_operand operand = {
        t->b, t->s, t->h, t->d, x, mean, mult
    };
    return assay_operand_prepare(assay_rotation_order_get(how->prepare),
                                 z->word, &operand, y, err);
}

/* One operand: what its quantizer sees, and that quantized. */
static enum assay_status
one_operand(const struct quantizing *z, enum assay_quantizer_id id,
            struct assay_tensor t, const float *x, const float *mean,
            float mult, struct assay_payload *out, struct assay_error *err)
{
    const struct assay_quantizer *how = assay_quantizer_get(id);
    float *y;
    if (!how->prepares)
        return assay_quantize(how, &t, x, out, err);
    enum assay_status st = assay_alloc("prepared values", t.b * t.s * t.h * t.d,
                                       sizeof *y, &y, err);
    if (st != ASSAY_OK)
        return st;
    st = prepare(z, how, &t, x, mean, mult, y, err);
    if (st == ASSAY_OK)
        st = assay_quantize(how, &t, y, out, err);
    assay_free(y);
    return st;
}

static enum assay_status take_mean(const struct quantizing *z,
                                   const float *k_mean, const float *q,
                                   const float *k, struct assay_payloads *out,
                                   struct assay_error *err)
{
    const struct assay_problem *p = z->p;
    const int64_t n = p->b * p->hk * p->dk;
    struct assay_k_mean to = { 0 };
    enum assay_status st;
    bool any = false;
    if ((st = assay_alloc("a K mean", n, sizeof *out->k_mean, &out->k_mean,
                          err)) != ASSAY_OK)
        return st;
    to.mean = out->k_mean;
    if (k_mean)
        memcpy(out->k_mean, k_mean, (size_t)n * sizeof *k_mean);
    else if ((st = assay_k_mean_compute(p, k, ASSAY_SMOOTHING_GATED, &to,
                                        err)) != ASSAY_OK)
        return st;
    for (int64_t i = 0; i < n; i++)
        any |= out->k_mean[i] != 0;
    if (!any)
        return ASSAY_OK;
    st = assay_alloc("an LSE shift", assay_problem_rows(p),
                     sizeof *out->lse_shift, &out->lse_shift, err);
    return st == ASSAY_OK ? assay_k_mean_lse_delta(p, z->word, q, out->k_mean,
                                                   out->lse_shift, err)
                          : st;
}

enum assay_status assay_recipe_quantize(const struct assay_recipe *r,
                                        const struct assay_problem *p,
                                        const struct assay_format *word,
                                        const float *k_mean, const float *q,
                                        const float *k, const float *v,
                                        struct assay_payloads *out,
                                        struct assay_error *err)
{
    const struct quantizing z = { r, p,
                                  word ? word : assay_format_get(ASSAY_BF16) };
    const float mult = r->scale_applied == ASSAY_APPLIED_Q
                           ? assay_fold_multiplier(p->softmax_scale)
                           : 1;
    enum assay_status st = assay_recipe_check(r, p, err);
    *out = (struct assay_payloads){ 0 };
    if (st == ASSAY_OK && r->smooth)
        st = take_mean(&z, k_mean, q, k, out, err);
    if (st != ASSAY_OK ||
        (st = one_operand(
             &z, r->q,
             (struct assay_tensor){ p->b, p->nq, p->hq, p->dk, r->order, 0 }, q,
             NULL, mult, &out->q, err)) != ASSAY_OK ||
        (st = one_operand(
             &z, r->k,
             (struct assay_tensor){ p->b, p->nk, p->hk, p->dk, r->order, 0 }, k,
             out->k_mean, 1, &out->k, err)) != ASSAY_OK)
        return st;
    return one_operand(
        &z, r->v,
        (struct assay_tensor){ p->b, p->nk, p->hk, p->dv, r->order, 0 }, v,
        NULL, 1, &out->v, err);
}

void assay_payloads_free(struct assay_payloads *payloads)
{
    assay_payload_free(&payloads->q);
    assay_payload_free(&payloads->k);
    assay_payload_free(&payloads->v);
    assay_free(payloads->k_mean);
    assay_free(payloads->lse_shift);
    payloads->k_mean = payloads->lse_shift = NULL;
}
