/* SPDX-License-Identifier: MIT
 *
 * The same launch again and again in one process, another kernel between each
 * two, and not the same one each time.
 */
#include "validate/probe.h"

/* What becomes of it is told where it is probed itself. */
static enum assay_status launch_other(const struct probe_subject *s, size_t i,
                                      struct assay_error *err)
{
    struct probe_subject other = *s;
    struct probe_finding unused = { 0 };
    struct candidate left;
    bool ran;
    other.own = (s->own + 1 + i % (s->count - 1)) % s->count;
    struct driver_run run = probe_plan(&other);
    run.process = DRIVER_SAME_CHILD;
    enum assay_status st =
        probe_launch(&other, &run, &ran, &left, &unused, err);
    candidate_free(&left);
    return st;
}

enum assay_status probe_determinism(const struct probe_subject *s,
                                    struct probe_finding *f,
                                    struct assay_error *err)
{
    struct driver_run run = probe_plan(s);
    struct probe_outputs outputs = { .problem = &s->c->problem };
    enum assay_status st = ASSAY_OK;
    bool ran = true;
    for (long i = 0; st == ASSAY_OK && ran && i < s->runs; i++) {
        run.process = i == 0 ? DRIVER_NEW_CHILD : DRIVER_SAME_CHILD;
        st = probe_outputs_run(&outputs, s, &run, &ran, f, err);
        if (st == ASSAY_OK && s->count > 1)
            st = launch_other(s, (size_t)i, err);
    }
    probe_outputs_end(&outputs, s->count > 1 ? " with others between" : "", f);
    return st;
}
