/* SPDX-License-Identifier: MIT
 *
 * The dictionary in the header of a .npy file: a Python literal of exactly
 * three keys, in any order.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "golden/npy.h"

static const struct npy_type types[] = {
#define NPY_TYPE(id, descr, bytes) { NPY_##id, descr, bytes },
#include "golden/npy_type.def"
#undef NPY_TYPE
};

const struct npy_type *npy_type_get(enum npy_type_id id)
{
    return &types[id];
}

struct npy_text npy_shape_text(int rank, const int64_t *shape)
{
    struct npy_text t = { "(" };
    size_t n = 1;
    for (int i = 0; i < rank && n + 32 < sizeof t.s; i++)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, "%s%" PRId64,
                              i ? ", " : "", shape[i]);
    if (n + 32 >= sizeof t.s)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, ", ...");
    snprintf(t.s + n, sizeof t.s - n, "%s)", rank == 1 ? "," : "");
    return t;
}

enum assay_status npy_count(int rank, const int64_t *shape, size_t element,
                            int64_t *count, struct assay_error *err)
{
    int64_t bytes = (int64_t)element;
    *count = 1;
    for (int i = 0; i < rank; i++) {
        if (__builtin_mul_overflow(bytes, shape[i] ? shape[i] : 1, &bytes))
            return assay_fail(err, ASSAY_SHAPE,
                              "shape %s times %zu bytes is more than can be "
                              "counted",
                              npy_shape_text(rank, shape).s, element);
        *count *= shape[i];
    }
    return ASSAY_OK;
}

/* ---- words of the literal ---- */

struct cursor {
    const char *begin, *at, *end;
};

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && *c->at && strchr(" \t\n\r", *c->at))
        c->at++;
}

/* Takes `word` if it is next. */
static bool take(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static enum assay_status expect(struct cursor *c, const char *word,
                                struct assay_error *err)
{
    if (take(c, word))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_FORMAT,
                      "header has no %s at character %td of its dictionary",
                      word, c->at - c->begin);
}

/* A string without escapes; those that NumPy writes have none. */
static enum assay_status take_string(struct cursor *c, char *out, size_t size,
                                     struct assay_error *err)
{
    size_t n = 0;
    const char *quote = take(c, "'") ? "'" : take(c, "\"") ? "\"" : NULL;
    if (!quote)
        return assay_fail(err, ASSAY_FORMAT,
                          "header has no string at character %td of its "
                          "dictionary",
                          c->at - c->begin);
    for (; c->at < c->end && *c->at != *quote; c->at++) {
        unsigned char byte = (unsigned char)*c->at;
        if (byte == '\\' || byte < 0x20 || byte > 0x7e || n + 1 == size)
            return assay_fail(err, ASSAY_FORMAT,
                              "header has an odd or long string at character "
                              "%td of its dictionary",
                              c->at - c->begin);
        out[n++] = *c->at;
    }
    out[n] = '\0';
    return expect(c, quote, err);
}

static enum assay_status take_size(struct cursor *c, int64_t *size,
                                   struct assay_error *err)
{
    skip_blanks(c);
    const char *from = c->at;
    *size = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, *c->at - '0', size))
            return assay_fail(err, ASSAY_FORMAT,
                              "shape has a size past %" PRId64, INT64_MAX);
    if (c->at == from)
        return assay_fail(err, ASSAY_FORMAT,
                          "shape has no size at character %td of the header's "
                          "dictionary",
                          from - c->begin);
    if (c->at < c->end && *c->at == 'L') /* Python 2 */
        c->at++;
    return ASSAY_OK;
}

/* ---- values of the three keys ---- */

static enum assay_status take_type(struct cursor *c, struct npy *out,
                                   struct assay_error *err)
{
    char descr[16];
    if (take(c, "["))
        return assay_fail(err, ASSAY_FORMAT,
                          "elements are structures, only plain types are read");
    enum assay_status st = take_string(c, descr, sizeof descr, err);
    if (st != ASSAY_OK)
        return st;
    if (descr[0] == '>')
        return assay_fail(err, ASSAY_FORMAT,
                          "element type %s is big-endian, only little-endian "
                          "is read",
                          descr);
    for (size_t i = 0; i < NPY_TYPES; i++)
        if (strcmp(descr, types[i].descr) == 0) {
            out->type = &types[i];
            return ASSAY_OK;
        }
    char all[64] = "";
    for (size_t i = 0; i < NPY_TYPES; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i ? ", " : "", types[i].descr);
    return assay_fail(err, ASSAY_FORMAT,
                      "element type \"%s\" is not one of %s; "
                      "bf16 words are <u2, narrow codes |u1",
                      descr, all);
}

static enum assay_status take_order(struct cursor *c, struct assay_error *err)
{
    if (take(c, "False"))
        return ASSAY_OK;
    if (take(c, "True"))
        return assay_fail(err, ASSAY_FORMAT,
                          "is in Fortran order, only C order is read");
    return assay_fail(err, ASSAY_FORMAT,
                      "fortran_order is neither True nor False");
}

/* (), (3,), (2, 3) or (2, 3,); (3) is no tuple. */
static enum assay_status take_shape(struct cursor *c, struct npy *out,
                                    struct assay_error *err)
{
    enum assay_status st = expect(c, "(", err);
    bool comma = false;
    for (out->rank = 0; st == ASSAY_OK && !take(c, ")");) {
        if (out->rank > 0 && !comma)
            return expect(c, ", or )", err);
        if (out->rank == NPY_MAX_RANK)
            return assay_fail(err, ASSAY_FORMAT, "has more than %d axes",
                              NPY_MAX_RANK);
        st = take_size(c, &out->shape[out->rank++], err);
        comma = take(c, ",");
    }
    if (st == ASSAY_OK && out->rank == 1 && !comma)
        return assay_fail(err, ASSAY_FORMAT,
                          "shape (%" PRId64 ") is no tuple: the comma is "
                          "missing",
                          out->shape[0]);
    return st;
}

static enum assay_status take_item(struct cursor *c, unsigned *seen,
                                   struct npy *out, struct assay_error *err)
{
    static const char *const keys[] = { "descr", "fortran_order", "shape" };
    char key[24];
    unsigned which = 0;
    enum assay_status st = take_string(c, key, sizeof key, err);
    if (st == ASSAY_OK)
        st = expect(c, ":", err);
    if (st != ASSAY_OK)
        return st;
    while (which < 3 && strcmp(key, keys[which]) != 0)
        which++;
    if (which == 3)
        return assay_fail(err, ASSAY_FORMAT,
                          "header has the key \"%s\" beside descr, "
                          "fortran_order and shape",
                          key);
    if (*seen & 1u << which)
        return assay_fail(err, ASSAY_FORMAT, "header has %s twice", key);
    *seen |= 1u << which;
    return which == 0   ? take_type(c, out, err)
           : which == 1 ? take_order(c, err)
                        : take_shape(c, out, err);
}

enum assay_status npy_parse(const char *text, size_t n, struct npy *out,
                            struct assay_error *err)
{
    struct cursor c = { text, text, text + n };
    unsigned seen = 0;
    enum assay_status st = expect(&c, "{", err);
    for (bool comma = true; st == ASSAY_OK && !take(&c, "}");) {
        if (!comma)
            return expect(&c, ", or }", err);
        st = take_item(&c, &seen, out, err);
        comma = take(&c, ",");
    }
    if (st != ASSAY_OK)
        return st;
    if (seen != 7)
        return assay_fail(err, ASSAY_FORMAT, "header lacks %s",
                          !(seen & 1)   ? "descr"
                          : !(seen & 2) ? "fortran_order"
                                        : "shape");
    skip_blanks(&c);
    if (c.at != c.end)
        return assay_fail(err, ASSAY_FORMAT,
                          "header has more after its dictionary, at character "
                          "%td",
                          c.at - c.begin);
    return npy_count(out->rank, out->shape, out->type->bytes, &out->count, err);
}
