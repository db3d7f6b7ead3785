/* SPDX-License-Identifier: MIT
 *
 * Parts of files of ours: problems, recipes, arrays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/recipe_file.h"
#include "golden/set.h"
#include "golden/stored.h"

enum assay_status stored_expect_text(const char *path, hid_t group,
                                     const char *name, const char *want,
                                     struct assay_error *err)
{
    char *text;
    enum assay_status st = h5_read_text(path, group, name, &text, err);
    if (st == ASSAY_OK && strcmp(text, want) != 0)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: %s is \"%.40s\", this program knows \"%s\"", path,
                        name, text, want);
    free(text);
    return st;
}

enum assay_status stored_write_problem(const char *path, hid_t group,
                                       const struct assay_problem *p,
                                       struct assay_error *err)
{
    char *line = assay_case_line(p);
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {
#define SET_SIZE(key, field) { key, p->field },
#include "golden/set_size.def"
#undef SET_SIZE
    };
    if (!line)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a case line");
    const struct {
        const char *key, *value;
    } texts[] = {
        { "workload", "dense" },
        { "layout", "BSHD" },
        { "mask", assay_mask_name(p->mask) },
        { "line", line },
    };
    enum assay_status st =
        h5_write_real(path, group, "softmax_scale", p->softmax_scale, err);
    for (size_t i = 0; st == ASSAY_OK && i < sizeof sizes / sizeof *sizes; i++)
        st = h5_write_int(path, group, sizes[i].key, sizes[i].value, err);
    for (size_t i = 0; st == ASSAY_OK && i < sizeof texts / sizeof *texts; i++)
        st = h5_write_text(path, group, texts[i].key, texts[i].value, err);
    free(line);
    return st;
}

static enum assay_status read_mask(const char *path, hid_t group,
                                   enum assay_mask *mask,
                                   struct assay_error *err)
{
    char *text;
    enum assay_status st = h5_read_text(path, group, "mask", &text, err);
    if (st != ASSAY_OK)
        return st;
    *mask = assay_mask_find(text);
    if (*mask == ASSAY_MASKS)
        st = assay_fail(err, ASSAY_FORMAT, "%s: mask \"%.40s\" is not known",
                        path, text);
    free(text);
    return st;
}

enum assay_status stored_read_problem(const char *path, hid_t group,
                                      struct assay_problem *p,
                                      struct assay_error *err)
{
    const struct {
        const char *key;
        int64_t *value;
    } sizes[] = {
#define SET_SIZE(key, field) { key, &p->field },
#include "golden/set_size.def"
#undef SET_SIZE
    };
    enum assay_status st =
        stored_expect_text(path, group, "workload", "dense", err);
    if (st == ASSAY_OK)
        st = stored_expect_text(path, group, "layout", "BSHD", err);
    for (size_t i = 0; st == ASSAY_OK && i < sizeof sizes / sizeof *sizes; i++)
        st = h5_read_int(path, group, sizes[i].key, sizes[i].value, err);
    if (st == ASSAY_OK &&
        (st = h5_read_real(path, group, "softmax_scale", &p->softmax_scale,
                           err)) == ASSAY_OK &&
        (st = read_mask(path, group, &p->mask, err)) == ASSAY_OK &&
        (st = assay_problem_check(p, err)) != ASSAY_OK)
        st = assay_fail_in(err, ASSAY_FORMAT, "%s", path);
    return st;
}

/* A recipe that this program does not have by itself comes with the set. */
enum assay_status stored_write_recipe(const char *path, hid_t group,
                                      const struct assay_recipe *recipe,
                                      struct assay_error *err)
{
    enum assay_status st =
        h5_write_text(path, group, "softmax_form",
                      assay_softmax_get(recipe->softmax)->name, err);
    if (st != ASSAY_OK || recipe->id < ASSAY_RECIPES)
        return st;
    char *text = recipe_definition(assay_recipe_get(recipe->id));
    st = text ? h5_write_text(path, group, "definition", text, err)
              : assay_fail(err, ASSAY_MEMORY, "no memory for a definition");
    free(text);
    return st;
}

/* A recipe of this program, or one that the file defines. */
static enum assay_status find_recipe(const char *path, hid_t group,
                                     const char *name,
                                     const struct assay_recipe **out,
                                     struct assay_error *err)
{
    char where[1024], *text = NULL;
    *out = assay_recipe_find(name);
    if (*out && (*out)->id < ASSAY_RECIPES)
        return ASSAY_OK;
    enum assay_status st = h5_read_text(path, group, "definition", &text, err);
    if (st == ASSAY_FORMAT)
        return assay_fail(
            err, st,
            "%s: recipe \"%.40s\" is not known, and the file does "
            "not define it",
            path, name);
    if (st == ASSAY_OK) {
        snprintf(where, sizeof where, "%.900s: recipe %.40s", path, name);
        st = recipe_define(where, text, out, err);
    }
    free(text);
    if (st == ASSAY_OK && strcmp((*out)->name, name) != 0)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: recipe \"%.40s\" is defined as %s", path, name,
                        (*out)->name);
    return st;
}

enum assay_status stored_read_recipe(const char *path, hid_t group,
                                     const char *name,
                                     const struct assay_recipe **out,
                                     struct assay_error *err)
{
    const struct assay_recipe *r = NULL;
    char *text = NULL;
    enum assay_status st = find_recipe(path, group, name, &r, err);
    if (st == ASSAY_OK)
        st = h5_read_text(path, group, "softmax_form", &text, err);
    if (st != ASSAY_OK)
        return st;
    const struct assay_softmax_form *form = assay_softmax_find(text);
    if (form)
        *out = assay_recipe_in_form(r, form->id);
    else
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: softmax_form is \"%.40s\", which is not known",
                        path, text);
    free(text);
    return st;
}

/* Allocates only after the header has been held against the file: a shape
 * that no storage stands behind must not ask for memory. */
enum assay_status stored_read_array(const char *path, hid_t in,
                                    const char *name, enum h5_type type,
                                    struct h5_shape shape, void *out,
                                    struct assay_error *err)
{
    enum h5_type own;
    struct h5_shape own_shape;
    void *data = NULL;
    enum assay_status st = h5_data_info(path, in, name, &own, &own_shape, err);
    if (st != ASSAY_OK)
        return st;
    int64_t count = h5_shape_count(&own_shape);
    if (own == type && count == h5_shape_count(&shape))
        st = assay_alloc(name, count, h5_type_bytes(type), &data, err);
    if (st == ASSAY_OK) {
        char nothing[1];
        st = h5_read_data(path, in, name, type, &shape, data ? data : nothing,
                          err);
    }
    if (st != ASSAY_OK) {
        assay_free(data);
        data = NULL;
    }
    memcpy(out, &data, sizeof data);
    return st;
}
