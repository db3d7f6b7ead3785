/* SPDX-License-Identifier: MIT
 *
 * Golden sets: opening, and what is known without reading data.
 */
#include <stdlib.h>

#include "golden/set.h"
#include "golden/set_file.h"

void assay_set_close(struct assay_set *set)
{
    if (!set)
        return;
    stored_close(&set->stored);
    free(set);
}

static enum assay_status open_here(const char *path, struct assay_set **out,
                                   struct assay_error *err)
{
    *out = NULL;
    struct assay_set *set = calloc(1, sizeof *set);
    if (!set)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a set");
    enum assay_status st = stored_open(path, STORED_SET, &set->stored, err);
    if (st == ASSAY_OK)
        *out = set;
    else
        free(set);
    return st;
}

static void read_all(const struct assay_set *set, size_t i)
{
    struct assay_error ignored;
    struct assay_case c;
    struct assay_exact exact;
    const struct assay_recipe **recipes;
    size_t n;
    if (assay_set_read_case(set, i, &c, &ignored) != ASSAY_OK)
        return;
    assay_set_read_exact(set, i, &c.problem, &exact, &ignored);
    assay_exact_free(&exact);
    assay_set_recipes(set, i, &recipes, &n, &ignored);
    for (size_t r = 0; r < n; r++) {
        struct assay_answer answer;
        assay_set_read_answer(set, i, &c.problem, recipes[r], &answer,
                              &ignored);
        assay_answer_free(&answer);
    }
    free(recipes);
    assay_case_free(&c);
}

/* Everything that a verb may ask of a set. */
static void try_all(void *path)
{
    struct assay_error ignored;
    struct assay_set *set;
    if (open_here(path, &set, &ignored) != ASSAY_OK)
        return;
    stored_try(&set->stored);
    for (size_t i = 0; i < set->stored.count; i++)
        read_all(set, i);
    assay_set_close(set);
}

enum assay_status assay_set_open_unchecked(const char *path,
                                           struct assay_set **out,
                                           struct assay_error *err)
{
    *out = NULL;
    h5_init();
    enum assay_status st = stored_survives(path, try_all, err);
    return st == ASSAY_OK ? open_here(path, out, err) : st;
}

enum assay_status assay_set_open(const char *path, struct assay_set **out,
                                 struct assay_error *err)
{
    enum assay_status st = assay_set_open_unchecked(path, out, err);
    if (st == ASSAY_OK &&
        (st = stored_check_content(&(*out)->stored, err)) != ASSAY_OK) {
        assay_set_close(*out);
        *out = NULL;
    }
    return st;
}

size_t assay_set_count(const struct assay_set *set)
{
    return set->stored.count;
}

const char *assay_set_path(const struct assay_set *set)
{
    return set->stored.path;
}

const char *assay_set_hash(const struct assay_set *set)
{
    return set->stored.hash;
}

const char *assay_set_case_name(const struct assay_set *set, size_t i)
{
    return set->stored.names[i];
}

char *assay_set_provenance(const struct assay_set *set, const char *key)
{
    return stored_provenance(&set->stored, key);
}

enum assay_status assay_set_limits(const struct assay_set *set, char **text,
                                   struct assay_error *err)
{
    const struct stored *s = &set->stored;
    *text = NULL;
    return h5_has_attribute(s->members, "limits")
               ? h5_read_text(s->path, s->members, "limits", text, err)
               : ASSAY_OK;
}

enum assay_status assay_set_check(const struct assay_set *set,
                                  void (*each)(void *, const char *,
                                               const char *),
                                  void *context, struct assay_error *err)
{
    return stored_check(&set->stored, each, context, err);
}
