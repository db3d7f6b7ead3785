/* SPDX-License-Identifier: MIT
 *
 * Inputs after each of many launches in one process: every byte is compared
 * with what it was.
 */
#include <inttypes.h>

#include "golden/text.h"
#include "validate/probe.h"

enum assay_status probe_inputs(const struct probe_subject *s,
                               struct probe_finding *f, struct assay_error *err)
{
    struct driver_run run = probe_plan(s);
    enum assay_status st = ASSAY_OK;
    bool ran = true;
    for (long i = 0;
         st == ASSAY_OK && ran && f->outcome == PROBE_CLEAN && i < s->runs;
         i++) {
        struct candidate left;
        run.process = i == 0 ? DRIVER_NEW_CHILD : DRIVER_SAME_CHILD;
        st = probe_launch(s, &run, &ran, &left, f, err);
        if (st == ASSAY_OK && ran && left.input_bytes > 0) {
            f->outcome = PROBE_FOUND;
            text_print(f->text, sizeof f->text,
                       "run %" PRId64 " changed %" PRId64
                       " bytes of its inputs",
                       f->runs, left.input_bytes);
        }
        candidate_free(&left);
    }
    return st;
}
