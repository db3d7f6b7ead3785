/* SPDX-License-Identifier: MIT */
#include "assay/split.h"

#include <inttypes.h>
#include <string.h>

static const char *const names[] = {
#define ASSAY_SPLIT(id, name, about) name,
#include "assay/split.def"
#undef ASSAY_SPLIT
};

static const char *const abouts[] = {
#define ASSAY_SPLIT(id, name, about) about,
#include "assay/split.def"
#undef ASSAY_SPLIT
};

const char *assay_split_name(enum assay_split_kind kind)
{
    return names[kind];
}

const char *assay_split_about(enum assay_split_kind kind)
{
    return abouts[kind];
}

enum assay_split_kind assay_split_find(const char *name)
{
    int i = 0;
    while (i < ASSAY_SPLITS && strcmp(names[i], name) != 0)
        i++;
    return (enum assay_split_kind)i;
}

enum assay_status assay_split_check(const struct assay_split *split,
                                    struct assay_error *err)
{
    if (split->kind >= ASSAY_SPLITS)
        return assay_fail(err, ASSAY_SHAPE, "split %d is not known",
                          (int)split->kind);
    if (split->nk < 0 || split->ranks < 1)
        return assay_fail(err, ASSAY_SHAPE,
                          "%" PRId64 " keys cannot go to %" PRId64 " ranks",
                          split->nk, split->ranks);
    return ASSAY_OK;
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* First key of a rank in a contiguous split. */
static int64_t start_of(const struct assay_split *s, int64_t rank)
{
    return rank * (s->nk / s->ranks) + min(rank, s->nk % s->ranks);
}

int64_t assay_split_visible(const struct assay_split *s, int64_t rank,
                            int64_t visible)
{
    if (s->kind == ASSAY_SPLIT_ROUND_ROBIN)
        return visible / s->ranks + (rank < visible % s->ranks);
    const int64_t from = start_of(s, rank);
    return visible < from ? 0 : min(visible, start_of(s, rank + 1)) - from;
}

int64_t assay_split_count(const struct assay_split *s, int64_t rank)
{
    return assay_split_visible(s, rank, s->nk);
}

int64_t assay_split_key(const struct assay_split *s, int64_t rank, int64_t j)
{
    return s->kind == ASSAY_SPLIT_ROUND_ROBIN ? j * s->ranks + rank
                                              : start_of(s, rank) + j;
}

int64_t assay_split_rank(const struct assay_split *s, int64_t key)
{
    if (s->kind == ASSAY_SPLIT_ROUND_ROBIN)
        return key % s->ranks;
    const int64_t each = s->nk / s->ranks, more = s->nk % s->ranks;
    const int64_t longer = more * (each + 1); /* keys of ranks with one more */
    return key < longer ? key / (each + 1) : more + (key - longer) / each;
}

int64_t assay_split_index(const struct assay_split *s, int64_t key)
{
    return s->kind == ASSAY_SPLIT_ROUND_ROBIN
               ? key / s->ranks
               : key - start_of(s, assay_split_rank(s, key));
}
