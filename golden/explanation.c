/* SPDX-License-Identifier: MIT */
#include "golden/run_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/term.h"

static const char group_name[] = "explanation", mark[] = "explained";

enum kind { TEXT, COUNT, REAL };
static const struct member {
    const char *name;
    enum kind kind;
    size_t offset, bytes;
} members[] = {
#define MEMBER(kind, member)                               \
    { #member, kind, offsetof(struct explanation, member), \
      sizeof((struct explanation *)0)->member },
#define EXPLANATION_TEXT(member, bytes) MEMBER(TEXT, member)
#define EXPLANATION_COUNT(member) MEMBER(COUNT, member)
#define EXPLANATION_REAL(member) MEMBER(REAL, member)
#include "golden/explanation.def"
};
enum { MEMBERS = sizeof members / sizeof *members };

static const struct member sizes[] = {
#define MAP_SIZE(member) MEMBER(COUNT, map_##member)
#include "golden/explanation_map.def"
#undef MAP_SIZE
    MEMBER(COUNT, map_rows) MEMBER(COUNT, map_columns)
};
enum { SIZES = sizeof sizes / sizeof *sizes };

enum assay_status explanation_new(struct explanation **out,
                                  struct assay_error *err)
{
    struct explanation *e = calloc(1, sizeof *e);
    *out = e;
    if (!e)
        return assay_fail(err, ASSAY_MEMORY, "no memory for an explanation");
#define EXPLANATION_TEXT(member, bytes)
#define EXPLANATION_COUNT(member) e->member = -1;
#define EXPLANATION_REAL(member) e->member = NAN;
#include "golden/explanation.def"
    return ASSAY_OK;
}

void explanation_free(struct explanation *e)
{
    if (e)
        assay_free(e->map);
    free(e);
}

/* ---- writing ---- */

static enum assay_status write_member(const char *path, hid_t group,
                                      const struct member *m,
                                      const struct explanation *e,
                                      struct assay_error *err)
{
    const char *at = (const char *)e + m->offset;
    int64_t count;
    double real;
    switch (m->kind) {
    case TEXT: return h5_write_text(path, group, m->name, at, err);
    case COUNT:
        memcpy(&count, at, sizeof count);
        return h5_write_int(path, group, m->name, count, err);
    default:
        memcpy(&real, at, sizeof real);
        return h5_write_real(path, group, m->name, real, err);
    }
}

static struct h5_shape map_shape(const struct explanation *e)
{
    return (struct h5_shape){ 2, { e->map_rows, e->map_columns } };
}

enum assay_status explanation_write(const char *path, hid_t in,
                                    const struct explanation *e,
                                    struct assay_error *err)
{
    hid_t group = -1;
    enum assay_status st = h5_write_int(path, in, mark, e != NULL, err);
    if (st != ASSAY_OK || !e ||
        (st = h5_create_group(path, in, group_name, &group, err)) != ASSAY_OK)
        return st;
    for (int i = 0; st == ASSAY_OK && i < MEMBERS; i++)
        st = write_member(path, group, &members[i], e, err);
    for (int i = 0; st == ASSAY_OK && i < SIZES; i++)
        st = write_member(path, group, &sizes[i], e, err);
    const struct h5_shape shape = map_shape(e);
    if (st == ASSAY_OK && e->map)
        st = h5_write_data(path, group, "map", H5_F64, &shape, NULL, e->map,
                           err);
    h5_close_group(&group);
    return st;
}

/* ---- reading ---- */

static enum assay_status read_text(const char *path, hid_t group,
                                   const struct member *m, char *to,
                                   struct assay_error *err)
{
    char *text;
    enum assay_status st = h5_read_text(path, group, m->name, &text, err);
    if (st != ASSAY_OK)
        return st;
    term_plain(text);
    if (strlen(text) >= m->bytes)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: %s has %zu characters, at most %zu are read", path,
                        m->name, strlen(text), m->bytes - 1);
    else
        memcpy(to, text, strlen(text) + 1);
    free(text);
    return st;
}

static enum assay_status read_member(const char *path, hid_t group,
                                     const struct member *m,
                                     struct explanation *e,
                                     struct assay_error *err)
{
    char *at = (char *)e + m->offset;
    int64_t count = 0;
    double real = 0;
    enum assay_status st;
    switch (m->kind) {
    case TEXT: return read_text(path, group, m, at, err);
    case COUNT:
        st = h5_read_int(path, group, m->name, &count, err);
        memcpy(at, &count, sizeof count);
        return st;
    default:
        st = h5_read_real(path, group, m->name, &real, err);
        memcpy(at, &real, sizeof real);
        return st;
    }
}

static bool covers(int64_t cells, int64_t step, int64_t count)
{
    return cells >= 1 && step >= 1 && step <= count && count >= 1 &&
           cells == (count - 1) / step + 1;
}

/* Whoever prints a map goes by its sizes. */
static enum assay_status check_map(const char *path,
                                   const struct assay_problem *p,
                                   const struct explanation *e,
                                   struct assay_error *err)
{
    const bool by_rows = e->map_kind == 0,
               fits = (by_rows || e->map_kind == 1) &&
                      e->map_row_count == (by_rows ? p->b * p->hq : p->nq) &&
                      e->map_column_count == (by_rows ? p->nq : p->dv) &&
                      e->map_rows <= EXPLANATION_MAP_ROWS &&
                      e->map_columns <= EXPLANATION_MAP_COLUMNS &&
                      covers(e->map_rows, e->map_row_step, e->map_row_count) &&
                      covers(e->map_columns, e->map_column_step,
                             e->map_column_count);
    return fits ? ASSAY_OK
                : assay_fail(err, ASSAY_FORMAT,
                             "%s: a map of %lld by %lld cells is none of this "
                             "problem",
                             path, (long long)e->map_rows,
                             (long long)e->map_columns);
}

static enum assay_status read_all(const char *path, hid_t group,
                                  const struct assay_problem *p,
                                  struct explanation *e,
                                  struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (int i = 0; st == ASSAY_OK && i < MEMBERS; i++)
        st = read_member(path, group, &members[i], e, err);
    for (int i = 0; st == ASSAY_OK && i < SIZES; i++)
        st = read_member(path, group, &sizes[i], e, err);
    if (st == ASSAY_OK && e->map_rows != 0 &&
        (st = check_map(path, p, e, err)) == ASSAY_OK)
        st = stored_read_array(path, group, "map", H5_F64, map_shape(e),
                               &e->map, err);
    return st;
}

enum assay_status explanation_read(const char *path, hid_t in,
                                   const struct assay_problem *p,
                                   struct explanation **out,
                                   struct assay_error *err)
{
    hid_t group = -1;
    int64_t is_there = 0;
    enum assay_status st = ASSAY_OK;
    *out = NULL;
    if (h5_has_attribute(in, mark)) /* records of old have none */
        st = h5_read_int(path, in, mark, &is_there, err);
    if (st == ASSAY_OK && is_there != 0 && is_there != 1)
        st = assay_fail(err, ASSAY_FORMAT, "%s: %s is %lld, must be 0 or 1",
                        path, mark, (long long)is_there);
    if (st != ASSAY_OK || is_there == 0)
        return st;
    if ((st = h5_open_group(path, in, group_name, &group, err)) == ASSAY_OK &&
        (st = explanation_new(out, err)) == ASSAY_OK)
        st = read_all(path, group, p, *out, err);
    h5_close_group(&group);
    if (st != ASSAY_OK) {
        explanation_free(*out);
        *out = NULL;
    }
    return st;
}
