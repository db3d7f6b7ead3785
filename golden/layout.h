/* SPDX-License-Identifier: MIT
 *
 * Orders of a tensor's axes: the letters b, s, h and d (batch, token, head,
 * channel), outermost first; b may be absent. Ours is bshd.
 */
#ifndef ASSAY_LAYOUT_H
#define ASSAY_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "assay/error.h"

struct layout {
    char axes[5];
};

/* "hsd", or "[head, token, channel]" as files say it. ASSAY_USAGE. */
enum assay_status layout_parse(const char *text, struct layout *out,
                               struct assay_error *err);

/* Sizes [b, s, h, d] of a tensor, whose rank must be the layout's; 1 for an
 * axis that it lacks. ASSAY_FORMAT, the sentence without the file. */
enum assay_status layout_sizes(const struct layout *layout, const char *name,
                               int rank, const int64_t *shape, int64_t size[4],
                               struct assay_error *err);

/* The orders of its axes in which a tensor has these sizes, "bshd, bhsd"; ""
 * where there is none. */
void layout_fitting(int rank, const int64_t *shape, const int64_t size[4],
                    char *text, size_t bytes);

/* Words of `bytes` bytes each, in the order of the layout, to bshd. The rank
 * is the layout's. */
void layout_to_bshd(const struct layout *layout, const int64_t *shape,
                    size_t bytes, const void *from, void *to);

#endif
