/* SPDX-License-Identifier: MIT
 *
 * Private to the page of results: its plots. Each is drawn from the pictures
 * that results keep; where none has any, nothing is drawn. False: out of
 * memory.
 */
#ifndef ASSAY_REPORT_DRAW_H
#define ASSAY_REPORT_DRAW_H

#include "validate/report.h"

/* Errors of all heads, each of the three distances by itself. */
bool report_draw_heads(const struct report *r, struct html *h);
/* LSE of all rows against the emulated one, for each recipe. */
bool report_draw_lse(const struct report *r, struct html *h);
/* Where a failing result is wrong; `what` is its name. */
bool report_draw_failure(const struct result *one, const char *what,
                         struct html *h);

#endif
