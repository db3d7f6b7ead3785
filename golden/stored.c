/* SPDX-License-Identifier: MIT
 *
 * Files of ours: their head, written and checked.
 */
#include "golden/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "assay/blas.h"
#include "config.h"
#include "golden/child.h"
#include "golden/provenance.h"
#include "golden/term.h"

static const struct kind {
    const char *format;
    int version;
    const char *members, *noun, *member, *verb;
} kinds[] = {
#define STORED_KIND(id, format, version, members, noun, member, verb) \
    { format, version, members, noun, member, verb },
#include "golden/stored_kind.def"
#undef STORED_KIND
};

static enum stored_kind find_kind(const char *format)
{
    int k = 0;
    while (k < STORED_KINDS && strcmp(kinds[k].format, format) != 0)
        k++;
    return (enum stored_kind)k;
}

/* ---- writing ---- */

/* Kept open across a failure, an id would keep the file's blocks. */
void stored_abandon(struct stored_writer *w)
{
    h5_close_group(&w->members);
    if (w->id >= 0)
        H5Fclose(w->id);
    w->id = -1;
    temp_file_abandon(&w->file);
}

static enum assay_status write_provenance(const char *path, hid_t file,
                                          const char *command,
                                          struct assay_error *err)
{
    char date[32], cpu[128];
    hid_t group;
    provenance_date(date, sizeof date);
    provenance_cpu(cpu, sizeof cpu);
    const struct {
        const char *key, *value;
    } facts[] = {
        { "generator", PACKAGE_NAME },
        { "version", PACKAGE_VERSION },
        { "command", command },
        { "blas", assay_blas_name() },
        { "blas_core", assay_blas_core() },
        { "blas_threads", "1" },
        { "cpu", cpu },
        { "compiler", ASSAY_CC },
        { "flags", ASSAY_CFLAGS },
        { "date", date },
    };
    enum assay_status st =
        h5_create_group(path, file, "provenance", &group, err);
    for (size_t i = 0; st == ASSAY_OK && i < sizeof facts / sizeof *facts; i++)
        st = h5_write_text(path, group, facts[i].key, facts[i].value, err);
    h5_close_group(&group);
    return st;
}

enum assay_status stored_create(const char *path, enum stored_kind kind,
                                const char *command, struct stored_writer *w,
                                struct assay_error *err)
{
    const struct kind *k = &kinds[kind];
    *w = (struct stored_writer){ .kind = kind, .id = -1, .members = -1 };
    h5_init();
    enum assay_status st = temp_file_begin(path, &w->file, err);
    if (st != ASSAY_OK)
        return st;
    if ((st = h5_create_file(w->file.path, &w->id, err)) != ASSAY_OK ||
        (st = h5_write_text(path, w->id, "format", k->format, err)) !=
            ASSAY_OK ||
        (st = h5_write_int(path, w->id, "format_version", k->version, err)) !=
            ASSAY_OK ||
        (st = write_provenance(path, w->id, command, err)) != ASSAY_OK ||
        (st = h5_create_group(path, w->id, k->members, &w->members, err)) !=
            ASSAY_OK)
        stored_abandon(w);
    return st;
}

enum assay_status stored_flush(struct stored_writer *w, struct assay_error *err)
{
    return H5Fflush(w->id, H5F_SCOPE_LOCAL) < 0
               ? h5_fail(err, w->file.final, "cannot be written")
               : ASSAY_OK;
}

enum assay_status stored_commit(struct stored_writer *w,
                                char hash[H5_HASH_CHARS + 1],
                                struct assay_error *err)
{
    const char *path = w->file.final;
    char hex[H5_HASH_CHARS + 1];
    enum assay_status st;
    if ((st = h5_write_int(path, w->id, "count", w->count, err)) == ASSAY_OK &&
        (st = h5_content_hash(path, w->id, kinds[w->kind].members, hex, err)) ==
            ASSAY_OK)
        st = h5_write_text(path, w->id, "content_hash", hex, err);
    h5_close_group(&w->members);
    if (st == ASSAY_OK) {
        herr_t closed = H5Fclose(w->id);
        w->id = -1;
        if (closed < 0)
            st = h5_fail(err, path, "cannot be finished");
    }
    if (st != ASSAY_OK) {
        stored_abandon(w);
        return st;
    }
    if (hash)
        memcpy(hash, hex, sizeof hex);
    return temp_file_commit(&w->file, err);
}

/* ---- reading ---- */

void stored_close(struct stored *s)
{
    h5_free_names(s->names, s->count);
    h5_close_group(&s->members);
    if (s->id >= 0)
        H5Fclose(s->id);
    free(s->hash);
    free(s->path);
    *s = (struct stored){ .id = -1, .members = -1 };
}

static enum assay_status check_format(const struct stored *s,
                                      struct assay_error *err)
{
    const struct kind *want = &kinds[s->kind];
    char *format = NULL;
    enum assay_status st = h5_read_text(s->path, s->id, "format", &format, err);
    if (st != ASSAY_OK)
        return st;
    const enum stored_kind is = find_kind(format);
    if (is == STORED_KINDS)
        st =
            assay_fail(err, ASSAY_FORMAT, "%s: format is \"%.40s\", not \"%s\"",
                       s->path, format, want->format);
    else if (is != s->kind)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: is a %s as `assay %s` makes it, not a %s", s->path,
                        kinds[is].noun, kinds[is].verb, want->noun);
    free(format);
    return st;
}

static enum assay_status check_version(const struct stored *s,
                                       struct assay_error *err)
{
    const struct kind *k = &kinds[s->kind];
    int64_t version;
    enum assay_status st =
        h5_read_int(s->path, s->id, "format_version", &version, err);
    if (st == ASSAY_OK && version != k->version)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: has format version %" PRId64
                        ", this program reads version %d; make the %s anew "
                        "with `assay %s`",
                        s->path, version, k->version,
                        s->kind == STORED_SET ? "set" : k->noun, k->verb);
    return st;
}

static enum assay_status check_names(const struct stored *s,
                                     struct assay_error *err)
{
    for (size_t i = 0; i < s->count; i++)
        for (const char *c = s->names[i]; *c; c++)
            if (term_is_control(c))
                return assay_fail(err, ASSAY_FORMAT,
                                  "%s: the name of %s %.80s has a control "
                                  "character in it",
                                  s->path, kinds[s->kind].member, s->names[i]);
    return ASSAY_OK;
}

static enum assay_status list_members(struct stored *s, struct assay_error *err)
{
    const struct kind *k = &kinds[s->kind];
    int64_t count;
    enum assay_status st;
    if ((st = h5_read_int(s->path, s->id, "count", &count, err)) != ASSAY_OK ||
        (st = h5_read_text(s->path, s->id, "content_hash", &s->hash, err)) !=
            ASSAY_OK ||
        (st = h5_open_group(s->path, s->id, k->members, &s->members, err)) !=
            ASSAY_OK ||
        (st = h5_list(s->path, s->members, &s->names, &s->count, err)) !=
            ASSAY_OK)
        return st;
    if (strlen(s->hash) != H5_HASH_CHARS ||
        strspn(s->hash, "0123456789abcdef") != H5_HASH_CHARS)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: content_hash \"%.40s\" is no hash", s->path,
                          s->hash);
    if ((st = check_names(s, err)) == ASSAY_OK && (int64_t)s->count != count)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: says it has %" PRId64 " %s and has %zu", s->path,
                        count, k->members, s->count);
    return st;
}

enum assay_status stored_open(const char *path, enum stored_kind kind,
                              struct stored *out, struct assay_error *err)
{
    *out = (struct stored){
        .kind = kind, .path = strdup(path), .id = -1, .members = -1
    };
    enum assay_status st;
    if (!out->path)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a %s",
                          kinds[kind].noun);
    if ((st = h5_open_file(path, &out->id, err)) != ASSAY_OK ||
        (st = check_format(out, err)) != ASSAY_OK ||
        (st = check_version(out, err)) != ASSAY_OK ||
        (st = list_members(out, err)) != ASSAY_OK)
        stored_close(out);
    return st;
}

struct reading {
    void (*try_all)(void *);
    char *path;
    size_t most; /* bytes of memory */
};

static void read_first(void *context)
{
    const struct reading *r = context;
    child_limit_memory(r->most);
    r->try_all(r->path);
}

/* Near the limit a child came to its end because it got no more, and this
 * process would go on. */
static enum assay_status check_end(const struct reading *r,
                                   const struct child_outcome *end,
                                   struct assay_error *err)
{
    char how[256];
    if (end->end == CHILD_RETURNED && end->most < r->most / 4 * 3)
        return ASSAY_OK;
    if (end->end == CHILD_RETURNED)
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: is damaged: a child that read it took %zu MiB "
                          "of memory",
                          r->path, end->most >> 20);
    child_describe(end, how, sizeof how);
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: is damaged: a child that read it was %s", r->path,
                      how);
}

enum assay_status stored_survives(const char *path, void (*try_all)(void *),
                                  struct assay_error *err)
{
    struct child_outcome end;
    struct stat info;
    double patience = 600; /* and what reading at 10 MB/s would take */
    struct reading r = { try_all, strdup(path), (size_t)1 << 30 };
    if (stat(path, &info) == 0) {
        patience += (double)info.st_size * 1e-7;
        r.most += 64 * (size_t)info.st_size;
    }
    enum assay_status st =
        r.path ? child_run(read_first, &r, patience, &end, err)
               : assay_fail(err, ASSAY_MEMORY, "no memory for a name");
    if (st == ASSAY_OK)
        st = check_end(&r, &end, err);
    free(r.path);
    return st;
}

/* A hash reads the value of each attribute. */
void stored_try(const struct stored *s)
{
    const char *const groups[] = { kinds[s->kind].members, "provenance" };
    struct assay_error ignored;
    char hex[H5_HASH_CHARS + 1];
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        h5_content_hash(s->path, s->id, groups[i], hex, &ignored);
    h5_check_hashes(s->path, s->id, groups[0], NULL, NULL, &ignored);
}

struct asked {
    const char *path;
    enum stored_kind *kind; /* shared */
};

static void ask_kind(void *context)
{
    const struct asked *asked = context;
    struct assay_error ignored;
    char *format = NULL;
    hid_t id;
    if (h5_open_file(asked->path, &id, &ignored) == ASSAY_OK &&
        h5_read_text(asked->path, id, "format", &format, &ignored) == ASSAY_OK)
        *asked->kind = find_kind(format);
    free(format);
}

enum stored_kind stored_kind_of(const char *path)
{
    struct asked asked = { path, NULL };
    struct child_outcome end;
    enum stored_kind kind = STORED_KINDS;
    h5_init();
    if (child_share(sizeof *asked.kind, &asked.kind, NULL) != ASSAY_OK)
        return kind;
    *asked.kind = STORED_KINDS;
    if (child_run(ask_kind, &asked, 60, &end, NULL) == ASSAY_OK &&
        end.end == CHILD_RETURNED && *asked.kind < STORED_KINDS)
        kind = *asked.kind;
    child_unshare(asked.kind, sizeof *asked.kind);
    return kind;
}

enum assay_status stored_open_member(const struct stored *s, size_t i,
                                     const char *below, hid_t *group,
                                     struct assay_error *err)
{
    hid_t top;
    enum assay_status st =
        h5_open_group(s->path, s->members, s->names[i], &top, err);
    if (st != ASSAY_OK || !below) {
        *group = top;
        return st;
    }
    st = h5_open_group(s->path, top, below, group, err);
    h5_close_group(&top);
    return st;
}

enum assay_status stored_in_member(const struct stored *s, size_t i,
                                   enum assay_status st,
                                   struct assay_error *err)
{
    return st == ASSAY_OK ? st
                          : assay_fail_in(err, st, "%s %s",
                                          kinds[s->kind].member, s->names[i]);
}

char *stored_provenance(const struct stored *s, const char *key)
{
    struct assay_error ignored;
    char *text = NULL;
    hid_t group;
    if (h5_open_group(s->path, s->id, "provenance", &group, &ignored) ==
        ASSAY_OK)
        h5_read_text(s->path, group, key, &text, &ignored);
    h5_close_group(&group);
    return text;
}

enum assay_status stored_check_content(const struct stored *s,
                                       struct assay_error *err)
{
    char hex[H5_HASH_CHARS + 1];
    enum assay_status st =
        h5_content_hash(s->path, s->id, kinds[s->kind].members, hex, err);
    if (st == ASSAY_OK && strcmp(hex, s->hash) != 0)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: content hash is %s, the file says %.40s: names, "
                        "shapes or attributes have changed",
                        s->path, hex, s->hash);
    return st;
}

enum assay_status stored_check(const struct stored *s,
                               void (*each)(void *, const char *, const char *),
                               void *context, struct assay_error *err)
{
    enum assay_status st = h5_check_hashes(
        s->path, s->id, kinds[s->kind].members, each, context, err);
    return st == ASSAY_OK ? stored_check_content(s, err) : st;
}
