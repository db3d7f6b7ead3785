/* SPDX-License-Identifier: MIT
 *
 * assay show of a run record.
 */
#ifndef ASSAY_SHOW_RUN_H
#define ASSAY_SHOW_RUN_H

#include <stdbool.h>

#include "assay/error.h"

/* Prints to stdout what a run record says of itself and the verdicts in it, of
 * the cases selected (NULL: all), as tables or JSON ("assay-record/1"). */
enum assay_status show_run(const char *path, const char *cases, bool json,
                           struct assay_error *err);

#endif
