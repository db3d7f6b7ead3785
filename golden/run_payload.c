/* SPDX-License-Identifier: MIT
 *
 * What a candidate's payloads differed in, in a run record: the group
 * "payloads" of a result, a table [kind, column] for each operand that was
 * delivered.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assay/memory.h"
#include "golden/run_json.h"
#include "golden/run_layout.h"
#include "golden/term.h"

static const char group_name[] = "payloads";

/* -4 is STEPS_MOST steps down or more, and so on. */
_Static_assert(STEPS_MOST == 4, "names of columns in run_steps.def");

static const struct {
    const char *name;
    size_t offset; /* of an int64_t */
} columns[] = {
#define RUN_COLUMN(name, member) { name, offsetof(struct byte_steps, member) },
#include "golden/run_steps.def"
#undef RUN_COLUMN
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const struct h5_shape shape = { 2, { BYTE_KINDS, COLUMNS } };

/* A binary64 holds every whole number up to here. */
#define WHOLE_MOST 0x1p53

static void column_names(char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < COLUMNS; i++)
        text_append(text, size, "%s%s", i ? " " : "", columns[i].name);
}

static int64_t member_of(const struct byte_steps *b, int column)
{
    int64_t out;
    memcpy(&out, (const char *)b + columns[column].offset, sizeof out);
    return out;
}

/* ---- writing ---- */

static enum assay_status write_operand(const char *path, hid_t group,
                                       const char *name,
                                       const struct scale_bytes *b,
                                       struct assay_error *err)
{
    double packed[BYTE_KINDS * COLUMNS];
    char names[256], key[24] = "";
    for (int k = 0; k < BYTE_KINDS; k++)
        for (int i = 0; i < COLUMNS; i++)
            packed[k * COLUMNS + i] = (double)member_of(&b->steps[k], i);
    column_names(names, sizeof names);
    enum assay_status st =
        h5_write_data(path, group, name, H5_F64, &shape, NULL, packed, err);
    if (st == ASSAY_OK)
        st = h5_write_data_text(path, group, name, "columns", names, err);
    text_append(key, sizeof key, "%s_looks_like", name);
    if (st == ASSAY_OK)
        st = h5_write_text(path, group, key, b->looks_like, err);
    key[0] = '\0';
    text_append(key, sizeof key, "%s_also", name);
    return st == ASSAY_OK ? h5_write_int(path, group, key, b->also, err) : st;
}

enum assay_status run_payload_write(const char *path, hid_t in,
                                    const struct sketch *s,
                                    struct assay_error *err)
{
    char there[ASSAY_INPUTS + 1] = "";
    hid_t group = -1;
    for (int i = 0; i < ASSAY_INPUTS; i++)
        if (s->payload[i].there)
            text_append(there, sizeof there, "%s",
                        assay_input_name((enum assay_input)i));
    enum assay_status st = h5_write_text(path, in, group_name, there, err);
    if (st != ASSAY_OK || !there[0])
        return st;
    st = h5_create_group(path, in, group_name, &group, err);
    for (int i = 0; st == ASSAY_OK && i < ASSAY_INPUTS; i++)
        if (s->payload[i].there)
            st = write_operand(path, group,
                               assay_input_name((enum assay_input)i),
                               &s->payload[i], err);
    h5_close_group(&group);
    return st;
}

/* ---- reading ---- */

/* Whether counts are ones that a comparison gives: all that differ are in one
 * place each, and the first of them is there. `may_lack`: or none at all. */
static bool holds(const struct byte_steps *b, int64_t count, bool may_lack,
                  const struct assay_format *format)
{
    const int64_t words = INT64_C(1) << format->bits;
    int64_t sum = 0;
    const int64_t least = b->differ ? 0 : -1;
    for (int i = 0; i < COLUMNS; i++)
        if (member_of(b, i) <
            (columns[i].offset == offsetof(struct byte_steps, first) ? least
                                                                     : 0))
            return false;
    if (may_lack && b->count == 0)
        count = 0;
    if (b->count != count || b->differ > count || b->left > count ||
        b->signs > count || b->classes > count)
        return false;
    for (int i = 0; i < STEP_BINS; i++) {
        if (b->bins[i] > count)
            return false;
        sum += b->bins[i];
    }
    return sum + b->signs + b->classes == b->differ &&
           b->bins[STEPS_MOST] == 0 && b->first < count &&
           b->first_set < words && b->first_candidate < words &&
           (b->differ ? b->first_set != b->first_candidate
                      : b->first == -1 && b->first_set == 0 &&
                            b->first_candidate == 0);
}

static enum assay_status unpack(const char *path, const char *name,
                                const struct sketch *s, enum assay_input input,
                                const double *from, struct scale_bytes *to,
                                struct assay_error *err)
{
    const struct assay_quantizer *how =
        assay_recipe_quantizer(s->recipe, input);
    const struct assay_tensor t =
        assay_recipe_tensor(s->recipe, &s->problem, input);
    enum assay_status st = assay_tensor_check(&t, err);
    for (int k = 0; st == ASSAY_OK && k < BYTE_KINDS; k++) {
        const enum byte_kind kind = (enum byte_kind)k;
        struct byte_steps *b = &to->steps[k];
        for (int i = 0; i < COLUMNS; i++) {
            const double x = from[k * COLUMNS + i];
            if (!(x >= -1 && x <= WHOLE_MOST && x == (double)(int64_t)x))
                return assay_fail(err, ASSAY_FORMAT,
                                  "%s: payloads/%s: %s of its %ss is %g, no "
                                  "count",
                                  path, name, columns[i].name,
                                  byte_kind_name(kind), x);
            const int64_t whole = (int64_t)x;
            memcpy((char *)b + columns[i].offset, &whole, sizeof whole);
        }
        const int64_t count = byte_kind_count(kind, how->scale, &t);
        if (!holds(b, count, kind == BYTES_PAST,
                   byte_kind_format(kind, assay_format_get(how->format),
                                    how->scale)))
            return assay_fail(err, ASSAY_FORMAT,
                              "%s: payloads/%s: counts of its %ss contradict "
                              "each other: %" PRId64 " of %" PRId64
                              " differ, of a problem that has %" PRId64,
                              path, name, byte_kind_name(kind), b->differ,
                              b->count, count);
    }
    return st;
}

/* looks_like, also and what is left of them. */
static enum assay_status read_reading(const char *path, hid_t group,
                                      const char *name, struct scale_bytes *to,
                                      struct assay_error *err)
{
    char key[24] = "", *text = NULL;
    bool left = false;
    text_append(key, sizeof key, "%s_looks_like", name);
    enum assay_status st = h5_read_text(path, group, key, &text, err);
    if (st == ASSAY_OK) {
        term_plain(text);
        if (strlen(text) >= sizeof to->looks_like)
            st = assay_fail(err, ASSAY_FORMAT,
                            "%s: %s has %zu characters, at most %zu are read",
                            path, key, strlen(text), sizeof to->looks_like - 1);
        else
            memcpy(to->looks_like, text, strlen(text) + 1);
    }
    free(text);
    key[0] = '\0';
    text_append(key, sizeof key, "%s_also", name);
    if (st == ASSAY_OK)
        st = h5_read_int(path, group, key, &to->also, err);
    for (int k = 0; k < BYTE_KINDS; k++)
        left |= to->steps[k].left > 0;
    if (st == ASSAY_OK &&
        (to->also < 0 || (!to->looks_like[0] && (left || to->also > 0)) ||
         (to->looks_like[0] && scale_bytes_differ(to) == 0)))
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: payloads/%s looks like \"%.40s\" and %" PRId64
                        " more, which its counts contradict",
                        path, name, to->looks_like, to->also);
    return st;
}

static enum assay_status read_operand(const char *path, hid_t group,
                                      struct sketch *s, enum assay_input input,
                                      struct assay_error *err)
{
    const char *name = assay_input_name(input);
    struct scale_bytes *to = &s->payload[input];
    char want[256], *names = NULL;
    double *packed = NULL;
    enum assay_status st =
        h5_read_data_text(path, group, name, "columns", &names, err);
    column_names(want, sizeof want);
    if (st == ASSAY_OK && (!names || strcmp(names, want) != 0))
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: payloads/%s has the columns \"%.100s\", must have "
                        "\"%s\"",
                        path, name, names ? names : "", want);
    free(names);
    if (st == ASSAY_OK)
        st = stored_read_array(path, group, name, H5_F64, shape, &packed, err);
    if (st == ASSAY_OK)
        st = unpack(path, name, s, input, packed, to, err);
    assay_free(packed);
    to->there = true;
    return st == ASSAY_OK ? read_reading(path, group, name, to, err) : st;
}

/* Letters of "qkv", each once and in that order. */
static bool parse_there(const char *text, bool there[ASSAY_INPUTS])
{
    for (int i = 0; i < ASSAY_INPUTS; i++) {
        there[i] = *text == *assay_input_name((enum assay_input)i);
        text += there[i];
    }
    return *text == '\0';
}

enum assay_status run_payload_read(const char *path, hid_t in, struct sketch *s,
                                   struct assay_error *err)
{
    bool there[ASSAY_INPUTS];
    char *text = NULL;
    hid_t group = -1;
    if (!h5_has_attribute(in, group_name)) /* records of old have none */
        return ASSAY_OK;
    enum assay_status st = h5_read_text(path, in, group_name, &text, err);
    if (st == ASSAY_OK && !parse_there(text, there))
        st = assay_fail(err, ASSAY_FORMAT,
                        "%s: payloads is \"%.40s\", must be letters of qkv",
                        path, text);
    const bool any = st == ASSAY_OK && text[0];
    free(text);
    if (!any)
        return st;
    st = h5_open_group(path, in, group_name, &group, err);
    for (int i = 0; st == ASSAY_OK && i < ASSAY_INPUTS; i++)
        if (there[i])
            st = read_operand(path, group, s, (enum assay_input)i, err);
    h5_close_group(&group);
    return st;
}

/* ---- JSON ---- */

static json_t *text_or_null(bool there, const char *text)
{
    return there ? json_text(text) : json_null();
}

static json_t *operand_json(const struct assay_recipe *recipe,
                            const struct assay_problem *p,
                            enum assay_input input, const struct scale_bytes *b)
{
    const double explains = scale_bytes_explains(b);
    const bool alike = explains >= SCALE_BYTES_ALIKE;
    static const char *const kinds[BYTE_KINDS] = {
        [BYTES_SCALES] = "scales",
        [BYTES_CODES] = "codes",
        [BYTES_PAST] = "tail_codes",
    };
    char text[SCALE_BYTES_TEXT] = "";
    json_t *out = json_object();
    for (int k = 0; k < BYTE_KINDS; k++) {
        json_t *kind = json_object();
        for (int i = 0; i < COLUMNS; i++)
            json_object_set_new(kind, columns[i].name,
                                json_integer(member_of(&b->steps[k], i)));
        json_object_set_new(out, kinds[k], kind);
    }
    scale_bytes_tell(recipe, p, input, b, text, sizeof text);
    json_object_set_new(out, "looks_like", text_or_null(alike, b->looks_like));
    json_object_set_new(
        out, "nearest",
        text_or_null(!alike && b->looks_like[0], b->looks_like));
    json_object_set_new(out, "explains", json_number(explains));
    json_object_set_new(out, "also", json_integer(b->also));
    json_object_set_new(out, "sentence", json_text(text));
    return out;
}

json_t *run_payload_json(const struct assay_recipe *recipe,
                         const struct assay_problem *p,
                         const struct scale_bytes payload[ASSAY_INPUTS])
{
    json_t *out = json_object();
    for (int i = 0; i < ASSAY_INPUTS; i++)
        if (payload[i].there)
            json_object_set_new(
                out, assay_input_name((enum assay_input)i),
                operand_json(recipe, p, (enum assay_input)i, &payload[i]));
    return out;
}
