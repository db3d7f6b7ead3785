/* SPDX-License-Identifier: MIT
 *
 * Private: an open golden set.
 */
#ifndef ASSAY_SET_FILE_H
#define ASSAY_SET_FILE_H

#include "golden/h5.h"

struct assay_set {
    char *path;
    hid_t id, cases;
    char **names;
    size_t count;
    char *hash;
};

#endif
