/* SPDX-License-Identifier: MIT
 *
 * assay show of a run record.
 */
#ifndef ASSAY_SHOW_RUN_H
#define ASSAY_SHOW_RUN_H

#include <stdbool.h>

#include "assay/error.h"

/* Prints to stdout what a run record says of itself and the verdicts in it, of
 * the cases selected (NULL: all), as tables or JSON ("assay-record/1"). All of
 * it is read and judged, by the limits of the run: what contradicts itself is
 * ASSAY_FORMAT, and a verdict that this program does not find is told. */
enum assay_status show_run(const char *path, const char *cases, bool json,
                           struct assay_error *err);

#endif
