/* SPDX-License-Identifier: MIT
 *
 * A race may come out the same way as long as nothing else happens on the
 * device: the first launch is alone on it, the others are beside copies that
 * keep memory busy.
 */
#include <stdio.h>

#include "golden/text.h"
#include "validate/probe.h"

enum assay_status probe_race(const struct probe_subject *s,
                             struct probe_finding *f, struct assay_error *err)
{
    struct driver_run run = probe_plan(s);
    struct probe_outputs outputs = { .problem = &s->c->problem };
    double least = 0;
    char when[80];
    enum assay_status st = ASSAY_OK;
    bool ran = true;
    for (long i = 0; st == ASSAY_OK && ran && i < s->runs; i++) {
        struct candidate left;
        run.process = i == 0 ? DRIVER_NEW_CHILD : DRIVER_SAME_CHILD;
        run.traffic = i > 0;
        st = probe_launch(s, &run, &ran, &left, f, err);
        if (i > 0 && ran && (i == 1 || !(left.traffic >= least)))
            least = left.traffic;
        if (st == ASSAY_OK && ran)
            st = probe_outputs_add(&outputs, &left, f, err);
        candidate_free(&left);
    }
    text_print(when, sizeof when,
               ", all but the first beside %.1f GB/s of copies", least / 1e9);
    probe_outputs_end(&outputs, when, f);
    if (f->outcome == PROBE_CLEAN && !(least > 0)) {
        f->outcome = PROBE_NOT_RUN;
        text_print(f->text, sizeof f->text, "no copies went on beside it");
    }
    if (f->outcome == PROBE_CLEAN) /* how hard it was tried */
        text_print(f->text, sizeof f->text, "beside %.1f GB/s of copies",
                   least / 1e9);
    return st;
}
