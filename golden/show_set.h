/* SPDX-License-Identifier: MIT
 *
 * assay show of a golden set.
 */
#ifndef ASSAY_SHOW_SET_H
#define ASSAY_SHOW_SET_H

#include <stdbool.h>

#include "assay/error.h"

/* Prints to stdout the cases of a golden set that are selected (NULL: all), the
 * error bar of their exact answers and how far each recipe is from them, as
 * tables or JSON ("assay-set/1"). */
enum assay_status show_set(const char *path, const char *cases, bool json,
                           struct assay_error *err);

#endif
