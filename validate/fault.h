/* SPDX-License-Identifier: MIT
 *
 * Where a child's memory fault was: an address, so that its parent can say
 * beside which buffer.
 */
#ifndef ASSAY_FAULT_H
#define ASSAY_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fault_access { FAULT_READ, FAULT_WRITE, FAULT_TOUCH /* cannot tell */ };

struct fault {
    bool seen;
    uintptr_t address;
    enum fault_access access;
};

/* In a child: a segmentation or bus fault is noted in `shared`, and then ends
 * the child as it would have. */
void fault_watch(struct fault *shared);

/* "read", "wrote", "touched" */
const char *fault_verb(enum fault_access access);

#endif
