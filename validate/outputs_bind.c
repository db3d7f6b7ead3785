/* SPDX-License-Identifier: MIT
 *
 * Which tensor of a file is which output of a set, and whether its type and
 * shape are those of the case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/select.h"
#include "golden/term.h"
#include "golden/verb.h"
#include "validate/outputs.h"

void outputs_tell(const struct outputs *o, const char *key,
                  const char *otherwise, char *text, size_t size)
{
    const char *told = tensors_metadata(o->file, key);
    snprintf(text, size, "%s", told && *told ? told : otherwise);
    term_plain(text);
}

struct delivered_tensor outputs_payload(const struct outputs *o, ptrdiff_t at)
{
    const struct tensor *t = tensors_get(o->file, (size_t)at);
    return (struct delivered_tensor){ t->name, t->type_name, t->rank,
                                      t->shape };
}

struct delivered_part outputs_part(enum output_part part)
{
    return (struct delivered_part){ (enum assay_input)((part - OUTPUT_Q) / 2),
                                    (part - OUTPUT_Q) % 2 != 0 };
}

struct output *outputs_find(const struct outputs *o, size_t at, size_t kernel)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].at == at && o->list[i].kernel == kernel)
            return &o->list[i];
    return NULL;
}

/* ---- which tensor is what ---- */

static enum assay_status find_kernel(struct driver *d,
                                     const struct output_name *name,
                                     size_t *out, struct assay_error *err)
{
    const struct outputs *o = d->own;
    struct driver_info *info = d->info;
    size_t k = 0;
    while (k < info->count &&
           (strcmp(info->kernels[k].recipe, name->recipe->name) != 0 ||
            strcmp(info->kernels[k].softmax_form, name->form) != 0))
        k++;
    *out = k;
    if (k < info->count)
        return ASSAY_OK;
    if (k == DRIVER_MAX_KERNELS)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: has outputs of more than %d recipes and forms",
                          tensors_path(o->file), DRIVER_MAX_KERNELS);
    struct driver_kernel *new = &info->kernels[info->count++];
    outputs_tell(o, "kernel", info->name, new->name, sizeof new->name);
    snprintf(new->recipe, sizeof new->recipe, "%s", name->recipe->name);
    snprintf(new->softmax_form, sizeof new->softmax_form, "%s", name->form);
    snprintf(new->about, sizeof new->about, "output made elsewhere");
    new->inputs = DRIVER_INPUT_SAVED;
    return ASSAY_OK;
}

static enum assay_status add(struct driver *d, const struct output_name *name,
                             size_t tensor, struct assay_error *err)
{
    struct outputs *o = d->own;
    size_t kernel;
    enum assay_status st = find_kernel(d, name, &kernel, err);
    if (st != ASSAY_OK)
        return st;
    struct output *one = outputs_find(o, name->at, kernel);
    if (!one) {
        one = &o->list[o->count++];
        *one = (struct output){ .at = name->at, .kernel = kernel };
        for (int i = 0; i < OUTPUT_PARTS; i++)
            one->part[i] = NOT_THERE;
    }
    one->part[name->part] = (ptrdiff_t)tensor;
    o->has[kernel][name->part] = true;
    return ASSAY_OK;
}

/* The one array of a file that has no names: of the one case and recipe that
 * are selected. */
static enum assay_status add_nameless(struct driver *d,
                                      const struct driver_binding *b,
                                      struct assay_error *err)
{
    const struct outputs *o = d->own;
    struct output_name name = { .form = "", .part = OUTPUT_O };
    size_t found = 0;
    for (size_t i = 0; i < o->cases.count; i++)
        for (size_t r = 0; r < o->cases.list[i].n_recipes; r++) {
            const struct assay_recipe *recipe = o->cases.list[i].recipes[r];
            if (!select_has(b->cases, o->cases.list[i].name) ||
                !select_has_recipe(b->recipes, recipe->name,
                                   assay_softmax_get(recipe->softmax)->name))
                continue;
            name.at = i;
            name.recipe = recipe;
            found++;
        }
    if (found == 1)
        return add(d, &name, 0, err);
    return assay_fail(err, ASSAY_USAGE,
                      "%s: is one array without a name and %zu outputs are "
                      "selected; choose one by --case and --recipe, or give a "
                      "folder of CASE.RECIPE.o.npy",
                      tensors_path(o->file), found);
}

bool outputs_wanted(const char *name)
{
    static const char exact[] = ".exact";
    const size_t n = sizeof exact - 1;
    enum output_part part;
    size_t base;
    return output_name_meant(name) || /* to be told */
           (output_name_part(name, &part, &base) &&
            !(base >= n && strncmp(name + base - n, exact, n) == 0));
}

/* One name of each side. */
static enum assay_status no_match(const struct outputs *o, size_t n,
                                  size_t first, struct assay_error *err)
{
    char room[160] = "CASE.RECIPE.o";
    for (size_t i = o->cases.count; i-- > 0;)
        if (o->cases.list[i].n_recipes)
            snprintf(room, sizeof room, "%.100s.%s.o", o->cases.list[i].name,
                     o->cases.list[i].recipes[0]->name);
    if (n == 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: has no tensor whose name ends in .o or .lse, "
                          "nor codes of a recipe in .q, .k or .v; the set has "
                          "room for %s",
                          tensors_path(o->file), room);
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: none of its %zu output%s is of the set: the first "
                      "is named \"%.100s\", the set has room for %s",
                      tensors_path(o->file), n, plural((int64_t)n),
                      tensors_get(o->file, first)->name, room);
}

static void say_left_out(const struct outputs *o, size_t n, size_t first)
{
    char text[512];
    const char *name = tensors_get(o->file, first)->name;
    const char *meant = output_name_meant(name);
    if (meant)
        snprintf(
            text, sizeof text,
            "%.200s: %zu tensor%s left out; the first is \"%.100s\", whose "
            "name must end in .%s to be taken",
            tensors_path(o->file), n, n == 1 ? " is" : "s are", name, meant);
    else
        snprintf(text, sizeof text,
                 "%.200s: %zu tensor%s left out: no case of the set has that "
                 "recipe; the first is \"%.100s\"",
                 tensors_path(o->file), n, n == 1 ? " is" : "s are", name);
    verb_say("validate", text);
}

static enum assay_status match_all(struct driver *d,
                                   const struct driver_binding *b,
                                   struct assay_error *err)
{
    struct outputs *o = d->own;
    const size_t n = tensors_count(o->file);
    size_t left_out = 0, first = 0;
    o->list = calloc(n + 1, sizeof *o->list);
    if (!o->list)
        return assay_fail(err, ASSAY_MEMORY, "no memory for outputs");
    if (n == 1 && !*tensors_get(o->file, 0)->name)
        return add_nameless(d, b, err);
    for (size_t i = 0; i < n; i++) {
        struct output_name name;
        const char *text = tensors_get(o->file, i)->name;
        enum assay_status st = ASSAY_OK;
        if (output_name_match(&o->cases, text, &name))
            st = add(d, &name, i, err);
        else if (!output_name_is_input(&o->cases, text) && left_out++ == 0)
            first = i;
        if (st != ASSAY_OK)
            return st;
    }
    if (o->count == 0)
        return no_match(o, left_out, first, err);
    if (left_out > 0)
        say_left_out(o, left_out, first);
    return ASSAY_OK;
}

/* Kernels of one recipe, of which each says another form, or none. */
static void part_names(struct driver_info *info)
{
    for (size_t k = 1; k < info->count; k++) {
        struct driver_kernel *kernel = &info->kernels[k];
        bool twice = false;
        for (size_t i = 0; i < k; i++)
            twice |= strcmp(info->kernels[i].recipe, kernel->recipe) == 0;
        if (twice)
            text_append(kernel->name, sizeof kernel->name, "@%s",
                        kernel->softmax_form[0] ? kernel->softmax_form : "?");
    }
}

/* ---- types and shapes ---- */

static const struct assay_recipe *recipe_of(const struct driver *d,
                                            const struct output *one)
{
    return assay_recipe_find(d->info->kernels[one->kernel].recipe);
}

static enum assay_status check_payloads(const struct outputs *o,
                                        const struct output *one,
                                        const struct assay_recipe *recipe,
                                        struct assay_error *err)
{
    const struct assay_problem *p = &o->cases.list[one->at].problem;
    enum assay_status st = ASSAY_OK;
    for (int i = OUTPUT_Q; st == ASSAY_OK && i < OUTPUT_PARTS; i++) {
        if (one->part[i] == NOT_THERE)
            continue;
        const struct delivered_tensor t = outputs_payload(o, one->part[i]);
        const struct delivered_part part = outputs_part((enum output_part)i);
        st = delivered_check(recipe, p, part, &t, err);
    }
    return st;
}

static enum assay_status check_all(const struct driver *d,
                                   struct assay_error *err)
{
    const struct outputs *o = d->own;
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < o->count; i++) {
        const struct output *one = &o->list[i];
        const struct output_case *c = &o->cases.list[one->at];
        if (one->part[OUTPUT_O] != NOT_THERE)
            st = answer_tensor_check_o(
                tensors_get(o->file, (size_t)one->part[OUTPUT_O]), &o->axes,
                &c->problem, recipe_of(d, one), err);
        if (st == ASSAY_OK && one->part[OUTPUT_LSE] != NOT_THERE)
            st = answer_tensor_check_lse(
                tensors_get(o->file, (size_t)one->part[OUTPUT_LSE]),
                &c->problem, err);
        if (st == ASSAY_OK)
            st = check_payloads(o, one, recipe_of(d, one), err);
    }
    return st == ASSAY_OK ? st
                          : assay_fail_in(err, st, "%s", tensors_path(o->file));
}

enum assay_status outputs_bind(struct driver *d, const struct driver_binding *b,
                               struct assay_error *err)
{
    struct outputs *o = d->own;
    enum assay_status st;
    if ((st = answer_axes_find(o->file, "--layout", b->layout, &o->axes,
                               err)) != ASSAY_OK ||
        (st = output_cases_read(b->set, &o->cases, err)) != ASSAY_OK ||
        (st = match_all(d, b, err)) != ASSAY_OK)
        return st;
    part_names(d->info);
    return check_all(d, err);
}
