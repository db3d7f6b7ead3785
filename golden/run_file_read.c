/* SPDX-License-Identifier: MIT
 *
 * Run records: reading. A file that lies is ASSAY_FORMAT.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/memory.h"
#include "golden/run_layout.h"
#include "golden/run_parts.h"
#include "golden/term.h"
#include "golden/text.h"

struct run_file {
    struct stored stored; /* its members are results */
    struct run_facts facts;
};

void run_result_free(struct run_result *r)
{
    const char *const texts[] = { r->case_name,    r->kernel,
                                  r->verdict,      r->reason,
                                  r->notes,        r->known.tracker,
                                  r->known.reason, r->known.date,
                                  r->known.verdict };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((void *)texts[i]);
    sketch_free(&r->sketch);
    explanation_free(r->why);
    *r = (struct run_result){ 0 };
}

void run_file_close(struct run_file *run)
{
    if (!run)
        return;
#define RUN_FACT(member, needed) free((void *)run->facts.member);
#include "golden/run_fact.def"
#undef RUN_FACT
    stored_close(&run->stored);
    free(run);
}

static enum assay_status check_repeat(const char *path, const char *text,
                                      struct assay_error *err)
{
    const size_t n = text ? strlen(text) : 0;
    /* no leading zero, and few enough digits for every long */
    if (!text ||
        (n > 0 && n < 10 && text[0] != '0' && strspn(text, "0123456789") == n))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT,
                      "%s: repeat is \"%.40s\", must be a whole number of 1 "
                      "and more",
                      path, text);
}

static enum assay_status read_facts(struct run_file *run,
                                    struct assay_error *err)
{
    const struct stored *s = &run->stored;
    const struct {
        const char *key;
        const char **text;
        bool needed;
    } all[] = {
#define RUN_FACT(member, needed) { #member, &run->facts.member, needed },
#include "golden/run_fact.def"
#undef RUN_FACT
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof all / sizeof *all; i++) {
        char *text = NULL;
        if (!all[i].needed && !h5_has_attribute(s->members, all[i].key))
            continue;
        st = h5_read_text(s->path, s->members, all[i].key, &text, err);
        if (st == ASSAY_OK)
            term_plain(text);
        *all[i].text = text;
    }
    return st == ASSAY_OK ? check_repeat(s->path, run->facts.repeat, err) : st;
}

static enum assay_status open_here(const char *path, struct run_file **out,
                                   struct assay_error *err)
{
    *out = NULL;
    struct run_file *run = calloc(1, sizeof *run);
    if (!run)
        return assay_fail(err, ASSAY_MEMORY, "no memory for a run record");
    enum assay_status st = stored_open(path, STORED_RUN, &run->stored, err);
    if (st != ASSAY_OK) {
        free(run);
        return st;
    }
    if ((st = read_facts(run, err)) != ASSAY_OK) {
        run_file_close(run);
        return st;
    }
    *out = run;
    return ASSAY_OK;
}

/* Everything that a verb may ask of a record. */
static void try_all(void *path)
{
    struct assay_error ignored;
    struct run_file *run;
    if (open_here(path, &run, &ignored) != ASSAY_OK)
        return;
    stored_try(&run->stored);
    for (size_t i = 0; i < run->stored.count; i++) {
        struct run_result r;
        run_file_read(run, i, &r, &ignored);
        run_result_free(&r);
    }
    run_file_close(run);
}

bool run_file_is(const char *path)
{
    return run_parts_is(path) || stored_kind_of(path) == STORED_RUN;
}

/* What a run that did not end has left becomes a record that nobody else
 * sees. */
static enum assay_status open_parts(const char *path, struct run_file **out,
                                    struct assay_error *err)
{
    const char *in = getenv("TMPDIR");
    char to[PATH_MAX];
    int n =
        snprintf(to, sizeof to, "%s/assay-run-XXXXXX", in && *in ? in : "/tmp");
    int fd = n > 0 && (size_t)n < sizeof to ? mkstemp(to) : -1;
    if (fd < 0)
        return assay_fail(err, ASSAY_FILE, "%s: cannot be made: %s", to,
                          strerror(errno));
    close(fd);
    enum assay_status st = run_parts_gather(path, to, err);
    if (st == ASSAY_OK)
        st = open_here(to, out, err);
    unlink(to);
    char *own = st == ASSAY_OK ? strdup(path) : NULL;
    if (own) {
        free((*out)->stored.path);
        (*out)->stored.path = own;
    }
    return st;
}

enum assay_status run_file_open_unchecked(const char *path,
                                          struct run_file **out,
                                          struct assay_error *err)
{
    *out = NULL;
    h5_init();
    if (run_parts_is(path))
        return open_parts(path, out, err);
    enum assay_status st = stored_survives(path, try_all, err);
    return st == ASSAY_OK ? open_here(path, out, err) : st;
}

enum assay_status run_file_open(const char *path, struct run_file **out,
                                struct assay_error *err)
{
    enum assay_status st = run_file_open_unchecked(path, out, err);
    if (st == ASSAY_OK &&
        (st = stored_check_content(&(*out)->stored, err)) != ASSAY_OK) {
        run_file_close(*out);
        *out = NULL;
    }
    return st;
}

size_t run_file_count(const struct run_file *run)
{
    return run->stored.count;
}

const char *run_file_path(const struct run_file *run)
{
    return run->stored.path;
}

const char *run_file_hash(const struct run_file *run)
{
    return run->stored.hash;
}

const struct run_facts *run_file_facts(const struct run_file *run)
{
    return &run->facts;
}

char *run_file_provenance(const struct run_file *run, const char *key)
{
    return stored_provenance(&run->stored, key);
}

enum assay_status run_file_check(const struct run_file *run,
                                 void (*each)(void *, const char *,
                                              const char *),
                                 void *context, struct assay_error *err)
{
    return stored_check(&run->stored, each, context, err);
}

/* ---- a result ---- */

static enum assay_status read_plain(const char *path, hid_t group,
                                    const char *key, const char **out,
                                    struct assay_error *err)
{
    char *text;
    enum assay_status st = h5_read_text(path, group, key, &text, err);
    if (st == ASSAY_OK)
        term_plain(text);
    *out = text;
    return st;
}

/* A case is found by its name, which therefore stays as it is. */
static enum assay_status read_case_name(const char *path, hid_t group,
                                        const char **out,
                                        struct assay_error *err)
{
    char *text;
    enum assay_status st = h5_read_text(path, group, "case", &text, err);
    *out = text;
    for (const char *c = text; st == ASSAY_OK && *c; c++)
        if (term_is_control(c))
            st = assay_fail(err, ASSAY_FORMAT,
                            "%s: the name of case %.80s has a control "
                            "character in it",
                            path, text);
    return st;
}

static enum assay_status read_input(const char *path, hid_t group,
                                    const char **out, struct assay_error *err)
{
    static const char *const inputs[] = { "raw", "packed", "saved" };
    char *text;
    if (!h5_has_attribute(group, "input"))
        return ASSAY_OK;
    enum assay_status st = h5_read_text(path, group, "input", &text, err);
    if (st != ASSAY_OK)
        return st;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (strcmp(text, inputs[i]) == 0)
            *out = inputs[i];
    if (!*out)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: input is \"%.40s\", must be raw, packed or saved",
                        path, text);
    free(text);
    return st;
}

static enum assay_status read_recipe(const char *path, hid_t group,
                                     const struct assay_recipe **out,
                                     struct assay_error *err)
{
    char *name;
    enum assay_status st = h5_read_text(path, group, "recipe", &name, err);
    if (st == ASSAY_OK)
        st = stored_read_recipe(path, group, name, out, err);
    free(name);
    return st;
}

/* As strict as a file of known failures is read. */
static enum assay_status check_known(const char *path,
                                     const struct run_known *k,
                                     struct assay_error *err)
{
    if (text_is_blank(k->tracker) || !text_is_link(k->tracker))
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: known_tracker \"%.60s\" is no link", path,
                          k->tracker);
    if (text_is_blank(k->reason))
        return assay_fail(err, ASSAY_FORMAT, "%s: known_reason is blank", path);
    if (!text_is_day(k->date))
        return assay_fail(err, ASSAY_FORMAT,
                          "%s: known_date \"%.40s\" is no day YYYY-MM-DD", path,
                          k->date);
    return ASSAY_OK;
}

/* All of a known failure, or nothing; the verdict may be left out. */
static enum assay_status read_known(const char *path, hid_t group,
                                    struct run_known *out,
                                    struct assay_error *err)
{
    const struct {
        const char *key, **text;
        bool needed;
    } all[] = {
        { "known_tracker", &out->tracker, true },
        { "known_reason", &out->reason, true },
        { "known_date", &out->date, true },
        { "known_verdict", &out->verdict, false },
    };
    const size_t n = sizeof all / sizeof *all;
    enum assay_status st = ASSAY_OK;
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= h5_has_attribute(group, all[i].key);
    for (size_t i = 0; any && st == ASSAY_OK && i < n; i++)
        if (all[i].needed || h5_has_attribute(group, all[i].key))
            st = read_plain(path, group, all[i].key, all[i].text, err);
    return any && st == ASSAY_OK ? check_known(path, out, err) : st;
}

/* A text of a sketch, which has room for `size` bytes. */
static enum assay_status read_short(const char *path, hid_t group,
                                    const char *key, char *out, size_t size,
                                    struct assay_error *err)
{
    const char *text;
    enum assay_status st = read_plain(path, group, key, &text, err);
    if (st != ASSAY_OK)
        return st;
    if (strlen(text) >= size)
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: %s has %zu characters, at most %zu are read", path,
                        key, strlen(text), size - 1);
    else
        memcpy(out, text, strlen(text) + 1);
    free((void *)text);
    return st;
}

/* An integer attribute from least to most. */
static enum assay_status read_range(const char *path, hid_t group,
                                    const char *key, int64_t least,
                                    int64_t most, int64_t *out,
                                    struct assay_error *err)
{
    enum assay_status st = h5_read_int(path, group, key, out, err);
    if (st == ASSAY_OK && (*out < least || *out > most))
        st =
            assay_fail(err, ASSAY_FORMAT,
                       "%s: %s is %" PRId64 ", must be %" PRId64 " to %" PRId64,
                       path, key, *out, least, most);
    return st;
}

/* A head is of a batch, a row of a head, a channel of a row. What is not
 * written is somewhere. */
static bool is_place(const struct assay_place *at, bool needed)
{
    return (at->b >= 0) == (at->h >= 0) && (at->i < 0 || at->h >= 0) &&
           (at->c < 0 || at->i >= 0) && (at->h >= 0 || !needed);
}

/* Checked whole: judging and pictures count with it. */
static enum assay_status read_place(const char *path, hid_t group,
                                    const struct sketch *s,
                                    struct assay_place *out,
                                    struct assay_error *err)
{
    const struct assay_problem *p = &s->problem;
    const struct {
        const char *key;
        int64_t sizes, *at;
    } all[] = {
        { "unwritten_batch", p->b, &out->b },
        { "unwritten_head", p->hq, &out->h },
        { "unwritten_row", p->nq, &out->i },
        { "unwritten_channel", p->dv, &out->c },
    };
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < sizeof all / sizeof *all; i++)
        st = read_range(path, group, all[i].key, -1, all[i].sizes - 1,
                        all[i].at, err);
    if (st == ASSAY_OK &&
        !is_place(out, s->o_unwritten > 0 || s->lse_unwritten > 0))
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: unwritten_batch, _head, _row and _channel are "
                        "%" PRId64 ", %" PRId64 ", %" PRId64 " and %" PRId64
                        ", no place for %" PRId64 " outputs and %" PRId64
                        " LSE not written",
                        path, out->b, out->h, out->i, out->c, s->o_unwritten,
                        s->lse_unwritten);
    return st;
}

static enum assay_status read_counts(const char *path, hid_t group,
                                     struct sketch *s, struct assay_error *err)
{
    enum assay_status st = ASSAY_OK;
#define RUN_ATTRIBUTE(member, needed, least, most)                      \
    if (st == ASSAY_OK && (needed || h5_has_attribute(group, #member))) \
        st = read_range(path, group, #member, least, most, &s->member, err);
#include "golden/run_count.def"
#undef RUN_ATTRIBUTE
    if (st == ASSAY_OK && h5_has_attribute(group, "lacks"))
        st = read_range(path, group, "lacks", 1, SKETCH_LACKS_ALL, &s->lacks,
                        err);
    if (st == ASSAY_OK &&
        (st = read_place(path, group, s, &s->unwritten_at, err)) == ASSAY_OK &&
        (st = read_short(path, group, "guard_where", s->guard_where,
                         sizeof s->guard_where, err)) == ASSAY_OK)
        st = read_short(path, group, "bits", s->bits, sizeof s->bits, err);
    if (st == ASSAY_OK &&
        (strlen(s->bits) != H5_HASH_CHARS ||
         strspn(s->bits, "0123456789abcdef") != H5_HASH_CHARS))
        st = assay_fail(err, ASSAY_FORMAT, "%s: bits \"%.40s\" is no hash",
                        path, s->bits);
    return st;
}

/* Whole, and from least to most; a NaN is not. */
static bool is_within(double x, int64_t least, int64_t most)
{
    return x >= (double)least && x <= (double)most && x == (double)(int64_t)x;
}

/* Counts and channels are used as such, so they must be ones of a row. */
static enum assay_status unpack(const char *path, const struct run_array *a,
                                const struct assay_problem *p,
                                const double *from, char *to,
                                struct assay_error *err)
{
    const struct run_columns *c = &a->columns;
    const int64_t n = run_extent_count(p, a->extent);
    for (int64_t i = 0; i < n; i++, to += c->bytes)
        for (size_t j = 0; j < c->count; j++, from++) {
            char *at = to + c->column[j].offset;
            const bool channel = c->column[j].kind == RUN_CHANNEL;
            const int64_t least = channel ? -1 : 0, most = p->dv - channel;
            if (c->column[j].kind == RUN_REAL) {
                memcpy(at, from, sizeof *from);
            } else if (is_within(*from, least, most)) {
                const int64_t integer = (int64_t)*from;
                memcpy(at, &integer, sizeof integer);
            } else {
                return assay_fail(err, ASSAY_FORMAT,
                                  "%s: %s: %s of row %" PRId64
                                  " is %g, must be a whole number from "
                                  "%" PRId64 " to %" PRId64,
                                  path, a->name, c->column[j].name, i, *from,
                                  least, most);
            }
        }
    return ASSAY_OK;
}

static enum assay_status read_columns(const char *path, hid_t group,
                                      const struct assay_problem *p,
                                      const struct run_array *a, void **out,
                                      struct assay_error *err)
{
    char want[256], *names = NULL;
    double *packed = NULL;
    enum assay_status st =
        h5_read_data_text(path, group, a->name, "columns", &names, err);
    run_columns_text(&a->columns, want, sizeof want);
    if (st == ASSAY_OK && (!names || strcmp(names, want) != 0))
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: %s has the columns \"%.100s\", must have \"%s\"",
                        path, a->name, names ? names : "", want);
    free(names);
    if (st == ASSAY_OK &&
        (st = stored_read_array(path, group, a->name, a->type,
                                run_array_shape(p, a), &packed, err)) ==
            ASSAY_OK &&
        (st = assay_alloc(a->name, run_extent_count(p, a->extent),
                          a->columns.bytes, out, err)) == ASSAY_OK)
        st = unpack(path, a, p, packed, *out, err);
    assay_free(packed);
    return st;
}

static enum assay_status read_arrays(const char *path, hid_t group,
                                     struct sketch *s, struct assay_error *err)
{
    const struct assay_problem *p = &s->problem;
    enum assay_status st = ASSAY_OK;
    for (size_t i = 0; st == ASSAY_OK && i < RUN_ARRAYS; i++) {
        const struct run_array *a = &run_arrays[i];
        void *data = NULL;
        st = a->columns.count
                 ? read_columns(path, group, p, a, &data, err)
                 : stored_read_array(path, group, a->name, a->type,
                                     run_array_shape(p, a), &data, err);
        memcpy((char *)s + a->offset, &data, sizeof data);
    }
    return st;
}

static bool has_payload(const struct sketch *s)
{
    bool any = false;
    for (int i = 0; i < ASSAY_INPUTS; i++)
        any |= s->payload[i].there;
    return any;
}

static enum assay_status read_head(const char *path, hid_t group,
                                   struct run_result *out,
                                   struct assay_error *err)
{
    int64_t ran = 0;
    enum assay_status st;
    if ((st = read_case_name(path, group, &out->case_name, err)) != ASSAY_OK ||
        (st = read_recipe(path, group, &out->recipe, err)) != ASSAY_OK ||
        (st = stored_read_problem(path, group, &out->problem, err)) !=
            ASSAY_OK ||
        (st = read_plain(path, group, "kernel", &out->kernel, err)) !=
            ASSAY_OK ||
        (st = read_input(path, group, &out->input, err)) != ASSAY_OK ||
        (st = read_plain(path, group, "verdict", &out->verdict, err)) !=
            ASSAY_OK ||
        (st = read_plain(path, group, "reason", &out->reason, err)) !=
            ASSAY_OK ||
        (st = read_plain(path, group, "notes", &out->notes, err)) != ASSAY_OK ||
        (st = read_known(path, group, &out->known, err)) != ASSAY_OK ||
        (st = h5_read_real(path, group, "seconds", &out->seconds, err)) !=
            ASSAY_OK ||
        (st = read_range(path, group, "ran", 0, 1, &ran, err)) != ASSAY_OK)
        return st;
    out->ran = ran != 0;
    out->sketch =
        (struct sketch){ .problem = out->problem, .recipe = out->recipe };
    if (!out->ran)
        return ASSAY_OK;
    st = read_counts(path, group, &out->sketch, err);
    if (st == ASSAY_OK)
        st = run_payload_read(path, group, &out->sketch, err);
    if (st == ASSAY_OK && out->sketch.no_o && !has_payload(&out->sketch))
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: no_o is 1 and no operand was delivered: there is "
                        "nothing that was judged",
                        path);
    return st == ASSAY_OK
               ? explanation_read(path, group, &out->problem, &out->why, err)
               : st;
}

static enum assay_status read_result(const struct run_file *run, size_t i,
                                     bool rows, struct run_result *out,
                                     struct assay_error *err)
{
    const struct stored *s = &run->stored;
    hid_t group;
    *out = (struct run_result){ 0 };
    enum assay_status st = stored_open_member(s, i, NULL, &group, err);
    if (st == ASSAY_OK)
        st = read_head(s->path, group, out, err);
    if (st == ASSAY_OK && rows && out->ran)
        st = read_arrays(s->path, group, &out->sketch, err);
    h5_close_group(&group);
    if (st != ASSAY_OK)
        run_result_free(out);
    return stored_in_member(s, i, st, err);
}

enum assay_status run_file_describe(const struct run_file *run, size_t i,
                                    struct run_result *out,
                                    struct assay_error *err)
{
    return read_result(run, i, false, out, err);
}

enum assay_status run_file_read(const struct run_file *run, size_t i,
                                struct run_result *out, struct assay_error *err)
{
    return read_result(run, i, true, out, err);
}
