/* SPDX-License-Identifier: MIT
 *
 * What a workspace holds is not defined: NaN, nothing, small and huge values
 * must give the same bits.
 */
#include <inttypes.h>
#include <string.h>

#include "golden/text.h"
#include "validate/probe.h"

enum assay_status probe_workspace(const struct probe_subject *s,
                                  struct probe_finding *f,
                                  struct assay_error *err)
{
    /* of a byte of ones: NaN; zeros; 1 in bytes; 3.4e38; -6e-34 */
    static const unsigned char flips[] = { 0, 0xff, 0xfe, 0x80, 0x77 };
    struct driver_run run = probe_plan(s);
    struct probe_outputs outputs = { .problem = &s->c->problem };
    enum assay_status st = ASSAY_OK;
    bool ran = true, beside = false;
    for (size_t i = 0; st == ASSAY_OK && ran && i < sizeof flips; i++) {
        struct candidate left;
        run.workspace_flip = flips[i];
        st = probe_launch(s, &run, &ran, &left, f, err);
        if (st == ASSAY_OK && ran && probe_no_workspace(&left, f))
            ran = false;
        beside |= ran && left.guard_bytes > 0 &&
                  strcmp(left.guard_where, "beside the workspace") == 0;
        if (st == ASSAY_OK && ran)
            st = probe_outputs_add(&outputs, &left, f, err);
        candidate_free(&left);
    }
    probe_outputs_end(&outputs, " with another workspace each", f);
    if (beside && f->outcome == PROBE_CLEAN) {
        f->outcome = PROBE_FOUND;
        text_print(f->text, sizeof f->text, "writes beside its workspace");
    }
    return st;
}
