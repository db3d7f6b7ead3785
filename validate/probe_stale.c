/* SPDX-License-Identifier: MIT
 *
 * Nothing of other data that were launched before may be in what comes after.
 * Poison is another in each run.
 */
#include "validate/probe.h"

enum assay_status probe_stale(const struct probe_subject *s,
                              struct probe_finding *f, struct assay_error *err)
{
    return probe_after_other(
        s,
        &(struct probe_after){ true, false,
                               ", all but the first after other data" },
        f, err);
}
