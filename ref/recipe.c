/* SPDX-License-Identifier: MIT
 *
 * The tables of recipes and softmax forms, and recipes that are added to them.
 */
#include "assay/recipe.h"

#include <pthread.h>
#include <string.h>

enum { NO, YES };
enum { ROUNDED, WHOLE };
/* what softmax.def calls the recipe's own format of P */
#define ASSAY_RECIPE ASSAY_FORMATS

static const struct assay_softmax_form softmaxes[] = {
#define ASSAY_SOFTMAX(id, name, kind, tile, walk, sum, p, nearest, promise, \
                      about)                                                \
    { ASSAY_SOFTMAX_##id,      name,           ASSAY_KIND_##kind, tile,     \
      ASSAY_WALK_##walk,       (sum) == WHOLE, ASSAY_##p,         nearest,  \
      ASSAY_PROMISE_##promise, about },
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
      ASSAY_SMOOTH_##smooth,                                               \
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

static struct assay_recipe added[ASSAY_RECIPES_MAX - ASSAY_RECIPES];
static int n_added;

int assay_recipe_count(void)
{
    return ASSAY_RECIPES + n_added;
}

const struct assay_recipe *assay_recipe_get(enum assay_recipe_id id)
{
    return id < ASSAY_RECIPES ? &recipes[id] : &added[id - ASSAY_RECIPES];
}

const struct assay_recipe *assay_recipe_find(const char *name)
{
    for (int i = 0; i < assay_recipe_count(); i++)
        if (strcmp(assay_recipe_get((enum assay_recipe_id)i)->name, name) == 0)
            return assay_recipe_get((enum assay_recipe_id)i);
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

const char *assay_smooth_name(enum assay_smooth smooth)
{
    static const char *const names[] = { "no", "words", "f32" };
    return names[smooth];
}

const struct assay_format *
assay_recipe_lse_word(const struct assay_recipe *recipe,
                      const struct assay_format *word)
{
    return recipe->smooth == ASSAY_SMOOTH_F32 ? assay_format_get(ASSAY_F32)
                                              : word;
}

/* ---- recipes in other forms ---- */

static struct assay_recipe in_form[ASSAY_RECIPES_MAX][ASSAY_SOFTMAXES];

static void fill_forms(const struct assay_recipe *recipe)
{
    for (int f = 0; f < ASSAY_SOFTMAXES; f++) {
        struct assay_recipe *one = &in_form[recipe->id][f];
        *one = *recipe;
        one->softmax = softmaxes[f].id;
        if (softmaxes[f].p_format == ASSAY_FORMATS)
            continue;
        one->p_format = softmaxes[f].p_format;
        one->p_blocks = false;
        one->order = ASSAY_TOKENS_CANONICAL;
    }
}

static void fill_all_forms(void)
{
    for (int r = 0; r < ASSAY_RECIPES; r++)
        fill_forms(&recipes[r]);
}

const struct assay_recipe *
assay_recipe_in_form(const struct assay_recipe *recipe, enum assay_softmax form)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct assay_recipe *row = assay_recipe_get(recipe->id);
    if (form == row->softmax)
        return row;
    pthread_once(&once, fill_all_forms);
    return &in_form[recipe->id][form];
}

/* ---- recipes of the user ---- */

static const char *copy(const char *text)
{
    return strdup(text ? text : "");
}

bool assay_recipe_same(const struct assay_recipe *a,
                       const struct assay_recipe *b)
{
    return a->q == b->q && a->k == b->k && a->v == b->v &&
           a->order == b->order && a->smooth == b->smooth &&
           a->scale_applied == b->scale_applied && a->p_format == b->p_format &&
           a->p_blocks == b->p_blocks && a->out_format == b->out_format &&
           a->softmax == b->softmax && a->promise == b->promise;
}

enum assay_status assay_recipe_add(const struct assay_recipe *recipe,
                                   const struct assay_recipe **out,
                                   struct assay_error *err)
{
    enum assay_status st = assay_recipe_valid(recipe, err);
    if (st != ASSAY_OK)
        return st;
    *out = assay_recipe_find(recipe->name);
    if (*out && assay_recipe_same(*out, recipe))
        return ASSAY_OK;
    if (*out)
        return assay_fail(err, ASSAY_USAGE,
                          "recipe %s is another one already; give it another "
                          "name",
                          recipe->name);
    if (assay_recipe_count() == ASSAY_RECIPES_MAX)
        return assay_fail(err, ASSAY_USAGE,
                          "%d recipes have been added, there is no room for %s",
                          n_added, recipe->name);
    struct assay_recipe *own = &added[n_added];
    *own = *recipe;
    own->id = (enum assay_recipe_id)assay_recipe_count();
    own->name = copy(recipe->name);
    own->about = copy(recipe->about);
    if (!own->name || !own->about)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a recipe");
    fill_forms(own);
    n_added++;
    *out = own;
    return ASSAY_OK;
}
