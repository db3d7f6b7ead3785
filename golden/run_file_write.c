/* SPDX-License-Identifier: MIT
 *
 * Run records: writing, one result after another.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/provenance.h"
#include "golden/run_layout.h"

struct run_file_writer {
    struct stored_writer stored;
};

void run_file_abandon(struct run_file_writer *w)
{
    if (!w)
        return;
    stored_abandon(&w->stored);
    free(w);
}

static enum assay_status write_host(const struct stored_writer *w,
                                    struct assay_error *err)
{
    char host[128];
    hid_t group;
    provenance_host(host, sizeof host);
    enum assay_status st =
        h5_open_group(w->file.final, w->id, "provenance", &group, err);
    if (st == ASSAY_OK)
        st = h5_write_text(w->file.final, group, "host", host, err);
    h5_close_group(&group);
    return st;
}

static enum assay_status write_facts(const struct stored_writer *w,
                                     const struct run_facts *facts,
                                     struct assay_error *err)
{
    const struct {
        const char *key, *text;
    } all[] = {
#define RUN_FACT(member, needed) { #member, facts->member },
#include "golden/run_fact.def"
#undef RUN_FACT
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof all / sizeof *all; i++)
        if (all[i].text)
            st = h5_write_text(w->file.final, w->members, all[i].key,
                               all[i].text, err);
    return st;
}

enum assay_status run_file_create(const char *path, const char *command,
                                  const struct run_facts *facts,
                                  struct run_file_writer **out,
                                  struct assay_error *err)
{
    *out = NULL;
    struct run_file_writer *w = calloc(1, sizeof *w);
    if (!w)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a run record");
    enum assay_status st =
        stored_create(path, STORED_RUN, command, &w->stored, err);
    if (st != ASSAY_OK) {
        free(w);
        return st;
    }
    if ((st = write_host(&w->stored, err)) != ASSAY_OK ||
        (st = write_facts(&w->stored, facts, err)) != ASSAY_OK) {
        run_file_abandon(w);
        return st;
    }
    *out = w;
    return ASSAY_OK;
}

/* Members of structs, side by side as binary64. */
static void pack(const struct run_columns *c, int64_t n, const char *from,
                 double *to)
{
    for (int64_t i = 0; i < n; i++, from += c->bytes)
        for (size_t j = 0; j < c->count; j++, to++) {
            int64_t integer;
            const char *at = from + c->column[j].offset;
            if (c->column[j].kind == RUN_REAL) {
                memcpy(to, at, sizeof *to);
            } else {
                memcpy(&integer, at, sizeof integer);
                *to = (double)integer;
            }
        }
}

static enum assay_status write_columns(const char *path, hid_t group,
                                       const struct assay_problem *p,
                                       const struct run_array *a,
                                       const void *data,
                                       struct assay_error *err)
{
    const int64_t n = run_extent_count(p, a->extent);
    const struct h5_shape shape = run_array_shape(p, a);
    char names[256];
    double *packed;
    enum assay_status st = assay_alloc(a->name, h5_shape_count(&shape),
                                       sizeof *packed, &packed, err);
    if (st != ASSAY_OK)
        return st;
    pack(&a->columns, n, data, packed);
    run_columns_text(&a->columns, names, sizeof names);
    st =
        h5_write_data(path, group, a->name, a->type, &shape, NULL, packed, err);
    if (st == ASSAY_OK)
        st = h5_write_data_text(path, group, a->name, "columns", names, err);
    assay_free(packed);
    return st;
}

static enum assay_status write_arrays(const char *path, hid_t group,
                                      const struct sketch *s,
                                      struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < RUN_ARRAYS; i++) {
        const struct run_array *a = &run_arrays[i];
        const struct h5_shape shape = run_array_shape(&s->problem, a);
        const void *data;
        memcpy(&data, (const char *)s + a->offset, sizeof data);
        st = a->columns.count
                 ? write_columns(path, group, &s->problem, a, data, err)
                 : h5_write_data(path, group, a->name, a->type, &shape, NULL,
                                 data, err);
    }
    return st;
}

static enum assay_status write_place(const char *path, hid_t group,
                                     const struct assay_place *at,
                                     struct assay_error *err)
{
    enum assay_status st;
    if ((st = h5_write_int(path, group, "unwritten_batch", at->b, err)) !=
            ASSAY_OK ||
        (st = h5_write_int(path, group, "unwritten_head", at->h, err)) !=
            ASSAY_OK ||
        (st = h5_write_int(path, group, "unwritten_row", at->i, err)) !=
            ASSAY_OK)
        return st;
    return h5_write_int(path, group, "unwritten_channel", at->c, err);
}

static enum assay_status write_sketch(const char *path, hid_t group,
                                      const struct sketch *s,
                                      struct assay_error *err)
{
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {
#define RUN_ATTRIBUTE(member, least, most) { #member, s->member },
#include "golden/run_count.def"
#undef RUN_ATTRIBUTE
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof counts / sizeof *counts;
         i++)
        st = h5_write_int(path, group, counts[i].key, counts[i].value, err);
    if (st == ASSAY_OK && s->lacks)
        st = h5_write_int(path, group, "lacks", s->lacks, err);
    if (st == ASSAY_OK &&
        (st = write_place(path, group, &s->unwritten_at, err)) == ASSAY_OK &&
        (st = h5_write_text(path, group, "guard_where", s->guard_where, err)) ==
            ASSAY_OK &&
        (st = h5_write_text(path, group, "bits", s->bits, err)) == ASSAY_OK)
        st = write_arrays(path, group, s, err);
    return st;
}

static enum assay_status write_texts(const char *path, hid_t group,
                                     const struct run_result *r,
                                     struct assay_error *err)
{
    const struct {
        const char *key, *text;
    } texts[] = {
        { "case", r->case_name },
        { "recipe", r->recipe->name },
        { "kernel", r->kernel },
        { "input", r->input },
        { "verdict", r->verdict },
        { "reason", r->reason },
        { "notes", r->notes },
        { "known_tracker", r->known.tracker },
        { "known_reason", r->known.reason },
        { "known_date", r->known.date },
        { "known_verdict", r->known.verdict },
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text)
            st = h5_write_text(path, group, texts[i].key, texts[i].text, err);
    return st;
}

enum assay_status run_file_add(struct run_file_writer *w,
                               const struct run_result *r,
                               struct assay_error *err)
{
    const char *path = w->stored.file.final;
    char name[24];
    hid_t group = -1;
    /* as many digits as keep the order of bytes that of results */
    snprintf(name, sizeof name, "%08" PRId64, w->stored.count);
    enum assay_status st =
        h5_create_group(path, w->stored.members, name, &group, err);
    if (st == ASSAY_OK && (st = write_texts(path, group, r, err)) == ASSAY_OK &&
        (st = stored_write_recipe(path, group, r->recipe, err)) == ASSAY_OK &&
        (st = stored_write_problem(path, group, &r->problem, err)) ==
            ASSAY_OK &&
        (st = h5_write_real(path, group, "seconds", r->seconds, err)) ==
            ASSAY_OK &&
        (st = h5_write_int(path, group, "ran", r->ran, err)) == ASSAY_OK &&
        r->ran &&
        (st = write_sketch(path, group, &r->sketch, err)) == ASSAY_OK &&
        (st = run_payload_write(path, group, &r->sketch, err)) == ASSAY_OK)
        st = explanation_write(path, group, r->why, err);
    if (st == ASSAY_OK)
        st = stored_flush(&w->stored, err);
    h5_close_group(&group);
    w->stored.count++;
    return st == ASSAY_OK ? st
                          : assay_fail_in(err, st, "case %s", r->case_name);
}

enum assay_status run_file_tell_module(struct run_file_writer *w,
                                       const char *build, const char *device,
                                       struct assay_error *err)
{
    const char *path = w->stored.file.final;
    enum assay_status st =
        h5_replace_text(path, w->stored.members, "module_build", build, err);
    return st == ASSAY_OK ? h5_replace_text(path, w->stored.members,
                                            "module_device", device, err)
                          : st;
}

enum assay_status run_file_commit(struct run_file_writer *w,
                                  struct assay_error *err)
{
    enum assay_status st = stored_commit(&w->stored, NULL, err);
    free(w);
    return st;
}
