/* SPDX-License-Identifier: MIT
 *
 * Golden sets: opening, and what is known without reading data.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "golden/child.h"
#include "golden/h5.h"
#include "golden/set.h"
#include "golden/set_file.h"
#include "golden/set_layout.h"
#include "golden/term.h"

void assay_set_close(struct assay_set *set)
{
    if (!set)
        return;
    h5_free_names(set->names, set->count);
    h5_close_group(&set->cases);
    if (set->id >= 0)
        H5Fclose(set->id);
    free(set->hash);
    free(set->path);
    free(set);
}

static enum assay_status check_version(struct assay_set *set,
                                       struct assay_error *err)
{
    char *format = NULL;
    int64_t version;
    enum assay_status st =
        h5_read_text(set->path, set->id, "format", &format, err);
    if (st == ASSAY_OK && strcmp(format, SET_FORMAT) != 0)
        st =
            assay_fail(err, ASSAY_FORMAT, "%s: format is \"%.40s\", not \"%s\"",
                       set->path, format, SET_FORMAT);
    free(format);
    if (st != ASSAY_OK ||
        (st = h5_read_int(set->path, set->id, "format_version", &version,
                          err)) != ASSAY_OK)
        return st;
    if (version != SET_VERSION)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: has format version %" PRId64
                          ", this program reads version %d; make the set anew "
                          "with `assay generate`",
                          set->path, version, SET_VERSION);
    return ASSAY_OK;
}

static enum assay_status list_cases(struct assay_set *set,
                                    struct assay_error *err)
{
    int64_t count;
    enum assay_status st;
    if ((st = h5_read_int(set->path, set->id, "count", &count, err)) !=
            ASSAY_OK ||
        (st = h5_read_text(set->path, set->id, "content_hash", &set->hash,
                           err)) != ASSAY_OK ||
        (st = h5_open_group(set->path, set->id, "cases", &set->cases, err)) !=
            ASSAY_OK ||
        (st = h5_list(set->path, set->cases, &set->names, &set->count, err)) !=
            ASSAY_OK)
        return st;
    if (strlen(set->hash) != H5_HASH_CHARS ||
        strspn(set->hash, "0123456789abcdef") != H5_HASH_CHARS)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: content_hash \"%.40s\" is no hash", set->path,
                          set->hash);
    for (size_t i = 0; i < set->count; i++)
        for (const char *c = set->names[i]; *c; c++)
            if (term_is_control(c))
                return assay_fail(err, ASSAY_FORMAT,
                                  "%s: the name of case %.80s has a control "
                                  "character in it",
                                  set->path, set->names[i]);
    if ((int64_t)set->count != count)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: says it has %" PRId64 " cases and has %zu",
                          set->path, count, set->count);
    return ASSAY_OK;
}

static enum assay_status open_here(const char *path, struct assay_set **out,
                                   struct assay_error *err)
{
    *out = NULL;
    struct assay_set *set = calloc(1, sizeof *set);
    if (!set || !(set->path = strdup(path))) {
        free(set);
        return assay_fail(err, ASSAY_MEMORY, "no memory for a set");
    }
    set->id = set->cases = -1;
    enum assay_status st;
    if ((st = h5_open_file(path, &set->id, err)) != ASSAY_OK ||
        (st = check_version(set, err)) != ASSAY_OK ||
        (st = list_cases(set, err)) != ASSAY_OK) {
        assay_set_close(set);
        return st;
    }
    *out = set;
    return ASSAY_OK;
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
    for (size_t i = 0; i < set->count; i++)
        read_all(set, i);
    assay_set_check(set, NULL, NULL, &ignored);
    free(assay_set_provenance(set, "date"));
    assay_set_close(set);
}

/* libhdf5 1.10 does not survive every file made to harm it, so a child does
 * first what this process is about to do. */
static enum assay_status survives(const char *path, struct assay_error *err)
{
    struct child_outcome end;
    struct stat info;
    double patience = 600; /* and what reading at 10 MB/s would take */
    if (stat(path, &info) == 0)
        patience += (double)info.st_size * 1e-7;
    char how[256], *name = strdup(path);
    enum assay_status st =
        name ? child_run(try_all, name, patience, &end, err)
             : assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    free(name);
    if (st != ASSAY_OK || end.end == CHILD_RETURNED)
        return st;
    child_describe(&end, how, sizeof how);
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: is damaged: a child that read it was %s", path, how);
}

enum assay_status assay_set_open(const char *path, struct assay_set **out,
                                 struct assay_error *err)
{
    *out = NULL;
    h5_init();
    enum assay_status st = survives(path, err);
    return st == ASSAY_OK ? open_here(path, out, err) : st;
}

size_t assay_set_count(const struct assay_set *set)
{
    return set->count;
}

const char *assay_set_path(const struct assay_set *set)
{
    return set->path;
}

const char *assay_set_hash(const struct assay_set *set)
{
    return set->hash;
}

const char *assay_set_case_name(const struct assay_set *set, size_t i)
{
    return set->names[i];
}

char *assay_set_provenance(const struct assay_set *set, const char *key)
{
    struct assay_error ignored;
    char *text = NULL;
    hid_t group;
    if (h5_open_group(set->path, set->id, "provenance", &group, &ignored) ==
        ASSAY_OK)
        h5_read_text(set->path, group, key, &text, &ignored);
    h5_close_group(&group);
    return text;
}

enum assay_status assay_set_limits(const struct assay_set *set, char **text,
                                   struct assay_error *err)
{
    *text = NULL;
    return h5_has_attribute(set->cases, "limits")
               ? h5_read_text(set->path, set->cases, "limits", text, err)
               : ASSAY_OK;
}

enum assay_status assay_set_check_content(const struct assay_set *set,
                                          struct assay_error *err)
{
    char hex[H5_HASH_CHARS + 1];
    enum assay_status st =
        h5_content_hash(set->path, set->id, "cases", hex, err);
    if (st == ASSAY_OK && strcmp(hex, set->hash) != 0)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: content hash is %s, the file says %.40s: names, "
                        "shapes or attributes have changed",
                        set->path, hex, set->hash);
    return st;
}

enum assay_status assay_set_check(const struct assay_set *set,
                                  void (*each)(void *, const char *,
                                               const char *),
                                  void *context, struct assay_error *err)
{
    enum assay_status st =
        h5_check_hashes(set->path, set->id, "cases", each, context, err);
    return st == ASSAY_OK ? assay_set_check_content(set, err) : st;
}
