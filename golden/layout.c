/* SPDX-License-Identifier: MIT */
#include "golden/layout.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "golden/term.h"

static const char letters[] = "bshd";

/* The next axis of a text, a letter or a word; 0 where it is neither. */
static char next_axis(const char **text)
{
    static const char *const words[] = { "batch", "token", "head", "channel" };
    size_t n = 0;
    while (isalpha((unsigned char)(*text)[n]))
        n++;
    for (int a = 0; a < 4; a++)
        if (n == strlen(words[a]) && strncmp(*text, words[a], n) == 0) {
            *text += n;
            return letters[a];
        }
    if (n == 0 || !strchr(letters, **text))
        return 0;
    return *(*text)++;
}

enum assay_status layout_parse(const char *text, struct layout *out,
                               struct assay_error *err)
{
    const char *from = text;
    bool seen[128] = { 0 }, ok = true;
    size_t n = 0;
    *out = (struct layout){ { 0 } };
    while (ok && *from) {
        if (strchr("[], ", *from)) {
            from++;
            continue;
        }
        const char axis = n < 4 ? next_axis(&from) : 0;
        ok = axis && !seen[(int)axis];
        seen[(int)axis] = true;
        out->axes[n++] = axis;
    }
    if (ok && (n == 4 || (n == 3 && !seen['b'])))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_USAGE,
                      "layout \"%.80s\" is not the letters h, s, d in some "
                      "order, with or without b",
                      text);
}

static int axis_of(const struct layout *layout, int letter)
{
    const char *at = strchr(layout->axes, letters[letter]);
    return at ? (int)(at - layout->axes) : -1;
}

enum assay_status layout_sizes(const struct layout *layout, const char *name,
                               int rank, const int64_t *shape, int64_t size[4],
                               struct assay_error *err)
{
    if (rank != (int)strlen(layout->axes))
        return assay_fail(err, ASSAY_FORMAT,
                          "%s has %d axes, layout %s has %zu", name, rank,
                          layout->axes, strlen(layout->axes));
    for (int a = 0; a < 4; a++) {
        const int axis = axis_of(layout, a);
        size[a] = axis < 0 ? 1 : shape[axis];
    }
    return ASSAY_OK;
}

void layout_fitting(int rank, const int64_t *shape, const int64_t size[4],
                    char *text, size_t bytes)
{
    static const char *const all[] = { "hsd",  "shd",  "sdh",  "hds",  "dsh",
                                       "dhs",  "bhsd", "bshd", "bhds", "bsdh",
                                       "bdhs", "bdsh", "shbd", "hbsd", "sbhd",
                                       "hsbd", "hsdb", "shdb" };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct layout l = { { 0 } };
        int64_t has[4];
        memcpy(l.axes, all[i], strlen(all[i]));
        if (rank == (int)strlen(l.axes) &&
            layout_sizes(&l, "", rank, shape, has, NULL) == ASSAY_OK &&
            memcmp(has, size, sizeof has) == 0)
            text_append(text, bytes, "%s%s", text[0] ? ", " : "", all[i]);
    }
}

void layout_to_bshd(const struct layout *layout, const int64_t *shape,
                    size_t bytes, const void *from, void *to)
{
    const int rank = (int)strlen(layout->axes);
    int64_t stride[4], step[4], size[4], product = 1;
    const char *words = from;
    char *out = to;
    for (int a = rank - 1; a >= 0; a--) {
        stride[a] = product;
        product *= shape[a];
    }
    for (int a = 0; a < 4; a++) {
        const int axis = axis_of(layout, a);
        step[a] = axis < 0 ? 0 : stride[axis];
        size[a] = axis < 0 ? 1 : shape[axis];
    }
    const bool whole_rows = step[3] == 1;
    const int64_t pieces = whole_rows ? 1 : size[3];
    const size_t piece = whole_rows ? (size_t)size[3] * bytes : bytes;
    for (int64_t b = 0; b < size[0]; b++)
        for (int64_t s = 0; s < size[1]; s++)
            for (int64_t h = 0; h < size[2]; h++)
                for (int64_t d = 0; d < pieces; d++, out += piece)
                    memcpy(out,
                           words + (size_t)(b * step[0] + s * step[1] +
                                            h * step[2] + d * step[3]) *
                                       bytes,
                           piece);
}
