/* SPDX-License-Identifier: MIT */
#include "golden/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const formats[] = {
#define ASSAY_FORMAT(id, name, ...) name,
#include "assay/format.def"
#undef ASSAY_FORMAT
};
static const char *const roundings[] = {
#define ASSAY_ROUNDING(id, name, ...) name,
#include "assay/rounding.def"
#undef ASSAY_ROUNDING
};
static const char *const overflows[] = {
#define ASSAY_OVERFLOW(id, name, ...) name,
#include "assay/overflow.def"
#undef ASSAY_OVERFLOW
};
static const char *const packings[] = {
#define ASSAY_PACKING(id, name, ...) name,
#include "assay/packing.def"
#undef ASSAY_PACKING
};
static const char *const scale_rules[] = {
#define ASSAY_SCALE_RULE(id, name, ...) name,
#include "assay/scale_rule.def"
#undef ASSAY_SCALE_RULE
};
static const char *const softmax_forms[] = {
#define ASSAY_SOFTMAX(id, name, ...) name,
#include "assay/softmax.def"
#undef ASSAY_SOFTMAX
};
static const char *const quantizers[] = {
#define ASSAY_QUANTIZER(id, name, ...) name,
#include "assay/quantizer.def"
#undef ASSAY_QUANTIZER
};
static const char *const scales[] = {
#define ASSAY_SCALE(id, name, ...) name,
#include "assay/scale.def"
#undef ASSAY_SCALE
};
static const char *const f32_rules[] = {
#define ASSAY_F32_RULE(id, name, ...) name,
#include "assay/f32_rule.def"
#undef ASSAY_F32_RULE
};
static const char *const rotation_orders[] = {
#define ASSAY_ROTATION_ORDER(id, name, ...) name,
#include "assay/rotation_order.def"
#undef ASSAY_ROTATION_ORDER
};
static const char *const token_orders[] = {
#define ASSAY_TOKEN_ORDER(id, name, ...) name,
#include "assay/token_order.def"
#undef ASSAY_TOKEN_ORDER
};
static const char *const tails[] = {
#define ASSAY_TAIL(id, name, ...) name,
#include "assay/tail.def"
#undef ASSAY_TAIL
};
static const char *const distributions[] = {
#define ASSAY_DISTRIBUTION(id, name, ...) name,
#include "assay/distribution.def"
#undef ASSAY_DISTRIBUTION
};
static const char *const transports[] = {
#define ASSAY_TRANSPORT_CODEC(id, name, ...) name,
#include "assay/transport.def"
#undef ASSAY_TRANSPORT_CODEC
#define ASSAY_TRANSPORT_PROFILE(id, name, ...) name,
#include "assay/transport_profile.def"
#undef ASSAY_TRANSPORT_PROFILE
};

#define NAMES(what, array)                               \
    {                                                    \
        what, (int)(sizeof array / sizeof *array), array \
    }
const struct names names_formats = NAMES("format", formats);
const struct names names_roundings = NAMES("rounding", roundings);
const struct names names_overflows = NAMES("overflow", overflows);
const struct names names_packings = NAMES("packing", packings);
const struct names names_softmax_forms = NAMES("softmax form", softmax_forms);
const struct names names_quantizers = NAMES("quantizer", quantizers);
const struct names names_scales = NAMES("scale", scales);
const struct names names_f32_rules = NAMES("rule", f32_rules);
const struct names names_rotation_orders =
    NAMES("preparation", rotation_orders);
const struct names names_token_orders = NAMES("token order", token_orders);
const struct names names_tails = NAMES("tail", tails);
const struct names names_distributions = NAMES("distribution", distributions);
const struct names names_transports = NAMES("transport", transports);
const struct names names_scale_rules = NAMES("scale rule", scale_rules);

enum { LONGEST = 40 };

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Edits from a to b: Damerau's, where no letter is touched twice ("optimal
 * string alignment"). Both are at most LONGEST long. */
static int edits(const char *a, const char *b)
{
    int d[LONGEST + 1][LONGEST + 1];
    const int n = (int)strlen(a), m = (int)strlen(b);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            d[i][j] = i + j; /* right where either is 0 */
            if (i && j)
                d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
                                d[i - 1][j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
                same(a[i - 2], b[j - 1]))
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

static const struct alias {
    const char *what, *theirs, *ours;
} aliases[] = {
#define ALIAS(what, theirs, ours) { what, theirs, ours },
#include "golden/alias.def"
#undef ALIAS
};

const char *names_nearest(const struct names *n, const char *word)
{
    const char *best = NULL;
    const size_t length = strlen(word);
    int best_edits = length < 6 ? 2 : (int)length / 3 + 1;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(n->what, aliases[i].what) == 0 &&
            strcasecmp(word, aliases[i].theirs) == 0)
            return aliases[i].ours;
    if (length < 2 || length > LONGEST)
        return NULL;
    for (int i = 0; i < n->count; i++)
        if (strncasecmp(word, n->names[i], length) == 0)
            return n->names[i];
    for (int i = 0; i < n->count; i++) {
        int e =
            strlen(n->names[i]) <= LONGEST ? edits(word, n->names[i]) : LONGEST;
        if (e < best_edits) {
            best_edits = e;
            best = n->names[i];
        }
    }
    return best;
}

void names_join(const struct names *n, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < n->count && at + 1 < size; i++) {
        int more =
            snprintf(out + at, size - at, "%s%s", i ? ", " : "", n->names[i]);
        at += more > 0 ? (size_t)more : 0;
    }
    if (at + 1 > size && size > 4)
        strcpy(out + size - 4, "...");
}

enum assay_status names_find(const struct names *n, const char *word,
                             int *index, struct assay_error *err)
{
    char all[320];
    for (*index = 0; *index < n->count; ++*index)
        if (strcmp(word, n->names[*index]) == 0)
            return ASSAY_OK;
    const char *nearest = names_nearest(n, word);
    if (nearest)
        return assay_fail(err, ASSAY_USAGE,
                          "unknown %s \"%.60s\"; did you mean %s?", n->what,
                          word, nearest);
    names_join(n, all, sizeof all);
    return assay_fail(err, ASSAY_USAGE, "unknown %s \"%.60s\"; there are %s",
                      n->what, word, all);
}
