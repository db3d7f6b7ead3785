/* SPDX-License-Identifier: MIT
 *
 * Launches on a stream share one workspace: what a launch finds there looks
 * like what it would have left itself. Other data are launched before the first
 * run too, in a workspace of their own, so that the workspace alone is what
 * differs.
 */
#include "validate/probe.h"

enum assay_status probe_aliasing(const struct probe_subject *s,
                                 struct probe_finding *f,
                                 struct assay_error *err)
{
    return probe_after_other(
        s,
        &(struct probe_after){
            false, true, ", all but the first in a workspace of other data" },
        f, err);
}
