/* SPDX-License-Identifier: MIT
 *
 * The children that this process has. What a child leaves running comes to
 * us, whatever group or session it went to.
 */
#ifndef ASSAY_KIN_H
#define ASSAY_KIN_H

#include <stdbool.h>

enum { KIN_MAX = 256 }; /* of our own; what a child leaves has no bound */

struct kin {
    int pid[KIN_MAX];
    int count;
};

/* Asks for orphans, and takes the children that there are. */
struct kin kin_now(void);

/* Children that live, and were not there before. */
int kin_left(const struct kin *before);

/* Ends and collects all that were not there before: those are not ours to end.
 */
void kin_end(const struct kin *before);

#endif
