/* SPDX-License-Identifier: MIT
 *
 * Private: an open golden set.
 */
#ifndef ASSAY_SET_FILE_H
#define ASSAY_SET_FILE_H

#include "golden/stored.h"

struct assay_set {
    struct stored stored; /* its members are cases */
};

#endif
