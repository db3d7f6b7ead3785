/* SPDX-License-Identifier: MIT
 *
 * What all HDF5 files of ours share, golden sets and runs: a head that says
 * what the file is and how it came to be, and one group of members, each
 * hashed. A file is written to a temporary name and renamed when whole; a file
 * to be read is hostile until checked.
 */
#ifndef ASSAY_STORED_H
#define ASSAY_STORED_H

#include "assay/recipe.h"
#include "golden/h5.h"
#include "golden/temp_file.h"

enum stored_kind {
#define STORED_KIND(id, format, version, members, noun, member, verb) \
    STORED_##id,
#include "golden/stored_kind.def"
#undef STORED_KIND
    STORED_KINDS
};

/* What a file is, found out in a child; STORED_KINDS where it cannot be read or
 * says something else. */
enum stored_kind stored_kind_of(const char *path);

/* -- writing -- */
struct stored_writer {
    enum stored_kind kind;
    struct temp_file file;
    hid_t id, members;
    int64_t count; /* of members, for who adds them to count */
};

/* Opens `path`.<pid>.tmp and writes the head; `command`: verb, options and
 * file names, no folders. Nothing is left after a failure. */
enum assay_status stored_create(const char *path, enum stored_kind kind,
                                const char *command, struct stored_writer *w,
                                struct assay_error *err);
/* Finishes the file and renames it; ends the writer either way, and after a
 * failure nothing of it is left. */
enum assay_status stored_commit(struct stored_writer *w,
                                char hash[H5_HASH_CHARS + 1],
                                struct assay_error *err);
void stored_abandon(struct stored_writer *w);
/* A full disk shows here, with the member's name, not only at the end. */
enum assay_status stored_flush(struct stored_writer *w,
                               struct assay_error *err);

/* -- reading -- */
struct stored {
    enum stored_kind kind;
    char *path;
    hid_t id, members;
    char **names; /* in the order of their bytes */
    size_t count;
    char *hash;
};

/* libhdf5 1.10 does not survive every file made to harm it, so a child does
 * first what this process is about to do: try_all gets the path. ASSAY_FORMAT
 * where that child does not come to its end. */
enum assay_status stored_survives(const char *path, void (*try_all)(void *),
                                  struct assay_error *err);

/* Checks format, version and that every member is there; reads no data. After
 * a failure *out holds nothing. */
enum assay_status stored_open(const char *path, enum stored_kind kind,
                              struct stored *out, struct assay_error *err);
void stored_close(struct stored *s);

/* For the child of stored_survives: reads all that is asked of any file, first
 * what is asked first. What one part of it finds ends no other: the program may
 * go on there too. */
void stored_try(const struct stored *s);

/* Member i, or the group `below` in it; h5_close_group it. */
enum assay_status stored_open_member(const struct stored *s, size_t i,
                                     const char *below, hid_t *group,
                                     struct assay_error *err);
/* A status as it is; a failure gets the member's name in front. */
enum assay_status stored_in_member(const struct stored *s, size_t i,
                                   enum assay_status st,
                                   struct assay_error *err);

/* A provenance string, or NULL; free(). */
char *stored_provenance(const struct stored *s, const char *key);

/* The content hash alone, reading no data; and as assay_set_check. */
enum assay_status stored_check_content(const struct stored *s,
                                       struct assay_error *err);
enum assay_status stored_check(const struct stored *s,
                               void (*each)(void *context, const char *name,
                                            const char *wrong),
                               void *context, struct assay_error *err);

/* -- parts of members -- */
/* Sizes, mask, scale and line of a problem, as attributes. */
enum assay_status stored_write_problem(const char *path, hid_t group,
                                       const struct assay_problem *p,
                                       struct assay_error *err);
enum assay_status stored_read_problem(const char *path, hid_t group,
                                      struct assay_problem *out,
                                      struct assay_error *err);

/* The softmax form of a recipe, and its definition where it is the user's. The
 * name is for the caller to write and to read. */
enum assay_status stored_write_recipe(const char *path, hid_t group,
                                      const struct assay_recipe *recipe,
                                      struct assay_error *err);
enum assay_status stored_read_recipe(const char *path, hid_t group,
                                     const char *name,
                                     const struct assay_recipe **out,
                                     struct assay_error *err);

/* ASSAY_FORMAT unless an attribute of a group is that text. */
enum assay_status stored_expect_text(const char *path, hid_t group,
                                     const char *name, const char *want,
                                     struct assay_error *err);

/* Reads a whole dataset of that type and shape; assay_free what *out, a pointer
 * to it, gets. Memory is asked for only when storage stands behind it. */
enum assay_status stored_read_array(const char *path, hid_t in,
                                    const char *name, enum h5_type type,
                                    struct h5_shape shape, void *out,
                                    struct assay_error *err);

#endif
