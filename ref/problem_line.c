/* SPDX-License-Identifier: MIT */
#include "assay/problem_line.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum word { B, HQ, HK, H, Q, K, S, D, DV, CAUSAL, SCALE, DIST, SEED, WORDS };

/* Longer names before those they begin with. */
static const struct {
    const char *name;
    enum word word;
} words[] = {
    { "scale=", SCALE },  { "seed=", SEED }, { "dist=", DIST },
    { "causal", CAUSAL }, { "hq", HQ },      { "hk", HK },
    { "dv", DV },         { "b", B },        { "h", H },
    { "q", Q },           { "k", K },        { "s", S },
    { "d", D },
};

/* What a line says: sizes by word, and which words were there. */
struct said {
    bool there[WORDS];
    int64_t size[WORDS];
    double scale;
    uint64_t seed;
    char name[ASSAY_LINE_NAME];
};

/* One word of the line: n characters at `at`. */
struct piece {
    const char *line, *at;
    int n;
};

static enum assay_status refuse(const struct piece *p, const char *why,
                                struct assay_error *err)
{
    return assay_fail(err, ASSAY_USAGE, "'%.*s' at character %td %s",
                      p->n < 64 ? p->n : 64, p->at, p->at - p->line + 1, why);
}

/* Decimal digits and nothing else, up to `most`. */
static bool read_number(const char *s, int n, uint64_t most, uint64_t *out)
{
    uint64_t x = 0;
    for (int i = 0; i < n; i++) {
        const unsigned digit = (unsigned)s[i] - '0';
        if (digit > 9 || x > (most - digit) / 10)
            return false;
        x = x * 10 + digit;
    }
    *out = x;
    return n > 0;
}

/* strtod needs an end; it takes spaces, hexadecimals and nan, too. */
static bool read_real(const char *s, int n, double *out)
{
    char text[40], *end;
    if (n < 1 || n >= (int)sizeof text || isspace((unsigned char)*s))
        return false;
    memcpy(text, s, (size_t)n);
    text[n] = 0;
    *out = strtod(text, &end);
    return *end == 0 && isfinite(*out);
}

static bool read_name(const char *s, int n, char *out)
{
    if (n < 1 || n >= ASSAY_LINE_NAME)
        return false;
    for (int i = 0; i < n; i++)
        if (!islower((unsigned char)s[i]) && !isdigit((unsigned char)s[i]) &&
            s[i] != '-' && s[i] != '_')
            return false;
    memcpy(out, s, (size_t)n);
    out[n] = 0;
    return true;
}

static bool read_value(enum word word, const char *s, int n, struct said *said)
{
    uint64_t x;
    switch ((int)word) {
    case CAUSAL: return n == 0;
    case SCALE: return read_real(s, n, &said->scale);
    case DIST: return read_name(s, n, said->name);
    case SEED: return read_number(s, n, UINT64_MAX, &said->seed);
    default:
        if (!read_number(s, n, INT64_MAX, &x))
            return false;
        said->size[word] = (int64_t)x;
        return true;
    }
}

static enum assay_status read_piece(const struct piece *p, struct said *said,
                                    struct assay_error *err)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const int n = (int)strlen(words[i].name);
        const enum word word = words[i].word;
        if (p->n < n || strncmp(p->at, words[i].name, (size_t)n) != 0)
            continue;
        if (n == 1 && p->n > 1 && isalpha((unsigned char)p->at[1]))
            break; /* a word that begins like a size */
        if (said->there[word])
            return refuse(p, "is there a second time", err);
        said->there[word] = true;
        if (!read_value(word, p->at + n, p->n - n, said))
            return refuse(p, "has no value that can be read", err);
        return ASSAY_OK;
    }
    return refuse(p,
                  "is no word of a problem: b, hq, hk, h, q, k, s, d, dv, "
                  "causal, scale=, dist=, seed=",
                  err);
}

/* `both` sets a pair of sizes; next to one of them it says something twice. */
static enum assay_status pair(struct said *said, enum word first,
                              enum word second, enum word both,
                              const char *names, struct assay_error *err)
{
    if (said->there[both] && (said->there[first] || said->there[second]))
        return assay_fail(err, ASSAY_USAGE, "%s", names);
    if (said->there[both])
        said->size[first] = said->size[second] = said->size[both];
    else if (!said->there[second])
        said->size[second] = said->size[first];
    said->there[first] |= said->there[both];
    return ASSAY_OK;
}

static enum assay_status settle(struct said *said, struct assay_problem *p,
                                struct assay_error *err)
{
    enum assay_status st =
        pair(said, HQ, HK, H, "h sets hq and hk, so neither can be there", err);
    if (st == ASSAY_OK)
        st =
            pair(said, Q, K, S, "s sets q and k, so neither can be there", err);
    if (st != ASSAY_OK)
        return st;
    if (!said->there[HQ] || !said->there[Q] || !said->there[D])
        return assay_fail(err, ASSAY_USAGE,
                          "a problem needs %s, as in b1,hq4,hk2,q257,k257,d128",
                          !said->there[HQ]  ? "hq or h"
                          : !said->there[Q] ? "q or s"
                                            : "d");
    *p = (struct assay_problem){
        .b = said->there[B] ? said->size[B] : 1,
        .hq = said->size[HQ],
        .hk = said->size[HK],
        .nq = said->size[Q],
        .nk = said->size[K],
        .dk = said->size[D],
        .dv = said->size[said->there[DV] ? DV : D],
        .mask = said->there[CAUSAL] ? ASSAY_MASK_CAUSAL : ASSAY_MASK_NONE,
        .softmax_scale = said->there[SCALE] ? said->scale : 0
    };
    if ((st = assay_problem_check(p, err)) == ASSAY_OK && !said->there[SCALE])
        p->softmax_scale = assay_problem_default_scale(p->dk);
    return st;
}

enum assay_status assay_problem_parse(const char *text,
                                      struct assay_problem_line *out,
                                      struct assay_error *err)
{
    struct said said = { 0 };
    struct assay_problem problem;
    enum assay_status st;
    const char *at = text;
    for (;;) {
        const size_t n = strcspn(at, ",");
        const struct piece p = { text, at, (int)(n < 4096 ? n : 4096) };
        if ((st = read_piece(&p, &said, err)) != ASSAY_OK)
            return st;
        if (at[n] == 0)
            break;
        at += n + 1;
    }
    if ((st = settle(&said, &problem, err)) != ASSAY_OK)
        return st;
    *out = (struct assay_problem_line){ .problem = problem,
                                        .seeded = said.there[SEED],
                                        .seed = said.seed };
    memcpy(out->name, said.name, sizeof out->name);
    return ASSAY_OK;
}

void assay_problem_line(const struct assay_problem_line *line,
                        char text[ASSAY_LINE_MAX])
{
    const struct assay_problem *p = &line->problem;
    char width[32] = "", scale[40] = "", name[48] = "", seed[32] = "";
    if (p->dv != p->dk)
        snprintf(width, sizeof width, ",dv%" PRId64, p->dv);
    if (p->softmax_scale != assay_problem_default_scale(p->dk))
        snprintf(scale, sizeof scale, ",scale=%.17g", p->softmax_scale);
    if (line->name[0])
        snprintf(name, sizeof name, ",dist=%s", line->name);
    if (line->seeded)
        snprintf(seed, sizeof seed, ",seed=%" PRIu64, line->seed);
    snprintf(text, ASSAY_LINE_MAX,
             "b%" PRId64 ",hq%" PRId64 ",hk%" PRId64 ",q%" PRId64 ",k%" PRId64
             ",d%" PRId64 "%s%s%s%s%s",
             p->b, p->hq, p->hk, p->nq, p->nk, p->dk, width,
             p->mask == ASSAY_MASK_CAUSAL ? ",causal" : "", scale, name, seed);
}
