/* SPDX-License-Identifier: MIT
 *
 * Serving stacks record a launch once and replay it on other inputs, in the
 * same memory: the first run is a plain launch, each other one a graph that was
 * recorded before its inputs were there.
 */
#include "golden/text.h"
#include "validate/probe.h"

/* A launch that ran by itself and cannot be recorded: what is looked for. */
static void take_refusal(struct probe_finding *f)
{
    char why[256];
    if (f->outcome != PROBE_CRASHED || f->runs == 0)
        return;
    text_print(why, sizeof why, "%.250s", f->text);
    f->outcome = PROBE_FOUND;
    text_print(f->text, sizeof f->text, "as a graph, %s", why);
}

enum assay_status probe_graph(const struct probe_subject *s,
                              struct probe_finding *f, struct assay_error *err)
{
    struct driver_run run = probe_plan(s);
    struct probe_outputs outputs = { .problem = &s->c->problem };
    enum assay_status st = ASSAY_OK;
    bool ran = true;
    for (long i = 0; st == ASSAY_OK && ran && i < s->runs; i++) {
        run.process = i == 0 ? DRIVER_NEW_CHILD : DRIVER_SAME_CHILD;
        run.graph = i > 0;
        st = probe_outputs_run(&outputs, s, &run, &ran, f, err);
    }
    take_refusal(f);
    probe_outputs_end(&outputs, ", all but the first replays of a graph", f);
    return st;
}
