/* SPDX-License-Identifier: MIT
 *
 * Walks over everything below a group: the content hash, and the check of
 * every dataset's own hash.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "assay/memory.h"
#include "golden/h5.h"

/* More levels than any golden set has; stops a cycle of links. */
enum { MAX_DEPTH = 16 };

struct walk {
    const char *path;
    hid_t root; /* where full names begin */
    enum assay_status (*dataset)(struct walk *, const char *full,
                                 struct assay_error *);
    enum assay_status (*group)(struct walk *, hid_t group, const char *full,
                               struct assay_error *);
    XXH3_state_t *state;
    void (*each)(void *, const char *, const char *);
    void *context;
    enum assay_status first;
    struct assay_error *err;
};

static enum assay_status walk_group(struct walk *w, hid_t group,
                                    const char *full, int depth,
                                    struct assay_error *err);

static enum assay_status walk_link(struct walk *w, hid_t in, const char *name,
                                   const char *full, int depth,
                                   struct assay_error *err)
{
    H5L_info_t link;
    H5O_info_t object;
    if (depth > MAX_DEPTH)
        return assay_fail(err, ASSAY_FORMAT, "%s: %s: groups nest too deep",
                          w->path, full);
    if (H5Lget_info(in, name, &link, H5P_DEFAULT) < 0 ||
        link.type != H5L_TYPE_HARD ||
        H5Oget_info_by_name(in, name, &object, H5P_DEFAULT) < 0)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s is a link to elsewhere, not data", w->path,
                          full);
    if (object.rc != 1) /* few objects could be made to look like very many */
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s has %u names in the file, must have one",
                          w->path, full, object.rc);
    if (object.type == H5O_TYPE_DATASET)
        return w->dataset(w, full, err);
    if (object.type != H5O_TYPE_GROUP)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: %s is neither a group nor a dataset", w->path,
                          full);
    hid_t group;
    enum assay_status st = h5_open_group(w->path, in, name, &group, err);
    if (st == ASSAY_OK)
        st = walk_group(w, group, full, depth, err);
    h5_close_group(&group);
    return st;
}

static enum assay_status walk_group(struct walk *w, hid_t group,
                                    const char *full, int depth,
                                    struct assay_error *err)
{
    char **names = NULL;
    size_t count = 0;
    enum assay_status st = w->group ? w->group(w, group, full, err) : ASSAY_OK;
    if (st == ASSAY_OK)
        st = h5_list(w->path, group, &names, &count, err);
    for (size_t i = 0; st == ASSAY_OK && i < count; i++) {
        char *below = NULL;
        if (asprintf(&below, "%s%s%s", full, *full ? "/" : "", names[i]) < 0)
            st = assay_fail(err, ASSAY_MEMORY, "no memory for a name");
        else
            st = walk_link(w, group, names[i], below, depth + 1, err);
        free(below);
    }
    h5_free_names(names, count);
    return st;
}

static void feed(struct walk *w, const char *text)
{
    /* the terminator is hashed too, so that texts cannot run together */
    XXH3_128bits_update(w->state, text, strlen(text) + 1);
}

/* The value of an attribute as text: strings as they are, integers in
 * decimal, floats in hexadecimal. */
static enum assay_status attribute_text(struct walk *w, hid_t at,
                                        const char *name, char **text,
                                        struct assay_error *err)
{
    struct assay_error ignored;
    int64_t integer;
    double real;
    int n = 0;
    if (h5_read_text(w->path, at, name, text, &ignored) == ASSAY_OK)
        return ASSAY_OK;
    if (h5_read_int(w->path, at, name, &integer, &ignored) == ASSAY_OK)
        n = asprintf(text, "%" PRId64, integer);
    else if (h5_read_real(w->path, at, name, &real, &ignored) == ASSAY_OK)
        n = asprintf(text, "%a", real);
    else
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: attribute %s is no string, integer or float",
                          w->path, name);
    return n < 0 ? assay_fail(err, ASSAY_MEMORY, "no memory for an attribute")
                 : ASSAY_OK;
}

static enum assay_status hash_attributes(struct walk *w, const char *full,
                                         hid_t at, struct assay_error *err)
{
    H5O_info_t info;
    enum assay_status st = ASSAY_OK;
    if (H5Oget_info(at, &info) < 0)
        return h5_fail(err, w->path, "cannot list attributes");
    for (hsize_t i = 0; st == ASSAY_OK && i < info.num_attrs; i++) {
        char name[256], *text = NULL;
        if (H5Aget_name_by_idx(at, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                               sizeof name, H5P_DEFAULT) < 0)
            return h5_fail(err, w->path, "cannot name an attribute");
        st = attribute_text(w, at, name, &text, err);
        if (st == ASSAY_OK) {
            feed(w, name);
            feed(w, text);
        }
        free(text);
    }
    return st == ASSAY_OK ? st : assay_fail_in(err, st, "%s", full);
}

static enum assay_status hash_group(struct walk *w, hid_t group,
                                    const char *full, struct assay_error *err)
{
    feed(w, "group");
    feed(w, full);
    return hash_attributes(w, full, group, err);
}

static enum assay_status hash_dataset(struct walk *w, const char *full,
                                      struct assay_error *err)
{
    enum h5_type type;
    struct h5_shape shape;
    char number[32];
    enum assay_status st =
        h5_data_info(w->path, w->root, full, &type, &shape, err);
    if (st != ASSAY_OK)
        return st;
    feed(w, "dataset");
    feed(w, full);
    feed(w, h5_type_name(type));
    for (int i = 0; i < shape.rank; i++) {
        snprintf(number, sizeof number, "%" PRIuHSIZE, shape.dims[i]);
        feed(w, number);
    }
    hid_t set = H5Dopen2(w->root, full, H5P_DEFAULT);
    if (set < 0)
        return h5_fail(err, w->path, full);
    st = hash_attributes(w, full, set, err);
    H5Dclose(set);
    return st;
}

enum assay_status h5_content_hash(const char *path, hid_t in, const char *group,
                                  char hex[H5_HASH_CHARS + 1],
                                  struct assay_error *err)
{
    struct walk w = { .path = path,
                      .dataset = hash_dataset,
                      .group = hash_group,
                      .state = XXH3_createState() };
    hid_t id = -1;
    enum assay_status st = ASSAY_OK;
    if (!w.state)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a hash");
    XXH3_128bits_reset(w.state);
    st = h5_open_group(path, in, group, &id, err);
    w.root = id;
    if (st == ASSAY_OK)
        st = walk_group(&w, id, "", 0, err);
    if (st == ASSAY_OK) {
        XXH128_hash_t hash = XXH3_128bits_digest(w.state);
        snprintf(hex, H5_HASH_CHARS + 1, "%016" PRIx64 "%016" PRIx64,
                 (uint64_t)hash.high64, (uint64_t)hash.low64);
    }
    h5_close_group(&id);
    XXH3_freeState(w.state);
    return st;
}

/* A bad dataset is told and remembered; the walk goes on. */
static enum assay_status check_dataset(struct walk *w, const char *full,
                                       struct assay_error *err)
{
    struct assay_error mine;
    enum h5_type type;
    struct h5_shape shape;
    void *data = NULL;
    (void)err;
    enum assay_status st =
        h5_data_info(w->path, w->root, full, &type, &shape, &mine);
    if (st == ASSAY_OK)
        st = assay_alloc(full, h5_shape_count(&shape), h5_type_bytes(type),
                         &data, &mine);
    if (st == ASSAY_OK)
        st = h5_read_data(w->path, w->root, full, type, &shape, data, &mine);
    assay_free(data);
    if (w->each)
        w->each(w->context, full, st == ASSAY_OK ? NULL : mine.text);
    if (st != ASSAY_OK && w->first == ASSAY_OK) {
        w->first = st;
        if (w->err)
            *w->err = mine;
    }
    return ASSAY_OK;
}

enum assay_status h5_check_hashes(const char *path, hid_t in, const char *group,
                                  void (*each)(void *, const char *,
                                               const char *),
                                  void *context, struct assay_error *err)
{
    struct walk w = { .path = path,
                      .dataset = check_dataset,
                      .each = each,
                      .context = context,
                      .err = err };
    hid_t id = -1;
    enum assay_status st = h5_open_group(path, in, group, &id, err);
    w.root = id;
    if (st == ASSAY_OK)
        st = walk_group(&w, id, "", 0, err);
    h5_close_group(&id);
    return st != ASSAY_OK ? st : w.first;
}
