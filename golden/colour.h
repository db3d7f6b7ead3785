/* SPDX-License-Identifier: MIT
 *
 * Colours of pages and plots.
 */
#ifndef ASSAY_COLOUR_H
#define ASSAY_COLOUR_H

enum page_colour {
#define ASSAY_COLOUR(name, light, dark) PAGE_COLOUR_##name,
#include "golden/colour.def"
#undef ASSAY_COLOUR
    PAGE_COLOURS
};

enum { PAGE_SERIES = PAGE_COLOURS - PAGE_COLOUR_series1 };

struct page_colour_row {
    const char *name;
    unsigned light, dark; /* 0xRRGGBB */
};

/* The row of a colour; static. */
const struct page_colour_row *page_colour_get(int colour);

#endif
