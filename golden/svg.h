/* SPDX-License-Identifier: MIT
 *
 * A drawing of another program, made fit to stand in a page.
 */
#ifndef ASSAY_SVG_H
#define ASSAY_SVG_H

#include <stdio.h>

#include "assay/error.h"

/* Writes the <svg> element of n bytes of SVG, a NUL behind them: shapes and
 * texts alone, ids with "pNUMBER-" in front, colours of colour.def by their
 * names, `title` as what it is called. An element that is no shape (a script,
 * an image) is ASSAY_FORMAT, and so is what does not end where it should;
 * attributes that are not known are left out. What was written before an error
 * is of no use. */
enum assay_status svg_embed(const char *svg, size_t n, int number,
                            const char *title, FILE *out,
                            struct assay_error *err);

#endif
